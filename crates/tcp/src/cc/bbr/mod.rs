//! BBR (Cardwell et al. 2016), version 1 as in Linux 6.1 (`tcp_bbr.c`): a model of the path, of its bandwidth and its
//! smallest round trip, sets both the pacing rate and the window; losses alone do not.

mod aggregation;
mod policer;
mod probing;
mod units;

use base::cast::{to_index, to_u32};
use base::{RandomStream, Time};

use super::kernel::{packets, KernelClock};
use super::{AckSample, CongestionControl, Needs, Phase, RateSample, Restart, Settings, Signal, Span, Window};
use crate::windowed::WindowedMax;
use crate::State;
use aggregation::Aggregation;
use policer::{News, Policer, Verdict};
use probing::{Cycle, Mode, Pipe, Trough, HIGH_GAIN};
use units::{bandwidth, bytes_per_second, product, UNIT};

/// Rounds for which the largest bandwidth counts.
const BANDWIDTH_ROUNDS: u64 = 10;
/// Smallest window \[packets\].
const LEAST_WINDOW: u32 = 4;
/// Initial window of Linux, until a round trip is known and for as many packets \[packets\].
const INITIAL_WINDOW: u32 = 10;
/// Pacing rate from which a burst has two packets at least \[byte/s\] (`bbr_min_tso_rate`).
const BURST_RATE: u64 = 1_200_000 / 8;
/// Part of a second in which a burst leaves, as a power of two (`sk_pacing_shift`), and most bytes and packets of one.
const BURST_SHIFT: u32 = 10;
const BURST_BYTES: u64 = 65_215;
const BURST_PACKETS: u64 = 127;
/// Round trip that is assumed for the pacing rate before the first one \[us\].
const NOMINAL_RTT: u64 = 1000;

/// Creates BBR, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    Box::new(Bbr {
        clock: KernelClock::new(settings.clock),
        mss: u64::from(settings.mss.max(1)),
        random: unset(),
        path: Path::START,
    })
}

/// Returns random numbers for a flow that has none of its own.
fn unset() -> RandomStream {
    RandomStream::named(0, 0, "bbr")
}

#[derive(Clone, Debug)]
struct Bbr {
    clock: KernelClock,
    /// Payload of a full segment \[byte\].
    mss: u64,
    random: RandomStream,
    path: Path,
}

/// The model of the path, and what follows from it. Times are in microseconds, but those of the jiffies' clock.
#[derive(Clone, Debug)]
struct Path {
    mode: Mode,
    pipe: Pipe,
    cycle: Cycle,
    trough: Trough,
    policer: Policer,
    aggregation: Aggregation,
    max_bandwidth: WindowedMax,
    /// Round trips so far, and the number of delivered packets with which the current one ends.
    rounds: u64,
    round_end: u64,
    round_start: bool,
    gains: Gains,
    pacing_rate: u64,
    /// Packets of a burst at the pacing rate (`bbr_tso_segs_goal`).
    burst: u64,
    has_rtt: bool,
    /// Whether it starts again after the application had nothing to send.
    restarts: bool,
    /// State of congestion at the last ACK.
    state: State,
    /// Whether as many packets are sent as are delivered, in the first round of a recovery.
    conserves: bool,
    /// cwnd to return to \[packets\].
    prior_cwnd: u32,
    /// Instant of the last delivery.
    delivered_at: u64,
    /// Expiries of the timer since the last ACK, of which the policer does not know yet.
    expiries: u32,
}

#[derive(Clone, Copy, Debug)]
struct Gains {
    pacing: u64,
    window: u64,
}

impl Path {
    const START: Path = Path {
        mode: Mode::Startup,
        pipe: Pipe::START,
        cycle: Cycle::START,
        trough: Trough::START,
        policer: Policer::START,
        aggregation: Aggregation::START,
        max_bandwidth: WindowedMax::NONE,
        rounds: 0,
        round_end: 0,
        round_start: false,
        gains: Gains { pacing: HIGH_GAIN, window: HIGH_GAIN },
        pacing_rate: 0,
        burst: 1,
        has_rtt: false,
        restarts: false,
        state: State::Open,
        conserves: false,
        prior_cwnd: 0,
        delivered_at: 0,
        expiries: 0,
    };

