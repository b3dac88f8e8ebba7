use base::cast::to_index;
use base::Marks;

use super::*;
use crate::bucket::BucketKind;
use crate::buffer::{BufferLimit, Counting};
use crate::queue::{AqmConfig, FqConfig, Overflow, RedConfig, RedEcn};

const MEASUREMENT: Measurement = Measurement { warmup: Time::ZERO, end: Time::NEVER };
const FRONT: Discipline = Discipline { overflow: Overflow::Front, ..Discipline::DROP_TAIL };
const RANDOM: Discipline = Discipline { overflow: Overflow::Random, ..Discipline::DROP_TAIL };

fn priority(overflow: Overflow) -> Discipline {
    Discipline::new(SchedulerConfig::Priority { levels: 3 }, AqmConfig::None {}, overflow)
}

fn seeded(limit: Option<BufferLimit>, discipline: &Discipline, seed: u64) -> QueuedLink {
    // 1000 bytes take 1 ms.
    let (rate, buffer) = (Rate::new(8e6, Clock::PICOSECONDS), Buffer::new(limit, Counting::WithService));
    QueuedLink::new(rate, buffer, discipline, Clock::PICOSECONDS, RandomStream::named(seed, 0, "link"))
}

fn link(limit: u64, discipline: &Discipline) -> QueuedLink {
    seeded(Some(BufferLimit::Packets(limit)), discipline, 1)
}

fn packet(sequence: u64) -> Packet {
    Packet { sequence, bytes: 1000, ..Packet::default() }
}

/// Returns the numbers of the packets that are dropped when a packet arrives.
fn arrive(link: &mut QueuedLink, packet: Packet, level: u8) -> Vec<u64> {
    let mut dropped = Vec::new();
    link.arrive(Time::ZERO, packet, level, &MEASUREMENT, &mut |_, packet| dropped.push(packet.sequence));
    dropped
}

/// Returns the numbers of the dropped packets when several arrive, given as numbers and levels.
fn arrive_all(link: &mut QueuedLink, packets: &[(u64, u8)]) -> Vec<u64> {
    packets.iter().flat_map(|&(number, level)| arrive(link, packet(number), level)).collect()
}

fn transmitted(link: &mut QueuedLink) -> Vec<u64> {
    let next = || link.depart(link.next_departure(), &MEASUREMENT, &mut |_, _| panic!("nothing is dropped"));
    std::iter::from_fn(next).map(|packet| packet.sequence).collect()
}

/// A mark is of the arriving packet, whatever packet the overflow rule drops.
#[test]
fn an_early_signal_marks_a_capable_packet_and_drops_for_another_one() {
    let red = RedConfig { weight: 1.0, min_threshold_packets: 0.0, max_threshold_packets: 1.0, ..RedConfig::TYPICAL };
    let aqm = AqmConfig::Red(RedConfig { gentle: false, ecn: RedEcn::All, ..red });
    let mut link = link(9, &Discipline { aqm, ..FRONT });
    let mut signals = Vec::new();
    for (number, marks) in [(0, Marks::ECT), (1, Marks::ECT), (2, Marks::NONE), (3, Marks::ECT)] {
        let packet = Packet { marks, ..packet(number) };
        link.arrive(Time::ZERO, packet, 0, &MEASUREMENT, &mut |signal, packet| signals.push((signal, packet)));
    }
    let found: Vec<_> = signals.iter().map(|(signal, packet)| (*signal, packet.sequence)).collect();
    assert_eq!(
        found,
        [(Signal::Marked { again: false }, 1), (Signal::Dropped(Cause::Aqm), 1), (Signal::Marked { again: false }, 3)]
    );
    assert!(signals[0].1.marks.has(Marks::CE));
    assert_eq!((link.statistics().marked, link.statistics().dropped), ([0, 2], [0, 1]));
    assert_eq!(transmitted(&mut link), [0, 2, 3]);
}

