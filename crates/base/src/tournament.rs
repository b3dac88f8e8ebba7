use std::hint::select_unpredictable;

use crate::{prefetch, Time};

/// The event queue: one pending instant for each element, and the earliest of them on top.
///
/// A complete tree of matches between four. An element's instant is replaced in place, so nothing is ever cancelled and the
/// queue holds one entry an element, however many packets are in flight. At equal instants the lower index wins:
/// that, and the order in which the owner numbers its elements, is the total order of events.
///
/// A match compares one number: the time since `base` above, the element below. What lies beyond the horizon of that
/// number waits there until nothing nearer is left; then `base` moves on.
///
/// Elements that have their turn much more often than the rest may stand near the top, in a tree of their own below the first
/// match: so their matches are few, whatever the number of all.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// The rivals of each match: of match `n`, the winners of matches `4n` to `4n + 3`, or four elements.
    matches: Vec<[u64; 4]>,
    winner: u64,
    /// Elements below this one stand near the top.
    near: u32,
    /// The places of the first of these and, as if it were one of the others, of element 0.
    near_place: usize,
    far_place: usize,
    /// Bits of a key that name the element.
    bits: u32,
    base: Time,
    /// Each element's instant, exactly.
    times: Vec<Time>,
}

impl Tournament {
    /// For so many elements, none of which has anything pending.
    pub fn new(elements: usize) -> Tournament {
        Tournament::with_near(0, elements)
    }

    /// For so many elements, none of which has anything pending; the first `near` of them have their turn most often.
    pub fn with_near(near: usize, elements: usize) -> Tournament {
        let (above, below, parts) = layout(near, elements);
        let bits = elements.next_power_of_two().trailing_zeros();
        let (near, near_place) = (if parts > 0 { near } else { 0 }, 1 << (2 * above));
        let far_place = if parts > 0 { ((4 + parts) << (2 * below - 2)) - near } else { 1 << (2 * below) };
        let matches = (near_place + near).max(far_place + elements) / 4 + 1;
        let mut tournament = Tournament {
            matches: vec![[u64::MAX; 4]; matches],
            winner: u64::MAX,
            near: near as u32,
            near_place,
            far_place,
            bits,
            base: Time::ZERO,
            times: vec![Time::NEVER; 1 << bits],
        };
        tournament.rebase();
        tournament
    }

    /// The earliest instant and whose it is; [`Time::NEVER`] where nothing is pending. From then on it is the past:
    /// nothing may be scheduled before it.
    #[inline(always)]
    pub fn first(&mut self) -> (Time, u32) {
        if self.winner >> self.bits == self.horizon() {
            self.rebase();
        }
        let element = self.winner & self.names();
        (self.times[element as usize], element as u32)
    }

    /// The earliest of an element and its neighbours: of those below the same match of the second round from the top. So what comes
    /// soon is known before it comes. It may be one that has nothing pending, where none has.
    #[inline(always)]
    pub fn first_around(&self, element: u32) -> u32 {
        let place = second_round(self.place(element));
        let key = self.matches[place >> 2][place & 3];
        (key & self.names()) as u32
    }

    /// Fetches what [`Tournament::set`] needs of an element.
    #[inline(always)]
    pub fn prefetch(&self, element: u32) {
        self.times.get(element as usize).into_iter().for_each(prefetch);
        let place = self.place(element);
        self.matches.get(place >> 2).into_iter().for_each(prefetch);
        self.matches.get(place >> 4).into_iter().for_each(prefetch);
    }

    /// Replaces the element's instant.
    #[inline(always)]
    pub fn set(&mut self, element: u32, time: Time) {
        self.times[element as usize] = time;
        let mut winner = self.key(element, time);
        let mut place = self.place(element);
        let matches = self.matches.as_mut_slice();
        while place > 1 {
            let side = place & 3;
            place >>= 2;
            let rivals = &mut matches[place];
            rivals[side] = winner;
            let rival = earlier(rivals[side ^ 1], earlier(rivals[side ^ 2], rivals[side ^ 3]));
            winner = earlier(rival, winner);
        }
        self.winner = winner;
    }

    /// Brings the element's instant forward, if `time` is earlier.
    #[inline(always)]
    pub fn advance(&mut self, element: u32, time: Time) {
        if time >= self.times[element as usize] {
            return;
        }
        self.times[element as usize] = time;
        let key = self.key(element, time);
        let mut place = self.place(element);
        while place > 1 {
            let side = place & 3;
            place >>= 2;
            let rivals = &mut self.matches[place];
            rivals[side] = key;
            if rivals.iter().any(|&rival| rival < key) {
                return;
            }
        }
        self.winner = key;
    }

    /// The earliest instant among all other elements, and whose it is: exactly where it is near, else an instant before it.
    pub fn first_but(&self, element: u32) -> (Time, u32) {
        let mut place = self.place(element);
        let mut winner = u64::MAX;
        while place > 1 {
            let side = place & 3;
            place >>= 2;
            let rivals = &self.matches[place];
            winner = [1, 2, 3].iter().map(|other| rivals[side ^ other]).fold(winner, u64::min);
        }
        let since = Time::from_picoseconds(winner >> self.bits);
        (self.base + since, (winner & self.names()) as u32)
    }

