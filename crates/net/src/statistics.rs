use base::{Histogram, Time};

use crate::link::Size;
use crate::queue::{Cause, Signal};

/// The measured part of a run and the warm-up before it; counters are pairs, one for each.
#[derive(Clone, Copy, Debug)]
pub struct Measurement {
    /// End of the warm-up.
    pub warmup: Time,
    /// End of the run.
    pub end: Time,
}

impl Measurement {
    /// Returns the index of counters at an instant: 0 in the warm-up, 1 in the measured part.
    #[inline(always)]
    pub fn index(&self, now: Time) -> usize {
        usize::from(now >= self.warmup)
    }

    /// Returns 1 for a packet of the warm-up of which something becomes in the measured part, otherwise 0.
    #[inline(always)]
    pub fn carried_over(&self, since: Time, now: Time) -> u64 {
        u64::from(since < self.warmup && now >= self.warmup)
    }
}

/// The counters of a link. Pairs: in the warm-up, and in the measured part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkStatistics {
    /// Packets that arrived.
    pub arrived: [u64; 2],
    /// Packets that the queue dropped.
    pub dropped: [u64; 2],
    /// Packets that an AQM dropped, of those that the queue dropped in the measured part.
    pub dropped_by_aqm: u64,
    /// Packets that a policer without tokens dropped, of the same.
    pub dropped_by_policer: u64,
    /// Packets that the queue marked instead of dropping them.
    pub marked: [u64; 2],
    /// Packets that arrived in the warm-up, and that the queue dropped in the measured part.
    pub dropped_of_warmup: u64,
    /// Packets that arrived in the warm-up, and that the queue marked in the measured part.
    pub marked_of_warmup: u64,
    /// Packets that a loss process lost before the queue; they count as arrived.
    pub lost: [u64; 2],
    /// Packets that were transmitted completely.
    pub departed: [u64; 2],
    /// Bytes of these packets.
    pub departed_bytes: [u64; 2],
    /// Time spent transmitting, in the measured part; that of many links may be more than a [`Time`] holds \[ticks\].
    pub busy: u128,
    /// Integral over the measured part of the number of packets in the link, the one in transmission included
    /// \[packets times ticks\].
    pub queue_area: u128,
    /// Largest number of packets in the link, in the measured part.
    pub queue_max: u64,
    /// Packets in the link at the end of the warm-up.
    at_start: u64,
}

impl LinkStatistics {
    /// Adds the counters of another link, and takes the longer of both queues.
    pub fn add(&mut self, other: &LinkStatistics) {
        for index in 0..2 {
            self.arrived[index] += other.arrived[index];
            self.dropped[index] += other.dropped[index];
            self.lost[index] += other.lost[index];
            self.marked[index] += other.marked[index];
            self.departed[index] += other.departed[index];
            self.departed_bytes[index] += other.departed_bytes[index];
        }
        self.dropped_by_aqm += other.dropped_by_aqm;
        self.dropped_by_policer += other.dropped_by_policer;
        self.dropped_of_warmup += other.dropped_of_warmup;
        self.marked_of_warmup += other.marked_of_warmup;
        self.busy += other.busy;
        self.queue_area += other.queue_area;
        self.queue_max = self.queue_max.max(other.queue_max);
    }

    /// Returns waits that lack those of zero with all of them: one wait for each packet that arrived and was not dropped,
    /// in the measured part.
    pub(crate) fn with_zeros(&self, waits: &Histogram) -> Histogram {
        let mut all = waits.clone();
        all.record_zeros(self.arrived[1] - self.dropped[1] - waits.total());
        all
    }

    /// Counts a packet that is in the link, waiting or in transmission, from one instant until another.
    pub fn in_link(&mut self, from: Time, until: Time, measurement: &Measurement) {
        self.queue_area += u128::from(from.overlap(until, measurement.warmup, measurement.end).ticks());
        if from < measurement.warmup && until > measurement.warmup {
            self.at_start += 1;
            self.queue_max = self.queue_max.max(self.at_start);
        }
    }

