use super::*;
use base::Clock;

const CONFIG: RedConfig = RedConfig {
    min_threshold_packets: 5.0,
    max_threshold_packets: 15.0,
    weight: 0.002,
    max_probability: 0.1,
    gentle: false,
    mean_packet_bytes: 500,
    ..RedConfig::TYPICAL
};

fn red(config: RedConfig) -> Red {
    // 500 bytes take 1 ms.
    Red::new(config, Rate::new(4e6, Clock::PICOSECONDS), Clock::PICOSECONDS, RandomStream::named(1, 0, "red"))
}

impl Red {
    /// Lets a packet of 500 bytes find a queue.
    fn find(&mut self, queue: u64, idle: Option<Time>) -> Verdict {
        self.on_arrival(&Arriving {
            now: Time::ZERO,
            queue,
            waiting: queue,
            idle,
            waiting_bytes: queue * 500,
            bytes: 500,
        })
    }
}

fn drop_share(config: RedConfig, queue: u64) -> f64 {
    let mut red = red(RedConfig { weight: 1.0, ..config });
    let n = 200_000;
    let drops = (0..n).filter(|_| red.find(queue, None) == Verdict::Drop).count();
    drops as f64 / f64::from(n)
}

#[test]
fn the_average_follows_the_queue_with_its_weight() {
    let mut red = red(CONFIG);
    for _ in 0..500 {
        red.find(10, None);
    }
    assert!((red.average - 10.0 * (1.0 - 0.998_f64.powi(500))).abs() < 1e-9);
}

#[test]
fn idle_time_counts_as_arrivals_to_an_empty_queue() {
    let (mut idle, mut fed) = (red(CONFIG), red(CONFIG));
    for red in [&mut idle, &mut fed] {
        (0..300).for_each(|_| {
            red.find(3, None);
        });
    }
    idle.find(0, Some(Clock::PICOSECONDS.time(0.0401)));
    (0..41).for_each(|_| {
        fed.find(0, None);
    });
    assert!((idle.average - fed.average).abs() < 1e-9);
}

#[test]
fn drops_between_the_thresholds_are_evenly_spaced() {
    // The gaps are uniform on 1..1/p_b with p_b = 0.05 at 10 packets: gaps of 1 to 19, 10 on average.
    let share = drop_share(CONFIG, 10);
    assert!((share - 0.1).abs() < 0.002, "{share}");
}

#[test]
fn thresholds_hold() {
    assert_eq!(drop_share(CONFIG, 4), 0.0);
    assert_eq!(drop_share(CONFIG, 15), 1.0);
    let gentle = RedConfig { gentle: true, ..CONFIG };
    assert!(drop_share(gentle, 16) < 0.35);
    assert_eq!(drop_share(gentle, 30), 1.0);
}

