//! CUBIC as RFC 9438 has it, in real numbers.

use base::{Clock, Time};

use super::cubic::PARAMETERS;
use super::slow_start::Start;
use super::{AckSample, CongestionControl, Restart, Settings, Signal, StartProgress, Window};

#[derive(Clone, Debug)]
struct Cubic {
    clock: Clock,
    /// C of the cubic function \[packet/s^3\].
    c: f64,
    /// Fractions of cwnd that remain after a loss and after a mark.
    beta: [f64; 2],
    fast_convergence: bool,
    slow_start: Start,
    curve: Curve,
    /// State before the last reduction, for RFC 9438 section 4.9.
    before: Curve,
    /// cwnd after a reduction by marks where it is below the least ssthresh \[packets\].
    small: Option<f64>,
}

#[derive(Clone, Copy, Debug)]
struct Curve {
    /// Window at the plateau \[packets\]; 0 if unknown.
    w_max: f64,
    /// cwnd when ssthresh was set \[packets\]; 0 if it was not.
    cwnd_prior: f64,
    /// Window of an imagined Reno \[packets\].
    w_est: f64,
    /// Time from the start of the epoch to the plateau \[s\].
    k: f64,
    /// Start of congestion avoidance, later by the times without growth, if it has begun.
    epoch: Option<Time>,
    /// Instant up to which `epoch` accounts for times without growth.
    seen: Time,
}

impl Curve {
    const START: Curve = Curve { w_max: 0.0, cwnd_prior: 0.0, w_est: 0.0, k: 0.0, epoch: None, seen: Time::ZERO };
}

/// Creates RFC 9438's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    Box::new(cubic(settings))
}

fn cubic(settings: &Settings) -> Cubic {
    let [c, beta, beta_ecn, fast_convergence] = settings.values(&PARAMETERS);
    Cubic {
        clock: settings.clock,
        c,
        beta: [beta, beta_ecn],
        fast_convergence: fast_convergence > 0.0,
        slow_start: Start::new(settings),
        curve: Curve::START,
        before: Curve::START,
        small: None,
    }
}

impl Cubic {
    /// RFC 9438 section 4.2 (1), for a time since the start of the epoch \[s\].
    fn w_cubic(&self, time: f64) -> f64 {
        self.c * (time - self.curve.k).powi(3) + self.curve.w_max
    }

    /// Begins congestion avoidance, and returns the instant.
    fn begin(&mut self, now: Time, cwnd: f64) -> Time {
        let curve = &mut self.curve;
        curve.epoch = Some(now);
        curve.w_est = cwnd;
        if curve.w_max > cwnd {
            // RFC 9438 section 4.2 (2).
            curve.k = ((curve.w_max - cwnd) / self.c).cbrt();
        } else {
            // RFC 9438 sections 4.8 and 4.10: after a timeout, and after a slow start that no loss has ended.
            curve.k = 0.0;
            curve.w_max = cwnd;
        }
        if curve.cwnd_prior == 0.0 {
            curve.cwnd_prior = cwnd;
        }
        now
    }

    /// Returns cwnd after an ACK in congestion avoidance.
    fn avoid(&mut self, ack: &AckSample, acked: u32, cwnd: f64) -> f64 {
        let epoch = match self.curve.epoch {
            Some(epoch) => epoch,
            None => self.begin(ack.now, cwnd),
        };
        let time = self.clock.seconds(ack.now - epoch);
        // Deviation: RFC 9438 sections 4.4 and 4.5 say "for each received new ACK"; it is a packet acknowledged here,
        // since with delayed ACKs the window would come near its target in two round trips only.
        let windows = (f64::from(acked) / cwnd).min(1.0);
        // RFC 9438 section 4.3 (3) and (4).
        let reached = self.curve.w_est >= self.curve.cwnd_prior;
        let alpha = if reached { 1.0 } else { 3.0 * (1.0 - self.beta[0]) / (1.0 + self.beta[0]) };
        self.curve.w_est += alpha * windows;
        if self.w_cubic(time) < self.curve.w_est {
            // Deviation: RFC 9438 section 4.3 sets cwnd to W_est; a cwnd that has grown beyond it stays.
            return cwnd.max(self.curve.w_est);
        }
        // RFC 9438 sections 4.2, 4.4 and 4.5.
        let target = self.w_cubic(time + self.clock.seconds(ack.srtt)).clamp(cwnd, 1.5 * cwnd);
        cwnd + (target - cwnd) * windows
    }

