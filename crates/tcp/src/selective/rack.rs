//! Loss detection by time: RACK (RFC 8985 section 6.2), as Linux's `tcp_recovery.c` does it.

use std::collections::VecDeque;

use base::Time;

use super::scoreboard::{Scoreboard, Segment};

/// Recoveries for which a wider reordering window persists.
const PERSISTENCE: u32 = 16;

/// Packets in the order of their transmission, each with its instant. Some may have arrived or been sent again since.
type Transmissions = VecDeque<(u64, Time)>;

/// The packets that were sent before one that was delivered, and have time left.
#[derive(Clone, Debug, Default)]
struct Late {
    /// Packets that were sent once.
    once_sent: Transmissions,
    /// Packets that were sent again, as they were sent last.
    retransmissions: Transmissions,
}

/// The state of RACK for a connection.
#[derive(Clone, Debug)]
pub(super) struct Rack {
    /// Transmission of the packet sent last among those that were delivered, and the packet (RACK.xmit_ts, end_seq).
    newest: (Time, u64),
    /// Round trip of the packet delivered last (RACK.rtt).
    rtt: Time,
    /// Whether something was delivered since the last detection.
    pub(super) advanced: bool,
    /// The packet that the last detection ended at. Each one below it that was sent once is in `late`, or its fate is known.
    reached: u64,
    /// Retransmissions that were sent after the newest delivered packet.
    resent: Transmissions,
    /// Packets that the next detections judge again; `None`: no packet has time left.
    late: Option<Box<Late>>,
    /// Width of the reordering window in quarters of the smallest round trip.
    steps: u8,
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
            reached: 0,
            resent: VecDeque::new(),
            late: None,
            steps: 1,
            persist: 0,
            duplicate_seen: false,
            adjusted_at: 0,
        }
    }
}

impl Rack {
    /// Forgets the connection; the memory of retransmissions stays.
    pub(super) fn restart(&mut self) {
        let mut resent = std::mem::take(&mut self.resent);
        resent.clear();
        *self = Rack { resent, ..Rack::default() };
    }

    /// Takes the round trip of the handshake, that of a SYN (`tcp_rack_advance`).
    pub(super) fn begin(&mut self, rtt: Time) {
        self.rtt = rtt;
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
        Time::from_ticks(reordering.min_rtt.ticks() / 4).times(u64::from(self.steps)).min(reordering.srtt)
    }

    /// Marks the packets as lost that were sent before one that was delivered, and are older than the latest round trip
    /// and the reordering window. Returns the longest time until another one of them is, zero if none is left; and
    /// whether a retransmission was lost (`tcp_rack_detect_loss`).
    pub(super) fn detect(&mut self, board: &mut Scoreboard, now: Time, reordering: &Reordering) -> (Time, bool) {
        self.advanced = false;
        let (window, mut late) = (self.window(reordering), self.late.take());
        let (mut wait, mut again) = (Time::ZERO, false);
        if let Some(late) = &mut late {
            self.judge_late(&mut late.once_sent, board, now, window);
        }
        self.judge_once_sent(&mut late, board, now, window);
        if let Some(late) = &mut late {
            again |= self.judge_late(&mut late.retransmissions, board, now, window);
        }
        again |= self.judge_resent(&mut late, board, now, window);
        if let Some(Late { once_sent, retransmissions }) = late.as_deref_mut() {
            wait = self.longest_wait(once_sent, board, now, window);
            wait = wait.max(self.longest_wait(retransmissions, board, now, window));
        }
        self.late = late.filter(|_| wait > Time::ZERO);
        (wait, again)
    }

    /// Judges packets that were late before, the oldest first; returns whether a retransmission was lost.
    fn judge_late(&self, late: &mut Transmissions, board: &mut Scoreboard, now: Time, window: Time) -> bool {
        let mut again = false;
        while let Some(&(sequence, sent)) = late.front() {
            if is_in_flight(board, sequence, sent) {
                if self.remaining(now, sent, window) > Time::ZERO {
                    break;
                }
                again |= board.mark_aged(sequence);
            }
            late.pop_front();
        }
        again
    }

    /// Judges packets that were sent once, and are late since something that was sent after them was delivered.
    fn judge_once_sent(&mut self, late: &mut Option<Box<Late>>, board: &mut Scoreboard, now: Time, window: Time) {
        let mut sequence = self.reached.max(board.una());
        while let Some(&Segment { sent, marks, .. }) = board.get(sequence) {
            if marks.unjudged() {
                if (sent, sequence + 1) >= self.newest {
                    break;
                }
                if self.remaining(now, sent, window) == Time::ZERO {
                    board.mark_aged(sequence);
                } else {
                    late.get_or_insert_default().once_sent.push_back((sequence, sent));
                }
            }
            sequence += 1;
        }
        self.reached = sequence;
    }

    /// Judges retransmissions that are late since then; returns whether one was lost.
    fn judge_resent(&mut self, late: &mut Option<Box<Late>>, board: &mut Scoreboard, now: Time, window: Time) -> bool {
        let mut again = false;
        while let Some(&(sequence, sent)) = self.resent.front() {
            if is_in_flight(board, sequence, sent) {
                if (sent, sequence + 1) >= self.newest {
                    break;
                }
                if self.remaining(now, sent, window) == Time::ZERO {
                    again |= board.mark_aged(sequence);
                } else {
                    late.get_or_insert_default().retransmissions.push_back((sequence, sent));
                }
            }
            self.resent.pop_front();
        }
        again
    }

