//! Receivers that get their data in one stream send their ACKs in one stream, ahead of the clock: a run has the same results as
//! one in which each receiver is at the clock's time.

use crate::outside::common::{all_traces, classic_of, flow, link, rfc, run, scenario, tcp_of, transfer_of};
use net::DelayLaw;
use sim::scenario::{DelayProcessConfig, OrderConfig};
use sim::{Outcome, Scenario};
use tcp::{LinuxReceiver, Pacing, ReceiverConfig, Recovery, SelectiveConfig, SenderConfig, WritesConfig};

const FLOWS: u16 = 7;

/// Returns flows that share a slow link, so that timers of delayed ACKs expire between the data of others; a slow link back on
/// which ACKs wait for one another; and pauses of `apart` after the receiver, different for each flow \[s\].
fn sharing(apart: f64) -> Scenario {
    let elements =
        [link("data", 1e6, Some(30)), link("far", 2e6, None), link("back", 3e4, None), link("near", 1e6, None)];
    let flows = (0..FLOWS).map(|number| {
        let mut flow = flow(&format!("flow{number}"), &[0, 1], &[2, 3], rfc(Recovery::Newreno));
        flow.start_s = 0.1234 * f64::from(number) * 1.01_f64.powi(number.into());
        flow.packet_bytes = 1000 + 37 * number;
        let tcp = tcp_of(&mut flow);
        tcp.return_delay_s = 0.02 + apart * f64::from(number);
        (tcp.receiver.ack_every, tcp.receiver.ack_delay_s) = (2, 0.03 + 0.011 * f64::from(number));
        flow
    });
    scenario("acks of several receivers", 120.0, elements, flows.collect())
}

/// Returns what each flow and each link counted.
fn counts(outcome: &Outcome) -> (Vec<[u64; 6]>, Vec<[u64; 2]>) {
    let of_flow = |flow: &sim::FlowStatistics| {
        [flow.sent[1], flow.received[1], flow.acked[1], flow.duplicate_acks[1], flow.timeouts[1], flow.rtt_samples]
    };
    let of_link = |link: &net::LinkStatistics| [link.arrived[1], link.dropped[1]];
    (outcome.flows.iter().map(of_flow).collect(), outcome.links.iter().map(of_link).collect())
}

#[test]
fn acks_of_one_stream_leave_in_the_order_of_the_clock() {
    let together = run(&sharing(0.0));
    // A picosecond apart the receivers send streams of their own, which wait for the clock.
    let apart = run(&sharing(1e-12));
    assert_eq!(counts(&together), counts(&apart));
    assert!(together.events < apart.events);
    let (data, acks) = (together.links[1].arrived[1], together.links[2].arrived[1]);
    assert!(acks > data / 2 + data / 10, "timers seldom expire: {acks} ACKs of {data} packets");
    // The clock of the other run counts parts of a picosecond.
    let seconds =
        |outcome: &Outcome, flow: usize| outcome.flows[flow].rtt_sum as f64 / outcome.clock.ticks_per_second() as f64;
    for flow in 0..FLOWS.into() {
        let (sum, sum_apart) = (seconds(&together, flow), seconds(&apart, flow));
        assert!((sum / sum_apart - 1.0).abs() < 1e-9, "{sum} {sum_apart}");
    }
}

/// Returns what seven flows do, and what they do if there is an eighth that starts after the end: the ACKs of eight senders wait
/// in one queue.
fn with_few_and_with_many(few: &Scenario) -> [Outcome; 2] {
    let mut many = few.clone();
    let mut late = many.flows[0].clone();
    (late.name, late.start_s) = ("late".to_owned(), 1000.0);
    many.flows.push(late);
    [run(few), run(&many)]
}

