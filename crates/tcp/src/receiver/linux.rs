//! Linux's rules for sending ACKs (6.1, net/ipv4/tcp_input.c, tcp_output.c, tcp_timer.c; functions are named below).
//!
//! A full segment that arrives in order is acknowledged at once if it is the second one since the last ACK, or in quick
//! ACK mode; else the ACK is delayed by 40 ms or more. A connection begins with 16 quick ACKs, and whenever the receive
//! window grows, the next segment is acknowledged quickly too. So there is an ACK for each segment for as long as the
//! window grows: with each segment, by two, up to half of the receive buffer, which grows with what the application reads
//! in a round trip.
//!
//! A segment with PSH is acknowledged as soon as the application has read all, and it reads at once: so the last segment of
//! a write, full or not, waits for no other one (`tcp_measure_rcv_mss`, `__tcp_cleanup_rbuf`).
//!
//! Deviations: the first round trip is taken from the first segment, less its longest service; so it lacks the service of
//! the handshake's last ACK where no handshake is simulated, and is longer where the first segment was lost or several links
//! have a rate.

mod common;
mod data;
mod memory;
mod round_trip;
mod waiting;
mod window;

use std::sync::Arc;

use base::{Clock, Time};

use super::runs::Runs;
use crate::{LinuxReceiver, TimerWheel};
use common::Common;
use waiting::Waiting;

/// Most quick ACKs in a row (`TCP_MAX_QUICKACKS`).
const MOST_QUICK: u8 = 16;
/// Most of them where a mark arrives (`__tcp_ecn_check_ce`).
const ECN_QUICK: u8 = 2;
/// Shortest delay of an ACK \[ms\] (`TCP_ATO_MIN`, `TCP_DELACK_MIN`).
const LEAST_DELAY_MS: u64 = 40;
/// Longest delay of an ACK \[ms\] (`TCP_DELACK_MAX`).
const MOST_DELAY_MS: u64 = 200;
/// Least excess of the retransmission timeout over the round trip \[ms\] (`TCP_RTO_MIN`).
const LEAST_RTO_MS: u64 = 200;
/// Retransmission timeout before the first round trip \[ms\] (`TCP_TIMEOUT_INIT`).
const INITIAL_RTO_MS: u64 = 1000;
/// Largest window that the SYN can announce \[bytes\].
const FIRST_WINDOW: u64 = 65535;
/// Initial window of a sender \[packets\] (`TCP_INIT_CWND`).
const INITIAL_PACKETS: u64 = 10;
/// Duplicate ACKs that are sent at once (`TCP_FASTRETRANS_THRESH`).
const IMMEDIATE_DUPLICATES: u8 = 3;
/// ACKs that one ACK replaces at most (`tcp_comp_sack_nr`).
const MOST_COMPRESSED: u8 = 44;
/// Longest time for which ACKs beyond a hole are held \[ns\], and the slack of its timer (`tcp_comp_sack_delay_ns`,
/// `tcp_comp_sack_slack_ns`).
const COMPRESSION_NS: (u64, u64) = (1_000_000, 100_000);

