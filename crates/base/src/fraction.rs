use crate::cast::round_to_u64;

/// Largest numerator of a decimal fraction: a number with more digits is taken as the result of a computation.
const MOST_DIGITS: f64 = 1e12;
/// Relative distance within which a number is taken for a fraction: a few units in the last place.
const CLOSE: f64 = 5e-16;

/// A positive rational number in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    numerator: u64,
    denominator: u64,
}

impl Fraction {
    /// Returns the number that a floating-point number stands for; `None` unless it is positive, finite and within
    /// 1e-18 to 1e18.
    ///
    /// It is a decimal number of at most twelve digits if there is one within a few units in the last place, as people
    /// write such; else the simplest fraction there, as programs compute such.
    pub fn of(number: f64) -> Option<Fraction> {
        if !(1e-18..=1e18).contains(&number) {
            return None;
        }
        Some(Fraction::decimal(number).unwrap_or_else(|| Fraction::simplest(number)))
    }

    /// Returns the numerator.
    pub const fn numerator(self) -> u64 {
        self.numerator
    }

    /// Returns the denominator.
    pub const fn denominator(self) -> u64 {
        self.denominator
    }

    fn reduced(numerator: u64, denominator: u64) -> Fraction {
        let common = greatest_common_divisor(numerator, denominator);
        Fraction { numerator: numerator / common, denominator: denominator / common }
    }

    fn decimal(number: f64) -> Option<Fraction> {
        let mut denominator = 1_u64;
        while denominator <= 1_000_000_000_000_000_000 {
            let numerator = (number * denominator as f64).round();
            if numerator > MOST_DIGITS {
                break;
            }
            if (numerator / denominator as f64 - number).abs() <= CLOSE * number {
                return Some(Fraction::reduced(round_to_u64(numerator), denominator));
            }
            denominator = denominator.saturating_mul(10);
        }
        // Whole numbers are exact, however many digits they have.
        (number.fract() == 0.0).then(|| Fraction { numerator: round_to_u64(number), denominator: 1 })
    }

    /// Returns the convergent of least denominator that is close, from the continued fraction.
    fn simplest(number: f64) -> Fraction {
        let (mut before, mut last) = ((0_u64, 1_u64), (1_u64, 0_u64));
        let mut rest = number;
        loop {
            let whole = round_to_u64(rest.floor());
            let next = |last: u64, before: u64| whole.checked_mul(last).and_then(|product| product.checked_add(before));
            let (Some(numerator), Some(denominator)) = (next(last.0, before.0), next(last.1, before.1)) else { break };
            (before, last) = (last, (numerator, denominator));
            let found = numerator as f64 / denominator as f64;
            if (found - number).abs() <= CLOSE * number || rest.fract() == 0.0 {
                break;
            }
            rest = 1.0 / rest.fract();
        }
        Fraction { numerator: last.0, denominator: last.1 }
    }
}

/// Returns the greatest common divisor of two numbers that are not both zero.
pub fn greatest_common_divisor(mut one: u64, mut other: u64) -> u64 {
    while other > 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// Returns the least common multiple of two positive numbers; `None` beyond 64 bits.
pub fn least_common_multiple(one: u64, other: u64) -> Option<u64> {
    (one / greatest_common_divisor(one, other)).checked_mul(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: f64) -> (u64, u64) {
        let found = Fraction::of(number).unwrap();
        (found.numerator(), found.denominator())
    }

    #[test]
    fn decimal_numbers_are_what_people_wrote() {
        assert_eq!(of(0.05), (1, 20));
        assert_eq!(of(2.2 * 1e6), (2_200_000, 1));
        assert_eq!(of(0.123_456_789_012), (30_864_197_253, 250_000_000_000));
        assert_eq!(of(1e-12), (1, 1_000_000_000_000));
        assert_eq!(of(9_999_999_999_999.0), (9_999_999_999_999, 1));
        assert_eq!(of(0.1 + 0.2), (3, 10));
    }

    #[test]
    fn other_numbers_are_the_simplest_fraction() {
        assert_eq!(of(1.0 / 3.0), (1, 3));
        assert_eq!(of(1e7 / 3.0), (10_000_000, 3));
        assert_eq!(of(4096.0 / 1.5e6), (128, 46_875));
        let (numerator, denominator) = of(std::f64::consts::PI);
        assert!(
            (numerator as f64 / denominator as f64 - std::f64::consts::PI).abs() < 2e-15 && denominator < 100_000_000
        );
    }

    #[test]
    fn what_is_no_positive_number_of_usual_size_is_none() {
        for number in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-19, 1e19] {
            assert_eq!(Fraction::of(number), None, "{number}");
        }
    }

    #[test]
    fn multiples_and_divisors() {
        assert_eq!(greatest_common_divisor(337_500, 187_500), 37_500);
        assert_eq!(least_common_multiple(337_500, 187_500), Some(1_687_500));
        assert_eq!(least_common_multiple(u64::MAX, u64::MAX - 1), None);
    }
}
