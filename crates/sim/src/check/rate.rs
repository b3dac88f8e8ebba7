//! Faults of changing rates.

use net::{RateLaw, RateState};

use super::delay::{stay_limit, MOST_CHANGES};
use super::limits::{limits, Limit, LONGEST_S, MOST_ENTRIES, RATES_BPS, SHORTEST_STAY_S};
use super::Faults;
use crate::scenario::ElementConfig;

limits! {
    RATE_STEPS = "elements[].rate_process.law.steps_bps (length)", "1", 1.0, MOST_ENTRIES;
    STEP_TIME = "elements[].rate_process.law.steps_bps[] (time)", "s", 0.0, LONGEST_S;
    /// 0, or a rate that a link may have.
    STEP_RATE = "elements[].rate_process.law.steps_bps[] (rate)", "bit/s", 0.0, RATES_BPS.1;
    /// Narrowed by the last step, and by the duration.
    PERIOD = "elements[].rate_process.law.period_s", "s", SHORTEST_STAY_S, LONGEST_S;
    RATE_STATES = "elements[].rate_process.law.states (length)", "1", 1.0, 100.0;
    /// 0, or a rate that a link may have.
    STATE_RATE = "elements[].rate_process.law.states[].rate_bps", "bit/s", 0.0, RATES_BPS.1;
    STATE_LEAST_STAY = "elements[].rate_process.law.states[].least_stay_s", "s", 0.0, LONGEST_S;
    STATE_MEAN_EXTRA = "elements[].rate_process.law.states[].mean_extra_s", "s", 0.0, LONGEST_S;
    /// Narrowed by the duration.
    STATE_MEAN_STAY = "elements[].rate_process.law.states[] (mean stay)", "s", SHORTEST_STAY_S, f64::MAX;
    TRANSITION = "elements[].rate_process.law.transitions[]", "1", 0.0, 1.0;
    OPPORTUNITIES = "elements[].rate_process.law.times_ms (length)", "1", 1.0, MOST_ENTRIES;
    OPPORTUNITY_TIME = "elements[].rate_process.law.times_ms[]", "ms", 0.0, LONGEST_S * 1e3;
    /// A packet uses a thousand opportunities at most.
    OPPORTUNITY_BYTES = "elements[].rate_process.law.bytes", "B", 64.0, 65535.0;
    HEADER_BYTES = "elements[].rate_process.law.header_bytes", "B", 0.0, 1000.0;
}

impl Faults {
    /// Checks the process of an element's rate; `element_place` is the path of the element.
    pub(super) fn rate_process(
        &mut self,
        element_place: &str,
        element: &ElementConfig,
        law: &RateLaw,
        duration_s: f64,
    ) {
        if element.rate_bps().is_none() {
            self.say(format!("{element_place}.rate_bps: missing; given no rate; allowed the mean of the rate_process"));
        }
        let place = format!("{element_place}.rate_process.law");
        match law {
            RateLaw::Steps { steps_bps, period_s } => self.rate_steps(&place, steps_bps, *period_s, duration_s),
            RateLaw::Alternating { states, start, transitions } => {
                self.rate_states(&format!("{place}.states"), states, duration_s);
                self.number(&format!("{place}.start"), *start as f64, 0.0, states.len().saturating_sub(1) as f64);
                if let Some(rows) = transitions {
                    self.transitions(&format!("{place}.transitions"), rows, states.len());
                }
                self.ends_outages(&place, states, transitions.as_deref());
            }
            RateLaw::Opportunities { times_ms, bytes, header_bytes } => {
                self.opportunities(&format!("{place}.times_ms"), times_ms);
                self.field(&place, OPPORTUNITY_BYTES, f64::from(*bytes));
                self.field(&place, HEADER_BYTES, f64::from(*header_bytes));
            }
        }
    }

