//! ns-2.35's `Agent/TCP/Sack1` (tcp-sack1.cc): the classic machine with a scoreboard and a count of packets in the pipe.

use base::cast::trunc_to_i64;
use base::{Clock, Time};

use crate::actions::{Ack, Actions, LossCause, Recovered};
use crate::classic::ecn::Cut;
use crate::classic::scoreboard::Scoreboard;
use crate::classic::{Classic, Phase};
use crate::{ClassicConfig, MOST_IN_FLIGHT};

/// A TCP sender with selective acknowledgment by ns-2's rules, which are older than RFC 6675.
///
/// A recovery sends while fewer packets are in the pipe than cwnd has: each ACK takes one from the pipe, one of new data
/// two, and each packet sent adds one. The window, its growth, the timer and slow start are the classic machine's.
#[derive(Clone, Debug)]
pub struct Sack1 {
    classic: Classic,
    scoreboard: Scoreboard,
    /// Number of packets in the network by the recovery's own count (`pipe_`).
    pipe: i64,
    /// Whether the timer expired and no ACK of new data has come since; duplicate ACKs are ignored then (`timeout_`).
    timed_out: bool,
}

impl Sack1 {
    /// Creates a sender of `size` packets (`None`: endless) that has sent nothing yet.
    pub fn new(config: &ClassicConfig, size: Option<u64>, clock: Clock) -> Sack1 {
        Sack1::of(Classic::new(config, size, clock))
    }

    fn of(classic: Classic) -> Sack1 {
        Sack1 { classic, scoreboard: Scoreboard::default(), pipe: 0, timed_out: false }
    }

    /// Creates a sender with the settings of this one for another transfer: see [`Classic::open_at`].
    pub fn open_at(&self, first: u64, size: u64, now: Time) -> Sack1 {
        Sack1::of(self.classic.open_at(first, size, now))
    }

    /// Returns the start of the transfer.
    pub fn opened(&self) -> Time {
        self.classic.opened
    }

    /// Returns the congestion window \[packets\]; ns-2's rules let it fall below one.
    pub fn cwnd(&self) -> f64 {
        self.classic.cwnd()
    }

    /// Returns the slow start threshold \[packets\].
    pub fn ssthresh(&self) -> f64 {
        self.classic.ssthresh()
    }

    /// Returns the number of packets sent and not acknowledged by their number.
    pub fn flight_size(&self) -> u64 {
        self.classic.flight_size()
    }

    /// Returns the first unacknowledged packet.
    pub fn una(&self) -> u64 {
        self.classic.una
    }

    /// Returns the first packet of the transfer.
    pub fn first(&self) -> u64 {
        self.classic.first
    }

    /// Returns the current retransmission timeout.
    pub fn rto(&self) -> Time {
        self.classic.rto()
    }

    /// Returns the instant at which to call [`Sack1::on_timer`]; [`Time::NEVER`] while the timer is off.
    pub fn deadline(&self) -> Time {
        self.classic.deadline
    }

    /// Returns whether the whole transfer is acknowledged.
    pub fn finished(&self) -> bool {
        self.classic.finished()
    }

    /// Returns whether an ACK of all packets below `next` acknowledges the whole transfer.
    pub fn ends_before(&self, next: u64) -> bool {
        self.classic.ends_before(next)
    }

    /// Starts the transfer (without a handshake).
    pub fn on_start(&mut self, now: Time, actions: &mut impl Actions) {
        self.classic.on_start(now, actions);
    }

    /// Handles an ACK that arrives: ns-2 `Sack1TcpAgent::recv`.
    pub fn on_ack(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        if ack.next <= self.classic.una && ack.echo < self.classic.opened {
            return;
        }
        if self.classic.ecn {
            self.classic.take_echo(&ack);
        }
        if self.classic.phase == Phase::FastRecovery {
            return self.on_ack_in_recovery(now, ack, actions);
        }
        if ack.next > self.classic.una {
            self.accept_new_ack(now, ack);
            self.classic.open_window();
            self.classic.conclude_new_ack(&ack);
        } else if ack.next == self.classic.una && !self.timed_out {
            self.on_duplicate_ack(now, ack, actions);
        }
        if self.classic.dupacks == 0 {
            self.send_window(now, actions);
        }
    }

    /// Handles the expiry of the retransmission timer: ns-2 `Sack1TcpAgent::timeout`, `TcpAgent::timeout`.
    pub fn on_timer(&mut self, now: Time, actions: &mut impl Actions) {
        // With cwnd below one packet the timer runs although nothing is outstanding; then nothing was lost.
        let is_loss = self.classic.una < self.classic.max;
        let ssthresh = self.classic.window.ssthresh;
        if is_loss {
            self.classic.report_loss(LossCause::Timeout, actions);
        }
        self.classic.react_to_timeout();
        self.scoreboard.clear();
        self.timed_out = true;
        if is_loss {
            self.classic.rto.back_off(&self.classic.rules.rto);
        } else {
            self.classic.window.ssthresh = ssthresh;
        }
        self.restart_timer(now);
        self.send_window(now, actions);
    }

    /// Accepts an ACK of new data, except for the growth of the window: ns-2 `TcpAgent::newack`.
    fn accept_new_ack(&mut self, now: Time, ack: Ack<'_>) {
        let first = self.classic.una;
        self.classic.acknowledge(ack.next);
        self.classic.dupacks = 0;
        self.classic.sample_rtt(now, ack, first);
        self.restart_timer(now);
        self.timed_out = false;
        self.scoreboard.clear();
    }

