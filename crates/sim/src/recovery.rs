//! Timeouts and fast recoveries, and what is counted of them [engset, section 5.4.3].

use base::Time;
use serde::Deserialize;
use tcp::{Loss, LossCause};

/// What a timeout is. Each is one of these, the first in this order that fits [engset, section 5.4.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum TimeoutKind {
    /// TOTO: of a packet whose timer expired before.
    #[serde(rename = "timeout-repeated")]
    Repeated = 0,
    /// TDTO: in fast recovery.
    #[serde(rename = "timeout-in-recovery")]
    InRecovery = 1,
    /// TObeg: of the first or second packet of a transfer.
    #[serde(rename = "timeout-at-beginning")]
    Beginning = 2,
    /// TOend: of one of the last three packets of a transfer.
    #[serde(rename = "timeout-at-end")]
    End = 3,
    /// TOther.
    #[serde(rename = "timeout-other")]
    Other = 4,
}

impl TimeoutKind {
    /// Of a timeout.
    pub fn of(loss: &Loss) -> TimeoutKind {
        if loss.repeated {
            TimeoutKind::Repeated
        } else if loss.in_recovery {
            TimeoutKind::InRecovery
        } else if loss.place < 2 {
            TimeoutKind::Beginning
        } else if loss.remaining.is_some_and(|packets| packets <= 3) {
            TimeoutKind::End
        } else {
            TimeoutKind::Other
        }
    }
}

/// What a flow counts of its losses in the measurement, or all flows of a large group together.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RecoveryStatistics {
    /// Timeouts, by [`TimeoutKind`].
    pub timeouts: [u64; 5],
    /// Those in slow start.
    pub slow_start_timeouts: u64,
    /// Those of packets whose last copy was not dropped.
    pub spurious_timeouts: u64,
    /// Fast retransmits of packets whose last copy was not dropped.
    pub spurious_fast_retransmits: u64,
    /// Sum over the timeouts: since the packet sent last.
    pub stalled: Time,
    /// Fast recoveries that ended with an ACK of all that they were to repair.
    pub recoveries: u64,
    /// Packets that these sent again, the fast retransmit included.
    pub retransmissions: u64,
    /// All packets that they sent, but for those that the last ACK let out.
    pub sent: u64,
    /// Packets that their last ACK let out.
    pub sent_on_end: u64,
    /// Sum of their lengths.
    pub time: Time,
}

/// A fast recovery, or a timeout, that is over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Repair {
    /// What began it.
    pub loss: Loss,
    /// The last copy of the packet was not dropped.
    pub spurious: bool,
    /// Length of the recovery; at a timeout the time since the packet sent last.
    pub time: Time,
    /// Packets sent again in a recovery.
    pub retransmissions: u64,
    /// Packets sent in a recovery before its last ACK.
    pub sent: u64,
    /// Packets that its last ACK let out.
    pub sent_on_end: u64,
}

impl Repair {
    /// The timer expired, so long after the packet sent last.
    pub(crate) fn timeout(loss: Loss, spurious: bool, stalled: Time) -> Repair {
        Repair { loss, spurious, time: stalled, retransmissions: 0, sent: 0, sent_on_end: 0 }
    }

    /// The [`TimeoutKind`], or one more for a recovery.
    pub fn event(&self) -> u8 {
        match self.loss.cause {
            LossCause::Timeout => TimeoutKind::of(&self.loss) as u8,
            LossCause::FastRetransmit => TimeoutKind::Other as u8 + 1,
        }
    }
}

impl RecoveryStatistics {
    /// The timer expired, so long after the packet sent last.
    pub(crate) fn add_timeout(&mut self, loss: &Loss, stalled: Time) {
        self.timeouts[TimeoutKind::of(loss) as usize] += 1;
        self.slow_start_timeouts += u64::from(loss.slow_start);
        self.stalled += stalled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timeout(place: u64) -> Loss {
        Loss {
            sequence: place,
            cause: LossCause::Timeout,
            slow_start: false,
            retransmission: false,
            in_recovery: false,
            repeated: false,
            place,
            remaining: None,
            window: 10,
            max: place + 10,
        }
    }

    #[test]
    fn a_timeout_is_of_the_first_kind_that_fits() {
        let end = |remaining| Loss { remaining: Some(remaining), ..timeout(40) };
        assert_eq!(TimeoutKind::of(&Loss { repeated: true, in_recovery: true, ..timeout(0) }), TimeoutKind::Repeated);
        assert_eq!(TimeoutKind::of(&Loss { in_recovery: true, ..timeout(0) }), TimeoutKind::InRecovery);
        // Of three packets the second is both at the beginning and at the end.
        assert_eq!(TimeoutKind::of(&Loss { remaining: Some(2), ..timeout(1) }), TimeoutKind::Beginning);
        assert_eq!(TimeoutKind::of(&end(3)), TimeoutKind::End);
        assert_eq!(TimeoutKind::of(&end(4)), TimeoutKind::Other);
        assert_eq!(TimeoutKind::of(&timeout(2)), TimeoutKind::Other);
    }
}
