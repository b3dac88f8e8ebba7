//! TCP Hybla (Caini and Firrincieli 2004), as Linux's `tcp_hybla.c`: growth in time as a flow of a round trip of 25 ms.

use base::cast::{round_to_u64, to_index, to_u32, trunc_to_u64};
use base::Time;

use super::common::{half, Common};
use super::kernel::packets;
use super::{AckSample, CongestionControl, Parameter, Settings, Signal, StartProgress, Window};

/// Numbers that scenarios may set.
pub(super) const PARAMETERS: [Parameter; 1] =
    [Parameter::new("rtt0", "s", [0.001, 10.0], 0.025, "Round trip of the reference, in whole milliseconds.")];

/// Unit of increases, 2^-7 packets.
const ONE: u64 = 1 << 7;
/// Largest window \[packets\].
const LARGEST: f64 = 65_535.0;

#[derive(Clone, Debug)]
struct Hybla {
    common: Common,
    /// Reference round trip \[us\].
    reference: u64,
    state: State,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Round trip in units of the reference \[1/8\], at least one; 0 before the first.
    rho: u64,
    /// Smallest smoothed round trip \[1/8 us\]; 0 before the first.
    min_srtt: u64,
    /// Increase that is not yet a packet \[2^-7\].
    part: u64,
}

/// Creates Hybla's control, as of the start of a connection.
///
/// Deviation: a transfer without a handshake begins with the sender's initial window, and not with rho packets.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    let [reference] = settings.values(&PARAMETERS);
    let reference = 1000 * round_to_u64(1000.0 * reference).max(1);
    Box::new(Hybla { common: Common::new(settings), reference, state: State::default() })
}

impl Hybla {
    /// Takes note of a smoothed round trip: only the smallest one decides.
    fn measure(&mut self, srtt: Time) {
        let srtt = self.common.clock.microseconds(srtt.times(8));
        if self.state.min_srtt == 0 || srtt < self.state.min_srtt {
            self.state.min_srtt = srtt;
            self.state.rho = (srtt / self.reference).max(8);
        }
    }

    /// Returns the increase for an ACK \[2^-7 packets\]: 2^rho - 1 in slow start, rho^2 / cwnd after it.
    fn increase(&self, window: &Window) -> u64 {
        let rho = self.state.rho;
        if window.in_slow_start() {
            let eighths = (rho % 8) as f64 / 8.0;
            (trunc_to_u64(ONE as f64 * eighths.exp2()) << (rho / 8).min(16)) - ONE
        } else {
            2 * rho * rho / u64::from(packets(window.cwnd))
        }
    }

    /// Grows the window (`hybla_cong_avoid`), once for each ACK.
    fn grow(&mut self, window: &mut Window) {
        let (starts, increase) = (window.in_slow_start(), self.increase(window));
        let (state, counter) = (&mut self.state, &mut self.common.counter);
        if !starts && increase < ONE {
            counter.acked += 1;
        }
        state.part += increase % ONE;
        let whole = state.part / ONE;
        state.part %= ONE;
        window.cwnd += f64::from(to_u32(to_index(increase / ONE + whole)));
        if whole > 0 {
            counter.acked = 0;
        }
        if increase == 0 && counter.acked >= packets(window.cwnd) {
            window.cwnd += 1.0;
            counter.acked = 0;
        }
        window.cwnd = window.cwnd.min(if starts { window.ssthresh.min(LARGEST) } else { LARGEST });
    }
}

