//! The sender's timer: retransmission timeout (RFC 6298), tail loss probe (RFC 8985 section 7) and reordering (section
//! 6.2 step 5). Only one of them runs at a time.

use base::Time;

use super::{Selective, SenderEvent, State};
use crate::actions::{Actions, LossCause};
use crate::cc::Signal;
use crate::timer_wheel::TimerWheel;
use crate::{SelectiveConfig, TimeoutRules};

/// The event that the timer waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Timeout,
    Probe,
    Reordering,
}

/// The timer, and the retransmission timeout.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timer {
    kind: Option<Kind>,
    /// Instant for which it was started, [`Time::NEVER`] while none runs. It fires by its clock, which is not before.
    due: Time,
    /// Instant at which it was started.
    started: Time,
    /// Retransmission timeout, backoff included.
    rto: Time,
}

impl Timer {
    pub(super) fn new(rto: Time, wheel: &TimerWheel) -> Timer {
        Timer { kind: None, due: Time::NEVER, started: Time::ZERO, rto: wheel.whole(rto) }
    }

    pub(super) fn rto(&self) -> Time {
        self.rto
    }

    /// Returns the instant at which it fires by its clock; [`Time::NEVER`] while none runs.
    pub(super) fn deadline(&self, wheel: &TimerWheel) -> Time {
        wheel.fires(self.started, self.due)
    }

    /// Returns an instant before which it does not fire; [`Time::NEVER`] while none runs.
    pub(super) fn earliest(&self) -> Time {
        self.due
    }

    /// Returns whether it fires at an instant or before.
    fn has_fired(&self, now: Time, wheel: &TimerWheel) -> bool {
        self.earliest() <= now && self.deadline(wheel) <= now
    }

    /// Sets the retransmission timeout, which ends its backoff.
    pub(super) fn set_rto(&mut self, rto: Time, wheel: &TimerWheel) {
        self.rto = wheel.whole(rto);
    }

    /// Returns whether a tail loss probe waits.
    pub(super) fn waits_for_probe(&self) -> bool {
        self.kind == Some(Kind::Probe)
    }

    /// Returns whether the timer waits for reordered packets.
    pub(super) fn waits_for_reordering(&self) -> bool {
        self.kind == Some(Kind::Reordering)
    }

    fn start(&mut self, now: Time, kind: Kind, due: Time) {
        (self.kind, self.started, self.due) = (Some(kind), now, due);
    }

    pub(super) fn stop(&mut self) {
        (self.kind, self.due) = (None, Time::NEVER);
    }
}

impl Selective {
    /// Handles the expiry of the timer, the departure of a packet that waited for it, or the instant at which the
    /// application writes again.
    pub fn on_timer(&mut self, now: Time, actions: &mut impl Actions) {
        if self.pacer.deadline() <= now {
            self.release(now, actions);
            self.report_failure(actions);
        }
        match self.timer.kind.filter(|_| self.timer.has_fired(now, &self.rules.wheel)) {
            Some(Kind::Timeout) => self.on_timeout(now, actions),
            Some(Kind::Probe) => self.send_probe(now, actions),
            Some(Kind::Reordering) => self.end_reordering(now, actions),
            None => {}
        }
        self.run_application(now, actions);
        self.report_failure(actions);
        self.go_ahead(actions);
    }

    /// Starts the timer after an ACK (Linux `tcp_set_xmit_timer`).
    pub(super) fn set_timer(&mut self, now: Time) {
        let full = now + self.timer.rto;
        if !self.schedule_probe(now, full) {
            self.restart_rto(now);
        }
    }

    /// Starts the retransmission timer; by Linux's rules it goes on from the first packet's transmission where another timer
    /// ran meanwhile, for a jiffy at least (`tcp_rearm_rto`).
    pub(super) fn restart_rto(&mut self, now: Time) {
        if self.board.outstanding() == 0 {
            return self.timer.stop();
        }
        let other = matches!(self.timer.kind, Some(Kind::Probe | Kind::Reordering));
        let deadline = if other && self.rules.config.rto.rules == TimeoutRules::Linux {
            self.expiry().max(now + Time::from_ticks(1))
        } else {
            now + self.timer.rto
        };
        self.timer.start(now, Kind::Timeout, deadline + self.pacing_delay(now));
    }

    /// Starts the retransmission timer from now on, and `later` than the timeout says.
    pub(super) fn start_rto(&mut self, now: Time, later: Time) {
        self.timer.start(now, Kind::Timeout, now + self.timer.rto + later);
    }

    /// Starts the timer that waits for reordered packets (Linux `tcp_rack_mark_lost`).
    pub(super) fn start_reordering(&mut self, now: Time, wait: Time) {
        let wait = (wait + self.rules.shortest).min(self.timer.rto);
        self.timer.start(now, Kind::Reordering, now + wait);
    }

    /// Returns when the retransmission timeout expires: from the first packet's transmission on (Linux
    /// `tcp_rto_delta_us`), or from the last ACK on if that came later (RFC 6298 (5.3)).
    pub(super) fn expiry(&self) -> Time {
        let Some(head) = self.board.head() else { return Time::NEVER };
        let since = match self.rules.config.rto.rules {
            TimeoutRules::Linux => head.sent,
            TimeoutRules::Rfc6298 => head.sent.max(self.heard),
        };
        since + self.timer.rto
    }

