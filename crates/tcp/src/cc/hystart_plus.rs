//! HyStart++ (RFC 9406): slow start that goes on conservatively where round trips grow, and ends if they stay so.

use base::Time;

use super::slow_start::slow_start;
use super::{AckSample, Counter, Settings, StartProgress, Window};

// RFC 9406 section 4.3.
const MIN_RTT_THRESH: f64 = 0.004;
const MAX_RTT_THRESH: f64 = 0.016;
const MIN_RTT_DIVISOR: u64 = 8;
const N_RTT_SAMPLE: u8 = 8;
const CSS_GROWTH_DIVISOR: u32 = 4;
const CSS_ROUNDS: u8 = 5;
/// L where packets are not paced \[packets\].
const BURST: u32 = 8;

/// The state of HyStart++ for one connection.
#[derive(Clone, Debug)]
pub(super) struct HyStartPlus {
    /// MIN_RTT_THRESH and MAX_RTT_THRESH.
    thresholds: (Time, Time),
    /// L, by which an ACK may raise cwnd \[packets\].
    limit: u32,
    phase: Phase,
    /// Smallest round trips of the round and of the one before; [`Time::NEVER`] without one.
    current: Time,
    last: Time,
    samples: u8,
    /// First packet of the next round.
    window_end: u64,
    counter: Counter,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Standard,
    /// Conservative slow start, with the round trip at which it began and the number of rounds that it has seen end.
    Conservative {
        baseline: Time,
        rounds: u8,
    },
    /// The rounds of conservative slow start ended it, or a loss or marks.
    Ended {
        before_loss: bool,
    },
}

impl HyStartPlus {
    pub(super) fn new(settings: &Settings) -> HyStartPlus {
        let threshold = |seconds| settings.clock.time(seconds);
        HyStartPlus {
            thresholds: (threshold(MIN_RTT_THRESH), threshold(MAX_RTT_THRESH)),
            limit: if settings.paced { u32::MAX } else { BURST },
            phase: Phase::Standard,
            current: Time::NEVER,
            last: Time::NEVER,
            samples: 0,
            window_end: 0,
            counter: Counter::default(),
        }
    }

    /// Creates a copy as of the start of a connection.
    pub(super) fn fresh(&self) -> HyStartPlus {
        HyStartPlus {
            phase: Phase::Standard,
            current: Time::NEVER,
            last: Time::NEVER,
            samples: 0,
            window_end: 0,
            counter: Counter::default(),
            ..*self
        }
    }

    /// Returns whether the first slow start is over; RFC 9406 section 4.3: the others are standard ones.
    pub(super) fn has_ended(&self) -> bool {
        matches!(self.phase, Phase::Ended { .. })
    }

    /// Returns whether slow start is conservative, or was ended before a loss.
    pub(super) fn progress(&self) -> StartProgress {
        let conservative = matches!(self.phase, Phase::Conservative { .. });
        StartProgress { conservative, ended: self.phase == Phase::Ended { before_loss: true } }
    }

    /// Takes note of a loss or of marks.
    pub(super) fn on_congestion(&mut self) {
        if !self.has_ended() {
            self.phase = Phase::Ended { before_loss: false };
        }
    }

    /// Takes note of an ACK in slow start, and grows the window if it may; returns the packets that are left for
    /// congestion avoidance (RFC 9406 section 4.2).
    pub(super) fn on_ack(&mut self, ack: &AckSample, grows: bool, window: &mut Window) -> u32 {
        if ack.una > self.window_end {
            self.begin_round(ack.nxt, window);
        }
        let left = if grows { self.grow(ack.acked, window) } else { 0 };
        if let Some(rtt) = ack.rtt {
            self.current = self.current.min(rtt);
            self.samples = self.samples.saturating_add(1);
        }
        if self.samples >= N_RTT_SAMPLE {
            self.compare();
        }
        left
    }

    fn begin_round(&mut self, nxt: u64, window: &mut Window) {
        self.window_end = nxt;
        self.last = self.current;
        self.current = Time::NEVER;
        self.samples = 0;
        if let Phase::Conservative { rounds, .. } = &mut self.phase {
            *rounds += 1;
            if *rounds >= CSS_ROUNDS {
                self.phase = Phase::Ended { before_loss: true };
                window.ssthresh = window.cwnd;
            }
        }
    }

    fn grow(&mut self, acked: u32, window: &mut Window) -> u32 {
        match self.phase {
            Phase::Standard => slow_start(window, acked.min(self.limit)),
            Phase::Conservative { .. } => {
                self.counter.grow(&mut window.cwnd, CSS_GROWTH_DIVISOR, acked.min(self.limit));
                window.cwnd = window.cwnd.min(window.ssthresh);
                0
            }
            Phase::Ended { .. } => acked,
        }
    }

