//! Losses of packets on a link, before its queue.

use serde::{Deserialize, Serialize};

/// A process that loses packets as they arrive at a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossConfig {
    /// The packets to which it applies.
    pub applies_to: CrossingConfig,
    /// The law by which it loses them.
    pub law: LossLawConfig,
}

/// The packets to which a loss process applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CrossingConfig {
    /// All packets that arrive at the link.
    All,
    /// Data packets, but no ACKs.
    Data,
    /// ACKs, but no data.
    Acks,
}

/// The law by which packets are lost.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "model", rename_all = "kebab-case", deny_unknown_fields)]
pub enum LossLawConfig {
    /// Loses each packet with a probability.
    Bernoulli {
        /// Probability of a loss.
        probability: f64,
    },
    /// Loses the next packet after each instant of a Poisson process.
    Poisson {
        /// Mean time between two instants \[s\].
        mean_interval_s: f64,
        /// Time after which an instant expires if no packet has arrived \[s\].
        void_after_s: f64,
    },
    /// Loses packets by a Markov chain of two states that takes a step after each packet.
    GilbertElliott {
        /// Probability of a step from the good to the bad state.
        to_bad: f64,
        /// Probability of a step back.
        to_good: f64,
        /// Probability of a loss in the good state.
        loss_in_good: f64,
        /// Probability of a loss in the bad state.
        loss_in_bad: f64,
    },
    /// Loses the packets with the given numbers, counted from 1.
    Packets {
        /// Numbers in rising order.
        numbers: Vec<u64>,
    },
    /// Loses the next packet after each given instant.
    Times {
        /// Instants in rising order \[s\].
        times_s: Vec<f64>,
    },
}
