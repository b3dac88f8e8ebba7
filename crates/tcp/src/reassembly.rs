/// Which packets beyond the next expected one have arrived: a ring of bits that grows with the window.
#[derive(Clone, Debug, Default)]
#[repr(C)]
pub(crate) struct Reassembly {
    held: u64,
    words: Vec<u64>,
}

impl Reassembly {
    /// Nothing waits beyond a hole.
    #[inline(always)]
    pub(crate) fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Packet `sequence > next` arrived; false where it had before.
    pub(crate) fn insert(&mut self, next: u64, sequence: u64) -> bool {
        while sequence - next >= self.capacity() {
            self.grow(next);
        }
        let (word, bit) = self.place(sequence);
        let fresh = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.held += u64::from(fresh);
        fresh
    }

    /// Takes `sequence` out; false where it is not there.
    pub(crate) fn remove(&mut self, sequence: u64) -> bool {
        if self.held == 0 {
            return false;
        }
        let (word, bit) = self.place(sequence);
        let there = self.words[word] & bit != 0;
        self.words[word] &= !bit;
        self.held -= u64::from(there);
        there
    }

    fn capacity(&self) -> u64 {
        self.words.len() as u64 * 64
    }

    fn place(&self, sequence: u64) -> (usize, u64) {
        let index = sequence & (self.capacity() - 1);
        ((index / 64) as usize, 1 << (index % 64))
    }

    #[cold]
    fn grow(&mut self, next: u64) {
        let old = std::mem::take(self);
        self.words = vec![0; (old.words.len() * 2).max(1)];
        for sequence in next..next + old.capacity() {
            let (word, bit) = old.place(sequence);
            if old.words[word] & bit != 0 {
                let (word, bit) = self.place(sequence);
                self.words[word] |= bit;
            }
        }
        self.held = old.held;
    }
}
