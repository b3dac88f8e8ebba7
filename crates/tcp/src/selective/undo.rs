//! Undo: a reduction turns out to be spurious, as the packets were late and not lost (Eifel detection, RFC 3522; DSACK,
//! RFC 3708; F-RTO, RFC 5682), and the window is restored as Linux does it (`tcp_undo_cwnd_reduction`).

use base::Time;

use super::{Selective, SenderEvent, State};
use crate::actions::Ack;
use crate::UndoResponse;

/// The state before a reduction, for an undo.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Undo {
    /// SND.UNA when the state was entered (Linux `undo_marker`); `None`: there is nothing to undo.
    pub(super) marker: Option<u64>,
    /// Retransmissions that no duplicate answers yet (Linux `undo_retrans`); `None`: nothing was retransmitted.
    unanswered: Option<u32>,
    /// ssthresh to restore; `None`: the reduction is final.
    pub(super) prior_ssthresh: Option<f64>,
    /// FlightSize before a timeout, or ssthresh if that was larger (RFC 4015's pipe_prev) \[packets\].
    pub(super) prior_flight: f64,
    /// Packets that the current ACK acknowledges.
    pub(super) acked: u32,
    /// Whether the current ACK set the window, which does not grow with it too.
    pub(super) responded: bool,
    /// First retransmission (Linux `retrans_stamp`); [`Time::ZERO`], at which no packet can be lost yet: none.
    first_retransmission: Time,
}

impl Undo {
    /// Counts a retransmission.
    pub(super) fn count_retransmission(&mut self, now: Time) {
        if self.first_retransmission == Time::ZERO {
            self.first_retransmission = now;
        }
        self.unanswered = Some(self.unanswered.unwrap_or(0) + 1);
    }

    /// Counts a duplicate of a retransmitted packet.
    pub(super) fn count_duplicate(&mut self, sequence: u64) {
        if self.marker.is_some_and(|marker| sequence >= marker) {
            self.unanswered = self.unanswered.map(|count| count.saturating_sub(1));
        }
    }

    /// Forgets the first retransmission if `over`.
    pub(super) fn forget_if(&mut self, over: bool) {
        if over {
            self.first_retransmission = Time::ZERO;
        }
    }

    /// Returns whether duplicates answered all retransmissions.
    pub(super) fn is_answered(&self) -> bool {
        self.marker.is_some() && self.unanswered == Some(0)
    }
}

impl Selective {
    /// Prepares the undo of a reduction that begins (Linux `tcp_init_undo`).
    pub(super) fn begin_undo(&mut self) {
        self.undo.marker = Some(self.board.una());
        let probes = u32::from(self.probe.is_some_and(|(_, repeated)| repeated));
        self.undo.unanswered = Some(self.board.retransmitted() + probes).filter(|&count| count > 0);
    }

    /// Returns the ssthresh that an undo restores: three quarters of cwnd at least (Linux `tcp_current_ssthresh`).
    pub(super) fn current_ssthresh(&self) -> f64 {
        if self.is_reducing() {
            return self.window.ssthresh;
        }
        let cwnd = self.window.cwnd;
        self.window.ssthresh.max((cwnd / 2.0).floor() + (cwnd / 4.0).floor())
    }

    /// Returns whether the original arrived: the ACK echoes a stamp from before the first retransmission (RFC 3522, Linux
    /// `tcp_packet_delayed`), or nothing was retransmitted.
    pub(super) fn is_delayed(&self, ack: &Ack<'_>) -> bool {
        match self.undo.first_retransmission {
            // Without selective acknowledgment it is forgotten at the recovery point too.
            Time::ZERO => self.rules.config.sack || self.board.una() < self.high,
            _ => self.is_echo_of_original(ack),
        }
    }

    /// Returns whether the ACK echoes a stamp from before the first retransmission, of which there is one.
    pub(super) fn is_echo_of_original(&self, ack: &Ack<'_>) -> bool {
        self.echoes_before(ack, self.undo.first_retransmission)
    }

