use super::*;
use base::Clock;

const CLOCK: Clock = Clock::PICOSECONDS;

fn ms(milliseconds: u64) -> Time {
    Time::from_ticks(milliseconds * 1_000_000_000)
}

fn control(parameters: Vec<f64>) -> Prague {
    prague(&Settings { parameters, mss: 1000, ..Settings::linux(CLOCK) })
}

/// Returns an ACK at an instant with a smoothed round trip.
fn ack(now: Time, acked: u32, marked: u32, srtt: Time) -> AckSample {
    AckSample { marked, srtt, ..crate::cc::tests::ack(now, acked) }
}

/// Returns the ACK that ends a round.
fn round(number: u64, ack: AckSample) -> AckSample {
    AckSample { una: number, nxt: number + 1, ..ack }
}

fn pass(prague: &mut Prague, ack: &AckSample) {
    let mut window = Window { cwnd: 50.0, ssthresh: 40.0 };
    prague.measure(ack, &window);
    prague.on_ack(ack, &mut window);
}

/// Section 2.3.2: alpha begins at 1 with the first mark, then alpha += g (fraction - alpha), once in a round.
#[test]
fn alpha_is_an_average_over_rounds() {
    let mut prague = control(vec![0.25]);
    pass(&mut prague, &round(0, ack(ms(0), 10, 0, ms(50))));
    pass(&mut prague, &round(1, ack(ms(60), 10, 0, ms(50))));
    assert_eq!(prague.state.alpha, 1.0, "no queue has marked yet");
    pass(&mut prague, &AckSample { una: 1, ..ack(ms(100), 4, 2, ms(50)) });
    assert_eq!(prague.state.alpha, 1.0, "the round goes on");
    pass(&mut prague, &round(2, ack(ms(149), 6, 3, ms(50))));
    assert_eq!(prague.state.alpha, 1.0 + 0.25 * (0.5 - 1.0));
    pass(&mut prague, &round(3, ack(ms(200), 5, 0, ms(50))));
    assert_eq!(prague.state.alpha, 0.875 * 0.75);
}

/// Section 2.4.4: the virtual round trip is 25 ms at least, and from the 500th round after slow start on.
#[test]
fn the_virtual_round_trip_comes_with_time() {
    let mut prague = control(vec![]);
    prague.on_ack(&round(0, ack(ms(0), 1, 0, ms(5))), &mut Window { cwnd: 10.0, ssthresh: 40.0 });
    for number in 1..=500 {
        assert_eq!((prague.virtual_rtt(), prague.increase()), (Time::ZERO, 1.0), "{number}");
        pass(&mut prague, &round(number, ack(ms(number), 1, 0, ms(5))));
    }
    assert_eq!(prague.virtual_rtt(), ms(25));
    assert!((prague.increase() - 0.04).abs() < 1e-12);
    prague.measure(&ack(ms(600), 1, 0, ms(50)), &Window { cwnd: 100.0, ssthresh: 50.0 });
    assert_eq!(prague.increase(), 1.0);
}

#[test]
fn the_virtual_round_trip_stays_in_a_reduction() {
    let mut prague = control(vec![0.25, 0.025, 0.0]);
    pass(&mut prague, &round(0, ack(ms(0), 1, 0, ms(5))));
    let mut window = Window { cwnd: 20.0, ssthresh: 20.1 };
    prague.on_ack(&AckSample { state: State::Cwr, may_grow: false, ..ack(ms(5), 2, 1, ms(5)) }, &mut window);
    assert_eq!(prague.virtual_rtt(), ms(25));
    let exact = prague.exact(window.ssthresh);
    assert!((exact - 20.1 - 0.04 / 20.1).abs() < 1e-12 && window.ssthresh == 21.0, "{window:?} {exact}");
}

