//! Settings that connections have in common, and divisions by them.

use base::cast::low_u64;
use base::{Clock, Divisor, Time};

use crate::echo_age::EchoAge;
use crate::LinuxReceiver;

/// Microseconds of a second.
const MICROSECONDS: u128 = 1_000_000;

/// Settings, and the numbers by which the times and windows of each packet are divided.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) settings: LinuxReceiver,
    /// Time of an ACK on an empty return path.
    pub(super) return_delay: Time,
    pub(super) clock: Clock,
    pub(super) echo_age: EchoAge,
    /// Ticks of a millisecond, in which the kernel's timers and timestamps count here.
    millisecond: Divisor,
    /// Payload of a full segment \[bytes\].
    segment: Divisor,
    /// The bits of a window that its announcement leaves out (`tcp_select_initial_window`: the window scale).
    below_scale: u64,
}

impl Common {
    pub(super) fn new(settings: LinuxReceiver, return_delay: Time, clock: Clock) -> Common {
        Common {
            settings,
            return_delay,
            clock,
            echo_age: EchoAge::new(clock),
            millisecond: Divisor::new(clock.ticks_per_second() / 1000),
            segment: Divisor::new(u64::from(settings.segment_bytes)),
            below_scale: (1 << settings.window_shift()) - 1,
        }
    }

    pub(super) fn millisecond(&self) -> Time {
        Time::from_ticks(self.millisecond.number())
    }

    pub(super) fn milliseconds(&self, time: Time) -> u64 {
        self.millisecond.quotient(time.ticks())
    }

    pub(super) fn microseconds(&self, span: Time) -> u64 {
        low_u64(u128::from(span.ticks()) * MICROSECONDS / u128::from(self.clock.ticks_per_second()))
    }

    /// Returns whether a span in whole microseconds is less than a number of them, without a division.
    pub(super) fn is_less(&self, span: Time, microseconds: u64) -> bool {
        let per_second = u128::from(self.clock.ticks_per_second());
        u128::from(span.ticks()) * MICROSECONDS < u128::from(microseconds) * per_second
    }

    /// Returns the payload of a full segment \[bytes\].
    pub(super) fn segment(&self) -> u64 {
        self.segment.number()
    }

    /// Returns the number of full segments that a window holds.
    pub(super) fn segments(&self, window: u64) -> u64 {
        self.segment.quotient(window)
    }

    /// Rounds a window up to the unit in which it is announced.
    pub(super) fn aligned(&self, window: u64) -> u64 {
        (window + self.below_scale) & !self.below_scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_compared_as_its_whole_microseconds_are() {
        for per_second in [1_000_000_000, 985_998_000_000_000, 1_234_567] {
            let common = Common::new(LinuxReceiver::default(), Time::ZERO, Clock::new(per_second));
            for microseconds in [0, 1, 2, 999, 40_000, 3_000_000] {
                let about = low_u64(u128::from(microseconds) * u128::from(per_second) / MICROSECONDS);
                for ticks in about.saturating_sub(3)..about + 4 {
                    let span = Time::from_ticks(ticks);
                    assert_eq!(common.is_less(span, microseconds), common.microseconds(span) < microseconds, "{ticks}");
                }
            }
        }
    }

    #[test]
    fn windows_are_rounded_up_to_the_window_scale() {
        let common = Common::new(LinuxReceiver::default(), Time::ZERO, Clock::new(1_000_000_000));
        let unit = 1 << LinuxReceiver::default().window_shift();
        for window in [0, 1, unit - 1, unit, unit + 1, 65_535, 1_000_003] {
            assert_eq!(common.aligned(window), window.next_multiple_of(unit));
        }
    }
}