    /// Leaves a time without growth out of the curve.
    fn skip(&mut self, from: Time, until: Time) {
        if let Some(epoch) = &mut self.curve.epoch {
            *epoch = (*epoch + (until - from.max(self.curve.seen))).min(until);
        }
        self.curve.seen = until;
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        // RFC 9438 section 4.2: times in which the application limits the flow are not a part of t.
        if ack.cwnd_limited {
            self.curve.seen = ack.now;
        } else {
            self.skip(self.curve.seen, ack.now);
        }
        let left = self.slow_start.on_ack(ack, window);
        if left > 0 {
            window.cwnd = self.avoid(ack, left, window.cwnd);
        }
    }

    fn on_congestion(&mut self, signal: Signal, _now: Time, window: &Window) -> f64 {
        self.slow_start.on_congestion();
        self.before = self.curve;
        let beta = self.beta[usize::from(signal == Signal::Ecn)];
        let cwnd = window.cwnd;
        self.curve.epoch = None;
        self.curve.cwnd_prior = cwnd;
        self.curve.w_max = if signal == Signal::Timeout {
            // RFC 9438 section 4.8: the plateau is where congestion avoidance begins.
            0.0
        } else if self.fast_convergence && cwnd < self.curve.w_max {
            // RFC 9438 section 4.7.
            cwnd * (1.0 + beta) / 2.0
        } else {
            cwnd
        };
        // RFC 9438 section 4.6, with cwnd in place of flight_size: after marks cwnd may be below the least ssthresh.
        let reduced = beta * cwnd;
        self.small = (signal == Signal::Ecn && reduced < 2.0).then_some(reduced.max(1.0));
        reduced.max(2.0)
    }

    fn on_recovery_end(&mut self, window: &mut Window) {
        if let Some(small) = self.small.take() {
            window.cwnd = small;
        }
    }

    fn undo(&mut self, prior: f64, window: &Window) -> f64 {
        // RFC 9438 section 4.9.2, for timeouts too, as section 4.9.1 allows.
        self.curve = Curve { seen: self.curve.seen, ..self.before };
        self.small = None;
        window.cwnd.max(prior)
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.slow_start.on_timeout(now, nxt);
    }

    fn on_restart(&mut self, restart: &Restart, _window: &mut Window) {
        self.skip(restart.idle_since, restart.now);
    }

    fn start_progress(&self) -> StartProgress {
        self.slow_start.progress()
    }

