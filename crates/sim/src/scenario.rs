//! The resolved scenario: SI numbers, nothing implicit. Its JSON form is the contract with the Python side.

mod delay;
mod loss;

use serde::{Deserialize, Serialize};
use tcp::{ReceiverConfig, SenderConfig};

pub use crate::traffic::{SizeLaw, TimeLaw, TrafficConfig};
pub use delay::{DelayLawConfig, DelayProcessConfig, DelayStateConfig, OrderConfig};
pub use loss::{CrossingConfig, LossConfig, LossLawConfig};

/// A whole scenario.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// Version of this form.
    pub format: u32,
    /// For people.
    pub title: String,
    /// How long, how often.
    pub run: Run,
    /// Simplex links.
    pub links: Vec<LinkConfig>,
    /// Flows, by groups of flows alike.
    pub flows: Vec<FlowConfig>,
    /// What to record.
    pub trace: TraceConfig,
    /// The ATM network whose channels stand among the links; none: there is none.
    #[serde(default)]
    pub atm: Option<ChannelsConfig>,
}

/// An ATM network, and the links that stand for its channels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChannelsConfig {
    /// The network.
    pub network: atm::AtmConfig,
    /// The link that stands for the way from each end: of the first channel's near end, its far end, the second's near end, and
    /// so on. What such a link says of its rate and delay is for people; the network decides.
    pub links: Vec<usize>,
}

/// How long, how often, from which seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// End of the run \[s\].
    pub duration_s: f64,
    /// Where the measurement begins \[s\].
    pub warmup_s: f64,
    /// How many replications.
    pub replications: u64,
    /// Seed of all random streams.
    pub seed: u64,
    /// Confidence level of the intervals (the engine does not use it).
    pub confidence: f64,
    /// Until when replications are added (the engine does not use it).
    #[serde(default)]
    pub precision: Option<PrecisionConfig>,
}

/// The quantity whose interval ends a series of replications, and how narrow it must be.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrecisionConfig {
    /// `flow` or `link`.
    pub element: String,
    /// Its name.
    pub name: String,
    /// Which of its quantities.
    pub quantity: String,
    /// Half the interval, as a part of the mean.
    pub within: f64,
    /// Replications at most.
    pub most: u64,
    /// Replications added at a time.
    pub batch: u64,
}

/// A simplex link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkConfig {
    /// Its name; the random stream of its discipline goes by it.
    pub name: String,
    /// Rate \[bit/s\]; none: infinitely fast.
    pub rate_bps: Option<f64>,
    /// Propagation delay \[s\].
    pub delay_s: f64,
    /// Buffer; none: unlimited.
    pub buffer: Option<BufferConfig>,
    /// Whether the limit counts the packet in transmission.
    pub counting: CountingConfig,
    /// Discipline.
    pub queue: QueueConfig,
    /// A delay that changes, on top of the constant one; none: it does not change.
    #[serde(default)]
    pub delay_process: Option<DelayProcessConfig>,
    /// What loses packets before the queue; none: nothing does.
    #[serde(default)]
    pub loss: Option<LossConfig>,
    /// Each flow that crosses it has a copy for itself.
    #[serde(default)]
    pub private: bool,
    /// It is no link but the TCP process of a host, which takes so long for each packet; it stands last on the ways that end
    /// there. None: it is a link.
    #[serde(default)]
    pub processing: Option<ProcessingConfig>,
}

/// What a host's TCP process, which does one thing at a time, takes for a packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessingConfig {
    /// For a data packet, before the receiver sees it \[s\].
    pub data_s: f64,
    /// For an ACK, before the sender sees it \[s\].
    pub ack_s: f64,
}

impl LinkConfig {
    /// The least propagation delay \[s\].
    pub fn least_delay_s(&self) -> f64 {
        self.delay_s + self.delay_process.as_ref().map_or(0.0, |process| process.law.least_s())
    }
}

/// How much a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum BufferConfig {
    /// Packets.
    Packets(u64),
    /// Bytes.
    Bytes(u64),
}

/// Whether a buffer's limit counts the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountingConfig {
    /// It does.
    WithService,
    /// It does not.
    Waiting,
}

