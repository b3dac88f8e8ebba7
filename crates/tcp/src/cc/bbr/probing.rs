//! The modes of BBR: it fills the pipe, drains the queue that this made, then probes for bandwidth in cycles, and now
//! and then for the smallest round trip.

use super::units::UNIT;
use super::{AckSample, Bbr, Gains, Path, Phase, RateSample, Window, LEAST_WINDOW};

/// Gain of the startup, 2 / ln 2, and its inverse, of the drain.
pub(super) const HIGH_GAIN: u64 = UNIT * 2885 / 1000 + 1;
const DRAIN_GAIN: u64 = UNIT * 1000 / 2885;
/// Gain of cwnd while bandwidth is probed for.
const WINDOW_GAIN: u64 = 2 * UNIT;
/// Pacing gains of a cycle: one phase probes, the next one drains what that queued.
const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];
/// Phases of a cycle with which it may begin: all but the one that drains.
const FIRST_PHASES: usize = 7;
/// Growth of the bandwidth in a round below which the pipe may be full, and rounds until it is.
const GROWTH: u64 = UNIT * 5 / 4;
const FULL_ROUNDS: u32 = 3;
/// Age of the smallest round trip at which it is measured again, and length of that \[jiffies\].
const AGE: u64 = 10_000;
const TROUGH: u64 = 200;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    Startup,
    Drain,
    ProbeBandwidth,
    ProbeRtt,
}

/// The search for the bandwidth with which the pipe is full (`bbr_check_full_bw_reached`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Pipe {
    pub(super) full: bool,
    pub(super) bandwidth: u64,
    rounds: u32,
}

impl Pipe {
    pub(super) const START: Pipe = Pipe { full: false, bandwidth: 0, rounds: 0 };

    /// Takes note of the largest bandwidth at the start of a round.
    pub(super) fn observe(&mut self, bandwidth: u64) {
        if self.full {
            return;
        }
        if bandwidth >= self.bandwidth.saturating_mul(GROWTH) / UNIT {
            (self.bandwidth, self.rounds) = (bandwidth, 0);
            return;
        }
        self.rounds += 1;
        self.full = self.rounds >= FULL_ROUNDS;
    }

    /// Begins the search again; a full pipe stays full.
    pub(super) fn forget(&mut self) {
        (self.bandwidth, self.rounds) = (0, 0);
    }
}

/// The phase of a cycle.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    pub(super) index: usize,
    /// Start of the phase \[us\].
    since: u64,
}

impl Cycle {
    pub(super) const START: Cycle = Cycle { index: 0, since: 0 };

    fn advance(&mut self, now: u64) {
        *self = Cycle { index: (self.index + 1) % CYCLE.len(), since: now };
    }
}

/// The smallest round trip, and the time with few packets in flight in which it is measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trough {
    /// Smallest round trip \[us\]; [`u64::MAX`] before the first one.
    pub(super) min_rtt: u64,
    /// Instant of its measurement \[jiffies\].
    pub(super) since: u64,
    /// End of the time with few packets in flight, once they are few \[jiffies\].
    until: Option<u64>,
    round_done: bool,
    /// Whether few packets were in flight at the last ACK on purpose.
    pub(super) held_back: bool,
}

impl Trough {
    pub(super) const START: Trough =
        Trough { min_rtt: u64::MAX, since: 0, until: None, round_done: false, held_back: false };
}

impl Path {
    /// Returns the mode, and the part of the cycle by its gain.
    pub(super) fn phase(&self) -> Phase {
        match self.mode {
            Mode::Startup => Phase::Startup,
            Mode::Drain => Phase::Drain,
            Mode::ProbeRtt => Phase::ProbeRtt,
            Mode::ProbeBandwidth => match self.gains.pacing {
                gain if gain > UNIT => Phase::ProbeBwUp,
                gain if gain < UNIT => Phase::ProbeBwDown,
                _ => Phase::ProbeBwCruise,
            },
        }
    }
}

impl Bbr {
    /// Begins a cycle with a random phase (`bbr_reset_probe_bw_mode`).
    pub(super) fn begin_cycle(&mut self, now: u64) {
        self.path.mode = Mode::ProbeBandwidth;
        self.path.cycle.index = CYCLE.len() - 1 - self.random.below(FIRST_PHASES);
        self.path.cycle.advance(now);
    }

