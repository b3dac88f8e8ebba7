//! ACKs, and what they make known in one word in addition to their number.

use base::cast::low_u32;
use base::{Marks, Time};

/// An ACK that the receiver sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgment {
    /// Number of the packet expected next.
    pub next: u64,
    /// Stamp of a data packet, echoed (RFC 7323).
    pub echo: Time,
    /// Number of packets and windows in the receiver's journal, modulo 2^31, if the sender has not read them all; else the
    /// receiver's window, which [`Acknowledgment::window_in`] finds, or 0 if none is announced. A number that happens to be
    /// 0 makes nothing known. With ns-2's blocks the number of the ACK; 0 if it has no blocks.
    pub journal: u32,
    /// Flags of the ACK: ECN bits, FIN.
    pub marks: Marks,
}

impl Acknowledgment {
    /// Bit of `journal`: the others are a window.
    const WINDOW: u32 = 1 << 31;

    /// Returns the window \[packets\] that an ACK with this `journal` announces by itself, without the receiver's journal.
    #[inline(always)]
    pub fn window_in(journal: u32) -> Option<u64> {
        (journal & Acknowledgment::WINDOW != 0).then_some(u64::from(journal & !Acknowledgment::WINDOW))
    }

    /// Returns the `journal` of an ACK that announces a window by itself.
    pub(super) fn of_window(packets: u64) -> u32 {
        low_u32(packets.min(u64::from(Acknowledgment::WINDOW - 1))) | Acknowledgment::WINDOW
    }
}
