//! The packets out of order that ACKs make known, held against a plain list of all arrivals.

use std::collections::BTreeSet;

use base::{Clock, Marks, Time};
use proptest::prelude::*;
use tcp::{Acknowledgment, Dialect, LinuxReceiver, Receiver, ReceiverConfig, Selected};

/// Time between two arrivals \[s\].
const STEP_S: f64 = 0.0004;

/// An arrival at the receiver, and what becomes of the ACK that it may cause.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    /// Number of the packet, beyond the lowest that is missing or before it.
    offset: i64,
    /// Whether the timer of a delayed ACK expires first.
    timer_first: bool,
    /// Arrivals before the ACK reaches the sender; `None`: it is lost.
    ack_delay: Option<usize>,
}

fn arrival() -> impl Strategy<Value = Arrival> {
    // Often the next packet, often near it, seldom far beyond it.
    let offset = prop_oneof![3 => Just(0), 4 => -4_i64..8, 1 => -100_i64..300];
    let ack_delay = prop_oneof![1 => Just(None), 2 => Just(Some(0)), 3 => (0_usize..20).prop_map(Some)];
    (offset, any::<bool>(), ack_delay).prop_map(|(offset, timer_first, ack_delay)| Arrival {
        offset,
        timer_first,
        ack_delay,
    })
}

/// A packet out of order, and whether it had arrived before.
type Entry = (u64, bool);

/// The receiver, and a plain model of it.
struct World {
    receiver: Receiver,
    arrived: BTreeSet<u64>,
    /// All packets out of order so far.
    entries: Vec<Entry>,
    /// Entries that the sender knows.
    known: Vec<Entry>,
    /// ACKs in the network: the arrival after which each reaches the sender, and the entries when it was sent.
    acks: Vec<(usize, Acknowledgment, usize)>,
}

impl World {
    fn arrive(&mut self, step: usize, arrival: Arrival) {
        let now = Clock::PICOSECONDS.time(STEP_S * step as f64);
        let until = if arrival.timer_first { Clock::PICOSECONDS.time(1e6) } else { now };
        self.expire(step, arrival, until);
        let next = self.receiver.next();
        let sequence = next.saturating_add_signed(arrival.offset);
        let fresh = self.arrived.insert(sequence);
        if sequence != next {
            self.entries.push((sequence, !fresh));
        }
        let acknowledgment = self.receiver.on_data(now, sequence, now, Marks::NONE, 0);
        let at_once = sequence == next || acknowledgment.is_some();
        assert!(at_once || self.receiver.deadline() != Time::NEVER, "packet {sequence} out of order is acknowledged");
        if let Some(acknowledgment) = acknowledgment {
            self.send(step, arrival, acknowledgment);
        }
    }

    /// Lets the timers expire that do so until an instant.
    fn expire(&mut self, step: usize, arrival: Arrival, until: Time) {
        while self.receiver.deadline() <= until {
            let acknowledgment = self.receiver.on_timer();
            self.send(step, arrival, acknowledgment);
        }
    }

    fn send(&mut self, step: usize, arrival: Arrival, acknowledgment: Acknowledgment) {
        if let Some(delay) = arrival.ack_delay {
            self.acks.push((step + delay, acknowledgment, self.entries.len()));
        }
    }

    /// Lets the ACKs reach the sender that are to arrive now or earlier, those sent last first.
    fn deliver(&mut self, step: usize) {
        while let Some(index) = self.acks.iter().rposition(|&(arrival, ..)| arrival <= step) {
            let (_, acknowledgment, entered) = self.acks.remove(index);
            let before = self.known.len();
            let mut selected = Vec::new();
            if acknowledgment.journal != 0 {
                self.receiver.read_journal(acknowledgment.journal, &mut selected);
            }
            self.know(&selected);
            // All that had arrived when the ACK was sent, in the order of arrival, and nothing from its future.
            let expected = &self.entries[..entered.max(before)];
            assert_eq!(self.known, expected, "after an ACK with number {}", acknowledgment.journal);
        }
    }

    fn know(&mut self, selected: &[Selected]) {
        for run in selected {
            assert!(run.first < run.end, "an empty run: {run:?}");
            self.known.extend((run.first..run.end).map(|sequence| (sequence, run.duplicate)));
        }
    }
}

proptest! {
    #[test]
    fn an_ack_makes_known_what_had_arrived_when_it_was_sent(
        ack_every in 1_u32..4, linux in any::<bool>(), arrivals in prop::collection::vec(arrival(), 1..300),
    ) {
        let linux = linux.then(LinuxReceiver::default);
        let config = ReceiverConfig { ack_every, ack_delay_s: 0.5, selective: true, linux, ..ReceiverConfig::default() };
        let mut world = World {
            receiver: Receiver::new(&config, Dialect::Rfc, Clock::PICOSECONDS),
            arrived: BTreeSet::new(),
            entries: Vec::new(),
            known: Vec::new(),
            acks: Vec::new(),
        };
        for (step, &arrival) in arrivals.iter().enumerate() {
            world.arrive(step, arrival);
            world.deliver(step);
        }
        world.deliver(usize::MAX);
        // Whatever was lost with the last ACKs, the next duplicate's ACK makes known.
        let last = Arrival { offset: 1000, timer_first: false, ack_delay: Some(0) };
        world.arrive(arrivals.len(), last);
        world.expire(arrivals.len(), last, Clock::PICOSECONDS.time(1e6));
        world.deliver(usize::MAX);
        prop_assert_eq!(&world.known, &world.entries);
    }
}

#[test]
fn a_transfer_knows_nothing_of_the_one_before() {
    let config = ReceiverConfig { selective: true, ..ReceiverConfig::default() };
    let mut receiver = Receiver::new(&config, Dialect::Rfc, Clock::PICOSECONDS);
    let mut acks = Vec::new();
    for sequence in [0, 2, 1, 1] {
        acks.extend(receiver.on_data(Time::ZERO, sequence, Time::ZERO, Marks::NONE, 0));
    }
    receiver.begin_transfer(Time::ZERO);
    acks.extend(receiver.on_data(Time::ZERO, 3, Time::ZERO, Marks::NONE, 0));
    assert_eq!(receiver.on_data(Time::ZERO, 2, Time::ZERO, Marks::NONE, 0), None, "a packet of the transfer before");
    let mut selected = Vec::new();
    acks.iter().for_each(|ack| receiver.read_journal(ack.journal, &mut selected));
    assert_eq!(selected, []);
    let ack = receiver.on_data(Time::ZERO, 5, Time::ZERO, Marks::NONE, 0).expect("an ACK");
    receiver.read_journal(ack.journal, &mut selected);
    assert_eq!(selected, [Selected { first: 5, end: 6, duplicate: false }]);
}
