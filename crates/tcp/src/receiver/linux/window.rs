//! The window that a receiver announces, and the buffer behind it (Linux `__tcp_select_window`, `tcp_grow_window`,
//! `tcp_rcv_space_adjust`).

use base::{cast::low_u64, Time};

use super::LinuxAcks;
use crate::memory::{EXPECTED_HEADERS, EXPECTED_STRUCTURE};

/// Steps in which the kernel looks for the memory of a segment \[bytes\] (`tcp_rcv_space_adjust`).
const MEMORY_STEP: u128 = 128;
/// Shortest segment after which the window grows \[bytes\] (`tcp_event_data_recv`).
const SHORTEST_GROWING: u64 = 128;

impl LinuxAcks {
    /// Sets the buffer, and the largest window that it allows \[bytes\].
    pub(super) fn resize(&mut self, buffer: u64, clamp: u64) {
        (self.buffer, self.clamp) = (buffer, clamp);
        self.most = self.most_with(self.segment_memory());
    }

    /// Raises the limit of the window by two segments, while the buffer has room; then the next ACK is a quick one
    /// (`tcp_grow_window`).
    pub(super) fn grow(&mut self, used: u64) {
        let most = self.most_with(used);
        if self.limit < most {
            self.raise(most);
        }
    }

    /// Raises the limit of the window, which is below `most`.
    #[inline(always)]
    pub(super) fn raise(&mut self, most: u64) {
        self.limit = (self.limit + 2 * self.segment()).min(most);
        self.quick |= 1;
    }

    /// Returns the limit up to which a segment raises that of the window, with a part of the buffer used; 0 if it is too
    /// short.
    fn most_with(&self, used: u64) -> u64 {
        match self.segment() {
            0..SHORTEST_GROWING => 0,
            _ => self.clamp.min(self.space(used)).min(self.common.memory.most_raised),
        }
    }

    /// Returns the window that the buffer has room for (`tcp_space`) \[bytes\].
    fn space(&self, used: u64) -> u64 {
        self.buffer.saturating_sub(used) / 2
    }

    /// Announces a window with an ACK, which replaces those that are held.
    #[inline(always)]
    pub(super) fn announce(&mut self, next: u64, used: u64) {
        let window = self.select_window(used);
        if window != self.window {
            self.window = if window < self.window { self.reduced(window, next) } else { window };
            self.announced = self.common.announced(self.window);
        }
        self.acked = next;
        (self.compressed, self.compressed_until) = (0, Time::NEVER);
    }

    /// Returns a smaller window than the last one, but none smaller than what is left of that (RFC 9293 section 3.8.6).
    #[cold]
    fn reduced(&self, window: u64, next: u64) -> u64 {
        let left = (self.acked * self.segment() + self.window).saturating_sub(next * self.segment());
        if window < left {
            self.common.aligned(left)
        } else {
            window
        }
    }

    /// Returns the window to announce; with half of the buffer used, quick ACK mode ends (`__tcp_select_window`).
    #[inline(always)]
    pub(super) fn select_window(&mut self, used: u64) -> u64 {
        if used > 0 && self.space(used) < self.clamp.min(self.space(0)) / 2 {
            self.quick = 0;
        }
        self.window_with(used)
    }

    /// Returns the window that can be announced while segments take `used` bytes of the buffer.
    #[inline(always)]
    pub(super) fn window_with(&self, used: u64) -> u64 {
        let (free, all) = (self.space(used), self.space(0));
        if used > 0 && free < self.clamp.min(all) / 2 && (free < all / 16 || free < self.segment()) {
            return 0;
        }
        self.common.aligned(free.min(self.limit))
    }

    /// Has an ACK follow at once if what is left of the window before packet `next` doubles as the application reads
    /// (`__tcp_cleanup_rbuf`).
    #[inline(always)]
    pub(super) fn update_window(&mut self, now: Time, next: u64, held: u32) {
        let doubled = 2 * self.window.saturating_sub((next - self.acked) * self.segment());
        if doubled <= self.clamp && self.window_with(self.memory(held)) >= doubled.max(1) {
            self.due = now;
        }
    }

    /// Enlarges the buffer if the application, which has read all before `next`, reads more in a round trip than ever
    /// (`tcp_rcv_space_adjust`).
    #[inline(always)]
    pub(super) fn adjust(&mut self, now: Time, next: u64) {
        if now >= self.read_until {
            self.end_round_trip(now, next);
        }
    }

    /// Enlarges the buffer at the end of a round trip, if more was read in it than ever.
    #[cold]
    fn end_round_trip(&mut self, now: Time, next: u64) {
        let from = self.read_from.0;
        let copied = (next - from) * self.segment();
        if copied > self.read {
            let buffer = self.buffer_for(copied);
            if buffer > self.buffer {
                self.resize(buffer, buffer / 2);
            }
            self.read = copied;
        }
        self.read_from = (next, now);
        self.read_until = now + self.common.span(self.rtt8_us / 8);
    }

    /// Returns the buffer for a number of bytes in a round trip, which were fewer in the one before.
    fn buffer_for(&self, copied: u64) -> u64 {
        let [copied, read, segment] = [copied, self.read, self.segment()].map(u128::from);
        // Twice as much, and what it would be after two more round trips of such growth.
        let steady = 2 * copied + 16 * segment;
        let growth = steady * (copied - read) / read;
        let mut memory = segment + u128::from(EXPECTED_HEADERS + EXPECTED_STRUCTURE);
        while memory / 2 < segment {
            memory += MEMORY_STEP;
        }
        let buffer = (steady + 2 * growth) / segment * memory;
        low_u64(buffer.min(u128::from(self.common.settings.most_buffer_bytes)))
    }
}
