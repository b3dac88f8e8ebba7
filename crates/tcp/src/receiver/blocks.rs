//! The SACK blocks of ns-2.35's `Agent/TCPSink/Sack1` (tcp-sink.cc, `Sacker::append_ack`).

use std::collections::VecDeque;

use super::rest::Rest;
use super::Receiver;
use crate::reassembly::Reassembly;
use crate::{SackBlocks, Selected};

/// The blocks that ACKs report, and those of the ACKs that have not arrived yet.
///
/// The first block of an ACK has the packet that the ACK answers, the others were first blocks before, the latest first
/// (RFC 2018 section 4). An ACK in the network has no list: it has a number, by which its blocks are read where it
/// arrives. Blocks of an ACK that is lost are kept until [`KEPT`] later ones were sent.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    settings: SackBlocks,
    /// Length of an ACK without blocks \[bytes\].
    ack_bytes: u16,
    /// The blocks that were reported first, the latest first; packets of two of them are not in a row.
    recent: Vec<Selected>,
    sent: VecDeque<Sent>,
    /// Number of the last ACK with blocks.
    last: u32,
}

/// A block of an ACK, and the ACK's number.
#[derive(Clone, Copy, Debug)]
struct Sent {
    number: u32,
    block: Selected,
}

/// Number of later ACKs with blocks that may overtake an ACK before it loses its own.
const KEPT: u32 = 4096;
/// Bits of a number.
const NUMBERS: u32 = u32::MAX >> 1;

impl Blocks {
    pub(super) fn new(settings: SackBlocks) -> Blocks {
        let recent = Vec::with_capacity(settings.most.into());
        Blocks { settings, ack_bytes: 0, recent, sent: VecDeque::new(), last: 0 }
    }

    /// Sets the length of an ACK without blocks \[bytes\].
    pub(super) fn set_ack_bytes(&mut self, bytes: u16) {
        self.ack_bytes = bytes;
    }

    /// Returns the length of an ACK without blocks \[bytes\].
    pub(super) fn plain_ack_bytes(&self) -> u16 {
        self.ack_bytes
    }

    /// Records the blocks of the ACK that answers packet `sequence`; returns the ACK's number, 0 if it has no blocks,
    /// and its length. `beyond` has the packets beyond `next`, of which there are some if `held`.
    pub(super) fn report(&mut self, sequence: u64, next: u64, held: bool, beyond: &mut Reassembly) -> (u32, u16) {
        if !held {
            self.recent.clear();
            return (0, self.ack_bytes);
        }
        let number = (self.last.wrapping_add(1) & NUMBERS).max(1);
        let newest = (sequence > next).then(|| self.block_around(sequence, next, beyond));
        // All packets below `next` are in the block of a packet below it, which is not reported.
        let cover = newest.unwrap_or(Selected { first: 0, end: next, duplicate: false });
        let SackBlocks { most, bytes } = self.settings;
        let mut room = most;
        if let Some(block) = newest {
            self.sent.push_back(Sent { number, block });
            room -= 1;
        }
        let mut index = 0;
        while room > 0 && index < self.recent.len() {
            let block = self.recent[index];
            if cover.first <= block.first && block.end <= cover.end {
                self.recent.remove(index);
            } else {
                self.sent.push_back(Sent { number, block });
                (room, index) = (room - 1, index + 1);
            }
        }
        if let Some(block) = newest {
            self.recent.truncate(usize::from(most) - 1);
            self.recent.insert(0, block);
        }
        if room == most {
            return (0, self.ack_bytes);
        }
        self.last = number;
        self.forget();
        (number, self.ack_bytes + bytes * (most - room))
    }

    /// Returns the blocks of the ACK of a number that was given out last.
    pub(super) fn reported(&self, number: u32) -> impl Iterator<Item = Selected> + '_ {
        let from = self.sent.iter().rposition(|sent| sent.number != number).map_or(0, |last| last + 1);
        self.sent.range(from..).map(|sent| sent.block)
    }

    /// Reads the blocks of the ACK of a number; each ACK is read once.
    pub(super) fn read(&mut self, number: u32, selected: &mut Vec<Selected>) {
        let Some(oldest) = self.sent.front().map(|sent| sent.number) else { return };
        let age = |sent: &Sent| sent.number.wrapping_sub(oldest) & NUMBERS;
        let wanted = number.wrapping_sub(oldest) & NUMBERS;
        let from = self.sent.partition_point(|sent| age(sent) < wanted);
        let to = self.sent.partition_point(|sent| age(sent) <= wanted);
        selected.extend(self.sent.range(from..to).map(|sent| sent.block));
        self.sent.drain(from..to);
    }

    /// Discards all blocks.
    pub(super) fn clear(&mut self) {
        self.recent.clear();
        self.sent = VecDeque::new();
    }

    /// Discards the blocks of ACKs that must have been lost.
    fn forget(&mut self) {
        let old = self.sent.partition_point(|sent| self.last.wrapping_sub(sent.number) & NUMBERS > KEPT);
        self.sent.drain(..old);
    }

    /// Returns the packets in a row that have a packet beyond `next`.
    fn block_around(&self, sequence: u64, next: u64, beyond: &mut Reassembly) -> Selected {
        let known = |sequence: u64| self.recent.iter().find(|block| (block.first..block.end).contains(&sequence));
        let mut first = known(sequence).map_or(sequence, |block| block.first);
        while beyond.contains(next, first - 1) {
            first = known(first - 1).map_or(first - 1, |block| block.first);
        }
        let mut end = known(sequence).map_or(sequence + 1, |block| block.end);
        while beyond.contains(next, end) {
            end = known(end).map_or(end + 1, |block| block.end);
        }
        Selected { first, end, duplicate: false }
    }
}

impl Receiver {
    /// Returns the number of the ACK that answers a packet, whose blocks make it longer; `None` without ns-2's blocks.
    pub(super) fn report_blocks(&mut self, sequence: u64) -> Option<u32> {
        let held = self.held() > 0;
        let Rest { blocks, log, .. } = self.rest.as_deref_mut()?;
        let blocks = blocks.as_mut()?;
        let (number, bytes) = blocks.report(sequence, self.next, held, &mut self.beyond);
        if let Some(log) = log {
            blocks.reported(number).for_each(|block| log.report(number, block));
        }
        self.ack_bytes = bytes;
        Some(number)
    }
}
