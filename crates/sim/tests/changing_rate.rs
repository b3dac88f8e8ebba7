//! Rates that change: what a link makes of them, against fluid queues, and what is refused.

use crate::outside::common::{flow, link, link_of, rfc, run, scenario, transfer_of};
use net::{AqmConfig, CodelConfig, Discipline, RateLaw, RateState};
use sim::scenario::{FlowConfig, RateProcessConfig, TrafficConfig};
use sim::{check, deliveries_ms, Outcome, OverviewKind, Scenario};
use tcp::Recovery;

fn steps(steps_bps: &[(f64, f64)], period_s: Option<f64>) -> RateLaw {
    RateLaw::Steps { steps_bps: steps_bps.to_vec(), period_s }
}

fn state(rate_bps: f64, least_stay_s: f64, mean_extra_s: f64) -> RateState {
    RateState { rate_bps, least_stay_s, mean_extra_s }
}

/// Packets of 100 bytes at 1 Mbit/s over one link with a law, whose mean rate is 1.25 Mbit/s.
fn constant_source(duration_s: f64, law: RateLaw) -> Scenario {
    let traffic = TrafficConfig::Constant { rate_bps: 1e6 };
    let source = FlowConfig { packet_bytes: 100, traffic, ..flow("source", &[0], &[], rfc(Recovery::Reno)) };
    let mut scenario = scenario("fluid", duration_s, [link("link", 1.25e6, None)], vec![source]);
    link_of(&mut scenario, 0).rate_process = Some(Box::new(RateProcessConfig { stream: "link".to_owned(), law }));
    scenario
}

fn mean_queue_packets(outcome: &Outcome) -> f64 {
    let span = outcome.measurement.end - outcome.measurement.warmup;
    outcome.links[0].queue_area as f64 / span.ticks() as f64
}

/// A fluid at 1 Mbit/s through a link of 0.5 and 2 Mbit/s, 100 ms each: its queue grows to 50 kbit, drains in 50 ms and
/// is empty for 50 ms. The mean is 18.75 kbit, 23.4 packets; a packet in transmission adds its part.
#[test]
fn a_deterministic_alternation_has_the_queue_of_a_fluid() {
    let by_steps = steps(&[(0.0, 5e5), (0.1, 2e6)], Some(0.2));
    let states = vec![state(5e5, 0.1, 0.0), state(2e6, 0.1, 0.0)];
    let by_states = RateLaw::Alternating { states, start: 0, transitions: None };
    let outcomes = [by_steps, by_states].map(|law| run(&constant_source(100.0, law)));
    for outcome in &outcomes {
        let mean = mean_queue_packets(outcome);
        assert!((mean - 18.75e3 / 800.0).abs() < 1.0, "{mean} packets");
        // 62.5 packets, and what is in transmission.
        assert!((62..=64).contains(&outcome.links[0].queue_max), "{}", outcome.links[0].queue_max);
    }
    assert_eq!(outcomes[0].links, outcomes[1].links);
    let offered = outcomes[0].offered.as_ref().expect("a rate that changes");
    assert!((offered.bits[0] - 125e6).abs() < 1.0 && offered.batches.len() == 60, "{offered:?}");
}

/// A fluid at 1 Mbit/s through a link that is at 2.5 Mbit/s for 200 ms and off for 100 ms, exponentially distributed:
/// with net rates u = 1 and d = 1.5 Mbit/s, left with rates a = 10/s and b = 5/s, P(Q > x) = b / (a + b) (1 + u / d)
/// exp(-(a / u - b / d) x). The mean is 5/9 / (20/3 per Mbit) = 83.3 kbit.
#[test]
fn random_outages_have_the_queue_of_a_fluid() {
    let states = vec![state(2.5e6, 0.0, 0.2), state(0.0, 0.0, 0.1)];
    let law = RateLaw::Alternating { states, start: 0, transitions: None };
    let outcome = run(&constant_source(20_000.0, law));
    let mean = mean_queue_packets(&outcome);
    // Busy periods of about a second: some 1.6% of standard deviation, and half a packet in transmission; four of them.
    assert!((mean / (83.333e3 / 800.0) - 1.0).abs() < 0.07, "{mean} packets");
    let offered = outcome.offered.as_ref().expect("a rate that changes").bits[0];
    // 2/3 of 2.5 Mbit/s; 67,000 cycles.
    assert!((offered / 20_000.0 / (2.5e6 * 2.0 / 3.0) - 1.0).abs() < 0.02, "{offered}");
}

#[test]
fn an_aqm_with_events_and_a_foreseen_queue_see_the_same_link() {
    let law = steps(&[(0.0, 2e6), (2.0, 0.0), (3.0, 5e5), (5.0, 4e6)], Some(7.0));
    let one = constant_source(70.0, law);
    let mut other = one.clone();
    // CoDel with a target that is never reached: departures are events, and nothing is dropped.
    let codel = CodelConfig { target_s: 100.0, interval_s: 100.0, ..CodelConfig::TYPICAL };
    link_of(&mut other, 0).queue = Discipline { aqm: AqmConfig::Codel(codel), ..Discipline::DROP_TAIL };
    let [one, other] = [one, other].map(|scenario| run(&scenario));
    assert_eq!(one.links, other.links);
    assert_eq!(one.flows[0].received, other.flows[0].received);
}

