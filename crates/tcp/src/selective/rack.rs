//! Loss detection by time: RACK (RFC 8985 section 6.2), as Linux's `tcp_recovery.c` does it.

use std::collections::VecDeque;

use base::Time;

use super::scoreboard::{Scoreboard, Segment};

/// Recoveries for which a wider reordering window persists.
const PERSISTENCE: u32 = 16;

/// The state of RACK for a connection.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// Transmission of the packet sent last among those that were delivered, and the packet (RACK.xmit_ts, end_seq).
    newest: (Time, u64),
    /// Round trip of the packet delivered last (RACK.rtt).
    rtt: Time,
    /// Whether something was delivered since the last detection.
    pub(super) advanced: bool,
    /// Packet below which each one was acknowledged selectively, is lost, or was retransmitted.
    pub(super) judged: u64,
    /// Retransmissions, in the order of their transmission; some are out of date.
    resent: VecDeque<(u64, Time)>,
    /// Width of the reordering window in quarters of the smallest round trip.
    steps: u64,
    /// Recoveries for which `steps` persists.
    persist: u32,
    /// Whether a duplicate was acknowledged since the window was last adjusted (RFC 2883).
    pub(super) duplicate_seen: bool,
    /// Number of delivered packets when it was.
    adjusted_at: u64,
}

/// Bounds of the reordering window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reordering {
    /// Whether no time is left for reordering: none was seen, and recovery runs or enough packets arrived beyond a hole.
    pub(super) none: bool,
    pub(super) min_rtt: Time,
    pub(super) srtt: Time,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack {
            newest: (Time::ZERO, 0),
            rtt: Time::ZERO,
            advanced: false,
            judged: 0,
            resent: VecDeque::new(),
            steps: 1,
            persist: 0,
            duplicate_seen: false,
            adjusted_at: 0,
        }
    }
}

impl Rack {
    /// Forgets the connection; the memory stays.
    pub(super) fn restart(&mut self) {
        let mut resent = std::mem::take(&mut self.resent);
        resent.clear();
        *self = Rack { resent, ..Rack::default() };
    }

    /// Takes note of the delivery of a packet (`tcp_rack_advance`). That of a retransmission within less than the
    /// smallest round trip may be that of the original.
    pub(super) fn deliver(&mut self, now: Time, sequence: u64, segment: &Segment, min_rtt: Time) {
        let rtt = now - segment.sent;
        let resent = segment.marks.retransmitted() || segment.marks.ever_retransmitted();
        if rtt < min_rtt && resent {
            return;
        }
        self.advanced = true;
        self.rtt = rtt;
        let (sent, end) = self.newest;
        // The order of tuples, without a copy of them through memory.
        if segment.sent > sent || (segment.sent == sent && sequence >= end) {
            self.newest = (segment.sent, sequence + 1);
        }
    }

    /// Takes note of a retransmission.
    pub(super) fn resend(&mut self, sequence: u64, now: Time) {
        self.resent.push_back((sequence, now));
    }

    /// Returns the time that a packet has left until it is lost, of the latest round trip and `reordering` (zero: none).
    fn remaining(&self, now: Time, sent: Time, reordering: Time) -> Time {
        sent + self.rtt + reordering - now
    }

    /// Returns whether a packet is too young to be lost by its age alone (`tcp_rack_skb_timeout`).
    pub(super) fn is_recent(&self, now: Time, segment: &Segment) -> bool {
        self.remaining(now, segment.sent, Time::ZERO) > Time::ZERO
    }

    /// Returns the width of the reordering window (`tcp_rack_reo_wnd`).
    pub(super) fn window(&self, reordering: &Reordering) -> Time {
        if reordering.none {
            return Time::ZERO;
        }
        Time::from_ticks(reordering.min_rtt.ticks() / 4).times(self.steps).min(reordering.srtt)
    }

