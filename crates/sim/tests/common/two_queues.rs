//! Two queues in opposite directions, each with the data of one flow and the ACKs of the other: computed anew from the
//! instants of sending, by Lindley's recursion and nothing else.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::Time;

/// One direction.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// Time to transmit a data packet.
    pub data_service: Time,
    /// Time to transmit an ACK.
    pub ack_service: Time,
    /// Propagation.
    pub propagation: Time,
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// Data, or an ACK of the other flow's data.
    pub data: bool,
    /// When it comes.
    pub arrival: Time,
    /// When its transmission begins.
    pub start: Time,
    /// When it has left.
    pub departure: Time,
}

/// All visits of both queues, in order, for data sent at the given instants without any loss.
pub fn replay(directions: [Direction; 2], sends: [&[Time]; 2]) -> [Vec<Visit>; 2] {
    let mut pending = BinaryHeap::new();
    for (queue, times) in sends.iter().enumerate() {
        pending.extend(times.iter().map(|&time| Reverse((time, queue, true))));
    }
    let mut visits = [Vec::<Visit>::new(), Vec::new()];
    while let Some(Reverse((arrival, queue, data))) = pending.pop() {
        let Direction { data_service, ack_service, propagation } = directions[queue];
        let start = visits[queue].last().map_or(arrival, |last| last.departure.max(arrival));
        let departure = start + if data { data_service } else { ack_service };
        visits[queue].push(Visit { data, arrival, start, departure });
        if data {
            pending.push(Reverse((departure + propagation, 1 - queue, false)));
        }
    }
    visits
}

/// The most packets of a kind at once after `from`, among the spans that `span` gives them.
pub fn most_at_once(visits: &[Visit], data: bool, from: Time, span: impl Fn(&Visit) -> (Time, Time)) -> u64 {
    let mut changes = Vec::new();
    for visit in visits.iter().filter(|visit| visit.data == data) {
        let (begin, end) = span(visit);
        if end > begin {
            // An end goes before a beginning at the same instant.
            changes.extend([(begin, 1), (end, 0)]);
        }
    }
    changes.sort_unstable();
    let (mut now, mut most) = (0_u64, 0);
    for (time, enters) in changes {
        now = now + enters - (1 - enters);
        if time >= from {
            most = most.max(now);
        }
    }
    most
}
