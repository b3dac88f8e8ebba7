//! The rows that a run records.

use base::{Packet, Time};
use serde::Deserialize;
use tcp::Loss;

use crate::recovery::Repair;

/// The recorded rows, each kind in order of time.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// cwnd and its companions, at each change.
    pub cwnd: Option<Vec<CwndRow>>,
    /// Round trips of the ACKs of new data.
    pub rtt: Option<Vec<RttRow>>,
    /// Packets sent, ACKs received.
    pub sequence: Option<Vec<SequenceRow>>,
    /// Queue lengths.
    pub queue: Option<Vec<QueueRow>>,
    /// Time at each queue length.
    pub queue_distribution: Option<Vec<QueueDistributionRow>>,
    /// Packets dropped.
    pub drops: Option<Vec<DropRow>>,
    /// Losses found by senders.
    pub losses: Option<Vec<LossRow>>,
    /// Propagation delays that change.
    pub delay: Option<Vec<DelayRow>>,
    /// Timeouts, and fast recoveries that succeeded.
    pub recovery: Option<Vec<RepairRow>>,
    /// Round trips that tile the time axis.
    pub rounds: Option<Vec<RoundRow>>,
    /// Thinned cwnd and queues.
    pub overview: Option<Vec<OverviewRow>>,
    /// Packets as they leave the captured links.
    pub capture: Option<Vec<CaptureRow>>,
    /// What was recorded of the ATM network; ends and ports by their indices there.
    pub atm: Option<atm::Traces>,
}

/// A sender's state after a change of cwnd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CwndRow {
    /// Flow.
    pub flow: u32,
    /// Instant.
    pub time: Time,
    /// Congestion window \[packets\].
    pub cwnd: f64,
    /// Slow start threshold \[packets\].
    pub ssthresh: f64,
    /// Packets in flight.
    pub flight_size: u64,
    /// Timeout in force.
    pub rto: Time,
}

/// The round trip of an ACK of new data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttRow {
    /// Flow.
    pub flow: u32,
    /// Instant of the ACK.
    pub time: Time,
    /// Since the segment that it answers was sent.
    pub rtt: Time,
}

/// What a row of the sequence plot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// A packet's first sending.
    Sent = 0,
    /// A retransmission.
    Retransmitted = 1,
    /// An ACK; the sequence is the number expected next.
    #[serde(rename = "acknowledged")]
    Acked = 2,
}

/// A point of the sequence plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequenceRow {
    /// Flow.
    pub flow: u32,
    /// Instant.
    pub time: Time,
    /// Sent or acknowledged.
    pub kind: Kind,
    /// Number.
    pub sequence: u64,
}

/// A queue's length after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueRow {
    /// Link.
    pub link: u32,
    /// Instant.
    pub time: Time,
    /// Packets in the link, the one in transmission included.
    pub packets: u64,
}

/// How long a link held so many packets, and how many arrivals found so many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueDistributionRow {
    /// Link.
    pub link: u32,
    /// Packets, the one in transmission included.
    pub packets: u64,
    /// Time in the measurement.
    pub time: Time,
    /// Arrivals in the measurement.
    pub arrivals: u64,
}

/// A packet that left a captured link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CaptureRow {
    /// Instant.
    pub time: Time,
    /// Link.
    pub link: u32,
    /// The packet.
    pub packet: Packet,
}

/// A packet that was thrown away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropRow {
    /// Instant.
    pub time: Time,
    /// Link.
    pub link: u32,
    /// The packet.
    pub packet: Packet,
    /// It was lost before the queue, rather than thrown away by it.
    pub lost: bool,
}

/// A loss that a sender found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossRow {
    /// Instant.
    pub time: Time,
    /// Flow.
    pub flow: u32,
    /// What was found.
    pub loss: Loss,
    /// The last copy of the packet had not been dropped.
    pub spurious: bool,
}

/// A timeout, or the end of a fast recovery that succeeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepairRow {
    /// Instant.
    pub time: Time,
    /// Flow.
    pub flow: u32,
    /// What it was.
    pub repair: Repair,
}

/// A round: from an instant until all that was outstanding then is acknowledged, where the next one begins.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundRow {
    /// Flow.
    pub flow: u32,
    /// Its end.
    pub time: Time,
    /// Its length.
    pub rtt: Time,
    /// cwnd before the ACK that ends it \[packets\].
    pub window: f64,
}

/// A link's propagation delay from an instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayRow {
    /// Link.
    pub link: u32,
    /// Instant.
    pub time: Time,
    /// Delay from then on.
    pub delay: Time,
}

/// Which series a row of the overview belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverviewKind {
    /// A flow's cwnd: the extremes of an interval.
    Cwnd = 0,
    /// A link's queue: the extremes of an interval.
    Queue = 1,
    /// A link's drops: the first of an interval, and how many.
    #[serde(rename = "drop")]
    Drops = 2,
    /// Packets of a flow that are acknowledged, where a part is magnified: the first and the last of an interval.
    Acked = 3,
    /// Data packets at the end of a channel, which is a link: the extremes of an interval.
    DataQueue = 4,
    /// The allowed cell rate there: the extremes of an interval.
    #[serde(rename = "acr")]
    AllowedRate = 5,
    /// Cells in a port of the ATM network: the extremes of an interval.
    CellQueue = 6,
}

/// A point of a thinned series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverviewRow {
    /// Which series.
    pub kind: OverviewKind,
    /// Link, flow or port.
    pub index: u32,
    /// Instant.
    pub time: Time,
    /// Packets; bit/s; cells.
    pub value: f64,
}
