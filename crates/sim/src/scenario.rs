//! The resolved scenario: SI numbers, nothing implicit. Its JSON form is the contract with the Python side.

mod clock;
mod elements;
mod flows;

use std::collections::BTreeMap;

use base::cast::to_u32;
use serde::{Deserialize, Serialize};

pub use crate::traffic::{SizeLaw, TimeLaw};
pub use elements::{
    ChannelConfig, DelayProcessConfig, ElementConfig, HostConfig, LinkConfig, LossConfig, OrderConfig,
    PrivateLinkConfig, RateProcessConfig,
};
pub use flows::{ConnectionConfig, FlowConfig, HandshakeConfig, TrafficConfig, WayBack};

/// A complete scenario, resolved.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of this form.
    pub format: u32,
    /// Title, for people.
    pub title: String,
    /// Duration, replications and seed.
    pub run: Run,
    /// The elements that packets cross.
    pub elements: Vec<ElementConfig>,
    /// Flows, in groups of identical flows.
    pub flows: Vec<FlowConfig>,
    /// The rows to record.
    pub trace: TraceConfig,
    /// The ATM network, if some of the elements are channels of one.
    pub atm: Option<atm::AtmConfig>,
}

/// Duration, replications and seed of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// End of the run \[s\].
    pub duration_s: f64,
    /// Start of the measurement \[s\].
    pub warmup_s: f64,
    /// Number of replications.
    pub replications: u64,
    /// Seed of all random streams.
    pub seed: u64,
    /// Confidence level of the intervals (the engine does not use it).
    pub confidence: f64,
    /// Precision up to which replications are added (the engine does not use it).
    pub precision: Option<PrecisionConfig>,
    /// Whether to measure the distributions of delays.
    pub delays: bool,
}

/// The quantity whose interval ends a series of replications, and how narrow it must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrecisionConfig {
    /// Kind of the element: `flow` or `link`.
    pub element: String,
    /// Name of the element.
    pub name: String,
    /// Quantity of the element.
    pub quantity: String,
    /// Half-width of the interval, relative to the mean.
    pub within: f64,
    /// Largest number of replications.
    pub most: u64,
    /// Number of replications added at a time.
    pub batch: u64,
    /// Longest run instead of more replications \[s\].
    #[serde(default)]
    pub longest_s: Option<f64>,
}

impl Scenario {
    /// Returns the entry of each flow and its number there, in the order of the flows.
    pub fn members(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let entries = self.flows.iter().enumerate();
        entries.flat_map(|(entry, flow)| (0..flow.count).map(move |number| (entry, number)))
    }

    /// Returns the index of the element that is the direction from each end of a channel, by the number of the end.
    pub fn channel_elements(&self) -> Vec<u32> {
        let ends = self.elements.iter().enumerate().filter_map(|(index, element)| match element {
            ElementConfig::Channel(channel) => Some((channel.end, to_u32(index))),
            ElementConfig::Link(_) | ElementConfig::PrivateLink(_) | ElementConfig::Host(_) => None,
        });
        let by_end: BTreeMap<usize, u32> = ends.collect();
        by_end.into_values().collect()
    }

    /// Returns the number of flows.
    pub fn flow_count(&self) -> usize {
        self.flows.iter().map(|flow| flow.count).sum()
    }
}

/// The rows to record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// State of the senders at each change of cwnd: cwnd, ssthresh, flight size, RTO.
    pub cwnd: bool,
    /// Round trip of each ACK of new data.
    pub rtt: bool,
    /// Packets sent and ACKs received.
    pub sequence: bool,
    /// Queue lengths at each change.
    pub queue: bool,
    /// Time at each queue length, and the queue lengths that arrivals find.
    pub queue_distribution: bool,
    /// Each packet that is dropped.
    pub drops: bool,
    /// Each loss that a sender detects.
    pub losses: bool,
    /// Propagation delays that change, at each change.
    pub delay: bool,
    /// Each timeout, and each fast recovery that succeeds.
    pub recovery: bool,
    /// Round trips that tile the time axis, one a round.
    pub rounds: bool,
    /// Events of senders with selective acknowledgment, with their states, and the states once a round trip.
    #[serde(default)]
    pub state: bool,
    /// Rates of links that change, at each change.
    #[serde(default)]
    pub rate: bool,
    /// State of the queues' AQM at each change.
    #[serde(default)]
    pub aqm: bool,
    /// Length of the intervals whose smallest and largest cwnd and queue are recorded \[s\].
    pub overview_interval_s: Option<f64>,
    /// Length of the last part of the run that is recorded in as many intervals as all of it \[s\]; adds the sequence
    /// numbers of ACKs.
    pub overview_detail_s: Option<f64>,
    /// Links to capture, by name; `X` stands for `X` and `X.reverse`.
    pub capture: Option<Vec<String>>,
}
