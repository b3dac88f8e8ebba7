//! Startup and Drain.

use super::super::Phase;
use super::{assert_near, paced, Fate, Flow, Path, Step};
use crate::State;

/// Returns the states at which the number of rounds without growth changed, in a phase.
fn counts(steps: &[Step], phase: Phase) -> Vec<(u32, u64)> {
    let of_phase = steps.iter().filter(|step| step.bbr.phase == phase && step.bbr.pipe.count > 0);
    let mut counts: Vec<_> = of_phase.map(|step| (step.bbr.pipe.count, step.bbr.rounds.count)).collect();
    counts.dedup_by_key(|&mut (count, _)| count);
    counts
}

/// A.1, 5.3.1.2: three rounds in a row whose rate grows by less than a quarter.
#[test]
fn startup_ends_after_three_rounds_without_growth() {
    let mut flow = Flow::new(Path::default());
    let drain = flow.enter(Phase::Drain);
    let rate = 10e6 / 12e3;
    assert_near(drain.bbr.max_bandwidth.largest, rate, 0.02);
    assert!(drain.bbr.pipe.now && drain.bbr.pipe.reached);
    let found = counts(&flow.steps, Phase::Startup);
    let third = (drain.bbr.pipe.count, drain.bbr.rounds.count);
    assert_eq!([found[0], found[1], third], [(1, third.1 - 2), (2, third.1 - 1), (3, third.1)]);
    let mut before = flow.steps.iter().filter(|step| step.bbr.phase == Phase::Startup);
    assert!(before.all(|step| !step.bbr.pipe.reached));
}

/// 5.6.2: 2.77 initial windows in the first round trip, and then the rate of the samples; it only rises.
#[test]
fn the_pacing_rate_of_startup_only_rises() {
    let mut flow = Flow::new(Path::default());
    flow.enter(Phase::Drain);
    let rates: Vec<u64> =
        flow.steps.iter().filter(|step| step.at > 0.0).map(|step| step.bbr.output.pacing_rate).collect();
    assert_near(rates[0] as f64, 2.77 * 10.0 / 0.0412 * 1448.0, 1e-5);
    assert!(rates[..rates.len() - 1].is_sorted());
    let last = &flow.steps[flow.steps.len() - 2];
    assert_near(last.bbr.output.pacing_rate as f64, paced(2.77, last.bbr.bandwidth), 1e-6);
}

/// Loses each n-th transmission from one on.
fn losing(from: u64, each: u64) -> Path {
    let fate =
        move |number: u64, _| if number >= from && number.is_multiple_of(each) { Fate::IsLost } else { Fate::Passes };
    Path { fate: Box::new(fate), ..Path::default() }
}

/// A.2, 5.3.1.3: losses end Startup where the application limits all samples.
#[test]
fn losses_end_startup_though_the_application_limits_what_is_sent() {
    let mut flow = Flow::limited(losing(100, 4), 30, 0.04);
    let drain = flow.enter(Phase::Drain);
    let before = &flow.steps[flow.steps.len() - 2];
    assert!(before.bbr.pipe.count < 3 && before.state == State::Recovery);
    assert!(drain.bbr.pipe.now && drain.bbr.pipe.reached && drain.bbr.saved.phase == Some(Phase::Startup));
    let long_term = drain.bbr.long_term.in_flight;
    // No more than two writes were in flight.
    assert!(long_term >= drain.bbr.bdp() && long_term <= 60.0, "{long_term}");
}

/// 5.3.1.3: at least six ranges of packets, and more than 2% of what is in flight, in a full round of fast recovery.
#[test]
fn few_losses_do_not_end_startup() {
    // One range of many packets; and six ranges in each of some rounds, of a large window.
    let range = |number: u64, _| if (60..90).contains(&number) { Fate::IsLost } else { Fate::Passes };
    let mut burst = Flow::limited(Path { fate: Box::new(range), ..Path::default() }, 20, 0.04);
    burst.go_on(4.0);
    let seldom = |number: u64, _| if number > 2000 && number.is_multiple_of(60) { Fate::IsLost } else { Fate::Passes };
    let wide = Path { rate: 1e5, fate: Box::new(seldom), ..Path::default() };
    let mut thin = Flow::limited(wide, 600, 0.04);
    thin.go_on(2.0);
    for flow in [&burst, &thin] {
        assert!(flow.losses().0 >= 30 && flow.losses().1 == 0, "{:?}", flow.losses());
        assert!(flow.steps.iter().any(|step| step.state == State::Recovery));
        assert_eq!(flow.phases().len(), 1, "{:?}", flow.phases());
    }
}

