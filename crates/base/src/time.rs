use std::ops::{Add, AddAssign, Sub};

/// An instant or a duration of simulated time, in whole ticks of the run's [`Clock`](crate::Clock).
///
/// Sums saturate at [`Time::NEVER`], differences at zero: a packet on a link of one bit per second departs "never"
/// instead of in the past.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(u64);

impl Time {
    /// The start of every run; also the empty duration.
    pub const ZERO: Time = Time(0);
    /// The shortest duration.
    pub const TICK: Time = Time(1);
    /// An instant later than every instant of a run.
    pub const NEVER: Time = Time(u64::MAX);

    /// Creates a time from whole ticks.
    pub const fn from_ticks(ticks: u64) -> Time {
        Time(ticks)
    }

    /// Returns the number of ticks.
    pub const fn ticks(self) -> u64 {
        self.0
    }

    /// Returns the number of ticks since an earlier instant. The difference of two instants, which is zero where the
    /// second is later, costs an instruction more in the innermost loops.
    #[inline(always)]
    pub const fn since(self, earlier: Time) -> u64 {
        self.0.wrapping_sub(earlier.0)
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
    fn sums_and_differences_saturate() {
        assert_eq!(Time::NEVER + Time::TICK, Time::NEVER);
        assert_eq!(Time::ZERO - Time::TICK, Time::ZERO);
    }

    #[test]
    fn overlap_is_the_common_part() {
        let t = Time::from_ticks;
        assert_eq!(t(2).overlap(t(9), t(4), t(7)), t(3));
        assert_eq!(t(2).overlap(t(3), t(4), t(7)), t(0));
    }
}
