//! Settings of a sender with selective acknowledgment.

use std::collections::BTreeMap;

use base::Clock;
use serde::{Deserialize, Serialize};

use crate::cc::{self, CongestionControl, ALGORITHMS};

axis! {
    /// The way in which a sender with selective acknowledgment finds losses.
    LossDetection {
        /// RACK: time that passes after a later packet arrived (RFC 8985).
        Rack = "rack",
        /// Number of packets that arrived beyond a hole (RFC 6675).
        Dupack = "dupack",
    }
}

/// Settings of a sender with selective acknowledgment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SelectiveConfig {
    /// Congestion control and its settings.
    pub congestion_control: ControlConfig,
    /// Way in which losses are found.
    pub loss_detection: LossDetection,
    /// Whether the sender probes for losses at the tail (RFC 8985 section 7).
    pub tail_loss_probe: bool,
    /// Whether it finds spurious timeouts by new data (RFC 5682).
    pub frto: bool,
    /// Whether it uses timestamps (RFC 7323) to find spurious losses (RFC 3522).
    pub timestamps: bool,
    /// cwnd at the start \[packets\].
    pub initial_window: f64,
    /// ssthresh at the start \[packets\]; `None`: infinite.
    pub initial_ssthresh: Option<f64>,
    /// Receiver's window \[packets\]; `None`: unlimited.
    pub max_window: Option<f64>,
    /// Packets beyond a hole that show a loss, until reordering is seen.
    pub dupack_threshold: u32,
    /// Settings of the retransmission timer.
    pub rto: TimeoutConfig,
}

/// Settings of the retransmission timer of a sender with selective acknowledgment.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeoutConfig {
    /// Smallest variation of the round trip in the timeout (Linux `TCP_RTO_MIN`) \[s\].
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

/// The congestion control of a sender.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlConfig {
    /// Name in [`crate::cc::ALGORITHMS`].
    pub name: String,
    /// Rules where Linux and the RFCs differ.
    pub dialect: cc::Dialect,
    /// End of slow start before a loss, where the control asks for one.
    pub slow_start: cc::SlowStart,
    /// Values of its parameters by name; missing ones have their defaults.
    pub parameters: BTreeMap<String, f64>,
}

impl ControlConfig {
    /// Returns the control; the first of the list for a name that is not in the list, which the check of a scenario refuses.
    pub(crate) fn build(&self, clock: Clock) -> Box<dyn CongestionControl> {
        let algorithm = ALGORITHMS.iter().find(|algorithm| algorithm.name == self.name).unwrap_or(&ALGORITHMS[0]);
        let value =
            |parameter: &cc::Parameter| self.parameters.get(parameter.name).copied().unwrap_or(parameter.default);
        let settings = match self.dialect {
            cc::Dialect::Linux => cc::Settings::linux(clock),
            cc::Dialect::Rfc => cc::Settings::rfc(clock),
        };
        let parameters = algorithm.parameters.iter().map(value).collect();
        (algorithm.new)(&cc::Settings { slow_start: self.slow_start, parameters, ..settings })
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
            },
            loss_detection: LossDetection::Rack,
            tail_loss_probe: true,
            frto: true,
            timestamps: true,
            initial_window: 10.0,
            initial_ssthresh: None,
            max_window: None,
            dupack_threshold: 3,
            rto: TimeoutConfig { min_s: 0.2, max_s: 120.0, initial_s: 1.0, granularity_s: 0.001, clock_offset_s: 0.0 },
        }
    }
}
