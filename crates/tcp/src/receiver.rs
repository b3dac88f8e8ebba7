mod acknowledgment;
mod blocks;
mod close;
mod ecn;
mod journal;
mod linux;
mod log;
mod reports;
mod rest;
mod rfc;
mod runs;

use std::mem::offset_of;

use base::{prefetch, Clock, Marks, Time};

use crate::quirks::Quirks;
use crate::reassembly::Reassembly;
use crate::{Dialect, Ecn, ReceiverConfig, Selected, TimerWheel};
pub use acknowledgment::Acknowledgment;
use ecn::EcnEcho;
use linux::LinuxAcks;
pub use log::{AckKey, SackLog};
use rest::Rest;
pub use rest::SpareStates;

/// A TCP receiver with cumulative ACKs, immediate or delayed: RFC 5681 section 4.2, RFC 1122 section 4.2.3.2.
///
/// Fields are ordered by use: a packet in order needs only those in front of `beyond`.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    /// RCV.NXT: next packet expected.
    next: u64,
    /// Stamp that the next ACK echoes, of the earliest packet in order that it acknowledges (RFC 7323 section 4.3).
    echo: Time,
    /// Instant of the last delivery to the application.
    last_delivery: Time,
    /// Packets in order since the last ACK.
    unacknowledged: u32,
    ack_every: u32,
    /// Number of packets received beyond a hole and the bits below: 0 if a packet in order is nothing special.
    held: u32,
    /// Quirk of the dialect: [`Quirks::duplicate_of_last_is_delayed`].
    duplicate_of_last_is_delayed: bool,
    /// Whether the receiver enters packets in the journal.
    selective: bool,
    /// Length of an ACK as things are \[bytes\]; blocks make it longer.
    ack_bytes: u16,
    /// Packets received beyond a hole.
    beyond: Reassembly,
    /// First packet of the transfer; packets below it belong to the previous one.
    first: u64,
    /// Instant at which a delayed ACK is sent; unused without delayed ACKs.
    deadline: Time,
    ack_delay: Time,
    /// State that packets in order need by Linux's rules only; `None` before it is needed.
    rest: Option<Box<Rest>>,
}

/// Bit of `held`: the journal has entries that the sender has not read.
const UNREAD: u32 = 1 << 31;
/// Bit of `held`: ACKs are sent by Linux's rules.
const BY_LINUX: u32 = 1 << 30;
/// Bit of `held`: an ACK is delayed that a copy of the last packet in order began; it echoes the packet after that one.
const BEGUN_BY_COPY: u32 = 1 << 29;
/// Bit of `held`: ACKs echo marks of the network.
const WITH_ECN: u32 = 1 << 28;
/// Bit of `held`: the receiver closes the connection when the sender does.
const CLOSES: u32 = 1 << 27;
/// Bit of `held`: windows are recorded with the entries of the journal.
const LOGS: u32 = 1 << 26;
/// Bit of `held`: all ACKs arrive, in the order in which they were sent; with Linux's rules only.
const ACKS_IN_ORDER: u32 = 1 << 25;
/// All bits of `held`.
const BITS: u32 = UNREAD | BY_LINUX | BEGUN_BY_COPY | WITH_ECN | CLOSES | LOGS | ACKS_IN_ORDER;

// The fields that a packet in order needs leave three words of a cache line to others.
const _: () = assert!(offset_of!(Receiver, beyond) == 40);

impl Receiver {
    /// Number of a packet that carries no data; the receiver ignores it.
    pub const NO_DATA: u64 = u64::MAX;

    /// Creates a receiver that has received nothing.
    pub fn new(config: &ReceiverConfig, dialect: Dialect, clock: Clock) -> Receiver {
        Receiver::with_quirks(config, &Quirks::of(dialect), clock)
    }

    /// Sets what Linux's rules know from the handshake: the time of an ACK on an empty return path, and the longest
    /// service of a data packet on its way, by which the last ACK of the handshake is ahead of the first packet.
    pub fn with_path(mut self, return_delay: Time, service: Time) -> Receiver {
        if let Some(rules) = self.linux_rules() {
            *rules = rules.with_path(return_delay, service);
        }
        self
    }

    /// Has Linux's rules delay ACKs by the clock of the receiver's host.
    pub fn with_clock(mut self, wheel: TimerWheel) -> Receiver {
        if let Some(rules) = self.linux_rules() {
            rules.set_clock(wheel);
        }
        self
    }

