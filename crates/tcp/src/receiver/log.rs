//! The SACK options of a receiver's ACKs, for captures: they are made again from what arrived beyond a hole or twice.

use std::collections::BTreeMap;

use base::cast::to_u32;

use super::{Receiver, Rest, BY_LINUX, LOGS};
use crate::Selected;

/// Most blocks that a receiver keeps (Linux `TCP_NUM_SACKS`).
const MOST_BLOCKS: usize = 4;

/// The arrivals of which ACKs have SACK blocks, in their order.
#[derive(Clone, Debug, Default)]
pub struct SackLog {
    /// Packets beyond a hole, and duplicates: the entries of the journal that are not windows.
    entries: Vec<Arrival>,
    /// Numbers of the journal's entries that are windows.
    windows: Vec<u32>,
    /// RCV.NXT where it moved with packets beyond it, and the number of entries then.
    advances: Vec<(u64, u32)>,
    /// Numbers and blocks of ACKs by ns-2's rules, which have lists of their own.
    reported: Vec<(u32, Selected)>,
}

/// A packet beyond a hole, or a duplicate.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    sequence: u64,
    duplicate: bool,
    beyond: bool,
}

/// The number of the packet that an ACK expects, and its number of entries or, by ns-2's rules, its own.
pub type AckKey = (u64, u32);

impl SackLog {
    /// Records an entry of the journal; `beyond`: the packet is beyond a hole.
    pub(super) fn enter(&mut self, sequence: u64, duplicate: bool, beyond: bool) {
        self.entries.push(Arrival { sequence, duplicate, beyond });
    }

    /// Records that the entry of the journal with a number is a window.
    pub(super) fn enter_window(&mut self, number: u32) {
        self.windows.push(number);
    }

    /// Records that RCV.NXT moved to `next`, with packets beyond it.
    pub(super) fn advance(&mut self, next: u64) {
        self.advances.push((next, to_u32(self.entries.len())));
    }

    /// Returns the number of packets among the entries of the journal up to a number.
    fn packets_to(&self, number: u32) -> u32 {
        number - to_u32(self.windows.partition_point(|&window| window <= number))
    }

    /// Records the blocks of an ACK by ns-2's rules.
    pub(super) fn report(&mut self, number: u32, block: Selected) {
        self.reported.push((number, block));
    }

    /// Returns the SACK blocks of ACKs, a duplicate before the others (RFC 2018 section 4, RFC 2883 section 4).
    ///
    /// Linux's rules choose the blocks: the one that grew last is the first, and four are kept.
    pub fn blocks(&self, acks: impl Iterator<Item = AckKey>) -> BTreeMap<AckKey, Vec<Selected>> {
        if !self.reported.is_empty() {
            return acks.map(|key| (key, self.reported_in(key.1))).collect();
        }
        let mut wanted: Vec<(u32, AckKey)> =
            acks.filter_map(|key| self.entered_before(key).map(|entered| (entered, key))).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let mut replay = Replay::default();
        let mut found = BTreeMap::new();
        for (entered, key) in wanted {
            replay.run_to(self, entered, key.0);
            found.insert(key, replay.blocks(key.0));
        }
        found
    }

    fn reported_in(&self, number: u32) -> Vec<Selected> {
        let from = self.reported.partition_point(|&(other, _)| other < number);
        self.reported[from..].iter().take_while(|&&(other, _)| other == number).map(|&(_, block)| block).collect()
    }

    /// Returns the number of entries before an ACK; `None` if it has no blocks.
    ///
    /// An ACK with the number 0 has nothing new for the sender. It has blocks if RCV.NXT moved with packets beyond it.
    fn entered_before(&self, (next, number): AckKey) -> Option<u32> {
        if number > 0 {
            return Some(self.packets_to(number));
        }
        let after = self.advances.partition_point(|&(moved, _)| moved <= next);
        let &(moved, entered) = self.advances.get(after.checked_sub(1)?)?;
        (moved == next).then_some(entered)
    }
}

impl Receiver {
    /// Records what is in the SACK options of ACKs, for captures.
    pub fn with_log(mut self) -> Receiver {
        let with_blocks = self.rest.as_ref().is_some_and(|rest| rest.blocks.is_some());
        if self.selective || with_blocks {
            self.rest().log = Some(Box::default());
            self.held |= if self.held & BY_LINUX != 0 { LOGS } else { 0 };
        }
        self
    }

    /// Takes the record of the SACK options, if there is one.
    pub fn take_log(&mut self) -> Option<SackLog> {
        self.rest.as_mut()?.log.take().map(|log| *log)
    }

    /// Records that the number expected next moved with packets beyond it.
    #[cold]
    pub(super) fn log_advance(&mut self) {
        let next = self.next;
        if let Some(Rest { log: Some(log), .. }) = self.rest.as_deref_mut() {
            log.advance(next);
        }
    }
}

/// The blocks of a receiver as its packets arrive.
#[derive(Debug, Default)]
struct Replay {
    /// Entries and advances so far.
    done: (usize, usize),
    blocks: Vec<Selected>,
    /// The newest duplicate, until an ACK reports it.
    duplicate: Option<Selected>,
}

impl Replay {
    fn run_to(&mut self, log: &SackLog, entered: u32, next: u64) {
        while self.done.0 < log.entries.len().min(entered as usize) {
            self.advance(log, u64::MAX);
            let Arrival { sequence, duplicate, beyond } = log.entries[self.done.0];
            self.done.0 += 1;
            self.duplicate = duplicate.then_some(Selected { first: sequence, end: sequence + 1, duplicate });
            if beyond {
                self.arrive(sequence);
            }
        }
        self.advance(log, next);
    }