    /// Restarts the timer: ns-2 `TcpAgent::newtimer`, which lets it run too while cwnd is below one packet.
    fn restart_timer(&mut self, now: Time) {
        self.classic.restart_timer(now);
        if self.classic.window.cwnd < 1.0 && !self.classic.finished() {
            self.classic.deadline = now + self.classic.rto.timeout();
        }
    }

    /// Handles an ACK of no new data outside of recovery: it counts as a duplicate if its blocks are news.
    fn on_duplicate_ack(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        if !self.scoreboard.update(self.classic.una, ack.selected) {
            return;
        }
        self.classic.dupacks = self.classic.dupacks.saturating_add(1);
        let threshold = self.classic.rules.threshold;
        if self.classic.dupacks == threshold {
            if self.classic.may_fast_retransmit() {
                self.fast_retransmit(now, actions);
            } else if self.classic.was_cut_by_echo() {
                self.classic.report_loss(LossCause::FastRetransmit, actions);
                self.classic.note_repair();
                self.begin_recovery(now, actions);
            }
        } else if self.classic.dupacks < threshold && self.classic.rules.limited_transmit {
            self.classic.send_limited(now, actions);
        }
    }

    /// Reduces the window, and begins a recovery.
    fn fast_retransmit(&mut self, now: Time, actions: &mut impl Actions) {
        self.classic.report_loss(LossCause::FastRetransmit, actions);
        self.classic.recover = self.classic.max;
        self.classic.halve(Cut::Loss);
        self.begin_recovery(now, actions);
    }

    /// Begins a recovery: ns-2 `Sack1TcpAgent::dupack_action`.
    fn begin_recovery(&mut self, now: Time, actions: &mut impl Actions) {
        let classic = &mut self.classic;
        self.pipe = (classic.max - classic.una).cast_signed() - i64::from(classic.rules.threshold);
        classic.stop_timing();
        classic.phase = Phase::FastRecovery;
        self.scoreboard.retransmitted(classic.una);
        self.restart_timer(now);
        self.classic.transmit(now, self.classic.una, actions);
    }

    fn on_ack_in_recovery(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        self.pipe -= 1;
        if ack.next >= self.classic.recover {
            return self.finish_recovery(now, ack, actions);
        }
        if ack.next > self.classic.una {
            self.on_partial_ack(now, ack);
        } else if self.scoreboard.update(self.classic.una, ack.selected) {
            self.classic.dupacks = self.classic.dupacks.saturating_add(1);
        }
        self.send_pipe(now, actions);
    }

    /// Handles a partial ACK: two packets have left the pipe, the retransmission and the packet that was lost.
    fn on_partial_ack(&mut self, now: Time, ack: Ack<'_>) {
        // Deviation: a recovery after the first packet's own timeout can have `nxt` below the ACK; ns-2 goes on there.
        self.classic.acknowledge(ack.next);
        self.scoreboard.update(ack.next, ack.selected);
        self.pipe -= 1;
        self.restart_timer(now);
        // After the timer is set: this one is still backed off.
        self.classic.rto.end_backoff(&self.classic.rules.rto);
    }

    /// Ends a recovery; cwnd stays what it is, and every later loss may be retransmitted fast.
    fn finish_recovery(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        self.classic.phase = Phase::Open;
        self.classic.recover = self.classic.first;
        self.accept_new_ack(now, ack);
        let (before, max) = (self.classic.nxt, self.classic.max);
        self.send_window(now, actions);
        let Classic { nxt, max: highest, .. } = self.classic;
        let resent = nxt.min(max).saturating_sub(before);
        actions.recovered(Recovered { sent: nxt - before, resent, max: highest });
    }

    /// Sends what the window allows outside of recovery: ns-2 `Sack1TcpAgent::send_much`. The scoreboard is empty then.
    fn send_window(&mut self, now: Time, actions: &mut impl Actions) {
        let window = trunc_to_i64(self.classic.window.cwnd).unsigned_abs().min(self.classic.rules.limit_packets);
        let most = self.classic.nxt.saturating_add(MOST_IN_FLIGHT + 1);
        let edge = self.classic.una.saturating_add(window).min(self.classic.end).min(most);
        while self.classic.nxt < edge {
            self.send_next(now, actions);
        }
    }

    /// Sends in recovery while the pipe has room: holes first, then new data.
    fn send_pipe(&mut self, now: Time, actions: &mut impl Actions) {
        let edge = self.classic.una.saturating_add(self.classic.rules.limit_packets);
        while self.pipe < trunc_to_i64(self.classic.window.cwnd) {
            match self.scoreboard.next_hole() {
                Some(hole) if hole < edge => {
                    self.scoreboard.retransmitted(hole);
                    self.classic.transmit(now, hole, actions);
                    self.classic.nxt = self.classic.nxt.max(hole + 1);
                }
                None if self.classic.nxt < edge.min(self.classic.end) => self.send_next(now, actions),
                _ => break,
            }
            self.pipe += 1;
        }
    }

    fn send_next(&mut self, now: Time, actions: &mut impl Actions) {
        self.classic.transmit(now, self.classic.nxt, actions);
        self.classic.nxt += 1;
    }
}
