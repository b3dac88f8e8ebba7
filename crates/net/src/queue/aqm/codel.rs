//! Controlled Delay: RFC 8289, and as Linux has it (`include/net/codel_impl.h`).

use base::cast::{round_to_u64, trunc_to_u64};
use base::{Clock, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, Departing, Verdict};
mod state;
/// Parameters of Controlled Delay (CoDel).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CodelConfig {
    /// Sojourn time that a packet may always have (TARGET) \[s\].
    pub target_s: f64,
    /// Time for which sojourn times must stay above the target before the first drop (INTERVAL) \[s\].
    pub interval_s: f64,
    /// Whether CoDel marks packets of ECN-capable transports and drops only the others.
    pub ecn: bool,
    /// Sojourn time above which all packets of ECN-capable transports are marked \[s\]; `None`: there is no such time.
    pub ce_threshold_s: Option<f64>,
    /// Packets that wait behind a departing one do not count while they have this length or less: that of the largest
    /// packet (MAXPACKET, Linux `mtu`) \[bytes\].
    pub mtu_bytes: u16,
    /// Whose rules the rest has.
    pub rules: CodelRules,
}

/// The rules in which Linux and RFC 8289 differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CodelRules {
    /// RFC 8289 section 5: exact times and square roots.
    Rfc,
    /// Linux: times in units of 1024 ns, and an inverse square root of 16 bits that a Newton step follows the count with
    /// (`codel_Newton_step`).
    Linux,
}

impl CodelConfig {
    /// The defaults of RFC 8289 section 4, and of Linux.
    pub const TYPICAL: CodelConfig = CodelConfig {
        target_s: 0.005,
        interval_s: 0.1,
        ecn: false,
        ce_threshold_s: None,
        mtu_bytes: 1500,
        rules: CodelRules::Linux,
    };
}

/// CoDel of a queue. Times are readings of its clock: ticks by the RFC's rules, units of 1024 ns by Linux's.
///
/// Fields are ordered by use: what a packet changes that waited for a short time is in front.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Codel {
    /// Sojourn time below which a packet surely waited less than the target, and than the threshold, however the clock's
    /// readings are rounded.
    surely_short: Time,
    /// Reading at which the first drop may be (`first_above_time`); `None`: the last sojourn time was acceptable.
    first_above: Option<u64>,
    dropping: bool,
    /// Whether the last decision was the drop that began the state of dropping. CoDel then sends the next packet.
    began: bool,
    ecn: bool,
    rules: CodelRules,
    /// 1 / sqrt(count) as a fraction of 2^16 (`rec_inv_sqrt`).
    inverse_root: u16,
    /// Units of the clock in a tick.
    units_per_tick: f64,
    target: u64,
    /// Reading at which the next drop is (`drop_next`).
    drop_next: u64,
    /// Drops since dropping began, and what it was when it began last (`count`, `lastcount`).
    count: u32,
    last_count: u32,
    mtu_bytes: u64,
    interval: u64,
    ce_threshold: u64,
}

/// Length of a unit of Linux's clock \[ns\].
const UNIT_NS: f64 = 1024.0;

impl Codel {
    /// Returns the CoDel of an empty queue.
    pub(crate) fn new(config: CodelConfig, clock: Clock) -> Codel {
        let units_per_second = match config.rules {
            CodelRules::Rfc => clock.ticks_per_second() as f64,
            CodelRules::Linux => 1e9 / UNIT_NS,
        };
        let units = |seconds: f64| match config.rules {
            CodelRules::Rfc => clock.time(seconds).ticks(),
            CodelRules::Linux => trunc_to_u64(seconds * units_per_second),
        };
        let (target, ce_threshold) = (units(config.target_s), config.ce_threshold_s.map_or(u64::MAX, units));
        let units_per_tick = units_per_second / clock.ticks_per_second() as f64;
        // Two readings rounded down differ by up to one unit more than what lies between them.
        let short_units = target.min(ce_threshold).saturating_sub(2);
        Codel {
            ecn: config.ecn,
            mtu_bytes: config.mtu_bytes.into(),
            rules: config.rules,
            units_per_tick,
            target,
            interval: units(config.interval_s),
            ce_threshold,
            surely_short: Time::from_ticks(trunc_to_u64(short_units as f64 / units_per_tick)),
            first_above: None,
            dropping: false,
            drop_next: 0,
            count: 0,
            last_count: 0,
            inverse_root: 0,
            began: false,
        }
    }

    /// Lets a packet depart that waited for less than the target, if that is so however the clock's readings are rounded;
    /// returns whether it is. `again`: it departs in the place of another one, which was just dropped.
    #[inline(always)]
    pub(super) fn surely_passes(&mut self, sojourn: Time, again: bool) -> bool {
        if sojourn >= self.surely_short {
            return false;
        }
        self.first_above = None;
        // Whatever follows the drop that began the state is sent, and leaves the state as it is.
        self.dropping &= std::mem::take(&mut self.began) && again;
        true
    }