    /// Removes what was delivered before the next entry, by RCV.NXT up to `limit` (`tcp_sack_remove`).
    fn advance(&mut self, log: &SackLog, limit: u64) {
        let happened = |&&(next, at): &&(u64, u32)| at as usize <= self.done.0 && next <= limit;
        while let Some(&(next, _)) = log.advances.get(self.done.1).filter(happened) {
            self.blocks.retain(|block| block.first >= next);
            self.done.1 += 1;
        }
    }

    /// Adds a packet to a block next to it or with it, or as a new one, in front of the others (`tcp_sack_new_ofo_skb`).
    fn arrive(&mut self, sequence: u64) {
        let mut block = Selected { first: sequence, end: sequence + 1, duplicate: false };
        self.blocks.retain(|other| {
            let joins = other.end >= block.first && other.first <= block.end;
            if joins {
                (block.first, block.end) = (block.first.min(other.first), block.end.max(other.end));
            }
            !joins
        });
        self.blocks.insert(0, block);
        self.blocks.truncate(MOST_BLOCKS);
    }

    fn blocks(&mut self, next: u64) -> Vec<Selected> {
        let beyond = self.blocks.iter().filter(|block| block.first >= next);
        self.duplicate.take().iter().chain(beyond).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log(entries: &[(u64, bool)], advances: &[(u64, u32)]) -> SackLog {
        let mut log = SackLog { advances: advances.to_vec(), ..SackLog::default() };
        // Each of these packets is expected once the number of entries is that of an advance.
        for (index, &(sequence, duplicate)) in entries.iter().enumerate() {
            let next = advances.iter().rfind(|&&(_, entered)| entered as usize <= index).map_or(0, |&(next, _)| next);
            log.enter(sequence, duplicate, sequence > next);
        }
        log
    }

    fn blocks(log: &SackLog, acks: &[AckKey]) -> Vec<Vec<(u64, u64)>> {
        let found = log.blocks(acks.iter().copied());
        let edges = |key| found.get(key).into_iter().flatten().map(|block| (block.first, block.end)).collect();
        acks.iter().map(edges).collect()
    }

    /// RFC 2018 section 7: packets 1, 3, 5, 7 of eight are lost, and the ACKs of the others.
    #[test]
    fn the_block_that_grew_last_is_the_first() {
        let log = log(&[2, 4, 6, 8].map(|sequence| (sequence, false)), &[]);
        let found = blocks(&log, &[(1, 1), (1, 2), (1, 3), (1, 4)]);
        assert_eq!(found[0], [(2, 3)]);
        assert_eq!(found[2], [(6, 7), (4, 5), (2, 3)]);
        assert_eq!(found[3], [(8, 9), (6, 7), (4, 5), (2, 3)]);
    }

    #[test]
    fn a_packet_between_two_blocks_joins_them() {
        let log = log(&[2, 6, 4, 3, 5].map(|sequence| (sequence, false)), &[]);
        assert_eq!(
            blocks(&log, &[(1, 3), (1, 4), (1, 5)]),
            [vec![(4, 5), (6, 7), (2, 3)], vec![(2, 5), (6, 7)], vec![(2, 7)]]
        );
    }

    #[test]
    fn four_blocks_are_kept() {
        let log = log(&[2, 4, 6, 8, 10].map(|sequence| (sequence, false)), &[]);
        assert_eq!(blocks(&log, &[(1, 5)]), [[(10, 11), (8, 9), (6, 7), (4, 5)]]);
    }

    #[test]
    fn an_ack_that_moves_on_has_the_blocks_beyond_it() {
        let log = log(&[(2, false), (5, false)], &[(3, 2)]);
        assert_eq!(
            blocks(&log, &[(1, 2), (3, 0), (4, 0), (6, 0)]),
            [vec![(5, 6), (2, 3)], vec![(5, 6)], vec![], vec![]]
        );
    }

    /// RFC 2883 section 4: the duplicate is the first block, in one ACK alone.
    #[test]
    fn a_duplicate_is_reported_once_before_the_others() {
        let log = log(&[(5, false), (5, true), (2, true)], &[(5, 3)]);
        let found = blocks(&log, &[(4, 2), (4, 3), (5, 3)]);
        assert_eq!(found, [vec![(5, 6), (5, 6)], vec![(2, 3), (5, 6)], vec![(5, 6)]]);
    }

    #[test]
    fn overtaken_acks_have_their_own_blocks() {
        let log = log(&[2, 4].map(|sequence| (sequence, false)), &[]);
        assert_eq!(blocks(&log, &[(1, 2), (1, 1)]), [vec![(4, 5), (2, 3)], vec![(2, 3)]]);
    }

    #[test]
    fn blocks_by_the_rules_of_ns2_are_those_reported() {
        let mut log = SackLog::default();
        let block = |first| Selected { first, end: first + 1, duplicate: false };
        [(1, 5), (2, 7), (2, 5)].into_iter().for_each(|(number, first)| log.report(number, block(first)));
        assert_eq!(blocks(&log, &[(3, 2), (3, 0), (3, 1)]), [vec![(7, 8), (5, 6)], vec![], vec![(5, 6)]]);
    }
}