/// 5.3.1.3: without selective acknowledgment any loss in fast recovery ends it.
#[test]
fn without_selective_acknowledgment_one_loss_ends_startup() {
    let one = |number: u64, _| if number == 100 { Fate::IsLost } else { Fate::Passes };
    for sack in [false, true] {
        let path = Path { fate: Box::new(one), ..Path::default() };
        let mut flow = Flow::with(path, |config| config.sack = sack);
        flow.supply(20, 0.04);
        flow.go_on(4.0);
        assert_eq!((flow.last().bbr.pipe.reached, flow.losses()), (!sack, (1, 0)), "{:?}", flow.phases());
    }
}

/// 5.3.1.3: a packet that the timer repairs is not lost in fast recovery.
#[test]
fn an_expiry_of_the_timer_does_not_end_startup() {
    let last_of_a_write = |number: u64, _| if number == 29 { Fate::IsLost } else { Fate::Passes };
    let path = Path { fate: Box::new(last_of_a_write), ..Path::default() };
    let mut flow = Flow::with(path, |config| config.sack = false);
    flow.supply(10, 1.0);
    flow.go_on(4.0);
    assert_eq!(flow.losses(), (1, 1));
    assert!(flow.steps.iter().any(|step| step.state == State::Loss));
    assert_eq!((flow.last().bbr.pipe.reached, flow.phases().len()), (false, 1), "{:?}", flow.phases());
}

/// A.3, 5.3.2: at half of the bandwidth, until the BDP is in flight.
#[test]
fn drain_ends_when_the_queue_is_empty() {
    let mut flow = Flow::new(Path::default());
    let begin = flow.enter(Phase::Drain);
    assert_near(begin.bbr.output.pacing_rate as f64, paced(0.5, begin.bbr.bandwidth), 1e-6);
    let end = flow.until(1.0, "ProbeBW", |step| step.bbr.phase != Phase::Drain);
    assert!(end.bbr.phase.is_of_cycle() && end.in_flight <= end.bbr.bdp() + 1.0, "{end:?}");
    assert!(end.bbr.rounds.count <= begin.bbr.rounds.count + 2);
    let during = flow.steps.iter().filter(|step| step.bbr.phase == Phase::Drain);
    assert!(during.clone().count() > 10 && during.clone().all(|step| step.in_flight > step.bbr.bdp()));
}

/// A.4, 5.3.2. A link that loses a tenth of its rate is drained in a round all the same, at half of the rate: here it
/// loses four fifths.
#[test]
fn drain_ends_after_three_rounds() {
    let mut flow = Flow::new(Path::default());
    let begin = flow.enter(Phase::Drain);
    flow.path().rate /= 5.0;
    let end = flow.until(10.0, "ProbeBW", |step| step.bbr.phase != Phase::Drain);
    assert_eq!(end.bbr.phase, Phase::Down);
    assert_eq!(end.bbr.rounds.count, begin.bbr.rounds.count + 4);
    assert!(end.in_flight > end.bbr.volume(end.bbr.bandwidth, 1.0), "{end:?}");
}

/// A.7: without losses a flow that the application limits goes on looking for bandwidth.
#[test]
fn startup_goes_on_while_the_application_limits_what_is_sent() {
    let mut flow = Flow::limited(Path::default(), 5, 0.02);
    flow.go_on(20.0);
    assert!(!flow.last().bbr.pipe.reached);
    // A.20, 5.3.4.4: ProbeRTT interrupts it, and it goes on.
    let phases: Vec<Phase> = flow.phases().into_iter().map(|(phase, _)| phase).collect();
    assert!(phases.len() >= 5, "{phases:?}");
    for (index, &phase) in phases.iter().enumerate() {
        assert_eq!(phase, if index % 2 == 0 { Phase::Startup } else { Phase::ProbeRtt }, "{phases:?}");
    }
    // It finds the bandwidth afterwards.
    flow.supply(1_000_000, 1e9);
    flow.enter(Phase::Drain);
    assert_near(flow.last().bbr.max_bandwidth.largest, 10e6 / 12e3, 0.02);
}

/// A.12: packets that arrive in batches of 20 ms.
#[test]
fn startup_finds_the_bandwidth_of_a_path_that_aggregates() {
    let mut flow = Flow::new(Path { batch: 0.02, ..Path::default() });
    flow.enter(Phase::Drain);
    let startup: Vec<&Step> = flow.steps.iter().filter(|step| step.bbr.phase == Phase::Startup).collect();
    let fill = 10e6 / 12e3 * 0.04;
    let most = startup.iter().map(|step| step.bbr.aggregation.packets()).fold(0.0, f64::max);
    assert!((8.0..=40.0).contains(&most), "{most}");
    assert!(startup.iter().any(|step| step.cwnd > 2.0 * fill));
    // A round trip may see one batch too many, so that the bandwidth is taken for 1.5 times what it is, at most (3.8).
    let found = flow.last().bbr.max_bandwidth.largest / (10e6 / 12e3);
    assert!((0.98..1.5).contains(&found), "{found}");
}
