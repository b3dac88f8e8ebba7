//! Rules of the sections that the example test cases do not show.

use base::{Clock, RandomStream};

use super::super::bounds::{LongTerm, ShortTerm};
use super::super::{Bbr3, KernelClock, Phase, Sample};
use super::{Flow, Path, Step};
use crate::cc::Window;
use crate::State;

const PHASES: [Phase; 7] =
    [Phase::Startup, Phase::Drain, Phase::Down, Phase::Cruise, Phase::Refill, Phase::Up, Phase::ProbeRtt];

/// Returns a flow that has found 1000 packets per second and 100 ms.
pub(super) fn cruising() -> Bbr3 {
    let mut bbr = Bbr3::new(KernelClock::new(Clock::PICOSECONDS), 1000.0, true);
    bbr.round_trip.start(0, Some(100_000));
    bbr.update_congestion(&sample(1000.0, 100.0));
    bbr.bandwidth = 1000.0;
    bbr.pipe.reached = true;
    bbr.phase = Phase::Cruise;
    bbr
}

/// Returns a sample of the first packet of a round.
pub(super) fn sample(bandwidth: f64, delivered: f64) -> Sample {
    Sample {
        bandwidth,
        delivered,
        prior_delivered: u64::MAX,
        app_limited: false,
        sent_with: 100.0,
        lost: 0.0,
        acked: 1.0,
        prior_in_flight: 101.0,
        in_flight: 100.0,
        rtt: None,
        cwnd: 200.0,
        cwnd_used: false,
    }
}

/// 5.6.1, the table.
#[test]
fn each_phase_has_its_gains() {
    assert_eq!(PHASES.map(Phase::pacing_gain), [2.77, 0.5, 0.9, 1.0, 1.0, 1.25, 1.0]);
    assert_eq!(PHASES.map(Phase::window_gain), [2.0, 2.0, 2.0, 2.0, 2.0, 2.25, 0.5]);
}

/// 5.6.4.7: the bounds of each phase; 15% of the long-term one are left to others in two of them.
#[test]
fn each_phase_has_its_bounds() {
    let cwnd = |phase, short_term| {
        let mut bbr = cruising();
        bbr.output.initial_window = 1e4;
        bbr.round_trip.start(0, Some(100_000_000));
        (bbr.phase, bbr.long_term.in_flight, bbr.short_term.in_flight) = (phase, 100.0, short_term);
        let mut window = Window { cwnd: 1000.0, ssthresh: 1.0 };
        bbr.update_window(0.0, &mut window);
        window.cwnd
    };
    assert_eq!(PHASES.map(|phase| cwnd(phase, f64::INFINITY)), [1000.0, 1000.0, 100.0, 85.0, 100.0, 100.0, 85.0]);
    assert_eq!(PHASES.map(|phase| cwnd(phase, 50.0)), [50.0; 7]);
    assert_eq!(PHASES.map(|phase| cwnd(phase, 1.0)), [4.0; 7]);
    // A packet at least is left, and four are kept.
    assert_eq!([5.0, 20.0, 4.5].map(|in_flight| LongTerm { in_flight }.with_headroom()), [4.0, 17.0, 4.0]);
}

/// 5.6.4.6: up to what a phase wants by what is acknowledged, and down to it at once.
#[test]
fn the_window_grows_by_what_is_acknowledged() {
    let bbr = cruising();
    let cwnd = |bbr: &Bbr3, cwnd, acked| {
        let mut window = Window { cwnd, ssthresh: 1.0 };
        bbr.clone().update_window(acked, &mut window);
        window.cwnd
    };
    assert_eq!([150.0, 199.5, 300.0].map(|before| cwnd(&bbr, before, 2.0)), [152.0, 200.0, 200.0]);
    // In Startup it is not cut, and grows in any case until an initial window is delivered.
    let startup = Bbr3 { phase: Phase::Startup, delivered: 10, ..bbr };
    let mut startup = startup;
    startup.pipe.reached = false;
    assert_eq!([150.0, 300.0].map(|before| cwnd(&startup, before, 2.0)), [152.0, 300.0]);
    startup.delivered = 9;
    assert_eq!(cwnd(&startup, 300.0, 2.0), 302.0);
}

/// 5.6.4.2: whatever the gain, the path is taken to hold the initial window before the first round trip.
#[test]
fn no_gain_applies_to_the_initial_window() {
    let bbr = Bbr3::new(KernelClock::new(Clock::PICOSECONDS), 1000.0, true);
    assert_eq!((bbr.fill(1000.0, 2.0), bbr.probe_rtt_window()), (10.0, 10.0));
    assert_eq!(cruising().fill(1000.0, 2.0), 200.0);
}

