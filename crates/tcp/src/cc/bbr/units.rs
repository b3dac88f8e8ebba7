//! Fixed-point numbers of Linux's `tcp_bbr.c`: bandwidths in packets per microsecond, times 2^24, and gains times 256.

use base::cast::low_u64;

/// A gain of one (`BBR_UNIT`).
pub(super) const UNIT: u64 = 256;
/// Binary places of a bandwidth (`BW_SCALE`).
const PLACES: u32 = 24;
/// Bytes per second of a byte per microsecond, less the percent by which BBR stays below its estimate
/// (`bbr_pacing_margin_percent`).
const PACED: u64 = 1_000_000 / 100 * 99;

/// Returns the bandwidth of packets in a time \[us\].
pub(super) fn bandwidth(packets: u64, microseconds: u64) -> u64 {
    (packets << PLACES) / microseconds.max(1)
}

/// Returns the whole packets of a bandwidth in a time \[us\].
pub(super) fn packets(bandwidth: u64, microseconds: u64) -> u64 {
    low_u64((u128::from(bandwidth) * u128::from(microseconds)) >> PLACES)
}

/// Returns the packets of a bandwidth in a time \[us\], times a gain, rounded up (`bbr_bdp`).
pub(super) fn product(bandwidth: u64, microseconds: u64, gain: u64) -> u64 {
    let product = (u128::from(bandwidth) * u128::from(microseconds) * u128::from(gain)) / u128::from(UNIT);
    low_u64((product + (1 << PLACES) - 1) >> PLACES)
}

/// Returns a pacing rate \[byte/s\]: a bandwidth times a gain, with packets of `bytes` (`bbr_rate_bytes_per_sec`).
pub(super) fn bytes_per_second(bandwidth: u64, gain: u64, bytes: u64) -> u64 {
    let scaled = (u128::from(bandwidth) * u128::from(bytes) * u128::from(gain)) / u128::from(UNIT);
    low_u64((scaled * u128::from(PACED)) >> PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pacing_rate_of_the_initial_window_is_the_kernels() {
        // 10 packets in a round trip of 40048 us, gain 2.89: `V_bbr_clean`.
        assert_eq!(bytes_per_second(bandwidth(10, 40_048), 739, 1448), 1_033_234);
    }

    #[test]
    fn a_product_is_rounded_up_and_a_number_of_packets_down() {
        let megabit = bandwidth(1000, 1_000_000);
        assert_eq!((product(megabit, 40_001, UNIT), packets(megabit, 40_999)), (41, 40));
        assert_eq!(product(megabit, 40_000, 2 * UNIT), 80);
    }

    #[test]
    fn the_fastest_links_do_not_overflow() {
        let terabit = bandwidth(1 << 32, 1_000);
        assert!(bytes_per_second(terabit, 739, 9000) > 1 << 50);
        assert!(product(terabit, 1 << 40, 739) > 1 << 40);
    }
}
