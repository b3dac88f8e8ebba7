//! Losses: what they say about the volume that the path holds, and the return to the state before them if they were
//! spurious (sections 5.5.10.2 and 5.5.11).

use super::bounds::{LongTerm, ShortTerm};
use super::{Bbr3, Lost, Phase, Sample, BETA, LOSS_THRESHOLD};
use crate::State;

/// The state at the beginning of a loss recovery (2.15).
#[derive(Clone, Copy, Debug)]
pub(super) struct Saved {
    /// Phase that losses ended (`BBR.undo_state`).
    pub(super) phase: Option<Phase>,
    short_term: ShortTerm,
    long_term: LongTerm,
}

impl Saved {
    pub(super) const START: Saved = Saved {
        phase: None,
        short_term: ShortTerm { bandwidth: 0.0, in_flight: 0.0 },
        long_term: LongTerm { in_flight: 0.0 },
    };
}

impl Bbr3 {
    /// Saves the state (`SaveStateUponLoss()`, 5.5.11.1).
    pub(super) fn save(&mut self, cwnd: f64) {
        self.save_window(cwnd);
        self.saved = Saved { phase: None, short_term: self.short_term, long_term: self.long_term };
    }

    /// Takes note of a loss (`NoteLoss()`, 5.5.10.2).
    ///
    /// The state is saved at the beginning of a recovery alone, as 2.15 and 5.5.11.1 have it. The pseudocode saves it in
    /// each round with losses, and once more after the loss that ended a probe, which would leave nothing to return to.
    pub(super) fn note_loss(&mut self, cwnd: f64) {
        if self.deliveries.lose(self.delivered) && !self.repairs() {
            self.save(cwnd);
        }
    }

    /// Takes note of a lost packet: if it was sent in a probe, it may show that too much was in flight
    /// (`HandleLostPacket()`, 5.5.10.2).
    pub(super) fn lose(&mut self, packet: &Lost, cwnd: f64) {
        self.ranges.count(packet.sequence);
        self.note_loss(cwnd);
        if self.phase == Phase::Startup && self.state == State::Recovery && !self.selective {
            // 5.3.1.3: one loss of a round trip is all that is found.
            self.fill_by_loss();
        }
        let (sent_with, lost) = (f64::from(packet.in_flight), f64::from(packet.lost));
        if self.cycle.of_probe && self.is_too_high(sent_with, lost) {
            self.respond_to_excess(in_flight_at_loss(sent_with, lost), packet.app_limited, cwnd);
        }
    }

    /// Lowers the long-term bound to what was in flight, and ends a probe (`HandleInflightTooHigh()`).
    fn respond_to_excess(&mut self, in_flight: f64, app_limited: bool, cwnd: f64) {
        self.cycle.too_high = true;
        self.cycle.of_probe = false;
        if !app_limited {
            self.long_term.in_flight = in_flight.max(BETA * self.target(cwnd));
        }
        if self.phase == Phase::Up {
            self.saved.phase = Some(Phase::Up);
            self.start_down();
        }
    }

    /// Responds to a mark of the network. The draft asks for a response as to congestion, and leaves it open which one
    /// (3.7): a mark counts as a loss, and in a probe as too many of them.
    pub(super) fn respond_to_mark(&mut self, sample: &Sample) {
        if !std::mem::take(&mut self.marked) {
            return;
        }
        self.note_loss(sample.cwnd);
        if self.cycle.of_probe {
            self.respond_to_excess(sample.sent_with, sample.app_limited, sample.cwnd);
        } else if self.phase == Phase::Startup {
            self.fill_by_loss();
        }
    }

    /// Returns to the state before a loss recovery that was spurious (`HandleSpuriousLossDetection()`, 5.5.11.2); cwnd is
    /// the caller's.
    pub(super) fn restore(&mut self) {
        self.deliveries.forgive();
        self.pipe.search_from(0.0);
        let Saved { phase, short_term, long_term } = self.saved;
        self.short_term.bandwidth = self.short_term.bandwidth.max(short_term.bandwidth);
        self.short_term.in_flight = self.short_term.in_flight.max(short_term.in_flight);
        self.long_term.in_flight = self.long_term.in_flight.max(long_term.in_flight);
        let probes_rtt = self.phase == Phase::ProbeRtt;
        match phase {
            Some(Phase::Startup) if self.phase != Phase::Startup => {
                self.pipe.reached = false;
                self.phase = if probes_rtt { Phase::ProbeRtt } else { Phase::Startup };
            }
            Some(Phase::Up) if self.phase != Phase::Up && !probes_rtt => self.start_refill(),
            _ => {}
        }
        self.saved.phase = None;
    }
}

/// Returns what was in flight when losses reached the threshold, within the last packet (`InflightAtLoss()`, 5.5.10.2). A
/// part of a packet is not negative.
fn in_flight_at_loss(sent_with: f64, lost: f64) -> f64 {
    let (before, lost_before) = (sent_with - 1.0, lost - 1.0);
    let part = (LOSS_THRESHOLD * before - lost_before) / (1.0 - LOSS_THRESHOLD);
    before + part.max(0.0)
}

#[cfg(test)]
mod unit_tests {
    use super::*;

    /// 5.5.10.2: of 120 packets the third one is lost, and 2% of 119 and a part of it are two and that part.
    #[test]
    fn the_volume_at_loss_lies_within_the_packet() {
        let found = in_flight_at_loss(120.0, 3.0);
        assert!((119.0..120.0).contains(&found), "{found}");
        assert!((2.0 + (found - 119.0) - LOSS_THRESHOLD * found).abs() < 1e-12, "{found}");
        assert_eq!(in_flight_at_loss(10.0, 5.0), 9.0);
    }
}
