use base::{Packet, Rate, Ring, Time};

use crate::buffer::{Buffer, Load};
use crate::red::{Red, RedVerdict};
use crate::statistics::{LinkStatistics, Phase};

/// Why a packet was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The buffer is full.
    Overflow,
    /// RED dropped it early.
    Early,
}

/// A link whose packets' departures are known on arrival: first in, first out, and whoever is in stays in.
///
/// `departure = max(now, last departure) + size / rate` (Lindley), so a packet costs arithmetic and no event.
/// Arrivals must be told in order of time; they may lie ahead of the simulation's clock.
#[derive(Clone, Debug)]
pub struct Link {
    rate: Rate,
    buffer: Buffer,
    red: Option<Box<Red>>,
    last_departure: Time,
    /// Packets in the link, the one in transmission first.
    inside: Ring<Inside>,
    bytes_inside: u64,
    statistics: LinkStatistics,
}

#[derive(Clone, Copy, Debug, Default)]
struct Inside {
    departure: Time,
    bytes: u16,
}

impl Link {
    /// An empty link; with `red`, arriving packets may be dropped early.
    pub fn new(rate: Rate, buffer: Buffer, red: Option<Red>) -> Link {
        Link {
            rate,
            buffer,
            red: red.map(Box::new),
            last_departure: Time::ZERO,
            inside: Ring::default(),
            bytes_inside: 0,
            statistics: LinkStatistics::default(),
        }
    }

    /// What it counted.
    pub fn statistics(&self) -> &LinkStatistics {
        &self.statistics
    }

    /// Packets in the link after the last arrival.
    #[inline(always)]
    pub fn packets(&self) -> u64 {
        self.inside.len() as u64
    }

    /// The departures still ahead after the last arrival, in order.
    pub fn departures(&self) -> impl Iterator<Item = Time> + '_ {
        self.inside.iter().map(|inside| inside.departure)
    }

    /// A packet arrives: when its last bit leaves.
    ///
    /// # Errors
    /// The packet is dropped, and why.
    #[inline(always)]
    pub fn arrive(&mut self, now: Time, packet: &Packet, phase: &Phase) -> Result<Time, Refusal> {
        let index = phase.index(now);
        self.statistics.arrived[index] += 1;
        self.forget_departed(now);
        if let Some(refusal) = self.refusal(now, packet.bytes) {
            self.statistics.dropped[index] += 1;
            return Err(refusal);
        }
        let start = now.max(self.last_departure);
        let departure = start + self.rate.service_time(packet.bytes);
        self.last_departure = departure;
        self.inside.push(Inside { departure, bytes: packet.bytes });
        self.bytes_inside += u64::from(packet.bytes);
        self.statistics.observe_queue(self.packets(), now, phase);
        self.statistics.passed(now, start, departure, packet.bytes, phase);
        Ok(departure)
    }

    /// A departure goes before an arrival at the same instant.
    #[inline(always)]
    pub fn forget_departed(&mut self, now: Time) {
        if self.last_departure <= now {
            self.inside.clear();
            self.bytes_inside = 0;
            return;
        }
        while let Some(first) = self.inside.front() {
            if first.departure > now {
                break;
            }
            self.bytes_inside -= u64::from(first.bytes);
            self.inside.pop();
        }
    }

    #[inline(always)]
    fn refusal(&mut self, now: Time, bytes: u16) -> Option<Refusal> {
        let load = Load {
            packets: self.packets(),
            bytes: self.bytes_inside,
            bytes_in_service: self.inside.front().map_or(0, |first| u64::from(first.bytes)),
        };
        if let Some(red) = &mut self.red {
            let idle = (load.packets == 0).then(|| now - self.last_departure);
            if red.on_arrival(self.buffer.counted_packets(&load), idle) == RedVerdict::Drop {
                return Some(Refusal::Early);
            }
        }
        (!self.buffer.admits(&load, bytes)).then_some(Refusal::Overflow)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::{Counting, Limit};

    const PHASE: Phase = Phase { warmup: Time::ZERO, end: Time::NEVER };

    fn link(limit: Limit) -> Link {
        // 1000 bytes take 1 ms.
        Link::new(Rate::from_bits_per_second(8e6), Buffer { limit, counting: Counting::WithService }, None)
    }

    fn arrive(link: &mut Link, milliseconds: f64) -> Option<f64> {
        let packet = Packet { bytes: 1000, ..Packet::default() };
        let now = Time::from_seconds(milliseconds / 1e3);
        link.arrive(now, &packet, &PHASE).ok().map(|departure| departure.seconds() * 1e3)
    }

    #[test]
    fn packets_are_served_one_after_the_other() {
        let mut link = link(Limit::Unlimited);
        let departures: Vec<_> = [0.0, 0.0, 0.5, 5.0].iter().map(|&t| arrive(&mut link, t).unwrap()).collect();
        assert_eq!(departures, [1.0, 2.0, 3.0, 6.0]);
    }

    #[test]
    fn a_full_buffer_drops_the_arriving_packet() {
        let mut link = link(Limit::Packets(2));
        assert_eq!([0.0, 0.0, 0.0].map(|t| arrive(&mut link, t)), [Some(1.0), Some(2.0), None]);
        assert_eq!(link.statistics().dropped, [0, 1]);
    }

    #[test]
    fn a_departure_goes_before_an_arrival_at_the_same_instant() {
        let mut link = link(Limit::Packets(2));
        let fates = [0.0, 0.0, 1.0, 1.0].map(|t| arrive(&mut link, t).is_some());
        assert_eq!(fates, [true, true, true, false]);
    }

    #[test]
    fn statistics_count_the_measured_part_alone() {
        let t = |milliseconds: f64| Time::from_seconds(milliseconds / 1e3);
        let phase = Phase { warmup: t(1.5), end: t(3.5) };
        let mut link = link(Limit::Unlimited);
        let packet = Packet { bytes: 1000, ..Packet::default() };
        for now in [0.0, 0.0, 2.0, 3.0] {
            link.arrive(t(now), &packet, &phase).unwrap();
        }
        // Busy from 0 to 4; departures at 1, 2, 3, 4.
        let seen = link.statistics();
        assert_eq!((seen.arrived, seen.departed), ([2, 2], [1, 2]));
        assert_eq!(seen.busy, t(2.0));
        assert_eq!(seen.queue_area, u128::from(t(2.0).picoseconds()));
        assert_eq!(seen.queue_max, 1);
    }
}
