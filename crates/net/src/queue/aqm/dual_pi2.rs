//! The AQM of a coupled dual queue: the pseudocode of RFC 9332, appendix A, and as Linux has it
//! (`net/sched/sch_dualpi2.c`, of Linux 6.17).

use base::{Clock, RandomStream, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, AqmState, Departing, Verdict};
use crate::queue::scheduler::{KINDS, L4S};

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
    /// Sojourn time above which each L4S packet is marked by Linux's rules, and from which on some are by the RFC's
    /// (minTh) \[s\].
    pub step_s: f64,
    /// Length of the largest packet: with less than two of them waiting Linux's controller marks and drops nothing
    /// \[bytes\].
    pub mtu_bytes: u16,
    /// Time by which the sojourn time at which each L4S packet is marked by the RFC's rules is above `step_s` (range)
    /// \[s\].
    #[serde(default)]
    pub ramp_s: f64,
    /// Whose rules the rest has.
    #[serde(default)]
    pub rules: DualPi2Rules,
}

/// The rules in which Linux and RFC 9332 differ.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DualPi2Rules {
    /// RFC 9332 appendix A: marks and drops recur after as many packets as the probabilities say (`recur`), a ramp marks
    /// L4S packets, and none that leaves one packet in its queue.
    Rfc,
    /// Linux: marks and drops are drawn, a step marks L4S packets, and less than two packets get no other mark.
    #[default]
    Linux,
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
        ramp_s: 0.0,
        rules: DualPi2Rules::Linux,
    };

    /// The defaults of RFC 9332 (`dualpi2_params_init`).
    pub const RFC: DualPi2Config = DualPi2Config {
        update_s: 0.015,
        alpha: 0.15,
        beta: 3.0,
        step_s: 0.0008,
        ramp_s: 0.0004,
        rules: DualPi2Rules::Rfc,
        ..DualPi2Config::TYPICAL
    };
}

/// L4S packets that may be left in their queue while the RFC's ramp marks none (Th_len).
const LEAST_LEFT: usize = 1;

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
    /// Sums of the probabilities of L4S and of classic packets since the last mark or drop (`count` of the RFC's queues).
    counts: [f64; KINDS],
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
            counts: [0.0; KINDS],
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

    /// Returns whether a mark or a drop of a class recurs (`recur`).
    fn recurs(&mut self, class: usize, probability: f64) -> bool {
        let count = &mut self.counts[class];
        *count += probability;
        let recurs = *count > 1.0;
        *count -= if recurs { 1.0 } else { 0.0 };
        recurs
    }

    /// Returns the mark probability of the L4S queue alone (`laqm`).
    fn ramp(&self, departing: &Departing<'_>) -> f64 {
        if departing.left_in_class <= LEAST_LEFT {
            return 0.0;
        }
        let above_s = departing.sojourn.ticks() as f64 * self.seconds_per_tick - self.config.step_s;
        match above_s {
            _ if above_s >= self.config.ramp_s => 1.0,
            _ if above_s > 0.0 => above_s / self.config.ramp_s,
            _ => 0.0,
        }
    }

    /// Decides about a packet by the RFC's pseudocode (`dualpi2_dequeue`).
    fn decide_by_rfc(&mut self, departing: &Departing<'_>) -> Verdict {
        let class = departing.class;
        let coupled = (self.config.coupling * self.probability).min(1.0);
        let squared = self.probability * self.probability;
        if class == L4S && coupled < 1.0 {
            let probability = self.ramp(departing).max(coupled);
            return if self.recurs(class, probability) { Verdict::Mark } else { Verdict::Pass };
        }
        let most_squared = self.config.coupling.powi(-2).min(1.0);
        match (class == L4S, self.recurs(class, squared)) {
            (true, true) => Verdict::Drop,
            (true, false) if self.recurs(class, coupled) => Verdict::Mark,
            (false, true) if squared >= most_squared => Verdict::Drop,
            (false, true) => Verdict::Mark,
            _ => Verdict::Pass,
        }
    }

    /// Decides about a packet by Linux's rules (`must_drop`).
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
        if self.config.rules == DualPi2Rules::Rfc {
            return self.decide_by_rfc(departing);
        }
        match self.decide(departing) {
            Verdict::Pass if departing.class == L4S && departing.sojourn > self.step => Verdict::Mark,
            verdict => verdict,
        }
    }
}

