//! Pings: round trips, losses and their conservation.

use crate::outside::common::{all_traces, classic_of, flow, link, link_of, ns2, run, scenario};
use base::Time;
use net::{AppliesTo, LossLaw};
use sim::scenario::{ElementConfig, FlowConfig, LossConfig, TrafficConfig};
use sim::{PingStatistics, Scenario};
use tcp::Recovery;

fn ping(path: &[usize], return_path: &[usize]) -> FlowConfig {
    let traffic = TrafficConfig::Ping { interval_s: 0.5, return_path: return_path.to_vec(), return_delay_s: 0.003 };
    FlowConfig { packet_bytes: 84, forward_delay_s: 0.002, traffic, ..flow("ping", path, &[], ns2(Recovery::Reno)) }
}

/// Returns a path of two links at 1 and 2 Mbit/s, 10 and 20 ms long, each way.
fn path(flows: Vec<FlowConfig>) -> Scenario {
    let links = [("a", 1e6), ("b", 2e6), ("b.reverse", 2e6), ("a.reverse", 1e6)];
    let links = links.map(|(name, rate)| link(name, rate, Some(20)));
    let mut scenario = scenario("pings", 10.25, links, flows);
    for (index, delay_s) in [0.01, 0.02, 0.02, 0.01].into_iter().enumerate() {
        link_of(&mut scenario, index).delay_s = delay_s;
    }
    scenario
}

fn in_flight(pings: &PingStatistics, part: usize) -> u64 {
    pings.sent[part] - pings.answered[part] - pings.lost[part]
}

#[test]
fn a_ping_on_an_empty_path_takes_the_exact_round_trip() {
    let mut scenario = path(vec![ping(&[0, 1], &[2, 3])]);
    scenario.trace = all_traces();
    scenario.trace.capture = Some(vec!["a".to_owned()]);
    let outcome = run(&scenario);
    // Each way: 84 bytes take 0.672 and 0.336 ms; 30 ms; the flow's own 2 and 3 ms.
    let exact = Time::from_ticks(2 * 31_008_000_000 + 5_000_000_000);
    let pings = &outcome.pings[0];
    assert_eq!((pings.sent, pings.answered, pings.lost), ([0, 21], [0, 21], [0, 0]));
    assert_eq!((pings.shortest, pings.round_trips.longest()), (exact, exact));
    assert_eq!(pings.sum, 21 * u128::from(exact.ticks()));
    let trace = outcome.traces.rtt.unwrap();
    assert_eq!(trace.len(), 21);
    for (number, row) in trace.iter().enumerate() {
        let sent = outcome.clock.time(0.5 * number as f64);
        assert_eq!((row.flow, row.time, row.rtt), (0, sent + exact, exact));
    }
    let flow = &outcome.flows[0];
    assert_eq!((flow.sent, flow.received), ([0, 21], [0, 21]));
    assert_eq!(outcome.links[3].departed, [0, 21]);
    assert_eq!(outcome.traces.capture.unwrap().len(), 42);
}

#[test]
fn a_capture_has_requests_and_echoes() {
    let mut scenario = path(vec![ping(&[0, 1], &[2, 3])]);
    scenario.trace.capture = Some(vec!["b".to_owned()]);
    let outcome = run(&scenario);
    let file = sim::pcapng(&scenario, &outcome, "b").unwrap();
    // The headers of Ethernet and IPv4 have 14 and 20 bytes; protocol 1, type 8 is a request, type 0 an echo.
    let icmp = |kind: u8| {
        let is_packet = |bytes: &[u8]| bytes[..2] == [8, 0] && bytes[11] == 1 && bytes[22] == kind && bytes[23] == 0;
        file.windows(24).filter(|bytes| is_packet(bytes)).count()
    };
    assert_eq!((icmp(8), icmp(0)), (21, 21));
}

