use std::hint::select_unpredictable;

use crate::cast::{low_u32, to_index, to_u32};
use crate::{prefetch, Time};

/// The event queue: one pending instant for each element, with access to the earliest of them.
///
/// The queue is a tournament tree: a complete tree of matches between four rivals. Setting an element's instant
/// replaces the old one, so that no event is ever cancelled and the queue has one entry for each element, however many
/// packets are in flight. At equal instants the lower index wins: with the order in which the owner numbers its
/// elements, this is the total order of events.
///
/// A match compares keys: the time since `base` in the high bits, the element in the low bits. Instants beyond the
/// horizon of a key have the key of the horizon until no nearer instant is left; then `base` advances.
///
/// Elements with much more frequent events than the others may have a shallow tree of their own below the first match,
/// so that their matches are few, whatever the number of all elements.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// Keys of the rivals of each match: for match `n`, the winners of matches `4n` to `4n + 3`, or four elements.
    matches: Vec<[u64; 4]>,
    /// Key of the winner.
    winner: u64,
    /// Number of frequent elements: those with a lower index have a tree of their own.
    frequent: u32,
    /// Position of element 0 in the tree if it is a frequent one.
    frequent_position: usize,
    /// Position that element 0 would have in the tree if it were not a frequent one.
    other_position: usize,
    /// Number of bits of a key that hold the element.
    bits: u32,
    /// Instant from which keys count.
    base: Time,
    /// Exact instant of each element.
    times: Vec<Time>,
}

impl Tournament {
    /// Creates a queue of a number of elements without pending events.
    pub fn new(elements: usize) -> Tournament {
        Tournament::with_frequent(0, elements)
    }

    /// Creates a queue of a number of elements without pending events; the first `frequent` of them have the most
    /// events.
    pub fn with_frequent(frequent: usize, elements: usize) -> Tournament {
        let Layout { frequent_depth, other_depth, quarters } = Layout::best(frequent, elements);
        let bits = elements.next_power_of_two().trailing_zeros();
        let (frequent, frequent_position) = (if quarters > 0 { frequent } else { 0 }, 1 << (2 * frequent_depth));
        let other_position = match quarters {
            0 => 1 << (2 * other_depth),
            _ => ((4 + quarters) << (2 * other_depth - 2)) - frequent,
        };
        let matches = (frequent_position + frequent).max(other_position + elements) / 4 + 1;
        let mut tournament = Tournament {
            matches: vec![[u64::MAX; 4]; matches],
            winner: u64::MAX,
            frequent: to_u32(frequent),
            frequent_position,
            other_position,
            bits,
            base: Time::ZERO,
            times: vec![Time::NEVER; 1 << bits],
        };
        tournament.rebase();
        tournament
    }

    /// Returns the earliest instant and its element; [`Time::NEVER`] if no event is pending. Afterwards no event may be
    /// scheduled before this instant.
    #[inline(always)]
    pub fn first(&mut self) -> (Time, u32) {
        if self.winner >> self.bits == self.horizon() {
            self.rebase();
        }
        let element = self.winner & self.element_mask();
        (self.times[to_index(element)], low_u32(element))
    }

    /// Returns the earliest instant. One beyond the horizon is given as the horizon.
    #[inline(always)]
    pub fn earliest(&self) -> Time {
        self.base + Time::from_ticks(self.winner >> self.bits)
    }

    /// Returns an instant at which an element other than the first one has its event, or the horizon: the earliest instant
    /// of the others is not later.
    #[inline(always)]
    pub fn runner_up(&self) -> Time {
        let [first, second, third, fourth] = self.matches[1];
        let (one, other) = (first.max(second), third.max(fourth));
        let key = earlier(first, second).max(earlier(third, fourth)).min(one).min(other);
        self.base + Time::from_ticks(key >> self.bits)
    }

    /// Returns the instant of an element.
    #[inline(always)]
    pub fn instant(&self, element: u32) -> Time {
        self.times[element as usize]
    }

    /// Returns the earliest of an element and its neighbours, which are those below the same match of the second round
    /// from the top, so that the caller can prefetch a likely next element. If none of them has a pending event, it may
    /// be any of them.
    #[inline(always)]
    pub fn first_around(&self, element: u32) -> u32 {
        let position = second_round(self.position(element));
        let key = self.matches[position >> 2][position & 3];
        low_u32(key & self.element_mask())
    }

