//! The packets that a receiver acknowledges selectively, and the windows that it announces.

use std::collections::VecDeque;

use super::reports::{Report, Reports, Run};
#[cfg(doc)]
use super::Acknowledgment;
use crate::Selected;

/// The packets that arrived beyond a hole, and the duplicates, in the order of their arrival: what is in the SACK options
/// of all ACKs together (RFC 2018, RFC 2883). While some of them are unread, a window that differs from the one before is
/// entered among them; at other times ACKs have the window themselves ([`Acknowledgment::window_in`]).
///
/// An ACK has no list of packets. It has the number of packets and windows that were entered before it was sent, and where
/// it arrives, the entries up to that number are read, except those that an earlier ACK made known. So no ACK
/// reveals a packet that arrived after it was sent. Where ACKs were lost or overtaken, what they alone report stays unknown
/// ([`Reports`]).
///
/// Numbers have 31 bits and wrap around: two of them are compared by their difference. Those of ACKs in the network
/// differ by far less than 2^31.
#[derive(Clone, Debug)]
pub(super) struct Journal {
    /// Entries not yet read.
    unread: VecDeque<Entry>,
    /// Number of packets and windows entered.
    entered: u32,
    /// Number of packets and windows read.
    read: u32,
    /// Window that was read last \[packets\].
    window: u64,
    /// Window that was entered last \[packets\].
    entered_window: u64,
    /// Reports of the ACKs that are on their way; `None` until one reports packets.
    reports: Option<Box<Reports>>,
}

#[derive(Clone, Copy, Debug)]
enum Entry {
    /// Packets in a row, at least one.
    Packets { first: u64, count: u32, duplicate: bool },
    /// A window \[packets\].
    Window(u64),
}

const _: () = assert!(size_of::<Entry>() == 16);

impl Default for Journal {
    /// Returns a journal without entries.
    fn default() -> Journal {
        let (window, entered_window) = (u64::MAX, u64::MAX);
        Journal { unread: VecDeque::new(), entered: 0, read: 0, window, entered_window, reports: None }
    }
}

/// Entries that a journal has memory for from its first one on.
const EXPECTED: usize = 4;

/// Bits of a number.
pub(super) const NUMBERS: u32 = u32::MAX >> 1;

/// Entries for which a journal keeps memory when all are read.
const KEPT: usize = 16;

impl Journal {
    /// Becomes a journal whose last entry has this number; all are read. Its memory stays.
    pub(super) fn restart_after(&mut self, entered: u32) {
        self.entered = entered;
        self.clear();
    }

    /// Enters a packet that arrives.
    pub(super) fn enter(&mut self, sequence: u64, duplicate: bool) {
        self.entered = self.entered.wrapping_add(1) & NUMBERS;
        match self.unread.back_mut() {
            Some(Entry::Packets { first, count, duplicate: same })
                if *first + u64::from(*count) == sequence && *same == duplicate && *count < u32::MAX =>
            {
                *count += 1;
            }
            _ => self.push(Entry::Packets { first: sequence, count: 1, duplicate }),
        }
    }

    /// Enters a window that is announced from now on; returns whether it is another one than was entered last.
    pub(super) fn enter_window(&mut self, packets: u64) -> bool {
        let changes = packets != self.entered_window;
        if changes {
            (self.entered, self.entered_window) = (self.entered.wrapping_add(1) & NUMBERS, packets);
            self.push(Entry::Window(packets));
        }
        changes
    }

    /// Takes a window for the one that was read last, as an ACK had it.
    pub(super) fn replace_window(&mut self, packets: u64) {
        self.window = packets;
    }

    fn push(&mut self, entry: Entry) {
        if self.unread.capacity() == 0 {
            self.unread.reserve_exact(EXPECTED);
        }
        self.unread.push_back(entry);
    }

    /// Returns the window that was read last \[packets\]; [`u64::MAX`]: none.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// Returns the number of packets and windows entered.
    pub(super) fn entered(&self) -> u32 {
        self.entered
    }

    /// Returns whether all entries were read, and all packets among them known.
    pub(super) fn is_read(&self) -> bool {
        self.unread.is_empty() && self.misses_none()
    }

    fn misses_none(&self) -> bool {
        self.reports.as_deref().is_none_or(Reports::missed_none)
    }

    /// Returns what ACKs report.
    pub(super) fn reports(&mut self) -> &mut Reports {
        self.reports.get_or_insert_with(|| Box::new(Reports::after(self.read)))
    }

    /// Forgets the runs below the next expected packet, of a receiver without Linux's rules.
    pub(super) fn advance_runs(&mut self, next: u64, held: u32) {
        if let Some(reports) = &mut self.reports {
            reports.runs.advance(next, held);
        }
    }

