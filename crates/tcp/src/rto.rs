use base::{Clock, Time};

use crate::{Estimator, RtoConfig};

/// The retransmission timeout by RFC 6298, or by ns-2's integer arithmetic on a coarse clock.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Rto {
    /// Smoothed round trip. [`Estimator::Ticks`]: in eighths of a tick (4.3BSD; ns-2's T_SRTT_BITS), 0 before the first
    /// sample. [`Estimator::Rfc6298`]: in ticks of the run's clock, [`NEVER`] before the first sample.
    srtt: u64,
    /// Variation of the round trip, in quarters of a tick (ns-2's T_RTTVAR_BITS) or in ticks of the run's clock.
    rttvar: u64,
    /// Timeout now, backoff included.
    current: Time,
    backoff: u32,
    /// Whether the next sample restarts the estimate, as the first one does.
    restart: bool,
}

const NEVER: u64 = Time::NEVER.ticks();

/// Settings of the retransmission timer.
#[derive(Debug)]
pub(crate) struct RtoRules {
    estimator: Estimator,
    k: u32,
    granularity: Time,
    min: Time,
    max: Time,
    initial: Time,
    max_backoff: u32,
    clock_offset: Time,
    /// Least timeout as data begin after a SYN whose timer expired: RFC 6298 (5.7).
    after_lost_syn: Time,
}

/// Timeout as data begin after a SYN whose timer expired, before any sample \[s\]: RFC 6298 (5.7), Linux
/// `TCP_TIMEOUT_FALLBACK`.
pub(crate) const AFTER_LOST_SYN_S: f64 = 3.0;

impl RtoRules {
    pub(crate) fn new(config: &RtoConfig, clock: Clock) -> RtoRules {
        let granularity = clock.time(config.granularity_s);
        // ns-2 `TcpAgent::rtt_timeout`: never below two ticks.
        let least = if config.estimator == Estimator::Ticks { granularity.times(2) } else { Time::ZERO };
        RtoRules {
            estimator: config.estimator,
            k: config.k,
            granularity,
            min: clock.time(config.min_s).max(least),
            max: clock.time(config.max_s),
            initial: clock.time(config.initial_s),
            max_backoff: config.max_backoff,
            clock_offset: clock.time(config.clock_offset_s),
            after_lost_syn: clock.time(AFTER_LOST_SYN_S),
        }
    }
}

impl Rto {
    /// Creates an estimate before any sample.
    pub(crate) fn new(rules: &RtoRules) -> Rto {
        let srtt = if rules.estimator == Estimator::Ticks { 0 } else { NEVER };
        let mut rto = Rto { srtt, rttvar: 0, current: Time::ZERO, backoff: 1, restart: false };
        rto.update(rules);
        rto
    }

    /// Returns the current timeout.
    #[inline(always)]
    pub(crate) fn timeout(&self) -> Time {
        self.current
    }

    /// Takes a sample from the ACK of a timed segment that was sent once, at `sent`.
    #[inline(never)]
    pub(crate) fn sample_round(&mut self, rules: &RtoRules, sent: Time, now: Time) {
        match rules.estimator {
            Estimator::Ticks => {
                let ticks = |t: Time| (t + rules.clock_offset).ticks() / rules.granularity.ticks();
                self.sample_ticks(rules, ticks(now) - ticks(sent));
            }
            Estimator::Rfc6298 => self.sample_exact(rules, now - sent),
        }
    }

    /// Takes a sample from an echoed timestamp (RFC 7323).
    #[inline(never)]
    pub(crate) fn sample_timestamp(&mut self, rules: &RtoRules, sent: Time, now: Time) {
        match rules.estimator {
            Estimator::Ticks => {
                let tick = rules.granularity.ticks();
                self.sample_ticks(rules, ((now - sent).ticks() + tick / 2) / tick);
            }
            Estimator::Rfc6298 => self.sample_exact(rules, now - sent),
        }
    }

    /// Lengthens the timeout to three seconds at least, before any sample, as the timer expired that waited for the ACK of a
    /// SYN: RFC 6298 (5.7). It is a multiple of the initial one, as a backoff is, and ends as that does.
    pub(crate) fn start_after_lost_syn(&mut self, rules: &RtoRules) {
        if rules.estimator == Estimator::Rfc6298 && self.current > Time::ZERO {
            let times = rules.after_lost_syn.ticks().div_ceil(self.current.ticks());
            self.backoff = self.backoff.max(u32::try_from(times).unwrap_or(u32::MAX)).min(rules.max_backoff);
            self.update(rules);
        }
    }

    /// Doubles the timeout after the timer expired: RFC 6298 (5.5).
    pub(crate) fn back_off(&mut self, rules: &RtoRules) {
        self.backoff = self.backoff.saturating_mul(2).min(rules.max_backoff);
        // ns-2 `TcpAgent::rtt_backoff`, after 4.3BSD: an estimate this far off is restarted.
        self.restart |= rules.estimator == Estimator::Ticks && self.backoff > 8;
        self.update(rules);
    }

    /// Ends the backoff after a valid sample: RFC 6298 section 5, last paragraph, and Karn.
    #[inline(always)]
    pub(crate) fn end_backoff(&mut self, rules: &RtoRules) {
        if self.backoff != 1 {
            self.backoff = 1;
            self.update(rules);
        }
    }

    /// Updates the estimate in ticks: 4.3BSD, ns-2 `TcpAgent::rtt_update`.
    fn sample_ticks(&mut self, rules: &RtoRules, ticks: u64) {
        let ticks = ticks.max(1);
        (self.srtt, self.rttvar) = if self.srtt == 0 || self.restart {
            (ticks << 3, ticks << 1)
        } else {
            let error = ticks.abs_diff(self.srtt >> 3);
            (self.srtt - (self.srtt >> 3) + ticks, self.rttvar - (self.rttvar >> 2) + error)
        };
        self.restart = false;
        self.update(rules);
    }

    /// Updates the exact estimate: RFC 6298 (2.2), (2.3).
    fn sample_exact(&mut self, rules: &RtoRules, rtt: Time) {
        let r = rtt.ticks();
        (self.srtt, self.rttvar) = if self.srtt == NEVER {
            (r, r / 2)
        } else {
            let error = self.srtt.abs_diff(r);
            (self.srtt - self.srtt / 8 + r / 8, self.rttvar / 4 * 3 + error / 4)
        };
        self.update(rules);
    }

    /// Applies limits and backoff to the estimate: RFC 6298 (2.4), (2.5), (5.5).
    fn update(&mut self, rules: &RtoRules) {
        let RtoRules { min, max, .. } = *rules;
        self.current = self.estimate(rules).max(min).times(u64::from(self.backoff)).min(max.max(min));
    }

    /// Returns the timeout before limits and backoff: RFC 6298 (2.1) to (2.3).
    fn estimate(&self, rules: &RtoRules) -> Time {
        match rules.estimator {
            Estimator::Ticks if self.srtt == 0 => rules.initial,
            Estimator::Ticks => {
                let ticks = (u64::from(rules.k) * 2 * self.rttvar + self.srtt) >> 3;
                rules.granularity.times(ticks)
            }
            Estimator::Rfc6298 if self.srtt == NEVER => rules.initial,
            Estimator::Rfc6298 => {
                let deviations = Time::from_ticks(self.rttvar).times(u64::from(rules.k));
                Time::from_ticks(self.srtt) + rules.granularity.max(deviations)
            }
        }
    }
}
