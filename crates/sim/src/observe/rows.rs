//! The rows that a run records.

use base::{Packet, Time};
use serde::Deserialize;
use tcp::LossEvent;

use crate::recovery::Repair;

/// The recorded rows, each kind in order of time.
#[derive(Clone, Debug, Default)]
pub struct Traces {
    /// State of the senders at each change of cwnd.
    pub cwnd: Option<Vec<CwndRow>>,
    /// Round trips of the ACKs of new data.
    pub rtt: Option<Vec<RttRow>>,
    /// Packets sent and ACKs received.
    pub sequence: Option<Vec<SequenceRow>>,
    /// Queue lengths.
    pub queue: Option<Vec<QueueRow>>,
    /// Time at each queue length.
    pub queue_distribution: Option<Vec<QueueDistributionRow>>,
    /// Packets dropped.
    pub drops: Option<Vec<DropRow>>,
    /// Losses detected by senders.
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
    /// Rows of the ATM network; ends and ports by their indices there.
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
    /// Current retransmission timeout.
    pub rto: Time,
}

/// The round trip of an ACK of new data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RttRow {
    /// Flow.
    pub flow: u32,
    /// Instant of the ACK.
    pub time: Time,
    /// Time since the segment that the ACK answers was sent.
    pub rtt: Time,
}

/// The kind of a row of the sequence plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The first transmission of a packet.
    Sent = 0,
    /// A retransmission.
    Retransmitted = 1,
    /// An ACK; its sequence is the number of the packet expected next.
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
    /// Transmission, retransmission or ACK.
    pub kind: Kind,
    /// Number of the packet.
    pub sequence: u64,
}

/// The length of a queue after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueRow {
    /// Link.
    pub link: u32,
    /// Instant.
    pub time: Time,
    /// Packets in the link, including the one in transmission.
    pub packets: u64,
}

/// The time for which a link held a number of packets, and the number of arrivals that found as many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueDistributionRow {
    /// Link.
    pub link: u32,
    /// Number of packets, including the one in transmission.
    pub packets: u64,
    /// Time with that number, in the measurement.
    pub time: Time,
    /// Arrivals that found that number, in the measurement.
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

/// A packet that was dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropRow {
    /// Instant.
    pub time: Time,
    /// Link.
    pub link: u32,
    /// The packet.
    pub packet: Packet,
    /// Whether the packet was lost before the queue, rather than dropped by it.
    pub lost: bool,
}

/// A loss that a sender detected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossRow {
    /// Instant.
    pub time: Time,
    /// Flow.
    pub flow: u32,
    /// The loss.
    pub loss: LossEvent,
    /// Whether the last copy of the packet had not been dropped.
    pub spurious: bool,
}

/// A timeout, or the end of a fast recovery that succeeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepairRow {
    /// Instant.
    pub time: Time,
    /// Flow.
    pub flow: u32,
    /// The timeout or the recovery.
    pub repair: Repair,
}

/// A round: it ends, and the next one begins, when all packets outstanding at its start are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundRow {
    /// Flow.
    pub flow: u32,
    /// End of the round.
    pub time: Time,
    /// Length of the round.
    pub rtt: Time,
    /// cwnd before the ACK that ends it \[packets\].
    pub window: f64,
}

/// The propagation delay of a link from an instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayRow {
    /// Link.
    pub link: u32,
    /// Instant.
    pub time: Time,
    /// Propagation delay.
    pub delay: Time,
}

/// The series of a row of the overview.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OverviewKind {
    /// A flow's cwnd: the extremes of an interval.
    Cwnd = 0,
    /// A link's queue: the extremes of an interval.
    Queue = 1,
    /// A link's drops: the time of the first in an interval, and their number.
    #[serde(rename = "drop")]
    Drops = 2,
    /// Sequence numbers of a flow's ACKs, if a part is magnified: the first and the last of an interval.
    Acked = 3,
    /// Data packets in the queue at an end of an ATM channel, by its link: the extremes of an interval.
    DataQueue = 4,
    /// Allowed cell rate of an end of an ATM channel, by its link: the extremes of an interval.
    #[serde(rename = "acr")]
    AllowedRate = 5,
    /// Cells in a port of the ATM network: the extremes of an interval.
    CellQueue = 6,
}

/// A point of a thinned series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverviewRow {
    /// Series.
    pub kind: OverviewKind,
    /// Link, flow or port.
    pub index: u32,
    /// Instant.
    pub time: Time,
    /// Packets; bit/s; cells.
    pub value: f64,
}
