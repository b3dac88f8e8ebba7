//! Delays that change: what TCP makes of them, and that packets arrive when they should.

use crate::outside::common::{all_traces, classic_of, flow, link, link_of, rfc, run, scenario, tcp_of, transfer_of};
use base::cast::to_index;
use base::Time;
use net::{disciplines, DelayLaw, DelayState};
use sim::scenario::{DelayProcessConfig, ElementConfig, FlowConfig, LinkConfig, OrderConfig, TraceConfig};
use sim::{Outcome, Scenario, SequenceKind};
use tcp::{ClassicConfig, Recovery, RtoConfig};

/// Packets a second: 1000 bytes at 1 Mbit/s.
const MU: f64 = 125.0;

fn process(order: OrderConfig, law: DelayLaw) -> Option<DelayProcessConfig> {
    Some(DelayProcessConfig { stream: "link".to_owned(), order, law })
}

fn steps(steps_s: &[(f64, f64)]) -> DelayLaw {
    DelayLaw::Steps { steps_s: steps_s.to_vec() }
}

/// [abrupt-delay]: a link of 1 Mbit/s that has all of the round trip's delay, and a return path without delay. Reno
/// without delayed ACKs, samples for each ACK, a clock of 0.1 ms and no other minimum of the timeout than 2 G.
fn abrupt(duration_s: f64, window: f64, recovery: Recovery, delay: Option<DelayProcessConfig>) -> Scenario {
    let rto = RtoConfig { granularity_s: 1e-4, min_s: 2e-4, ..rfc(recovery).rto };
    let sender = ClassicConfig { initial_window: 1.0, max_window: Some(window), rto, ..rfc(recovery) };
    let mut there = link("link", 1e6, None);
    there.delay_process = delay;
    let mut back = link("back", 1e6, None);
    back.rate_bps = None;
    let flow = FlowConfig { packet_bytes: 1000, ..flow("flow", &[0], &[1], sender) };
    let mut scenario = scenario("abrupt", duration_s, [there, back], vec![flow]);
    scenario.trace = all_traces();
    scenario
}

/// The total round trips of the paper, the transmission included, from the given instants on.
fn round_trips(round_trips: &[(f64, f64)]) -> Option<DelayProcessConfig> {
    let steps_s: Vec<_> = round_trips.iter().map(|&(from, total)| (from, total - 1.0 / MU)).collect();
    process(OrderConfig::Overtake, steps(&steps_s))
}

fn timeouts_and_fast_retransmits(outcome: &Outcome) -> (u64, u64) {
    (outcome.flows[0].timeouts[1], outcome.flows[0].fast_retransmits[1])
}

#[test]
fn a_longer_delay_times_out_only_where_the_round_has_an_idle_part() {
    // [abrupt-delay, figures 1 and 2]: T from 0.2 to 0.3 s; 26 packets fill the pipe of 25, 13 leave half of it idle.
    for (window, timeouts) in [(26.0, 0), (13.0, 1)] {
        let outcome = run(&abrupt(10.0, window, Recovery::Reno, round_trips(&[(0.0, 0.2), (6.0, 0.3)])));
        assert_eq!(outcome.flows[0].timeouts[1], timeouts, "w_m = {window}");
        assert_eq!(outcome.flows[0].dropped, [0, 0]);
    }
}

#[test]
fn a_shorter_delay_makes_a_fast_retransmit_only_in_the_busy_part_of_a_round() {
    // [abrupt-delay, figures 3 and 4], at w_m = 13: T from 0.2 to 0.1 s. Rounds of 0.2 s; the packets of one take 0.104
    // s.
    let before = run(&abrupt(10.0, 13.0, Recovery::Reno, round_trips(&[(0.0, 0.2)])));
    let sent = before.traces.sequence.as_deref().unwrap().iter().filter(|row| row.kind == SequenceKind::Sent);
    let times: Vec<f64> =
        sent.map(|row| before.clock.seconds(row.time)).filter(|&time| (5.9..6.5).contains(&time)).collect();
    // The last packet before the idle part.
    let end = times.windows(2).find(|pair| pair[1] - pair[0] > 0.05).unwrap()[0];
    for (change, fast_retransmits) in [(end + 0.05, 0), (end - 0.05, 1)] {
        let outcome = run(&abrupt(10.0, 13.0, Recovery::Reno, round_trips(&[(0.0, 0.2), (change, 0.1)])));
        assert_eq!(timeouts_and_fast_retransmits(&outcome), (0, fast_retransmits), "T drops at {change}");
        // Who relies on timeouts alone does not care.
        let old = run(&abrupt(10.0, 13.0, Recovery::OldTahoe, round_trips(&[(0.0, 0.2), (change, 0.1)])));
        assert_eq!(timeouts_and_fast_retransmits(&old), (0, 0), "T drops at {change}");
    }
}

