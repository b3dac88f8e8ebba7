use base::{Packet, Time};
use std::collections::VecDeque;

/// A packet in the queue.
#[derive(Clone, Copy, Debug)]
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

/// The waiting packets by the scheduler's classes, each class first in, first out.
#[derive(Clone, Debug)]
pub(super) struct Classes {
    fifos: Vec<VecDeque<Waiting>>,
    packets: usize,
    bytes: u64,
}

impl Classes {
    pub(super) fn new(classes: usize) -> Classes {
        Classes { fifos: vec![VecDeque::new(); classes], packets: 0, bytes: 0 }
    }

    /// Returns the number of waiting packets of all classes.
    pub(super) fn len(&self) -> usize {
        self.packets
    }

    /// Returns the bytes of all waiting packets.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Returns the waiting packets, class by class.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.fifos.iter().flatten()
    }

    /// Returns the first class, from the highest on, that has a packet.
    pub(super) fn highest(&self) -> Option<usize> {
        self.fifos.iter().position(|fifo| !fifo.is_empty())
    }

    /// Returns the last packet of the lowest class that has one.
    pub(super) fn last_of_lowest(&self) -> Option<(Position, &Waiting)> {
        let class = self.fifos.iter().rposition(|fifo| !fifo.is_empty())?;
        let last = self.fifos[class].back()?;
        Some((Position { class, index: self.fifos[class].len() - 1 }, last))
    }

    /// Returns the packet that has waited longest.
    pub(super) fn oldest(&self) -> Option<Position> {
        let fronts = self.fifos.iter().enumerate().filter_map(|(class, fifo)| Some((fifo.front()?.since, class)));
        fronts.min().map(|(_, class)| Position { class, index: 0 })
    }

    /// Returns the position of the packet with a number, counted from 0 class by class.
    pub(super) fn nth(&self, mut number: usize) -> Option<Position> {
        for (class, fifo) in self.fifos.iter().enumerate() {
            if number < fifo.len() {
                return Some(Position { class, index: number });
            }
            number -= fifo.len();
        }
        None
    }

    /// Appends a packet to its class.
    #[inline(always)]
    pub(super) fn push(&mut self, class: usize, waiting: Waiting) {
        self.packets += 1;
        self.bytes += u64::from(waiting.packet.bytes);
        self.fifos[class].push_back(waiting);
    }

    /// Removes the first packet of a class.
    #[inline(always)]
    pub(super) fn pop(&mut self, class: usize) -> Option<Waiting> {
        let waiting = self.fifos[class].pop_front()?;
        self.count_out(&waiting);
        Some(waiting)
    }

    /// Removes the packet at a position.
    pub(super) fn remove(&mut self, position: Position) -> Option<Waiting> {
        let waiting = self.fifos[position.class].remove(position.index)?;
        self.count_out(&waiting);
        Some(waiting)
    }

    fn count_out(&mut self, gone: &Waiting) {
        self.packets -= 1;
        self.bytes -= u64::from(gone.packet.bytes);
    }
}
