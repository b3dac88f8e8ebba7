//! The runs of packets beyond a hole that a receiver remembers and its ACKs report, and when ACKs that Linux holds are sent because
//! of them (Linux `tcp_sack_new_ofo_skb`, `tcp_sack_remove`).

use super::reports::{Report, Run, MOST_RUNS};

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
pub(super) struct Runs {
    runs: Vec<Run>,
    /// The next ACK reports a duplicate (`rx_opt.dsack`).
    duplicate: bool,
}

impl Runs {
    /// Takes note of whether the packet that arrives is a duplicate.
    pub(super) fn note_arrival(&mut self, duplicate: bool) {
        self.duplicate = duplicate;
    }

    /// Returns when ACKs that are held are sent on account of a packet beyond a hole that arrives.
    pub(super) fn flush(&self, sequence: u64) -> Flush {
        match self.run_of(sequence) {
            Some(index) if index >= EXPECTED => Flush::With,
            None if self.runs.len() >= EXPECTED => Flush::Before,
            _ => Flush::Never,
        }
    }

    /// Returns the run that a packet belongs to.
    fn run_of(&self, sequence: u64) -> Option<usize> {
        self.runs.iter().position(|&run| touches(run, (sequence, sequence + 1)))
    }

    /// Takes note of a packet beyond a hole.
    pub(super) fn enter(&mut self, sequence: u64) {
        let packet = (sequence, sequence + 1);
        let Some(index) = self.run_of(sequence) else {
            self.runs.truncate(MOST_RUNS - 1);
            return self.runs.insert(0, packet);
        };
        if index > 0 {
            self.runs[..=index].rotate_right(1);
        }
        let mut grown = join(self.runs[0], packet);
        // The packet may be all that was missing between two runs.
        if let Some(next) = (1..self.runs.len()).find(|&next| touches(grown, self.runs[next])) {
            grown = join(grown, self.runs.remove(next));
        }
        self.runs[0] = grown;
    }

    /// Returns the length of the next ACK \[bytes\], which is `bytes` without blocks, and its runs: it reports as many blocks as
    /// its header has room for (`tcp_established_options`), three with timestamps. A duplicate is reported once, before the
    /// runs.
    pub(super) fn report(&mut self, bytes: u16) -> (u16, Report) {
        let [option, each] = OPTION_BYTES;
        let duplicate = usize::from(std::mem::take(&mut self.duplicate));
        let room = usize::from(MOST_HEADERS.saturating_sub(bytes).saturating_sub(option) / each);
        let blocks = (self.runs.len() + duplicate).min(room);
        let mut report = Report::default();
        let runs = self.runs.iter().take(blocks.saturating_sub(duplicate));
        report.iter_mut().zip(runs).for_each(|(place, &run)| *place = run);
        match u16::try_from(blocks) {
            Ok(0) | Err(_) => (bytes, report),
            Ok(blocks) => (bytes + option + each * blocks, report),
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
        let mut runs = Runs::default();
        let [never, before, with] = [Flush::Never, Flush::Before, Flush::With];
        let arrive = |runs: &mut Runs, sequence: u64| {
            let flush = runs.flush(sequence);
            runs.enter(sequence);
            flush
        };
        let flushes = [3, 5, 7, 8, 4, 9, 20].map(|sequence| arrive(&mut runs, sequence));
        // 4 joins the second run and the third.
        assert_eq!(flushes, [never, never, before, never, never, never, before]);
        assert_eq!(runs.runs, [(20, 21), (7, 10), (3, 6)]);
        assert_eq!([30, 3, 40].map(|sequence| arrive(&mut runs, sequence)), [before, with, before]);
    }

    #[test]
    fn an_ack_is_longer_by_the_blocks_that_fit_its_header() {
        let mut runs = Runs::default();
        assert_eq!(runs.report(52), (52, Report::default()));
        runs.note_arrival(true);
        assert_eq!([runs.report(52).0, runs.report(52).0], [64, 52], "a duplicate is reported once");
        let lengths = [3, 5, 7, 9, 11].map(|sequence| {
            runs.enter(sequence);
            [52, 40, 80, u16::MAX].map(|bytes| runs.report(bytes).0)
        });
        let expected = [[64, 52], [72, 60], [80, 68], [80, 76], [80, 76]];
        assert_eq!(lengths, expected.map(|[three, four]| [three, four, 80, u16::MAX]));
        assert_eq!(runs.report(40).1, [(11, 12), (9, 10), (7, 8), (5, 6)]);
        runs.note_arrival(true);
        assert_eq!(runs.report(52).1, [(11, 12), (9, 10), (0, 0), (0, 0)], "the duplicate takes a place");
        runs.advance(10, 1);
        assert_eq!(runs.report(52), (64, [(11, 12), (0, 0), (0, 0), (0, 0)]));
    }

    #[test]
    fn runs_below_the_next_packet_are_forgotten() {
        let mut runs = Runs::default();
        for sequence in [3, 5, 9] {
            runs.enter(sequence);
        }
        runs.advance(6, 1);
        assert_eq!(runs.runs, [(9, 10)]);
        runs.advance(10, 0);
        assert!(runs.runs.is_empty());
    }
}
