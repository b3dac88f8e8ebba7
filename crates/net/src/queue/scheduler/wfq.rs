//! Weighted fair queueing: packets in the order in which generalised processor sharing would finish them (Demers, Keshav,
//! Shenker 1989; Parekh, Gallager 1993).

use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

use base::cast::{to_index, to_u32};
use base::{Packet, RandomStream, Rate, Time};
use serde::{Deserialize, Serialize};

use super::flows::FlowQueues;
use super::FlowEntry;
use crate::queue::classes::Classes;

/// Parameters of weighted fair queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WfqConfig {
    /// Number of queues that flows are hashed into; `None`: each flow has a queue of its own.
    pub queues: Option<u32>,
    /// Whether the flows of an entry of the scenario share one queue, if flows are not hashed.
    pub by_entry: bool,
}

impl WfqConfig {
    /// A queue for each flow.
    pub const TYPICAL: WfqConfig = WfqConfig { queues: None, by_entry: false };
}

/// Weighted fair queueing at work; a class is a queue.
///
/// Virtual time is the bytes that processor sharing has served, by weight, of each queue that it serves. It is measured in
/// bytes. Processor sharing is imagined with the same arrivals at the same rate.
#[derive(Clone, Debug)]
pub(crate) struct Wfq {
    flows: FlowQueues,
    ticks_per_byte: f64,
    /// Virtual time at the instant `at`.
    virtual_time: f64,
    at: Time,
    /// Queues that processor sharing serves, each once: a virtual finish up to that of its last packet, and its number.
    served: BinaryHeap<Reverse<Due>>,
    /// The sum of the weights of the queues in `served`.
    weights: f64,
    /// Virtual finishes of waiting packets, and of some that no longer wait, with the numbers of their queues.
    waiting: BinaryHeap<Reverse<Due>>,
    states: Vec<State>,
}

/// A virtual finish, as the bits of a number that is not negative, which are in its order; and the number of a queue.
type Due = (u64, u32);

/// A queue: the virtual start and finish of each waiting packet.
#[derive(Clone, Debug, Default)]
struct State {
    weight: f64,
    stamps: VecDeque<(f64, f64)>,
    /// Virtual finish of the queue's last packet, which may have departed.
    finish: f64,
    /// Whether the queue is in `served`.
    is_served: bool,
}

impl Wfq {
    pub(super) fn new(config: WfqConfig, rate: Rate, random: &RandomStream) -> Wfq {
        let (whole, part) = rate.exact_service_time(u16::MAX);
        Wfq {
            flows: FlowQueues::new(config.queues, config.by_entry, random),
            ticks_per_byte: (whole.ticks() as f64 + part as f64 / 2_f64.powi(64)) / f64::from(u16::MAX),
            virtual_time: 0.0,
            at: Time::ZERO,
            served: BinaryHeap::new(),
            weights: 0.0,
            waiting: BinaryHeap::new(),
            states: Vec::new(),
        }
    }

    pub(super) fn set_entries(&mut self, entries: &[FlowEntry]) {
        self.flows.set_entries(entries);
    }

    pub(super) fn class(&mut self, packet: &Packet) -> usize {
        self.flows.class(packet)
    }

    /// Lets virtual time pass: it grows by the rate over the weights of the queues that processor sharing serves.
    fn advance(&mut self, now: Time) {
        let elapsed = now.since(self.at) as f64;
        self.at = now;
        let mut bytes = if elapsed > 0.0 { elapsed / self.ticks_per_byte } else { 0.0 };
        while let Some((class, finish)) = self.first_to_finish() {
            let needed = (finish - self.virtual_time).max(0.0) * self.weights;
            if needed > bytes {
                self.virtual_time += bytes / self.weights;
                return;
            }
            (self.virtual_time, bytes) = (self.virtual_time.max(finish), bytes - needed);
            self.served.pop();
            let state = &mut self.states[class];
            (state.is_served, self.weights) = (false, self.weights - state.weight);
        }
    }

    /// Returns the queue that processor sharing finishes first, and its virtual finish.
    fn first_to_finish(&mut self) -> Option<(usize, f64)> {
        loop {
            let mut first = self.served.peek_mut()?;
            let Reverse((bits, number)) = *first;
            let finish = self.states[to_index(number.into())].finish;
            if finish.to_bits() == bits {
                return Some((to_index(number.into()), finish));
            }
            // Packets have come since.
            *first = Reverse((finish.to_bits(), number));
            drop(first);
        }
    }

    /// Notes that a packet has joined a class.
    pub(super) fn joined(&mut self, class: usize, now: Time, bytes: u16) {
        self.advance(now);
        while self.states.len() <= class {
            let weight = f64::from(self.flows.weight_of(self.states.len()));
            self.states.push(State { weight, ..State::default() });
        }
        let state = &mut self.states[class];
        let start = state.finish.max(self.virtual_time);
        state.finish = start + f64::from(bytes) / state.weight;
        state.stamps.push_back((start, state.finish));
        if !state.is_served {
            state.is_served = true;
            self.weights += state.weight;
            self.served.push(Reverse((state.finish.to_bits(), to_u32(class))));
        }
        self.waiting.push(Reverse((state.finish.to_bits(), to_u32(class))));
    }