    /// Goes on to the next phase of the cycle when its time is over or its packets are in flight
    /// (`bbr_update_cycle_phase`).
    pub(super) fn update_cycle(&mut self, ack: &AckSample, rate: &RateSample) {
        if self.path.mode == Mode::ProbeBandwidth && self.ends_phase(ack, rate) {
            self.path.cycle.advance(rate.delivered_at);
        }
    }

    fn ends_phase(&self, ack: &AckSample, rate: &RateSample) -> bool {
        let (path, [before, _]) = (&self.path, ack.in_flight);
        let full_length = rate.delivered_at.saturating_sub(path.cycle.since) > path.trough.min_rtt;
        match path.gains.pacing {
            UNIT => full_length,
            // Losses: the path may not hold more.
            gain if gain > UNIT => {
                full_length && (ack.lost > 0 || self.in_network_at_departure(ack, before) >= self.target(gain))
            }
            _ => full_length || self.in_network_at_departure(ack, before) <= self.target(UNIT),
        }
    }

    /// Drains the queue once the pipe is full, and probes for bandwidth once it is drained (`bbr_check_drain`).
    pub(super) fn update_drain(&mut self, ack: &AckSample, rate: &RateSample, window: &mut Window) {
        if self.path.mode == Mode::Startup && self.path.pipe.full {
            self.path.mode = Mode::Drain;
            window.ssthresh = self.target(UNIT) as f64;
        }
        let [_, in_flight] = ack.in_flight;
        if self.path.mode == Mode::Drain && self.in_network_at_departure(ack, in_flight) <= self.target(UNIT) {
            self.begin_cycle(rate.delivered_at);
        }
    }

    /// Updates the smallest round trip, and measures it again with few packets in flight when it is old
    /// (`bbr_update_min_rtt`).
    pub(super) fn update_min_rtt(&mut self, ack: &AckSample, rate: &RateSample, window: &mut Window) {
        let now = rate.now / 1000;
        let is_old = now > self.path.trough.since + AGE;
        if let Some(rtt) = ack.rtt.map(|rtt| rate.now - self.clock.microseconds(ack.now - rtt)) {
            let trough = &mut self.path.trough;
            if rtt < trough.min_rtt || is_old {
                (trough.min_rtt, trough.since) = (rtt, now);
            }
        }
        if is_old && !self.path.restarts && self.path.mode != Mode::ProbeRtt {
            self.path.mode = Mode::ProbeRtt;
            self.path.save(window);
            self.path.trough.until = None;
        }
        self.path.trough.held_back = self.path.mode == Mode::ProbeRtt;
        if self.path.mode == Mode::ProbeRtt {
            self.stay_in_trough(now, ack, rate, window);
        }
        self.path.restarts &= rate.span.is_none();
    }

    fn stay_in_trough(&mut self, now: u64, ack: &AckSample, rate: &RateSample, window: &mut Window) {
        let (path, [_, in_flight]) = (&mut self.path, ack.in_flight);
        if path.trough.until.is_some() {
            path.trough.round_done |= path.round_start;
            if path.trough.round_done {
                self.end_trough(now, rate.delivered_at, window);
            }
        } else if in_flight <= LEAST_WINDOW {
            (path.trough.until, path.trough.round_done) = (Some(now + TROUGH), false);
            path.round_end = rate.delivered;
        }
    }

    /// Returns to the mode before, if few packets were in flight for long enough (`bbr_check_probe_rtt_done`); `now` in
    /// jiffies.
    pub(super) fn end_trough(&mut self, now: u64, delivered_at: u64, window: &mut Window) {
        if self.path.trough.until.is_none_or(|until| now <= until) {
            return;
        }
        self.path.trough.since = now;
        window.cwnd = window.cwnd.max(f64::from(self.path.prior_cwnd));
        if self.path.pipe.full {
            self.begin_cycle(delivered_at);
        } else {
            self.path.mode = Mode::Startup;
        }
    }

    /// Returns the gains of the mode (`bbr_update_gains`).
    pub(super) fn gains(&self) -> Gains {
        match self.path.mode {
            Mode::Startup => Gains { pacing: HIGH_GAIN, window: HIGH_GAIN },
            Mode::Drain => Gains { pacing: DRAIN_GAIN, window: HIGH_GAIN },
            Mode::ProbeBandwidth if self.path.policer.rate().is_some() => Gains { pacing: UNIT, window: WINDOW_GAIN },
            Mode::ProbeBandwidth => Gains { pacing: CYCLE[self.path.cycle.index], window: WINDOW_GAIN },
            Mode::ProbeRtt => Gains { pacing: UNIT, window: UNIT },
        }
    }
}
