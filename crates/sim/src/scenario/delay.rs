//! A propagation delay that changes.

use serde::{Deserialize, Serialize};

/// A delay that changes with time, on top of the link's constant one. A packet takes the delay in force as its last bit
/// leaves the link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayProcessConfig {
    /// Name of its random stream: of the same law and stream, the two directions of a link change alike.
    pub stream: String,
    /// What becomes of the order of packets when the delay drops.
    pub order: OrderConfig,
    /// How it changes.
    pub law: DelayLawConfig,
}

/// What becomes of the order of packets when the delay drops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderConfig {
    /// Later packets overtake earlier ones.
    Overtake,
    /// A packet arrives with the one before it at the earliest.
    Keep,
}

/// How a delay changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DelayLawConfig {
    /// At given instants.
    Steps {
        /// From when \[s\] which delay \[s\]; the first from 0 on.
        steps_s: Vec<(f64, f64)>,
    },
    /// A semi-Markov process.
    Alternating {
        /// Its states.
        states: Vec<DelayStateConfig>,
        /// The state at time 0, by index.
        start: usize,
        /// From each state to each other, the probability; none: to the next one, cyclically.
        transitions: Option<Vec<Vec<f64>>>,
    },
    /// A new delay each period, drawn uniformly.
    Handover {
        /// Least delay \[s\].
        low_s: f64,
        /// Largest delay \[s\].
        high_s: f64,
        /// How long each lasts \[s\].
        period_s: f64,
    },
}

/// A state of an alternating delay.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayStateConfig {
    /// Delay \[s\].
    pub delay_s: f64,
    /// Least stay \[s\].
    pub least_stay_s: f64,
    /// Mean of the exponential time that is added to it \[s\].
    pub mean_extra_s: f64,
}

impl DelayLawConfig {
    /// The least delay that it can give \[s\].
    pub fn least_s(&self) -> f64 {
        let least = |delays: &mut dyn Iterator<Item = f64>| delays.fold(f64::INFINITY, f64::min);
        match self {
            DelayLawConfig::Steps { steps_s } => least(&mut steps_s.iter().map(|step| step.1)),
            DelayLawConfig::Alternating { states, .. } => least(&mut states.iter().map(|state| state.delay_s)),
            DelayLawConfig::Handover { low_s, .. } => *low_s,
        }
    }
}
