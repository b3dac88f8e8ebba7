//! What a loss process must hold to.

use super::{Faults, LONGEST_S};
use crate::scenario::LossLawConfig;

const MOST_ENTRIES: usize = 1_000_000;

impl Faults {
    pub(super) fn loss_law(&mut self, place: &str, law: &LossLawConfig, duration_s: f64) {
        match law {
            LossLawConfig::Bernoulli { probability } => {
                self.number(&format!("{place}.probability"), *probability, 0.0, 1.0);
            }
            LossLawConfig::Poisson { mean_interval_s, void_after_s } => {
                self.stay(&format!("{place}.mean_interval_s"), *mean_interval_s, duration_s);
                self.number(&format!("{place}.void_after_s"), *void_after_s, 0.0, LONGEST_S);
            }
            LossLawConfig::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad } => {
                for (field, probability) in [
                    ("to_bad", to_bad),
                    ("to_good", to_good),
                    ("loss_in_good", loss_in_good),
                    ("loss_in_bad", loss_in_bad),
                ] {
                    self.number(&format!("{place}.{field}"), *probability, 0.0, 1.0);
                }
            }
            LossLawConfig::Packets { numbers } => {
                let numbers: Vec<f64> = numbers.iter().map(|&number| number as f64).collect();
                self.rising(&format!("{place}.numbers"), &numbers, 1.0, 1e15);
            }
            LossLawConfig::Times { times_s } => self.rising(&format!("{place}.times_s"), times_s, 0.0, LONGEST_S),
        }
    }

    fn rising(&mut self, place: &str, values: &[f64], low: f64, high: f64) {
        self.number(&format!("{place} (length)"), values.len() as f64, 1.0, MOST_ENTRIES as f64);
        for (index, &value) in values.iter().enumerate() {
            self.number(&format!("{place}[{index}]"), value, low, high);
        }
        if let Some(index) = values.windows(2).position(|pair| pair[1] <= pair[0]) {
            let given = values[index + 1];
            self.0.push(format!("{place}[{}]: not after the one before; given {given}; allowed more", index + 1));
        }
    }
}
