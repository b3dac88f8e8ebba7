//! Settings that connections have in common, and divisions by them.

use base::cast::low_u64;
use base::{Clock, Divisor, Time};

use super::memory::Memory;
use super::LEAST_DELAY_MS;
use crate::echo_age::EchoAge;
use crate::receiver::Acknowledgment;
use crate::timer_wheel::Jiffies;
use crate::LinuxReceiver;

/// Microseconds of a second.
const MICROSECONDS: u128 = 1_000_000;

/// Settings, and the numbers by which the times and windows of each packet are divided.
#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) settings: LinuxReceiver,
    /// Time of an ACK on an empty return path.
    pub(super) return_delay: Time,
    /// Time that it lacks to whole milliseconds.
    pub(super) return_rest: Time,
    /// Longest service of a data packet on its way.
    pub(super) service: Time,
    /// Length of an ACK without blocks \[bytes\].
    pub(super) ack_bytes: u16,
    pub(super) clock: Clock,
    pub(super) echo_age: EchoAge,
    /// Ticks of a microsecond, if that is a whole number.
    ticks_per_microsecond: Option<u64>,
    /// Ticks of a millisecond, in which the kernel's timestamps count here.
    millisecond: Divisor,
    /// The clock by which ACKs are delayed.
    pub(super) jiffies: Jiffies,
    /// Shortest delay of an ACK \[jiffies\].
    least_delay: u64,
    /// Half of the shortest delay of an ACK.
    pub(super) half_delay: Time,
    /// Payload of a full segment \[bytes\].
    segment: Divisor,
    /// Memory of segments in the receive buffer.
    pub(super) memory: Memory,
    /// The bits of a window that its announcement leaves out (`tcp_select_initial_window`: the window scale).
    below_scale: u64,
}

impl Common {
    pub(super) fn new(settings: LinuxReceiver, clock: Clock) -> Common {
        let ticks_per_second = clock.ticks_per_second();
        let whole = u128::from(ticks_per_second).is_multiple_of(MICROSECONDS);
        Common {
            settings,
            return_delay: Time::ZERO,
            return_rest: Time::ZERO,
            service: Time::ZERO,
            ack_bytes: 0,
            clock,
            echo_age: EchoAge::new(clock),
            ticks_per_microsecond: whole.then(|| low_u64(u128::from(ticks_per_second) / MICROSECONDS)),
            millisecond: Divisor::new(ticks_per_second / 1000),
            jiffies: Jiffies::new(Time::from_ticks(ticks_per_second / 1000), Time::ZERO),
            least_delay: LEAST_DELAY_MS,
            half_delay: Time::from_ticks(ticks_per_second / 1000).times(LEAST_DELAY_MS / 2),
            segment: Divisor::new(u64::from(settings.segment_bytes)),
            memory: Memory::of(&settings),
            below_scale: (1 << settings.window_shift()) - 1,
        }
    }

    /// Sets the time of an ACK on an empty return path, and the longest service of a data packet.
    pub(super) fn set_path(&mut self, return_delay: Time, service: Time) {
        (self.return_delay, self.service) = (return_delay, service);
        let whole = self.millisecond.quotient_up(return_delay.ticks());
        self.return_rest = self.millisecond().times(whole) - return_delay;
    }

    pub(super) fn millisecond(&self) -> Time {
        Time::from_ticks(self.millisecond.number())
    }

    /// Returns a number of milliseconds in jiffies, rounded up.
    #[inline(always)]
    pub(super) fn jiffies_of(&self, milliseconds: u64) -> u64 {
        if milliseconds == LEAST_DELAY_MS {
            self.least_delay
        } else {
            self.jiffies.up(self.millisecond().times(milliseconds))
        }
    }

    /// Sets the clock by which ACKs are delayed.
    pub(super) fn set_clock(&mut self, jiffies: Jiffies) {
        self.jiffies = jiffies;
        self.least_delay = jiffies.up(self.millisecond().times(LEAST_DELAY_MS));
    }

    pub(super) fn milliseconds(&self, time: Time) -> u64 {
        self.millisecond.quotient(time.ticks())
    }

    pub(super) fn microseconds(&self, span: Time) -> u64 {
        low_u64(u128::from(span.ticks()) * MICROSECONDS / u128::from(self.clock.ticks_per_second()))
    }

    /// Returns the shortest span that has a number of whole microseconds; [`Time::NEVER`] if it is longer than all.
    pub(super) fn span(&self, microseconds: u64) -> Time {
        let ticks = match self.ticks_per_microsecond {
            Some(ticks) => microseconds.checked_mul(ticks),
            None => {
                let ticks = u128::from(microseconds) * u128::from(self.clock.ticks_per_second());
                u64::try_from(ticks.div_ceil(MICROSECONDS)).ok()
            }
        };
        ticks.map_or(Time::NEVER, Time::from_ticks)
    }

    /// Returns the payload of a full segment \[bytes\].
    pub(super) fn segment(&self) -> u64 {
        self.segment.number()
    }

    /// Returns the number of full segments that a window holds.
    pub(super) fn segments(&self, window: u64) -> u64 {
        self.segment.quotient(window)
    }

    /// Returns the number of segments, full ones and a shorter one, that a window holds.
    pub(super) fn segments_up(&self, window: u64) -> u64 {
        self.segment.quotient_up(window)
    }

    /// Returns a window as an ACK has it; 0 if windows are not announced.
    pub(super) fn announced(&self, window: u64) -> u32 {
        // The application has read all but what lies beyond a hole, so that the window is never closed for long.
        let packets = || Acknowledgment::of_window(self.segments(window).max(1));
        self.settings.announced.then(packets).unwrap_or_default()
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
    fn the_shortest_span_of_a_number_of_microseconds_has_as_many() {
        for per_second in [985_998_000_000_000, 1_234_567_000_001] {
            let common = Common::new(LinuxReceiver::default(), Clock::new(per_second));
            assert_eq!(common.span(u64::MAX), Time::NEVER, "longer than all");
        }
        for per_second in [1_000_000_000, 985_998_000_000_000, 1_234_567] {
            let common = Common::new(LinuxReceiver::default(), Clock::new(per_second));
            for microseconds in [0, 1, 2, 999, 40_000, 3_000_000] {
                let span = common.span(microseconds);
                assert_eq!(common.microseconds(span), microseconds, "{per_second}");
                assert!(microseconds == 0 || common.microseconds(span - Time::TICK) < microseconds, "{per_second}");
            }
        }
    }

    #[test]
    fn windows_are_rounded_up_to_the_window_scale() {
        let common = Common::new(LinuxReceiver::default(), Clock::new(1_000_000_000));
        let unit = 1 << LinuxReceiver::default().window_shift();
        for window in [0, 1, unit - 1, unit, unit + 1, 65_535, 1_000_003] {
            assert_eq!(common.aligned(window), window.next_multiple_of(unit));
        }
    }
}
