//! Proportional Integral controller Enhanced: RFC 8033 as Linux has it (`net/sched/sch_pie.c`).

use base::cast::{round_to_u64, trunc_to_u64};
use base::{Clock, RandomStream, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, AqmState, Arriving, Departing, Verdict};

/// Parameters of PIE.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PieConfig {
    /// Queueing delay that the drop probability is controlled for (QDELAY_REF) \[s\].
    pub target_s: f64,
    /// Time between two updates of the drop probability (T_UPDATE) \[s\]. Linux's timer of 15 ms expires after 16.
    pub update_s: f64,
    /// Instant of the first update \[s\]: 504 ms after Linux sets up the queue (`pie_init`), where its timer of 500 expires.
    pub first_update_s: f64,
    /// Change of the drop probability for each second of queueing delay above the target, in an update \[1/s\].
    pub alpha: f64,
    /// The same for each second by which the queueing delay has grown since the update before \[1/s\].
    pub beta: f64,
    /// Time from the beginning of a busy period for which nothing is dropped early (MAX_BURST) \[s\].
    pub burst_s: f64,
    /// Whether PIE marks packets of ECN-capable transports, and drops only the others, up to a drop probability of 10%.
    pub ecn: bool,
    /// Length of the largest packet: with less than two of them waiting nothing is dropped early \[bytes\].
    pub mtu_bytes: u16,
}

impl PieConfig {
    /// The defaults of RFC 8033 section 4.
    pub const TYPICAL: PieConfig = PieConfig {
        target_s: 0.015,
        update_s: 0.015,
        first_update_s: 0.015,
        alpha: 0.125,
        beta: 1.25,
        burst_s: 0.15,
        ecn: false,
        mtu_bytes: 1500,
    };
}

/// The largest drop probability, 1 (`MAX_PROB`).
const MOST: u64 = u64::MAX >> 8;
/// Readings of the kernel's packet scheduler in a second (`PSCHED_TICKS_PER_SEC`).
const READINGS: u64 = 1_000_000_000 >> 6;
/// Units of alpha and beta in 1 (`TCA_PIE_ALPHA`).
const PER_UNIT: f64 = 16.0;
/// Queueing delay above which the drop probability grows by 2% more \[s\].
const HIGH_DELAY_S: f64 = 0.25;

/// PIE of a queue. Times are readings of the packet scheduler's clock, of 64 ns.
#[derive(Clone, Debug)]
pub(crate) struct Pie {
    target: u64,
    burst: u64,
    high_delay: u64,
    /// Change of the probability for a reading (`alpha`, `beta`), before it is scaled by the probability.
    alpha: u64,
    beta: u64,
    ecn: bool,
    mtu_bytes: u64,
    readings_per_tick: f64,
    update: Time,
    next_update: Time,
    /// Drop probability as a fraction of `MOST` (`prob`).
    probability: u64,
    /// Sum of the probabilities of the packets that passed since the last drop (`accu_prob`).
    accumulated: u64,
    /// Queueing delay of the last packet that left, and at the update before (`qdelay`, `qdelay_old`).
    delay: u64,
    delay_before: u64,
    /// Rest of the burst allowance (`burst_time`).
    burst_left: u64,
    /// Reading of the last departure (`dq_tstamp`).
    departed: Option<u64>,
    random: RandomStream,
}

impl Pie {
    /// Returns the PIE of an empty queue.
    pub(crate) fn new(config: PieConfig, clock: Clock, random: RandomStream) -> Pie {
        let readings = |seconds: f64| trunc_to_u64(seconds * READINGS as f64);
        let per_reading = |units: f64| (round_to_u64(units * PER_UNIT) * (MOST / READINGS)) >> 4;
        Pie {
            target: readings(config.target_s),
            burst: readings(config.burst_s),
            high_delay: readings(HIGH_DELAY_S),
            alpha: per_reading(config.alpha),
            beta: per_reading(config.beta),
            ecn: config.ecn,
            mtu_bytes: config.mtu_bytes.into(),
            readings_per_tick: READINGS as f64 / clock.ticks_per_second() as f64,
            update: clock.time(config.update_s).max(Time::TICK),
            next_update: clock.time(config.first_update_s),
            probability: 0,
            accumulated: 0,
            delay: 0,
            delay_before: 0,
            burst_left: readings(config.burst_s),
            departed: None,
            random,
        }
    }

