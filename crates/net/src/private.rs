use base::{Histogram, Rate, Time};

use crate::buffer::{Buffer, Occupancy};
use crate::link::Size;
use crate::statistics::{LinkStatistics, Measurement};

/// Identical drop-tail links, one for each flow of a group, that carry packets of one size.
///
/// As its packets are of one size, the state of a link is one instant, the departure of its last packet; its occupancy
/// follows from that. The caller keeps this instant of each link; the counters are common to all.
#[derive(Clone, Debug)]
pub struct PrivateLinks {
    service: Time,
    bytes: u16,
    /// Largest time from now to the last departure with which a link has room for one more packet.
    max_backlog: Time,
    /// Packets that arrived and departed in the measured part and are not in `statistics`.
    passed: u64,
    /// Their part of the queue area.
    passed_area: u128,
    /// Largest time from an instant of the measured part to the last departure.
    longest_backlog: Time,
    statistics: LinkStatistics,
    /// Instant from which on waits are measured.
    waits_from: Time,
    /// The waits that are not zero.
    waits: Histogram,
}

impl PrivateLinks {
    /// Returns links with a rate and a buffer for packets of `bytes`, which all take [`Rate::longest_service_time`].
    pub fn new(rate: Rate, buffer: Buffer, bytes: u16) -> PrivateLinks {
        let service = rate.longest_service_time(bytes);
        PrivateLinks {
            service,
            bytes,
            max_backlog: service.times(most_with_room(&buffer, bytes)),
            passed: 0,
            passed_area: 0,
            longest_backlog: Time::ZERO,
            statistics: LinkStatistics::default(),
            waits_from: Time::NEVER,
            waits: Histogram::default(),
        }
    }

    /// Lets the links measure waits, from a packet's arrival until its transmission begins, of the packets that arrive
    /// from the end of the warm-up on.
    pub fn measure_waits(&mut self, warmup: Time) {
        self.waits_from = warmup;
    }

    /// Returns the waits of the packets that arrived in the measured part and were not dropped.
    pub fn waits(&self) -> Histogram {
        self.statistics().with_zeros(&self.waits)
    }

    /// Returns the counters of all links: sums, and the longest queue of any.
    pub fn statistics(&self) -> LinkStatistics {
        let mut statistics = self.statistics;
        statistics.pass(self.passed, Size { service: self.service, bytes: self.bytes }, self.passed_area);
        if self.longest_backlog > Time::ZERO {
            statistics.queue_max = self.longest_backlog.ticks().div_ceil(self.service.ticks());
        }
        statistics
    }

    /// Handles the arrival of a packet at the link whose last departure is `last`; returns its departure, `None` if it
    /// is dropped.
    #[inline(always)]
    pub fn arrive(&mut self, last: &mut Time, now: Time, measurement: &Measurement) -> Option<Time> {
        let start = now.max(*last);
        if start - now > self.max_backlog {
            self.drop_arriving(now, measurement);
            return None;
        }
        if start > now && now >= self.waits_from {
            self.waits.record(start - now);
        }
        let departure = start + self.service;
        *last = departure;
        if now >= measurement.warmup && departure <= measurement.end {
            let ahead = departure.since(now);
            self.passed += 1;
            self.passed_area += u128::from(ahead);
            self.longest_backlog = self.longest_backlog.max(Time::from_ticks(ahead));
        } else {
            self.count_at_boundary(now, start, departure, measurement);
        }
        Some(departure)
    }

    /// Counts a packet that arrives or departs outside the measured part.
    #[cold]
    fn count_at_boundary(&mut self, now: Time, start: Time, departure: Time, measurement: &Measurement) {
        self.statistics.arrived[measurement.index(now)] += 1;
        self.statistics.queue_area += u128::from(now.overlap(departure, measurement.warmup, measurement.end).ticks());
        self.statistics.transmitted(start, departure, self.bytes, measurement);
        // A packet in the link at the end of the warm-up counts too.
        self.longest_backlog = self.longest_backlog.max(departure - now.max(measurement.warmup));
    }

