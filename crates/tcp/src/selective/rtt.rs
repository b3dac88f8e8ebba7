//! The round trip and the retransmission timeout as Linux estimates them (`tcp_rtt_estimator`, `tcp_set_rto`,
//! `tcp_update_rtt_min`), or as RFC 6298 does.

use base::Time;

use crate::windowed::WindowedMin;
use crate::TimeoutRules;

/// The rules of the timeout, with their constants.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) rules: TimeoutRules,
    /// Smallest variation, or by the RFC the smallest timeout.
    pub(super) least: Time,
    /// Clock granularity G, for the RFC.
    pub(super) granularity: Time,
}

/// The estimate of the round trip. Times are in ticks where the kernel has microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rtt {
    /// Smoothed round trip, times 8; 0 before the first sample.
    srtt: u64,
    /// Mean deviation, times 4.
    deviation: u64,
    /// Largest of these in the current round.
    largest: u64,
    /// Variation that enters the timeout.
    variation: u64,
    /// SND.NXT when the current round began.
    round_end: u64,
}

impl Rtt {
    /// Returns the estimate before any sample.
    pub(super) const NONE: Rtt = Rtt { srtt: 0, deviation: 0, largest: 0, variation: 0, round_end: 0 };

    /// Returns the smoothed round trip; [`Time::ZERO`] before the first sample.
    pub(super) fn smoothed(&self) -> Time {
        Time::from_ticks(self.srtt / 8)
    }

    /// Returns the retransmission timeout; `None` before the first sample.
    pub(super) fn timeout(&self) -> Option<Time> {
        (self.srtt > 0).then(|| Time::from_ticks(self.srtt / 8 + self.variation))
    }

    /// Takes a sample; `una` and `nxt` delimit the outstanding packets.
    pub(super) fn sample(&mut self, rtt: Time, bounds: Bounds, una: u64, nxt: u64) {
        match bounds.rules {
            TimeoutRules::Linux => self.sample_by_linux(rtt, bounds.least, una, nxt),
            TimeoutRules::Rfc6298 => self.sample_by_rfc(rtt, bounds),
        }
    }

    /// Takes a sample: RFC 6298 (2.2) to (2.4), each ACK's with the gains of one a round trip.
    fn sample_by_rfc(&mut self, rtt: Time, bounds: Bounds) {
        let sample = rtt.ticks().max(1);
        if self.srtt == 0 {
            (self.srtt, self.deviation) = (sample * 8, sample * 2);
        } else {
            let mean = self.srtt / 8;
            self.deviation = self.deviation - self.deviation / 4 + sample.abs_diff(mean);
            self.srtt = (self.srtt - mean + sample).max(1);
        }
        let variation = self.deviation.max(bounds.granularity.ticks());
        self.variation = variation.max(bounds.least.ticks().saturating_sub(self.srtt / 8));
    }

    /// Takes a sample; `least` is the smallest variation.
    ///
    /// Unlike RFC 6298's, the deviation follows a smaller round trip with an eighth of the gain, its maximum of a round
    /// counts, which decays by a quarter a round, and it is never below `least`.
    fn sample_by_linux(&mut self, rtt: Time, least: Time, una: u64, nxt: u64) {
        let (sample, least) = (rtt.ticks().max(1), least.ticks());
        if self.srtt == 0 {
            self.srtt = sample * 8;
            self.deviation = sample * 2;
            self.variation = self.deviation.max(least);
            self.largest = self.variation;
            self.round_end = nxt;
            return;
        }
        let mean = self.srtt / 8;
        self.srtt = (self.srtt - mean + sample).max(1);
        let (error, old) = (sample.abs_diff(mean), self.deviation / 4);
        self.deviation = match (sample < mean, error > old) {
            (true, true) => self.deviation + (error - old) / 8,
            (_, true) => self.deviation + (error - old),
            (_, false) => self.deviation - (old - error),
        };
        if self.deviation > self.largest {
            self.largest = self.deviation;
            self.variation = self.variation.max(self.largest);
        }
        if una > self.round_end {
            self.variation -= self.variation.saturating_sub(self.largest) / 4;
            self.round_end = nxt;
            self.largest = least;
        }
    }
}