#[test]
fn the_overview_has_the_mean_rate_of_each_interval() {
    let mut scenario = constant_source(4.0, steps(&[(0.0, 2e6), (1.0, 0.0), (1.5, 3e6)], None));
    scenario.trace.overview_interval_s = Some(1.0);
    let outcome = run(&scenario);
    let overview = outcome.traces.overview.expect("an overview");
    let rates = overview.iter().filter(|row| row.kind == OverviewKind::Rate);
    let found: Vec<_> = rates.map(|row| (outcome.clock.seconds(row.time), row.value)).collect();
    assert_eq!(found, [(0.0, 2e6), (1.0, 1.5e6), (2.0, 3e6)]);
}

/// An `mm-link` has one opportunity each 12 ms: a transfer that fills it gets a packet each 12 ms.
#[test]
fn a_transfer_over_opportunities_gets_each_of_them() {
    let mut flow = flow("flow", &[0], &[1], rfc(Recovery::Reno));
    (flow.packet_bytes, flow.forward_delay_s) = (1500, 0.01);
    *transfer_of(&mut flow) = Some(1000);
    let mut scenario = scenario("mm-link", 100.0, [link("down", 1e6, None), link("up", 1e9, None)], vec![flow]);
    let law = RateLaw::Opportunities { times_ms: vec![12], bytes: 1504, header_bytes: 4 };
    link_of(&mut scenario, 0).rate_process = Some(Box::new(RateProcessConfig { stream: "down".to_owned(), law }));
    let outcome = run(&scenario);
    let finish = outcome.clock.seconds(outcome.flows[0].finish);
    // Slow start begins with one packet a round trip of 22 ms: a few opportunities pass unused.
    assert!((12.0..12.1).contains(&finish), "{finish} s");
    assert_eq!(deliveries_ms(&scenario, 0, 0, 1504), Ok((1..=8333).map(|number| 12 * number).collect()));
}

#[test]
fn deliveries_are_those_of_a_busy_link() {
    let scenario = constant_source(0.02, steps(&[(0.0, 12.032e6), (0.0025, 0.0), (0.01, 24.064e6)], None));
    // 1504 bytes take 1 ms, then half of one; the third packet has half of it before the outage.
    let found = deliveries_ms(&scenario, 0, 0, 1504).expect("deliveries");
    assert_eq!(found[..5], [1, 2, 11, 11, 12]);
    assert!(deliveries_ms(&scenario, 1, 0, 1504).is_err_and(|fault| fault.contains("no such element; given 1")));
}

fn faults(law: RateLaw) -> Vec<String> {
    let short = |fault: String| fault.trim_start_matches("elements[0].rate_process.law.").to_owned();
    check(&constant_source(10.0, law)).into_iter().map(short).collect()
}

#[test]
fn laws_that_no_link_can_have_are_refused() {
    let alternating = |states, transitions| RateLaw::Alternating { states, start: 0, transitions };
    let opportunities = |times_ms| RateLaw::Opportunities { times_ms, bytes: 1504, header_bytes: 4 };
    let cases = [
        (steps(&[(0.0, 1e6), (5.0, 0.0)], None), "steps_bps: 0 for ever; given a last rate of 0"),
        (steps(&[(0.0, 0.0)], Some(1.0)), "steps_bps: 0 for ever"),
        (steps(&[(0.0, 0.5)], None), "steps_bps[0] (rate): out of range; given 0.5; allowed 1 to"),
        (steps(&[(0.0, 1e6), (5.0, 2e6), (5.0, 3e6)], None), "steps_bps[2]: not after the one before; given 5"),
        (steps(&[(1.0, 1e6)], None), "steps_bps[0]: out of range; given 1; allowed 0 to 0"),
        (steps(&[(0.0, 1e6), (5.0, 2e6)], Some(4.0)), "period_s: out of range; given 4; allowed 5 to"),
        (alternating(vec![state(0.0, 1.0, 0.0); 2], None), "states[0]: 0 for ever"),
        (
            alternating(vec![state(1e6, 1.0, 0.0), state(0.0, 1.0, 0.0)], Some(vec![vec![0.0, 1.0]; 2])),
            "states[1]: 0 for ever; given no state after it with a rate",
        ),
        (alternating(vec![state(1e6, 0.0, 0.0)], None), "states[0] (mean stay): out of range; given 0"),
        (opportunities(vec![4, 3]), "times_ms[1]: before the one before; given 3"),
        (opportunities(vec![0, 0]), "times_ms: ends at 0"),
    ];
    for (law, fault) in cases {
        let found = faults(law);
        assert!(found.len() == 1 && found[0].starts_with(fault), "{found:?} instead of {fault}");
    }
    let mut many = constant_source(10.0, steps(&[(0.0, 1e6), (5e-7, 2e6)], Some(2e-6)));
    let link = many.elements[0].clone();
    many.elements = vec![link; 6];
    assert_eq!(check(&many), ["elements (changes of all rates): out of range; given 60000000; allowed 0 to 50000000"]);
    let mut without = constant_source(10.0, steps(&[(0.0, 1e6)], None));
    link_of(&mut without, 0).rate_bps = None;
    assert!(check(&without)[0].starts_with("elements[0].rate_bps: missing"));
}