    fn rate_steps(&mut self, place: &str, steps: &[(f64, f64)], period_s: Option<f64>, duration_s: f64) {
        let list = format!("{place}.steps_bps");
        self.within(&format!("{list} (length)"), RATE_STEPS, steps.len() as f64);
        if let Some(&(first, _)) = steps.first() {
            self.number(&format!("{list}[0]"), first, 0.0, 0.0);
        }
        for (index, &(time, rate)) in steps.iter().enumerate() {
            self.within(&format!("{list}[{index}] (time)"), STEP_TIME, time);
            self.rate_or_outage(&format!("{list}[{index}] (rate)"), STEP_RATE, rate);
        }
        if let Some(index) = steps.windows(2).position(|pair| pair[1].0 <= pair[0].0) {
            let given = steps[index + 1].0;
            self.say(format!("{list}[{}]: not after the one before; given {given}; allowed later", index + 1));
        }
        if let Some(period_s) = period_s {
            let last = steps.last().map_or(0.0, |step| step.0);
            let least = PERIOD.low.max(duration_s * steps.len() as f64 / MOST_CHANGES);
            self.field(place, Limit { low: least.max(last), ..PERIOD }, period_s);
        }
        let ends_in_outage = match period_s {
            None => steps.last().is_some_and(|step| step.1 == 0.0),
            Some(_) => steps.iter().all(|step| step.1 == 0.0),
        };
        if ends_in_outage && !steps.is_empty() {
            self.say(format!("{list}: 0 for ever; given a last rate of 0; allowed a last rate above 0, or a period_s"));
        }
    }

    fn rate_or_outage(&mut self, place: &str, limit: Limit, rate: f64) {
        let low = if rate == 0.0 { 0.0 } else { RATES_BPS.0 };
        self.within(place, Limit { low, ..limit }, rate);
    }

    fn rate_states(&mut self, place: &str, states: &[RateState], duration_s: f64) {
        self.within(&format!("{place} (length)"), RATE_STATES, states.len() as f64);
        for (index, state) in states.iter().enumerate() {
            let place = format!("{place}[{index}]");
            self.rate_or_outage(&format!("{place}.rate_bps"), STATE_RATE, state.rate_bps);
            self.field(&place, STATE_LEAST_STAY, state.least_stay_s);
            self.field(&place, STATE_MEAN_EXTRA, state.mean_extra_s);
            let mean_stay_s = state.least_stay_s + state.mean_extra_s;
            self.within(&format!("{place} (mean stay)"), stay_limit(STATE_MEAN_STAY, duration_s), mean_stay_s);
        }
    }

    /// Checks that a positive rate follows each state in the end.
    fn ends_outages(&mut self, place: &str, states: &[RateState], transitions: Option<&[Vec<f64>]>) {
        let mut ends: Vec<bool> = states.iter().map(|state| state.rate_bps > 0.0).collect();
        for _ in 0..states.len() {
            for index in 0..states.len() {
                ends[index] |= match transitions {
                    None => ends.contains(&true),
                    Some(rows) => rows.get(index).is_none_or(|row| {
                        row.len() != states.len() || row.iter().zip(&ends).any(|(&share, &end)| share > 0.0 && end)
                    }),
                };
            }
        }
        if let Some(index) = ends.iter().position(|end| !end) {
            self.say(format!(
                "{place}.states[{index}]: 0 for ever; given no state after it with a rate; allowed a state above 0 bit/s"
            ));
        }
    }

    fn opportunities(&mut self, place: &str, times_ms: &[u64]) {
        self.within(&format!("{place} (length)"), OPPORTUNITIES, times_ms.len() as f64);
        for (index, &time_ms) in times_ms.iter().enumerate() {
            self.within(&format!("{place}[{index}]"), OPPORTUNITY_TIME, time_ms as f64);
        }
        if let Some(index) = times_ms.windows(2).position(|pair| pair[1] < pair[0]) {
            let given = times_ms[index + 1];
            self.say(format!("{place}[{}]: before the one before; given {given}; allowed no earlier", index + 1));
        }
        if times_ms.last() == Some(&0) {
            self.say(format!("{place}: ends at 0; given 0; allowed a last instant of 1 ms and more"));
        }
    }
}
