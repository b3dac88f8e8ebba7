use base::{Clock, RandomStream, Time};
use serde::{Deserialize, Serialize};

/// The law by which a propagation delay changes with time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum DelayLaw {
    /// Changes at given instants.
    Steps {
        /// Pairs of an instant \[s\] and the delay from then on \[s\], in order of time; the first instant is 0.
        steps_s: Vec<(f64, f64)>,
    },
    /// A semi-Markov process, which stays in a state for a random time and then enters another.
    Alternating {
        /// States of the process.
        states: Vec<DelayState>,
        /// Index of the first state.
        start: usize,
        /// Probability of each transition, from a state (row) to a state; `None`: to the next state, cyclically.
        transitions: Option<Vec<Vec<f64>>>,
    },
    /// A new delay each period, uniform between two bounds: a path that moves from satellite to satellite.
    Handover {
        /// Smallest delay \[s\].
        low_s: f64,
        /// Largest delay \[s\].
        high_s: f64,
        /// Length of a period \[s\].
        period_s: f64,
    },
}

/// A state of [`DelayLaw::Alternating`]. The process stays in it for V = T + X: at least `least_stay_s`, and
/// exponentially distributed longer [abrupt-delay, section II].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DelayState {
    /// Delay in this state \[s\].
    pub delay_s: f64,
    /// Minimum stay (T) \[s\].
    pub least_stay_s: f64,
    /// Mean of the random addition (the mean of X) \[s\].
    pub mean_extra_s: f64,
}

impl DelayLaw {
    /// Returns the smallest delay that the law allows \[s\].
    pub fn least_s(&self) -> f64 {
        let least = |delays: &mut dyn Iterator<Item = f64>| delays.fold(f64::INFINITY, f64::min);
        match self {
            DelayLaw::Steps { steps_s } => least(&mut steps_s.iter().map(|step| step.1)),
            DelayLaw::Alternating { states, .. } => least(&mut states.iter().map(|state| state.delay_s)),
            DelayLaw::Handover { low_s, .. } => *low_s,
        }
    }
}

/// A delay as a function of time; its values do not depend on when they are asked for.
#[derive(Clone, Debug)]
pub struct DelayProcess {
    law: DelayLaw,
    /// Index of the present step, state or period.
    index: usize,
    delay: Time,
    /// Beginning of the next step, state or period.
    until: Time,
    clock: Clock,
    random: RandomStream,
}

impl DelayProcess {
    /// Returns the process at time zero. Steps and states must not be empty.
    pub fn new(law: DelayLaw, clock: Clock, random: RandomStream) -> DelayProcess {
        let index = if let DelayLaw::Alternating { start, .. } = law { start } else { 0 };
        let mut process = DelayProcess { law, index, delay: Time::ZERO, until: Time::ZERO, clock, random };
        process.enter(Time::ZERO);
        process
    }

    /// Returns the delay at an instant. Instants must come in order of time.
    pub fn at(&mut self, now: Time) -> Time {
        while self.until <= now {
            self.change();
        }
        self.delay
    }

    /// Returns when the present delay ends; [`Time::NEVER`] if it does not.
    pub fn until(&self) -> Time {
        self.until
    }

    fn change(&mut self) {
        let now = self.until;
        self.index = match &self.law {
            DelayLaw::Steps { .. } | DelayLaw::Handover { .. } => self.index + 1,
            DelayLaw::Alternating { states, transitions: None, .. } => (self.index + 1) % states.len(),
            DelayLaw::Alternating { transitions: Some(rows), .. } => choose(&rows[self.index], self.random.uniform()),
        };
        self.enter(now);
    }

