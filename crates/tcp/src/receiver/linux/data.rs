//! Data and timers of a receiver that follows Linux's rules.

use base::{prefetch, Marks, Time};

use super::{LinuxAcks, ECN_QUICK, LEAST_DELAY_MS, MOST_QUICK};
use crate::receiver::ecn::Demand;
use crate::receiver::runs::Flush;
use crate::receiver::{Acknowledgment, Receiver, LOGS, UNREAD, WITH_ECN};

/// The effects of a packet on those that wait.
#[derive(Default)]
struct Taken {
    /// The packet fills the last hole, so that its ACK is sent at once (RFC 5681 section 4.2).
    filled: bool,
    /// Memory of the segments that wait when the ACK is sent, with that of a packet in order: the application reads what it
    /// delivers after that (`tcp_data_queue`, `sk_data_ready`) \[bytes\].
    used: u64,
    /// First packet that the application does not read in one piece with this packet; `None` if it does not read this one.
    read: Option<u64>,
}

impl Receiver {
    /// Handles a packet in order while none is held beyond a hole, without ECN, as `on_data_by_linux` does. Returns the
    /// `journal` of the ACK that is sent at once, if any.
    #[inline(never)]
    pub(in crate::receiver) fn in_order_by_linux(
        &mut self,
        now: Time,
        stamp: Time,
        marks: Marks,
        echo_age: u32,
    ) -> Option<u32> {
        let (sequence, selective) = (self.next, self.selective);
        if self.is_too_old(stamp) {
            return self.reject_by_linux(sequence).map(|acknowledgment| acknowledgment.journal);
        }
        let rules = self.rest.as_mut()?.linux.as_mut()?;
        rules.sample_rtt(now, stamp, echo_age);
        if sequence <= rules.acked && stamp >= self.echo {
            self.echo = stamp;
        }
        rules.arrive(now, sequence + 1, 0, false);
        rules.pushed |= marks.has(Marks::PSH);
        (self.next, self.last_delivery) = (sequence + 1, now);
        if !rules.acknowledges_now(now, sequence + 1, (0, 0), selective) {
            rules.adjust(now, sequence + 1);
            rules.update_window(now, sequence + 1, 0);
            self.deadline = rules.deadline();
            return None;
        }
        let unread = rules.limit > rules.most && !rules.is_acknowledged_as_read(sequence + 1);
        let used = if unread { rules.segment_memory() } else { 0 };
        rules.sent(sequence + 1, used, true);
        rules.adjust(now, sequence + 1);
        self.deadline = Time::NEVER;
        if self.held & (UNREAD | LOGS) != 0 {
            return Some(self.acknowledgment_by_linux().journal);
        }
        Some(rules.announced)
    }

    /// Handles a data packet by Linux's rules; returns the ACK that is sent at once, if any.
    #[inline(never)]
    pub(in crate::receiver) fn on_data_by_linux(
        &mut self,
        now: Time,
        sequence: u64,
        stamp: Time,
        marks: Marks,
        echo_age: u32,
    ) -> Option<Acknowledgment> {
        if sequence < self.first {
            return None;
        }
        if self.is_too_old(stamp) {
            return self.reject_by_linux(sequence);
        }
        let (before, rules) = (self.next, self.linux_rules()?);
        if sequence + 1 < rules.acked {
            return self.answer_before_window(sequence);
        }
        rules.sample_rtt(now, stamp, echo_age);
        if sequence <= rules.acked && stamp >= self.echo {
            self.echo = stamp;
        }
        // The ACK of the packets before it does not report this one (`tcp_data_queue_ofo`).
        let (demand, earlier) = self.demand_of(sequence, marks);
        let flushed = self.report(sequence);
        let taken = self.take_by_linux(now, sequence, marks, demand.quick);
        let (next, held, selective) = (self.next, self.held(), self.selective);
        // An ACK that was held and is sent on account of a packet leaves none to send for it (`tcp_ack_snd_check`).
        let at_once = taken.filled || demand.now;
        let rules = self.linux_rules()?;
        let used = if held == 0 && !at_once && rules.is_acknowledged_as_read(next) { 0 } else { taken.used };
        let sends = flushed.is_none() && (at_once || rules.acknowledges_now(now, next, (held, used), selective));
        let follows = earlier.is_some();
        let acknowledgment = match earlier.or(flushed) {
            None if sends => self.acknowledge_with_memory(used, true),
            sent => sent,
        };
        let rules = self.linux_rules()?;
        if let Some(read) = taken.read {
            // The application reads buffer by buffer: the first one ends a round trip, if any does.
            rules.adjust(now, read);
        }
        if follows {
            rules.follow(now, next, held);
        } else if next > before {
            rules.update_window(now, next, held);
        }
        self.deadline = rules.deadline();
        acknowledgment
    }

