//! Predictions of theory, with intervals that were chosen before the run.

use crate::outside::common::{flow, link, rfc, run, scenario, tcp_of, transfer_of};
use sim::scenario::{LinkConfig, TraceConfig};
use sim::{CwndRow, Outcome, Scenario};
use tcp::{ClassicConfig, Increase, Recovery};

/// Packets that the bottleneck serves in a second: 512 bytes take a millisecond.
const MU: f64 = 1000.0;
const BOTTLENECK_BPS: f64 = MU * 512.0 * 8.0;

/// One flow over a bottleneck with room for `buffer`, and back over a link that takes no time; `round_trip_s` without
/// queues, the service time included.
fn bottleneck(duration_s: f64, buffer: Option<u64>, round_trip_s: f64, sender: ClassicConfig) -> Scenario {
    let back = LinkConfig { rate_bps: None, ..link("back", 1.0, None) };
    let links = [link("bottleneck", BOTTLENECK_BPS, buffer), back];
    let mut flow = flow("flow", &[0], &[1], sender);
    let propagation = round_trip_s - 1.0 / MU;
    (flow.forward_delay_s, tcp_of(&mut flow).return_delay_s) = (propagation / 2.0, propagation / 2.0);
    scenario("bottleneck", duration_s, links, vec![flow])
}

#[test]
fn a_window_below_the_pipe_goes_once_a_round_trip() {
    for window in [1.0, 2.0, 7.0, 99.0] {
        let sender = ClassicConfig { max_window: Some(window), ..rfc(Recovery::Reno) };
        // 200 round trips of 0.1 s, between two of them.
        let mut scenario = bottleneck(30.05, None, 0.1, sender);
        scenario.run.warmup_s = 10.05;
        let outcome = run(&scenario);
        assert_eq!(outcome.flows[0].delivered[1] as f64, 200.0 * window, "W_R = {window}");
        assert_eq!(outcome.links[0].busy, u128::from(outcome.clock.time(200.0 * window / MU).ticks()));
    }
}

#[test]
fn a_window_above_the_pipe_fills_the_bottleneck_and_waits_in_it() {
    // 150 packets in a pipe of 100: the other 50 wait, and the one in transmission makes 51.
    let sender = ClassicConfig { max_window: Some(150.0), ..rfc(Recovery::Reno) };
    let mut scenario = bottleneck(30.0, None, 0.1, sender);
    scenario.run.warmup_s = 10.0;
    let outcome = run(&scenario);
    assert_eq!(outcome.links[0].busy, u128::from(outcome.clock.time(20.0).ticks()));
    assert_eq!(outcome.links[0].queue_max, 51);
    assert_eq!(outcome.flows[0].delivered[1], 20_000);
    let round_trip =
        outcome.clock.ticks_in_seconds(outcome.flows[0].rtt_sum as f64 / outcome.flows[0].rtt_samples as f64);
    assert!((round_trip - 0.15).abs() < 1e-9, "{round_trip}");
}

#[test]
fn the_mean_window_of_the_longest_run_is_that_of_its_only_round_trip() {
    let mut scenario = bottleneck(1e7, None, 0.1, rfc(Recovery::Reno));
    *transfer_of(&mut scenario.flows[0]) = Some(1);
    // Three packets until the ACK after 0.1 s, then four: to a part in 2^53 of the sum.
    let area = scenario.clock().ticks_in_seconds(run(&scenario).flows[0].cwnd_area);
    assert!((area - (4e7 - 0.1)).abs() < 1e-8, "{area} packets times seconds");
}

fn sawtooth(buffer: u64, round_trip_s: f64) -> (Scenario, Outcome) {
    let sender = ClassicConfig {
        increase: Increase::ReciprocalFloor,
        initial_ssthresh: Some(round_trip_s * MU / 2.0),
        ..rfc(Recovery::Reno)
    };
    let mut scenario = bottleneck(600.0, Some(buffer), round_trip_s, sender);
    scenario.run.warmup_s = 100.0;
    scenario.trace.cwnd = true;
    let outcome = run(&scenario);
    (scenario, outcome)
}

/// The window before and after each cut in the measurement; in the first slow start bursts overflow the buffer earlier.
fn cuts(outcome: &Outcome) -> Vec<(CwndRow, CwndRow)> {
    let rows = outcome.traces.cwnd.as_deref().unwrap().iter().filter(|row| row.time >= outcome.measurement.warmup);
    let rows: Vec<CwndRow> = rows.copied().collect();
    rows.windows(2).filter(|pair| pair[1].cwnd < pair[0].cwnd).map(|pair| (pair[0], pair[1])).collect()
}

