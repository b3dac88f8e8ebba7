//! Settings of a sender with selective acknowledgment.

use std::collections::BTreeMap;

use base::Clock;
use serde::{Deserialize, Serialize};

use super::Ecn;
use crate::cc::{self, CongestionControl, Provided, ALGORITHMS};

axis! {
    /// The way in which a sender with selective acknowledgment finds losses.
    LossDetection {
        /// RACK: time that passes after a later packet arrived (RFC 8985).
        Rack = "rack",
        /// Number of packets that arrived beyond a hole (RFC 6675).
        Dupack = "dupack",
    }
}

axis! {
    /// The departures of packets, for a congestion control that has no rate of its own.
    Pacing {
        /// Departures as soon as the window allows.
        None = "none",
        /// Twice cwnd in a round trip in slow start, 1.2 times cwnd else: Linux's pacing.
        Linux = "linux",
    }
}

axis! {
    /// The end of a connection.
    Close {
        /// None: the last ACK ends it.
        None = "none",
        /// FINs of both ends (RFC 9293 section 3.6): that of the sender is in its last data packet.
        Tcp = "tcp",
    }
}

axis! {
    /// The rules of the retransmission timeout.
    TimeoutRules {
        /// The smoothed round trip and a variation of at least `min_s`, which comes down slowly (Linux
        /// `tcp_rtt_estimator`).
        Linux = "linux",
        /// SRTT + max(G, 4 RTTVAR), and `min_s` at least; each ACK of new data restarts the timer (RFC 6298).
        Rfc6298 = "rfc6298",
    }
}

axis! {
    /// The window after a reduction that turns out to be spurious.
    UndoResponse {
        /// cwnd and ssthresh as they were (`tcp_undo_cwnd_reduction`).
        Linux = "linux",
        /// The packets in flight and those of the ACK, the initial window at most, after a timeout: RFC 4015. After a fast
        /// recovery the state before it, as RFC 9438 section 4.9.2 has it.
        Rfc4015 = "rfc4015",
        /// The window after the reduction.
        None = "none",
    }
}

axis! {
    /// The growth of a window that the application does not use.
    WindowValidation {
        /// Growth in slow start while half of cwnd is used, later if all of it is (`tcp_is_cwnd_limited`).
        Linux = "linux",
        /// Growth while half of cwnd is used: RFC 7661 section 4.3.
        Rfc7661 = "rfc7661",
    }
}

impl TimeoutRules {
    /// Returns what a run from before this choice had.
    const fn linux() -> TimeoutRules {
        TimeoutRules::Linux
    }
}

impl UndoResponse {
    /// Returns what a run from before this choice had.
    const fn linux() -> UndoResponse {
        UndoResponse::Linux
    }
}

impl WindowValidation {
    /// Returns what a run from before this choice had.
    const fn linux() -> WindowValidation {
        WindowValidation::Linux
    }
}

impl Close {
    /// Returns what a run from before this choice had.
    const fn none() -> Close {
        Close::None
    }
}

/// Settings of a sender with selective acknowledgment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectiveConfig {
    /// Congestion control and its settings.
    pub congestion_control: ControlConfig,
    /// Whether ACKs acknowledge selectively (RFC 2018); else duplicate ACKs are counted (RFC 6582, as Linux does it).
    #[serde(default = "yes")]
    pub sack: bool,
    /// Way in which losses are found.
    pub loss_detection: LossDetection,
    /// Whether the sender probes for losses at the tail (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Whether it finds spurious timeouts by new data (RFC 5682).
    pub frto: bool,
    /// Whether it uses timestamps (RFC 7323) to find spurious losses (RFC 3522).
    pub timestamps: bool,
    /// Explicit congestion notification.
    #[serde(default = "Ecn::off")]
    pub ecn: Ecn,
    /// Departures of packets; a congestion control with a rate of its own paces in any case.
    pub pacing: Pacing,
    /// Payload of a full segment \[byte\].
    pub segment_bytes: u32,
    /// Length of the last packet of the transfer, headers included; `None`: that of all \[bytes\].
    #[serde(default)]
    pub last_packet_bytes: Option<u16>,
    /// cwnd at the start \[packets\].
    pub initial_window: f64,
    /// ssthresh at the start \[packets\]; `None`: infinite.
    pub initial_ssthresh: Option<f64>,
    /// Receiver's window \[packets\]; `None`: unlimited.
    pub max_window: Option<f64>,
    /// Packets beyond a hole that show a loss, until reordering is seen.
    pub dupack_threshold: u32,
    /// Send buffer; `None`: unlimited.
    #[serde(default)]
    pub send_buffer: Option<SendBuffer>,
    /// Bursts in which the application writes; `None`: all data at the start.
    #[serde(default)]
    pub writes: Option<WritesConfig>,
    /// The marks with PSH; `None`: no packet has it.
    #[serde(default)]
    pub push: Option<PushConfig>,
    /// End of the connection.
    #[serde(default = "Close::none")]
    pub close: Close,
    /// Whether cwnd comes down while the application pauses (RFC 2861; Linux `tcp_slow_start_after_idle`).
    #[serde(default)]
    pub idle_restart: bool,
    /// Window after a spurious reduction.
    #[serde(default = "UndoResponse::linux")]
    pub undo: UndoResponse,
    /// Growth of a window that the application does not use.
    #[serde(default = "WindowValidation::linux")]
    pub cwnd_validation: WindowValidation,
    /// Settings of the retransmission timer.
    pub rto: TimeoutConfig,
}

