use crate::Time;

/// The content of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketKind {
    /// A data segment that is sent for the first time.
    #[default]
    Data,
    /// A data segment that was sent before.
    Retransmission,
    /// A cumulative acknowledgment.
    Ack,
    /// A packet that the sender sends before its data: a SYN, or a part of TLS's hello.
    Request,
    /// A packet that answers a request.
    Answer,
    /// The sender's ACK of the receiver's SYN.
    Open,
    /// The sender's ACK of the receiver's FIN.
    Close,
}

impl PacketKind {
    /// Returns whether it is a data segment.
    pub const fn is_data(self) -> bool {
        matches!(self, PacketKind::Data | PacketKind::Retransmission)
    }

    /// Returns whether it is an acknowledgment without data, of either end.
    pub const fn is_bare_ack(self) -> bool {
        matches!(self, PacketKind::Ack | PacketKind::Open | PacketKind::Close)
    }

    /// Returns whether it goes from the receiver to the sender.
    pub const fn goes_back(self) -> bool {
        matches!(self, PacketKind::Ack | PacketKind::Answer)
    }
}

/// The ECN field of a packet's IP header, flags of its TCP header (RFC 3168, RFC 9293), and a note, in a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks(u8);

impl Marks {
    /// The absence of all bits: a packet of a transport that does not know ECN.
    pub const NONE: Marks = Marks(0);
    /// The codepoint ECT(0) of an ECN-capable transport: a queue may mark the packet instead of dropping it.
    pub const ECT: Marks = Marks(0b10);
    /// The codepoint ECT(1): the transport is one of L4S (RFC 9331).
    pub const ECT1: Marks = Marks(0b01);
    /// The codepoint CE: a queue has marked the packet.
    pub const CE: Marks = Marks(0b11);
    /// The flag ECE of an ACK: the receiver echoes a mark.
    pub const ECE: Marks = Marks(1 << 2);
    /// The flag CWR of data: the sender has reduced its window.
    pub const CWR: Marks = Marks(1 << 3);
    /// The note of data that the sender was in slow start.
    pub const SLOW_START: Marks = Marks(1 << 4);
    /// The note of an ACK that its timestamp is a millisecond older than its sending.
    pub const OLD_STAMP: Marks = Marks(1 << 4);
    /// The flag PSH of data: the last packet of a write.
    pub const PSH: Marks = Marks(1 << 6);
    /// The flag FIN: the last packet of a connection's data, or the ACK with which the receiver closes too.
    pub const FIN: Marks = Marks(1 << 7);

    /// The flag AE, with which ECE and CWR are a counter (RFC 9768).
    pub const AE: Marks = Marks(1 << 5);

    const ECN_FIELD: u8 = 0b11;

    /// Returns these bits if `given`, else none.
    #[inline(always)]
    #[must_use]
    pub const fn only_if(self, given: bool) -> Marks {
        // Not a product: rustc 1.95 loses a comparison that is a number and decides a branch (`SimplifyComparisonIntegral`).
        if given {
            self
        } else {
            Marks::NONE
        }
    }

    /// Returns these bits and others.
    #[inline(always)]
    #[must_use]
    pub const fn with(self, others: Marks) -> Marks {
        Marks(self.0 | others.0)
    }

    /// Returns whether all bits of `others` are set.
    #[inline(always)]
    pub const fn has(self, others: Marks) -> bool {
        self.0 & others.0 == others.0
    }

    /// Returns the bits of the field ACE: the last three of a number of marked packets (RFC 9768 section 3.2.2).
    #[must_use]
    pub const fn of_ace(count: u8) -> Marks {
        let [ae, cwr, ece] = [Marks::AE, Marks::CWR, Marks::ECE];
        ae.only_if(count & 4 != 0).with(cwr.only_if(count & 2 != 0)).with(ece.only_if(count & 1 != 0))
    }

    /// Returns the field ACE with which an end says how a SYN, or a SYN/ACK, arrived (RFC 9768 section 3.1.1, table 2).
    #[must_use]
    pub const fn ace_of_syn(self) -> Marks {
        Marks::of_ace(match self.codepoint() {
            0 => 0b010,
            1 => 0b011,
            2 => 0b100,
            _ => 0b110,
        })
    }