    #[cold]
    fn drop_arriving(&mut self, now: Time, measurement: &Measurement) {
        self.statistics.arrived[measurement.index(now)] += 1;
        self.statistics.dropped[measurement.index(now)] += 1;
    }
}

/// Returns the largest number of packets of `bytes` in a link that has room for one more.
fn most_with_room(buffer: &Buffer, bytes: u16) -> u64 {
    let size = u64::from(bytes);
    let has_room =
        |packets| buffer.admits(&Occupancy { packets, bytes: packets * size, bytes_in_service: size }, bytes);
    let (mut low, mut high) = (0, u64::MAX >> 17);
    if has_room(high) {
        return u64::MAX;
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if has_room(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BufferLimit, Counting, Discipline, Link};
    use base::{Clock, RandomStream};

    fn same(limit: Option<BufferLimit>, counting: Counting, arrivals: &[u64], measurement: Measurement) {
        let (rate, buffer) = (Rate::new(8e6, Clock::PICOSECONDS), Buffer::new(limit, counting));
        let random = RandomStream::named(1, 0, "link");
        let mut link = Link::new(rate, buffer, &Discipline::DROP_TAIL, Clock::PICOSECONDS, random);
        let (mut copies, mut last) = (PrivateLinks::new(rate, buffer, 1000), Time::ZERO);
        link.measure_waits(measurement.warmup);
        copies.measure_waits(measurement.warmup);
        let mut now = Time::ZERO;
        for &gap in arrivals {
            now += Time::from_ticks(gap);
            let fate = link.arrive(now, 1000, &measurement, || false);
            assert_eq!(copies.arrive(&mut last, now, &measurement), fate, "at {now:?} with {limit:?} {counting:?}");
        }
        let (one, other) = (link.statistics(), copies.statistics());
        assert_eq!((one.arrived, one.dropped, one.departed), (other.arrived, other.dropped, other.departed));
        assert_eq!(
            (one.departed_bytes, one.busy, one.queue_area),
            (other.departed_bytes, other.busy, other.queue_area)
        );
        assert_eq!(one.queue_max, other.queue_max, "{limit:?} {counting:?}");
        let (one, other) = (link.waits(), copies.waits());
        assert!(one.buckets().eq(other.buckets()) && one.longest() == other.longest(), "{limit:?} {counting:?}");
    }

    #[test]
    fn a_private_link_is_a_link() {
        // Service of 1 ms; gaps from 0 to 2 ms, ties included.
        let mut random = RandomStream::named(1, 0, "gaps");
        for limit in [
            None,
            Some(BufferLimit::Packets(1)),
            Some(BufferLimit::Packets(3)),
            Some(BufferLimit::Bytes(999)),
            Some(BufferLimit::Bytes(3500)),
        ] {
            for counting in [Counting::WithService, Counting::Waiting] {
                for (warmup, end) in [(0, u64::MAX), (30_000_000_000, 90_000_000_000)] {
                    let gaps: Vec<u64> = (0..100).map(|_| random.below(5) as u64 * 500_000_000).collect();
                    let t = Time::from_ticks;
                    same(limit, counting, &gaps, Measurement { warmup: t(warmup), end: t(end) });
                }
            }
        }
    }

    #[test]
    fn infinitely_fast_links_hold_nothing() {
        let buffer = Buffer::new(Some(BufferLimit::Packets(1)), Counting::WithService);
        let mut copies = PrivateLinks::new(Rate::UNLIMITED, buffer, 1000);
        let measurement = Measurement { warmup: Time::ZERO, end: Time::NEVER };
        let mut last = Time::ZERO;
        for _ in 0..3 {
            assert_eq!(copies.arrive(&mut last, Time::ZERO, &measurement), Some(Time::ZERO));
        }
        assert_eq!(copies.statistics().queue_area, 0);
    }
}
