//! Random Early Detection of the bytes that wait, as Linux has it (`include/net/red.h`, `net/sched/sch_red.c`).

use base::cast::{low_u32, round_to_u64, trunc_to_u64};
use base::{Clock, RandomStream, Rate, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, AqmState, Arriving, RedEcn, Verdict};

/// Parameters of Linux's RED.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedLinuxConfig {
    /// Average queue from which packets are dropped \[bytes\].
    pub min_threshold_bytes: u32,
    /// Average queue from which all packets are dropped \[bytes\].
    pub max_threshold_bytes: u32,
    /// Drop probability just below the maximum threshold.
    pub max_probability: f64,
    /// Binary logarithm of the number of samples over which the average is taken (`Wlog`): its weight is 2^-`weight_log`.
    pub weight_log: u8,
    /// Whether the drop probability is adapted each half second, such that the average stays in the middle between the
    /// thresholds (Adaptive RED).
    pub adaptive: bool,
    /// Signals that are marks and not drops, of packets of ECN-capable transports.
    pub ecn: RedEcn,
    /// Size of a typical packet, for the decay of the average in idle time \[bytes\].
    pub mean_packet_bytes: u16,
}

impl RedLinuxConfig {
    /// Thresholds that act in a buffer of 20 packets of 1500 bytes.
    pub const TYPICAL: RedLinuxConfig = RedLinuxConfig {
        min_threshold_bytes: 7500,
        max_threshold_bytes: 22_500,
        max_probability: 0.1,
        weight_log: 5,
        adaptive: false,
        ecn: RedEcn::Off,
        mean_packet_bytes: 500,
    };
}

/// Time between two adaptations of the drop probability \[s\] (`red_adaptative_timer`): a timer of 500 ticks of a
/// millisecond expires at the next multiple of eight (`calc_index` of the kernel's timer wheel).
const ADAPTATION_S: f64 = 0.504;
/// Probability 1, one more than the kernel's 32 bits hold.
const ONE: f64 = 4_294_967_296.0;
/// Bounds within which the probability is adapted, 1% and 50% (`MAX_P_MIN`, `MAX_P_MAX`).
const LEAST_MAX_P: u32 = u32::MAX / 100;
const MOST_MAX_P: u32 = u32::MAX / 100 * 50;
/// Units of the kernel's packet scheduler in a microsecond, in which `tc` gives the time of a packet while the kernel reads
/// its table in microseconds.
const TICKS_PER_US: f64 = 15.625;

/// RED of a queue.
#[derive(Clone, Debug)]
pub(crate) struct RedLinux {
    /// Thresholds, scaled like the average by 2^`weight_log` (`qth_min`, `qth_max`).
    min_threshold: u64,
    max_threshold: u64,
    /// Difference of the thresholds \[bytes\] (`qth_delta`).
    delta_bytes: u32,
    weight_log: u32,
    ecn: RedEcn,
    adaptive: bool,
    us_per_tick: f64,
    /// Places by which the average is shifted down for a microsecond of idle time, and the binary logarithm of the table's cells \[us\].
    shifts_per_us: f64,
    cell_log: u32,
    update: Time,
    next_update: Time,
    /// Drop probability just below the maximum threshold as a fraction of 2^32 (`max_P`).
    max_p: u32,
    /// Average queue in bytes, scaled by 2^`weight_log` (`qavg`).
    average: u64,
    /// Packets since the last signal between the thresholds, -1 outside of them (`qcount`).
    count: i64,
    /// Random number that the next signal waits for (`qR`).
    drawn: u32,
    random: RandomStream,
    mean_packet_bytes: f64,
}

impl RedLinux {
    /// Returns the RED of an empty queue in front of a link of the given rate.
    pub(crate) fn new(config: RedLinuxConfig, rate: Rate, clock: Clock, random: RandomStream) -> RedLinux {
        let weight_log = u32::from(config.weight_log);
        let delta_bytes = config.max_threshold_bytes.saturating_sub(config.min_threshold_bytes).max(1);
        let us_per_tick = 1e6 / clock.ticks_per_second() as f64;
        let packet_us = rate.longest_service_time(config.mean_packet_bytes).ticks() as f64 * us_per_tick;
        // `tc_red_eval_idle_damping` of iproute2.
        let packet = (packet_us * TICKS_PER_US).ceil().max(1.0);
        let shifts_per_us = -(1.0 - 0.5_f64.powi(weight_log.try_into().unwrap_or(31))).ln() / packet;
        let longest = 31.0 / shifts_per_us;
        let cell_log = (0..31).find(|&log| longest / f64::from(1_u32 << log) < 512.0).unwrap_or(31);
        RedLinux {
            min_threshold: u64::from(config.min_threshold_bytes) << weight_log,
            max_threshold: u64::from(config.max_threshold_bytes) << weight_log,
            delta_bytes,
            weight_log,
            ecn: config.ecn,
            adaptive: config.adaptive,
            us_per_tick,
            shifts_per_us,
            cell_log,
            update: clock.time(ADAPTATION_S).max(Time::TICK),
            next_update: clock.time(ADAPTATION_S),
            max_p: low_u32(round_to_u64(config.max_probability * ONE).min(u32::MAX.into())),
            average: 0,
            count: -1,
            drawn: 0,
            random,
            mean_packet_bytes: config.mean_packet_bytes.into(),
        }
    }

