//! Two connections in opposite directions, whose data and ACKs share the queues: against ns-2 and against two queues by
//! hand.

use crate::outside::common::two_queues::{most_at_once, replay, Direction, Visit};
use crate::outside::common::{flow, link, ns2, run, scenario};
use base::cast::to_u32;
use base::Time;
use sim::scenario::{FlowConfig, LinkConfig};
use sim::{Outcome, Scenario, SequenceKind};
use tcp::{ClassicConfig, Recovery};

/// A run of ns-2.35: two Reno connections in opposite directions over a link each way, 9180-byte segments, 40-byte
/// ACKs, both from 0 s on, measured from 4 to 24 s. Pairs: the direction of connection i, that of connection j.
struct TwoWayRun {
    window: [f64; 2],
    rate_bps: [f64; 2],
    propagation_s: f64,
    throughput_bps: [f64; 2],
    data_waiting: [u64; 2],
    data_with_service: [u64; 2],
    acks_waiting: [u64; 2],
}

const TWO_WAY_RUNS: [TwoWayRun; 5] = [
    TwoWayRun {
        window: [28.0, 28.0],
        rate_bps: [155e6, 155e6],
        propagation_s: 0.007107097,
        throughput_bps: [100950624.0, 100950624.0],
        data_waiting: [12, 12],
        data_with_service: [13, 13],
        acks_waiting: [12, 12],
    },
    TwoWayRun {
        window: [8.0, 8.0],
        rate_bps: [155e6, 155e6],
        propagation_s: 0.000947613,
        throughput_bps: [123937344.0, 123937344.0],
        data_waiting: [5, 5],
        data_with_service: [6, 6],
        acks_waiting: [5, 5],
    },
    TwoWayRun {
        window: [9.0, 9.0],
        rate_bps: [155e6, 155e6],
        propagation_s: 0.003790452,
        throughput_bps: [82025136.0, 82025136.0],
        data_waiting: [0, 0],
        data_with_service: [1, 1],
        acks_waiting: [0, 0],
    },
    TwoWayRun {
        window: [14.0, 28.0],
        rate_bps: [51.6e6, 155e6],
        propagation_s: 0.007107097,
        throughput_bps: [43351632.0, 86717952.0],
        data_waiting: [9, 27],
        data_with_service: [10, 28],
        acks_waiting: [27, 9],
    },
    TwoWayRun {
        window: [14.0, 14.0],
        rate_bps: [140e6, 155e6],
        propagation_s: 0.005,
        throughput_bps: [85741200.0, 85741200.0],
        data_waiting: [4, 5],
        data_with_service: [5, 6],
        acks_waiting: [5, 4],
    },
];

impl TwoWayRun {
    fn scenario(&self) -> Scenario {
        let direction = |index: usize| LinkConfig {
            delay_s: self.propagation_s,
            ..link(&format!("direction {index}"), self.rate_bps[index], None)
        };
        let connection = |index: usize| FlowConfig {
            packet_bytes: 9180,
            ..flow(
                &format!("connection {index}"),
                &[index],
                &[1 - index],
                ClassicConfig { max_window: Some(self.window[index]), ..ns2(Recovery::Reno) },
            )
        };
        let flows = vec![connection(0), connection(1)];
        let mut scenario = scenario("two-way", 24.0, [direction(0), direction(1)], flows);
        scenario.run.warmup_s = 4.0;
        scenario.trace.sequence = true;
        scenario
    }
}

/// Instants of one kind of a flow's rows.
fn instants(outcome: &Outcome, flow: u32, kind: SequenceKind) -> Vec<Time> {
    let rows = outcome.traces.sequence.as_deref().unwrap().iter();
    rows.filter(|row| row.flow == flow && row.kind == kind).map(|row| row.time).collect()
}

fn directions(expected: &TwoWayRun) -> [Direction; 2] {
    let clock = expected.scenario().clock();
    expected.rate_bps.map(|rate| Direction {
        data_service: clock.time(9180.0 * 8.0 / rate),
        ack_service: clock.time(40.0 * 8.0 / rate),
        propagation: clock.time(expected.propagation_s),
    })
}

/// All visits to the two queues, from nothing but the instants at which the senders send.
fn visits(expected: &TwoWayRun, outcome: &Outcome) -> [Vec<Visit>; 2] {
    let sends = [0, 1].map(|flow| instants(outcome, flow, SequenceKind::Sent));
    replay(directions(expected), [&sends[0], &sends[1]])
}

#[test]
fn two_way_throughput_is_that_of_ns2() {
    for expected in &TWO_WAY_RUNS {
        let outcome = run(&expected.scenario());
        for (flow, ns2) in outcome.flows.iter().zip(expected.throughput_bps) {
            let throughput = flow.received[1] as f64 * 9180.0 * 8.0 / 20.0;
            assert!((throughput / ns2 - 1.0).abs() < 0.001, "{throughput} bit/s; ns-2: {ns2}");
            assert_eq!(flow.retransmitted, [0, 0]);
        }
    }
}

#[test]
fn two_way_queues_are_those_of_ns2() {
    for expected in &TWO_WAY_RUNS {
        let outcome = run(&expected.scenario());
        let visits = visits(expected, &outcome);
        let most = |data, span: fn(&Visit) -> (Time, Time)| {
            [0, 1].map(|queue: usize| most_at_once(&visits[queue], data, outcome.clock.time(4.0), span))
        };
        assert_eq!(most(true, |visit| (visit.arrival, visit.start)), expected.data_waiting);
        assert_eq!(most(true, |visit| (visit.arrival, visit.departure)), expected.data_with_service);
        assert_eq!(most(false, |visit| (visit.arrival, visit.start)), expected.acks_waiting);
    }
}

/// Each ACK is back when the other queue has transmitted it, to the tick.
#[test]
fn two_way_acks_come_back_when_both_queues_let_them() {
    for expected in &TWO_WAY_RUNS {
        let outcome = run(&expected.scenario());
        let visits = visits(expected, &outcome);
        for flow in [0, 1] {
            let propagation = directions(expected)[1 - flow].propagation;
            let acks = visits[1 - flow].iter().filter(|visit| !visit.data).map(|ack| ack.departure + propagation);
            let back: Vec<Time> = acks.filter(|&time| time <= outcome.measurement.end).collect();
            assert_eq!(back, instants(&outcome, to_u32(flow), SequenceKind::Acked), "connection {flow}");
        }
    }
}
