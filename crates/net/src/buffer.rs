use serde::{Deserialize, Serialize};

/// The packets that count towards a buffer's limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Counting {
    /// Counts the packet in transmission: ns-2's DropTail, where limit B holds B packets in all.
    WithService,
    /// Counts waiting packets only: limit B holds B waiting packets and one in transmission.
    Waiting,
}

/// The capacity of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BufferLimit {
    /// The number of packets is limited.
    Packets(u64),
    /// The number of bytes is limited.
    Bytes(u64),
}

/// A buffer with its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Limit of packets, the one in transmission included.
    max_packets: u64,
    /// Limit of the bytes that count.
    max_bytes: u64,
    counting: Counting,
}

/// The packets in a link at an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Occupancy {
    /// Number of packets, the one in transmission included.
    pub packets: u64,
    /// Length of all of them \[bytes\].
    pub bytes: u64,
    /// Length of the packet in transmission \[bytes\]; 0 if the link is idle.
    pub bytes_in_service: u64,
}

impl Buffer {
    /// Returns a buffer with a limit; `None`: unlimited.
    pub fn new(limit: Option<BufferLimit>, counting: Counting) -> Buffer {
        let unlimited = Buffer { max_packets: u64::MAX, max_bytes: u64::MAX, counting };
        match (limit, counting) {
            (None, _) => unlimited,
            (Some(BufferLimit::Packets(limit)), Counting::WithService) => Buffer { max_packets: limit, ..unlimited },
            (Some(BufferLimit::Packets(limit)), Counting::Waiting) => Buffer { max_packets: limit + 1, ..unlimited },
            (Some(BufferLimit::Bytes(limit)), _) => Buffer { max_bytes: limit, ..unlimited },
        }
    }

    /// Returns whether a packet of `bytes` finds room. An idle link has room for any packet.
    #[inline(always)]
    pub fn admits(&self, held: &Occupancy, bytes: u16) -> bool {
        held.packets == 0 || (held.packets < self.max_packets && self.has_bytes_for(held, bytes))
    }

    /// Returns whether the limit allows what is held. A single packet may always be.
    pub fn holds(&self, held: &Occupancy) -> bool {
        held.packets <= 1 || (held.packets <= self.max_packets && self.has_bytes_for(held, 0))
    }

    /// Returns whether a number of packets find room whatever their lengths are.
    #[inline(always)]
    pub fn has_room_for(&self, held: &Occupancy, packets: u64) -> bool {
        let bytes = || held.bytes.saturating_add(packets.saturating_mul(u16::MAX.into()));
        held.packets + packets <= self.max_packets && (self.max_bytes == u64::MAX || bytes() <= self.max_bytes)
    }

    #[inline(always)]
    fn has_bytes_for(&self, held: &Occupancy, bytes: u16) -> bool {
        self.max_bytes == u64::MAX || {
            let counted = match self.counting {
                Counting::WithService => held.bytes,
                Counting::Waiting => held.bytes - held.bytes_in_service,
            };
            counted + u64::from(bytes) <= self.max_bytes
        }
    }

    /// Returns the number of packets that may wait while another one is in transmission.
    pub fn most_waiting(&self) -> u64 {
        self.max_packets.saturating_sub(u64::from(self.max_packets < u64::MAX))
    }

    /// Returns the queue length that AQM uses: the packets that the limit counts.
    #[inline(always)]
    pub fn counted_packets(&self, held: &Occupancy) -> u64 {
        match self.counting {
            Counting::WithService => held.packets,
            Counting::Waiting => held.packets.saturating_sub(1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(packets: u64) -> Occupancy {
        Occupancy { packets, bytes: packets * 500, bytes_in_service: 500 * packets.min(1) }
    }

    fn holds(limit: Option<BufferLimit>, counting: Counting) -> u64 {
        let buffer = Buffer::new(limit, counting);
        (0..).find(|&packets| !buffer.admits(&held(packets), 500)).unwrap()
    }

    #[test]
    fn with_service_a_limit_of_b_holds_b_packets_in_all() {
        assert_eq!(holds(Some(BufferLimit::Packets(7)), Counting::WithService), 7);
        assert_eq!(holds(Some(BufferLimit::Bytes(3500)), Counting::WithService), 7);
        assert_eq!(holds(Some(BufferLimit::Bytes(3499)), Counting::WithService), 6);
    }

    #[test]
    fn waiting_only_a_limit_of_b_holds_one_more() {
        assert_eq!(holds(Some(BufferLimit::Packets(7)), Counting::Waiting), 8);
        assert_eq!(holds(Some(BufferLimit::Bytes(3500)), Counting::Waiting), 8);
    }

    #[test]
    fn an_idle_link_admits_what_its_buffer_could_not_hold() {
        let buffer = Buffer::new(Some(BufferLimit::Bytes(100)), Counting::WithService);
        assert!(buffer.admits(&held(0), 1500));
        assert!(!buffer.admits(&held(1), 1500));
    }
}
