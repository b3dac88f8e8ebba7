//! What a flow takes for a loss, against what really was dropped, and how it recovers [engset, section 5.4.3].
//!
//! All of this changes only where something is lost, or seems to be: packets that fare well cost nothing.

use std::collections::VecDeque;

use base::Time;
use tcp::{Loss, LossCause};

use crate::statistics::FlowStatistics;

/// What a timeout is. Each is one of these, the first in this order that fits [engset, section 5.4.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutKind {
    /// TOTO: of a packet whose timer expired before.
    Repeated = 0,
    /// TDTO: in fast recovery.
    InRecovery = 1,
    /// TObeg: of the first or second packet of a transfer.
    Beginning = 2,
    /// TOend: of one of the last three packets of a transfer.
    End = 3,
    /// TOther.
    Other = 4,
}

impl TimeoutKind {
    /// Of a timeout.
    pub fn of(loss: &Loss) -> TimeoutKind {
        if loss.repeated {
            TimeoutKind::Repeated
        } else if loss.in_recovery {
            TimeoutKind::InRecovery
        } else if loss.place < 2 {
            TimeoutKind::Beginning
        } else if loss.remaining.is_some_and(|packets| packets <= 3) {
            TimeoutKind::End
        } else {
            TimeoutKind::Other
        }
    }
}

/// What a flow counts of its losses in the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecoveryStatistics {
    /// Timeouts, by [`TimeoutKind`].
    pub timeouts: [u64; 5],
    /// Those in slow start.
    pub slow_start_timeouts: u64,
    /// Those of packets whose last copy was not dropped.
    pub spurious_timeouts: u64,
    /// Fast retransmits of packets whose last copy was not dropped.
    pub spurious_fast_retransmits: u64,
    /// Sum over the timeouts: since the packet sent last.
    pub stalled: Time,
    /// Fast recoveries that ended with an ACK of all that they were to repair.
    pub recoveries: u64,
    /// Packets that these sent again, the fast retransmit included.
    pub retransmissions: u64,
    /// All packets that they sent, but for those that the last ACK let out.
    pub sent: u64,
    /// Packets that their last ACK let out.
    pub sent_on_end: u64,
    /// Sum of their lengths.
    pub time: Time,
}

/// A fast recovery under way.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    loss: Loss,
    spurious: bool,
    sent: u64,
    retransmitted: u64,
}

/// The last copy of a packet, where it was sent again or dropped.
#[derive(Clone, Copy, Debug)]
struct LastCopy {
    sequence: u64,
    sent: Time,
    /// [`Time::NEVER`] where it was not.
    dropped: Time,
}

/// A fast recovery, or a timeout, that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repair {
    /// What began it.
    pub loss: Loss,
    /// The last copy of the packet was not dropped.
    pub spurious: bool,
    /// Length of the recovery; at a timeout the time since the packet sent last.
    pub time: Time,
    /// Packets sent again in a recovery.
    pub retransmissions: u64,
    /// Packets sent in a recovery before its last ACK.
    pub sent: u64,
    /// Packets that its last ACK let out.
    pub sent_on_end: u64,
}

impl Repair {
    /// The [`TimeoutKind`], or one more for a recovery.
    pub fn event(&self) -> u8 {
        match self.loss.cause {
            LossCause::Timeout => TimeoutKind::of(&self.loss) as u8,
            LossCause::FastRetransmit => TimeoutKind::Other as u8 + 1,
        }
    }
}

/// A flow's losses so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossLog {
    pub(crate) statistics: RecoveryStatistics,
    /// By sequence number.
    copies: VecDeque<LastCopy>,
    entry: Option<Entry>,
}

fn total(pair: [u64; 2]) -> u64 {
    pair[0] + pair[1]
}

impl LossLog {
    /// A copy that was sent at `sent` is dropped.
    pub(crate) fn on_drop(&mut self, sequence: u64, sent: Time, time: Time) {
        self.note(LastCopy { sequence, sent, dropped: time });
    }

