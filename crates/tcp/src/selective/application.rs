//! The application: how much of the transfer it has written into the send buffer, and what a pause of it does to cwnd.

use base::{Clock, Time};

use super::{Rules, Selective};
use crate::actions::Actions;
use crate::cc::Needs;
use crate::config::WritesConfig;
use crate::memory::{EXPECTED_HEADERS, EXPECTED_STRUCTURE, OVERHEAD};
use crate::SelectiveConfig;

/// The length of the timestamps option, which the peer's MSS contains \[bytes\].
const TIMESTAMPS: u64 = 12;
/// Initial window of a sender \[packets\] (`TCP_INIT_CWND`).
const INITIAL_PACKETS: u64 = 10;
/// Windows of data for which the buffer has room; a control that sets cwnd alone, BBR, asks for one more
/// (`tcp_sndbuf_expand`, `bbr_sndbuf_expand`).
const WINDOWS: u64 = 2;

/// The data that the application has written.
#[derive(Clone, Copy, Debug)]
pub(super) struct Written {
    /// One past the last packet that was written (Linux `write_seq`).
    end: u64,
    /// Size of the send buffer (Linux `sk_sndbuf`) \[bytes\].
    buffer: u64,
    /// Whether the application waits for room in the buffer (Linux `SOCK_NOSPACE`).
    waits: bool,
    /// Instant at which the application has more to write, unless it waits for room.
    next: Time,
}

impl Written {
    /// Returns the state of a transfer of which nothing is written.
    pub(super) fn nothing(rules: &Rules, first: u64) -> Written {
        let buffer = rules.config.send_buffer.map_or(u64::MAX, |buffer| buffer.buffer_bytes);
        Written { end: first, buffer, waits: false, next: Time::NEVER }
    }

    /// Returns one past the last packet that was written.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Returns when the application writes again if nothing happens before; [`Time::NEVER`] if it does not.
    pub(super) fn next(&self) -> Time {
        self.next
    }
}

impl Rules {
    /// Returns the memory of a packet with its overhead \[bytes\].
    fn packet_memory(&self) -> u64 {
        u64::from(self.config.segment_bytes) + OVERHEAD
    }
}

/// Returns the send buffer for each packet of cwnd (`tcp_sndbuf_expand`) \[bytes\].
pub(super) fn buffer_per_packet(config: &SelectiveConfig, needs: Needs) -> u64 {
    let options = if config.timestamps { TIMESTAMPS } else { 0 };
    let largest = u64::from(config.segment_bytes) + options + EXPECTED_HEADERS;
    let windows = WINDOWS + u64::from(needs.window);
    windows * (largest.next_power_of_two() + EXPECTED_STRUCTURE)
}

impl Selective {
    /// Gives the buffer of a new connection room for the initial window (Linux `tcp_init_buffer_space`).
    pub(super) fn open_buffer(&mut self, now: Time) {
        self.last_sent = now;
        self.expand_buffer();
    }

    /// Lets the application write for as long as there is room, and sends what cwnd allows (Linux
    /// `tcp_sendmsg_locked`).
    #[inline(always)]
    pub(super) fn run_application(&mut self, now: Time, actions: &mut impl Actions) {
        if self.is_writing() {
            self.write_all(now, actions);
        }
    }

    /// Returns whether the application has more to write, now or later, and does not wait for room.
    pub(super) fn is_writing(&self) -> bool {
        !self.written.waits && self.written.end < self.end
    }

    /// Writes and sends as [`Selective::run_application`] says.
    pub(super) fn write_all(&mut self, now: Time, actions: &mut impl Actions) {
        let before = self.written.end;
        while self.write(now) {
            self.send_and_check_room(now, actions);
        }
        if self.written.end > before && self.written.waits {
            // The call that finds the buffer full comes after what the others wrote was sent.
            self.note_pause();
        }
    }

    /// Returns one past the last packet that the application has to send, and when it has more.
    fn ready(&self, now: Time) -> (u64, Time) {
        let Some(Pace { packets, interval }) = self.rules.pace else { return (self.end, Time::NEVER) };
        let bursts = (now - self.opened).ticks() / interval.ticks() + 1;
        let ready = self.end.min(self.first.saturating_add(bursts.saturating_mul(packets)));
        (ready, if ready < self.end { self.opened + interval.times(bursts) } else { Time::NEVER })
    }

    /// Writes what the application has, as far as the buffer has room; returns whether it wrote something.
    fn write(&mut self, now: Time) -> bool {
        if self.written.waits || self.written.end == self.end {
            return false;
        }
        let (ready, next) = self.ready(now);
        self.written.next = next;
        if self.written.end >= ready {
            return false;
        }
        self.restart_after_idle(now);
        self.note_pause();
        let end = match self.rules.config.send_buffer {
            None => ready,
            Some(_) => {
                // A packet is written as long as the buffer is not full yet.
                let room = self.written.buffer + u64::from(self.board.merged()) * OVERHEAD;
                let end = self.board.una() + room.div_ceil(self.rules.packet_memory());
                end.clamp(self.written.end, ready)
            }
        };
        self.written.waits = end < ready;
        if self.written.waits {
            self.written.next = Time::NEVER;
        }
        let before = std::mem::replace(&mut self.written.end, end);
        self.mark_pushes(before, end);
        end > before
    }

