//! The size of captures, which is counted while a run records them, and the names of the captured links.

use base::Packet;

/// Largest size of all captures of a run together \[bytes\]: they are made in memory.
pub(crate) const MOST_BYTES: u64 = 1 << 30;
/// Suffix of the name of a duplex link's reverse direction.
pub(crate) const REVERSE: &str = ".reverse";
/// Length of an Ethernet header \[bytes\].
pub(crate) const ETHERNET: usize = 14;
/// Length of the headers of IPv4 and TCP without options \[bytes\].
pub(crate) const HEADERS: u16 = 40;
/// Shortest payload of a data packet \[bytes\].
pub(crate) const LEAST_PAYLOAD: u16 = 2;
/// Length of an Enhanced Packet Block without its data \[bytes\]: 32, its flags 8, the end of its options 4.
const BLOCK: u64 = 44;

/// Returns the name of the duplex link that a simplex link is a direction of.
pub(crate) fn duplex(link: &str) -> &str {
    link.strip_suffix(REVERSE).unwrap_or(link)
}

/// Returns the length of the block of a packet with TCP options in a file \[bytes\].
pub(crate) fn block_bytes(packet: &Packet, options: usize) -> u64 {
    let payload = if packet.kind.is_bare_ack() { 0 } else { LEAST_PAYLOAD };
    let frame = ETHERNET + usize::from(packet.bytes).max(usize::from(HEADERS + payload) + options);
    BLOCK + frame.next_multiple_of(4) as u64
}

/// Returns the error of a run whose captures have become larger than [`MOST_BYTES`] by an instant \[s\].
pub(crate) fn too_large(bytes: u64, until_s: f64) -> String {
    format!(
        "trace.capture: too many packets for a capture in memory; given {bytes} bytes until {until_s:.6} s; allowed \
         {MOST_BYTES}; capture fewer links, or end the run sooner"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_capture_that_does_not_fit_is_refused_in_words() {
        let why = too_large(MOST_BYTES + 1, 2.5);
        assert!(why.starts_with("trace.capture: too many packets"), "{why}");
        assert!(why.contains("2.500000 s"), "{why}");
    }
}
