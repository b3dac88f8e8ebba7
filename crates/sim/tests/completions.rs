//! Completion times of transfers, computed by hand.

use crate::outside::common::{classic_of, flow, link, link_of, ns2, run, scenario, tcp_of, transfer_of};
use base::Time;
use net::{AppliesTo, BucketConfig, BucketKind, LossLaw};
use sim::scenario::{LossConfig, SizeLaw, TimeLaw, TrafficConfig};
use sim::{CompletionStatistics, Outcome, Scenario};
use tcp::Recovery;

/// Returns a transfer of packets of 512 bytes (4.096 ms at 1 Mbit/s) and ACKs of 40 (0.32 ms), with 100 ms each way.
fn transfer(packets: u64) -> Scenario {
    let mut flow = flow("flow", &[0], &[1], ns2(Recovery::Reno));
    *transfer_of(&mut flow) = Some(packets);
    let mut scenario = scenario("transfer", 60.0, [link("there", 1e6, None), link("back", 1e6, None)], vec![flow]);
    link_of(&mut scenario, 0).delay_s = 0.1;
    link_of(&mut scenario, 1).delay_s = 0.1;
    scenario
}

const fn microseconds(number: u64) -> Time {
    Time::from_ticks(number * 1_000_000)
}

/// Returns the flow completion time of the only transfer, and the time to its last ACK.
fn times(outcome: &Outcome) -> (Time, Time) {
    let flow = &outcome.flows[0];
    assert_eq!((flow.completed, flow.unfinished), (1, 0));
    let time = |picoseconds: u128| Time::from_ticks(u64::try_from(picoseconds).unwrap());
    let group = &outcome.completions[0];
    let found = (time(flow.completion_sum), time(flow.completion_acked_sum));
    assert_eq!((group.delivered.longest(), group.acked.longest()), found);
    assert_eq!(flow.completion_max, found.0);
    found
}

#[test]
fn a_transfer_takes_its_rounds_of_slow_start() {
    // A round: 4.096 + 100 + 0.32 + 100 = 204.416 ms. Windows of 1, 2 and 4: seven packets in the third round, whose
    // first data arrive 104.096 ms after its start, one service time apart.
    let round = 204_416;
    for (packets, rounds, last) in [(1, 0, 1), (2, 1, 1), (3, 1, 2), (4, 2, 1), (7, 2, 4)] {
        let delivered = rounds * round + 100_000 + last * 4096;
        let outcome = run(&transfer(packets));
        assert_eq!(times(&outcome), (microseconds(delivered), microseconds(delivered + 100_320)), "{packets}");
        let least = 100_000 + 4096 * packets;
        let slowdown = delivered as f64 / least as f64;
        assert!((outcome.flows[0].slowdown_sum - slowdown).abs() < 1e-12, "{packets}");
        assert_eq!(outcome.completions[0].slowdown.longest(), CompletionStatistics::SLOWDOWNS.time(slowdown));
    }
}

/// All packets leave at once. The bucket lets five go and lends the tokens of the sixth; each further one waits for its own.
#[test]
fn a_slowdown_is_that_of_the_tokens_of_a_bucket() {
    let mut scenario = transfer(100);
    scenario.elements.push(link("wire", 1e9, None).into());
    scenario.flows[0].path = vec![0, 2];
    link_of(&mut scenario, 0).token_bucket = Some(BucketConfig { kind: BucketKind::Shaper, burst_bytes: 5 * 512 });
    classic_of(&mut scenario.flows[0]).initial_window = 100.0;
    let outcome = run(&scenario);
    let wire = Time::from_ticks(4_096_000);
    assert_eq!(times(&outcome).0, microseconds(100_000 + 4096 * (100 - 6)) + wire);
    assert!((outcome.flows[0].slowdown_sum - 1.0).abs() < 1e-12, "{}", outcome.flows[0].slowdown_sum);
}

/// A packet that is lost where the empty path takes 85 ns costs the initial timeout: the slowdown is 35 million, more than
/// the seconds that fit into 64 bits on the clock of such a run.
#[test]
fn a_slowdown_may_be_larger_than_any_time() {
    let mut scenario = transfer(1);
    for (link, rate_bps) in [(0, 48.599_5e9), (1, 3.694_39e9)] {
        (link_of(&mut scenario, link).rate_bps, link_of(&mut scenario, link).delay_s) = (Some(rate_bps), 0.0);
    }
    let law = LossLaw::Packets { numbers: vec![1] };
    link_of(&mut scenario, 0).loss = Some(LossConfig { applies_to: AppliesTo::Data, law });
    let outcome = run(&scenario);
    let slowdown = outcome.flows[0].slowdown_sum;
    assert!(slowdown > 35e6 && slowdown > outcome.clock.seconds(Time::NEVER), "{slowdown}");
    let longest = CompletionStatistics::SLOWDOWNS.seconds(outcome.completions[0].slowdown.longest());
    assert!((longest / slowdown - 1.0).abs() < 1e-9, "{longest} of {slowdown}");
}

