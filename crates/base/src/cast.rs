//! Conversions of numbers that can lose something, each with what it does then.
//!
//! `as` loses in silence, so the lints of the workspace refuse it where it can lose; `From` and `TryFrom` are for all
//! that these functions do not name.

/// Returns an index or a length as the `u32` in which the engine's tables keep it.
///
/// # Panics
/// Panics from 2^32 on. No table of a run is that long: the check of a scenario limits the hops of all flows to a
/// quarter of it, and as many links, ports or channels do not fit into memory.
#[inline(always)]
#[track_caller]
pub fn to_u32(index: usize) -> u32 {
    u32::try_from(index).expect("an index below 2^32")
}

/// Returns a number as an index.
///
/// # Panics
/// Panics if it does not fit, which cannot happen where `usize` has 64 bits, as there it costs nothing.
#[inline(always)]
#[track_caller]
pub fn to_index(number: u64) -> usize {
    usize::try_from(number).expect("an index of this machine")
}

/// Returns the low 32 bits of a number: a part of it that a mask selects, or a number modulo 2^32.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the high bits are not wanted")]
pub fn low_u32(number: u64) -> u32 {
    number as u32
}

/// Returns the low 64 bits of a number.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the high bits are not wanted")]
pub fn low_u64(number: u128) -> u64 {
    number as u64
}

/// Returns the whole part of a number; 0 if it is negative or not a number, `u64::MAX` if it is too large.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the limits are what is promised")]
pub fn trunc_to_u64(number: f64) -> u64 {
    number as u64
}

/// Returns the whole part of a number; 0 if it is negative or not a number, `u32::MAX` if it is too large.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the limits are what is promised")]
pub fn trunc_to_u32(number: f64) -> u32 {
    number as u32
}

/// Returns the whole part of a number, towards zero; 0 if it is not a number, the limits of `i64` if it is beyond them.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the limits are what is promised")]
pub fn trunc_to_i64(number: f64) -> i64 {
    number as i64
}

/// Returns the whole number nearest to a number; 0 if it is negative or not a number, `u64::MAX` if it is too large.
#[inline(always)]
pub fn round_to_u64(number: f64) -> u64 {
    trunc_to_u64(number.round())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO_53: f64 = 9_007_199_254_740_992.0;
    const TWO_63: u64 = 1 << 63;

    #[test]
    fn indices_keep_their_value() {
        assert_eq!([0, 1, u32::MAX as usize].map(to_u32), [0, 1, u32::MAX]);
        assert_eq!([0, 1, usize::MAX as u64].map(to_index), [0, 1, usize::MAX]);
    }

    #[test]
    #[cfg(target_pointer_width = "64")]
    #[should_panic(expected = "an index below 2^32")]
    fn an_index_of_33_bits_is_refused() {
        to_u32(u32::MAX as usize + 1);
    }

    #[test]
    fn high_bits_are_dropped() {
        assert_eq!([0, 7 << 32 | 5, u64::MAX].map(low_u32), [0, 5, u32::MAX]);
    }

    #[test]
    fn whole_parts_end_at_the_limits() {
        assert_eq!([-0.0, 0.99, 1.0, 2.5].map(trunc_to_u64), [0, 0, 1, 2]);
        assert_eq!([-1.0, f64::NEG_INFINITY, f64::NAN].map(trunc_to_u64), [0; 3]);
        assert_eq!([TWO_53 - 1.0, TWO_53, TWO_53 + 2.0].map(trunc_to_u64), [(1 << 53) - 1, 1 << 53, (1 << 53) + 2]);
        assert_eq!([TWO_63 as f64, (TWO_63 as f64).next_up()].map(trunc_to_u64), [TWO_63, TWO_63 + 2048]);
        assert_eq!([u64::MAX as f64, f64::MAX, f64::INFINITY].map(trunc_to_u64), [u64::MAX; 3]);
        assert_eq!(trunc_to_u64((u64::MAX as f64).next_down()), u64::MAX - 2047);
    }

    #[test]
    fn whole_parts_of_32_bits_end_at_the_limits() {
        assert_eq!([-1.0, f64::NAN, 0.99, 2.5].map(trunc_to_u32), [0, 0, 0, 2]);
        let most = f64::from(u32::MAX);
        assert_eq!(
            [most - 0.5, most, most + 1.0, f64::INFINITY].map(trunc_to_u32),
            [u32::MAX - 1, u32::MAX, u32::MAX, u32::MAX]
        );
    }

    #[test]
    fn signed_whole_parts_end_at_the_limits() {
        assert_eq!([-1.99, -0.5, -0.0, 0.99, 2.5].map(trunc_to_i64), [-1, 0, 0, 0, 2]);
        assert_eq!([TWO_53 + 2.0, -TWO_53 - 2.0].map(trunc_to_i64), [(1 << 53) + 2, -(1 << 53) - 2]);
        assert_eq!([TWO_63 as f64, f64::INFINITY].map(trunc_to_i64), [i64::MAX; 2]);
        assert_eq!([-(TWO_63 as f64), f64::NEG_INFINITY].map(trunc_to_i64), [i64::MIN; 2]);
        assert_eq!(trunc_to_i64(f64::NAN), 0);
    }

    #[test]
    fn halves_round_away_from_zero() {
        assert_eq!([0.49, 0.5, 1.5, 2.5].map(round_to_u64), [0, 1, 2, 3]);
        assert_eq!([-0.5, -7.0, f64::NAN].map(round_to_u64), [0; 3]);
        assert_eq!([TWO_53 - 1.0, TWO_53].map(round_to_u64), [(1 << 53) - 1, 1 << 53]);
        assert_eq!(round_to_u64(f64::INFINITY), u64::MAX);
    }
}
