//! The time for which a sender has had the ACK whose timestamp a data segment echoes (RFC 7323 section 3), in a word.
//!
//! A sender that sends as an ACK arrives echoes that one, and the age is zero. One that paces, or whose timer expired, or
//! whose application wrote later, echoes the last ACK before.

use base::{Clock, Time};

/// Units of a second, at least, as a power of two: an age is off by less than 60 ns, and has two minutes of room.
const UNITS_LOG2: u32 = 24;

/// The unit of ages: ticks of the clock, a power of two.
#[derive(Clone, Copy, Debug)]
pub(crate) struct EchoAge {
    ticks_log2: u32,
}

impl EchoAge {
    pub(crate) fn new(clock: Clock) -> EchoAge {
        EchoAge { ticks_log2: clock.ticks_per_second().ilog2().saturating_sub(UNITS_LOG2) }
    }

    /// Returns a span in whole units, the largest number if it is longer than that.
    pub(crate) fn units(self, span: Time) -> u32 {
        u32::try_from(span.ticks() >> self.ticks_log2).unwrap_or(u32::MAX)
    }

    /// Returns the span of a number of units.
    pub(crate) fn span(self, units: u32) -> Time {
        Time::from_ticks(u64::from(units) << self.ticks_log2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_off_by_less_than_60_ns_up_to_two_minutes() {
        for per_second in [1_000_000_000_000, 985_998_000_000_000, 1_000_000_000_000_000] {
            let (clock, age) = (Clock::new(per_second), EchoAge::new(Clock::new(per_second)));
            for seconds in [0.0, 1e-9, 0.000_123_456, 0.2, 119.0] {
                let span = clock.time(seconds);
                let found = age.span(age.units(span));
                assert!(found <= span && clock.seconds(span - found) < 60e-9, "{seconds}");
            }
            assert_eq!(age.units(clock.time(300.0)), u32::MAX);
        }
    }
}
