//! Invariants of any run of any scenario.

use base::Time;
use net::{AqmConfig, BufferLimit, Counting, LinkStatistics};
use sim::scenario::{ElementConfig, FlowConfig, OrderConfig, PrivateLinkConfig};
use sim::{Column, FlowStatistics, Outcome, Scenario, Traces};

use crate::Run;

/// Packets up to which a capture is written: writing is slow, and all packets are written in the same way.
const MOST_CAPTURED: usize = 1000;

/// Checks that packets are conserved, time and ACKs go forward, windows are at least one packet, and a capture
/// can be written.
pub fn check_outcome(scenario: &Scenario, run: &Run) {
    let outcome = &run.outcome;
    for (element, counted) in scenario.elements.iter().zip(&outcome.links) {
        check_element(element, counted, run.finished);
    }
    for (flow, (entry, _)) in scenario.members().enumerate() {
        check_flow(&scenario.flows[entry], &outcome.flows[flow]);
    }
    check_first_links(scenario, outcome);
    check_traces(scenario, &outcome.traces);
    if outcome.traces.capture.as_ref().is_some_and(|rows| rows.len() <= MOST_CAPTURED) {
        for link in sim::captured_links(scenario) {
            sim::pcapng(scenario, outcome, link).expect("a small capture");
        }
    }
}

/// Checks that two runs gave the same numbers, bit for bit.
pub fn check_same(one: &Run, other: &Run) {
    assert_eq!(one.finished, other.finished);
    assert_eq!(one.outcome.events, other.outcome.events);
    check_same_table(&one.outcome.flows, &other.outcome.flows, Outcome::FLOW_COLUMNS);
    check_same_table(&one.outcome.links, &other.outcome.links, Outcome::LINK_COLUMNS);
}

fn check_same_table<Row>(one: &[Row], other: &[Row], columns: &[Column<Row>]) {
    for (index, (one, other)) in one.iter().zip(other).enumerate() {
        for column in columns {
            assert_eq!(column.bits(one), column.bits(other), "{}[{index}]", column.name());
        }
    }
}

fn total(pair: [u64; 2]) -> u64 {
    pair[0] + pair[1]
}

fn check_element(element: &ElementConfig, counted: &LinkStatistics, finished: bool) {
    let (arrived, dropped, departed) = (total(counted.arrived), total(counted.dropped), total(counted.departed));
    let (name, lost) = (element.name(), total(counted.lost));
    assert!(arrived >= dropped + departed + lost, "{name}: {arrived} < {dropped} + {departed} + {lost}");
    let inside = arrived - dropped - departed - lost;
    if let (Some(link), true) = (element.link(), finished) {
        let in_service = u64::from(link.counting == Counting::Waiting);
        if let Some(BufferLimit::Packets(limit)) = link.buffer {
            assert!(inside <= limit + in_service, "{name}: {inside} inside, {limit} allowed");
        }
    }
    if !may_drop(element) {
        assert_eq!(dropped, 0, "{name}");
    }
}

fn may_drop(element: &ElementConfig) -> bool {
    match element {
        ElementConfig::Link(link) => link.buffer.is_some() || link.queue.aqm != AqmConfig::None {},
        ElementConfig::PrivateLink(PrivateLinkConfig { buffer, .. }) => buffer.is_some(),
        ElementConfig::Channel(_) => true,
        ElementConfig::Host(_) => false,
    }
}

fn check_flow(config: &FlowConfig, flow: &FlowStatistics) {
    let (sent, retransmitted) = (total(flow.sent), total(flow.retransmitted));
    let (received, delivered, acked) = (total(flow.received), total(flow.delivered), total(flow.acked));
    assert!(retransmitted <= sent);
    assert!(received <= sent, "{received} of {sent} received");
    assert!(delivered <= received);
    assert!(delivered <= sent - retransmitted, "each packet is sent for the first time once");
    assert!(acked <= delivered);
    if let Some(size) = config.size_packets() {
        assert!(sent - retransmitted <= size);
        assert_eq!(flow.finish != Time::NEVER, acked == size);
    }
    assert!(flow.cwnd_area >= 0.0);
}

/// A link that only senders feed gets all that they send.
fn check_first_links(scenario: &Scenario, outcome: &Outcome) {
    for (link, element) in scenario.elements.iter().enumerate() {
        let later = |flow: &FlowConfig| flow.path[1..].iter().chain(flow.return_path()).any(|&crossed| crossed == link);
        if !scenario.flows.iter().any(later) {
            let members = scenario.members().map(|(entry, _)| &scenario.flows[entry]);
            let from = members.zip(&outcome.flows).filter(|(flow, _)| flow.path[0] == link);
            let sent: u64 = from.map(|(_, flow)| total(flow.sent)).sum();
            assert_eq!(total(outcome.links[link].arrived), sent, "{}", element.name());
        }
    }
}

fn check_traces(scenario: &Scenario, traces: &Traces) {
    check_order(traces.cwnd.as_deref(), |row| row.time);
    check_order(traces.rtt.as_deref(), |row| row.time);
    check_order(traces.sequence.as_deref(), |row| row.time);
    check_order(traces.queue.as_deref(), |row| row.time);
    check_order(traces.drops.as_deref(), |row| row.time);
    check_order(traces.losses.as_deref(), |row| row.time);
    check_order(traces.capture.as_deref(), |row| row.time);
    for row in traces.cwnd.iter().flatten() {
        assert!(row.cwnd >= 1.0 && row.cwnd.is_finite(), "{row:?}");
        assert!(row.ssthresh >= 1.0, "{row:?}");
    }
    check_order(traces.delay.as_deref(), |row| row.time);
    check_order(traces.rate.as_deref(), |row| row.time);
    let overtakes =
        |element: &ElementConfig| element.delay_process().is_some_and(|process| process.order == OrderConfig::Overtake);
    if scenario.elements.iter().any(overtakes) {
        return;
    }
    let mut acknowledged = vec![0; scenario.flow_count()];
    for row in traces.sequence.iter().flatten().filter(|row| row.kind == sim::SequenceKind::Acked) {
        let before = &mut acknowledged[row.flow as usize];
        assert!(row.sequence >= *before, "{row:?} after {before}");
        *before = row.sequence;
    }
}

fn check_order<Row: std::fmt::Debug>(rows: Option<&[Row]>, time: impl Fn(&Row) -> Time) {
    for pair in rows.unwrap_or_default().windows(2) {
        assert!(time(&pair[0]) <= time(&pair[1]), "{pair:?}");
    }
}
