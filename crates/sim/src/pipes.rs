//! From a link's settings to the pipe behind it, and who waits in a pipe where packets overtake one another.

use std::cmp::{Ordering, Reverse};
use std::collections::BinaryHeap;

use base::{Packet, RandomStream, Time};
use net::{DelayLaw, DelayProcess, DelayState, Pipe};

use crate::scenario::{DelayLawConfig, DelayProcessConfig, LinkConfig, OrderConfig, Scenario};

fn law(config: &DelayLawConfig) -> DelayLaw {
    let time = Time::from_seconds;
    match config {
        DelayLawConfig::Steps { steps_s } => {
            DelayLaw::Steps(steps_s.iter().map(|&(from, delay)| (time(from), time(delay))).collect())
        }
        DelayLawConfig::Alternating { states, start, transitions } => {
            let states = states.iter().map(|state| DelayState {
                delay: time(state.delay_s),
                least_stay_s: state.least_stay_s,
                mean_extra_s: state.mean_extra_s,
            });
            DelayLaw::Alternating { states: states.collect(), start: *start, transitions: transitions.clone() }
        }
        DelayLawConfig::Handover { low_s, high_s, period_s } => {
            DelayLaw::Handover { bounds_s: (*low_s, *high_s), period: time(*period_s) }
        }
    }
}

/// A link's delay as a function of time in one replication.
pub(crate) fn delay_process(process: &DelayProcessConfig, seed: u64, replication: u64) -> DelayProcess {
    let random = RandomStream::named(seed, replication, &format!("delay/{}", process.stream));
    DelayProcess::new(law(&process.law), random)
}

/// The pipes of a scenario, in the order of its links.
pub(crate) fn pipes(scenario: &Scenario, replication: u64) -> Vec<Pipe> {
    let pipe = |link: &LinkConfig| {
        let config = link.delay_process.as_ref()?;
        let process = delay_process(config, scenario.run.seed, replication);
        Some(Pipe::new(process, Time::from_seconds(link.delay_s), config.order == OrderConfig::Keep))
    };
    scenario.links.iter().filter_map(pipe).collect()
}

/// Packets in a pipe where they overtake one another: the first to arrive leaves first, of two at once the first to come.
#[derive(Clone, Debug, Default)]
pub(crate) struct Crowd {
    heap: BinaryHeap<Reverse<Member>>,
    count: u64,
}

#[derive(Clone, Copy, Debug)]
struct Member {
    arrival: Time,
    number: u64,
    packet: Packet,
}

impl Crowd {
    pub(crate) fn push(&mut self, arrival: Time, packet: Packet) {
        self.heap.push(Reverse(Member { arrival, number: self.count, packet }));
        self.count += 1;
    }

    pub(crate) fn pop(&mut self) -> Option<Packet> {
        self.heap.pop().map(|Reverse(member)| member.packet)
    }

    /// When the next one arrives; [`Time::NEVER`] where none is inside.
    pub(crate) fn next_arrival(&self) -> Time {
        self.heap.peek().map_or(Time::NEVER, |Reverse(member)| member.arrival)
    }
}

impl Member {
    fn key(&self) -> (Time, u64) {
        (self.arrival, self.number)
    }
}

impl PartialEq for Member {
    fn eq(&self, other: &Member) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Member {}

impl PartialOrd for Member {
    fn partial_cmp(&self, other: &Member) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Member {
    fn cmp(&self, other: &Member) -> Ordering {
        self.key().cmp(&other.key())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crowd_leaves_in_the_order_of_arrival_and_then_of_coming() {
        let mut crowd = Crowd::default();
        for (sequence, arrival) in [7, 3, 5, 3, 7, 1].into_iter().enumerate() {
            crowd.push(Time::from_picoseconds(arrival), Packet { sequence: sequence as u64, ..Packet::default() });
        }
        assert_eq!(crowd.next_arrival(), Time::from_picoseconds(1));
        let order: Vec<u64> = std::iter::from_fn(|| crowd.pop()).map(|packet| packet.sequence).collect();
        assert_eq!(order, [5, 1, 3, 2, 0, 4]);
        assert_eq!(crowd.next_arrival(), Time::NEVER);
    }
}
