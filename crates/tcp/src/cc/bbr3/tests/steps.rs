//! Single steps of the pseudocode, on a flow that has found 1000 packets per second and 100 ms.

use super::super::cycle::Feedback;
use super::super::{Bbr3, Phase, Sample};
use super::rules::{cruising, sample};
use crate::cc::{Lost, Window};
use crate::State;

fn window() -> Window {
    Window { cwnd: 200.0, ssthresh: 1.0 }
}

/// 5.5.10.2: the first loss of a round begins a full one, in which deliveries are observed; the next one does not.
#[test]
fn the_first_loss_begins_a_round_of_deliveries() {
    let starts = |bbr: &mut Bbr3, prior_delivered| {
        bbr.deliveries.update(&Sample { prior_delivered, ..sample(1.0, 1.0) }, 900);
        bbr.deliveries.round_starts
    };
    let mut bbr = cruising();
    assert!(bbr.deliveries.lose(500) && !bbr.deliveries.lose(600));
    assert_eq!([499, 500].map(|prior| starts(&mut bbr, prior)), [false, true]);
}

/// 5.3.1.2: growth by a quarter is growth.
#[test]
fn a_rate_that_grows_by_less_than_a_quarter_is_a_plateau() {
    for (growth, full) in [(1.24, true), (1.25, false)] {
        let mut bbr = cruising();
        let mut rate = 100.0;
        bbr.pipe.search_from(rate);
        for _ in 0..3 {
            rate *= if full { 1.0 } else { growth };
            bbr.pipe.observe(true, &sample(if full { 100.0 * growth } else { rate }, 1.0));
        }
        assert_eq!((bbr.pipe.now, bbr.pipe.count), (full, if full { 3 } else { 0 }));
    }
}

/// 5.3.1.3: six ranges, more than 2% of what was in flight, and a full round in fast recovery.
#[test]
fn startup_ends_by_many_losses_in_six_places_alone() {
    let ends = |ranges: u64, lost: f64, state: State, round: bool| {
        let mut bbr = Bbr3 { phase: Phase::Startup, ..cruising() };
        bbr.follow(state, &mut window());
        bbr.pipe.reached = false;
        bbr.deliveries.round_starts = round;
        // Each range has two packets.
        (0..2 * ranges).for_each(|number| bbr.ranges.count(number / 2 * 10 + number % 2));
        bbr.check_startup(&Sample { lost, ..sample(1.0, 1.0) }, &mut window());
        bbr.phase == Phase::Drain
    };
    assert!(ends(6, 3.0, State::Recovery, true));
    assert!(!ends(5, 3.0, State::Recovery, true) && !ends(6, 2.0, State::Recovery, true));
    assert!(!ends(6, 3.0, State::Recovery, false) && !ends(6, 3.0, State::Disorder, true));
    // Packets that an expiry of the timer made lost are repaired, and not in fast recovery.
    assert!(!ends(6, 3.0, State::Loss, true));
}

/// 5.3.3.1: the BDP, and 0.85 times the long-term bound.
#[test]
fn the_queue_is_drained_and_leaves_room() {
    let cruises = |long_term: f64, in_flight: f64| {
        let mut bbr = Bbr3 { phase: Phase::Down, ..cruising() };
        bbr.start_down();
        bbr.long_term.in_flight = long_term;
        bbr.rounds.starts = false;
        bbr.update_cycle(&Sample { in_flight, sent_with: 1.0, ..sample(1.0, 1.0) });
        bbr.phase == Phase::Cruise
    };
    assert!(cruises(f64::INFINITY, 100.0) && !cruises(f64::INFINITY, 101.0));
    assert!(cruises(100.0, 85.0) && !cruises(100.0, 86.0));
}

/// 5.3.3.9: what was in flight without many losses raises the long-term bound, in each phase.
#[test]
fn what_was_in_flight_raises_the_long_term_bound() {
    for (lost, expected) in [(0.0, 150.0), (3.0, 150.0), (4.0, 120.0)] {
        let mut bbr = cruising();
        bbr.long_term.in_flight = 120.0;
        bbr.update_cycle(&Sample { sent_with: 150.0, lost, ..sample(1.0, 1.0) });
        assert_eq!(bbr.long_term.in_flight, expected);
    }
}

