use base::{Rate, Time};

use crate::buffer::{Buffer, Load};
use crate::statistics::{LinkStatistics, Phase};

/// Many links alike, each of which one flow has for itself; all carry packets of one size.
///
/// First in, first out, drop-tail. As its packets are of one size, a link's state is one instant, the departure of its last
/// packet: what it holds follows from that. Whoever has the links keeps these instants; what they count is counted together.
#[derive(Clone, Debug)]
pub struct PrivateLinks {
    service: Time,
    bytes: u16,
    /// A packet is let in while the last departure is no further ahead than this.
    most_ahead: Time,
    /// Packets that came and left within the measurement, and what they add to the area.
    passed: u64,
    passed_area: u128,
    /// The longest that a last departure was ahead, in the measurement.
    longest: Time,
    statistics: LinkStatistics,
}

impl PrivateLinks {
    /// Links of this rate and buffer for packets of `bytes`.
    pub fn new(mut rate: Rate, buffer: Buffer, bytes: u16) -> PrivateLinks {
        let service = rate.service_time(bytes);
        let holds = |packets: u64| {
            let (size, room) = (u64::from(bytes), packets < u64::MAX);
            let load = Load { packets, bytes: packets.saturating_mul(size), bytes_in_service: size };
            room && buffer.admits(&load, bytes)
        };
        // How many packets a link may hold already, and one more be let in: from 0 on, as `admits` falls but once.
        let (mut some, mut too_many) = (0, u64::MAX >> 17);
        if !holds(too_many) {
            while too_many - some > 1 {
                let middle = some + (too_many - some) / 2;
                if holds(middle) {
                    some = middle;
                } else {
                    too_many = middle;
                }
            }
        } else {
            some = u64::MAX;
        }
        PrivateLinks {
            service,
            bytes,
            most_ahead: service.times(some),
            passed: 0,
            passed_area: 0,
            longest: Time::ZERO,
            statistics: LinkStatistics::default(),
        }
    }

    /// What all of them counted: sums, and the longest queue of any.
    pub fn statistics(&self) -> LinkStatistics {
        let mut statistics = self.statistics;
        statistics.arrived[1] += self.passed;
        statistics.departed[1] += self.passed;
        statistics.departed_bytes[1] += self.passed * u64::from(self.bytes);
        statistics.busy += self.service.times(self.passed);
        statistics.queue_area += self.passed_area;
        statistics.queue_max = if self.longest > Time::ZERO {
            self.longest.picoseconds().div_ceil(self.service.picoseconds())
        } else {
            u64::from(self.passed > 0)
        };
        statistics
    }

    /// A packet comes to the link whose last packet departs at `last`: when its last bit leaves; none where it is dropped.
    #[inline(always)]
    pub fn arrive(&mut self, last: &mut Time, now: Time, phase: &Phase) -> Option<Time> {
        let start = now.max(*last);
        if start - now > self.most_ahead {
            self.refuse(now, phase);
            return None;
        }
        let departure = start + self.service;
        *last = departure;
        if now >= phase.warmup && departure <= phase.end {
            let ahead = departure - now;
            self.passed += 1;
            self.passed_area += u128::from(ahead.picoseconds());
            self.longest = self.longest.max(ahead);
        } else {
            self.count_at_the_edge(now, start, departure, phase);
        }
        Some(departure)
    }

    #[cold]
    fn count_at_the_edge(&mut self, now: Time, start: Time, departure: Time, phase: &Phase) {
        self.statistics.arrived[phase.index(now)] += 1;
        self.statistics.queue_area += u128::from(now.overlap(departure, phase.warmup, phase.end).picoseconds());
        self.statistics.transmitted(start, departure, self.bytes, phase);
        // What stands there when the measurement begins counts too.
        self.longest = self.longest.max(departure - now.max(phase.warmup));
    }

    #[cold]
    fn refuse(&mut self, now: Time, phase: &Phase) {
        self.statistics.arrived[phase.index(now)] += 1;
        self.statistics.dropped[phase.index(now)] += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Counting, Discipline, Limit, Link};
    use base::RandomStream;

    fn same(limit: Limit, counting: Counting, arrivals: &[u64], phase: Phase) {
        let (rate, buffer) = (Rate::from_bits_per_second(8e6), Buffer::new(limit, counting));
        let random = RandomStream::named(1, 0, "link");
        let mut link = Link::new(rate, buffer, &Discipline::DROP_TAIL, random);
        let (mut copies, mut last) = (PrivateLinks::new(rate, buffer, 1000), Time::ZERO);
        let mut now = Time::ZERO;
        for &gap in arrivals {
            now += Time::from_picoseconds(gap);
            let fate = link.arrive(now, 1000, &phase);
            assert_eq!(copies.arrive(&mut last, now, &phase), fate, "at {now:?} with {limit:?} {counting:?}");
        }
        let (one, other) = (link.statistics(), copies.statistics());
        assert_eq!((one.arrived, one.dropped, one.departed), (other.arrived, other.dropped, other.departed));
        assert_eq!(
            (one.departed_bytes, one.busy, one.queue_area),
            (other.departed_bytes, other.busy, other.queue_area)
        );
        assert_eq!(one.queue_max, other.queue_max, "{limit:?} {counting:?}");
    }

    #[test]
    fn a_private_link_is_a_link() {
        // Service of 1 ms; gaps from 0 to 2 ms, ties included.
        let mut random = RandomStream::named(1, 0, "gaps");
        for limit in [Limit::Unlimited, Limit::Packets(1), Limit::Packets(3), Limit::Bytes(999), Limit::Bytes(3500)] {
            for counting in [Counting::WithService, Counting::Waiting] {
                for (warmup, end) in [(0, u64::MAX), (30_000_000_000, 90_000_000_000)] {
                    let gaps: Vec<u64> = (0..100).map(|_| random.below(5) as u64 * 500_000_000).collect();
                    let t = Time::from_picoseconds;
                    same(limit, counting, &gaps, Phase { warmup: t(warmup), end: t(end) });
                }
            }
        }
    }

    #[test]
    fn links_that_take_no_time_hold_nothing() {
        let buffer = Buffer::new(Limit::Packets(1), Counting::WithService);
        let mut copies = PrivateLinks::new(Rate::UNLIMITED, buffer, 1000);
        let phase = Phase { warmup: Time::ZERO, end: Time::NEVER };
        let mut last = Time::ZERO;
        for _ in 0..3 {
            assert_eq!(copies.arrive(&mut last, Time::ZERO, &phase), Some(Time::ZERO));
        }
        assert_eq!(copies.statistics().queue_area, 0);
    }
}
