//! ProbeBW: a cycle of phases that slow down, keep the rate, fill the path and probe for bandwidth (section 5.3.3).

use super::{Bbr3, Phase, Sample, ShortTerm, SECOND};

/// Rounds after which bandwidth is probed for at the latest, for Reno to keep up (5.3.3.8).
const RENO_ROUNDS: f64 = 63.0;
/// Least time between two probes, and the range of what is added to it \[s\].
const PROBE_WAIT: [f64; 2] = [2.0, 1.0];
/// Rounds of a probe in which the growth of the long-term bound doubles.
const DOUBLINGS: u32 = 30;

/// The part of a probe for bandwidth that the ACKs which arrive are feedback of (`BBR.ack_phase`, 2.14).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Feedback {
    None,
    Refilling,
    Starting,
    Probing,
    Stopping,
}

/// The state of ProbeBW (2.14).
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    pub(super) feedback: Feedback,
    /// Whether the packets that are acknowledged or lost were sent in a probe (`BBR.is_bw_probe_sample`).
    pub(super) of_probe: bool,
    /// Whether the last probe lost too much (`BBR.prev_probe_too_high`), and whether it ended early for that of the probe
    /// before (`BBR.prev_probe_precautionary`).
    pub(super) too_high: bool,
    pub(super) precautionary: bool,
    /// Packets acknowledged since the long-term bound grew last, those for which it grows by one, and rounds of growth.
    acked: f64,
    pub(super) acked_per_packet: f64,
    pub(super) rounds_of_growth: u32,
    pub(super) rounds_since_probe: u64,
    /// Beginning of the cycle, and the time after which the next probe begins \[us\].
    since: u64,
    pub(super) wait: f64,
}

impl Cycle {
    pub(super) const START: Cycle = Cycle {
        feedback: Feedback::None,
        of_probe: false,
        too_high: false,
        precautionary: false,
        acked: 0.0,
        acked_per_packet: f64::INFINITY,
        rounds_of_growth: 0,
        rounds_since_probe: 0,
        since: 0,
        wait: 0.0,
    };
}

impl Bbr3 {
    /// Begins the phase that slows down, and draws when the next probe begins (`StartProbeBW_DOWN()`, `PickProbeWait()`).
    pub(super) fn start_down(&mut self) {
        self.deliveries.reset();
        self.cycle.acked_per_packet = f64::INFINITY;
        self.cycle.rounds_since_probe = self.random.below(2) as u64;
        self.cycle.wait = SECOND * (PROBE_WAIT[0] + PROBE_WAIT[1] * self.random.uniform());
        self.cycle.since = self.now;
        self.enter(Phase::Down, Feedback::Stopping);
    }

    /// Begins the phase that fills the path, without the short-term bounds (`StartProbeBW_REFILL()`).
    pub(super) fn start_refill(&mut self) {
        self.short_term = ShortTerm::NONE;
        (self.cycle.rounds_of_growth, self.cycle.acked) = (0, 0.0);
        self.cycle.precautionary = false;
        self.enter(Phase::Refill, Feedback::Refilling);
    }

    /// Begins the phase that probes (`StartProbeBW_UP()`).
    fn start_up(&mut self, sample: &Sample) {
        self.pipe.search_from(sample.bandwidth);
        self.enter(Phase::Up, Feedback::Starting);
        self.raise_slope(sample.cwnd);
    }

    fn enter(&mut self, phase: Phase, feedback: Feedback) {
        self.cycle.feedback = feedback;
        self.rounds.begin(self.delivered);
        self.phase = phase;
    }

    /// Moves from phase to phase (`UpdateProbeBWCyclePhase()`).
    pub(super) fn update_cycle(&mut self, sample: &Sample) {
        if !self.pipe.reached || self.adapt_long_term(sample) {
            return;
        }
        match self.phase {
            Phase::Down | Phase::Cruise if self.is_time_to_probe(sample.cwnd) => self.start_refill(),
            Phase::Down if self.has_drained(sample) => self.phase = Phase::Cruise,
            Phase::Refill if self.rounds.starts => {
                self.cycle.of_probe = true;
                self.start_up(sample);
            }
            Phase::Up => {
                if self.is_time_to_go_down(sample) {
                    // No losses so far.
                    self.cycle.too_high = false;
                    self.start_down();
                }
            }
            Phase::Startup | Phase::Drain | Phase::Down | Phase::Cruise | Phase::Refill | Phase::ProbeRtt => {}
        }
    }

