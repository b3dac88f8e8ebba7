//! Adaptive RED as ns-2.35 has it (red.cc, `REDQueue::updateMaxP`; Floyd, Gummadi, Shenker 2001).

use base::{Clock, Rate, Time};
use serde::{Deserialize, Serialize};

/// Parameters of the adaptation.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedAdaptation {
    /// Least time between two changes \[s\] (`interval_`).
    pub interval_s: f64,
    /// Largest step up; never more than a quarter of the probability (`alpha_`).
    pub step_up: f64,
    /// Factor of a step down (`beta_`).
    pub factor_down: f64,
    /// Probability from which it is not raised (`top_`).
    pub top: f64,
    /// Probability from which it is not lowered (`bottom_`); `None`: 1%, and at most 80 kbit/s over the rate of the link.
    pub bottom: Option<f64>,
}

impl RedAdaptation {
    /// The defaults of ns-2.
    pub const NS2: RedAdaptation =
        RedAdaptation { interval_s: 0.5, step_up: 0.01, factor_down: 0.9, top: 0.5, bottom: None };
}

/// Fraction of the distance between the thresholds that the average keeps from each.
const PART: f64 = 0.4;
/// Largest step up, in the probability.
const LARGEST_STEP: f64 = 0.25;
/// The default of the least probability is the smaller of 1% and the time in seconds that 10,000 bytes take on the
/// link (red.cc, `initialize_params`).
const LEAST_DEFAULT: (f64, u16) = (0.01, 10_000);

/// The adaptation of the drop probability at the maximum threshold.
#[derive(Clone, Debug)]
pub(super) struct Adaptation {
    config: RedAdaptation,
    bottom: f64,
    interval: Time,
    /// Instant of the last change (`lastset`).
    changed: Time,
}

impl Adaptation {
    pub(super) fn new(config: RedAdaptation, rate: Rate, clock: Clock) -> Adaptation {
        let (least, bytes) = LEAST_DEFAULT;
        // 80,000 bits over the rate are the time of 10,000 bytes in seconds.
        let by_rate = clock.seconds(rate.longest_service_time(bytes));
        let bottom = config.bottom.unwrap_or(if by_rate > 0.0 { by_rate.min(least) } else { least });
        Adaptation { config, bottom, interval: clock.time(config.interval_s), changed: Time::ZERO }
    }

    /// Adapts the probability at an arrival, so that the average stays in the middle between the thresholds.
    pub(super) fn adapt(&mut self, now: Time, average: f64, (min, max): (f64, f64), probability: &mut f64) {
        if now - self.changed <= self.interval {
            return;
        }
        let part = PART * (max - min);
        if average < min + part && *probability > self.bottom {
            *probability *= self.config.factor_down;
        } else if average > max - part && *probability < self.config.top {
            *probability += self.config.step_up.min(LARGEST_STEP * *probability);
        } else {
            return;
        }
        self.changed = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: Clock = Clock::PICOSECONDS;

    /// Returns the probability after a packet at an instant finds an average, between thresholds of 5 and 15.
    fn adapted(config: RedAdaptation, rate_bps: f64, probability: f64, steps: &[(f64, f64)]) -> f64 {
        let mut adaptation = Adaptation::new(config, Rate::new(rate_bps, CLOCK), CLOCK);
        let mut probability = probability;
        for &(at_s, average) in steps {
            adaptation.adapt(CLOCK.time(at_s), average, (5.0, 15.0), &mut probability);
        }
        probability
    }

    /// red.cc, `REDQueue::updateMaxP`: up by alpha, at most a quarter, above 11 packets; down by beta below 9.
    #[test]
    fn the_average_is_kept_in_the_middle_between_the_thresholds() {
        let one = |probability, average| adapted(RedAdaptation::NS2, 1e6, probability, &[(0.6, average)]);
        assert!((one(0.1, 11.1) - 0.11).abs() < 1e-12);
        assert!((one(0.02, 20.0) - 0.025).abs() < 1e-12);
        assert!((one(0.1, 8.9) - 0.09).abs() < 1e-12);
        assert_eq!([one(0.1, 9.1), one(0.1, 10.9), one(0.5, 20.0), one(0.01, 1.0)], [0.1, 0.1, 0.5, 0.01]);
    }

    /// red.cc, `REDQueue::estimator`: `now > lastset + interval`, and `lastset` is the last change, not the last look.
    #[test]
    fn changes_are_an_interval_apart() {
        let steps = [(0.5, 8.0), (0.51, 10.0), (0.52, 8.0), (1.02, 8.0), (1.03, 8.0)];
        for (count, expected) in [(1, 0.1), (2, 0.1), (3, 0.09), (4, 0.09), (5, 0.081)] {
            let probability = adapted(RedAdaptation::NS2, 1e6, 0.1, &steps[..count]);
            assert!((probability - expected).abs() < 1e-12, "{count}: {probability}");
        }
    }

    /// red.cc, `REDQueue::initialize_params`: 80 kbit/s over the rate, at most 1%.
    #[test]
    fn the_least_probability_follows_from_the_rate_unless_it_is_given() {
        let lowest = |bottom, rate_bps| {
            let config = RedAdaptation { bottom, interval_s: 0.0, factor_down: 0.999, ..RedAdaptation::NS2 };
            let steps: Vec<(f64, f64)> = (1..20_000).map(|step| (f64::from(step) / 1e3, 1.0)).collect();
            adapted(config, rate_bps, 0.1, &steps)
        };
        for (bottom, rate_bps, expected) in [(None, 1e6, 0.01), (None, 80e6, 0.001), (Some(0.03), 80e6, 0.03)] {
            let found = lowest(bottom, rate_bps);
            assert!(found <= expected && found > 0.998 * expected, "{found}");
        }
    }
}