    /// Returns the state that traces have.
    pub(super) fn state(&self) -> AqmState {
        let bytes = self.average as f64 / f64::from(self.weight_log).exp2();
        AqmState { average_packets: Some(bytes / self.mean_packet_bytes), ..AqmState::default() }
    }

    /// Returns the average after idle time (`red_calc_qavg_from_idle_time`).
    fn decayed(&self, idle: Time) -> u64 {
        let idle_us = trunc_to_u64(idle.ticks() as f64 * self.us_per_tick).min(255 << self.cell_log);
        let cell = idle_us >> self.cell_log;
        let shift = match cell {
            0 => 0,
            255.. => 31,
            _ => trunc_to_u64((cell << self.cell_log) as f64 * self.shifts_per_us).min(31),
        };
        if shift > 0 {
            return self.average >> shift;
        }
        let less = u64::try_from((u128::from(self.average) * u128::from(idle_us)) >> self.cell_log);
        self.average - less.unwrap_or(u64::MAX).min(self.average - (self.average >> 1))
    }

    /// Makes the adaptations that were due before an event (`red_adaptative_algo`).
    fn catch_up(&mut self, now: Time, idle: Option<Time>) {
        let idle_since = idle.map(|idle| now - idle);
        while self.adaptive && self.next_update <= now {
            let at = self.next_update;
            let average = match idle_since {
                Some(since) if at > since => self.decayed(at - since),
                _ => self.average,
            };
            self.adapt(average >> self.weight_log);
            if average == 0 && self.max_p < LEAST_MAX_P {
                // Each further adaptation in this idle time leaves it as it is.
                let missed = (now - at).ticks() / self.update.ticks();
                self.next_update += self.update.times(missed);
            }
            self.next_update += self.update;
        }
    }

    fn adapt(&mut self, average_bytes: u64) {
        let (min, part) = (self.min_threshold >> self.weight_log, u64::from(self.delta_bytes / 5));
        if average_bytes > min + 3 * part && self.max_p <= MOST_MAX_P {
            self.max_p += LEAST_MAX_P.min(self.max_p / 4);
        } else if average_bytes < min + 2 * part && self.max_p >= LEAST_MAX_P {
            self.max_p = self.max_p / 10 * 9;
        }
    }

    /// Draws the number that the next signal waits for (`red_random`).
    fn draw(&mut self) -> u32 {
        low_u32(self.random.bits() >> 32) / (self.max_p / self.delta_bytes).max(1)
    }

    /// Returns the decision about a packet by the average (`red_action`).
    fn action(&mut self) -> Action {
        if self.average < self.min_threshold {
            self.count = -1;
            return Action::Pass;
        }
        if self.average >= self.max_threshold {
            self.count = -1;
            return Action::Always;
        }
        self.count += 1;
        if self.count == 0 {
            self.drawn = self.draw();
            return Action::Pass;
        }
        let above = (self.average - self.min_threshold) >> self.weight_log;
        if u128::from(above) * u128::from(self.count.unsigned_abs()) < u128::from(self.drawn) {
            return Action::Pass;
        }
        self.count = 0;
        self.drawn = self.draw();
        Action::Sometimes
    }
}

/// A decision by the average queue.
enum Action {
    /// The packet passes (`RED_DONT_MARK`).
    Pass,
    /// A signal with a probability (`RED_PROB_MARK`).
    Sometimes,
    /// A signal because the average has reached the maximum threshold (`RED_HARD_MARK`).
    Always,
}

