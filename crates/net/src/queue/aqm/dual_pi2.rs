//! The AQM of a coupled dual queue: RFC 9332 as Linux has it (`net/sched/sch_dualpi2.c`, of Linux 6.17).

use base::{Clock, RandomStream, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, AqmState, Departing, Verdict};
use crate::queue::scheduler::L4S;

/// Parameters of DualPI2.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DualPi2Config {
    /// Queueing delay that the probability is controlled for \[s\].
    pub target_s: f64,
    /// Time between two updates of the probability (Tupdate) \[s\].
    pub update_s: f64,
    /// Change of the probability for each second of queueing delay above the target, in an update \[1/s\].
    pub alpha: f64,
    /// The same for each second by which the queueing delay has grown since the update before \[1/s\].
    pub beta: f64,
    /// Mark probability of L4S packets in probabilities of the controller (k); that of classic packets is its square.
    pub coupling: f64,
    /// Sojourn time above which each L4S packet is marked \[s\].
    pub step_s: f64,
    /// Length of the largest packet: with less than two of them waiting the controller marks and drops nothing \[bytes\].
    pub mtu_bytes: u16,
}

impl DualPi2Config {
    /// The defaults of Linux.
    pub const TYPICAL: DualPi2Config = DualPi2Config {
        target_s: 0.015,
        update_s: 0.016,
        alpha: 0.16,
        beta: 3.2,
        coupling: 2.0,
        step_s: 0.001,
        mtu_bytes: 1500,
    };
}

/// DualPI2 of two queues.
#[derive(Clone, Debug)]
pub(crate) struct DualPi2 {
    config: DualPi2Config,
    seconds_per_tick: f64,
    step: Time,
    update: Time,
    next_update: Time,
    /// Probability of the controller (p').
    probability: f64,
    /// Queueing delay at the last update \[s\].
    delay_before_s: f64,
    random: RandomStream,
}

impl DualPi2 {
    /// Returns the DualPI2 of empty queues.
    pub(crate) fn new(config: DualPi2Config, clock: Clock, random: RandomStream) -> DualPi2 {
        let update = clock.time(config.update_s).max(Time::TICK);
        DualPi2 {
            config,
            seconds_per_tick: 1.0 / clock.ticks_per_second() as f64,
            step: clock.time(config.step_s),
            update,
            next_update: update,
            probability: 0.0,
            delay_before_s: 0.0,
            random,
        }
    }

    /// Returns the state that traces have.
    pub(super) fn state(&self) -> AqmState {
        AqmState { probability: Some(self.probability), ..AqmState::default() }
    }

    /// Updates the probability (`calculate_probability`).
    fn update_probability(&mut self, delay_s: f64) {
        let DualPi2Config { target_s, alpha, beta, .. } = self.config;
        let change = alpha * (delay_s - target_s) + beta * (delay_s - self.delay_before_s);
        self.probability = (self.probability + change).clamp(0.0, 1.0);
        self.delay_before_s = delay_s;
    }

    fn draw(&mut self, probability: f64) -> bool {
        self.random.uniform() < probability
    }

    fn draw_twice(&mut self) -> bool {
        self.draw(self.probability) && self.draw(self.probability)
    }

    /// Decides about a packet by the probability (`must_drop`).
    fn decide(&mut self, departing: &Departing<'_>) -> Verdict {
        if departing.left.bytes < 2 * u64::from(self.config.mtu_bytes) {
            return Verdict::Pass;
        }
        let coupled = self.config.coupling * self.probability;
        let overloaded = coupled > 1.0;
        match (departing.class == L4S, overloaded) {
            (true, false) if self.draw(coupled) => Verdict::Mark,
            (true, true) if self.draw_twice() => Verdict::Drop,
            (true, true) => Verdict::Mark,
            (false, false) if self.draw_twice() => Verdict::Mark,
            (false, true) if self.draw_twice() => Verdict::Drop,
            _ => Verdict::Pass,
        }
    }
}

impl Algorithm for DualPi2 {
    /// Makes the updates that were due before an event. The heads have been the same since the event before.
    fn advance(&mut self, now: Time, oldest: Option<Time>) {
        while self.next_update <= now {
            let waited = oldest.map_or(Time::ZERO, |since| self.next_update - since.min(self.next_update));
            self.update_probability(waited.ticks() as f64 * self.seconds_per_tick);
            if oldest.is_none() && self.probability <= 0.0 {
                // Each further update leaves this as it is.
                let missed = (now - self.next_update).ticks() / self.update.ticks();
                self.next_update += self.update.times(missed);
            }
            self.next_update += self.update;
        }
    }

