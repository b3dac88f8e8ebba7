//! Samples of the delivery rate, for controls that ask for them (draft-ietf-ccwg-bbr section 4.1).

/// The deliveries of a connection at an ACK. Times are readings of the sender's clock in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Instant of the ACK.
    pub now: u64,
    /// Last delivery so far (Linux `delivered_mstamp`).
    pub delivered_at: u64,
    /// Packets delivered in all.
    pub delivered: u64,
    /// Packets taken to be lost in all.
    pub lost: u64,
    /// Span of the sample; `None` if the ACK delivers nothing.
    pub span: Option<Span>,
}

/// The deliveries between the transmission and the delivery of the packet sent last among those of an ACK.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Packets that had been delivered when it was sent.
    pub prior_delivered: u64,
    /// Packets delivered since.
    pub delivered: u32,
    /// Time in which they were sent or acknowledged, the longer of both \[us\]; `None` if it is shorter than the smallest
    /// round trip, so that the sample is not valid.
    pub interval: Option<u64>,
    /// Whether the application limited what was sent.
    pub app_limited: bool,
    /// Whether the packet was retransmitted.
    pub retransmitted: bool,
    /// Packets in flight just after it was sent, itself included.
    pub in_flight: u32,
    /// Packets taken to be lost since it was sent.
    pub lost: u32,
}

/// A packet that is taken to be lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    /// Instant at which it is so taken, on the sender's clock \[us\].
    pub now: u64,
    /// Number of the packet.
    pub sequence: u64,
    /// Packets delivered in all.
    pub delivered: u64,
    /// Packets in flight just after it was sent last, itself included.
    pub in_flight: u32,
    /// Packets taken to be lost since it was sent, itself included.
    pub lost: u32,
    /// Whether the application limited what was sent when it was.
    pub app_limited: bool,
}
