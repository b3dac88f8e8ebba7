//! Events at one instant: on a clock that fits the scenario they fall together, and their order is the documented one.

use crate::outside::common::{classic_of, flow, link, ns2, rfc, run, scenario, tcp_of, transfer_of};
use sim::scenario::{ElementConfig, LinkConfig, PrivateLinkConfig};
use tcp::{ClassicConfig, Recovery};

/// Three packets leave the first link at distances of `x`; the second one takes `2 x` for each and has room for two.
/// The third packet arrives when the first one departs: the departure comes first, so there is room.
#[test]
fn a_departure_precedes_an_arrival_whatever_the_rates() {
    for rate_bps in [2.4e6, 1.5e6, 7.7e6, 2.7e6 / 7.0, 1_234_567.0] {
        let links = [link("first", 2.0 * rate_bps, None), link("second", rate_bps, Some(2)), link("back", 1e9, None)];
        let sender = ClassicConfig { initial_window: 3.0, max_window: Some(3.0), ..rfc(Recovery::Newreno) };
        let mut flow = flow("flow", &[0, 1], &[2], sender);
        (flow.forward_delay_s, tcp_of(&mut flow).return_delay_s) = (0.1, 0.1);
        *transfer_of(&mut flow) = Some(3);
        let outcome = run(&scenario("three packets", 10.0, links, vec![flow]));
        assert_eq!(outcome.flows[0].dropped[1], 0, "at {rate_bps} bit/s, {:?}", outcome.clock);
        assert_eq!(outcome.flows[0].delivered[1], 3);
    }
}

/// ns-2.35 plays the paper's example at 719 kbit/s from 0 to 200 s: on a clock of picoseconds it came out at 613.
#[test]
fn the_papers_example_is_that_of_ns2_over_two_hundred_seconds() {
    let geo = crate::outside::common::geo("figure 9", 200.0, [(2.7e6, None), (2.2e6, Some(15)), (1.5e6, Some(18))]);
    let outcome = run(&geo);
    let throughput = outcome.flows[0].received[1] as f64 * 512.0 * 8.0 / 200.0 / 1e3;
    assert!((throughput - 719.0).abs() < 1.5, "{throughput} kbit/s on {:?}", outcome.clock);
}

/// A byte at 6 Tbit/s takes four thirds of a picosecond: rounded to one, the link would be a third too fast.
#[test]
fn the_fastest_links_keep_their_rate() {
    for rate_bps in [6e12, 9.999_999_999_999e12, 7e12 / 3.0] {
        let back = LinkConfig { rate_bps: None, ..link("back", 1.0, None) };
        let mut flow = flow("flow", &[0], &[1], ClassicConfig { max_window: Some(1e3), ..ns2(Recovery::Reno) });
        (flow.packet_bytes, tcp_of(&mut flow).ack_bytes) = (1, 1);
        let mut scenario = scenario("fast", 1e-6, [link("fast", rate_bps, None), back], vec![flow]);
        classic_of(&mut scenario.flows[0]).initial_window = 1e3;
        let outcome = run(&scenario);
        let rate = outcome.links[0].departed_bytes[1] as f64 * 8.0 / 1e-6;
        // One packet is at either end.
        assert!((rate - rate_bps).abs() < 2.0 * 8.0 / 1e-6, "{rate} of {rate_bps} bit/s");
        let busy = outcome.clock.ticks_in_seconds(outcome.links[0].busy as f64);
        assert!((busy - 1e-6).abs() < 1e-12, "busy for {busy} s");
    }
}

/// The service times of two odd rates are not whole on one clock. What is left goes to the next packet, whatever the
/// sizes and the batches, so that the bits of a busy second are those of its rate.
#[test]
fn links_that_the_clock_does_not_fit_do_not_drift() {
    let rates = [999_999_999_989.0, 999_999_999_961.0];
    let links = rates.map(|rate_bps| link("link", rate_bps, None));
    let sender = ClassicConfig { max_window: Some(1e3), initial_window: 1e3, ..rfc(Recovery::Reno) };
    let flows = [0, 1].map(|number| flow(&format!("flow {number}"), &[number], &[1 - number], sender));
    let mut scenario = scenario("odd", 2e-4, links, flows.to_vec());
    scenario.run.warmup_s = 1e-4;
    let outcome = run(&scenario);
    for (link, rate_bps) in outcome.links.iter().zip(rates) {
        let span = outcome.measurement.end - outcome.measurement.warmup;
        assert_eq!(link.busy, u128::from(span.ticks()));
        let rate = link.departed_bytes[1] as f64 * 8.0 / 1e-4;
        // A data packet may be in transmission at either end.
        assert!((rate - rate_bps).abs() <= 512.0 * 8.0 / 1e-4, "{rate} of {rate_bps} bit/s");
    }
}

/// 40 links that work for 1000 s each have worked for 40,000 s, of which 64 bits hold less than half on a clock as fine as
/// these rates need.
#[test]
fn what_many_links_work_together_may_be_longer_than_a_time() {
    let LinkConfig { name, delay_s, buffer, counting, .. } = link("many", 1.0, None);
    let many = PrivateLinkConfig { name, rate_bps: Some(9_999.8), delay_s, buffer, counting };
    let back = LinkConfig { rate_bps: None, ..link("back", 1.0, None) };
    let elements = [ElementConfig::PrivateLink(many), back.into(), link("odd", 999_999_999_989.0, None).into()];
    let sender = ClassicConfig { max_window: Some(4.0), initial_window: 4.0, ..rfc(Recovery::Reno) };
    let mut flow = flow("flow", &[0], &[1], sender);
    flow.count = 40;
    let outcome = run(&scenario("many", 1000.0, elements, vec![flow]));
    let busy = outcome.clock.ticks_in_seconds(outcome.links[0].busy as f64);
    assert!(outcome.clock.seconds(base::Time::NEVER) < 0.5 * busy, "{:?}", outcome.clock);
    assert!((busy - 40_000.0).abs() < 1e-6, "busy for {busy} s");
}
