//! Prague: draft-briscoe-iccrg-prague-congestion-control, the congestion control of L4S. There is no oracle to hold it to, as
//! the mainline kernel does not have it. Its numbers, and when they count, are those of the draft's reference
//! implementation (`tcp_prague.c`, 0.6), whose functions are named below; it was read and not run.
//!
//! DCTCP's reduction by half of the fraction of marks, with growth in the same round, and with a rate that does not depend
//! on round trips below 25 ms: a virtual round trip takes the place of the real one.

use base::cast::{round_to_u64, trunc_to_u64};
use base::Time;

use super::common::{half, Common};
use super::{AckSample, CongestionControl, Needs, Parameter, Settings, Signal, StartProgress, Window};
use crate::State;

/// Numbers that scenarios may set.
pub(super) const PARAMETERS: [Parameter; 4] = [
    Parameter::new("g", "", [0.001, 1.0], 0.0625, "Gain of the average of the fraction of marks."),
    Parameter::new("rtt_virtual", "s", [0.0, 1.0], 0.025, "Shortest virtual round trip."),
    Parameter::new("independent_after", "", [0.0, 1e9], 500.0, "Round trips after which the virtual one takes effect."),
    Parameter::new("beta", "", [0.1, 0.95], 0.5, "Fraction of cwnd that remains after a loss."),
];

#[derive(Clone, Debug)]
struct Prague {
    common: Common,
    mss: u32,
    gain: f64,
    least_virtual: Time,
    independent_after: u64,
    beta: f64,
    state: Progress,
}

#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Average of the fraction of packets that are marked, from the first mark on.
    alpha: f64,
    is_marked: bool,
    /// Packets delivered and marked in the current round, and when the average changed last.
    delivered: u64,
    marked: u64,
    averaged: Time,
    /// Rounds after slow start so far, and the packet whose ACK ends the current one.
    rounds: u64,
    round_end: u64,
    srtt: Time,
    slow_start: bool,
    /// Instant of the last reduction because of marks; `None` before any.
    reduced: Option<Time>,
    /// cwnd before that reduction; `None` once a loss has been counted from it.
    before_reduction: Option<f64>,
    /// Whether the losses of this recovery have reduced the window.
    in_loss: bool,
    /// cwnd with its part of a packet; in a reduction ssthresh, to which it leads. The sender has this number, rounded up.
    exact: f64,
    /// Rate of pacing \[byte/s\].
    rate: Option<u64>,
}

impl Progress {
    const START: Progress = Progress {
        alpha: 1.0,
        is_marked: false,
        delivered: 0,
        marked: 0,
        averaged: Time::ZERO,
        rounds: 0,
        round_end: 0,
        srtt: Time::ZERO,
        slow_start: true,
        reduced: None,
        before_reduction: None,
        in_loss: false,
        exact: 0.0,
        rate: None,
    };
}

/// Creates Prague's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    Box::new(prague(settings))
}

fn prague(settings: &Settings) -> Prague {
    let [gain, least_virtual, independent_after, beta] = settings.values(&PARAMETERS);
    Prague {
        common: Common::new(settings),
        mss: settings.mss,
        gain,
        least_virtual: settings.clock.time(least_virtual),
        independent_after: round_to_u64(independent_after),
        beta,
        state: Progress::START,
    }
}

impl Prague {
    /// Returns the virtual round trip (section 2.4.4) from the 500th round after slow start on (`prague_is_rtt_indep`);
    /// before that it is 0.
    fn virtual_rtt(&self) -> Time {
        let state = &self.state;
        if state.slow_start || state.rounds < self.independent_after {
            Time::ZERO
        } else {
            self.least_virtual
        }
    }

    /// Returns the packets by which cwnd grows in a real round trip, (RTT / RTT_virt)^2 (section 2.4.4): a flow with a
    /// short round trip has the rate of one with the virtual round trip (`prague_rate_scaled_ai_ack_increase`).
    fn increase(&self) -> f64 {
        let (real, apparent) = (self.state.srtt.ticks(), self.virtual_rtt().ticks());
        if real == 0 || real >= apparent {
            return 1.0;
        }
        (real as f64 / apparent as f64).powi(2)
    }

    /// Averages the fraction of marks once in a round, which takes a real and a virtual round trip at least (section
    /// 2.3.2, `prague_should_update_ewma`, `prague_update_alpha`). The average begins at 1 with the first mark.
    fn end_round(&mut self, ack: &AckSample) {
        let waits = self.virtual_rtt() > ack.now - self.state.averaged;
        let state = &mut self.state;
        if ack.una < state.round_end || waits {
            return;
        }
        if state.is_marked {
            let fraction = if state.delivered > 0 { state.marked as f64 / state.delivered as f64 } else { 0.0 };
            state.alpha += self.gain * (fraction.min(1.0) - state.alpha);
            state.averaged = ack.now;
        }
        state.rounds += u64::from(!state.slow_start);
        (state.round_end, state.delivered, state.marked) = (ack.nxt, 0, 0);
    }

