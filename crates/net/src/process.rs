use base::{Histogram, Packet, Ring, Time};

use crate::statistics::{LinkStatistics, Measurement};

/// A server with a fixed service time for each kind of packet, whatever its size; first in, first out, without limit.
/// So a packet's departure is known on arrival, as at a [`crate::Link`]. Arrivals must come in order of time.
#[derive(Clone, Debug, Default)]
pub struct Process {
    /// Service time of a data packet.
    data: Time,
    /// Service time of an ACK.
    ack: Time,
    /// The last departure.
    last: Time,
    /// Departures of the packets in it.
    departures: Ring<Time>,
    statistics: LinkStatistics,
    /// Instant from which on waits are measured.
    waits_from: Time,
    waits: Histogram,
}

impl Process {
    /// Returns an idle server with the service times of a data packet and of an ACK.
    pub fn new(data: Time, ack: Time) -> Process {
        Process { data, ack, waits_from: Time::NEVER, ..Process::default() }
    }

    /// Lets the server measure waits, from a packet's arrival until its service begins, of the packets that arrive from
    /// the end of the warm-up on.
    pub fn measure_waits(&mut self, warmup: Time) {
        self.waits_from = warmup;
    }

    /// Returns the waits of the packets that arrived in the measured part.
    pub fn waits(&self) -> &Histogram {
        &self.waits
    }

    /// Returns the counters.
    pub fn statistics(&self) -> LinkStatistics {
        self.statistics
    }

    /// Returns the number of packets after the last arrival.
    pub fn packets(&self) -> u64 {
        self.departures.len() as u64
    }

    /// Returns the departures after the last arrival, in order.
    pub fn departures(&self) -> impl Iterator<Item = Time> + '_ {
        self.departures.iter().copied()
    }

    /// Handles the arrival of a packet and returns its departure. A departure precedes an arrival at the same instant.
    pub fn arrive(&mut self, now: Time, packet: &Packet, measurement: &Measurement) -> Time {
        while self.departures.front().is_some_and(|&departure| departure <= now) {
            self.departures.pop();
        }
        let start = self.last.max(now);
        self.last = start + if packet.kind.goes_back() { self.ack } else { self.data };
        self.departures.push(self.last);
        if now >= self.waits_from {
            self.waits.record(start - now);
        }
        let counted = &mut self.statistics;
        counted.arrived[measurement.index(now)] += 1;
        counted.in_link(now, self.last, measurement);
        counted.transmitted(start, self.last, packet.bytes, measurement);
        counted.observe_queue(self.departures.len() as u64, now, measurement);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use base::PacketKind;

    use super::*;

    const MEASUREMENT: Measurement = Measurement { warmup: Time::ZERO, end: Time::from_ticks(1_000) };

    fn packet(kind: PacketKind) -> Packet {
        Packet { bytes: 1500, kind, ..Packet::default() }
    }

    #[test]
    fn data_and_acks_take_turns_in_the_order_of_their_arrival() {
        let mut process = Process::new(Time::from_ticks(10), Time::from_ticks(4));
        process.measure_waits(Time::from_ticks(1));
        let mut end = |now, kind| process.arrive(Time::from_ticks(now), &packet(kind), &MEASUREMENT).ticks();
        assert_eq!(end(0, PacketKind::Data), 10);
        assert_eq!(end(1, PacketKind::Ack), 14);
        assert_eq!(end(2, PacketKind::Retransmission), 24);
        assert_eq!(end(24, PacketKind::Ack), 28);
        assert_eq!(process.packets(), 1);
        let counted = process.statistics();
        assert_eq!((counted.arrived[1], counted.departed[1], counted.queue_max), (4, 4, 3));
        assert_eq!((counted.busy, counted.queue_area), (28, 10 + 13 + 22 + 4));
        // Waits of 9, 12 and 0 ps after the first picosecond.
        assert_eq!((process.waits().total(), process.waits().longest().ticks()), (3, 12));
    }
}