    pub(crate) fn with_quirks(config: &ReceiverConfig, quirks: &Quirks, clock: Clock) -> Receiver {
        let rest = Rest::of(config, quirks, clock);
        let bit = |bit: u32, given: bool| if given { bit } else { 0 };
        Receiver {
            next: 0,
            first: 0,
            held: bit(BY_LINUX, config.linux.is_some()) | bit(WITH_ECN, config.ecn != Ecn::Off),
            beyond: Reassembly::default(),
            unacknowledged: 0,
            echo: Time::ZERO,
            last_delivery: Time::ZERO,
            deadline: Time::NEVER,
            ack_every: if config.delays_acks() { config.ack_every.max(2) } else { 1 },
            ack_delay: clock.time(config.ack_delay_s),
            duplicate_of_last_is_delayed: quirks.duplicate_of_last_is_delayed,
            selective: config.selective,
            ack_bytes: 0,
            rest: rest.map(Box::new),
        }
    }

    /// Returns the window that the answer to a SYN announces \[packets\], before the first ACK; `None` if windows are not
    /// announced.
    pub fn first_window(&self) -> Option<u64> {
        let rules = self.rest.as_ref()?.linux.as_ref()?;
        Acknowledgment::window_in(rules.announced())
    }

    /// Ends a handshake, as the other end sends its last ACK `now`: that is what ACKs echo until the first packet has arrived.
    pub fn end_handshake(&mut self, now: Time) {
        self.echo = now;
    }

    /// Takes note that the answer to a SYN is sent `now`, from which on Linux measures its first round trip.
    pub fn answer_syn(&mut self, now: Time) {
        if let Some(rules) = self.linux_rules() {
            rules.answer_syn(now);
        }
    }

    /// Takes note that data before the transfer, such as TLS's hello, are answered at once.
    pub fn answer_data(&mut self) {
        if let Some(rules) = self.linux_rules() {
            rules.answer_data();
        }
    }

    /// Takes note that the other end's ACK of that answer arrives `now`.
    pub fn take_last_of_handshake(&mut self, now: Time) {
        if let Some(rules) = self.linux_rules() {
            rules.take_last_of_handshake(now);
        }
    }

    /// Begins a transfer `now`, at the number where the previous one ended; all of that one was received.
    pub fn begin_transfer(&mut self, now: Time) {
        self.first = self.next;
        self.unacknowledged = 0;
        self.echo = now;
        self.deadline = Time::NEVER;
        self.held &= !(UNREAD | BEGUN_BY_COPY);
        self.shorten_acks();
        if let Some(rest) = &mut self.rest {
            rest.journal.clear();
            rest.ecn = rest.ecn.map(EcnEcho::fresh);
            (rest.fin, rest.duplicates) = (None, 0);
            if let Some(blocks) = &mut rest.blocks {
                blocks.clear();
            }
        }
        let next = self.next;
        if let Some(rules) = self.linux_rules() {
            rules.begin(next);
        }
    }

    fn linux_rules(&mut self) -> Option<&mut LinuxAcks> {
        self.rest.as_mut()?.linux.as_mut()
    }

    /// Reads the journal up to the number that an ACK of all packets before `next` has, and appends what no earlier ACK made
    /// known to `selected`, a duplicate first, and then from below. With ns-2's blocks it appends those of the ACK, in
    /// their order.
    #[inline(always)]
    pub fn read_journal(&mut self, number: u32, next: u64, selected: &mut Vec<Selected>) {
        if let Some(Rest { journal, blocks, .. }) = self.rest.as_deref_mut() {
            if let Some(blocks) = blocks {
                return blocks.read(number, selected);
            }
            if let Some(window) = Acknowledgment::window_in(number) {
                return journal.replace_window(window);
            }
            journal.read(number, next, selected);
            if journal.is_read() {
                if self.held & !BITS == 0 {
                    journal.release_reports();
                }
                self.held &= !UNREAD;
                self.shorten_acks();
            }
        }
    }

    /// Returns the window that the last ACK read from the journal announced \[packets\]; [`u64::MAX`]: none.
    #[cold]
    pub fn announced_window(&self) -> u64 {
        self.rest.as_ref().map_or(u64::MAX, |rest| rest.journal.window())
    }

    /// Prefetches the fields needed at the beginning of a transfer and for packets out of order.
    #[inline(always)]
    pub fn prefetch_rest(&self) {
        prefetch(&self.first);
    }

    /// Returns the first packet of the transfer.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the number expected next, which is the number of packets delivered to the application.
    #[inline(always)]
    pub fn next(&self) -> u64 {
        self.next
    }

    /// Returns the instant of the last delivery to the application; zero before any.
    pub fn last_delivery(&self) -> Time {
        self.last_delivery
    }

    /// Returns the number of packets received beyond a hole.
    #[inline(always)]
    pub fn held(&self) -> u32 {
        self.held & !BITS
    }

    /// Returns the instant at which a delayed ACK is sent; [`Time::NEVER`] if none is delayed.
    #[inline(always)]
    pub fn deadline(&self) -> Time {
        if self.ack_every == 1 {
            return Time::NEVER;
        }
        self.deadline
    }

