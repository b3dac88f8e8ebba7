//! HyStart: the end of slow start where ACKs arrive in a long train or round trips grow (Ha and Rhee 2008), as Linux 6.1
//! decides it (`hystart_update`).

use base::Time;

use super::kernel::{packets, KernelClock, OffloadDelay};
use super::slow_start::RoundTrip;
use super::{AckSample, Settings, StartProgress, Window};

/// Window below which slow start goes on \[packets\].
const LOW_WINDOW: u32 = 16;
/// Distance up to which ACKs belong to a train \[us\].
const SPACING: u64 = 2000;
/// Round trips of a round that are measured before they decide.
const SAMPLES: u8 = 8;
/// Limits of the growth of round trips that ends slow start \[us\].
const GROWTH: (u64, u64) = (4000, 16_000);

/// The state of HyStart for one connection.
#[derive(Clone, Debug)]
pub(super) struct HyStart {
    clock: KernelClock,
    offload: OffloadDelay,
    paced: bool,
    /// Whether slow start has been ended; a timeout alone forgets it.
    found: bool,
    samples: u8,
    /// Smallest round trip of the round \[us\].
    round_rtt: u64,
    /// First packet of the next round.
    round_end: u64,
    /// Instant at which the round began \[us\].
    round_start: u64,
    /// Newest ACK of the train that began with the round \[us\].
    train: u64,
}

impl HyStart {
    pub(super) fn new(settings: &Settings) -> HyStart {
        HyStart::start(KernelClock::new(settings.clock), OffloadDelay::new(settings), settings.paced)
    }

    /// Creates a copy as of the start of a connection.
    pub(super) fn fresh(&self) -> HyStart {
        HyStart::start(self.clock, self.offload, self.paced)
    }

    fn start(clock: KernelClock, offload: OffloadDelay, paced: bool) -> HyStart {
        HyStart {
            clock,
            offload,
            paced,
            found: false,
            samples: 0,
            round_rtt: u64::MAX,
            round_end: 0,
            round_start: 0,
            train: 0,
        }
    }

    /// Returns whether slow start has been ended.
    pub(super) fn progress(&self) -> StartProgress {
        StartProgress { conservative: false, ended: self.found }
    }

    /// Begins a round at an instant \[us\].
    fn begin_round(&mut self, now: u64, nxt: u64) {
        self.round_start = now;
        self.train = now;
        self.round_end = nxt;
        self.round_rtt = u64::MAX;
        self.samples = 0;
    }

    /// Returns the round trip that an ACK measures, with the smallest one of the connection.
    pub(super) fn measure(&self, ack: &AckSample) -> Option<RoundTrip> {
        let now = self.clock.microseconds(ack.now);
        let between = |rtt| (now - self.clock.microseconds(ack.now - rtt)).max(1);
        ack.rtt.map(|rtt| RoundTrip { now, rtt: between(rtt), min: between(ack.min_rtt.min(rtt)) })
    }