    #[inline(always)]
    fn reading(&self, time: Time) -> u64 {
        match self.rules {
            CodelRules::Rfc => time.ticks(),
            CodelRules::Linux => trunc_to_u64(time.ticks() as f64 * self.units_per_tick),
        }
    }

    /// Returns whether a packet may be dropped: sojourn times have been above the target for an interval (RFC 8289
    /// section 5.6 `dodequeue`, Linux `codel_should_drop`).
    #[inline(always)]
    fn may_drop(&mut self, now: u64, sojourn: u64, left_bytes: u64) -> bool {
        if sojourn < self.target || left_bytes <= self.mtu_bytes {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now.saturating_add(self.interval));
                false
            }
            Some(since) => match self.rules {
                CodelRules::Rfc => now >= since,
                CodelRules::Linux => now > since,
            },
        }
    }

    /// Begins to drop: with the count that controlled the queue last if that is not long ago.
    #[cold]
    #[inline(never)]
    fn begin(&mut self, now: u64) {
        let grown = self.count.wrapping_sub(self.last_count);
        self.dropping = true;
        if grown > 1 && now < self.drop_next.saturating_add(self.interval.saturating_mul(16)) {
            self.count = grown;
            self.step();
        } else {
            (self.count, self.inverse_root) = (1, u16::MAX);
        }
        self.last_count = self.count;
        self.schedule(now);
    }

    /// Schedules the next drop, 1 / sqrt(count) intervals after a reading (`control_law`).
    fn schedule(&mut self, from: u64) {
        let wait = match self.rules {
            CodelRules::Rfc => round_to_u64(self.interval as f64 / f64::from(self.count.max(1)).sqrt()),
            CodelRules::Linux => (self.interval * (u64::from(self.inverse_root) << 16)) >> 32,
        };
        self.drop_next = from.saturating_add(wait);
    }

    /// Takes a Newton step of 1 / sqrt(count) (Linux `codel_Newton_step`).
    fn step(&mut self) {
        let root = u64::from(self.inverse_root) << 16;
        let square = (root * root) >> 32;
        let left = (3_u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(square)) >> 2;
        let next = left.wrapping_mul(root) >> 31;
        // The upper 16 of 32 bits.
        self.inverse_root = (next >> 16) as u16;
    }

    /// Decides about the drop whose time has come: a mark schedules the next one at once.
    #[cold]
    #[inline(never)]
    fn signal(&mut self, capable: bool) -> Verdict {
        self.count = self.count.wrapping_add(1);
        self.step();
        if self.ecn && capable {
            self.schedule(self.drop_next);
            return Verdict::Mark;
        }
        Verdict::Drop
    }

    #[inline(always)]
    fn decide(&mut self, now: u64, may_drop: bool, departing: &Departing<'_>) -> Verdict {
        let began = std::mem::take(&mut self.began);
        if departing.again && began {
            // Whatever follows the drop that began the state is sent.
            return Verdict::Pass;
        }
        if self.dropping {
            if !may_drop {
                self.dropping = false;
                return Verdict::Pass;
            }
            if departing.again {
                self.schedule(self.drop_next);
            }
            return if now >= self.drop_next { self.signal(departing.capable) } else { Verdict::Pass };
        }
        if !may_drop {
            return Verdict::Pass;
        }
        self.begin(now);
        if self.ecn && departing.capable {
            return Verdict::Mark;
        }
        self.began = true;
        Verdict::Drop
    }
}

impl Algorithm for Codel {
    #[inline(always)]
    fn on_departure(&mut self, departing: &Departing<'_>) -> Verdict {
        let now = self.reading(departing.now);
        let sojourn = now - self.reading(departing.now - departing.sojourn);
        let left_bytes = match self.rules {
            CodelRules::Rfc => departing.left_bytes,
            // All flows' (`sch->qstats.backlog`), where each has a queue of its own.
            CodelRules::Linux => departing.left.bytes,
        };
        let may_drop = self.may_drop(now, sojourn, left_bytes);
        match self.decide(now, may_drop, departing) {
            Verdict::Pass if departing.capable && sojourn > self.ce_threshold => Verdict::Mark,
            verdict => verdict,
        }
    }

    fn on_overflow(&mut self, packets: u32, _now: Time) {
        if self.rules == CodelRules::Linux {
            self.count = self.count.wrapping_add(packets);
        }
    }

    fn on_empty(&mut self, _now: Time) -> bool {
        self.first_above = None;
        // The drop that began the state leaves it, though nothing follows it.
        self.dropping &= std::mem::take(&mut self.began);
        true
    }
}

#[cfg(test)]
mod tests;
