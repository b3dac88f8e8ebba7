//! The memory that segments take in the receive buffer, by the way in which the host's driver stores them.

use crate::memory::OVERHEAD;
use crate::{LinuxReceiver, PacketMemory};

/// Fragments of segments that share a buffer at most (`MAX_SKB_FRAGS`).
const MOST_SHARED: u64 = 17;
/// Pages of a sender that many segments lie in \[bytes\] (`SKB_FRAG_PAGE_ORDER`). A segment that lies in two of them has two
/// fragments.
const SENDER_PAGE: u64 = 32_768;
/// Headers of IP and TCP, and the option of timestamps \[bytes\].
const HEADERS: (u64, u64) = (40, 12);
/// Room before the headers (`NET_SKB_PAD`), and the structure behind the payload (`struct skb_shared_info`) \[bytes\].
const AROUND: u64 = 64 + 320;
/// The structure of a segment (`struct sk_buff`), which has memory of its own \[bytes\].
const STRUCTURE: u64 = 256;

/// The memory of segments.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// Memory of a buffer beyond the payload in it \[bytes\].
    pub(super) overhead: u64,
    /// The way in which segments share buffers.
    pub(super) sharing: Sharing,
    /// Limit to which segments raise the window \[bytes\]. Deviation: the kernel's last step may be two segments longer.
    pub(super) most_raised: u64,
}

impl Memory {
    /// Returns the memory of a receiver's segments.
    pub(super) fn of(settings: &LinuxReceiver) -> Memory {
        let payload = u64::from(settings.segment_bytes);
        if settings.memory != PacketMemory::Linear {
            let page = (settings.memory == PacketMemory::Veth).then_some(SENDER_PAGE);
            let sharing = Sharing { most: MOST_SHARED, segment: payload, page };
            return Memory { overhead: OVERHEAD, sharing, most_raised: u64::MAX };
        }
        let packet = payload + HEADERS.0 + if settings.timestamps { HEADERS.1 } else { 0 };
        // The kernel takes memory in powers of two.
        let truesize = (packet + AROUND).next_power_of_two() + STRUCTURE;
        let most_raised = most_raised(payload, truesize, settings.most_buffer_bytes);
        let sharing = Sharing { most: 1, segment: payload, page: None };
        Memory { overhead: truesize - payload, sharing, most_raised }
    }
}

/// The way in which segments share buffers: as many do as have `most` fragments together (`skb_try_coalesce`).
#[derive(Clone, Copy, Debug)]
pub(super) struct Sharing {
    pub(super) most: u64,
    /// Payload of a segment \[bytes\].
    pub(super) segment: u64,
    /// Length of the sender's pages, in which its data lie one behind the other \[bytes\]; `None`: each segment lies in a page
    /// of its own.
    pub(super) page: Option<u64>,
}

impl Sharing {
    /// Returns whether the segments from `first` to before `end` fit into one buffer.
    pub(super) fn fits(&self, first: u64, end: u64) -> bool {
        end - first + self.parted(first, end) <= self.most
    }

    /// Returns how many fragments they have beyond one each: one for each end of a page within a segment.
    fn parted(&self, first: u64, end: u64) -> u64 {
        let Some(page) = self.page else { return 0 };
        let (from, last) = (first * self.segment / page + 1, (end * self.segment - 1) / page);
        (from..=last).filter(|number| number * page % self.segment > 0).count() as u64
    }
}

/// Returns the limit up to which a segment raises it, whose memory is `truesize` (`tcp_grow_window`, `__tcp_grow_window`).
fn most_raised(payload: u64, truesize: u64, most_buffer: u64) -> u64 {
    if truesize / 2 <= payload {
        return u64::MAX;
    }
    let halvings = (0..63).find(|&halvings| (truesize / 4) >> halvings <= payload);
    halvings.map_or(0, |halvings| (most_buffer / 4) >> halvings)
}

#[cfg(test)]
mod tests {
    use base::{Marks, Time};

    use super::super::LinuxAcks;
    use super::*;
    use crate::{Dialect, Receiver, ReceiverConfig};

    #[test]
    fn a_packet_in_linear_memory_takes_a_power_of_two_and_its_structure() {
        for (segment_bytes, timestamps, truesize) in
            [(1448, true, 2304), (1460, false, 2304), (524, true, 1280), (8948, true, 16640), (88, true, 1280)]
        {
            let settings =
                LinuxReceiver { segment_bytes, timestamps, memory: PacketMemory::Linear, ..LinuxReceiver::default() };
            let memory = Memory::of(&settings);
            assert_eq!(memory.overhead + u64::from(segment_bytes), truesize, "{segment_bytes}");
            assert!(memory.sharing.fits(0, 1) && !memory.sharing.fits(0, 2));
        }
    }

