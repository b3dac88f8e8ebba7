//! Tests of rates that change: departures by hand, the integral of the rate, and Mahimahi's opportunities.

use super::*;
use crate::{Buffer, BufferLimit, Counting, Discipline, Link, Measurement, QueuedLink};
use base::{Packet, Rate};

const CLOCK: Clock = Clock::PICOSECONDS;

fn t(seconds: f64) -> Time {
    CLOCK.time(seconds)
}

fn process(law: &RateLaw, end_s: f64) -> RateProcess {
    RateProcess::new(law, CLOCK, t(end_s), RandomStream::named(1, 0, "rate/link"))
}

fn steps(steps_bps: &[(f64, f64)], period_s: Option<f64>) -> RateLaw {
    RateLaw::Steps { steps_bps: steps_bps.to_vec(), period_s }
}

fn opportunities(times_ms: &[u64]) -> RateLaw {
    RateLaw::Opportunities { times_ms: times_ms.to_vec(), bytes: MAHIMAHI_BYTES, header_bytes: MAHIMAHI_HEADER }
}

/// Returns the departures of packets, given as arrivals \[ms\] and bytes, from a link with a process \[ms\].
fn departures(process: &mut RateProcess, arrivals: &[(f64, u16)]) -> Vec<f64> {
    let mut last = Time::ZERO;
    let depart = |&(arrival, bytes): &(f64, u16)| {
        let arrival = t(arrival / 1e3);
        last = process.departure(arrival, arrival.max(last), bytes);
        last.ticks() as f64 / 1e9
    };
    arrivals.iter().map(depart).collect()
}

/// 1000 bytes take 1 ms at 8 Mbit/s, 2 ms at 4 Mbit/s.
#[test]
fn a_packet_in_transmission_finishes_by_the_integral_of_the_rate() {
    let law = steps(&[(0.0, 8e6), (0.0105, 4e6), (0.0125, 16e6)], None);
    // The second begins at 10 ms: half of it by 10.5 ms, the rest in 1 ms. The third has 1 ms of 4 Mbit/s, and the
    // other half takes 0.25 ms.
    let found = departures(&mut process(&law, 1.0), &[(0.0, 1000), (10.0, 1000), (10.0, 1000), (20.0, 1000)]);
    assert_eq!(found, [1.0, 11.5, 12.75, 20.5]);
}

#[test]
fn a_change_at_the_instant_of_a_departure_is_of_the_next_packet() {
    let law = steps(&[(0.0, 8e6), (0.001, 4e6)], None);
    assert_eq!(departures(&mut process(&law, 1.0), &[(0.0, 1000), (0.0, 1000)]), [1.0, 3.0]);
}

#[test]
fn a_packet_waits_in_an_outage_and_goes_on_where_it_was() {
    let law = steps(&[(0.0, 8e6), (0.0005, 0.0), (2.0005, 8e6)], None);
    assert_eq!(departures(&mut process(&law, 10.0), &[(0.0, 1000), (1000.0, 500)]), [2001.0, 2001.5]);
}

#[test]
fn steps_begin_again_after_their_period() {
    let law = steps(&[(0.0, 8e6), (0.002, 0.0)], Some(0.010));
    let arrivals = [(0.0, 1000), (0.0, 1000), (0.0, 1000), (31.5, 1000)];
    assert_eq!(departures(&mut process(&law, 1.0), &arrivals), [1.0, 2.0, 11.0, 40.5]);
}

#[test]
fn an_unchanging_process_departs_as_a_link_of_its_rate() {
    for rate_bps in [8e6, 1.5e6, 3e9, 9.999_999_999_999e12, 1.0] {
        let clock = Clock::new(1_500_000_000_000);
        let mut plain = Rate::new(rate_bps, clock);
        let law = steps(&[(0.0, rate_bps), (1e-5, rate_bps), (0.3, rate_bps)], None);
        let mut process = RateProcess::new(&law, clock, Time::NEVER, RandomStream::named(1, 0, "rate"));
        let (mut one, mut other) = (Time::ZERO, Time::ZERO);
        for number in 0..10_000_u16 {
            let bytes = 40 + number % 1461;
            one += plain.service_time(bytes);
            other = process.departure(Time::ZERO, other, bytes);
            assert_eq!(one, other, "packet {number} of {bytes} bytes at {rate_bps} bit/s");
        }
    }
}

/// The bits of a busy period are the integral of the rate, to a tick: nothing drifts, though no service time is a whole
/// number of ticks.
#[test]
fn the_bits_of_a_busy_period_are_the_integral_of_the_rate() {
    let states = [(3e9, 1e-6), (7.3e8, 2e-6), (0.0, 1e-6), (1e10 / 3.0, 3e-6)];
    let state = |&(rate_bps, mean_extra_s)| RateState { rate_bps, least_stay_s: 1e-7, mean_extra_s };
    let law = RateLaw::Alternating {
        states: states.iter().map(state).collect(),
        start: 3,
        transitions: Some(vec![vec![0.25; 4]; 4]),
    };
    let mut fresh = process(&law, 1.0);
    let (mut busy, mut last, mut bits) = (fresh.clone(), Time::ZERO, 0.0);
    for number in 0..50_000_u16 {
        let bytes = 40 + number % 1461;
        last = busy.departure(Time::ZERO, last, bytes);
        bits += 8.0 * f64::from(bytes);
    }
    let integral = fresh.bits(Time::ZERO, last);
    // A tick at the highest rate is 0.0033 bit; the rest is the rounding of the sum.
    assert!((integral - bits).abs() < 0.01, "{integral} bits of the rate, {bits} sent until {last:?}");
}