/// The state of the rules.
#[derive(Clone, Debug)]
pub(super) struct LinuxAcks {
    common: Arc<Common>,
    /// Number of the last ACK (`rcv_wup`).
    acked: u64,
    /// Quick ACKs left.
    quick: u8,
    /// Whether a segment in order since the last ACK had PSH (`ICSK_ACK_PUSHED`).
    pushed: bool,
    /// Whether the receiver has answered data with data (`inet_csk_in_pingpong_mode`). If it has, it sends no quick ACKs: each ACK
    /// waits for the next answer, which carries it, and a segment with PSH does not shorten the wait.
    interactive: bool,
    /// Whether the receiver delays an ACK at present (`ICSK_ACK_TIMER`).
    delayed: bool,
    /// ACKs held beyond a hole (`compressed_ack`).
    compressed: u8,
    /// Whether the timer of held ACKs expires in a later millisecond than the one in which the last segment arrived. The kernel does
    /// not read the clock when this timer expires (`tcp_compressed_ack_kick`), so the timestamp of the ACK is the segment's
    /// millisecond. The kernel does read the clock when the timer of delayed ACKs expires (`tcp_delack_timer_handler`).
    stamps_late: bool,
    /// Duplicate ACKs sent at once since a segment in order arrived (`dup_ack_counter`).
    duplicates: u8,
    /// The window of the last ACK as an ACK has it, [`Acknowledgment::of_window`]; 0 if windows are not announced.
    announced: u32,
    /// Delay of an ACK, which follows the time between segments (`ato`) \[ms\]; 0 before the first segment.
    delay_ms: u64,
    /// Arrival of the last segment in order.
    arrived: Time,
    /// Expiry of the timer of the ACK that was delayed last. It runs on if the ACK is sent before (Linux
    /// `inet_csk_clear_xmit_timer`).
    delayed_until: Time,
    /// Jiffies by which this is later than the end of the delay (`icsk_ack.timeout`).
    late: u16,
    /// Receive buffer (`sk_rcvbuf`) \[bytes\].
    buffer: u64,
    /// Largest window that the buffer allows (`window_clamp`) \[bytes\].
    clamp: u64,
    /// Current limit of the window (`rcv_ssthresh`) \[bytes\].
    limit: u64,
    /// Limit up to which a segment in order raises it, while none waits beyond a hole \[bytes\].
    most: u64,
    /// Window of the last ACK (`rcv_wnd`) \[bytes\].
    window: u64,
    /// Most that the application has read in a round trip (`rcvq_space.space`) \[bytes\].
    read: u64,
    /// First packet of the round trip that ends at `read_until`, and its start.
    read_from: (u64, Time),
    /// End of the round trip in which what the application reads is counted; [`Time::NEVER`] before the first sample.
    read_until: Time,
    /// Eight times the smoothed round trip \[us\]; 0 before the first sample.
    rtt8_us: u64,
    /// First round trip, which the kernel knows from the handshake \[us\]; 0 before its last ACK, or the first segment.
    first_rtt_us: u32,
    /// Instant at which the SYN was answered; [`Time::NEVER`]: no SYN came.
    answered: Time,
    /// Start of the millisecond of the ACK that the last sample was of, as each one gives a sample once; [`Time::NEVER`]
    /// before the first.
    sampled: Time,
    /// Packet with which a window of data ends, which takes a round trip at least.
    window_end: u64,
    /// Start of the window of data that ends with `window_end`; [`Time::NEVER`] before the first segment.
    window_start: Time,
    /// Runs of packets beyond a hole that ACKs report.
    runs: Runs,
    /// Buffers of the packets beyond a hole.
    waiting: Waiting,
    /// Expiry of the timer of the ACKs held.
    compressed_until: Time,
    /// Instant of an ACK that follows another one at once; [`Time::NEVER`]: none does.
    due: Time,
}

impl LinuxAcks {
    /// Returns the state of a connection that begins with packet 0.
    pub(super) fn new(settings: LinuxReceiver, clock: Clock) -> LinuxAcks {
        LinuxAcks::with(Arc::new(Common::new(settings, clock)))
    }

    /// Returns the state on a path where an ACK takes `return_delay` if nothing else is there, and a data packet `service`
    /// at the slowest server.
    pub(super) fn with_path(&self, return_delay: Time, service: Time) -> LinuxAcks {
        let mut common = Common::new(self.common.settings, self.common.clock);
        common.set_path(return_delay, service);
        common.set_clock(self.common.jiffies);
        LinuxAcks::with(Arc::new(common))
    }

    /// Delays ACKs by a host's clock; by one of milliseconds that begin with the run if its timers are exact.
    pub(super) fn set_clock(&mut self, wheel: TimerWheel) {
        if let Some(jiffies) = wheel.jiffies() {
            Arc::make_mut(&mut self.common).set_clock(jiffies);
        }
    }

    /// Takes note that a packet beyond a hole, or a duplicate, arrives.
    pub(super) fn note_arrival(&mut self, duplicate: bool) {
        self.runs.note_arrival(duplicate);
    }

    /// Sets the length of an ACK without blocks \[bytes\].
    pub(super) fn set_ack_bytes(&mut self, bytes: u16) {
        Arc::make_mut(&mut self.common).ack_bytes = bytes;
    }

    /// Returns the length of an ACK without blocks \[bytes\].
    pub(super) fn plain_ack_bytes(&self) -> u16 {
        self.common.ack_bytes
    }

