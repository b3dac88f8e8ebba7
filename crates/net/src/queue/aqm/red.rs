mod adaptation;

use base::{Clock, RandomStream, Rate, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, AqmState, Arriving, Verdict};
use adaptation::Adaptation;
pub use adaptation::RedAdaptation;

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
    /// Whether the queue is measured in bytes, as a number of typical packets: `queue_in_bytes_` of ns-2. The least queue
    /// is then a number of bytes (red.cc, `REDQueue::enque`, `qlen > 1`).
    #[serde(default)]
    pub in_bytes: bool,
    /// Whether the drop probability of a packet is in proportion to its size, and typical packets are counted since the
    /// last drop: `bytes_` of ns-2 (red.cc, `REDQueue::modify_p`).
    #[serde(default)]
    pub by_size: bool,
    /// Adaptation of `max_probability` (Adaptive RED); `None`: it is constant.
    #[serde(default)]
    pub adaptation: Option<RedAdaptation>,
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
        in_bytes: false,
        by_size: false,
        adaptation: None,
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
    /// Length of these packets \[bytes\].
    count_bytes: u64,
    /// Drop probability at the maximum threshold, of averages below it.
    max_probability: f64,
    adaptation: Option<Adaptation>,
    /// Service time of a typical packet.
    typical_service: Time,
    random: RandomStream,
}

impl Red {
    /// Returns the RED of an empty queue in front of a link with a rate.
    pub fn new(config: RedConfig, rate: Rate, clock: Clock, random: RandomStream) -> Red {
        Red {
            config,
            average: 0.0,
            count: None,
            count_bytes: 0,
            max_probability: config.max_probability,
            adaptation: config.adaptation.map(|adaptation| Adaptation::new(adaptation, rate, clock)),
            typical_service: rate.longest_service_time(config.mean_packet_bytes),
            random,
        }
    }

    /// Returns the state that traces have.
    pub(super) fn state(&self) -> AqmState {
        let probability = Some(self.drop_probability().unwrap_or(0.0));
        AqmState { average_packets: Some(self.average), probability, ..AqmState::default() }
    }

    /// Updates the average with the queue that a packet finds.
    ///
    /// Floyd, Jacobson 1993 section 4: idle time counts like arrivals of typical packets at an empty queue.
    fn update_average(&mut self, queue: f64, idle: Option<Time>) {
        let keep = 1.0 - self.config.weight;
        match idle {
            Some(idle) if self.typical_service > Time::ZERO => {
                let missed = idle.ticks() / self.typical_service.ticks();
                self.average *= keep.powf(missed as f64);
            }
            _ => {}
        }
        self.average = keep * self.average + self.config.weight * queue;
    }

    /// Returns p_b; `None` below the minimum threshold.
    ///
    /// ns-2 computes the line above the maximum threshold once (red.cc, `REDQueue::reset`, `v_c` and `v_d`): an adaptation
    /// does not move it.
    fn drop_probability(&self) -> Option<f64> {
        let RedConfig { min_threshold_packets: min, max_threshold_packets: max, max_probability, .. } = self.config;
        let average = self.average;
        if average < min {
            None
        } else if average < max {
            Some(self.max_probability * (average - min) / (max - min))
        } else if self.config.gentle && average < 2.0 * max {
            Some(max_probability + (1.0 - max_probability) * (average - max) / max)
        } else {
            Some(1.0)
        }
    }

    /// Draws whether a packet is dropped, of the probability p_b and the packets since the last drop.
    fn draw(&mut self, probability: f64, count: u64, bytes: u16) -> bool {
        if self.config.by_size {
            return self.draw_by_size(probability, bytes);
        }
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

    /// The same for a packet whose drop probability is in proportion to its size (ns-2 `REDQueue::modify_p` with `bytes`).
    fn draw_by_size(&mut self, probability: f64, bytes: u16) -> bool {
        let drawn = if probability < 1.0 { self.random.uniform() } else { 0.0 };
        let typical = u64::from(self.config.mean_packet_bytes.max(1));
        let expected = (self.count_bytes / typical) as f64 * probability;
        let begins = if self.config.wait { 1.0 } else { 0.0 };
        let modified = if expected < begins {
            0.0
        } else if expected < begins + 1.0 {
            probability / (begins + 1.0 - expected)
        } else {
            1.0
        };
        let scaled = modified * f64::from(bytes) / typical as f64;
        drawn < if modified < 1.0 { scaled } else { 1.0 }
    }

    /// Returns the queue of which the average is taken \[packets\], and whether it is long enough for an early drop.
    fn length(&self, arriving: &Arriving) -> (f64, bool) {
        let bytes = arriving.waiting_bytes as f64;
        let (length, compared) = if self.config.in_bytes {
            (bytes / f64::from(self.config.mean_packet_bytes.max(1)), bytes)
        } else {
            (arriving.queue as f64, arriving.queue as f64)
        };
        (length, compared >= self.config.least_queue_packets)
    }
}

impl Algorithm for Red {
    fn on_arrival(&mut self, arriving: &Arriving) -> Verdict {
        let (length, may_drop) = self.length(arriving);
        self.update_average(length, arriving.idle);
        if let Some(adaptation) = &mut self.adaptation {
            let RedConfig { min_threshold_packets: min, max_threshold_packets: max, .. } = self.config;
            adaptation.adapt(arriving.now, self.average, (min, max), &mut self.max_probability);
        }
        let Some(probability) = self.drop_probability().filter(|_| may_drop) else {
            self.count = None;
            return Verdict::Pass;
        };
        self.count_bytes += u64::from(arriving.bytes);
        let count = match self.count {
            Some(count) => count + 1,
            None if self.config.first_passes => {
                (self.count, self.count_bytes) = (Some(1), arriving.bytes.into());
                return Verdict::Pass;
            }
            None => {
                self.count_bytes = 0;
                0
            }
        };
        let signals = self.draw(probability, count, arriving.bytes);
        self.count = Some(if signals { 0 } else { count });
        if signals {
            self.count_bytes = 0;
        }
        match self.config.ecn {
            _ if !signals => Verdict::Pass,
            RedEcn::All => Verdict::Mark,
            RedEcn::Early if probability < 1.0 => Verdict::Mark,
            RedEcn::Early | RedEcn::Off => Verdict::Drop,
        }
    }

    fn on_drop(&mut self, _now: Time) {
        if self.config.overflow_restarts {
            (self.count, self.count_bytes) = (self.count.map(|_| 0), 0);
        }
    }
}

#[cfg(test)]
mod tests;