    /// Returns the largest bandwidth of the last rounds.
    fn max_bandwidth(&self) -> u64 {
        self.max_bandwidth.get()
    }

    /// Returns the bandwidth that is used: that of a policer, or the largest one.
    fn bandwidth(&self) -> u64 {
        self.policer.rate().unwrap_or_else(|| self.max_bandwidth())
    }

    /// Saves the last cwnd that was good (`bbr_save_cwnd`).
    fn save(&mut self, window: &Window) {
        let cwnd = packets(window.cwnd);
        let was_cut = self.state >= State::Recovery || self.mode == Mode::ProbeRtt;
        self.prior_cwnd = if was_cut { self.prior_cwnd.max(cwnd) } else { cwnd };
    }
}

impl Bbr {
    /// Sets the pacing rate, and with it the packets of a burst.
    fn pace(&mut self, rate: u64) {
        if rate != self.path.pacing_rate {
            let bytes = (rate >> BURST_SHIFT).min(BURST_BYTES);
            let burst = (bytes / self.mss).max(if rate < BURST_RATE { 1 } else { 2 }).min(BURST_PACKETS);
            (self.path.pacing_rate, self.path.burst) = (rate, burst);
        }
    }

    /// Returns the packets that fill the path, times a gain (`bbr_bdp`).
    fn fill(&self, bandwidth: u64, gain: u64) -> u64 {
        match self.path.trough.min_rtt {
            u64::MAX => u64::from(INITIAL_WINDOW),
            min_rtt => product(bandwidth, min_rtt, gain),
        }
    }

    /// Returns a window with what the bursts and the delayed ACKs of hosts take (`bbr_quantization_budget`).
    fn quantize(&self, window: u64) -> u64 {
        let even = (window + 3 * self.path.burst).next_multiple_of(2);
        even + if self.path.mode == Mode::ProbeBandwidth && self.path.cycle.index == 0 { 2 } else { 0 }
    }

    /// Returns the packets in flight that fill the path, times a gain (`bbr_inflight`).
    fn target(&self, gain: u64) -> u64 {
        self.quantize(self.fill(self.path.max_bandwidth(), gain))
    }

    /// Returns how many packets will be in the network when the next one leaves (`bbr_packets_in_net_at_edt`).
    fn in_network_at_departure(&self, ack: &AckSample, in_flight: u32) -> u64 {
        let burst = if self.path.gains.pacing > UNIT { self.path.burst } else { 0 };
        let delivered = match ack.departure - ack.now {
            Time::ZERO => 0,
            wait => units::packets(self.path.bandwidth(), self.clock.microseconds(wait)),
        };
        (u64::from(in_flight) + burst).saturating_sub(delivered)
    }

    /// Sets the pacing rate: it only rises until the pipe is full (`bbr_set_pacing_rate`).
    fn set_pacing_rate(&mut self, gain: u64, srtt: Time, window: &Window) {
        if !self.path.has_rtt && srtt > Time::ZERO {
            self.init_pacing_rate(srtt, window);
        }
        let rate = bytes_per_second(self.path.bandwidth(), gain, self.mss);
        if self.path.pipe.full || rate > self.path.pacing_rate {
            self.pace(rate);
        }
    }

    /// Sets the pacing rate to cwnd in a round trip, times the gain of the startup (`bbr_init_pacing_rate_from_rtt`).
    fn init_pacing_rate(&mut self, srtt: Time, window: &Window) {
        self.path.has_rtt = srtt > Time::ZERO;
        let rtt = if self.path.has_rtt { self.clock.microseconds(srtt).max(1) } else { NOMINAL_RTT };
        let bandwidth = bandwidth(u64::from(packets(window.cwnd)), rtt);
        self.pace(bytes_per_second(bandwidth, HIGH_GAIN, self.mss));
    }