    fn with(common: Arc<Common>) -> LinuxAcks {
        let settings = common.settings;
        let (segment, space) = (u64::from(settings.segment_bytes), settings.buffer_bytes / 2);
        let window = (space / segment * segment).clamp(segment.min(FIRST_WINDOW), FIRST_WINDOW);
        let clamp = (space.saturating_sub(segment)).max(2 * segment);
        let mut fresh = LinuxAcks {
            announced: common.announced(window),
            common,
            acked: 0,
            quick: 0,
            pushed: false,
            interactive: false,
            delayed: false,
            compressed: 0,
            stamps_late: false,
            duplicates: 0,
            delay_ms: 0,
            arrived: Time::ZERO,
            delayed_until: Time::NEVER,
            late: 0,
            buffer: settings.buffer_bytes,
            clamp,
            limit: window.min(clamp),
            most: 0,
            window,
            read: window.min(INITIAL_PACKETS * segment),
            read_from: (0, Time::ZERO),
            read_until: Time::NEVER,
            rtt8_us: 0,
            first_rtt_us: 0,
            answered: Time::NEVER,
            sampled: Time::NEVER,
            window_end: 0,
            window_start: Time::NEVER,
            runs: Runs::default(),
            waiting: Waiting::default(),
            compressed_until: Time::NEVER,
            due: Time::NEVER,
        };
        fresh.resize(settings.buffer_bytes, clamp);
        fresh
    }

    /// Returns the window of the last ACK as an ACK has it, before the first one that of the answer to the SYN; 0 if windows are
    /// not announced.
    pub(super) fn announced(&self) -> u32 {
        self.announced
    }

    /// Begins a connection with packet `next`.
    pub(super) fn begin(&mut self, next: u64) {
        *self = LinuxAcks::with(Arc::clone(&self.common));
        (self.acked, self.read_from.0) = (next, next);
    }

    /// Returns the instant at which an ACK is sent that is delayed or held.
    fn deadline(&self) -> Time {
        let delayed = if self.delayed { self.delayed_until } else { Time::NEVER };
        delayed.min(self.compressed_until).min(self.due)
    }

    fn segment(&self) -> u64 {
        self.common.segment()
    }

    /// Returns the retransmission timeout after the handshake \[ms\]; this end sends no data.
    fn rto_ms(&self) -> u64 {
        match u64::from(self.first_rtt_us) {
            0 => INITIAL_RTO_MS,
            rtt => (rtt + (2 * rtt).max(1000 * LEAST_RTO_MS)).div_ceil(1000),
        }
    }

    /// Takes note of a segment in order (`tcp_event_data_recv`); `next` is the one behind it.
    #[inline(always)]
    fn arrive(&mut self, now: Time, next: u64, held: u32, quick: bool) {
        if next >= self.window_end {
            self.measure_window(now, next);
        }
        if self.delay_ms != LEAST_DELAY_MS || now - self.arrived > self.common.half_delay {
            self.adapt_delay(now);
        }
        (self.arrived, self.duplicates) = (now, 0);
        if quick {
            self.enter_quick(ECN_QUICK);
        }
        if held > 0 {
            self.grow(self.memory(held) + self.segment_memory());
        } else if self.limit < self.most {
            self.raise(self.most);
        }
    }

    /// Lets the delay of an ACK follow the time since the last segment; one as short as it can be stays so with segments
    /// that are half as far apart (`tcp_event_data_recv`).
    #[inline(never)]
    fn adapt_delay(&mut self, now: Time) {
        let gap = self.common.milliseconds(now) - self.common.milliseconds(self.arrived);
        let delay = self.delay_ms;
        if delay == 0 {
            self.add_quick(MOST_QUICK);
            self.delay_ms = LEAST_DELAY_MS;
        } else if gap <= LEAST_DELAY_MS / 2 {
            self.delay_ms = delay / 2 + LEAST_DELAY_MS / 2;
        } else if gap < delay {
            self.delay_ms = (delay / 2 + gap).min(self.rto_ms());
        } else if gap > self.rto_ms() {
            self.add_quick(MOST_QUICK);
        }
    }

    /// Adds quick ACKs, as many as half of the window has segments, or `most` (`tcp_incr_quickack`).
    fn add_quick(&mut self, most: u8) {
        let half = self.common.segments(self.window) / 2;
        let quick = if half == 0 { 2 } else { half };
        self.quick = self.quick.max(u8::try_from(quick).unwrap_or(most).min(most));
    }

    /// Enters quick ACK mode (`tcp_enter_quickack_mode`).
    fn enter_quick(&mut self, most: u8) {
        self.add_quick(most);
        (self.interactive, self.delay_ms) = (false, LEAST_DELAY_MS);
    }

