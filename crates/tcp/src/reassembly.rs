/// The packets received beyond the next expected one: a ring of bits that grows with the window. Its first word is
/// stored inline, since most windows need no other.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reassembly {
    first_word: u64,
    more_words: Box<[u64]>,
}

impl Reassembly {
    /// Marks packet `sequence > next` as received; returns whether it was not yet.
    pub(crate) fn insert(&mut self, next: u64, sequence: u64) -> bool {
        while sequence - next >= self.capacity() {
            self.grow(next);
        }
        let (word, bit) = self.word_and_bit(sequence);
        let fresh = *word & bit == 0;
        *word |= bit;
        fresh
    }

    /// Returns whether packet `sequence > next` was received.
    pub(crate) fn contains(&mut self, next: u64, sequence: u64) -> bool {
        if sequence - next >= self.capacity() {
            return false;
        }
        let (word, bit) = self.word_and_bit(sequence);
        *word & bit != 0
    }

    /// Removes packet `sequence`; returns whether it was received.
    pub(crate) fn remove(&mut self, sequence: u64) -> bool {
        let (word, bit) = self.word_and_bit(sequence);
        let received = *word & bit != 0;
        *word &= !bit;
        received
    }

    fn capacity(&self) -> u64 {
        (self.more_words.len() as u64 + 1) * 64
    }

    /// Returns the word of a packet, and the packet's bit in it.
    fn word_and_bit(&mut self, sequence: u64) -> (&mut u64, u64) {
        let index = sequence & (self.capacity() - 1);
        let word = match (index / 64) as usize {
            0 => &mut self.first_word,
            word => &mut self.more_words[word - 1],
        };
        (word, 1 << (index % 64))
    }

    #[cold]
    fn grow(&mut self, next: u64) {
        let mut old = std::mem::take(self);
        self.more_words = vec![0; 2 * old.more_words.len() + 1].into();
        for sequence in next..next + old.capacity() {
            let (word, bit) = old.word_and_bit(sequence);
            if *word & bit != 0 {
                let (word, bit) = self.word_and_bit(sequence);
                *word |= bit;
            }
        }
    }
}
