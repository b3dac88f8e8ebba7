use std::mem::offset_of;
use std::sync::Arc;

use base::{prefetch, Time};

use crate::actions::{Ack, Actions, Loss, LossCause, Segment};
use crate::rto::Rto;
use crate::rules::Rules;
use crate::window::Window;
use crate::{Dialect, RttSample, SenderConfig};

/// Where the sender stands with respect to its last loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// No loss under repair.
    Open,
    /// Fast recovery.
    FastRecovery,
    /// After a timeout.
    LossRecovery,
}

/// No packet has this number.
const NONE: u64 = u64::MAX;

// What every ACK of new data needs.
const _: () = assert!(offset_of!(Sender, limited) == 128);

/// A TCP sender: RFC 5681, 6582, 6298, 3042, or ns-2's rules. One state, each axis in its own place.
///
/// In the order of use: what every ACK of new data needs are the first two cache lines, where it begins one.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender {
    /// SND.UNA: the first packet without an ACK.
    pub(crate) una: u64,
    /// SND.NXT: the next packet to send; behind `max` after a timeout (go-back-N).
    pub(crate) nxt: u64,
    /// One past the highest packet ever sent.
    pub(crate) max: u64,
    /// One past the last packet of the transfer.
    end: u64,
    /// When the retransmission timer expires.
    pub(crate) deadline: Time,
    /// The segment being timed, [`NONE`] where none is, and when it was sent.
    timed: u64,
    timed_since: Time,
    pub(crate) rto: Rto,
    pub(crate) window: Window,
    pub(crate) rules: Arc<Rules>,
    pub(crate) dupacks: u32,
    pub(crate) phase: Phase,
    pub(crate) partial_acks: bool,
    /// Packets that limited transmit added to the flight, for the duplicate ACKs so far.
    pub(crate) limited: u32,
    /// The first packet of the transfer.
    pub(crate) first: u64,
    /// When the transfer began: what was sent before it belongs to another.
    opened: Time,
    /// RFC 6582's `recover`, as one past the highest packet sent when the last loss was found; `first` where none was.
    pub(crate) recover: u64,
    /// One past the highest packet ever sent twice; all from `una` up to it were.
    resent: u64,
    /// The packet that the last timeout repeated; [`NONE`] where none did.
    timed_out: u64,
}

impl Sender {
    /// A sender of `size` packets (none: without end) that has sent nothing yet.
    pub fn new(config: &SenderConfig, size: Option<u64>) -> Sender {
        let rules = Rules::new(config);
        Sender {
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
        }
    }

    /// A sender like this one, which has sent nothing, for a transfer of `size` packets that begins `now`. Its packets are
    /// numbered from `first` on, where the transfer before ended: so no packet, and no ACK, of that one is taken for its own.
    pub fn open_at(&self, first: u64, size: u64, now: Time) -> Sender {
        let mut sender = self.clone();
        (sender.una, sender.nxt, sender.max, sender.first) = (first, first, first, first);
        (sender.recover, sender.resent) = (first, first);
        sender.end = first.saturating_add(size);
        sender.opened = now;
        sender
    }

    /// Fetches what an ACK needs; two cache lines, where it begins one.
    #[inline(always)]
    pub fn prefetch(&self) {
        prefetch(&self.una);
        prefetch(&self.phase);
    }

    /// Fetches the rest, which the beginning and the end of a transfer need.
    #[inline(always)]
    pub fn prefetch_rest(&self) {
        prefetch(&self.first);
    }

    /// When the transfer began; an ACK that answers an older packet is not its own.
    #[inline(always)]
    pub fn opened(&self) -> Time {
        self.opened
    }

    /// The congestion window \[packets\], without fast recovery's inflation.
    #[inline(always)]
    pub fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    /// The slow start threshold \[packets\].
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// Packets sent and not acknowledged; after a timeout those sent before it count as lost.
    pub fn flight_size(&self) -> u64 {
        self.nxt - self.una
    }

    /// The first packet without an ACK.
    #[inline(always)]
    pub fn una(&self) -> u64 {
        self.una
    }

    /// The first packet of the transfer.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// The timeout in force.
    pub fn rto(&self) -> Time {
        self.rto.timeout()
    }

    /// When [`Sender::on_timer`] is due; [`Time::NEVER`] while the timer is off.
    #[inline(always)]
    pub fn deadline(&self) -> Time {
        self.deadline
    }

    /// All of the transfer is acknowledged.
    pub fn finished(&self) -> bool {
        self.una >= self.end
    }

    /// Whether an ACK of all before `next` acknowledges the whole transfer.
    #[inline(always)]
    pub fn ends_before(&self, next: u64) -> bool {
        next >= self.end
    }

    /// Whether it is in slow start: below ssthresh and not in fast recovery.
    #[inline(always)]
    pub fn in_slow_start(&self) -> bool {
        self.phase != Phase::FastRecovery && self.window.in_slow_start(&self.rules)
    }

    /// The connection opens (without a handshake).
    pub fn on_start(&mut self, now: Time, actions: &mut impl Actions) {
        self.send_allowed(now, u64::MAX, actions);
    }