    /// Returns the state that traces have.
    pub(super) fn state(&self) -> AqmState {
        AqmState { probability: Some(self.probability as f64 / MOST as f64), ..AqmState::default() }
    }

    fn reading(&self, time: Time) -> u64 {
        trunc_to_u64(time.ticks() as f64 * self.readings_per_tick)
    }

    /// Makes the updates that were due before an event. Nothing has changed since the event before: `backlog` bytes were
    /// waiting.
    fn catch_up(&mut self, now: Time, backlog: u64) {
        while self.next_update <= now {
            if self.probability == 0 && self.delay == 0 && self.delay_before == 0 {
                // Each further update leaves this as it is.
                self.restart();
                let missed = (now - self.next_update).ticks() / self.update.ticks();
                self.next_update += self.update.times(missed + 1);
                return;
            }
            self.update_probability(backlog);
            self.next_update += self.update;
        }
    }

    /// Updates the drop probability (`pie_calculate_probability`).
    fn update_probability(&mut self, backlog: u64) {
        let (mut alpha, mut beta) = (self.alpha, self.beta);
        // A small queueing delay of a queue that is not empty says nothing.
        let mut may_decay = self.delay > 0 || backlog == 0;
        if self.probability < MOST / 10 {
            (alpha, beta) = (alpha >> 1, beta >> 1);
            let mut power = 100;
            while self.probability < MOST / power && power <= 1_000_000 {
                (alpha, beta) = (alpha >> 2, beta >> 2);
                power *= 10;
            }
        }
        let above = signed(self.delay).wrapping_sub(signed(self.target));
        let grown = signed(self.delay).wrapping_sub(signed(self.delay_before));
        let mut change = signed(alpha).wrapping_mul(above).wrapping_add(signed(beta).wrapping_mul(grown));
        let most_change = signed(MOST / 50);
        if change > most_change && self.probability >= MOST / 10 {
            change = signed(MOST / 100 * 2);
        }
        if self.delay > self.high_delay {
            change = change.wrapping_add(most_change);
        }
        let before = self.probability;
        self.probability = before.saturating_add_signed(change);
        if change > 0 && self.probability == u64::MAX {
            (self.probability, may_decay) = (MOST, false);
        }
        if self.delay == 0 && self.delay_before == 0 && may_decay {
            self.probability -= self.probability / 64;
        }
        if self.delay < self.target / 2 && self.delay_before < self.target / 2 && self.probability == 0 {
            self.restart();
        }
        self.delay_before = self.delay;
    }

    /// Begins to measure again, with all of the burst allowance (`pie_vars_init`).
    fn restart(&mut self) {
        (self.burst_left, self.departed, self.accumulated) = (self.burst, None, 0);
    }

    /// Returns whether a packet is dropped or marked early (`pie_drop_early`).
    fn signals(&mut self, backlog: u64) -> bool {
        let is_low = self.delay < self.target / 2 && self.probability < MOST / 5;
        if self.burst_left > 0 || is_low || backlog < 2 * self.mtu_bytes {
            return false;
        }
        if self.probability == 0 {
            self.accumulated = 0;
        }
        self.accumulated = self.accumulated.wrapping_add(self.probability);
        if self.accumulated < MOST / 100 * 85 {
            return false;
        }
        if self.accumulated >= (MOST / 2).wrapping_mul(17) {
            return true;
        }
        let signals = self.random.bits() >> 8 < self.probability;
        if signals {
            self.accumulated = 0;
        }
        signals
    }
}

impl Algorithm for Pie {
    fn on_arrival(&mut self, arriving: &Arriving) -> Verdict {
        self.catch_up(arriving.now, arriving.waiting_bytes);
        if !self.signals(arriving.waiting_bytes) {
            return Verdict::Pass;
        }
        if self.ecn && self.probability <= MOST / 10 {
            return Verdict::Mark;
        }
        Verdict::Drop
    }

    fn on_drop(&mut self, _now: Time) {
        self.accumulated = 0;
    }

