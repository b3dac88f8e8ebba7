//! The cases of ProbeBW.

use super::super::{Phase, BETA};
use super::{assert_near, paced, Fate, Flow, Path, Step};

const RATE: f64 = 10e6 / 12e3;

/// Returns a path with a buffer of half of what fills it.
fn shallow() -> Path {
    Path { buffer: 16.0, ..Path::default() }
}

/// A.5, 5.3.3.7: the estimator that ends Startup ends a probe.
#[test]
fn a_probe_ends_after_three_rounds_without_growth() {
    let mut flow = Flow::new(Path::default());
    let up = flow.enter(Phase::Up);
    assert_near(up.bbr.output.pacing_rate as f64, paced(1.25, up.bbr.bandwidth), 1e-6);
    let down = flow.enter(Phase::Down);
    assert!(down.bbr.pipe.now && down.bbr.pipe.count == 3 && !down.bbr.cycle.too_high, "{down:?}");
    assert_eq!(down.bbr.rounds.count, up.bbr.rounds.count + 3);
    assert_eq!(flow.losses(), (0, 0));
}

/// A.6, 5.5.10.2: the long-term bound stays, as what the application limits says nothing about the path.
#[test]
fn losses_end_a_probe_though_the_application_limits_what_is_sent() {
    let mut flow = Flow::new(Path::default());
    flow.enter(Phase::Up);
    flow.supply(10, 0.02);
    flow.go_on(0.2);
    assert_eq!(flow.last().bbr.phase, Phase::Up);
    flow.path().fate = Box::new(|number, _| if number.is_multiple_of(5) { Fate::IsLost } else { Fate::Passes });
    let down = flow.until(0.5, "the end", |step| step.bbr.phase != Phase::Up);
    // Few packets are in flight, so that it slows down for no longer than the same ACK.
    assert_eq!((down.bbr.phase, down.bbr.saved.phase), (Phase::Cruise, Some(Phase::Up)));
    assert!(down.bbr.cycle.too_high && !down.bbr.cycle.of_probe && !down.bbr.pipe.now);
    assert_eq!(down.bbr.long_term.in_flight, f64::INFINITY);
}

/// A.7: it goes on until ProbeRTT interrupts it.
#[test]
fn a_probe_goes_on_while_the_application_limits_what_is_sent() {
    let mut flow = Flow::new(Path::default());
    let up = flow.enter(Phase::Up);
    flow.supply(5, 0.02);
    let end = flow.until(10.0, "the end", |step| step.bbr.phase != Phase::Up);
    assert_eq!(end.bbr.phase, Phase::ProbeRtt);
    assert!(end.bbr.rounds.count > up.bbr.rounds.count + 30 && end.at > up.at + 2.0);
}

/// A.8, 5.3.3.1: at 0.9 of the bandwidth, and the room that is left to others.
#[test]
fn the_phase_that_slows_down_ends_when_the_queue_is_empty() {
    for path in [Path::default(), shallow()] {
        let mut flow = Flow::new(path);
        flow.enter(Phase::Up);
        let down = flow.enter(Phase::Down);
        assert_near(down.bbr.output.pacing_rate as f64, paced(0.9, down.bbr.bandwidth), 1e-6);
        let target = |step: &Step| {
            let full = step.bbr.volume(step.bbr.max_bandwidth.largest, 1.0);
            step.bbr.long_term.with_headroom().min(full)
        };
        let cruise = flow.until(2.0, "Cruise", |step| step.bbr.phase != Phase::Down);
        assert_eq!(cruise.bbr.phase, Phase::Cruise);
        assert!(cruise.in_flight <= target(&cruise) + 1.0, "{cruise:?}");
        let during = flow.steps.iter().filter(|step| step.at >= down.at && step.bbr.phase == Phase::Down);
        assert!(during.clone().count() > 5 && during.clone().all(|step| step.in_flight > target(step)));
        assert_near(cruise.bbr.output.pacing_rate as f64, paced(1.0, cruise.bbr.bandwidth), 1e-6);
    }
}

