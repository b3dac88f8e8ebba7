//! CUBIC as Linux 6.1 has it (`tcp_cubic.c`): whole packets, jiffies, and a window that is a number of acknowledged
//! packets for each packet of growth.
//!
//! Where it differs from RFC 9438: time ends at the smallest round trip instead of the smoothed one; an epoch begins
//! with the first ACK that grows the window; without a known maximum the window grows by a 20th of the packets that are
//! acknowledged at least; the window of an imagined Reno grows by 8/15 of a packet in a round trip for ever, and only
//! makes the growth faster; a reduction that was spurious is undone for the window alone.

use base::cast::{low_u32, round_to_u64};
use base::Time;

use super::common::Common;
use super::cube_root::cube_root;
use super::kernel::{jiffies, packets};
use super::slow_start::RoundTrip;
use super::{
    cubic_rfc, AckSample, CongestionControl, Dialect, Parameter, Restart, Settings, Signal, StartProgress, Window,
};

/// Numbers that scenarios may set.
pub(super) const PARAMETERS: [Parameter; 4] = [
    Parameter::new("c", "packet/s^3", [0.02, 10.0], 0.4, "Steepness of the cubic function."),
    Parameter::new("beta", "", [0.1, 0.95], 0.7, "Fraction of cwnd that remains after a loss."),
    Parameter::new(
        "beta_ecn",
        "",
        [0.1, 0.95],
        0.7,
        "Fraction of cwnd that remains after a mark; RFC 8511 (ABE) says 0.85.",
    ),
    Parameter::new(
        "fast_convergence",
        "",
        [0.0, 1.0],
        1.0,
        "1: a flow whose maximum falls gives way to others sooner.",
    ),
];

/// Bits behind the point of C and of the multiplicative decrease.
const FRACTION: u32 = 10;
/// Units of CUBIC's time in a second, as a power of two.
const TIME: u32 = 10;
/// Time for which a result of the cubic function holds while cwnd does not change \[jiffies\].
const VALID: u64 = 1000 / 32;
/// Time after the start of an epoch in which round trips are not measured \[jiffies\].
const UNMEASURED: u64 = 1000;

#[derive(Clone, Debug)]
struct Cubic {
    common: Common,
    /// Smallest round trip \[us\]; 0 before the first.
    delay_min: u64,
    shape: Shape,
    curve: Curve,
}

/// The parameters as Linux holds them.
#[derive(Clone, Copy, Debug)]
struct Shape {
    /// C in 2^-10 packets per second^3: 410, which is ten times the parameter `bic_scale` of Linux.
    scale: u64,
    /// Fractions that remain after a loss and after a mark in 2^-10: 717.
    beta: [u16; 2],
    /// Packets acknowledged for a packet of Reno's growth, in eighths of a window, whole: (1 + beta) / (1 - beta) / 3.
    reno: u16,
    fast_convergence: bool,
}

// There is one of them for each flow, and web sources are many.
const _: () = assert!(size_of::<Cubic>() == 232);

impl Shape {
    fn new(settings: &Settings) -> Shape {
        let [c, beta, beta_ecn, fast_convergence] = settings.values(&PARAMETERS);
        let beta = [beta, beta_ecn].map(|beta| round_to_u64(beta * 1024.0));
        let short = |number: u64| u16::try_from(number).unwrap_or(u16::MAX);
        Shape {
            scale: 10 * round_to_u64(c * 102.4),
            beta: beta.map(short),
            reno: short(8 * (1024 + beta[0]) / 3 / (1024 - beta[0])),
            fast_convergence: fast_convergence > 0.0,
        }
    }
}

/// The part of the state that a timeout forgets.
#[derive(Clone, Debug, Default)]
struct Curve {
    /// Acknowledged packets for a packet of growth.
    count: u64,
    /// Window at the last reduction, or what fast convergence makes of it; 0 if unknown.
    last_max: u64,
    /// Window and instant \[jiffies\] of the last evaluation.
    evaluated: (u64, u64),
    /// Start of the epoch \[jiffies\], if one is going on.
    epoch: Option<u64>,
    /// Window at the plateau, and the time from the start of the epoch until then \[1/1024 s\].
    plateau: (u64, u64),
    /// Window of an imagined Reno, and the packets acknowledged since it grew.
    reno: u64,
    acked: u64,
}

/// Creates CUBIC's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    match settings.dialect {
        Dialect::Linux => Box::new(linux(settings)),
        Dialect::Rfc => cubic_rfc::new(settings),
    }
}