    /// Returns a window of whole packets with its part of a packet, unless somebody else has set it since.
    fn exact(&self, whole: f64) -> f64 {
        if self.state.exact.ceil() == whole {
            self.state.exact
        } else {
            whole
        }
    }

    /// Returns the whole packets of a window, rounded up, and carries the part of a packet on (section 2.4.2,
    /// `prague_frac_cwnd_to_snd_cwnd`).
    fn round_up(&mut self, exact: f64) -> f64 {
        self.state.exact = exact;
        exact.ceil()
    }

    /// Grows by `increase` packets in a round trip, for packets that were not marked (section 2.4.3), in a reduction too:
    /// there the window that it leads to grows.
    fn grow(&mut self, ack: &AckSample, unmarked: u32, window: &mut Window) {
        let whole = match ack.state {
            State::Open | State::Disorder if ack.may_grow => &mut window.cwnd,
            State::Cwr => &mut window.ssthresh,
            _ => return,
        };
        if ack.cwnd_limited {
            let grown = self.increase() * f64::from(unmarked) / whole.max(1.0);
            *whole = self.round_up(self.exact(*whole) + grown);
        }
    }

    /// Returns what a loss leaves of a window. After a reduction by marks less than a round trip before, both together
    /// leave as much as a loss alone (section 2.4.1).
    fn after_loss(&mut self, now: Time, whole: f64) -> f64 {
        let cwnd = self.exact(whole);
        let state = &mut self.state;
        state.in_loss = true;
        let is_recent = state.reduced.is_some_and(|at| now < at + state.srtt);
        let before = state.before_reduction.take().filter(|_| is_recent).unwrap_or(cwnd);
        self.round_up((before * self.beta).min(cwnd).max(2.0))
    }

    /// Sets the rate of pacing: the window in a round trip, twice that below half of ssthresh (section 2.5.1,
    /// `prague_update_pacing_rate`).
    fn set_rate(&mut self, ack: &AckSample, window: &Window) {
        let microseconds = self.common.clock.microseconds(ack.srtt);
        if microseconds == 0 {
            return;
        }
        let sent = self.exact(window.cwnd).max(f64::from(ack.in_flight[1]));
        let twice = if window.cwnd < window.ssthresh / 2.0 { 2.0 } else { 1.0 };
        let rate = twice * sent * f64::from(self.mss) * 1e6 / microseconds as f64;
        self.state.rate = Some(trunc_to_u64(rate).max(1));
    }
}

impl CongestionControl for Prague {
    fn measure(&mut self, ack: &AckSample, _window: &Window) {
        self.state.srtt = ack.srtt;
        self.state.delivered += u64::from(ack.acked);
        self.state.marked += u64::from(ack.marked);
        self.state.is_marked |= ack.marked > 0;
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        if ack.state == State::Recovery && !self.state.in_loss {
            // A reduction by marks was going on, in which the sender does not ask.
            window.ssthresh = self.after_loss(ack.now, window.ssthresh);
        }
        self.state.in_loss = ack.state >= State::Recovery;
        let unmarked = ack.acked.saturating_sub(ack.marked);
        let left = self.common.slow_start.on_ack(&AckSample { acked: unmarked, ..*ack }, window);
        if left > 0 || ack.state == State::Cwr {
            let unmarked = if ack.state == State::Cwr { unmarked } else { left };
            self.grow(ack, unmarked, window);
        }
        // While a reduction goes on, cwnd may be below ssthresh, which grows.
        let reduces = matches!(ack.state, State::Cwr | State::Recovery);
        self.state.slow_start = !reduces && window.in_slow_start();
        self.end_round(ack);
        self.set_rate(ack, window);
    }

    fn on_congestion(&mut self, signal: Signal, now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        match signal {
            Signal::Ecn => {
                // Section 2.4.2: at once, and then not again for a virtual round trip (`prague_enter_cwr`).
                let cwnd = self.exact(window.cwnd);
                if self.state.reduced.is_some_and(|at| now < at + self.virtual_rtt()) {
                    return self.round_up(cwnd.max(2.0));
                }
                (self.state.reduced, self.state.before_reduction) = (Some(now), Some(cwnd));
                self.round_up((cwnd * (1.0 - self.state.alpha / 2.0)).max(2.0))
            }
            Signal::Loss => self.after_loss(now, window.cwnd),
            Signal::Timeout => self.round_up(half(window)),
        }
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
    }

    fn needs(&self) -> Needs {
        Needs { pacing: true, l4s: true, ..Needs::default() }
    }

    fn pacing_rate(&self) -> Option<u64> {
        self.state.rate
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Prague { common: self.common.fresh(), state: Progress::START, ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
