//! Lists of numbers that may leave from the middle.

use base::cast::to_index;

/// A list of numbers, each of which is in at most one list.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Chain {
    ends: Option<(u32, u32)>,
}

/// The neighbours of all numbers in their lists.
#[derive(Clone, Debug, Default)]
pub(super) struct Links {
    /// The number before and the number after each; those of a number in no list mean nothing.
    around: Vec<(u32, u32)>,
}

impl Chain {
    /// Returns the first number.
    pub(super) fn first(&self) -> Option<u32> {
        self.ends.map(|(first, _)| first)
    }
}

impl Links {
    /// Appends a number that is in no list.
    pub(super) fn push(&mut self, chain: &mut Chain, number: u32) {
        let index = to_index(number.into());
        if index >= self.around.len() {
            self.around.resize(index + 1, (0, 0));
        }
        let (first, last) = chain.ends.unwrap_or((number, number));
        self.around[to_index(last.into())].1 = number;
        self.around[index] = (last, number);
        chain.ends = Some((first, number));
    }

    /// Removes a number from its list.
    pub(super) fn remove(&mut self, chain: &mut Chain, number: u32) {
        let Some((first, last)) = chain.ends else { return };
        let (before, after) = self.around[to_index(number.into())];
        chain.ends = match (number == first, number == last) {
            (true, true) => None,
            (true, false) => Some((after, last)),
            (false, true) => Some((first, before)),
            (false, false) => {
                self.around[to_index(before.into())].1 = after;
                self.around[to_index(after.into())].0 = before;
                chain.ends
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_leave_from_anywhere_and_the_others_keep_their_order() {
        let (mut links, mut chain) = (Links::default(), Chain::default());
        let drain = |links: &mut Links, chain: &mut Chain| {
            let mut found = Vec::new();
            while let Some(first) = chain.first() {
                links.remove(chain, first);
                found.push(first);
            }
            found
        };
        for removed in [3, 0, 7, 5] {
            [3, 0, 9, 5, 7].into_iter().for_each(|number| links.push(&mut chain, number));
            links.remove(&mut chain, removed);
            let expected: Vec<u32> = [3, 0, 9, 5, 7].into_iter().filter(|&number| number != removed).collect();
            assert_eq!(drain(&mut links, &mut chain), expected);
        }
        assert_eq!(chain.first(), None);
    }
}
