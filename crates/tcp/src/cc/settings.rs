//! Settings and parameters from which a congestion control is created.

use base::Clock;
use serde::{Deserialize, Serialize};

/// The rules where Linux and the RFCs differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// Those of Linux 6.1.
    Linux,
    /// Those of the RFCs.
    Rfc,
}

impl Dialect {
    /// All dialects, in the order of the contract.
    pub const ALL: &'static [Dialect] = &[Dialect::Linux, Dialect::Rfc];
}

/// The end of slow start before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum SlowStart {
    /// A loss or ssthresh alone.
    #[serde(rename = "standard")]
    Standard,
    /// HyStart as in Linux.
    #[serde(rename = "hystart")]
    HyStart,
    /// HyStart++ (RFC 9406).
    #[serde(rename = "hystart++")]
    HyStartPlusPlus,
}

impl SlowStart {
    /// All ends of slow start, in the order of the contract.
    pub const ALL: &'static [SlowStart] = &[SlowStart::Standard, SlowStart::HyStart, SlowStart::HyStartPlusPlus];
}

/// A number of a congestion control that scenarios may set.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    /// Name in scenarios.
    pub name: &'static str,
    /// Unit for users; empty for a ratio or a choice.
    pub unit: &'static str,
    /// Smallest value allowed.
    pub low: f64,
    /// Largest value allowed.
    pub high: f64,
    /// Value where a scenario gives none.
    pub default: f64,
    /// Sentence for users.
    pub help: &'static str,
}

impl Parameter {
    /// Creates a parameter: name, unit, smallest and largest value, default, and a sentence for users.
    pub(super) const fn new(
        name: &'static str,
        unit: &'static str,
        [low, high]: [f64; 2],
        default: f64,
        help: &'static str,
    ) -> Parameter {
        Parameter { name, unit, low, high, default, help }
    }
}

/// The settings of a connection that its congestion control depends on.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Clock of the run.
    pub clock: Clock,
    /// Payload of a full segment \[byte\].
    pub mss: u32,
    /// Whether the sender paces its packets.
    pub paced: bool,
    /// Whether ACKs acknowledge selectively, so that several losses of a round trip are found in it.
    pub selective: bool,
    /// Rules where Linux and the RFCs differ.
    pub dialect: Dialect,
    /// End of slow start.
    pub slow_start: SlowStart,
    /// Values of the algorithm's parameters, in their order; missing ones have their defaults.
    pub parameters: Vec<f64>,
}

impl Settings {
    /// Creates those of a Linux host: segments of 1448 bytes, no pacing, HyStart.
    pub fn linux(clock: Clock) -> Settings {
        Settings {
            clock,
            mss: 1448,
            paced: false,
            selective: true,
            dialect: Dialect::Linux,
            slow_start: SlowStart::HyStart,
            parameters: Vec::new(),
        }
    }

    /// Creates those of a host that follows the RFCs: segments of 1460 bytes, no pacing, HyStart++.
    pub fn rfc(clock: Clock) -> Settings {
        let slow_start = SlowStart::HyStartPlusPlus;
        Settings { mss: 1460, dialect: Dialect::Rfc, slow_start, ..Settings::linux(clock) }
    }

    /// Returns the values of an algorithm's parameters.
    pub(super) fn values<const N: usize>(&self, parameters: &[Parameter; N]) -> [f64; N] {
        std::array::from_fn(|index| self.parameters.get(index).copied().unwrap_or(parameters[index].default))
    }
}
