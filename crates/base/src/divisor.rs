/// A number that is divided by again and again: a multiplication in place of each division.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divisor {
    number: u64,
    /// 2^64 / `number`, rounded down, and at most 2^64 - 1.
    inverse: u64,
}

impl Divisor {
    /// Prepares divisions by a number, by 1 in place of 0.
    pub fn new(number: u64) -> Divisor {
        let number = number.max(1);
        Divisor { number, inverse: u64::try_from((1_u128 << 64) / u128::from(number)).unwrap_or(u64::MAX) }
    }

    /// Returns the number.
    #[inline(always)]
    pub fn number(self) -> u64 {
        self.number
    }

    /// Returns a dividend over the number, rounded down.
    #[inline(always)]
    pub fn quotient(self, dividend: u64) -> u64 {
        // The inverse is less than 1 too small, and so is this.
        let close = crate::cast::low_u64((u128::from(dividend) * u128::from(self.inverse)) >> 64);
        close + u64::from(dividend - close * self.number >= self.number)
    }

    /// Returns what is left of a dividend over the number.
    #[inline(always)]
    pub fn remainder(self, dividend: u64) -> u64 {
        dividend - self.quotient(dividend) * self.number
    }

    /// Returns a dividend over the number, rounded up.
    #[inline(always)]
    pub fn quotient_up(self, dividend: u64) -> u64 {
        let below = self.quotient(dividend);
        below + u64::from(below * self.number < dividend)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn agrees(number: u64, dividend: u64) {
        let divisor = Divisor::new(number);
        assert_eq!(divisor.quotient(dividend), dividend / number, "{dividend} / {number}");
        assert_eq!(divisor.quotient_up(dividend), dividend.div_ceil(number), "{dividend} / {number}, up");
        assert_eq!(divisor.remainder(dividend), dividend % number, "{dividend} / {number}, what is left");
    }

    #[test]
    fn quotients_at_the_ends_of_the_range_are_exact() {
        let ends = [0, 1, 2, 3, 7, 1000, 1 << 32, (1 << 63) - 1, 1 << 63, u64::MAX - 1, u64::MAX];
        for number in ends.into_iter().filter(|&number| number > 0) {
            for dividend in ends {
                agrees(number, dividend);
            }
        }
        assert_eq!(Divisor::new(0).quotient(7), 7);
    }

    proptest! {
        #[test]
        fn quotients_are_exact(number in 1_u64.., bits in 0_u32..64, dividend: u64, near in -1_i64..=1) {
            let number = (number >> bits).max(1);
            agrees(number, dividend);
            // Next to a multiple, where rounding decides.
            agrees(number, (dividend / number * number).saturating_add_signed(near));
        }
    }
}
