//! Hosts whose TCP process takes time for each packet, data of one flow or ACKs of another: first come, first served;
//! and the effect on two-way traffic [two-way, section 2.1].

use crate::outside::common::two_queues::{replay_with_hosts, Direction, Replay};
use crate::outside::common::{flow, host, link, ns2, run, scenario, tcp_of, transfer_of, two_queues};
use base::cast::to_u32;
use base::Time;
use sim::scenario::{ElementConfig, FlowConfig, LinkConfig};
use sim::{Outcome, Scenario, SequenceKind};
use tcp::{ClassicConfig, Recovery};

const RATE_BPS: f64 = 131e6;
const SEGMENT_BYTES: u16 = 9180;
/// Propagation delay of fifteen segments.
const PROPAGATION_S: f64 = 0.00841;
const WINDOW: f64 = 28.0;

fn window(packets: f64) -> ClassicConfig {
    ClassicConfig { max_window: Some(packets), ..ns2(Recovery::Reno) }
}

/// Two connections in opposite directions between two hosts, whose processes take `[data, ACK]` \[s\]. [two-way,
/// section 5.2]
fn two_way(processing: [[f64; 2]; 2]) -> Scenario {
    let direction =
        |name: &str| ElementConfig::Link(LinkConfig { delay_s: PROPAGATION_S, ..link(name, RATE_BPS, None) });
    let host = |name: &str, [data_s, ack_s]: [f64; 2]| ElementConfig::Host(host(name, data_s, ack_s));
    let elements = [direction("there"), direction("back"), host("left", processing[0]), host("right", processing[1])];
    let connection = |name: &str, path: &[usize], back: &[usize]| FlowConfig {
        packet_bytes: SEGMENT_BYTES,
        ..flow(name, path, back, window(WINDOW))
    };
    let flows = vec![connection("i", &[0, 3], &[1, 2]), connection("j", &[1, 2], &[0, 3])];
    let mut scenario = scenario("two-way between hosts", 24.0, elements, flows);
    scenario.run.warmup_s = 4.0;
    scenario.trace.sequence = true;
    scenario
}

fn instants(outcome: &Outcome, flow: u32, kind: SequenceKind) -> Vec<Time> {
    let rows = outcome.traces.sequence.as_deref().unwrap().iter();
    rows.filter(|row| row.flow == flow && row.kind == kind).map(|row| row.time).collect()
}

fn segment_s() -> f64 {
    f64::from(SEGMENT_BYTES) * 8.0 / RATE_BPS
}

fn replayed(outcome: &Outcome, processing: [[f64; 2]; 2]) -> Replay {
    let direction = Direction {
        data_service: outcome.clock.time(segment_s()),
        ack_service: outcome.clock.time(40.0 * 8.0 / RATE_BPS),
        propagation: outcome.clock.time(PROPAGATION_S),
    };
    let sends = [0, 1].map(|flow| instants(outcome, flow, SequenceKind::Sent));
    replay_with_hosts(
        [direction; 2],
        processing.map(|host| host.map(|seconds| outcome.clock.time(seconds))),
        [&sends[0], &sends[1]],
    )
}

fn efficiency(outcome: &Outcome, flow: usize) -> f64 {
    outcome.flows[flow].received[1] as f64 * segment_s() / 20.0
}

/// Runs of segments between ACKs that enter a queue from 4 s on; the first and the last are cut.
fn runs_of_data(replay: &Replay, queue: usize, outcome: &Outcome) -> Vec<usize> {
    let until = outcome.measurement.end;
    let late = |visit: &&two_queues::Visit| visit.arrival >= outcome.clock.time(4.0) && visit.arrival <= until;
    let kinds: Vec<bool> = replay.visits[queue].iter().filter(late).map(|visit| visit.data).collect();
    let runs = kinds.chunk_by(|one, other| one == other).filter(|run| run[0]).map(<[bool]>::len);
    let runs: Vec<usize> = runs.collect();
    runs[1..runs.len() - 1].to_vec()
}

/// Data and ACKs that come to a host take turns, to the tick, and only then is there an answer or a reaction.
#[test]
fn acks_come_back_when_queues_and_processes_let_them() {
    for processing in [[[5e-5; 2]; 2], [[1e-4, 2e-5], [3e-4, 0.0]], [[0.0, 1e-3], [6e-4, 6e-4]]] {
        let outcome = run(&two_way(processing));
        let replay = replayed(&outcome, processing);
        for flow in [0, 1] {
            let back: Vec<Time> =
                replay.acked[flow].iter().copied().filter(|&time| time <= outcome.measurement.end).collect();
            assert!(back.len() > 1000);
            assert_eq!(
                back,
                instants(&outcome, to_u32(flow), SequenceKind::Acked),
                "connection {flow}, {processing:?}"
            );
        }
    }
}

