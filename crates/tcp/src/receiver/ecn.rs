//! The receiver's side of explicit congestion notification: which marks its ACKs echo, and when one is sent at once
//! (RFC 3168 section 6.1.3, RFC 8257 section 3.2; Linux `tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`, `dctcp_ece_ack_update`).

use base::{Marks, Time};

use super::{Acknowledgment, Receiver, WITH_ECN};
use crate::quirks::Quirks;
use crate::Ecn;

/// The state of a receiver that echoes marks.
#[derive(Clone, Copy, Debug)]
pub(super) struct EcnEcho {
    way: Way,
    /// Whether ACKs have the flag ECE.
    echoes: bool,
    /// Whether the last packet was marked (RFC 8257's DCTCP.CE).
    last_marked: bool,
    /// Whether an ECN-capable packet has arrived.
    capable_seen: bool,
    /// The ECN bits of packets since the last ACK, by ns-2's rules.
    taken: Marks,
    /// Packets that arrived with a mark, modulo 8 (r.cep of RFC 9768).
    count: u8,
    /// Those of them since the last ACK.
    uncounted: u8,
}

/// The way in which marks are echoed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// A mark is echoed until CWR arrives.
    Latched,
    /// The same, by ns-2's rules: [`Quirks::echoes_with_acks`].
    LatchedWithAcks,
    /// ACKs echo which packets were marked.
    ByPacket,
    /// ACKs count marks (RFC 9768).
    Counted,
}

/// Number of marks at which the counter begins (RFC 9768 section 3.2.2).
const FIRST_COUNT: u8 = 5;
/// Marks after which an ACK is sent at once (RFC 9768 section 3.2.2.5.1, increment-triggered ACKs).
const COUNTED_BY_AN_ACK: u8 = 2;

/// The ACKs that the ECN bits of a packet demand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Demand {
    /// Whether the packet is acknowledged at once.
    pub(super) now: bool,
    /// Whether quick ACKs follow, by Linux's rules.
    pub(super) quick: bool,
    /// Whether the packets before it need an ACK of their own, which echoes their marks, if one is delayed.
    pub(super) changes: bool,
}

impl EcnEcho {
    /// Returns the state before any packet; `None` without ECN.
    pub(super) fn new(ecn: Ecn, quirks: &Quirks) -> Option<EcnEcho> {
        let way = match ecn {
            Ecn::Off => return None,
            Ecn::Classic if quirks.echoes_with_acks => Way::LatchedWithAcks,
            Ecn::Classic => Way::Latched,
            Ecn::Dctcp => Way::ByPacket,
            Ecn::Accurate => Way::Counted,
        };
        let count = FIRST_COUNT;
        let taken = Marks::NONE;
        Some(EcnEcho { way, echoes: false, last_marked: false, capable_seen: false, taken, count, uncounted: 0 })
    }

    /// Returns the state before any packet of the next transfer.
    pub(super) fn fresh(self) -> EcnEcho {
        let count = FIRST_COUNT;
        let taken = Marks::NONE;
        EcnEcho { way: self.way, echoes: false, last_marked: false, capable_seen: false, taken, count, uncounted: 0 }
    }

    /// Takes note of the flag CWR of a packet within the window: the sender has reduced its own one, which may be very
    /// small now.
    pub(super) fn accept(&mut self, marks: Marks) -> Demand {
        let now = marks.has(Marks::CWR);
        self.echoes &= !now;
        Demand { now, ..Demand::default() }
    }

    /// Counts a mark of a packet that is acceptable (RFC 9768 section 3.2; RFC 9293 section 3.4): not of one that has
    /// arrived before. The first mark in a row is acknowledged at once, and so is the second one since the last ACK (RFC
    /// 9768 section 3.2.2.5.1).
    fn count(&mut self, marks: Marks) -> Demand {
        let marked = marks.has(Marks::CE);
        self.count = (self.count + u8::from(marked)) % 8;
        self.uncounted += u8::from(marked);
        let followed = std::mem::replace(&mut self.last_marked, marked);
        let begins = marked && !followed;
        Demand { now: begins || self.uncounted >= COUNTED_BY_AN_ACK, ..Demand::default() }
    }

    /// Takes note of the ECN field of a packet that is new.
    pub(super) fn check(&mut self, marks: Marks) -> Demand {
        if !marks.is_capable() {
            // Among capable ones it is probably a retransmission.
            return Demand { quick: self.capable_seen, ..Demand::default() };
        }
        let marked = marks.has(Marks::CE);
        self.capable_seen = true;
        if self.way == Way::ByPacket {
            let changes = std::mem::replace(&mut self.last_marked, marked) != marked;
            self.echoes = marked;
            return Demand { now: changes, changes, quick: false };
        }
        let begins = marked && !self.echoes;
        self.echoes |= marked;
        Demand { quick: begins, ..Demand::default() }
    }

