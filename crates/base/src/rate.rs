use crate::cast::low_u64;
use crate::{Clock, Fraction, Time};

/// Shortest service time that may be rounded \[ticks\]: the rate is off by one part in 2 * 10^9 at most.
const LONG: u64 = 1_000_000_000;

/// The rate of a link.
///
/// Service times are whole numbers of ticks where the clock fits the rate. Elsewhere those of at least [`LONG`] ticks are
/// rounded: packets of one size have one service time, so that sums of the same times in another order stay equal. What
/// a whole number of ticks leaves of a shorter one is added to the next, so that the link does not drift.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    /// Time to transmit a byte: whole ticks, in the high 64 bits, and 2^-64 of a tick.
    byte: u128,
    /// Rest of the service times since the link was idle, below a tick \[2^-64 of a tick\].
    left: u64,
}

impl Rate {
    /// The rate of a link with a service time of zero.
    pub const UNLIMITED: Rate = Rate { byte: 0, left: 0 };

    /// Creates a rate from bits per second (positive), for times of a clock.
    pub fn new(bits_per_second: f64, clock: Clock) -> Rate {
        let Some(rate) = Fraction::of(bits_per_second) else { return Rate::UNLIMITED };
        // T ticks a second at n/d bit/s: a byte takes 8 T d / n ticks.
        let bits = u128::from(clock.ticks_per_second()) * 8;
        let (divisor, numerator) = (u128::from(rate.denominator()), u128::from(rate.numerator()));
        let ticks = bits.saturating_mul(divisor);
        let whole = (ticks / numerator).min(u128::from(u64::MAX));
        Rate { byte: (whole << 64) | (((ticks % numerator) << 64) / numerator), left: 0 }
    }

    /// Returns the time to transmit `bytes` after what was transmitted before: the exact one, up or down to a whole
    /// tick such that the sum of all since the last idle time is short by less than a tick.
    #[inline(always)]
    pub fn service_time(&mut self, bytes: u16) -> Time {
        let (whole, part) = self.exact_service_time(bytes);
        let (left, carries) = self.left.overflowing_add(part);
        self.left = left;
        if carries {
            whole + Time::TICK
        } else {
            whole
        }
    }

    /// Forgets the rest of a tick, at the end of an idle time: a link that takes up its work again starts like a new one.
    pub fn restart(&mut self) {
        self.left = 0;
    }

    /// Returns the time to transmit `bytes`: whole ticks, and 2^-64 of a tick; of a long one, whole ticks alone.
    pub fn exact_service_time(&self, bytes: u16) -> (Time, u64) {
        let part = u128::from(low_u64(self.byte)) * u128::from(bytes);
        let whole = Time::from_ticks(low_u64(self.byte >> 64)).times(u64::from(bytes));
        let (whole, part) = (whole + Time::from_ticks(low_u64(part >> 64)), low_u64(part));
        match (whole.ticks() >= LONG, part >> 63) {
            (false, _) => (whole, part),
            (true, 0) => (whole, 0),
            (true, _) => (whole + Time::TICK, 0),
        }
    }

    /// Returns the time to transmit `bytes`, up to the next whole tick; of a long one, the nearest.
    pub fn longest_service_time(&self, bytes: u16) -> Time {
        match self.exact_service_time(bytes) {
            (whole, 0) => whole,
            (whole, _) => whole + Time::TICK,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_times_are_whole_on_a_clock_that_fits() {
        let mut rate = Rate::new(1.5e6, Clock::new(1_500_000));
        assert_eq!([512, 40, 1500].map(|bytes| rate.service_time(bytes).ticks()), [4096, 320, 12_000]);
        assert_eq!(rate.longest_service_time(512).ticks(), 4096);
    }

    #[test]
    fn what_a_short_service_time_leaves_goes_to_the_next() {
        let mut rate = Rate::new(1.5e9, Clock::PICOSECONDS);
        assert_eq!(rate.longest_service_time(64).ticks(), 341_334);
        let times = [64; 3].map(|bytes| rate.service_time(bytes).ticks());
        assert_eq!(times, [341_333; 3]);
        let sum: u64 = (3..3_000_000).map(|_| rate.service_time(64).ticks()).sum::<u64>() + times.iter().sum::<u64>();
        assert_eq!(sum, 1_023_999_999_999);
    }

    #[test]
    fn long_service_times_are_rounded_to_one_for_each_size() {
        let mut rate = Rate::new(1.5e6, Clock::PICOSECONDS);
        assert_eq!(
            [512, 512, 1000].map(|bytes| rate.service_time(bytes).ticks()),
            [2_730_666_667, 2_730_666_667, 5_333_333_333]
        );
    }

    #[test]
    fn one_byte_at_six_terabits_a_second_takes_four_thirds_of_a_picosecond() {
        let mut rate = Rate::new(6e12, Clock::PICOSECONDS);
        let sum: u64 = (0..3_000_000).map(|_| rate.service_time(1).ticks()).sum();
        assert_eq!(sum, 3_999_999);
    }

    #[test]
    fn the_slowest_links_take_for_ever_and_unlimited_ones_no_time() {
        assert_eq!(Rate::new(1e-9, Clock::PICOSECONDS).service_time(1500), Time::NEVER);
        assert_eq!(Rate::UNLIMITED.clone().service_time(1500), Time::ZERO);
        assert_eq!(Rate::new(f64::INFINITY, Clock::PICOSECONDS).clone().service_time(1500), Time::ZERO);
    }
}
