//! Two queues in opposite directions, each with the data of one flow and the ACKs of the other: a second computation,
//! from the instants of sending, by Lindley's recursion alone.
// Each test binary uses its part of this.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::Time;

/// One direction of a link.
#[derive(Clone, Copy, Debug)]
pub struct Direction {
    /// Time to transmit a data packet.
    pub data_service: Time,
    /// Time to transmit an ACK.
    pub ack_service: Time,
    /// Propagation delay after the transmission.
    pub propagation: Time,
}

/// A packet in a queue.
#[derive(Clone, Copy, Debug)]
pub struct Visit {
    /// Whether the packet is data, rather than an ACK of the other flow's data.
    pub data: bool,
    /// Instant of the arrival.
    pub arrival: Time,
    /// Start of the transmission.
    pub start: Time,
    /// End of the transmission.
    pub departure: Time,
}

/// The result of a replay.
#[derive(Clone, Debug, Default)]
pub struct Replay {
    /// The visits of each queue, in order.
    pub visits: [Vec<Visit>; 2],
    /// Instants at which each flow's sender sees its ACKs.
    pub acked: [Vec<Time>; 2],
}

/// Returns all visits of both queues, in order, for data sent at the given instants without any loss.
pub fn replay(directions: [Direction; 2], sends: [&[Time]; 2]) -> [Vec<Visit>; 2] {
    replay_with_hosts(directions, [[Time::ZERO; 2]; 2], sends).visits
}

/// Replays as [`replay`] does; packets that arrive at a host wait for its process, which takes `[data, ACK]` for each.
pub fn replay_with_hosts(directions: [Direction; 2], processing: [[Time; 2]; 2], sends: [&[Time]; 2]) -> Replay {
    // Instant, whether at a process, host, whether data. Queue and process of a host have its number.
    let mut pending = BinaryHeap::new();
    for (host, times) in sends.iter().enumerate() {
        pending.extend(times.iter().map(|&time| Reverse((time, false, host, true))));
    }
    let (mut found, mut free) = (Replay::default(), [Time::ZERO; 2]);
    while let Some(Reverse((arrival, at_process, host, data))) = pending.pop() {
        if at_process {
            let [for_data, for_ack] = processing[host];
            free[host] = free[host].max(arrival) + if data { for_data } else { for_ack };
            if data {
                pending.push(Reverse((free[host], false, host, false)));
            } else {
                found.acked[host].push(free[host]);
            }
            continue;
        }
        let Direction { data_service, ack_service, propagation } = directions[host];
        let visits = &mut found.visits[host];
        let start = visits.last().map_or(arrival, |last| last.departure.max(arrival));
        let departure = start + if data { data_service } else { ack_service };
        visits.push(Visit { data, arrival, start, departure });
        pending.push(Reverse((departure + propagation, true, 1 - host, data)));
    }
    found
}

/// Returns the most packets of a kind at once after `from`, each counted for its `span`.
pub fn most_at_once(visits: &[Visit], data: bool, from: Time, span: impl Fn(&Visit) -> (Time, Time)) -> u64 {
    let mut changes = Vec::new();
    for visit in visits.iter().filter(|visit| visit.data == data) {
        let (begin, end) = span(visit);
        if end > begin {
            // An end precedes a beginning at the same instant.
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
