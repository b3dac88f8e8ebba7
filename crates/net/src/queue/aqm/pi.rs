//! Proportional Integral controller (Hollot, Misra, Towsley, Gong 2001) as ns-2.35 has it (`queue/pi.cc`).

use base::{Clock, RandomStream, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, AqmState, Arriving, Departing, Verdict};

/// Parameters of the controller.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PiConfig {
    /// Queue that the drop probability is controlled for \[packets\] (`qref_`).
    pub target_packets: f64,
    /// Change of the probability, in an update, for each packet above the target (`a_`).
    pub factor_new: f64,
    /// Change back for each packet above the target at the update before (`b_`).
    pub factor_old: f64,
    /// Time between two updates \[s\]: 1 / `w_`.
    pub update_s: f64,
    /// Whether the queue is measured in bytes, as a number of typical packets (`queue_in_bytes_`).
    pub in_bytes: bool,
    /// Whether the drop probability of a packet is in proportion to its size (`bytes_`).
    pub by_size: bool,
    /// Size of a typical packet \[bytes\] (`mean_pktsize_`).
    pub mean_packet_bytes: u16,
    /// Whether packets of ECN-capable transports are marked instead of dropped early (`setbit_`).
    pub ecn: bool,
}

impl PiConfig {
    /// The rule of Hollot et al. with factors and a target that act in a buffer of 20 packets.
    pub const TYPICAL: PiConfig = PiConfig {
        target_packets: 5.0,
        factor_new: 0.01,
        factor_old: 0.0095,
        update_s: 0.01,
        in_bytes: false,
        by_size: false,
        mean_packet_bytes: 500,
        ecn: false,
    };
}

/// The controller of a queue.
#[derive(Clone, Debug)]
pub(crate) struct Pi {
    config: PiConfig,
    /// Drop probability of a typical packet (`v_prob`).
    probability: f64,
    /// Queue at the last update \[packets\] (`qold`).
    length_before: f64,
    update: Time,
    next_update: Time,
    random: RandomStream,
}

impl Pi {
    /// Returns the controller of an empty queue; its first update is at the beginning of the run.
    pub(crate) fn new(config: PiConfig, clock: Clock, random: RandomStream) -> Pi {
        let update = clock.time(config.update_s).max(Time::TICK);
        Pi { config, probability: 0.0, length_before: 0.0, update, next_update: Time::ZERO, random }
    }

    /// Returns the state that traces have.
    pub(super) fn state(&self) -> AqmState {
        AqmState { probability: Some(self.probability), ..AqmState::default() }
    }

    fn length(&self, packets: u64, bytes: u64) -> f64 {
        if self.config.in_bytes {
            bytes as f64 / f64::from(self.config.mean_packet_bytes.max(1))
        } else {
            packets as f64
        }
    }

    /// Makes the updates that were due before an event; the queue had this length since the event before.
    fn catch_up(&mut self, now: Time, length: f64) {
        while self.next_update <= now {
            let before = (self.probability, self.length_before);
            self.update_probability(length);
            self.next_update += self.update;
            if before == (self.probability, self.length_before) && self.next_update <= now {
                // Each further update leaves this as it is.
                let missed = (now - self.next_update).ticks() / self.update.ticks();
                self.next_update += self.update.times(missed + 1);
            }
        }
    }

    /// Updates the probability (pi.cc, `PIQueue::calculate_p`).
    fn update_probability(&mut self, length: f64) {
        let PiConfig { factor_new, factor_old, target_packets: target, .. } = self.config;
        let change = factor_new * (length - target) - factor_old * (self.length_before - target);
        self.probability = (change + self.probability).clamp(0.0, 1.0);
        self.length_before = length;
    }

    /// Draws whether a packet is dropped or marked early (pi.cc, `PIQueue::drop_early`).
    fn signals(&mut self, bytes: u16) -> bool {
        let scale = f64::from(bytes) / f64::from(self.config.mean_packet_bytes.max(1));
        let probability = self.probability * if self.config.by_size { scale } else { 1.0 };
        self.probability > 0.0 && self.random.uniform() < probability
    }
}

impl Algorithm for Pi {
    fn on_arrival(&mut self, arriving: &Arriving) -> Verdict {
        self.catch_up(arriving.now, self.length(arriving.waiting, arriving.waiting_bytes));
        match self.signals(arriving.bytes) {
            false => Verdict::Pass,
            true if self.config.ecn => Verdict::Mark,
            true => Verdict::Drop,
        }
    }

