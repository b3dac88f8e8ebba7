//! TCP Vegas (Brakmo and Peterson 1995), as Linux's `tcp_vegas.c`: two to four packets in the queue.

use base::cast::round_to_u64;
use base::Time;

use super::common::{half, Common};
use super::kernel::packets;
use super::{AckSample, CongestionControl, Parameter, Restart, Settings, Signal, StartProgress, Window};
use crate::State as Congestion;

/// Numbers that scenarios may set.
pub(super) const PARAMETERS: [Parameter; 3] = [
    Parameter::new("alpha", "packet", [0.0, 1000.0], 2.0, "Packets in the queue below which cwnd grows."),
    Parameter::new("beta", "packet", [0.0, 1000.0], 4.0, "Packets in the queue above which cwnd falls."),
    Parameter::new("gamma", "packet", [0.0, 1000.0], 1.0, "Packets in the queue above which slow start ends."),
];

#[derive(Clone, Debug)]
struct Vegas {
    common: Common,
    /// Alpha, beta and gamma \[packets\].
    limits: [u64; 3],
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// Smallest round trip of the path \[us\].
    base: u64,
    /// Smallest round trip and number of round trips of the round.
    round: (u64, u32),
    round_end: u64,
    /// State of congestion at the last ACK or timeout.
    congestion: Congestion,
    /// Whether Vegas sets the window; else Reno does (`doing_vegas_now`).
    on: bool,
}

impl State {
    const START: State =
        State { base: u64::MAX, round: (u64::MAX, 0), round_end: 0, congestion: Congestion::Open, on: true };

    /// Begins a round that ends with the packets before `nxt` (`vegas_enable`).
    fn begin(&mut self, nxt: u64) {
        (self.on, self.round_end, self.round) = (true, nxt, State::START.round);
    }

    /// Enters a state of congestion (`tcp_vegas_state`).
    fn enter(&mut self, congestion: Congestion, nxt: u64) {
        if self.congestion != congestion {
            (self.congestion, self.on) = (congestion, false);
            if congestion == Congestion::Open {
                self.begin(nxt);
            }
        }
    }
}

/// Creates Vegas's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    let limits = settings.values(&PARAMETERS).map(round_to_u64);
    Box::new(Vegas { common: Common::new(settings), limits, state: State::START })
}

impl Vegas {
    /// Changes the window once in a round trip (`tcp_vegas_cong_avoid`).
    fn end_round(&mut self, ack: &AckSample, window: &mut Window) {
        let (rtt, samples) = self.state.round;
        // With two samples both may be of delayed ACKs.
        if samples <= 2 {
            self.common.grow_as_reno(ack, window);
            return;
        }
        let [alpha, beta, gamma] = self.limits;
        let (cwnd, base) = (u64::from(packets(window.cwnd)), self.state.base);
        let queued = cwnd * (rtt - base) / base;
        if window.in_slow_start() {
            if queued > gamma {
                let target = cwnd * base / rtt + 1;
                window.cwnd = window.cwnd.min(target as f64);
                window.ssthresh = window.ssthresh.min(window.cwnd);
            } else {
                self.common.slow_start.on_ack(&AckSample { cwnd_limited: true, ..*ack }, window);
            }
        } else if queued > beta {
            window.cwnd -= 1.0;
            window.ssthresh = window.ssthresh.min(window.cwnd);
        } else if queued < alpha {
            window.cwnd += 1.0;
        }
        window.cwnd = window.cwnd.max(2.0);
        let cwnd = packets(window.cwnd);
        window.ssthresh = window.ssthresh.max(f64::from((cwnd >> 1) + (cwnd >> 2)));
    }
}