    /// Compares the smallest round trip of the round with the one before, or with the one at which conservative slow
    /// start began.
    fn compare(&mut self) {
        match self.phase {
            Phase::Standard if self.last < Time::NEVER && self.current < Time::NEVER => {
                let eighth = Time::from_ticks(self.last.ticks() / MIN_RTT_DIVISOR);
                let threshold = eighth.clamp(self.thresholds.0, self.thresholds.1);
                if self.current >= self.last + threshold {
                    self.phase = Phase::Conservative { baseline: self.current, rounds: 0 };
                    self.counter = Counter::default();
                }
            }
            Phase::Conservative { baseline, .. } if self.current < baseline => self.phase = Phase::Standard,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;
    use crate::cc::tests as cc_tests;

    const CLOCK: Clock = Clock::new(1000);

    /// A connection of which each round is 10 ACKs of a packet, with the number of the next packet.
    struct Connection {
        hystart: HyStartPlus,
        window: Window,
        una: u64,
    }

    impl Connection {
        fn new(paced: bool) -> Connection {
            let hystart = HyStartPlus::new(&Settings { paced, ..Settings::rfc(CLOCK) });
            Connection { hystart, window: Window { cwnd: 10.0, ssthresh: f64::INFINITY }, una: 0 }
        }

        fn ack(&mut self, acked: u32, rtt: u64) -> f64 {
            self.una += u64::from(acked);
            let rtt = Some(Time::from_ticks(rtt));
            let ack = AckSample { rtt, una: self.una, nxt: self.una + 9, ..cc_tests::ack(Time::ZERO, acked) };
            self.hystart.on_ack(&ack, true, &mut self.window);
            self.window.cwnd
        }

        fn step(&mut self, rtt: u64) {
            self.ack(1, rtt);
        }

        /// Runs a round of ACKs with a round trip \[ms\].
        fn round(&mut self, rtt: u64) -> &mut Connection {
            (0..10).for_each(|_| self.step(rtt));
            self
        }

        fn is_conservative(&self) -> bool {
            matches!(self.hystart.phase, Phase::Conservative { .. })
        }
    }

    #[test]
    fn each_packet_acknowledged_raises_the_window_up_to_eight_an_ack() {
        assert_eq!(
            [1, 2, 8, 9, 100].map(|acked| Connection::new(false).ack(acked, 100)),
            [11.0, 12.0, 18.0, 18.0, 18.0]
        );
        assert_eq!(Connection::new(true).ack(100, 100), 110.0);
    }

    #[test]
    fn growth_is_a_quarter_where_round_trips_have_grown_by_an_eighth() {
        let mut connection = Connection::new(false);
        connection.round(100).round(113);
        assert!(connection.is_conservative());
        let before = connection.window.cwnd;
        connection.round(113);
        // Two ACKs of the second round are quartered too.
        assert_eq!(connection.window.cwnd, before + 3.0);
        let mut at_once = Connection::new(false);
        at_once.round(100).round(113);
        assert_eq!(at_once.ack(8, 113), before + 2.0);
        assert!(!Connection::new(false).round(100).round(111).is_conservative());
    }

    #[test]
    fn the_threshold_lies_between_4_and_16_ms() {
        for (base, threshold) in [(8, 4), (31, 4), (32, 4), (80, 10), (128, 16), (400, 16)] {
            assert!(!Connection::new(false).round(base).round(base + threshold - 1).is_conservative(), "{base}");
            assert!(Connection::new(false).round(base).round(base + threshold).is_conservative(), "{base}");
        }
    }

    #[test]
    fn seven_samples_do_not_decide() {
        let mut connection = Connection::new(false);
        connection.round(100);
        (0..7).for_each(|_| connection.step(200));
        assert!(!connection.is_conservative());
        connection.ack(1, 200);
        assert!(connection.is_conservative());
    }

    #[test]
    fn one_short_round_trip_in_a_round_keeps_slow_start() {
        let mut connection = Connection::new(false);
        connection.round(100);
        connection.ack(1, 100);
        (0..9).for_each(|_| connection.step(200));
        assert!(!connection.is_conservative());
    }

    #[test]
    fn five_rounds_end_slow_start_the_one_in_which_it_began_included() {
        let mut connection = Connection::new(false);
        connection.round(100).round(120);
        for _ in 0..4 {
            connection.round(120);
            assert!(connection.is_conservative());
            assert_eq!(connection.window.ssthresh, f64::INFINITY);
        }
        let before = connection.window.cwnd;
        connection.ack(1, 120);
        assert!(connection.hystart.has_ended());
        assert_eq!((connection.window.ssthresh, connection.window.cwnd), (before, before));
    }

    #[test]
    fn round_trips_below_the_baseline_resume_slow_start() {
        let mut connection = Connection::new(false);
        connection.round(100).round(120).round(120);
        assert!(connection.is_conservative());
        (0..7).for_each(|_| connection.step(119));
        assert!(connection.is_conservative());
        let before = connection.ack(1, 119);
        assert!(!connection.is_conservative() && !connection.hystart.has_ended());
        assert_eq!(connection.ack(1, 119), before + 1.0);
        // It may end again: the round before has 119 ms now.
        assert!(connection.round(119).round(140).is_conservative());
    }

    #[test]
    fn a_congestion_ends_it_for_good() {
        let mut connection = Connection::new(false);
        connection.round(100);
        connection.hystart.on_congestion();
        assert!(connection.hystart.has_ended());
        assert!(!connection.hystart.fresh().has_ended());
    }
}