impl Algorithm for RedLinux {
    fn on_arrival(&mut self, arriving: &Arriving) -> Verdict {
        self.catch_up(arriving.now, arriving.idle);
        self.average = match arriving.idle {
            Some(idle) => self.decayed(idle),
            None => {
                let before = self.average >> self.weight_log;
                self.average.wrapping_add(arriving.waiting_bytes).wrapping_sub(before)
            }
        };
        match (self.action(), self.ecn) {
            (Action::Pass, _) => Verdict::Pass,
            (Action::Sometimes, RedEcn::Early | RedEcn::All) | (Action::Always, RedEcn::All) => Verdict::Mark,
            (Action::Sometimes, RedEcn::Off) | (Action::Always, RedEcn::Off | RedEcn::Early) => Verdict::Drop,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLOCK: Clock = Clock::PICOSECONDS;
    const CONFIG: RedLinuxConfig = RedLinuxConfig {
        min_threshold_bytes: 30_000,
        max_threshold_bytes: 90_000,
        max_probability: 0.1,
        weight_log: 4,
        adaptive: false,
        ecn: RedEcn::All,
        mean_packet_bytes: 1500,
    };

    fn red(config: RedLinuxConfig) -> RedLinux {
        RedLinux::new(config, Rate::new(20e6, CLOCK), CLOCK, RandomStream::named(1, 0, "link"))
    }

    fn arrive(red: &mut RedLinux, at_s: f64, waiting_bytes: u64, idle_s: Option<f64>) -> Verdict {
        let (now, idle) = (CLOCK.time(at_s), idle_s.map(|idle_s| CLOCK.time(idle_s)));
        red.on_arrival(&Arriving {
            now,
            queue: waiting_bytes / 1500,
            waiting: waiting_bytes / 1500,
            idle,
            waiting_bytes,
            bytes: 1500,
        })
    }

    fn average_bytes(red: &RedLinux) -> f64 {
        red.average as f64 / f64::from(1_u32 << red.weight_log)
    }

    #[test]
    fn the_average_moves_by_its_weight_towards_the_bytes_that_wait() {
        let mut red = red(CONFIG);
        let mut expected = 0.0;
        for number in 0..100 {
            arrive(&mut red, f64::from(number) * 1e-3, 24_000, None);
            expected += (24_000.0 - expected) / 16.0;
            assert!((average_bytes(&red) - expected).abs() < 2.0, "{} and {expected}", average_bytes(&red));
        }
    }

    /// Signals between the thresholds come 1 to 2/p packets apart, evenly: for an average p one in 1 + 1/p packets or so.
    #[test]
    fn signals_come_with_the_probability_of_the_average() {
        let mut red = red(CONFIG);
        for _ in 0..400 {
            arrive(&mut red, 0.0, 60_000, None);
        }
        let signals = (0..200_000).filter(|_| arrive(&mut red, 0.0, 60_000, None) == Verdict::Mark).count();
        // p = 0.05: the count since the last signal is even up to 20, so a signal comes each 10.5 packets.
        let gap = 200_000.0 / signals as f64;
        assert!((gap - 10.5).abs() < 0.2, "one signal in {gap} packets");
    }

    #[test]
    fn above_the_largest_threshold_all_get_a_signal_and_below_the_least_none() {
        for (ecn, verdict) in
            [(RedEcn::All, Verdict::Mark), (RedEcn::Early, Verdict::Drop), (RedEcn::Off, Verdict::Drop)]
        {
            let mut red = red(RedLinuxConfig { ecn, ..CONFIG });
            assert!((0..200).all(|_| arrive(&mut red, 0.0, 29_000, None) == Verdict::Pass));
            for _ in 0..400 {
                arrive(&mut red, 0.0, 100_000, None);
            }
            assert!((0..100).all(|_| arrive(&mut red, 0.0, 100_000, None) == verdict));
        }
    }

    /// (1 - w)^m for the m packets that idle time had room for; `tc` gives the table in ticks of 64 ns and the kernel reads
    /// it in microseconds, so that 15.6 times the time is needed.
    #[test]
    fn the_average_decays_while_the_link_is_idle() {
        let mut red = red(CONFIG);
        for _ in 0..400 {
            arrive(&mut red, 0.0, 60_000, None);
        }
        let before = average_bytes(&red);
        let packet_s = 1500.0 * 8.0 / 20e6;
        arrive(&mut red, 1.0, 0, Some(11.0 * 15.625 * packet_s));
        let ratio = average_bytes(&red) / before;
        // Shifts are whole, and what is less is linear: (15/16)^11 is 0.49.
        assert!((0.49..=0.51).contains(&ratio), "{ratio}");
        arrive(&mut red, 9.0, 0, Some(8.0));
        assert!(average_bytes(&red) < 1.0);
    }

    /// Floyd, Gummadi, Shenker 2001: the probability grows while the average is above its target, and falls below it.
    #[test]
    fn the_probability_adapts_to_keep_the_average_in_the_middle() {
        let mut red = red(RedLinuxConfig { adaptive: true, ..CONFIG });
        let p = |red: &RedLinux| f64::from(red.max_p) / ONE;
        for number in 0..400 {
            arrive(&mut red, f64::from(number) * 1e-3, 80_000, None);
        }
        assert!((p(&red) - 0.1).abs() < 1e-6);
        arrive(&mut red, 2.6, 80_000, None);
        assert!((p(&red) - 0.15).abs() < 1e-3, "five times by 1%: {}", p(&red));
        for _ in 0..400 {
            arrive(&mut red, 2.7, 31_000, None);
        }
        arrive(&mut red, 4.1, 31_000, None);
        assert!((p(&red) - 0.15 * 0.9_f64.powi(3)).abs() < 1e-3, "{}", p(&red));
        arrive(&mut red, 1e6, 31_000, Some(1e6 - 4.1));
        assert!(p(&red) < 0.01);
    }
}