    /// Begins again after a timeout.
    ///
    /// Linux forgets that slow start was ended at a timeout only (`cubictcp_state`). A slow start that begins otherwise,
    /// after an idle time or in recovery, is ended by HyStart only where no earlier one was.
    pub(super) fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.found = false;
        self.begin_round(self.clock.microseconds(now), nxt);
    }

    /// Takes note of a round trip in slow start, and sets ssthresh to cwnd where slow start should end.
    pub(super) fn on_round_trip(&mut self, ack: &AckSample, round_trip: RoundTrip, window: &mut Window) {
        if self.found || !window.in_slow_start() {
            return;
        }
        let RoundTrip { now, rtt, min } = round_trip;
        if ack.una > self.round_end {
            self.begin_round(now, ack.nxt);
        }
        if packets(window.cwnd) < LOW_WINDOW {
            return;
        }
        let long_train = self.is_long_train(now, min, ack, window);
        if self.has_grown(rtt, min) || long_train {
            self.found = true;
            window.ssthresh = window.cwnd;
        }
    }

    /// Returns whether ACKs have arrived in a train for half the smallest round trip.
    fn is_long_train(&mut self, now: u64, delay_min: u64, ack: &AckSample, window: &Window) -> bool {
        if now - self.train > SPACING {
            return false;
        }
        self.train = now;
        let srtt = self.clock.microseconds(ack.srtt);
        let gain = if window.cwnd < (window.ssthresh / 2.0).floor() { 2.0 } else { 1.2 };
        let limit = delay_min + self.offload.microseconds(window.cwnd, gain, srtt);
        // A paced window takes up to half a round trip to leave.
        now - self.round_start > if self.paced { limit } else { limit / 2 }
    }

    /// Returns whether the round trips of this round exceed the smallest one by a part of it.
    fn has_grown(&mut self, rtt: u64, delay_min: u64) -> bool {
        self.round_rtt = self.round_rtt.min(rtt);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        self.round_rtt > delay_min + (delay_min / 8).clamp(GROWTH.0, GROWTH.1)
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;
    use crate::cc::tests as cc_tests;

    const CLOCK: Clock = Clock::new(1_000_000);
    const ENDLESS: Window = Window { cwnd: 30.0, ssthresh: f64::INFINITY };

    fn ack(now: u64, una: u64, nxt: u64) -> AckSample {
        AckSample { srtt: Time::from_ticks(40_000), una, nxt, ..cc_tests::ack(Time::from_ticks(now), 1) }
    }

    /// Returns the number of the ACK that ends slow start, of 100 that arrive at this distance and measure this round
    /// trip \[us\].
    fn end(settings: &Settings, spacing: u64, rtt: u64, cwnd: f64) -> Option<u64> {
        let (mut hystart, mut window) = (HyStart::new(settings), Window { cwnd, ..ENDLESS });
        (1..=100).find(|&number| {
            let now = 1_000_000 + number * spacing;
            hystart.on_round_trip(&ack(now, number, 1000), RoundTrip { now, rtt, min: 40_000 }, &mut window);
            window.ssthresh == cwnd
        })
    }

    #[test]
    fn a_train_of_half_the_smallest_round_trip_ends_slow_start() {
        // 20 ms, and half of the millisecond for segmentation offload, in ACKs of 1 ms after the first.
        assert_eq!(end(&Settings::linux(CLOCK), 1000, 40_000, 30.0), Some(22));
        assert_eq!(end(&Settings::linux(CLOCK), 2000, 40_000, 30.0), Some(12));
        assert_eq!(end(&Settings::linux(CLOCK), 2001, 40_000, 30.0), None);
    }

    #[test]
    fn a_train_of_a_paced_sender_is_twice_as_long() {
        assert_eq!(end(&Settings { paced: true, ..Settings::linux(CLOCK) }, 1000, 40_000, 30.0), Some(43));
    }

    #[test]
    fn round_trips_that_grow_end_slow_start_after_eight_samples() {
        assert_eq!(end(&Settings::linux(CLOCK), 5000, 45_000, 30.0), None);
        assert_eq!(end(&Settings::linux(CLOCK), 5000, 45_001, 30.0), Some(9));
    }

    #[test]
    fn the_growth_allowed_is_an_eighth_between_4_and_16_ms() {
        for (delay_min, growth) in [(8_000, 4_000), (32_000, 4_000), (80_000, 10_000), (400_000, 16_000)] {
            for (rtt, ended) in [(delay_min + growth, false), (delay_min + growth + 1, true)] {
                let mut hystart = HyStart::new(&Settings::linux(CLOCK));
                let samples = [(); 9].map(|()| hystart.has_grown(rtt, delay_min));
                assert_eq!(samples[8], ended, "{delay_min} {rtt}");
            }
        }
    }

    #[test]
    fn small_windows_grow_on() {
        assert_eq!(end(&Settings::linux(CLOCK), 1000, 90_000, 15.0), None);
        assert_eq!(end(&Settings::linux(CLOCK), 1000, 90_000, 16.0), Some(9));
    }

    #[test]
    fn a_round_begins_with_the_first_ack_of_what_was_sent_after_it_began() {
        let (mut hystart, mut window) = (HyStart::new(&Settings::linux(CLOCK)), ENDLESS);
        let mut take = |hystart: &mut HyStart, now, una, nxt| {
            hystart.on_round_trip(&ack(now, una, nxt), RoundTrip { now, rtt: 40_000, min: 40_000 }, &mut window);
        };
        take(&mut hystart, 10_000, 1, 10);
        take(&mut hystart, 50_000, 10, 20);
        assert_eq!((hystart.round_start, hystart.round_end), (10_000, 10));
        take(&mut hystart, 51_000, 11, 22);
        assert_eq!((hystart.round_start, hystart.round_end, hystart.samples), (51_000, 22, 1));
    }

    #[test]
    fn slow_start_is_ended_once_until_a_timeout() {
        let (mut hystart, mut window) = (HyStart::new(&Settings::linux(CLOCK)), ENDLESS);
        let nine = |hystart: &mut HyStart, window: &mut Window| {
            (0..9).for_each(|_| {
                let round_trip = RoundTrip { now: 3_000_000, rtt: 90_000, min: 40_000 };
                hystart.on_round_trip(&ack(3_000_000, 1, 1), round_trip, window);
            });
            window.ssthresh == window.cwnd
        };
        assert!(nine(&mut hystart, &mut window));
        window = ENDLESS;
        assert!(!nine(&mut hystart, &mut window));
        hystart.on_timeout(Time::from_ticks(2_000_000), 1);
        assert!(nine(&mut hystart, &mut window));
    }
}
