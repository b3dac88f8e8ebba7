//! TCP Illinois (Liu, Basar and Srikant 2006), as Linux's `tcp_illinois.c`: growth and decrease by the queueing delay.

use base::cast::{low_u32, to_index, to_u32};
use base::Time;

use super::common::{Common, Cumulative};
use super::kernel::packets;
use super::{AckSample, CongestionControl, Settings, Signal, StartProgress, Window};

/// Limits of the increase in a round trip \[2^-7 packets\]: 0.3, 1 and 10.
const ALPHA: [u64; 3] = [38, 128, 1280];
/// Limits of the fraction that a loss takes \[2^-6\]: 1/8 and 1/2.
const BETA: [u64; 2] = [8, 32];
/// Window below which the control is Reno \[packets\].
const SMALL: f64 = 15.0;
/// Round trips without a queue until the increase is the largest again.
const PATIENCE: u8 = 5;
/// Largest round trip that counts \[us\].
const LONGEST: u64 = (u32::MAX / 1280) as u64;

#[derive(Clone, Debug)]
struct Illinois {
    common: Common,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct State {
    alpha: u64,
    beta: u64,
    una: Cumulative,
    /// Packets of the newest ACK, and those acknowledged since the window grew.
    acked: u64,
    count: u64,
    /// Sum and number of the round trips of the round \[us\].
    round: (u64, u64),
    round_end: u64,
    /// Smallest and largest round trip so far \[us\].
    base: u64,
    max: u64,
    /// Whether there has been a queue, and the number of rounds without one since.
    queued: bool,
    calm: u8,
}

impl Default for State {
    fn default() -> State {
        State {
            alpha: ALPHA[2],
            beta: BETA[1],
            una: Cumulative::default(),
            acked: 0,
            count: 0,
            round: (0, 0),
            round_end: 0,
            base: u64::MAX,
            max: 0,
            queued: false,
            calm: 0,
        }
    }
}

/// Creates Illinois's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    Box::new(Illinois { common: Common::new(settings), state: State::default() })
}

impl State {
    /// Computes increase and decrease at the end of a round (`update_params`).
    fn end_round(&mut self, cwnd: f64, nxt: u64) {
        let (sum, samples) = self.round;
        if cwnd < SMALL {
            (self.alpha, self.beta) = (ALPHA[1], BETA[1]);
        } else if let Some(mean) = sum.checked_div(samples) {
            let (delay, most) = (mean - self.base, self.max - self.base);
            self.alpha = self.increase(delay, most);
            self.beta = decrease(delay, most);
        }
        self.round = (0, 0);
        self.round_end = nxt;
    }

    /// Returns the increase for the round's mean and the largest queueing delay.
    fn increase(&mut self, delay: u64, most: u64) -> u64 {
        let low = most / 100;
        if delay > low {
            self.queued = true;
            let (delay, most) = (delay - low, most - low);
            return most * ALPHA[2] / (most + delay * (ALPHA[2] - ALPHA[0]) / ALPHA[0]);
        }
        if self.queued {
            self.calm += 1;
            if self.calm < PATIENCE {
                return self.alpha;
            }
            self.calm = 0;
            self.queued = false;
        }
        ALPHA[2]
    }
}

/// Returns the fraction that a loss takes: linear between a tenth and eight tenths of the largest delay.
fn decrease(delay: u64, most: u64) -> u64 {
    let (low, high) = (most / 10, 8 * most / 10);
    if delay <= low {
        BETA[0]
    } else if delay >= high || high <= low {
        BETA[1]
    } else {
        (BETA[0] * high + (BETA[1] - BETA[0]) * delay - BETA[1] * low) / (high - low)
    }
}

impl CongestionControl for Illinois {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        let state = &mut self.state;
        state.acked = state.una.advance(ack.una);
        if let Some(rtt) = self.common.round_trip(ack) {
            let rtt = rtt.min(LONGEST);
            state.base = state.base.min(rtt);
            state.max = state.max.max(rtt);
            state.round = (state.round.0 + rtt, state.round.1 + 1);
        }
        if ack.may_grow && ack.una > state.round_end {
            state.end_round(window.cwnd, ack.nxt);
        }
        let avoids = !window.in_slow_start();
        if self.common.slow_start.on_ack(ack, window) > 0 && avoids {
            state.count += state.acked;
            state.acked = 1;
            let (increase, cwnd) = ((state.count * state.alpha) >> 7, u64::from(packets(window.cwnd)));
            if increase >= cwnd {
                window.cwnd += f64::from(to_u32(to_index(increase / cwnd)));
                state.count = 0;
            }
        }
    }

    fn on_congestion(&mut self, _signal: Signal, _now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        self.state.count = 0;
        let cwnd = u64::from(packets(window.cwnd));
        f64::from(low_u32(cwnd - ((cwnd * self.state.beta) >> 6))).max(2.0)
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
        let State { una, base, max, .. } = self.state;
        self.state = State { alpha: ALPHA[1], round_end: nxt, una, base, max, ..State::default() };
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Illinois { common: self.common.fresh(), state: State::default() };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_increase_falls_from_ten_to_three_tenths_with_the_delay() {
        let increase = |delay| State::default().increase(delay, 100_000);
        assert_eq!([1_000, 100_000].map(increase), [ALPHA[2], ALPHA[0]]);
        // Liu et al. (7): k1 / (k2 + delay) with these limits.
        let (most, delay) = (99_000.0, 49_000.0);
        let (low, high) = (38.0 / 128.0, 10.0);
        let exact = most * low * high / (high - low) / (most * low / (high - low) + delay);
        assert!((increase(50_000) as f64 / 128.0 - exact).abs() < 1.0 / 128.0);
    }

    #[test]
    fn the_largest_increase_comes_back_after_five_rounds_without_a_queue() {
        let mut state = State::default();
        state.alpha = state.increase(50_000, 100_000);
        let during = state.alpha;
        let found = [(); 5].map(|()| {
            state.alpha = state.increase(0, 100_000);
            state.alpha
        });
        assert_eq!(found, [during, during, during, during, ALPHA[2]]);
    }

    #[test]
    fn the_decrease_rises_from_an_eighth_to_a_half() {
        assert_eq!([10, 45, 80, 100].map(|delay| decrease(delay, 100)), [8, 20, 32, 32]);
        assert_eq!(decrease(1, 1), 32);
    }

    #[test]
    fn small_windows_are_renos() {
        for (cwnd, alpha, beta) in [(14.0, 128, 32), (15.0, ALPHA[0], 32)] {
            let round = (500, 5);
            let mut state = State { round, base: 50, max: 100, ..State::default() };
            state.end_round(cwnd, 7);
            assert_eq!((state.alpha, state.beta, state.round, state.round_end), (alpha, beta, (0, 0), 7), "{cwnd}");
        }
    }

    #[test]
    fn the_window_grows_by_alpha_in_a_round_trip() {
        // Ten packets for a window of 100, as long as there has been no queue.
        let mut control = new(&Settings::linux(base::Clock::PICOSECONDS));
        let mut window = Window { cwnd: 100.0, ssthresh: 2.0 };
        for una in 1..=100 {
            control.on_ack(&AckSample { una, nxt: 1000, ..crate::cc::tests::ack(Time::ZERO, 1) }, &mut window);
        }
        assert_eq!(window.cwnd, 109.0);
    }
}