impl CongestionControl for Hybla {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        if !ack.may_grow {
            return;
        }
        if ack.srtt > Time::ZERO {
            self.measure(ack.srtt);
        }
        if !ack.cwnd_limited {
            return;
        }
        if ack.is_open() && self.state.rho > 0 {
            self.grow(window);
        } else {
            self.common.grow_as_reno(ack, window);
        }
    }

    fn on_congestion(&mut self, _signal: Signal, _now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        half(window)
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
    }

    /// Keeps the smallest rho: no round trip is smaller than that of 0, which Linux takes for the first (`hybla_init`).
    fn on_unmeasured_handshake(&mut self) {
        (self.state.rho, self.state.min_srtt) = (8, 1);
    }

    /// Begins with rho packets (`hybla_init`), if there was a handshake.
    fn on_start(&mut self, _now: Time, srtt: Time, _min_rtt: Time, window: &mut Window) {
        if srtt > Time::ZERO {
            self.measure(srtt);
        }
        if self.state.rho > 0 {
            window.cwnd = f64::from(to_u32(to_index(self.state.rho / 8)));
        }
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Hybla { common: self.common.fresh(), state: State::default(), ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;

    /// Returns the increase for an ACK \[packets\].
    fn increase(srtt: f64, cwnd: f64, ssthresh: f64) -> f64 {
        let common = Common::new(&Settings::linux(Clock::PICOSECONDS));
        let mut hybla = Hybla { common, reference: 25_000, state: State::default() };
        hybla.measure(Clock::PICOSECONDS.time(srtt));
        hybla.increase(&Window { cwnd, ssthresh }) as f64 / ONE as f64
    }

    #[test]
    fn growth_depends_on_the_round_trip_squared() {
        // Caini and Firrincieli: rho^2 / cwnd with rho = RTT / 25 ms, at least one.
        for (srtt, rho) in [(0.01, 1.0), (0.025, 1.0), (0.05, 2.0), (0.5, 20.0)] {
            assert!((increase(srtt, 64.0, 2.0) - rho * rho / 64.0).abs() <= 1.0 / 128.0, "{srtt}");
        }
    }

    #[test]
    fn slow_start_grows_by_a_power_of_the_round_trip() {
        for (srtt, packets) in [(0.025, 1.0), (0.05, 3.0), (0.1, 15.0), (0.0375, f64::powf(2.0, 1.5) - 1.0)] {
            assert!((increase(srtt, 10.0, 100.0) - packets).abs() <= 2.0 / 128.0, "{srtt}");
        }
    }

    #[test]
    fn the_first_window_is_the_round_trip_in_units_of_the_reference() {
        // hybla_init: cwnd = rho, whatever the initial window is.
        for (srtt, packets) in [(0.010, 1.0), (0.049, 1.0), (0.051, 2.0), (0.6, 24.0)] {
            let mut hybla = new(&Settings::linux(Clock::PICOSECONDS));
            let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
            hybla.on_start(Time::ZERO, Clock::PICOSECONDS.time(srtt), Time::NEVER, &mut window);
            assert!((window.cwnd - packets).abs() < 1e-9, "{srtt}: {}", window.cwnd);
        }
    }

    /// The kernel's flow whose first SYN is lost, without timestamps: one packet, and growth as at 25 ms for ever.
    #[test]
    fn a_handshake_that_measures_no_round_trip_leaves_the_smallest_rho() {
        let mut hybla = new(&Settings::linux(Clock::PICOSECONDS));
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        hybla.on_unmeasured_handshake();
        hybla.on_start(Time::ZERO, Time::ZERO, Time::NEVER, &mut window);
        assert_eq!(window.cwnd, 1.0);
        let srtt = Clock::PICOSECONDS.time(0.5);
        hybla.on_ack(&AckSample { srtt, ..crate::cc::tests::ack(srtt, 1) }, &mut window);
        assert_eq!(window.cwnd, 2.0);
    }

    #[test]
    fn without_a_handshake_the_initial_window_stays() {
        let mut hybla = new(&Settings::linux(Clock::PICOSECONDS));
        let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
        hybla.on_start(Time::ZERO, Time::ZERO, Time::NEVER, &mut window);
        assert_eq!(window.cwnd, 10.0);
    }

    #[test]
    fn increases_too_small_for_the_unit_are_counted_as_acks() {
        let mut hybla = new(&Settings::linux(Clock::PICOSECONDS));
        let mut window = Window { cwnd: 200.0, ssthresh: 2.0 };
        let srtt = Clock::PICOSECONDS.time(0.01);
        let windows = [199, 1, 200, 1].map(|acks| {
            (0..acks).for_each(|_| hybla.on_ack(&AckSample { srtt, ..crate::cc::tests::ack(srtt, 1) }, &mut window));
            window.cwnd
        });
        assert_eq!(windows, [200.0, 201.0, 201.0, 202.0]);
    }
}
