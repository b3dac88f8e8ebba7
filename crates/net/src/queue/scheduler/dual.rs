use base::Packet;
use serde::{Deserialize, Serialize};

use crate::queue::classes::Classes;

/// Parameters of a coupled dual queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DualConfig {
    /// Share of the rate that the classic queue has while packets of both wait \[percent\] (`classic_protection`).
    pub classic_percent: u8,
    /// Length of the largest packet \[bytes\].
    pub mtu_bytes: u16,
}

impl DualConfig {
    /// The defaults of Linux.
    pub const TYPICAL: DualConfig = DualConfig { classic_percent: 10, mtu_bytes: 1500 };
}

/// The class of packets with ECT(1) or CE, and the class of all others.
pub(in crate::queue) const L4S: usize = 0;
const CLASSIC: usize = 1;
/// The number of these classes.
pub(in crate::queue) const KINDS: usize = 2;

/// Two queues, of L4S and of classic traffic, the latter with a small share of the rate (RFC 9332 section 2.4; Linux
/// `net/sched/sch_dualpi2.c`, `dequeue_packet`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dual {
    classic_percent: i64,
    mtu_bytes: i64,
    /// The L4S queue goes first while this is not positive \[bytes times percent\] (`c_protection_credit`).
    credit: i64,
}

impl Dual {
    pub(super) fn new(config: DualConfig) -> Dual {
        let (classic_percent, mtu_bytes) = (config.classic_percent.into(), config.mtu_bytes.into());
        Dual { classic_percent, mtu_bytes, credit: 0 }.reset()
    }

    fn reset(self) -> Dual {
        Dual { credit: self.mtu_bytes * (2 * self.classic_percent - 100), ..self }
    }

    /// RFC 9331 section 5.1: ECT(1) and CE are of L4S.
    pub(super) fn class(self, packet: &Packet) -> usize {
        if packet.marks.codepoint() & 1 == 1 {
            L4S
        } else {
            CLASSIC
        }
    }

    pub(super) fn next(&mut self, waiting: &Classes) -> Option<usize> {
        let (l4s, classic) = (waiting.held_by(L4S).0, waiting.held_by(CLASSIC).0);
        if l4s > 0 && (classic == 0 || self.credit <= 0) {
            return Some(L4S);
        }
        if classic == 0 {
            *self = self.reset();
            return None;
        }
        Some(CLASSIC)
    }

    /// Notes that a class has sent a packet: it costs credit only while packets of the other wait.
    pub(super) fn sent(&mut self, class: usize, bytes: u16, waiting: &Classes) {
        let bytes = i64::from(bytes);
        if class == L4S && waiting.held_by(CLASSIC).0 > 0 {
            self.credit += self.classic_percent * bytes;
        }
        if class == CLASSIC && waiting.held_by(L4S).0 > 0 {
            self.credit -= (100 - self.classic_percent) * bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use base::{Marks, Time};

    use super::*;
    use crate::queue::classes::Waiting;

    fn waiting(l4s: usize, classic: usize) -> Classes {
        let mut waiting = Classes::default();
        for (class, packets) in [(L4S, l4s), (CLASSIC, classic)] {
            for sequence in 0..packets as u64 {
                let packet = Packet { sequence, bytes: 1500, ..Packet::default() };
                waiting.push(class, Time::ZERO, &packet);
            }
        }
        waiting
    }

    fn serve(dual: &mut Dual, waiting: &mut Classes) -> Option<usize> {
        let class = dual.next(waiting)?;
        let mut served = Waiting::default();
        waiting.pop(class, &mut served);
        dual.sent(class, served.packet.bytes, waiting);
        Some(class)
    }

    #[test]
    fn packets_are_of_l4s_by_their_codepoints() {
        let dual = Dual::new(DualConfig::TYPICAL);
        let class = |marks| dual.class(&Packet { marks, ..Packet::default() });
        let classes = [Marks::NONE, Marks::ECT, Marks::ECT1, Marks::CE].map(class);
        assert_eq!(classes, [CLASSIC, CLASSIC, L4S, L4S]);
    }

    #[test]
    fn while_both_wait_classic_packets_have_their_share_of_the_rate() {
        for percent in [10, 30, 50] {
            let mut dual = Dual::new(DualConfig { classic_percent: percent, ..DualConfig::TYPICAL });
            let mut queue = waiting(2000, 2000);
            let served: Vec<_> = (0..1000).map(|_| serve(&mut dual, &mut queue)).collect();
            let classic = served.iter().filter(|&&class| class == Some(CLASSIC)).count();
            assert!(classic.abs_diff(usize::from(percent) * 10) <= 2, "{classic} of 1000 at {percent}%");
            assert_eq!(served[0], Some(L4S));
        }
    }

    #[test]
    fn a_queue_alone_has_the_whole_rate_and_owes_nothing_for_it() {
        let mut dual = Dual::new(DualConfig::TYPICAL);
        let mut queue = waiting(0, 50);
        assert!((0..50).all(|_| serve(&mut dual, &mut queue) == Some(CLASSIC)));
        assert_eq!(serve(&mut dual, &mut queue), None);
        let mut queue = waiting(12, 12);
        let served: Vec<_> = (0..10).filter_map(|_| serve(&mut dual, &mut queue)).collect();
        assert_eq!(served.iter().filter(|&&class| class == CLASSIC).count(), 1, "{served:?}");
    }
}
