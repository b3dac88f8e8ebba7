//! Explicit congestion notification (RFC 3168): which packets are ECN-capable, and the reaction to an echoed mark, which
//! is that to a loss, once in a window (Linux `tcp_ecn_send`, `tcp_enter_cwr`).

use base::{Marks, Time};

use super::detection::Seen;
use super::{Selective, State};
use crate::actions::Ack;
use crate::cc::Signal;
use crate::Ecn;

/// Number of marks at which the receiver begins to count (RFC 9768 section 3.2.2).
pub(super) const FIRST_COUNT: u8 = 5;

/// Returns the largest number that differs from `least` by a multiple of 8 and is not above `acked`; `least` if that is
/// (RFC 9768 section 3.2.2.5.2: the counter is right).
fn safest(least: u32, acked: u32) -> u32 {
    acked.checked_sub(least).map_or(least, |beyond| acked - beyond % 8)
}

impl Selective {
    /// Goes on without ECN, as the SYN that reached the receiver did not ask for it: one that is sent again asks no more
    /// (RFC 3168 section 6.1.1.1; Linux `tcp_ecn_clear_syn`).
    ///
    /// Deviation: accurate feedback (RFC 9768 section 3.1.4.1) is never given up.
    pub fn on_plain_handshake(&mut self) {
        if self.ecn != Ecn::Accurate {
            self.ecn = Ecn::Off;
        }
    }

    /// Returns the bits of the next new packet: the first one after a reduction announces it with CWR.
    pub(super) fn marks_of_new(&mut self) -> Marks {
        let marks = Marks::SLOW_START.only_if(self.in_slow_start());
        let announced = std::mem::take(&mut self.announces_reduction);
        match self.ecn {
            Ecn::Off => marks,
            Ecn::Classic | Ecn::Dctcp => marks.with(self.capable()).with(Marks::CWR.only_if(announced)),
            // The receiver's ACKs are not ECN-capable, so that this end counts no marks.
            Ecn::Accurate => marks.with(self.capable()).with(Marks::of_ace(FIRST_COUNT)),
        }
    }

    /// Returns the bits of a retransmission, which is not ECN-capable (RFC 3168 section 6.1.5) but in a data centre and
    /// with a control of L4S.
    pub(super) fn marks_of_retransmission(&self) -> Marks {
        let slow_start = Marks::SLOW_START.only_if(self.in_slow_start());
        let capable = self.ecn == Ecn::Dctcp || (self.ecn != Ecn::Off && self.rules.needs.l4s);
        slow_start.with(self.capable().only_if(capable)).with(self.counted())
    }

    /// Returns the bits of a packet without data: ECN-capable in a data centre alone, SYNs too (RFC 8257 section 3.5; Linux
    /// `tcp_ca_needs_ecn`).
    pub fn marks_without_data(&self) -> Marks {
        Marks::ECT.only_if(self.ecn == Ecn::Dctcp)
    }

    /// Returns the bits of a SYN: it asks for ECN with ECE and CWR (RFC 3168 section 6.1.1), unless it is a repeated one
    /// (section 6.1.1.1; Linux `tcp_retransmit_skb`), or for accurate feedback with AE too (RFC 9768 section 3.1.1).
    ///
    /// Deviation: each repeated SYN asks for accurate feedback, which section 3.1.4.1 gives up after the second.
    pub fn marks_of_syn(&self, repeated: bool) -> Marks {
        let flags = match self.ecn {
            Ecn::Off => Marks::NONE,
            Ecn::Classic | Ecn::Dctcp => Marks::ECE.with(Marks::CWR).only_if(!repeated),
            Ecn::Accurate => Marks::AE.with(Marks::ECE).with(Marks::CWR),
        };
        self.marks_without_data().with(flags)
    }

    /// Returns the bits of an ACK without data behind the handshake.
    pub fn marks_of_ack(&self) -> Marks {
        self.marks_without_data().with(self.counted())
    }

    /// Returns the field ACE of all that follows the handshake (RFC 9768 section 3.2.1).
    fn counted(&self) -> Marks {
        Marks::of_ace(FIRST_COUNT).only_if(self.ecn == Ecn::Accurate)
    }

    /// Returns the bits of the hellos of TLS, which are data.
    pub fn marks_of_hellos(&self) -> Marks {
        self.capable().only_if(self.ecn != Ecn::Off).with(self.counted())
    }

    /// Returns the codepoint of data: ECT(1) of a control of L4S (RFC 9331 section 4.1), else ECT(0).
    fn capable(&self) -> Marks {
        if self.rules.needs.l4s {
            Marks::ECT1
        } else {
            Marks::ECT
        }
    }

    /// Reads the number of marks since the ACK before from the field ACE of one that acknowledges `acked` packets for the
    /// first time (RFC 9768 section 3.2.2.2).
    ///
    /// Where the three bits may have gone round, the safest case is taken: the largest number that has these bits and is
    /// not above what the ACK acknowledges (section 3.2.2.5.2). An ACK without news has been superseded.
    pub(super) fn read_ace(&mut self, ack: &Ack<'_>, acked: u32, seen: &mut Seen) {
        if self.ecn != Ecn::Accurate {
            seen.marks = if seen.marked { acked } else { 0 };
            return;
        }
        seen.marked = false;
        if acked == 0 && !seen.duplicate {
            return;
        }
        let least = u32::from(ack.marks.ace().wrapping_sub(self.counted) % 8);
        seen.marks = safest(least, acked);
        seen.marked = seen.marks > 0;
        self.counted = ack.marks.ace();
    }

    /// Enters Open, or Disorder where packets are missing; or CWR with an ACK that echoes a mark (Linux
    /// `tcp_try_to_open`).
    pub(super) fn try_to_open(&mut self, now: Time, seen: &Seen) {
        self.undo.forget_if(!self.board.any_retransmitted());
        if seen.marked {
            self.enter_cwr(now);
        }
        if self.state != State::Cwr {
            self.keep_open();
        }
    }

    /// Enters the state CWR: the network marked a packet, so that the reduction is not undone.
    fn enter_cwr(&mut self, now: Time) {
        self.undo.prior_ssthresh = None;
        if self.state < State::Cwr {
            self.undo.marker = None;
            self.begin_reduction(now, Signal::Ecn);
            self.state = State::Cwr;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9768 appendix A.2: an increment of 2 is 10 if the ACK acknowledges 10 packets or more.
    #[test]
    fn the_safest_case_is_the_largest_number_of_marks() {
        assert_eq!([0, 7, 9, 10, 17, 18].map(|acked| safest(2, acked)), [2, 2, 2, 10, 10, 18]);
        assert_eq!([0, 7, 8].map(|acked| safest(0, acked)), [0, 0, 8]);
        // More marks than packets: of retransmissions, or of packets that arrived twice.
        assert_eq!(safest(3, 1), 3);
    }
}
