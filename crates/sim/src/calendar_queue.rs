//! A calendar queue: the packets of many flows wait here until their instants.
//!
//! R. Brown, "Calendar queues", Communications of the ACM 31, 1988; its far future is kept in coarser buckets, as in
//! a ladder queue (W. T. Tang, R. S. M. Goh, I. L.-J. Thng, ACM Transactions on Modeling and Computer Simulation 15,
//! 2005).
//!
//! ```text
//!            earlier  <------------------------- time ------------------------->  later
//!
//!   pop      front           ring of buckets             overflow buckets           far overflow
//!    <---  [ . .. . ]  <--  |.| | |.|.| |:| | |.|  <--  |.: . | :.. |.   |...|  <--  {.   .  . }
//!            sorted         unsorted; most have         unsorted; each covers        sorted
//!            vector         one packet or none          many buckets of the ring     tree
//!                           ^                    ^
//!                           origin               end
//! ```
//!
//! The four parts follow one another in time. The ring covers one *year*, or less by part of an overflow bucket. When
//! the front is empty, the next occupied bucket is sorted and becomes the front. When the ring has room for it, the
//! next overflow bucket is spread over the ring. The packets of the far overflow move to overflow buckets as time
//! advances. The width of a bucket follows from the packets that wait ([`resize`]). All of this decides how fast the
//! queue is, never its order.

mod overflow;
mod resize;
#[cfg(test)]
mod tests;

use base::cast::{to_index, to_u32};
use base::{Packet, Time};

use overflow::Overflow;

/// A priority queue of packets by time. Of packets with equal times the one with the lowest flow leaves first, and those
/// of one flow leave in the order in which they were pushed: the streams of many private links merge as those of links
/// of their own do.
///
/// The queue keeps no state for a flow without packets here: idle flows cost no memory, and few packets stay in few
/// cache lines, however many flows there are.
#[derive(Clone, Debug)]
pub(crate) struct CalendarQueue {
    /// Packets of the front and of the ring, and free entries.
    entries: Vec<Entry>,
    /// First free entry; free entries are linked by `next`.
    free: u32,
    /// Packets before the first bucket of the ring, sorted, from `head` on. Non-empty whenever the queue is.
    front: Vec<(Time, u32)>,
    /// Number of packets of `front` that have been popped.
    head: usize,
    /// The entry pushed last to each bucket of the ring; valid where the bucket is occupied. A bucket's entries are
    /// linked by `next`.
    buckets: Vec<u32>,
    /// One bit for each bucket of the ring: set if it has packets.
    occupied: Vec<u64>,
    /// Binary logarithm of a bucket's width \[ticks\].
    width_log2: u32,
    /// Binary logarithm of the number of buckets that one overflow bucket covers.
    overflow_log2: u32,
    /// Number of the ring's first bucket; buckets are numbered from time 0 on.
    origin: u64,
    /// One past the number of the ring's last bucket; the overflow begins here.
    end: u64,
    /// Packets in the ring.
    in_ring: usize,
    /// Whether the ring was made for all waiting packets, rather than for the earliest ones only.
    ring_for_all: bool,
    /// Packets after the end of the ring.
    overflow: Overflow,
    /// Work since the last resize that buckets of another width might have saved \[steps\].
    excess_steps: usize,
    /// Excess work that leads to a resize \[steps\].
    excess_limit: usize,
}

/// A packet and the time at which it leaves the queue.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    time: Time,
    packet: Packet,
}

/// A packet of the front or of the ring, in a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Entry {
    time: Time,
    packet: Packet,
    next: u32,
}

impl Entry {
    fn waiting(&self) -> Waiting {
        Waiting { time: self.time, packet: self.packet }
    }
}

/// Returns the flow of an entry's packet.
#[inline(always)]
fn flow_of(entries: &[Entry], entry: u32) -> u32 {
    entries.get(entry as usize).map_or(0, |entry| entry.packet.flow)
}

/// The end of a list of entries.
const NONE: u32 = u32::MAX;
/// Packets in the ring from which on a new packet is so seldom the earliest that the processor predicts it.
const LARGE: usize = 256;
/// Popped packets that the front keeps at most before it moves its rest: fewer moves against a shorter vector.
const LONGEST_POPPED: usize = 64;
/// Packets of a bucket that are sorted at no noticeable cost; a fuller bucket counts as excess work.
const CHEAP_TO_SORT: usize = 8;
/// Steps that a packet counts for when it is pushed to a ring with more packets than buckets: such a ring is resized
/// after one packet for each bucket.
const FULL_RING_STEPS: usize = 8;

