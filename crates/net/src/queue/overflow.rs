use base::{Packet, RandomStream};
use serde::{Deserialize, Serialize};

use super::classes::{Classes, Position};

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
}

impl Overflow {
    /// Returns whether it never drops a waiting packet.
    pub const fn is_foreseen(self) -> bool {
        match self {
            Overflow::Arriving => true,
            Overflow::Front | Overflow::Random | Overflow::Lowest => false,
        }
    }

    /// Returns whether it draws random numbers.
    pub const fn is_random(self) -> bool {
        match self {
            Overflow::Random => true,
            Overflow::Arriving | Overflow::Front | Overflow::Lowest => false,
        }
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
            Overflow::Front => waiting.oldest(),
            Overflow::Random => waiting.nth(random.below(waiting.len() + 1)),
            Overflow::Lowest => {
                let (position, last) = waiting.last_of_lowest()?;
                (position.class > class && fits_in_place_of(&last.packet)).then_some(position)
            }
        }
    }
}