    /// Returns the class whose first packet processor sharing would finish first.
    pub(super) fn next(&mut self, waiting: &Classes) -> Option<usize> {
        loop {
            let first = self.waiting.peek_mut()?;
            let Reverse((bits, number)) = *first;
            let class = to_index(number.into());
            let stamps = &mut self.states[class].stamps;
            // Where packets have left that were not the first, it is the last virtual times that are not needed.
            stamps.truncate(waiting.held_by(class).0);
            if stamps.front().is_some_and(|(_, finish)| finish.to_bits() == bits) {
                return Some(class);
            }
            PeekMut::pop(first);
        }
    }

    /// Notes that a class has sent a packet, after others that an AQM dropped.
    pub(super) fn sent(&mut self, class: usize, waiting: &Classes) {
        let (stamps, left) = (&mut self.states[class].stamps, waiting.held_by(class).0);
        stamps.drain(..stamps.len().saturating_sub(left));
    }

    /// Notes that a full buffer has dropped the last packet of a class: processor sharing does not serve it.
    pub(super) fn lost(&mut self, class: usize) {
        let state = &mut self.states[class];
        if let Some((start, _)) = state.stamps.pop_back() {
            state.finish = start;
            if state.is_served {
                self.served.retain(|Reverse((_, number))| *number != to_u32(class));
                self.served.push(Reverse((start.to_bits(), to_u32(class))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;
    use crate::queue::Waiting;

    /// Queues of weights 1, 2 and 3 in front of a link that takes 1 us for a byte.
    struct Played {
        wfq: Wfq,
        waiting: Classes,
    }

    impl Played {
        fn new() -> Played {
            let clock = Clock::PICOSECONDS;
            let random = RandomStream::named(1, 0, "link");
            let mut wfq = Wfq::new(WfqConfig::TYPICAL, Rate::new(8e6, clock), &random);
            wfq.set_entries(&[(0, 1), (1, 2), (2, 3)].map(|(first, weight)| FlowEntry { first, weight }));
            Played { wfq, waiting: Classes::default() }
        }

        fn arrive(&mut self, at_us: u64, flow: u32, bytes: u16) {
            let packet = Packet { flow, bytes, ..Packet::default() };
            let now = Time::from_ticks(at_us * 1_000_000);
            let class = self.wfq.class(&packet);
            self.waiting.push(class, now, &packet);
            self.wfq.joined(class, now, bytes);
        }

        fn send(&mut self) -> Option<usize> {
            let class = self.wfq.next(&self.waiting)?;
            self.waiting.pop(class, &mut Waiting::default());
            self.wfq.sent(class, &self.waiting);
            Some(class)
        }
    }

    /// Parekh, Gallager 1993: packets leave in the order of (earlier finish or now) + length / weight.
    #[test]
    fn packets_leave_in_the_order_of_their_virtual_finishes() {
        let mut played = Played::new();
        for (flow, bytes) in [(0, 600), (0, 600), (1, 600), (1, 600), (2, 1500), (2, 300)] {
            played.arrive(0, flow, bytes);
        }
        // Finishes: 600 and 1200 of flow 0, 300 and 600 of flow 1, 500 and 600 of flow 2; of equal ones the first queue's.
        let order: Vec<_> = std::iter::from_fn(|| played.send()).collect();
        assert_eq!(order, [1, 2, 0, 1, 2, 0]);
    }

    /// Processor sharing serves one queue with the whole rate, two with shares of it, and forgets one that it has emptied.
    #[test]
    fn virtual_time_passes_by_the_weights_of_the_queues_that_are_served() {
        let mut played = Played::new();
        played.arrive(0, 0, 1000);
        played.arrive(500, 2, 1500);
        assert_eq!(played.wfq.virtual_time, 500.0);
        assert_eq!(played.wfq.states[2].finish, 1000.0);
        played.arrive(1300, 1, 100);
        assert_eq!(played.wfq.virtual_time, 700.0, "800 bytes for weights of 4");
        // All have been served at a virtual time of 1000, before 9 ms; then nothing is, and the time stops.
        played.arrive(9000, 1, 100);
        assert_eq!(played.wfq.served.iter().map(|due| due.0 .1).collect::<Vec<_>>(), [1]);
        assert_eq!(played.wfq.virtual_time, 1000.0);
        assert_eq!(played.wfq.states[1].finish, 1050.0);
    }

    #[test]
    fn a_packet_that_a_full_buffer_drops_takes_no_share() {
        let mut played = Played::new();
        played.arrive(0, 0, 1000);
        played.arrive(0, 0, 1000);
        played.waiting.remove(crate::queue::classes::Position { class: 0, index: 1 });
        played.wfq.lost(0);
        assert_eq!(played.wfq.states[0].finish, 1000.0);
        assert_eq!([played.send(), played.send()], [Some(0), None]);
    }
}
