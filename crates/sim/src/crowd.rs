use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::{prefetch, Packet, Time};

/// Packets of many streams that wait at one place until their instants: what comes from links that flows have for themselves.
///
/// It holds the packets under way, and nothing for a stream that has none: so sources cost no memory here, and few packets
/// stay in few cache lines, however many sources there are. At equal instants what was told first goes first.
///
/// A calendar queue (R. Brown, Communications of the ACM 31, 1988): a ring of days, each with its packets in their order, many
/// days for a packet, so that a day has one packet at most as a rule. A map of bits tells which days have any. What lies beyond
/// the ring waits in a heap. The days' length follows from the packets that wait, and is looked at again when it costs
/// too much. All this decides how fast it is, never the order.
#[derive(Clone, Debug)]
pub(crate) struct Crowd {
    entries: Vec<Entry>,
    /// The first unused entry; they are linked by `next`.
    free: u32,
    /// The first packet of each day; it means nothing where the day has none.
    days: Vec<u32>,
    /// A bit for each day, set where it has packets.
    busy: Vec<u64>,
    /// A day is two to this many picoseconds long.
    shift: u32,
    /// The ring holds the days from this one on, as many as there are; the last one that has had packets.
    origin: u64,
    latest: u64,
    /// Packets in the ring.
    held: usize,
    first: Time,
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
    /// The next one of its day.
    next: u32,
    /// Of the first one of a day, the last one.
    last: u32,
}

const NONE: u32 = u32::MAX;
const FEWEST_DAYS: usize = 64;

