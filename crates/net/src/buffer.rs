/// Whether a buffer's limit counts the packet in transmission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counting {
    /// It does: ns-2's DropTail, where limit B holds B packets in all.
    WithService,
    /// Only those that wait count: limit B holds B that wait and one in transmission.
    Waiting,
}

/// How much a buffer holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    /// All that comes.
    Unlimited,
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
}

/// A buffer's limit and what it counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// How much it holds.
    pub limit: Limit,
    /// Whether the packet in transmission counts.
    pub counting: Counting,
}

/// What a link holds at some instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// Packets, the one in transmission included.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of the packet in transmission; 0 where the link is idle.
    pub bytes_in_service: u64,
}

impl Buffer {
    /// Unlimited.
    pub const UNLIMITED: Buffer = Buffer { limit: Limit::Unlimited, counting: Counting::WithService };

    /// Whether a packet of `bytes` finds room. One that finds the link idle always does.
    #[inline(always)]
    pub fn admits(&self, load: &Load, bytes: u16) -> bool {
        if load.packets == 0 {
            return true;
        }
        match (self.limit, self.counting) {
            (Limit::Unlimited, _) => true,
            (Limit::Packets(limit), Counting::WithService) => load.packets < limit,
            (Limit::Packets(limit), Counting::Waiting) => load.packets <= limit,
            (Limit::Bytes(limit), Counting::WithService) => load.bytes + u64::from(bytes) <= limit,
            (Limit::Bytes(limit), Counting::Waiting) => load.bytes - load.bytes_in_service + u64::from(bytes) <= limit,
        }
    }

    /// The queue length that disciplines look at: what the limit counts, in packets.
    #[inline(always)]
    pub fn counted_packets(&self, load: &Load) -> u64 {
        match self.counting {
            Counting::WithService => load.packets,
            Counting::Waiting => load.packets.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(packets: u64) -> Load {
        Load { packets, bytes: packets * 500, bytes_in_service: 500 * packets.min(1) }
    }

    fn holds(limit: Limit, counting: Counting) -> u64 {
        let buffer = Buffer { limit, counting };
        (0..).find(|&packets| !buffer.admits(&load(packets), 500)).unwrap()
    }

    #[test]
    fn with_service_a_limit_of_b_holds_b_packets_in_all() {
        assert_eq!(holds(Limit::Packets(7), Counting::WithService), 7);
        assert_eq!(holds(Limit::Bytes(3500), Counting::WithService), 7);
        assert_eq!(holds(Limit::Bytes(3499), Counting::WithService), 6);
    }

    #[test]
    fn waiting_only_a_limit_of_b_holds_one_more() {
        assert_eq!(holds(Limit::Packets(7), Counting::Waiting), 8);
        assert_eq!(holds(Limit::Bytes(3500), Counting::Waiting), 8);
    }

    #[test]
    fn an_idle_link_admits_what_its_buffer_could_not_hold() {
        let buffer = Buffer { limit: Limit::Bytes(100), counting: Counting::WithService };
        assert!(buffer.admits(&load(0), 1500));
        assert!(!buffer.admits(&load(1), 1500));
    }
}
