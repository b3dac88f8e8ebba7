use base::{Packet, RandomStream};
use serde::{Deserialize, Serialize};

use super::classes::{Classes, Position, Waiting};

/// The packet that is dropped where an arriving packet finds the buffer full, or where the AQM drops one on its
/// arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Overflow {
    /// The arriving packet.
    Arriving,
    /// The packet that has waited longest; the arriving one where none waits.
    Front,
    /// A packet drawn among all waiting ones and the arriving one.
    Random,
    /// The last packet of the lowest class, if the arriving one is of a higher class and fits in its place; else the
    /// arriving one.
    Lowest,
    /// The last packet of the class with the most packets, the arriving one counted.
    Longest,
    /// The same; of several such classes the one whose length changed last, and of classes of one packet each the one whose
    /// turn it is (Linux `sfq_drop`).
    LongestLately,
    /// Packets at the front of the class with the most bytes, the arriving one counted: half of its bytes, at most 64
    /// packets (RFC 8290 section 4.1, Linux `fq_codel_drop`). An AQM drops the arriving one.
    Fattest,
    /// The packet at the front of the class with the most bytes, the arriving one counted (Linux `cake_drop`).
    Heaviest,
    /// The same; of several such classes the one whose turn comes first (ns-2's DRR). Without a scheduler that says which
    /// one that is, the first of them.
    HeaviestInTurn,
}

/// The most packets that are dropped at once (Linux `drop_batch_size`).
const LARGEST_BATCH: u32 = 64;

impl Overflow {
    /// Returns whether it never drops a waiting packet.
    pub const fn is_foreseen(self) -> bool {
        match self {
            Overflow::Arriving => true,
            Overflow::Front | Overflow::Random | Overflow::Lowest => false,
            Overflow::Longest | Overflow::LongestLately | Overflow::Fattest | Overflow::Heaviest => false,
            Overflow::HeaviestInTurn => false,
        }
    }

    /// Returns whether it draws random numbers.
    pub const fn is_random(self) -> bool {
        match self {
            Overflow::Random => true,
            Overflow::Arriving | Overflow::Front | Overflow::Lowest => false,
            Overflow::Longest | Overflow::LongestLately | Overflow::Fattest | Overflow::Heaviest => false,
            Overflow::HeaviestInTurn => false,
        }
    }

    /// Returns whether it chooses once the arriving packet waits with the others.
    pub(super) const fn chooses_later(self) -> bool {
        match self {
            Overflow::Longest | Overflow::LongestLately | Overflow::Fattest | Overflow::Heaviest => true,
            Overflow::HeaviestInTurn => true,
            Overflow::Arriving | Overflow::Front | Overflow::Random | Overflow::Lowest => false,
        }
    }

    /// Drops packets of too many, at least one if any waits: reports each, and returns their class and their number. `first`
    /// is the class whose turn it is, if the scheduler says so.
    pub(super) fn drop_waiting(
        self,
        waiting: &mut Classes,
        first: Option<usize>,
        mut dropped: impl FnMut(usize, Waiting),
    ) -> Option<(usize, u32)> {
        let position = match self {
            Overflow::Longest => Some(waiting.last_of_longest()?),
            Overflow::LongestLately => {
                let longest = waiting.last_of_longest_lately()?;
                // Where no class has two packets, Linux drops that of the class whose turn it is.
                let class = first.filter(|_| longest.index == 0).unwrap_or(longest.class);
                Some(Position { class, ..longest })
            }
            Overflow::Arriving | Overflow::Front | Overflow::Random | Overflow::Lowest => None,
            Overflow::Fattest | Overflow::Heaviest | Overflow::HeaviestInTurn => None,
        };
        if let Some(position) = position {
            dropped(position.class, waiting.remove(position)?);
            return Some((position.class, 1));
        }
        let (fattest, held) = waiting.fattest()?;
        let class = first.filter(|_| self == Overflow::HeaviestInTurn).unwrap_or(fattest);
        let largest = if self == Overflow::Fattest { LARGEST_BATCH } else { 1 };
        let (mut packets, mut bytes) = (0, 0);
        while packets < largest && (packets == 0 || bytes < held / 2) {
            let Some(first) = waiting.remove(Position { class, index: 0 }) else { break };
            (packets, bytes) = (packets + 1, bytes + u64::from(first.packet.bytes));
            dropped(class, first);
        }
        Some((class, packets))
    }

    /// Returns the waiting packet to drop in favour of one that arrives in `class`; `None`: the arriving packet is
    /// dropped.
    pub(super) fn victim(
        self,
        waiting: &Classes,
        class: usize,
        fits_in_place_of: impl FnOnce(&Packet) -> bool,
        random: &mut RandomStream,
    ) -> Option<Position> {
        match self {
            Overflow::Arriving => None,
            Overflow::Longest | Overflow::LongestLately | Overflow::Fattest | Overflow::Heaviest => None,
            Overflow::HeaviestInTurn => None,
            Overflow::Front => waiting.oldest(),
            Overflow::Random => waiting.nth(random.below(waiting.len() + 1)),
            Overflow::Lowest => {
                let (position, last) = waiting.last_of_lowest()?;
                (position.class > class && fits_in_place_of(&last.packet)).then_some(position)
            }
        }
    }
}
