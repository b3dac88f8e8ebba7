//! Packets after the ring of a calendar queue.

use std::collections::BTreeMap;

use base::cast::to_index;
use base::{prefetch, Packet, Time};

use super::Waiting;

/// Packets after the ring of buckets: in overflow buckets, each in push order, and after those in a sorted tree.
///
/// Only the end of an overflow bucket is written, and once the ring has room for it, it is read from beginning to end.
/// Both are sequential, so the packets here may lie in slow memory.
#[derive(Clone, Debug)]
pub(super) struct Overflow {
    /// Overflow buckets `first` to `first + BUCKETS - 1`, each at its number modulo [`BUCKETS`].
    buckets: Vec<Vec<Waiting>>,
    /// Number of the first overflow bucket; they are numbered from time 0 on.
    first: u64,
    /// Packets in the overflow buckets.
    in_buckets: usize,
    /// Binary logarithm of an overflow bucket's width \[ticks\].
    width_log2: u32,
    /// Allocated memory of overflow buckets that have been taken.
    spare: Vec<Vec<Waiting>>,
    /// The far overflow: packets after all overflow buckets, by time and push number.
    far: BTreeMap<(Time, u64), Waiting>,
    /// Packets pushed to the far overflow so far.
    far_pushes: u64,
}

/// Number of overflow buckets: memory of an empty queue (24 bytes each) against packets in the far overflow.
const BUCKETS: usize = 512;
/// Steps that wider buckets would save for a packet of the far overflow: the search in a tree, twice.
const FAR_STEPS: usize = 8;

impl Overflow {
    /// Returns an empty overflow with buckets of 2^`width_log2` ticks.
    pub(super) fn new(width_log2: u32) -> Overflow {
        Overflow {
            buckets: vec![Vec::new(); BUCKETS],
            first: 0,
            in_buckets: 0,
            width_log2,
            spare: Vec::new(),
            far: BTreeMap::new(),
            far_pushes: 0,
        }
    }

    /// Adds a packet that is not before the first overflow bucket; returns the steps that wider buckets might have
    /// saved.
    #[inline(always)]
    pub(super) fn push(&mut self, time: Time, packet: Packet) -> usize {
        let (number, waiting) = (self.bucket(time), Waiting { time, packet });
        if number - self.first >= BUCKETS as u64 {
            self.push_far(waiting);
            return FAR_STEPS;
        }
        let bucket = &mut self.buckets[index(number)];
        if bucket.capacity() == 0 {
            *bucket = self.spare.pop().unwrap_or_default();
        }
        bucket.push(waiting);
        // The memory that is written next is prefetched although nothing of it is read: a store that waits for its
        // cache line would hold up all later stores.
        if let Some(later) = bucket.spare_capacity_mut().get(2) {
            prefetch(later);
        }
        self.in_buckets += 1;
        0
    }

    /// Returns the number of the first overflow bucket that has packets, or would have the earliest of the far
    /// overflow; `None` if there are no packets.
    pub(super) fn first_occupied(&self) -> Option<u64> {
        if self.in_buckets > 0 {
            return (self.first..).find(|&number| !self.buckets[index(number)].is_empty());
        }
        self.far.first_key_value().map(|((time, _), _)| self.bucket(*time))
    }

    /// Makes `number` the first overflow bucket of an empty overflow.
    #[inline(always)]
    pub(super) fn start_at(&mut self, number: u64) {
        self.first = number;
    }

    /// Makes `number` the first overflow bucket; all before it must be empty.
    pub(super) fn advance_to(&mut self, number: u64) {
        self.first = number;
        if !self.far.is_empty() {
            self.move_from_far();
        }
    }

    /// Removes the first overflow bucket; returns its packets. Their memory can be reused ([`Overflow::recycle`]).
    pub(super) fn take_first(&mut self) -> Vec<Waiting> {
        let packets = std::mem::take(&mut self.buckets[index(self.first)]);
        self.in_buckets -= packets.len();
        self.advance_to(self.first + 1);
        packets
    }

    /// Keeps the memory of a taken bucket for other packets.
    pub(super) fn recycle(&mut self, mut packets: Vec<Waiting>) {
        packets.clear();
        if packets.capacity() > 0 {
            self.spare.push(packets);
        }
    }

    /// Returns all packets, those with equal times in push order.
    pub(super) fn into_packets(self) -> impl Iterator<Item = Waiting> {
        let first = index(self.first);
        let mut buckets = self.buckets;
        buckets.rotate_left(first);
        buckets.into_iter().flatten().chain(self.far.into_values())
    }

    /// Returns the number of the overflow bucket that covers `time`.
    fn bucket(&self, time: Time) -> u64 {
        time.ticks() >> self.width_log2
    }

    /// Moves packets of the far overflow that overflow buckets now cover there, before any later push with the same
    /// time.
    #[cold]
    #[inline(never)]
    fn move_from_far(&mut self) {
        while let Some(waiting) = self.far.first_entry() {
            if (waiting.key().0.ticks() >> self.width_log2) - self.first >= BUCKETS as u64 {
                break;
            }
            let Waiting { time, packet } = waiting.remove();
            self.push(time, packet);
        }
    }

    #[cold]
    #[inline(never)]
    fn push_far(&mut self, waiting: Waiting) {
        self.far_pushes += 1;
        self.far.insert((waiting.time, self.far_pushes), waiting);
    }
}

/// Returns the index of an overflow bucket by its number.
#[inline(always)]
fn index(number: u64) -> usize {
    to_index(number % BUCKETS as u64)
}
