//! ATM adaptation layer 5 (ITU-T I.363.5): payload, padding and an eight-byte trailer fill a multiple of 48 bytes.

use base::{Clock, Time};

/// Size of a cell on the wire \[bit\].
pub(crate) const CELL_BITS: f64 = 53.0 * 8.0;
const CELL_PAYLOAD: u32 = 48;
const TRAILER: u32 = 8;

/// Returns the number of cells of an IP packet of `bytes`, headers included: 193 for a segment of 9180 bytes
/// [two-way, section 5.1], one for an ACK of 40 bytes.
pub fn cells(bytes: u16) -> u32 {
    (u32::from(bytes) + TRAILER).div_ceil(CELL_PAYLOAD)
}

/// Returns the transmission time of a cell at a rate \[bit/s\], to the nearest tick.
pub fn cell_time(rate_bps: f64, clock: Clock) -> Time {
    clock.time(CELL_BITS / rate_bps)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_segment_of_9180_bytes_is_193_cells_of_10229_bytes() {
        assert_eq!(cells(9180 + 40), 193);
        assert_eq!(cells(9180 + 40) * 53, 10_229);
    }

    #[test]
    fn padding_starts_where_the_trailer_no_longer_fits() {
        assert_eq!([cells(1), cells(40), cells(41), cells(88), cells(89)], [1, 1, 2, 2, 3]);
        assert_eq!(cells(u16::MAX), 1366);
    }

    #[test]
    fn a_cell_lasts_2726_ns_at_155_52_mbit_s() {
        assert_eq!(cell_time(155.52e6, Clock::PICOSECONDS).ticks(), 2_726_337);
    }
}
