/// Counters of an end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EndStatistics {
    /// Packets offered here.
    pub offered: u64,
    /// Data cells sent.
    pub data_sent: u64,
    /// Forward RM cells sent.
    pub forward_sent: u64,
    /// Backward RM cells sent.
    pub backward_sent: u64,
    /// Backward RM cells that a newer one replaced before they were sent.
    pub backward_replaced: u64,
    /// Data cells that arrived here.
    pub data_received: u64,
    /// Forward RM cells that arrived here.
    pub forward_received: u64,
    /// Backward RM cells that arrived here.
    pub backward_received: u64,
    /// Packets that arrived complete here.
    pub delivered: u64,
    /// Packets sent to here that arrived incomplete or not at all.
    pub lost: u64,
    /// Largest number of packets in the queues: of data packets, and of all.
    pub queue_max: [u32; 2],
}

/// Counters of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStatistics {
    /// Cells that arrived.
    pub arrived: u64,
    /// Cells dropped, since the queue was full.
    pub dropped: u64,
    /// Largest number of cells in the queue, with the one in transmission.
    pub queue_max: u64,
}