/// Returns the gaps between early drops: packets from one to the next.
fn gaps(config: RedConfig, queue: u64) -> Vec<usize> {
    let mut red = red(RedConfig { weight: 1.0, ..config });
    let drops: Vec<usize> = (0..200_000).filter(|_| red.find(queue, None) == Verdict::Drop).collect();
    drops.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// RFC 3168 section 7: above the largest threshold packets are dropped; Linux marks them too, unless `harddrop`.
#[test]
fn marks_are_the_drops_of_the_same_red() {
    let verdicts = |ecn, queue| {
        let mut red = red(RedConfig { weight: 1.0, ecn, ..CONFIG });
        (0..1000).map(move |_| red.find(queue, None)).collect::<Vec<_>>()
    };
    for (queue, early) in [(4, Verdict::Pass), (10, Verdict::Mark), (15, Verdict::Drop)] {
        let dropped = verdicts(RedEcn::Off, queue);
        for (ecn, signal) in [(RedEcn::Early, early), (RedEcn::All, Verdict::Mark)] {
            let expected = dropped.iter().map(|&verdict| if verdict == Verdict::Drop { signal } else { verdict });
            assert_eq!(verdicts(ecn, queue), expected.collect::<Vec<_>>(), "{ecn:?} {queue}");
        }
    }
}

/// ns-2, red.cc, `REDQueue::modify_p` with `wait`: p_b is 0.05 at a queue of 10 packets. No drop while count p_b < 1;
/// then p_b / (2 - count p_b), which makes all gaps from 20 to 39 alike, 29.5 in the mean.
#[test]
fn with_wait_at_least_the_inverse_of_the_probability_passes_between_drops() {
    let gaps = gaps(RedConfig { wait: true, ..CONFIG }, 10);
    let (least, most) = (gaps.iter().min().unwrap(), gaps.iter().max().unwrap());
    // One more than the product of doubles says exactly: 20 times 0.05 may lie below 1.
    assert!((20..=21).contains(least) && (39..=40).contains(most), "{least} to {most}");
    let mean = gaps.iter().sum::<usize>() as f64 / gaps.len() as f64;
    assert!((mean - 29.5).abs() < 0.6, "{mean}");
}

/// ns-2, red.cc, `REDQueue::enque`: `qavg >= edp_.th_min && qlen > 1`, else `edv_.old = 0` and no packet is dropped.
#[test]
fn below_the_least_queue_nothing_is_dropped_and_the_count_starts_afresh() {
    let config = RedConfig { least_queue_packets: 2.0, weight: 1e-9, ..CONFIG };
    let mut red = red(config);
    red.average = 20.0;
    assert!((0..100).all(|_| red.find(1, None) == Verdict::Pass));
    assert_eq!(red.count, None);
    assert_eq!(red.find(2, None), Verdict::Drop);
    assert_eq!(red.count, Some(0));
    red.find(1, None);
    assert_eq!(red.count, None);
}

/// ns-2, red.cc, `REDQueue::enque`: where `edv_.old == 0`, `edv_.count = 1` and the packet passes.
#[test]
fn the_first_packet_above_the_thresholds_passes_and_is_counted() {
    let mut red = red(RedConfig { first_passes: true, weight: 1.0, ..CONFIG });
    // Above the largest threshold every packet is dropped but this one.
    assert_eq!(red.find(20, None), Verdict::Pass);
    assert_eq!(red.count, Some(1));
    assert_eq!(red.find(20, None), Verdict::Drop);
    assert_eq!(red.find(20, None), Verdict::Drop);
    red.find(4, None);
    assert_eq!(red.find(20, None), Verdict::Pass);
}

/// ns-2, red.cc, `REDQueue::enque`: a forced drop sets `edv_.count = 0` unless `ns1_compat_`.
#[test]
fn the_drop_of_a_full_buffer_restarts_the_count() {
    for overflow_restarts in [false, true] {
        let mut red = red(RedConfig { overflow_restarts, wait: true, weight: 1.0, ..CONFIG });
        red.on_drop(Time::ZERO);
        assert_eq!(red.count, None);
        (0..10).for_each(|_| {
            red.find(10, None);
        });
        assert_eq!(red.count, Some(9));
        red.on_drop(Time::ZERO);
        assert_eq!(red.count, Some(if overflow_restarts { 0 } else { 9 }));
    }
}

fn arrive(red: &mut Red, waiting_bytes: u64, bytes: u16) -> Verdict {
    let waiting = waiting_bytes / 500;
    red.on_arrival(&Arriving { now: Time::ZERO, queue: waiting, waiting, idle: None, waiting_bytes, bytes })
}

/// ns-2, red.cc, `REDQueue::reset` and `enque` with `queue_in_bytes_`: thresholds are of `mean_pktsize_`, and a byte waits
/// at least.
#[test]
fn a_queue_in_bytes_counts_typical_packets() {
    let config = RedConfig { in_bytes: true, weight: 1.0, least_queue_packets: 2.0, ..CONFIG };
    let mut one = red(config);
    arrive(&mut one, 5200, 500);
    assert!((one.average - 10.4).abs() < 1e-12);
    // One packet of 8000 bytes is above the largest threshold; as a number of packets it is below the least queue.
    assert_eq!(arrive(&mut one, 8000, 500), Verdict::Drop);
    let mut packets = red(RedConfig { in_bytes: false, ..config });
    packets.average = 20.0;
    let one_waits = Arriving { now: Time::ZERO, queue: 1, waiting: 1, idle: None, waiting_bytes: 8000, bytes: 500 };
    assert_eq!(packets.on_arrival(&one_waits), Verdict::Pass);
}

/// ns-2, red.cc, `REDQueue::modify_p` with `bytes`: p / (1 - count p) times the size over `mean_pktsize_`, where whole
/// typical packets are counted.
#[test]
fn the_drop_probability_is_in_proportion_to_the_size_by_size() {
    for (count_bytes, bytes, expected) in [(0, 250, 0.025), (499, 1000, 0.1), (5000, 500, 0.1), (5000, 5001, 1.0)] {
        let mut sized = red(RedConfig { by_size: true, ..CONFIG });
        let n = 100_000;
        let dropped = (0..n).filter(|_| {
            sized.count_bytes = count_bytes;
            sized.draw(0.05, 7, bytes)
        });
        let share = dropped.count() as f64 / f64::from(n);
        assert!((share - expected).abs() < 0.005, "{count_bytes} {bytes}: {share}");
    }
}

/// Counts: `wait` lets 1 / p_b typical packets pass before a drop, at p_b = 0.05, 20 of 500 bytes or 10 of 1000 bytes.
#[test]
fn bytes_are_counted_since_the_last_drop_by_size() {
    let config = RedConfig { by_size: true, wait: true, first_passes: true, weight: 1.0, ..CONFIG };
    for (bytes, least) in [(500, 20), (1000, 10)] {
        let mut sized = red(config);
        let drops: Vec<usize> = (0..100_000).filter(|_| arrive(&mut sized, 5000, bytes) == Verdict::Drop).collect();
        let shortest = drops.windows(2).map(|pair| pair[1] - pair[0]).min().expect("some drops");
        assert!((least..=least + 1).contains(&shortest), "{bytes}: {shortest}");
    }
}

/// ns-2, red.cc: `calculate_p_new` has `cur_max_p` below the maximum threshold, and the first one's line above.
#[test]
fn an_adapted_probability_holds_below_the_maximum_threshold_alone() {
    let adaptation = Some(RedAdaptation { bottom: Some(0.0), ..RedAdaptation::NS2 });
    let mut red = red(RedConfig { adaptation, gentle: true, weight: 1.0, ..CONFIG });
    let find = |red: &mut Red, at_s, queue| {
        let now = Clock::PICOSECONDS.time(at_s);
        red.on_arrival(&Arriving { now, queue, waiting: queue, idle: None, waiting_bytes: queue * 500, bytes: 500 });
        red.drop_probability().unwrap_or(0.0)
    };
    assert!((find(&mut red, 0.1, 10) - 0.05).abs() < 1e-12);
    find(&mut red, 0.6, 6);
    assert!((find(&mut red, 0.7, 10) - 0.045).abs() < 1e-12);
    assert!((find(&mut red, 0.8, 15) - 0.1).abs() < 1e-12);
}
