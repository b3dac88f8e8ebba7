use crate::cast::low_u32;

/// Most slots of a ring: the sum of an index and a length is then below 2^32.
const MOST_SLOTS: usize = 1 << 31;

/// A first-in first-out ring buffer that grows. It allocates only for its first entry and when its capacity doubles.
#[derive(Clone, Debug, Default)]
pub struct Ring<T> {
    slots: Box<[T]>,
    head: u32,
    length: u32,
}

impl<T: Copy + Default> Ring<T> {
    /// Returns the number of entries.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Returns whether the ring is empty.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// Returns the oldest entry.
    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        if self.length == 0 {
            return None;
        }
        self.slots.get(self.head as usize)
    }

    /// Returns the entry with a number of entries before it.
    #[inline(always)]
    pub fn nth(&self, before: usize) -> Option<&T> {
        if before >= self.length as usize {
            return None;
        }
        self.slots.get((self.head as usize + before) & (self.slots.len() - 1))
    }

    /// Returns the entry with a number of entries before it, to be changed.
    #[inline(always)]
    pub fn nth_mut(&mut self, before: usize) -> Option<&mut T> {
        if before >= self.length as usize {
            return None;
        }
        let mask = self.slots.len() - 1;
        self.slots.get_mut((self.head as usize + before) & mask)
    }

    /// Removes a number of the oldest entries, and returns the newest one of them; `None`, and removes nothing, if the number
    /// is zero or there are not as many.
    #[inline(always)]
    pub fn pop_many(&mut self, count: usize) -> Option<T> {
        let last = *self.nth(count.wrapping_sub(1))?;
        self.length -= low_u32(count as u64);
        let mask = low_u32(self.slots.len() as u64) - 1;
        self.head = if self.length == 0 { 0 } else { (self.head + low_u32(count as u64)) & mask };
        Some(last)
    }

    /// Adds an entry behind the newest one.
    ///
    /// # Panics
    /// Panics if there are 2^31 entries already.
    #[inline(always)]
    pub fn push(&mut self, entry: T) {
        if self.length as usize == self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        self.slots[(self.head + self.length) as usize & mask] = entry;
        self.length += 1;
    }

    /// Removes and returns the oldest entry.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let entry = *self.front()?;
        self.length -= 1;
        // An empty ring restarts at its first slot, so that a ring with few entries stays in few cache lines.
        let mask = low_u32(self.slots.len() as u64) - 1;
        self.head = if self.length == 0 { 0 } else { (self.head + 1) & mask };
        Some(entry)
    }

    /// Removes and returns the entry with a number of entries before it.
    pub fn remove(&mut self, before: usize) -> Option<T> {
        let removed = *self.nth(before)?;
        // The shorter part moves.
        if before < self.len() / 2 {
            for place in (0..before).rev() {
                self.move_entry(place, place + 1);
            }
            self.pop();
        } else {
            for place in before + 1..self.len() {
                self.move_entry(place, place - 1);
            }
            self.length -= 1;
        }
        Some(removed)
    }

    fn move_entry(&mut self, from: usize, to: usize) {
        let mask = self.slots.len() - 1;
        let head = self.head as usize;
        self.slots[(head + to) & mask] = self.slots[(head + from) & mask];
    }

    /// Moves the oldest entry behind the newest one.
    #[inline(always)]
    pub fn rotate(&mut self) {
        if self.length > 0 {
            let mask = low_u32(self.slots.len() as u64) - 1;
            self.slots[((self.head + self.length) & mask) as usize] = self.slots[self.head as usize];
            self.head = (self.head + 1) & mask;
        }
    }

    /// Removes all entries.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// Iterates over the entries from the oldest to the newest.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mask = self.slots.len().wrapping_sub(1);
        (0..self.length).map(move |i| &self.slots[(self.head + i) as usize & mask])
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = Vec::with_capacity((self.slots.len() * 2).max(8));
        slots.extend(self.iter().copied());
        slots.resize(slots.capacity().next_power_of_two(), T::default());
        assert!(slots.len() <= MOST_SLOTS, "a ring of {} entries", self.length);
        self.slots = slots.into();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_while_it_grows_and_wraps() {
        let mut ring = Ring::<usize>::default();
        ring.rotate();
        let (mut next_in, mut next_out) = (0, 0);
        for round in 0..200 {
            for _ in 0..round % 7 {
                ring.push(next_in);
                next_in += 1;
            }
            for _ in 0..round % 5 {
                if let Some(out) = ring.pop() {
                    assert_eq!(out, next_out);
                    next_out += 1;
                }
            }
            if let (0, Some(out)) = (round % 3, ring.front().copied()) {
                // Around once: the order is the same then.
                for place in 0..ring.len() {
                    assert_eq!(ring.front(), Some(&(out + place)));
                    ring.rotate();
                }
            }
            assert_eq!(ring.len(), next_in - next_out);
            assert!((0..ring.len() + 2).all(|before| ring.nth(before) == ring.iter().nth(before)));
            assert!(
                (0..ring.len() + 2).all(|before| ring.clone().nth_mut(before).copied() == ring.nth(before).copied())
            );
            for count in 0..ring.len() + 2 {
                let (mut shorter, mut expected) = (ring.clone(), None);
                let popped = shorter.pop_many(count);
                let left = if count > ring.len() { 0 } else { count };
                let mut by_one = ring.clone();
                (0..left).for_each(|_| expected = by_one.pop());
                assert_eq!(popped, expected);
                assert!(shorter.iter().eq(by_one.iter()));
            }
            assert!(ring.iter().copied().eq(next_out..next_in));
        }
    }

    #[test]
    fn an_entry_is_removed_wherever_it_is() {
        for (length, turns) in (0..20).flat_map(|length| (0..8).map(move |turns| (length, turns))) {
            let mut ring = Ring::<usize>::default();
            (0..length).for_each(|entry| ring.push(entry));
            (0..turns).for_each(|_| ring.rotate());
            for before in 0..length + 2 {
                let (mut shorter, mut others) = (ring.clone(), ring.iter().copied().collect::<Vec<_>>());
                let removed = (before < length).then(|| others.remove(before));
                assert_eq!(shorter.remove(before), removed);
                assert!(shorter.iter().eq(&others));
            }
        }
    }
}
