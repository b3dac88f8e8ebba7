//! Reports of the packets beyond a hole: the SACK blocks of each ACK that is on its way.
//!
//! An ACK has room for three runs of packets, or four (RFC 2018 section 3). They are those that grew last, so that each packet
//! is reported at once, and again as long as its run is among them. If the ACKs that reported a packet are lost, and its run
//! is no longer among them, the sender does not come to know that the packet arrived, and sends it again.

use std::collections::VecDeque;

use base::cast::low_u32;

use super::journal::{distance, NUMBERS};
use super::rest::Rest;
use super::runs::Runs;
use super::{Receiver, ACKS_IN_ORDER, BY_LINUX, UNREAD};
use crate::Selected;

/// Runs that are remembered (Linux `TCP_NUM_SACKS`), and that an ACK reports at most.
pub(super) const MOST_RUNS: usize = 4;

/// ACKs on their way for which there is memory from the first one on.
const EXPECTED: usize = 2;
/// ACKs on their way for which memory stays when a transfer ends.
const KEPT: usize = 16;
/// ACKs that may overtake one that still makes packets known.
const MOST_PASSED: usize = 4096;

/// First packet of a run, and one past the last.
pub(super) type Run = (u64, u64);

/// The runs that an ACK reports, the one that grew last first, and empty ones.
pub(super) type Report = [Run; MOST_RUNS];

/// The reports of the ACKs that are on their way.
#[derive(Clone, Debug, Default)]
pub(super) struct Reports {
    sent: VecDeque<Sent>,
    /// Number of the journal's entries that the last ACK made known.
    entered: u32,
    /// Runs of packets that ACKs made known which did not arrive, and none that did.
    missed: Vec<Run>,
    /// Those ACKs, while packets are missed: they are lost, or were overtaken.
    passed: VecDeque<Sent>,
    /// The runs of a receiver without Linux's rules, which have their own.
    pub(super) runs: Runs,
}

/// An ACK on its way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    /// Number of the journal's entries that it makes known, and of those that the ACK before it did.
    number: u32,
    before: u32,
    /// Number of the packet expected next.
    next: u64,
    /// Runs that it reports, counted from that packet.
    runs: [(u32, u32); MOST_RUNS],
}

impl Sent {
    fn report(&self) -> Report {
        self.runs.map(|(first, end)| (self.next + u64::from(first), self.next + u64::from(end)))
    }
}

impl Reports {
    /// Returns the reports after an ACK that made the entries up to a number known.
    pub(super) fn after(entered: u32) -> Reports {
        Reports { entered, ..Reports::default() }
    }

    /// Becomes the reports after such an ACK; memory for a few stays.
    pub(super) fn restart_after(&mut self, entered: u32) {
        let mut sent = std::mem::take(&mut self.sent);
        if sent.capacity() <= KEPT {
            sent.clear();
        } else {
            sent = VecDeque::new();
        }
        *self = Reports { sent, ..Reports::after(entered) };
    }

    /// Takes note of a packet beyond a hole or a duplicate, for a receiver without Linux's rules.
    pub(super) fn arrive_at(&mut self, sequence: u64, next: u64, duplicate: bool) {
        self.runs.note_arrival(duplicate);
        if sequence > next {
            self.runs.enter(sequence);
        }
    }

    /// Takes note of an ACK that makes entries up to a number known. If it reports no run, no packet is beyond a hole: then
    /// those of the ACKs before it have arrived, and are acknowledged cumulatively.
    #[inline(always)]
    pub(super) fn send(&mut self, number: u32, next: u64, report: &Report) {
        let before = std::mem::replace(&mut self.entered, number);
        if report[0] != Run::default() {
            if self.sent.capacity() == 0 {
                self.sent.reserve_exact(EXPECTED);
            }
            let runs =
                report.map(|(first, end)| (low_u32(first.saturating_sub(next)), low_u32(end.saturating_sub(next))));
            self.sent.push_back(Sent { number, before, next, runs });
        }
    }

