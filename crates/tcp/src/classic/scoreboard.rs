//! The packets that ns-2's sender knows to have arrived: its `ScoreBoardRQ` over a `ReassemblyQueue`.

use crate::Selected;

/// Packets in a row that were acknowledged selectively.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    first: u64,
    /// One past the last packet.
    end: u64,
}

impl Run {
    /// Returns whether the run has packets before this one, and this one.
    fn cuts(self, sequence: u64) -> bool {
        self.first < sequence && sequence < self.end
    }
}

/// The scoreboard of ns-2.35's `Agent/TCP/Sack1`: runs of packets that arrived, and how far holes were retransmitted.
///
/// It has no more than one mark for retransmissions: each hole below it was retransmitted once, and none is again before
/// the recovery ends or the timer expires.
#[derive(Clone, Debug, Default)]
pub(super) struct Scoreboard {
    /// Runs in ascending order, with a hole between any two.
    runs: Vec<Run>,
    /// First packet that may be retransmitted next (ns-2 `h_seqno_`).
    mark: u64,
    /// First packet that is not known to have arrived (ns-2 `sack_min`); an ACK that was overtaken moves it back.
    least: u64,
    /// Number of packets in all runs.
    total: u64,
}

impl Scoreboard {
    /// Forgets all packets that arrived, and all retransmissions: ns-2 `ClearScoreBoard`.
    pub(super) fn clear(&mut self) {
        self.runs.clear();
        (self.mark, self.total) = (0, 0);
    }

    /// Records the blocks of an ACK, with `una` the first unacknowledged packet; returns whether this changes the
    /// scoreboard: ns-2 `UpdateScoreBoard` and `CheckUpdate`.
    pub(super) fn update(&mut self, una: u64, blocks: &[Selected]) -> bool {
        let before = self.total;
        let mut changed = false;
        if self.least < una {
            self.least = una;
            changed = !self.runs.is_empty();
            self.discard_below(una);
        }
        for block in blocks {
            self.add(Run { first: block.first, end: block.end });
        }
        changed || self.total != before
    }

    /// Returns the first hole that was not retransmitted, if packets beyond it arrived: ns-2 `GetNextRetran`.
    pub(super) fn next_hole(&mut self) -> Option<u64> {
        self.mark = self.mark.max(self.least);
        let next = self.runs.partition_point(|run| run.end < self.mark);
        if self.runs.get(next)?.first <= self.mark {
            // The mark is in this run, or right behind it; what is beyond the last run is not a hole.
            self.runs.get(next + 1)?;
            self.mark = self.runs[next].end;
        }
        Some(self.mark)
    }

    /// Records a retransmission: ns-2 `MarkRetran`.
    pub(super) fn retransmitted(&mut self, sequence: u64) {
        self.mark = self.mark.max(sequence + 1);
    }

    /// Discards what is known of packets below `una`: ns-2 `clearto`.
    fn discard_below(&mut self, una: u64) {
        let old = self.runs.partition_point(|run| run.end <= una);
        self.runs.drain(..old);
        if let Some(run) = self.runs.first_mut() {
            run.first = run.first.max(una);
        }
        self.total = self.runs.iter().map(|run| run.end - run.first).sum();
    }

    /// Adds packets in a row: ns-2 `ReassemblyQueue::add`.
    fn add(&mut self, new: Run) {
        // The runs that overlap the new one or touch it.
        let from = self.runs.partition_point(|run| run.end < new.first);
        let to = self.runs.partition_point(|run| run.first <= new.end);
        let joined = &self.runs[from..to];
        if joined.contains(&new) {
            return;
        }
        let first = joined.first().map_or(new.first, |run| run.first.min(new.first));
        let end = joined.last().map_or(new.end, |run| run.end.max(new.end));
        let contained = joined.iter().any(|run| run.first <= new.first && new.end <= run.end);
        let extends_last = to == self.runs.len() && end == new.end && joined.iter().any(|run| run.cuts(new.first));
        self.total += end - first - joined.iter().map(|run| run.end - run.first).sum::<u64>();
        self.runs.splice(from..to, [Run { first, end }]);
        // ns-2's queue takes `sack_min` for the packet expected next, and moves it to the end of the run that it changes,
        // or of the first run if it makes no new one.
        let run = if contained || extends_last { self.runs[0] } else { Run { first, end } };
        if self.least >= run.first {
            self.least = run.end;
        }
    }
}
