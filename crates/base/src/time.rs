use std::ops::{Add, AddAssign, Sub};

use crate::cast::round_to_u64;

/// An instant or a duration of simulated time, in whole picoseconds.
///
/// Sums saturate at [`Time::NEVER`], differences at zero: a packet on a link of one bit per second departs "never"
/// instead of in the past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(u64);

impl Time {
    /// The start of every run; also the empty duration.
    pub const ZERO: Time = Time(0);
    /// An instant later than every instant of a run.
    pub const NEVER: Time = Time(u64::MAX);
    /// Number of picoseconds in a second.
    pub const PER_SECOND: f64 = 1e12;

    /// Creates a time from whole picoseconds.
    pub const fn from_picoseconds(picoseconds: u64) -> Time {
        Time(picoseconds)
    }

    /// Rounds seconds to the nearest picosecond; negative numbers and NaN give zero, too large ones [`Time::NEVER`].
    pub fn from_seconds(seconds: f64) -> Time {
        Time(round_to_u64(seconds * Self::PER_SECOND))
    }

    /// Returns the number of picoseconds.
    pub const fn picoseconds(self) -> u64 {
        self.0
    }

    /// Returns the time in seconds, to the nearest representable number.
    pub fn seconds(self) -> f64 {
        self.0 as f64 / Self::PER_SECOND
    }

    /// Returns the length of the intersection of `[self, until)` and `[from, to)`.
    #[inline(always)]
    pub fn overlap(self, until: Time, from: Time, to: Time) -> Time {
        until.min(to) - self.max(from)
    }

    /// Multiplies the time by an integer.
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
        assert_eq!([-1.0, f64::NAN].map(Time::from_seconds), [Time::ZERO; 2]);
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
