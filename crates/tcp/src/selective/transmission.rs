//! Transmission: new packets, retransmissions, and whether cwnd limits it.

use base::cast::low_u32;
use base::Time;

use super::{Repair, Selective};
use crate::actions::{Actions, LossCause, LossEvent, Recovered, Segment};
use crate::cc::Restart;
use crate::{WindowValidation, MOST_IN_FLIGHT};

/// The use of the window so far (RFC 7661; Linux `tcp_cwnd_validate`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Usage {
    /// Whether cwnd limited the sender in the current round.
    limited: bool,
    /// Most packets outstanding in the current round, if not.
    most: u32,
    /// SND.NXT when the round began.
    round_end: u64,
}

impl Usage {
    /// Returns whether all of cwnd was in flight at some time in the current round (Linux `is_cwnd_limited`).
    pub(super) fn is_limited(self) -> bool {
        self.limited
    }
}

impl Selective {
    /// Returns whether cwnd limits what is in flight; in slow start, and by RFC 7661 section 4.3 always, also if it is less
    /// than twice what was in flight (Linux `tcp_is_cwnd_limited`).
    pub(super) fn is_cwnd_limited(&self) -> bool {
        let half_suffices =
            self.window.in_slow_start() || self.rules.config.cwnd_validation == WindowValidation::Rfc7661;
        self.usage.limited || (half_suffices && self.window.cwnd < 2.0 * f64::from(self.usage.most))
    }

    /// Returns whether there is a new packet that the receiver's window allows.
    pub(super) fn may_send_new(&self) -> bool {
        self.board.nxt() < self.written.end() && u64::from(self.board.outstanding()) < self.receiver_window
    }

    /// Returns how many new packets the windows allow.
    pub(super) fn room_for_new(&self) -> u64 {
        let by_cwnd = u64::from(self.cwnd_packets().saturating_sub(self.board.in_flight()));
        let by_receiver = self.receiver_window.saturating_sub(u64::from(self.board.outstanding()));
        let room = (self.written.end() - self.board.nxt()).min(by_cwnd).min(by_receiver);
        room + u64::from(room < by_receiver && self.ends_connection(self.board.nxt() + room))
    }

    /// Returns whether a packet has the FIN, for which cwnd need not have room (Linux `tcp_cwnd_test`).
    #[inline(always)]
    fn ends_connection(&self, sequence: u64) -> bool {
        sequence + 1 == self.end && self.closes() && self.written.end() == self.end
    }

    /// Sends the new packets that the windows allow (Linux `tcp_write_xmit`); returns whether there were any.
    pub(super) fn send_new(&mut self, now: Time, actions: &mut impl Actions) -> bool {
        if !self.pacer.is_on() {
            return self.send_burst(now, actions);
        }
        let (before, cwnd) = (self.board.nxt(), self.cwnd_packets());
        let most = before + MOST_IN_FLIGHT + 1;
        let mut nxt = before;
        while (self.board.in_flight() < cwnd || self.ends_connection(nxt))
            && self.may_send_new()
            && nxt < most
            && !self.pacer.blocks(now)
        {
            self.transmit_new(now, actions);
            nxt = self.board.nxt();
            if nxt == before + 1 {
                // More packets in flight make no more room.
                self.check_room();
            }
        }
        let sent = low_u32(self.board.nxt() - before);
        self.account_sent(sent, cwnd);
        sent > 0 && {
            self.schedule_probe_after_sending(now);
            true
        }
    }