impl Default for Crowd {
    fn default() -> Self {
        Crowd {
            entries: Vec::new(),
            free: NONE,
            days: vec![NONE; FEWEST_DAYS],
            busy: vec![0; FEWEST_DAYS / 64],
            // A quarter of a millisecond.
            shift: 28,
            origin: 0,
            latest: 0,
            held: 0,
            first: Time::NEVER,
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
        self.first
    }

    #[inline(always)]
    pub(crate) fn push(&mut self, time: Time, packet: Packet, flow: u32) {
        let place = self.free;
        let entry = Entry { time, packet, flow, next: NONE, last: place };
        match self.entries.get_mut(place as usize) {
            Some(unused) => {
                self.free = unused.next;
                *unused = entry;
                self.enter(time, place);
            }
            None => self.push_new(entry),
        }
    }

    #[cold]
    fn push_new(&mut self, entry: Entry) {
        let place = self.entries.len() as u32;
        self.entries.push(Entry { last: place, ..entry });
        self.enter(entry.time, place);
    }

    /// The first packet and its flow; the one after it is fetched, where it is near.
    #[inline(always)]
    pub(crate) fn first_two(&self) -> Option<(&Packet, u32)> {
        let today = self.day(self.first) as usize & (self.days.len() - 1);
        let first = self.entries.get(self.days[today] as usize)?;
        let busy = self.busy[today / 64] & (u64::MAX << (today % 64));
        let later = busy & busy.wrapping_sub(1);
        let tomorrow = self.days[today & !63 | later.trailing_zeros() as usize & 63];
        let second = if first.next == NONE { tomorrow } else { first.next };
        self.entries.get(second as usize).into_iter().for_each(prefetch);
        Some((&first.packet, first.flow))
    }

    /// The first packet, and its flow.
    #[inline(always)]
    pub(crate) fn pop(&mut self) -> Option<(&Packet, u32)> {
        if self.held == 0 {
            return None;
        }
        let today = self.day(self.first);
        let index = today as usize & (self.days.len() - 1);
        let place = self.days[index];
        let Entry { next, last, .. } = *self.entries.get(place as usize)?;
        self.entries[place as usize].next = self.free;
        self.free = place;
        if next == NONE {
            self.busy[index / 64] &= !(1 << (index % 64));
        } else {
            self.days[index] = next;
            self.entries[next as usize].last = last;
        }
        self.held -= 1;
        self.origin = today;
        self.first = self.first_from(index);
        if !self.beyond.is_empty() {
            self.come_near();
        }
        let Entry { packet, flow, .. } = self.entries.get(place as usize)?;
        Some((packet, *flow))
    }

    #[inline(always)]
    fn day(&self, time: Time) -> u64 {
        time.picoseconds() >> self.shift
    }

    /// The entry takes its place in the ring, or beyond.
    #[inline(always)]
    fn enter(&mut self, time: Time, place: u32) {
        let day = self.day(time);
        if self.held == 0 {
            (self.origin, self.latest) = (day, day);
        }
        if day.wrapping_sub(self.origin) >= self.days.len() as u64 {
            return self.enter_elsewhere(time, place);
        }
        self.first = self.first.min(time);
        self.latest = self.latest.max(day);
        self.held += 1;
        let index = day as usize & (self.days.len() - 1);
        let (word, bit) = (&mut self.busy[index / 64], 1 << (index % 64));
        if *word & bit == 0 {
            *word |= bit;
            self.days[index] = place;
        } else {
            self.enter_busy_day(index, time, place);
        }
        if 2 * self.held > self.days.len() {
            self.rearrange();
        }
    }

    #[inline(always)]
    fn enter_busy_day(&mut self, index: usize, time: Time, place: u32) {
        let first = self.days[index];
        let Entry { time: earliest, last, .. } = self.entries[first as usize];
        if time < earliest {
            self.entries[place as usize].next = first;
            self.entries[place as usize].last = last;
            self.days[index] = place;
        } else if self.entries[last as usize].time <= time {
            self.entries[last as usize].next = place;
            self.entries[first as usize].last = place;
        } else {
            self.enter_between(first, time, place);
        }
    }

    /// Some of the day's packets go before it, some after it.
    #[inline(never)]
    fn enter_between(&mut self, first: u32, time: Time, place: u32) {
        let mut before = first;
        loop {
            self.effort += 1;
            let after = self.entries[before as usize].next;
            if self.entries[after as usize].time > time {
                self.entries[before as usize].next = place;
                self.entries[place as usize].next = after;
                break;
            }
            before = after;
        }
        if self.effort > self.most_effort {
            self.rearrange();
        }
    }

    /// Beyond the ring, or, where days were passed without packets, before it.
    #[cold]
    #[inline(never)]
    fn enter_elsewhere(&mut self, time: Time, place: u32) {
        let (day, days) = (self.day(time), self.days.len() as u64);
        if day < self.origin {
            if self.latest - day >= days {
                self.put_off(day + days);
            }
            self.origin = day;
            return self.enter(time, place);
        }
        self.told_beyond += 1;
        self.beyond.push(Reverse((time, self.told_beyond, place)));
        self.effort += 8;
        if self.effort > self.most_effort {
            self.rearrange();
        }
    }

    /// The ring ends before `day`: what lies there or later goes beyond it.
    fn put_off(&mut self, day: u64) {
        for place in self.drain() {
            let time = self.entries[place as usize].time;
            if self.day(time) < day {
                self.enter(time, place);
            } else {
                self.told_beyond += 1;
                self.beyond.push(Reverse((time, self.told_beyond, place)));
            }
        }
    }

    /// The earliest instant, where no day of the ring before the one at `index` has packets.
    #[inline(always)]
    fn first_from(&mut self, index: usize) -> Time {
        let bits = self.busy[index / 64] & (u64::MAX << (index % 64));
        if bits == 0 {
            return self.first_after(index / 64);
        }
        let next = self.days[index & !63 | bits.trailing_zeros() as usize];
        self.entries[next as usize].time
    }

    /// The earliest instant, where the days of this word of bits that are still to come have no packets.
    #[inline(never)]
    fn first_after(&mut self, mut word: usize) -> Time {
        if self.held == 0 {
            return Time::NEVER;
        }
        loop {
            self.effort += 1;
            word = (word + 1) & (self.busy.len() - 1);
            let bits = self.busy[word];
            if bits != 0 {
                let next = self.days[64 * word + bits.trailing_zeros() as usize];
                let first = self.entries[next as usize].time;
                if self.effort > self.most_effort {
                    self.rearrange();
                }
                return first;
            }
        }
    }

    /// What lay beyond the ring and does no longer enters it.
    #[cold]
    #[inline(never)]
    fn come_near(&mut self) {
        while let Some(&Reverse((time, _, place))) = self.beyond.peek() {
            if self.held > 0 && self.day(time) - self.origin >= self.days.len() as u64 {
                break;
            }
            self.beyond.pop();
            self.enter(time, place);
        }
    }

    /// All entries of the ring, in their order; it is empty then.
    fn drain(&mut self) -> Vec<u32> {
        let mut places = Vec::with_capacity(self.held);
        let start = self.origin as usize & (self.days.len() - 1);
        for index in (start..self.days.len()).chain(0..start) {
            let day_has_any = self.busy[index / 64] >> (index % 64) & 1 == 1;
            let mut place = if day_has_any { self.days[index] } else { NONE };
            while place != NONE {
                places.push(place);
                self.entries[place as usize].last = place;
                place = std::mem::replace(&mut self.entries[place as usize].next, NONE);
            }
        }
        self.busy.fill(0);
        self.held = 0;
        self.first = Time::NEVER;
        places
    }

    /// New days: four or more for each packet, over twice the time in which most of them lie.
    #[cold]
    #[inline(never)]
    fn rearrange(&mut self) {
        let mut places = self.drain();
        while let Some(Reverse((_, _, place))) = self.beyond.pop() {
            places.push(place);
        }
        let time = |place: usize| self.entries[places[place] as usize].time;
        let days = (4 * places.len()).next_power_of_two().max(FEWEST_DAYS);
        let most = (time(places.len() * 7 / 8) - time(0)).picoseconds();
        let length = (2 * most / days as u64).max(1).next_power_of_two();
        let as_before = days == self.days.len() && length == 1 << self.shift;
        self.shift = length.trailing_zeros();
        self.days = vec![NONE; days];
        self.busy = vec![0; days / 64];
        // What no other days save is not looked for as often.
        let most_effort = if as_before { self.most_effort.saturating_mul(2) } else { 8 * days };
        self.most_effort = usize::MAX;
        for place in places {
            self.enter(self.entries[place as usize].time, place);
        }
        (self.effort, self.most_effort) = (0, most_effort);
    }
}
#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn push(crowd: &mut Crowd, time: u64, sequence: u64) {
        crowd.push(Time::from_picoseconds(time), Packet { sequence, ..Packet::default() }, 0);
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

