use base::{prefetch, Packet, Ring, Time};

/// A packet in the queue.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Waiting {
    pub(crate) packet: Packet,
    /// Instant of its arrival.
    pub(crate) since: Time,
}

/// The position of a waiting packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Position {
    pub(super) class: usize,
    /// Packets of its class in front of it.
    pub(super) index: usize,
}

/// A class: its waiting packets, first in, first out. A cache line.
#[derive(Clone, Debug, Default)]
#[repr(align(64))]
struct Class {
    fifo: Ring<Waiting>,
    bytes: u64,
    /// Number of the last change of its length, among those of all classes.
    changed: u64,
    turn: Turn,
}

/// The place of a class in the rounds of fair queueing; other schedulers leave it alone.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Turn {
    /// Bytes that the class may still send before its turn ends (`deficit`).
    pub(super) deficit: i64,
    /// Membership in a list of classes that take turns.
    pub(super) active: bool,
    /// Quanta that the class may send in a round; 0 until they are looked up.
    pub(super) weight: u16,
}

// A cache line.
const _: () = assert!(size_of::<Class>() == 64);

/// The waiting packets by the scheduler's classes, each class first in, first out.
#[derive(Clone, Debug, Default)]
pub(super) struct Classes {
    /// The classes up to the last one that a packet has been of.
    classes: Vec<Class>,
    packets: usize,
    bytes: u64,
    changes: u64,
}

impl Classes {
    /// Returns the number of waiting packets of all classes.
    pub(super) fn len(&self) -> usize {
        self.packets
    }

    /// Returns the bytes of all waiting packets.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the packets and the bytes that wait in a class.
    pub(super) fn held_by(&self, class: usize) -> (usize, u64) {
        self.classes.get(class).map_or((0, 0), |class| (class.fifo.len(), class.bytes))
    }

    /// Returns the place of a class in the rounds, if a packet has been of it.
    #[inline(always)]
    pub(super) fn turn(&mut self, class: usize) -> Option<&mut Turn> {
        self.classes.get_mut(class).map(|class| &mut class.turn)
    }

    /// Prefetches the first packet of a class, if it has one.
    #[inline(always)]
    pub(super) fn prefetch_first(&self, class: usize) {
        if let Some(first) = self.classes.get(class).and_then(|class| class.fifo.front()) {
            // It may lie in two cache lines.
            prefetch(first);
            prefetch(&first.packet.marks);
        }
    }

    /// Returns the length of the first packet of a class \[bytes\].
    pub(super) fn first_bytes(&self, class: usize) -> Option<u16> {
        Some(self.classes.get(class)?.fifo.front()?.packet.bytes)
    }

    /// Returns the waiting packets, class by class.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.classes.iter().flat_map(|class| class.fifo.iter())
    }

    /// Returns the first class, from the highest on, that has a packet.
    pub(super) fn highest(&self) -> Option<usize> {
        self.classes.iter().position(|class| !class.fifo.is_empty())
    }

    /// Returns the last packet of the lowest class that has one.
    pub(super) fn last_of_lowest(&self) -> Option<(Position, &Waiting)> {
        let class = self.classes.iter().rposition(|class| !class.fifo.is_empty())?;
        let index = self.classes[class].fifo.len() - 1;
        Some((Position { class, index }, self.classes[class].fifo.nth(index)?))
    }

    /// Returns the last packet of the class with the most packets, the first of such classes.
    pub(super) fn last_of_longest(&self) -> Option<Position> {
        let (class, packets) = first_of_most(self.classes.iter().map(|class| class.fifo.len()))?;
        Some(Position { class, index: packets - 1 })
    }

    /// Returns the last packet of the class with the most packets; of several such classes the one that changed last.
    pub(super) fn last_of_longest_lately(&self) -> Option<Position> {
        let longest = self.classes.iter().enumerate().max_by_key(|(_, class)| (class.fifo.len(), class.changed));
        let (class, index) = longest.and_then(|(number, class)| Some((number, class.fifo.len().checked_sub(1)?)))?;
        Some(Position { class, index })
    }

    /// Returns the class with the most bytes, the first of such classes, and its bytes.
    pub(super) fn fattest(&self) -> Option<(usize, u64)> {
        first_of_most(self.classes.iter().map(|class| class.bytes))
    }

    /// Returns the packet that has waited longest.
    pub(super) fn oldest(&self) -> Option<Position> {
        let fronts = self.classes.iter().enumerate();
        let fronts = fronts.filter_map(|(number, class)| Some((class.fifo.front()?.since, number)));
        fronts.min().map(|(_, class)| Position { class, index: 0 })
    }

    /// Returns since when the packet that has waited longest has been waiting.
    pub(super) fn oldest_since(&self) -> Option<Time> {
        self.classes.iter().filter_map(|class| Some(class.fifo.front()?.since)).min()
    }

    /// Returns the position of the packet with a number, counted from 0 class by class.
    pub(super) fn nth(&self, mut number: usize) -> Option<Position> {
        for (class, Class { fifo, .. }) in self.classes.iter().enumerate() {
            if number < fifo.len() {
                return Some(Position { class, index: number });
            }
            number -= fifo.len();
        }
        None
    }

    /// Appends a packet to its class.
    #[inline(always)]
    pub(super) fn push(&mut self, class: usize, since: Time, packet: &Packet) {
        if class >= self.classes.len() {
            self.classes.resize_with(class + 1, Class::default);
        }
        let bytes = u64::from(packet.bytes);
        (self.packets, self.bytes, self.changes) = (self.packets + 1, self.bytes + bytes, self.changes + 1);
        let class = &mut self.classes[class];
        (class.bytes, class.changed) = (class.bytes + bytes, self.changes);
        class.fifo.push(Waiting { packet: *packet, since });
    }

    /// Moves the first packet of a class to `to`; returns whether there is one.
    #[inline(always)]
    pub(super) fn pop(&mut self, class: usize, to: &mut Waiting) -> bool {
        let Some(class) = self.classes.get_mut(class) else { return false };
        let Some(first) = class.fifo.front() else { return false };
        *to = *first;
        class.fifo.pop();
        let bytes = u64::from(to.packet.bytes);
        (self.packets, self.bytes, self.changes) = (self.packets - 1, self.bytes - bytes, self.changes + 1);
        (class.bytes, class.changed) = (class.bytes - bytes, self.changes);
        true
    }

    /// Removes the packet at a position.
    pub(super) fn remove(&mut self, position: Position) -> Option<Waiting> {
        let class = self.classes.get_mut(position.class)?;
        let waiting = class.fifo.remove(position.index)?;
        let bytes = u64::from(waiting.packet.bytes);
        (self.packets, self.bytes, self.changes) = (self.packets - 1, self.bytes - bytes, self.changes + 1);
        (class.bytes, class.changed) = (class.bytes - bytes, self.changes);
        Some(waiting)
    }
}

/// Returns the first place of the largest number and that number; `None` where all are zero.
fn first_of_most<N: Copy + Default + Ord>(numbers: impl Iterator<Item = N>) -> Option<(usize, N)> {
    let mut most = (0, N::default());
    for (place, number) in numbers.enumerate() {
        if number > most.1 {
            most = (place, number);
        }
    }
    (most.1 > N::default()).then_some(most)
}
