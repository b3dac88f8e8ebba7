//! Losses that were none, timeouts and marks.

use super::super::Phase;
use super::{Fate, Flow, Path};
use crate::{Ecn, State};

/// A.18, 5.5.11: five packets of a probe are late by 30 ms.
#[test]
fn a_spurious_recovery_is_undone() {
    let mut flow = Flow::new(Path::default());
    let up = flow.enter(Phase::Up);
    let first = flow.transmissions() + 5;
    flow.path().fate =
        Box::new(move |number, _| if (first..first + 5).contains(&number) { Fate::IsLate(0.03) } else { Fate::Passes });
    let lost = flow.until(1.0, "the end", |step| step.bbr.phase != Phase::Up);
    assert_eq!((lost.bbr.phase, lost.bbr.saved.phase, lost.state), (Phase::Down, Some(Phase::Up), State::Recovery));
    assert!(lost.bbr.long_term.in_flight.is_finite());
    let undone = flow.until(1.0, "an undo", |step| step.bbr.saved.phase.is_none());
    assert_eq!((undone.bbr.phase, undone.bbr.long_term), (Phase::Refill, up.bbr.long_term));
    assert_eq!(undone.bbr.short_term, up.bbr.short_term);
    assert!(undone.cwnd >= lost.cwnd && flow.losses() == (0, 0));
    let again = flow.until(1.0, "Up", |step| step.bbr.phase != Phase::Refill);
    assert_eq!(again.bbr.phase, Phase::Up);
}

/// A.19: all packets are late by 0.6 s for a while.
#[test]
fn a_spurious_timeout_is_undone() {
    let mut flow = Flow::new(Path::default());
    let up = flow.enter(Phase::Up);
    let first = flow.transmissions();
    flow.path().fate = Box::new(
        move |number, _| if (first..first + 200).contains(&number) { Fate::IsLate(0.6) } else { Fate::Passes },
    );
    let lost = flow.until(2.0, "a timeout", |step| step.state == State::Loss);
    // 5.6.4.4: there is room for one packet.
    assert_eq!((lost.cwnd, lost.in_flight, lost.bbr.phase), (1.0, 1.0, Phase::Down));
    assert!(lost.bbr.long_term.in_flight.is_finite());
    let undone = flow.until(2.0, "an undo", |step| step.state == State::Open);
    assert_eq!((flow.losses(), undone.bbr.phase), ((0, 1), Phase::Refill));
    assert_eq!((undone.bbr.long_term, undone.bbr.short_term), (up.bbr.long_term, up.bbr.short_term));
    assert!(undone.cwnd > 2.0 * undone.bbr.bdp());
}

/// A.18 in Startup: what losses ended is begun again (5.5.11.2).
#[test]
fn startup_that_a_spurious_recovery_ended_goes_on() {
    let late =
        |number: u64, _| if number >= 100 && number.is_multiple_of(4) { Fate::IsLate(0.05) } else { Fate::Passes };
    let mut flow = Flow::limited(Path { fate: Box::new(late), ..Path::default() }, 30, 0.04);
    let ended = flow.until(5.0, "the end of Startup", |step| step.bbr.pipe.reached);
    assert_eq!((ended.bbr.phase, ended.bbr.saved.phase), (Phase::Drain, Some(Phase::Startup)));
    flow.path().fate = Box::new(|_, _| Fate::Passes);
    let undone = flow.until(5.0, "an undo", |step| step.bbr.saved.phase.is_none());
    assert_eq!((undone.bbr.phase, undone.bbr.pipe.reached), (Phase::Startup, false));
    assert_eq!(undone.bbr.long_term.in_flight, f64::INFINITY);
}

/// 5.6.4.4: room for a packet, then what is acknowledged, and at the end the window before. By then the few packets of the
/// window have had the rounds after which Reno would have its turn (5.3.3.8), and no short-term bounds are left.
#[test]
fn the_window_returns_after_a_timeout() {
    let mut flow = Flow::new(Path::default());
    flow.enter(Phase::Cruise);
    let before = flow.go_on(0.3).last().expect("ACKs").clone();
    flow.path().fate = Box::new(|_, _| Fate::IsLost);
    let lost = flow.until(2.0, "a timeout", |step| step.state == State::Loss);
    assert_eq!((lost.cwnd, lost.in_flight), (1.0, 1.0));
    assert!(lost.bbr.output.prior_window >= before.cwnd && lost.bbr.saved.phase.is_none());
    flow.path().fate = Box::new(|_, _| Fate::Passes);
    let end = flow.until(5.0, "the end", |step| step.state == State::Open);
    let repairing = flow.steps.iter().filter(|step| step.at >= lost.at && step.state == State::Loss);
    let mut windows: Vec<f64> = repairing.map(|step| step.cwnd).collect();
    windows.dedup();
    assert!(windows.starts_with(&[1.0, 4.0, 5.0, 6.0]) && end.cwnd >= lost.bbr.output.prior_window, "{windows:?}");
}

/// 5.2.4: losses that the timer for reordered packets finds are reported as well, before they are sent again.
#[test]
fn losses_that_a_timer_finds_count() {
    let mut flow = Flow::new(Path::default());
    flow.enter(Phase::Cruise);
    flow.write_after(0.2, 6, 1e9);
    flow.until(1.0, "silence", |step| step.in_flight == 0.0);
    let first = flow.transmissions();
    flow.path().fate =
        Box::new(move |number, _| if (first..first + 4).contains(&number) { Fate::IsLost } else { Fate::Passes });
    // Two packets arrive beyond the hole, which are too few to be sure at once.
    let found = flow.until(1.0, "a recovery", |step| step.state == State::Recovery);
    assert_eq!((found.bbr.ranges.count, flow.losses()), (1, (4, 0)));
}

/// Returns a path that marks each n-th transmission.
fn marking(each: u64) -> Box<dyn FnMut(u64, bool) -> Fate> {
    Box::new(move |number, _| if number.is_multiple_of(each) { Fate::IsMarked } else { Fate::Passes })
}

/// 3.7: marks are congestion. Which response they have is ours.
#[test]
fn marks_are_taken_for_losses() {
    let with_ecn = || Flow::with(Path::default(), |config| config.ecn = Ecn::Classic);
    // In Startup one ends it, and is not undone.
    let mut flow = with_ecn();
    flow.go_on(0.1);
    flow.path().fate = marking(40);
    let drain = flow.enter(Phase::Drain);
    assert!(drain.bbr.pipe.count < 3 && drain.bbr.long_term.in_flight.is_finite());
    // In a probe too.
    let mut flow = with_ecn();
    flow.enter(Phase::Up);
    flow.path().fate = marking(10);
    let down = flow.until(0.2, "the end", |step| step.bbr.phase != Phase::Up);
    assert!(down.bbr.cycle.too_high && down.bbr.pipe.count < 3 && down.bbr.long_term.in_flight.is_finite());
    // Else they lower the short-term bounds.
    let mut flow = with_ecn();
    flow.enter(Phase::Cruise);
    let before = flow.go_on(0.3).last().expect("ACKs").clone();
    flow.path().fate = marking(20);
    let lower = flow.until(0.3, "a bound", |step| step.bbr.short_term.in_flight.is_finite());
    assert_eq!(lower.bbr.phase, Phase::Cruise);
    assert!(lower.bbr.short_term.in_flight >= 0.7 * before.cwnd && lower.cwnd < before.cwnd);
    assert_eq!(flow.losses(), (0, 0));
}
