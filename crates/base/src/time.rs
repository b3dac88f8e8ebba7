use std::ops::{Add, AddAssign, Sub};

/// An instant or a span of simulated time, in whole picoseconds.
///
/// Sums saturate at [`Time::NEVER`], differences at zero: a packet on a link
/// of one bit a second departs "never" rather than in the past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(u64);

impl Time {
    /// The start of every run; also the empty span.
    pub const ZERO: Time = Time(0);
    /// Later than every instant of a run.
    pub const NEVER: Time = Time(u64::MAX);
    /// Picoseconds in a second.
    pub const PER_SECOND: f64 = 1e12;

    /// From whole picoseconds.
    pub const fn from_picoseconds(picoseconds: u64) -> Time {
        Time(picoseconds)
    }

    /// The nearest picosecond; negative or not-a-number gives zero, too large gives [`Time::NEVER`].
    pub fn from_seconds(seconds: f64) -> Time {
        Time((seconds * Self::PER_SECOND).round() as u64)
    }

    /// Whole picoseconds.
    pub const fn picoseconds(self) -> u64 {
        self.0
    }

    /// Seconds, to the nearest representable number.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / Self::PER_SECOND
    }

    /// The part of `[self, until)` that lies in `[from, to)`.
    #[inline(always)]
    pub fn overlap(self, until: Time, from: Time, to: Time) -> Time {
        until.min(to) - self.max(from)
    }

    /// `self` times a whole number.
    pub const fn times(self, factor: u64) -> Time {
        Time(self.0.saturating_mul(factor))
    }
}

impl Add for Time {
    type Output = Time;
    #[inline(always)]
    fn add(self, span: Time) -> Time {
        Time(self.0.saturating_add(span.0))
    }
}

impl AddAssign for Time {
    #[inline(always)]
    fn add_assign(&mut self, span: Time) {
        *self = *self + span;
    }
}

impl Sub for Time {
    type Output = Time;
    #[inline(always)]
    fn sub(self, earlier: Time) -> Time {
        Time(self.0.saturating_sub(earlier.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_picosecond() {
        assert_eq!(Time::from_seconds(4096.0 / 1.5e6).picoseconds(), 2_730_666_667);
        assert_eq!(Time::from_seconds(-1.0), Time::ZERO);
        assert_eq!(Time::from_seconds(f64::INFINITY), Time::NEVER);
    }

    #[test]
    fn sums_and_differences_saturate() {
        assert_eq!(Time::NEVER + Time::from_seconds(1.0), Time::NEVER);
        assert_eq!(Time::ZERO - Time::from_seconds(1.0), Time::ZERO);
    }

    #[test]
    fn overlap_is_the_common_part() {
        let t = Time::from_picoseconds;
        assert_eq!(t(2).overlap(t(9), t(4), t(7)), t(3));
        assert_eq!(t(2).overlap(t(3), t(4), t(7)), t(0));
    }
}