/// The average changes once in a virtual round trip, of which the rounds then are.
#[test]
fn rounds_are_virtual_round_trips_in_the_end() {
    let mut prague = control(vec![0.25, 0.025, 0.0]);
    let mut ended = |at, number| {
        pass(&mut prague, &round(number, ack(ms(at), 4, 1, ms(10))));
        prague.state.averaged
    };
    assert_eq!(
        [ended(100, 1), ended(110, 2), ended(124, 3), ended(125, 4)].map(|at| at.ticks() / 1_000_000_000),
        [100, 100, 100, 125]
    );
    assert_eq!(prague.state.alpha, 1.0 - 0.25 * 0.75 + 0.25 * (0.25 - (1.0 - 0.25 * 0.75)));
}

/// Section 2.4.2: (1 - alpha / 2) cwnd, at most once in a virtual round trip.
#[test]
fn marks_reduce_by_half_of_alpha_once_in_a_virtual_round_trip() {
    let mut prague = control(vec![0.0625, 0.025, 0.0]);
    prague.state = Progress { alpha: 0.2, srtt: ms(10), slow_start: false, ..Progress::START };
    let window = Window { cwnd: 100.0, ssthresh: 50.0 };
    let mut cut = |now| prague.on_congestion(Signal::Ecn, ms(now), &window);
    assert_eq!([cut(1000), cut(1024), cut(1025)], [90.0, 100.0, 90.0]);
    // The first mark of all ends slow start by half.
    let mut first = control(vec![]);
    first.measure(&ack(ms(10), 4, 1, ms(10)), &window);
    assert_eq!(first.on_congestion(Signal::Ecn, ms(10), &window), 50.0);
}

/// Section 2.4.1: a loss in the round trip of such a reduction counts from the window before it.
#[test]
fn a_loss_takes_the_place_of_a_reduction_by_marks() {
    let reduced =
        Progress { alpha: 0.2, srtt: ms(30), reduced: Some(ms(100)), before_reduction: Some(100.0), ..Progress::START };
    let window = Window { cwnd: 90.0, ssthresh: 90.0 };
    let cut = |now| Prague { state: reduced, ..control(vec![]) }.on_congestion(Signal::Loss, ms(now), &window);
    assert_eq!([cut(129), cut(130)], [50.0, 45.0]);
    // While the reduction goes on, the sender does not ask: the ACK that begins recovery shows the loss.
    let mut prague = Prague { state: reduced, ..control(vec![]) };
    let mut window = Window { cwnd: 95.0, ssthresh: 90.0 };
    let lossy = AckSample { state: State::Recovery, may_grow: false, ..ack(ms(110), 1, 0, ms(30)) };
    prague.on_ack(&lossy, &mut window);
    assert_eq!(window.ssthresh, 50.0);
    prague.on_ack(&lossy, &mut window);
    assert_eq!(window.ssthresh, 50.0);
}

/// A mark within the virtual round trip changes no window: a loss that follows it counts alone.
#[test]
fn a_loss_long_after_a_reduction_by_marks_is_answered_in_full() {
    let mut prague = control(vec![0.0625, 0.025, 0.0]);
    prague.state = Progress { srtt: ms(5), slow_start: false, ..Progress::START };
    assert_eq!(prague.on_congestion(Signal::Ecn, ms(1000), &Window { cwnd: 100.0, ssthresh: 50.0 }), 50.0);
    let mut window = Window { cwnd: 53.0, ssthresh: 50.0 };
    window.ssthresh = prague.on_congestion(Signal::Ecn, ms(1016), &window);
    assert_eq!(window.ssthresh, 53.0);
    let lossy = AckSample { state: State::Recovery, may_grow: false, ..ack(ms(1018), 1, 0, ms(5)) };
    prague.on_ack(&lossy, &mut window);
    assert_eq!((window.ssthresh, prague.exact(window.ssthresh)), (27.0, 26.5));
}

