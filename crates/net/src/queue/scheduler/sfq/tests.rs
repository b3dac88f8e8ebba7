use base::{Clock, Rate, Time};

use super::*;
use crate::buffer::{Buffer, BufferLimit, Counting};
use crate::queue::{AqmConfig, Discipline, Overflow, SchedulerConfig};
use crate::queued::QueuedLink;
use crate::statistics::Measurement;

const MEASUREMENT: Measurement = Measurement { warmup: Time::ZERO, end: Time::NEVER };

/// Plays packets that all arrive at time 0, given as flows and lengths, in a buffer; returns the flows of those that
/// depart, in order, and the flows and numbers of those that are dropped.
fn play(config: SfqConfig, limit: u64, packets: &[(u32, u16)]) -> (Vec<u32>, Vec<(u32, u64)>) {
    let overflow = if config.rules == SfqRules::Ns2 { Overflow::Arriving } else { Overflow::LongestLately };
    let discipline = Discipline::new(SchedulerConfig::Sfq(config), AqmConfig::None {}, overflow);
    let buffer = Buffer::new(Some(BufferLimit::Packets(limit)), Counting::Waiting);
    let clock = Clock::PICOSECONDS;
    let mut link =
        QueuedLink::new(Rate::new(8e6, clock), buffer, &discipline, clock, RandomStream::named(1, 0, "link"));
    let (mut departed, mut dropped) = (Vec::new(), Vec::new());
    let mut note = |_, packet: Packet| dropped.push((packet.flow, packet.sequence));
    for (sequence, &(flow, bytes)) in (1..).zip(packets) {
        link.arrive(Time::ZERO, Packet { sequence, flow, bytes, ..Packet::default() }, 0, &MEASUREMENT, &mut note);
    }
    while link.packets() > 0 {
        departed.extend(link.depart(link.next_departure(), &MEASUREMENT, &mut note).map(|packet| packet.flow));
    }
    (departed, dropped)
}

fn ns2() -> SfqConfig {
    SfqConfig { hashed: false, ..SfqConfig::TYPICAL }
}

fn linux() -> SfqConfig {
    SfqConfig { rules: SfqRules::Linux, queues: 1024, quantum_bytes: 1000, ..ns2() }
}

/// ns-2.35 `SFQ::deque`: a packet of each active bucket in turn, whatever its length.
#[test]
fn ns2_serves_a_packet_of_each_queue_in_turn() {
    let packets = [(0, 1500), (0, 1500), (0, 1500), (1, 100), (1, 100), (1, 100), (2, 500)];
    assert_eq!(play(ns2(), 40, &packets).0, [0, 0, 1, 2, 0, 1, 1]);
}

/// ns-2.35 `SFQ::enque`: a packet is dropped if its bucket holds half of what is free, `used >= left >> 1`.
#[test]
fn ns2_drops_an_arriving_packet_whose_queue_has_half_of_what_is_free() {
    // The first packet is in transmission. With n waiting of one flow, n >= (40 - n) >> 1 first holds at n = 13: 13 >= 13.
    let (departed, dropped) = play(ns2(), 40, &[(0, 1000); 20]);
    assert_eq!(departed.len(), 14);
    assert_eq!(dropped, (15..=20).map(|number| (0, number)).collect::<Vec<_>>());
}

/// ns-2.35 `SFQ::enque`: where fewer places are free than there are buckets, `used > fairshare` drops too, with the share
/// `maxqueue_ / buckets_` = 2.
#[test]
fn ns2_drops_above_the_fair_share_where_little_is_free() {
    // Flow 0 is in transmission; 13 wait of flow 1 and 12 of flow 2 as 15 places are free.
    let mut packets = vec![(0, 1000)];
    packets.extend([(1, 1000); 13]);
    packets.extend([(2, 1000); 13]);
    packets.extend([(3, 1000); 5]);
    let (_, dropped) = play(ns2(), 40, &packets);
    // 27 places are free after flow 1; of flow 2, n >= (27 - n) / 2 first holds at n = 9. 18 places are then free; flow 3 has
    // room for its first three packets, 15 free and 3 > 2 drops the others.
    let expected: Vec<(u32, u64)> = (24..=27).map(|number| (2, number)).chain([(3, 31), (3, 32)]).collect();
    assert_eq!(dropped, expected);
}

/// Linux `sfq_dequeue`: a queue sends while its allot is positive.
#[test]
fn linux_serves_a_quantum_of_each_queue_in_turn() {
    let packets = [(9, 1000), (0, 500), (0, 500), (0, 500), (1, 1000), (1, 1000), (2, 100), (2, 100)];
    assert_eq!(play(linux(), 127, &packets).0, [9, 0, 0, 1, 2, 2, 0, 1]);
}

/// Linux `sfq_drop`: the tail of the longest queue; of several the one that was linked last to its length.
#[test]
fn linux_drops_the_last_packet_of_the_longest_queue() {
    let packets = [(9, 1000), (0, 1000), (0, 1000), (0, 1000), (1, 1000), (2, 1000)];
    assert_eq!(play(linux(), 4, &packets).1, [(0, 4)]);
    let equal = [(9, 1000), (0, 1000), (0, 1000), (1, 1000), (1, 1000), (2, 1000)];
    assert_eq!(play(linux(), 4, &equal).1, [(1, 5)], "queue 1 came to two packets after queue 0");
    let single = [(9, 1000), (0, 1000), (1, 1000), (2, 1000)];
    assert_eq!(play(linux(), 2, &single).1, [(0, 2)], "all have one packet: the one whose turn it is");
}

/// Linux `sfq_enqueue`: `slot->qlen >= q->maxdepth` drops the arriving packet.
#[test]
fn linux_drops_an_arriving_packet_whose_queue_is_as_deep_as_allowed() {
    let config = SfqConfig { depth_packets: 3, ..linux() };
    assert_eq!(play(config, 127, &[(0, 1000); 6]).1, [(0, 5), (0, 6)]);
}
