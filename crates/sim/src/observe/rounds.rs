//! Rounds that tile the time axis [variable-delay, section 2]: `T_{n+1}` is the time at which all packets that were
//! outstanding at `T_n` are acknowledged, including those that the ACK at `T_n` clocked out.

use base::Time;

/// The current round of one flow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct RoundFollower {
    start: Time,
    /// One past the last packet outstanding at the start; `None`: not known yet.
    edge: Option<u64>,
    /// One past the highest packet acknowledged.
    una: u64,
    /// One past the highest packet sent.
    highest: u64,
}

impl RoundFollower {
    /// Records a sent packet; a round begins with it if nothing is outstanding.
    pub(super) fn sent(&mut self, time: Time, sequence: u64) {
        if self.una >= self.highest && sequence >= self.highest {
            (self.start, self.edge) = (time, None);
        } else if time > self.start {
            // Paced packets leave later than the ACK that lets them out.
            self.edge.get_or_insert(self.highest);
        }
        self.highest = self.highest.max(sequence + 1);
    }

    /// Records an ACK before the sender processes it; returns the length of the round that it ends, if it ends one.
    pub(super) fn acknowledged(&mut self, time: Time, next: u64) -> Option<Time> {
        let silent = self.una >= self.highest;
        self.una = self.una.max(next);
        if silent || (self.edge.is_none() && time == self.start) {
            // Nothing is outstanding, or more may leave at this instant.
            return None;
        }
        let edge = *self.edge.get_or_insert(self.highest);
        if next < edge {
            return None;
        }
        let round = time - self.start;
        (self.start, self.edge) = (time, None);
        Some(round)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::Clock;

    fn seconds(seconds: f64) -> Time {
        Clock::PICOSECONDS.time(seconds)
    }

    #[test]
    fn a_round_ends_when_all_that_was_outstanding_is_acknowledged() {
        let mut flow = RoundFollower::default();
        flow.sent(seconds(1.0), 0);
        flow.sent(seconds(1.0), 1);
        assert_eq!(flow.acknowledged(seconds(2.0), 1), None);
        flow.sent(seconds(2.0), 2);
        assert_eq!(flow.acknowledged(seconds(2.25), 2), Some(seconds(1.25)));
        flow.sent(seconds(2.25), 3);
        // Packets 2 and 3 were outstanding at 2.25.
        assert_eq!(flow.acknowledged(seconds(3.0), 3), None);
        assert_eq!(flow.acknowledged(seconds(3.5), 4), Some(seconds(1.25)));
    }

    #[test]
    fn duplicates_and_retransmissions_end_no_round() {
        let mut flow = RoundFollower::default();
        (0..3).for_each(|sequence| flow.sent(seconds(0.0), sequence));
        assert_eq!(flow.acknowledged(seconds(1.0), 0), None);
        flow.sent(seconds(1.5), 0);
        assert_eq!(flow.acknowledged(seconds(2.0), 3), Some(seconds(2.0)));
        assert_eq!(flow.acknowledged(seconds(2.0), 3), None);
    }

    #[test]
    fn packets_that_several_acks_clock_out_at_one_instant_belong_to_one_round() {
        let mut flow = RoundFollower::default();
        (0..2).for_each(|sequence| flow.sent(seconds(0.0), sequence));
        assert_eq!(flow.acknowledged(seconds(1.0), 1), None);
        flow.sent(seconds(1.0), 2);
        assert_eq!(flow.acknowledged(seconds(1.0), 2), Some(seconds(1.0)));
        flow.sent(seconds(1.0), 3);
        assert_eq!(flow.acknowledged(seconds(1.0), 2), None);
        flow.sent(seconds(1.0), 4);
        assert_eq!(flow.acknowledged(seconds(2.0), 4), None);
        assert_eq!(flow.acknowledged(seconds(2.0), 5), Some(seconds(1.0)));
    }

    #[test]
    fn packets_that_leave_after_the_start_of_a_round_belong_to_the_next_one() {
        let mut flow = RoundFollower::default();
        (0..2).for_each(|sequence| flow.sent(seconds(0.0), sequence));
        flow.sent(seconds(0.25), 2);
        assert_eq!(flow.acknowledged(seconds(1.0), 2), Some(seconds(1.0)));
        flow.sent(seconds(1.0), 3);
        flow.sent(seconds(1.125), 4);
        assert_eq!(flow.acknowledged(seconds(2.0), 4), Some(seconds(1.0)));
    }

    #[test]
    fn silence_belongs_to_no_round() {
        let mut flow = RoundFollower::default();
        flow.sent(seconds(0.0), 0);
        assert_eq!(flow.acknowledged(seconds(1.0), 1), Some(seconds(1.0)));
        // The ACK of a packet that was retransmitted needlessly.
        assert_eq!(flow.acknowledged(seconds(2.0), 1), None);
        flow.sent(seconds(9.0), 1);
        assert_eq!(flow.acknowledged(seconds(9.5), 2), Some(seconds(0.5)));
    }
}
