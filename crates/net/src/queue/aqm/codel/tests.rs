use base::{Marks, Packet, RandomStream, Rate};

use super::*;
use crate::buffer::{Buffer, Counting, Occupancy};
use crate::queue::{AqmConfig, Cause, Discipline, Overflow, SchedulerConfig, Signal};
use crate::queued::QueuedLink;
use crate::statistics::Measurement;

const MEASUREMENT: Measurement = Measurement { warmup: Time::ZERO, end: Time::NEVER };
const RFC: CodelConfig = CodelConfig { mtu_bytes: 1000, rules: CodelRules::Rfc, ..CodelConfig::TYPICAL };
const LINUX: CodelConfig = CodelConfig { rules: CodelRules::Linux, ..RFC };

/// The instants \[ms\] of the signals while `packets` of 1000 bytes come, one in `gap_us`, to a link that takes 1 ms
/// for each.
fn signals(config: CodelConfig, packets: u64, gap_us: u64, marks: Marks) -> Vec<(Signal, f64)> {
    let discipline = Discipline::new(SchedulerConfig::Fifo {}, AqmConfig::Codel(config), Overflow::Arriving);
    let (rate, buffer) = (Rate::new(8e6, Clock::PICOSECONDS), Buffer::new(None, Counting::WithService));
    let random = RandomStream::named(1, 0, "link");
    let mut link = QueuedLink::new(rate, buffer, &discipline, Clock::PICOSECONDS, random);
    let (mut found, mut sent) = (Vec::new(), 0);
    let ms = |time: Time| Clock::PICOSECONDS.seconds(time) * 1e3;
    loop {
        let arrival = if sent < packets { Time::from_ticks(sent * gap_us * 1_000_000) } else { Time::NEVER };
        let now = arrival.min(link.next_departure());
        if now == Time::NEVER {
            return found;
        }
        let mut note = |signal, _| found.push((signal, ms(now)));
        if link.next_departure() <= arrival {
            link.depart(now, &MEASUREMENT, &mut note);
        } else {
            sent += 1;
            let packet = Packet { sequence: sent, bytes: 1000, marks, ..Packet::default() };
            link.arrive(now, packet, 0, &MEASUREMENT, &mut note);
        }
    }
}

fn instants(found: &[(Signal, f64)]) -> Vec<f64> {
    found.iter().map(|&(_, at)| at).collect()
}

/// Rounds up to a departure, of which there is one in a millisecond.
fn next_departure(at: f64) -> f64 {
    (at - 1e-6).ceil()
}

/// RFC 8289 section 5: twice the load; the packet that departs after 10 ms is the first to have waited for 5 ms. The
/// first drop is an interval later, each one 1 / sqrt(count) intervals after the time at which the one before was due.
#[test]
fn drops_come_as_the_control_law_says() {
    let found = signals(RFC, 1200, 500, Marks::NONE);
    let mut due = 110.0;
    let mut expected = vec![110.0];
    for count in 1..20 {
        due += 100.0 / f64::from(count).sqrt();
        expected.push(next_departure(due));
    }
    assert_eq!(instants(&found)[..20], expected);
    assert!(found.iter().all(|&(signal, _)| signal == Signal::Dropped(Cause::Aqm)));
}

/// A mark takes the place of a drop at the same instants, and the packet is sent: one packet more waits.
#[test]
fn packets_are_marked_if_they_can_be() {
    let marked = signals(CodelConfig { ecn: true, ..RFC }, 1200, 500, Marks::ECT);
    assert!(marked.iter().all(|&(signal, _)| signal == Signal::Marked { again: false }));
    let dropped = signals(CodelConfig { ecn: true, ..RFC }, 1200, 500, Marks::NONE);
    assert!(dropped.iter().all(|&(signal, _)| signal == Signal::Dropped(Cause::Aqm)));
    assert_eq!(instants(&marked)[..10], instants(&dropped)[..10]);
    let not_asked = signals(RFC, 1200, 500, Marks::ECT);
    assert_eq!(not_asked, dropped);
}

#[test]
fn packets_that_are_marked_depart_with_the_mark() {
    let config = CodelConfig { target_s: 1e-6, interval_s: 1e-6, ecn: true, mtu_bytes: 1, ..RFC };
    let discipline = Discipline::new(SchedulerConfig::Fifo {}, AqmConfig::Codel(config), Overflow::Arriving);
    let (rate, buffer) = (Rate::new(8e6, Clock::PICOSECONDS), Buffer::new(None, Counting::WithService));
    let random = RandomStream::named(1, 0, "link");
    let mut link = QueuedLink::new(rate, buffer, &discipline, Clock::PICOSECONDS, random);
    for sequence in 0..10 {
        let packet = Packet { sequence, bytes: 1000, marks: Marks::ECT, ..Packet::default() };
        link.arrive(Time::ZERO, packet, 0, &MEASUREMENT, &mut |_, _| ());
    }
    let next = || link.depart(link.next_departure(), &MEASUREMENT, &mut |_, _| ());
    let marked: Vec<bool> = std::iter::from_fn(next).map(|packet| packet.marks.has(Marks::CE)).collect();
    assert_eq!(marked, [false, false, true, true, true, true, true, true, true, false]);
}

/// A target that is never exceeded for an interval drops nothing; one packet of the largest length may always wait.
#[test]
fn short_queues_and_single_packets_are_left_alone() {
    // 100 packets at twice the rate are gone after 100 ms.
    assert_eq!(signals(RFC, 100, 500, Marks::NONE), []);
    // One packet is sent and one waits, each for 0.9 ms, far above the target.
    let tight = CodelConfig { target_s: 1e-5, interval_s: 0.01, ..RFC };
    assert_eq!(signals(tight, 1000, 1000, Marks::NONE), []);
    assert!(!signals(tight, 1000, 990, Marks::NONE).is_empty());
}

