//! ProbeRTT and the restart from idle.

use super::super::Phase;
use super::{assert_near, paced, Flow, Path, Step};

/// A.10, 5.3.4: for 200 ms and a round with half of the BDP in flight.
#[test]
fn the_round_trip_is_measured_again_every_five_seconds() {
    let mut flow = Flow::new(Path::default());
    flow.enter(Phase::Cruise);
    let begin = flow.enter(Phase::ProbeRtt);
    let age = begin.at - begin.bbr.round_trip.since as f64 / 1e6;
    assert!((5.0..5.2).contains(&age), "{age}");
    assert!(begin.cwnd <= 0.5 * begin.bbr.bdp() + 1e-9 && begin.cwnd >= 0.45 * begin.bbr.bdp(), "{begin:?}");
    let few = flow.until(1.0, "few packets", |step| step.bbr.round_trip.until.is_some());
    let end = flow.until(1.0, "the end", |step| step.bbr.phase != Phase::ProbeRtt);
    assert_eq!(end.bbr.phase, Phase::Cruise);
    assert!(
        (0.2..0.25).contains(&(end.at - few.at)) && end.bbr.rounds.count > few.bbr.rounds.count,
        "{}",
        end.at - few.at
    );
    // The bandwidth is what it was, and so is the window soon.
    assert_eq!(end.bbr.max_bandwidth.largest, begin.bbr.max_bandwidth.largest);
    assert!(end.cwnd > 1.9 * end.bbr.bdp());
    flow.go_on(0.5);
    assert!(flow.throughput(0.4) > 0.97 * 10e6 / 12e3);
    // The next one follows five seconds after the end.
    let again = flow.enter(Phase::ProbeRtt);
    assert!((5.0..5.2).contains(&(again.at - end.at)), "{}", again.at - end.at);
}

/// 5.3.4.2: each ProbeRTT takes a little of the throughput, 2% of it.
#[test]
fn probe_rtt_takes_two_percent() {
    let mut flow = Flow::new(Path::default());
    flow.go_on(30.0);
    let within = |step: &&Step| step.bbr.phase == Phase::ProbeRtt;
    assert!(flow.steps.iter().filter(within).count() > 200);
    assert!(flow.throughput(20.0) > 0.965 * 10e6 / 12e3, "{}", flow.throughput(20.0) * 12e3 / 10e6);
}

/// A.11, 5.4.1: at exactly the bandwidth, and without ProbeRTT, as the silence has drained the queue.
#[test]
fn a_flow_that_was_idle_restarts_at_its_bandwidth() {
    let mut flow = Flow::new(Path::default());
    flow.enter(Phase::Cruise);
    flow.go_on(0.5);
    let before = flow.last().clone();
    flow.write_after(6.0, 1_000_000, 1e9);
    let restart = flow.until(7.0, "data", |step| step.bbr.restarts);
    assert!(restart.at >= before.at + 6.0 && restart.bbr.phase.is_of_cycle());
    assert_near(restart.bbr.output.pacing_rate as f64, paced(1.0, restart.bbr.bandwidth), 1e-6);
    assert_eq!(restart.bbr.max_bandwidth.largest, before.bbr.max_bandwidth.largest);
    let end = flow.until(1.0, "an ACK", |step| !step.bbr.restarts);
    assert!(end.bbr.round_trip.recent_since as f64 / 1e6 > restart.at, "the round trip is not measured again");
    flow.go_on(3.0);
    let later: Vec<Phase> =
        flow.phases().into_iter().filter(|&(_, at)| at > before.at).map(|(phase, _)| phase).collect();
    assert!(!later.contains(&Phase::ProbeRtt), "{later:?}");
}

/// 5.4.1: a flow that goes idle in ProbeRTT has left it when it restarts.
#[test]
fn a_flow_that_is_idle_in_probe_rtt_leaves_it() {
    let mut flow = Flow::new(Path::default());
    flow.enter(Phase::Cruise);
    flow.enter(Phase::ProbeRtt);
    flow.until(1.0, "few packets", |step| step.bbr.round_trip.until.is_some());
    flow.write_after(0.3, 1_000_000, 1e9);
    let restart = flow.until(1.0, "data", |step| step.bbr.restarts);
    assert_eq!(restart.bbr.phase, Phase::Cruise);
    assert!(restart.cwnd > 1.9 * restart.bbr.bdp());
}

/// 5.5.7.2, 5.3.4.1: a longer path is believed after ten seconds.
#[test]
fn the_smallest_round_trip_is_that_of_ten_seconds() {
    let mut flow = Flow::new(Path::default());
    flow.enter(Phase::Cruise);
    flow.path().rtt = 0.06;
    let changed = flow.now();
    let known = flow.last().bbr.round_trip.since as f64 / 1e6;
    let longer = flow.until(20.0, "a longer one", |step| step.bbr.round_trip.smallest > Some(55_000));
    assert!((known + 10.0..known + 10.5).contains(&longer.at), "{} {changed}", longer.at);
    assert_near(longer.bbr.round_trip.smallest.expect("known") as f64, 61_200.0, 0.02);
    // A shorter one at once.
    flow.path().rtt = 0.03;
    flow.go_on(1.0);
    assert!(flow.last().bbr.round_trip.smallest < Some(40_000));
}