    /// Marks the packets as lost that were sent before one that was delivered, and are older than the latest round trip
    /// and the reordering window. Returns the longest time until another one of them is, zero if none is left; and
    /// whether a retransmission was lost (`tcp_rack_detect_loss`).
    pub(super) fn detect(&mut self, board: &mut Scoreboard, now: Time, reordering: &Reordering) -> (Time, bool) {
        self.advanced = false;
        let (window, mut wait, mut again) = (self.window(reordering), Time::ZERO, false);
        let mut judge = |rack: &Rack, board: &mut Scoreboard, sequence: u64, sent: Time| {
            if (sent, sequence + 1) >= rack.newest {
                return false;
            }
            let remaining = rack.remaining(now, sent, window);
            if remaining == Time::ZERO {
                again |= board.mark_aged(sequence);
            } else {
                wait = wait.max(remaining);
            }
            true
        };
        // Originals were sent in the order of their numbers, and retransmissions in that of `resent`.
        let first = self.judged.max(board.una());
        let mut judged = first;
        for sequence in first..board.nxt() {
            let Some(&Segment { sent, marks, .. }) = board.get(sequence) else { break };
            let open = marks.unjudged();
            if open && !judge(self, board, sequence, sent) {
                break;
            }
            // A packet that is judged now is lost, or still open.
            if judged == sequence && !(open && is_unjudged(board, sequence)) {
                judged += 1;
            }
        }
        self.judged = judged;
        while self.resent.front().is_some_and(|&(sequence, at)| !is_in_flight(board, sequence, at)) {
            self.resent.pop_front();
        }
        for &(sequence, sent) in &self.resent {
            if is_in_flight(board, sequence, sent) && !judge(self, board, sequence, sent) {
                break;
            }
        }
        (wait, again)
    }

    /// Widens the reordering window by a quarter of the smallest round trip when duplicates show that it is too narrow,
    /// at most once a round trip (`tcp_rack_update_reo_wnd`). `prior` is the number of packets that were delivered when
    /// the newest delivered packet was sent; `delivered` is it now.
    pub(super) fn adapt(&mut self, prior: u64, delivered: u64) {
        if prior < self.adjusted_at {
            self.duplicate_seen = false;
        }
        if self.duplicate_seen {
            self.steps = (self.steps + 1).min(255);
            self.duplicate_seen = false;
            self.adjusted_at = delivered;
            self.persist = PERSISTENCE;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// Judges all packets again, as none is taken to be lost any more.
    pub(super) fn judge_again(&mut self) {
        self.judged = 0;
    }

    /// Counts a recovery that was not undone.
    pub(super) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
    }

    /// Lets the window persist longer after a recovery that duplicates undid.
    pub(super) fn undone(&mut self) {
        self.persist = (self.persist + 1).min(PERSISTENCE);
    }
}

/// Returns whether a packet was sent once, and its fate is open.
fn is_unjudged(board: &Scoreboard, sequence: u64) -> bool {
    board.get(sequence).is_some_and(|segment| segment.marks.unjudged())
}

/// Returns whether the retransmission of a packet at an instant is its last one, and in flight.
fn is_in_flight(board: &Scoreboard, sequence: u64, at: Time) -> bool {
    board.get(sequence).is_some_and(|segment| segment.sent == at && segment.marks.in_flight())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_widen_the_window_once_a_round_trip_and_for_sixteen_recoveries() {
        let mut rack = Rack::default();
        let duplicate = |rack: &mut Rack, prior, delivered| {
            rack.duplicate_seen = true;
            rack.adapt(prior, delivered);
            rack.steps
        };
        assert_eq!(duplicate(&mut rack, 90, 100), 2);
        // A packet that was sent before the window was adjusted does not count.
        assert_eq!(duplicate(&mut rack, 99, 110), 2);
        assert_eq!(duplicate(&mut rack, 100, 120), 3);
        for _ in 0..15 {
            rack.recovered();
            rack.adapt(200, 210);
            assert_eq!(rack.steps, 3);
        }
        rack.recovered();
        rack.adapt(200, 210);
        assert_eq!(rack.steps, 1);
    }
}