/// Linux `ce_threshold`: each packet above it is marked, whatever CoDel decides.
#[test]
fn a_threshold_marks_each_packet_above_it() {
    let config = CodelConfig { ce_threshold_s: Some(0.001), ..LINUX };
    let found = signals(config, 20, 500, Marks::ECT);
    // Packet n leaves the queue after n ms, having come after n / 2 ms. The second one, from 0 on, waits from unit 976 to
    // unit 1953, and the threshold is 976 units.
    assert_eq!(instants(&found), (2..20).map(f64::from).collect::<Vec<_>>());
    assert!(signals(config, 20, 500, Marks::NONE).is_empty());
}

/// Linux: the same law with units of 1024 ns and the Newton step, which overshoots at small counts: 1 / sqrt(2) is
/// 0.5, then 0.5625 for 1 / sqrt(3).
#[test]
fn linux_approximates_the_square_root() {
    let mut codel = Codel::new(LINUX, Clock::PICOSECONDS);
    codel.begin(0);
    assert_eq!((codel.inverse_root, codel.count), (u16::MAX, 1));
    let mut roots = Vec::new();
    for _ in 0..8 {
        codel.signal(false);
        roots.push(f64::from(codel.inverse_root) / 65536.0);
    }
    assert!((roots[0] - 0.5).abs() < 1e-3 && (roots[1] - 0.5625).abs() < 1e-3, "{roots:?}");
    assert!((roots[7] * 3.0 - 1.0).abs() < 0.01, "{roots:?}");
    let found = instants(&signals(LINUX, 1200, 500, Marks::NONE));
    assert!((found[0] - 110.0).abs() <= 1.0 && (found[1] - found[0] - 100.0).abs() <= 1.0, "{found:?}");
    assert!((found[2] - found[1] - 50.0).abs() <= 1.0, "{found:?}");
}

/// RFC 8289 section 5.4, Linux: a state that begins soon after the last one takes up the count that it grew by.
#[test]
fn the_count_is_taken_up_again() {
    for config in [RFC, LINUX] {
        let mut codel = Codel::new(config, Clock::PICOSECONDS);
        codel.begin(1000);
        (1..10).for_each(|_| assert_eq!(codel.signal(false), Verdict::Drop));
        assert_eq!((codel.count, codel.last_count), (10, 1));
        let due = codel.drop_next;
        codel.begin(due + 16 * codel.interval - 1);
        assert_eq!((codel.count, codel.last_count), (9, 9));
        codel.begin(due + 1);
        assert_eq!((codel.count, codel.last_count), (1, 1), "it has not grown");
        codel.count = 7;
        let due = codel.drop_next;
        codel.begin(due + 16 * codel.interval);
        assert_eq!(codel.count, 1, "too late");
    }
}

/// RFC 8289 section 5.5: the state ends where drops leave nothing; but the first drop of a state does not end it.
#[test]
fn an_empty_queue_ends_the_state_of_dropping() {
    let mut codel = Codel::new(RFC, Clock::PICOSECONDS);
    codel.begin(0);
    codel.began = true;
    codel.on_empty(Time::ZERO);
    assert!(codel.dropping && codel.first_above.is_none());
    codel.on_empty(Time::ZERO);
    assert!(!codel.dropping);
}

/// A packet that surely waited for less than the target changes the state as the readings of the clock would.
#[test]
fn short_waits_are_decided_without_readings_as_with_them() {
    for (rules, ce_threshold_s) in [CodelRules::Rfc, CodelRules::Linux].into_iter().zip([None, Some(0.004)]) {
        let config = CodelConfig { interval_s: 0.02, ce_threshold_s, rules, ..CodelConfig::TYPICAL };
        let mut quick = Codel::new(config, Clock::PICOSECONDS);
        let mut slow = Codel { surely_short: Time::ZERO, ..quick.clone() };
        let mut random = RandomStream::named(1, 0, "waits");
        let (mut now, mut again, mut passed, mut dropped) = (Clock::PICOSECONDS.time(1.0), false, 0, 0);
        for number in 0..40_000_u32 {
            now += Clock::PICOSECONDS.time(1e-3 * random.uniform());
            // Long waits for some hundreds of packets, then waits on both sides of the limits, some within two units of these.
            let waits = [0.0055, 0.004, 0.01 * random.uniform(), 0.005];
            let sojourn_s = if number % 1000 < 700 { waits[0] } else { waits[(number % 4) as usize] };
            let sojourn = Clock::PICOSECONDS.time(sojourn_s + 4e-6 * (random.uniform() - 0.5));
            let (left, left_bytes) = (&Occupancy { packets: 9, bytes: 9000, bytes_in_service: 0 }, 9000);
            let (class, left_in_class, capable, bytes) = (0, 9, number % 2 == 0, 1000);
            let departing = Departing { now, sojourn, capable, bytes, left, left_bytes, class, left_in_class, again };
            let expected = slow.on_departure(&departing);
            let surely = quick.surely_passes(sojourn, again);
            assert_eq!(if surely { Verdict::Pass } else { quick.on_departure(&departing) }, expected, "{number}");
            let same = Codel { surely_short: Time::ZERO, ..quick.clone() };
            assert_eq!(format!("{same:?}"), format!("{slow:?}"), "{number}");
            again = expected == Verdict::Drop;
            (passed, dropped) = (passed + u32::from(surely), dropped + u32::from(again));
        }
        assert!(passed > 1000 && dropped > 100, "{passed} passed surely, {dropped} dropped");
    }
}
