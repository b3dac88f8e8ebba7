//! COBALT, the AQM of CAKE (Høiland-Jørgensen, Täht, Morton 2018; Linux `net/sched/sch_cake.c`, `cobalt_*`): CoDel for
//! flows that respond to drops, and BLUE (Feng et al. 2002) for those that do not.

use base::cast::trunc_to_u64;
use base::{Clock, RandomStream, Time};
use serde::{Deserialize, Serialize};

use super::{Algorithm, AqmState, Departing, Verdict};

/// Parameters of COBALT.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CobaltConfig {
    /// Sojourn time that a packet may always have, and least time between two changes of BLUE's probability \[s\].
    pub target_s: f64,
    /// Time from the first sojourn time above the target to the second drop, and the scale of the later ones \[s\].
    pub interval_s: f64,
    /// Time that the largest packet takes; four of them may always be waited for. 0: there is no such time \[s\].
    pub mtu_s: f64,
}

impl CobaltConfig {
    /// The defaults of Linux, without a shaper.
    pub const TYPICAL: CobaltConfig = CobaltConfig { target_s: 0.005, interval_s: 0.1, mtu_s: 0.0 };
}

/// BLUE's steps up and down, as fractions of 2^32: 1/256 and 1/4096 (`p_inc`, `p_dec`).
const STEP_UP: u32 = 1 << 24;
const STEP_DOWN: u32 = 1 << 20;
/// Counts whose inverse roots are exact; those above follow by one Newton step (`REC_INV_SQRT_CACHE`).
const EXACT_ROOTS: usize = 16;

/// COBALT of a queue. Times are nanoseconds, as in Linux.
#[derive(Clone, Debug)]
pub(crate) struct Cobalt {
    readings_per_tick: f64,
    target: i64,
    interval: i64,
    /// Sojourn time that is acceptable whatever the target.
    four_packets: i64,
    /// Drops that CoDel has made and not taken back (`count`).
    count: u32,
    /// 1 / sqrt(count) as a fraction of 2^32 (`rec_inv_sqrt`); 0 before the count has ever changed.
    inverse_root: u32,
    dropping: bool,
    /// Reading of the next drop, or, without a count, of the end of the activity (`drop_next`).
    drop_next: i64,
    /// BLUE's probability as a fraction of 2^32 (`p_drop`), and the reading of its last change (`blue_timer`).
    probability: u32,
    changed: i64,
    random: RandomStream,
}

impl Cobalt {
    /// Returns the COBALT of an empty queue.
    pub(crate) fn new(config: CobaltConfig, clock: Clock, random: RandomStream) -> Cobalt {
        let nanoseconds = |seconds: f64| signed(trunc_to_u64(seconds * 1e9));
        Cobalt {
            readings_per_tick: 1e9 / clock.ticks_per_second() as f64,
            target: nanoseconds(config.target_s),
            interval: nanoseconds(config.interval_s),
            four_packets: nanoseconds(config.mtu_s).saturating_mul(4),
            count: 0,
            inverse_root: 0,
            dropping: false,
            drop_next: 0,
            probability: 0,
            changed: 0,
            random,
        }
    }

    fn reading(&self, time: Time) -> i64 {
        signed(trunc_to_u64(time.ticks() as f64 * self.readings_per_tick))
    }

    /// Returns the state that traces have.
    pub(super) fn state(&self) -> AqmState {
        AqmState {
            count: Some(self.count),
            dropping: Some(self.dropping),
            next_drop: self.dropping.then(|| self.drop_next as f64 / self.readings_per_tick),
            probability: Some(f64::from(self.probability) / 4_294_967_296.0),
            ..AqmState::default()
        }
    }

    /// Makes the inverse root that of the count (`cobalt_invsqrt`).
    fn follow_count(&mut self) {
        let exact = usize::try_from(self.count).ok().and_then(|count| INVERSE_ROOTS.get(count));
        self.inverse_root = exact.copied().unwrap_or_else(|| stepped(self.inverse_root, self.count));
    }

    /// Returns the reading that is one interval, divided by the root of the count, after another one (`cobalt_control`).
    ///
    /// Deviation: Linux cuts intervals above 4.29 s, which do not fit its 32 bits.
    fn after(&self, reading: i64) -> i64 {
        let scaled = (i128::from(self.interval) * i128::from(self.inverse_root)) >> 32;
        reading.saturating_add(i64::try_from(scaled).unwrap_or(i64::MAX))
    }

