//! Reordering as a sender with selective acknowledgments sees it (Linux `tcp_clean_rtx_queue`).

use base::{Clock, Marks, Time};
use tcp::{Ack, Actions, LossEvent, Segment, Selected, Selective, SelectiveConfig};

#[derive(Default)]
struct Retransmitted(Vec<u64>);

impl Actions for Retransmitted {
    fn transmit(&mut self, segment: Segment) {
        if segment.retransmission {
            self.0.push(segment.sequence);
        }
    }

    fn loss(&mut self, _: LossEvent) {}
}

fn at(ms: u64) -> Time {
    Time::from_ticks(ms * 1_000_000_000)
}

/// Packets below which an ACK acknowledges all, and those that it acknowledges selectively.
type Heard = (u64, Option<(u64, u64)>);

/// Lets the ACKs arrive a round trip after each other; returns what each one lets the sender send again.
fn retransmissions(acks: &[Heard]) -> Vec<Vec<u64>> {
    let mut sent = Retransmitted::default();
    let mut sender = Selective::new(&SelectiveConfig::default(), None, Clock::PICOSECONDS);
    sender.on_handshake(at(100), at(100), 0, true);
    sender.on_start(at(100), &mut sent);
    let mut hear = |(round, &(next, selected)): (usize, &Heard)| {
        let now = at(100 * (round as u64 + 2));
        let runs: Vec<_> = selected.into_iter().map(|(first, end)| Selected { first, end, duplicate: false }).collect();
        let ack = Ack {
            next,
            echo: now - at(100),
            selected: &runs,
            window: u64::MAX,
            marks: Marks::NONE,
            waited: Time::ZERO,
        };
        sender.on_ack(now, ack, &mut sent);
        std::mem::take(&mut sent.0)
    };
    acks.iter().enumerate().map(&mut hear).collect()
}

#[test]
fn packets_above_the_highest_selected_one_were_not_late() {
    // The ACK that ends the recovery is for the retransmission, for seven that had been selected, and for 8 and 9.
    let sent = retransmissions(&[(0, Some((1, 8))), (10, None), (15, None), (15, Some((16, 19)))]);
    // No time is left for reordering: the third duplicate lets the packet be sent again at once.
    assert_eq!(sent, [vec![0], vec![], vec![], vec![15]]);
}

#[test]
fn a_packet_that_fills_a_hole_was_late() {
    let sent = retransmissions(&[(0, Some((1, 3))), (3, None), (14, None), (14, Some((15, 18)))]);
    assert_eq!(sent, vec![Vec::<u64>::new(); 4]);
}