    /// Updates rounds and bandwidth (`bbr_update_bw`).
    fn update_bandwidth(&mut self, ack: &AckSample, rate: &RateSample) {
        self.path.round_start = false;
        let Some((span, interval)) = valid(rate) else { return };
        let path = &mut self.path;
        if span.prior_delivered >= path.round_end {
            path.round_end = rate.delivered;
            path.rounds += 1;
            path.round_start = true;
            path.conserves = false;
        }
        if path.policer.takes_note(ack.lost > 0) {
            self.observe_policer(ack.lost > 0, span.app_limited, (rate.delivered, rate.lost), rate.delivered_at);
        }
        let sample = bandwidth(u64::from(span.delivered), interval);
        let path = &mut self.path;
        if !span.app_limited || sample >= path.max_bandwidth() {
            path.max_bandwidth.sample(path.rounds, sample, BANDWIDTH_ROUNDS);
        }
    }

    fn observe_policer(&mut self, lossy: bool, app_limited: bool, totals: (u64, u64), delivered_at: u64) {
        let path = &mut self.path;
        let probes = path.mode == Mode::ProbeBandwidth;
        let news = News { round: path.round_start, lossy, app_limited, probes, totals, delivered_at };
        match path.policer.observe(&news, self.mss) {
            Verdict::Nothing => {}
            Verdict::Policed => path.gains.pacing = UNIT,
            Verdict::Over => self.begin_cycle(delivered_at),
        }
    }

    /// Counts expiries of the timer, each of which ends a round, for the policer (`bbr_set_state`).
    fn observe_expiries(&mut self, ack: &AckSample, rate: &RateSample) {
        for _ in 0..std::mem::take(&mut self.path.expiries) {
            self.path.round_start = true;
            let totals = (rate.delivered - u64::from(ack.acked), rate.lost - u64::from(ack.lost));
            self.observe_policer(true, false, totals, self.path.delivered_at);
        }
    }

    /// Updates the model, in the kernel's order (`bbr_update_model`).
    fn update(&mut self, ack: &AckSample, rate: &RateSample, window: &mut Window) {
        self.observe_expiries(ack, rate);
        self.path.delivered_at = rate.delivered_at;
        self.update_bandwidth(ack, rate);
        if ack.acked > 0 && valid(rate).is_some() {
            let (bandwidth, cwnd) = (self.path.bandwidth(), u64::from(packets(window.cwnd)));
            let (round, acked) = (self.path.round_start, u64::from(ack.acked));
            self.path.aggregation.deliver(round, rate.delivered_at, bandwidth, acked, cwnd);
        }
        self.update_cycle(ack, rate);
        if self.path.round_start && !rate.span.is_some_and(|span| span.app_limited) {
            let bandwidth = self.path.max_bandwidth();
            self.path.pipe.observe(bandwidth);
        }
        self.update_drain(ack, rate, window);
        self.update_min_rtt(ack, rate, window);
        self.path.gains = self.gains();
    }

    /// Sets cwnd (`bbr_set_cwnd`).
    fn set_window(&mut self, ack: &AckSample, rate: &RateSample, window: &mut Window) {
        let mut cwnd = packets(window.cwnd);
        if ack.acked > 0 {
            cwnd = self.recover(ack, rate, cwnd);
            if !self.path.conserves {
                cwnd = self.grow(ack, rate, cwnd).max(LEAST_WINDOW);
            }
        }
        if self.path.mode == Mode::ProbeRtt {
            cwnd = cwnd.min(LEAST_WINDOW);
        }
        window.cwnd = f64::from(cwnd);
    }