#[test]
fn the_start_does_not_count() {
    let mut late = transfer(67);
    late.flows[0].start_s = 10.0;
    assert_eq!(times(&run(&late)), times(&run(&transfer(67))));
    assert_eq!(run(&late).flows[0].opened, late.clock().time(10.0));
}

#[test]
fn delivery_does_not_wait_for_the_ack_of_an_odd_last_packet() {
    let times_of = |packets| {
        let mut scenario = transfer(packets);
        let receiver = &mut tcp_of(&mut scenario.flows[0]).receiver;
        (receiver.ack_every, receiver.ack_delay_s) = (2, 0.2);
        times(&run(&scenario))
    };
    let [(few, _), (odd, odd_acked), (even, even_acked)] = [66, 67, 68].map(times_of);
    assert!(few < odd && odd < even);
    assert_eq!(odd_acked - odd, microseconds(200_000 + 100_320));
    assert_eq!(even_acked - even, microseconds(100_320));
    assert!(odd_acked > even_acked);
}

#[test]
fn delivery_is_that_of_the_packet_that_fills_the_last_gap() {
    let mut scenario = transfer(7);
    scenario.trace.rtt = true;
    let loss = LossLaw::Packets { numbers: vec![4] };
    link_of(&mut scenario, 0).loss = Some(LossConfig { applies_to: AppliesTo::Data, law: loss });
    let outcome = run(&scenario);
    let (delivered, acked) = times(&outcome);
    // Packet 3, the first of a window of 4, is lost in front of the link; the other three take it one after the other,
    // and the third duplicate ACK retransmits it.
    let retransmitted = 2 * 204_416 + 3 * 4096 + 100_000 + 100_320;
    assert_eq!(outcome.flows[0].fast_retransmits, [0, 1]);
    assert_eq!(delivered, microseconds(retransmitted + 104_096));
    assert_eq!(acked, delivered + microseconds(100_320));
}

#[test]
fn what_has_not_ended_is_unfinished() {
    let mut scenario = transfer(7);
    // All is delivered, but the last ACK has not come.
    scenario.run.duration_s = 0.6;
    let outcome = run(&scenario);
    assert_eq!((outcome.flows[0].completed, outcome.flows[0].unfinished), (0, 1));
    assert_eq!(outcome.completions[0].delivered.total(), 0);
    assert_eq!(outcome.flows[0].closed, outcome.clock.time(0.6));
}

#[test]
fn the_life_of_a_group_is_from_its_first_start_to_its_last_delivery() {
    let mut scenario = transfer(3);
    (scenario.flows[0].count, scenario.flows[0].start_spread_s) = (1001, 5.0);
    let outcome = run(&scenario);
    let group = &outcome.flows[0];
    assert_eq!((group.completed, outcome.completions[0].delivered.total()), (1001, 1001));
    assert!(group.opened > Time::ZERO && group.opened < outcome.clock.time(0.1));
    assert!(group.closed < group.finish && group.finish - group.closed < outcome.clock.time(0.2));
}

#[test]
fn an_unlimited_path_without_delay_has_no_slowdown() {
    let mut scenario = transfer(3);
    (link_of(&mut scenario, 0).rate_bps, link_of(&mut scenario, 0).delay_s) = (None, 0.0);
    let outcome = run(&scenario);
    assert!(outcome.flows[0].slowdown_sum.is_nan());
    assert_eq!(outcome.completions[0].slowdown.total(), 0);
    assert_eq!(times(&outcome).0, microseconds(100_320));
}

#[test]
fn web_sources_count_the_transfers_that_end_in_the_measurement() {
    let mut scenario = transfer(1);
    let connection = tcp_of(&mut scenario.flows[0]).clone();
    let (size, off) = (SizeLaw::Fixed { packets: 3 }, TimeLaw::Fixed { mean_s: 1.0 });
    scenario.flows[0].traffic = TrafficConfig::Web { size, off, classes: vec![], connection };
    // Cycles of 1 + 0.412928 s: transfers end at 1.41, 2.83, 4.24, 5.65, 7.06, 8.48, 9.89.
    (scenario.run.warmup_s, scenario.run.duration_s) = (4.0, 10.0);
    let outcome = run(&scenario);
    let class = &outcome.transfers[0].classes[0];
    assert_eq!((class.transfers, outcome.flows[0].completed), (5, 5));
    assert_eq!(class.on, outcome.flows[0].completion_acked_sum);
    assert_eq!(outcome.completions[0].delivered.longest(), microseconds(312_608));
    assert_eq!(outcome.flows[0].completion_sum, 5 * u128::from(microseconds(312_608).ticks()));
}
