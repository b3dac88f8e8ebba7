//! The end of what an application writes: packets with the flags PSH and FIN, and the last one, which may be shorter.
//!
//! A host sets PSH in the last packet of each write, and in one packet for each half of the largest window that the
//! receiver has announced, so that the receiver need not wait for more (Linux `tcp_push`, `forced_push`,
//! `tcp_mark_push`). A write ends too where the send buffer is full. The end of a write within a packet leaves no mark: the
//! next write fills the packet up before it is sent.

use std::collections::VecDeque;

use base::Marks;

use super::Selective;
use crate::{Close, PushConfig};

/// Largest window that a SYN can announce \[bytes\]; that of a receiver which announces none.
const FIRST_WINDOW: u64 = 65535;

/// The packets that have the flag PSH and are yet to be sent; the last one of the transfer, which has it, is left out.
#[derive(Clone, Debug)]
pub(super) struct Pushes {
    /// Their numbers, in rising order.
    waiting: VecDeque<u64>,
    /// Bytes of the transfer up to the last mark or the end of a write (Linux `pushed_seq`).
    pushed: u64,
    /// Largest window that the receiver has announced (Linux `max_window`) \[bytes\].
    window: u64,
}

impl Default for Pushes {
    fn default() -> Pushes {
        Pushes { waiting: VecDeque::new(), pushed: 0, window: FIRST_WINDOW }
    }
}

impl Pushes {
    /// Forgets all packets; the memory stays.
    pub(super) fn restart(&mut self) {
        self.waiting.clear();
        (self.pushed, self.window) = (0, FIRST_WINDOW);
    }

    /// Takes note of the window of the answer to the SYN \[bytes\].
    pub(super) fn begin(&mut self, window: u64) {
        self.window = window;
    }

    /// Takes note of a window that the receiver announces \[bytes\].
    pub(super) fn announce(&mut self, window: u64) {
        self.window = self.window.max(window);
    }

    /// Returns whether the next packet has the flag.
    fn take(&mut self, sequence: u64) -> bool {
        let found = self.waiting.front() == Some(&sequence);
        if found {
            self.waiting.pop_front();
        }
        found
    }

    fn mark(&mut self, sequence: u64) {
        if self.waiting.back() != Some(&sequence) {
            self.waiting.push_back(sequence);
        }
    }

    /// Marks packets among those that are written now, from `begin` to `end` in packets of the transfer, whose first one
    /// has the number `first`; the last one is left out, unless a write of that many bytes ends with it.
    fn write(&mut self, first: u64, (begin, end): (u64, u64), segment: u64, write: u64) {
        let mut boundary = begin * segment + write;
        loop {
            let forced = ((self.pushed + self.window / 2) / segment + 1).max(begin + 1);
            if forced * segment < boundary {
                if forced > end {
                    break;
                }
                self.pushed = forced * segment;
                self.mark(first + forced - 1);
                continue;
            }
            if boundary > end * segment {
                break;
            }
            self.pushed = boundary;
            if boundary.is_multiple_of(segment) {
                self.mark(first + boundary / segment - 1);
            }
            boundary += write;
        }
        self.pushed = end * segment;
    }
}

impl Selective {
    /// Marks packets among those that the application has just written, from number `begin` to `end`: one write after
    /// another, until the buffer is full or nothing is left. Without a limit of the buffer the end alone is marked, as
    /// no kernel is without one.
    pub(super) fn mark_pushes(&mut self, begin: u64, end: u64) {
        let Some(PushConfig { write_bytes }) = self.rules.config.push else { return };
        let segment = u64::from(self.rules.config.segment_bytes.max(1));
        if end == u64::MAX || begin == end {
            return;
        }
        if self.rules.config.send_buffer.is_some() {
            let written = (begin - self.first, end - self.first);
            let write = write_bytes.unwrap_or(u64::MAX / 2).max(1);
            self.pushes.write(self.first, written, segment, write);
        }
        if end < self.end {
            self.pushes.mark(end - 1);
        }
    }

    /// Returns whether the next new packet has the flag PSH.
    pub(super) fn takes_push(&mut self, sequence: u64) -> bool {
        self.pushes.take(sequence) || (sequence + 1 == self.end && self.rules.config.push.is_some())
    }

    /// Returns the flags of a packet that end something: PSH that of a write, FIN that of the connection.
    pub(super) fn ending_flags(&self, sequence: u64, pushed: bool) -> Marks {
        let closes = self.closes() && sequence + 1 == self.end;
        Marks::PSH.only_if(pushed).with(Marks::FIN.only_if(closes))
    }

    /// Returns the length of a packet, if it is not that of all.
    pub(super) fn packet_bytes(&self, sequence: u64) -> Option<u16> {
        self.rules.config.last_packet_bytes.filter(|_| sequence + 1 == self.end)
    }

    /// Returns whether the ends close the connection after the transfer.
    pub fn closes(&self) -> bool {
        self.rules.config.close == Close::Tcp
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the packets that are marked if a number of them is written at once, in writes of some bytes.
    fn marked(packets: u64, write: u64, window: u64) -> Vec<u64> {
        let mut pushes = Pushes { window, ..Pushes::default() };
        pushes.write(100, (0, packets), 1000, write);
        pushes.waiting.into_iter().collect()
    }

    #[test]
    fn the_last_packet_of_each_write_is_marked() {
        assert_eq!(marked(10, 3000, 1_000_000), [102, 105, 108]);
        assert!(marked(10, u64::MAX / 2, 1_000_000).is_empty());
    }

    /// A write that ends within a packet leaves no mark, as the next one fills it up.
    #[test]
    fn a_write_that_ends_within_a_packet_leaves_no_mark() {
        assert_eq!(marked(10, 2500, 1_000_000), [104, 109]);
    }

    /// `forced_push`: more than half of the window since the last mark or end of a write.
    #[test]
    fn a_packet_is_marked_for_each_half_of_the_window() {
        assert_eq!(marked(10, u64::MAX / 2, 6000), [103, 107]);
        assert_eq!(marked(10, u64::MAX / 2, 5998), [102, 105, 108]);
        assert_eq!(marked(12, 5500, 6000), [103, 108, 110], "the second write begins within packet 105");
    }

    #[test]
    fn a_larger_window_that_is_announced_counts_from_then_on() {
        let mut pushes = Pushes { window: 4000, ..Pushes::default() };
        pushes.write(0, (0, 4), 1000, u64::MAX / 2);
        pushes.announce(8000);
        pushes.announce(2000);
        pushes.write(0, (4, 12), 1000, u64::MAX / 2);
        assert_eq!(pushes.waiting, [2, 8]);
        assert_eq!([pushes.take(2), pushes.take(3), pushes.take(8)], [true, false, true]);
    }
}
