//! Packets that are lost on a link, before its queue.

use serde::{Deserialize, Serialize};

/// What loses packets as they come to a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossConfig {
    /// Which packets it looks at.
    pub applies_to: CrossingConfig,
    /// Which of them are lost.
    pub law: LossLawConfig,
}

/// Which packets a loss process looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrossingConfig {
    /// All that come to the link.
    All,
    /// Data only.
    Data,
    /// ACKs only.
    Acks,
}

/// Which packets are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossLawConfig {
    /// Each with a probability.
    Bernoulli {
        /// It.
        probability: f64,
    },
    /// The next one after each instant of a Poisson process.
    Poisson {
        /// Mean time between two instants \[s\].
        mean_interval_s: f64,
        /// An instant that finds no packet for so long is void \[s\].
        void_after_s: f64,
    },
    /// By a chain of two states that takes a step after each packet.
    GilbertElliott {
        /// Probability of a step from the good to the bad state.
        to_bad: f64,
        /// And back.
        to_good: f64,
        /// Probability of a loss in the good state.
        loss_in_good: f64,
        /// And in the bad one.
        loss_in_bad: f64,
    },
    /// Those with the given numbers, counted from 1.
    Packets {
        /// In rising order.
        numbers: Vec<u64>,
    },
    /// The next one after each given instant.
    Times {
        /// In rising order \[s\].
        times_s: Vec<f64>,
    },
}
