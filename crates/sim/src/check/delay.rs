//! Faults of changing delays.

use net::{DelayLaw, DelayState};

use super::limits::{limits, Limit, LONGEST_DELAY_S, LONGEST_S, MOST_ENTRIES, SHORTEST_STAY_S};
use super::Faults;

limits! {
    DELAY_STEPS = "elements[].delay_process.law.steps_s (length)", "1", 1.0, MOST_ENTRIES;
    STEP_TIME = "elements[].delay_process.law.steps_s[] (time)", "s", 0.0, LONGEST_S;
    STEP_DELAY = "elements[].delay_process.law.steps_s[] (delay)", "s", 0.0, LONGEST_DELAY_S;
    DELAY_STATES = "elements[].delay_process.law.states (length)", "1", 1.0, 1000.0;
    STATE_DELAY = "elements[].delay_process.law.states[].delay_s", "s", 0.0, LONGEST_DELAY_S;
    STATE_LEAST_STAY = "elements[].delay_process.law.states[].least_stay_s", "s", 0.0, LONGEST_S;
    STATE_MEAN_EXTRA = "elements[].delay_process.law.states[].mean_extra_s", "s", 0.0, LONGEST_S;
    /// Narrowed by the duration.
    STATE_MEAN_STAY = "elements[].delay_process.law.states[] (mean stay)", "s", SHORTEST_STAY_S, f64::MAX;
    TRANSITION = "elements[].delay_process.law.transitions[]", "1", 0.0, 1.0;
    HANDOVER_HIGH = "elements[].delay_process.law.high_s", "s", 0.0, LONGEST_DELAY_S;
    /// Narrowed by the largest delay.
    HANDOVER_LOW = "elements[].delay_process.law.low_s", "s", 0.0, LONGEST_DELAY_S;
    /// Narrowed by the duration.
    HANDOVER_PERIOD = "elements[].delay_process.law.period_s", "s", SHORTEST_STAY_S, f64::MAX;
}

/// Most changes in a run: a single packet may have to pass all of them.
pub(super) const MOST_CHANGES: f64 = 1e7;
/// Largest deviation of the sum of a row of probabilities from 1.
const ROUNDING: f64 = 1e-9;

/// Narrows the range of a time between two changes by the number of changes in a run.
pub(super) fn stay_limit(limit: Limit, duration_s: f64) -> Limit {
    Limit { low: limit.low.max(duration_s / MOST_CHANGES), ..limit }
}

impl Faults {
    pub(super) fn delay_law(&mut self, place: &str, law: &DelayLaw, duration_s: f64) {
        match law {
            DelayLaw::Steps { steps_s } => self.steps(&format!("{place}.steps_s"), steps_s),
            DelayLaw::Alternating { states, start, transitions } => {
                self.states(&format!("{place}.states"), states, duration_s);
                self.number(&format!("{place}.start"), *start as f64, 0.0, states.len().saturating_sub(1) as f64);
                if let Some(rows) = transitions {
                    self.transitions(&format!("{place}.transitions"), rows, states.len());
                }
            }
            DelayLaw::Handover { low_s, high_s, period_s } => {
                self.field(place, HANDOVER_HIGH, *high_s);
                self.field(place, Limit { high: *high_s, ..HANDOVER_LOW }, *low_s);
                self.stay(place, HANDOVER_PERIOD, *period_s, duration_s);
            }
        }
    }

    /// Checks a (mean) time between two changes; `place` is the path of the table that has the field.
    pub(super) fn stay(&mut self, place: &str, limit: Limit, stay_s: f64, duration_s: f64) {
        self.field(place, stay_limit(limit, duration_s), stay_s);
    }

    fn steps(&mut self, place: &str, steps_s: &[(f64, f64)]) {
        self.within(&format!("{place} (length)"), DELAY_STEPS, steps_s.len() as f64);
        if let Some(&(first, _)) = steps_s.first() {
            self.number(&format!("{place}[0]"), first, 0.0, 0.0);
        }
        for (index, &(time, delay)) in steps_s.iter().enumerate() {
            self.within(&format!("{place}[{index}] (time)"), STEP_TIME, time);
            self.within(&format!("{place}[{index}] (delay)"), STEP_DELAY, delay);
        }
        if let Some(index) = steps_s.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
            let given = steps_s[index + 1].0;
            self.0.push(format!("{place}[{}]: not after the one before; given {given}; allowed later", index + 1));
        }
    }

    fn states(&mut self, place: &str, states: &[DelayState], duration_s: f64) {
        self.within(&format!("{place} (length)"), DELAY_STATES, states.len() as f64);
        for (index, state) in states.iter().enumerate() {
            let place = format!("{place}[{index}]");
            self.field(&place, STATE_DELAY, state.delay_s);
            self.field(&place, STATE_LEAST_STAY, state.least_stay_s);
            self.field(&place, STATE_MEAN_EXTRA, state.mean_extra_s);
            let mean_stay_s = state.least_stay_s + state.mean_extra_s;
            self.within(&format!("{place} (mean stay)"), stay_limit(STATE_MEAN_STAY, duration_s), mean_stay_s);
        }
    }

    pub(super) fn transitions(&mut self, place: &str, rows: &[Vec<f64>], states: usize) {
        let square = rows.len() == states && rows.iter().all(|row| row.len() == states);
        if !square {
            self.0.push(format!("{place}: not a row and a column for each state; allowed {states} rows of {states}"));
        }
        for (index, row) in rows.iter().enumerate() {
            for &probability in row {
                self.within(&format!("{place}[{index}]"), TRANSITION, probability);
            }
            self.number(&format!("{place}[{index}] (sum)"), row.iter().sum(), 1.0 - ROUNDING, 1.0 + ROUNDING);
        }
    }
}