    fn on_departure(&mut self, departing: &Departing<'_>) -> Verdict {
        match self.decide(departing) {
            Verdict::Pass if departing.class == L4S && departing.sojourn > self.step => Verdict::Mark,
            verdict => verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Occupancy;

    const CLOCK: Clock = Clock::PICOSECONDS;
    const TYPICAL: DualPi2Config = DualPi2Config::TYPICAL;
    const CLASSIC: usize = 1;

    fn new(probability: f64) -> DualPi2 {
        let pi2 = DualPi2::new(TYPICAL, CLOCK, RandomStream::named(1, 0, "link"));
        DualPi2 { probability, ..pi2 }
    }

    fn leave(pi2: &mut DualPi2, class: usize, sojourn_s: f64, left_bytes: u64) -> Verdict {
        let (now, sojourn) = (CLOCK.time(1.0), CLOCK.time(sojourn_s));
        let left = Occupancy { packets: left_bytes / 1500, bytes: left_bytes, bytes_in_service: 0 };
        let (capable, again) = (true, false);
        pi2.on_departure(&Departing { now, sojourn, capable, bytes: 1500, left: &left, left_bytes, class, again })
    }

    fn fraction(pi2: &mut DualPi2, class: usize, verdict: Verdict) -> f64 {
        let found = (0..100_000).filter(|_| leave(pi2, class, 0.0, 9000) == verdict).count();
        found as f64 / 100_000.0
    }

    /// RFC 9332 section 2.4: p_C = p'^2 and p_CL = k p', with k = 2.
    #[test]
    fn the_mark_probabilities_are_coupled() {
        for probability in [0.0, 0.1, 0.3] {
            let mut pi2 = new(probability);
            let (l4s, classic) = (2.0 * probability, probability * probability);
            assert!((fraction(&mut pi2, L4S, Verdict::Mark) - l4s).abs() < 0.006, "{probability}");
            assert!((fraction(&mut pi2, CLASSIC, Verdict::Mark) - classic).abs() < 0.006, "{probability}");
        }
    }

    /// RFC 9332 appendix A.2: where the coupled probability reaches 1, both queues drop with p'^2, and L4S is marked.
    #[test]
    fn overload_drops_of_both_queues() {
        let mut pi2 = new(0.6);
        assert!((fraction(&mut pi2, L4S, Verdict::Drop) - 0.36).abs() < 0.007);
        assert_eq!(fraction(&mut pi2, L4S, Verdict::Pass), 0.0);
        assert!((fraction(&mut pi2, CLASSIC, Verdict::Drop) - 0.36).abs() < 0.007);
        assert_eq!(fraction(&mut pi2, CLASSIC, Verdict::Mark), 0.0);
    }

    #[test]
    fn less_than_two_packets_get_no_signal_but_that_of_the_step() {
        let mut pi2 = new(0.5);
        assert!((0..1000).all(|_| leave(&mut pi2, L4S, 0.001, 2999) == Verdict::Pass));
        assert!((0..1000).all(|_| leave(&mut pi2, L4S, 0.0011, 2999) == Verdict::Mark));
        assert!((0..1000).all(|_| leave(&mut pi2, CLASSIC, 0.1, 2999) == Verdict::Pass));
    }

    /// RFC 9332 appendix A.1: p' grows by alpha for the delay above the target, and by beta for its growth.
    #[test]
    fn the_controller_is_proportional_and_integral() {
        let mut pi2 = new(0.0);
        let at = |ms: f64| CLOCK.time(ms / 1e3);
        // The oldest packet waits from 0 on: 16 ms, then 32 ms.
        pi2.advance(at(16.0), Some(at(0.0)));
        let first = 0.16 * 0.001 + 3.2 * 0.016;
        assert!((pi2.probability - first).abs() < 1e-9, "{}", pi2.probability);
        pi2.advance(at(47.9), Some(at(0.0)));
        let second = first + 0.16 * 0.017 + 3.2 * 0.016;
        assert!((pi2.probability - second).abs() < 1e-9, "{}", pi2.probability);
        // The next one has waited for 20 ms only.
        pi2.advance(at(48.0), Some(at(28.0)));
        let third = second + 0.16 * 0.005 - 3.2 * 0.012;
        assert!((pi2.probability - third).abs() < 1e-9, "{}", pi2.probability);
        // An empty queue for long: down to zero, in bounded time.
        pi2.advance(at(1e9), None);
        assert_eq!(pi2.probability, 0.0);
    }
}
