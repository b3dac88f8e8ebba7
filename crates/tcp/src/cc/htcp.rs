//! H-TCP (Leith and Shorten 2004), as Linux's `tcp_htcp.c`: growth by the time since the last congestion, a decrease by
//! the ratio of round trips.

use base::cast::{low_u32, to_index, to_u32};
use base::Time;

use super::common::{Common, Cumulative};
use super::kernel::packets;
use super::{AckSample, CongestionControl, Settings, Signal, StartProgress, Window};
use crate::State as Congestion;

/// Unit of the increase and of the decrease, 2^-7.
const ONE: u64 = 1 << 7;
/// Limits of the fraction of cwnd that remains after a congestion, 0.5 and 0.8.
const BETA: (u64, u64) = (1 << 6, 102);
/// Jiffies of a second.
const HZ: u64 = 1000;
/// Growth of the largest round trip that an ACK may bring \[jiffies\].
const LEAP: u64 = 20;
/// Smallest round trip at which the decrease depends on round trips \[jiffies\].
const SHORT: u64 = 10;

#[derive(Clone, Debug)]
struct HTcp {
    common: Common,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// Increase in a round trip and fraction that remains \[2^-7\].
    alpha: u64,
    beta: u64,
    /// Whether the decrease depends on round trips, which the first congestion allows.
    adapts: bool,
    una: Cumulative,
    /// Arrival of the newest ACK \[jiffies\].
    now: u64,
    /// Packets of the newest ACK.
    acked: u64,
    /// Packets acknowledged since the window grew.
    count: u64,
    min_rtt: u64,
    path: Path,
    /// The path and the congestion before the last one, for an undo; none once recovery is over.
    before: Option<Path>,
    /// Throughput \[packet/s\], and the packets and start of the interval that is measured; a first interval that no recovery
    /// began is endless (Linux's `lasttime` is 0).
    throughput: u64,
    packets: u64,
    since: Option<u64>,
}

/// The part that an undo restores.
#[derive(Clone, Copy, Debug, Default)]
struct Path {
    /// End of the last congestion, or begin of the connection \[jiffies\].
    congestion: Option<u64>,
    max_rtt: u64,
    /// Largest throughput since the last congestion and before it \[packet/s\].
    throughput: u64,
    old_throughput: u64,
}

impl Default for State {
    fn default() -> State {
        State {
            alpha: ONE,
            beta: BETA.0,
            adapts: false,
            una: Cumulative::default(),
            now: 0,
            acked: 1,
            count: 0,
            min_rtt: 0,
            path: Path::default(),
            before: None,
            throughput: 0,
            packets: 0,
            since: None,
        }
    }
}

/// Creates H-TCP's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    Box::new(HTcp { common: Common::new(settings), state: State::default() })
}

impl State {
    /// Takes note of a round trip \[jiffies\] (`measure_rtt`).
    fn measure(&mut self, rtt: u64, open: bool) {
        if self.min_rtt == 0 || rtt < self.min_rtt {
            self.min_rtt = rtt;
        }
        if open {
            let max = &mut self.path.max_rtt;
            *max = self.min_rtt.max(*max);
            if rtt > *max && rtt <= *max + LEAP {
                *max = rtt;
            }
        }
    }

    /// Takes note of packets for the throughput (`measure_achieved_throughput`).
    fn deliver(&mut self, acked: u64, cwnd: u64, now: u64) {
        self.packets += acked;
        // The kernel's number has 32 bits: a window that is smaller than what it grows by is never reached.
        let window = u64::from(low_u32(cwnd.wrapping_sub((self.alpha >> 7).max(1))));
        let span = self.since.map_or(u64::MAX, |since| now - since);
        if self.packets < window || self.min_rtt == 0 || span < self.min_rtt {
            return;
        }
        let throughput = self.packets * HZ / span;
        if self.since_congestion(now) / self.min_rtt <= 3 {
            self.throughput = throughput;
            self.path.throughput = throughput;
        } else {
            self.throughput = (3 * self.throughput + throughput) / 4;
            self.path.throughput = self.path.throughput.max(self.throughput);
        }
        self.packets = 0;
        self.since = Some(now);
    }

    /// Returns the time since the last congestion \[jiffies\].
    fn since_congestion(&self, now: u64) -> u64 {
        self.path.congestion.map_or(0, |congestion| now - congestion)
    }

