use base::{RandomStream, Rate, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, Verdict};

/// Parameters of Random Early Detection: Floyd, Jacobson 1993, with the later "gentle" option.
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
    };
}

/// Random Early Detection of a queue.
#[derive(Clone, Debug)]
pub struct Red {
    config: RedConfig,
    /// Average queue \[packets\].
    average: f64,
    /// Packets since the last drop, or since the average rose above the minimum threshold; `None` below it.
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
}

impl Algorithm for Red {
    fn on_arrival(&mut self, queue: u64, idle: Option<Time>) -> Verdict {
        self.update_average(queue, idle);
        let Some(probability) = self.drop_probability() else {
            self.count = None;
            return Verdict::Pass;
        };
        let count = self.count.map_or(0, |count| count + 1);
        // Floyd, Jacobson 1993 section 7: p_a = p_b / (1 - count p_b) spaces drops evenly.
        let spread = 1.0 - count as f64 * probability;
        let dropped = spread <= 0.0 || self.random.uniform() < probability / spread;
        self.count = Some(if dropped { 0 } else { count });
        if dropped {
            Verdict::Drop
        } else {
            Verdict::Pass
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
    };

    fn red(config: RedConfig) -> Red {
        // 500 bytes take 1 ms.
        Red::new(config, Rate::new(4e6, Clock::PICOSECONDS), RandomStream::named(1, 0, "red"))
    }

    fn drop_share(config: RedConfig, queue: u64) -> f64 {
        let mut red = red(RedConfig { weight: 1.0, ..config });
        let n = 200_000;
        let drops = (0..n).filter(|_| red.on_arrival(queue, None) == Verdict::Drop).count();
        drops as f64 / f64::from(n)
    }

    #[test]
    fn the_average_follows_the_queue_with_its_weight() {
        let mut red = red(CONFIG);
        for _ in 0..500 {
            red.on_arrival(10, None);
        }
        assert!((red.average - 10.0 * (1.0 - 0.998_f64.powi(500))).abs() < 1e-9);
    }

    #[test]
    fn idle_time_counts_as_arrivals_to_an_empty_queue() {
        let (mut idle, mut fed) = (red(CONFIG), red(CONFIG));
        for red in [&mut idle, &mut fed] {
            (0..300).for_each(|_| {
                red.on_arrival(3, None);
            });
        }
        idle.on_arrival(0, Some(Clock::PICOSECONDS.time(0.0401)));
        (0..41).for_each(|_| {
            fed.on_arrival(0, None);
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
}
