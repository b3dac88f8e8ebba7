//! Detection of a policer: two intervals in a row with many losses and the same rate are taken to show its rate, which
//! BBR then uses for a while (`bbr_lt_bw_sampling`).

use super::units::{bandwidth, bytes_per_second, UNIT};

/// Round trips of the shortest interval.
const SHORTEST: u32 = 4;
/// Losses among delivered packets that make an interval lossy \[1/256\].
const LOSSY: u64 = 50;
/// Difference of two rates that are taken to be the same, as a fraction of one \[1/256\], and in bytes per second.
const SAME: (u64, u64) = (UNIT / 8, 4000 / 8);
/// Round trips for which the rate of a policer is used.
const USED: u32 = 48;

/// The news of an ACK, or of an expiry of the timer.
#[derive(Clone, Copy, Debug)]
pub(super) struct News {
    /// Whether a round begins.
    pub(super) round: bool,
    /// Whether packets were lost.
    pub(super) lossy: bool,
    pub(super) app_limited: bool,
    /// Whether the bandwidth is probed for.
    pub(super) probes: bool,
    /// Packets delivered and lost in all.
    pub(super) totals: (u64, u64),
    /// Last delivery \[us\].
    pub(super) delivered_at: u64,
}

/// The conclusion from an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Nothing,
    /// A policer's rate is used from now on.
    Policed,
    /// The rate of the policer is not used any more.
    Over,
}

/// The long-term rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Policer {
    /// Rate of the last interval; 0: none.
    rate: u64,
    uses: bool,
    samples: bool,
    rounds: u32,
    /// Packets delivered and lost at the interval's start, and when that was \[ms\].
    totals: (u64, u64),
    since: u64,
}

impl Policer {
    pub(super) const START: Policer =
        Policer { rate: 0, uses: false, samples: false, rounds: 0, totals: (0, 0), since: 0 };

    /// Returns the rate of the policer, while it is used.
    pub(super) fn rate(&self) -> Option<u64> {
        self.uses.then_some(self.rate)
    }

    /// Returns to the state before the first loss.
    pub(super) fn reset(&mut self) {
        *self = Policer::START;
    }

    /// Returns whether it takes note of an ACK: it uses a rate or looks for one, or packets are lost.
    pub(super) fn takes_note(&self, lossy: bool) -> bool {
        self.uses || self.samples || lossy
    }

    fn begin(&mut self, news: &News) {
        (self.totals, self.since, self.rounds) = (news.totals, news.delivered_at / 1000, 0);
    }

    /// Takes note of an ACK or of an expiry of the timer; `mss` is the payload of a packet \[byte\].
    pub(super) fn observe(&mut self, news: &News, mss: u64) -> Verdict {
        if self.uses {
            self.rounds += u32::from(news.probes && news.round);
            if self.rounds < USED || !(news.probes && news.round) {
                return Verdict::Nothing;
            }
            self.reset();
            return Verdict::Over;
        }
        if !self.samples {
            // The tokens of the policer have to be used up first.
            if !news.lossy {
                return Verdict::Nothing;
            }
            self.begin(news);
            self.samples = true;
        }
        if news.app_limited {
            self.reset();
            return Verdict::Nothing;
        }
        self.rounds += u32::from(news.round);
        if self.rounds > 4 * SHORTEST {
            self.reset();
        }
        // An interval ends with a loss: the tokens are used up again.
        if self.rounds < SHORTEST || !news.lossy {
            return Verdict::Nothing;
        }
        self.end(news, mss)
    }

    /// Ends an interval, if it is lossy.
    fn end(&mut self, news: &News, mss: u64) -> Verdict {
        let (delivered, lost) = (news.totals.0 - self.totals.0, news.totals.1 - self.totals.1);
        let milliseconds = (news.delivered_at / 1000).saturating_sub(self.since);
        if delivered == 0 || lost * 256 < LOSSY * delivered || milliseconds == 0 {
            return Verdict::Nothing;
        }
        let rate = bandwidth(delivered, milliseconds * 1000);
        let difference = rate.abs_diff(self.rate);
        let same = difference * UNIT <= SAME.0 * self.rate || bytes_per_second(difference, UNIT, mss) <= SAME.1;
        if self.rate > 0 && same {
            (self.rate, self.uses, self.rounds) = (rate.midpoint(self.rate), true, 0);
            return Verdict::Policed;
        }
        self.rate = rate;
        self.begin(news);
        Verdict::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the verdicts of ACKs, one a round trip of 100 ms, that deliver 100 packets and lose some.
    fn verdicts(lost: &[u64]) -> Vec<Verdict> {
        let (mut policer, mut totals, mut now) = (Policer::START, (0, 0), 0);
        let verdict = |&lost: &u64| {
            totals = (totals.0 + 100, totals.1 + lost);
            now += 100_000;
            let news =
                News { round: true, lossy: lost > 0, app_limited: false, probes: true, totals, delivered_at: now };
            policer.observe(&news, 1448)
        };
        lost.iter().map(verdict).collect()
    }

    fn policed(lost: &[u64]) -> Option<usize> {
        verdicts(lost).iter().position(|&verdict| verdict == Verdict::Policed)
    }

    #[test]
    fn two_lossy_intervals_with_one_rate_are_a_policer() {
        // The first loss begins to sample, the fourth round ends an interval.
        assert_eq!(policed(&[25; 20]), Some(3 + 4));
        assert_eq!(policed(&[0; 20]), None);
        // Less than 50/256 of the packets.
        assert_eq!(policed(&[19; 20]), None);
    }

    #[test]
    fn its_rate_is_used_for_48_rounds() {
        let verdicts = verdicts(&[25; 60]);
        assert_eq!(verdicts.iter().position(|&verdict| verdict == Verdict::Over), Some(7 + 48));
    }

    #[test]
    fn an_interval_without_a_loss_at_its_end_is_forgotten_after_sixteen_rounds() {
        let mut lost = vec![100];
        lost.extend([0; 16]);
        lost.extend([25; 7]);
        // Sampling begins again with the first of the seven.
        assert_eq!(policed(&lost), None);
        lost.push(25);
        assert_eq!(policed(&lost), Some(24));
    }
}