#[test]
fn without_reordering_there_is_no_duplicate_ack() {
    let drop = steps(&[(0.0, 0.192), (6.0, 0.092), (7.01, 0.292), (8.03, 0.012)]);
    for (order, in_order) in [(OrderConfig::Overtake, false), (OrderConfig::Keep, true)] {
        let mut scenario = abrupt(10.0, 20.0, Recovery::Reno, process(order, drop.clone()));
        // Longer than any round trip: what is sent again after a timeout makes duplicate ACKs too.
        classic_of(&mut scenario.flows[0]).rto.min_s = 1.0;
        let outcome = run(&scenario);
        assert_eq!(outcome.flows[0].duplicate_acks == [0, 0], in_order, "{order:?}");
    }
}

/// Computes the ACKs' instants a second time: each packet is sent once, with the delay in force as it leaves the link.
#[test]
fn each_packet_takes_the_delay_in_force_as_its_last_bit_leaves() {
    let changes = [(0.0, 0.05), (0.1, 0.3), (0.2, 0.02), (0.31, 0.4), (0.5, 0.01)];
    for order in [OrderConfig::Overtake, OrderConfig::Keep] {
        let mut scenario = abrupt(5.0, 100.0, Recovery::OldTahoe, process(order, steps(&changes)));
        (link_of(&mut scenario, 0).delay_s, scenario.flows[0].forward_delay_s) = (0.25, 0.5);
        *transfer_of(&mut scenario.flows[0]) = Some(100);
        let tcp = tcp_of(&mut scenario.flows[0]);
        tcp.return_delay_s = 0.125;
        let sender = classic_of(&mut scenario.flows[0]);
        (sender.initial_window, sender.rto.initial_s) = (100.0, 3.0);
        let outcome = run(&scenario);
        let mut arrivals: Vec<(Time, u64)> = Vec::new();
        let mut last = 0.0_f64;
        for number in 0..100 {
            let departure = (number + 1) as f64 / MU;
            let delay = changes.iter().take_while(|change| change.0 <= departure + 1e-12).last().unwrap().1;
            let mut arrival = departure + delay;
            if order == OrderConfig::Keep {
                last = last.max(arrival);
                arrival = last;
            }
            arrivals.push((outcome.clock.time(arrival + 0.25 + 0.5 + 0.125), number));
        }
        arrivals.sort();
        let acks = outcome.traces.sequence.as_deref().unwrap().iter().filter(|row| row.kind == SequenceKind::Acked);
        let acks: Vec<(Time, u64)> = acks.map(|row| (row.time, row.sequence)).collect();
        let mut got = [false; 100];
        let expected: Vec<(Time, u64)> = arrivals
            .iter()
            .map(|&(time, number)| {
                got[to_index(number)] = true;
                (time, got.iter().take_while(|&&got| got).count() as u64)
            })
            .collect();
        assert_eq!(acks, expected, "{order:?}");
    }
}