    /// The largest time since `base` that a key holds.
    #[inline(always)]
    fn horizon(&self) -> u64 {
        u64::MAX >> self.bits
    }

    #[inline(always)]
    fn key(&self, element: u32, time: Time) -> u64 {
        (time - self.base).picoseconds().min(self.horizon()) << self.bits | u64::from(element)
    }

    /// The bits of a key that name the element.
    #[inline(always)]
    fn names(&self) -> u64 {
        self.times.len() as u64 - 1
    }

    #[inline(always)]
    fn place(&self, element: u32) -> usize {
        element as usize + if element < self.near { self.near_place } else { self.far_place }
    }

    /// Counts from the earliest instant on.
    #[cold]
    fn rebase(&mut self) {
        let earliest = self.times.iter().copied().min().filter(|&time| time != Time::NEVER);
        self.base = earliest.unwrap_or(self.base);
        for element in 0..self.times.len() as u32 {
            let place = self.place(element);
            // Times are as many as a power of two; the last of them may be nobody's.
            let key = self.key(element, self.times[element as usize]);
            if let Some(rivals) = self.matches.get_mut(place >> 2) {
                rivals[place & 3] = key;
            }
        }
        let near = self.near_place..self.near_place + self.near as usize;
        for place in (2..self.matches.len()).rev().filter(|place| !near.contains(place)) {
            self.matches[place >> 2][place & 3] = best(&self.matches[place]);
        }
        self.winner = best(&self.matches[1]);
    }
}

/// How far below the top the near elements and the others stand, and how many of the top's four places are the near ones';
/// none where all stand alike.
fn layout(near: usize, elements: usize) -> (u32, u32, usize) {
    let depth =
        |elements: usize, parts: usize| (1_u32..32).find(|depth| parts << (2 * (depth - 1)) >= elements).unwrap_or(32);
    let alike = depth(elements, 4);
    let apart = (1..4).map(|parts| (depth(near, parts), depth(elements - near, 4 - parts), parts));
    // Near ones have their turn twice as often, if not more. The deeper tree must be the others', and not much larger than one
    // in which all stand alike.
    let best = apart
        .filter(|(above, below, _)| near > 0 && above <= below && *below <= alike.max(6))
        .min_by_key(|(above, below, _)| 2 * above + below);
    best.filter(|(above, below, _)| 2 * above + below < 3 * alike).unwrap_or((alike, alike, 0))
}

/// The place in the second round from the top above a place; itself where it stands above that.
#[inline(always)]
fn second_round(place: usize) -> usize {
    // Places of that round are 16 to 31, and each round below has two bits more.
    place >> (place.ilog2().saturating_sub(4))
}

/// The smaller key. Which it is cannot be predicted: no branch.
#[inline(always)]
fn earlier(a: u64, b: u64) -> u64 {
    select_unpredictable(a < b, a, b)
}

fn best(rivals: &[u64; 4]) -> u64 {
    rivals.iter().copied().fold(u64::MAX, u64::min)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_earliest_and_the_lowest(
            elements in 1_usize..40,
            near in 0_usize..40,
            // Near instants that tie, and far ones beyond the horizon.
            changes in prop::collection::vec((0_usize..40, prop_oneof![0_u64..20, 0..u64::MAX / 2], any::<bool>()), 1..200),
        ) {
            let mut tree = Tournament::with_near(near.min(elements), elements);
            let mut times = vec![Time::NEVER; elements];
            let mut last = Time::ZERO;
            for (element, time, only_forward) in changes {
                // Nothing is scheduled before what came last.
                let (element, time) = (element % elements, last + Time::from_picoseconds(time));
                if only_forward {
                    tree.advance(element as u32, time);
                    times[element] = times[element].min(time);
                } else {
                    tree.set(element as u32, time);
                    times[element] = time;
                }
                let others = times.iter().enumerate().filter(|&(index, _)| index != element);
                if let Some((index, &earliest)) = others.min_by_key(|&(index, &time)| (time, index)) {
                    let (told, whose) = tree.first_but(element as u32);
                    prop_assert!(told <= earliest);
                    if told == earliest {
                        prop_assert_eq!(whose as usize, index);
                    } else {
                        prop_assert_eq!(told, tree.base + Time::from_picoseconds(tree.horizon()));
                    }
                }
                let part = |element: usize| second_round(tree.place(element as u32));
                let around = times.iter().enumerate().filter(|&(index, _)| part(index) == part(element));
                if let Some((index, &earliest)) = around.min_by_key(|&(index, &time)| (time, index)) {
                    let near_enough = tree.base + Time::from_picoseconds(tree.horizon()) > earliest;
                    prop_assert!(!near_enough || tree.first_around(element as u32) as usize == index);
                }
                let first = times.iter().enumerate().min_by_key(|&(index, &time)| (time, index)).unwrap();
                prop_assert_eq!(tree.first().0, *first.1);
                if *first.1 < Time::NEVER {
                    prop_assert_eq!(tree.first().1 as usize, first.0);
                    last = *first.1;
                }
            }
        }
    }
}