    /// Grows cwnd to its target, and with a full pipe not beyond it.
    fn grow(&self, ack: &AckSample, rate: &RateSample, cwnd: u32) -> u32 {
        let path = &self.path;
        let bandwidth = path.bandwidth();
        let excess = if path.pipe.full { path.aggregation.packets(bandwidth) } else { 0 };
        let target = self.quantize(self.fill(bandwidth, path.gains.window) + excess);
        let target = to_u32(to_index(target.min(u64::from(u32::MAX / 2))));
        let grown = cwnd.saturating_add(ack.acked);
        if path.pipe.full {
            grown.min(target)
        // The kernel has counted the SYN as well.
        } else if cwnd < target || rate.delivered + 1 < u64::from(INITIAL_WINDOW) {
            grown
        } else {
            cwnd
        }
    }

    /// Takes losses off cwnd; conserves packets in the first round of a recovery, and restores cwnd at its end
    /// (`bbr_set_cwnd_to_recover_or_restore`).
    fn recover(&mut self, ack: &AckSample, rate: &RateSample, cwnd: u32) -> u32 {
        let (path, [_, in_flight]) = (&mut self.path, ack.in_flight);
        let before = std::mem::replace(&mut path.state, ack.state);
        let conserved = in_flight.saturating_add(ack.acked);
        let mut cwnd = cwnd.saturating_sub(ack.lost).max(1);
        if ack.state == State::Recovery && before != State::Recovery {
            path.conserves = true;
            path.round_end = rate.delivered;
            cwnd = conserved;
        } else if before >= State::Recovery && ack.state < State::Recovery {
            cwnd = cwnd.max(path.prior_cwnd);
            path.conserves = false;
        }
        if path.conserves {
            cwnd.max(conserved)
        } else {
            cwnd
        }
    }
}

/// Returns the span of a sample that says something about the bandwidth.
fn valid(rate: &RateSample) -> Option<(&Span, u64)> {
    let span = rate.span.as_ref()?;
    span.interval.filter(|&interval| interval > 0).map(|interval| (span, interval))
}

impl CongestionControl for Bbr {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        let Some(rate) = &ack.rate else { return };
        self.update(ack, rate, window);
        self.set_pacing_rate(self.path.gains.pacing, ack.srtt, window);
        self.set_window(ack, rate, window);
    }

    fn on_congestion(&mut self, _signal: Signal, _now: Time, window: &Window) -> f64 {
        self.path.save(window);
        window.ssthresh
    }

    fn undo(&mut self, _prior: f64, window: &Window) -> f64 {
        self.path.pipe.forget();
        self.path.policer.reset();
        window.cwnd
    }

    fn on_timeout(&mut self, _now: Time, _nxt: u64) {
        let path = &mut self.path;
        path.state = State::Loss;
        path.pipe.bandwidth = 0;
        path.expiries += 1;
    }

    fn on_start(&mut self, now: Time, srtt: Time, min_rtt: Time, window: &mut Window) {
        let at = self.clock.microseconds(now);
        if min_rtt != Time::NEVER {
            self.path.trough.min_rtt = self.clock.between(now, min_rtt);
        }
        self.path.trough.since = self.clock.jiffies(now);
        self.path.aggregation.begin(at);
        self.init_pacing_rate(srtt, window);
    }

    fn on_restart(&mut self, restart: &Restart, window: &mut Window) {
        if !restart.app_limited {
            return;
        }
        self.path.restarts = true;
        self.path.aggregation.begin(self.clock.microseconds(restart.now));
        match self.path.mode {
            Mode::ProbeBandwidth => self.set_pacing_rate(UNIT, Time::ZERO, window),
            Mode::ProbeRtt => self.end_trough(self.clock.jiffies(restart.now), self.path.delivered_at, window),
            Mode::Startup | Mode::Drain => {}
        }
    }

    fn needs(&self) -> Needs {
        Needs { rate: true, pacing: true, window: true, random: true, losses: false, l4s: false }
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.path.pacing_rate)
    }

    fn holds_back(&self) -> bool {
        self.path.trough.held_back
    }

    fn phase(&self, _in_slow_start: bool) -> Phase {
        self.path.phase()
    }

    fn set_random(&mut self, random: RandomStream) {
        self.random = random;
    }

    fn restart(&mut self) {
        *self = Bbr { path: Path::START, random: unset(), ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}