impl CalendarQueue {
    /// Returns the earliest time; [`Time::NEVER`] if the queue is empty.
    #[inline(always)]
    pub(crate) fn first(&self) -> Time {
        self.front.get(self.head).map_or(Time::NEVER, |&(time, _)| time)
    }

    /// Returns whether the queue is so large that a new packet is hardly ever the earliest.
    #[inline(always)]
    pub(crate) fn is_large(&self) -> bool {
        self.in_ring >= LARGE
    }

    /// Adds a packet, which leaves at `time`.
    #[inline(always)]
    pub(crate) fn push(&mut self, time: Time, packet: Packet) {
        self.insert(time, packet);
        if self.excess_steps > self.excess_limit {
            self.resize();
        }
    }

    /// Adds a packet to the part of the queue that covers its time. The packet's fields stay in registers up to there.
    #[inline(always)]
    fn insert(&mut self, time: Time, packet: Packet) {
        let bucket = self.bucket(time);
        if self.front.is_empty() {
            self.start_after(bucket);
            let entry = self.allocate(time, packet);
            return self.front.push((time, entry));
        }
        if bucket >= self.end {
            // Wider buckets may save the detour.
            self.excess_steps += usize::from(self.ring_for_all) + self.overflow.push(time, packet);
            return;
        }
        let entry = self.allocate(time, packet);
        if bucket < self.origin {
            self.insert_in_front(time, entry);
        } else {
            self.insert_in_ring(bucket, entry);
        }
    }

