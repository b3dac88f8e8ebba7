use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::{prefetch, Packet, Time};

/// Packets of many streams that wait at one place until their instants: what comes from links that flows have for themselves.
///
/// It holds the packets under way, and nothing for a stream that has none: so sources cost no memory here, and few packets
/// stay in few cache lines, however many sources there are. At equal instants what was told first goes first.
///
/// A calendar queue (R. Brown, Communications of the ACM 31, 1988): a ring of days, more than packets, so that most days
/// have one at most. A map of bits tells which days have any. Packets are put in order only when their day comes: so
/// none need be looked at that lies far off, in time and in memory. What lies beyond the ring waits in a heap. The days' length
/// follows from the packets that wait, and is looked at again when it costs too much. All this decides how fast it is, never
/// the order.
#[derive(Clone, Debug)]
pub(crate) struct Crowd {
    entries: Vec<Entry>,
    /// The first unused entry; they are linked by `next`.
    free: u32,
    /// What comes before the days of the ring, in order, from `head` on. Nothing is in the ring where nothing is here.
    front: Vec<(Time, u32)>,
    head: usize,
    /// The packet of each day that was told last, where it has any; they are linked by `next`.
    days: Vec<u32>,
    /// A bit for each day, set where it has packets.
    busy: Vec<u64>,
    /// A day is two to this many picoseconds long.
    shift: u32,
    /// The ring holds the days from this one on, as many as there are.
    origin: u64,
    /// Packets in the ring.
    held: usize,
    /// What lies beyond the ring: instant, order of telling, entry.
    beyond: BinaryHeap<Reverse<(Time, u64, u32)>>,
    told_beyond: u64,
    /// Steps that days of another length might have saved, and how many are too many.
    effort: usize,
    most_effort: usize,
}

/// A packet that waits, in a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Entry {
    time: Time,
    packet: Packet,
    flow: u32,
    next: u32,
}

const NONE: u32 = u32::MAX;
const FEWEST_DAYS: usize = 64;

impl Default for Crowd {
    fn default() -> Self {
        Crowd {
            entries: Vec::new(),
            free: NONE,
            front: Vec::new(),
            head: 0,
            days: vec![NONE; FEWEST_DAYS],
            busy: vec![0; FEWEST_DAYS / 64],
            // A quarter of a millisecond.
            shift: 28,
            origin: 0,
            held: 0,
            beyond: BinaryHeap::new(),
            told_beyond: 0,
            effort: 0,
            most_effort: 8 * FEWEST_DAYS,
        }
    }
}

impl Crowd {
    /// The earliest instant; [`Time::NEVER`] where none waits.
    #[inline(always)]
    pub(crate) fn first(&self) -> Time {
        self.front.get(self.head).map_or(Time::NEVER, |&(time, _)| time)
    }

    /// Whether so many wait that hardly any that comes is the first.
    #[inline(always)]
    pub(crate) fn is_large(&self) -> bool {
        self.held >= 256
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, time: Time, packet: Packet, flow: u32) {
        let place = self.free;
        match self.entries.get_mut(place as usize) {
            Some(unused) => {
                self.free = unused.next;
                *unused = Entry { time, packet, flow, next: NONE };
                self.enter(time, place);
            }
            None => self.push_new(Entry { time, packet, flow, next: NONE }),
        }
    }

    #[cold]
    #[inline(never)]
    fn push_new(&mut self, entry: Entry) {
        self.entries.push(entry);
        self.enter(entry.time, self.entries.len() as u32 - 1);
    }