#[test]
fn acks_in_one_queue_reach_their_senders_as_those_in_queues_of_their_own() {
    for recovery in [Recovery::OldTahoe, Recovery::Newreno] {
        let mut few = sharing(0.0);
        few.flows.iter_mut().for_each(|flow| classic_of(flow).recovery = recovery);
        let [few, many] = with_few_and_with_many(&few);
        assert_eq!(few.links, many.links);
        for (one, other) in few.flows.iter().zip(&many.flows) {
            assert_eq!(format!("{one:?}"), format!("{other:?}"));
        }
        let timeouts: u64 = few.flows.iter().map(|flow| flow.timeouts[1]).sum();
        assert!(timeouts > 10, "{timeouts} timeouts");
        assert_ne!(few.events, many.events, "both have the same queues");
    }
}

/// The timer of a sender whose ACKs wait with others stays in the event queue where it was while it moves on: such an event
/// leaves no trace.
#[test]
fn senders_of_today_leave_the_same_traces_where_their_acks_wait_in_one_queue() {
    let writes = Some(WritesConfig { packets: 10, interval_s: 1.0 });
    for (control, pacing, writes) in
        [("cubic", Pacing::None, writes), ("cubic", Pacing::Linux, None), ("bbr", Pacing::None, None)]
    {
        let mut few = sharing(0.0);
        for flow in &mut few.flows {
            let mut sender = SelectiveConfig { pacing, writes, ..SelectiveConfig::default() };
            control.clone_into(&mut sender.congestion_control.name);
            let linux = Some(LinuxReceiver::default());
            tcp_of(flow).sender = SenderConfig::Selective(sender);
            tcp_of(flow).receiver = ReceiverConfig { selective: true, linux, ..ReceiverConfig::default() };
        }
        few.trace = all_traces();
        let [few, many] = with_few_and_with_many(&few);
        let of = |outcome: &Outcome| {
            let sim::Traces { cwnd, sequence, losses, recovery, rounds, state, .. } = &outcome.traces;
            format!("{cwnd:?} {sequence:?} {losses:?} {recovery:?} {rounds:?} {state:?}")
        };
        assert!(of(&few) == of(&many), "{control}, {pacing:?}: the traces differ");
        assert!(few.traces.state.is_some_and(|rows| rows.len() > 100), "{control}, {pacing:?}");
    }
}

/// However many ACKs one event hands out, each counts as an event.
#[test]
fn each_ack_in_one_queue_counts_as_one_event() {
    let events = |flows: usize| {
        let mut one = flow("flow", &[0], &[1], rfc(Recovery::Newreno));
        *transfer_of(&mut one) = Some(1);
        one.count = flows;
        run(&scenario("counted", 5.0, [link("there", 1e9, None), link("back", 1e9, None)], vec![one])).events
    };
    let each = events(8) / 8;
    for flows in [64, 65, 200, 300] {
        assert_eq!(events(flows), each * flows as u64, "{flows} flows");
    }
}

/// Packets that keep their order arrive at one instant where the delay falls: at that of the last one sent before. Their ACKs
/// leave in the same order.
#[test]
fn acks_leave_in_the_order_in_which_their_data_arrived_at_one_instant() {
    let mut pipe = link("data", 1e9, None);
    let law = DelayLaw::Steps { steps_s: vec![(0.0, 1.0), (0.5, 0.1)] };
    pipe.delay_process = Some(DelayProcessConfig { stream: "data".to_owned(), order: OrderConfig::Keep, law });
    // An ACK takes 0.1 s to cross the link back.
    let flows = [0.7, 0.6, 0.1].map(|start_s| {
        let mut flow = flow(&format!("from {start_s} s"), &[0], &[1], rfc(Recovery::Newreno));
        flow.start_s = start_s;
        *transfer_of(&mut flow) = Some(1);
        flow
    });
    let elements = [pipe, link("back", 3200.0, None)];
    let outcome = run(&scenario("at one instant", 5.0, elements, flows.to_vec()));
    let ends = [0, 1, 2].map(|flow| outcome.clock.ticks_in_seconds(outcome.flows[flow].finish.ticks() as f64));
    for (end, expected) in ends.into_iter().zip([1.4, 1.3, 1.2]) {
        assert!((end - expected).abs() < 1e-4, "{ends:?}");
    }
}