/// Who is dropped when.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "discipline", rename_all = "kebab-case", deny_unknown_fields)]
pub enum QueueConfig {
    /// The arriving packet, where the buffer is full.
    DropTail {},
    /// The packet that has waited longest.
    DropFromFront {},
    /// One drawn among all that wait and the arriving one.
    RandomDrop {},
    /// Strict priority by the flows' levels, without interruption; the buffer is shared.
    Priority {
        /// How many; flows' levels are below.
        levels: u8,
        /// Who is dropped, where the buffer is full.
        victim: PriorityVictimConfig,
    },
    /// Random Early Detection.
    Red {
        /// Minimum threshold \[packets\].
        min_threshold_packets: f64,
        /// Maximum threshold \[packets\].
        max_threshold_packets: f64,
        /// Weight of the newest sample.
        weight: f64,
        /// Drop probability at the maximum threshold.
        max_probability: f64,
        /// Rise to 1 at twice the maximum threshold.
        gentle: bool,
        /// Who is dropped.
        victim: VictimConfig,
        /// Typical packet \[bytes\].
        mean_packet_bytes: u16,
    },
}

/// Whom RED drops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum VictimConfig {
    /// The arriving packet.
    Arriving,
    /// One drawn among all that wait and the arriving one.
    Random,
}

/// Whom a full priority queue drops.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriorityVictimConfig {
    /// The arriving packet.
    Arriving,
    /// The last one of the lowest level, where the arriving one is of a higher level.
    Lowest,
}

/// A TCP connection.
fn one() -> usize {
    1
}

/// A flow, or several alike: a TCP connection, a source of transfers over TCP, or a source without congestion control.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowConfig {
    /// Its name; its random start goes by it.
    pub name: String,
    /// The links that its data cross, in order.
    pub path: Vec<usize>,
    /// The links that its ACKs cross, in order.
    pub return_path: Vec<usize>,
    /// Its own propagation after the last link \[s\].
    pub forward_delay_s: f64,
    /// Its ACKs' own propagation before the first link \[s\].
    pub return_delay_s: f64,
    /// Length of a data packet \[bytes\].
    pub packet_bytes: u16,
    /// Length of an ACK \[bytes\].
    pub ack_bytes: u16,
    /// When it starts \[s\].
    pub start_s: f64,
    /// Uniform random addition to the start \[s\].
    pub start_spread_s: f64,
    /// Packets to transfer; none: without end.
    pub size_packets: Option<u64>,
    /// So many flows alike; where there are several they are called `name[0]`, `name[1]`, ...
    #[serde(default = "one")]
    pub count: usize,
    /// What it sends and when; none: its packets at once, as fast as TCP lets them go.
    #[serde(default)]
    pub traffic: Option<TrafficConfig>,
    /// The sender's axes.
    pub sender: SenderConfig,
    /// The receiver's axes.
    pub receiver: ReceiverConfig,
    /// Level of its data at links with priority, 0 the highest.
    #[serde(default)]
    pub priority: u8,
    /// Level of its ACKs there.
    #[serde(default)]
    pub ack_priority: u8,
}

impl FlowConfig {
    /// The name of one of its flows.
    pub fn member_name(&self, number: usize) -> String {
        if self.count == 1 {
            self.name.clone()
        } else {
            format!("{}[{number}]", self.name)
        }
    }

    /// Its packets are answered by ACKs.
    pub fn is_tcp(&self) -> bool {
        self.traffic.as_ref().is_none_or(|traffic| matches!(traffic, TrafficConfig::Web { .. }))
    }
}

impl Scenario {
    /// All flows in their order: the entry that each belongs to, and its number there.
    pub fn members(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        let entries = self.flows.iter().enumerate();
        entries.flat_map(|(entry, flow)| (0..flow.count).map(move |number| (entry, number)))
    }

    /// Flows in all.
    pub fn flow_count(&self) -> usize {
        self.flows.iter().map(|flow| flow.count).sum()
    }
}

/// What to record.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceConfig {
    /// cwnd, ssthresh, flight, RTO at each change.
    pub cwnd: bool,
    /// The round trip of each ACK of new data.
    pub rtt: bool,
    /// Packets sent and ACKs received.
    pub sequence: bool,
    /// Queue lengths at each change.
    pub queue: bool,
    /// Time at each queue length, and what arrivals see.
    pub queue_distribution: bool,
    /// Each packet dropped.
    pub drops: bool,
    /// Each loss that a sender found.
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
    /// Smallest and largest cwnd and queue of each interval \[s\].
    pub overview_interval_s: Option<f64>,
    /// So much of the end of the run the overview has in as many intervals as all of it \[s\]; with it, what is acknowledged too.
    #[serde(default)]
    pub overview_detail_s: Option<f64>,
    /// Links to capture, by name; `X` stands for `X` and `X.reverse`.
    pub capture: Option<Vec<String>>,
}
