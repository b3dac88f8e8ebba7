//! The control parameters: pacing rate, the most that leaves at once, and the window (sections 5.5.8, 5.5.9, 5.6).

use base::cast::trunc_to_u64;
use base::Time;

use super::{Bbr3, Phase, Sample, Window, LEAST_WINDOW, SECOND};
use crate::windowed::WindowedMax;

/// Part of the bandwidth at which packets are paced (`BBR.PacingMarginPercent`).
const MARGIN: f64 = 0.99;
/// Time whose packets leave at once \[s\], and their bytes at most (5.6.3).
const QUANTUM: f64 = 1e-3;
const QUANTUM_BYTES: f64 = 65_536.0;
/// Fewest of them \[packets\], and how many times them a host holds (5.5.8.1).
const LEAST_QUANTUM: f64 = 2.0;
const QUANTA: f64 = 3.0;
/// Round trip that is assumed for the pacing rate before the first one \[us\].
const NOMINAL_RTT: u64 = 1000;
/// Rounds for which the excess of ACKs counts (`BBR.ExtraAckedFilterLen`), and those of it in Startup (5.5.9).
const EXCESS_ROUNDS: u64 = 10;
const EXCESS_ROUNDS_AT_START: u64 = 1;

/// The packets that an interval delivers in addition to those that the bandwidth explains (5.5.9).
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    /// Beginning of the interval \[us\], and packets delivered in it.
    since: u64,
    acked: f64,
    /// Largest excess \[whole packets\].
    excess: WindowedMax,
}

impl Aggregation {
    pub(super) const START: Aggregation = Aggregation { since: 0, acked: 0.0, excess: WindowedMax::NONE };

    /// Begins an interval, without a change of what was delivered in it.
    pub(super) fn begin(&mut self, now: u64) {
        self.since = now;
    }

    /// Returns the packets by which the window is larger on its account (`BBR.extra_acked`).
    pub(super) fn packets(&self) -> f64 {
        self.excess.get() as f64
    }
}

/// The control parameters, and the windows to return to (2.4, 5.6.4.4).
#[derive(Clone, Copy, Debug)]
pub(super) struct Output {
    /// Pacing rate \[byte/s\], and whether it follows from a round trip.
    pub(super) pacing_rate: u64,
    has_rtt: bool,
    /// Window at the start, and the last one that was good (`BBR.prior_cwnd`) \[packets\].
    pub(super) initial_window: f64,
    pub(super) prior_window: f64,
}

impl Output {
    pub(super) const START: Output = Output { pacing_rate: 0, has_rtt: false, initial_window: 10.0, prior_window: 0.0 };

    /// Returns the window to return to (`RestoreCwnd()`, 5.6.4.4).
    pub(super) fn restored(&self, cwnd: f64) -> f64 {
        cwnd.max(self.prior_window)
    }
}

impl Bbr3 {
    /// Saves the last window that was good (`SaveCwnd()`, 5.6.4.4).
    pub(super) fn save_window(&mut self, cwnd: f64) {
        let was_cut = self.repairs() || self.phase == Phase::ProbeRtt;
        self.output.prior_window = if was_cut { self.output.restored(cwnd) } else { cwnd };
    }

    /// Updates the excess of ACKs (`UpdateACKAggregation()`).
    pub(super) fn update_aggregation(&mut self, sample: &Sample) {
        let aggregation = &mut self.aggregation;
        let mut expected = self.bandwidth * self.now.saturating_sub(aggregation.since) as f64 / SECOND;
        if aggregation.acked <= expected {
            (aggregation.since, aggregation.acked, expected) = (self.now, 0.0, 0.0);
        }
        aggregation.acked += sample.acked;
        let excess = (aggregation.acked - expected).min(sample.cwnd);
        let rounds = if self.pipe.reached { EXCESS_ROUNDS } else { EXCESS_ROUNDS_AT_START };
        aggregation.excess.sample(self.rounds.count, trunc_to_u64(excess), rounds);
    }

