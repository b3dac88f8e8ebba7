use base::Time;

/// The event queue: one pending instant for each element, and the earliest of them on top.
///
/// A complete binary tree of winners. An element's instant is replaced in place, so nothing is ever cancelled and the
/// queue holds one entry an element, however many packets are in flight. At equal instants the lower index wins:
/// that, and the order of the elements (see `network`), is the total order of events.
#[derive(Clone, Debug)]
pub struct Tournament {
    /// `nodes[1]` is the winner; the leaves are the upper half.
    nodes: Vec<Entry>,
    leaves: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    time: Time,
    element: u32,
}

impl Tournament {
    /// For so many elements, none of which has anything pending.
    pub fn new(elements: usize) -> Tournament {
        let leaves = elements.next_power_of_two().max(1);
        let mut nodes = vec![Entry { time: Time::NEVER, element: 0 }; 2 * leaves];
        for (element, entry) in nodes[leaves..].iter_mut().enumerate() {
            entry.element = element as u32;
        }
        Tournament { nodes, leaves }
    }

    /// The earliest instant and whose it is.
    #[inline(always)]
    pub fn first(&self) -> (Time, u32) {
        let winner = self.nodes[1];
        (winner.time, winner.element)
    }

    /// The element's instant.
    #[inline(always)]
    pub fn time(&self, element: u32) -> Time {
        self.nodes[self.leaves + element as usize].time
    }

    /// Replaces the element's instant.
    #[inline(always)]
    pub fn set(&mut self, element: u32, time: Time) {
        let mut place = self.leaves + element as usize;
        self.nodes[place].time = time;
        while place > 1 {
            let (left, right) = (self.nodes[place & !1], self.nodes[place | 1]);
            place >>= 1;
            self.nodes[place] = if right.time < left.time { right } else { left };
        }
    }

    /// Brings the element's instant forward, if `time` is earlier.
    #[inline(always)]
    pub fn advance(&mut self, element: u32, time: Time) {
        let mut place = self.leaves + element as usize;
        while place > 0 && time < self.nodes[place].time {
            self.nodes[place] = Entry { time, element };
            place >>= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_first_is_the_earliest_and_the_lowest(
            elements in 1_usize..40,
            changes in prop::collection::vec((0_usize..40, 0_u64..20, any::<bool>()), 1..200),
        ) {
            let mut tree = Tournament::new(elements);
            let mut times = vec![Time::NEVER; elements];
            for (element, time, only_forward) in changes {
                let (element, time) = (element % elements, Time::from_picoseconds(time));
                if only_forward {
                    tree.advance(element as u32, time);
                    times[element] = times[element].min(time);
                } else {
                    tree.set(element as u32, time);
                    times[element] = time;
                }
                let first = times.iter().enumerate().min_by_key(|&(index, &time)| (time, index)).unwrap();
                prop_assert_eq!(tree.first().0, *first.1);
                prop_assert_eq!(tree.time(element as u32), times[element]);
                if *first.1 < Time::NEVER {
                    prop_assert_eq!(tree.first().1 as usize, first.0);
                }
            }
        }
    }
}
