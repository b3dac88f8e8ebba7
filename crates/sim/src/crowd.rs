use std::hint::select_unpredictable;

use base::{Packet, Time};

/// Packets of many streams that wait at one place until their instants: what comes from links that flows have for themselves.
///
/// It holds the packets under way, and nothing for a stream that has none: so sources cost no memory here, and few packets
/// stay in few cache lines, however many sources there are. At equal instants what was told first goes first.
///
/// Who comes after nearly all others takes its place in a queue, from the end; those who overtake more wait in a heap of four
/// children. A key holds the instant, the order of telling and where the packet lies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd {
    /// The queue's ring, from `head` on, `queued` long.
    queue: Vec<u128>,
    head: usize,
    queued: usize,
    /// The heap's first, and groups of four; beyond `length` they are larger than any.
    keys: Vec<u128>,
    length: usize,
    packets: Vec<Packet>,
    free: Vec<u32>,
    told: u64,
}

/// Bits of a key that say where the packet lies; those above say in which order it was told.
const PLACE_BITS: u32 = 26;
const PLACES: u64 = (1 << PLACE_BITS) - 1;

/// Who overtakes so many waits in the heap.
const MOST_OVERTAKEN: usize = 16;

impl Crowd {
    /// The earliest instant; [`Time::NEVER`] where none waits.
    #[inline(always)]
    pub(crate) fn first(&self) -> Time {
        let mut first = if self.queued > 0 { self.queue[self.head] } else { u128::MAX };
        if self.length > 0 {
            first = first.min(self.keys[0]);
        }
        Time::from_picoseconds((first >> 64) as u64)
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, time: Time, packet: Packet) {
        let place = match self.free.pop() {
            Some(place) => {
                self.packets[place as usize] = packet;
                u64::from(place)
            }
            None => self.add_place(packet),
        };
        let key = u128::from(time.picoseconds()) << 64 | u128::from(self.told << PLACE_BITS | place);
        self.told += 1;
        if self.queued == self.queue.len() {
            self.grow_queue();
        }
        let queue = self.queue.as_mut_slice();
        let mask = queue.len() - 1;
        // Where many wait in the heap already, to overtake any is to overtake many.
        let most = if self.length > 4 * MOST_OVERTAKEN { 1 } else { MOST_OVERTAKEN };
        if self.queued >= most && queue[(self.head + self.queued - most) & mask] > key {
            return self.push_far_ahead(key);
        }
        let (mut gap, mut ahead) = (self.head + self.queued, self.queued);
        while ahead > 0 {
            let before = queue[(gap - 1) & mask];
            if before <= key {
                break;
            }
            queue[gap & mask] = before;
            (gap, ahead) = (gap - 1, ahead - 1);
        }
        queue[gap & mask] = key;
        self.queued += 1;
    }

    #[inline(never)]
    fn push_far_ahead(&mut self, key: u128) {
        if self.length == self.keys.len() {
            self.grow();
        }
        self.length += 1;
        self.rise(self.length - 1, key);
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        if self.length > 0 && (self.queued == 0 || self.keys[0] < self.queue[self.head]) {
            return self.pop_far_ahead();
        }
        self.queued = self.queued.checked_sub(1)?;
        let first = self.queue[self.head];
        self.head = (self.head + 1) & (self.queue.len() - 1);
        Some(self.leave(first))
    }

    #[inline(never)]
    fn pop_far_ahead(&mut self) -> Option<Packet> {
        self.length = self.length.checked_sub(1)?;
        let first = self.keys[0];
        let last = std::mem::replace(&mut self.keys[self.length], u128::MAX);
        if self.length > 0 {
            self.sink(last);
        }
        Some(self.leave(first))
    }

    #[inline(always)]
    fn leave(&mut self, key: u128) -> Packet {
        let place = key as u64 & PLACES;
        self.free.push(place as u32);
        self.packets[place as usize]
    }

    #[cold]
    fn add_place(&mut self, packet: Packet) -> u64 {
        self.packets.push(packet);
        self.packets.len() as u64 - 1
    }

    #[cold]
    fn grow_queue(&mut self) {
        self.queue.rotate_left(self.head);
        self.head = 0;
        self.queue.resize((2 * self.queue.len()).max(8), u128::MAX);
    }

    #[cold]
    fn grow(&mut self) {
        let more = if self.keys.is_empty() { 1 } else { 4 };
        self.keys.resize(self.keys.len() + more, u128::MAX);
    }

    #[inline(always)]
    fn rise(&mut self, mut place: usize, key: u128) {
        let keys = self.keys.as_mut_slice();
        while place > 0 {
            let above = (place - 1) / 4;
            if keys[above] <= key {
                break;
            }
            keys[place] = keys[above];
            place = above;
        }
        keys[place] = key;
    }

    /// `key` takes the first place and sinks from there.
    #[inline(always)]
    fn sink(&mut self, key: u128) {
        let keys = self.keys.as_mut_slice();
        let mut place = 0;
        while let Some(four) = keys.get(4 * place + 1..4 * place + 5) {
            let least = least_of_four(four, 4 * place + 1);
            if keys[least] >= key {
                break;
            }
            keys[place] = keys[least];
            place = least;
        }
        keys[place] = key;
    }
}

/// Where the least of four keys is that begin at `below`. Which one cannot be predicted: no branch.
#[inline(always)]
fn least_of_four(four: &[u128], below: usize) -> usize {
    let a = select_unpredictable(four[1] < four[0], 1, 0);
    let b = select_unpredictable(four[3] < four[2], 3, 2);
    below + select_unpredictable(four[b & 3] < four[a & 3], b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_go_by_their_instants_and_at_equal_ones_as_they_were_told() {
        let mut crowd = Crowd::default();
        for (sequence, time) in [5, 3, 5, 1, 3, 3].into_iter().enumerate() {
            crowd.push(Time::from_picoseconds(time), Packet { sequence: sequence as u64, ..Packet::default() });
        }
        assert_eq!(crowd.first(), Time::from_picoseconds(1));
        let order: Vec<u64> = std::iter::from_fn(|| crowd.pop()).map(|packet| packet.sequence).collect();
        assert_eq!(order, [3, 1, 4, 5, 0, 2]);
        assert_eq!(crowd.first(), Time::NEVER);
    }

    #[test]
    fn many_packets_come_in_order_while_others_join() {
        let (mut crowd, mut random) = (Crowd::default(), base::RandomStream::named(1, 0, "crowd"));
        let (mut now, mut held) = (0, 0);
        for round in 0..100_000_u64 {
            if held == 0 || (held < 300 && random.below(3) > 0) {
                let at = now + random.below(1000) as u64;
                crowd.push(
                    Time::from_picoseconds(at),
                    Packet { sequence: at, stamp: Time::from_picoseconds(round), ..Packet::default() },
                );
                held += 1;
            } else {
                let first = crowd.first();
                let packet = crowd.pop().unwrap();
                assert_eq!(first, Time::from_picoseconds(packet.sequence));
                assert!(packet.sequence >= now);
                (now, held) = (packet.sequence, held - 1);
            }
        }
        assert!(crowd.packets.len() <= 300, "places are used again");
    }
}