    /// Takes note of what an ACK reports that makes all entries known; `next`: the packet that it expects.
    #[inline(always)]
    pub(super) fn send(&mut self, next: u64, report: &Report) {
        let entered = self.entered;
        if report[0] != Run::default() || self.reports.is_some() {
            self.reports().send(entered, next, report);
        }
    }

    /// Returns whether the entries up to a number that were not read are windows alone; an old number counts as that of
    /// all.
    pub(super) fn has_windows_alone(&self, number: u32) -> bool {
        let left = distance(self.read, number).min(distance(self.read, self.entered));
        let windows = self.unread.iter().take(left as usize).all(|entry| matches!(entry, Entry::Window(_)));
        windows && self.misses_none()
    }

    /// Reads the entries up to the number of an ACK, which expects packet `next`, and appends to `selected` what it makes known;
    /// an overtaken one makes known what was missed without it.
    pub(super) fn read(&mut self, number: u32, next: u64, selected: &mut Vec<Selected>) {
        let (left, from) = (distance(self.read, number), selected.len());
        let is_old = left > distance(self.read, self.entered);
        if is_old {
            return self.reports.iter_mut().for_each(|reports| reports.arrive_late(number, next, selected));
        }
        if let Some(reports) = self.reports.as_deref_mut() {
            // An ACK without a report has nothing beyond a hole.
            let (before, report) = reports.arrive(number, next).unwrap_or((self.read, Report::default()));
            let lost = distance(self.read, before);
            if (1..=left).contains(&lost) || !reports.missed_none() {
                self.read_lost(if lost <= left { before } else { self.read }, next, &report, selected);
            }
        }
        self.read_to(number, selected);
        if selected.len() > from + 1 {
            // A sender takes the duplicate first, and then block after block (`tcp_sacktag_write_queue`).
            selected[from..].sort_unstable_by_key(|run| (!run.duplicate, run.first));
        }
        self.shrink();
    }

    /// Reads the entries up to a number, which ACKs made known that were lost; appends those to `selected` that `report` has.
    #[cold]
    fn read_lost(&mut self, number: u32, next: u64, report: &Report, selected: &mut Vec<Selected>) {
        let from = selected.len();
        self.read_to(number, selected);
        let reports = self.reports();
        reports.miss(selected, from);
        reports.recover(next, report, selected);
        reports.forget_passed();
    }

    /// Reads the entries up to a number. An ACK reports a duplicate if it is the packet that arrived last (RFC 2883 section
    /// 4; Linux `tcp_data_queue` forgets another one).
    fn read_to(&mut self, number: u32, selected: &mut Vec<Selected>) {
        let mut left = distance(self.read, number);
        let from = selected.len();
        self.read = number;
        while left > 0 {
            let Some(entry) = self.unread.front_mut() else { break };
            let ended = match entry {
                Entry::Packets { first, count, duplicate } => {
                    let read = left.min(*count);
                    let end = *first + u64::from(read);
                    if selected.len() > from && selected[selected.len() - 1].duplicate {
                        selected.pop();
                    }
                    let begin = if *duplicate { end - 1 } else { *first };
                    selected.push(Selected { first: begin, end, duplicate: *duplicate });
                    (*first, *count, left) = (end, *count - read, left - read);
                    *count == 0
                }
                Entry::Window(packets) => {
                    self.window = *packets;
                    left -= 1;
                    true
                }
            };
            if ended {
                self.unread.pop_front();
            }
        }
    }

    /// Gives back the memory of reports, where all packets were made known and none is beyond a hole.
    pub(super) fn release_reports(&mut self) {
        self.reports = None;
    }

    /// Gives its memory back if all entries were read.
    pub(super) fn release(&mut self) {
        if self.is_read() {
            (self.unread, self.reports) = (VecDeque::new(), None);
        }
    }

    /// Discards all entries that were not read. Memory for a few stays.
    pub(super) fn clear(&mut self) {
        self.unread.clear();
        if let Some(reports) = &mut self.reports {
            reports.restart_after(self.entered);
        }
        self.shrink();
        (self.read, self.window, self.entered_window) = (self.entered, u64::MAX, u64::MAX);
    }

    fn shrink(&mut self) {
        if self.unread.is_empty() && self.unread.capacity() > KEPT {
            self.unread = VecDeque::new();
        }
    }
}

