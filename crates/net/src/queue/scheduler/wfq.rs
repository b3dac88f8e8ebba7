//! Weighted fair queueing: packets in the order in which generalised processor sharing would finish them (Demers, Keshav,
//! Shenker 1989; Parekh, Gallager 1993).

use std::collections::VecDeque;

use base::cast::{to_index, to_u32};
use base::{Packet, RandomStream, Rate, Time};
use serde::{Deserialize, Serialize};

use super::flows::FlowQueues;
use super::FlowEntry;
use crate::queue::classes::{Classes, Waiting};

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
    /// Virtual time, and the instant at which it was that.
    virtual_time: f64,
    at: Time,
    /// Queues that processor sharing serves, and the sum of their weights.
    served: Vec<u32>,
    weights: f64,
    states: Vec<State>,
}

/// A queue: the virtual start and finish of each waiting packet.
#[derive(Clone, Debug, Default)]
struct State {
    weight: f64,
    stamps: VecDeque<(f64, f64)>,
    /// Virtual finish of its last packet, which may have departed.
    finish: f64,
    /// Whether it is in `served`.
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
            served: Vec::new(),
            weights: 0.0,
            states: Vec::new(),
        }
    }

    pub(super) fn set_entries(&mut self, entries: &[FlowEntry]) {
        self.flows.set_entries(entries);
    }

    pub(super) fn class(&self, packet: &Packet) -> usize {
        self.flows.class(packet)
    }

    /// Lets virtual time pass: it grows by the rate over the weights of the queues that processor sharing serves.
    fn advance(&mut self, now: Time) {
        let elapsed = now.since(self.at) as f64;
        self.at = now;
        let mut bytes = if elapsed > 0.0 { elapsed / self.ticks_per_byte } else { 0.0 };
        while let Some((index, finish)) = self.first_to_finish() {
            let needed = (finish - self.virtual_time).max(0.0) * self.weights;
            if needed > bytes {
                self.virtual_time += bytes / self.weights;
                return;
            }
            (self.virtual_time, bytes) = (self.virtual_time.max(finish), bytes - needed);
            let state = &mut self.states[to_index(self.served.swap_remove(index).into())];
            (state.is_served, self.weights) = (false, self.weights - state.weight);
        }
    }

    /// Returns the queue, by its place in `served`, that processor sharing finishes first, and its virtual finish.
    fn first_to_finish(&self) -> Option<(usize, f64)> {
        let finishes = self.served.iter().map(|&number| self.states[to_index(number.into())].finish);
        finishes.enumerate().min_by(|one, other| one.1.total_cmp(&other.1))
    }

    /// Notes that a packet has joined a class.
    pub(super) fn joined(&mut self, class: usize, arriving: &Waiting) {
        self.advance(arriving.since);
        while self.states.len() <= class {
            let weight = f64::from(self.flows.weight_of(self.states.len()));
            self.states.push(State { weight, ..State::default() });
        }
        let state = &mut self.states[class];
        let start = state.finish.max(self.virtual_time);
        state.finish = start + f64::from(arriving.packet.bytes) / state.weight;
        state.stamps.push_back((start, state.finish));
        if !state.is_served {
            state.is_served = true;
            self.weights += state.weight;
            self.served.push(to_u32(class));
        }
    }

    /// Returns the class whose first packet processor sharing would finish first.
    pub(super) fn next(&mut self, waiting: &Classes) -> Option<usize> {
        let mut first = (None, f64::INFINITY);
        for (class, state) in self.states.iter_mut().enumerate() {
            // Where packets have left that were not the first, it is the last virtual times that are not needed.
            state.stamps.truncate(waiting.held_by(class).0);
            match state.stamps.front() {
                Some(&(_, finish)) if finish < first.1 => first = (Some(class), finish),
                _ => {}
            }
        }
        first.0
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
        }
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;

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
            let arriving = Waiting { packet, since: Time::from_ticks(at_us * 1_000_000) };
            let class = self.wfq.class(&packet);
            self.waiting.push(class, arriving);
            self.wfq.joined(class, &arriving);
        }

        fn send(&mut self) -> Option<usize> {
            let class = self.wfq.next(&self.waiting)?;
            self.waiting.pop(class);
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
        assert_eq!(played.wfq.served, [1]);
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