    /// Takes note that the application left the network room before it wrote (Linux `tcp_rate_check_app_limited`).
    fn note_pause(&mut self) {
        let waits = self.written.end > self.board.nxt() || self.board.lost() > self.board.retransmitted();
        let in_flight = self.board.in_flight();
        if waits || in_flight >= self.cwnd_packets() {
            return;
        }
        if let Some(rate) = &mut self.rate {
            rate.limit(self.board.totals());
        }
    }

    /// Takes note that there may be room in the buffer: it grows with cwnd, and with a third of it free the application
    /// writes again (Linux `tcp_check_space`, `sk_stream_write_space`).
    pub(super) fn check_room(&mut self) {
        if !self.written.waits {
            return;
        }
        if self.board.in_flight() < self.cwnd_packets() {
            self.expand_buffer();
        }
        let packets = self.written.end - self.board.una();
        let used = packets * self.rules.packet_memory() - u64::from(self.board.merged()) * OVERHEAD;
        self.written.waits = used + used / 2 > self.written.buffer;
    }

    /// Enlarges the buffer to some windows of packets (Linux `tcp_sndbuf_expand`).
    fn expand_buffer(&mut self) {
        let Some(buffer) = self.rules.config.send_buffer else { return };
        let packets = u64::from(self.cwnd_packets().max(self.reordering + 1)).max(INITIAL_PACKETS);
        let wanted = packets * self.rules.buffer_per_packet;
        if self.written.buffer < wanted {
            self.written.buffer = wanted.min(buffer.most_buffer_bytes);
        }
    }

    /// Halves cwnd for each timeout that nothing was sent, to the initial window at least (RFC 2861, RFC 5681 section 4.1;
    /// Linux `tcp_cwnd_restart`), unless the control alone sets it.
    fn restart_after_idle(&mut self, now: Time) {
        let (idle, rto) = (now - self.last_sent, self.timer.rto());
        if !self.rules.config.idle_restart || self.rules.needs.window || self.board.outstanding() > 0 || idle <= rto {
            return;
        }
        self.window.ssthresh = self.current_ssthresh();
        let least = self.rules.config.initial_window.min(self.window.cwnd);
        let (mut left, mut cwnd) = (idle, self.window.cwnd);
        while left > rto && cwnd > least {
            left = left - rto;
            cwnd = (cwnd / 2.0).floor();
        }
        self.window.cwnd = cwnd.max(least);
    }
}

/// The bursts in which the application writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    /// Packets of a burst.
    pub(crate) packets: u64,
    /// Time from one burst to the next.
    pub(crate) interval: Time,
}

impl Pace {
    pub(crate) fn new(writes: &WritesConfig, clock: Clock) -> Pace {
        Pace { packets: writes.packets, interval: clock.time(writes.interval_s).max(Time::TICK) }
    }
}

#[cfg(test)]
impl Selective {
    /// Ends the transfer with what has been sent: the application has nothing to send.
    pub(crate) fn stop_writing(&mut self) {
        self.end = self.board.nxt();
        self.written.end = self.end;
    }

    /// Takes more packets of the application.
    pub(crate) fn supply(&mut self, now: Time, packets: u64, actions: &mut impl Actions) {
        self.end += packets;
        self.run_application(now, actions);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::actions::{Ack, LossEvent, Segment};
    use crate::{SelectiveConfig, SendBuffer};

    struct Sent(u64);

    impl Actions for Sent {
        fn transmit(&mut self, _: Segment) {
            self.0 += 1;
        }

        fn loss(&mut self, _: LossEvent) {}
    }

    /// Linux `tcp_sendmsg_locked`: each call looks whether the application limits, also the one that finds no room, when
    /// all that was written is in flight.
    #[test]
    fn what_a_full_buffer_let_out_is_limited_by_the_application() {
        let buffer = SendBuffer { buffer_bytes: 8 * 2728, most_buffer_bytes: 8 * 2728 };
        let mut config = SelectiveConfig { send_buffer: Some(buffer), ..SelectiveConfig::default() };
        "bbr".clone_into(&mut config.congestion_control.name);
        let clock = Clock::PICOSECONDS;
        let mut sender = Selective::new(&config, None, clock);
        let mut sent = Sent(0);
        sender.on_handshake(Time::ZERO, clock.time(0.1), 0, true);
        sender.on_start(Time::ZERO, &mut sent);
        assert_eq!(sent.0, 8, "cwnd is 10");
        let limited = |sender: &Selective| sender.rate.as_ref().is_some_and(|rate| rate.is_limited());
        let ack = Ack {
            next: 1,
            echo: Time::ZERO,
            selected: &[],
            window: u64::MAX,
            marks: base::Marks::NONE,
            waited: Time::ZERO,
        };
        sender.on_ack(clock.time(0.1), ack, &mut sent);
        assert_eq!((sent.0, limited(&sender)), (8, true), "a third of the buffer is not free yet");
    }
}
