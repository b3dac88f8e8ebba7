//! Faults of loss processes.

use net::LossLaw;

use super::limits::{limits, Limit, LONGEST_S, MOST_ENTRIES, SHORTEST_STAY_S};
use super::Faults;

limits! {
    LOSS_PROBABILITY = "elements[].loss.law.probability", "1", 0.0, 1.0;
    /// Narrowed by the duration.
    LOSS_INTERVAL = "elements[].loss.law.mean_interval_s", "s", SHORTEST_STAY_S, f64::MAX;
    VOID_AFTER = "elements[].loss.law.void_after_s", "s", 0.0, LONGEST_S;
    TO_BAD = "elements[].loss.law.to_bad", "1", 0.0, 1.0;
    TO_GOOD = "elements[].loss.law.to_good", "1", 0.0, 1.0;
    LOSS_IN_GOOD = "elements[].loss.law.loss_in_good", "1", 0.0, 1.0;
    LOSS_IN_BAD = "elements[].loss.law.loss_in_bad", "1", 0.0, 1.0;
    LOSS_NUMBERS = "elements[].loss.law.numbers (length)", "1", 1.0, MOST_ENTRIES;
    LOSS_NUMBER = "elements[].loss.law.numbers[]", "1", 1.0, 1e12;
    LOSS_TIMES = "elements[].loss.law.times_s (length)", "1", 1.0, MOST_ENTRIES;
    LOSS_TIME = "elements[].loss.law.times_s[]", "s", 0.0, LONGEST_S;
}

impl Faults {
    pub(super) fn loss_law(&mut self, place: &str, law: &LossLaw, duration_s: f64) {
        match law {
            LossLaw::Bernoulli { probability } => {
                self.field(place, LOSS_PROBABILITY, *probability);
            }
            LossLaw::Poisson { mean_interval_s, void_after_s } => {
                self.stay(place, LOSS_INTERVAL, *mean_interval_s, duration_s);
                self.field(place, VOID_AFTER, *void_after_s);
            }
            LossLaw::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad } => {
                self.field(place, TO_BAD, *to_bad);
                self.field(place, TO_GOOD, *to_good);
                self.field(place, LOSS_IN_GOOD, *loss_in_good);
                self.field(place, LOSS_IN_BAD, *loss_in_bad);
            }
            LossLaw::Packets { numbers } => {
                let numbers: Vec<f64> = numbers.iter().map(|&number| number as f64).collect();
                self.rising(&format!("{place}.numbers"), &numbers, LOSS_NUMBERS, LOSS_NUMBER);
            }
            LossLaw::Times { times_s } => self.rising(&format!("{place}.times_s"), times_s, LOSS_TIMES, LOSS_TIME),
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