#[test]
fn the_process_spends_its_time_by_the_mean_stays() {
    // A quarter and three quarters of the time at 8 and 4 Mbit/s: 5 Mbit/s. As in the test of delays, the standard
    // deviation of the fraction of time is about 4e-4; four of them, times 4 Mbit/s.
    let state = |rate_bps, least_stay_s, mean_extra_s| RateState { rate_bps, least_stay_s, mean_extra_s };
    let states = vec![state(8e6, 0.1, 0.2), state(4e6, 0.3, 0.6)];
    let law = RateLaw::Alternating { states, start: 0, transitions: None };
    let mean = process(&law, 300_000.0).bits(Time::ZERO, t(300_000.0)) / 300_000.0;
    assert!((mean - 5e6).abs() < 1.6e-3 * 4e6, "{mean} bit/s");
}

/// A link whose departures are foreseen and one whose departures are events serve, drop and count alike.
#[test]
fn both_kinds_of_links_have_the_same_departures_drops_and_counters() {
    let laws = [steps(&[(0.0, 8e6), (0.004, 0.0), (0.007, 3e6)], Some(0.01)), opportunities(&[1, 1, 4, 9])];
    let measurement = Measurement { warmup: t(0.05), end: t(0.3) };
    for law in &laws {
        let buffer = Buffer::new(Some(BufferLimit::Packets(4)), Counting::WithService);
        let (rate, random) = (Rate::new(5e6, CLOCK), RandomStream::named(1, 0, "link"));
        let mut foreseen = Link::new(rate, buffer, &Discipline::DROP_TAIL, CLOCK, random.clone())
            .with_rate_process(Some(process(law, 0.3)));
        let mut queued = QueuedLink::new(rate, buffer, &Discipline::DROP_TAIL, CLOCK, random.clone())
            .with_rate_process(Some(process(law, 0.3)));
        let (mut gaps, mut now) = (random, Time::ZERO);
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        for sequence in 0..150 {
            now += t(1e-3 * (gaps.below(5) as f64));
            let bytes = if gaps.below(2) == 0 { 1000 } else { 100 };
            expected.extend(foreseen.arrive(now, bytes, &measurement, || false));
            while queued.next_departure() <= now {
                found.push(queued.next_departure());
                queued.depart(queued.next_departure(), &measurement, &mut |_, _| {});
            }
            let packet = Packet { sequence, bytes, ..Packet::default() };
            queued.arrive(now, packet, 0, &measurement, &mut |_, _| {});
        }
        while queued.packets() > 0 {
            found.push(queued.next_departure());
            queued.depart(queued.next_departure(), &measurement, &mut |_, _| {});
        }
        assert_eq!(expected, found);
        let (one, other) = (foreseen.statistics(), *queued.statistics());
        assert!(one.dropped[1] > 0 && one.departed[1] > 20, "{one:?}");
        assert_eq!((one.arrived, one.dropped, one.departed), (other.arrived, other.dropped, other.departed));
        assert_eq!((one.busy, one.queue_area, one.queue_max), (other.busy, other.queue_area, other.queue_max));
    }
}

#[test]
fn behind_the_end_of_the_run_an_endless_rate_is_its_largest() {
    let law = steps(&[(0.0, 8e6), (0.5, 0.0)], Some(1.0));
    assert_eq!(departures(&mut process(&law, 0.9), &[(600.0, 1000)]), [1001.0]);
}

#[test]
fn rates_with_thirds_have_common_parts_and_others_are_rounded_to_a_millionth() {
    let law = steps(&[(0.0, 1e6 / 3.0), (1.0, 2e6 / 3.0)], None);
    assert!((process(&law, 10.0).bits(Time::ZERO, t(3.0)) - 5e6 / 3.0).abs() < 1e-6);
    let law = steps(&[(0.0, 1_000_000.123_456_7), (1.0, 1e6)], None);
    assert!((process(&law, 10.0).bits(Time::ZERO, t(1.0)) - 1_000_000.123_457).abs() < 1e-6);
}

/// Dialogue of `mm-link` with packets of the size of an opportunity, 1500 bytes and the header of 4.
#[test]
fn each_opportunity_delivers_a_packet_that_came_before_it() {
    let mut link = process(&opportunities(&[2, 5, 5, 9]), 1.0);
    // The second at 2 ms misses the opportunity then; unused ones at 9 ms and later are lost.
    let arrivals = [(0.0, 1500), (2.0, 1500), (3.0, 1500), (4.0, 1500), (12.5, 1500)];
    assert_eq!(departures(&mut link, &arrivals), [2.0, 5.0, 5.0, 9.0, 14.0]);
}

