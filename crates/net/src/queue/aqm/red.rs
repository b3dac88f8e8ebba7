use base::{RandomStream, Rate, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, AqmState, Arriving, Verdict};

/// Parameters of Random Early Detection: Floyd, Jacobson 1993, with the later "gentle" option, and the points on which
/// ns-2.35's `REDQueue` differs, one field each.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedConfig {
    /// Average queue from which packets are dropped \[packets\].
    pub min_threshold_packets: f64,
    /// Average queue at which the drop probability is `max_probability` \[packets\].
    pub max_threshold_packets: f64,
    /// Weight of the newest sample in the average (w_q).
    pub weight: f64,
    /// Drop probability at the maximum threshold (max_p).
    pub max_probability: f64,
    /// Whether the drop probability rises linearly to 1 at twice the maximum threshold, instead of at once.
    pub gentle: bool,
    /// Size of a typical packet, for the correction after idle time \[bytes\].
    pub mean_packet_bytes: u16,
    /// Signals that are marks and not drops, of packets of ECN-capable transports.
    #[serde(default = "RedEcn::off")]
    pub ecn: RedEcn,
    /// Whether at least 1 / p packets pass after an early drop before the next one, for the drop probability p:
    /// `wait_` of ns-2 (red.cc, `REDQueue::modify_p`).
    pub wait: bool,
    /// Queue below which no packet is dropped early, whatever the average \[packets\]: 2 in ns-2, where more than one
    /// packet must wait (red.cc, `REDQueue::enque`).
    pub least_queue_packets: f64,
    /// Whether the first packet above the thresholds passes, and counts as one since the last drop: ns-2 (red.cc,
    /// `REDQueue::enque`, `edv_.old`).
    pub first_passes: bool,
    /// Whether the drop of a full buffer restarts the count of packets since the last drop, as an early drop does: ns-2
    /// without `ns1_compat_` (red.cc, `REDQueue::enque`).
    pub overflow_restarts: bool,
}

/// The early signals of RED that are marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RedEcn {
    /// None: each one is a drop.
    Off,
    /// Those below the largest threshold, or twice that if RED is gentle: RFC 3168 section 7, ns-2 (`setbit_`), Linux
    /// (`ecn harddrop`).
    Early,
    /// All: Linux (`ecn`).
    All,
}

impl RedEcn {
    /// Returns what a run from before ECN had.
    const fn off() -> RedEcn {
        RedEcn::Off
    }
}

impl RedConfig {
    /// The parameters most used, for packets of 500 bytes.
    pub const TYPICAL: RedConfig = RedConfig {
        min_threshold_packets: 5.0,
        max_threshold_packets: 15.0,
        weight: 0.002,
        max_probability: 0.1,
        gentle: true,
        mean_packet_bytes: 500,
        ecn: RedEcn::Off,
        wait: false,
        least_queue_packets: 0.0,
        first_passes: false,
        overflow_restarts: false,
    };

    /// The same with ns-2.35's rules.
    pub const NS2: RedConfig = RedConfig {
        wait: true,
        least_queue_packets: 2.0,
        first_passes: true,
        overflow_restarts: true,
        ..RedConfig::TYPICAL
    };
}

/// Random Early Detection of a queue.
#[derive(Clone, Debug)]
pub struct Red {
    config: RedConfig,
    /// Average queue \[packets\].
    average: f64,
    /// Packets since the last drop, or since packets may be dropped; `None` if none may be.
    count: Option<u64>,
    /// Service time of a typical packet.
    typical_service: Time,
    random: RandomStream,
}

impl Red {
    /// Returns the RED of an empty queue in front of a link with a rate.
    pub fn new(config: RedConfig, rate: Rate, random: RandomStream) -> Red {
        let typical_service = rate.longest_service_time(config.mean_packet_bytes);
        Red { config, average: 0.0, count: None, typical_service, random }
    }

    /// Returns the state that traces have.
    pub(super) fn state(&self) -> AqmState {
        let probability = Some(self.drop_probability().unwrap_or(0.0));
        AqmState { average_packets: Some(self.average), probability, ..AqmState::default() }
    }

    /// Updates the average with the queue that a packet finds.
    ///
    /// Floyd, Jacobson 1993 section 4: idle time counts like arrivals of typical packets at an empty queue.
    fn update_average(&mut self, queue: u64, idle: Option<Time>) {
        let keep = 1.0 - self.config.weight;
        match idle {
            Some(idle) if self.typical_service > Time::ZERO => {
                let missed = idle.ticks() / self.typical_service.ticks();
                self.average *= keep.powf(missed as f64);
            }
            _ => {}
        }
        self.average = keep * self.average + self.config.weight * queue as f64;
    }

    /// Returns p_b; `None` below the minimum threshold.
    fn drop_probability(&self) -> Option<f64> {
        let RedConfig { min_threshold_packets: min, max_threshold_packets: max, max_probability, .. } = self.config;
        let average = self.average;
        if average < min {
            None
        } else if average < max {
            Some(max_probability * (average - min) / (max - min))
        } else if self.config.gentle && average < 2.0 * max {
            Some(max_probability + (1.0 - max_probability) * (average - max) / max)
        } else {
            Some(1.0)
        }
    }