    fn count_to(&mut self, count: u32) {
        self.count = count;
        self.follow_count();
        self.drop_next = self.after(self.drop_next);
    }

    /// Notes that a packet was dropped for want of buffer (`cobalt_queue_full`).
    fn overflow(&mut self, now: i64) {
        if now - self.changed > self.target {
            self.probability = self.probability.saturating_add(STEP_UP);
            self.changed = now;
        }
        (self.dropping, self.drop_next) = (true, now);
        self.count = self.count.max(1);
    }

    /// Returns whether CoDel gives a signal with a packet, and takes back drops whose time is over while it gives none.
    fn codel_signals(&mut self, now: i64, over_target: bool) -> bool {
        let is_time = self.count > 0 && now >= self.drop_next;
        if over_target && !self.dropping {
            self.drop_next = self.after(now);
        }
        self.dropping = over_target;
        if over_target {
            self.count = self.count.max(1);
        }
        if is_time && over_target {
            self.count_to(self.count.saturating_add(1));
            return true;
        }
        while is_time && self.count > 0 && now >= self.drop_next {
            self.count_to(self.count - 1);
        }
        false
    }
}

impl Algorithm for Cobalt {
    fn on_drop(&mut self, now: Time) {
        self.overflow(self.reading(now));
    }

    fn on_overflow(&mut self, packets: u32, now: Time) {
        (0..packets).for_each(|_| self.overflow(self.reading(now)));
    }

    /// Decides about a packet (`cobalt_should_drop`); the last one of its queue may be marked, and is never dropped.
    fn on_departure(&mut self, departing: &Departing<'_>) -> Verdict {
        let now = self.reading(departing.now);
        let sojourn = now - self.reading(departing.now - departing.sojourn);
        // Linux compares with the time of the next drop before the decision, if the decision does not move it.
        let (scheduled, count) = (self.drop_next, self.count);
        let signals = self.codel_signals(now, sojourn > self.target && sojourn > self.four_packets);
        let scheduled = if signals || self.count < count { self.drop_next } else { scheduled };
        let marks = signals && departing.capable;
        // Lack of ECN is deliberate: BLUE is there for flows that do not respond.
        let unresponsive = self.probability > 0 && high_bits(self.random.bits()) < self.probability;
        let drops = unresponsive || (signals && !marks);
        if self.count == 0 {
            self.drop_next = now.saturating_add(self.interval);
        } else if now > scheduled && !drops {
            self.drop_next = now;
        }
        match (drops && departing.left_bytes > 0, marks) {
            (true, _) => Verdict::Drop,
            (false, true) => Verdict::Mark,
            (false, false) => Verdict::Pass,
        }
    }

    /// Takes back a drop whose time is over, and some of BLUE's probability (`cobalt_queue_empty`).
    fn on_empty(&mut self, now: Time) -> bool {
        let now = self.reading(now);
        if self.probability > 0 && now - self.changed > self.target {
            self.probability = self.probability.saturating_sub(STEP_DOWN);
            self.changed = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.count_to(self.count - 1);
        }
        self.probability == 0 && self.count == 0 && now >= self.drop_next
    }
}

/// Inverse roots of the counts up to 15 as fractions of 2^32 (`cobalt_cache_init`): four Newton steps each, from the one
/// before.
const INVERSE_ROOTS: [u32; EXACT_ROOTS] = inverse_roots();

const fn inverse_roots() -> [u32; EXACT_ROOTS] {
    let mut roots = [u32::MAX; EXACT_ROOTS];
    let (mut root, mut index, mut count) = (u32::MAX, 1, 1);
    while index < EXACT_ROOTS {
        let mut step = 0;
        while step < 4 {
            root = stepped(root, count);
            step += 1;
        }
        roots[index] = root;
        (index, count) = (index + 1, count + 1);
    }
    roots
}

/// Returns an inverse root after a Newton step towards that of a count: x (3 - count x^2) / 2 (`cobalt_newton_step`).
const fn stepped(root: u32, count: u32) -> u32 {
    let squared = (root as u64 * root as u64) >> 32;
    let rest = (3_u64 << 32).wrapping_sub(count as u64 * squared) >> 2;
    (rest.wrapping_mul(root as u64) >> 31) as u32
}

fn high_bits(bits: u64) -> u32 {
    u32::try_from(bits >> 32).unwrap_or(u32::MAX)
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests;