/// "A non-zero TCP processing time does not alter the fundamental dynamics" [two-way, section 2.1]: the efficiency of
/// 65.1% and bursts of whole windows. Criterion: within half a point of theorem 1, as long as the process could serve
/// what that lets through; whole windows. The delay towards a host has the processing of a segment and of an ACK: each
/// segment is processed before its ACK goes, and the first ACK of a bunch comes at the heels of a segment and waits for
/// it.
#[test]
fn short_processing_leaves_efficiency_and_bursts() {
    for time_s in [0.0, 1e-5, 1e-4, 3e-4] {
        let processing = [[time_s; 2]; 2];
        let outcome = run(&two_way(processing));
        let length = (PROPAGATION_S + 2.0 * time_s) / segment_s();
        let theorem = WINDOW / (WINDOW + length);
        assert!(2.0 * time_s * theorem < segment_s());
        let replay = replayed(&outcome, processing);
        for end in 0..2 {
            let measured = efficiency(&outcome, end);
            let runs = runs_of_data(&replay, end, &outcome);
            let (least, most) = (runs.iter().min(), runs.iter().max());
            println!("{time_s} s, end {end}: {measured:.4}, theorem 1 {theorem:.4}, runs of {least:?} to {most:?}");
            assert!((measured - theorem).abs() < 0.005);
            assert!(runs.len() > 100 && runs.iter().all(|&run| run as f64 == WINDOW));
        }
    }
}

/// The limit of that law: a host processes two packets for each segment that it receives, the segment and an ACK. Once
/// they take longer than the interval between segments on the channel, the process is the bottleneck.
#[test]
fn long_processing_is_the_bottleneck() {
    for time_s in [6e-4, 1e-3] {
        let outcome = run(&two_way([[time_s; 2]; 2]));
        let most = segment_s() / (2.0 * time_s);
        for end in 0..2 {
            let (measured, host) = (efficiency(&outcome, end), &outcome.links[2 + end]);
            println!("{time_s} s, end {end}: {measured:.4}, of a process at most {most:.4}, busy {:?}", host.busy);
            assert!((measured - most).abs() < 0.01);
            assert!(outcome.clock.ticks_in_seconds(host.busy as f64) > 0.99 * 20.0);
        }
    }
}

/// Three flows over one link to one host, each with propagation of its own behind the link: they come to the host out
/// of the order in which they left the link, and are served in that in which they come.
#[test]
fn a_host_serves_in_the_order_of_arrival_behind_propagation_of_the_flows_own() {
    let (service, delays, time_s) = (0.001, [0.050_03, 0.0, 0.0007], 0.0004);
    let rate_bps = 512.0 * 8.0 / service;
    let elements = [ElementConfig::Link(link("link", rate_bps, None)), host("server", time_s, time_s).into()];
    let flows: Vec<FlowConfig> = delays
        .iter()
        .enumerate()
        .map(|(index, &forward_delay_s)| {
            let sender = ClassicConfig { initial_window: 40.0, ..window(40.0) };
            let mut flow = flow(&format!("flow {index}"), &[0, 1], &[], sender);
            (flow.forward_delay_s, flow.start_s) = (forward_delay_s, 0.0001 * index as f64);
            *transfer_of(&mut flow) = Some(40);
            flow
        })
        .collect();
    let mut scenario = scenario("server", 5.0, elements, flows);
    scenario.trace.sequence = true;
    let outcome = run(&scenario);
    // All 120 packets leave the link back to back: those of the first flow, then those of the second, and so on.
    let mut arrivals: Vec<(Time, usize)> = (0..120_usize)
        .map(|number| {
            (
                outcome.clock.time(service).times(number as u64 + 1) + outcome.clock.time(delays[number / 40]),
                number / 40,
            )
        })
        .collect();
    arrivals.sort_unstable();
    let (mut free, mut acked) = (Time::ZERO, [const { Vec::new() }; 3]);
    for (arrival, flow) in arrivals {
        free = free.max(arrival) + outcome.clock.time(time_s);
        acked[flow].push(free);
    }
    for (flow, expected) in acked.iter().enumerate() {
        assert_eq!(&instants(&outcome, to_u32(flow), SequenceKind::Acked), expected, "flow {flow}");
    }
    assert_eq!(outcome.links[1].departed, [0, 120]);
}

#[test]
fn faults_of_a_process_name_their_place() {
    let mut scenario = two_way([[1e-4; 2]; 2]);
    scenario.elements[2] = host("left", -1.0, f64::NAN).into();
    scenario.flows[0].path = vec![3, 0];
    tcp_of(&mut scenario.flows[0]).return_path = vec![2, 1];
    scenario.flows[1].path = vec![2];
    assert_eq!(
        sim::check(&scenario),
        [
            "elements[2].data_s: out of range; given -1; allowed 0 to 100000",
            "elements[2].ack_s: out of range; given NaN; allowed 0 to 100000",
            "flows[0].path: a host's TCP process is not at the end; given 3; allowed last",
            "flows[0].traffic.connection.return_path: a host's TCP process is not at the end; given 2; allowed last",
            "flows[1].path: a host's TCP process is not at the end; given 2; allowed last",
        ]
    );
}
