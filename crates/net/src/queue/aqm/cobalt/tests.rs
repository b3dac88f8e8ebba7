use base::{Marks, Packet, Rate};

use super::*;
use crate::buffer::{Buffer, Counting, Occupancy};
use crate::queue::{AqmConfig, Cause, Discipline, Overflow, SchedulerConfig, Signal};
use crate::queued::QueuedLink;
use crate::statistics::Measurement;

const MEASUREMENT: Measurement = Measurement { warmup: Time::ZERO, end: Time::NEVER };
const CLOCK: Clock = Clock::PICOSECONDS;

fn ms(milliseconds: f64) -> Time {
    CLOCK.time(milliseconds / 1e3)
}

/// A signal and its instant \[ms\].
type Signalled = (Signal, f64);
/// The number of a packet and the instant of its departure \[ms\].
type Departed = (u64, f64);

/// Plays a dialogue: arrivals of packets of 1000 bytes at instants \[ms\] to a link that takes 1 ms for each. Returns the
/// signals with their instants \[ms\], and the departures.
fn play(config: CobaltConfig, arrivals: &[f64], marks: Marks) -> (Vec<Signalled>, Vec<Departed>) {
    let discipline = Discipline::new(SchedulerConfig::Fifo {}, AqmConfig::Cobalt(config), Overflow::Arriving);
    let (rate, buffer) = (Rate::new(8e6, CLOCK), Buffer::new(None, Counting::WithService));
    let mut link = QueuedLink::new(rate, buffer, &discipline, CLOCK, RandomStream::named(1, 0, "link"));
    let (mut signals, mut departures) = (Vec::new(), Vec::new());
    let mut arrivals = (0..).zip(arrivals).peekable();
    loop {
        let arrival = arrivals.peek().map_or(Time::NEVER, |(_, &at)| ms(at));
        let now = arrival.min(link.next_departure());
        if now == Time::NEVER {
            return (signals, departures);
        }
        let mut note = |signal, _| signals.push((signal, CLOCK.seconds(now) * 1e3));
        if link.next_departure() <= arrival {
            let sent = link.depart(now, &MEASUREMENT, &mut note);
            departures.extend(sent.map(|packet| (packet.sequence, CLOCK.seconds(now) * 1e3)));
        } else if let Some((sequence, _)) = arrivals.next() {
            let packet = Packet { sequence, bytes: 1000, marks, ..Packet::default() };
            link.arrive(now, packet, 0, &MEASUREMENT, &mut note);
        }
    }
}

/// Linux `cobalt_should_drop`: the first sojourn time above the target, 5.5 ms of packet 11 at 11 ms, sets the count to 1
/// and the time of the next drop to an interval times the inverse root, which is 0 in a fresh queue. So the first drop is
/// that of the packet behind, and the n-th follows an interval divided by the root of n after the time of the one before.
#[test]
fn the_first_drop_follows_the_target_at_once_and_the_others_by_the_root_of_the_count() {
    let arrivals: Vec<f64> = (0..1500).map(|number| f64::from(number) * 0.5).collect();
    let (signals, departures) = play(CobaltConfig::TYPICAL, &arrivals, Marks::NONE);
    let mut due = 11.0;
    let mut expected = vec![12.0];
    for count in 2..9 {
        due += 100.0 / f64::from(count).sqrt();
        expected.push(f64::ceil(due));
    }
    let found: Vec<f64> = signals.iter().take(8).map(|&(_, at)| at).collect();
    assert_eq!(found, expected);
    assert!(signals.iter().all(|&(signal, _)| signal == Signal::Dropped(Cause::Aqm)));
    assert_eq!(departures[..13].iter().map(|&(number, _)| number).collect::<Vec<_>>()[11..], [11, 13]);
}

#[test]
fn packets_of_capable_transports_are_marked_instead() {
    let arrivals: Vec<f64> = (0..1500).map(|number| f64::from(number) * 0.5).collect();
    let (signals, departures) = play(CobaltConfig::TYPICAL, &arrivals, Marks::ECT);
    assert_eq!((signals[0], signals.len() > 5), ((Signal::Marked { again: false }, 12.0), true));
    assert!(signals.iter().all(|&(signal, _)| signal == Signal::Marked { again: false }));
    assert_eq!(departures.len(), 1500);
}

/// Linux `cobalt_should_drop`: four of the largest packets may always be waited for, and the last packet of a queue is
/// never dropped.
#[test]
fn four_packets_and_the_last_one_are_let_be() {
    let arrivals: Vec<f64> = (0..30).map(|number| f64::from(number) * 0.5).collect();
    let slow = CobaltConfig { target_s: 1e-6, mtu_s: 0.001, ..CobaltConfig::TYPICAL };
    // Packet 8 has waited for 4 ms, packet 9 for longer: the one behind is dropped.
    assert_eq!(play(slow, &arrivals, Marks::NONE).0[0], (Signal::Dropped(Cause::Aqm), 10.0));
    let mut cobalt = cobalt();
    cobalt.probability = u32::MAX;
    assert_eq!(depart(&mut cobalt, 1.0, 0.0, 1000), Verdict::Drop);
    assert_eq!(depart(&mut cobalt, 1.0, 0.0, 0), Verdict::Pass);
}

