//! Handshakes: what the two ends of a connection exchange before the data.

use std::ops::Range;

use base::{Clock, Marks, Packet, Time};
use tcp::TimerWheel;

use crate::scenario::HandshakeConfig;

/// Longest time after which a request or an answer is sent again \[s\] (Linux `TCP_RTO_MAX`).
const LONGEST_TIMEOUT_S: f64 = 120.0;
/// Times that the answer to a SYN is sent again by its timer (Linux `sysctl_tcp_synack_retries`).
const ANSWERS_AGAIN: u32 = 5;
/// Numbers of an exchange's packets: those of the next one are larger by this.
const NUMBERS: u32 = 256;

/// The numbers of a message's packets, without those that have arrived.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Numbers {
    all: Range<u32>,
    /// A bit for each of `all`, the lowest for the first.
    arrived: u64,
}

impl Iterator for Numbers {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        loop {
            let (number, has_arrived) = (self.all.next()?, self.arrived & 1 == 1);
            self.arrived >>= 1;
            if !has_arrived {
                return Some(number);
            }
        }
    }
}

/// An answer to send.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    /// The packet that is answered.
    pub(crate) request: Packet,
    /// Numbers of the answer's packets that have not arrived.
    pub(crate) numbers: Numbers,
    /// Length of these packets, if it is not that of data.
    pub(crate) bytes: Option<u16>,
    /// Bits of these packets.
    pub(crate) marks: Marks,
}

/// The handshake of a flow: two exchanges at most, of a request and its answer, each of several packets.
///
/// The answer to a SYN is sent again when a timer of its own expires, after 1, 2, 4 s and so on (Linux
/// `reqsk_timer_handler`), and whenever the SYN arrives again, from which the timer then runs (`tcp_check_req`). It echoes the
/// timestamp of the SYN that arrived first (`req->ts_recent`).
///
/// Deviations: a hello is sent at once, however long, and no ACK of it enlarges cwnd. Its packets that were lost are sent again
/// when the timer of the request expires, as both ends know by then which arrived; a request that has arrived whole asks with
/// its last packet for what its answer lacks. The timer of the answer to a SYN stops as the answer arrives, before its ACK
/// does. That ACK carries no data and is not repaired, as what follows acknowledges the same; an answer that arrives once
/// more is not acknowledged.
#[derive(Clone, Debug)]
pub(crate) struct Handshake {
    config: HandshakeConfig,
    /// The clock that the timers of both ends run by.
    wheel: TimerWheel,
    /// Timeouts: that of the first SYN and of the first answer to it, that of the next request, and the longest.
    timeouts: [Time; 3],
    /// Transmission of the first SYN.
    pub(crate) begun: Time,
    /// The SYN that arrived first, and that is answered: a repeated one does not ask for ECN.
    syn: Option<Packet>,
    /// Instant at which the timer of its answer expires; [`Time::NEVER`]: no timer runs.
    answer_due: Time,
    /// Times that this timer has expired.
    answered_again: u32,
    /// Bits of the packets of this exchange's request.
    pub(crate) marks: Marks,
    /// Number of the current exchange; `None`: none goes on.
    exchange: Option<u32>,
    /// Times that its request was sent.
    sent: u32,
    /// Packets of its request and of its answer that have arrived, one bit each.
    arrived: [u64; 2],
}

impl Handshake {
    pub(crate) fn new(config: HandshakeConfig, wheel: TimerWheel, clock: Clock) -> Handshake {
        let (first, longest) = (clock.time(config.timeout_s), clock.time(LONGEST_TIMEOUT_S));
        Handshake {
            config,
            wheel,
            timeouts: [first, first, longest.max(first)],
            begun: Time::ZERO,
            syn: None,
            answer_due: Time::NEVER,
            answered_again: 0,
            marks: Marks::NONE,
            exchange: None,
            sent: 0,
            arrived: [0; 2],
        }
    }

    /// Returns whether the handshake goes on.
    pub(crate) fn goes_on(&self) -> bool {
        self.exchange.is_some()
    }

    /// Returns whether the exchange that goes on is that of the SYN.
    pub(crate) fn is_first(&self) -> bool {
        self.exchange == Some(0)
    }

    /// Begins with the SYN.
    pub(crate) fn begin(&mut self, now: Time) {
        (self.begun, self.syn) = (now, None);
        self.timeouts[1] = self.timeouts[0];
        self.enter(Some(0));
    }

    /// Goes on with the hellos of TLS, whose request is sent again after a timeout, or ends; returns whether it goes on.
    pub(crate) fn next(&mut self, timeout: Time) -> bool {
        let more = self.exchange == Some(0) && self.config.client_hello_packets > 0;
        self.timeouts[1] = timeout;
        self.enter(more.then_some(1));
        more
    }

    fn enter(&mut self, exchange: Option<u32>) {
        (self.exchange, self.sent, self.arrived) = (exchange, 0, [0; 2]);
        (self.answer_due, self.answered_again) = (Time::NEVER, 0);
    }

    /// Returns the bits of the SYN that arrived first.
    fn marks_of_syn(&self) -> Marks {
        self.syn.map_or(Marks::NONE, |syn| syn.marks)
    }

    /// Returns whether the SYN that arrived first did not ask for ECN.
    pub(crate) fn is_plain(&self) -> bool {
        !self.marks_of_syn().has(Marks::ECE)
    }

