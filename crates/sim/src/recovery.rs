//! Timeouts and fast recoveries, and their counters [engset, section 5.4.3].

use base::Time;
use serde::Deserialize;
use tcp::{LossCause, LossEvent};

/// The kind of a timeout [engset, section 5.4.3]: the first that applies of repeated, in recovery, end, beginning, other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TimeoutKind {
    /// TOTO: another timeout of the same packet.
    #[serde(rename = "timeout-repeated")]
    Repeated = 0,
    /// TDTO: a timeout in fast recovery.
    #[serde(rename = "timeout-in-recovery")]
    InRecovery = 1,
    /// TObeg: a timeout of the first or second packet of a transfer, of which packets are left to be sent.
    #[serde(rename = "timeout-at-beginning")]
    Beginning = 2,
    /// TOend: a timeout after the last packet of a transfer was sent, so that no new packet can bring a duplicate ACK.
    #[serde(rename = "timeout-at-end")]
    End = 3,
    /// TOther: any other timeout.
    #[serde(rename = "timeout-other")]
    Other = 4,
}

impl TimeoutKind {
    /// Returns the kind of a timeout.
    pub fn of(loss: &LossEvent) -> TimeoutKind {
        if loss.repeated {
            TimeoutKind::Repeated
        } else if loss.in_recovery {
            TimeoutKind::InRecovery
        } else if loss.remaining.is_some_and(|packets| loss.max - loss.sequence >= packets) {
            TimeoutKind::End
        } else if loss.index < 2 {
            TimeoutKind::Beginning
        } else {
            TimeoutKind::Other
        }
    }
}

/// The counters of a flow's timeouts and recoveries in the measurement, or the sums of a large group.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecoveryStatistics {
    /// Timeouts by [`TimeoutKind`].
    pub timeouts: [u64; 5],
    /// Timeouts in slow start.
    pub slow_start_timeouts: u64,
    /// Timeouts of packets whose last copy was not dropped.
    pub spurious_timeouts: u64,
    /// Fast retransmits of packets whose last copy was not dropped.
    pub spurious_fast_retransmits: u64,
    /// Sum over the timeouts of the time since the packet sent last.
    pub stalled: Time,
    /// Fast recoveries that succeeded: a full ACK ended them.
    pub recoveries: u64,
    /// Retransmissions of these recoveries, including the fast retransmits.
    pub retransmissions: u64,
    /// Packets sent in these recoveries before their full ACKs.
    pub sent: u64,
    /// Packets that the full ACKs clocked out.
    pub sent_on_end: u64,
    /// Sum of the lengths of these recoveries.
    pub time: Time,
    /// Retransmissions of the recoveries that a timeout ended, including the fast retransmits.
    pub failed_retransmissions: u64,
    /// Packets sent in these recoveries.
    pub failed_sent: u64,
    /// Sum of the lengths of these recoveries, up to the timeouts.
    pub failed_time: Time,
    /// Recoveries that began, whether they succeeded or not: each is the end of a loss cycle.
    pub begun: u64,
    /// Beginning of the first of them.
    pub first_begun: Time,
    /// Beginning of the last of them.
    pub last_begun: Time,
    /// Shortest time between two of them in a row.
    pub shortest_cycle: Time,
    /// Longest time between two of them in a row.
    pub longest_cycle: Time,
}

/// A timeout, or a fast recovery that has succeeded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repair {
    /// The loss that began it.
    pub loss: LossEvent,
    /// Whether the last copy of the packet was not dropped.
    pub spurious: bool,
    /// Length of the recovery; for a timeout, the time since the packet sent last.
    pub time: Time,
    /// Retransmissions in the recovery.
    pub retransmissions: u64,
    /// Packets sent in the recovery before its full ACK.
    pub sent: u64,
    /// Packets that the full ACK clocked out.
    pub sent_on_end: u64,
}

impl Repair {
    /// Returns the record of a timeout, `stalled` after the packet sent last.
    pub(crate) fn timeout(loss: LossEvent, spurious: bool, stalled: Time) -> Repair {
        Repair { loss, spurious, time: stalled, retransmissions: 0, sent: 0, sent_on_end: 0 }
    }

    /// Returns the code of the event: that of the [`TimeoutKind`], and the next one for a recovery.
    pub fn event(&self) -> u8 {
        match self.loss.cause {
            LossCause::Timeout => TimeoutKind::of(&self.loss) as u8,
            LossCause::FastRetransmit => TimeoutKind::Other as u8 + 1,
        }
    }
}

impl RecoveryStatistics {
    /// Counts a detected loss that begins a recovery; a timeout that is repeated, or in a recovery, begins none. With
    /// several flows the cycles are those of all together.
    pub(crate) fn begin(&mut self, now: Time, loss: &LossEvent) {
        let kind = TimeoutKind::of(loss);
        let goes_on = matches!(kind, TimeoutKind::Repeated | TimeoutKind::InRecovery);
        if loss.cause == LossCause::Timeout && goes_on {
            return;
        }
        if self.begun == 0 {
            self.first_begun = now;
        } else {
            let cycle = now - self.last_begun;
            self.shortest_cycle = if self.begun == 1 { cycle } else { self.shortest_cycle.min(cycle) };
            self.longest_cycle = self.longest_cycle.max(cycle);
        }
        self.begun += 1;
        self.last_begun = now;
    }

    /// Counts a timeout, `stalled` after the packet sent last.
    pub(crate) fn add_timeout(&mut self, loss: &LossEvent, stalled: Time) {
        self.timeouts[TimeoutKind::of(loss) as usize] += 1;
        self.slow_start_timeouts += u64::from(loss.slow_start);
        self.stalled += stalled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeout(index: u64) -> LossEvent {
        LossEvent {
            sequence: index,
            cause: LossCause::Timeout,
            slow_start: false,
            retransmission: false,
            repaired: false,
            in_recovery: false,
            repeated: false,
            index,
            remaining: None,
            window: 10,
            max: index + 10,
        }
    }

    #[test]
    fn a_timeout_is_of_the_first_kind_that_fits() {
        let end = |remaining| LossEvent { remaining: Some(remaining), ..timeout(40) };
        assert_eq!(
            TimeoutKind::of(&LossEvent { repeated: true, in_recovery: true, ..timeout(0) }),
            TimeoutKind::Repeated
        );
        assert_eq!(TimeoutKind::of(&LossEvent { in_recovery: true, ..timeout(0) }), TimeoutKind::InRecovery);
        // Ten packets are outstanding.
        assert_eq!(TimeoutKind::of(&end(10)), TimeoutKind::End);
        assert_eq!(TimeoutKind::of(&end(11)), TimeoutKind::Other);
        // The second packet of three is sent with the third, of four or more without the last one.
        let second = |remaining| LossEvent { remaining: Some(remaining), max: 3, ..timeout(1) };
        assert_eq!(TimeoutKind::of(&second(2)), TimeoutKind::End);
        assert_eq!(TimeoutKind::of(&second(3)), TimeoutKind::Beginning);
        assert_eq!(TimeoutKind::of(&timeout(2)), TimeoutKind::Other);
    }
}