    /// Handles a data packet that arrives; returns the ACK that is sent at once, if any. `echo_age` is that of its segment.
    #[inline(always)]
    pub fn on_data(
        &mut self,
        now: Time,
        sequence: u64,
        stamp: Time,
        marks: Marks,
        echo_age: u32,
    ) -> Option<Acknowledgment> {
        if sequence == self.next && self.held == 0 {
            self.next += 1;
            self.last_delivery = now;
            return self.in_order(now, stamp);
        }
        if sequence == self.next && self.held & !(UNREAD | LOGS | ACKS_IN_ORDER) == BY_LINUX {
            let journal = self.in_order_by_linux(now, stamp, marks, echo_age)?;
            return Some(Acknowledgment { next: self.next, echo: self.echo, journal, marks: Marks::NONE });
        }
        self.special(now, sequence, stamp, marks, echo_age)
    }

    /// Handles a packet that is special: not the next one in order, or not by the usual rules. Out of line, so that the
    /// common case keeps its registers.
    #[inline(never)]
    fn special(
        &mut self,
        now: Time,
        sequence: u64,
        stamp: Time,
        marks: Marks,
        echo_age: u32,
    ) -> Option<Acknowledgment> {
        if sequence == Receiver::NO_DATA {
            return None;
        }
        if self.held & CLOSES != 0 {
            self.take_fin(sequence, marks);
        }
        let acknowledgment = if self.held & BY_LINUX != 0 {
            self.on_data_by_linux(now, sequence, stamp, marks, echo_age)
        } else if self.held & WITH_ECN != 0 {
            self.on_data_with_ecn(now, sequence, stamp, marks)
        } else {
            self.special_by_rfc(now, sequence, stamp)
        };
        if self.held & CLOSES != 0 {
            return self.close(acknowledgment);
        }
        acknowledgment
    }

    /// Receives the next packet in order, and with it those that had arrived behind it.
    fn advance(&mut self, now: Time) {
        self.next += 1;
        self.last_delivery = now;
        while self.held() > 0 && self.beyond.remove(self.next) {
            self.held -= 1;
            self.next += 1;
        }
        if self.held() > 0 {
            self.log_advance();
        }
    }

    /// Enters a packet in the journal that arrives beyond a hole or a second time.
    fn enter(&mut self, sequence: u64) {
        let duplicate = sequence < self.next || self.beyond.contains(self.next, sequence);
        let next = self.next;
        let rest = self.rest();
        rest.journal.enter(sequence, duplicate);
        rest.duplicates += u32::from(duplicate);
        match &mut rest.linux {
            Some(rules) => rules.note_arrival(duplicate),
            None => rest.journal.reports().arrive_at(sequence, next, duplicate),
        }
        if let Some(log) = &mut rest.log {
            log.enter(sequence, duplicate, sequence > next);
        }
        self.held |= UNREAD;
    }

    /// Returns the number of packets in the journal, if the sender has not read them all, else `otherwise`, and the flags
    /// of an ACK.
    #[cold]
    fn options(&self, otherwise: u32) -> (u32, Marks) {
        let Some(rest) = &self.rest else { return (0, Marks::NONE) };
        let journal = if self.held & UNREAD != 0 { rest.journal.entered() } else { otherwise };
        let fin = Marks::FIN.only_if(rest.ended_at(self.next));
        (journal, rest.ecn.map_or(fin, |ecn| ecn.marks().with(fin)))
    }

    /// Sends the delayed ACK.
    pub fn on_timer(&mut self) -> Acknowledgment {
        if let Some(acknowledgment) = self.on_timer_by_linux() {
            return acknowledgment;
        }
        let acknowledgment = self.acknowledge();
        if self.held & WITH_ECN != 0 {
            self.note_echo();
        }
        acknowledgment
    }

    #[inline(always)]
    fn acknowledge(&mut self) -> Acknowledgment {
        self.unacknowledged = 0;
        if self.ack_every > 1 {
            self.deadline = Time::NEVER;
        }
        if self.held & UNREAD != 0 {
            self.report_runs();
        }
        self.acknowledgment()
    }

    #[inline(always)]
    fn acknowledgment(&self) -> Acknowledgment {
        self.acknowledgment_with(0)
    }

    /// Returns an ACK; `otherwise` is its `journal` if the sender has read all of the receiver's.
    #[inline(always)]
    fn acknowledgment_with(&self, otherwise: u32) -> Acknowledgment {
        let special = self.held & (UNREAD | WITH_ECN | CLOSES) != 0;
        // An ACK that goes through memory to get them is read back before its stores are done: 10 ns.
        let (journal, marks) = if special { self.options(otherwise) } else { (otherwise, Marks::NONE) };
        Acknowledgment { next: self.next, echo: self.echo, journal, marks }
    }
}
