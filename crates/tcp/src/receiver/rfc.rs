//! Packets at a receiver without Linux's rules: RFC 5681 section 4.2, and the quirks of a dialect.

use base::Time;

use super::{Acknowledgment, Receiver, BEGUN_BY_COPY, UNREAD};

impl Receiver {
    /// Handles a special packet by the rules of RFC 5681 and the quirks of a dialect.
    #[inline(always)]
    pub(super) fn special_by_rfc(&mut self, now: Time, sequence: u64, stamp: Time) -> Option<Acknowledgment> {
        if sequence == self.next && self.held() == 0 {
            self.next += 1;
            self.last_delivery = now;
            if self.held & BEGUN_BY_COPY != 0 {
                self.held &= !BEGUN_BY_COPY;
                self.echo = stamp;
            }
            return self.in_order(now, stamp);
        }
        if sequence < self.first {
            return None;
        }
        if self.selective && sequence != self.next {
            self.enter(sequence);
        }
        if self.delays_ack_of(sequence) {
            let acknowledgment = self.in_order(now, stamp);
            if acknowledgment.is_none() {
                self.held |= BEGUN_BY_COPY;
            }
            return acknowledgment;
        }
        let acknowledgment = self.out_of_order(now, sequence, stamp);
        Some(Acknowledgment {
            journal: self.report_blocks(sequence).unwrap_or(acknowledgment.journal),
            ..acknowledgment
        })
    }

    #[inline(always)]
    pub(super) fn in_order(&mut self, now: Time, stamp: Time) -> Option<Acknowledgment> {
        if self.unacknowledged == 0 {
            self.echo = stamp;
        }
        self.unacknowledged += 1;
        if self.unacknowledged >= self.ack_every {
            return Some(self.acknowledge());
        }
        if self.unacknowledged == 1 {
            self.deadline = now + self.ack_delay;
        }
        None
    }

    /// Returns whether a packet is a retransmission of the last one in order, and its ACK delayed.
    fn delays_ack_of(&self, sequence: u64) -> bool {
        let repeats_last = sequence + 1 == self.next && self.held() == 0;
        self.duplicate_of_last_is_delayed && repeats_last && self.unacknowledged == 0
    }

    /// Acknowledges at once a packet out of order, or one that fills a gap or part of one: RFC 5681 section 4.2.
    fn out_of_order(&mut self, now: Time, sequence: u64, stamp: Time) -> Acknowledgment {
        if sequence <= self.next && self.unacknowledged == 0 {
            self.echo = stamp;
        }
        if sequence == self.next {
            self.advance(now);
            self.advance_runs();
        } else if sequence > self.next {
            self.held += u32::from(self.beyond.insert(self.next, sequence));
        }
        if self.selective && self.held & UNREAD == 0 {
            // The sender knows all runs; the ACK has them all the same.
            self.report_runs();
        }
        self.acknowledge()
    }
}
