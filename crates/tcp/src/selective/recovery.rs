//! The states of congestion, and the reduction of the window (Linux `tcp_fastretrans_alert`, `tcp_cwnd_reduction`).

use base::cast::{to_index, to_u32};
use base::Time;

use super::detection::Seen;
use super::{Repair, Selective, SenderEvent, State};
use crate::actions::{Ack, Actions, LossCause};
use crate::cc::Signal;
use crate::LossDetection;

/// Proportional rate reduction (RFC 9937).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reduction {
    /// cwnd at the start (RecoverFS in Linux's reading).
    pub(super) prior_cwnd: f64,
    /// Packets delivered since (prr_delivered).
    delivered: u32,
    /// Packets sent since (prr_out).
    pub(super) sent: u32,
}

impl Reduction {
    /// Returns the packets delivered and sent since it began.
    pub(super) fn progress(&self) -> (u32, u32) {
        (self.delivered, self.sent)
    }
}

impl Selective {
    /// Handles an ACK that arrives while nothing is outstanding: it may report that the last retransmissions, or a tail loss
    /// probe, were duplicates (Linux `tcp_ack`, `no_queue`).
    #[cold]
    pub(super) fn on_ack_of_nothing(&mut self, now: Time, ack: &Ack<'_>, actions: &mut impl Actions) {
        self.heard = now - ack.waited;
        let (una, delivered, mut seen) = (self.board.una(), self.board.delivered, Seen::default());
        self.take_in(now, ack, &mut seen);
        self.read_ace(ack, to_u32(to_index(self.board.delivered - delivered)), &mut seen);
        let sample = self.sample(now, delivered, 0, &seen);
        self.control.measure(&sample, &self.window);
        if seen.duplicate {
            self.react(now, una, ack, &mut seen, actions);
        }
        if let Some((end, repeated)) = self.probe {
            self.judge_probe(now, end, repeated, ack, &seen);
        }
        self.send_and_check_room(now, actions);
        self.run_application(now, actions);
        self.report_failure(actions);
        self.go_ahead(actions);
    }

    /// Moves from state to state with an ACK of anything but packets in order, and detects losses; returns
    /// what is to be repaired.
    #[inline(never)]
    pub(super) fn react(
        &mut self,
        now: Time,
        prior_una: u64,
        ack: &Ack<'_>,
        seen: &mut Seen,
        actions: &mut impl Actions,
    ) -> Repair {
        let mut marks = seen.counts_as_duplicate() || (seen.sacked && self.is_far_beyond());
        if seen.marked {
            // The reduction is required.
            self.undo.prior_ssthresh = None;
        }
        if self.leave_state(ack) {
            return Repair::Nothing;
        }
        let entered = match self.state {
            State::Recovery => match self.go_on_recovering(now, prior_una, ack, seen, actions) {
                Some(partial) => {
                    marks = if partial { self.is_far_beyond() } else { marks };
                    false
                }
                None => return Repair::Nothing,
            },
            State::Loss => {
                let repair = self.process_loss(ack, seen);
                self.detect(now, seen);
                let goes_on = self.state == State::Open || seen.retransmission_lost;
                if !goes_on || !self.try_recovery(now, seen, actions) {
                    return repair;
                }
                true
            }
            State::Open | State::Disorder | State::Cwr => {
                if self.state <= State::Disorder {
                    self.undo_by_duplicates();
                }
                if !self.try_recovery(now, seen, actions) {
                    return Repair::Nothing;
                }
                true
            }
        };
        if marks {
            self.detect_by_count(entered);
        }
        Repair::Lost
    }

    /// Undoes the reduction if the packets were late, or detects further losses; returns whether a partial ACK shows
    /// progress by retransmissions, `None` if nothing is to be sent.
    fn go_on_recovering(
        &mut self,
        now: Time,
        prior_una: u64,
        ack: &Ack<'_>,
        seen: &mut Seen,
        actions: &mut impl Actions,
    ) -> Option<bool> {
        self.count_duplicate_ack(seen);
        let delayed = self.undo.marker.is_some() && self.is_delayed(ack);
        if seen.una_advanced && delayed && self.undo_partly(prior_una, ack) {
            return None;
        }
        if self.undo_by_duplicates() {
            self.try_to_open(now, seen);
        }
        self.detect(now, seen);
        if self.state != State::Recovery {
            if !self.shows_loss() {
                return None;
            }
            self.enter_recovery(now, seen.marked, actions);
        }
        Some(seen.una_advanced && !delayed)
    }

    /// Detects losses; enters Recovery if there are some, or else Open or Disorder; returns whether it is Recovery.
    fn try_recovery(&mut self, now: Time, seen: &mut Seen, actions: &mut impl Actions) -> bool {
        if seen.una_advanced {
            self.forget_duplicate_acks();
        }
        self.count_duplicate_ack(seen);
        self.detect(now, seen);
        if !self.shows_loss() {
            self.try_to_open(now, seen);
            return false;
        }
        self.enter_recovery(now, seen.marked, actions);
        true
    }

    /// Ends a state whose packets are all acknowledged; returns whether nothing else happens, as it stays.
    fn leave_state(&mut self, ack: &Ack<'_>) -> bool {
        if self.state == State::Open {
            self.undo.forget_if(true);
            return false;
        }
        if self.board.una() < self.high {
            return false;
        }
        match self.state {
            State::Cwr if self.board.una() != self.high => {
                self.end_reduction();
                self.state = State::Open;
            }
            State::Recovery => {
                self.forget_duplicate_acks();
                if self.undo_or_end(ack) {
                    return true;
                }
                self.end_reduction();
            }
            _ => {}
        }
        false
    }