    /// Returns whether the ACK echoes a timestamp that is older than that of an instant (Linux `tcp_tsopt_ecr_before`).
    pub(super) fn echoes_before(&self, ack: &Ack<'_>, instant: Time) -> bool {
        self.rules.config.timestamps && self.rules.wheel.is_older(ack.echo, instant)
    }

    fn may_undo(&self, ack: &Ack<'_>) -> bool {
        self.undo.marker.is_some() && (self.undo.is_answered() || self.is_delayed(ack))
    }

    /// Restores the window for a reason (Linux `tcp_undo_cwnd_reduction`), as far as the rules say.
    fn restore(&mut self, unmark: bool, why: SenderEvent) {
        let response = self.rules.config.undo;
        self.events.add_if(self.undo.prior_ssthresh.is_some() && response != UndoResponse::None, why);
        if unmark && self.board.lost() > 0 {
            self.board.unmark_lost();
            if self.rules.finds_by_time {
                self.rack.judge_again(&self.board);
            }
        }
        if let Some(prior) = self.undo.prior_ssthresh.filter(|_| response != UndoResponse::None) {
            self.window.cwnd = self.control.undo(self.reduction.prior_cwnd, &self.window);
            self.announces_reduction &= prior <= self.window.ssthresh;
            self.window.ssthresh = self.window.ssthresh.max(prior);
            if response == UndoResponse::Rfc4015 && self.state == State::Loss && !self.rules.needs.window {
                self.respond_to_spurious_timeout();
            }
        }
        self.undo.marker = None;
        // Losses are judged again.
        self.rack.advanced = true;
    }

    /// Sets the window after a spurious timeout so that no burst follows: RFC 4015 section 3.2 (5).
    fn respond_to_spurious_timeout(&mut self) {
        let acked = f64::from(self.undo.acked).min(self.rules.config.initial_window);
        self.window.cwnd = (f64::from(self.board.in_flight()) + acked).max(1.0);
        self.window.ssthresh = self.undo.prior_flight;
        self.undo.responded = true;
    }

    /// Ends Recovery or Loss when all its packets are acknowledged; restores the window if nothing was lost; returns whether
    /// the state stays nevertheless (Linux `tcp_try_undo_recovery`).
    pub(super) fn undo_or_end(&mut self, ack: &Ack<'_>) -> bool {
        if self.may_undo(ack) {
            self.restore(false, self.undo_event(ack));
        } else {
            self.rack.recovered();
        }
        let keeps = self.keeps_state();
        if !keeps {
            self.state = State::Open;
        }
        keeps
    }

    /// Restores the window if duplicates answered all retransmissions (Linux `tcp_try_undo_dsack`).
    pub(super) fn undo_by_duplicates(&mut self) -> bool {
        if !self.undo.is_answered() {
            return false;
        }
        self.rack.undone();
        self.restore(false, SenderEvent::UndoDsack);
        true
    }

    /// Restores the window after a partial ACK of an original, once no retransmission is in flight; returns whether one
    /// is (Linux `tcp_try_undo_partial`).
    pub(super) fn undo_partly(&mut self, prior_una: u64, ack: &Ack<'_>) -> bool {
        let why = self.undo_event_of_late(ack);
        self.observe_reordering(prior_una, self.board.highest_sacked());
        if self.board.retransmitted() > 0 {
            return true;
        }
        self.undo.forget_if(!self.board.any_retransmitted());
        self.restore(true, why);
        self.keep_open();
        false
    }

    /// Restores the window after a spurious timeout, found by F-RTO (`proven`) or by timestamps; returns whether it was
    /// one (Linux `tcp_try_undo_loss`).
    pub(super) fn undo_loss(&mut self, ack: &Ack<'_>, proven: bool) -> bool {
        if !proven && !self.may_undo(ack) {
            return false;
        }
        let why = if proven { SenderEvent::UndoFrto } else { self.undo_event(ack) };
        self.restore(true, why);
        self.timeouts = 0;
        if !self.keeps_state() && (proven || self.rules.config.sack) {
            self.state = State::Open;
        }
        true
    }
}
