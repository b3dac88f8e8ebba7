//! BBR, version 3 (draft-ietf-ccwg-bbr-06): a model of the path, of its bandwidth, its smallest round trip and of what
//! may be in flight without many losses, sets both the pacing rate and the window.
//!
//! The sections are the draft's, and so are the words of its pseudocode in backquotes. Volumes are packets, all of one
//! size; bandwidths are packets per second, instants microseconds. There is no kernel run to compare with: Linux 6.1 has
//! version 1 ([`super::bbr`]).

mod bounds;
mod cycle;
mod phase;
mod pipe;
mod round_trip;
mod spurious;
#[cfg(test)]
mod tests;
mod window;

use base::{RandomStream, Time};

use super::kernel::KernelClock;
use super::{AckSample, CongestionControl, Lost, Needs, RateSample, Restart, Settings, Signal, Span, Window};
use crate::State;
use bounds::{Deliveries, LongTerm, MaxBandwidth, Rounds, ShortTerm};
use cycle::Cycle;
use phase::Phase;
use pipe::{LostRanges, Pipe};
use round_trip::RoundTrip;
use spurious::Saved;
use window::{Aggregation, Output};

/// Microseconds of a second.
const SECOND: f64 = 1e6;
/// Packets that are lost in a round trip, as a fraction of those in flight, above which these are too many
/// (`BBR.LossThresh`, 2.8).
const LOSS_THRESHOLD: f64 = 0.02;
/// Part of a bound that is left by a round trip with losses (`BBR.Beta`, 2.8).
const BETA: f64 = 0.7;
/// Smallest window \[packets\] (`BBR.MinPipeCwnd`, 2.8).
const LEAST_WINDOW: f64 = 4.0;

/// Creates BBR, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    Box::new(Bbr3::new(KernelClock::new(settings.clock), f64::from(settings.mss.max(1)), settings.selective))
}

/// BBR's state (sections 2.4 to 2.16).
#[derive(Clone, Debug)]
struct Bbr3 {
    clock: KernelClock,
    /// Payload of a full segment \[byte\].
    mss: f64,
    /// Whether several losses of a round trip are found in it (`C.has_selective_acks`).
    selective: bool,
    random: RandomStream,
    /// Reading of the clock, and packets delivered so far, at the event that is handled.
    now: u64,
    delivered: u64,
    phase: Phase,
    rounds: Rounds,
    max_bandwidth: MaxBandwidth,
    /// Bandwidth that is used (`BBR.bw`).
    bandwidth: f64,
    deliveries: Deliveries,
    short_term: ShortTerm,
    long_term: LongTerm,
    pipe: Pipe,
    ranges: LostRanges,
    cycle: Cycle,
    round_trip: RoundTrip,
    aggregation: Aggregation,
    output: Output,
    saved: Saved,
    /// State of the sender, as far as the control knows it.
    state: State,
    /// Whether it starts again after the application had nothing to send (`BBR.idle_restart`).
    restarts: bool,
    /// Whether the network marked a packet, to which there is no response yet.
    marked: bool,
}

/// The sample of an ACK that delivers something (`RS`, section 2.3), and the window at that time.
#[derive(Clone, Copy, Debug)]
struct Sample {
    /// Delivery rate; zero if it is not valid.
    bandwidth: f64,
    delivered: f64,
    prior_delivered: u64,
    app_limited: bool,
    /// Packets in flight when the packet was sent (`RS.tx_in_flight`), and those lost since (`RS.lost`).
    sent_with: f64,
    lost: f64,
    /// Packets that the ACK delivers (`RS.newly_acked`).
    acked: f64,
    /// Packets in flight before the ACK, and after it (`C.inflight`).
    prior_in_flight: f64,
    in_flight: f64,
    /// Round trip \[us\].
    rtt: Option<u64>,
    cwnd: f64,
    /// Whether all of cwnd was in use in this round (`C.is_cwnd_limited`).
    cwnd_used: bool,
}

impl Sample {
    fn new(span: &Span, ack: &AckSample, rtt: Option<u64>, cwnd: f64) -> Sample {
        let seconds = span.interval.filter(|&interval| interval > 0).map(|interval| interval as f64 / SECOND);
        Sample {
            bandwidth: seconds.map_or(0.0, |seconds| f64::from(span.delivered) / seconds),
            delivered: f64::from(span.delivered),
            prior_delivered: span.prior_delivered,
            app_limited: span.app_limited,
            sent_with: f64::from(span.in_flight),
            lost: f64::from(span.lost),
            acked: f64::from(ack.acked),
            prior_in_flight: f64::from(ack.in_flight[0]),
            in_flight: f64::from(ack.in_flight[1]),
            rtt,
            cwnd,
            cwnd_used: ack.cwnd_used,
        }
    }
}

impl Bbr3 {
    /// Creates the state at the start of a connection (`OnInit()`, 5.2.1), for packets of `mss` bytes.
    fn new(clock: KernelClock, mss: f64, selective: bool) -> Bbr3 {
        Bbr3 {
            clock,
            mss,
            selective,
            random: RandomStream::named(0, 0, "bbr3"),
            now: 0,
            delivered: 0,
            phase: Phase::Startup,
            rounds: Rounds::START,
            max_bandwidth: MaxBandwidth::START,
            bandwidth: 0.0,
            deliveries: Deliveries::START,
            short_term: ShortTerm::NONE,
            long_term: LongTerm::NONE,
            pipe: Pipe::START,
            ranges: LostRanges::NONE,
            cycle: Cycle::START,
            round_trip: RoundTrip::START,
            aggregation: Aggregation::START,
            output: Output::START,
            saved: Saved::START,
            state: State::Open,
            restarts: false,
            marked: false,
        }
    }

