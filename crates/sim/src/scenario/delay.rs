//! A propagation delay that changes.

use serde::{Deserialize, Serialize};

/// A delay that changes with time, on top of the link's constant one. A packet takes the delay in force as its last bit
/// leaves the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayProcessConfig {
    /// Name of the random stream; two directions of a link with the same law and stream have equal delays.
    pub stream: String,
    /// The order of packets when the delay falls.
    pub order: OrderConfig,
    /// The law by which the delay changes.
    pub law: DelayLawConfig,
}

/// The order of packets when the delay falls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderConfig {
    /// Later packets overtake earlier ones.
    Overtake,
    /// A packet arrives no earlier than the one before it.
    Keep,
}

/// The law by which a delay changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DelayLawConfig {
    /// Changes at given instants.
    Steps {
        /// Pairs of an instant \[s\] and the delay from then on \[s\]; the first instant is 0.
        steps_s: Vec<(f64, f64)>,
    },
    /// A semi-Markov process.
    Alternating {
        /// States of the process.
        states: Vec<DelayStateConfig>,
        /// Index of the state at time 0.
        start: usize,
        /// Probability of each transition, from a state (row) to a state; `None`: to the next state, cyclically.
        transitions: Option<Vec<Vec<f64>>>,
    },
    /// A new delay each period, drawn uniformly.
    Handover {
        /// Smallest delay \[s\].
        low_s: f64,
        /// Largest delay \[s\].
        high_s: f64,
        /// Time between two changes \[s\].
        period_s: f64,
    },
}

/// A state of an alternating delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayStateConfig {
    /// Delay in this state \[s\].
    pub delay_s: f64,
    /// Shortest stay in this state \[s\].
    pub least_stay_s: f64,
    /// Mean of the exponential time that is added to the shortest stay \[s\].
    pub mean_extra_s: f64,
}

impl DelayLawConfig {
    /// Returns the smallest delay that the law allows \[s\].
    pub fn least_s(&self) -> f64 {
        let least = |delays: &mut dyn Iterator<Item = f64>| delays.fold(f64::INFINITY, f64::min);
        match self {
            DelayLawConfig::Steps { steps_s } => least(&mut steps_s.iter().map(|step| step.1)),
            DelayLawConfig::Alternating { states, .. } => least(&mut states.iter().map(|state| state.delay_s)),
            DelayLawConfig::Handover { low_s, .. } => *low_s,
        }
    }
}