/// A.9, 5.3.3.8: the link loses two thirds of its rate at the end of Startup, so that 90% of the bandwidth drain nothing.
/// The rounds in which Reno would have its turn take longer: 42 of 0.3 s.
#[test]
fn the_phase_that_slows_down_ends_after_the_time_that_was_drawn() {
    let mut flow = Flow::new(Path { rtt: 0.05, ..Path::default() });
    flow.enter(Phase::Drain);
    flow.path().rate /= 3.0;
    let down = flow.enter(Phase::Down);
    let wait = down.bbr.cycle.wait / 1e6;
    assert!((2.0..3.0).contains(&wait), "{wait}");
    let refill = flow.until(4.0, "the end", |step| step.bbr.phase != Phase::Down);
    assert_eq!(refill.bbr.phase, Phase::Refill);
    assert!((wait..wait + 0.02).contains(&(refill.at - down.at)), "{} {wait}", refill.at - down.at);
}

/// A.13: packets arrive in batches of 20 ms from Cruise on.
#[test]
fn the_window_has_room_for_aggregation() {
    let mut flow = Flow::new(Path::default());
    flow.enter(Phase::Cruise);
    let before = flow.last().cwnd;
    flow.path().batch = 0.02;
    flow.go_on(1.0);
    let found = flow.last().bbr.aggregation.packets();
    assert!((8.0..=34.0).contains(&found), "{found}");
    assert_eq!(flow.last().bbr.phase, Phase::Cruise);
    assert_near(flow.last().cwnd, 2.0 * flow.last().bbr.bdp() + found, 1e-9);
    assert!(flow.last().cwnd > before + 5.0);
    assert!(flow.throughput(0.8) > 0.95 * RATE, "{}", flow.throughput(0.8));
}

/// A.14: ten packets a second over 10 ms. A packet's own time is most of the round trip.
#[test]
fn a_path_of_a_packet_has_a_window_of_a_few() {
    let mut flow = Flow::new(Path { rate: 10.0, rtt: 0.01, ..Path::default() });
    flow.go_on(60.0);
    assert!(flow.steps.iter().all(|step| step.cwnd >= 4.0));
    // Four packets are in flight in ProbeRTT too, so that their time, 0.4 s, is the smallest round trip from then on.
    let probes: Vec<&Step> = flow.steps.iter().filter(|step| step.bbr.phase == Phase::ProbeRtt).collect();
    assert!(probes.len() > 20 && probes.iter().all(|step| step.cwnd == 4.0 && step.bbr.bdp() < 5.0));
    assert_eq!(flow.last().bbr.round_trip.smallest, Some(400_000));
    // Twice and a quarter times four packets, two in a probe, and up to two for the aggregation of ACKs.
    assert!(flow.steps.iter().filter(|step| step.at > 20.0).all(|step| step.cwnd <= 13.0));
    assert_near(flow.throughput(50.0), 10.0, 0.02);
    assert_near(flow.last().bbr.max_bandwidth.largest, 10.0, 0.02);
}

/// A.15: the long-term bound, which a shallow buffer has set, grows by 1, 2, 4, ... packets in the rounds of a probe.
#[test]
fn ten_times_the_bandwidth_is_found_in_a_few_rounds() {
    let mut flow = Flow::new(shallow());
    flow.until(20.0, "a bound", |step| step.bbr.phase == Phase::Cruise && step.bbr.long_term.in_flight.is_finite());
    (flow.path().rate, flow.path().buffer) = (10.0 * RATE, 300.0);
    let from = flow.last().bbr.rounds.count;
    let found = flow.until(30.0, "the bandwidth", |step| step.bbr.max_bandwidth.largest > 9.8 * RATE);
    assert!(found.bbr.rounds.count < from + 60, "{} rounds", found.bbr.rounds.count - from);
    assert_near(found.bbr.max_bandwidth.largest, 10.0 * RATE, 0.02);
    // The probe that found it: its rounds of growth, and the bound at the beginning of each.
    let up = flow.phases().iter().rev().find(|&&(phase, _)| phase == Phase::Up).expect("a probe").1;
    let probe = flow.steps.iter().filter(|step| step.at >= up && step.bbr.long_term.in_flight < 300.0);
    let mut rounds: Vec<(u32, f64, f64)> = probe
        .map(|step| (step.bbr.cycle.rounds_of_growth, step.bbr.long_term.in_flight, step.bbr.cycle.acked_per_packet))
        .collect();
    rounds.dedup_by_key(|&mut (round, ..)| round);
    for (index, &(round, bound, acked)) in rounds.iter().take(5).enumerate() {
        let packets = f64::from(1_u32 << index);
        assert!(round == u32::try_from(index).expect("small") + 1 && acked == bound / packets, "{rounds:?}");
        let growth = rounds[index + 1].1 - bound;
        // In its first round the probe is yet to reach the bound. The bound grows while the round goes on.
        assert!(index == 0 || (packets..=1.5 * packets).contains(&growth), "{rounds:?}");
    }
}

