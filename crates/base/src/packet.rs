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
    /// ACK: number of packets in the receiver's journal that it makes known; 0: none.
    pub journal: u32,
    /// Length on every link, headers included \[bytes\].
    pub bytes: u16,
    /// Data, a retransmission, or an ACK.
    pub kind: PacketKind,
    /// Whether the sender was in slow start when it sent this (data only).
    pub slow_start: bool,
}

// Half a cache line.
const _: () = assert!(size_of::<Packet>() == 32);