    /// Plays pushes so long after the clock, and pops where there is none, against a sorted list.
    fn agrees_with_a_sorted_list(steps: impl IntoIterator<Item = Option<u64>>) -> usize {
        let (mut crowd, mut expected, mut now) = (Crowd::default(), std::collections::BTreeSet::new(), 0);
        let mut most = 0;
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
            most = most.max(expected.len());
            let first = expected.first().map_or(Time::NEVER, |&(time, _)| Time::from_picoseconds(time));
            assert_eq!(crowd.first(), first);
        }
        while let Some((_, told)) = expected.pop_first() {
            assert_eq!(crowd.pop().map(|(packet, _)| packet.sequence), Some(told));
        }
        assert!(crowd.pop().is_none());
        assert!(crowd.entries.len() <= most, "places are used again");
        crowd.days.len()
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
        fn the_order_is_that_of_a_sorted_list(steps in prop::collection::vec(gap(), 1..800)) {
            agrees_with_a_sorted_list(steps);
        }
    }

    #[test]
    fn the_days_follow_what_waits() {
        let mut random = base::RandomStream::named(1, 0, "crowd");
        // Many packets, then few, at other distances: the ring grows and shrinks again.
        let fill = (0..20_000).map(|step| (step % 5 < 4).then_some(())).collect::<Vec<_>>();
        let busy = fill.iter().map(|push| push.map(|()| random.below(1 << 30) as u64)).collect::<Vec<_>>();
        assert!(agrees_with_a_sorted_list(busy.iter().copied()) > 16_384);
        let emptied = (0..11_990).map(|_| None);
        let sparse = (0..200_000).map(|step| (step % 2 == 0).then_some(1 << 33));
        assert_eq!(agrees_with_a_sorted_list(busy.into_iter().chain(emptied).chain(sparse)), FEWEST_DAYS);
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