    /// Draws whether a packet is dropped, of the probability p_b and the number of packets since the last drop.
    fn draw(&mut self, probability: f64, count: u64) -> bool {
        let expected = count as f64 * probability;
        if !self.config.wait {
            // Floyd, Jacobson 1993 section 7: p_a = p_b / (1 - count p_b) spaces drops evenly.
            let spread = 1.0 - expected;
            return spread <= 0.0 || self.random.uniform() < probability / spread;
        }
        // ns-2 `REDQueue::modify_p`: p_a = 0 before 1 / p_b packets, p_b / (2 - count p_b) before 2 / p_b, then 1. A number
        // is drawn for each packet, so that a number's packet does not depend on how count p_b is rounded.
        let drawn = if probability < 1.0 { self.random.uniform() } else { 0.0 };
        expected >= 1.0 && drawn * (2.0 - expected) < probability
    }
}

impl Red {
    fn arrive(&mut self, queue: u64, idle: Option<Time>) -> Verdict {
        self.update_average(queue, idle);
        let may_drop = queue as f64 >= self.config.least_queue_packets;
        let Some(probability) = self.drop_probability().filter(|_| may_drop) else {
            self.count = None;
            return Verdict::Pass;
        };
        let count = match self.count {
            Some(count) => count + 1,
            None if self.config.first_passes => {
                self.count = Some(1);
                return Verdict::Pass;
            }
            None => 0,
        };
        let signals = self.draw(probability, count);
        self.count = Some(if signals { 0 } else { count });
        match self.config.ecn {
            _ if !signals => Verdict::Pass,
            RedEcn::All => Verdict::Mark,
            RedEcn::Early if probability < 1.0 => Verdict::Mark,
            RedEcn::Early | RedEcn::Off => Verdict::Drop,
        }
    }
}

impl Algorithm for Red {
    fn on_arrival(&mut self, arriving: &Arriving) -> Verdict {
        self.arrive(arriving.queue, arriving.idle)
    }

    fn on_drop(&mut self, _now: Time) {
        if self.config.overflow_restarts {
            self.count = self.count.map(|_| 0);
        }
    }
}

#[cfg(test)]
mod tests {
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
        Red::new(config, Rate::new(4e6, Clock::PICOSECONDS), RandomStream::named(1, 0, "red"))
    }

    fn drop_share(config: RedConfig, queue: u64) -> f64 {
        let mut red = red(RedConfig { weight: 1.0, ..config });
        let n = 200_000;
        let drops = (0..n).filter(|_| red.arrive(queue, None) == Verdict::Drop).count();
        drops as f64 / f64::from(n)
    }

    #[test]
    fn the_average_follows_the_queue_with_its_weight() {
        let mut red = red(CONFIG);
        for _ in 0..500 {
            red.arrive(10, None);
        }
        assert!((red.average - 10.0 * (1.0 - 0.998_f64.powi(500))).abs() < 1e-9);
    }

    #[test]
    fn idle_time_counts_as_arrivals_to_an_empty_queue() {
        let (mut idle, mut fed) = (red(CONFIG), red(CONFIG));
        for red in [&mut idle, &mut fed] {
            (0..300).for_each(|_| {
                red.arrive(3, None);
            });
        }
        idle.arrive(0, Some(Clock::PICOSECONDS.time(0.0401)));
        (0..41).for_each(|_| {
            fed.arrive(0, None);
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
        let drops: Vec<usize> = (0..200_000).filter(|_| red.arrive(queue, None) == Verdict::Drop).collect();
        drops.windows(2).map(|pair| pair[1] - pair[0]).collect()
    }

    /// RFC 3168 section 7: above the largest threshold packets are dropped; Linux marks them too, unless `harddrop`.
    #[test]
    fn marks_are_the_drops_of_the_same_red() {
        let verdicts = |ecn, queue| {
            let mut red = red(RedConfig { weight: 1.0, ecn, ..CONFIG });
            (0..1000).map(move |_| red.arrive(queue, None)).collect::<Vec<_>>()
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
        assert!((0..100).all(|_| red.arrive(1, None) == Verdict::Pass));
        assert_eq!(red.count, None);
        assert_eq!(red.arrive(2, None), Verdict::Drop);
        assert_eq!(red.count, Some(0));
        red.arrive(1, None);
        assert_eq!(red.count, None);
    }

    /// ns-2, red.cc, `REDQueue::enque`: where `edv_.old == 0`, `edv_.count = 1` and the packet passes.
    #[test]
    fn the_first_packet_above_the_thresholds_passes_and_is_counted() {
        let mut red = red(RedConfig { first_passes: true, weight: 1.0, ..CONFIG });
        // Above the largest threshold every packet is dropped but this one.
        assert_eq!(red.arrive(20, None), Verdict::Pass);
        assert_eq!(red.count, Some(1));
        assert_eq!(red.arrive(20, None), Verdict::Drop);
        assert_eq!(red.arrive(20, None), Verdict::Drop);
        red.arrive(4, None);
        assert_eq!(red.arrive(20, None), Verdict::Pass);
    }

    /// ns-2, red.cc, `REDQueue::enque`: a forced drop sets `edv_.count = 0` unless `ns1_compat_`.
    #[test]
    fn the_drop_of_a_full_buffer_restarts_the_count() {
        for overflow_restarts in [false, true] {
            let mut red = red(RedConfig { overflow_restarts, wait: true, weight: 1.0, ..CONFIG });
            red.on_drop(Time::ZERO);
            assert_eq!(red.count, None);
            (0..10).for_each(|_| {
                red.arrive(10, None);
            });
            assert_eq!(red.count, Some(9));
            red.on_drop(Time::ZERO);
            assert_eq!(red.count, Some(if overflow_restarts { 0 } else { 9 }));
        }
    }
}