    /// Returns the ECN bits of an ACK.
    pub(super) fn marks(self) -> Marks {
        match self.way {
            Way::Latched => Marks::ECE.only_if(self.echoes),
            Way::LatchedWithAcks => Marks::ECE.only_if(self.echoes_taken() || self.taken.has(Marks::ECE)),
            Way::ByPacket => Marks::ECE.only_if(self.echoes).with(Marks::ECT),
            Way::Counted => Marks::of_ace(self.count),
        }
    }

    /// Returns whether a mark is echoed, with the packets since the last ACK: ns-2 `TcpSink::ack`, where a mark outweighs
    /// CWR of the other packet.
    fn echoes_taken(self) -> bool {
        self.taken.has(Marks::CE) || (self.echoes && !self.taken.has(Marks::CWR))
    }

    /// Takes note of a packet by ns-2's rules.
    fn take(&mut self, marks: Marks) {
        // Each bit by itself: two codepoints together would be a third one.
        let [ce, cwr, ece] = [Marks::CE, Marks::CWR, Marks::ECE].map(|bit| bit.only_if(marks.has(bit)));
        self.taken = self.taken.with(ce).with(cwr).with(ece);
    }

    /// Takes note of an ACK that is sent.
    pub(super) fn sent(&mut self) {
        self.uncounted = 0;
        if self.way == Way::LatchedWithAcks {
            self.echoes = self.echoes_taken();
            self.taken = Marks::NONE;
        }
    }
}

impl Demand {
    pub(super) fn and(self, other: Demand) -> Demand {
        Demand { now: self.now || other.now, quick: self.quick || other.quick, changes: self.changes || other.changes }
    }
}

impl Receiver {
    /// Takes note of the ECN bits of a packet that is not of an earlier transfer; returns which ACKs they demand.
    pub(super) fn take_marks(&mut self, sequence: u64, marks: Marks) -> Demand {
        let is_new = sequence >= self.next;
        let Some(ecn) = self.ecn() else { return Demand::default() };
        if ecn.way == Way::Counted {
            return if is_new { ecn.count(marks) } else { Demand::default() };
        }
        let accepted = ecn.accept(marks);
        if is_new {
            accepted.and(ecn.check(marks))
        } else {
            accepted
        }
    }

    /// Takes note of an ACK that is sent, where echoes depend on it.
    #[cold]
    pub(super) fn note_echo(&mut self) {
        if let Some(ecn) = self.ecn() {
            ecn.sent();
        }
    }

    pub(super) fn ecn(&mut self) -> Option<&mut EcnEcho> {
        self.rest.as_mut()?.ecn.as_mut()
    }

    /// Returns the ACK of the packets before one whose mark differs from theirs, if it is delayed (RFC 8257 section 3.2).
    pub(super) fn ack_of_earlier(&self, demand: Demand, is_delayed: bool) -> Option<Acknowledgment> {
        (demand.changes && is_delayed).then(|| {
            let earlier = self.acknowledgment_with(self.own_window());
            let echoed = Marks::ECE.only_if(!earlier.marks.has(Marks::ECE));
            Acknowledgment { marks: Marks::ECT.with(echoed), ..earlier }
        })
    }

    /// Handles a data packet by the usual rules and those of ECN; returns the ACK that is sent at once, if any. Where two
    /// are, the second one is delayed until now.
    pub(super) fn on_data_with_ecn(
        &mut self,
        now: Time,
        sequence: u64,
        stamp: Time,
        marks: Marks,
    ) -> Option<Acknowledgment> {
        debug_assert!(self.held & WITH_ECN != 0, "the receiver echoes marks");
        if sequence < self.first {
            return None;
        }
        if let Some(ecn) = self.ecn().filter(|ecn| ecn.way == Way::LatchedWithAcks) {
            ecn.take(marks);
            let acknowledgment = self.special_by_rfc(now, sequence, stamp);
            if acknowledgment.is_some() {
                self.note_echo();
            }
            return acknowledgment;
        }
        let demand = self.take_marks(sequence, marks);
        let earlier = self.ack_of_earlier(demand, self.unacknowledged > 0);
        if earlier.is_some() {
            self.unacknowledged = 0;
        }
        let acknowledgment = self.special_by_rfc(now, sequence, stamp);
        if earlier.is_some() {
            self.unacknowledged = 1;
            self.deadline = now;
            return earlier;
        }
        let at_once = demand.now && acknowledgment.is_none();
        let acknowledgment = if at_once { Some(self.acknowledge()) } else { acknowledgment };
        if acknowledgment.is_some() {
            self.note_echo();
        }
        acknowledgment
    }
}