    /// Another copy goes out; all below `una` is acknowledged.
    pub(crate) fn on_retransmission(&mut self, sequence: u64, una: u64, now: Time) {
        self.forget_below(una);
        self.note(LastCopy { sequence, sent: now, dropped: Time::NEVER });
    }

    fn note(&mut self, copy: LastCopy) {
        match self.copies.binary_search_by_key(&copy.sequence, |copy| copy.sequence) {
            // What becomes of an older copy does not matter.
            Ok(place) if self.copies[place].sent > copy.sent => {}
            Ok(place) => self.copies[place] = copy,
            Err(place) => self.copies.insert(place, copy),
        }
    }

    fn forget_below(&mut self, una: u64) {
        while self.copies.front().is_some_and(|copy| copy.sequence < una) {
            self.copies.pop_front();
        }
    }

    /// The sender takes a packet for lost; whether it is not: its last copy has not been dropped until now.
    pub(crate) fn on_loss(&mut self, now: Time, loss: Loss, flow: &FlowStatistics, measured: bool) -> bool {
        self.forget_below(loss.sequence);
        let lost = |copy: &LastCopy| copy.sequence == loss.sequence && copy.dropped <= now;
        let spurious = !self.copies.front().is_some_and(lost);
        self.entry = (loss.cause == LossCause::FastRetransmit).then_some(Entry {
            time: now,
            loss,
            spurious,
            sent: total(flow.sent),
            retransmitted: total(flow.retransmitted),
        });
        if spurious && measured {
            match loss.cause {
                LossCause::Timeout => self.statistics.spurious_timeouts += 1,
                LossCause::FastRetransmit => self.statistics.spurious_fast_retransmits += 1,
            }
        }
        spurious
    }

    /// The timer expired; the packet sent last left at `last_sent`.
    pub(crate) fn on_timeout(
        &mut self,
        now: Time,
        loss: Loss,
        spurious: bool,
        last_sent: Time,
        measured: bool,
    ) -> Repair {
        let stalled = now - last_sent;
        if measured {
            self.statistics.timeouts[TimeoutKind::of(&loss) as usize] += 1;
            self.statistics.slow_start_timeouts += u64::from(loss.slow_start);
            self.statistics.stalled += stalled;
        }
        Repair { loss, spurious, time: stalled, retransmissions: 0, sent: 0, sent_on_end: 0 }
    }