#[test]
fn drop_from_front_keeps_the_newcomer_and_spares_the_packet_in_transmission() {
    let mut link = link(3, &FRONT);
    assert_eq!(arrive_all(&mut link, &[(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]), [1, 2]);
    assert_eq!(transmitted(&mut link), [0, 3, 4]);
}

#[test]
fn drop_from_front_drops_the_newcomer_where_none_waits() {
    let mut link = link(1, &FRONT);
    assert_eq!(arrive_all(&mut link, &[(0, 0), (1, 0)]), [1]);
}

#[test]
fn drop_from_front_drops_the_oldest_packet_of_any_level() {
    let mut link = link(3, &priority(Overflow::Front));
    let mut dropped = Vec::new();
    for (number, level) in [(0, 0), (1, 2), (2, 0), (3, 1), (4, 0)] {
        let now = Time::from_ticks(number);
        link.arrive(now, packet(number), level, &MEASUREMENT, &mut |_, packet| dropped.push(packet.sequence));
    }
    assert_eq!(dropped, [1, 2]);
    assert_eq!(transmitted(&mut link), [0, 4, 3]);
}

#[test]
fn random_drop_draws_evenly_among_all_waiting_packets_and_the_newcomer() {
    let mut counts = [0_u32; 5];
    for seed in 0..20_000 {
        let mut link = seeded(Some(BufferLimit::Packets(5)), &RANDOM, seed);
        let dropped = arrive_all(&mut link, &[(0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0)]);
        counts[to_index(dropped[0]) - 1] += 1;
    }
    // 4000 expected each; four standard deviations are 226.
    assert!(counts.iter().all(|&count| count.abs_diff(4000) < 226), "{counts:?}");
}

#[test]
fn a_higher_level_goes_first_but_interrupts_none() {
    let mut link = link(9, &priority(Overflow::Arriving));
    let arrivals = [(0, 2), (1, 2), (2, 1), (3, 0), (4, 1), (5, 2), (6, 0)];
    assert_eq!(arrive_all(&mut link, &arrivals), []);
    assert_eq!(transmitted(&mut link), [0, 3, 6, 2, 4, 1, 5]);
}

#[test]
fn a_full_buffer_drops_the_arriving_packet_or_the_last_of_the_lowest_level() {
    let arrivals = [(0, 1), (1, 1), (2, 0), (3, 1), (4, 0), (5, 0), (6, 0)];
    let fates = |overflow| -> (Vec<u64>, Vec<u64>) {
        let mut link = link(4, &priority(overflow));
        (arrive_all(&mut link, &arrivals), transmitted(&mut link))
    };
    assert_eq!(fates(Overflow::Arriving), (vec![4, 5, 6], vec![0, 2, 1, 3]));
    // The packet in transmission is safe, whatever its level.
    assert_eq!(fates(Overflow::Lowest), (vec![3, 1, 6], vec![0, 2, 4, 5]));
}

#[test]
fn waits_are_those_of_the_transmitted_packets() {
    let mut link = link(4, &priority(Overflow::Lowest));
    link.measure_waits(Time::ZERO);
    arrive_all(&mut link, &[(0, 1), (1, 1), (2, 0), (3, 1), (4, 0)]);
    assert_eq!(transmitted(&mut link), [0, 2, 4, 1]);
    let milliseconds = |duration: Time| duration.ticks() / 1_000_000_000;
    let counts: Vec<u64> = link.waits().buckets().map(|(_, count)| count).collect();
    assert_eq!((counts, milliseconds(link.waits().longest())), (vec![1, 1, 1, 1], 3));
    // A packet that arrived before the measured part does not count.
    link.measure_waits(Clock::PICOSECONDS.time(1.0));
    arrive_all(&mut link, &[(5, 0)]);
    assert_eq!((transmitted(&mut link), link.waits().total()), (vec![5], 4));
}

#[test]
fn none_is_pushed_out_for_a_packet_that_finds_no_room_then() {
    let mut link = seeded(Some(BufferLimit::Bytes(2100)), &priority(Overflow::Lowest), 1);
    let small = |sequence| Packet { bytes: 100, ..packet(sequence) };
    for (packet, level) in [(packet(0), 1), (packet(1), 0), (small(2), 1)] {
        assert_eq!(arrive(&mut link, packet, level), []);
    }
    assert_eq!(arrive(&mut link, packet(3), 0), [3]);
    assert_eq!(arrive(&mut link, small(4), 0), [2]);
    assert_eq!(transmitted(&mut link), [0, 1, 4]);
}

#[test]
fn an_aqm_drops_several_packets_as_their_turn_comes() {
    let mut link = link(9, &Discipline::DROP_TAIL);
    link.queue.be_impatient(Clock::PICOSECONDS.time(1.5e-3));
    assert_eq!(arrive_all(&mut link, &[(0, 0), (1, 0), (2, 0), (3, 0), (4, 0)]), []);
    let mut fates = Vec::new();
    while link.packets() > 0 {
        let mut dropped = Vec::new();
        let sent = link.depart(link.next_departure(), &MEASUREMENT, &mut |_, packet| dropped.push(packet.sequence));
        fates.push((sent.map(|packet| packet.sequence), dropped));
    }
    assert_eq!(fates, [(Some(0), vec![]), (Some(1), vec![2, 3]), (Some(4), vec![])]);
    let counted = link.statistics();
    assert_eq!((counted.arrived, counted.dropped, counted.departed), ([0, 5], [0, 2], [0, 3]));
    // Departures at 1, 2 and 3 ms; the dropped ones have waited for 2 ms each.
    assert_eq!(counted.queue_area, u128::from(Clock::PICOSECONDS.time(10e-3).ticks()));
}

/// Cobham 1954: without interruption a packet of level k waits R / ((1 - s_{k-1}) (1 - s_k)), with s_k the load of
/// the levels down to k and R the mean rest of a service. Here 1 ms each, loads 0.3 and 0.5: R = 0.4 ms.
#[test]
fn mean_waits_are_cobhams() {
    let mut random = RandomStream::named(1, 0, "arrivals");
    let mut link = link(u64::MAX, &priority(Overflow::Arriving));
    let (mut waits, mut counts, mut now) = ([0.0; 2], [0_u32; 2], 0.0);
    let mut came = Vec::new();
    for number in 0..1_000_000 {
        now += random.exponential(1e-3 / 0.8);
        let arrival = Clock::PICOSECONDS.time(now);
        while link.next_departure() <= arrival {
            let departure = link.next_departure();
            let packet = link.depart(departure, &MEASUREMENT, &mut |_, _| {}).unwrap();
            let (since, level): (Time, u8) = came[to_index(packet.sequence)];
            waits[usize::from(level)] += Clock::PICOSECONDS.seconds(departure - since) - 1e-3;
            counts[usize::from(level)] += 1;
        }
        let level = u8::from(random.uniform() >= 0.3 / 0.8);
        came.push((arrival, level));
        link.arrive(arrival, packet(number), level, &MEASUREMENT, &mut |_, _| {});
    }
    for (level, theory) in [0.4e-3 / 0.7, 0.4e-3 / (0.7 * 0.2)].into_iter().enumerate() {
        let mean = waits[level] / f64::from(counts[level]);
        // 1 % and 4 %: the queue of the lower level has a long memory.
        let tolerance = if level == 0 { 0.01 } else { 0.04 };
        assert!((mean / theory - 1.0).abs() < tolerance, "level {level}: {mean} s, {theory} s in theory");
    }
}

/// Plays packets of 1000 bytes, each 1 ms of the rate, that arrive at instants \[ms\]; returns when each leaves \[ms\] and
/// which are dropped.
fn through_bucket(config: BucketConfig, limit: u64, arrivals_ms: &[u64]) -> (Vec<(u64, f64)>, Vec<u64>) {
    let ms = |time: Time| Clock::PICOSECONDS.seconds(time) * 1e3;
    let mut link = link(limit, &Discipline::DROP_TAIL).with_bucket(Some(config));
    let (mut left, mut dropped) = (Vec::new(), Vec::new());
    let mut arrivals = (0..).zip(arrivals_ms).peekable();
    loop {
        let arrival = arrivals.peek().map_or(Time::NEVER, |(_, &at)| Time::from_ticks(at * 1_000_000_000));
        let now = arrival.min(link.next_departure());
        if now == Time::NEVER {
            return (left, dropped);
        }
        let mut note = |_, packet: Packet| dropped.push(packet.sequence);
        if link.next_departure() <= arrival {
            left.extend(link.depart(now, &MEASUREMENT, &mut note).map(|packet| (packet.sequence, ms(now))));
        } else if let Some((sequence, _)) = arrivals.next() {
            link.arrive(now, packet(sequence), 0, &MEASUREMENT, &mut note);
        }
    }
}

/// Linux `sch_htb.c`: a class may send while it has tokens, and owes what its last packet lacked.
#[test]
fn a_shaper_lets_packets_go_at_once_while_it_has_tokens() {
    let shaper = |burst_bytes| BucketConfig { kind: BucketKind::Shaper, burst_bytes };
    let leave = |burst, arrivals: &[u64]| -> Vec<f64> {
        through_bucket(shaper(burst), 9, arrivals).0.iter().map(|&(_, at)| at).collect()
    };
    assert_eq!(leave(0, &[0, 0, 0, 9]), [0.0, 1.0, 2.0, 9.0]);
    assert_eq!(leave(2000, &[0, 0, 0, 0, 0, 9, 9]), [0.0, 0.0, 0.0, 1.0, 2.0, 9.0, 9.0]);
    // The bucket holds no more than its burst, however long it waits.
    assert_eq!(leave(1000, &[100, 100, 100, 100]), [100.0, 100.0, 101.0, 102.0]);
}

#[test]
fn a_shapers_buffer_holds_packets_that_wait() {
    let shaper = BucketConfig { kind: BucketKind::Shaper, burst_bytes: 0 };
    let (left, dropped) = through_bucket(shaper, 2, &[0, 0, 0, 0, 0]);
    // The first one leaves at once, and two may wait.
    assert_eq!(left, [(0, 0.0), (1, 1.0), (2, 2.0)]);
    assert_eq!(dropped, [3, 4]);
}

/// RFC 2697 section 3: a packet passes if the tokens suffice for all of it.
#[test]
fn a_policer_drops_what_its_tokens_do_not_suffice_for() {
    let policer = |burst_bytes| BucketConfig { kind: BucketKind::Policer, burst_bytes };
    let (left, dropped) = through_bucket(policer(2500), 9, &[0, 0, 0, 1, 1, 9, 9, 9]);
    assert_eq!(left, [(0, 0.0), (1, 0.0), (3, 1.0), (5, 9.0), (6, 9.0)]);
    assert_eq!(dropped, [2, 4, 7]);
    assert_eq!(through_bucket(policer(999), 9, &[0, 5]).1, [0, 1], "a bucket that no packet fits in");
}

#[test]
fn a_bucket_lets_pass_its_rate_and_a_burst_at_most() {
    let mut random = RandomStream::named(1, 0, "arrivals");
    let mut at = 0;
    let arrivals: Vec<u64> = (0..3000)
        .map(|_| {
            at += random.below(2) as u64;
            at
        })
        .collect();
    for (kind, debt) in [(BucketKind::Shaper, 1000.0), (BucketKind::Policer, 0.0)] {
        let (left, _) = through_bucket(BucketConfig { kind, burst_bytes: 5000 }, 50, &arrivals);
        for (number, &(_, from)) in left.iter().enumerate() {
            for (more, &(_, until)) in left[number..].iter().enumerate().take(200) {
                let bytes = 1000.0 * (more + 1) as f64;
                assert!(bytes <= 1000.0 * (until - from) + 5000.0 + debt + 1e-6, "{bytes} from {from} to {until}");
            }
        }
    }
}

/// The counts of each class: those that arrive and are dropped, those that are sent, and the longest wait \[ms\].
fn counts(link: &QueuedLink) -> Vec<(u64, u64, u64, f64)> {
    let of = |class: &ClassStatistics| {
        let wait = Clock::PICOSECONDS.seconds(class.waits.longest()) * 1e3;
        (class.arrived, class.dropped, class.sent, wait.round())
    };
    link.classes().iter().map(of).collect()
}

#[test]
fn priority_levels_are_counted_apart_and_a_packet_pushed_out_is_of_its_own_level() {
    let discipline = priority(Overflow::Lowest);
    let mut link = link(3, &discipline);
    link.count_classes(&discipline.scheduler, FlowGroups::default());
    arrive_all(&mut link, &[(0, 2), (1, 2), (2, 2), (3, 0), (4, 0), (5, 0)]);
    while link.packets() > 0 {
        link.depart(link.next_departure(), &MEASUREMENT, &mut |_, _| {});
    }
    assert_eq!(counts(&link), [(3, 1, 2, 2.0), (0, 0, 0, 0.0), (3, 2, 1, 0.0)]);
    assert_eq!((link.statistics().dropped_by_aqm, link.statistics().dropped[1]), (0, 3));
}

#[test]
fn flows_of_a_fair_queue_are_counted_by_group_in_the_measured_part_alone() {
    let discipline = Discipline::new(
        SchedulerConfig::Fq(FqConfig { queues: None, ..FqConfig::TYPICAL }),
        AqmConfig::None {},
        Overflow::Longest,
    );
    let measurement = Measurement { warmup: Clock::PICOSECONDS.time(1.5e-3), end: Time::NEVER };
    let run = |groups: Vec<(u32, usize)>| {
        let mut link = link(9, &discipline);
        link.measure_waits(measurement.warmup);
        link.count_classes(&discipline.scheduler, FlowGroups::new(groups));
        let arrive = |link: &mut QueuedLink, at_s: f64, flow: u32| {
            let packet = Packet { flow, ..packet(0) };
            link.arrive(Clock::PICOSECONDS.time(at_s), packet, 0, &measurement, &mut |_, _| {});
        };
        (0..3).for_each(|flow| arrive(&mut link, 0.0, flow));
        link.depart(Clock::PICOSECONDS.time(1e-3), &measurement, &mut |_, _| {});
        (0..3).for_each(|flow| arrive(&mut link, 2e-3, flow));
        while link.packets() > 0 {
            link.depart(link.next_departure(), &measurement, &mut |_, _| {});
        }
        link
    };
    let waits = |link: &QueuedLink| link.classes().iter().map(|class| class.waits.total()).collect::<Vec<u64>>();
    // RFC 8290 section 4.2: from 2 ms on flow 1 sends what is left of its quantum, then flow 2 both packets, then flow 0. The
    // packet in transmission at the end of the warm-up leaves after it.
    let two = run(vec![(0, 0), (2, 1)]);
    assert_eq!(counts(&two), [(2, 0, 3, 3.0), (1, 0, 2, 2.0)]);
    assert_eq!(waits(&two), [2, 1]);
    let one = run(vec![(0, 0)]);
    assert_eq!((counts(&one), waits(&one)), (vec![(3, 0, 5, 3.0)], vec![3]), "a single group has the link's counters");
    assert_eq!((one.waits().total(), two.waits().total()), (3, 3));
}

#[test]
fn a_link_of_one_class_and_a_policer_count_none() {
    let mut one = link(3, &FRONT);
    one.count_classes(&FRONT.scheduler, FlowGroups::new(vec![(0, 0)]));
    assert!(one.classes().is_empty());
    let discipline = priority(Overflow::Arriving);
    let bucket = BucketConfig { kind: BucketKind::Policer, burst_bytes: 1500 };
    let mut policer = link(3, &discipline).with_bucket(Some(bucket));
    policer.count_classes(&discipline.scheduler, FlowGroups::default());
    assert!(policer.classes().is_empty());
    assert!(arrive(&mut policer, packet(0), 0).is_empty());
    assert_eq!(transmitted(&mut policer), [0]);
    assert_eq!(arrive(&mut policer, packet(1), 0), [1]);
    assert_eq!((policer.statistics().dropped_by_policer, policer.statistics().dropped[1]), (1, 1));
}