    /// Answers a packet before the window (`tcp_send_dupack`).
    #[cold]
    fn answer_before_window(&mut self, sequence: u64) -> Option<Acknowledgment> {
        self.linux_rules()?.enter_quick(MOST_QUICK);
        self.report(sequence);
        self.acknowledge_by_linux(false)
    }

    /// Returns whether a packet's timestamp is so old that the packet is dropped.
    #[inline(always)]
    fn is_too_old(&mut self, stamp: Time) -> bool {
        let echo = self.echo;
        stamp < echo && self.linux_rules().is_some_and(|rules| rules.is_too_old(stamp, echo))
    }

    /// Drops a packet whose timestamp is too old, and answers it (`tcp_validate_incoming`, `tcp_send_dupack`).
    #[cold]
    fn reject_by_linux(&mut self, sequence: u64) -> Option<Acknowledgment> {
        let rules = self.linux_rules()?;
        // An ACK that waits is sent with it.
        let scheduled = rules.delayed || rules.compressed > 0;
        if sequence < self.next {
            self.linux_rules()?.enter_quick(MOST_QUICK);
            if self.selective {
                self.enter(sequence);
            }
        }
        self.acknowledge_by_linux(scheduled)
    }

    /// Takes note of a packet's marks; returns what they demand, and the ACK of the packets before it that they lead to.
    fn demand_of(&mut self, sequence: u64, marks: Marks) -> (Demand, Option<Acknowledgment>) {
        if self.held & WITH_ECN == 0 {
            return (Demand::default(), None);
        }
        let is_delayed = self.linux_rules().is_some_and(|rules| rules.delayed);
        let demand = self.take_marks(sequence, marks);
        if demand.changes && is_delayed {
            self.enter_announced();
        }
        (demand, self.ack_of_earlier(demand, is_delayed))
    }

    /// Takes note of a packet that is not the next one, for ACKs to report; returns an ACK that was held and is sent on its
    /// account (`tcp_sack_compress_send_ack`).
    fn report(&mut self, sequence: u64) -> Option<Acknowledgment> {
        if !self.selective || sequence == self.next {
            return None;
        }
        let (next, rules) = (self.next, self.linux_rules()?);
        let holds = rules.compressed > 0;
        let flush = if holds && sequence > next { rules.runs.flush(sequence) } else { Flush::Never };
        let before = if flush == Flush::Before { self.acknowledge_by_linux(true) } else { None };
        if sequence > next {
            self.linux_rules()?.runs.enter(sequence);
        }
        self.enter(sequence);
        if flush == Flush::With {
            return self.acknowledge_by_linux(true);
        }
        before
    }

    /// Delivers a packet, or holds it beyond a hole.
    fn take_by_linux(&mut self, now: Time, sequence: u64, marks: Marks, quick: bool) -> Taken {
        let (next, held) = (self.next, self.held());
        if sequence > next {
            self.hold_by_linux(sequence, quick);
            return Taken { used: self.memory_by_linux(), ..Taken::default() };
        }
        let Some(rules) = self.linux_rules() else { return Taken::default() };
        let mut used = rules.memory(held);
        if sequence < next {
            rules.enter_quick(MOST_QUICK);
            return Taken { used, ..Taken::default() };
        }
        rules.arrive(now, next + 1, held, quick);
        rules.pushed |= marks.has(Marks::PSH);
        self.advance(now);
        let (after, left, mut read) = (self.next, self.held(), sequence + 1);
        if let Some(rules) = self.linux_rules() {
            used += rules.segment_memory();
            if held > 0 {
                rules.runs.advance(after, left);
                let (end, joined) = rules.waiting.release(sequence, &rules.common.memory.sharing);
                used = used.saturating_sub(joined * rules.common.memory.overhead);
                read = end;
            }
        }
        Taken { filled: held > 0 && left == 0, used, read: Some(read) }
    }