    /// Removes and returns the earliest packet.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<&Packet> {
        let &(_, first) = self.front.get(self.head)?;
        self.head += 1;
        if self.head == self.front.len() {
            self.refill_front();
        }
        let free = std::mem::replace(&mut self.free, first);
        let entry = self.entries.get_mut(first as usize)?;
        entry.next = free;
        Some(&entry.packet)
    }

    /// Sorts buckets into the front until it has `packets` packets; calls `visit` with each packet that comes there, so
    /// that its state can be prefetched.
    #[inline(always)]
    pub(crate) fn sort_ahead(&mut self, packets: usize, mut visit: impl FnMut(&Packet)) {
        self.discard_popped();
        while self.front.len() - self.head < packets && self.in_ring > 0 {
            let sorted = self.front.len();
            self.append_bucket();
            for &(_, entry) in self.front.get(sorted..).into_iter().flatten() {
                visit(&self.entries[entry as usize].packet);
            }
        }
    }

    /// Returns the number of the bucket that covers `time`.
    #[inline(always)]
    fn bucket(&self, time: Time) -> u64 {
        time.ticks() >> self.width_log2
    }

    /// Returns the index in the ring of a bucket.
    #[inline(always)]
    fn ring_index(&self, bucket: u64) -> usize {
        to_index(bucket & (self.buckets.len() as u64 - 1))
    }

    /// Places the ring after a bucket; for an empty queue.
    #[inline(always)]
    fn start_after(&mut self, bucket: u64) {
        self.origin = bucket + 1;
        let overflow_bucket = (self.origin + self.buckets.len() as u64) >> self.overflow_log2;
        self.end = overflow_bucket << self.overflow_log2;
        self.overflow.start_at(overflow_bucket);
    }

    /// Returns an entry that holds the packet: a free one, or a new one.
    #[inline(always)]
    fn allocate(&mut self, time: Time, packet: Packet) -> u32 {
        let index = self.free;
        match self.entries.get_mut(index as usize) {
            Some(entry) => {
                self.free = entry.next;
                *entry = Entry { time, packet, next: NONE };
                index
            }
            None => self.append_entry(Entry { time, packet, next: NONE }),
        }
    }

    #[cold]
    #[inline(never)]
    fn append_entry(&mut self, entry: Entry) -> u32 {
        self.entries.push(entry);
        to_u32(self.entries.len()) - 1
    }

    #[inline(always)]
    fn insert_in_ring(&mut self, bucket: u64, entry: u32) {
        self.in_ring += 1;
        let index = self.ring_index(bucket);
        let (word, bit) = (&mut self.occupied[index / 64], 1 << (index % 64));
        if *word & bit != 0 {
            self.entries[entry as usize].next = self.buckets[index];
        }
        *word |= bit;
        self.buckets[index] = entry;
        if self.in_ring > self.buckets.len() {
            self.excess_steps += FULL_RING_STEPS;
        }
    }

    /// Inserts an entry behind those of the front that do not leave later.
    #[inline(never)]
    fn insert_in_front(&mut self, time: Time, entry: u32) {
        self.discard_popped();
        let (entries, flow) = (&self.entries, flow_of(&self.entries, entry));
        let is_later = |&&(at, other): &&(Time, u32)| at > time || at == time && flow_of(entries, other) > flow;
        let later = self.front[self.head..].iter().rev().take_while(is_later).count();
        self.front.insert(self.front.len() - later, (time, entry));
        self.excess_steps += later;
    }

    /// Removes popped packets from the front once they are most of it: a front that is never empty would grow without
    /// bound.
    #[inline(always)]
    fn discard_popped(&mut self) {
        if self.head >= LONGEST_POPPED && 2 * self.head > self.front.len() {
            self.front.drain(..self.head);
            self.head = 0;
        }
    }

    /// Moves the next occupied bucket into the front, whose packets have all been popped.
    #[inline(always)]
    fn refill_front(&mut self) {
        self.front.clear();
        self.head = 0;
        if self.in_ring == 0 {
            let Some(overflow_bucket) = self.overflow.first_occupied() else { return };
            self.overflow.advance_to(overflow_bucket);
            self.origin = overflow_bucket << self.overflow_log2;
            self.end = self.origin;
            self.refill_ring();
        }
        self.append_bucket();
    }

    /// Moves the next occupied bucket of the ring to the end of the front.
    #[inline(always)]
    fn append_bucket(&mut self) {
        let index = self.next_occupied();
        self.occupied[index / 64] &= !(1 << (index % 64));
        self.origin += ((index as u64).wrapping_sub(self.origin) & (self.buckets.len() as u64 - 1)) + 1;
        let last = self.buckets[index];
        let Entry { time, next, .. } = self.entries[last as usize];
        self.front.push((time, last));
        self.in_ring -= 1;
        if next != NONE {
            self.append_rest_of_bucket(next);
        }
        if self.has_room_for_overflow_bucket() {
            self.refill_ring();
        }
    }

    /// Appends the packets of a bucket from `entry` on, and sorts them with the bucket's last one, which is at the end
    /// of the front already.
    #[inline(never)]
    fn append_rest_of_bucket(&mut self, mut entry: u32) {
        let start = self.front.len() - 1;
        while let Some(&Entry { time, next, .. }) = self.entries.get(entry as usize) {
            self.front.push((time, entry));
            entry = next;
        }
        let bucket = &mut self.front[start..];
        self.in_ring -= bucket.len() - 1;
        // The list begins with the entry pushed last. Once reversed, a stable sort keeps the push order of a flow.
        bucket.reverse();
        let entries = &self.entries;
        bucket.sort_by(|one, other| {
            one.0.cmp(&other.0).then_with(|| flow_of(entries, one.1).cmp(&flow_of(entries, other.1)))
        });
        if bucket.len() > CHEAP_TO_SORT && bucket[0].0 < bucket[bucket.len() - 1].0 {
            self.excess_steps += bucket.len();
        }
    }

    /// Returns the index of the ring's first occupied bucket; there must be one.
    #[inline(always)]
    fn next_occupied(&mut self) -> usize {
        let index = self.ring_index(self.origin);
        let bits = self.occupied[index / 64] & (u64::MAX << (index % 64));
        if bits == 0 {
            return self.next_occupied_after(index / 64);
        }
        index & !63 | bits.trailing_zeros() as usize
    }

    #[inline(never)]
    fn next_occupied_after(&mut self, mut word: usize) -> usize {
        loop {
            self.excess_steps += 1;
            word = (word + 1) & (self.occupied.len() - 1);
            let bits = self.occupied[word];
            if bits != 0 {
                return 64 * word + bits.trailing_zeros() as usize;
            }
        }
    }

    /// Returns whether the buckets of one more overflow bucket fit into the ring.
    #[inline(always)]
    fn has_room_for_overflow_bucket(&self) -> bool {
        self.end - self.origin + (1 << self.overflow_log2) <= self.buckets.len() as u64
    }

    /// Spreads the next overflow buckets over the ring, as many as it has room for.
    #[inline(never)]
    fn refill_ring(&mut self) {
        while self.has_room_for_overflow_bucket() {
            let packets = self.overflow.take_first();
            self.end += 1 << self.overflow_log2;
            for &Waiting { time, packet } in &packets {
                let entry = self.allocate(time, packet);
                self.insert_in_ring(self.bucket(time), entry);
            }
            let more_than_one_a_bucket = packets.len() >> self.overflow_log2 > 0;
            if more_than_one_a_bucket {
                self.excess_steps += packets.len();
            }
            self.overflow.recycle(packets);
        }
    }
}
