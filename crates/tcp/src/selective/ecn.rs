//! Explicit congestion notification (RFC 3168): which packets are ECN-capable, and the reaction to an echoed mark, which
//! is that to a loss, once in a window (Linux `tcp_ecn_send`, `tcp_enter_cwr`).

use base::{Marks, Time};

use super::detection::Seen;
use super::{Selective, State};
use crate::cc::Signal;
use crate::Ecn;

impl Selective {
    /// Returns the bits of the next new packet: the first one after a reduction announces it with CWR.
    pub(super) fn marks_of_new(&mut self) -> Marks {
        let marks = Marks::SLOW_START.only_if(self.in_slow_start());
        if self.rules.config.ecn == Ecn::Off {
            return marks;
        }
        marks.with(Marks::ECT).with(Marks::CWR.only_if(std::mem::take(&mut self.announces_reduction)))
    }

    /// Returns the bits of a retransmission, which is not ECN-capable (RFC 3168 section 6.1.5) but in a data centre.
    pub(super) fn marks_of_retransmission(&self) -> Marks {
        let slow_start = Marks::SLOW_START.only_if(self.in_slow_start());
        slow_start.with(Marks::ECT.only_if(self.rules.config.ecn == Ecn::Dctcp))
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