    fn restart(&mut self) {
        let slow_start = self.slow_start.fresh();
        *self = Cubic { slow_start, curve: Curve::START, before: Curve::START, small: None, ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::{tests as cc_tests, SlowStart};

    const CLOCK: Clock = Clock::PICOSECONDS;

    fn standard() -> Settings {
        Settings { slow_start: SlowStart::Standard, ..Settings::rfc(CLOCK) }
    }

    fn ack(now: f64, acked: u32, rtt: f64) -> AckSample {
        let rtt = CLOCK.time(rtt);
        AckSample { rtt: Some(rtt), min_rtt: rtt, srtt: rtt, ..cc_tests::ack(CLOCK.time(now), acked) }
    }

    /// Acknowledges a window in each round trip, packet by packet, and returns cwnd at the end.
    fn run(cubic: &mut Cubic, window: &mut Window, from: f64, until: f64, rtt: f64) -> f64 {
        let mut now = from;
        while now < until {
            cubic.on_ack(&ack(now, 1, rtt), window);
            now += rtt / window.cwnd;
        }
        window.cwnd
    }

    /// Returns CUBIC in congestion avoidance at an instant, after a loss at this window.
    fn after_loss(cwnd: f64, now: f64) -> (Cubic, Window) {
        let mut cubic = cubic(&standard());
        let ssthresh = cubic.on_congestion(Signal::Loss, CLOCK.time(now), &Window { cwnd, ssthresh: f64::INFINITY });
        (cubic, Window { cwnd: ssthresh, ssthresh })
    }

    #[test]
    fn the_window_follows_the_closed_form() {
        for cwnd in [100.0, 1000.0, 10_000.0] {
            for rtt in [0.02, 0.1, 0.3] {
                let k = f64::cbrt(0.3 * cwnd / 0.4);
                for part in [0.3, 0.6, 1.0, 1.3] {
                    let (mut cubic, mut window) = after_loss(cwnd, 1.0);
                    let time = part * k;
                    let cubic_window = 0.4 * f64::powi(time - k, 3) + cwnd;
                    // The closed form of section 4.3 as far as cwnd_prior.
                    let reno = 0.7 * cwnd + 9.0 / 17.0 * time / rtt;
                    if reno > 0.9 * cubic_window {
                        continue;
                    }
                    let found = run(&mut cubic, &mut window, 1.0, 1.0 + time, rtt);
                    assert!((found / cubic_window - 1.0).abs() < 0.01, "{cwnd} {rtt} {part}: {found}");
                }
            }
        }
    }

    /// Returns the mean window over 20 losses, a number of packets from each other, of which the first is at this window.
    fn mean_window(cwnd: f64, packets: u32, rtt: f64) -> f64 {
        let (mut cubic, mut window) = after_loss(cwnd, 0.0);
        // The formulas of section 5 have the plateau at the window before the loss.
        cubic.fast_convergence = false;
        let mut now = 0.0;
        for _ in 0..20 {
            for _ in 0..packets {
                cubic.on_ack(&ack(now, 1, rtt), &mut window);
                now += rtt / window.cwnd;
            }
            window.ssthresh = cubic.on_congestion(Signal::Loss, CLOCK.time(now), &window);
            window.cwnd = window.ssthresh;
        }
        20.0 * f64::from(packets) * rtt / now
    }

    #[test]
    fn mean_windows_are_those_of_section_5() {
        // Table 1 of RFC 9438 section 5.1: RTT 0.1 s, C 0.4; 1.054 RTT^0.75 / p^0.75. The largest window is 4 / (3 + beta)
        // of it; from others the approach takes hundreds of losses, which come from outside here.
        for (packets, mean) in [(10_000, 187.0), (100_000, 1054.0)] {
            let found = mean_window(mean * 4.0 / 3.7, packets, 0.1);
            assert!((found / mean - 1.0).abs() < 0.03, "{packets}: {found}");
        }
        // Table 2, RTT 0.01 s: AIMD's 38.7, sqrt(1.5 / p), as the Reno-friendly region has it.
        let found = mean_window(38.7 * 2.0 / 1.7, 1000, 0.01);
        assert!((found / 38.7 - 1.0).abs() < 0.03, "{found}");
    }

    #[test]
    fn an_imagined_reno_grows_by_a_packet_in_a_round_trip_from_the_prior_window_on() {
        let (mut cubic, mut window) = after_loss(20.0, 1.0);
        run(&mut cubic, &mut window, 1.0, 1.0 + 0.001 * 5.0, 0.001);
        assert!((window.cwnd - (14.0 + 5.0 * 9.0 / 17.0)).abs() < 0.2, "{window:?}");
        let reached = 0.001 * (6.0 / (9.0 / 17.0));
        run(&mut cubic, &mut window, 1.005, 1.0 + reached + 0.010, 0.001);
        assert!((window.cwnd - 30.0).abs() < 0.5, "{window:?}");
    }

    #[test]
    fn the_target_is_at_most_half_a_window_away() {
        let mut cubic =
            Cubic { curve: Curve { w_max: 100.0, epoch: Some(Time::ZERO), ..Curve::START }, ..cubic(&standard()) };
        // 0.4 * 100^3 packets are far more than 1.5 * 100.
        assert_eq!(cubic.avoid(&ack(100.0, 100, 0.1), 100, 100.0), 150.0);
        cubic.curve.w_max = -1e9;
        assert_eq!(cubic.avoid(&ack(100.0, 100, 0.1), 100, 100.0), 100.0);
    }

    /// RFC 9438 section 4.6: ssthresh is 2 at least, and cwnd after a loss; after marks cwnd is 1 at least.
    #[test]
    fn marks_take_a_small_window_below_the_least_ssthresh() {
        for (signal, cwnd, expected) in
            [(Signal::Ecn, 2.0, 1.4), (Signal::Ecn, 1.0, 1.0), (Signal::Ecn, 10.0, 7.0), (Signal::Loss, 2.0, 2.0)]
        {
            let mut cubic = cubic(&standard());
            let ssthresh = cubic.on_congestion(signal, Time::ZERO, &Window { cwnd, ssthresh: f64::INFINITY });
            let mut window = Window { cwnd: ssthresh, ssthresh };
            cubic.on_recovery_end(&mut window);
            assert!((window.cwnd - expected).abs() < 1e-12 && ssthresh == expected.max(2.0), "{signal:?} {cwnd}");
        }
    }

    #[test]
    fn fast_convergence_lowers_the_plateau() {
        let (mut cubic, window) = after_loss(1000.0, 1.0);
        assert_eq!((window.ssthresh, cubic.curve.w_max), (700.0, 1000.0));
        cubic.on_congestion(Signal::Loss, CLOCK.time(2.0), &Window { cwnd: 900.0, ..window });
        assert!((cubic.curve.w_max - 900.0 * 0.85).abs() < 1e-9);
    }

    #[test]
    fn after_a_timeout_the_curve_begins_at_its_plateau() {
        let (mut cubic, _) = after_loss(1000.0, 1.0);
        let ssthresh = cubic.on_congestion(Signal::Timeout, CLOCK.time(2.0), &Window { cwnd: 800.0, ssthresh: 700.0 });
        assert!((ssthresh - 560.0).abs() < 1e-9);
        let mut window = Window { cwnd: ssthresh, ssthresh };
        run(&mut cubic, &mut window, 3.0, 3.3, 0.1);
        assert_eq!((cubic.curve.k, cubic.curve.w_max), (0.0, ssthresh));
        // 0.4 * 5^3 packets above it after five seconds.
        let found = run(&mut cubic, &mut window, 3.3, 8.0, 0.1);
        assert!((found - (560.0 + 50.0)).abs() < 3.0, "{found}");
    }

    #[test]
    fn an_undo_restores_window_and_curve() {
        let (mut cubic, mut window) = after_loss(1000.0, 1.0);
        run(&mut cubic, &mut window, 1.0, 2.0, 0.1);
        let before = (cubic.clone(), window);
        window.ssthresh = cubic.on_congestion(Signal::Loss, CLOCK.time(2.0), &window);
        window.cwnd = cubic.undo(before.1.cwnd, &Window { cwnd: window.ssthresh, ..window });
        assert_eq!(window.cwnd, before.1.cwnd);
        assert_eq!((cubic.curve.w_max, cubic.curve.k), (before.0.curve.w_max, before.0.curve.k));
        assert_eq!((cubic.curve.epoch, cubic.curve.cwnd_prior), (before.0.curve.epoch, before.0.curve.cwnd_prior));
    }

    #[test]
    fn times_without_growth_are_left_out() {
        let (mut cubic, mut window) = after_loss(1000.0, 1.0);
        run(&mut cubic, &mut window, 1.0, 2.0, 0.1);
        let (mut idle, mut idle_window) = (cubic.clone(), window);
        let (mut limited, mut limited_window) = (cubic.clone(), window);
        let busy = run(&mut cubic, &mut window, 2.0, 4.0, 0.1);
        let restart = Restart { now: CLOCK.time(62.0), idle_since: CLOCK.time(2.0), app_limited: true, nxt: 0 };
        idle.on_restart(&restart, &mut Window { cwnd: 10.0, ssthresh: 10.0 });
        let after_idle = run(&mut idle, &mut idle_window, 62.0, 64.0, 0.1);
        for step in 1..=600 {
            limited.on_ack(
                &AckSample { cwnd_limited: false, ..ack(2.0 + 0.1 * f64::from(step), 1, 0.1) },
                &mut limited_window,
            );
        }
        let after_limit = run(&mut limited, &mut limited_window, 62.0, 64.0, 0.1);
        assert!(
            (after_idle - busy).abs() < 0.5 && (after_limit - busy).abs() < 0.5,
            "{busy} {after_idle} {after_limit}"
        );
    }

    #[test]
    fn slow_start_raises_the_window_by_a_packet_an_ack() {
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        cubic(&standard()).on_ack(&ack(1.0, 4, 0.1), &mut window);
        assert_eq!(window.cwnd, 11.0);
    }
}