    /// Sends the new packets that the windows allow at once, without pacing, as [`Selective::send_new`] does.
    ///
    /// The number of packets is known before the first one is sent. The timer is set once, after the last one.
    #[inline(never)]
    pub(super) fn send_burst(&mut self, now: Time, actions: &mut impl Actions) -> bool {
        let (before, cwnd) = (self.board.nxt(), self.cwnd_packets());
        let room = u64::from(cwnd.saturating_sub(self.board.in_flight()));
        let received = self.board.una().saturating_add(self.receiver_window);
        let mut end = (before + room.min(MOST_IN_FLIGHT + 1)).min(self.written.end()).min(received);
        end += u64::from(end < received && self.ends_connection(end));
        if end <= before {
            self.account_sent(0, cwnd);
            return false;
        }
        let restarts = self.board.outstanding() == 0 || self.timer.waits_for_probe();
        for sequence in before..end {
            self.add_new::<false>(now, sequence, actions);
            if sequence == before {
                // More packets in flight make no more room.
                self.check_room();
            }
        }
        self.account_sent(low_u32(end - before), cwnd);
        if !self.schedule_probe_after_sending(now) && restarts {
            self.restart_rto(now);
        }
        true
    }

    /// Takes note of how many new packets were sent with a window.
    #[inline(always)]
    pub(super) fn account_sent(&mut self, sent: u32, cwnd: u32) {
        let limited = self.board.in_flight() >= cwnd;
        if sent > 0 || limited {
            self.record_usage(limited);
        }
        if self.is_reducing() {
            self.reduction.sent += sent;
        }
    }

    /// Sends the new packets that the windows allow, and takes note of room in the buffer, if there are none too.
    pub(super) fn send_and_check_room(&mut self, now: Time, actions: &mut impl Actions) {
        if !self.send_new(now, actions) {
            self.check_room();
        }
    }

    pub(super) fn record_usage(&mut self, limited: bool) {
        let (usage, outstanding) = (&mut self.usage, self.board.outstanding());
        if self.board.una() >= usage.round_end || limited || (!usage.limited && outstanding > usage.most) {
            *usage = Usage { limited, most: outstanding, round_end: self.board.nxt() };
        }
    }

    /// Transmits the packet SND.NXT.
    pub(super) fn transmit_new(&mut self, now: Time, actions: &mut impl Actions) {
        self.add_new::<true>(now, self.board.nxt(), actions);
    }

    /// Transmits the packet SND.NXT; sets the timer where it has to start again, or leaves it to the caller.
    #[inline(always)]
    pub(super) fn add_new<const SETS_TIMER: bool>(&mut self, now: Time, sequence: u64, actions: &mut impl Actions) {
        let idle = self.board.outstanding() == 0;
        if self.board.in_flight() == 0 && sequence > self.first {
            self.start_flight(now);
        }
        self.last_sent = now;
        let pushed = self.takes_push(sequence);
        self.board.push(now, pushed);
        if let Some(rate) = &mut self.rate {
            rate.send(now, self.board.totals(), idle);
        }
        if SETS_TIMER && (idle || self.timer.waits_for_probe()) {
            self.restart_rto(now);
        }
        self.depart(now);
        let marks = self.marks_of_new().with(self.ending_flags(sequence, pushed));
        let (bytes, echo_age) = (self.packet_bytes(sequence), self.echo_age(now));
        actions.transmit(Segment { sequence, retransmission: false, marks, bytes, echo_age });
    }

    /// Notifies the control of a transmission with nothing in flight, after a pause or where all packets are taken to be lost
    /// (Linux `tcp_event_data_sent`).
    #[cold]
    fn start_flight(&mut self, now: Time) {
        let app_limited = self.rules.needs.rate && self.rate.as_ref().is_some_and(|rate| rate.is_limited());
        let restart = Restart { now, idle_since: self.last_sent, app_limited, nxt: self.board.nxt() };
        self.control.on_restart(&restart, &mut self.window);
        if self.rules.needs.pacing {
            // A rate by the window stays until the next ACK.
            self.update_pacing();
        }
    }

    /// Returns whether the sender is in slow start: below ssthresh, and PRR does not set the window.
    pub fn in_slow_start(&self) -> bool {
        !self.is_reducing() && self.window.in_slow_start()
    }

    /// Transmits a packet that is taken to be lost again.
    pub(super) fn retransmit(&mut self, now: Time, sequence: u64, actions: &mut impl Actions) {
        if self.board.in_flight() == 0 {
            self.start_flight(now);
        }
        self.board.retransmit(sequence, self.pacer.departure(now));
        self.undo.count_retransmission(now);
        self.repeat(now, sequence, actions);
    }