    /// Counts a packet that is dropped after it arrived.
    pub fn drop_later(&mut self, arrival: Time, now: Time, measurement: &Measurement) {
        self.dropped[measurement.index(now)] += 1;
        self.dropped_of_warmup += measurement.carried_over(arrival, now);
    }

    /// Counts the cause of a drop.
    pub(crate) fn drop_by(&mut self, cause: Cause, now: Time, measurement: &Measurement) {
        let one = measurement.index(now) as u64;
        match cause {
            Cause::Buffer => {}
            Cause::Aqm => self.dropped_by_aqm += one,
            Cause::Policer => self.dropped_by_policer += one,
        }
    }

    /// Counts a packet that is transmitted from `start` until `departure`.
    pub fn transmitted(&mut self, start: Time, departure: Time, bytes: u16, measurement: &Measurement) {
        self.busy += u128::from(start.overlap(departure, measurement.warmup, measurement.end).ticks());
        if departure <= measurement.end {
            let index = measurement.index(departure);
            self.departed[index] += 1;
            self.departed_bytes[index] += u64::from(bytes);
        }
    }

    /// Counts a packet that arrived at `since` and is transmitted from `start` until `departure`.
    #[inline(always)]
    pub fn carry(&mut self, since: Time, start: Time, departure: Time, bytes: u16, measurement: &Measurement) {
        if since < measurement.warmup || departure > measurement.end {
            return self.carry_in_part(since, start, departure, bytes, measurement);
        }
        self.queue_area += u128::from((departure - since).ticks());
        self.busy += u128::from((departure - start).ticks());
        self.departed[1] += 1;
        self.departed_bytes[1] += u64::from(bytes);
    }

    /// Counts a packet that arrives before the measured part, or departs after it.
    #[cold]
    #[inline(never)]
    fn carry_in_part(&mut self, since: Time, start: Time, departure: Time, bytes: u16, measurement: &Measurement) {
        self.in_link(since, departure, measurement);
        self.transmitted(start, departure, bytes, measurement);
    }

    /// Counts a packet that arrived at `since`, and is marked or dropped now. Out of line, as few packets are.
    #[cold]
    #[inline(never)]
    pub(crate) fn signal(&mut self, signal: Signal, since: Time, now: Time, measurement: &Measurement) {
        match signal {
            Signal::Marked { .. } => {
                self.marked[measurement.index(now)] += 1;
                self.marked_of_warmup += measurement.carried_over(since, now);
            }
            Signal::Dropped(cause) => {
                self.drop_later(since, now, measurement);
                self.drop_by(cause, now, measurement);
                self.in_link(since, now, measurement);
            }
        }
    }

    /// Counts packets of one size that arrived and departed in the measured part; `area`: the sum of the times that they were in
    /// the link.
    #[inline(always)]
    pub(crate) fn pass(&mut self, packets: u64, Size { service, bytes }: Size, area: u128) {
        self.arrived[1] += packets;
        self.departed[1] += packets;
        self.departed_bytes[1] += packets * u64::from(bytes);
        self.busy += u128::from(service.ticks()) * u128::from(packets);
        self.queue_area += area;
        self.queue_max = self.queue_max.max(u64::from(packets > 0));
    }

    /// Counts a packet that leaves at once, and the time that a link of the same rate would transmit it.
    pub fn released(&mut self, now: Time, service: Time, bytes: u16, measurement: &Measurement) {
        if now <= measurement.end {
            let index = measurement.index(now);
            self.busy += u128::from(service.ticks()) * index as u128;
            self.departed[index] += 1;
            self.departed_bytes[index] += u64::from(bytes);
        }
    }

    /// Records the number of packets that are in the link now.
    #[inline(always)]
    pub fn observe_queue(&mut self, packets: u64, now: Time, measurement: &Measurement) {
        if packets > self.queue_max && now >= measurement.warmup {
            self.queue_max = packets;
        }
    }
}
