//! How a sender reacts to losses: duplicate ACKs, partial ACKs, timeouts.

use base::Time;

use crate::actions::{Ack, Actions, LossCause, Recovered};
use crate::sender::{Phase, Sender};
use crate::{Dialect, PartialAckTimer, Recovery};

/// ns-2 `NewRenoTcpAgent::recv`: two packets at most for an ACK in recovery.
const NS2_RECOVERY_BURST: u64 = 2;

impl Sender {
    /// RFC 6582 section 3.2 step 3: some, but not all, of what was outstanding when the loss was found.
    #[inline(always)]
    pub(crate) fn is_partial(&self, next: u64) -> bool {
        self.phase == Phase::FastRecovery && self.rules.recovery == Recovery::Newreno && next < self.recover
    }

    #[inline(never)]
    pub(crate) fn on_duplicate_ack(&mut self, now: Time, actions: &mut impl Actions) {
        if self.dupacks == 0 {
            self.limited = 0;
        }
        self.dupacks = self.dupacks.saturating_add(1);
        if self.dupacks < self.rules.threshold {
            if self.rules.limited_transmit {
                self.send_limited(now, actions);
            }
            return;
        }
        if self.dupacks == self.rules.threshold {
            if self.may_fast_retransmit() {
                self.fast_retransmit(now, actions);
                if self.rules.dialect == Dialect::Engset && self.phase == Phase::FastRecovery {
                    // [engset, section 3.1]: "no new data is sent here even if it were possible".
                    return;
                }
            }
        } else if self.phase == Phase::FastRecovery {
            // RFC 5681 section 3.2 step 4.
            self.window.inflation += 1;
        }
        self.send_allowed(now, self.recovery_burst(), actions);
    }

    fn recovery_burst(&self) -> u64 {
        match (self.rules.dialect, self.rules.recovery) {
            (Dialect::Ns2, Recovery::Newreno) => NS2_RECOVERY_BURST,
            _ => u64::MAX,
        }
    }

    /// One fast retransmit a window: RFC 6582 section 3.2 step 1, ns-2's `bugFix_`. RFC 5681 alone has no such rule.
    fn may_fast_retransmit(&self) -> bool {
        match (self.rules.dialect, self.rules.recovery) {
            (_, Recovery::OldTahoe) => false,
            (Dialect::Rfc | Dialect::Engset, Recovery::Reno) => true,
            // Nothing was lost before: the first packet of all can be repaired too.
            (Dialect::Rfc | Dialect::Engset, _) => self.una > self.recover || self.recover == self.first,
            // ns-2's `bugfix_ss_`: always where only the first packet is acknowledged.
            (Dialect::Ns2, _) => self.una > self.recover || self.una == self.first + 1,
        }
    }

    fn fast_retransmit(&mut self, now: Time, actions: &mut impl Actions) {
        self.report_loss(LossCause::FastRetransmit, actions);
        self.recover = self.max;
        self.stop_timing();
        // RFC 5681 section 3.2 step 2: what limited transmit sent does not count.
        let flight_size = self.flight_size() - u64::from(self.limited).min(self.flight_size());
        let half = self.window.half(flight_size, &self.rules);
        self.window.cut(half);
        if self.rules.dialect != Dialect::Rfc || self.rules.recovery == Recovery::Tahoe {
            self.restart_timer(now);
        }
        if self.rules.recovery == Recovery::Tahoe {
            self.window.restart();
            self.nxt = self.una;
        } else {
            self.phase = Phase::FastRecovery;
            self.partial_acks = false;
            self.window.enter_recovery(half, &self.rules);
            self.transmit(now, self.una, actions);
        }
    }

    /// RFC 6582 section 3.2 step 3, "Partial acknowledgments".
    #[inline(never)]
    pub(crate) fn on_partial_ack(&mut self, now: Time, ack: Ack, actions: &mut impl Actions) {
        if self.rules.dialect == Dialect::Rfc {
            // RFC 7323 section 4.1: each ACK that advances SND.UNA.
            self.measure(now, ack, self.una);
        }
        if self.rules.partial_ack_timer == PartialAckTimer::SlowButSteady || !self.partial_acks {
            self.restart_timer(now);
        }
        self.partial_acks = true;
        self.window.deflate(ack.next - self.una);
        self.acknowledge(ack.next);
        self.forget_covered_sample();
        self.transmit(now, self.una, actions);
        self.send_allowed(now, self.recovery_burst(), actions);
    }

    /// Out of line: most ACKs end no recovery.
    #[inline(never)]
    pub(crate) fn finish_recovery(&mut self, now: Time, actions: &mut impl Actions) {
        self.leave_recovery();
        let (before, max) = (self.nxt, self.max);
        self.send_allowed(now, u64::MAX, actions);
        let resent = self.nxt.min(max).saturating_sub(before);
        actions.recovered(Recovered { sent: self.nxt - before, resent, max: self.max });
    }

    /// The ACK that ends fast recovery: RFC 5681 section 3.2 step 6, RFC 6582 section 3.2 step 3, "Full acknowledgments".
    pub(crate) fn leave_recovery(&mut self) {
        self.window.inflation = 0;
        self.phase = Phase::Open;
        if self.rules.dialect == Dialect::Ns2 {
            self.window.open(&self.rules);
            return;
        }
        if self.rules.dialect == Dialect::Engset {
            // [engset, section 3.1]: "on FR, normal operation resumes and the first segment sent is timed", and this ACK
            // increases cwnd = S as any other.
            self.stop_timing();
            self.window.cwnd = self.window.ssthresh;
            self.window.open(&self.rules);
            return;
        }
        self.window.cwnd = match self.rules.recovery {
            Recovery::Newreno => self.window.ssthresh.min((self.max - self.una).max(1) as f64 + 1.0),
            _ => self.window.ssthresh,
        };
    }

    pub(crate) fn react_to_timeout(&mut self) {
        self.window.inflation = 0;
        let half = self.window.half(self.flight_size(), &self.rules);
        match self.rules.dialect {
            Dialect::Ns2 => self.window.cut(half),
            // RFC 5681 section 3.1: a second timeout of the same packet keeps ssthresh.
            Dialect::Rfc if self.has_timed_out() => {}
            // [engset, section 3.1]: "S is left unchanged in case of multiple retransmissions of the same packet", by whichever way.
            Dialect::Engset if self.is_resent() => {}
            // RFC 5681 (4) is an upper bound. What recovery sent for duplicate ACKs counts in FlightSize, though those ACKs
            // say that as much has left the network: the reduction made for this loss already stands.
            Dialect::Rfc if self.phase == Phase::FastRecovery => self.window.cut(half.min(self.window.ssthresh)),
            Dialect::Rfc | Dialect::Engset => self.window.cut(half),
        }
        self.window.restart();
        if self.rules.dialect != Dialect::Ns2 || matches!(self.rules.recovery, Recovery::Reno | Recovery::Newreno) {
            self.dupacks = 0;
        }
        self.limited = 0;
        let repeated = self.note_timeout();
        // [engset, section 3.1]: for subsequent retransmissions of the same packet recover = 0.
        self.recover = if repeated && self.rules.dialect == Dialect::Engset { self.first } else { self.max };
        self.phase = Phase::LossRecovery;
        self.partial_acks = false;
        self.stop_timing();
        self.nxt = self.una;
    }
}
