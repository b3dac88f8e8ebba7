//! Explicit congestion notification as ns-2.35's one-way agents have it (`ecn_`; tcp.cc, `TcpAgent::ecn`): RFC 3168
//! with rules of its own for small windows, and for losses after an echo.

use base::{Marks, Time};

use crate::actions::{Ack, Actions, LossCause};
use crate::classic::{Classic, Phase};

/// The event that reduced the window last (`last_cwnd_action_`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Cut {
    /// None so far.
    #[default]
    None,
    /// Duplicate ACKs that showed a loss.
    Loss,
    /// The retransmission timer.
    Timeout,
    /// An ACK that echoed a mark.
    Echo,
}

/// State of a sender with regard to marks.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EcnState {
    last_cut: Cut,
    /// Whether an ACK has said that the receiver knows ECN (`ect_`).
    capable: bool,
    /// Whether the next packet announces a reduction (`cong_action_`).
    announces: bool,
    /// Whether a mark was echoed at a window of one packet (`ecn_backoff_`).
    is_least: bool,
}

impl Classic {
    /// Handles an ACK of a sender whose data are ECN-capable.
    #[cold]
    #[inline(never)]
    pub(super) fn on_ack_with_ecn(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        // A reduction ends fast recovery, of which its ACK is not a part.
        let partial = self.is_partial(ack.next);
        self.take_echo(&ack);
        if ack.next > self.una {
            if partial {
                self.on_partial_ack(now, ack, actions);
            } else {
                self.on_new_ack(now, ack, actions);
                self.conclude_new_ack(&ack);
            }
        } else if ack.next == self.una && self.una < self.max && ack.echo >= self.opened {
            self.on_duplicate_ack(now, actions);
        }
    }

    /// Halves the window for an ACK that echoes a mark, at most once in a window of data: `TcpAgent::ecn`. After a
    /// timeout each first echo does, whatever it acknowledges.
    pub(super) fn take_echo(&mut self, ack: &Ack<'_>) {
        self.echoed = ack.marks.has(Marks::ECE) && self.marks.capable;
        if !ack.marks.has(Marks::ECE) || ack.echo < self.opened {
            return;
        }
        // `recover_` is 0 at first, the number of the first packet.
        if ack.next <= self.recover.max(self.first + 1) && self.marks.last_cut != Cut::Timeout {
            return;
        }
        self.recover = self.max;
        if self.window.cwnd > 1.0 {
            self.marks.is_least = false;
        } else if std::mem::replace(&mut self.marks.is_least, true) {
            // RFC 3168 section 6.1.2: the timer is backed off where the window cannot be reduced any more.
            self.rto.back_off(&self.rules.rto);
        }
        self.halve(Cut::Echo);
    }

    /// Sets ssthresh and cwnd to half of the window, cwnd perhaps below one packet: `TcpAgent::slowdown`.
    pub(super) fn halve(&mut self, cut: Cut) {
        let half = self.window.half(self.flight_size(), &self.rules);
        self.window.cut(half, &self.rules);
        self.window.cwnd = half;
        self.note_cut(cut);
    }

    /// Takes note of an ACK of new data once it is handled: `TcpAgent::recv_newack_helper`.
    pub(super) fn conclude_new_ack(&mut self, ack: &Ack<'_>) {
        if self.marks.capable && !ack.marks.has(Marks::ECE) {
            self.marks.is_least = false;
        }
        self.marks.capable |= ack.marks.has(Marks::ECE);
    }

    /// Returns whether an ACK of the timed packet does not end the backoff: it echoes a mark at the least window
    /// (`TcpAgent::newack`).
    #[inline(always)]
    pub(super) fn keeps_backoff(&mut self) -> bool {
        if !self.ecn {
            return false;
        }
        let keeps = self.echoed && self.marks.is_least;
        self.marks.is_least &= keeps;
        keeps
    }

    /// Takes note of what reduces the window; the next packet announces it (CWR).
    pub(super) fn note_cut(&mut self, cut: Cut) {
        (self.marks.last_cut, self.marks.announces) = (cut, true);
    }

    /// Takes note of the repair of a loss that does not reduce the window.
    pub(super) fn note_repair(&mut self) {
        self.marks.last_cut = Cut::Loss;
    }

    /// Returns whether an echo reduced the window last: then a loss in the same window does not reduce it again.
    pub(super) fn was_cut_by_echo(&self) -> bool {
        self.marks.last_cut == Cut::Echo
    }

    /// Retransmits after duplicate ACKs in a window that an echo has reduced (`dupack_action` of each agent).
    #[cold]
    pub(super) fn fast_retransmit_after_echo(&mut self, now: Time, actions: &mut impl Actions) {
        self.report_loss(LossCause::FastRetransmit, actions);
        self.stop_timing();
        self.restart_timer(now);
        self.note_repair();
        if self.rules.recovery.halves_at_loss() {
            self.phase = Phase::FastRecovery;
            self.partial_acks = false;
            self.window.inflation = self.rules.threshold;
            self.transmit(now, self.una, actions);
        } else {
            self.note_cut(Cut::Loss);
            self.window.restart();
            self.nxt = self.una;
        }
    }

    /// Returns whether the timer runs although nothing is outstanding: the window is below one packet, and the transfer
    /// goes on as it expires (`TcpAgent::newtimer`).
    #[inline(always)]
    pub(super) fn waits_for_timer(&self) -> bool {
        self.ecn && self.window.cwnd < 1.0 && !self.finished()
    }

    /// Sends a packet as the timer expires, which a window below one packet waited for; nothing was lost.
    #[cold]
    pub(super) fn on_timer_of_small_window(&mut self, now: Time, actions: &mut impl Actions) {
        let ssthresh = self.window.ssthresh;
        self.react_to_timeout();
        self.window.ssthresh = ssthresh;
        self.restart_timer(now);
        self.send_allowed(now, u64::MAX, actions);
    }

    /// Returns the ECN bits of a packet, a retransmission too: `TcpAgent::output`. The first one asks the receiver for ECN
    /// as a SYN does, and is not ECN-capable itself.
    #[cold]
    pub(super) fn marks_of(&mut self, sequence: u64) -> Marks {
        let kind = if sequence == self.first { Marks::ECE } else { Marks::ECT };
        kind.with(Marks::CWR.only_if(std::mem::take(&mut self.marks.announces)))
    }
}
