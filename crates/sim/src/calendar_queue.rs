mod overflow;
#[cfg(test)]
mod tests;

use base::{Packet, Time};

use overflow::Overflow;

/// Packets of many streams that wait at one place until their instants: what comes from links that flows have for themselves.
///
/// It holds the packets under way, and nothing for a stream that has none: so sources cost no memory here, and few packets
/// stay in few cache lines, however many sources there are. At equal instants what was told first goes first.
///
/// A calendar queue (R. Brown, Communications of the ACM 31, 1988): a ring of days, more than packets, so that most days
/// have one at most. A map of bits tells which days have any. Packets are put in order only when their day comes. What comes
/// after the days of the ring waits apart ([`Overflow`]), in rows of many days each, which come near one after the other: little,
/// where few packets wait, and most, where so many do that they cannot all stay near in memory. The days' length follows from
/// the packets that wait, and is looked at again when it costs too much. All this decides how fast it is, never the order.
#[derive(Clone, Debug)]
pub(crate) struct CalendarQueue {
    entries: Vec<Entry>,
    /// The first unused entry; they are linked by `next`.
    free: u32,
    /// What comes before the days of the ring, in order, from `head` on. Nothing waits elsewhere where nothing is here.
    front: Vec<(Time, u32)>,
    head: usize,
    /// The packet of each day that was told last, where it has any; they are linked by `next`.
    days: Vec<u32>,
    /// A bit for each day, set where it has packets.
    busy: Vec<u64>,
    /// A day is two to this many picoseconds long.
    shift: u32,
    /// A row of `far` has two to this many days.
    row_shift: u32,
    /// The ring holds the days from this one on,
    origin: u64,
    /// up to this one, the first of the first row of `far`: all for which it has room, but for part of a row.
    end: u64,
    /// Packets in the ring.
    held: usize,
    /// It is so long that it holds nearly all that wait.
    holds_all: bool,
    /// What comes after it.
    far: Overflow,
    /// Steps that days of another length might have saved, and how many are too many.
    effort: usize,
    most_effort: usize,
}

/// A packet that waits for its instant.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    time: Time,
    packet: Packet,
    flow: u32,
}

/// One of the front or of the ring, in a cache line of its own.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Entry {
    time: Time,
    packet: Packet,
    flow: u32,
    next: u32,
}

impl Entry {
    fn waiting(&self) -> Waiting {
        Waiting { time: self.time, packet: self.packet, flow: self.flow }
    }
}

const NONE: u32 = u32::MAX;
const FEWEST_DAYS: usize = 64;
/// The ring holds nearly all packets where so many wait, or fewer; else those of so many days: what fits well into a
/// processor's second cache.
const MOST_HELD: usize = 4096;
const NEAR_DAYS: usize = 2048;
/// So many rows of what is far have as many days as the ring; the long ones where most packets pass through there.
const ROWS: usize = 8;
const LONG_ROWS: usize = 2;
/// Days are a quarter of a millisecond long at first, and never longer than a quarter of an hour: so no sum of days overflows.
const FIRST_SHIFT: u32 = 28;
const LONGEST_SHIFT: u32 = 50;
/// Steps that a packet counts for which finds more in the ring than days.
const TOO_MANY: usize = 8;
/// So few packets tell little of those to come.
const FEW: usize = 16;

impl Default for CalendarQueue {
    fn default() -> Self {
        CalendarQueue {
            entries: Vec::new(),
            free: NONE,
            front: Vec::new(),
            head: 0,
            days: vec![NONE; FEWEST_DAYS],
            busy: vec![0; FEWEST_DAYS / 64],
            shift: FIRST_SHIFT,
            origin: 0,
            end: 0,
            held: 0,
            holds_all: true,
            far: Overflow::new(FIRST_SHIFT + (FEWEST_DAYS / ROWS).trailing_zeros()),
            row_shift: (FEWEST_DAYS / ROWS).trailing_zeros(),
            effort: 0,
            most_effort: 8 * FEWEST_DAYS,
        }
    }
}