    fn on_departure(&mut self, departing: &Departing<'_>) -> Verdict {
        let bytes = departing.left_bytes + u64::from(departing.bytes);
        self.catch_up(departing.now, self.length(departing.left.packets + 1, bytes));
        Verdict::Pass
    }

    fn on_empty(&mut self, now: Time) -> bool {
        self.catch_up(now, 0.0);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Occupancy;

    const CLOCK: Clock = Clock::PICOSECONDS;

    fn pi(config: PiConfig) -> Pi {
        Pi::new(config, CLOCK, RandomStream::named(1, 0, "pi"))
    }

    fn arrive(pi: &mut Pi, at_s: f64, waiting: u64, bytes: u16) -> Verdict {
        let waiting_bytes = waiting * 500;
        pi.on_arrival(&Arriving { now: CLOCK.time(at_s), queue: waiting, waiting, idle: None, waiting_bytes, bytes })
    }

    /// Hollot et al. 2001, section 4: p(k) = a (q(k) - qref) - b (q(k - 1) - qref) + p(k - 1); pi.cc makes the first
    /// update at 0, with an empty queue.
    #[test]
    fn the_probability_follows_the_queue_at_each_update() {
        let mut pi = pi(PiConfig { target_packets: 5.0, factor_new: 0.02, factor_old: 0.01, ..PiConfig::TYPICAL });
        arrive(&mut pi, 0.0, 0, 500);
        assert_eq!(pi.probability, 0.0, "0.02 (0 - 5) - 0.01 (0 - 5) is below 0");
        arrive(&mut pi, 0.015, 9, 500);
        assert!((pi.probability - (0.02 * 4.0 + 0.01 * 5.0)).abs() < 1e-12, "{}", pi.probability);
        arrive(&mut pi, 0.0199, 30, 500);
        assert!((pi.probability - 0.13).abs() < 1e-12, "the next update is at 20 ms");
        arrive(&mut pi, 0.02, 7, 500);
        assert!((pi.probability - (0.13 + 0.02 * 2.0 - 0.01 * 4.0)).abs() < 1e-12);
    }

    /// The queue between two events is what the one before left: a departure sees the packet that it takes.
    #[test]
    fn updates_before_a_departure_have_the_queue_before_it() {
        let config = PiConfig { factor_old: 0.0, target_packets: 0.0, ..PiConfig::TYPICAL };
        for (in_bytes, expected) in [(false, 0.03), (true, 0.05)] {
            let mut pi = pi(PiConfig { in_bytes, ..config });
            arrive(&mut pi, 0.0, 0, 500);
            let left = Occupancy { packets: 2, bytes: 1000, bytes_in_service: 0 };
            let (now, sojourn) = (CLOCK.time(0.012), Time::ZERO);
            let (capable, bytes, left_bytes, class, left_in_class, again) = (false, 1500, 1000, 0, 2, false);
            let left = &left;
            pi.on_departure(&Departing { now, sojourn, capable, bytes, left, left_bytes, class, left_in_class, again });
            assert!((pi.probability - expected).abs() < 1e-12, "{in_bytes}: {}", pi.probability);
        }
    }

    #[test]
    fn a_long_idle_time_takes_the_probability_to_zero_at_once() {
        let mut pi = pi(PiConfig::TYPICAL);
        pi.probability = 1.0;
        pi.on_empty(CLOCK.time(1e5));
        assert_eq!(pi.probability, 0.0);
        assert!(pi.next_update > CLOCK.time(1e5) && pi.next_update <= CLOCK.time(1e5 + 0.01));
    }

    /// pi.cc, `PIQueue::drop_early`: p times the size over `mean_pktsize_` with `bytes_`; a mark with `setbit_`.
    #[test]
    fn packets_are_dropped_or_marked_with_the_probability_or_in_proportion_to_their_size() {
        for (by_size, bytes, ecn, expected) in
            [(false, 1500, false, 0.1), (true, 1500, false, 0.3), (true, 250, true, 0.05), (true, 6000, true, 1.0)]
        {
            let mut pi = pi(PiConfig { by_size, ecn, update_s: 1e6, ..PiConfig::TYPICAL });
            arrive(&mut pi, 0.0, 0, 500);
            pi.probability = 0.1;
            let signal = if ecn { Verdict::Mark } else { Verdict::Drop };
            let n = 100_000;
            let signals = (0..n).filter(|_| arrive(&mut pi, 0.001, 3, bytes) == signal).count();
            let share = signals as f64 / f64::from(n);
            assert!((share - expected).abs() < 0.006, "{by_size} {bytes}: {share}");
        }
    }
}