/// 5.5.10.2: the volume at the loss, and 0.7 times the BDP or cwnd at least; not for what the application limits, and once
/// in a probe.
#[test]
fn losses_of_a_probe_set_the_long_term_bound() {
    let packet = Lost { now: 1, sequence: 7, delivered: 1, in_flight: 120, lost: 3, app_limited: false };
    let bound = |bandwidth: f64, packet: &Lost| {
        let mut bbr = Bbr3 { phase: Phase::Refill, bandwidth, ..cruising() };
        bbr.cycle.of_probe = true;
        bbr.lose(packet, 200.0);
        let first = bbr.long_term.in_flight;
        if !bbr.cycle.of_probe {
            bbr.lose(&Lost { in_flight: 10, ..*packet }, 200.0);
            assert_eq!(bbr.long_term.in_flight, first);
        }
        first
    };
    assert!((119.0..120.0).contains(&bound(1000.0, &packet)));
    assert_eq!((bound(1800.0, &packet), bound(3000.0, &packet)), (0.7 * 180.0, 0.7 * 200.0));
    assert_eq!(bound(1000.0, &Lost { app_limited: true, ..packet }), f64::INFINITY);
    assert_eq!(bound(1000.0, &Lost { lost: 2, ..packet }), f64::INFINITY);
}

/// 5.5.11.2: the bounds are what they were, or larger, and the search for a plateau begins again.
#[test]
fn a_spurious_recovery_leaves_the_bounds_of_before() {
    let mut bbr = cruising();
    (bbr.short_term.bandwidth, bbr.short_term.in_flight, bbr.long_term.in_flight) = (800.0, 80.0, 90.0);
    bbr.save(200.0);
    (bbr.short_term.bandwidth, bbr.short_term.in_flight, bbr.long_term.in_flight) = (500.0, 50.0, 95.0);
    bbr.pipe.search_from(1000.0);
    bbr.pipe.observe(true, &sample(1000.0, 1.0));
    bbr.restore();
    assert_eq!((bbr.short_term.bandwidth, bbr.short_term.in_flight, bbr.long_term.in_flight), (800.0, 80.0, 95.0));
    assert_eq!((bbr.pipe.count, bbr.phase), (0, Phase::Cruise));
    // Any rate is growth now.
    bbr.pipe.observe(true, &sample(1.0, 1.0));
    assert_eq!(bbr.pipe.count, 0);
}

/// 5.3.4.3 and 5.3.4.4: the end of a probe's feedback, and after the time a round, without the short-term bounds.
#[test]
fn probe_rtt_ends_after_a_round_and_forgets_the_short_term_bounds() {
    let mut bbr = cruising();
    bbr.now = 6_000_000;
    bbr.update_round_trip(None);
    bbr.check_probe_rtt(&Sample { in_flight: 50.0, ..sample(1.0, 1.0) }, &mut window());
    assert_eq!((bbr.phase, bbr.cycle.feedback), (Phase::ProbeRtt, Feedback::Stopping));
    bbr.now += 300_000;
    bbr.short_term.in_flight = 50.0;
    for (starts, phase) in [(false, Phase::ProbeRtt), (true, Phase::Cruise)] {
        bbr.rounds.starts = starts;
        bbr.check_probe_rtt(&sample(1.0, 1.0), &mut window());
        assert_eq!(bbr.phase, phase);
    }
    assert_eq!(bbr.short_term.in_flight, f64::INFINITY);
}

/// 5.6.4.2: two packets more in a probe.
#[test]
fn a_probe_has_room_for_two_packets_more() {
    let volume = |phase| Bbr3 { phase, ..cruising() }.volume(1000.0, 1.0);
    assert_eq!((volume(Phase::Cruise), volume(Phase::Up)), (100.0, 102.0));
}
