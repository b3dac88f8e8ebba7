use crate::Time;

/// What a packet carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PacketKind {
    /// A data segment that is sent for the first time.
    #[default]
    Data,
    /// A data segment that was sent before.
    Retransmission,
    /// A cumulative acknowledgment.
    Ack,
}

/// A packet, as a small plain value. TCP counts in packets, so a sequence number is a packet's number.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Packet {
    /// Data: its number, from 0. ACK: the number that the receiver expects next.
    pub sequence: u64,
    /// Data: when it was sent. ACK: the stamp of the segment that it answers (RFC 7323).
    pub stamp: Time,
    /// Where it is on its route: an index into the network's table of hops.
    pub hop: u32,
    /// The flow that it belongs to, by its number.
    pub flow: u32,
    /// Its length on every link, headers included.
    pub bytes: u16,
    /// Data or ACK.
    pub kind: PacketKind,
    /// Data only: the sender was in slow start when it sent this.
    pub slow_start: bool,
}

// Half a cache line. Four bytes of it are free: for marks of congestion, and for what an ACK acknowledges selectively.
const _: () = assert!(size_of::<Packet>() == 32);