/// The smallest round trip of a window of time.
#[derive(Clone, Copy, Debug)]
pub(super) struct MinRtt(WindowedMin);

impl MinRtt {
    /// Returns the minimum of no samples, [`Time::NEVER`].
    pub(super) const NONE: MinRtt = MinRtt(WindowedMin::NONE);

    /// Returns the smallest sample of the window.
    pub(super) fn get(&self) -> Time {
        Time::from_ticks(self.0.get())
    }

    /// Takes a sample at `now`, and forgets what is older than `window`.
    pub(super) fn sample(&mut self, now: Time, value: Time, window: Time) {
        self.0.sample(now.ticks(), value.ticks(), window.ticks());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(milliseconds: u64) -> Time {
        Time::from_ticks(milliseconds * 1_000_000)
    }

    fn linux(least: Time) -> Bounds {
        Bounds { rules: TimeoutRules::Linux, least, granularity: Time::ZERO }
    }

    /// RFC 6298 (2.2): R + max(G, 4 R/2). (2.3): the variation first, then the mean. (2.4): rounded up to a second.
    #[test]
    fn by_the_rfc_a_timeout_has_four_variations_and_a_second_at_least() {
        let bounds = |least, granularity| Bounds { rules: TimeoutRules::Rfc6298, least, granularity };
        let mut rtt = Rtt::NONE;
        rtt.sample(ms(800), bounds(ms(1000), ms(0)), 0, 10);
        assert_eq!(rtt.timeout(), Some(ms(2400)));
        // RTTVAR = 3/4 400 + 1/4 |800 - 400| = 400, SRTT = 7/8 800 + 1/8 400 = 750.
        rtt.sample(ms(400), bounds(ms(1000), ms(0)), 10, 20);
        assert_eq!((rtt.smoothed(), rtt.timeout()), (ms(750), Some(ms(750 + 4 * 400))));
        for _ in 0..200 {
            rtt.sample(ms(100), bounds(ms(1000), ms(0)), 20, 30);
        }
        assert_eq!(rtt.timeout(), Some(ms(1000)));
        for _ in 0..200 {
            rtt.sample(ms(100), bounds(ms(0), ms(50)), 20, 30);
        }
        let timeout = rtt.timeout().unwrap();
        assert!(timeout >= ms(150) && timeout < ms(151), "{timeout:?}");
    }

    #[test]
    fn the_timeout_is_never_less_than_the_least_variation_above_the_round_trip() {
        let mut rtt = Rtt::NONE;
        assert_eq!(rtt.timeout(), None);
        for round in 0..100 {
            rtt.sample(ms(100), linux(ms(200)), round * 10, round * 10 + 10);
        }
        assert_eq!(rtt.smoothed(), ms(100));
        assert_eq!(rtt.timeout(), Some(ms(300)));
    }

    #[test]
    fn the_first_sample_gives_three_times_itself() {
        let mut rtt = Rtt::NONE;
        rtt.sample(ms(1000), linux(ms(200)), 0, 10);
        assert_eq!(rtt.timeout(), Some(ms(3000)));
    }

    #[test]
    fn a_smaller_round_trip_moves_the_deviation_by_an_eighth() {
        let (mut up, mut down) = (Rtt::NONE, Rtt::NONE);
        for rtt in [&mut up, &mut down] {
            for _ in 0..200 {
                rtt.sample(ms(1000), linux(ms(0)), 0, 10);
            }
        }
        up.sample(ms(1400), linux(ms(0)), 0, 10);
        down.sample(ms(600), linux(ms(0)), 0, 10);
        assert!(up.deviation > ms(390).ticks() && down.deviation < ms(60).ticks(), "{up:?} {down:?}");
    }
}
