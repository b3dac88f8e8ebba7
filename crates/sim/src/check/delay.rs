//! What a delay that changes must hold to.

use super::{Faults, LONGEST_DELAY_S, LONGEST_S};
use crate::scenario::{DelayLawConfig, DelayStateConfig};

const MOST_STEPS: usize = 1_000_000;
const MOST_STATES: usize = 1000;
/// The shortest mean stay \[s\], and the most changes in a run: a single packet may have to pass all of them.
const SHORTEST_STAY_S: f64 = 1e-6;
const MOST_CHANGES: f64 = 1e7;
/// How far a row of probabilities may be from 1.
const ROUNDING: f64 = 1e-9;

impl Faults {
    pub(super) fn delay_law(&mut self, place: &str, law: &DelayLawConfig, duration_s: f64) {
        match law {
            DelayLawConfig::Steps { steps_s } => self.steps(&format!("{place}.steps_s"), steps_s),
            DelayLawConfig::Alternating { states, start, transitions } => {
                self.states(&format!("{place}.states"), states, duration_s);
                self.number(&format!("{place}.start"), *start as f64, 0.0, states.len().saturating_sub(1) as f64);
                if let Some(rows) = transitions {
                    self.transitions(&format!("{place}.transitions"), rows, states.len());
                }
            }
            DelayLawConfig::Handover { low_s, high_s, period_s } => {
                self.number(&format!("{place}.high_s"), *high_s, 0.0, LONGEST_DELAY_S);
                self.number(&format!("{place}.low_s"), *low_s, 0.0, *high_s);
                self.stay(&format!("{place}.period_s"), *period_s, duration_s);
            }
        }
    }

    /// A (mean) time between two changes.
    pub(super) fn stay(&mut self, place: &str, stay_s: f64, duration_s: f64) {
        let least = SHORTEST_STAY_S.max(duration_s / MOST_CHANGES);
        self.number(place, stay_s, least, f64::MAX);
    }

    fn steps(&mut self, place: &str, steps_s: &[(f64, f64)]) {
        self.number(&format!("{place} (length)"), steps_s.len() as f64, 1.0, MOST_STEPS as f64);
        if let Some(&(first, _)) = steps_s.first() {
            self.number(&format!("{place}[0]"), first, 0.0, 0.0);
        }
        for (index, &(time, delay)) in steps_s.iter().enumerate() {
            self.number(&format!("{place}[{index}] (time)"), time, 0.0, LONGEST_S);
            self.number(&format!("{place}[{index}] (delay)"), delay, 0.0, LONGEST_DELAY_S);
        }
        if let Some(index) = steps_s.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
            let given = steps_s[index + 1].0;
            self.0.push(format!("{place}[{}]: not after the one before; given {given}; allowed later", index + 1));
        }
    }

    fn states(&mut self, place: &str, states: &[DelayStateConfig], duration_s: f64) {
        self.number(&format!("{place} (length)"), states.len() as f64, 1.0, MOST_STATES as f64);
        for (index, state) in states.iter().enumerate() {
            let place = format!("{place}[{index}]");
            self.number(&format!("{place}.delay_s"), state.delay_s, 0.0, LONGEST_DELAY_S);
            self.number(&format!("{place}.least_stay_s"), state.least_stay_s, 0.0, LONGEST_S);
            self.number(&format!("{place}.mean_extra_s"), state.mean_extra_s, 0.0, LONGEST_S);
            self.stay(&format!("{place} (mean stay)"), state.least_stay_s + state.mean_extra_s, duration_s);
        }
    }

    fn transitions(&mut self, place: &str, rows: &[Vec<f64>], states: usize) {
        let square = rows.len() == states && rows.iter().all(|row| row.len() == states);
        if !square {
            self.0.push(format!("{place}: not a row and a column for each state; allowed {states} rows of {states}"));
        }
        for (index, row) in rows.iter().enumerate() {
            for &probability in row {
                self.number(&format!("{place}[{index}]"), probability, 0.0, 1.0);
            }
            self.number(&format!("{place}[{index}] (sum)"), row.iter().sum(), 1.0 - ROUNDING, 1.0 + ROUNDING);
        }
    }
}