    /// The first packet, and its flow.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(&Packet, u32)> {
        let &(_, place) = self.front.get(self.head)?;
        self.head += 1;
        if self.head == self.front.len() {
            self.next_day();
        }
        let free = std::mem::replace(&mut self.free, place);
        let entry = self.entries.get_mut(place as usize)?;
        entry.next = free;
        Some((&entry.packet, entry.flow))
    }

    /// Puts packets in order until so many are, and tells of those that had not been: what they need can be fetched.
    #[inline(always)]
    pub(crate) fn look_ahead(&mut self, packets: usize, mut told: impl FnMut(&Packet, u32)) {
        self.forget_gone();
        while self.front.len() - self.head < packets && self.held > 0 {
            let known = self.front.len();
            self.append_day();
            for &(_, place) in self.front.get(known..).into_iter().flatten() {
                let Entry { packet, flow, .. } = &self.entries[place as usize];
                told(packet, *flow);
            }
            // What waits in a small one is near anyway.
            if self.is_large() {
                self.prefetch_later_days();
            }
        }
    }

    /// Fetches the last packet told of the third busy day to come, and the one before it of the first, where that is fetched already.
    /// No further than 64 days.
    #[inline(always)]
    fn prefetch_later_days(&self) {
        let (origin, mask) = (self.origin as usize, self.days.len() - 1);
        let (word, shift) = ((origin & mask) / 64, origin % 64);
        let next_word = self.busy[(word + 1) & (self.busy.len() - 1)];
        let first = self.busy[word] >> shift | next_word << 1 << (63 - shift);
        let second = first & first.wrapping_sub(1);
        let third = second & second.wrapping_sub(1);
        let last_told = |busy: u64| {
            let day = (origin + busy.trailing_zeros() as usize) & mask;
            self.entries.get(self.days[day] as usize).filter(|_| busy != 0)
        };
        last_told(third).into_iter().for_each(prefetch);
        let before = last_told(first).and_then(|entry| self.entries.get(entry.next as usize));
        before.into_iter().for_each(prefetch);
    }

    #[inline(always)]
    fn day(&self, time: Time) -> u64 {
        time.picoseconds() >> self.shift
    }

    /// The packet takes its place in front, in the ring, or beyond.
    #[inline(always)]
    fn enter(&mut self, time: Time, place: u32) {
        let day = self.day(time);
        if self.front.is_empty() {
            self.origin = day + 1;
        }
        let ahead = day.wrapping_sub(self.origin);
        if ahead >= self.days.len() as u64 {
            return self.enter_elsewhere(time, place);
        }
        self.held += 1;
        let index = day as usize & (self.days.len() - 1);
        let (word, bit) = (&mut self.busy[index / 64], 1 << (index % 64));
        // What stands in a day that has none is not looked at: that memory is far away.
        if *word & bit != 0 {
            self.entries[place as usize].next = self.days[index];
        }
        *word |= bit;
        self.days[index] = place;
        if self.held > self.days.len() {
            self.rearrange();
        }
    }

    /// Before the ring, or beyond.
    #[inline(never)]
    fn enter_elsewhere(&mut self, time: Time, place: u32) {
        if self.day(time) < self.origin {
            self.enter_front(time, place);
        } else {
            self.told_beyond += 1;
            self.beyond.push(Reverse((time, self.told_beyond, place)));
            self.effort += 8;
        }
        if self.effort > self.most_effort {
            self.rearrange();
        }
    }

    /// Behind those in front that come before it, or at its instant.
    fn enter_front(&mut self, time: Time, place: u32) {
        self.forget_gone();
        let later = self.front[self.head..].iter().rev().take_while(|&&(other, _)| other > time).count();
        self.front.insert(self.front.len() - later, (time, place));
        self.effort += later;
    }

    /// What has gone leaves the front, once it is most of it: where the front is never empty, it would grow without end.
    #[inline(always)]
    fn forget_gone(&mut self) {
        if self.head >= 64 && 2 * self.head > self.front.len() {
            self.front.drain(..self.head);
            self.head = 0;
        }
    }

    /// Nothing is left in front: the next day with packets comes there.
    #[inline(always)]
    fn next_day(&mut self) {
        self.front.clear();
        self.head = 0;
        if self.held > 0 {
            self.append_day();
        } else if !self.beyond.is_empty() {
            self.come_near();
        }
    }

    /// The next day of the ring with packets goes to the end of the front.
    #[inline(always)]
    fn append_day(&mut self) {
        let index = self.next_busy_day();
        self.busy[index / 64] &= !(1 << (index % 64));
        self.origin += (index.wrapping_sub(self.origin as usize) & (self.days.len() - 1)) as u64 + 1;
        let place = self.days[index];
        let Entry { time, next, .. } = self.entries[place as usize];
        self.front.push((time, place));
        self.held -= 1;
        if next != NONE {
            self.append_rest_of_day(next);
        }
        if !self.beyond.is_empty() {
            self.come_near();
        }
        if self.effort > self.most_effort {
            self.rearrange();
        }
    }

    /// All but the packet of a day that was told last, which stands at the end of the front already.
    #[inline(never)]
    fn append_rest_of_day(&mut self, mut place: u32) {
        let known = self.front.len() - 1;
        while let Some(entry) = self.entries.get(place as usize) {
            self.front.push((entry.time, place));
            place = entry.next;
        }
        let day = &mut self.front[known..];
        self.held -= day.len() - 1;
        // The last one told comes first; a stable order of time then keeps those of an instant as they were told.
        day.reverse();
        day.sort_by_key(|&(time, _)| time);
        if day.len() > 8 && day[0].0 < day[day.len() - 1].0 {
            self.effort += day.len();
        }
    }

    /// The first day of the ring that has packets; there is one.
    #[inline(always)]
    fn next_busy_day(&mut self) -> usize {
        let index = self.origin as usize & (self.days.len() - 1);
        let bits = self.busy[index / 64] & (u64::MAX << (index % 64));
        if bits == 0 {
            return self.busy_day_after(index / 64);
        }
        index & !63 | bits.trailing_zeros() as usize
    }

    #[inline(never)]
    fn busy_day_after(&mut self, mut word: usize) -> usize {
        loop {
            self.effort += 1;
            word = (word + 1) & (self.busy.len() - 1);
            let bits = self.busy[word];
            if bits != 0 {
                return 64 * word + bits.trailing_zeros() as usize;
            }
        }
    }

    /// What lay beyond the ring and does no longer enters it.
    #[cold]
    #[inline(never)]
    fn come_near(&mut self) {
        while let Some(&Reverse((time, _, place))) = self.beyond.peek() {
            if !self.front.is_empty() && self.day(time) >= self.origin + self.days.len() as u64 {
                break;
            }
            self.beyond.pop();
            self.enter(time, place);
        }
    }

    /// New days: two or more for each packet, over twice the time in which most of them lie, or more.
    #[cold]
    #[inline(never)]
    fn rearrange(&mut self) {
        let mut waiting = self.front.split_off(self.head);
        for (index, &last) in self.days.iter().enumerate() {
            let any = self.busy[index / 64] >> (index % 64) & 1 == 1;
            let (known, mut place) = (waiting.len(), if any { last } else { NONE });
            while let Some(entry) = self.entries.get(place as usize) {
                waiting.push((entry.time, place));
                place = entry.next;
            }
            waiting[known..].reverse();
        }
        // Of an instant all are in front, in the ring or beyond, in the order of telling: as this order leaves them.
        waiting.extend(std::iter::from_fn(|| self.beyond.pop()).map(|Reverse((time, _, place))| (time, place)));
        waiting.sort_by_key(|&(time, _)| time);
        let days = (2 * waiting.len()).next_power_of_two().max(FEWEST_DAYS);
        let most = (waiting[waiting.len() * 7 / 8].0 - waiting[0].0).picoseconds();
        let length = (2 * most / days as u64).max(1).next_power_of_two();
        let as_before = days == self.days.len() && length == 1 << self.shift;
        self.shift = length.trailing_zeros();
        self.days = vec![NONE; days];
        self.busy = vec![0; days / 64];
        (self.head, self.held) = (0, 0);
        self.front.clear();
        // What no other days save is not looked for as often.
        let most_effort = if as_before { self.most_effort.saturating_mul(2) } else { 8 * days };
        self.most_effort = usize::MAX;
        for (time, place) in waiting {
            self.entries[place as usize].next = NONE;
            self.enter(time, place);
        }
        (self.effort, self.most_effort) = (0, most_effort);
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn push(crowd: &mut Crowd, time: u64, sequence: u64) {
        crowd.push(Time::from_picoseconds(time), Packet { sequence, ..Packet::default() }, sequence as u32);
    }

    #[test]
    fn packets_go_by_their_instants_and_at_equal_ones_as_they_were_told() {
        let mut crowd = Crowd::default();
        for (sequence, time) in [5, 3, 5, 1, 3, 3].into_iter().enumerate() {
            push(&mut crowd, time, sequence as u64);
        }
        assert_eq!(crowd.first(), Time::from_picoseconds(1));
        let order: Vec<u64> = std::iter::from_fn(|| crowd.pop().map(|(packet, _)| packet.sequence)).collect();
        assert_eq!(order, [3, 1, 4, 5, 0, 2]);
        assert_eq!(crowd.first(), Time::NEVER);
    }

    /// Plays pushes so long after the clock, and pops where there is none, against a sorted list. The most days, and the last.
    fn agrees_with_a_sorted_list(steps: impl IntoIterator<Item = Option<u64>>, ahead: usize) -> (usize, usize) {
        let (mut crowd, mut expected, mut now) = (Crowd::default(), std::collections::BTreeSet::new(), 0);
        let (mut most, mut most_days) = (0, 0);
        for (told, step) in steps.into_iter().enumerate() {
            match step {
                Some(after) => {
                    let time = now + after;
                    push(&mut crowd, time, told as u64);
                    expected.insert((time, told as u64));
                }
                None => {
                    let first = expected.pop_first();
                    assert_eq!(crowd.pop().map(|(packet, _)| packet.sequence), first.map(|(_, told)| told));
                    now = first.map_or(now, |(time, _)| time);
                }
            }
            (most, most_days) = (most.max(expected.len()), most_days.max(crowd.days.len()));
            if told % 3 == 0 {
                let mut named = Vec::new();
                crowd.look_ahead(ahead, |packet, flow| named.push((packet.sequence, flow)));
                assert!(named.iter().all(|&(sequence, flow)| sequence == u64::from(flow)), "whose they are");
                let front = &crowd.front[crowd.head..];
                assert!(crowd.held == 0 || front.len() >= ahead.min(expected.len()), "as many as asked for");
                let known = front.iter().map(|&(_, place)| crowd.entries[place as usize].packet.sequence);
                assert!(known.zip(&expected).all(|(sequence, &(_, told))| sequence == told), "in their order");
            }
            let first = expected.first().map_or(Time::NEVER, |&(time, _)| Time::from_picoseconds(time));
            assert_eq!(crowd.first(), first);
        }
        while let Some((_, told)) = expected.pop_first() {
            assert_eq!(crowd.pop().map(|(packet, _)| packet.sequence), Some(told));
        }
        assert!(crowd.pop().is_none());
        assert!(crowd.entries.len() <= most, "places are used again");
        assert!(crowd.front.capacity() <= 2 * most + 256, "what has gone is forgotten");
        (most_days, crowd.days.len())
    }

    fn gap() -> impl Strategy<Value = Option<u64>> {
        // Ties, neighbours on one day, some days ahead, and far beyond any ring.
        prop_oneof![
            3 => Just(None),
            1 => (0_u64..3).prop_map(Some),
            2 => (0_u64..1 << 20).prop_map(Some),
            2 => (0_u64..1 << 34).prop_map(Some),
            1 => (0_u64..1 << 50).prop_map(Some),
        ]
    }

    proptest! {
        #[test]
        fn the_order_is_that_of_a_sorted_list(steps in prop::collection::vec(gap(), 1..800), ahead in 0_usize..6) {
            agrees_with_a_sorted_list(steps, ahead);
        }
    }

    #[test]
    fn the_days_follow_what_waits() {
        let mut random = base::RandomStream::named(1, 0, "crowd");
        // Many packets, then few, at other distances: the ring grows and shrinks again.
        let fill = (0..20_000).map(|step| (step % 5 < 4).then_some(())).collect::<Vec<_>>();
        let busy = fill.iter().map(|push| push.map(|()| random.below(1 << 30) as u64)).collect::<Vec<_>>();
        assert!(agrees_with_a_sorted_list(busy.iter().copied(), 0).0 >= 12_000);
        let emptied = (0..11_990).map(|_| None);
        let sparse = (0..200_000).map(|step| (step % 2 == 0).then_some(1 << 33));
        assert_eq!(agrees_with_a_sorted_list(busy.into_iter().chain(emptied).chain(sparse), 0).1, FEWEST_DAYS);
    }

    #[test]
    fn one_that_waits_long_holds_nobody_up() {
        let (mut crowd, far) = (Crowd::default(), 1 << 50);
        push(&mut crowd, far, 0);
        // All others come and go before it, each alone.
        for sequence in 1..100_000 {
            push(&mut crowd, sequence << 20, sequence);
            assert_eq!(crowd.pop().map(|(packet, _)| packet.sequence), Some(sequence));
        }
        assert!(crowd.front.capacity() <= 256);
        assert_eq!(crowd.first(), Time::from_picoseconds(far));
    }

    #[test]
    fn many_packets_at_one_instant_cost_a_step_each() {
        let (mut crowd, packets) = (Crowd::default(), 200_000);
        for sequence in 0..packets {
            push(&mut crowd, 7, sequence);
        }
        assert!((0..packets).all(|sequence| crowd.pop().map(|(packet, _)| packet.sequence) == Some(sequence)));
        assert_eq!(crowd.effort, 0);
    }
}
