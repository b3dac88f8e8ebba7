//! Startup and Drain: the search for the bandwidth of a full path, and the end of the queue that it made (sections 5.3.1
//! and 5.3.2).

use super::{Bbr3, Phase, Sample, Window};
use crate::State;

/// Growth of the bandwidth in a round below which the path may be full, and rounds until it is (5.3.1.2).
const GROWTH: f64 = 1.25;
const FULL_ROUNDS: u32 = 3;
/// Ranges of packets that are lost in a round that ends Startup (`BBRStartupFullLossCnt`, 5.3.1.3).
const FULL_RANGES: u32 = 6;
/// Rounds of Drain at most (5.3.2).
const DRAIN_ROUNDS: u64 = 3;

/// The search for a rate that no longer grows (5.3.1.2).
#[derive(Clone, Copy, Debug)]
pub(super) struct Pipe {
    /// Whether the path was ever full (`BBR.full_bw_reached`), and whether it is so since the search began
    /// (`BBR.full_bw_now`).
    pub(super) reached: bool,
    pub(super) now: bool,
    /// Rate from which it is to grow, and rounds in which it did not (`BBR.full_bw`, `BBR.full_bw_count`).
    bandwidth: f64,
    pub(super) count: u32,
    /// Round in which Drain began (`BBR.drain_start_round`).
    drains_since: u64,
}

impl Pipe {
    pub(super) const START: Pipe = Pipe { reached: false, now: false, bandwidth: 0.0, count: 0, drains_since: 0 };

    /// Begins the search again from a rate (`ResetFullBW()`).
    pub(super) fn search_from(&mut self, bandwidth: f64) {
        (self.now, self.bandwidth, self.count) = (false, bandwidth, 0);
    }

    /// Takes a sample; one in each round counts (`CheckFullBWReached()`).
    pub(super) fn observe(&mut self, round_starts: bool, sample: &Sample) {
        if self.now || !round_starts || sample.app_limited || sample.bandwidth == 0.0 {
            return;
        }
        if sample.bandwidth >= GROWTH * self.bandwidth {
            return self.search_from(sample.bandwidth);
        }
        self.count += 1;
        self.now = self.count >= FULL_ROUNDS;
        self.reached |= self.now;
    }
}

/// The ranges of packets that were lost in a round: packets in a row are one of them.
#[derive(Clone, Copy, Debug)]
pub(super) struct LostRanges {
    pub(super) count: u32,
    /// One past the packet that was lost last.
    end: u64,
}

impl LostRanges {
    pub(super) const NONE: LostRanges = LostRanges { count: 0, end: u64::MAX };

    /// Counts a lost packet.
    pub(super) fn count(&mut self, sequence: u64) {
        self.count += u32::from(sequence != self.end);
        self.end = sequence + 1;
    }
}

impl Bbr3 {
    /// Ends Startup when the path is full, by its rate or by its losses (`CheckStartupDone()`).
    pub(super) fn check_startup(&mut self, sample: &Sample, window: &mut Window) {
        if self.phase == Phase::Startup && !self.pipe.reached && self.loses_much(sample) {
            self.fill_by_loss();
        }
        if self.deliveries.round_starts {
            self.ranges = LostRanges::NONE;
        }
        if self.phase == Phase::Startup && self.pipe.reached {
            self.phase = Phase::Drain;
            self.pipe.drains_since = self.rounds.count;
            // BBR does not use it. Results call what is sent below it slow start.
            window.ssthresh = self.volume(self.bandwidth, 1.0);
        }
    }

    /// Returns whether a whole round in fast recovery had many losses, in many places (`CheckStartupHighLoss()`, 5.3.1.3).
    fn loses_much(&self, sample: &Sample) -> bool {
        let in_many_places = self.deliveries.round_starts && self.ranges.count >= FULL_RANGES;
        self.state == State::Recovery && in_many_places && self.is_too_high(sample.sent_with, sample.lost)
    }

    /// Takes the path to be full as too much is lost: what it delivers is what it holds.
    pub(super) fn fill_by_loss(&mut self) {
        self.saved.phase = Some(Phase::Startup);
        (self.pipe.reached, self.pipe.now) = (true, true);
        self.long_term.in_flight = self.bdp().max(self.deliveries.in_flight);
    }

    /// Ends Drain when the queue is estimated to be empty, or after three rounds (`CheckDrainDone()`).
    pub(super) fn check_drain(&mut self, sample: &Sample) {
        let drained = sample.in_flight <= self.volume(self.bandwidth, 1.0);
        if self.phase == Phase::Drain && (drained || self.rounds.count > self.pipe.drains_since + DRAIN_ROUNDS) {
            self.start_down();
        }
    }
}