    /// Sets the pacing rate of the initial window in a round trip (`InitPacingRate()`, 5.6.2).
    pub(super) fn start_pacing(&mut self, srtt: Time) {
        self.output.has_rtt = srtt > Time::ZERO;
        let rtt = if self.output.has_rtt { self.clock.microseconds(srtt).max(1) } else { NOMINAL_RTT };
        let bandwidth = self.output.initial_window * SECOND / rtt as f64;
        self.output.pacing_rate = trunc_to_u64(Phase::Startup.pacing_gain() * bandwidth * self.mss);
    }

    /// Updates the pacing rate (`SetPacingRate()`).
    pub(super) fn update_pacing_rate(&mut self, srtt: Time) {
        if !self.output.has_rtt && srtt > Time::ZERO {
            self.start_pacing(srtt);
        }
        self.set_pacing_rate(self.phase.pacing_gain());
    }

    /// Sets the pacing rate: it only rises until the path is full (`SetPacingRateWithGain()`).
    pub(super) fn set_pacing_rate(&mut self, gain: f64) {
        let rate = trunc_to_u64(gain * self.bandwidth * MARGIN * self.mss);
        if self.pipe.reached || rate > self.output.pacing_rate {
            self.output.pacing_rate = rate;
        }
    }

    /// Returns the packets that a host sends at once (`SetSendQuantum()`, 5.6.3).
    fn quantum(&self) -> f64 {
        let bytes = (self.output.pacing_rate as f64 * QUANTUM).min(QUANTUM_BYTES);
        (bytes / self.mss).max(LEAST_QUANTUM)
    }

    /// Returns a volume with what hosts hold back and take together (`QuantizationBudget()`, 5.6.4.2).
    fn quantize(&self, volume: f64) -> f64 {
        let least = volume.max(QUANTA * self.quantum()).max(LEAST_WINDOW);
        least + if self.phase == Phase::Up { 2.0 } else { 0.0 }
    }

    /// Returns the volume that fills the path, times a gain (`Inflight()`).
    pub(super) fn volume(&self, bandwidth: f64, gain: f64) -> f64 {
        self.quantize(self.fill(bandwidth, gain))
    }

    /// Returns the window of ProbeRTT (`ProbeRTTCwnd()`, 5.6.4.5).
    pub(super) fn probe_rtt_window(&self) -> f64 {
        self.fill(self.bandwidth, Phase::ProbeRtt.window_gain()).max(LEAST_WINDOW)
    }

    /// Sets the window: towards the volume of the phase, at most by what an ACK delivers, and within the bounds
    /// (`SetCwnd()`, 5.6.4.6).
    pub(super) fn update_window(&mut self, acked: f64, window: &mut Window) {
        let fill = self.fill(self.bandwidth, self.phase.window_gain());
        let most = self.quantize(fill + self.aggregation.packets());
        if self.pipe.reached {
            window.cwnd = (window.cwnd + acked).min(most);
        } else if window.cwnd < most || (self.delivered as f64) < self.output.initial_window {
            window.cwnd += acked;
        }
        window.cwnd = window.cwnd.max(LEAST_WINDOW);
        if self.phase == Phase::ProbeRtt {
            window.cwnd = window.cwnd.min(self.probe_rtt_window());
        }
        window.cwnd = window.cwnd.min(self.bound());
    }

    /// Returns the bound that losses set (`BoundCwndForModel()`, 5.6.4.7).
    fn bound(&self) -> f64 {
        let bound = match self.phase {
            Phase::Startup | Phase::Drain => f64::INFINITY,
            Phase::Down | Phase::Refill | Phase::Up => self.long_term.in_flight,
            Phase::Cruise | Phase::ProbeRtt => self.long_term.with_headroom(),
        };
        bound.min(self.short_term.in_flight).max(LEAST_WINDOW)
    }
}