    /// Returns the time that the youngest of late packets has left, zero without any.
    fn longest_wait(&self, late: &mut Transmissions, board: &Scoreboard, now: Time, window: Time) -> Time {
        while let Some(&(sequence, sent)) = late.back() {
            if is_in_flight(board, sequence, sent) {
                return self.remaining(now, sent, window);
            }
            late.pop_back();
        }
        Time::ZERO
    }

    /// Widens the reordering window by a quarter of the smallest round trip when duplicates show that it is too narrow,
    /// at most once a round trip (`tcp_rack_update_reo_wnd`). `prior` is the number of packets that were delivered when
    /// the newest delivered packet was sent; `delivered` is it now.
    pub(super) fn adapt(&mut self, prior: u64, delivered: u64) {
        if prior < self.adjusted_at {
            self.duplicate_seen = false;
        }
        if self.duplicate_seen {
            self.steps = self.steps.saturating_add(1);
            self.duplicate_seen = false;
            self.adjusted_at = delivered;
            self.persist = PERSISTENCE;
        } else if self.persist == 0 {
            self.steps = 1;
        }
    }

    /// Judges all packets again, as none is taken to be lost any more.
    pub(super) fn judge_again(&mut self, board: &Scoreboard) {
        self.reached = 0;
        self.late = None;
        self.resent.clear();
        self.resent.extend(board.retransmitted_in_flight());
        self.resent.make_contiguous().sort_by_key(|&(_, sent)| sent);
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

/// Returns whether the transmission of a packet at an instant is its last one, and in flight.
fn is_in_flight(board: &Scoreboard, sequence: u64, at: Time) -> bool {
    board.get(sequence).is_some_and(|segment| segment.sent == at && segment.marks.in_flight())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NO_LIMITS: Reordering =
        Reordering { none: false, min_rtt: Time::from_ticks(40), srtt: Time::from_ticks(1000) };

    #[derive(Clone, Debug)]
    enum Step {
        Send(u64),
        Resend,
        Deliver(u64),
        Acknowledge(u64),
        Undo,
        Detect,
    }

    fn step() -> impl Strategy<Value = Step> {
        prop_oneof![
            2 => (1..6_u64).prop_map(Step::Send),
            2 => Just(Step::Resend),
            3 => (0..30_u64).prop_map(Step::Deliver),
            1 => (1..5_u64).prop_map(Step::Acknowledge),
            1 => Just(Step::Undo),
            3 => Just(Step::Detect),
        ]
    }

    /// Does what [`Rack::detect`] does with a look at each packet.
    fn judge_each(rack: &Rack, board: &mut Scoreboard, now: Time) -> Time {
        let mut wait = Time::ZERO;
        for sequence in board.una()..board.nxt() {
            let Some(&Segment { sent, marks, .. }) = board.get(sequence) else { break };
            if !marks.in_flight() || (sent, sequence + 1) >= rack.newest {
                continue;
            }
            match rack.remaining(now, sent, rack.window(&NO_LIMITS)) {
                Time::ZERO => drop(board.mark_aged(sequence)),
                left => wait = wait.max(left),
            }
        }
        wait
    }

    fn take(rack: &mut Rack, board: &mut Scoreboard, now: Time, step: &Step) {
        match *step {
            Step::Send(count) => (0..count).for_each(|_| board.push(now, false)),
            Step::Resend => {
                if let Some(sequence) = board.next_to_retransmit() {
                    board.retransmit(sequence, now);
                    rack.resend(sequence, now);
                }
            }
            Step::Deliver(index) => {
                let sequence = board.una() + index;
                if let Some(before) = board.mark_sacked(sequence) {
                    rack.deliver(now, sequence, &before, Time::ZERO);
                }
            }
            Step::Acknowledge(count) => {
                for sequence in board.una()..board.una() + count {
                    if let Some(segment) = board.pop().filter(|segment| !segment.marks.sacked()) {
                        rack.deliver(now, sequence, &segment, Time::ZERO);
                    }
                }
            }
            Step::Undo => {
                board.unmark_lost();
                rack.judge_again(board);
            }
            Step::Detect => {}
        }
    }

    #[test]
    fn of_a_long_window_a_detection_keeps_the_hole_and_looks_at_the_rest_once() {
        let (mut rack, mut board) = (Rack::default(), Scoreboard::default());
        board.restart(0, true, false);
        (0..1000).for_each(|_| board.push(Time::ZERO, false));
        for sequence in 1..1000 {
            take(&mut rack, &mut board, Time::from_ticks(sequence), &Step::Deliver(sequence));
            let (wait, _) = rack.detect(&mut board, Time::from_ticks(sequence), &NO_LIMITS);
            assert_eq!((wait, rack.reached), (Time::from_ticks(10), sequence + 1));
            assert_eq!(rack.late.as_ref().map(|late| late.once_sent.len()), Some(1));
        }
    }

    proptest! {
        #[test]
        fn the_lost_packets_are_those_that_a_look_at_each_one_finds(
            steps in prop::collection::vec((step(), 1..40_u64), 1..200),
        ) {
            let (mut rack, mut board, mut now) = (Rack::default(), Scoreboard::default(), Time::ZERO);
            board.restart(0, true, false);
            for (step, later) in steps {
                now += Time::from_ticks(later);
                take(&mut rack, &mut board, now, &step);
                if let Step::Detect = step {
                    let mut expected = board.clone();
                    let wait = judge_each(&rack, &mut expected, now);
                    prop_assert_eq!(rack.detect(&mut board, now, &NO_LIMITS).0, wait);
                    for sequence in board.una()..board.nxt() {
                        let marks = |board: &Scoreboard| board.get(sequence).map(|segment| segment.marks);
                        prop_assert_eq!(marks(&board), marks(&expected), "packet {}", sequence);
                    }
                }
            }
        }
    }

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
