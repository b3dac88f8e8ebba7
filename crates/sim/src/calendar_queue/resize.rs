//! The policy of resizing: its occasion, and the choice of the number and the width of the buckets.
//!
//! Operations count the work that other buckets might have saved (`excess_steps`). Once there is more of it than
//! `excess_limit`, all packets are taken out, the buckets are chosen for them, and all are inserted again.

use super::{CalendarQueue, Overflow, Waiting, NONE};

/// The fewest buckets of the ring. Fewer would save little memory, and the ring would turn often.
pub(super) const MIN_BUCKETS: usize = 64;
/// The most waiting packets for which the ring is made to hold all of them. The ring of more packets would leave a
/// processor's second-level cache, so that the detour over the overflow is cheaper.
pub(super) const MOST_IN_RING: usize = 4096;
/// Buckets of a ring for the earliest packets only: as many as stay in the second-level cache with their packets.
pub(super) const CACHED_BUCKETS: usize = 2048;
/// Buckets for each of the earliest packets in such a ring: room for pushes that come before the last of them.
const BUCKETS_A_CACHED_PACKET: usize = 4;
/// Overflow buckets in a year where the ring is for all packets. The ring is unused by up to one overflow bucket:
/// narrow ones waste little of it.
const OVERFLOW_BUCKETS_A_YEAR: usize = 8;
/// Overflow buckets in a year where most packets pass through the overflow. Wide ones are written and read in long
/// runs, and the far overflow begins later.
const WIDE_OVERFLOW_BUCKETS_A_YEAR: usize = 2;
/// Binary logarithm of the first width of a bucket: a quarter of a millisecond \[ticks\].
const INITIAL_WIDTH_LOG2: u32 = 28;
/// Binary logarithm of the largest width: about a quarter of an hour \[ticks\], so that no sum of widths overflows.
const MAX_WIDTH_LOG2: u32 = 50;
/// The fewest packets from which a narrower bucket is concluded: fewer say little about those to come.
const MIN_SAMPLE: usize = 16;
/// Excess steps for each bucket that lead to a resize: a resize costs about as much as the work it may save.
const EXCESS_STEPS_A_BUCKET: usize = 8;

/// The number and the width of the buckets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Size {
    buckets: usize,
    width_log2: u32,
    overflow_log2: u32,
    ring_for_all: bool,
}

impl Size {
    fn new(buckets: usize, width_log2: u32, ring_for_all: bool) -> Size {
        let a_year = if ring_for_all { OVERFLOW_BUCKETS_A_YEAR } else { WIDE_OVERFLOW_BUCKETS_A_YEAR };
        Size { buckets, width_log2, overflow_log2: (buckets / a_year).trailing_zeros(), ring_for_all }
    }

    /// Chooses two buckets or more for each packet that the ring is for, so wide that a year is twice the time over
    /// which most of those packets lie, or more. There must be a packet; they are sorted by time.
    fn of(packets: &[Waiting], present_width_log2: u32) -> Size {
        let ring_for_all = packets.len() <= MOST_IN_RING;
        let (sample, buckets) = if ring_for_all {
            (packets.len(), (2 * packets.len()).next_power_of_two().max(MIN_BUCKETS))
        } else {
            (CACHED_BUCKETS / BUCKETS_A_CACHED_PACKET, CACHED_BUCKETS)
        };
        // The last eighth may be outliers.
        let span = (packets[sample * 7 / 8].time - packets[0].time).ticks();
        let narrowest = if sample < MIN_SAMPLE { 1 << present_width_log2 } else { 1 };
        let width = (2 * span / buckets as u64).clamp(narrowest, 1 << MAX_WIDTH_LOG2).next_power_of_two();
        Size::new(buckets, width.trailing_zeros(), ring_for_all)
    }
}

impl Default for CalendarQueue {
    fn default() -> Self {
        CalendarQueue::with_size(Size::new(MIN_BUCKETS, INITIAL_WIDTH_LOG2, true))
    }
}

impl CalendarQueue {
    fn with_size(size: Size) -> CalendarQueue {
        let Size { buckets, width_log2, overflow_log2, ring_for_all } = size;
        CalendarQueue {
            entries: Vec::new(),
            free: NONE,
            front: Vec::new(),
            head: 0,
            buckets: vec![NONE; buckets],
            occupied: vec![0; buckets / 64],
            width_log2,
            overflow_log2,
            origin: 0,
            end: 0,
            in_ring: 0,
            ring_for_all,
            overflow: Overflow::new(width_log2 + overflow_log2),
            excess_steps: 0,
            excess_limit: EXCESS_STEPS_A_BUCKET * buckets,
        }
    }

    /// Chooses the buckets for the packets that wait now, and inserts these packets again.
    #[cold]
    #[inline(never)]
    pub(super) fn resize(&mut self) {
        let packets = self.take_all();
        let Size { buckets, width_log2, overflow_log2, ring_for_all } = Size::of(&packets, self.width_log2);
        let unchanged = buckets == self.buckets.len() && width_log2 == self.width_log2;
        // If no other buckets would save the excess work, the next look comes later.
        let excess_limit =
            if unchanged { self.excess_limit.saturating_mul(2) } else { EXCESS_STEPS_A_BUCKET * buckets };
        (self.width_log2, self.overflow_log2, self.ring_for_all) = (width_log2, overflow_log2, ring_for_all);
        self.overflow = Overflow::new(width_log2 + overflow_log2);
        self.buckets = vec![NONE; buckets];
        self.occupied = vec![0; buckets / 64];
        for Waiting { time, packet } in packets {
            self.insert(time, packet);
        }
        (self.excess_steps, self.excess_limit) = (0, excess_limit);
    }

    /// Empties the queue; returns its packets by time, those with equal times in push order.
    fn take_all(&mut self) -> Vec<Waiting> {
        let mut packets: Vec<Waiting> =
            self.front[self.head..].iter().map(|&(_, entry)| self.entries[entry as usize].waiting()).collect();
        for (index, &last) in self.buckets.iter().enumerate() {
            let occupied = self.occupied[index / 64] >> (index % 64) & 1 == 1;
            let (start, mut next) = (packets.len(), if occupied { last } else { NONE });
            while let Some(entry) = self.entries.get(next as usize) {
                packets.push(entry.waiting());
                next = entry.next;
            }
            packets[start..].reverse();
        }
        packets.extend(std::mem::replace(&mut self.overflow, Overflow::new(0)).into_packets());
        // Packets with equal times are all in one part, in push order: a stable sort keeps it.
        packets.sort_by_key(|packet| packet.time);
        (self.head, self.in_ring, self.free) = (0, 0, NONE);
        self.front.clear();
        self.entries.clear();
        packets
    }
}
