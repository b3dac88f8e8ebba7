//! The losses that a sender detects, compared with the packets that were dropped, and its recoveries [engset, section
//! 5.4.3].
//!
//! Only drops, retransmissions and detected losses change a log: other packets cost nothing.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use base::cast::to_u32;
use base::{prefetch, Time};
use tcp::{LossCause, LossEvent, Recovered};

use crate::recovery::{RecoveryStatistics, Repair};

/// The start of a fast recovery.
#[derive(Clone, Copy, Debug)]
struct Entry {
    time: Time,
    loss: LossEvent,
    spurious: bool,
    /// Departure of the last copy of the lost packet, if it had been retransmitted or dropped; else zero.
    last_copy: Time,
    /// Retransmissions of the flow until then.
    retransmitted: u64,
}

/// The last copy of a packet that was retransmitted or dropped.
#[derive(Clone, Copy, Debug)]
struct LastCopy {
    sequence: u64,
    sent: Time,
    /// [`Time::NEVER`] unless the copy was dropped.
    dropped: Time,
}

/// The counters of a flow's losses and repairs: since its start, or since the start of its current transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Losses {
    /// Time spent waiting for timeouts.
    pub(crate) stalled: Time,
    /// Packets that queues dropped.
    pub(crate) dropped: u64,
    /// Packets that queues dropped or links lost, of the current transfer alone.
    pub(crate) gone: u64,
    /// Number of retransmissions.
    pub(crate) retransmitted: u64,
    pub(crate) timeouts: u64,
    pub(crate) fast_retransmits: u64,
    /// Retransmissions in fast recoveries that succeeded.
    pub(crate) recovered: u64,
    /// Retransmissions in fast recoveries that a timeout ended.
    pub(crate) failed: u64,
}

/// Copies that a log has memory for from its first one on: many short transfers have no more.
const EXPECTED: usize = 2;

/// The losses of a flow so far.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossLog {
    /// Sorted by sequence number.
    copies: VecDeque<LastCopy>,
    counts: Losses,
    entry: Option<Box<Entry>>,
}

/// The logs of all flows that have losses to remember. A log that a flow no longer needs is reused for the next flow:
/// so few logs are in use and stay in the cache, however many flows there are.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossLogs {
    logs: Vec<LossLog>,
    spare: Vec<LogNumber>,
}

/// The number of a log, from 1 on.
pub(crate) type LogNumber = NonZeroU32;

impl LossLogs {
    /// Returns a flow's log; assigns one if the flow has none.
    pub(crate) fn of(&mut self, number: &mut Option<LogNumber>) -> &mut LossLog {
        let LossLogs { logs, spare } = self;
        let number = number.get_or_insert_with(|| {
            let number = spare.pop();
            // The next flow gets this one.
            if let Some(next) = spare.last() {
                prefetch(&logs[next.get() as usize - 1]);
            }
            number.unwrap_or_else(|| {
                logs.push(LossLog::default());
                LogNumber::MIN.saturating_add(to_u32(logs.len()) - 1)
            })
        });
        &mut logs[number.get() as usize - 1]
    }

    /// Releases a flow's log, if it has one; returns its counters.
    pub(crate) fn forget(&mut self, number: &mut Option<LogNumber>) -> Losses {
        let Some(number) = number.take() else { return Losses::default() };
        self.spare.push(number);
        self.logs[number.get() as usize - 1].clear()
    }

    /// Prefetches a log, if it exists.
    #[inline(always)]
    pub(crate) fn prefetch(&self, number: LogNumber) {
        if let Some(log) = self.logs.get(number.get() as usize - 1) {
            prefetch(log);
        }
    }
}

impl LossLog {
    /// Counts a packet that a queue dropped.
    pub(crate) fn count_drop(&mut self) {
        self.counts.dropped += 1;
    }

    /// Counts a packet of the current transfer that is dropped, or lost on a link.
    pub(crate) fn count_gone(&mut self) {
        self.counts.gone += 1;
    }

    /// Records that the copy sent at `sent` is dropped, or lost on a link, at `time`. A sender that is ahead of the clock may
    /// have declared the packet lost before: returns the start of the recovery that was not spurious, in that case.
    pub(crate) fn on_drop(&mut self, sequence: u64, sent: Time, time: Time) -> Option<Time> {
        self.note(LastCopy { sequence, sent, dropped: time });
        let entry = self.entry.as_deref_mut().filter(|entry| entry.spurious && entry.loss.sequence == sequence)?;
        // A drop at the instant of the declaration may be due to what was sent then.
        let is_last = sent >= entry.last_copy && sent < entry.time;
        entry.spurious = !is_last || time >= entry.time;
        (!entry.spurious).then_some(entry.time)
    }