fn cobalt() -> Cobalt {
    Cobalt::new(CobaltConfig::TYPICAL, CLOCK, RandomStream::named(1, 0, "cobalt"))
}

/// Lets a packet of an ECN-capable transport leave at an instant after a sojourn time \[ms\].
fn depart(cobalt: &mut Cobalt, at: f64, sojourn: f64, left_bytes: u64) -> Verdict {
    let left = Occupancy { packets: left_bytes / 1000, bytes: left_bytes, bytes_in_service: 0 };
    let (now, sojourn) = (ms(at), ms(sojourn));
    cobalt.on_departure(&Departing {
        now,
        sojourn,
        capable: true,
        bytes: 1000,
        left: &left,
        left_bytes,
        class: 0,
        left_in_class: 1,
        again: false,
    })
}

/// Linux `cobalt_queue_full` and `cobalt_queue_empty`: a 256th more for an overflow and a 4096th less for an empty queue,
/// with more than a target between two changes.
#[test]
fn blue_drops_more_as_the_buffer_overflows_and_less_as_the_queue_runs_empty() {
    let mut cobalt = cobalt();
    [6.0, 7.0, 10.9, 12.0, 18.0].into_iter().for_each(|at| cobalt.on_overflow(3, ms(at)));
    assert_eq!(cobalt.probability, 3 * STEP_UP, "at 6, 12 and 18 ms");
    cobalt.on_drop(ms(24.0));
    assert_eq!(cobalt.probability, 4 * STEP_UP);
    // Packets of capable transports are dropped too.
    let drops = (0..40_000).filter(|_| depart(&mut cobalt, 25.0, 0.0, 9000) == Verdict::Drop).count();
    assert!((drops as f64 / 40_000.0 - 4.0 / 256.0).abs() < 0.002, "{drops}");
    let mut at = 30.0;
    for step in 1..=3 {
        assert!(!cobalt.on_empty(ms(at)));
        assert!(!cobalt.on_empty(ms(at + 4.0)), "not within a target");
        assert_eq!(cobalt.probability, 4 * STEP_UP - step * STEP_DOWN);
        at += 5.1;
    }
}

/// Linux `cobalt_should_drop`, `cobalt_queue_empty`: without a standing queue the count goes down as it went up, and the
/// state is at rest once it is 0 and an interval is over.
#[test]
fn the_count_decays_and_then_the_state_is_at_rest() {
    let mut cobalt = cobalt();
    (cobalt.count, cobalt.dropping, cobalt.drop_next) = (4, true, 0);
    cobalt.follow_count();
    // Intervals of 57.7 ms to count 3, 70.7 ms to 2, and 100 ms each to 1 and 0.
    for (at, count) in [(0.1, 3), (57.6, 3), (57.8, 2), (128.4, 2), (128.5, 1), (228.4, 1), (228.5, 0)] {
        assert!(!cobalt.on_empty(ms(at)));
        assert_eq!(cobalt.count, count, "{at} ms");
    }
    assert!(!cobalt.on_empty(ms(328.3)));
    assert!(cobalt.on_empty(ms(328.5)));
    let mut caught_up = self::cobalt();
    (caught_up.count, caught_up.inverse_root) = (4, INVERSE_ROOTS[4]);
    assert_eq!(depart(&mut caught_up, 500.0, 1.0, 9000), Verdict::Pass);
    assert_eq!(caught_up.count, 0, "a short sojourn time takes back all drops whose time is over");
}

/// Four Newton steps from 1 give 0.70671 for a count of 2, not 0.70711; Linux has that too.
#[test]
fn inverse_roots_are_near_the_exact_ones() {
    let exact = |count: u32| f64::from(u32::MAX) / f64::from(count).sqrt();
    for count in 1..16_u32 {
        let root = f64::from(INVERSE_ROOTS[usize::try_from(count).unwrap()]);
        assert!((root / exact(count) - 1.0).abs() < 1e-3, "{count}");
    }
    assert!((f64::from(INVERSE_ROOTS[2]) / f64::from(u32::MAX) - 0.706_71).abs() < 1e-5);
    let mut cobalt = cobalt();
    for count in (1..500).chain((1..500).rev()) {
        cobalt.count = count;
        cobalt.follow_count();
        assert!((f64::from(cobalt.inverse_root) / exact(count) - 1.0).abs() < 2e-3, "{count}");
    }
}