    /// Transmits the last packet again as a probe.
    pub(super) fn repeat_last(&mut self, now: Time, actions: &mut impl Actions) {
        let last = self.board.nxt() - 1;
        self.board.probe(last, self.pacer.departure(now));
        self.repeat(now, last, actions);
    }

    fn repeat(&mut self, now: Time, sequence: u64, actions: &mut impl Actions) {
        if self.rules.finds_by_time {
            self.rack.resend(sequence, self.pacer.departure(now));
        }
        self.last_sent = now;
        if let Some(rate) = &mut self.rate {
            rate.resend(sequence - self.board.una(), self.board.totals());
        }
        self.depart(now);
        self.total_retransmitted += 1;
        actions.retransmitting(sequence, self.board.una());
        let pushed = self.board.get(sequence).is_some_and(|segment| segment.marks.pushed());
        let marks = self.marks_of_retransmission().with(self.ending_flags(sequence, pushed));
        let (bytes, echo_age) = (self.packet_bytes(sequence), self.echo_age(now));
        actions.transmit(Segment { sequence, retransmission: true, marks, bytes, echo_age });
    }

    /// Returns the age of the timestamp that a packet echoes which is sent `now` (Linux `tcp_replace_ts_recent`).
    #[inline(always)]
    fn echo_age(&self, now: Time) -> u32 {
        if now == self.heard {
            return 0;
        }
        self.rules.echo_age.units(now - self.heard)
    }

    /// Sends what repairs a loss (Linux `tcp_xmit_recovery`).
    pub(super) fn repair(&mut self, now: Time, repair: Repair, actions: &mut impl Actions) {
        match repair {
            Repair::Nothing => return,
            Repair::Lost => {}
            Repair::New => {
                self.send_new(now, actions);
                if self.board.nxt() > self.high {
                    return;
                }
                self.frto = false;
            }
        }
        self.retransmit_lost(now, actions);
    }

    /// Retransmits lost packets, the lowest first, as far as the window allows (Linux `tcp_xmit_retransmit_queue`).
    pub(super) fn retransmit_lost(&mut self, now: Time, actions: &mut impl Actions) {
        let (head, cwnd) = (self.board.una(), self.cwnd_packets());
        let mut restart = false;
        while self.board.in_flight() < cwnd {
            let Some(sequence) = self.board.next_to_retransmit() else { break };
            if self.pacer.blocks(now) {
                break;
            }
            self.retransmit(now, sequence, actions);
            if self.is_reducing() {
                self.reduction.sent += 1;
            }
            restart |= sequence == head && !self.timer.waits_for_reordering();
        }
        if restart {
            self.start_rto(now, self.pacing_delay(now));
        }
    }

    /// Reports that a loss was found, before the reaction to it.
    pub(super) fn report_loss(&self, cause: LossCause, actions: &mut impl Actions) {
        let una = self.board.una();
        let head = self.board.head().map(|head| head.marks).unwrap_or_default();
        actions.loss(LossEvent {
            sequence: una,
            cause,
            slow_start: self.in_slow_start(),
            retransmission: head.ever_retransmitted(),
            repaired: cause == LossCause::FastRetransmit && head.lost() && head.retransmitted(),
            in_recovery: self.state == super::State::Recovery,
            repeated: self.timeouts > 0,
            index: una - self.first,
            remaining: (self.end != u64::MAX).then(|| self.end - una),
            window: u64::from(self.cwnd_packets()).min(self.receiver_window),
            max: self.board.nxt(),
        });
    }

    /// Reports the end of a recovery whose last ACK let packets out; `before` are SND.NXT and the retransmissions
    /// before they were.
    #[cold]
    pub(super) fn report_recovered(&self, before: (u64, u64), actions: &mut impl Actions) {
        let resent = self.total_retransmitted - before.1;
        actions.recovered(Recovered { sent: self.board.nxt() - before.0 + resent, resent, max: self.board.nxt() });
    }
}
