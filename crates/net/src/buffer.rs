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
    /// Packets in all, the one in transmission included.
    most_packets: u64,
    /// Bytes of what counts.
    most_bytes: u64,
    counting: Counting,
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
    /// A buffer of the given limit.
    pub fn new(limit: Limit, counting: Counting) -> Buffer {
        let unlimited = Buffer { most_packets: u64::MAX, most_bytes: u64::MAX, counting };
        match (limit, counting) {
            (Limit::Unlimited, _) => unlimited,
            (Limit::Packets(limit), Counting::WithService) => Buffer { most_packets: limit, ..unlimited },
            (Limit::Packets(limit), Counting::Waiting) => Buffer { most_packets: limit + 1, ..unlimited },
            (Limit::Bytes(limit), _) => Buffer { most_bytes: limit, ..unlimited },
        }
    }

    /// Whether a packet of `bytes` finds room. One that finds the link idle always does.
    #[inline(always)]
    pub fn admits(&self, load: &Load, bytes: u16) -> bool {
        load.packets == 0 || (load.packets < self.most_packets && self.has_bytes_for(load, bytes))
    }

    #[inline(always)]
    fn has_bytes_for(&self, load: &Load, bytes: u16) -> bool {
        self.most_bytes == u64::MAX || {
            let counted = match self.counting {
                Counting::WithService => load.bytes,
                Counting::Waiting => load.bytes - load.bytes_in_service,
            };
            counted + u64::from(bytes) <= self.most_bytes
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
        let buffer = Buffer::new(limit, counting);
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
        let buffer = Buffer::new(Limit::Bytes(100), Counting::WithService);
        assert!(buffer.admits(&load(0), 1500));
        assert!(!buffer.admits(&load(1), 1500));
    }
}
