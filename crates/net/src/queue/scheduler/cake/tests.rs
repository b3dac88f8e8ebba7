use std::collections::BTreeSet;

use base::{Clock, Rate, Time};

use super::*;
use crate::buffer::{Buffer, BufferLimit, Counting};
use crate::queue::{AqmConfig, CobaltConfig, Discipline, Overflow, SchedulerConfig, Waiting};
use crate::queued::QueuedLink;
use crate::statistics::Measurement;

const MEASUREMENT: Measurement = Measurement { warmup: Time::ZERO, end: Time::NEVER };
const PERFECT: CakeConfig = CakeConfig { quantum_bytes: 1000, hashed: false, by_host: true, bandwidth_bps: None };
const CLOCK: Clock = Clock::PICOSECONDS;

/// A packet of 1000 bytes, of a flow and its host, that arrives at an instant \[ms\].
type Arrival = (f64, u32, u16);

/// The flow of a packet and the instant of its departure \[ms\].
type Departed = (u32, f64);
/// The flow and the number of a packet.
type Dropped = (u32, u64);

/// Plays arrivals to a link that takes 1 ms for a packet; returns the departures as flows and instants \[ms\], and the
/// drops as flows and numbers.
fn play(config: CakeConfig, limit: u64, arrivals: &[Arrival]) -> (Vec<Departed>, Vec<Dropped>) {
    let aqm = AqmConfig::Cobalt(CobaltConfig { target_s: 100.0, ..CobaltConfig::TYPICAL });
    let discipline = Discipline::new(SchedulerConfig::Cake(config), aqm, Overflow::Heaviest);
    let buffer = Buffer::new(Some(BufferLimit::Bytes(limit)), Counting::Waiting);
    let random = RandomStream::named(1, 0, "link");
    let mut link = QueuedLink::new(Rate::new(8e6, CLOCK), buffer, &discipline, CLOCK, random);
    let (mut departed, mut dropped) = (Vec::new(), Vec::new());
    let mut arrivals = (0..).zip(arrivals).peekable();
    loop {
        let arrival = arrivals.peek().map_or(Time::NEVER, |(_, &(at_ms, ..))| CLOCK.time(at_ms / 1e3));
        let now = arrival.min(link.next_departure());
        if now == Time::NEVER {
            return (departed, dropped);
        }
        let mut note = |_, packet: Packet| dropped.push((packet.flow, packet.sequence));
        if link.next_departure() <= arrival {
            let sent = link.depart(now, &MEASUREMENT, &mut note);
            departed.extend(sent.map(|packet| (packet.flow, CLOCK.seconds(now) * 1e3)));
        } else if let Some((sequence, &(_, flow, host))) = arrivals.next() {
            let packet = Packet { sequence, flow, bytes: 1000, ..Packet::default() };
            link.arrive(now, packet, Origin { level: 0, host }, &MEASUREMENT, &mut note);
        }
    }
}

fn at_once(flows: &[(u32, u16, usize)]) -> Vec<Arrival> {
    flows.iter().flat_map(|&(flow, host, count)| vec![(0.0, flow, host); count]).collect()
}

fn sent_by(departed: &[(u32, f64)], flow: u32) -> usize {
    departed.iter().filter(|&&(sent, _)| sent == flow).count()
}

/// Linux `cake_get_flow_quantum`: a host's flows in bulk share its quantum.
#[test]
fn hosts_share_the_rate_and_then_the_flows_of_each() {
    let arrivals = at_once(&[(0, 7, 400), (1, 7, 400), (2, 7, 400), (3, 8, 400)]);
    let departed = play(PERFECT, 10_000_000, &arrivals).0;
    let shares = [0, 1, 2, 3].map(|flow| sent_by(&departed[..600], flow));
    assert!(shares[3].abs_diff(300) <= 3 && shares[..3].iter().all(|share| share.abs_diff(100) <= 3), "{shares:?}");
    let departed = play(CakeConfig { by_host: false, ..PERFECT }, 10_000_000, &arrivals).0;
    let shares = [0, 1, 2, 3].map(|flow| sent_by(&departed[..600], flow));
    assert!(shares.iter().all(|share| share.abs_diff(150) <= 3), "{shares:?}");
}

