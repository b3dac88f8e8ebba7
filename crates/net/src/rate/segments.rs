//! A rate that is constant for a while, then another: service times that solve "integral of the rate = bits".

use base::cast::{low_u64, round_to_u64};
use base::{least_common_multiple, Clock, Fraction, RandomStream, Time};

use super::RateState;
use crate::delay::choose;

/// Largest common denominator of the rates of a process \[1/(bit/s)\]. With it the work of 2^64 ticks fits into 128 bits.
const MOST_PARTS: u64 = 1_000_000;

/// The instants at which a rate changes, and the rates between them \[units of work per tick\].
#[derive(Clone, Debug)]
pub(super) enum Changes {
    Steps { steps: Vec<(Time, u64)>, period: Option<Time> },
    Alternating { states: Vec<(u64, RateState)>, transitions: Option<Vec<Vec<f64>>>, random: RandomStream },
}

/// A rate as a function of time, and the work that it does.
///
/// Work is counted in whole units: 1/(parts * ticks in a second) of a bit, so that each rate is a whole number of units
/// per tick. Nothing is rounded but the departure, down to a whole tick; the work that is left of it belongs to the
/// next packet, unless the link is idle before.
#[derive(Clone, Debug)]
pub(super) struct Segments {
    changes: Changes,
    /// Index of the present step or state.
    index: usize,
    /// Beginning of the present period of steps.
    period_start: Time,
    /// Rate now \[units of work per tick\].
    rate: u64,
    largest: u64,
    /// End of the present rate.
    until: Time,
    /// Work of a byte \[units\].
    byte: u128,
    /// Units of work in a bit.
    bit: u128,
    /// Work that the last packet left over: less than that of a tick.
    left: u128,
    /// The last departure.
    last: Time,
    /// End of the run. A rate that would change without end is the largest one from then on: packets that depart later
    /// have finite waits, and cost no more changes.
    end: Time,
    clock: Clock,
}

/// Returns the common denominator of rates; at most [`MOST_PARTS`], to which other rates are rounded.
fn common_parts(rates_bps: &[f64]) -> u64 {
    let denominators = rates_bps.iter().filter_map(|&rate| Fraction::of(rate)).map(Fraction::denominator);
    let all = denominators
        .into_iter()
        .try_fold(1, |parts, one| least_common_multiple(parts, one).filter(|&parts| parts <= MOST_PARTS));
    all.unwrap_or(MOST_PARTS)
}

impl Segments {
    /// Returns the process at time zero, in the step or state of an index. One of its rates is positive.
    pub(super) fn new(
        rates_bps: &[f64],
        index: usize,
        changes: impl FnOnce(&[u64]) -> Changes,
        clock: Clock,
        end: Time,
    ) -> Segments {
        let parts = common_parts(rates_bps);
        let rates: Vec<u64> = rates_bps.iter().map(|&rate| in_parts(rate, parts)).collect();
        let bit = u128::from(parts) * u128::from(clock.ticks_per_second());
        let mut segments = Segments {
            changes: changes(&rates),
            index,
            largest: rates.into_iter().max().unwrap_or_default(),
            period_start: Time::ZERO,
            rate: 0,
            until: Time::ZERO,
            byte: bit * 8,
            bit,
            left: 0,
            last: Time::ZERO,
            end,
            clock,
        };
        segments.enter(Time::ZERO);
        segments
    }

    /// Returns the departure of a packet whose transmission begins at an instant. Instants must come in order of time.
    pub(super) fn departure(&mut self, start: Time, bytes: u16) -> Time {
        self.advance(start);
        if start > self.last {
            self.left = 0;
        }
        let mut work = u128::from(bytes) * self.byte + self.left;
        let mut now = start;
        loop {
            let rate = u128::from(self.rate);
            let whole = work.checked_div(rate).unwrap_or(u128::MAX);
            if whole <= u128::from(self.until.since(now)) {
                self.left = work - whole * rate;
                self.last = now + Time::from_ticks(low_u64(whole));
                return self.last;
            }
            if self.until == Time::NEVER {
                (self.left, self.last) = (0, Time::NEVER);
                return Time::NEVER;
            }
            work -= rate * u128::from(self.until.since(now));
            now = self.until;
            self.change();
        }
    }

    /// Makes the changes up to an instant.
    pub(super) fn advance(&mut self, now: Time) {
        while self.until <= now && self.until < Time::NEVER {
            self.change();
        }
    }

    /// Returns the rate from an instant on \[bit/s\], and its end.
    pub(super) fn rate_from(&mut self, now: Time) -> (f64, Time) {
        self.advance(now);
        (self.rate as f64 * self.clock.ticks_per_second() as f64 / self.bit as f64, self.until)
    }

    /// Returns what the rate carries from one instant to a later one \[bit\]. It must not have passed the first.
    pub(super) fn bits(&mut self, from: Time, to: Time) -> f64 {
        let mut bits = 0.0;
        let mut now = from;
        self.advance(now);
        while now < to {
            let until = self.until.min(to);
            bits += (u128::from(self.rate) * u128::from(until.since(now))) as f64 / self.bit as f64;
            now = until;
            self.advance(now);
        }
        bits
    }

    fn change(&mut self) {
        let now = self.until;
        self.index = match &mut self.changes {
            Changes::Steps { steps, period } => {
                let next = self.index + 1;
                match period {
                    Some(period) if next == steps.len() => {
                        self.period_start += *period;
                        0
                    }
                    _ => next,
                }
            }
            Changes::Alternating { states, transitions: None, .. } => (self.index + 1) % states.len(),
            Changes::Alternating { transitions: Some(rows), random, .. } => choose(&rows[self.index], random.uniform()),
        };
        self.enter(now);
    }

    /// Begins the step or state of the present index.
    fn enter(&mut self, now: Time) {
        let (clock, index) = (self.clock, self.index);
        let goes_on = now < self.end;
        (self.rate, self.until) = match &mut self.changes {
            Changes::Steps { steps, period } if goes_on || period.is_none() => {
                let next = steps.get(index + 1).map(|step| step.0).or(*period);
                (steps[index].1, next.map_or(Time::NEVER, |next| self.period_start + next))
            }
            Changes::Alternating { states, random, .. } if goes_on => {
                let (rate, RateState { least_stay_s, mean_extra_s, .. }) = states[index];
                (rate, now + clock.time(least_stay_s + random.exponential(mean_extra_s)))
            }
            Changes::Steps { .. } | Changes::Alternating { .. } => (self.largest, Time::NEVER),
        };
    }
}

/// Returns a rate in units of 1/parts bit/s: exactly if `parts` is a multiple of its denominator, else rounded.
fn in_parts(rate_bps: f64, parts: u64) -> u64 {
    let exact = Fraction::of(rate_bps).filter(|rate| parts.is_multiple_of(rate.denominator()));
    let scaled = exact.and_then(|rate| rate.numerator().checked_mul(parts / rate.denominator()));
    scaled.unwrap_or_else(|| round_to_u64(rate_bps * parts as f64))
}
