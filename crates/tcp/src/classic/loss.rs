//! A sender's reaction to losses: duplicate ACKs, partial ACKs, timeouts.

use base::cast::trunc_to_u64;
use base::Time;

use crate::actions::{Ack, Actions, LossCause, LossEvent, Recovered};
use crate::classic::ecn::Cut;
use crate::classic::{Classic, Phase};
use crate::quirks::{FullAck, NewrenoBurst, SecondFastRetransmit, TimeoutSsthresh};
use crate::{PartialAckTimer, Recovery};

impl Classic {
    /// Returns whether an ACK of new data in fast recovery covers some, but not all, packets that were outstanding when
    /// the loss was found: RFC 6582 section 3.2 step 3.
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
                if self.phase == Phase::FastRecovery && !self.rules.quirks.fast_retransmit_sends_new_data {
                    return;
                }
            } else if self.was_cut_by_echo() {
                self.fast_retransmit_after_echo(now, actions);
            }
        } else if self.phase == Phase::FastRecovery {
            // RFC 5681 section 3.2 step 4.
            self.window.inflation += 1;
        }
        self.send_allowed(now, self.recovery_burst(), actions);
    }

    fn recovery_burst(&self) -> u64 {
        match (self.rules.recovery, self.rules.quirks.newreno_burst) {
            (Recovery::Newreno, NewrenoBurst::TwoPackets) => 2,
            _ => u64::MAX,
        }
    }

    pub(crate) fn may_fast_retransmit(&self) -> bool {
        match (self.rules.recovery, self.rules.quirks.second_fast_retransmit) {
            (Recovery::OldTahoe, _) => false,
            (Recovery::Reno, SecondFastRetransmit::RenoOnly) => true,
            // While nothing was lost, `recover` is `first`: the very first packet can be repaired too.
            (_, SecondFastRetransmit::RenoOnly) => self.una > self.recover || self.recover == self.first,
            (_, SecondFastRetransmit::Never) => self.una > self.recover || self.una == self.first + 1,
        }
    }

    fn fast_retransmit(&mut self, now: Time, actions: &mut impl Actions) {
        self.report_loss(LossCause::FastRetransmit, actions);
        self.note_cut(Cut::Loss);
        self.recover = self.max;
        self.stop_timing();
        // RFC 5681 section 3.2 step 2: packets that limited transmit sent do not count.
        let flight_size = self.flight_size() - u64::from(self.limited).min(self.flight_size());
        let half = self.window.half(flight_size, &self.rules);
        self.window.cut(half, &self.rules);
        if self.rules.quirks.fast_retransmit_restarts_timer || !self.rules.recovery.halves_at_loss() {
            self.restart_timer(now);
        }
        if self.rules.recovery.halves_at_loss() {
            self.phase = Phase::FastRecovery;
            self.partial_acks = false;
            self.window.enter_recovery(half, &self.rules);
            if self.ecn {
                // ns-2 `TcpAgent::slowdown`: below one packet too.
                self.window.cwnd = half;
            }
            self.transmit(now, self.una, actions);
        } else {
            self.window.restart();
            self.nxt = self.una;
        }
    }

    /// Handles a partial ACK: RFC 6582 section 3.2 step 3, "Partial acknowledgments".
    #[inline(never)]
    pub(crate) fn on_partial_ack(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        if self.rules.quirks.partial_ack_is_sampled {
            self.sample_rtt(now, ack, self.una);
        }
        if self.rules.partial_ack_timer == PartialAckTimer::SlowButSteady || !self.partial_acks {
            self.restart_timer(now);
        }
        self.partial_acks = true;
        self.window.deflate(ack.next - self.una);
        self.acknowledge(ack.next);
        self.discard_covered_sample();
        self.transmit(now, self.una, actions);
        self.send_allowed(now, self.recovery_burst(), actions);
    }

    /// Ends fast recovery and sends what the window then allows. Out of line, since few ACKs end a recovery.
    #[inline(never)]
    pub(crate) fn finish_recovery(&mut self, now: Time, actions: &mut impl Actions) {
        self.leave_recovery();
        let (before, max) = (self.nxt, self.max);
        self.send_allowed(now, u64::MAX, actions);
        let resent = self.nxt.min(max).saturating_sub(before);
        actions.recovered(Recovered { sent: self.nxt - before, resent, max: self.max });
    }

    /// Handles the ACK that ends fast recovery: RFC 5681 section 3.2 step 6, RFC 6582 section 3.2 step 3, "Full
    /// acknowledgments".
    fn leave_recovery(&mut self) {
        self.window.inflation = 0;
        self.phase = Phase::Open;
        if !self.rules.quirks.recovery_is_timed {
            self.stop_timing();
        }
        match self.rules.quirks.full_ack {
            FullAck::Opens => self.open_window(),
            FullAck::Deflates => self.window.cwnd = self.deflated_window(),
            FullAck::DeflatesAndOpens => {
                self.window.cwnd = self.window.ssthresh;
                self.window.open(&self.rules);
            }
        }
    }

    /// Returns cwnd after fast recovery: ssthresh, for NewReno at most one packet more than are outstanding, so that it
    /// sends no burst.
    fn deflated_window(&self) -> f64 {
        match self.rules.recovery {
            Recovery::Newreno => self.window.ssthresh.min((self.max - self.una).max(1) as f64 + 1.0),
            _ => self.window.ssthresh,
        }
    }

    /// Restarts from one packet after a timeout: RFC 5681 section 3.1.
    pub(crate) fn react_to_timeout(&mut self) {
        self.window.inflation = 0;
        if !self.was_cut_by_echo() {
            self.cut_at_timeout();
        }
        self.note_cut(Cut::Timeout);
        self.window.restart();
        if self.rules.quirks.timeout_resets_tahoe_dupacks || self.rules.recovery.halves_at_loss() {
            self.dupacks = 0;
        }
        self.limited = 0;
        let repeated = self.record_timeout();
        let resets_recover = repeated && self.rules.quirks.repeated_timeout_resets_recover;
        self.recover = if resets_recover { self.first } else { self.max };
        self.phase = Phase::LossRecovery;
        self.partial_acks = false;
        self.stop_timing();
        self.nxt = self.una;
    }

    /// Lowers ssthresh at a timeout, unless it holds the reduction for this loss already.
    fn cut_at_timeout(&mut self) {
        let half = self.window.half(self.flight_size(), &self.rules);
        match self.rules.quirks.timeout_ssthresh {
            TimeoutSsthresh::Always => self.window.cut(half, &self.rules),
            TimeoutSsthresh::UnlessTimedOut if self.has_timed_out() => {}
            TimeoutSsthresh::UnlessRetransmitted if self.is_resent() => {}
            // RFC 5681 (4) is an upper bound. FlightSize includes the packets that recovery sent for duplicate ACKs,
            // although those ACKs show that as many packets have left the network: the earlier reduction remains valid.
            TimeoutSsthresh::UnlessTimedOut if self.phase == Phase::FastRecovery => {
                self.window.cut(half.min(self.window.ssthresh), &self.rules);
            }
            TimeoutSsthresh::UnlessTimedOut | TimeoutSsthresh::UnlessRetransmitted => {
                self.window.cut(half, &self.rules)
            }
        }
    }

    pub(crate) fn report_loss(&self, cause: LossCause, actions: &mut impl Actions) {
        actions.loss(LossEvent {
            sequence: self.una,
            cause,
            slow_start: self.in_slow_start(),
            retransmission: self.is_resent(),
            repaired: false,
            in_recovery: self.phase == Phase::FastRecovery,
            repeated: self.has_timed_out(),
            index: self.una - self.first,
            remaining: (self.end != u64::MAX).then(|| self.end - self.una),
            window: trunc_to_u64(self.window.cwnd).min(self.rules.limit_packets),
            max: self.max,
        });
    }

    /// Records a timeout of the first unacknowledged packet; returns whether it had timed out before.
    pub(crate) fn record_timeout(&mut self) -> bool {
        std::mem::replace(&mut self.timed_out, self.una) == self.una
    }

    /// Returns whether the first unacknowledged packet has timed out.
    pub(crate) fn has_timed_out(&self) -> bool {
        self.timed_out == self.una
    }

    /// Returns whether the first unacknowledged packet was retransmitted.
    pub(crate) fn is_resent(&self) -> bool {
        self.una < self.resent
    }
}