    /// Takes the report of an ACK that arrives; returns it with the number of entries that the ACK before it made known. Earlier
    /// ones are lost, or were overtaken.
    pub(super) fn arrive(&mut self, number: u32, next: u64) -> Option<(u32, Report)> {
        self.forget_passed();
        // Numbers of ACKs on their way differ by far less than half of all.
        let is_later = |sent: &Sent| match distance(number, sent.number) {
            0 => sent.next > next,
            ahead => ahead <= NUMBERS / 2,
        };
        while let Some(sent) = self.sent.pop_front() {
            if (sent.number, sent.next) == (number, next) {
                return Some((sent.before, sent.report()));
            }
            if is_later(&sent) {
                self.sent.push_front(sent);
                break;
            }
            if self.passed.len() == MOST_PASSED {
                self.passed.pop_front();
            }
            self.passed.push_back(sent);
        }
        None
    }

    /// Forgets the ACKs that others overtook, unless packets are missed.
    pub(super) fn forget_passed(&mut self) {
        if self.missed.is_empty() {
            self.passed = VecDeque::new();
        }
    }

    /// Appends the missed packets to `selected` that an overtaken ACK reports.
    pub(super) fn arrive_late(&mut self, number: u32, next: u64, selected: &mut Vec<Selected>) {
        if let Some(sent) = self.passed.iter().find(|sent| (sent.number, sent.next) == (number, next)) {
            let report = sent.report();
            self.recover(next, &report, selected);
            self.forget_passed();
        }
    }

    /// Returns whether all packets were reported by ACKs that arrived.
    pub(super) fn missed_none(&self) -> bool {
        self.missed.is_empty()
    }

    /// Takes the entries from `from` on for those of ACKs that were lost: their packets are missed, and duplicates stay unknown.
    pub(super) fn miss(&mut self, entries: &mut Vec<Selected>, from: usize) {
        for entry in entries.drain(from..).filter(|entry| !entry.duplicate) {
            match self.missed.last_mut() {
                Some(last) if last.1 == entry.first => last.1 = entry.end,
                _ => self.missed.push((entry.first, entry.end)),
            }
        }
    }

    /// Moves those of the missed packets to `selected` that an ACK reports; forgets those that it acknowledges cumulatively.
    pub(super) fn recover(&mut self, next: u64, report: &Report, selected: &mut Vec<Selected>) {
        for &(start, stop) in report {
            for (first, end) in std::mem::take(&mut self.missed) {
                let (low, high) = (first.max(start), end.min(stop));
                if low < high {
                    selected.push(Selected { first: low, end: high, duplicate: false });
                    self.missed.extend([(first, low), (high, end)]);
                } else {
                    self.missed.push((first, end));
                }
            }
        }
        self.missed.iter_mut().for_each(|run| run.0 = run.0.max(next));
        self.missed.retain(|&(first, end)| first < end);
    }
}

impl Receiver {
    /// Promises that no ACK is lost, or overtakes another one: each makes known what arrived since the one before, and what
    /// it reports need not be remembered. Without Linux's rules it is all the same.
    pub fn with_acks_in_order(mut self) -> Receiver {
        if self.held & BY_LINUX != 0 {
            self.held |= ACKS_IN_ORDER;
        }
        self
    }

    /// Takes note of what an ACK reports that makes entries of the journal known, if the ACK can be lost or overtaken.
    #[inline(always)]
    pub(super) fn send_report(&mut self, report: &Report) {
        let (next, unread) = (self.next, self.held & (UNREAD | ACKS_IN_ORDER) == UNREAD);
        if let (Some(rest), true) = (&mut self.rest, unread) {
            rest.journal.send(next, report);
        }
    }

    /// Takes note of what an ACK reports without Linux's rules and without ns-2's, and sets its length.
    #[cold]
    pub(super) fn report_runs(&mut self) {
        let bytes = self.plain_ack_bytes();
        let by_rfc = |rest: &&mut Box<Rest>| rest.linux.is_none() && rest.blocks.is_none();
        if let Some(rest) = self.rest.as_mut().filter(by_rfc) {
            let (bytes, report) = rest.journal.reports().runs.report(bytes);
            self.ack_bytes = bytes;
            self.send_report(&report);
        }
    }

    /// Forgets the runs below the packet that is expected next, without Linux's rules.
    pub(super) fn advance_runs(&mut self) {
        let (next, held) = (self.next, self.held());
        if let Some(rest) = self.rest.as_mut().filter(|rest| rest.linux.is_none()) {
            rest.journal.advance_runs(next, held);
        }
    }
}