#[test]
fn acks_overtake_one_another_on_the_last_way_to_the_sender() {
    let mut scenario = abrupt(10.0, 20.0, Recovery::Reno, None);
    let changes = steps(&[(0.0, 0.2), (5.0, 0.05), (5.5, 0.2)]);
    link_of(&mut scenario, 1).delay_process = process(OrderConfig::Overtake, changes);
    let outcome = run(&scenario);
    let rows = outcome.traces.sequence.as_deref().unwrap().iter().filter(|row| row.kind == SequenceKind::Acked);
    let acks: Vec<_> = rows.map(|row| (row.time, row.sequence)).collect();
    assert!(acks.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    // ACKs that were overtaken arrive late, acknowledge nothing new, and do not count as duplicates.
    assert!(acks.windows(2).filter(|pair| pair[1].1 < pair[0].1).count() > 0);
    assert_eq!((outcome.flows[0].duplicate_acks, outcome.flows[0].retransmitted), ([0, 0], [0, 0]));
    assert!(outcome.flows[0].sent[1] - outcome.flows[0].received[1] <= 20);
}

/// The mean round trip is that of the states by the time spent in them, for a sender that sends evenly in time.
#[test]
fn an_alternating_delay_is_seen_in_the_round_trips_by_the_time_in_each_state() {
    let state = |delay_s, least_stay_s, mean_extra_s| DelayState { delay_s, least_stay_s, mean_extra_s };
    let states = vec![state(0.092, 0.1, 0.2), state(0.292, 0.3, 0.6)];
    let law = DelayLaw::Alternating { states, start: 0, transitions: None };
    // A full link: 100 packets in a pipe of at most 37.5 leave one each service time, whatever the delay.
    let mut scenario = abrupt(20_000.0, 100.0, Recovery::OldTahoe, process(OrderConfig::Keep, law));
    scenario.trace = TraceConfig { delay: true, ..TraceConfig::default() };
    link_of(&mut scenario, 0).delay_s = 0.004;
    scenario.run.warmup_s = 10.0;
    let outcome = run(&scenario);
    // Kept in order: never idle for long, so the throughput is the link's.
    let throughput = outcome.flows[0].delivered[1] as f64 / 19_990.0;
    assert!(throughput > 0.99 * MU, "{throughput}");
    // The trace of the delay spends a quarter of its time in the first state; four standard deviations are 0.0064.
    let rows = outcome.traces.delay.as_deref().unwrap();
    let ends = rows.iter().skip(1).map(|row| row.time).chain([outcome.measurement.end]);
    let first = rows.iter().zip(ends).filter(|(row, _)| row.delay == outcome.clock.time(0.096));
    let share = first.map(|(row, end)| outcome.clock.seconds(end - row.time)).sum::<f64>() / 20_000.0;
    assert!((share - 0.25).abs() < 0.0064, "{share}");
}

#[test]
fn a_delay_is_the_same_whatever_else_the_scenario_has() {
    let law = DelayLaw::Handover { low_s: 0.02, high_s: 0.1, period_s: 1.5 };
    let alone = abrupt(100.0, 20.0, Recovery::Reno, process(OrderConfig::Overtake, law.clone()));
    let mut with_others = alone.clone();
    let alike = process(OrderConfig::Keep, law);
    link_of(&mut with_others, 1).delay_process =
        alike.map(|process| DelayProcessConfig { stream: "back".to_owned(), ..process });
    *transfer_of(&mut with_others.flows[0]) = Some(100);
    let rows = |scenario: &Scenario| run(scenario).traces.delay.unwrap();
    let (alone, with_others) = (rows(&alone), rows(&with_others));
    assert_eq!(alone.len(), 67);
    let same: Vec<_> = with_others.iter().copied().filter(|row| row.link == 0).collect();
    assert_eq!(alone, same);
    assert!(with_others.iter().filter(|row| row.link == 1).zip(&alone).all(|(other, row)| other.delay != row.delay));
}

/// Senders take ACKs that report losses ahead of the clock only where all elements keep the order of a flow's packets.
#[test]
fn a_delay_that_lets_packets_overtake_and_a_dual_queue_do_not_keep_their_order() {
    let keeps = |change: &dyn Fn(&mut LinkConfig)| {
        let mut one = link("link", 1e6, None);
        change(&mut one);
        ElementConfig::from(one).keeps_order()
    };
    for (order, kept) in [(OrderConfig::Keep, true), (OrderConfig::Overtake, false)] {
        assert_eq!(keeps(&|one| one.delay_process = process(order, steps(&[(0.0, 0.1), (1.0, 0.01)]))), kept);
    }
    let apart: Vec<&str> = disciplines()
        .into_iter()
        .filter(|(_, queue)| !keeps(&|one| one.queue = *queue))
        .map(|(name, _)| name)
        .collect();
    assert!(!apart.is_empty() && apart.iter().all(|name| name.contains("dual")), "{apart:?}");
}