    /// Holds a packet beyond a hole (`tcp_data_queue_ofo`); the window grows with it if it is acknowledged selectively.
    fn hold_by_linux(&mut self, sequence: u64, quick: bool) {
        let (held, selective, fresh) = (self.held(), self.selective, self.beyond.insert(self.next, sequence));
        self.held += u32::from(fresh);
        let Some(rules) = self.linux_rules() else { return };
        if quick {
            rules.enter_quick(ECN_QUICK);
        }
        if fresh {
            let before = rules.memory(held);
            let used = if rules.waiting.hold(sequence, &rules.common.memory.sharing) {
                rules.memory(held + 1)
            } else {
                before
            };
            if selective {
                rules.grow(used);
            }
        }
    }

    /// Returns the memory that segments beyond a hole take \[bytes\].
    fn memory_by_linux(&mut self) -> u64 {
        let held = self.held();
        self.linux_rules().map_or(0, |rules| rules.memory(held))
    }

    /// Sends an ACK that was delayed or held (`tcp_delack_timer_handler`, `tcp_compressed_ack_kick`); `None` by other
    /// rules.
    pub(in crate::receiver) fn on_timer_by_linux(&mut self) -> Option<Acknowledgment> {
        let rules = self.linux_rules()?;
        if rules.compressed == 0 && rules.due == Time::NEVER {
            let longer = (2 * rules.delay_ms).min(rules.rto_ms());
            // An answer that could have carried the ACK did not come.
            rules.delay_ms = if std::mem::take(&mut rules.interactive) { LEAST_DELAY_MS } else { longer };
        }
        let has_old_stamp = rules.compressed > 0 && rules.stamps_late && rules.deadline() == rules.compressed_until;
        let acknowledgment = self.acknowledge_by_linux(true)?;
        let old = Marks::OLD_STAMP.only_if(has_old_stamp);
        Some(Acknowledgment { marks: acknowledgment.marks.with(old), ..acknowledgment })
    }

    pub(in crate::receiver) fn acknowledge_by_linux(&mut self, scheduled: bool) -> Option<Acknowledgment> {
        let used = self.memory_by_linux();
        self.acknowledge_with_memory(used, scheduled)
    }

    /// Sends an ACK while segments take `used` bytes of the buffer.
    fn acknowledge_with_memory(&mut self, used: u64, scheduled: bool) -> Option<Acknowledgment> {
        let next = self.next;
        let rules = self.linux_rules()?;
        rules.sent(next, used, scheduled);
        self.deadline = rules.deadline();
        let acknowledgment = self.acknowledgment_by_linux();
        if self.held & WITH_ECN != 0 {
            self.note_echo();
        }
        Some(acknowledgment)
    }
}

impl Receiver {
    /// Returns an ACK with the window that was chosen for it last, if windows are announced. While the sender has not read
    /// all of the journal, the ACK has the journal's number, and a new window is entered there. Sets the ACK's length.
    #[inline(never)]
    fn acknowledgment_by_linux(&mut self) -> Acknowledgment {
        if let Some(rules) = self.linux_rules() {
            let (bytes, report) = rules.runs.report(rules.plain_ack_bytes());
            self.ack_bytes = bytes;
            self.enter_announced();
            self.send_report(&report);
        }
        self.acknowledgment_with(self.own_window())
    }

    /// Returns the `journal` of an ACK that has the window itself; 0 if it has none, as windows are not announced, or are
    /// recorded as entries of the journal.
    pub(in crate::receiver) fn own_window(&self) -> u32 {
        let rules = self.rest.as_ref().and_then(|rest| rest.linux.as_ref());
        rules.filter(|_| self.held & LOGS == 0).map_or(0, |rules| rules.announced)
    }