    /// Measures the queueing delay by the time that the packet has waited (`pie_process_dequeue`).
    fn on_departure(&mut self, departing: &Departing<'_>) -> Verdict {
        self.catch_up(departing.now, departing.left_bytes + u64::from(departing.bytes));
        let now = self.reading(departing.now);
        self.delay = now - self.reading(departing.now - departing.sojourn);
        let since = self.departed.map_or(0, |departed| now - departed);
        self.departed = Some(now);
        if departing.left_bytes == 0 {
            self.delay = 0;
        }
        self.burst_left = self.burst_left.saturating_sub(since);
        Verdict::Pass
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::buffer::Occupancy;

    const LINUX: PieConfig = PieConfig { first_update_s: 0.5, ..PieConfig::TYPICAL };
    const CLOCK: Clock = Clock::PICOSECONDS;

    fn pie(config: PieConfig) -> Pie {
        Pie::new(config, CLOCK, RandomStream::named(1, 0, "pie"))
    }

    fn share(pie: &Pie) -> f64 {
        pie.probability as f64 / MOST as f64
    }

    /// Linux `fq_pie`: each queue has its own backlog.
    #[test]
    fn a_queue_that_runs_empty_has_no_delay_while_others_wait() {
        let mut pie = pie(LINUX);
        leave_others(&mut pie, 0.1, 0.05, 1500, 30_000);
        assert!(pie.delay > 0);
        leave_others(&mut pie, 0.2, 0.05, 0, 30_000);
        assert_eq!(pie.delay, 0);
    }

    /// Lets a packet leave that has waited for a time, with `left` bytes behind it.
    fn leave(pie: &mut Pie, at_s: f64, sojourn_s: f64, left: u64) {
        leave_others(pie, at_s, sojourn_s, left, left);
    }

    /// The same with bytes of its own queue and of all that are left.
    fn leave_others(pie: &mut Pie, at_s: f64, sojourn_s: f64, left_bytes: u64, left: u64) {
        let (now, sojourn) = (CLOCK.time(at_s), CLOCK.time(sojourn_s));
        let left = Occupancy { packets: left / 1500, bytes: left, bytes_in_service: 0 };
        let (capable, bytes, class, left_in_class, again) = (false, 1500, 0, 1, false);
        let left = &left;
        let departing = Departing { now, sojourn, capable, bytes, left, left_bytes, class, left_in_class, again };
        assert_eq!(pie.on_departure(&departing), Verdict::Pass);
    }

    fn arrive(pie: &mut Pie, at_s: f64, waiting_bytes: u64) -> Verdict {
        pie.on_arrival(&Arriving {
            now: CLOCK.time(at_s),
            queue: waiting_bytes / 1500,
            waiting: waiting_bytes / 1500,
            idle: None,
            waiting_bytes,
            bytes: 1500,
        })
    }

    /// RFC 8033 section 4.2: p += alpha (delay - target) + beta (delay - old delay), scaled down where p is small: by
    /// 2,048 below 10^-6, by 8 below 1%, by 2 below 10%, not at all above.
    #[test]
    fn the_probability_follows_the_queueing_delay() {
        for (probability, scale) in
            [(0.0, 2048.0), (5e-6, 512.0), (5e-5, 128.0), (5e-4, 32.0), (5e-3, 8.0), (0.05, 2.0)]
        {
            let mut pie = pie(LINUX);
            pie.probability = trunc_to_u64(probability * MOST as f64);
            let per_second = READINGS as f64;
            (pie.delay, pie.delay_before) = (trunc_to_u64(0.020 * per_second), trunc_to_u64(0.018 * per_second));
            pie.update_probability(100_000);
            let expected = probability + (0.125 * 0.005 + 1.25 * 0.002) / scale;
            assert!((share(&pie) - expected).abs() < 1e-3 * (expected - probability), "{probability}: {}", share(&pie));
        }
    }

    /// Steps of 2% at most from 10% on, and 2% more above 250 ms.
    #[test]
    fn steps_are_limited_and_high_delays_count_more() {
        for (delay, step) in [(0.17, 0.125 * 0.155), (0.2, 0.02), (0.25, 0.02), (0.3, 0.04)] {
            let mut pie = pie(LINUX);
            pie.probability = MOST / 10 + 1;
            pie.delay = trunc_to_u64(delay * READINGS as f64);
            pie.delay_before = pie.delay;
            pie.update_probability(100_000);
            assert!((share(&pie) - 0.1 - step).abs() < 1e-5, "{delay}: {}", share(&pie));
        }
    }

    /// The probability decays by a 64th in an update without delay, in addition to what the target takes off.
    #[test]
    fn the_probability_decays_without_a_queue() {
        let mut pie = pie(LINUX);
        pie.probability = MOST / 2;
        pie.update_probability(0);
        let expected = (0.5 - 0.125 * 0.015) * (63.0 / 64.0);
        assert!((share(&pie) - expected).abs() < 1e-6);
        let before = pie.probability;
        pie.update_probability(1500);
        assert!((share(&pie) - (before as f64 / MOST as f64 - 0.125 * 0.015)).abs() < 1e-6, "a packet waits");
    }

    /// Updates come every 15 ms from 500 ms on, however seldom packets do.
    #[test]
    fn updates_that_were_due_are_made_up_for() {
        let mut pie = pie(LINUX);
        leave(&mut pie, 0.499, 0.05, 30_000);
        assert_eq!(pie.probability, 0);
        arrive(&mut pie, 0.5, 30_000);
        let first = share(&pie);
        assert!((first * 2048.0 - (0.125 * 0.035 + 1.25 * 0.05)).abs() < 1e-5, "{first}");
        arrive(&mut pie, 0.5449, 30_000);
        assert_eq!(pie.next_update, CLOCK.time(0.545));
        let mut quiet = self::pie(LINUX);
        arrive(&mut quiet, 1e6, 0);
        assert!(quiet.next_update > CLOCK.time(1e6) && quiet.next_update <= CLOCK.time(1e6 + 0.015));
    }

    /// Linux `pie_drop_early`: nothing is dropped during the burst allowance, below half of the target at less than 20%,
    /// or with less than two packets.
    #[test]
    fn bursts_and_short_queues_are_left_alone() {
        let sure = |delay_s: f64, burst_left: u64| {
            let mut pie = pie(PieConfig { update_s: 1e3, first_update_s: 1e3, ..LINUX });
            (pie.next_update, pie.probability, pie.burst_left) = (Time::NEVER, MOST / 6, burst_left);
            (pie.accumulated, pie.delay) = (9 * MOST, trunc_to_u64(delay_s * READINGS as f64));
            pie
        };
        assert_eq!(arrive(&mut sure(0.02, 0), 1.0, 30_000), Verdict::Drop);
        assert_eq!(arrive(&mut sure(0.02, 1), 1.0, 30_000), Verdict::Pass);
        assert_eq!(arrive(&mut sure(0.007, 0), 1.0, 30_000), Verdict::Pass);
        assert_eq!(arrive(&mut sure(0.02, 0), 1.0, 2999), Verdict::Pass);
        // The allowance is used up by the time between departures.
        let mut pie = pie(LINUX);
        [0.0, 0.1, 0.1499].into_iter().for_each(|at| leave(&mut pie, at, 0.02, 30_000));
        assert!(pie.burst_left > 0);
        leave(&mut pie, 0.1501, 0.02, 30_000);
        assert_eq!(pie.burst_left, 0);
    }

    /// RFC 8033 section 5.4: at least 0.85 / p and at most 8.5 / p packets pass from drop to drop.
    #[test]
    fn drops_are_spread() {
        let mut pie = pie(PieConfig { update_s: 1e3, first_update_s: 1e3, ..LINUX });
        (pie.next_update, pie.probability, pie.burst_left) = (Time::NEVER, MOST / 20, 0);
        pie.delay = trunc_to_u64(0.02 * READINGS as f64);
        let mut gaps = Vec::new();
        let mut since = 0;
        for _ in 0..100_000 {
            since += 1;
            if arrive(&mut pie, 1.0, 30_000) == Verdict::Drop {
                pie.on_drop(CLOCK.time(1.0));
                gaps.push(std::mem::take(&mut since));
            }
        }
        assert!(gaps.iter().all(|gap| (17..=170).contains(gap)));
        let mean = f64::from(gaps.iter().sum::<u32>()) / gaps.len() as f64;
        // 17 packets pass, then one in 20 is dropped.
        assert!((mean - 36.0).abs() < 1.0, "{mean}");
    }

    /// Marks up to 10%, drops above.
    #[test]
    fn packets_are_marked_while_the_probability_is_low() {
        for (probability, expected) in [(MOST / 10, Verdict::Mark), (MOST / 9, Verdict::Drop)] {
            let mut pie = pie(PieConfig { ecn: true, ..LINUX });
            (pie.next_update, pie.probability, pie.burst_left) = (Time::NEVER, probability, 0);
            (pie.accumulated, pie.delay) = (9 * MOST, trunc_to_u64(0.02 * READINGS as f64));
            assert_eq!(arrive(&mut pie, 1.0, 30_000), expected);
        }
    }
}
