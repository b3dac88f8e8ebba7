//! The settings of a sender, converted for use.

use base::cast::trunc_to_u64;
use base::{Clock, Time};

use super::application::{buffer_per_packet, Pace};
use super::in_order;
use super::rtt::Bounds;
use crate::cc::{CongestionControl, KernelClock, Needs};
use crate::echo_age::EchoAge;
use crate::timer_wheel::TimerWheel;
use crate::{LossDetection, SelectiveConfig, TimeoutRules};

/// RFC 8985 section 7.2: the recommended worst-case delay of an ACK \[s\].
const WORST_ACK_DELAY_S: f64 = 0.2;

/// The settings of a sender, converted for use and shared by all senders of a flow.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) config: SelectiveConfig,
    pub(super) control: Box<dyn CongestionControl>,
    pub(super) needs: Needs,
    /// Whether ACKs of packets in order may be taken by `on_ack_in_order`.
    pub(super) takes_in_order: bool,
    /// Whether the sender finds lost packets by RACK, from selective acknowledgments.
    pub(super) finds_by_time: bool,
    /// Whether traces record the sender's state.
    pub(super) is_observed: bool,
    pub(super) clock: Clock,
    pub(super) kernel_clock: KernelClock,
    pub(super) echo_age: EchoAge,
    pub(super) timeout: Bounds,
    /// Longest delay of an ACK that a probe expects (WCDelAckT of RFC 8985; Linux `tcp_rto_min`).
    pub(super) worst_ack_delay: Time,
    pub(super) rto_max: Time,
    pub(super) rto_initial: Time,
    pub(super) wheel: TimerWheel,
    pub(super) min_rtt_window: Time,
    /// The shortest timer (Linux `TCP_TIMEOUT_MIN`).
    pub(super) shortest: Time,
    /// Largest window of the receiver \[packets\].
    pub(super) limit: u64,
    /// Send buffer for each packet of cwnd \[bytes\].
    pub(super) buffer_per_packet: u64,
    /// Bursts in which the application writes; `None`: all data at the start.
    pub(super) pace: Option<Pace>,
}

impl Rules {
    pub(super) fn new(config: &SelectiveConfig, clock: Clock) -> Rules {
        let control = config.build_control(clock);
        Rules {
            needs: control.needs(),
            takes_in_order: in_order::applies(config),
            finds_by_time: config.sack && config.loss_detection == LossDetection::Rack,
            is_observed: false,
            clock,
            kernel_clock: KernelClock::new(clock),
            echo_age: EchoAge::new(clock),
            timeout: Bounds {
                rules: config.rto.rules,
                least: clock.time(config.rto.min_s),
                granularity: clock.time(config.rto.granularity_s),
            },
            worst_ack_delay: clock.time(match config.rto.rules {
                TimeoutRules::Linux => config.rto.min_s,
                TimeoutRules::Rfc6298 => WORST_ACK_DELAY_S,
            }),
            rto_max: clock.time(config.rto.max_s),
            rto_initial: clock.time(config.rto.initial_s),
            wheel: TimerWheel::of_timeouts(&config.rto, clock),
            min_rtt_window: clock.time(300.0),
            shortest: clock.time(0.002),
            limit: config.max_window.map_or(u64::MAX, trunc_to_u64),
            buffer_per_packet: buffer_per_packet(config, control.needs()),
            pace: config.writes.map(|writes| Pace::new(&writes, clock)),
            config: config.clone(),
            control,
        }
    }

    /// Returns whether the delivery rate is sampled: for the control, or for a trace.
    pub(super) fn samples_rate(&self) -> bool {
        self.needs.rate || self.is_observed
    }
}
