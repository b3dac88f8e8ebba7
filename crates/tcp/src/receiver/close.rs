//! The close of a connection at the receiver (RFC 9293 section 3.6): it acknowledges the sender's FIN at once, with a FIN of
//! its own, as its application reads the end at once and closes too.
//!
//! Linux sends one packet for both (`tcp_fin`, `tcp_send_fin`), since an end that may close no longer acknowledges quickly.
//!
//! Deviations: where more than one packet is not acknowledged yet, the kernel sends an ACK first, and the FIN behind it at
//! the same time. The receiver has no timer for its FIN: one that is lost is sent again when the sender, to whom it is
//! the last ACK, retransmits its own.

use std::num::NonZeroU64;

use base::Marks;

use super::{Acknowledgment, Receiver, BY_LINUX, CLOSES};

impl Receiver {
    /// Lets the receiver close the connection when the sender does.
    pub fn with_close(mut self) -> Receiver {
        self.held |= CLOSES;
        self.rest();
        self
    }

    /// Takes note of the flag FIN of a packet that is not of an earlier transfer.
    pub(super) fn take_fin(&mut self, sequence: u64, marks: Marks) {
        if let (true, Some(rest)) = (marks.has(Marks::FIN) && sequence >= self.first, &mut self.rest) {
            rest.fin = NonZeroU64::new(sequence + 1);
        }
    }

    /// Returns the ACK that answers a packet: it is not delayed once all has arrived.
    pub(super) fn close(&mut self, acknowledgment: Option<Acknowledgment>) -> Option<Acknowledgment> {
        let complete = self.rest.as_ref().is_some_and(|rest| rest.ended_at(self.next));
        match acknowledgment {
            None if complete && self.held & BY_LINUX != 0 => self.acknowledge_by_linux(true),
            None if complete => Some(self.acknowledge()),
            _ => acknowledgment,
        }
    }
}
