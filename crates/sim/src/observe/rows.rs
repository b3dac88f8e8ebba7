//! The rows that a run records.

use std::collections::BTreeMap;

use base::{Packet, Time};
use net::AqmState;
use serde::Deserialize;
use tcp::{LossEvent, SackLog, SenderEvent, SenderView};

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
    /// Queue lengths of links at each change.
    pub queue: Option<Vec<QueueRow>>,
    /// Time at each queue length.
    pub queue_distribution: Option<Vec<QueueDistributionRow>>,
    /// Packets dropped by queues, or lost before them.
    pub drops: Option<Vec<DropRow>>,
    /// Losses detected by senders.
    pub losses: Option<Vec<LossRow>>,
    /// Rates of links that change.
    pub rate: Option<Vec<RateRow>>,
    /// Propagation delays that change.
    pub delay: Option<Vec<DelayRow>>,
    /// Timeouts, and fast recoveries that succeeded.
    pub recovery: Option<Vec<RepairRow>>,
    /// Round trips that tile the time axis.
    pub rounds: Option<Vec<RoundRow>>,
    /// Events of senders with selective acknowledgment, and their states.
    pub state: Option<Vec<StateRow>>,
    /// States of the AQM of queues at each change.
    pub aqm: Option<Vec<AqmRow>>,
    /// Thinned cwnd and queues.
    pub overview: Option<Vec<OverviewRow>>,
    /// Packets as they leave the captured links.
    pub capture: Option<Vec<CaptureRow>>,
    /// Records of the SACK options of captured ACKs, by flow.
    pub sack_logs: BTreeMap<u32, SackLog>,
    /// Rows of the ATM network; ends and ports by their indices there.
    pub atm: Option<atm::Traces>,
}

impl Traces {
    /// Returns the memory that the rows take so far \[bytes\], those of the ATM network apart. The overview is bounded
    /// by its intervals.
    pub(crate) fn bytes(&self) -> u64 {
        fn size<Row>(rows: &Option<Vec<Row>>) -> usize {
            rows.as_deref().map_or(0, size_of_val)
        }
        let Traces { cwnd, rtt, sequence, queue, queue_distribution, drops, losses, .. } = self;
        let Traces { rate, delay, recovery, rounds, state, aqm, capture, .. } = self;
        let tcp = size(cwnd) + size(rtt) + size(sequence) + size(losses) + size(recovery) + size(rounds) + size(state);
        let links =
            size(queue) + size(queue_distribution) + size(drops) + size(rate) + size(delay) + size(capture) + size(aqm);
        (tcp + links) as u64
    }
}

/// A sender's state after a change of cwnd.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CwndRow {
    /// Index of the flow.
    pub flow: u32,
    /// Instant of the change.
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
    /// Index of the flow.
    pub flow: u32,
    /// Instant of the ACK.
    pub time: Time,
    /// Time since the segment that the ACK acknowledges was sent.
    pub rtt: Time,
}

/// The kind of a row of the sequence plot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SequenceKind {
    /// The first transmission of a packet.
    Sent = 0,
    /// A retransmission of a packet.
    Retransmitted = 1,
    /// An ACK; its sequence is the number of the packet expected next.
    #[serde(rename = "acknowledged")]
    Acked = 2,
}

/// A point of the sequence plot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SequenceRow {
    /// Index of the flow.
    pub flow: u32,
    /// Instant of the transmission or of the arrival.
    pub time: Time,
    /// Transmission, retransmission or ACK.
    pub kind: SequenceKind,
    /// Number of the packet.
    pub sequence: u64,
}

/// The state of an AQM after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AqmRow {
    /// Index of the link.
    pub link: u32,
    /// Instant of the change.
    pub time: Time,
    /// State from then on.
    pub state: AqmState,
}

/// The length of a queue after a change.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueRow {
    /// Index of the link.
    pub link: u32,
    /// Instant of the change.
    pub time: Time,
    /// Packets in the link, including the one in transmission.
    pub packets: u64,
}

/// The time for which a link held a number of packets, and the number of arrivals that found as many.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueDistributionRow {
    /// Index of the link.
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
    /// Instant of the departure.
    pub time: Time,
    /// Index of the link.
    pub link: u32,
    /// The packet that left.
    pub packet: Packet,
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DropRow {
    /// Instant of the drop.
    pub time: Time,
    /// Index of the link.
    pub link: u32,
    /// The dropped packet.
    pub packet: Packet,
    /// Whether the packet was lost before the queue, rather than dropped by it.
    pub lost: bool,
}

/// A loss that a sender detected.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LossRow {
    /// Instant of the detection.
    pub time: Time,
    /// Index of the flow.
    pub flow: u32,
    /// The loss as the sender sees it.
    pub loss: LossEvent,
    /// Whether the last copy of the packet had not been dropped.
    pub spurious: bool,
}

/// A timeout, or the end of a fast recovery that succeeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RepairRow {
    /// Instant of the timeout, or of the recovery's end.
    pub time: Time,
    /// Index of the flow.
    pub flow: u32,
    /// The timeout or the recovery.
    pub repair: Repair,
}

/// A round: it ends, and the next one begins, when all packets outstanding at its start are acknowledged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundRow {
    /// Index of the flow.
    pub flow: u32,
    /// End of the round.
    pub time: Time,
    /// Length of the round.
    pub rtt: Time,
    /// cwnd before the ACK that ends it \[packets\].
    pub window: f64,
}

/// The state of a sender with selective acknowledgment after an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StateRow {
    /// Index of the flow.
    pub flow: u32,
    /// Instant of the event.
    pub time: Time,
    /// Reason for which the state is recorded.
    pub event: SenderEvent,
    /// The state after it.
    pub view: SenderView,
}

/// The propagation delay of a link from an instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayRow {
    /// Index of the link.
    pub link: u32,
    /// Instant of the change.
    pub time: Time,
    /// Propagation delay from then on.
    pub delay: Time,
}

/// The rate of a link from an instant on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateRow {
    /// Index of the link.
    pub link: u32,
    /// Instant of the change.
    pub time: Time,
    /// Rate from then on \[bit/s\]; of opportunities the mean of 100 ms.
    pub rate: f64,
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
    /// Round trips of a flow's pings \[s\]: the extremes of an interval.
    Ping = 7,
    /// Rate of a link that changes: the mean of the interval that begins.
    Rate = 8,
}

/// A point of a thinned series.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverviewRow {
    /// Series of the point.
    pub kind: OverviewKind,
    /// Link, flow or port.
    pub index: u32,
    /// Instant of the value.
    pub time: Time,
    /// Value \[packets, bit/s or cells\].
    pub value: f64,
}
