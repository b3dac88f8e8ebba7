mod ecn;
mod loss;
pub(crate) mod rules;
mod sack1;
mod scoreboard;
mod window;

pub use sack1::Sack1;

use std::mem::offset_of;
use std::sync::Arc;

use base::{prefetch, Clock, Marks, Time};

use crate::actions::{Ack, Actions, LossCause, Segment};
use crate::classic::ecn::EcnState;
use crate::classic::rules::Rules;
use crate::classic::window::Window;
use crate::quirks::{LimitedTransmit, TimerRestart};
use crate::rto::Rto;
use crate::{ClassicConfig, Ecn, RttSample, MOST_IN_FLIGHT};

/// The state of loss recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// The normal state: no loss is under repair.
    Open,
    /// Fast recovery repairs a loss.
    FastRecovery,
    /// A timeout occurred; slow start repairs the losses.
    LossRecovery,
}

/// The number of no packet.
const NONE: u64 = u64::MAX;

// The fields that an ACK of new data needs fill two cache lines.
const _: () = assert!(offset_of!(Classic, limited) == 128);

/// A TCP sender: RFC 5681, 6582, 6298, 3042, or ns-2's rules.
///
/// Fields are ordered by use: an ACK of new data needs only the first two cache lines, if the struct starts on a line.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Classic {
    /// SND.UNA: first unacknowledged packet.
    pub(crate) una: u64,
    /// SND.NXT: next packet to send; below `max` after a timeout (go-back-N).
    pub(crate) nxt: u64,
    /// One past the highest packet ever sent.
    pub(crate) max: u64,
    /// One past the last packet of the transfer.
    end: u64,
    /// Instant at which the retransmission timer expires.
    pub(crate) deadline: Time,
    /// Segment being timed; [`NONE`]: none.
    timed: u64,
    /// Instant at which it was sent.
    timed_since: Time,
    pub(crate) rto: Rto,
    pub(crate) window: Window,
    pub(crate) rules: Arc<Rules>,
    pub(crate) dupacks: u32,
    pub(crate) phase: Phase,
    /// Whether a partial ACK has arrived in this recovery.
    pub(crate) partial_acks: bool,
    /// Whether data are ECN-capable.
    pub(crate) ecn: bool,
    /// Whether the ACK that is being handled echoes a mark, so that the window does not grow.
    echoed: bool,
    /// Packets that limited transmit sent for the current duplicate ACKs.
    pub(crate) limited: u32,
    marks: EcnState,
    /// First packet of the transfer.
    pub(crate) first: u64,
    /// Start of the transfer; packets sent earlier belong to the previous one.
    opened: Time,
    /// RFC 6582's `recover`: one past the highest packet sent when the last loss was found; `first` before any loss.
    pub(crate) recover: u64,
    /// One past the highest packet ever retransmitted; all packets from `una` up to it were.
    resent: u64,
    /// Packet that timed out last; [`NONE`]: none.
    timed_out: u64,
}

impl Classic {
    /// Creates a sender of `size` packets (`None`: endless) that has sent nothing yet.
    pub fn new(config: &ClassicConfig, size: Option<u64>, clock: Clock) -> Classic {
        let rules = Rules::new(config, clock);
        Classic {
            window: Window::new(config),
            rto: Rto::new(&rules.rto),
            rules: Arc::new(rules),
            una: 0,
            nxt: 0,
            max: 0,
            first: 0,
            end: size.unwrap_or(u64::MAX),
            opened: Time::ZERO,
            recover: 0,
            resent: 0,
            timed_out: NONE,
            timed: NONE,
            timed_since: Time::ZERO,
            deadline: Time::NEVER,
            dupacks: 0,
            limited: 0,
            phase: Phase::Open,
            partial_acks: false,
            ecn: config.ecn != Ecn::Off,
            echoed: false,
            marks: EcnState::default(),
        }
    }

    /// Creates a sender with the settings of this one, which has sent nothing, for a transfer of `size` packets that
    /// begins `now`. Its packets are numbered from `first` on, where the previous transfer ended, so that packets and
    /// ACKs of the two cannot be confused.
    pub fn open_at(&self, first: u64, size: u64, now: Time) -> Classic {
        let mut sender = self.clone();
        (sender.una, sender.nxt, sender.max, sender.first) = (first, first, first, first);
        (sender.recover, sender.resent) = (first, first);
        sender.end = first.saturating_add(size);
        sender.opened = now;
        sender
    }

    /// Creates a sender with nothing to send and these windows, whose last transfer ended before packet `next`.
    pub fn idle_at(&self, next: u64, opened: Time, (cwnd, ssthresh): (f64, f64)) -> Classic {
        let mut sender = self.open_at(next, 0, opened);
        (sender.window.cwnd, sender.window.ssthresh) = (cwnd, ssthresh);
        sender
    }