/// Linux `cake_dequeue`: a queue that becomes active goes first until it has sent its quantum.
#[test]
fn a_sparse_flow_goes_first() {
    let mut arrivals = at_once(&[(0, 0, 20), (1, 1, 20)]);
    arrivals.extend([(5.5, 2, 2), (10.5, 2, 2)]);
    let departed = play(PERFECT, 10_000_000, &arrivals).0;
    let at: Vec<f64> = departed.iter().filter(|&&(flow, _)| flow == 2).map(|&(_, at)| at).collect();
    assert_eq!(at, [7.0, 12.0], "as the transmission ends during which it came, a packet earlier");
}

/// Linux `cake_drop`: one packet at the front of the queue with the most bytes, whosever packet arrives.
#[test]
fn a_full_buffer_drops_the_first_packet_of_the_longest_queue() {
    let arrivals = at_once(&[(0, 0, 5), (1, 1, 2), (2, 2, 2)]);
    let (_, dropped) = play(PERFECT, 6000, &arrivals);
    assert_eq!(dropped, [(0, 1), (0, 2)], "packet 0 is in transmission");
}

/// Linux `cake_hash`: eight flows of a set have queues of their own; a ninth one shares.
#[test]
fn flows_of_a_set_share_no_queue_before_all_of_it_are_taken() {
    let mut cake = Cake::new(CakeConfig::TYPICAL, &RandomStream::named(1, 0, "cake"));
    let mut sets = [0_usize; 128];
    let mut taken = BTreeSet::new();
    for flow in 0..600 {
        let class = cake.class(&Packet { flow, ..Packet::default() }, Origin::default());
        assert_eq!(class, cake.class(&Packet { flow, ..Packet::default() }, Origin::default()));
        let is_new = taken.insert(class);
        assert_eq!(is_new, sets[class / 8] < 8, "flow {flow}");
        sets[class / 8] += 1;
        cake.joined(class);
    }
    assert!(sets.iter().any(|&flows| flows > 8));
}

/// Linux `cake_dequeue`: an empty queue whose AQM is not at rest is visited once in each search, and its flow keeps it.
#[test]
fn an_empty_queue_decays_until_its_aqm_is_at_rest() {
    let mut cake = Cake::new(PERFECT, &RandomStream::named(1, 0, "cake"));
    let mut waiting = Classes::default();
    let packet = |flow| Packet { flow, bytes: 1000, ..Packet::default() };
    let join = |cake: &mut Cake, waiting: &mut Classes, flow| {
        let class = cake.class(&packet(flow), Origin::default());
        waiting.push(class, Time::ZERO, &packet(flow));
        cake.joined(class);
    };
    (0..3).for_each(|_| join(&mut cake, &mut waiting, 0));
    join(&mut cake, &mut waiting, 1);
    waiting.pop(1, &mut Waiting::default());
    // Queue 1 is found empty, with an AQM at work.
    cake.states[0].deficit = 0;
    assert_eq!(cake.next(&waiting), Some(1));
    cake.found_empty(1, false);
    assert_eq!(cake.states[1].set, Set::Decaying);
    for is_at_rest in [false, true] {
        cake.sent(0, 0);
        assert_eq!(cake.next(&waiting), Some(1));
        cake.found_empty(1, is_at_rest);
        assert_eq!(cake.next(&waiting), Some(0), "once in a search");
    }
    assert_eq!(cake.states[1].set, Set::None);
    cake.sent(0, 0);
    assert_eq!(cake.next(&waiting), Some(0));
    join(&mut cake, &mut waiting, 1);
    assert_eq!(cake.states[1].set, Set::Sparse);
}

/// Linux `cake_advance_shaper`: a packet may go when the one before it would have been sent at the shaper's rate; time
/// without packets gives no credit. The link then takes 1 ms for each.
#[test]
fn the_shaper_spaces_packets_and_the_link_transmits_each() {
    let shaped = CakeConfig { bandwidth_bps: Some(2e6), ..PERFECT };
    let mut arrivals = at_once(&[(0, 0, 3)]);
    arrivals.extend([(50.0, 0, 0), (50.0, 0, 0), (56.0, 0, 0)]);
    let at: Vec<f64> = play(shaped, 10_000_000, &arrivals).0.iter().map(|&(_, at)| at).collect();
    assert_eq!(at, [1.0, 5.0, 9.0, 51.0, 55.0, 59.0]);
}
