//! The packets out of order that ACKs make known, held against the blocks that a capture has of the same ACKs.

use std::collections::{BTreeMap, BTreeSet};

use crate::outside::cases::config;
use base::{Clock, Marks, Time};
use proptest::prelude::*;
use tcp::{AckKey, Acknowledgment, Dialect, LinuxReceiver, Receiver, ReceiverConfig, Selected};

/// Time between two arrivals \[s\].
const STEP_S: f64 = 0.0004;
/// Length of an ACK with timestamps \[bytes\], and the number of blocks for which it has room.
const ACK_BYTES: u16 = 52;
const MOST_BLOCKS: usize = 3;

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

/// An ACK that reaches the sender, and what is known afterwards.
struct Delivered {
    key: AckKey,
    /// Packets that arrived before the ACK was sent.
    arrived: BTreeSet<u64>,
    /// Packets that the sender knows, selectively.
    known: BTreeSet<u64>,
    /// Duplicates that the ACK reports.
    duplicates: BTreeSet<u64>,
}

/// The receiver, and what the sender knows of it.
struct World {
    receiver: Receiver,
    arrived: BTreeSet<u64>,
    known: BTreeSet<u64>,
    /// ACKs in the network: the arrival after which each reaches the sender, and the packets that had arrived when it was sent.
    acks: Vec<(usize, Acknowledgment, BTreeSet<u64>)>,
    delivered: Vec<Delivered>,
    /// All ACKs that were sent.
    sent: Vec<AckKey>,
}