    /// Returns whether a SYN asks for accurate feedback (RFC 9768 section 3.1.1).
    pub const fn asks_for_accurate(self) -> bool {
        self.has(Marks::AE.with(Marks::CWR).with(Marks::ECE))
    }

    /// Returns the number in the field ACE, from 0 to 7.
    #[inline(always)]
    pub const fn ace(self) -> u8 {
        4 * self.has(Marks::AE) as u8 + 2 * self.has(Marks::CWR) as u8 + self.has(Marks::ECE) as u8
    }

    /// Returns the codepoint of the ECN field: 0 is not-ECT, 1 ECT(1), 2 ECT(0), 3 CE.
    #[inline(always)]
    pub const fn codepoint(self) -> u8 {
        self.0 & Marks::ECN_FIELD
    }

    /// Returns whether the transport is ECN-capable, so that a queue may mark the packet.
    #[inline(always)]
    pub const fn is_capable(self) -> bool {
        self.codepoint() != 0
    }

    /// Sets the codepoint CE if the transport is ECN-capable; returns whether it is.
    pub fn mark(&mut self) -> bool {
        if self.is_capable() {
            *self = self.with(Marks::CE);
        }
        self.is_capable()
    }
}

/// A packet, as a small plain value. TCP counts in packets, so a sequence number is a packet's number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// Data: its number, from 0. ACK: the number that the receiver expects next.
    pub sequence: u64,
    /// Data: when it was sent. ACK: the stamp of the segment that it answers (RFC 7323).
    pub stamp: Time,
    /// Current hop of its path: an index into the network's table of hops.
    pub hop: u32,
    /// Number of the flow that it belongs to.
    pub flow: u32,
    /// ACK: number of packets in the receiver's journal that it makes known; 0: none. Requests and answers: their
    /// number, from 1. ACK of a FIN: one past the last data packet, modulo 2^32. Data: age of the timestamp that it echoes,
    /// where its sender has selective acknowledgment.
    pub journal: u32,
    /// Length on every link, headers included \[bytes\].
    pub bytes: u16,
    /// Data, a retransmission, an ACK, or a packet of the handshake or the close.
    pub kind: PacketKind,
    /// ECN bits, and more of its header in bits.
    pub marks: Marks,
}

// Half a cache line.
const _: () = assert!(size_of::<Packet>() == 32);

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3168 section 5: a router may set CE in packets of ECN-capable transports only.
    #[test]
    fn a_packet_is_marked_if_its_transport_is_capable() {
        let flags = Marks::CWR.with(Marks::SLOW_START);
        for (field, capable) in [(Marks::NONE, false), (Marks(0b01), true), (Marks::ECT, true), (Marks::CE, true)] {
            let mut marks = flags.with(field);
            assert_eq!((marks.mark(), marks.has(Marks::CE)), (capable, capable), "{field:?}");
            assert!(marks.has(flags) && !marks.has(Marks::ECE), "{marks:?}");
        }
    }

    /// RFC 9768 section 3.2.2: AE, CWR and ECE are the bits of ACE, from the highest to the lowest.
    #[test]
    fn the_field_ace_has_three_bits() {
        assert!((0..=255).all(|count: u8| Marks::of_ace(count).ace() == count % 8));
        assert_eq!(Marks::of_ace(5), Marks::AE.with(Marks::ECE));
        assert_eq!((Marks::of_ace(2).with(Marks::CE).codepoint(), Marks::ECT1.codepoint()), (3, 1));
    }

    #[test]
    fn codepoints_are_those_of_the_ip_header() {
        assert_eq!([Marks::NONE, Marks(0b01), Marks::ECT, Marks::CE].map(Marks::codepoint), [0, 1, 2, 3]);
        assert_eq!([Marks::ECT, Marks::ECE, Marks::CWR].map(|marks| marks.only_if(false)), [Marks::NONE; 3]);
    }
}