    /// Begins the step, state or period of the present index.
    fn enter(&mut self, now: Time) {
        let clock = self.clock;
        (self.delay, self.until) = match &self.law {
            DelayLaw::Steps { steps_s } => {
                let end = steps_s.get(self.index + 1).map_or(Time::NEVER, |&(next, _)| clock.time(next));
                (clock.time(steps_s[self.index].1), end)
            }
            DelayLaw::Alternating { states, .. } => {
                let DelayState { delay_s, least_stay_s, mean_extra_s } = states[self.index];
                let stay_s = least_stay_s + self.random.exponential(mean_extra_s);
                (clock.time(delay_s), now + clock.time(stay_s))
            }
            DelayLaw::Handover { low_s, high_s, period_s } => {
                let delay = clock.time(low_s + (high_s - low_s) * self.random.uniform());
                (delay, clock.time(*period_s).times(self.index as u64 + 1))
            }
        };
    }
}

/// Returns the index that a uniform random number chooses by a row of probabilities.
pub(crate) fn choose(row: &[f64], uniform: f64) -> usize {
    let mut sum = 0.0;
    let chosen = row.iter().position(|probability| {
        sum += probability;
        uniform < sum
    });
    // Rounding may leave the sum a little below 1; then it is the last possible index.
    chosen.or_else(|| row.iter().rposition(|&probability| probability > 0.0)).unwrap_or_default()
}

/// A propagation delay behind a link that changes: a packet has the delay of the instant at which its last bit leaves
/// the link.
#[derive(Clone, Debug)]
pub struct Pipe {
    process: DelayProcess,
    constant: Time,
    keeps_order: bool,
    /// The last arrival.
    last: Time,
}

impl Pipe {
    /// Returns a pipe whose delay is that of a process and a constant. Packets keep their order, or overtake one
    /// another where the delay falls.
    pub fn new(process: DelayProcess, constant: Time, keeps_order: bool) -> Pipe {
        Pipe { process, constant, keeps_order, last: Time::ZERO }
    }

