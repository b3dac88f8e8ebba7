use std::mem::offset_of;

use base::{prefetch, Time};

use crate::reassembly::Reassembly;
use crate::{Dialect, ReceiverConfig};

/// A TCP receiver: cumulative ACKs, at once or delayed. RFC 5681 section 4.2, RFC 1122 section 4.2.3.2.
///
/// In the order of use: what every packet in order needs lies together, in half a cache line.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    next: u64,
    /// The stamp that the next ACK echoes: of the earliest packet in order that it answers (RFC 7323 section 4.3).
    echo: Time,
    /// Packets in order since the last ACK.
    unacknowledged: u32,
    ack_every: u32,
    /// Packets that wait beyond a hole.
    held: u32,
    /// Which they are.
    beyond: Reassembly,
    /// The first packet of the transfer; what lies below is of one that has ended.
    first: u64,
    /// When an ACK that is held back is due, where any ever is.
    deadline: Time,
    ack_delay: Time,
    dialect: Dialect,
}

// What every packet in order needs.
const _: () = assert!(offset_of!(Receiver, beyond) == 32);

/// What a data packet leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Acknowledgment {
    /// The number expected next.
    pub next: u64,
    /// The echoed stamp.
    pub echo: Time,
}

impl Receiver {
    /// A receiver that has seen nothing.
    pub fn new(config: &ReceiverConfig, dialect: Dialect) -> Receiver {
        Receiver {
            next: 0,
            first: 0,
            held: 0,
            beyond: Reassembly::default(),
            unacknowledged: 0,
            echo: Time::ZERO,
            deadline: Time::NEVER,
            ack_every: config.ack_every.max(1),
            ack_delay: Time::from_seconds(config.ack_delay_s),
            dialect,
        }
    }

    /// A transfer begins `now` where the last one, which is here whole, has ended. Both ends know of it.
    pub fn begin_next_transfer(&mut self, now: Time) {
        self.first = self.next;
        self.unacknowledged = 0;
        self.echo = now;
        self.deadline = Time::NEVER;
    }

    /// Fetches what the beginning of a transfer and packets out of order need.
    #[inline(always)]
    pub fn prefetch_rest(&self) {
        prefetch(&self.first);
    }

    /// The first packet of the transfer.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The number expected next: how many packets the application has got.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// When an ACK that is held back is due; [`Time::NEVER`] where none is.
    #[inline(always)]
    pub fn deadline(&self) -> Time {
        if self.ack_every == 1 {
            return Time::NEVER;
        }
        self.deadline
    }

    /// A data packet arrives; the ACK that leaves at once, if any.
    #[inline(always)]
    pub fn on_data(&mut self, now: Time, sequence: u64, stamp: Time) -> Option<Acknowledgment> {
        if sequence == self.next && self.held == 0 {
            self.next += 1;
            return self.in_order(now, stamp);
        }
        self.not_next(now, sequence, stamp)
    }

    /// Out of line: the common case keeps its registers.
    #[inline(never)]
    fn not_next(&mut self, now: Time, sequence: u64, stamp: Time) -> Option<Acknowledgment> {
        if sequence < self.first {
            return None;
        }
        if self.is_held_by_ns2(sequence) {
            return self.in_order(now, stamp);
        }
        self.out_of_order(sequence, stamp)
    }

    /// The delay of a held ACK is over.
    pub fn on_timer(&mut self) -> Acknowledgment {
        self.acknowledge()
    }

    #[inline(always)]
    fn in_order(&mut self, now: Time, stamp: Time) -> Option<Acknowledgment> {
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

    /// ns-2 `DelAckSink::recv` takes a repetition of the last packet in order for one in order, and holds its ACK back.
    fn is_held_by_ns2(&self, sequence: u64) -> bool {
        let repeats_last = sequence + 1 == self.next && self.held == 0;
        self.dialect == Dialect::Ns2 && repeats_last && self.unacknowledged == 0
    }

    /// RFC 5681 section 4.2: an ACK at once for a packet out of order, and for one that fills a gap or part of one.
    fn out_of_order(&mut self, sequence: u64, stamp: Time) -> Option<Acknowledgment> {
        if sequence <= self.next && self.unacknowledged == 0 {
            self.echo = stamp;
        }
        if sequence == self.next {
            self.next += 1;
            while self.held > 0 && self.beyond.remove(self.next) {
                self.held -= 1;
                self.next += 1;
            }
        } else if sequence > self.next {
            self.held += u32::from(self.beyond.insert(self.next, sequence));
        }
        Some(self.acknowledge())
    }

    #[inline(always)]
    fn acknowledge(&mut self) -> Acknowledgment {
        self.unacknowledged = 0;
        if self.ack_every > 1 {
            self.deadline = Time::NEVER;
        }
        Acknowledgment { next: self.next, echo: self.echo }
    }
}