impl World {
    fn new(config: &ReceiverConfig) -> World {
        let receiver = Receiver::new(config, Dialect::Rfc, Clock::PICOSECONDS).with_ack_bytes(ACK_BYTES).with_log();
        World {
            receiver,
            arrived: BTreeSet::new(),
            known: BTreeSet::new(),
            acks: Vec::new(),
            delivered: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn arrive(&mut self, step: usize, arrival: Arrival) {
        let now = Clock::PICOSECONDS.time(STEP_S * step as f64);
        let until = if arrival.timer_first { Clock::PICOSECONDS.time(1e6) } else { now };
        self.expire(step, arrival, until);
        let next = self.receiver.next();
        let sequence = next.saturating_add_signed(arrival.offset);
        let before = self.arrived.clone();
        self.arrived.insert(sequence);
        let acknowledgment = self.receiver.on_data(now, sequence, now, Marks::NONE, 0);
        let at_once = sequence == next || acknowledgment.is_some();
        assert!(at_once || self.receiver.deadline() != Time::NEVER, "packet {sequence} out of order is acknowledged");
        if let Some(acknowledgment) = acknowledgment {
            // An ACK that was held may be sent before the packet is taken in.
            let earlier = self.receiver.deadline() != Time::NEVER && sequence > next;
            self.send(step, arrival, acknowledgment, if earlier { before } else { self.arrived.clone() });
        }
    }

    /// Lets the timers expire that do so until an instant.
    fn expire(&mut self, step: usize, arrival: Arrival, until: Time) {
        while self.receiver.deadline() <= until {
            let acknowledgment = self.receiver.on_timer();
            self.send(step, arrival, acknowledgment, self.arrived.clone());
        }
    }

    /// Lets all packets arrive that are missing, and their ACKs; the next packet's ACK has nothing to make known then.
    fn fill_holes(&mut self, step: usize) {
        let in_order = Arrival { offset: 0, timer_first: true, ack_delay: Some(0) };
        let last = self.arrived.last().copied().unwrap_or(0);
        while self.receiver.next() <= last + 8 {
            self.arrive(step, in_order);
            self.deliver(step);
        }
        self.expire(step, in_order, Clock::PICOSECONDS.time(1e6));
        self.deliver(step);
        self.arrive(step, in_order);
        self.expire(step, in_order, Clock::PICOSECONDS.time(1e6));
        let (_, acknowledgment, _) = self.acks.pop().expect("an ACK");
        assert_eq!(acknowledgment.journal, 0, "something is still missed");
    }

    fn send(&mut self, step: usize, arrival: Arrival, acknowledgment: Acknowledgment, arrived: BTreeSet<u64>) {
        self.sent.push((acknowledgment.next, acknowledgment.journal));
        if let Some(delay) = arrival.ack_delay {
            self.acks.push((step + delay, acknowledgment, arrived));
        }
    }

    /// Lets the ACKs reach the sender that are to arrive now or earlier, those sent last first.
    fn deliver(&mut self, step: usize) {
        while let Some(index) = self.acks.iter().rposition(|&(arrival, ..)| arrival <= step) {
            let (_, acknowledgment, arrived) = self.acks.remove(index);
            let key = (acknowledgment.next, acknowledgment.journal);
            let mut selected = Vec::new();
            if acknowledgment.journal != 0 {
                self.receiver.read_journal(acknowledgment.journal, acknowledgment.next, &mut selected);
            }
            let duplicates = self.know(&selected);
            self.delivered.push(Delivered { key, arrived, known: self.known.clone(), duplicates });
        }
    }

    /// Takes note of packets, each of which is new, and returns the duplicates among them.
    fn know(&mut self, selected: &[Selected]) -> BTreeSet<u64> {
        let mut duplicates = BTreeSet::new();
        for run in selected {
            assert!(run.first < run.end, "an empty run: {run:?}");
            for sequence in run.first..run.end {
                let is_new = if run.duplicate { duplicates.insert(sequence) } else { self.known.insert(sequence) };
                assert!(is_new || run.duplicate, "packet {sequence} is made known twice");
            }
        }
        duplicates
    }
}

/// Returns the blocks in which the options of all ACKs have room, by ACK: a duplicate takes a place.
fn blocks(world: &mut World) -> BTreeMap<AckKey, Vec<Selected>> {
    let mut blocks = world.receiver.take_log().expect("a log").blocks(world.sent.iter().copied());
    blocks.values_mut().for_each(|blocks| blocks.truncate(MOST_BLOCKS));
    blocks
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn a_sender_knows_what_the_blocks_of_the_acks_that_arrived_report(
        ack_every in 1_u32..4, linux in any::<bool>(), arrivals in prop::collection::vec(arrival(), 1..300),
    ) {
        let linux = linux.then(LinuxReceiver::default);
        let config = ReceiverConfig { ack_every, ack_delay_s: 0.5, selective: true, linux, ..ReceiverConfig::default() };
        let mut world = World::new(&config);
        for (step, &arrival) in arrivals.iter().enumerate() {
            world.arrive(step, arrival);
            world.deliver(step);
        }
        world.deliver(usize::MAX);
        if linux.is_none() {
            world.fill_holes(arrivals.len());
        }
        let blocks = blocks(&mut world);
        let (mut reported, mut next, mut newest) = (BTreeSet::new(), 0, 0);
        for Delivered { key, arrived, known, duplicates } in &world.delivered {
            next = next.max(key.0);
            let blocks = blocks.get(key).map_or(&[][..], Vec::as_slice);
            let packets = |duplicate: bool| {
                blocks.iter().filter(move |block| block.duplicate == duplicate).flat_map(|block| block.first..block.end)
            };
            reported.extend(packets(false));
            // What is acknowledged cumulatively need not be known selectively.
            let beyond = |known: &BTreeSet<u64>| known.range(next..).copied().collect::<Vec<_>>();
            prop_assert_eq!(beyond(known), beyond(&reported), "after the ACK {:?} with {:?}", key, blocks);
            prop_assert!(duplicates.is_subset(arrived), "{:?}", duplicates);
            // The duplicate of an ACK that no other one overtook.
            if key.1 > newest {
                prop_assert!(packets(true).all(|packet| duplicates.contains(&packet)), "{:?} for {:?}", duplicates, blocks);
            }
            newest = newest.max(key.1);
        }
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
    acks.iter().for_each(|ack| receiver.read_journal(ack.journal, ack.next, &mut selected));
    assert_eq!(selected, []);
    let ack = receiver.on_data(Time::ZERO, 5, Time::ZERO, Marks::NONE, 0).expect("an ACK");
    receiver.read_journal(ack.journal, ack.next, &mut selected);
    assert_eq!(selected, [Selected { first: 5, end: 6, duplicate: false }]);
}