#[test]
fn an_opportunity_carries_small_packets_and_the_rest_of_one_that_it_did_not_complete() {
    let mut link = process(&opportunities(&[1]), 1.0);
    // 500 + 4 bytes: the third has 496 bytes of the first opportunity and 8 of the second, which also holds the others.
    let arrivals = [(0.0, 500), (0.0, 500), (0.0, 500), (0.5, 500), (0.5, 500), (2.0, 1500), (2.0, 1500)];
    assert_eq!(departures(&mut link, &arrivals), [1.0, 1.0, 2.0, 2.0, 2.0, 3.0, 4.0]);
}

#[test]
fn what_is_left_of_an_opportunity_is_lost_if_no_packet_waits() {
    let mut link = process(&opportunities(&[1]), 1.0);
    // The first leaves 1000 bytes, and none waits; the next one comes at that instant, and the third in time for it.
    assert_eq!(departures(&mut link, &[(0.0, 500), (1.0, 500), (1.0, 990)]), [1.0, 2.0, 2.0]);
}

/// `base_timestamp_ += schedule_.back()`: an opportunity at 0 coincides with the last one of the round before.
#[test]
fn the_list_begins_again_when_its_last_instant_is_over() {
    let mut link = process(&opportunities(&[0, 4, 10]), 10.0);
    let arrivals: Vec<_> = (0..7).map(|_| (0.0, 1500)).collect();
    assert_eq!(departures(&mut link, &arrivals), [4.0, 10.0, 10.0, 14.0, 20.0, 20.0, 24.0]);
    assert_eq!(departures(&mut link, &[(1000.0, 1500), (1000.0, 1500), (9994.0, 1500)]), [1004.0, 1010.0, 10000.0]);
}

#[test]
fn a_packet_longer_than_an_opportunity_takes_several() {
    let mut link = process(&opportunities(&[1]), 1.0);
    assert_eq!(departures(&mut link, &[(0.0, 9000), (0.0, 16)]), [6.0, 6.0]);
}

/// Returns the departures of packets as `mm-link` makes them, opportunity by opportunity: each serves the packets that came
/// before it, first in, first out, with the bytes that it has [ms].
fn served_one_by_one(times_ms: &[u64], arrivals: &[(f64, u16)]) -> Vec<f64> {
    let (mut departures, mut round, mut sent) = (Vec::new(), 0, 0);
    let missing = |number: usize| arrivals.get(number).map_or(0, |packet| u32::from(packet.1) + 4);
    let mut left_of_head = missing(0);
    loop {
        for time_ms in times_ms {
            let now = (round * times_ms[times_ms.len() - 1] + time_ms) as f64;
            let mut budget = 1504;
            while sent < arrivals.len() && arrivals[sent].0 < now && budget > 0 {
                let used = budget.min(left_of_head);
                (budget, left_of_head) = (budget - used, left_of_head - used);
                if left_of_head == 0 {
                    departures.push(now);
                    sent += 1;
                    left_of_head = missing(sent);
                }
            }
        }
        round += 1;
        if sent == arrivals.len() {
            return departures;
        }
    }
}

#[test]
fn random_arrivals_depart_as_if_each_opportunity_were_served_in_turn() {
    let mut random = RandomStream::named(1, 0, "arrivals");
    for case in 0..300 {
        let mut times_ms = vec![random.below(3) as u64];
        for _ in 0..case % 20 {
            times_ms.push(times_ms[times_ms.len() - 1] + random.below(1 + case % 7) as u64);
        }
        times_ms.push(times_ms[times_ms.len() - 1] + 1);
        let mut now = 0.0;
        let mut random = RandomStream::named(case as u64, 0, "packets");
        let arrival = |_| {
            // Half of the packets come at a whole millisecond, where an opportunity may be.
            now += if random.below(2) == 0 { random.below(4) as f64 } else { 1.5 * random.uniform() };
            now = if random.below(2) == 0 { f64::floor(now) + 1.0 } else { now };
            // To whole ticks, as the run's clock has them.
            (f64::round(now * 1e6) / 1e6, [40, 500, 1000, 1500][random.below(4)])
        };
        let arrivals: Vec<(f64, u16)> = (0..200).map(arrival).collect();
        let mut link = process(&opportunities(&times_ms), 100.0);
        assert_eq!(departures(&mut link, &arrivals), served_one_by_one(&times_ms, &arrivals), "{times_ms:?}");
    }
}

#[test]
fn the_opportunities_after_an_instant_are_counted_up_to_another() {
    let bits = |after, to| process(&opportunities(&[0, 4, 10]), 10.0).bits(t(after), t(to)) / (8.0 * 1504.0);
    // A round has three in 10 ms, of which the first and the last of the one before coincide.
    assert_eq!([bits(0.0, 0.01), bits(0.004, 0.01), bits(0.0041, 0.0099), bits(1.0, 2.0)], [3.0, 2.0, 0.0, 300.0]);
}
