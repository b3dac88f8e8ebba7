//! The blocks of a kernel's ACKs: the runs of packets beyond a hole that it remembers, and when held ACKs are sent because
//! of them (Linux `tcp_sack_new_ofo_skb`, `tcp_sack_remove`).

/// Runs that are remembered (`TCP_NUM_SACKS`).
const MOST: usize = 4;
/// Length of a SACK option without blocks, padded, and of a block \[bytes\] (RFC 2018 section 3).
const OPTION_BYTES: [u16; 2] = [4, 8];
/// Longest headers of IPv4 without options and of TCP together \[bytes\].
const MOST_HEADERS: u16 = 80;
/// Runs that each ACK is expected to report (`TCP_SACK_BLOCKS_EXPECTED`).
const EXPECTED: usize = 2;

/// The time at which ACKs that are held are sent on account of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flush {
    /// They stay held.
    Never,
    /// They are sent before the packet is reported: it begins another run than those that each ACK reports.
    Before,
    /// They are sent with the packet: it extends a run that later ACKs might not report.
    With,
}

/// The runs, the one that grew last first: first packet, and one past the last.
#[derive(Clone, Debug, Default)]
pub(super) struct Blocks {
    runs: Vec<(u64, u64)>,
    /// The next ACK reports a duplicate (`rx_opt.dsack`).
    duplicate: bool,
}

impl Blocks {
    /// Takes note of whether the packet that arrives is a duplicate.
    pub(super) fn note_arrival(&mut self, duplicate: bool) {
        self.duplicate = duplicate;
    }

    /// Takes note of a packet beyond a hole.
    pub(super) fn enter(&mut self, sequence: u64) -> Flush {
        let packet = (sequence, sequence + 1);
        if let Some(index) = self.runs.iter().position(|&run| touches(run, packet)) {
            if index > 0 {
                self.runs[..=index].rotate_right(1);
            }
            let mut grown = join(self.runs[0], packet);
            // The packet may be all that was missing between two runs.
            if let Some(next) = (1..self.runs.len()).find(|&next| touches(grown, self.runs[next])) {
                grown = join(grown, self.runs.remove(next));
            }
            self.runs[0] = grown;
            return if index >= EXPECTED { Flush::With } else { Flush::Never };
        }
        let flush = if self.runs.len() >= EXPECTED { Flush::Before } else { Flush::Never };
        self.runs.truncate(MOST - 1);
        self.runs.insert(0, packet);
        flush
    }

    /// Returns the length of the next ACK \[bytes\], which is `bytes` without blocks: it reports as many as its header has
    /// room for (`tcp_established_options`), three with timestamps. A duplicate is reported once.
    pub(super) fn ack_bytes(&mut self, bytes: u16) -> u16 {
        let [option, each] = OPTION_BYTES;
        let runs = u16::try_from(self.runs.len()).unwrap_or(u16::MAX);
        let blocks = runs + u16::from(std::mem::take(&mut self.duplicate));
        match blocks.min(MOST_HEADERS.saturating_sub(bytes).saturating_sub(option) / each) {
            0 => bytes,
            blocks => bytes + option + each * blocks,
        }
    }

    /// Forgets the runs below the next expected packet; or all, with their memory, if none is held.
    pub(super) fn advance(&mut self, next: u64, held: u32) {
        match held {
            0 => self.runs = Vec::new(),
            _ => self.runs.retain(|&(first, _)| first > next),
        }
    }
}

/// Returns whether two runs overlap or one begins where the other ends.
fn touches(one: (u64, u64), other: (u64, u64)) -> bool {
    other.0 <= one.1 && one.0 <= other.1
}

fn join(one: (u64, u64), other: (u64, u64)) -> (u64, u64) {
    (one.0.min(other.0), one.1.max(other.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_third_run_and_packets_that_extend_an_older_one_flush() {
        let mut blocks = Blocks::default();
        let [never, before, with] = [Flush::Never, Flush::Before, Flush::With];
        let flushes = [3, 5, 7, 8, 4, 9, 20].map(|sequence| blocks.enter(sequence));
        // 4 joins the second run and the third.
        assert_eq!(flushes, [never, never, before, never, never, never, before]);
        assert_eq!(blocks.runs, [(20, 21), (7, 10), (3, 6)]);
        assert_eq!([30, 3, 40].map(|sequence| blocks.enter(sequence)), [before, with, before]);
    }

    #[test]
    fn an_ack_is_longer_by_the_blocks_that_fit_its_header() {
        let mut blocks = Blocks::default();
        assert_eq!(blocks.ack_bytes(52), 52);
        blocks.note_arrival(true);
        assert_eq!([blocks.ack_bytes(52), blocks.ack_bytes(52)], [64, 52], "a duplicate is reported once");
        let lengths = [3, 5, 7, 9, 11].map(|sequence| {
            blocks.enter(sequence);
            [52, 40, 80, u16::MAX].map(|bytes| blocks.ack_bytes(bytes))
        });
        let expected = [[64, 52], [72, 60], [80, 68], [80, 76], [80, 76]];
        assert_eq!(lengths, expected.map(|[three, four]| [three, four, 80, u16::MAX]));
        blocks.advance(10, 1);
        assert_eq!(blocks.ack_bytes(52), 64);
    }

    #[test]
    fn runs_below_the_next_packet_are_forgotten() {
        let mut blocks = Blocks::default();
        for sequence in [3, 5, 9] {
            blocks.enter(sequence);
        }
        blocks.advance(6, 1);
        assert_eq!(blocks.runs, [(9, 10)]);
        blocks.advance(10, 0);
        assert!(blocks.runs.is_empty());
    }
}