/// A loss between two marks does not shorten the virtual round trip between their reductions.
#[test]
fn a_loss_leaves_the_time_of_the_last_reduction_by_marks() {
    let mut prague = control(vec![0.0625, 0.025, 0.0]);
    prague.state = Progress { alpha: 0.2, srtt: ms(10), slow_start: false, ..Progress::START };
    let window = Window { cwnd: 100.0, ssthresh: 50.0 };
    let mut cut = |signal, now| prague.on_congestion(signal, ms(now), &window);
    let found = [cut(Signal::Ecn, 1000), cut(Signal::Loss, 1005), cut(Signal::Ecn, 1024), cut(Signal::Ecn, 1025)];
    assert_eq!(found, [90.0, 50.0, 100.0, 90.0]);
    // Nor does it count from the window before that reduction for a second time.
    assert_eq!(cut(Signal::Loss, 1026), 50.0);
    assert_eq!(prague.on_congestion(Signal::Loss, ms(1027), &Window { cwnd: 40.0, ssthresh: 50.0 }), 20.0);
}

/// Section 2.4.3: growth for packets without a mark, in a reduction too.
#[test]
fn the_window_grows_for_unmarked_packets_in_a_reduction_too() {
    let mut prague = control(vec![]);
    let mut window = Window { cwnd: 50.0, ssthresh: 40.0 };
    prague.on_ack(&ack(ms(10), 5, 2, ms(30)), &mut window);
    // cwnd is rounded up, and the part of a packet is carried on.
    assert_eq!((window, prague.exact(window.cwnd)), (Window { cwnd: 51.0, ssthresh: 40.0 }, 50.06));
    prague.on_ack(&ack(ms(20), 0, 0, ms(30)), &mut window);
    assert_eq!((window, prague.exact(window.cwnd)), (Window { cwnd: 51.0, ssthresh: 40.0 }, 50.06));
    let mut window = Window { cwnd: 50.0, ssthresh: 40.0 };
    let reducing = AckSample { state: State::Cwr, may_grow: false, ..ack(ms(10), 5, 0, ms(30)) };
    prague.on_ack(&reducing, &mut window);
    assert_eq!((window, prague.exact(window.ssthresh)), (Window { cwnd: 50.0, ssthresh: 41.0 }, 40.125));
    // Where all of it is not in use, it does not grow.
    prague.on_ack(&AckSample { cwnd_limited: false, ..reducing }, &mut window);
    assert_eq!((window.ssthresh, prague.exact(window.ssthresh)), (41.0, 40.125));
}

/// Section 2.4.2: what marks take is less than a packet at times.
#[test]
fn a_reduction_carries_its_part_of_a_packet_on() {
    let mut prague = control(vec![]);
    prague.state = Progress { alpha: 0.02, srtt: ms(10), slow_start: false, ..Progress::START };
    let mut window = Window { cwnd: 11.0, ssthresh: 2.0 };
    for (at, exact) in [(1000, 11.0 * 0.99), (1020, 11.0 * 0.99 * 0.99)] {
        window.cwnd = prague.on_congestion(Signal::Ecn, ms(at), &window);
        assert_eq!((window.cwnd, prague.exact(window.cwnd)), (11.0, exact));
    }
    // A window that somebody else has set has no part.
    assert_eq!(prague.exact(7.0), 7.0);
}

/// Section 2.5.1: the window in a round trip, twice that in slow start, up to half of ssthresh.
#[test]
fn packets_are_paced() {
    let mut prague = control(vec![]);
    assert_eq!(prague.pacing_rate(), None);
    prague.on_ack(&ack(ms(10), 0, 0, ms(20)), &mut Window { cwnd: 10.0, ssthresh: 5.0 });
    assert_eq!(prague.pacing_rate(), Some(500_000));
    prague.on_ack(&ack(ms(10), 0, 0, ms(20)), &mut Window { cwnd: 10.0, ssthresh: f64::INFINITY });
    assert_eq!(prague.pacing_rate(), Some(1_000_000));
    prague.on_ack(&ack(ms(10), 0, 0, ms(20)), &mut Window { cwnd: 10.0, ssthresh: 19.0 });
    assert_eq!(prague.pacing_rate(), Some(500_000));
    // A part of a packet counts.
    prague.state.exact = 2.5;
    prague.on_ack(&ack(ms(10), 0, 0, ms(20)), &mut Window { cwnd: 3.0, ssthresh: 2.0 });
    assert_eq!(prague.pacing_rate(), Some(125_000));
    assert!(prague.needs().l4s && prague.needs().pacing);
}
