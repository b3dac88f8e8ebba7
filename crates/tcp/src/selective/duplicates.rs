//! Connections without selective acknowledgment: duplicate ACKs say how many packets have arrived, but not which (Linux
//! `tcp_add_reno_sack`, `tcp_newreno_mark_lost`). The count takes the place of that of selectively
//! acknowledged packets.

use base::cast::{to_index, to_u32};

use super::detection::{Seen, MOST_REORDERING};
use super::{Selective, State};

impl Selective {
    /// Counts a duplicate ACK: a packet has arrived beyond the first hole.
    pub(super) fn count_duplicate_ack(&mut self, seen: &Seen) {
        if !self.rules.config.sack && seen.counts_as_duplicate() {
            let before = self.board.sacked();
            self.board.arrive_beyond_hole();
            self.limit_duplicates(0);
            // One beyond the limit is not delivered.
            self.board.delivered += u64::from(self.board.sacked().saturating_sub(before));
        }
    }

    /// Forgets the duplicate ACKs that were counted.
    pub(super) fn forget_duplicate_acks(&mut self) {
        if !self.rules.config.sack {
            self.board.forget_arrivals();
        }
    }

    /// Takes the packets that were acknowledged cumulatively off the count: one filled the hole, and the others had
    /// caused duplicate ACKs (Linux `tcp_remove_reno_sacks`).
    #[cold]
    pub(super) fn acknowledge_duplicates(&mut self, packets: u64) {
        let packets = to_u32(to_index(packets));
        self.board.deliver_cumulatively(packets);
        self.limit_duplicates(packets);
    }

    /// Limits the count to the packets that can have arrived; more duplicate ACKs than these show that packets were
    /// reordered, by up to all of them and the `acknowledged` ones (Linux `tcp_check_reno_reordering`).
    fn limit_duplicates(&mut self, acknowledged: u32) {
        if self.board.limit_arrivals() {
            let most = u64::from(self.board.outstanding() + acknowledged).min(MOST_REORDERING);
            self.reordering = to_u32(to_index(most));
            self.reordering_seen = true;
        }
    }

    /// Marks the first packet as lost: where enough duplicate ACKs begin a recovery, and at each partial ACK in it (RFC
    /// 6582, Linux `tcp_newreno_mark_lost`).
    pub(super) fn detect_by_duplicates(&mut self, seen: &Seen) {
        let begins = self.state < State::Recovery && self.board.sacked() >= self.reordering;
        let goes_on = self.state == State::Recovery && seen.una_advanced;
        if (begins || goes_on) && self.board.head().is_some_and(|head| !head.marks.lost()) {
            self.board.mark_lost(self.board.una());
        }
    }

    /// Returns whether the state stays until a packet above the recovery point is acknowledged, so that duplicate ACKs of
    /// retransmissions cause no recovery (RFC 6582 section 6, Linux `tcp_is_non_sack_preventing_reopen`).
    pub(super) fn keeps_state(&mut self) -> bool {
        let keeps = !self.rules.config.sack && self.board.una() == self.high;
        if keeps {
            self.undo.forget_if(!self.board.any_retransmitted());
        }
        keeps
    }
}