    /// A fast recovery succeeded, and its last ACK has let so many packets out, so many of them not for the first time; none where
    /// no recovery was seen to begin.
    pub(crate) fn on_recovered(
        &mut self,
        now: Time,
        (sent_on_end, resent_on_end): (u64, u64),
        flow: &FlowStatistics,
        measured: bool,
    ) -> Option<Repair> {
        let entry = self.entry.take()?;
        let repair = Repair {
            loss: entry.loss,
            spurious: entry.spurious,
            time: now - entry.time,
            retransmissions: total(flow.retransmitted) - entry.retransmitted - resent_on_end,
            sent: total(flow.sent) - entry.sent - sent_on_end,
            sent_on_end,
        };
        if measured {
            let all = &mut self.statistics;
            all.recoveries += 1;
            all.retransmissions += repair.retransmissions;
            all.sent += repair.sent;
            all.sent_on_end += sent_on_end;
            all.time += repair.time;
        }
        Some(repair)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(seconds: f64) -> Time {
        Time::from_seconds(seconds)
    }

    fn loss(sequence: u64, cause: LossCause) -> Loss {
        Loss {
            sequence,
            cause,
            slow_start: false,
            retransmission: false,
            in_recovery: false,
            repeated: false,
            place: sequence,
            remaining: None,
            window: 10,
        }
    }

    fn timeout(sequence: u64) -> Loss {
        loss(sequence, LossCause::Timeout)
    }

    fn is_spurious(log: &mut LossLog, sequence: u64, now: f64) -> bool {
        log.on_loss(seconds(now), timeout(sequence), &FlowStatistics::default(), true)
    }

    #[test]
    fn a_timeout_is_of_the_first_kind_that_fits() {
        let end = |remaining| Loss { remaining: Some(remaining), ..timeout(40) };
        assert_eq!(TimeoutKind::of(&Loss { repeated: true, in_recovery: true, ..timeout(0) }), TimeoutKind::Repeated);
        assert_eq!(TimeoutKind::of(&Loss { in_recovery: true, ..timeout(0) }), TimeoutKind::InRecovery);
        // Of three packets the second is both at the beginning and at the end.
        assert_eq!(TimeoutKind::of(&Loss { remaining: Some(2), ..timeout(1) }), TimeoutKind::Beginning);
        assert_eq!(TimeoutKind::of(&end(3)), TimeoutKind::End);
        assert_eq!(TimeoutKind::of(&end(4)), TimeoutKind::Other);
        assert_eq!(TimeoutKind::of(&timeout(2)), TimeoutKind::Other);
    }

    #[test]
    fn what_was_dropped_is_lost_and_what_was_not_is_not() {
        let mut log = LossLog::default();
        log.on_drop(7, seconds(1.0), seconds(1.5));
        assert!(!is_spurious(&mut log, 7, 2.0));
        assert!(is_spurious(&mut log, 8, 2.0));
        assert_eq!(log.statistics.spurious_timeouts, 1);
    }

    #[test]
    fn only_the_last_copy_counts() {
        let mut log = LossLog::default();
        log.on_drop(7, seconds(1.0), seconds(1.5));
        log.on_retransmission(7, 7, seconds(2.0));
        assert!(is_spurious(&mut log, 7, 3.0), "the second copy is on its way");
        log.on_drop(7, seconds(2.0), seconds(3.5));
        assert!(!is_spurious(&mut log, 7, 4.0), "the second copy is dropped too");
    }

    #[test]
    fn a_drop_of_an_older_copy_does_not_count() {
        let mut log = LossLog::default();
        log.on_retransmission(7, 7, seconds(2.0));
        log.on_drop(7, seconds(1.0), seconds(2.5));
        assert!(is_spurious(&mut log, 7, 3.0));
    }

    #[test]
    fn a_drop_that_is_foreseen_does_not_count_before_it_happens() {
        let mut log = LossLog::default();
        log.on_drop(7, seconds(1.0), seconds(5.0));
        assert!(is_spurious(&mut log, 7, 4.0));
        assert!(!is_spurious(&mut log, 7, 5.0));
    }

    #[test]
    fn what_is_acknowledged_is_forgotten() {
        let mut log = LossLog::default();
        (0..100).for_each(|sequence| log.on_drop(sequence, seconds(1.0), seconds(1.0)));
        is_spurious(&mut log, 90, 2.0);
        assert_eq!(log.copies.len(), 10);
    }

    #[test]
    fn a_recovery_counts_what_is_sent_in_it_and_at_its_end() {
        let mut log = LossLog::default();
        let mut flow = FlowStatistics { sent: [10, 20], retransmitted: [1, 2], ..FlowStatistics::default() };
        log.on_loss(seconds(1.0), loss(5, LossCause::FastRetransmit), &flow, true);
        (flow.sent[1], flow.retransmitted[1]) = (31, 5);
        let repair = log.on_recovered(seconds(1.5), (2, 1), &flow, true).expect("one was under way");
        assert_eq!((repair.sent, repair.sent_on_end, repair.retransmissions), (9, 2, 2));
        assert_eq!((log.statistics.recoveries, log.statistics.time), (1, seconds(0.5)));
        assert_eq!(log.on_recovered(seconds(2.0), (0, 0), &flow, true), None, "it is over");
    }

    #[test]
    fn a_timeout_ends_a_recovery_without_success() {
        let mut log = LossLog::default();
        let flow = FlowStatistics::default();
        log.on_loss(seconds(1.0), loss(5, LossCause::FastRetransmit), &flow, true);
        log.on_loss(seconds(2.0), Loss { in_recovery: true, ..timeout(5) }, &flow, true);
        assert_eq!(log.on_recovered(seconds(3.0), (1, 0), &flow, true), None);
    }
}