    /// Prefetches the data that [`Tournament::set`] needs for an element.
    #[inline(always)]
    pub fn prefetch(&self, element: u32) {
        if let Some(time) = self.times.get(element as usize) {
            prefetch(time);
        }
        let position = self.position(element);
        if let Some(rivals) = self.matches.get(position >> 2) {
            prefetch(rivals);
        }
        if let Some(rivals) = self.matches.get(position >> 4) {
            prefetch(rivals);
        }
    }

    /// Sets the instant of an element.
    #[inline(always)]
    pub fn set(&mut self, element: u32, time: Time) {
        self.times[element as usize] = time;
        let mut winner = self.key(element, time);
        let mut position = self.position(element);
        let matches = self.matches.as_mut_slice();
        while position > 1 {
            let side = position & 3;
            position >>= 2;
            let rivals = &mut matches[position];
            rivals[side] = winner;
            let rival = earlier(rivals[side ^ 1], earlier(rivals[side ^ 2], rivals[side ^ 3]));
            winner = earlier(rival, winner);
        }
        self.winner = winner;
    }

    /// Sets the instant of an element to `time` if that is earlier.
    #[inline(always)]
    pub fn advance(&mut self, element: u32, time: Time) {
        if time >= self.times[element as usize] {
            return;
        }
        self.times[element as usize] = time;
        let key = self.key(element, time);
        let mut position = self.position(element);
        while position > 1 {
            let side = position & 3;
            position >>= 2;
            let rivals = &mut self.matches[position];
            rivals[side] = key;
            if rivals.iter().any(|&rival| rival < key) {
                return;
            }
        }
        self.winner = key;
    }

    /// Returns the earliest instant of all other elements, and its element. An instant beyond the horizon is given as
    /// the horizon.
    pub fn first_except(&self, element: u32) -> (Time, u32) {
        let mut position = self.position(element);
        let mut winner = u64::MAX;
        while position > 1 {
            let side = position & 3;
            position >>= 2;
            let rivals = &self.matches[position];
            winner = [1, 2, 3].iter().map(|other| rivals[side ^ other]).fold(winner, u64::min);
        }
        let since = Time::from_ticks(winner >> self.bits);
        (self.base + since, low_u32(winner & self.element_mask()))
    }

    /// Returns the largest time since `base` that a key can hold.
    #[inline(always)]
    fn horizon(&self) -> u64 {
        u64::MAX >> self.bits
    }

    #[inline(always)]
    fn key(&self, element: u32, time: Time) -> u64 {
        (time - self.base).ticks().min(self.horizon()) << self.bits | u64::from(element)
    }

    /// Returns the mask of the bits of a key that hold the element.
    #[inline(always)]
    fn element_mask(&self) -> u64 {
        self.times.len() as u64 - 1
    }

    #[inline(always)]
    fn position(&self, element: u32) -> usize {
        element as usize + if element < self.frequent { self.frequent_position } else { self.other_position }
    }

    /// Sets `base` to the earliest instant and computes all keys and matches again.
    #[cold]
    fn rebase(&mut self) {
        let earliest = self.times.iter().copied().min().filter(|&time| time != Time::NEVER);
        self.base = earliest.unwrap_or(self.base);
        for element in 0..to_u32(self.times.len()) {
            let position = self.position(element);
            // The number of times is a power of two; the last ones may belong to no element.
            let key = self.key(element, self.times[element as usize]);
            if let Some(rivals) = self.matches.get_mut(position >> 2) {
                rivals[position & 3] = key;
            }
        }
        let leaves = self.frequent_position..self.frequent_position + self.frequent as usize;
        for position in (2..self.matches.len()).rev().filter(|position| !leaves.contains(position)) {
            self.matches[position >> 2][position & 3] = best(&self.matches[position]);
        }
        self.winner = best(&self.matches[1]);
    }
}

/// The shape of the tree.
struct Layout {
    /// Rounds above the frequent elements.
    frequent_depth: u32,
    /// Rounds above the other elements.
    other_depth: u32,
    /// Rivals of the top match whose trees belong to the frequent elements; 0: they have no tree of their own.
    quarters: usize,
}

