use std::sync::Arc;

use base::Time;

use crate::{Estimator, RtoConfig};

/// The retransmission timeout: RFC 6298, or ns-2's integer arithmetic on a coarse clock.
#[derive(Clone, Debug)]
pub struct Rto {
    /// Of [`Estimator::Ticks`] in eighths of a tick (4.3BSD; ns-2's T_SRTT_BITS), 0 before the first sample; else in picoseconds,
    /// [`NEVER`] before it.
    srtt: u64,
    /// In quarters of a tick (ns-2's T_RTTVAR_BITS); in picoseconds.
    rttvar: u64,
    /// One for all that are made alike.
    rules: Arc<Rules>,
    /// Timeout before the limits and the backoff.
    base: Time,
    /// The timeout in force.
    current: Time,
    backoff: u32,
}

const NEVER: u64 = Time::NEVER.picoseconds();

#[derive(Debug)]
struct Rules {
    estimator: Estimator,
    k: u32,
    granularity: Time,
    min: Time,
    max: Time,
    max_backoff: u32,
    clock_offset: Time,
}

impl Rto {
    /// Before any sample.
    pub fn new(config: &RtoConfig) -> Rto {
        let granularity = Time::from_seconds(config.granularity_s);
        // ns-2 `TcpAgent::rtt_timeout`: never below two ticks.
        let least = if config.estimator == Estimator::Ticks { granularity.times(2) } else { Time::ZERO };
        let rules = Rules {
            estimator: config.estimator,
            k: config.k,
            granularity,
            min: Time::from_seconds(config.min_s).max(least),
            max: Time::from_seconds(config.max_s),
            max_backoff: config.max_backoff,
            clock_offset: Time::from_seconds(config.clock_offset_s),
        };
        let mut rto = Rto {
            srtt: if config.estimator == Estimator::Ticks { 0 } else { NEVER },
            rttvar: 0,
            rules: Arc::new(rules),
            base: Time::from_seconds(config.initial_s),
            current: Time::ZERO,
            backoff: 1,
        };
        rto.update();
        rto
    }

    /// The timeout in force.
    #[inline(always)]
    pub fn timeout(&self) -> Time {
        self.current
    }

    /// A timed segment that was sent once, at `sent`, is acknowledged.
    #[inline(never)]
    pub fn sample_round(&mut self, sent: Time, now: Time) {
        match self.rules.estimator {
            Estimator::Ticks => {
                let rules = &self.rules;
                let ticks = |t: Time| (t + rules.clock_offset).picoseconds() / rules.granularity.picoseconds();
                self.sample_ticks(ticks(now) - ticks(sent));
            }
            Estimator::Rfc6298 => self.sample_exact(now - sent),
        }
    }

    /// An ACK echoes a timestamp (RFC 7323).
    #[inline(never)]
    pub fn sample_timestamp(&mut self, sent: Time, now: Time) {
        match self.rules.estimator {
            Estimator::Ticks => {
                let tick = self.rules.granularity.picoseconds();
                self.sample_ticks(((now - sent).picoseconds() + tick / 2) / tick);
            }
            Estimator::Rfc6298 => self.sample_exact(now - sent),
        }
    }

    /// RFC 6298 (5.5): the timer expired.
    pub fn back_off(&mut self) {
        self.backoff = self.backoff.saturating_mul(2).min(self.rules.max_backoff);
        // ns-2 `TcpAgent::rtt_backoff`, after 4.3BSD: this far off, start the estimate anew.
        if self.rules.estimator == Estimator::Ticks && self.backoff > 8 {
            self.rttvar += self.srtt >> 3;
            self.srtt = 0;
        }
        self.update();
    }

    /// RFC 6298 section 5, last paragraph, and Karn: a valid sample ends the backoff.
    pub fn end_backoff(&mut self) {
        if self.backoff != 1 {
            self.backoff = 1;
            self.update();
        }
    }

    /// 4.3BSD, ns-2 `TcpAgent::rtt_update`.
    fn sample_ticks(&mut self, ticks: u64) {
        let ticks = (ticks as i64).max(1);
        let (mut srtt, mut rttvar) = (self.srtt as i64, self.rttvar as i64);
        if srtt != 0 {
            let error = ticks - (srtt >> 3);
            srtt = (srtt + error).max(1);
            rttvar = (rttvar + error.abs() - (rttvar >> 2)).max(1);
        } else {
            srtt = ticks << 3;
            rttvar = ticks << 1;
        }
        (self.srtt, self.rttvar) = (srtt as u64, rttvar as u64);
        let base_ticks = (i64::from(self.rules.k) * 2 * rttvar + srtt) >> 3;
        self.base = self.rules.granularity.times(base_ticks as u64);
        self.update();
    }

    /// RFC 6298 (2.2), (2.3).
    fn sample_exact(&mut self, rtt: Time) {
        let r = rtt.picoseconds();
        (self.srtt, self.rttvar) = if self.srtt == NEVER {
            (r, r / 2)
        } else {
            let error = self.srtt.abs_diff(r);
            (self.srtt - self.srtt / 8 + r / 8, self.rttvar / 4 * 3 + error / 4)
        };
        let rttvar = Time::from_picoseconds(self.rttvar);
        self.base =
            Time::from_picoseconds(self.srtt) + self.rules.granularity.max(rttvar.times(u64::from(self.rules.k)));
        self.update();
    }

    /// RFC 6298 (2.4), (2.5), (5.5).
    fn update(&mut self) {
        let Rules { min, max, .. } = *self.rules;
        self.current = self.base.max(min).times(u64::from(self.backoff)).min(max.max(min));
    }
}