    /// Returns whether the next probe begins: after a time, or as many rounds as Reno would take (`IsTimeToProbeBW()`).
    fn is_time_to_probe(&self, cwnd: f64) -> bool {
        let late = self.now as f64 > self.cycle.since as f64 + self.cycle.wait;
        late || self.cycle.rounds_since_probe as f64 >= self.target(cwnd).min(RENO_ROUNDS)
    }

    /// Returns whether the queue is empty and leaves room to other flows (`IsTimeToCruise()`).
    fn has_drained(&self, sample: &Sample) -> bool {
        let full = self.volume(self.max_bandwidth.largest, 1.0);
        sample.in_flight <= self.long_term.with_headroom().min(full)
    }

    /// Returns whether a probe ends: it is a precautionary one, or the rate does not grow any more
    /// (`IsTimeToGoDown()`).
    fn is_time_to_go_down(&mut self, sample: &Sample) -> bool {
        // The bound is reached if there was no room for another packet before the ACK made some.
        if self.cycle.too_high && sample.prior_in_flight + 1.0 > self.long_term.in_flight {
            self.cycle.precautionary = true;
            return true;
        }
        if self.is_bounded(sample) {
            // The rate cannot grow.
            self.pipe.search_from(sample.bandwidth);
            return false;
        }
        self.pipe.now
    }

    /// Returns whether the long-term bound limits what is in flight.
    fn is_bounded(&self, sample: &Sample) -> bool {
        sample.cwnd_used && sample.cwnd >= self.long_term.in_flight
    }

    /// Follows the feedback of a probe, and raises the long-term bound where little is lost; returns whether it began
    /// another phase (`AdaptLongTermModel()`).
    fn adapt_long_term(&mut self, sample: &Sample) -> bool {
        match self.cycle.feedback {
            Feedback::Starting if self.rounds.starts => self.cycle.feedback = Feedback::Probing,
            Feedback::Stopping if self.rounds.starts => {
                (self.cycle.of_probe, self.cycle.feedback) = (false, Feedback::None);
                if self.end_probe(sample.app_limited) {
                    return true;
                }
            }
            _ => {}
        }
        if !self.is_too_high(sample.sent_with, sample.lost) && self.long_term.in_flight.is_finite() {
            self.long_term.in_flight = self.long_term.in_flight.max(sample.sent_with);
            if self.phase == Phase::Up {
                self.raise_long_term(sample);
            }
        }
        false
    }

    /// Ends the feedback of a probe: a precautionary one that lost little is followed by another one at once (5.3.3.6).
    /// Returns whether it is.
    fn end_probe(&mut self, app_limited: bool) -> bool {
        if !self.phase.is_of_cycle() {
            return false;
        }
        if !app_limited {
            self.max_bandwidth.advance();
        }
        let again = self.cycle.precautionary && !self.cycle.too_high;
        if again {
            self.start_refill();
        }
        again
    }

    /// Raises the long-term bound by a packet for a number of acknowledged ones, if it limits what is in flight
    /// (`ProbeInflightLongtermUpward()`).
    fn raise_long_term(&mut self, sample: &Sample) {
        if !self.is_bounded(sample) {
            return;
        }
        let cycle = &mut self.cycle;
        cycle.acked += sample.acked;
        let packets = (cycle.acked / cycle.acked_per_packet).floor();
        cycle.acked -= packets * cycle.acked_per_packet;
        self.long_term.in_flight += packets;
        if self.rounds.starts {
            self.raise_slope(sample.cwnd);
        }
    }

    /// Doubles the growth of the long-term bound: one packet in the first round, then 2, 4, ...
    /// (`RaiseInflightLongtermSlope()`).
    fn raise_slope(&mut self, cwnd: f64) {
        let growth = f64::from(1_u32 << self.cycle.rounds_of_growth);
        self.cycle.rounds_of_growth = (self.cycle.rounds_of_growth + 1).min(DOUBLINGS);
        self.cycle.acked_per_packet = (cwnd / growth).max(1.0);
    }
}