    /// Returns whether tail loss probes are sent.
    pub(super) fn probes_tails(&self) -> bool {
        let SelectiveConfig { tail_loss_probe, sack, .. } = self.rules.config;
        tail_loss_probe && sack
    }

    /// Returns how long a tail loss probe waits at least.
    pub(super) fn least_probe_wait(&self) -> Time {
        match self.rtt.smoothed() {
            Time::ZERO => self.rules.rto_initial,
            srtt => srtt.times(2),
        }
    }

    /// Schedules a tail loss probe, at the latest when the retransmission timer would expire, if the state allows one
    /// (Linux `tcp_schedule_loss_probe`); returns whether it does.
    #[inline(always)]
    pub(super) fn schedule_probe(&mut self, now: Time, latest: Time) -> bool {
        let may = matches!(self.state, State::Open | State::Cwr);
        if !self.probes_tails() || !may || self.board.outstanding() == 0 {
            return false;
        }
        let wait = match self.rtt.smoothed() {
            Time::ZERO => self.rules.rto_initial,
            srtt if self.board.outstanding() == 1 => srtt.times(2) + self.rules.worst_ack_delay,
            srtt => srtt.times(2) + self.rules.shortest,
        };
        let due = now + wait;
        let due = if latest > now { due.min(latest) } else { due };
        self.timer.start(now, Kind::Probe, due + self.pacing_delay(now));
        true
    }

    /// Schedules a tail loss probe after packets were sent; returns whether the state allows one.
    pub(super) fn schedule_probe_after_sending(&mut self, now: Time) -> bool {
        let latest = self.expiry();
        self.schedule_probe(now, latest)
    }

    /// Sends a tail loss probe: new data, or the last packet again (RFC 8985 section 7.3, Linux
    /// `tcp_send_loss_probe`).
    fn send_probe(&mut self, now: Time, actions: &mut impl Actions) {
        if self.probe.is_none() && self.board.outstanding() > 0 {
            let fresh = self.may_send_new();
            if fresh && self.pacer.blocks(now) {
                return self.restart_rto(now);
            }
            if fresh {
                let cwnd = self.cwnd_packets();
                self.transmit_new(now, actions);
                self.account_sent(1, cwnd);
                self.check_room();
            } else {
                self.repeat_last(now, actions);
            }
            self.events.add(SenderEvent::Probe);
            self.probe = Some((self.board.nxt(), !fresh));
            self.timer.stop();
        }
        self.restart_rto(now);
    }

    /// Marks what has waited long enough as lost, and repairs it (Linux `tcp_rack_reo_timeout`).
    fn end_reordering(&mut self, now: Time, actions: &mut impl Actions) {
        let (flight, lost) = (self.board.in_flight(), self.board.marked_lost);
        self.detect_by_time(now);
        if self.board.in_flight() != flight {
            if self.state != State::Recovery {
                self.enter_recovery(now, false, actions);
                let lost = self.board.marked_lost - lost;
                self.reduce(1, base::cast::to_u32(base::cast::to_index(lost)), false);
            }
            self.report_lost(now);
            self.retransmit_lost(now, actions);
        }
        if self.timer.kind != Some(Kind::Timeout) {
            self.restart_rto(now);
        }
    }

    /// Handles the retransmission timeout: RFC 6298 (5.4) to (5.7), Linux `tcp_retransmit_timer`, `tcp_enter_loss`.
    fn on_timeout(&mut self, now: Time, actions: &mut impl Actions) {
        self.timer.stop();
        if self.board.outstanding() == 0 {
            return;
        }
        self.events.add(SenderEvent::Timeout);
        self.report_loss(LossCause::Timeout, actions);
        self.enter_loss(now);
        self.timeouts += 1;
        self.retransmit(now, self.board.una(), actions);
        self.timer.rto = self.timer.rto.times(2).min(self.rules.rto_max);
        self.start_rto(now, Time::ZERO);
    }

    /// Enters the state Loss.
    fn enter_loss(&mut self, now: Time) {
        let was_repairing = self.state >= State::Recovery;
        let flight_size = self.board.in_flight();
        self.mark_all_lost(now);
        let covered = self.state > State::Disorder && self.high > self.board.una();
        if !covered || (self.state == State::Loss && self.timeouts == 0) {
            self.undo.prior_ssthresh = Some(self.current_ssthresh());
            self.undo.prior_flight = self.window.ssthresh.max(f64::from(flight_size));
            self.reduction.prior_cwnd = self.window.cwnd;
            self.window.ssthresh = self.control.on_congestion(Signal::Timeout, now, &self.window);
            self.begin_undo();
        }
        self.announces_reduction = true;
        self.control.on_timeout(now, self.board.nxt());
        self.report_lost(now);
        self.window.cwnd = f64::from(self.board.in_flight() + 1);
        if self.state <= State::Disorder && self.board.sacked() >= self.rules.config.dupack_threshold {
            self.reordering = self.reordering.min(self.rules.config.dupack_threshold);
        }
        self.state = State::Loss;
        self.high = self.board.nxt();
        self.probe = None;
        self.frto = self.rules.config.frto && (!was_repairing || self.timeouts > 0);
    }
}
