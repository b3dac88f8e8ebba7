//! The sender's interface to the network: the ACKs that it receives, and the actions that it takes.

use base::{Marks, Time};

/// An ACK that arrives at the sender.
#[derive(Clone, Copy, Debug)]
pub struct Ack<'a> {
    /// Number of the packet that the receiver expects next.
    pub next: u64,
    /// Echoed stamp: the instant at which the acknowledged segment was sent.
    pub echo: Time,
    /// Packets beyond a hole that are acknowledged selectively (RFC 2018), and duplicates (RFC 2883), in the order of
    /// their arrival at the receiver; those of earlier ACKs are left out.
    pub selected: &'a [Selected],
    /// Packets from `next` on that the receiver's window allows; [`u64::MAX`]: as many as before, unlimited at first.
    pub window: u64,
    /// Flags of its header: ECE, with which the receiver echoes a mark of the network (RFC 3168), or the field ACE, if both
    /// ends have AccECN (RFC 9768).
    pub marks: Marks,
    /// Time for which it was longer on its way than on an empty path.
    pub waited: Time,
}

/// Packets in a row that arrived at the receiver beyond a hole, or a second time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selected {
    /// Number of the first of these packets.
    pub first: u64,
    /// One past the last packet.
    pub end: u64,
    /// Whether they had arrived before (RFC 2883).
    pub duplicate: bool,
}

/// A segment that the sender transmits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Number of the packet.
    pub sequence: u64,
    /// Whether it was sent before.
    pub retransmission: bool,
    /// Flags of its header, and whether the sender is in slow start.
    pub marks: Marks,
    /// Length of its packet, headers included; `None`: that of all \[bytes\].
    pub bytes: Option<u16>,
    /// Age of the timestamp that it echoes: the time since the last ACK arrived, in units of a receiver by Linux's rules.
    pub echo_age: u32,
}

/// The way in which a loss was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// The retransmission timer expired.
    Timeout,
    /// Duplicate ACKs reached the threshold.
    FastRetransmit,
}

/// A loss that the sender found, with the sender's state just before its reaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LossEvent {
    /// Number of the first unacknowledged packet.
    pub sequence: u64,
    /// The way in which the loss was found.
    pub cause: LossCause,
    /// Whether the sender was in slow start.
    pub slow_start: bool,
    /// Whether the packet had been retransmitted already.
    pub retransmission: bool,
    /// The packet's retransmission is in flight, and the event is about lost packets behind the packet.
    pub repaired: bool,
    /// Whether the sender was in fast recovery.
    pub in_recovery: bool,
    /// Whether the timer had expired for this packet before.
    pub repeated: bool,
    /// Index of the packet in its transfer, from 0.
    pub index: u64,
    /// Packets of the transfer from this one on; `None`: endless.
    pub remaining: Option<u64>,
    /// Window in whole packets: cwnd, or the receiver's window if that is smaller.
    pub window: u64,
    /// One past the highest packet sent.
    pub max: u64,
}

/// The end of a successful fast recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Packets sent in response to the ACK that ended it.
    pub sent: u64,
    /// Those of them that had been sent before.
    pub resent: u64,
    /// One past the highest packet sent, these included.
    pub max: u64,
}

/// The actions of a sender in the network.
pub trait Actions {
    /// Transmits a segment.
    fn transmit(&mut self, segment: Segment);
    /// Records a loss; the sender's reaction follows.
    fn loss(&mut self, loss: LossEvent);
    /// Announces that the segment transmitted next is a retransmission; all packets below `una` are acknowledged.
    fn retransmitting(&mut self, _sequence: u64, _una: u64) {}
    /// Records the end of a successful fast recovery.
    fn recovered(&mut self, _recovered: Recovered) {}
    /// Returns whether the sender may go ahead of the clock, as far as `to` with its first step: before each one it asks
    /// [`Actions::is_quiet`].
    fn leave_clock(&mut self, _to: Time) -> bool {
        false
    }
    /// Returns whether nothing else happens to the sender up to an instant, ahead of the clock.
    fn is_quiet(&self, _to: Time) -> bool {
        false
    }
    /// Announces that the sender goes ahead of the clock, to the departure of a packet that waits.
    fn go_ahead(&mut self, _to: Time) {}
    /// Ends the run: the congestion control cannot go on.
    fn fail(&mut self, _why: String) {}
}
