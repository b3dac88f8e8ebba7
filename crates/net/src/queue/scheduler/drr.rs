//! Deficit round robin (Shreedhar, Varghese 1996) by the rules of ns-2.35 (`queue/drr.cc`).

use std::collections::VecDeque;

use base::cast::{to_index, to_u32};
use base::{Packet, RandomStream};
use serde::{Deserialize, Serialize};

use super::flows::mixed;
use crate::queue::classes::Classes;

/// Parameters of deficit round robin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrrConfig {
    /// Bytes that a queue gets in a round (`quantum_`).
    pub quantum_bytes: u32,
    /// Number of queues that flows are hashed into (`buckets_`); `None`: each flow has a queue of its own.
    pub queues: Option<u32>,
}

impl DrrConfig {
    /// A quantum of a packet, and a queue for each flow.
    pub const TYPICAL: DrrConfig = DrrConfig { quantum_bytes: 1514, queues: None };
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    /// Bytes that the queue may still send (`deficitCounter`).
    deficit: u64,
    /// Whether the queue has got the quantum of its turn (`turn`). A full buffer that drops the queue's last packet
    /// leaves this set, so that the next turn of the queue begins without a quantum.
    has_quantum: bool,
    /// Whether the queue is in the list of those with packets.
    listed: bool,
}

/// Deficit round robin at work; a class is a queue.
#[derive(Clone, Debug)]
pub(crate) struct Drr {
    quantum: u64,
    queues: Option<u32>,
    /// Number that the hash of flows depends on.
    salt: u64,
    /// Queues with packets, the one whose turn it is first. One that a full buffer has emptied may still be among them.
    active: VecDeque<u32>,
    states: Vec<State>,
}

impl Drr {
    pub(super) fn new(config: DrrConfig, random: &RandomStream) -> Drr {
        let salt = config.queues.map_or(0, |_| random.branch("perturbation").bits());
        let quantum = u64::from(config.quantum_bytes.max(1));
        Drr { quantum, queues: config.queues, salt, active: VecDeque::new(), states: Vec::new() }
    }

    pub(super) fn class(&mut self, packet: &Packet) -> usize {
        let flow = u64::from(packet.flow);
        to_index(self.queues.map_or(flow, |queues| mixed(flow ^ self.salt) % u64::from(queues.max(1))))
    }

    /// Notes that a packet has joined a class. The first one puts its queue last (drr.cc, `DRR::enque`).
    pub(super) fn joined(&mut self, class: usize, waiting: &Classes) {
        if waiting.held_by(class).0 > 1 {
            return;
        }
        if class >= self.states.len() {
            self.states.resize(class + 1, State::default());
        }
        if self.states[class].listed {
            self.leave(class);
        }
        (self.states[class].deficit, self.states[class].listed) = (0, true);
        self.active.push_back(to_u32(class));
    }

    fn leave(&mut self, class: usize) {
        self.states[class].listed = false;
        self.active.retain(|&other| other != to_u32(class));
    }

    /// Returns the class with the most bytes, the one whose turn comes first of several such (drr.cc, `DRR::getMaxflow`).
    pub(super) fn first(&self, waiting: &Classes) -> Option<usize> {
        let mut most = (None, 0);
        for &number in &self.active {
            let class = to_index(number.into());
            let bytes = waiting.held_by(class).1;
            if bytes > most.1 {
                most = (Some(class), bytes);
            }
        }
        most.0
    }

    /// Returns the class whose first packet the deficit of its queue allows (drr.cc, `DRR::deque`).
    pub(super) fn next(&mut self, waiting: &Classes) -> Option<usize> {
        loop {
            let class = to_index((*self.active.front()?).into());
            let state = &mut self.states[class];
            let Some(bytes) = waiting.first_bytes(class) else {
                state.listed = false;
                self.active.pop_front();
                continue;
            };
            if !state.has_quantum {
                state.deficit += self.quantum;
                state.has_quantum = true;
            }
            if state.deficit >= u64::from(bytes) {
                return Some(class);
            }
            state.has_quantum = false;
            self.active.rotate_left(1);
        }
    }

    /// Notes that the class whose turn it is has sent a packet.
    pub(super) fn sent(&mut self, class: usize, bytes: u16, waiting: &Classes) {
        let state = &mut self.states[class];
        state.deficit = state.deficit.saturating_sub(bytes.into());
        if waiting.held_by(class).0 == 0 {
            *state = State::default();
            self.active.pop_front();
        }
    }

    /// Notes that the class whose turn it is was found empty: its AQM has dropped what waited.
    pub(super) fn found_empty(&mut self, class: usize) {
        self.states[class] = State::default();
        self.active.pop_front();
    }
}

#[cfg(test)]
mod tests {
    use base::{Clock, Rate, Time};

    use super::*;
    use crate::buffer::{Buffer, BufferLimit, Counting};
    use crate::queue::{AqmConfig, Discipline, Overflow, SchedulerConfig};
    use crate::queued::QueuedLink;
    use crate::statistics::Measurement;

    /// Lets packets (flow, bytes) arrive at once; returns the flows of those that depart, and flows and numbers of those
    /// that are dropped.
    fn play(quantum_bytes: u32, limit_bytes: u64, packets: &[(u32, u16)]) -> (Vec<u32>, Vec<(u32, u64)>) {
        let (clock, measurement) = (Clock::PICOSECONDS, Measurement { warmup: Time::ZERO, end: Time::NEVER });
        let buffer = Buffer::new(Some(BufferLimit::Bytes(limit_bytes)), Counting::Waiting);
        let scheduler = SchedulerConfig::Drr(DrrConfig { quantum_bytes, ..DrrConfig::TYPICAL });
        let discipline = Discipline::new(scheduler, AqmConfig::None {}, Overflow::HeaviestInTurn);
        let random = RandomStream::named(1, 0, "link");
        let mut link = QueuedLink::new(Rate::new(8e6, clock), buffer, &discipline, clock, random);
        let (mut departed, mut dropped) = (Vec::new(), Vec::new());
        let mut note = |_, packet: Packet| dropped.push((packet.flow, packet.sequence));
        for (sequence, &(flow, bytes)) in (1..).zip(packets) {
            let packet = Packet { sequence, flow, bytes, ..Packet::default() };
            link.arrive(Time::ZERO, packet, 0, &measurement, &mut note);
        }
        while link.next_departure() < Time::NEVER {
            departed.extend(link.depart(link.next_departure(), &measurement, &mut note).map(|packet| packet.flow));
        }
        (departed, dropped)
    }

    /// Shreedhar, Varghese 1996, section 3: a packet is sent if the deficit covers all of it; what is left is kept.
    #[test]
    fn a_queue_saves_quanta_until_they_cover_its_packet() {
        let packets = [(0, 1000), (1, 600), (1, 600), (1, 600), (2, 1000), (2, 1000), (0, 1000)];
        // Quanta of 500: 1 needs two rounds for a packet of 600 and keeps 400, so one round for the next; 2 needs two each.
        assert_eq!(play(500, 99_000, &packets).0, [0, 1, 2, 0, 1, 1, 2]);
    }

    #[test]
    fn a_full_buffer_drops_the_first_packet_of_the_queue_with_the_most_bytes() {
        let packets = [(0, 1000), (1, 1000), (2, 600), (2, 600), (0, 500)];
        assert_eq!(play(1000, 2200, &packets).1, [(2, 3)]);
        // Of two with as many bytes the one whose turn comes first.
        let packets = [(0, 1000), (2, 1000), (1, 1000), (3, 200)];
        assert_eq!(play(1000, 2100, &packets).1, [(2, 2)]);
    }
}