/// 5.6.3, 5.5.8.1: a millisecond of the rate, two packets at least and 64 KiB at most; three times that is in flight.
#[test]
fn slow_and_fast_flows_have_room_for_the_bursts_of_hosts() {
    let volume = |rate: u64| {
        let mut bbr = cruising();
        bbr.output.pacing_rate = rate;
        bbr.volume(1.0, 1.0)
    };
    assert_eq!([1000, 2_000_000, 5_000_000, 1 << 40].map(volume), [6.0, 6.0, 15.0, 3.0 * 65.536]);
}

/// 5.5.10.3: once in a round with losses, 0.7 times the bound or what was delivered; not where bandwidth is probed for.
#[test]
fn rounds_with_losses_lower_the_short_term_bounds() {
    let mut bbr = cruising();
    let round = |bbr: &mut Bbr3, lossy: bool, bandwidth, delivered| {
        if lossy {
            bbr.deliveries.lose(0);
        }
        bbr.deliveries.update(&sample(bandwidth, delivered), 1);
        bbr.update_congestion(&sample(bandwidth, delivered));
        bbr.deliveries.advance(&sample(0.0, 0.0));
        [bbr.short_term.bandwidth, bbr.short_term.in_flight]
    };
    assert_eq!(round(&mut bbr, false, 500.0, 50.0), [f64::INFINITY; 2]);
    assert_eq!(round(&mut bbr, true, 500.0, 50.0), [700.0, 140.0]);
    assert_eq!(round(&mut bbr, false, 500.0, 50.0), [700.0, 140.0]);
    assert_eq!(round(&mut bbr, true, 600.0, 50.0), [600.0, 98.0]);
    assert_eq!(round(&mut bbr, true, 100.0, 90.0), [420.0, 90.0]);
    let after = PHASES.map(|phase| {
        let mut bbr = Bbr3 { phase, ..cruising() };
        round(&mut bbr, true, 500.0, 50.0)[0]
    });
    assert_eq!(after, [f64::INFINITY, 700.0, 700.0, 700.0, f64::INFINITY, f64::INFINITY, 700.0]);
}

/// 5.5.3 to 5.5.6: the largest rate of two cycles; one that the application limits counts if it is the largest.
#[test]
fn the_bandwidth_is_that_of_two_cycles() {
    let mut bbr = cruising();
    let mut next = |advances: bool, app_limited, bandwidth| {
        if advances {
            bbr.max_bandwidth.advance();
        }
        bbr.update_congestion(&Sample { app_limited, ..sample(bandwidth, 1.0) });
        bbr.max_bandwidth.largest
    };
    assert_eq!(next(false, true, 900.0), 1000.0);
    assert_eq!(next(false, true, 1100.0), 1100.0);
    assert_eq!(next(true, false, 800.0), 1100.0);
    assert_eq!(next(true, true, 700.0), 1100.0);
    assert_eq!(next(false, false, 600.0), 800.0);
}

/// 5.3.3.8: two to three seconds, and a round more or less.
#[test]
fn the_time_of_the_next_probe_is_drawn() {
    let mut bbr = cruising();
    bbr.random = RandomStream::named(1, 0, "draws");
    let draws: Vec<(f64, u64)> = (0..1000)
        .map(|_| {
            bbr.start_down();
            (bbr.cycle.wait / 1e6, bbr.cycle.rounds_since_probe)
        })
        .collect();
    let mean = draws.iter().map(|&(wait, _)| wait).sum::<f64>() / 1e3;
    let ones = draws.iter().filter(|&&(_, rounds)| rounds == 1).count();
    // Four standard errors: 4 sqrt(1/12 / 1000), and 4 sqrt(1000/4).
    assert!((mean - 2.5).abs() < 0.037 && ones.abs_diff(500) < 64, "{mean} {ones}");
    assert!(draws.iter().all(|&(wait, rounds)| (2.0..3.0).contains(&wait) && rounds <= 1));
}

/// 5.3.3.8: after as many rounds as packets fill the path, 63 at most, or as cwnd has.
#[test]
fn reno_has_its_turn_before_the_next_probe() {
    let rounds_until = |bandwidth: f64, cwnd: f64| {
        let mut bbr = cruising();
        bbr.bandwidth = bandwidth;
        bbr.start_down();
        bbr.cycle.rounds_since_probe = 0;
        let mut rounds = 0;
        while bbr.phase != Phase::Refill {
            rounds += 1;
            bbr.cycle.rounds_since_probe += 1;
            bbr.update_cycle(&Sample { prior_delivered: 0, cwnd, ..sample(1.0, 1.0) });
        }
        rounds
    };
    assert_eq!([(400.0, 100.0), (400.0, 20.0), (1e5, 1e6)].map(|(bw, cwnd)| rounds_until(bw, cwnd)), [40, 20, 63]);
}

