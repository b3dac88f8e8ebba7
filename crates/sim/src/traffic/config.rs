//! The fields of the resolved scenario.

use serde::{Deserialize, Serialize};

/// What a flow sends and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TrafficConfig {
    /// Transfers over TCP and silences in turn; it begins with a silence.
    Web {
        /// How much a transfer carries.
        size: SizeLaw,
        /// Silence from the last ACK of a transfer to the next one.
        off: TimeLaw,
        /// The largest sizes of all classes of the statistics but the last, in rising order \[packets\].
        classes: Vec<u64>,
    },
    /// Packets in equal distances, without ACKs.
    Constant {
        /// Mean rate \[bit/s\].
        rate_bps: f64,
    },
    /// A Poisson process of packets, without ACKs.
    Poisson {
        /// Mean rate \[bit/s\].
        rate_bps: f64,
    },
    /// `Constant` for a time, then nothing for a time, in turn; it begins with a time of packets.
    OnOff {
        /// Rate while it sends \[bit/s\].
        rate_bps: f64,
        /// How long it sends.
        on: TimeLaw,
        /// How long it does not.
        off: TimeLaw,
    },
    /// `Poisson` for a time, then nothing for a time, in turn; it begins with a time of packets.
    PoissonOnOff {
        /// Mean rate while it sends \[bit/s\].
        rate_bps: f64,
        /// How long it sends.
        on: TimeLaw,
        /// How long it does not.
        off: TimeLaw,
    },
}

/// The law of a time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum TimeLaw {
    /// Always the same.
    Fixed {
        /// It \[s\].
        mean_s: f64,
    },
    /// Exponential.
    Exponential {
        /// Its mean \[s\].
        mean_s: f64,
    },
}

impl TimeLaw {
    /// Its mean \[s\].
    pub fn mean_s(&self) -> f64 {
        match *self {
            TimeLaw::Fixed { mean_s } | TimeLaw::Exponential { mean_s } => mean_s,
        }
    }
}

/// The law of a transfer's size, in packets; what is drawn is rounded to the nearest packet. [engset, section 3.2]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "law", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SizeLaw {
    /// Always the same.
    Fixed {
        /// It \[packets\].
        packets: u64,
    },
    /// A minimum and an exponential rest ("E").
    Exponential {
        /// Mean, the minimum included \[packets\].
        mean_packets: f64,
        /// Smallest size \[packets\].
        min_packets: f64,
    },
    /// An exponential body and a Pareto tail ("EP").
    ExponentialPareto {
        /// Mean of all \[packets\].
        mean_packets: f64,
        /// Smallest size \[packets\].
        min_packets: f64,
        /// The part H of all sizes that follows the tail.
        tail_fraction: f64,
        /// The tail's exponent alpha.
        shape: f64,
    },
    /// An exponential body and a longer exponential tail ("EE").
    ExponentialExponential {
        /// Mean of all \[packets\].
        mean_packets: f64,
        /// Smallest size \[packets\].
        min_packets: f64,
        /// The part H of all sizes that follows the tail.
        tail_fraction: f64,
        /// The tail's parameter C \[packets\].
        tail_packets: f64,
    },
    /// Pareto.
    Pareto {
        /// Mean \[packets\].
        mean_packets: f64,
        /// Exponent alpha.
        shape: f64,
    },
    /// One of these, each as likely as it stands here often.
    Empirical {
        /// Sizes \[packets\].
        packets: Vec<u64>,
    },
}
