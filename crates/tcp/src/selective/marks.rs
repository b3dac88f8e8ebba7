//! The marks of a packet between SND.UNA and SND.NXT.

/// The knowledge of a packet's fate, a bit for each fact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(u8);

impl Marks {
    /// Bit of a packet that was acknowledged selectively.
    pub(super) const SACKED: u8 = 1;
    /// Bit of one whose last copy but a retransmission in flight is taken to be lost.
    pub(super) const LOST: u8 = 2;
    /// Bit of one whose retransmission is taken to be in flight.
    pub(super) const RETRANSMITTED: u8 = 4;
    /// Bit of one that was ever retransmitted.
    pub(super) const EVER_RETRANSMITTED: u8 = 8;
    /// Bit of one whose age has shown its last copy to be lost (Linux: it is not in `tsorted_sent_queue`).
    pub(super) const JUDGED: u8 = 16;
    /// Bit of one with the flag PSH.
    pub(super) const PUSHED: u8 = 32;

    /// Returns whether it has any of some bits.
    pub(super) fn has(self, bits: u8) -> bool {
        self.0 & bits != 0
    }

    /// Sets or clears bits.
    pub(super) fn set(&mut self, bits: u8, given: bool) {
        self.0 = if given { self.0 | bits } else { self.0 & !bits };
    }

    /// Returns whether it was acknowledged selectively.
    pub(super) fn sacked(self) -> bool {
        self.has(Marks::SACKED)
    }

    /// Returns whether its last copy but a retransmission in flight is taken to be lost.
    pub(super) fn lost(self) -> bool {
        self.has(Marks::LOST)
    }

    /// Returns whether a retransmission of it is taken to be in flight.
    pub(super) fn retransmitted(self) -> bool {
        self.has(Marks::RETRANSMITTED)
    }

    /// Returns whether it was ever retransmitted.
    pub(super) fn ever_retransmitted(self) -> bool {
        self.has(Marks::EVER_RETRANSMITTED)
    }

    /// Returns whether it has the flag PSH.
    pub(super) fn pushed(self) -> bool {
        self.has(Marks::PUSHED)
    }

    /// Returns whether it was sent once, and its fate is open.
    pub(super) fn unjudged(self) -> bool {
        !self.has(Marks::SACKED | Marks::LOST | Marks::JUDGED | Marks::EVER_RETRANSMITTED)
    }

    /// Returns whether its last copy may be in flight.
    pub(super) fn in_flight(self) -> bool {
        !self.has(Marks::SACKED | Marks::JUDGED) && (self.retransmitted() || !self.lost())
    }
}
