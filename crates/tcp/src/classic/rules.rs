use base::cast::trunc_to_u64;
use base::Clock;

use crate::quirks::Quirks;
use crate::rto::RtoRules;
use crate::{ClassicConfig, HalfWindow, Increase, PartialAckTimer, Recovery, RttSample, SlowStartWhile};

/// A sender's settings, converted for use and shared by all senders of the same flow: a sender itself keeps only what
/// changes.
#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) quirks: Quirks,
    pub(crate) recovery: Recovery,
    pub(crate) limited_transmit: bool,
    /// Largest number of packets that one ACK releases.
    pub(crate) max_burst: u64,
    pub(crate) partial_ack_timer: PartialAckTimer,
    pub(crate) sample: RttSample,
    /// Number of duplicate ACKs that count as a loss; `u32::MAX`: infinite.
    pub(crate) threshold: u32,
    pub(crate) slow_start_while: SlowStartWhile,
    pub(crate) increase: Increase,
    pub(crate) half_window: HalfWindow,
    /// Receiver's window W_R in whole packets.
    pub(crate) limit_packets: u64,
    pub(crate) rto: RtoRules,
}

impl Rules {
    pub(crate) fn new(config: &ClassicConfig, clock: Clock) -> Rules {
        Rules {
            quirks: Quirks::of(config.dialect),
            recovery: config.recovery,
            limited_transmit: config.limited_transmit,
            max_burst: config.max_burst.map_or(u64::MAX, u64::from),
            partial_ack_timer: config.partial_ack_timer,
            sample: config.rto.sample,
            threshold: config.dupack_threshold.filter(|_| config.recovery.retransmits_fast()).unwrap_or(u32::MAX),
            slow_start_while: config.slow_start_while,
            increase: config.increase,
            half_window: config.half_window,
            limit_packets: config.max_window.map_or(u64::MAX, trunc_to_u64),
            rto: RtoRules::new(&config.rto, clock),
        }
    }
}