    /// Returns whether a segment is acknowledged now, and schedules its ACK if not (`__tcp_ack_snd_check`).
    ///
    /// The ACK of several segments counts as one of the duplicates that are sent at once, if others wait beyond a hole and
    /// the `used` bytes of all of them leave less room than the window that was announced. Quick ACK mode may end before it is
    /// asked for, as the kernel chooses a window first.
    fn acknowledges_now(&mut self, now: Time, next: u64, (held, used): (u32, u64), selective: bool) -> bool {
        let several = next - self.acked >= 2 && (held == 0 || self.select_window(used) >= self.window || !selective);
        if several || (self.quick > 0 && !self.interactive) {
            return true;
        }
        if held == 0 {
            // Where packets wait beyond a hole, the receive buffer is not empty.
            return self.delay(now) || (self.pushed && !self.interactive);
        }
        !selective || self.compress(now)
    }

    /// Returns whether the ACK that is sent now for segments before `next` is sent as the application has read them, and not as
    /// the last one arrives: it is the only one, with PSH, or leaves less room than the window that was announced
    /// (`__tcp_ack_snd_check`, `tcp_cleanup_rbuf`).
    fn is_acknowledged_as_read(&self, next: u64) -> bool {
        if self.quick > 0 && !self.interactive {
            return false;
        }
        match next - self.acked {
            0 | 1 => self.pushed,
            _ => self.window_with(self.segment_memory()) < self.window,
        }
    }

    /// Delays an ACK; returns whether it is sent at once instead, as its timer is about to expire
    /// (`tcp_send_delayed_ack`).
    fn delay(&mut self, now: Time) -> bool {
        let mut delay = self.delay_ms;
        if delay > LEAST_DELAY_MS && self.first_rtt_us > 0 {
            delay = delay.min(u64::from(self.first_rtt_us).div_ceil(1000).max(LEAST_DELAY_MS));
        }
        delay = delay.min(MOST_DELAY_MS);
        let jiffies = &self.common.jiffies;
        let number = jiffies.number(now);
        let timeout = number + self.common.jiffies_of(delay);
        if self.delayed {
            let earlier = jiffies.number(self.delayed_until) - u64::from(self.late);
            if earlier <= timeout {
                return earlier <= number + self.common.jiffies_of(delay / 4);
            }
        }
        let expiry = jiffies.expiry(now, number, timeout);
        self.late = u16::try_from(expiry - timeout).unwrap_or(u16::MAX);
        (self.delayed, self.delayed_until) = (true, jiffies.start(expiry));
        false
    }

    /// Holds an ACK beyond a hole until its timer expires, or that of an ACK which was delayed before
    /// (`tcp_delack_timer_handler`); returns whether it is sent at once instead, as the first ones and every 45th.
    fn compress(&mut self, now: Time) -> bool {
        if self.compressed >= MOST_COMPRESSED {
            return true;
        }
        if self.duplicates < IMMEDIATE_DUPLICATES {
            self.duplicates += 1;
            return true;
        }
        self.compressed += 1;
        if self.compressed_until == Time::NEVER {
            let (longest, slack) = COMPRESSION_NS;
            let rtt8_us = match u64::from(self.first_rtt_us) {
                0 => self.rtt8_us,
                first => self.rtt8_us.min(8 * first),
            };
            let delay = longest.min(rtt8_us * 125 / 20) + slack;
            let until = now + Time::from_ticks(delay * self.common.millisecond().ticks() / 1_000_000);
            // The timer of a delayed ACK sends those that are held too, also long after its own was sent.
            let other = if self.delayed_until > now { self.delayed_until } else { Time::NEVER };
            self.compressed_until = until.min(other);
        }
        let later = self.common.milliseconds(self.compressed_until) > self.common.milliseconds(now);
        self.stamps_late = later && self.compressed_until != self.delayed_until;
        false
    }

    /// Takes note of an ACK that is sent while segments take `used` bytes of the buffer (`tcp_select_window`,
    /// `tcp_event_ack_sent`); `scheduled`: for a segment in the window.
    fn sent(&mut self, next: u64, used: u64, scheduled: bool) {
        self.announce(next, used);
        (self.delayed, self.due, self.pushed) = (false, Time::NEVER, false);
        debug_assert_eq!(self.deadline(), Time::NEVER, "an ACK that is sent leaves none to send");
        if self.quick > 0 && scheduled {
            self.quick -= 1;
            if self.quick == 0 {
                self.delay_ms = LEAST_DELAY_MS;
            }
        }
    }

    /// Takes note of an ACK of the packets before the last one alone, which an ACK of that one follows `now`.
    fn follow(&mut self, now: Time, next: u64, held: u32) {
        self.announce(next, self.memory(held));
        self.due = now;
    }
}