impl Layout {
    fn best(frequent: usize, elements: usize) -> Layout {
        let depth = |elements: usize, quarters: usize| {
            (1_u32..32).find(|depth| quarters << (2 * (depth - 1)) >= elements).unwrap_or(32)
        };
        let common = depth(elements, 4);
        let apart = (1..4).map(|quarters| Layout {
            frequent_depth: depth(frequent, quarters),
            other_depth: depth(elements - frequent, 4 - quarters),
            quarters,
        });
        // Frequent elements have at least twice as many events. The deeper tree must be that of the others, and not
        // much deeper than a common tree.
        let cost = |layout: &Layout| 2 * layout.frequent_depth + layout.other_depth;
        let suitable = |layout: &Layout| {
            frequent > 0 && layout.frequent_depth <= layout.other_depth && layout.other_depth <= common.max(6)
        };
        let best = apart.filter(suitable).min_by_key(cost);
        let together = Layout { frequent_depth: common, other_depth: common, quarters: 0 };
        best.filter(|layout| cost(layout) < 3 * common).unwrap_or(together)
    }
}

/// Returns the position in the second round from the top above a position, or the position itself if it is above that
/// round.
#[inline(always)]
fn second_round(position: usize) -> usize {
    // Positions of that round are 16 to 31, and each round below has two bits more.
    position >> (position.ilog2().saturating_sub(4))
}

/// Returns the smaller key, without a branch, since the result cannot be predicted.
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

    /// Returns the earliest of the elements that are selected, and its instant.
    fn earliest(times: &[Time], selected: impl Fn(usize) -> bool) -> Option<(usize, Time)> {
        let selected = times.iter().copied().enumerate().filter(|&(index, _)| selected(index));
        selected.min_by_key(|&(index, time)| (time, index))
    }

    fn check_others(tree: &Tournament, times: &[Time], element: usize) {
        let Some((index, time)) = earliest(times, |index| index != element) else { return };
        let (found, whose) = tree.first_except(to_u32(element));
        assert!(found <= time);
        if found == time {
            assert_eq!(whose as usize, index);
        } else {
            assert_eq!(found, tree.base + Time::from_ticks(tree.horizon()));
        }
    }

    fn check_runner_up(tree: &Tournament, times: &[Time], first: usize) {
        let Some((_, second)) = earliest(times, |index| index != first) else { return };
        let found = tree.runner_up();
        assert!(found >= second.min(tree.base + Time::from_ticks(tree.horizon())), "none of the others is before");
        let horizon = tree.base + Time::from_ticks(tree.horizon());
        assert!(found >= horizon || times.iter().enumerate().any(|(index, &time)| index != first && time == found));
    }

    fn check_neighbours(tree: &Tournament, times: &[Time], element: usize) {
        let part = |element: usize| second_round(tree.position(to_u32(element)));
        let Some((index, time)) = earliest(times, |index| part(index) == part(element)) else { return };
        let within_horizon = tree.base + Time::from_ticks(tree.horizon()) > time;
        assert!(!within_horizon || tree.first_around(to_u32(element)) as usize == index);
    }

    proptest! {
        #[test]
        fn the_first_is_the_earliest_and_the_lowest(
            elements in 1_usize..40,
            frequent in 0_usize..40,
            // Near instants with ties, and far ones beyond the horizon.
            changes in prop::collection::vec((0_usize..40, prop_oneof![0_u64..20, 0..u64::MAX / 2], any::<bool>()), 1..200),
        ) {
            let mut tree = Tournament::with_frequent(frequent.min(elements), elements);
            let mut times = vec![Time::NEVER; elements];
            let mut last = Time::ZERO;
            for (element, time, only_forward) in changes {
                // No event is scheduled before the last one.
                let (element, time) = (element % elements, last + Time::from_ticks(time));
                if only_forward {
                    tree.advance(to_u32(element), time);
                    times[element] = times[element].min(time);
                } else {
                    tree.set(to_u32(element), time);
                    times[element] = time;
                }
                check_others(&tree, &times, element);
                check_neighbours(&tree, &times, element);
                let (index, time) = earliest(&times, |_| true).unwrap();
                prop_assert_eq!(tree.first().0, time);
                if time < Time::NEVER {
                    prop_assert_eq!(tree.first().1 as usize, index);
                    check_runner_up(&tree, &times, index);
                    last = time;
                }
            }
        }
    }
}
