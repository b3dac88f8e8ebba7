//! Linux's units: microseconds and jiffies of a millisecond, both whole and rounded down, and windows in whole packets.

use base::cast::{low_u64, trunc_to_u32, trunc_to_u64};
use base::{Clock, Divisor, Time};

use super::Settings;

const MICROSECONDS: u64 = 1_000_000;

/// The kernel's clocks (HZ = 1000).
#[derive(Clone, Copy, Debug)]
pub(crate) struct KernelClock {
    ticks_per_second: u64,
    /// Ticks of a microsecond, if that is a whole number.
    ticks_per_microsecond: Option<Divisor>,
}

impl KernelClock {
    pub(crate) fn new(clock: Clock) -> KernelClock {
        let ticks_per_second = clock.ticks_per_second();
        let whole = ticks_per_second.is_multiple_of(MICROSECONDS);
        let ticks_per_microsecond = whole.then(|| Divisor::new(ticks_per_second / MICROSECONDS));
        KernelClock { ticks_per_second, ticks_per_microsecond }
    }

    /// Returns the reading of the clock in microseconds.
    pub(crate) fn microseconds(self, now: Time) -> u64 {
        match self.ticks_per_microsecond {
            None => low_u64(u128::from(now.ticks()) * u128::from(MICROSECONDS) / u128::from(self.ticks_per_second)),
            Some(ticks) => ticks.quotient(now.ticks()),
        }
    }

    /// Returns the reading of the clock in jiffies.
    pub(super) fn jiffies(self, now: Time) -> u64 {
        jiffies(self.microseconds(now))
    }

    /// Returns the time between two readings of the clock in microseconds, the later one at `now`.
    pub(super) fn between(self, now: Time, span: Time) -> u64 {
        self.microseconds(now) - self.microseconds(now - span)
    }
}

/// Returns a number of microseconds in jiffies.
pub(super) fn jiffies(microseconds: u64) -> u64 {
    microseconds / 1000
}

/// Returns a window as Linux keeps it.
pub(super) fn packets(window: f64) -> u32 {
    trunc_to_u32(window)
}

/// Largest delay of ACKs that the bursts of segmentation offload cause \[us\].
const OFFLOAD_DELAY: f64 = 1000.0;
/// Four of the largest bursts of segmentation offload \[byte\].
const OFFLOAD_BURSTS: f64 = 4.0 * 65536.0;

/// The delay of ACKs that comes from segmentation offload, not from queues (Linux `hystart_ack_delay`).
#[derive(Clone, Copy, Debug)]
pub(super) struct OffloadDelay {
    mss: f64,
}

impl OffloadDelay {
    pub(super) fn new(settings: &Settings) -> OffloadDelay {
        OffloadDelay { mss: f64::from(settings.mss) }
    }

    /// Returns the delay \[us\], at the rate at which Linux would pace (`tcp_update_pacing_rate`): `gain` windows in
    /// each smoothed round trip \[us\].
    pub(crate) fn microseconds(self, cwnd: f64, gain: f64, srtt: u64) -> u64 {
        let rate = gain * self.mss * cwnd / srtt.max(1) as f64;
        trunc_to_u64((OFFLOAD_BURSTS / rate).min(OFFLOAD_DELAY))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_round_down() {
        for clock in [Clock::PICOSECONDS, Clock::new(1_188_000_000_000), Clock::new(1_500_000), Clock::new(7)] {
            let kernel = KernelClock::new(clock);
            for seconds in [0_u64, 1, 3_600, 86_400] {
                let now = Time::from_ticks(seconds * clock.ticks_per_second());
                assert_eq!(kernel.jiffies(now), 1000 * seconds);
                assert_eq!(
                    kernel.microseconds(now + Time::TICK),
                    1_000_000 * seconds + kernel.microseconds(Time::TICK)
                );
                if seconds > 0 {
                    assert_eq!(kernel.jiffies(now - Time::TICK), 1000 * seconds - 1 - kernel.jiffies(Time::TICK));
                }
            }
        }
    }

    #[test]
    fn a_span_is_the_difference_of_two_readings() {
        let kernel = KernelClock::new(Clock::new(2_000_000));
        assert_eq!(kernel.between(Time::from_ticks(5), Time::from_ticks(1)), 0);
        assert_eq!(kernel.between(Time::from_ticks(4), Time::from_ticks(1)), 1);
    }

    #[test]
    fn offload_delays_by_a_millisecond_below_two_gigabits_per_second() {
        let delay = OffloadDelay { mss: 1448.0 };
        assert_eq!(delay.microseconds(100.0, 2.0, 50_000), 1000);
        // 4 * 64 KiB at 1 Gbyte/s, which 2 windows of 3453 packets in 10 ms are.
        assert_eq!(delay.microseconds(3453.04, 2.0, 10_000), 262);
    }

    #[test]
    fn windows_are_whole() {
        assert_eq!([1.0, 2.99, f64::INFINITY].map(packets), [1, 2, u32::MAX]);
    }
}