    /// Returns whether a loss is shown: a packet is taken to be lost, or without RACK enough arrived beyond a hole
    /// (Linux `tcp_time_to_recover`).
    fn shows_loss(&self) -> bool {
        let by_count = self.rules.config.loss_detection == LossDetection::Dupack;
        self.board.lost() > 0 || (by_count && self.board.sacked() >= self.reordering)
    }

    /// Returns whether packets arrived so far beyond the first hole that it is a loss and not reordering (Linux
    /// `tcp_force_fast_retransmit`).
    fn is_far_beyond(&self) -> bool {
        self.board.highest_sacked() > self.board.una() + u64::from(self.reordering)
    }

    /// Enters Open, or Disorder while packets are missing or retransmissions are in flight (Linux
    /// `tcp_try_keep_open`).
    pub(super) fn keep_open(&mut self) {
        let disorder = self.board.sacked() + self.board.lost() > 0 || self.board.any_retransmitted();
        let state = if disorder { State::Disorder } else { State::Open };
        if self.state != state {
            self.state = state;
            self.high = self.board.nxt();
        }
    }

    /// Enters the state Recovery (Linux `tcp_enter_recovery`).
    pub(super) fn enter_recovery(&mut self, now: Time, marked: bool, actions: &mut impl Actions) {
        self.report_loss(LossCause::FastRetransmit, actions);
        self.undo.forget_if(!self.board.any_retransmitted());
        self.undo.prior_ssthresh = None;
        self.begin_undo();
        if !self.is_reducing() {
            if !marked {
                self.undo.prior_ssthresh = Some(self.current_ssthresh());
            }
            self.begin_reduction(now, Signal::Loss);
        }
        self.control.on_recovery(&mut self.window);
        self.state = State::Recovery;
    }

    /// Lowers ssthresh, and lets PRR bring cwnd down to it (Linux `tcp_init_cwnd_reduction`).
    pub(super) fn begin_reduction(&mut self, now: Time, signal: Signal) {
        self.high = self.board.nxt();
        self.probe = None;
        self.reduction = Reduction { prior_cwnd: self.window.cwnd, ..Reduction::default() };
        self.window.ssthresh = self.control.on_congestion(signal, now, &self.window);
        self.announces_reduction = true;
    }

    /// Sets cwnd so that what is sent follows what is delivered (RFC 9937; Linux `tcp_cwnd_reduction`). `lost` are the
    /// packets marked lost just now.
    pub(super) fn reduce(&mut self, delivered: u32, lost: u32, una_advanced: bool) {
        let (flight, ssthresh) = (self.board.in_flight(), self.window.ssthresh);
        let reduction = &mut self.reduction;
        if reduction.prior_cwnd <= 0.0 || self.rules.needs.window {
            return;
        }
        reduction.delivered += delivered;
        let delta = ssthresh - f64::from(flight);
        let mut allowed = if delta < 0.0 {
            (ssthresh * f64::from(reduction.delivered) / reduction.prior_cwnd).ceil() - f64::from(reduction.sent)
        } else {
            let behind = f64::from(reduction.delivered) - f64::from(reduction.sent);
            let safe = una_advanced && lost == 0;
            (behind.max(f64::from(delivered)) + f64::from(u32::from(safe))).min(delta)
        };
        if reduction.sent == 0 {
            // The first retransmission is sent in any case.
            allowed = allowed.max(1.0);
        }
        self.window.cwnd = f64::from(flight) + allowed.max(0.0);
    }

    /// Sets cwnd to ssthresh at the end of a reduction, unless that was undone (Linux `tcp_end_cwnd_reduction`).
    fn end_reduction(&mut self) {
        if self.rules.needs.window {
            return;
        }
        if self.window.ssthresh.is_finite() && (self.state == State::Cwr || self.undo.marker.is_some()) {
            self.window.cwnd = self.window.ssthresh;
        }
        self.control.on_recovery_end(&mut self.window);
    }

    /// Follows the repair after a timeout, and finds out whether the timeout was spurious by F-RTO (RFC 5682, Linux
    /// `tcp_process_loss`).
    fn process_loss(&mut self, ack: &Ack<'_>, seen: &Seen) -> Repair {
        let recovered = self.board.una() >= self.high;
        if seen.una_advanced && self.undo_loss(ack, false) {
            return Repair::Nothing;
        }
        if self.frto {
            if seen.original && self.undo_loss(ack, true) {
                return Repair::Nothing;
            }
            if self.board.nxt() > self.high {
                if seen.sacked || seen.is_pure_duplicate() {
                    self.frto = false;
                }
            } else if seen.una_advanced && !recovered {
                self.high = self.board.nxt();
                if self.may_send_new() {
                    return Repair::New;
                }
                self.frto = false;
            }
        }
        if recovered {
            self.undo_or_end(ack);
            return Repair::Nothing;
        }
        if self.board.nxt() > self.high {
            // New data arrived: others may follow them.
            self.count_duplicate_ack(seen);
        }
        if seen.una_advanced {
            self.forget_duplicate_acks();
        }
        Repair::Lost
    }

    /// Draws the conclusion from an ACK at or above the probe's end (RFC 8985 section 7.4, Linux
    /// `tcp_process_tlp_ack`).
    #[cold]
    pub(super) fn judge_probe(&mut self, now: Time, end: u64, repeated: bool, ack: &Ack<'_>, seen: &Seen) {
        if ack.next < end {
            return;
        }
        if !repeated || seen.duplicate_of_probe {
            self.probe = None;
        } else if ack.next > end {
            // The probe repaired a loss: one reduction, without undo.
            self.events.add(SenderEvent::ProbeRepair);
            self.begin_reduction(now, Signal::Loss);
            self.state = State::Cwr;
            self.end_reduction();
            self.keep_open();
        } else if !seen.brings_news() {
            self.probe = None;
        }
    }
}
