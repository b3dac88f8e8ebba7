//! Aggregation of ACKs: how many more packets an interval delivers than the bandwidth explains
//! (`bbr_update_ack_aggregation`).

use super::units::packets;

/// Rounds after which the largest excess is forgotten, at least.
const ROUNDS: u32 = 5;
/// Packets of an interval that are too many to count on.
const MOST: u64 = 1 << 20;
/// Time whose packets the excess may be at most \[us\].
const LONGEST: u64 = 100_000;

/// The excess of deliveries.
#[derive(Clone, Copy, Debug)]
pub(super) struct Aggregation {
    /// Start of the interval \[us\], and packets delivered in it.
    since: u64,
    acked: u64,
    /// Largest excess of this window of rounds and of the one before.
    largest: [u64; 2],
    current: usize,
    rounds: u32,
}

impl Aggregation {
    pub(super) const START: Aggregation = Aggregation { since: 0, acked: 0, largest: [0; 2], current: 0, rounds: 0 };

    /// Begins an interval.
    pub(super) fn begin(&mut self, now: u64) {
        (self.since, self.acked) = (now, 0);
    }

    /// Takes note of `acked` delivered packets; the last ones at `delivered_at` \[us\].
    pub(super) fn deliver(&mut self, round: bool, delivered_at: u64, bandwidth: u64, acked: u64, cwnd: u64) {
        if round {
            self.rounds += 1;
            if self.rounds >= ROUNDS {
                self.rounds = 0;
                self.current = 1 - self.current;
                self.largest[self.current] = 0;
            }
        }
        let mut expected = packets(bandwidth, delivered_at.saturating_sub(self.since));
        if self.acked <= expected || self.acked + acked >= MOST {
            self.begin(delivered_at);
            expected = 0;
        }
        self.acked = (self.acked + acked).min(MOST - 1);
        let excess = (self.acked - expected).min(cwnd);
        let largest = &mut self.largest[self.current];
        *largest = excess.max(*largest);
    }

    /// Returns the packets by which cwnd is larger on its account (`bbr_ack_aggregation_cwnd`).
    pub(super) fn packets(&self, bandwidth: u64) -> u64 {
        self.largest[0].max(self.largest[1]).min(packets(bandwidth, LONGEST))
    }
}

#[cfg(test)]
mod tests {
    use super::super::units::bandwidth;
    use super::*;

    #[test]
    fn packets_in_bursts_count_as_excess_and_a_steady_stream_does_not() {
        // A little more than the packets need, whose fixed-point number is rounded down.
        let rate = bandwidth(1, 999);
        let (mut steady, mut bursts) = (Aggregation::START, Aggregation::START);
        for millisecond in 1..1000 {
            steady.deliver(false, 1000 * millisecond, rate, 1, 1000);
            if millisecond % 20 == 0 {
                bursts.deliver(false, 1000 * millisecond, rate, 20, 1000);
            }
        }
        assert_eq!((steady.packets(rate), bursts.packets(rate)), (1, 20));
    }

    #[test]
    fn the_excess_is_that_of_100_ms_at_most_and_of_cwnd() {
        let mut aggregation = Aggregation::START;
        aggregation.deliver(false, 1000, bandwidth(1, 1000), 500, 400);
        assert_eq!(aggregation.largest, [400, 0]);
        assert_eq!(aggregation.packets(bandwidth(1, 1001)), 99);
    }

    #[test]
    fn the_excess_is_forgotten_after_five_to_ten_rounds() {
        let mut aggregation = Aggregation::START;
        let rate = bandwidth(1, 1000);
        aggregation.deliver(false, 0, rate, 50, 1000);
        let left = (1..=10).map(|round| {
            aggregation.deliver(true, 1_000_000 * round, rate, 1, 1000);
            aggregation.packets(rate)
        });
        assert_eq!(left.collect::<Vec<_>>(), [vec![50; 9], vec![1]].concat());
    }
}