#[cfg(test)]
mod tests {
    use base::cast::to_index;

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
        let left_in_class = to_index(left.packets);
        pi2.on_departure(&Departing {
            now,
            sojourn,
            capable,
            bytes: 1500,
            left: &left,
            left_bytes,
            class,
            left_in_class,
            again,
        })
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

    fn by_the_rfc(probability: f64) -> DualPi2 {
        let pi2 = DualPi2::new(DualPi2Config::RFC, CLOCK, RandomStream::named(1, 0, "link"));
        DualPi2 { probability, ..pi2 }
    }

    /// The numbers of the packets, of those that leave, with which a verdict comes.
    fn places(pi2: &mut DualPi2, class: usize, sojourn_s: f64, left: u64, verdict: Verdict) -> Vec<usize> {
        (1..=16).filter(|_| leave(pi2, class, sojourn_s, 1500 * left) == verdict).collect()
    }

    /// RFC 9332 appendix A.1, `recur`: a sum of the probabilities that is above 1 marks, and 1 of it is taken away.
    #[test]
    fn by_the_rfc_marks_recur() {
        assert_eq!(places(&mut by_the_rfc(0.125), L4S, 0.0, 9, Verdict::Mark), [5, 9, 13]);
        assert_eq!(places(&mut by_the_rfc(0.25), CLASSIC, 0.0, 0, Verdict::Mark).len(), 0, "16 times 1/16 is 1");
        let mut pi2 = by_the_rfc(0.375);
        assert_eq!(places(&mut pi2, CLASSIC, 0.1, 0, Verdict::Mark), [8, 15]);
        assert_eq!(places(&mut pi2, L4S, 0.0, 9, Verdict::Mark)[..4], [2, 3, 5, 6], "a count of its own");
    }

    /// RFC 9332 appendix A.1, `laqm`: from 0.8 ms on the ramp rises to 1 at 1.2 ms; the larger one of both marks.
    #[test]
    fn by_the_rfc_a_ramp_marks_l4s_packets_that_leave_two_in_their_queue() {
        let marks = |probability: f64, sojourn_s: f64, left: u64| {
            places(&mut by_the_rfc(probability), L4S, sojourn_s, left, Verdict::Mark)
        };
        assert_eq!(marks(0.0, 0.0008, 2), []);
        assert_eq!(marks(0.0, 0.0009, 2).len(), 3);
        assert_eq!(marks(0.0, 0.00115, 2).len(), 13);
        assert_eq!(marks(0.0, 0.0012, 2), (2..=16).collect::<Vec<_>>());
        assert_eq!(marks(0.0, 0.1, 1), []);
        assert_eq!(marks(0.125, 0.00085, 2), marks(0.125, 0.0, 0));
    }

    /// RFC 9332 appendix A.2: overload drops of both queues, one in 1 / p'^2 packets, and marks the other L4S packets.
    #[test]
    fn by_the_rfc_overload_drops_of_both_queues() {
        let mut pi2 = by_the_rfc(0.5);
        assert_eq!(places(&mut pi2, CLASSIC, 0.0, 9, Verdict::Drop), [5, 9, 13]);
        assert_eq!(places(&mut pi2, CLASSIC, 0.0, 9, Verdict::Mark), []);
        let mut pi2 = by_the_rfc(0.5);
        assert_eq!(places(&mut pi2, L4S, 0.0, 9, Verdict::Pass), []);
        assert_eq!(places(&mut pi2, L4S, 0.0, 9, Verdict::Drop).len(), 4);
        assert_eq!(places(&mut by_the_rfc(0.49), CLASSIC, 0.0, 9, Verdict::Drop), []);
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