    /// Computes the increase (`htcp_alpha_update`).
    fn update_alpha(&mut self, now: u64) {
        let since = self.since_congestion(now);
        let mut factor = 1;
        if since > HZ {
            let time = since - HZ;
            // The kernel's square has 32 bits, and starts from zero again at 131 s.
            let square = u64::from(low_u32((time / 2).pow(2)));
            factor = 1 + (10 * time + square / HZ) / HZ;
        }
        if self.min_rtt > 0 {
            // A round trip of 100 ms is the reference.
            let scale = (8 * HZ / (10 * self.min_rtt)).clamp(4, 80);
            factor = (8 * factor / scale).max(1);
        }
        self.alpha = 2 * factor * (ONE - self.beta);
    }

    /// Computes the decrease (`htcp_beta_update`).
    fn update_beta(&mut self) {
        let (new, old) = (self.path.throughput, self.path.old_throughput);
        self.path.old_throughput = new;
        if 5 * new < 4 * old || 5 * new > 6 * old {
            self.beta = BETA.0;
            self.adapts = false;
        } else if self.adapts && self.min_rtt > SHORT && self.path.max_rtt > 0 {
            self.beta = ((self.min_rtt << 7) / self.path.max_rtt).clamp(BETA.0, BETA.1);
        } else {
            self.beta = BETA.0;
            self.adapts = true;
        }
    }
}

impl State {
    /// Takes note of the begin of a congestion (`htcp_reset`). What an undo restores is saved after the changes of
    /// `htcp_param_update`, since the state changes after ssthresh.
    fn begin_congestion(&mut self, now: u64) {
        self.before = Some(self.path);
        self.path.congestion = Some(now);
        self.count = 0;
    }

    /// Takes note of the end of a congestion, if one is going on (`htcp_state`).
    fn end_congestion(&mut self, now: u64) {
        if self.before.take().is_some() {
            self.path.congestion = Some(now);
        }
    }
}

impl HTcp {
    /// Grows the window (`htcp_cong_avoid`).
    fn avoid(&mut self, window: &mut Window, now: u64) {
        let state = &mut self.state;
        if (state.count * state.alpha) >> 7 >= u64::from(packets(window.cwnd)) {
            window.cwnd += 1.0;
            state.count = 0;
            state.update_alpha(now);
        } else {
            state.count += state.acked;
        }
        state.acked = 1;
    }
}

impl CongestionControl for HTcp {
    fn measure(&mut self, ack: &AckSample, window: &Window) {
        let now = self.common.clock.jiffies(ack.now);
        let state = &mut self.state;
        state.now = now;
        if state.path.congestion.is_none() {
            state.path.congestion = Some(self.common.clock.jiffies(ack.now - ack.rtt.unwrap_or(Time::ZERO)));
        }
        // The state before the ACK: the packets of the one that ends a recovery do not count for the window, and those of the
        // one after a timer began one do not count for the throughput.
        let (acked, before) = (state.una.advance(ack.una), ack.state);
        if before == Congestion::Open {
            state.acked = acked;
        }
        if let Some(rtt) = self.common.round_trip(ack).filter(|&rtt| rtt > 0) {
            state.measure(rtt.div_ceil(1000), before == Congestion::Open);
        }
        if before <= Congestion::Disorder {
            state.deliver(acked, u64::from(packets(window.cwnd)), now);
        } else {
            (state.packets, state.since) = (0, Some(now));
        }
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        let now = self.state.now;
        if ack.is_open() {
            self.state.end_congestion(now);
        }
        let avoids = !window.in_slow_start();
        if self.common.slow_start.on_ack(ack, window) > 0 && avoids {
            self.avoid(window, now);
        }
    }

    fn on_congestion(&mut self, _signal: Signal, now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        let now = self.common.clock.jiffies(now);
        let state = &mut self.state;
        state.update_beta();
        state.update_alpha(now);
        let path = &mut state.path;
        if state.min_rtt > 0 && path.max_rtt > state.min_rtt {
            path.max_rtt = state.min_rtt + (path.max_rtt - state.min_rtt) * 95 / 100;
        }
        state.begin_congestion(now);
        let ssthresh = (u64::from(packets(window.cwnd)) * state.beta) >> 7;
        f64::from(to_u32(to_index(ssthresh))).max(2.0)
    }

    /// Ends the congestion, also where the ACK that ends a recovery begins another one.
    fn on_recovery_end(&mut self, _window: &mut Window) {
        self.state.end_congestion(self.state.now);
    }

    fn undo(&mut self, prior: f64, window: &Window) -> f64 {
        if let Some(before) = self.state.before.take() {
            let throughput = self.state.path.throughput;
            self.state.path = Path { throughput, ..before };
        }
        window.cwnd.max(prior)
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
        let now = self.common.clock.jiffies(now);
        // After `on_congestion` at this instant it has begun already.
        if self.state.path.congestion != Some(now) {
            self.state.begin_congestion(now);
        }
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = HTcp { common: self.common.fresh(), state: State::default() };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests;
