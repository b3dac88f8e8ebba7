//! The resolved scenario: SI numbers, nothing implicit. Its JSON form is the contract with the Python side.

mod delay;
mod loss;

use serde::{Deserialize, Serialize};
use tcp::{ReceiverConfig, SenderConfig};

pub use crate::traffic::{SizeLaw, TimeLaw, TrafficConfig};
pub use delay::{DelayLawConfig, DelayProcessConfig, DelayStateConfig, OrderConfig};
pub use loss::{CrossingConfig, LossConfig, LossLawConfig};

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
    /// The simplex links.
    pub links: Vec<LinkConfig>,
    /// Flows, in groups of identical flows.
    pub flows: Vec<FlowConfig>,
    /// The rows to record.
    pub trace: TraceConfig,
    /// The ATM network, if some of the links are channels of one.
    #[serde(default)]
    pub atm: Option<ChannelsConfig>,
}

/// An ATM network, and the links that represent its channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelsConfig {
    /// The ATM network.
    pub network: atm::AtmConfig,
    /// Index of the link that represents the direction from each end: the first channel's near end, its far end, the
    /// second's near end, and so on. Rate and delay of such a link are for people; the ATM network decides.
    pub links: Vec<usize>,
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
    #[serde(default)]
    pub precision: Option<PrecisionConfig>,
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
}

/// A simplex link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Name of the link, and of the random stream of its discipline.
    pub name: String,
    /// Rate \[bit/s\]; `None`: infinitely fast.
    pub rate_bps: Option<f64>,
    /// Propagation delay \[s\].
    pub delay_s: f64,
    /// Limit of the buffer; `None`: unlimited.
    pub buffer: Option<BufferConfig>,
    /// The packets that count towards the limit.
    pub counting: CountingConfig,
    /// Discipline of the queue.
    pub queue: QueueConfig,
    /// Process of a delay that changes, in addition to the constant one, if there is one.
    #[serde(default)]
    pub delay_process: Option<DelayProcessConfig>,
    /// Process that loses packets before the queue, if there is one.
    #[serde(default)]
    pub loss: Option<LossConfig>,
    /// Whether each flow that crosses the link has a copy of it.
    #[serde(default)]
    pub private: bool,
    /// Times of the TCP process of a host, which such a link represents, as the last one of the paths that end at the
    /// host; `None`: a link.
    #[serde(default)]
    pub processing: Option<ProcessingConfig>,
}

/// Times for which the TCP process of a host, which does one thing at a time, handles an arriving packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessingConfig {
    /// Time for a data packet, before the receiver sees it \[s\].
    pub data_s: f64,
    /// Time for an ACK, before the sender sees it \[s\].
    pub ack_s: f64,
}

impl LinkConfig {
    /// Returns the smallest propagation delay \[s\].
    pub fn least_delay_s(&self) -> f64 {
        self.delay_s + self.delay_process.as_ref().map_or(0.0, |process| process.law.least_s())
    }
}

/// The capacity of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum BufferConfig {
    /// Limit in packets.
    Packets(u64),
    /// Limit in bytes.
    Bytes(u64),
}

/// The packets that count towards a buffer's limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountingConfig {
    /// Counts the packet in transmission.
    WithService,
    /// Counts waiting packets only.
    Waiting,
}

/// The discipline of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueConfig {
    /// Drops the arriving packet if the buffer is full.
    DropTail {},
    /// Drops the packet that has waited longest if the buffer is full.
    DropFromFront {},
    /// Drops a packet drawn among the waiting ones and the arriving one if the buffer is full.
    RandomDrop {},
    /// Strict priority by the flows' levels, non-preemptive; all levels share the buffer.
    Priority {
        /// Number of levels; the flows' levels are below it.
        levels: u8,
        /// Packet that is dropped if the buffer is full.
        victim: PriorityVictimConfig,
    },
    /// Random Early Detection (RED).
    Red {
        /// Minimum threshold \[packets\].
        min_threshold_packets: f64,
        /// Maximum threshold \[packets\].
        max_threshold_packets: f64,
        /// Weight of the newest sample.
        weight: f64,
        /// Drop probability at the maximum threshold.
        max_probability: f64,
        /// Whether the probability rises to 1 at twice the maximum threshold.
        gentle: bool,
        /// Packet that is dropped.
        victim: VictimConfig,
        /// Length of a typical packet \[bytes\].
        mean_packet_bytes: u16,
    },
}