impl CalendarQueue {
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
        self.enter(time, packet, flow);
        if self.effort > self.most_effort {
            self.rearrange();
        }
    }

    /// The packet takes its place in front, in the ring, or beyond. Its parts stay in registers up to there.
    #[inline(always)]
    fn enter(&mut self, time: Time, packet: Packet, flow: u32) {
        let day = self.day(time);
        if self.front.is_empty() {
            self.begin_after(day);
            let place = self.place(time, packet, flow);
            return self.front.push((time, place));
        }
        if day >= self.end {
            // Longer days may save the way through there.
            self.effort += usize::from(self.holds_all) + self.far.push(time, packet, flow);
            return;
        }
        let place = self.place(time, packet, flow);
        if day < self.origin {
            self.enter_front(time, place);
        } else {
            self.enter_ring(day, place);
        }
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
    pub(crate) fn sort_ahead(&mut self, packets: usize, mut told: impl FnMut(&Packet, u32)) {
        self.forget_gone();
        while self.front.len() - self.head < packets && self.held > 0 {
            let known = self.front.len();
            self.append_day();
            for &(_, place) in self.front.get(known..).into_iter().flatten() {
                let Entry { packet, flow, .. } = &self.entries[place as usize];
                told(packet, *flow);
            }
        }
    }

    #[inline(always)]
    fn day(&self, time: Time) -> u64 {
        time.picoseconds() >> self.shift
    }

    /// Nothing else waits: the ring begins after this day.
    #[inline(always)]
    fn begin_after(&mut self, day: u64) {
        self.origin = day + 1;
        let row = (self.origin + self.days.len() as u64) >> self.row_shift;
        self.end = row << self.row_shift;
        self.far.begin_at(row);
    }

    /// An entry for the packet.
    #[inline(always)]
    fn place(&mut self, time: Time, packet: Packet, flow: u32) -> u32 {
        let place = self.free;
        match self.entries.get_mut(place as usize) {
            Some(unused) => {
                self.free = unused.next;
                *unused = Entry { time, packet, flow, next: NONE };
                place
            }
            None => self.new_place(Entry { time, packet, flow, next: NONE }),
        }
    }

    #[cold]
    #[inline(never)]
    fn new_place(&mut self, entry: Entry) -> u32 {
        self.entries.push(entry);
        self.entries.len() as u32 - 1
    }

    #[inline(always)]
    fn enter_ring(&mut self, day: u64, place: u32) {
        self.held += 1;
        let index = day as usize & (self.days.len() - 1);
        let (word, bit) = (&mut self.busy[index / 64], 1 << (index % 64));
        if *word & bit != 0 {
            self.entries[place as usize].next = self.days[index];
        }
        *word |= bit;
        self.days[index] = place;
        if self.held > self.days.len() {
            self.effort += TOO_MANY;
        }
    }

    /// Behind those in front that come before it, or at its instant.
    #[inline(never)]
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
        if self.held == 0 {
            let Some(row) = self.far.first_busy() else { return };
            self.far.skip_to(row);
            self.origin = row << self.row_shift;
            self.end = self.origin;
            self.come_near();
        }
        self.append_day();
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
        if self.has_room_for_row() {
            self.come_near();
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

    /// Whether another row of what is far finds its days in the ring.
    #[inline(always)]
    fn has_room_for_row(&self) -> bool {
        self.end - self.origin + (1 << self.row_shift) <= self.days.len() as u64
    }

    /// The ring takes on as many rows of what is far as it has room for.
    #[inline(never)]
    fn come_near(&mut self) {
        while self.has_room_for_row() {
            let row = self.far.take_first();
            self.end += 1 << self.row_shift;
            for &Waiting { time, packet, flow } in &row {
                let place = self.place(time, packet, flow);
                self.enter_ring(self.day(time), place);
            }
            // More than one a day.
            if row.len() >> self.row_shift > 0 {
                self.effort += row.len();
            }
            self.far.give_back(row);
        }
    }

    /// New days: two or more for each packet, over twice the time in which most of those lie that the ring is to hold, or more.
    #[cold]
    #[inline(never)]
    fn rearrange(&mut self) {
        let mut waiting: Vec<Waiting> =
            self.front[self.head..].iter().map(|&(_, place)| self.entries[place as usize].waiting()).collect();
        for (index, &last) in self.days.iter().enumerate() {
            let any = self.busy[index / 64] >> (index % 64) & 1 == 1;
            let (known, mut place) = (waiting.len(), if any { last } else { NONE });
            while let Some(entry) = self.entries.get(place as usize) {
                waiting.push(entry.waiting());
                place = entry.next;
            }
            waiting[known..].reverse();
        }
        // Of an instant all are in front, in the ring or far, in the order of telling: as this order leaves them.
        waiting.extend(std::mem::replace(&mut self.far, Overflow::new(0)).into_packets());
        waiting.sort_by_key(|waiting| waiting.time);
        self.holds_all = waiting.len() <= MOST_HELD;
        let (near, days, rows) = if self.holds_all {
            (waiting.len(), (2 * waiting.len()).next_power_of_two().max(FEWEST_DAYS), ROWS)
        } else {
            (NEAR_DAYS / 4, NEAR_DAYS, LONG_ROWS)
        };
        let most = (waiting[near * 7 / 8].time - waiting[0].time).picoseconds();
        let shortest = if near < FEW { 1 << self.shift } else { 1 };
        let length = (2 * most / days as u64).clamp(shortest, 1 << LONGEST_SHIFT).next_power_of_two();
        let as_before = days == self.days.len() && length == 1 << self.shift;
        // What no other days save is not looked for as often.
        let most_effort = if as_before { self.most_effort.saturating_mul(2) } else { 8 * days };
        self.shift = length.trailing_zeros();
        self.row_shift = (days / rows).trailing_zeros();
        self.far = Overflow::new(self.shift + self.row_shift);
        self.days = vec![NONE; days];
        self.busy = vec![0; days / 64];
        (self.head, self.held) = (0, 0);
        self.front.clear();
        self.entries.clear();
        self.free = NONE;
        waiting.into_iter().for_each(|Waiting { time, packet, flow }| self.enter(time, packet, flow));
        (self.effort, self.most_effort) = (0, most_effort);
    }
}