/// Returns what a run from before this choice had.
fn yes() -> bool {
    true
}

/// A send buffer of Linux, which grows with cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendBuffer {
    /// Size for a new connection \[bytes\] (the second number of `tcp_wmem`).
    pub buffer_bytes: u64,
    /// Largest size \[bytes\] (the third number of `tcp_wmem`).
    pub most_buffer_bytes: u64,
}

/// The packets that have the flag PSH.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PushConfig {
    /// Data that the application writes at once; `None`: as much as it has \[bytes\].
    pub write_bytes: Option<u64>,
}

/// Bursts in which an application writes, the first one at the start.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WritesConfig {
    /// Packets of a burst.
    pub packets: u64,
    /// Time from one burst to the next \[s\].
    pub interval_s: f64,
}

/// Settings of the retransmission timer of a sender with selective acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeoutConfig {
    /// Rules of the timeout.
    #[serde(default = "TimeoutRules::linux")]
    pub rules: TimeoutRules,
    /// Smallest timeout; with Linux's rules the smallest variation of the round trip in it (`TCP_RTO_MIN`) \[s\].
    pub min_s: f64,
    /// Largest timeout \[s\].
    pub max_s: f64,
    /// Timeout before the first sample \[s\].
    pub initial_s: f64,
    /// Length of a jiffy: timers fire at jiffies only, and long ones at multiples of 8, 64, ... (Linux's timer wheel);
    /// 0: exact timers \[s\].
    pub granularity_s: f64,
    /// Time on the clock of the jiffies at time zero \[s\].
    pub clock_offset_s: f64,
}

impl Default for TimeoutConfig {
    /// Returns Linux's timer.
    fn default() -> TimeoutConfig {
        TimeoutConfig {
            rules: TimeoutRules::Linux,
            min_s: 0.2,
            max_s: 120.0,
            initial_s: 1.0,
            granularity_s: 0.001,
            clock_offset_s: 0.0,
        }
    }
}

/// The congestion control of a sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlConfig {
    /// Name in [`crate::cc::ALGORITHMS`], or that of the caller's own control.
    pub name: String,
    /// Rules where Linux and the RFCs differ.
    pub dialect: cc::Dialect,
    /// End of slow start before a loss, where the control asks for one.
    pub slow_start: cc::SlowStart,
    /// Values of its parameters by name; missing ones have their defaults.
    pub parameters: BTreeMap<String, f64>,
    /// Program of the caller's own control; `None`: the control is in the list.
    #[serde(default)]
    pub program: Option<ControlProgram>,
    /// The caller's own control itself; the JSON form lacks it.
    #[serde(skip)]
    pub provided: Option<Provided>,
}

/// The identity of a congestion control that is not in the list (the engine does not use it).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlProgram {
    /// Name of its class.
    pub name: String,
    /// Digest of its source; `None`: its source is not known.
    pub digest: Option<String>,
}

impl SelectiveConfig {
    /// Returns the congestion control; the first of the list for a name that is not in the list, which the check of a
    /// scenario refuses.
    pub(crate) fn build_control(&self, clock: Clock) -> Box<dyn CongestionControl> {
        let control = &self.congestion_control;
        if let Some(Provided(provider)) = &control.provided {
            return provider.create();
        }
        let algorithm = ALGORITHMS.iter().find(|algorithm| algorithm.name == control.name).unwrap_or(&ALGORITHMS[0]);
        let value =
            |parameter: &cc::Parameter| control.parameters.get(parameter.name).copied().unwrap_or(parameter.default);
        (algorithm.new)(&cc::Settings {
            clock,
            mss: self.segment_bytes,
            paced: self.pacing != Pacing::None,
            selective: self.sack,
            dialect: control.dialect,
            slow_start: control.slow_start,
            parameters: algorithm.parameters.iter().map(value).collect(),
        })
    }
}

impl Default for SelectiveConfig {
    /// Returns what a Linux host with Reno does.
    fn default() -> SelectiveConfig {
        SelectiveConfig {
            congestion_control: ControlConfig {
                name: "reno".to_owned(),
                dialect: cc::Dialect::Linux,
                slow_start: cc::SlowStart::HyStart,
                parameters: BTreeMap::new(),
                program: None,
                provided: None,
            },
            sack: true,
            loss_detection: LossDetection::Rack,
            tail_loss_probe: true,
            frto: true,
            timestamps: true,
            ecn: Ecn::Off,
            pacing: Pacing::None,
            segment_bytes: 1448,
            last_packet_bytes: None,
            initial_window: 10.0,
            initial_ssthresh: None,
            max_window: None,
            dupack_threshold: 3,
            send_buffer: None,
            writes: None,
            push: None,
            close: Close::None,
            idle_restart: true,
            undo: UndoResponse::Linux,
            cwnd_validation: WindowValidation::Linux,
            rto: TimeoutConfig::default(),
        }
    }
}
