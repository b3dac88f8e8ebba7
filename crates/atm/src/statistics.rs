/// What an end counts.
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
    /// Backward RM cells that a newer one replaced before they went.
    pub backward_replaced: u64,
    /// Data cells that arrived here.
    pub data_received: u64,
    /// Forward RM cells that arrived here.
    pub forward_received: u64,
    /// Backward RM cells that came back.
    pub backward_received: u64,
    /// Packets that arrived whole here.
    pub delivered: u64,
    /// Packets that arrived here with cells missing or not at all.
    pub lost: u64,
    /// Most packets in its queues: data, and all.
    pub queue_max: [u32; 2],
}

/// What a port counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortStatistics {
    /// Cells that came.
    pub arrived: u64,
    /// Those of them that found it full.
    pub dropped: u64,
    /// Most cells in it, with the one in transmission.
    pub queue_max: u64,
}
