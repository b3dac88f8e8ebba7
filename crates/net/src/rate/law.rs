use serde::{Deserialize, Serialize};

/// Length of an opportunity of `mm-link`: the largest packet that it reads from a TUN device \[bytes\].
pub const MAHIMAHI_BYTES: u32 = 1504;
/// Header that a TUN device puts in front of each packet, which `mm-link` counts too \[bytes\].
pub const MAHIMAHI_HEADER: u32 = 4;

/// The law by which the rate of a link changes with time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum RateLaw {
    /// Changes at given instants.
    Steps {
        /// Pairs of an instant \[s\] and the rate from then on \[bit/s\], in order of time; the first instant is 0.
        steps_bps: Vec<(f64, f64)>,
        /// Time after which the steps begin again \[s\]; `None`: the last rate remains.
        period_s: Option<f64>,
    },
    /// A semi-Markov process, which stays in a state for a random time and then enters another; with exponential times a
    /// Markov-modulated rate.
    Alternating {
        /// States of the process.
        states: Vec<RateState>,
        /// Index of the first state.
        start: usize,
        /// Probability of each transition, from a state (row) to a state; `None`: to the next state, cyclically.
        transitions: Option<Vec<Vec<f64>>>,
    },
    /// Opportunities to deliver packets, at given instants: the service of Mahimahi's `mm-link`.
    Opportunities {
        /// Instants \[ms\], in order; the list begins again when the last one is over.
        times_ms: Vec<u64>,
        /// Most bytes that an opportunity delivers.
        bytes: u32,
        /// Bytes that each packet needs in addition to its own.
        header_bytes: u32,
    },
}

/// A state of [`RateLaw::Alternating`]. The process stays in it for at least `least_stay_s`, and exponentially
/// distributed longer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateState {
    /// Rate in this state \[bit/s\]; 0 is an outage.
    pub rate_bps: f64,
    /// Minimum stay \[s\].
    pub least_stay_s: f64,
    /// Mean of the random addition \[s\].
    pub mean_extra_s: f64,
}

impl RateLaw {
    /// Returns the rates that the law names, one for each step or state \[bit/s\]; none for opportunities.
    pub fn rates_bps(&self) -> Vec<f64> {
        match self {
            RateLaw::Steps { steps_bps, .. } => steps_bps.iter().map(|step| step.1).collect(),
            RateLaw::Alternating { states, .. } => states.iter().map(|state| state.rate_bps).collect(),
            RateLaw::Opportunities { .. } => Vec::new(),
        }
    }

    /// Returns the largest rate \[bit/s\]; `None` if a packet may take no time, as with opportunities.
    pub fn most_bps(&self) -> Option<f64> {
        self.rates_bps().into_iter().reduce(f64::max)
    }

    /// Returns the number of entries in its lists.
    pub fn entries(&self) -> usize {
        match self {
            RateLaw::Steps { steps_bps, .. } => steps_bps.len(),
            RateLaw::Alternating { states, transitions, .. } => {
                states.len() + transitions.iter().flatten().map(Vec::len).sum::<usize>()
            }
            RateLaw::Opportunities { times_ms, .. } => times_ms.len(),
        }
    }

    /// Returns the number of changes in a run, or the most on average; that of opportunities costs nothing.
    pub fn changes(&self, duration_s: f64) -> f64 {
        match self {
            RateLaw::Steps { steps_bps, period_s } => {
                steps_bps.len() as f64 * period_s.map_or(1.0, |period_s| (duration_s / period_s).max(1.0))
            }
            RateLaw::Alternating { states, .. } => {
                let stays_s = states.iter().map(|state| state.least_stay_s + state.mean_extra_s);
                duration_s / stays_s.fold(f64::INFINITY, f64::min)
            }
            RateLaw::Opportunities { .. } => 0.0,
        }
    }

    /// Returns the bytes that a packet needs in addition to its own.
    pub fn header_bytes(&self) -> u32 {
        match self {
            RateLaw::Opportunities { header_bytes, .. } => *header_bytes,
            RateLaw::Steps { .. } | RateLaw::Alternating { .. } => 0,
        }
    }
}