/// The packet that RED drops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VictimConfig {
    /// The arriving packet.
    Arriving,
    /// A packet drawn among the waiting ones and the arriving one.
    Random,
}

/// The packet that a full priority queue drops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorityVictimConfig {
    /// The arriving packet.
    Arriving,
    /// The last packet of the lowest level, if the arriving one is of a higher level.
    Lowest,
}

fn one() -> usize {
    1
}

/// A flow, or a group of identical flows: a TCP connection, a source of transfers over TCP, or a source of datagrams.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Name of the flow, and of the random stream of its start.
    pub name: String,
    /// Indices of the links that data cross, in order.
    pub path: Vec<usize>,
    /// Indices of the links that ACKs cross, in order.
    pub return_path: Vec<usize>,
    /// Propagation delay of the data after the last link \[s\].
    pub forward_delay_s: f64,
    /// Propagation delay of the ACKs before the first link \[s\].
    pub return_delay_s: f64,
    /// Length of a data packet \[bytes\].
    pub packet_bytes: u16,
    /// Length of an ACK \[bytes\].
    pub ack_bytes: u16,
    /// Start of the flow \[s\].
    pub start_s: f64,
    /// Uniform random addition to the start \[s\].
    pub start_spread_s: f64,
    /// Number of packets to transfer; `None`: unlimited.
    pub size_packets: Option<u64>,
    /// Number of identical flows; if there are several, they are called `name[0]`, `name[1]`, ...
    #[serde(default = "one")]
    pub count: usize,
    /// Traffic of the flow; `None`: it sends its packets as fast as TCP allows.
    #[serde(default)]
    pub traffic: Option<TrafficConfig>,
    /// Settings of the sender.
    pub sender: SenderConfig,
    /// Settings of the receiver.
    pub receiver: ReceiverConfig,
    /// Level of the data at links with priority, 0 the highest.
    #[serde(default)]
    pub priority: u8,
    /// Level of the ACKs at links with priority.
    #[serde(default)]
    pub ack_priority: u8,
}

impl FlowConfig {
    /// Returns the name of a flow of the group.
    pub fn member_name(&self, number: usize) -> String {
        if self.count == 1 {
            self.name.clone()
        } else {
            format!("{}[{number}]", self.name)
        }
    }

    /// Returns whether ACKs acknowledge its packets.
    pub fn is_tcp(&self) -> bool {
        self.traffic.as_ref().is_none_or(|traffic| matches!(traffic, TrafficConfig::Web { .. }))
    }
}

impl Scenario {
    /// Returns the entry of each flow and its number there, in the order of the flows.
    pub fn members(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let entries = self.flows.iter().enumerate();
        entries.flat_map(|(entry, flow)| (0..flow.count).map(move |number| (entry, number)))
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
    #[serde(default)]
    pub delay: bool,
    /// Each timeout, and each fast recovery that succeeds.
    #[serde(default)]
    pub recovery: bool,
    /// Round trips that tile the time axis, one a round.
    #[serde(default)]
    pub rounds: bool,
    /// Length of the intervals whose smallest and largest cwnd and queue are recorded \[s\].
    pub overview_interval_s: Option<f64>,
    /// Length of the last part of the run that is recorded in as many intervals as all of it \[s\]; adds the sequence
    /// numbers of ACKs.
    #[serde(default)]
    pub overview_detail_s: Option<f64>,
    /// Links to capture, by name; `X` stands for `X` and `X.reverse`.
    pub capture: Option<Vec<String>>,
}