/// Returns how many entries were made from one number to another one.
pub(super) fn distance(from: u32, to: u32) -> u32 {
    to.wrapping_sub(from) & NUMBERS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u64, end: u64, duplicate: bool) -> Selected {
        Selected { first, end, duplicate }
    }

    /// Returns the entries that a number makes known.
    fn read(journal: &mut Journal, number: u32) -> Vec<Selected> {
        let mut selected = Vec::new();
        journal.read(number, 0, &mut selected);
        selected
    }

    #[test]
    fn a_number_before_the_first_packet_makes_windows_known_alone() {
        let mut journal = Journal::default();
        assert_eq!([10, 12, 12, 13].map(|packets| journal.enter_window(packets)), [true, true, false, true]);
        journal.enter(5, false);
        assert_eq!([1, 3, 4].map(|number| journal.has_windows_alone(number)), [true, true, false]);
        assert_eq!((read(&mut journal, 2), journal.window()), (vec![], 12));
        let after_two = [1, 2, 3, 4].map(|number| journal.has_windows_alone(number));
        assert_eq!(after_two, [false, true, true, false], "an overtaken ACK, and three that make the rest known");
        assert_eq!((read(&mut journal, 4), journal.window()), (vec![run(5, 6, false)], 13));
        journal.release();
        assert!(journal.has_windows_alone(4) && journal.unread.capacity() == 0);
    }

    #[test]
    fn packets_in_a_row_are_one_entry() {
        let mut journal = Journal::default();
        [5, 6, 7, 9, 3, 4].into_iter().for_each(|sequence| journal.enter(sequence, false));
        // A sender takes them one after another from below.
        assert_eq!(read(&mut journal, 6), [run(3, 5, false), run(5, 8, false), run(9, 10, false)]);
    }

    /// RFC 2883 section 4, Linux `tcp_data_queue`: an ACK that was held has room for one duplicate, and each packet that
    /// arrives takes it away.
    #[test]
    fn an_ack_reports_a_duplicate_that_arrived_last() {
        let mut journal = Journal::default();
        let mut arrive = |packets: &[(u64, bool)]| {
            packets.iter().for_each(|&(sequence, duplicate)| journal.enter(sequence, duplicate));
            let number = journal.entered();
            read(&mut journal, number)
        };
        assert_eq!(arrive(&[(9, false), (3, true), (5, true), (6, true)]), [run(6, 7, true), run(9, 10, false)]);
        assert_eq!(arrive(&[(11, false), (3, true), (12, false)]), [run(11, 12, false), run(12, 13, false)]);
        assert_eq!(arrive(&[(3, true)]), [run(3, 4, true)]);
    }

    #[test]
    fn an_entry_that_has_grown_since_the_ack_is_read_in_parts() {
        let mut journal = Journal::default();
        (5..9).for_each(|sequence| journal.enter(sequence, false));
        assert_eq!(read(&mut journal, 2), [run(5, 7, false)]);
        assert_eq!(read(&mut journal, 1), [], "an overtaken ACK");
        journal.enter(9, false);
        assert_eq!(read(&mut journal, 5), [run(7, 10, false)]);
        assert!(journal.is_read());
        journal.enter(10, false);
        assert_eq!(read(&mut journal, 6), [run(10, 11, false)]);
    }

    #[test]
    fn a_window_is_known_from_its_number_on() {
        let mut journal = Journal::default();
        journal.enter(5, false);
        journal.enter_window(40);
        journal.enter(6, false);
        journal.enter_window(42);
        for (number, window, selected) in
            [(1, u64::MAX, vec![run(5, 6, false)]), (2, 40, vec![]), (1, 40, vec![]), (4, 42, vec![run(6, 7, false)])]
        {
            assert_eq!(read(&mut journal, number), selected);
            assert_eq!(journal.window(), window, "{number}");
        }
        assert!(journal.is_read());
    }

    #[test]
    fn numbers_wrap_around() {
        let start = NUMBERS - 1;
        let mut journal = Journal { entered: start, read: start, ..Journal::default() };
        (5..10).for_each(|sequence| journal.enter(sequence, false));
        assert_eq!(read(&mut journal, NUMBERS), [run(5, 6, false)]);
        assert_eq!(read(&mut journal, 1), [run(6, 8, false)]);
        assert_eq!(read(&mut journal, start), [], "an overtaken ACK");
        assert_eq!(read(&mut journal, 3), [run(8, 10, false)]);
        assert_eq!(read(&mut journal, 4), [], "a number that no ACK can have");
    }

    #[test]
    fn memory_of_entries_that_were_read_is_freed() {
        let mut journal = Journal::default();
        for round in 0..1000_u32 {
            (0..100).for_each(|hole| journal.enter(2 * hole, false));
            assert_eq!(read(&mut journal, 100 * (round + 1)).len(), 100);
            assert!(journal.unread.capacity() <= KEPT, "{}", journal.unread.capacity());
        }
        (0..100).for_each(|hole| journal.enter(2 * hole, false));
        journal.clear();
        assert_eq!(journal.unread.capacity(), 0);
        journal.enter(7, false);
        journal.restart_after(journal.entered());
        assert!(journal.is_read() && (1..=KEPT).contains(&journal.unread.capacity()), "memory for a few entries stays");
        let number = journal.entered();
        assert_eq!(read(&mut journal, number), []);
    }
}
