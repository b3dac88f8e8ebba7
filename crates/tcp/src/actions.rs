//! What a sender sees of the world, and what it does to it.

use base::Time;

/// An ACK as the sender sees it.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// The number that the receiver expects next.
    pub next: u64,
    /// The stamp of the segment that it answers.
    pub echo: Time,
}

/// A segment that the sender puts on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Its number.
    pub sequence: u64,
    /// It was sent before.
    pub retransmission: bool,
    /// The sender is in slow start.
    pub slow_start: bool,
}

/// How a loss was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossCause {
    /// The retransmission timer expired.
    Timeout,
    /// Duplicate ACKs.
    FastRetransmit,
}

/// A loss that the sender found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The first packet without an ACK.
    pub sequence: u64,
    /// How it was found.
    pub cause: LossCause,
    /// The sender was in slow start.
    pub slow_start: bool,
    /// The packet had been sent more than once already.
    pub retransmission: bool,
    /// Fast recovery was going on.
    pub in_recovery: bool,
    /// The timer expired for this packet before.
    pub repeated: bool,
    /// The packet's place in its transfer, from 0.
    pub place: u64,
    /// Packets of the transfer from this one on; none: without end.
    pub remaining: Option<u64>,
    /// The window in whole packets: cwnd, or the receiver's where that is smaller.
    pub window: u64,
    /// One past the highest packet sent before.
    pub max: u64,
}

/// The end of a fast recovery that succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Packets that the ACK which ended it let out.
    pub sent: u64,
    /// Those of them that had been sent before.
    pub resent: u64,
    /// One past the highest packet sent, these included.
    pub max: u64,
}

/// What a sender does to the world.
pub trait Actions {
    /// Puts a segment on the wire.
    fn transmit(&mut self, segment: Segment);
    /// A loss was found; the reaction follows.
    fn loss(&mut self, loss: Loss);
    /// The next segment was sent before; all below `una` is acknowledged.
    fn retransmitting(&mut self, _sequence: u64, _una: u64) {}
    /// Fast recovery has succeeded.
    fn recovered(&mut self, _recovered: Recovered) {}
}
