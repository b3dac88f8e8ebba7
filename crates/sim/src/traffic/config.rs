//! Distributions of times and sizes in the resolved scenario.

use serde::{Deserialize, Serialize};

/// The distribution of a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TimeLaw {
    /// A constant time.
    Fixed {
        /// The constant \[s\].
        mean_s: f64,
    },
    /// An exponential distribution.
    Exponential {
        /// Mean of the distribution \[s\].
        mean_s: f64,
    },
}

impl TimeLaw {
    /// Returns the mean \[s\].
    pub fn mean_s(&self) -> f64 {
        match *self {
            TimeLaw::Fixed { mean_s } | TimeLaw::Exponential { mean_s } => mean_s,
        }
    }
}

/// The distribution of a transfer's size; a drawn size is rounded to the nearest packet [engset, section 3.2].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SizeLaw {
    /// A constant size.
    Fixed {
        /// The constant \[packets\].
        packets: u64,
    },
    /// A minimum plus an exponential ("E").
    Exponential {
        /// Mean, including the minimum \[packets\].
        mean_packets: f64,
        /// Smallest size \[packets\].
        min_packets: f64,
    },
    /// An exponential body and a Pareto tail ("EP").
    ExponentialPareto {
        /// Mean of the sizes \[packets\].
        mean_packets: f64,
        /// Smallest size \[packets\].
        min_packets: f64,
        /// Fraction H of all sizes that the tail describes.
        tail_fraction: f64,
        /// Exponent alpha of the tail.
        shape: f64,
    },
    /// An exponential body and a longer exponential tail ("EE").
    ExponentialExponential {
        /// Mean of the sizes \[packets\].
        mean_packets: f64,
        /// Smallest size \[packets\].
        min_packets: f64,
        /// Fraction H of all sizes that the tail describes.
        tail_fraction: f64,
        /// Parameter C of the tail \[packets\].
        tail_packets: f64,
    },
    /// A Pareto distribution.
    Pareto {
        /// Mean of the sizes \[packets\].
        mean_packets: f64,
        /// Exponent alpha of the distribution.
        shape: f64,
    },
    /// A value drawn from a list, each entry with the same probability.
    Empirical {
        /// Sizes to draw from \[packets\].
        packets: Vec<u64>,
    },
}
