use crate::cast::round_to_u64;
use crate::Time;

/// The length of the ticks in which a run counts time.
///
/// A run's clock is chosen such that service times and constant delays are whole numbers of ticks, where that is
/// possible: then events that coincide in the scenario coincide in the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clock {
    ticks_per_second: u64,
}

impl Clock {
    /// The clock whose ticks are picoseconds.
    pub const PICOSECONDS: Clock = Clock::new(1_000_000_000_000);

    /// Creates a clock with a number of ticks in a second (positive).
    pub const fn new(ticks_per_second: u64) -> Clock {
        Clock { ticks_per_second }
    }

    /// Returns the number of ticks in a second.
    pub const fn ticks_per_second(self) -> u64 {
        self.ticks_per_second
    }

    /// Rounds seconds to the nearest tick; negative numbers and NaN give zero, too large ones [`Time::NEVER`].
    pub fn time(self, seconds: f64) -> Time {
        Time::from_ticks(round_to_u64(seconds * self.ticks_per_second as f64))
    }

    /// Returns a time in seconds, to the nearest representable number.
    pub fn seconds(self, time: Time) -> f64 {
        self.ticks_in_seconds(time.ticks() as f64)
    }

    /// Returns a time in whole nanoseconds, to the nearest one.
    pub fn nanoseconds(self, time: Time) -> u64 {
        let per_second = u128::from(self.ticks_per_second);
        let nanoseconds = (u128::from(time.ticks()) * 1_000_000_000 + per_second / 2) / per_second;
        u64::try_from(nanoseconds).unwrap_or(u64::MAX)
    }

    /// Returns ticks, or ticks times something else, in seconds.
    pub fn ticks_in_seconds(self, ticks: f64) -> f64 {
        ticks / self.ticks_per_second as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_round_to_the_nearest_tick() {
        assert_eq!(Clock::PICOSECONDS.time(4096.0 / 1.5e6).ticks(), 2_730_666_667);
        assert_eq!(Clock::new(1_500_000).time(4096.0 / 1.5e6).ticks(), 4096);
        assert_eq!([-1.0, f64::NAN].map(|seconds| Clock::PICOSECONDS.time(seconds)), [Time::ZERO; 2]);
        assert_eq!(Clock::PICOSECONDS.time(f64::INFINITY), Time::NEVER);
    }

    #[test]
    fn a_time_comes_back_in_seconds() {
        for clock in [Clock::PICOSECONDS, Clock::new(1_188_000_000_000)] {
            assert_eq!(clock.seconds(clock.time(0.25)), 0.25);
        }
    }
}
