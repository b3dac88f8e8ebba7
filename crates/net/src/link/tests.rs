//! Tests of a link: departures, drops, marks and counters.

use super::*;
use crate::buffer::{BufferLimit, Counting};
use crate::queue::{AqmConfig, RedConfig, RedEcn};
use base::Clock;

const MEASUREMENT: Measurement = Measurement { warmup: Time::ZERO, end: Time::NEVER };

fn link(limit: Option<BufferLimit>) -> Link {
    // 1000 bytes take 1 ms.
    let (buffer, random) = (Buffer::new(limit, Counting::WithService), RandomStream::named(1, 0, "link"));
    Link::new(Rate::new(8e6, Clock::PICOSECONDS), buffer, &Discipline::DROP_TAIL, Clock::PICOSECONDS, random)
}

fn arrive(link: &mut Link, milliseconds: f64) -> Option<f64> {
    let now = Clock::PICOSECONDS.time(milliseconds / 1e3);
    link.arrive(now, 1000, &MEASUREMENT, || false).map(|departure| Clock::PICOSECONDS.seconds(departure) * 1e3)
}

#[test]
fn packets_are_served_one_after_the_other() {
    let mut link = link(None);
    let departures: Vec<_> = [0.0, 0.0, 0.5, 5.0].iter().map(|&t| arrive(&mut link, t).unwrap()).collect();
    assert_eq!(departures, [1.0, 2.0, 3.0, 6.0]);
}

#[test]
fn each_packet_counts_with_its_own_size_however_sizes_alternate() {
    let (mut link, mut sum) = (link(None), 0_u32);
    // One after the other, two at a time: the second waits.
    for (number, bytes) in [1000, 60, 60, 1000, 60, 80, 60, 80, 1000, 80, 60, 1000].into_iter().enumerate() {
        let now = Time::from_ticks(5_000_000_000 * (number as u64 / 2));
        let departure = link.arrive(now, bytes, &MEASUREMENT, || false).unwrap();
        sum = if number % 2 == 0 { u32::from(bytes) } else { sum + u32::from(bytes) };
        // A byte takes a microsecond.
        assert_eq!(departure - now, Time::from_ticks(1_000_000 * u64::from(sum)), "packet {number}");
    }
    let statistics = link.statistics();
    assert_eq!((statistics.departed[1], statistics.departed_bytes[1]), (12, 4540));
    assert_eq!(statistics.busy, 4_540_000_000);
    // Each second packet is in the link as long as the first one and itself need.
    assert_eq!(statistics.queue_area, 4_540_000_000 + (1000 + 60 + 60 + 60 + 1000 + 60) * 1_000_000);
}

#[test]
fn a_full_buffer_drops_the_arriving_packet() {
    let mut link = link(Some(BufferLimit::Packets(2)));
    assert_eq!([0.0, 0.0, 0.0].map(|t| arrive(&mut link, t)), [Some(1.0), Some(2.0), None]);
    assert_eq!(link.statistics().dropped, [0, 1]);
}

#[test]
fn a_departure_precedes_an_arrival_at_the_same_instant() {
    let mut link = link(Some(BufferLimit::Packets(2)));
    let fates = [0.0, 0.0, 1.0, 1.0].map(|t| arrive(&mut link, t).is_some());
    assert_eq!(fates, [true, true, true, false]);
}

/// RFC 3168 section 5: packets of transports that are not ECN-capable are dropped instead of marked.
#[test]
fn a_capable_packet_is_marked_another_one_dropped_and_a_full_buffer_drops_both() {
    let red = RedConfig {
        weight: 1.0,
        min_threshold_packets: 0.0,
        max_threshold_packets: 1.0,
        gentle: false,
        ..RedConfig::TYPICAL
    };
    let aqm = AqmConfig::Red(RedConfig { ecn: RedEcn::All, ..red });
    let discipline = Discipline { aqm, ..Discipline::DROP_TAIL };
    let buffer = Buffer::new(Some(BufferLimit::Packets(3)), Counting::WithService);
    let rate = Rate::new(8e6, Clock::PICOSECONDS);
    let mut link = Link::new(rate, buffer, &discipline, Clock::PICOSECONDS, RandomStream::named(1, 0, "link"));
    // From the second packet on the average is at the largest threshold.
    let mut asked = 0;
    let fates = [true, true, false, true, true].map(|capable| {
        let mark = || {
            asked += 1;
            capable
        };
        link.arrive(Time::ZERO, 1000, &MEASUREMENT, mark).is_some()
    });
    assert_eq!((fates, asked), ([true, true, false, true, false], 3));
    assert_eq!((link.statistics().marked, link.statistics().dropped), ([0, 2], [0, 2]));
}

#[test]
fn waits_are_those_of_the_accepted_packets_that_arrive_in_the_measured_part() {
    let measurement = Measurement { warmup: Clock::PICOSECONDS.time(1e-3), end: Clock::PICOSECONDS.time(6e-3) };
    let mut link = link(Some(BufferLimit::Packets(3)));
    let arrivals = [0.0, 0.5, 1.0, 1.0, 1.5, 1.5, 5.0, 5.5, 5.75, 9.0];
    let arrive_all = |link: &mut Link| {
        for milliseconds in arrivals {
            link.arrive(Clock::PICOSECONDS.time(milliseconds / 1e3), 1000, &measurement, || false);
        }
    };
    let mut silent = link.clone();
    arrive_all(&mut silent);
    assert_eq!(silent.waits.total(), 0);
    link.measure_waits(measurement.warmup);
    arrive_all(&mut link);
    // From 1 ms on: waits of 1, 2, (dropped, dropped), 0, 0.5, 1.25 and 0 ms.
    let found: Vec<(f64, u64)> = link
        .waits()
        .buckets()
        .map(|(bucket, count)| (Clock::PICOSECONDS.seconds(Histogram::start_of(bucket)) * 1e3, count))
        .collect();
    let expected = [(0.0, 2), (0.5, 1), (1.0, 1), (1.25, 1), (2.0, 1)];
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for (found, expected) in found.iter().zip(expected) {
        assert!(found.1 == expected.1 && expected.0 - found.0 <= expected.0 / 64.0, "{found:?} {expected:?}");
    }
    assert_eq!(link.waits().longest(), Clock::PICOSECONDS.time(2e-3));
}

#[test]
fn statistics_count_the_measured_part_alone() {
    let t = |milliseconds: f64| Clock::PICOSECONDS.time(milliseconds / 1e3);
    let measurement = Measurement { warmup: t(1.5), end: t(3.5) };
    let mut link = link(None);
    for now in [0.0, 0.0, 2.0, 3.0] {
        link.arrive(t(now), 1000, &measurement, || false).unwrap();
    }
    // Busy from 0 to 4; departures at 1, 2, 3, 4.
    let seen = link.statistics();
    assert_eq!((seen.arrived, seen.departed), ([2, 2], [1, 2]));
    assert_eq!(seen.busy, u128::from(t(2.0).ticks()));
    assert_eq!(seen.queue_area, u128::from(t(2.0).ticks()));
    assert_eq!(seen.queue_max, 1);
}
