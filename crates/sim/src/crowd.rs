use std::hint::select_unpredictable;

use base::{Packet, Ring, Time};

/// Packets of many streams that wait at one place until their instants: what comes from links that flows have for themselves.
///
/// It holds the packets under way, and nothing for a stream that has none: so sources cost no memory here, and few packets
/// stay in few cache lines, however many sources there are. At equal instants what was told first goes first.
///
/// Whatever comes after all others joins the end of a queue; where streams overtake one another, the rest waits in a heap of
/// four children. A heap's key holds the instant, the order of telling and where the packet lies.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd {
    in_order: Ring<InOrder>,
    last_in_order: Time,
    /// The first, and groups of four; beyond `length` they are larger than any.
    keys: Vec<u128>,
    length: usize,
    packets: Vec<Packet>,
    free: Vec<u32>,
    told: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct InOrder {
    time: Time,
    /// The order of telling, where a key has it.
    order: u64,
    packet: Packet,
}

/// Bits of a key that say where the packet lies, and those above that say in which order it was told.
const PLACE_BITS: u32 = 26;

fn key(time: Time, order: u64) -> u128 {
    u128::from(time.picoseconds()) << 64 | u128::from(order)
}

impl Crowd {
    /// The earliest instant; [`Time::NEVER`] where none waits.
    #[inline(always)]
    pub(crate) fn first(&self) -> Time {
        let in_order = self.in_order.front().map_or(Time::NEVER, |first| first.time);
        if self.length == 0 {
            return in_order;
        }
        in_order.min(Time::from_picoseconds((self.keys[0] >> 64) as u64))
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, time: Time, packet: Packet) {
        let order = self.told << PLACE_BITS;
        self.told += 1;
        if time >= self.last_in_order || self.in_order.is_empty() {
            self.last_in_order = time;
            return self.in_order.push(InOrder { time, order, packet });
        }
        self.push_before_last(time, order, packet);
    }

    #[inline(never)]
    fn push_before_last(&mut self, time: Time, order: u64, packet: Packet) {
        let place = match self.free.pop() {
            Some(place) => {
                self.packets[place as usize] = packet;
                u64::from(place)
            }
            None => {
                self.packets.push(packet);
                self.packets.len() as u64 - 1
            }
        };
        if self.length == self.keys.len() {
            self.grow();
        }
        self.length += 1;
        self.rise(self.length - 1, key(time, order | place));
    }

    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<Packet> {
        if self.length > 0 {
            let first = self.in_order.front();
            if first.is_none_or(|first| self.keys[0] < key(first.time, first.order)) {
                return self.pop_overtaken();
            }
        }
        self.in_order.pop().map(|first| first.packet)
    }

    #[inline(never)]
    fn pop_overtaken(&mut self) -> Option<Packet> {
        self.length = self.length.checked_sub(1)?;
        let first = self.keys[0];
        let last = std::mem::replace(&mut self.keys[self.length], u128::MAX);
        if self.length > 0 {
            self.sink(last);
        }
        let place = first as u64 & ((1 << PLACE_BITS) - 1);
        self.free.push(place as u32);
        Some(self.packets[place as usize])
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