    /// Half of what is left of the buffer is announced, and the window of short packets stays below its limit.
    #[test]
    fn packets_beyond_a_hole_leave_less_of_the_buffer_in_linear_memory() {
        for (memory, used) in [(PacketMemory::Paged, 10 * 1448 + 1280), (PacketMemory::Linear, 10 * 2304)] {
            let settings = LinuxReceiver { buffer_bytes: 125_000, memory, ..LinuxReceiver::default() };
            let mut rules = LinuxAcks::new(settings, base::Clock::new(1_000_000));
            rules.limit = rules.clamp;
            for sequence in 1..=10 {
                rules.waiting.hold(sequence, &rules.common.memory.sharing);
            }
            assert_eq!(rules.memory(10), used, "{memory:?}");
            assert_eq!(rules.window_with(used), rules.common.aligned((125_000 - used) / 2), "{memory:?}");
        }
        let short = LinuxReceiver {
            segment_bytes: 524,
            memory: PacketMemory::Linear,
            most_buffer_bytes: 1 << 20,
            ..LinuxReceiver::default()
        };
        let mut rules = LinuxAcks::new(short, base::Clock::new(1_000_000));
        rules.resize(1 << 20, 1 << 19);
        rules.limit = (1 << 18) - 1;
        rules.grow(0);
        rules.grow(0);
        assert_eq!(rules.limit, 1 << 18, "a quarter of the largest buffer");
    }

    /// Returns a receiver with a buffer of 20000 bytes to which packets came, one in a millisecond from 20 ms on.
    fn with_small_buffer(memory: PacketMemory, arrivals: &[u64]) -> Receiver {
        let clock = base::Clock::new(1_000_000);
        let linux =
            LinuxReceiver { buffer_bytes: 20_000, most_buffer_bytes: 20_000, memory, ..LinuxReceiver::default() };
        let config = ReceiverConfig { selective: true, linux: Some(linux), ..ReceiverConfig::default() };
        let mut receiver = Receiver::new(&config, Dialect::Rfc, clock).with_path(at(10), Time::ZERO);
        for (&sequence, ms) in arrivals.iter().zip(20..) {
            receiver.on_data(at(ms), sequence, at(ms - 10), Marks::NONE, 0);
        }
        receiver
    }

    fn at(ms: u64) -> Time {
        Time::from_ticks(1000 * ms)
    }

    /// The kernel's receivers with 20000 bytes. The ACK of what fills a hole announces half of what five packets leave: 4240 bytes
    /// if each has memory of its own. In pages the one behind the hole joins the other's buffer.
    #[test]
    fn what_fills_a_hole_is_in_the_buffer_as_its_ack_is_sent() {
        for (memory, used) in [(PacketMemory::Linear, 5 * 2304), (PacketMemory::Paged, 5 * 1448 + 1280)] {
            let mut receiver = with_small_buffer(memory, &[0, 2, 3, 4, 5, 1]);
            assert_eq!(receiver.linux_rules().map(|rules| rules.window), Some((20_000 - used) / 2), "{memory:?}");
        }
    }

    /// Linux `__tcp_cleanup_rbuf`: what is left of a window of 5016 bytes doubles as the next packet is read.
    #[test]
    fn a_packet_is_acknowledged_at_once_if_what_is_left_of_the_window_doubles_as_it_is_read() {
        let arrivals = [0, 2, 3, 4, 5, 6, 1, 7];
        let mut receiver = with_small_buffer(PacketMemory::Paged, &arrivals[..7]);
        assert_eq!(receiver.linux_rules().map(|rules| (rules.window, rules.due)), Some((5016, Time::NEVER)));
        let mut receiver = with_small_buffer(PacketMemory::Paged, &arrivals);
        assert_eq!(receiver.deadline(), at(27));
        assert_eq!(receiver.on_timer().next, 8);
    }

    /// The kernel's flow with a hole behind what fills one: its ACK is not a quick one, as half of the buffer is used, but the
    /// first of three that are sent at once.
    #[test]
    fn the_window_ends_quick_ack_mode_before_that_is_asked_for() {
        let mut receiver = with_small_buffer(PacketMemory::Linear, &[0, 2, 4, 5, 6, 7, 8]);
        receiver.linux_rules().expect("Linux's rules").quick = 16;
        assert!(receiver.on_data(at(30), 1, at(20), Marks::NONE, 0).is_some());
        assert_eq!(receiver.linux_rules().map(|rules| (rules.quick, rules.duplicates)), Some((0, 1)));
    }

    /// The kernel's receiver with 584000 bytes: the packet whose ACK is sent as it arrives is unread, and leaves 290636 bytes. The
    /// one with PSH is read before; the ACKs after it would announce less, and wait until their packets are read.
    #[test]
    fn an_ack_in_order_leaves_the_packet_out_of_the_window_unless_it_is_sent_as_that_is_read() {
        let mut receiver = with_small_buffer(PacketMemory::Paged, &[0]);
        let rules = receiver.linux_rules().expect("Linux's rules");
        rules.resize(584_000, 292_000);
        (rules.limit, rules.quick) = (292_000, 0);
        let windows = [(1, Marks::NONE), (2, Marks::NONE), (3, Marks::PSH), (4, Marks::NONE), (5, Marks::NONE)].map(
            |(sequence, marks)| {
                let ms = 20 + sequence;
                receiver.on_data(at(ms), sequence, at(ms - 10), marks, 0)?;
                receiver.linux_rules().map(|rules| rules.window)
            },
        );
        assert_eq!(windows, [None, Some(290_636), Some(292_000), None, Some(292_000)]);
    }

    #[test]
    fn short_packets_raise_the_window_to_a_part_of_the_largest_buffer() {
        let limits =
            [(1448, 2304), (524, 1280), (88, 1280)].map(|(payload, truesize)| most_raised(payload, truesize, 1 << 22));
        assert_eq!(limits, [u64::MAX, 1 << 20, 1 << 18]);
    }
}
