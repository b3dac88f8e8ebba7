use base::{Packet, PacketKind, Ring, Time};

use crate::statistics::{LinkStatistics, Phase};

/// A worker that takes a fixed time for each packet, whatever its size: one after the other, first in, first out, with room
/// for all. So the end of a packet's turn is known on arrival, as at a [`crate::Link`]; arrivals must be told in order of time.
#[derive(Clone, Debug, Default)]
pub struct Process {
    data: Time,
    ack: Time,
    last: Time,
    /// The ends of the turns that are not over.
    ends: Ring<Time>,
    statistics: LinkStatistics,
}

impl Process {
    /// An idle worker, by the times that it takes for a data packet and for an ACK.
    pub fn new(data: Time, ack: Time) -> Process {
        Process { data, ack, ..Process::default() }
    }

    /// What it counted.
    pub fn statistics(&self) -> LinkStatistics {
        self.statistics
    }

    /// Packets that wait or are in turn, after the last arrival.
    pub fn packets(&self) -> u64 {
        self.ends.len() as u64
    }

    /// The ends of turns still ahead after the last arrival, in order.
    pub fn departures(&self) -> impl Iterator<Item = Time> + '_ {
        self.ends.iter().copied()
    }

    /// A packet arrives: the end of its turn. Another one's end goes before an arrival at the same instant.
    pub fn arrive(&mut self, now: Time, packet: &Packet, phase: &Phase) -> Time {
        while self.ends.front().is_some_and(|&end| end <= now) {
            self.ends.pop();
        }
        let start = self.last.max(now);
        self.last = start + if packet.kind == PacketKind::Ack { self.ack } else { self.data };
        self.ends.push(self.last);
        let counted = &mut self.statistics;
        counted.arrived[phase.index(now)] += 1;
        counted.in_link(now, self.last, phase);
        counted.transmitted(start, self.last, packet.bytes, phase);
        counted.observe_queue(self.ends.len() as u64, now, phase);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PHASE: Phase = Phase { warmup: Time::ZERO, end: Time::from_picoseconds(1_000) };

    fn packet(kind: PacketKind) -> Packet {
        Packet { bytes: 1500, kind, ..Packet::default() }
    }

    #[test]
    fn data_and_acks_take_turns_in_the_order_of_their_arrival() {
        let mut process = Process::new(Time::from_picoseconds(10), Time::from_picoseconds(4));
        let mut end = |now, kind| process.arrive(Time::from_picoseconds(now), &packet(kind), &PHASE).picoseconds();
        assert_eq!(end(0, PacketKind::Data), 10);
        assert_eq!(end(1, PacketKind::Ack), 14);
        assert_eq!(end(2, PacketKind::Retransmission), 24);
        assert_eq!(end(24, PacketKind::Ack), 28);
        assert_eq!(process.packets(), 1);
        let counted = process.statistics();
        assert_eq!((counted.arrived[1], counted.departed[1], counted.queue_max), (4, 4, 3));
        assert_eq!((counted.busy.picoseconds(), counted.queue_area), (28, 10 + 13 + 22 + 4));
    }
}