    /// An ACK arrives.
    #[inline]
    pub fn on_ack(&mut self, now: Time, ack: Ack, actions: &mut impl Actions) {
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

    /// Whether an ACK that comes at `time` does no more than to open the window: no loss is under repair, the timer is not due before,
    /// and the transfer goes on after it. What the sender does then depends on nothing but what it has seen itself.
    #[inline(always)]
    pub fn only_opens(&self, time: Time, next: u64) -> bool {
        let whole = self.phase == Phase::Open && self.nxt == self.max;
        whole && next > self.una && next < self.end && time <= self.deadline
    }

    /// The retransmission timer expires: RFC 6298 (5.4) to (5.6), RFC 5681 section 3.1.
    pub fn on_timer(&mut self, now: Time, actions: &mut impl Actions) {
        self.report_loss(LossCause::Timeout, actions);
        self.react_to_timeout();
        self.rto.back_off(&self.rules.rto);
        self.restart_timer(now);
        self.send_allowed(now, u64::MAX, actions);
    }

    #[inline(always)]
    fn on_new_ack(&mut self, now: Time, ack: Ack, actions: &mut impl Actions) {
        if self.rules.dialect == Dialect::Engset {
            self.on_new_ack_timed_by_sending(now, ack, actions);
        } else {
            self.take_new_ack(now, ack, actions);
        }
    }

    /// [engset, section 3.1]: "the timer must be set on each packet sent". An ACK that lets none out leaves it running, other than
    /// in RFC 6298 (5.3); so the last packets of a transfer may time out while their ACKs come in [engset, section 4.2].
    #[cold]
    #[inline(never)]
    fn on_new_ack_timed_by_sending(&mut self, now: Time, ack: Ack, actions: &mut impl Actions) {
        let (deadline, nxt) = (self.deadline, self.nxt.max(ack.next));
        self.take_new_ack(now, ack, actions);
        if self.nxt == nxt && self.una < self.max {
            self.deadline = deadline;
        }
    }

    #[inline(always)]
    fn take_new_ack(&mut self, now: Time, ack: Ack, actions: &mut impl Actions) {
        let first = self.una;
        self.acknowledge(ack.next);
        self.dupacks = 0;
        self.measure(now, ack, first);
        self.restart_timer(now);
        if self.phase == Phase::FastRecovery {
            return self.finish_recovery(now, actions);
        }
        self.window.open(&self.rules);
        self.send_allowed(now, u64::MAX, actions);
    }

    #[inline(always)]
    pub(crate) fn acknowledge(&mut self, next: u64) {
        self.una = next;
        self.nxt = self.nxt.max(next);
    }

    /// RFC 6298 section 3 (Karn's algorithm); RFC 7323 section 4. The ACK covers packets from `first` on.
    #[inline(always)]
    pub(crate) fn measure(&mut self, now: Time, ack: Ack, first: u64) {
        // [abrupt-delay, section II]: "ACKs for retransmitted packets are not used for timeout estimation".
        let ignored = self.rules.sample == RttSample::PerAckKarn && first < self.resent;
        if self.rules.sample != RttSample::PerRound && !ignored {
            self.rto.sample_timestamp(&self.rules.rto, ack.echo, now);
            if self.rules.dialect != Dialect::Ns2 {
                self.rto.end_backoff(&self.rules.rto);
            }
        }
        // No number lies above that of none.
        if ack.next > self.timed {
            self.timed = NONE;
            self.rto.end_backoff(&self.rules.rto);
            if self.rules.sample == RttSample::PerRound {
                self.rto.sample_round(&self.rules.rto, self.timed_since, now);
            }
        }
    }

    /// A partial ACK covers the timed segment: the sample is lost, the backoff ends (ns-2 `partialnewack`).
    pub(crate) fn forget_covered_sample(&mut self) {
        if self.una > self.timed {
            self.timed = NONE;
            self.rto.end_backoff(&self.rules.rto);
        }
    }

    pub(crate) fn stop_timing(&mut self) {
        self.timed = NONE;
    }

    /// RFC 6298 (5.2), (5.3).
    #[inline(always)]
    pub(crate) fn restart_timer(&mut self, now: Time) {
        self.deadline = if self.una < self.max { now + self.rto.timeout() } else { Time::NEVER };
    }

    /// Sends what the window allows, `burst` packets at most.
    #[inline(always)]
    pub(crate) fn send_allowed(&mut self, now: Time, burst: u64, actions: &mut impl Actions) {
        let edge = (self.una + self.window.usable(&self.rules)).min(self.end).min(self.nxt.saturating_add(burst));
        while self.nxt < edge {
            self.transmit(now, self.nxt, actions);
            self.nxt += 1;
        }
    }

    /// RFC 3042: each of the first two duplicate ACKs lets one new packet out.
    pub(crate) fn send_limited(&mut self, now: Time, actions: &mut impl Actions) {
        // ns-2 `TcpAgent::send_one`: each duplicate ACK below the threshold, and after a timeout what is next in turn.
        if self.rules.dialect != Dialect::Ns2 && (self.dupacks > 2 || self.nxt < self.max) {
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
        actions.transmit(Segment { sequence, retransmission, slow_start: self.in_slow_start() });
    }

    pub(crate) fn report_loss(&self, cause: LossCause, actions: &mut impl Actions) {
        actions.loss(Loss {
            sequence: self.una,
            cause,
            slow_start: self.in_slow_start(),
            retransmission: self.is_resent(),
            in_recovery: self.phase == Phase::FastRecovery,
            repeated: self.timed_out == self.una,
            place: self.una - self.first,
            remaining: (self.end != u64::MAX).then(|| self.end - self.una),
            window: (self.window.cwnd as u64).min(self.rules.limit_packets),
            max: self.max,
        });
    }

    /// A timeout of the first packet without an ACK: whether one repeated it before.
    pub(crate) fn note_timeout(&mut self) -> bool {
        std::mem::replace(&mut self.timed_out, self.una) == self.una
    }

    /// A timeout has repeated the first packet without an ACK before.
    pub(crate) fn has_timed_out(&self) -> bool {
        self.timed_out == self.una
    }

    /// The first packet without an ACK was sent more than once.
    pub(crate) fn is_resent(&self) -> bool {
        self.una < self.resent
    }
}