    /// Updates the model and the phase, in the draft's order (`UpdateModelAndState()`, 5.2.3).
    fn update(&mut self, sample: &Sample, window: &mut Window) {
        self.deliveries.update(sample, self.delivered);
        self.respond_to_mark(sample);
        self.update_congestion(sample);
        self.update_aggregation(sample);
        self.pipe.observe(self.rounds.starts, sample);
        self.check_startup(sample, window);
        self.check_drain(sample);
        self.update_cycle(sample);
        self.update_round_trip(sample.rtt);
        self.check_probe_rtt(sample, window);
        self.deliveries.advance(sample);
        self.bandwidth = self.max_bandwidth.largest.min(self.short_term.bandwidth);
    }

    /// Returns the packets that fill the path at the bandwidth in use (`BBR.bdp`).
    fn bdp(&self) -> f64 {
        self.fill(self.bandwidth, 1.0)
    }

    /// Returns the packets that fill the path, times a gain; before the first round trip the initial window
    /// (`BDPMultiple()`, 5.6.4.2).
    fn fill(&self, bandwidth: f64, gain: f64) -> f64 {
        self.round_trip.smallest.map_or(self.output.initial_window, |rtt| gain * (bandwidth * rtt as f64 / SECOND))
    }

    /// Returns the packets that are to be in flight: those that fill the path, unless congestion cut cwnd
    /// (`TargetInflight()`, 5.3.3.8).
    fn target(&self, cwnd: f64) -> f64 {
        self.bdp().min(cwnd)
    }

    /// Returns whether losses show that too much was in flight (`IsInflightTooHigh()`, 5.5.10.2).
    fn is_too_high(&self, sent_with: f64, lost: f64) -> bool {
        lost > sent_with * LOSS_THRESHOLD || (lost > 0.0 && !self.selective)
    }

    /// Returns whether lost packets are repaired (`InLossRecovery()`).
    fn repairs(&self) -> bool {
        self.state >= State::Recovery
    }

    /// Follows the sender into loss recovery and out of it, where cwnd is restored (5.6.4.4).
    fn follow(&mut self, state: State, window: &mut Window) {
        let repaired = self.repairs();
        self.state = state;
        if repaired && !self.repairs() {
            window.cwnd = self.output.restored(window.cwnd);
        }
    }
}

impl CongestionControl for Bbr3 {
    fn measure(&mut self, ack: &AckSample, _window: &Window) {
        self.now = self.clock.microseconds(ack.now);
        self.delivered += u64::from(ack.acked);
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        let Some(RateSample { delivered, span, .. }) = ack.rate else { return };
        (self.now, self.delivered) = (self.clock.microseconds(ack.now), delivered);
        self.follow(ack.state, window);
        if let Some(span) = &span {
            let rtt = ack.rtt.map(|rtt| self.clock.between(ack.now, rtt));
            self.update(&Sample::new(span, ack, rtt, window.cwnd), window);
        }
        self.update_pacing_rate(ack.srtt);
        self.update_window(f64::from(ack.acked), window);
    }

    fn on_congestion(&mut self, signal: Signal, now: Time, window: &Window) -> f64 {
        self.now = self.clock.microseconds(now);
        match signal {
            Signal::Ecn => self.marked = true,
            // `OnEnterFastRecovery()`, `OnEnterRTO()`, 5.6.4.4; a loss that a probe repaired counts as well (5.5.10.3).
            Signal::Loss | Signal::Timeout => {
                self.save(window.cwnd);
                self.state = if signal == Signal::Loss { State::Recovery } else { State::Loss };
                self.note_loss(window.cwnd);
            }
        }
        window.ssthresh
    }

    fn on_timeout(&mut self, _now: Time, _nxt: u64) {
        self.state = State::Loss;
    }

    fn on_lost(&mut self, lost: &Lost, window: &Window) {
        (self.now, self.delivered) = (lost.now, lost.delivered);
        self.lose(lost, window.cwnd);
    }

    fn undo(&mut self, _prior: f64, window: &Window) -> f64 {
        self.restore();
        self.output.restored(window.cwnd)
    }

    fn on_start(&mut self, now: Time, srtt: Time, _min_rtt: Time, window: &mut Window) {
        self.now = self.clock.microseconds(now);
        self.round_trip.start(self.now, (srtt > Time::ZERO).then(|| self.clock.microseconds(srtt)));
        self.aggregation.begin(self.now);
        self.output.initial_window = window.cwnd;
        self.start_pacing(srtt);
    }

    fn on_restart(&mut self, restart: &Restart, window: &mut Window) {
        if restart.app_limited {
            self.now = self.clock.microseconds(restart.now);
            self.restart_from_idle(window);
        }
    }

    fn needs(&self) -> Needs {
        Needs { rate: true, pacing: true, window: true, random: true, losses: true, l4s: false }
    }

    fn pacing_rate(&self) -> Option<u64> {
        Some(self.output.pacing_rate)
    }

    fn holds_back(&self) -> bool {
        self.round_trip.held_back
    }

    fn phase(&self, _in_slow_start: bool) -> super::Phase {
        self.phase.traced()
    }

    fn set_random(&mut self, random: RandomStream) {
        self.random = random;
    }

    fn restart(&mut self) {
        *self = Bbr3::new(self.clock, self.mss, self.selective);
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}
