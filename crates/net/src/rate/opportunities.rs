//! Opportunities to deliver packets, in the way of Mahimahi's `mm-link` (Netravali et al. 2015; `LinkQueue::rationalize`
//! of its `link_queue.cc`).

use base::cast::low_u64;
use base::{Clock, Time};

/// The opportunities of a link, and the one that serves it now.
///
/// An opportunity delivers at most `bytes` bytes, of one packet or of several: each packet that it completes departs at
/// its instant, and a packet that it does not complete goes on in the next one. What no packet uses is lost. A packet
/// that arrives at the very instant of an opportunity has missed it.
#[derive(Clone, Debug)]
pub(super) struct Opportunities {
    times_ms: Vec<u64>,
    bytes: u32,
    header_bytes: u32,
    /// Index of the next opportunity, and how often the list has begun again before it.
    next: (usize, u64),
    /// Instant of the last opportunity that a packet used.
    current: Time,
    /// Bytes that are left of it.
    left: u32,
    clock: Clock,
}

impl Opportunities {
    /// Returns the opportunities from time zero on. The last instant is positive, and `bytes` too.
    pub(super) fn new(times_ms: Vec<u64>, bytes: u32, header_bytes: u32, clock: Clock) -> Opportunities {
        Opportunities { times_ms, bytes, header_bytes, next: (0, 0), current: Time::ZERO, left: 0, clock }
    }

    /// Returns the departure of a packet that arrived at an instant, and whose transmission begins at another.
    /// Beginnings must come in order of time.
    pub(super) fn departure(&mut self, arrival: Time, start: Time, bytes: u16) -> Time {
        // The packet before it may have left a part of its opportunity, if this one had arrived by then.
        if start != self.current || arrival >= start {
            self.left = 0;
            self.skip(start);
        }
        let mut needed = u32::from(bytes) + self.header_bytes;
        while needed > self.left {
            needed -= self.left;
            self.current = self.time(self.next);
            self.left = self.bytes;
            self.next = self.after(self.next);
        }
        self.left -= needed;
        self.current
    }

    /// Returns the number of opportunities after an instant, and up to another one or at it.
    pub(super) fn count(&mut self, after: Time, to: Time) -> u64 {
        self.skip(after);
        let first = self.next;
        self.skip(to);
        (self.next.1 - first.1) * self.times_ms.len() as u64 + self.next.0 as u64 - first.0 as u64
    }

    /// Returns a duration in seconds.
    pub(super) fn seconds(&self, duration: Time) -> f64 {
        self.clock.seconds(duration)
    }

    /// Returns the bytes that an opportunity delivers.
    pub(super) fn bytes(&self) -> u32 {
        self.bytes
    }

    /// Passes the opportunities up to an instant, and at it.
    fn skip(&mut self, now: Time) {
        let milliseconds = low_u64(u128::from(now.ticks()) * 1000 / u128::from(self.clock.ticks_per_second()));
        // The round of the opportunities just before now, or the one before it.
        let round = (milliseconds / self.period()).saturating_sub(1);
        if round > self.next.1 {
            self.next = (0, round);
        }
        loop {
            let (from, round) = self.next;
            let passed = self.times_ms[from..].partition_point(|&time_ms| self.instant(time_ms, round) <= now);
            if from + passed < self.times_ms.len() {
                self.next = (from + passed, round);
                return;
            }
            self.next = (0, round + 1);
        }
    }

    fn period(&self) -> u64 {
        self.times_ms.last().map_or(1, |&last| last.max(1))
    }

    fn after(&self, (index, round): (usize, u64)) -> (usize, u64) {
        if index + 1 < self.times_ms.len() {
            (index + 1, round)
        } else {
            (0, round + 1)
        }
    }

    fn time(&self, (index, round): (usize, u64)) -> Time {
        self.instant(self.times_ms[index], round)
    }

    /// Returns a number of milliseconds in a round on the run's clock, to the nearest tick.
    fn instant(&self, time_ms: u64, round: u64) -> Time {
        let milliseconds = u128::from(round) * u128::from(self.period()) + u128::from(time_ms);
        let ticks = (milliseconds * u128::from(self.clock.ticks_per_second()) + 500) / 1000;
        Time::from_ticks(u64::try_from(ticks).unwrap_or(u64::MAX))
    }
}