/// A.16: losses lower the short-term bound at once, and the largest bandwidth leaves its filter.
#[test]
fn a_tenth_of_the_bandwidth_is_found_after_two_cycles() {
    let mut flow = Flow::new(Path { rate: 10.0 * RATE, buffer: 160.0, ..Path::default() });
    flow.enter(Phase::Cruise);
    flow.path().rate = RATE;
    let at = flow.now();
    flow.until(1.0, "a bound", |step| step.bbr.short_term.bandwidth < 5.0 * RATE);
    assert!(flow.losses().0 > 0 && flow.last().bbr.bandwidth < 5.0 * RATE);
    flow.until(30.0, "two cycles", |step| step.bbr.max_bandwidth.largest < 1.05 * RATE);
    let cycles = flow.phases().iter().filter(|&&(phase, since)| phase == Phase::Down && since > at).count();
    assert_eq!(cycles, 2);
    flow.go_on(5.0);
    assert_near(flow.last().bbr.max_bandwidth.largest, RATE, 0.02);
}

/// A.17: a policer of 10 Mbit/s that lets 50 packets pass at once.
#[test]
fn a_policer_is_met_with_its_rate() {
    let mut flow = Flow::new(Path { tokens: Some((50.0, 50.0)), ..Path::default() });
    flow.enter(Phase::Cruise);
    flow.until(20.0, "a bound", |step| step.bbr.short_term.bandwidth.is_finite());
    flow.go_on(20.0);
    let (before, sent) = (flow.losses().0, flow.transmissions());
    flow.go_on(20.0);
    let lost = (flow.losses().0 - before) as f64 / (flow.transmissions() - sent) as f64;
    assert!(lost < 0.05 && flow.throughput(20.0) > 0.85 * RATE, "{lost} {}", flow.throughput(20.0) / RATE);
}

/// A.21, 5.5.10.2: what was in flight at the loss, at least 0.7 times the target.
#[test]
fn losses_in_a_probe_lower_the_long_term_bound() {
    let mut flow = Flow::new(shallow());
    flow.until(20.0, "a bound", |step| step.bbr.phase == Phase::Cruise && step.bbr.long_term.in_flight.is_finite());
    flow.until(20.0, "a probe", |step| step.bbr.phase == Phase::Up && !step.bbr.cycle.too_high);
    let down = flow.until(5.0, "the end", |step| step.bbr.phase != Phase::Up);
    let before = &flow.steps[flow.steps.len() - 2];
    assert_eq!((down.bbr.phase, down.bbr.saved.phase), (Phase::Down, Some(Phase::Up)));
    assert!(down.bbr.cycle.too_high && !down.bbr.pipe.now);
    let bound = down.bbr.long_term.in_flight;
    assert!(bound >= BETA * before.bbr.bdp().min(before.cwnd) && bound < before.bbr.long_term.in_flight, "{bound}");
}

/// A.22: samples that the application limits are below the bandwidth, and do not lower it.
#[test]
fn an_application_that_pauses_while_the_path_fills_leaves_the_bandwidth_alone() {
    let mut flow = Flow::new(Path::default());
    let refill = flow.enter(Phase::Refill);
    flow.supply(2, 0.01);
    let up = flow.until(1.0, "Up", |step| step.bbr.phase != Phase::Refill);
    assert_eq!(up.bbr.phase, Phase::Up);
    flow.go_on(0.5);
    assert_eq!(flow.last().bbr.phase, Phase::Up);
    assert_eq!(flow.last().bbr.max_bandwidth.largest, refill.bbr.max_bandwidth.largest);
    flow.supply(1_000_000, 1e9);
    let down = flow.enter(Phase::Down);
    assert!(down.bbr.pipe.now);
    assert_near(down.bbr.max_bandwidth.largest, RATE, 0.02);
}