impl CongestionControl for Vegas {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        let state = &mut self.state;
        if let Some(rtt) = self.common.round_trip(ack) {
            let rtt = rtt + 1;
            state.base = state.base.min(rtt);
            state.round = (state.round.0.min(rtt), state.round.1 + 1);
        }
        state.enter(ack.state, ack.nxt);
        if !ack.may_grow {
            return;
        }
        if !state.on {
            self.common.grow_as_reno(ack, window);
        } else if ack.una > state.round_end {
            state.round_end = ack.nxt;
            self.end_round(ack, window);
            self.state.round = State::START.round;
        } else if window.in_slow_start() {
            self.common.slow_start.on_ack(&AckSample { cwnd_limited: true, ..*ack }, window);
        }
    }

    fn on_congestion(&mut self, _signal: Signal, _now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        half(window)
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
        self.state.enter(Congestion::Loss, nxt);
    }

    fn on_restart(&mut self, restart: &Restart, _window: &mut Window) {
        // The path may be another one after an idle time (`tcp_vegas_init`).
        self.state.base = State::START.base;
        self.state.begin(restart.nxt);
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Vegas { common: self.common.fresh(), state: State::START, ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;
    use crate::cc::SlowStart;

    const CLOCK: Clock = Clock::new(1_000_000);

    /// Returns the window after a round with this round trip \[us\], of a path of 100,000 us.
    fn after(cwnd: f64, ssthresh: f64, rtt: u64) -> Window {
        after_samples(cwnd, ssthresh, (rtt, 3))
    }

    fn after_samples(cwnd: f64, ssthresh: f64, round: (u64, u32)) -> Window {
        let settings = Settings { slow_start: SlowStart::Standard, ..Settings::linux(CLOCK) };
        let state = State { base: 100_000, round, round_end: 10, ..State::START };
        let limits = PARAMETERS.map(|parameter| round_to_u64(parameter.default));
        let mut vegas = Vegas { common: Common::new(&settings), limits, state };
        let mut window = Window { cwnd, ssthresh };
        let ack = AckSample { una: 11, nxt: 60, rtt: None, ..crate::cc::tests::ack(CLOCK.time(1.0), 1) };
        vegas.on_ack(&ack, &mut window);
        window
    }

    #[test]
    fn two_to_four_packets_wait_in_the_queue() {
        // 50 (rtt - base) / base packets.
        for (rtt, cwnd) in [(103_999, 51.0), (104_000, 50.0), (109_999, 50.0), (110_000, 49.0)] {
            assert_eq!(after(50.0, 20.0, rtt).cwnd, cwnd, "{rtt}");
        }
    }

    #[test]
    fn slow_start_ends_with_more_than_one_packet_in_the_queue() {
        assert_eq!(after(50.0, f64::INFINITY, 103_000), Window { cwnd: 51.0, ssthresh: f64::INFINITY });
        // 50 * 100 / 125 + 1 packets; ssthresh is at least three quarters of it, and lies at it.
        assert_eq!(after(50.0, f64::INFINITY, 125_000), Window { cwnd: 41.0, ssthresh: 41.0 });
    }

    #[test]
    fn two_samples_do_not_decide() {
        assert_eq!(after_samples(50.0, 20.0, (200_000, 2)).cwnd, 50.0);
        assert_eq!(after_samples(50.0, 20.0, (200_000, 3)).cwnd, 49.0);
        assert_eq!(after_samples(50.0, 100.0, (200_000, 2)).cwnd, 51.0);
    }

    /// `tcp_vegas_init`: Vegas begins again with the first retransmission after a timeout, so that above ssthresh the window
    /// waits for the end of a round; without it the window would grow as Reno's.
    #[test]
    fn it_goes_on_with_the_retransmission_after_a_timeout() {
        for (restarts, grown) in [(true, 10.0), (false, 11.0)] {
            let mut vegas = new(&Settings { slow_start: SlowStart::Standard, ..Settings::linux(CLOCK) });
            let mut window = Window { cwnd: 10.0, ssthresh: 5.0 };
            let now = CLOCK.time(1.0);
            vegas.on_timeout(now, 60);
            if restarts {
                let restart = Restart { now, idle_since: now, app_limited: false, nxt: 60 };
                vegas.on_restart(&restart, &mut window);
            }
            for una in 11..22 {
                let other = crate::cc::tests::ack(CLOCK.time(1.1), 1);
                let ack = AckSample { una, nxt: 60, state: Congestion::Loss, ..other };
                vegas.on_ack(&ack, &mut window);
            }
            assert_eq!(window.cwnd, grown, "{restarts}");
        }
    }
}
