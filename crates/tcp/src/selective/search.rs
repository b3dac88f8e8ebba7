//! The search for the next packet to retransmit (Linux `tcp_xmit_retransmit_queue`).

use std::ops::Range;

/// A search for the lowest packet that waits to be retransmitted: it is lost, and no retransmission of it is in flight.
#[derive(Clone, Debug, Default)]
pub(super) struct Search {
    /// Lowest packet to look at (Linux `retransmit_skb_hint`).
    lowest: u64,
    /// Packets of which none waits, as earlier searches have shown: the first one, and one past the last. When a retransmission
    /// is lost, the next search begins at a low packet; it skips these.
    passed: (u64, u64),
}

impl Search {
    /// Begins at a packet.
    pub(super) fn from(lowest: u64) -> Search {
        Search { lowest, ..Search::default() }
    }

    /// Takes note of a packet that was marked lost.
    pub(super) fn lose(&mut self, sequence: u64) {
        self.lowest = self.lowest.min(sequence);
        self.wait_again(sequence);
    }

    /// Takes note of a packet that waits since its retransmission ended. As in Linux, that alone does not lead back to it: a
    /// search finds it that begins below.
    pub(super) fn wait_again(&mut self, sequence: u64) {
        let (begin, end) = self.passed;
        if (begin..end).contains(&sequence) {
            self.passed = (sequence + 1, end);
        }
    }

    /// Returns the lowest of the packets from `una` to `nxt` that waits, given the lowest one of any range of them.
    pub(super) fn next(&mut self, una: u64, nxt: u64, first_of: impl Fn(Range<u64>) -> Option<u64>) -> Option<u64> {
        let from = self.lowest.max(una);
        let (begin, end) = self.passed;
        let found = if from < begin { first_of(from..begin) } else { None };
        let found = found.or_else(|| {
            let (begin, next) = if (begin..=end).contains(&from) { (begin, end) } else { (from, from.max(end)) };
            let found = first_of(next..nxt);
            self.passed = (begin, found.unwrap_or(nxt));
            found
        });
        self.lowest = found.unwrap_or(nxt);
        found
    }
}

#[cfg(test)]
mod tests {
    use base::cast::to_index;
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    enum Step {
        Send(u64),
        Acknowledge(u64),
        Lose(u64),
        WaitAgain(u64),
        Settle(u64),
        Next,
    }

    fn step() -> impl Strategy<Value = Step> {
        let packet = 0..40_u64;
        prop_oneof![
            (1..9_u64).prop_map(Step::Send),
            (1..9_u64).prop_map(Step::Acknowledge),
            packet.clone().prop_map(Step::Lose),
            packet.clone().prop_map(Step::WaitAgain),
            packet.prop_map(Step::Settle),
            Just(Step::Next),
            Just(Step::Next),
        ]
    }

    proptest! {
        /// A search that looks at every packet from the lowest one on is the reference.
        #[test]
        fn a_search_finds_what_a_look_at_each_packet_finds(steps in prop::collection::vec(step(), 1..300)) {
            let (mut search, mut lowest, mut una) = (Search::from(0), 0_u64, 0_u64);
            let mut waits: Vec<bool> = Vec::new();
            for step in steps {
                let nxt = waits.len() as u64;
                let outstanding = |packet: u64| (una + packet < nxt).then_some(una + packet);
                match step {
                    Step::Send(count) => waits.extend((0..count).map(|_| false)),
                    Step::Acknowledge(count) => una = (una + count).min(nxt),
                    Step::Lose(packet) => if let Some(sequence) = outstanding(packet) {
                        waits[to_index(sequence)] = true;
                        search.lose(sequence);
                        lowest = lowest.min(sequence);
                    },
                    Step::WaitAgain(packet) => if let Some(sequence) = outstanding(packet) {
                        waits[to_index(sequence)] = true;
                        search.wait_again(sequence);
                    },
                    Step::Settle(packet) => if let Some(sequence) = outstanding(packet) {
                        waits[to_index(sequence)] = false;
                    },
                    Step::Next => {
                        let first_of = |range: Range<u64>| {
                            assert!(una <= range.start && range.end <= nxt, "{range:?} is not within {una} to {nxt}");
                            range.into_iter().find(|&sequence| waits[to_index(sequence)])
                        };
                        let expected = (lowest.max(una)..nxt).find(|&sequence| waits[to_index(sequence)]);
                        lowest = expected.unwrap_or(nxt);
                        prop_assert_eq!(search.next(una, nxt, first_of), expected);
                    }
                }
            }
        }
    }

    /// Searches 1000 packets, and returns what is found and the number of packets that were looked at.
    fn look(search: &mut Search, waiting: &[u64]) -> (Option<u64>, usize) {
        let looks = std::cell::Cell::new(0);
        let waits = |sequence: &u64| {
            looks.set(looks.get() + 1);
            waiting.contains(sequence)
        };
        (search.next(0, 1000, |range| range.into_iter().find(waits)), looks.get())
    }

    #[test]
    fn packets_that_were_passed_are_not_looked_at_again() {
        let mut search = Search::from(0);
        assert_eq!(look(&mut search, &[900, 950]), (Some(900), 901));
        search.lose(10);
        assert_eq!(look(&mut search, &[10, 900, 950]), (Some(10), 1));
        assert_eq!(look(&mut search, &[900, 950]), (Some(900), 2), "10, and 900 at once");
        assert_eq!(look(&mut search, &[950]), (Some(950), 51));
    }
}