    /// Prefetches the two cache lines that an ACK needs.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(&self.una);
        prefetch(&self.phase);
    }

    /// Prefetches the rest, needed at the beginning and the end of a transfer.
    #[inline(always)]
    pub fn prefetch_rest(&self) {
        prefetch(&self.first);
    }

    /// Returns the start of the transfer; an ACK that echoes an older stamp belongs to the previous transfer.
    #[inline(always)]
    pub fn opened(&self) -> Time {
        self.opened
    }

    /// Returns the congestion window \[packets\], without fast recovery's inflation.
    #[inline(always)]
    pub fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    /// Returns the slow start threshold \[packets\].
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// Returns the number of packets sent and not acknowledged; after a timeout, packets sent before it count as lost.
    pub fn flight_size(&self) -> u64 {
        self.nxt - self.una
    }

    /// Returns the first unacknowledged packet.
    #[inline(always)]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// Returns the first packet of the transfer.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the current retransmission timeout.
    pub fn rto(&self) -> Time {
        self.rto.timeout()
    }

    /// Returns the instant at which to call [`Classic::on_timer`]; [`Time::NEVER`] while the timer is off.
    #[inline(always)]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// Returns whether the whole transfer is acknowledged.
    pub fn finished(&self) -> bool {
        self.una >= self.end
    }

    /// Returns whether an ACK of all packets below `next` acknowledges the whole transfer.
    #[inline(always)]
    pub fn ends_before(&self, next: u64) -> bool {
        next >= self.end
    }

    /// Returns whether the sender is in slow start: below ssthresh and not in fast recovery.
    #[inline(always)]
    pub fn in_slow_start(&self) -> bool {
        self.phase != Phase::FastRecovery && self.window.in_slow_start(&self.rules)
    }

    /// Begins with a window of one packet, as a SYN or its answer was lost (RFC 5681 section 3.1), and with a timeout of
    /// three seconds at least (RFC 6298 (5.7)).
    pub fn on_lost_handshake(&mut self) {
        self.window.cwnd = self.window.cwnd.min(1.0);
        self.rto.start_after_lost_syn(&self.rules.rto);
    }

    /// Starts the transfer (without a handshake).
    pub fn on_start(&mut self, now: Time, actions: &mut impl Actions) {
        self.opened = now;
        self.send_allowed(now, u64::MAX, actions);
    }

    /// Handles an ACK that arrives.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        if self.ecn {
            return self.on_ack_with_ecn(now, ack, actions);
        }
        if ack.next > self.una {
            if self.is_partial(ack.next) {
                self.on_partial_ack(now, ack, actions);
            } else {
                self.on_new_ack(now, ack, actions);
            }
        } else if ack.next == self.una && self.una < self.max && ack.echo >= self.opened {
            self.on_duplicate_ack(now, actions);
        }
    }

    /// Returns whether an ACK that arrives at `time` only opens the window: no loss is under repair, the timer does not
    /// expire before, and the transfer continues after it. The sender's reaction then depends on its own state alone.
    #[inline(always)]
    pub fn only_opens(&self, time: Time, next: u64) -> bool {
        let intact = self.phase == Phase::Open && self.nxt == self.max && !self.ecn;
        intact && next > self.una && next < self.end && time <= self.deadline
    }

    /// Handles the expiry of the retransmission timer: RFC 6298 (5.4) to (5.6), RFC 5681 section 3.1.
    pub fn on_timer(&mut self, now: Time, actions: &mut impl Actions) {
        if self.ecn && self.una == self.max {
            return self.on_timer_of_small_window(now, actions);
        }
        self.report_loss(LossCause::Timeout, actions);
        self.react_to_timeout();
        self.rto.back_off(&self.rules.rto);
        self.restart_timer(now);
        self.send_allowed(now, u64::MAX, actions);
    }

    #[inline(always)]
    fn on_new_ack(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        match self.rules.quirks.timer_restart {
            TimerRestart::EachNewAck => self.accept_new_ack(now, ack, actions),
            TimerRestart::SendingAck => self.accept_new_ack_timed_by_sending(now, ack, actions),
        }
    }

    /// Handles an ACK of new data, and leaves the timer running if the sender sends nothing for it.
    #[cold]
    #[inline(never)]
    fn accept_new_ack_timed_by_sending(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        let (deadline, nxt) = (self.deadline, self.nxt.max(ack.next));
        self.accept_new_ack(now, ack, actions);
        if self.nxt == nxt && self.una < self.max {
            self.deadline = deadline;
        }
    }

    #[inline(always)]
    fn accept_new_ack(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        let first = self.una;
        self.acknowledge(ack.next);
        self.dupacks = 0;
        self.sample_rtt(now, ack, first);
        self.restart_timer(now);
        if self.phase == Phase::FastRecovery {
            return self.finish_recovery(now, actions);
        }
        self.open_window();
        self.send_allowed(now, u64::MAX, actions);
    }

    /// Opens the window for an ACK of new data.
    #[inline(always)]
    pub(crate) fn open_window(&mut self) {
        if !self.echoed {
            self.window.open(&self.rules);
        }
    }

    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, next: u64) {
        self.una = next;
        self.nxt = self.nxt.max(next);
    }

    /// Takes a sample of the round trip from an ACK of the packets from `first` on: RFC 6298 section 3 (Karn's
    /// algorithm), RFC 7323 section 4.
    #[inline(always)]
    pub(crate) fn sample_rtt(&mut self, now: Time, ack: Ack<'_>, first: u64) {
        // [abrupt-delay, section II]: "ACKs for retransmitted packets are not used for timeout estimation".
        let ignored = self.rules.sample == RttSample::PerAckKarn && first < self.resent;
        if self.rules.sample != RttSample::PerRound && !ignored {
            self.rto.sample_timestamp(&self.rules.rto, ack.echo, now);
            if self.rules.quirks.timestamp_ends_backoff {
                self.rto.end_backoff(&self.rules.rto);
            }
        }
        // `NONE` is `u64::MAX`, so this is false while nothing is being timed.
        if ack.next > self.timed {
            self.timed = NONE;
            if !self.keeps_backoff() {
                self.rto.end_backoff(&self.rules.rto);
            }
            if self.rules.sample == RttSample::PerRound {
                self.rto.sample_round(&self.rules.rto, self.timed_since, now);
            }
        }
    }

    /// Stops timing a segment that a partial ACK covers, without a sample, and ends the backoff (ns-2 `partialnewack`).
    pub(crate) fn discard_covered_sample(&mut self) {
        if self.una > self.timed {
            self.timed = NONE;
            self.rto.end_backoff(&self.rules.rto);
        }
    }

    pub(crate) fn stop_timing(&mut self) {
        self.timed = NONE;
    }

    /// Restarts the timer, or stops it if nothing is outstanding: RFC 6298 (5.2), (5.3).
    #[inline(always)]
    pub(crate) fn restart_timer(&mut self, now: Time) {
        let runs = self.una < self.max || self.waits_for_timer();
        self.deadline = if runs { now + self.rto.timeout() } else { Time::NEVER };
    }

    /// Sends the packets that the window allows, at most `burst` of them, and no more than one ACK may release.
    #[inline(always)]
    pub(crate) fn send_allowed(&mut self, now: Time, burst: u64, actions: &mut impl Actions) {
        let burst = burst.min(self.rules.max_burst).min(MOST_IN_FLIGHT + 1);
        let edge = (self.una + self.window.usable(&self.rules)).min(self.end).min(self.nxt.saturating_add(burst));
        while self.nxt < edge {
            self.transmit(now, self.nxt, actions);
            self.nxt += 1;
        }
    }

    /// Sends one packet for a duplicate ACK below the threshold, if limited transmit allows it: RFC 3042.
    pub(crate) fn send_limited(&mut self, now: Time, actions: &mut impl Actions) {
        let beyond_rfc = self.dupacks > 2 || self.nxt < self.max;
        if self.rules.quirks.limited_transmit == LimitedTransmit::FirstTwo && beyond_rfc {
            return;
        }
        let outstanding = self.nxt - self.una;
        let allowed = self.window.cwnd + f64::from(self.dupacks) - 1.0;
        if outstanding < self.rules.limit_packets && self.nxt < self.end && outstanding as f64 <= allowed {
            self.transmit(now, self.nxt, actions);
            self.nxt += 1;
            self.limited += 1;
        }
    }

    #[inline(always)]
    pub(crate) fn transmit(&mut self, now: Time, sequence: u64, actions: &mut impl Actions) {
        let retransmission = sequence < self.max;
        if self.deadline == Time::NEVER || self.una == self.max {
            // RFC 6298 (5.1).
            self.deadline = now + self.rto.timeout();
        }
        if retransmission {
            self.resent = self.resent.max(sequence + 1);
            actions.retransmitting(sequence, self.una);
        } else {
            self.max = sequence + 1;
            if self.timed == NONE {
                (self.timed, self.timed_since) = (sequence, now);
            }
        }
        let mut marks = Marks::SLOW_START.only_if(self.in_slow_start());
        if self.ecn {
            marks = marks.with(self.marks_of(sequence));
        }
        actions.transmit(Segment { sequence, retransmission, marks, bytes: None, echo_age: 0 });
    }
}