fn linux(settings: &Settings) -> Cubic {
    Cubic { common: Common::new(settings), delay_min: 0, shape: Shape::new(settings), curve: Curve::default() }
}

impl Cubic {
    /// Takes note of a round trip that ends `now` \[us\], unless it follows a reduction (`cubictcp_acked`).
    fn measure(&mut self, ack: &AckSample, now: u64) -> Option<RoundTrip> {
        let rtt = ack.rtt?;
        // The queue may still drain.
        if self.curve.epoch.is_some_and(|epoch| jiffies(now) < epoch + UNMEASURED) {
            return None;
        }
        let rtt = (now - self.common.clock.microseconds(ack.now - rtt)).max(1);
        if self.delay_min == 0 || rtt < self.delay_min {
            self.delay_min = rtt;
        }
        Some(RoundTrip { now, rtt, min: self.delay_min })
    }
}

impl CongestionControl for Cubic {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        let now = self.common.clock.microseconds(ack.now);
        let round_trip = self.measure(ack, now);
        let left = self.common.slow_start.on_measured_ack(ack, round_trip, window);
        if left > 0 {
            let count = self.curve.count(&self.shape, packets(window.cwnd), left, jiffies(now), self.delay_min);
            self.common.count(count, left, window);
        }
    }

    fn on_congestion(&mut self, signal: Signal, _now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        f64::from(self.curve.reduce(&self.shape, signal, packets(window.cwnd)))
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
        self.delay_min = 0;
        self.curve = Curve::default();
    }

    fn on_restart(&mut self, restart: &Restart, _window: &mut Window) {
        let (now, since) = (self.common.clock.jiffies(restart.now), self.common.clock.jiffies(restart.idle_since));
        if let Some(epoch) = &mut self.curve.epoch {
            *epoch = (*epoch + (now - since)).min(now);
        }
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Cubic { common: self.common.fresh(), delay_min: 0, curve: Curve::default(), ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

impl Curve {
    /// Returns the acknowledged packets for a packet of growth (`bictcp_update`), at an instant \[jiffies\] and with the
    /// smallest round trip \[us\].
    fn count(&mut self, shape: &Shape, cwnd: u32, acked: u32, now: u64, delay_min: u64) -> u32 {
        let cwnd = u64::from(cwnd);
        self.acked += u64::from(acked);
        let (evaluated, age) = (self.evaluated.0, now - self.evaluated.1);
        if evaluated != cwnd || age > VALID {
            // Once a jiffy at most, except at the start of an epoch.
            if self.epoch.is_none() || age > 0 {
                self.evaluated = (cwnd, now);
                self.count = self.cubic(shape, cwnd, u64::from(acked), now, delay_min);
            }
            self.count = self.count.min(self.reno(shape, cwnd)).max(2);
        }
        low_u32(self.count)
    }

    /// Returns the acknowledged packets for a packet of growth by the cubic function.
    fn cubic(&mut self, shape: &Shape, cwnd: u64, acked: u64, now: u64, delay_min: u64) -> u64 {
        let epoch = *self.epoch.get_or_insert_with(|| {
            self.acked = acked;
            self.reno = cwnd;
            self.plateau = match self.last_max.checked_sub(cwnd) {
                Some(below @ 1..) => {
                    (self.last_max, cube_root(((1 << (FRACTION + 3 * TIME)) / shape.scale).saturating_mul(below)))
                }
                _ => (cwnd, 0),
            };
            now
        });
        let time = ((now - epoch + delay_min.div_ceil(1000)) << TIME) / 1000;
        let (origin, plateau) = self.plateau;
        let offset = time.abs_diff(plateau);
        // 350 s after the plateau, Linux's integer of 64 bits begins again from 0, and its window of 32 bits with it.
        let cube = shape.scale.wrapping_mul(offset).wrapping_mul(offset).wrapping_mul(offset);
        let distance = low_u32(cube >> (FRACTION + 3 * TIME));
        let target = if time < plateau {
            low_u32(origin).wrapping_sub(distance)
        } else {
            low_u32(origin).wrapping_add(distance)
        };
        let count = match u64::from(target).checked_sub(cwnd) {
            Some(above @ 1..) => cwnd / above,
            _ => 100 * cwnd,
        };
        if self.last_max == 0 {
            count.min(20)
        } else {
            count
        }
    }

    /// Returns the largest number of acknowledged packets for a packet of growth with which the window is not slower
    /// than Reno's.
    fn reno(&mut self, shape: &Shape, cwnd: u64) -> u64 {
        let packets = ((cwnd * u64::from(shape.reno)) >> 3).max(1);
        let steps = self.acked.div_ceil(packets).saturating_sub(1);
        self.acked -= steps * packets;
        self.reno += steps;
        match self.reno.checked_sub(cwnd) {
            Some(ahead @ 1..) => cwnd / ahead,
            _ => u64::MAX,
        }
    }

    /// Ends the epoch at a congestion (`cubictcp_recalc_ssthresh`), and returns ssthresh.
    fn reduce(&mut self, shape: &Shape, signal: Signal, cwnd: u32) -> u32 {
        self.epoch = None;
        let beta = u64::from(shape.beta[usize::from(signal == Signal::Ecn)]);
        let cwnd = u64::from(cwnd);
        // RFC 9438 section 4.7, fast convergence: release more to new flows where the window has not come back.
        let gives_way = shape.fast_convergence && cwnd < self.last_max;
        self.last_max = if gives_way { (cwnd * (1024 + beta)) >> (FRACTION + 1) } else { cwnd };
        low_u32((cwnd * beta) >> FRACTION).max(2)
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;
    use crate::cc::tests as cc_tests;

    const CLOCK: Clock = Clock::new(1_000_000);

    fn settings() -> Settings {
        Settings::linux(CLOCK)
    }

    fn shape() -> Shape {
        Shape::new(&settings())
    }

    fn ack(now: f64, acked: u32) -> AckSample {
        let rtt = CLOCK.time(0.1);
        AckSample { rtt: Some(rtt), min_rtt: rtt, srtt: rtt, ..cc_tests::ack(CLOCK.time(now), acked) }
    }

    /// Acknowledges a window each 100 ms, a tenth of it at once, and returns cwnd at the end.
    fn run(cubic: &mut dyn CongestionControl, window: &mut Window, from: f64, until: f64) -> f64 {
        let steps = round_to_u64((until - from) / 0.01);
        for step in 1..=steps {
            cubic.on_ack(&ack(from + 0.01 * step as f64, packets(window.cwnd / 10.0)), window);
        }
        window.cwnd
    }

    #[test]
    fn the_parameters_are_the_kernels() {
        let Shape { scale, beta, reno, fast_convergence } = shape();
        assert_eq!((scale, beta, reno, fast_convergence), (410, [717; 2], 15, true));
        let steep = Settings { parameters: vec![0.8, 0.5, 0.85, 0.0], ..settings() };
        let Shape { scale, beta, reno, fast_convergence } = Shape::new(&steep);
        assert_eq!((scale, beta, reno, fast_convergence), (820, [512, 870], 8, false));
    }

    #[test]
    fn the_window_is_back_when_the_cubic_function_says_so() {
        let (mut cubic, mut window) = (new(&settings()), Window { cwnd: 1000.0, ssthresh: f64::INFINITY });
        cubic.on_ack(&AckSample { may_grow: false, ..ack(0.5, 1) }, &mut window);
        window.ssthresh = cubic.on_congestion(Signal::Loss, CLOCK.time(1.0), &window);
        assert_eq!(window.ssthresh, 700.0);
        window.cwnd = window.ssthresh;
        // K = cbrt(300 / 0.4) = 9.1 s; W(t) = 0.4 (t - K)^3 + 1000.
        for (time, tolerance) in [(2.0, 2.0), (5.0, 2.0), (9.1, 2.0), (14.0, 3.0)] {
            let mut cubic = cubic.clone();
            let mut window = window;
            let expected = 0.4 * f64::powi(time - 9.086, 3) + 1000.0;
            let cwnd = run(cubic.as_mut(), &mut window, 1.0, 1.0 + time);
            assert!((cwnd - expected).abs() <= tolerance, "{time} s: {cwnd}, not {expected}");
        }
    }

    #[test]
    fn a_second_loss_below_the_maximum_gives_way() {
        let mut curve = Curve::default();
        assert_eq!((curve.reduce(&shape(), Signal::Loss, 1000), curve.last_max), (700, 1000));
        assert_eq!((curve.reduce(&shape(), Signal::Loss, 900), curve.last_max), (630, 900 * 1741 / 2048));
        assert_eq!((curve.reduce(&shape(), Signal::Loss, 800), curve.last_max), (560, 800));
        assert_eq!((curve.reduce(&shape(), Signal::Loss, 2), curve.reduce(&shape(), Signal::Loss, 1)), (2, 2));
    }

    #[test]
    fn the_window_grows_by_a_twentieth_while_no_maximum_is_known() {
        let (mut cubic, mut window) = (new(&settings()), Window { cwnd: 2000.0, ssthresh: 2000.0 });
        // A curve from a plateau now is flat, and 8/15 of a packet is less than 100 to 105.
        let cwnd = run(cubic.as_mut(), &mut window, 1.0, 1.1);
        assert!((2100.0..=2105.0).contains(&cwnd), "{cwnd}");
        let mut known = new(&settings());
        window = Window { cwnd: 2000.0, ssthresh: 2000.0 };
        known.on_congestion(Signal::Ecn, CLOCK.time(1.0), &window);
        assert_eq!(run(known.as_mut(), &mut window, 1.0, 1.1), 2000.0);
    }

    #[test]
    fn an_idle_time_does_not_move_the_window_on_the_curve() {
        let (mut cubic, mut window) = (new(&settings()), Window { cwnd: 100.0, ssthresh: 100.0 });
        cubic.on_congestion(Signal::Loss, CLOCK.time(1.0), &Window { cwnd: 142.0, ssthresh: 100.0 });
        run(cubic.as_mut(), &mut window, 1.0, 3.0);
        let mut busy = (cubic.clone(), window);
        let restart = Restart { now: CLOCK.time(63.0), idle_since: CLOCK.time(3.0), app_limited: true, nxt: 0 };
        cubic.on_restart(&restart, &mut Window { cwnd: 10.0, ssthresh: 10.0 });
        let idle = run(cubic.as_mut(), &mut window, 63.0, 66.0);
        assert_eq!(idle, run(busy.0.as_mut(), &mut busy.1, 3.0, 6.0));
        assert!(idle < 145.0, "{idle}");
    }

    #[test]
    fn a_timeout_forgets_the_curve_and_the_smallest_round_trip() {
        let mut cubic = Cubic { delay_min: 5, ..linux(&settings()) };
        cubic.on_congestion(Signal::Timeout, CLOCK.time(1.0), &Window { cwnd: 142.0, ssthresh: 100.0 });
        cubic.on_timeout(CLOCK.time(1.0), 7);
        assert_eq!((cubic.delay_min, cubic.curve.last_max, cubic.curve.epoch), (0, 0, None));
    }

    #[test]
    fn round_trips_of_the_first_second_of_an_epoch_are_not_measured() {
        let (mut cubic, mut window) = (linux(&settings()), Window { cwnd: 50.0, ssthresh: 50.0 });
        let short = |now| AckSample { rtt: Some(CLOCK.time(0.02)), ..ack(now, 1) };
        cubic.on_ack(&ack(5.0, 1), &mut window);
        for (now, expected) in [(5.999, 100_000), (6.0, 20_000)] {
            cubic.on_ack(&short(now), &mut window);
            assert_eq!(cubic.delay_min, expected);
        }
    }

    #[test]
    fn the_smallest_round_trip_is_added_in_whole_jiffies_rounded_up() {
        let count = |delay_min| Curve { last_max: 1000, ..Curve::default() }.count(&shape(), 700, 1, 50_000, delay_min);
        for jiffy in 100..300 {
            assert_eq!(count(1000 * jiffy + 1), count(1000 * (jiffy + 1)), "{jiffy}");
        }
        assert_ne!(count(100_000), count(300_000));
    }

    #[test]
    fn a_result_holds_for_31_jiffies_while_the_window_stays() {
        let mut curve = Curve { last_max: 1000, ..Curve::default() };
        let first = curve.count(&shape(), 700, 1, 50_000, 100_000);
        assert_eq!(curve.count(&shape(), 700, 1, 50_031, 100_000), first);
        assert_ne!(curve.count(&shape(), 700, 1, 50_032, 100_000), first);
        // A larger window is looked at once a jiffy.
        assert_eq!(curve.evaluated, (700, 50_032));
        curve.count(&shape(), 701, 1, 50_032, 100_000);
        assert_eq!(curve.evaluated, (700, 50_032));
        curve.count(&shape(), 701, 1, 50_033, 100_000);
        assert_eq!(curve.evaluated, (701, 50_033));
    }

    #[test]
    fn an_imagined_reno_grows_by_8_15ths_of_a_packet_in_a_round_trip() {
        let mut curve = Curve { reno: 80, ..Curve::default() };
        // 15/8 of 80 packets are 150; the window grows with the packet after them.
        for (acked, reno, limit) in [(150, 80, u64::MAX), (1, 81, 80), (149, 81, 80), (1, 82, 40), (9_700, 146, 1)] {
            curve.acked += acked;
            assert_eq!((curve.reno(&shape(), 80), curve.reno), (limit, reno));
        }
    }
}