    /// Returns the arrival of a packet at the end of the pipe. Departures from the link must come in order of time.
    pub fn arrival(&mut self, departure: Time) -> Time {
        let arrival = departure + self.process.at(departure) + self.constant;
        if !self.keeps_order {
            return arrival;
        }
        self.last = self.last.max(arrival);
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn t(seconds: f64) -> Time {
        Clock::PICOSECONDS.time(seconds)
    }

    fn s(time: Time) -> f64 {
        Clock::PICOSECONDS.seconds(time)
    }

    fn process(law: DelayLaw) -> DelayProcess {
        DelayProcess::new(law, Clock::PICOSECONDS, RandomStream::named(1, 0, "delay/link"))
    }

    fn states(states: &[(f64, f64, f64)]) -> Vec<DelayState> {
        let state = |&(delay_s, least_stay_s, mean_extra_s): &(f64, f64, f64)| DelayState {
            delay_s,
            least_stay_s,
            mean_extra_s,
        };
        states.iter().map(state).collect()
    }

    /// Returns the fraction of time in each state, and the number of changes from each state to each other.
    fn proportions(mut process: DelayProcess, delays: &[f64], end: Time) -> (Vec<f64>, Vec<Vec<u32>>) {
        let mut spent = vec![0.0; delays.len()];
        let mut changes = vec![vec![0; delays.len()]; delays.len()];
        let (mut now, mut last): (Time, Option<usize>) = (Time::ZERO, None);
        while now < end {
            let delay = process.at(now);
            let state = delays.iter().position(|&known| t(known) == delay).unwrap();
            if let Some(last) = last {
                changes[last][state] += 1;
            }
            spent[state] += s(process.until().min(end) - now);
            (now, last) = (process.until(), Some(state));
        }
        (spent.iter().map(|spent| spent / s(end)).collect(), changes)
    }

    #[test]
    fn steps_hold_from_their_instant_on() {
        let mut process = process(DelayLaw::Steps { steps_s: vec![(0.0, 0.2), (6.0, 0.3), (6.5, 0.1)] });
        let delays = [0.0, 5.999, 6.0, 6.4, 6.5, 1e6].map(|now| s(process.at(t(now))));
        assert_eq!(delays, [0.2, 0.2, 0.3, 0.3, 0.1, 0.1]);
    }

    #[test]
    fn several_changes_between_two_packets_are_all_made() {
        let law =
            DelayLaw::Alternating { states: states(&[(0.1, 0.2, 1.0), (0.3, 0.5, 2.0)]), start: 1, transitions: None };
        let (mut seldom, mut often) = (process(law.clone()), process(law));
        assert_eq!(seldom.at(Time::ZERO), t(0.3));
        for step in 1..2000 {
            for part in 0..50 {
                often.at(t(f64::from(step - 1) * 20.0 + f64::from(part) * 0.4));
            }
            assert_eq!(seldom.at(t(f64::from(step) * 20.0)), often.at(t(f64::from(step) * 20.0)));
        }
    }

    #[test]
    fn the_alternating_process_spends_its_time_by_the_mean_stays() {
        // [abrupt-delay, section IV.A]: E[V_i] / (E[V_1] + E[V_2]), here 0.3 and 0.9 s: a quarter. Half a million
        // changes; the share's standard deviation, from the variances 0.04 and 0.36 of the stays, is about 4e-4: four
        // are 1.6e-3.
        let law =
            DelayLaw::Alternating { states: states(&[(0.1, 0.1, 0.2), (0.3, 0.3, 0.6)]), start: 0, transitions: None };
        let (shares, changes) = proportions(process(law), &[0.1, 0.3], t(300_000.0));
        assert!((shares[0] - 0.25).abs() < 1.6e-3, "{shares:?}");
        assert!(changes[0][0] == 0 && changes[1][1] == 0);
    }

    #[test]
    fn a_matrix_of_transitions_is_followed() {
        let rows = vec![vec![0.0, 0.5, 0.5], vec![1.0, 0.0, 0.0], vec![0.25, 0.75, 0.0]];
        let stays = [(0.1, 1.0, 0.0), (0.2, 1.0, 0.0), (0.3, 2.0, 0.0)];
        let law = DelayLaw::Alternating { states: states(&stays), start: 0, transitions: Some(rows) };
        let (shares, changes) = proportions(process(law), &[0.1, 0.2, 0.3], t(200_000.0));
        assert!(changes[1][0] > 10_000 && changes[1][2] == 0 && changes[0][0] == 0);
        // Visits by pi = pi P: (8, 7, 4) / 19; by their stays (8, 7, 8) / 23. Some 1.65e5 visits: 4 standard deviations
        // are below 0.005.
        for (share, expected) in shares.iter().zip([8.0 / 23.0, 7.0 / 23.0, 8.0 / 23.0]) {
            assert!((share - expected).abs() < 0.005, "{shares:?}");
        }
    }

    #[test]
    fn a_handover_draws_a_new_delay_each_period() {
        let mut process = process(DelayLaw::Handover { low_s: 0.02, high_s: 0.06, period_s: 15.0 });
        let mut sum = 0.0;
        for period in 0..10_000 {
            let from = t(15.0 * f64::from(period));
            let delay = process.at(from);
            assert_eq!((process.at(from + t(14.99)), process.until()), (delay, from + t(15.0)));
            assert!((0.02..=0.06).contains(&s(delay)));
            sum += s(delay);
        }
        // Four standard errors of the mean of 10,000 draws: 4 * 0.04 / sqrt(12) / 100.
        assert!((sum / 1e4 - 0.04).abs() < 4.7e-4, "{}", sum / 1e4);
    }

    #[test]
    fn packets_overtake_or_keep_their_order_when_the_delay_falls() {
        let law = DelayLaw::Steps { steps_s: vec![(0.0, 0.3), (1.0, 0.1)] };
        let arrivals = |keeps_order| {
            let mut pipe = Pipe::new(process(law.clone()), t(0.5), keeps_order);
            [0.9, 0.99, 1.0, 1.15, 1.3].map(|now| s(pipe.arrival(t(now))))
        };
        assert_eq!(arrivals(false), [1.7, 1.79, 1.6, 1.75, 1.9]);
        assert_eq!(arrivals(true), [1.7, 1.79, 1.79, 1.79, 1.9]);
    }
}
