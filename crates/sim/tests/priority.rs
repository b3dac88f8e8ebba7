//! Links with levels of priority: who waits for whom.

use crate::outside::common::{all_traces, classic_of, flow, link, ns2, rfc, run, scenario, tcp_of};
use base::Time;
use net::{AqmConfig, Discipline, Overflow, SchedulerConfig};
use sim::scenario::FlowConfig;
use sim::{Outcome, Scenario};
use tcp::{ClassicConfig, Recovery};

/// 512 bytes take a millisecond.
const RATE_BPS: f64 = 512.0 * 8.0 * 1000.0;

fn levels(overflow: Overflow) -> Discipline {
    Discipline::new(SchedulerConfig::Priority { levels: 2 }, AqmConfig::None {}, overflow)
}

/// Two flows over one link, 50 ms there and back: one that sends a packet a round trip, and one that fills the link.
fn sparse_and_bulk(queue: Discipline, buffer: Option<u64>, priorities: [u8; 2]) -> Scenario {
    let mut there = link("there", RATE_BPS, buffer);
    (there.delay_s, there.queue) = (0.025, queue);
    let mut back = link("back", 1e9, None);
    back.delay_s = 0.024;
    let sender = |window| ClassicConfig { max_window: Some(window), ..rfc(Recovery::Newreno) };
    let flows = vec![
        FlowConfig { priority: priorities[0], ..flow("sparse", &[0], &[1], sender(1.0)) },
        FlowConfig { priority: priorities[1], ..flow("bulk", &[0], &[1], sender(200.0)) },
    ];
    let mut scenario = scenario("priority", 60.0, [there, back], flows);
    scenario.run.warmup_s = 5.0;
    scenario.trace = all_traces();
    scenario
}

fn round_trips(outcome: &Outcome, flow: u32) -> Vec<Time> {
    let rows = outcome.traces.rtt.as_deref().unwrap().iter();
    rows.filter(|row| row.flow == flow && row.time >= outcome.measurement.warmup).map(|row| row.rtt).collect()
}

#[test]
fn the_higher_level_waits_for_the_rest_of_one_service_alone() {
    let queue = levels(Overflow::Arriving);
    let clock = sparse_and_bulk(queue, None, [0, 1]).clock();
    let service = clock.time(1e-3);
    let first = round_trips(&run(&sparse_and_bulk(queue, None, [0, 1])), 0);
    let least = first.iter().copied().min().unwrap();
    assert!(first.len() > 1000);
    assert!(first.iter().all(|&round_trip| round_trip <= clock.time(0.0500004) + service));
    assert!(least >= clock.time(0.05));
    // In order of arrival, or at the lower level, all that the bulk flow keeps in the queue comes first.
    for (queue, priorities) in [(Discipline::DROP_TAIL, [0, 1]), (queue, [0, 0]), (queue, [1, 1])] {
        let together = round_trips(&run(&sparse_and_bulk(queue, None, priorities)), 0);
        assert!(together.iter().all(|&round_trip| round_trip > clock.time(0.15)), "{priorities:?}");
    }
}

#[test]
fn the_lower_level_gets_what_the_higher_one_leaves() {
    let mut scenario = sparse_and_bulk(levels(Overflow::Arriving), None, [0, 1]);
    // 30 packets each 50 ms of a link that serves 50 in that time.
    classic_of(&mut scenario.flows[0]).max_window = Some(30.0);
    let outcome = run(&scenario);
    let [high, low] = [0, 1].map(|flow: usize| outcome.flows[flow].received[1] as f64 / 55.0);
    assert!((high - 600.0).abs() < 15.0, "{high}");
    assert!((high + low - 1000.0).abs() < 1.0, "{low}");
    // A window that fills the link leaves nothing but the first packets.
    classic_of(&mut scenario.flows[0]).max_window = Some(80.0);
    let outcome = run(&scenario);
    assert_eq!(outcome.flows[1].received[1], 0);
    assert_eq!(outcome.links[0].busy, u128::from(outcome.clock.time(55.0).ticks()));
}

#[test]
fn one_level_alone_is_drop_tail() {
    for overflow in [Overflow::Arriving, Overflow::Lowest] {
        let [plain, one_level] = [Discipline::DROP_TAIL, levels(overflow)].map(|queue| {
            let mut scenario = sparse_and_bulk(queue, Some(20), [0, 0]);
            classic_of(&mut scenario.flows[1]).max_window = None;
            run(&scenario)
        });
        assert!(plain.links[0].dropped[1] > 10);
        assert_eq!(plain.links, one_level.links);
        assert_eq!(plain.traces.drops, one_level.traces.drops);
    }
}

#[test]
fn pushing_out_spares_the_higher_level() {
    let lost = |overflow| {
        let mut scenario = sparse_and_bulk(levels(overflow), Some(40), [0, 1]);
        classic_of(&mut scenario.flows[1]).max_window = None;
        // Not in step with the departures, so that it finds the buffer full at times.
        let sparse = tcp_of(&mut scenario.flows[0]);
        sparse.return_delay_s = 0.0107;
        classic_of(&mut scenario.flows[0]).max_window = Some(20.0);
        scenario.flows[0].packet_bytes = 300;
        for number in 0..4 {
            let name = format!("bulk {number}");
            scenario.flows.push(FlowConfig { name, start_s: f64::from(number), ..scenario.flows[1].clone() });
        }
        let outcome = run(&scenario);
        assert!(outcome.flows[1].dropped[1] > 10);
        outcome.flows[0].dropped[1]
    };
    assert!(lost(Overflow::Arriving) > 0);
    assert_eq!(lost(Overflow::Lowest), 0);
}

/// Two-way traffic: ACKs that wait behind data come in bunches and leave the links idle; at a level of their own they
/// do not.
#[test]
fn acks_at_a_higher_level_than_data_keep_both_ways_busy() {
    let throughput = |ack_priority, queue| {
        let way = |name: &str| {
            let mut way = link(name, RATE_BPS, None);
            (way.delay_s, way.queue) = (0.005, queue);
            way
        };
        let connection = |name: &str, path: usize| {
            let sender = ClassicConfig { max_window: Some(20.0), ..ns2(Recovery::Reno) };
            let mut flow = flow(name, &[path], &[1 - path], sender);
            (flow.priority, tcp_of(&mut flow).ack_priority) = (1, ack_priority);
            flow
        };
        let flows = vec![connection("there", 0), connection("back", 1)];
        let mut scenario = scenario("two-way", 60.0, [way("there"), way("back")], flows);
        scenario.run.warmup_s = 10.0;
        let outcome = run(&scenario);
        outcome.flows.iter().map(|flow| flow.received[1] as f64 / 50.0).sum::<f64>()
    };
    let queue = levels(Overflow::Arriving);
    let together = throughput(1, queue);
    let apart = throughput(0, queue);
    // Data and ACKs of 552 bytes fill 4.096 Mbit/s.
    let full = 2.0 * RATE_BPS / (552.0 * 8.0);
    assert!((apart / full - 1.0).abs() < 0.005, "{apart} of {full} packets/s");
    assert!(together < 0.95 * full, "{together} of {full} packets/s");
}