#[test]
fn pings_are_answered_lost_or_in_flight() {
    for (lossy, applies_to) in [(1, AppliesTo::All), (2, AppliesTo::Data), (0, AppliesTo::Acks)] {
        let mut scenario = path(vec![ping(&[0, 1], &[2, 3])]);
        (scenario.run.warmup_s, scenario.flows[0].count) = (2.6, 50);
        scenario.flows[0].start_spread_s = 0.5;
        let law = LossLaw::Bernoulli { probability: 0.2 };
        link_of(&mut scenario, lossy).loss = Some(LossConfig { applies_to, law });
        let outcome = run(&scenario);
        let pings = &outcome.pings[0];
        let sum = |values: fn(&sim::FlowStatistics) -> u64| outcome.flows.iter().map(values).sum::<u64>();
        assert_eq!(pings.sent[0] + pings.sent[1], sum(|flow| flow.sent[0] + flow.sent[1]));
        assert_eq!(pings.lost[0] + pings.lost[1], sum(|flow| flow.lost[0] + flow.lost[1]));
        assert_eq!(in_flight(pings, 0), 0, "all of the warm-up are back, or lost");
        assert_eq!(pings.answered[1], pings.round_trips.total());
        // Of 50 sources one each 10 ms: those of the last 67 ms are in flight.
        assert!((2..12).contains(&in_flight(pings, 1)), "{pings:?}");
        let share = pings.lost[1] as f64 / (pings.lost[1] + pings.answered[1]) as f64;
        let expected = if applies_to == AppliesTo::Acks { 0.0 } else { 0.2 };
        // About 760 pings: four standard errors.
        assert!((share - expected).abs() <= 0.058 * expected / 0.2, "{share}");
    }
}

#[test]
fn a_ping_beside_a_long_flow_waits_for_the_queue() {
    let bulk = FlowConfig { forward_delay_s: 0.0, ..flow("bulk", &[0, 1], &[2, 3], ns2(Recovery::Reno)) };
    let mut scenario = path(vec![bulk, ping(&[0, 1], &[2, 3])]);
    (scenario.run.duration_s, scenario.run.warmup_s) = (60.0, 10.0);
    // A window of 25 packets: the path holds 16 of them, so the queue is never empty and never full.
    classic_of(&mut scenario.flows[0]).max_window = Some(30.0);
    let outcome = run(&scenario);
    let pings = &outcome.pings[0];
    assert_eq!((pings.lost, pings.answered[1]), ([0, 0], 100));
    let empty = Time::from_ticks(2 * 31_008_000_000 + 5_000_000_000);
    let queue = (outcome.links[0].queue_area as f64) / 50e12;
    // A ping waits for what is in the link, of 4.096 ms a packet; the one in transmission is half sent on average.
    let (waits, expected) = ((pings.sum as f64 / 100.0 - empty.ticks() as f64) / 1e12, (queue - 0.5) * 0.004_096);
    assert!((waits - expected).abs() < 0.002_048, "{waits} s, {expected} s");
    assert!(queue > 5.0);
}

#[test]
fn a_full_buffer_loses_pings() {
    let bulk = flow("bulk", &[0, 1], &[2, 3], ns2(Recovery::Reno));
    let mut scenario = path(vec![bulk, FlowConfig { count: 10, start_spread_s: 0.5, ..ping(&[0, 1], &[2, 3]) }]);
    scenario.run.duration_s = 100.25;
    let outcome = run(&scenario);
    let pings = &outcome.pings[0];
    let dropped: u64 = outcome.flows[1..].iter().map(|flow| flow.dropped[1]).sum();
    assert!(pings.lost[1] > 0);
    assert_eq!(pings.lost[1], dropped);
    // The longest waits for all of the buffer: 19 packets in front of it and one in transmission.
    let full = Time::from_ticks(2 * 31_008_000_000 + 5_000_000_000 + 20 * 4_096_000_000);
    assert!(pings.round_trips.longest() <= full);
    assert!(pings.round_trips.longest() > full - Time::from_ticks(3 * 4_096_000_000));
}

#[test]
fn pings_cross_private_links_and_hosts() {
    let mut scenario = path(vec![ping(&[0, 1], &[2, 3])]);
    let private = |name: &str| {
        ElementConfig::PrivateLink(sim::scenario::PrivateLinkConfig {
            name: name.to_owned(),
            rate_bps: Some(1e6),
            delay_s: 0.01,
            buffer: None,
            counting: net::Counting::WithService,
        })
    };
    (scenario.elements[0], scenario.elements[3]) = (private("a"), private("a.reverse"));
    scenario.elements.push(crate::outside::common::host("server", 0.001, 0.5).into());
    scenario.elements.push(crate::outside::common::host("client", 0.002, 0.5).into());
    let TrafficConfig::Ping { return_path, .. } = &mut scenario.flows[0].traffic else { unreachable!() };
    return_path.push(5);
    scenario.flows[0].path.push(4);
    scenario.flows[0].count = 3;
    let outcome = run(&scenario);
    let exact = Time::from_ticks(2 * 31_008_000_000 + 8_000_000_000);
    let pings = &outcome.pings[0];
    assert_eq!((pings.answered, pings.shortest), ([0, 63], exact));
    // Three at once: the last waits for two packets at the second link.
    assert_eq!(pings.round_trips.longest(), exact + Time::from_ticks(2 * 2_000_000_000));
}
