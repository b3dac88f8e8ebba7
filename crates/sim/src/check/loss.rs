//! Faults of loss processes.

use super::limits::*;
use super::Faults;
use crate::scenario::LossLawConfig;

impl Faults {
    pub(super) fn loss_law(&mut self, place: &str, law: &LossLawConfig, duration_s: f64) {
        match law {
            LossLawConfig::Bernoulli { probability } => {
                self.field(place, LOSS_PROBABILITY, *probability);
            }
            LossLawConfig::Poisson { mean_interval_s, void_after_s } => {
                self.stay(place, LOSS_INTERVAL, *mean_interval_s, duration_s);
                self.field(place, VOID_AFTER, *void_after_s);
            }
            LossLawConfig::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad } => {
                self.field(place, TO_BAD, *to_bad);
                self.field(place, TO_GOOD, *to_good);
                self.field(place, LOSS_IN_GOOD, *loss_in_good);
                self.field(place, LOSS_IN_BAD, *loss_in_bad);
            }
            LossLawConfig::Packets { numbers } => {
                let numbers: Vec<f64> = numbers.iter().map(|&number| number as f64).collect();
                self.rising(&format!("{place}.numbers"), &numbers, LOSS_NUMBERS, LOSS_NUMBER);
            }
            LossLawConfig::Times { times_s } => {
                self.rising(&format!("{place}.times_s"), times_s, LOSS_TIMES, LOSS_TIME)
            }
        }
    }

    fn rising(&mut self, place: &str, values: &[f64], length: Limit, entry: Limit) {
        self.within(&format!("{place} (length)"), length, values.len() as f64);
        for (index, &value) in values.iter().enumerate() {
            self.within(&format!("{place}[{index}]"), entry, value);
        }
        if let Some(index) = values.windows(2).position(|pair| pair[1] <= pair[0]) {
            let given = values[index + 1];
            self.0.push(format!("{place}[{}]: not after the one before; given {given}; allowed more", index + 1));
        }
    }
}