    /// Enters the window that was chosen last in the journal, for an ACK that has the journal's number.
    fn enter_announced(&mut self) {
        if self.held & (UNREAD | LOGS) != 0 {
            if let Some(window) = self.linux_rules().and_then(|rules| Acknowledgment::window_in(rules.announced)) {
                self.enter_window(window);
            }
        }
    }

    /// Enters a window in the journal, if it is not the one that was entered last.
    #[cold]
    fn enter_window(&mut self, window: u64) {
        let Some(rest) = &mut self.rest else { return };
        if rest.journal.enter_window(window) {
            if let Some(log) = &mut rest.log {
                log.enter_window(rest.journal.entered());
            }
            self.held |= UNREAD;
        }
    }
}

impl LinuxAcks {
    /// Prefetches what a segment in order needs.
    #[inline(always)]
    pub(in crate::receiver) fn prefetch(&self) {
        prefetch(&self.acked);
        prefetch(&self.window);
        prefetch(&self.sampled);
    }

    /// Returns the memory of segments beyond a hole: those that follow others share buffers (`tcp_ooo_try_coalesce`)
    /// \[bytes\].
    #[inline(always)]
    pub(super) fn memory(&self, held: u32) -> u64 {
        u64::from(held) * self.segment() + self.waiting.buffers() * self.common.memory.overhead
    }

    /// Returns the memory of a segment in a buffer of its own \[bytes\].
    #[inline(always)]
    pub(super) fn segment_memory(&self) -> u64 {
        self.segment() + self.common.memory.overhead
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;
    use crate::{Dialect, LinuxReceiver, ReceiverConfig};

    #[test]
    fn a_round_trip_ends_with_all_that_is_read_together_with_what_fills_a_hole() {
        let clock = Clock::new(1_000_000);
        let at = |ms: u64| Time::from_ticks(1000 * ms);
        let config =
            ReceiverConfig { selective: true, linux: Some(LinuxReceiver::default()), ..ReceiverConfig::default() };
        for (beyond, read) in [(1, 3), (16, 18), (17, 2)] {
            let mut receiver = Receiver::new(&config, Dialect::Rfc, clock).with_path(at(10), Time::ZERO);
            receiver.on_data(at(20), 0, at(10), Marks::NONE, 0);
            for sequence in 2..2 + beyond {
                receiver.on_data(at(39), sequence, at(29), Marks::NONE, 0);
            }
            receiver.on_data(at(45), 1, at(35), Marks::NONE, 0);
            assert_eq!(
                receiver.linux_rules().map(|rules| rules.read_from),
                Some((read, at(45))),
                "{beyond} beyond the hole"
            );
        }
    }

    /// Linux `inet_csk_in_pingpong_mode`, `tcp_delack_timer_handler`: after TLS's hello, ACKs wait for a second segment, or
    /// for an answer, until none came in time.
    #[test]
    fn after_an_answer_no_ack_is_quick_until_one_was_late() {
        let clock = Clock::new(1_000_000);
        let at = |ms: u64| Time::from_ticks(1000 * ms);
        let config =
            ReceiverConfig { selective: true, linux: Some(LinuxReceiver::default()), ..ReceiverConfig::default() };
        for (answers, quick) in [(false, [Some(1), Some(2), Some(3), Some(4)]), (true, [None, Some(2), None, Some(4)])]
        {
            let mut receiver = Receiver::new(&config, Dialect::Rfc, clock).with_path(at(10), Time::ZERO);
            receiver.begin_transfer(at(0));
            if answers {
                receiver.answer_data();
            }
            let mut hear = |sequence: u64, now: u64, marks| {
                receiver.on_data(at(now), sequence, at(now - 10), marks, 0).map(|ack| ack.next)
            };
            let heard = [0, 1, 2, 3].map(|sequence| hear(sequence, 20 + sequence, Marks::PSH));
            assert_eq!(heard, quick, "{answers}");
            assert_eq!(hear(4, 24, Marks::PSH), (!answers).then_some(5));
            if answers {
                assert_eq!((receiver.deadline(), receiver.on_timer().next), (at(24 + 1 + 40), 5));
            }
            let ack = receiver.on_data(at(70), 5, at(60), Marks::NONE, 0);
            assert_eq!(ack.map(|ack| ack.next), Some(6), "{answers}");
        }
    }
}
