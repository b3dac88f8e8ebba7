//! DCTCP (RFC 8257) with the rounding of Linux's `tcp_dctcp.c`: the window comes down by the fraction of packets that
//! were marked.

use base::cast::round_to_u64;
use base::Time;

use super::common::{half, Common};
use super::kernel::packets;
use super::{AckSample, CongestionControl, Parameter, Settings, Signal, StartProgress, Window};

/// Numbers that scenarios may set.
pub(super) const PARAMETERS: [Parameter; 2] = [
    Parameter::new("g", "", [0.001, 1.0], 0.0625, "Gain of the estimate of marks; the power of two next to it."),
    Parameter::new("alpha", "", [0.0, 1.0], 1.0, "Estimate of the fraction of marks at the start."),
];

/// Unit of alpha, 2^-10.
const ONE: u64 = 1 << 10;

#[derive(Clone, Debug)]
struct Dctcp {
    common: Common,
    /// Gain as a power of two, 4 for 1/16.
    shift: u32,
    initial: u64,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// Estimate of the fraction of packets that are marked \[2^-10\].
    alpha: u64,
    /// Packets delivered and marked since the last estimate.
    delivered: u64,
    marked: u64,
    /// First packet that was not sent at the last estimate.
    next: u64,
}

impl State {
    fn new(alpha: u64) -> State {
        State { alpha, delivered: 0, marked: 0, next: 0 }
    }

    /// Estimates once in a round trip, RFC 8257 section 3.3 (`dctcp_update_alpha`).
    fn estimate(&mut self, shift: u32, nxt: u64) {
        let part = self.alpha >> shift;
        // An estimate below 1/g units falls to zero at once.
        self.alpha -= if part == 0 { self.alpha } else { part };
        if self.marked > 0 {
            let marked = (self.marked << (10 - shift)) / self.delivered.max(1);
            self.alpha = (self.alpha + marked).min(ONE);
        }
        *self = State { next: nxt, ..State::new(self.alpha) };
    }
}

/// Creates DCTCP's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    let [gain, alpha] = settings.values(&PARAMETERS);
    let initial = round_to_u64(alpha * ONE as f64);
    let shift = packets((-gain.log2()).round());
    Box::new(Dctcp { common: Common::new(settings), shift, initial, state: State::new(initial) })
}

impl CongestionControl for Dctcp {
    fn measure(&mut self, ack: &AckSample, _window: &Window) {
        self.state.delivered += u64::from(ack.acked);
        self.state.marked += u64::from(ack.marked);
        if ack.una >= self.state.next {
            self.state.estimate(self.shift, ack.nxt);
        }
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        self.common.grow_as_reno(ack, window);
    }

    fn on_congestion(&mut self, signal: Signal, _now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        match signal {
            Signal::Ecn | Signal::Loss => {
                // RFC 8257 section 3.3 (9), alpha / 2 in 2^-11. Where a tail loss probe repaired a loss, it stays at that.
                let cwnd = u64::from(packets(window.cwnd));
                ((cwnd - ((cwnd * self.state.alpha) >> 11)) as f64).max(2.0)
            }
            Signal::Timeout => half(window),
        }
    }

    fn on_recovery(&mut self, window: &mut Window) {
        // RFC 8257 section 3.5 (`dctcp_state`, `dctcp_react_to_loss`).
        window.ssthresh = half(window);
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Dctcp { common: self.common.fresh(), state: State::new(self.initial), ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_estimate_moves_by_a_sixteenth_towards_the_fraction_of_marks() {
        for (alpha, marked, expected) in
            [(1024, 0, 960), (1024, 100, 1024), (512, 50, 512), (0, 1, 0), (0, 2, 1), (15, 0, 0)]
        {
            let mut state = State { delivered: 100, marked, ..State::new(alpha) };
            state.estimate(4, 7);
            assert_eq!(
                (state.alpha, state.delivered, state.marked, state.next),
                (expected, 0, 0, 7),
                "{alpha} {marked}"
            );
        }
    }

    #[test]
    fn a_round_ends_when_all_that_was_sent_before_it_is_acknowledged() {
        let mut dctcp = new(&Settings::linux(base::Clock::PICOSECONDS));
        let cuts = [1, 9, 10, 11, 20].map(|una| {
            let ack = AckSample { una, nxt: una + 9, ..crate::cc::tests::ack(Time::ZERO, 1) };
            let window = Window { cwnd: 1000.0, ssthresh: 2.0 };
            dctcp.measure(&ack, &window);
            dctcp.on_congestion(Signal::Ecn, Time::ZERO, &window)
        });
        // Alpha is 960, 960, 900, 900 and 844 of 1024: the first ACK ends the empty round before it.
        assert_eq!(cuts, [532.0, 532.0, 561.0, 561.0, 588.0]);
    }

    #[test]
    fn marks_and_probes_take_half_the_estimate_and_recoveries_half_the_window() {
        let mut dctcp = new(&Settings { parameters: vec![0.0625, 0.5], ..Settings::linux(base::Clock::PICOSECONDS) });
        let mut cut = |signal, cwnd| dctcp.on_congestion(signal, Time::ZERO, &Window { cwnd, ssthresh: 2.0 });
        assert_eq!(
            (cut(Signal::Ecn, 100.0), cut(Signal::Loss, 100.0), cut(Signal::Timeout, 100.0)),
            (75.0, 75.0, 50.0)
        );
        // Whole packets: nothing is cut where cwnd times alpha is below two.
        assert_eq!((cut(Signal::Ecn, 3.0), cut(Signal::Ecn, 4.0)), (3.0, 3.0));
        // PRR has brought cwnd from 100 to 90 when a loss is found: the window is half of that.
        let mut window = Window { cwnd: 90.0, ssthresh: 75.0 };
        dctcp.on_recovery(&mut window);
        assert_eq!((window.cwnd, window.ssthresh), (90.0, 45.0));
    }
}
