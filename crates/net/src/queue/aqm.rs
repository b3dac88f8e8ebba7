mod red;

use base::{RandomStream, Rate, Time};
use serde::{Deserialize, Serialize};

use crate::buffer::Occupancy;
use red::Red;
pub use red::{RedConfig, RedEcn};

/// Active queue management (AQM) and its parameters: drops or marks packets as signals of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AqmConfig {
    /// Absence of AQM: only a full buffer drops packets.
    None {},
    /// Random Early Detection.
    Red(RedConfig),
}

/// Decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The packet goes on.
    Pass,
    /// The packet is marked, or dropped if its transport is not ECN-capable (RFC 3168 section 5).
    Mark,
    /// A packet is dropped: at departure this one, on arrival the one that the overflow rule chooses.
    Drop,
}

/// An AQM algorithm: decides about packets, and never moves them.
pub(crate) trait Algorithm {
    /// Decides about an arriving packet that finds `queue` packets; `idle` is the time since the last departure, `None`
    /// if the link is busy.
    fn on_arrival(&mut self, _queue: u64, _idle: Option<Time>) -> Verdict {
        Verdict::Pass
    }

    /// Notes that a packet was dropped, early or by a full buffer.
    fn on_drop(&mut self) {}

    /// Decides about a packet that the scheduler has chosen after the time `sojourn` in the queue; `left` is the queue
    /// without it.
    fn on_departure(&mut self, _now: Time, _sojourn: Time, _left: &Occupancy) -> Verdict {
        Verdict::Pass
    }
}

/// An AQM at work.
#[derive(Clone, Debug)]
pub(crate) enum Aqm {
    /// Random Early Detection.
    Red(Red),
    #[cfg(test)]
    Impatient(Impatient),
}

impl AqmConfig {
    /// The algorithms by name, with typical parameters.
    pub const LISTED: [(&'static str, AqmConfig); 1] = [("red", AqmConfig::Red(RedConfig::TYPICAL))];

    /// Returns whether it decides on arrival alone.
    pub const fn is_foreseen(&self) -> bool {
        match self {
            AqmConfig::None {} | AqmConfig::Red(_) => true,
        }
    }

    /// Returns whether it draws random numbers.
    pub const fn is_random(&self) -> bool {
        match self {
            AqmConfig::None {} => false,
            AqmConfig::Red(_) => true,
        }
    }

    /// Returns the AQM of an empty queue in front of a link of the given rate; `None` for no AQM.
    pub(crate) fn build(&self, rate: Rate, random: RandomStream) -> Option<Aqm> {
        match self {
            AqmConfig::None {} => None,
            AqmConfig::Red(config) => Some(Aqm::Red(Red::new(*config, rate, random))),
        }
    }
}

impl Aqm {
    /// Returns the algorithm.
    #[inline(always)]
    pub(crate) fn algorithm(&mut self) -> &mut dyn Algorithm {
        match self {
            Aqm::Red(red) => red,
            #[cfg(test)]
            Aqm::Impatient(impatient) => impatient,
        }
    }
}

/// An AQM that drops packets at departure if they have waited for longer than this and are not the last one.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(crate) struct Impatient(pub(crate) Time);

#[cfg(test)]
impl Algorithm for Impatient {
    fn on_departure(&mut self, _now: Time, sojourn: Time, left: &Occupancy) -> Verdict {
        if sojourn > self.0 && left.packets > 0 {
            Verdict::Drop
        } else {
            Verdict::Pass
        }
    }
}