/// 5.5.9: the excess counts for ten rounds, and for one in Startup.
#[test]
fn the_excess_of_acks_is_forgotten() {
    for (reached, kept) in [(true, 10), (false, 1)] {
        let mut bbr = cruising();
        bbr.pipe.reached = reached;
        bbr.update_aggregation(&Sample { acked: 30.0, ..sample(1.0, 1.0) });
        let first = bbr.rounds.count;
        assert_eq!(bbr.aggregation.packets(), 30.0);
        let mut rounds = 0;
        while bbr.aggregation.packets() == 30.0 {
            rounds += 1;
            bbr.now += 100_000;
            bbr.rounds.count = first + rounds;
            bbr.update_aggregation(&Sample { acked: 2.0, ..sample(1.0, 1.0) });
        }
        assert_eq!(rounds, kept + 1);
    }
}

/// 5.3.3.3: a round without the short-term bounds.
#[test]
fn the_path_is_filled_for_a_round() {
    let mut flow = Flow::new(Path { buffer: 16.0, ..Path::default() });
    for _ in 0..5 {
        let refill = flow.enter(Phase::Refill);
        assert_eq!((refill.bbr.short_term, refill.bbr.bandwidth), (ShortTerm::NONE, refill.bbr.max_bandwidth.largest));
        let up = flow.until(1.0, "Up", |step| step.bbr.phase != Phase::Refill);
        assert_eq!((up.bbr.phase, up.bbr.rounds.count), (Phase::Up, refill.bbr.rounds.count + 1));
        assert!(up.bbr.cycle.of_probe);
    }
}

/// 5.3.3.6: after a probe that lost too much the next one ends where that one did; if nothing is lost, another one
/// follows at once and goes on.
#[test]
fn a_probe_after_losses_is_a_short_one() {
    let mut flow = Flow::new(Path { buffer: 16.0, ..Path::default() });
    let ended = flow.until(20.0, "losses", |step| step.bbr.cycle.too_high && step.bbr.phase == Phase::Down);
    let bound = ended.bbr.long_term.in_flight;
    let up = flow.enter(Phase::Up);
    let down = flow.enter(Phase::Down);
    assert!(down.bbr.cycle.precautionary && !down.bbr.cycle.too_high, "{down:?}");
    assert_eq!((down.bbr.long_term.in_flight, flow.losses().0 > 0), (bound, true));
    assert!(down.in_flight + 2.0 > bound && down.at - up.at < 0.1, "{}", down.in_flight);
    let refill = flow.enter(Phase::Refill);
    assert!(refill.bbr.rounds.count <= down.bbr.rounds.count + 1 && !refill.bbr.cycle.precautionary);
    let lost = flow.losses().0;
    flow.enter(Phase::Up);
    let end = flow.until(2.0, "the end", |step| step.bbr.phase != Phase::Up);
    assert!(end.bbr.cycle.too_high && flow.losses().0 > lost);
}

/// 5.6.4.4: the last window that was good.
#[test]
fn the_window_returns_at_the_end_of_a_recovery() {
    let mut bbr = cruising();
    bbr.save_window(150.0);
    let mut window = Window { cwnd: 20.0, ssthresh: 1.0 };
    let mut windows = Vec::new();
    for state in [State::Disorder, State::Recovery, State::Recovery, State::Loss, State::Open] {
        bbr.follow(state, &mut window);
        windows.push(window.cwnd);
        // What is saved in a recovery is not smaller.
        bbr.save_window(if bbr.repairs() { 30.0 } else { 150.0 });
    }
    assert_eq!(windows, [20.0, 20.0, 20.0, 20.0, 150.0]);
}

/// Cruise leaves room to other flows, and its steps show it (5.3.3.1).
#[test]
fn cruise_stays_below_the_long_term_bound() {
    let mut flow = Flow::new(Path { buffer: 16.0, ..Path::default() });
    flow.go_on(10.0);
    let bounded = |step: &&Step| step.bbr.phase == Phase::Cruise && step.bbr.long_term.in_flight.is_finite();
    let steps: Vec<&Step> = flow.steps.iter().filter(bounded).collect();
    assert!(steps.len() > 500);
    assert!(steps.iter().all(|step| step.cwnd <= 0.85 * step.bbr.long_term.in_flight + 1e-9));
}