    /// Returns the bits of the answer's packets: a SYN/ACK says that the receiver knows ECN if the SYN asks for it (RFC 3168
    /// section 6.1.1), or how the SYN arrived (RFC 9768 section 3.1.1).
    fn marks_of_answer(&self) -> Marks {
        if !self.is_first() {
            return self.marks;
        }
        let capable = Marks::ECT.only_if(self.marks.is_capable());
        let syn = self.marks_of_syn();
        capable.with(if syn.asks_for_accurate() { syn.ace_of_syn() } else { Marks::ECE.only_if(!self.is_plain()) })
    }

    /// Returns the bits with which the sender acknowledges an answer that arrives with `marks` to its SYN, which has `own`
    /// without flags.
    pub(crate) fn marks_of_ack(&self, own: Marks, marks: Marks) -> Marks {
        if self.marks_of_syn().asks_for_accurate() {
            own.with(marks.ace_of_syn())
        } else {
            own
        }
    }

    /// Returns whether the request of this exchange was sent.
    pub(crate) fn is_sent(&self) -> bool {
        self.sent > 0
    }

    /// Returns the number of times that the request of this exchange was sent again.
    pub(crate) fn repeated(&self) -> u32 {
        self.sent.saturating_sub(1)
    }

    /// Returns the numbers of the packets of the request that have not arrived, or the last one if all have; their length if it
    /// is not that of data; and when to send it again. The next timeout is twice as long.
    pub(crate) fn request(&mut self, now: Time) -> (Numbers, Option<u16>, Time) {
        let [_, timeout, longest] = self.timeouts;
        self.sent += 1;
        self.timeouts[1] = timeout.times(2).min(longest);
        let mut numbers = self.missing(0);
        if self.is_complete(0) {
            let last = numbers.all.end - 1;
            numbers = Numbers { all: last..last + 1, arrived: 0 };
        }
        (numbers, self.bytes(), self.wheel.fires(now, now + timeout))
    }

    /// Takes note that a packet of the request arrives `now`; returns the answer, if it is the last packet that was missing, or
    /// the last one of a request that was sent again.
    pub(crate) fn on_request(&mut self, packet: &Packet, now: Time) -> Option<Answer> {
        let number = packet.journal;
        let complete = self.arrives(0, number)?;
        if !complete && (number + 1 != self.numbers(0).end || !self.is_complete(0)) {
            return None;
        }
        if !self.is_first() {
            return Some(self.answer_to(*packet));
        }
        let syn = *self.syn.get_or_insert(*packet);
        self.start_answer_timer(now);
        Some(self.answer_to(syn))
    }

    fn answer_to(&self, request: Packet) -> Answer {
        Answer { request, numbers: self.missing(1), bytes: self.bytes(), marks: self.marks_of_answer() }
    }

    /// Returns when the timer of the answer to the SYN expires; [`Time::NEVER`]: no timer runs.
    pub(crate) fn answer_due(&self) -> Time {
        self.answer_due
    }

    /// Handles the expiry of the timer of the answer to the SYN; returns the answer to send again, unless it was sent too often:
    /// then the SYN is forgotten.
    pub(crate) fn on_answer_timer(&mut self, now: Time) -> Option<Answer> {
        let syn = self.syn.filter(|_| self.answered_again < ANSWERS_AGAIN);
        if syn.is_none() {
            (self.syn, self.arrived[0]) = (None, 0);
            (self.answer_due, self.answered_again) = (Time::NEVER, 0);
        }
        let syn = syn?;
        self.answered_again += 1;
        self.start_answer_timer(now);
        Some(self.answer_to(syn))
    }

    /// Starts the timer of the answer to the SYN (Linux `reqsk_timeout`).
    fn start_answer_timer(&mut self, now: Time) {
        let [first, _, longest] = self.timeouts;
        self.answer_due = self.wheel.fires(now, now + first.times(1 << self.answered_again).min(longest));
    }

    /// Takes note that a packet of the answer arrives; returns whether it completes the answer.
    pub(crate) fn on_answer(&mut self, number: u32) -> bool {
        self.arrives(1, number) == Some(true)
    }

    /// Returns whether a packet completes a message of the current exchange; `None` if it is not of it.
    fn arrives(&mut self, message: usize, number: u32) -> Option<bool> {
        let numbers = self.numbers(message);
        let bit = 1 << number.checked_sub(numbers.start).filter(|_| numbers.contains(&number))?;
        let fresh = self.arrived[message] & bit == 0;
        self.arrived[message] |= bit;
        Some(fresh && self.is_complete(message))
    }

    fn is_complete(&self, message: usize) -> bool {
        self.arrived[message].count_ones() as usize == self.numbers(message).len()
    }

    /// Returns the numbers of the packets of a message that have not arrived.
    fn missing(&self, message: usize) -> Numbers {
        Numbers { all: self.numbers(message), arrived: self.arrived[message] }
    }

    /// Returns the numbers of the packets of a message, from 1 on: of the request (0), or of the answer.
    fn numbers(&self, message: usize) -> Range<u32> {
        let HandshakeConfig { client_hello_packets, server_hello_packets, .. } = self.config;
        match self.exchange {
            None => 0..0,
            Some(0) => 1..2,
            Some(exchange) => {
                let packets = [client_hello_packets, server_hello_packets.max(1)][message];
                let first = 1 + exchange * NUMBERS;
                first..first + packets
            }
        }
    }

    /// Returns the length of the packets, if it is not that of data.
    fn bytes(&self) -> Option<u16> {
        (self.exchange == Some(0)).then_some(self.config.syn_bytes)
    }
}

/// Returns whether a number of a request's or an answer's packet is that of a SYN.
pub(crate) fn is_syn(number: u32) -> bool {
    number == 1
}

/// Returns the index of a hello's packet by its number.
pub(crate) fn hello_index(number: u32) -> u32 {
    (number - 1) % NUMBERS
}

#[cfg(test)]
mod tests;