    /// Records a retransmission; all packets below `una` are acknowledged.
    pub(crate) fn on_retransmission(&mut self, sequence: u64, una: u64, now: Time) {
        self.counts.retransmitted += 1;
        self.forget_below(una);
        self.note(LastCopy { sequence, sent: now, dropped: Time::NEVER });
    }

    /// Keeps a copy unless a later copy of the packet is known.
    fn note(&mut self, copy: LastCopy) {
        if self.copies.capacity() == 0 {
            self.copies.reserve_exact(EXPECTED);
        }
        // Most packets that are dropped have a higher number than those before them.
        if self.copies.back().is_none_or(|last| last.sequence < copy.sequence) {
            return self.copies.push_back(copy);
        }
        match self.copies.binary_search_by_key(&copy.sequence, |copy| copy.sequence) {
            // The fate of an older copy does not matter.
            Ok(index) if self.copies[index].sent > copy.sent => {}
            Ok(index) => self.copies[index] = copy,
            Err(index) => self.copies.insert(index, copy),
        }
    }

    /// Empties the log; returns its counters.
    fn clear(&mut self) -> Losses {
        self.copies.clear();
        self.entry = None;
        std::mem::take(&mut self.counts)
    }

    fn forget_below(&mut self, una: u64) {
        while self.copies.front().is_some_and(|copy| copy.sequence < una) {
            self.copies.pop_front();
        }
    }

    /// Records that the sender declared a packet lost, `stalled` after the packet sent last; returns whether that was
    /// spurious: the packet's last copy has not been dropped until now, as far as drops are known, and is not the repair of a
    /// loss that was found before. `counted` are the flow's counters in the measurement.
    pub(crate) fn on_loss(
        &mut self,
        now: Time,
        loss: LossEvent,
        stalled: Time,
        mut counted: Option<&mut RecoveryStatistics>,
    ) -> bool {
        match loss.cause {
            LossCause::Timeout => {
                self.counts.timeouts += 1;
                self.counts.stalled += stalled;
            }
            LossCause::FastRetransmit => self.counts.fast_retransmits += 1,
        }
        self.forget_below(loss.sequence);
        let last_copy = self.copies.front().filter(|copy| copy.sequence == loss.sequence);
        let spurious = !loss.repaired && last_copy.is_none_or(|copy| copy.dropped > now);
        let last_copy = last_copy.map_or(Time::ZERO, |copy| copy.sent);
        if let (Some(entry), true) = (self.entry.take(), loss.in_recovery) {
            self.on_failed_recovery(now, &entry, loss.max, counted.as_deref_mut());
        }
        if loss.cause == LossCause::FastRetransmit {
            let retransmitted = self.counts.retransmitted;
            self.entry = Some(Box::new(Entry { time: now, loss, spurious, last_copy, retransmitted }));
        }
        if let (true, Some(counted)) = (spurious, counted) {
            match loss.cause {
                LossCause::Timeout => counted.spurious_timeouts += 1,
                LossCause::FastRetransmit => counted.spurious_fast_retransmits += 1,
            }
        }
        spurious
    }

    /// Counts a recovery that a timeout ended; packets below `max` have been sent.
    fn on_failed_recovery(&mut self, now: Time, entry: &Entry, max: u64, counted: Option<&mut RecoveryStatistics>) {
        let retransmitted = self.counts.retransmitted - entry.retransmitted;
        self.counts.failed += retransmitted;
        if let Some(counted) = counted {
            counted.failed_retransmissions += retransmitted;
            counted.failed_sent += max.saturating_sub(entry.loss.max) + retransmitted;
            counted.failed_time += now - entry.time;
        }
    }

    /// Ends a fast recovery that succeeded; returns its record, `None` if no start was recorded.
    pub(crate) fn on_recovered(
        &mut self,
        now: Time,
        recovered: Recovered,
        counted: Option<&mut RecoveryStatistics>,
    ) -> Option<Repair> {
        let entry = self.entry.take()?;
        let retransmitted = self.counts.retransmitted - entry.retransmitted;
        let repair = Repair {
            loss: entry.loss,
            spurious: entry.spurious,
            time: now - entry.time,
            retransmissions: retransmitted - recovered.resent,
            sent: recovered.max - entry.loss.max + retransmitted - recovered.sent,
            sent_on_end: recovered.sent,
        };
        self.counts.recovered += repair.retransmissions;
        if let Some(counted) = counted {
            counted.recoveries += 1;
            counted.retransmissions += repair.retransmissions;
            counted.sent += repair.sent;
            counted.sent_on_end += repair.sent_on_end;
            counted.time += repair.time;
        }
        Some(repair)
    }
}

#[cfg(test)]
mod tests;
