/// A growing first-in first-out ring. It allocates when it first holds something and when it doubles, never else.
#[derive(Clone, Debug, Default)]
pub struct Ring<T> {
    slots: Box<[T]>,
    head: u32,
    length: u32,
}

impl<T: Copy + Default> Ring<T> {
    /// Number of entries.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.length as usize
    }

    /// Whether nothing is in it.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The oldest entry.
    #[inline(always)]
    pub fn front(&self) -> Option<&T> {
        if self.length == 0 {
            return None;
        }
        self.slots.get(self.head as usize)
    }

    /// Adds behind the newest entry.
    #[inline(always)]
    pub fn push(&mut self, entry: T) {
        if self.length as usize == self.slots.len() {
            self.grow();
        }
        let mask = self.slots.len() - 1;
        self.slots[(self.head + self.length) as usize & mask] = entry;
        self.length += 1;
    }

    /// Takes the oldest entry.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<T> {
        let entry = *self.front()?;
        self.length -= 1;
        // Back to the start where nothing is left: a ring that is nearly empty stays in few cache lines.
        self.head = if self.length == 0 { 0 } else { (self.head + 1) & (self.slots.len() as u32 - 1) };
        Some(entry)
    }

    /// Forgets all entries.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.length = 0;
    }

    /// From the oldest to the newest.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        let mask = self.slots.len().wrapping_sub(1);
        (0..self.length).map(move |i| &self.slots[(self.head + i) as usize & mask])
    }

    #[cold]
    fn grow(&mut self) {
        let mut slots = Vec::with_capacity((self.slots.len() * 2).max(8));
        slots.extend(self.iter().copied());
        slots.resize(slots.capacity().next_power_of_two(), T::default());
        self.slots = slots.into();
        self.head = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_order_while_it_grows_and_wraps() {
        let mut ring = Ring::default();
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
            assert_eq!(ring.len(), next_in - next_out);
            assert!(ring.iter().copied().eq(next_out..next_in));
        }
    }
}