#[test]
fn the_sawtooth_peaks_at_the_pipe_and_the_buffer_and_halves() {
    for (buffer, round_trip_s) in [(20, 0.1), (100, 0.1), (50, 0.2)] {
        let (_, outcome) = sawtooth(buffer, round_trip_s);
        let peak = MU * round_trip_s + buffer as f64;
        let cuts = cuts(&outcome);
        assert!(cuts.len() >= 10, "{} cycles", cuts.len());
        for (before, after) in cuts {
            assert!((before.cwnd - peak).abs() <= 1.0, "{} packets at the peak, {peak} in theory", before.cwnd);
            assert!((after.cwnd - before.cwnd / 2.0).abs() <= 0.5, "{} after {}", after.cwnd, before.cwnd);
        }
        assert_eq!(outcome.links[0].queue_max, buffer);
        assert_eq!(outcome.flows[0].timeouts[1], 0);
    }
}

fn utilisation(buffer: u64, round_trip_s: f64) -> f64 {
    let (scenario, outcome) = sawtooth(buffer, round_trip_s);
    outcome.clock.ticks_in_seconds(outcome.links[0].busy as f64) / (scenario.run.duration_s - scenario.run.warmup_s)
}

#[test]
fn a_buffer_of_a_pipe_or_more_keeps_the_bottleneck_busy() {
    for buffer in [100, 110, 200] {
        let utilisation = utilisation(buffer, 0.1);
        // Fast recovery sends nothing for half a window: at B = mu T the queue runs empty just then.
        let least = if buffer > 100 { 1.0 } else { 0.999 };
        assert!(utilisation >= least, "B = {buffer}: {utilisation}");
    }
}

#[test]
fn a_smaller_buffer_leaves_the_bottleneck_idle_for_a_part_of_each_cycle() {
    for buffer in [20, 50] {
        let (utilisation, theory) = (utilisation(buffer, 0.1), sawtooth_utilisation(MU * 0.1, buffer as f64));
        assert!((utilisation - theory).abs() < 0.02, "B = {buffer}: {utilisation}, {theory} in theory");
    }
}

/// Returns the utilisation of a window that grows by a packet a round trip from (pipe + buffer) / 2 to pipe + buffer.
fn sawtooth_utilisation(pipe: f64, buffer: f64) -> f64 {
    let peak = pipe + buffer;
    let packets = 3.0 / 8.0 * peak * peak;
    // In units of the service time: rounds of the pipe's length while it is not full, of the window's length then.
    let time = (pipe - peak / 2.0) * pipe + (peak * peak - pipe * pipe) / 2.0;
    packets / time
}

#[test]
fn slow_start_makes_a_queue_of_half_its_window() {
    // 32 ACKs, a service time apart, send two packets each: after the k-th k + 1 are in the link.
    let sender = ClassicConfig { initial_window: 1.0, max_window: Some(64.0), ..rfc(Recovery::Reno) };
    let outcome = run(&bottleneck(10.0, None, 0.2, sender));
    assert_eq!(outcome.links[0].queue_max, 33);
}

#[test]
fn a_burst_fills_the_buffer_and_the_rest_is_dropped() {
    let sender = ClassicConfig { initial_window: 60.0, ..rfc(Recovery::OldTahoe) };
    let outcome = run(&bottleneck(0.05, Some(25), 0.2, sender));
    assert_eq!(outcome.links[0].queue_max, 25);
    assert_eq!(outcome.links[0].dropped[1], 35);
}

/// Little's law, from arrivals and departures: the k-th to come is the k-th to go.
#[test]
fn the_area_under_the_queue_is_the_sum_of_the_sojourns() {
    let (mut scenario, _) = sawtooth(20, 0.1);
    scenario.trace = TraceConfig { queue: true, ..TraceConfig::default() };
    scenario.run.warmup_s = 0.0;
    let outcome = run(&scenario);
    let (mut arrivals, mut departures, mut packets) = (Vec::new(), Vec::new(), 0);
    for row in outcome.traces.queue.as_deref().unwrap().iter().filter(|row| row.link == 0) {
        if row.packets > packets { &mut arrivals } else { &mut departures }.push(row.time);
        assert_eq!(row.packets.abs_diff(packets), 1);
        packets = row.packets;
    }
    departures.resize(arrivals.len(), outcome.measurement.end);
    let sojourns = arrivals.iter().zip(&departures).map(|(&came, &went)| u128::from((went - came).ticks()));
    assert_eq!(outcome.links[0].queue_area, sojourns.sum::<u128>());
    assert!(arrivals.len() > 500_000);
}

/// The same, from the round trips: each is the propagation and a sojourn.
#[test]
fn the_area_under_the_queue_is_what_the_round_trips_exceed_the_propagation_by() {
    let sender = ClassicConfig { max_window: Some(150.0), ..rfc(Recovery::Reno) };
    let mut scenario = bottleneck(100.0, None, 0.1, sender);
    *transfer_of(&mut scenario.flows[0]) = Some(30_000);
    let outcome = run(&scenario);
    assert_eq!(outcome.flows[0].rtt_samples, 30_000);
    let propagation = outcome.clock.time((0.1 - 1.0 / MU) / 2.0).times(2).times(30_000);
    assert_eq!(outcome.links[0].queue_area, outcome.flows[0].rtt_sum - u128::from(propagation.ticks()));
}
