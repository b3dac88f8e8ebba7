//! The sender that hosts run today: selective acknowledgment, loss detection by time, proportional rate reduction, and
//! a congestion control of its own.
//!
//! States, events and their order are Linux's (`tcp_ack`, `tcp_fastretrans_alert` in `tcp_input.c`): an ACK cleans the
//! scoreboard, losses are detected, the state follows, the congestion control or PRR sets the window, and then what the
//! window allows is sent, retransmissions first.

mod application;
mod control;
mod detection;
mod duplicates;
mod ecn;
mod handshake;
mod in_order;
mod marks;
mod observation;
mod pace;
mod push;
mod rack;
mod rate;
mod recovery;
mod rtt;
mod rules;
mod scoreboard;
mod search;
#[cfg(test)]
mod tests;
mod timers;
mod transmission;
mod undo;

use std::sync::Arc;

use base::cast::{low_u32, to_index, to_u32, trunc_to_u32};
use base::{Clock, Time};
use serde::Deserialize;

use crate::actions::{Ack, Actions};
use crate::cc::{CongestionControl, Window};
use crate::{Ecn, Pacing, SelectiveConfig};
use application::Written;
use detection::Seen;
pub use observation::{SenderEvent, SenderEvents, SenderView};
use pace::Pacer;
use push::Pushes;
use rack::Rack;
use rate::Rate;
use recovery::Reduction;
use rtt::{MinRtt, Rtt};
use rules::Rules;
use scoreboard::Scoreboard;
use timers::Timer;
use transmission::Usage;
use undo::Undo;

/// The state of congestion, with Linux's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub enum State {
    /// Normal operation: no packet is missing, and no reduction goes on.
    Open,
    /// Packets are missing or reordered, and none is taken to be lost yet.
    Disorder,
    /// The window comes down although no packet is taken to be lost.
    #[serde(rename = "CWR")]
    Cwr,
    /// Lost packets are retransmitted.
    Recovery,
    /// The retransmission timer expired.
    Loss,
}

/// A TCP sender with selective acknowledgment.
#[derive(Clone, Debug)]
pub struct Selective {
    rules: Arc<Rules>,
    board: Scoreboard,
    /// First packet of the transfer.
    first: u64,
    /// One past its last packet.
    end: u64,
    /// Start of the transfer.
    opened: Time,
    last_sent: Time,
    /// Arrival of the last ACK, whose timestamp data echo; of one that was longer on its way, when it would have come without.
    heard: Time,
    /// Part of it that the application has written.
    written: Written,
    /// Packets among them that have the flag PSH.
    pushes: Pushes,
    /// Packets that the receiver's window allows beyond SND.UNA.
    receiver_window: u64,
    state: State,
    window: Window,
    control: Box<dyn CongestionControl>,
    reduction: Reduction,
    undo: Undo,
    rack: Rack,
    rtt: Rtt,
    min_rtt: MinRtt,
    timer: Timer,
    pacer: Pacer,
    /// Samples of the delivery rate, if the control or a trace needs them.
    rate: Option<Box<Rate>>,
    usage: Usage,
    /// SND.NXT when the state was entered: the state ends once it is acknowledged (Linux `high_seq`).
    high: u64,
    /// Packets beyond a hole that show a loss (Linux `reordering`).
    reordering: u32,
    reordering_seen: bool,
    /// SND.NXT when a probe was sent (RFC 8985 section 7.3, TLP.end_seq), and whether it repeated a packet.
    probe: Option<(u64, bool)>,
    /// Whether it is not yet known if the timeout was spurious (RFC 5682).
    frto: bool,
    /// Explicit congestion notification of this connection: the configured one, unless the handshake turned it off.
    ecn: Ecn,
    /// Whether the next new packet announces a reduction (CWR, RFC 3168).
    announces_reduction: bool,
    /// Marks that ACKs have counted, modulo 8 (s.cep of RFC 9768).
    counted: u8,
    /// Timeouts since SND.UNA advanced last.
    timeouts: u32,
    /// Retransmissions, and duplicates that the receiver reported, in all.
    total_retransmitted: u64,
    duplicates: u64,
    /// Events that no observer has taken.
    events: SenderEvents,
}

/// The parts of a sender that own memory, which stays from one transfer to the next.
#[derive(Debug)]
struct Memory {
    board: Scoreboard,
    rack: Rack,
    control: Box<dyn CongestionControl>,
    pushes: Pushes,
}

impl Memory {
    /// Forgets the transfer before, for one that begins with packet `first`.
    fn restart(&mut self, rules: &Rules, first: u64) {
        self.board.restart(first, rules.config.sack, rules.needs.rate && rules.needs.losses);
        self.rack.restart();
        self.control.restart();
        self.pushes.restart();
    }
}

/// Packets to be sent in addition to what the window allows (Linux `REXMIT_`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Repair {
    Nothing,
    Lost,
    /// New data first, to find out whether the timeout was spurious (RFC 5682 step 2b).
    New,
}

impl Selective {
    /// Creates a sender of `size` packets (`None`: endless) that has sent nothing yet.
    pub fn new(config: &SelectiveConfig, size: Option<u64>, clock: Clock) -> Selective {
        Selective::with_rules(Arc::new(Rules::new(config, clock)), 0, size.unwrap_or(u64::MAX))
    }

    fn with_rules(rules: Arc<Rules>, first: u64, end: u64) -> Selective {
        let memory = Memory {
            board: Scoreboard::default(),
            rack: Rack::default(),
            control: rules.control.clone(),
            pushes: Pushes::default(),
        };
        Selective::with_memory(rules, memory, first, end)
    }

    fn with_memory(rules: Arc<Rules>, mut memory: Memory, first: u64, end: u64) -> Selective {
        memory.restart(&rules, first);
        let (Memory { board, rack, control, pushes }, config) = (memory, &rules.config);
        Selective {
            board,
            first,
            end,
            opened: Time::ZERO,
            last_sent: Time::ZERO,
            heard: Time::ZERO,
            written: Written::nothing(&rules, first),
            pushes,
            receiver_window: rules.limit,
            state: State::Open,
            window: Window { cwnd: config.initial_window, ssthresh: config.initial_ssthresh.unwrap_or(f64::INFINITY) },
            control,
            reduction: Reduction::default(),
            undo: Undo::default(),
            rack,
            rtt: Rtt::NONE,
            min_rtt: MinRtt::NONE,
            timer: Timer::new(rules.rto_initial, &rules.wheel),
            pacer: Pacer::new(rules.needs.pacing || config.pacing != Pacing::None),
            rate: rules.samples_rate().then(|| Box::new(Rate::new(rules.kernel_clock))),
            usage: Usage::default(),
            high: first,
            reordering: config.dupack_threshold,
            reordering_seen: false,
            probe: None,
            frto: false,
            ecn: config.ecn,
            announces_reduction: false,
            counted: ecn::FIRST_COUNT,
            timeouts: 0,
            total_retransmitted: 0,
            duplicates: 0,
            events: SenderEvents::default(),
            rules,
        }
    }

    /// Becomes the sender of a new connection with the same settings, for a transfer of `size` packets that begins `now`,
    /// numbered from `first` on. What it has allocated stays.
    pub fn reopen_at(&mut self, first: u64, size: u64, now: Time) {
        let memory = Memory {
            board: std::mem::take(&mut self.board),
            rack: std::mem::take(&mut self.rack),
            control: std::mem::take(&mut self.control),
            pushes: std::mem::take(&mut self.pushes),
        };
        *self = Selective::with_memory(Arc::clone(&self.rules), memory, first, first.saturating_add(size));
        self.opened = now;
    }

    /// Starts the transfer.
    pub fn on_start(&mut self, now: Time, actions: &mut impl Actions) {
        (self.opened, self.heard) = (now, now);
        self.events.add(SenderEvent::Start);
        self.control.on_start(now, self.rtt.smoothed(), self.min_rtt.get(), &mut self.window);
        self.start_pacing();
        self.open_buffer(now);
        self.run_application(now, actions);
        self.report_failure(actions);
    }

    /// Handles an ACK that arrives (Linux `tcp_ack`, `tcp_data_snd_check`).
    pub fn on_ack(&mut self, now: Time, ack: Ack<'_>, actions: &mut impl Actions) {
        let una = self.board.una();
        if ack.next < una || ack.next > self.board.nxt() || ack.echo < self.opened {
            return;
        }
        if self.board.outstanding() == 0 {
            return self.on_ack_of_nothing(now, &ack, actions);
        }
        if self.is_in_order(&ack) {
            return match self.pacer.is_on() || self.rate.is_some() {
                false => self.on_ack_in_order::<false>(now, &ack, actions),
                true => self.on_ack_in_order::<true>(now, &ack, actions),
            };
        }
        self.on_any_ack(now, &ack, actions);
    }

    /// Handles an ACK in any state, with or without news.
    #[inline(never)]
    fn on_any_ack(&mut self, now: Time, ack: &Ack<'_>, actions: &mut impl Actions) {
        let una = self.board.una();
        if self.pacer.deadline() <= now {
            // The pacer's timer runs before what the network has received (Linux: a soft timer raises no `NET_RX`).
            self.release(now, actions);
        }
        self.heard = now - ack.waited;
        let (delivered, lost, in_flight) = (self.board.delivered, self.board.marked_lost, self.board.in_flight());
        let (in_recovery, mut seen) = (self.state == State::Recovery, Seen::default());
        self.take_in(now, ack, &mut seen);
        self.undo.acked = low_u32(self.board.una() - una);
        self.read_ace(ack, to_u32(to_index(self.board.delivered - delivered)), &mut seen);
        let mut sample = self.sample(now, delivered, in_flight, &seen);
        self.control.measure(&sample, &self.window);
        if let Some((end, repeated)) = self.probe {
            self.judge_probe(now, end, repeated, ack, &seen);
        }
        let mut repair = Repair::Nothing;
        if seen.is_dubious() || self.state != State::Open {
            repair = self.react(now, una, ack, &mut seen, actions);
        }
        if seen.restarts_timer {
            self.set_timer(now);
        }
        sample.acked = to_u32(to_index(self.board.delivered - delivered));
        sample.lost_total = self.board.marked_lost;
        sample.lost = to_u32(to_index(sample.lost_total - lost));
        self.control_window(&mut sample, &seen);
        let before = (self.board.nxt(), self.total_retransmitted);
        self.repair(now, repair, actions);
        self.send_and_check_room(now, actions);
        self.run_application(now, actions);
        if self.board.una() == self.end {
            self.pacer.stop();
        }
        if in_recovery && self.state == State::Open {
            self.report_recovered(before, actions);
        }
        self.report_failure(actions);
        self.go_ahead(actions);
    }

    /// Returns whether an ACK that arrives at `time` may be handled before, as [`crate::Sender::may_take_ahead`] says. If
    /// packets are missing, RACK must find the lost ones, on a path that keeps their order.
    #[inline(always)]
    pub fn may_take_ahead(&self, time: Time, next: u64, news: bool, in_order: bool) -> bool {
        let intact = self.state == State::Open && self.board.is_intact() && self.probe.is_none();
        let suits = (intact && !news && next > self.board.una()) || (in_order && self.rules.finds_by_time);
        suits && next >= self.board.una() && next < self.end && time <= self.deadline_before(time)
    }

    /// Reports that a congestion control which the run brought along cannot go on.
    #[inline]
    fn report_failure(&mut self, actions: &mut impl Actions) {
        if self.rules.config.congestion_control.provided.is_some() {
            if let Some(why) = self.control.failure() {
                actions.fail(why);
            }
        }
    }

    /// Returns whether PRR sets the window (Linux `tcp_in_cwnd_reduction`).
    fn is_reducing(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    /// Returns cwnd in whole packets.
    fn cwnd_packets(&self) -> u32 {
        trunc_to_u32(self.window.cwnd).max(1)
    }

    /// Returns the congestion window \[packets\].
    pub fn cwnd(&self) -> f64 {
        self.window.cwnd
    }

    /// Returns the slow start threshold \[packets\].
    pub fn ssthresh(&self) -> f64 {
        self.window.ssthresh
    }

    /// Returns the state of congestion.
    pub fn state(&self) -> State {
        self.state
    }

    /// Returns the number of packets that are taken to be in the network (RFC 6675's pipe).
    pub fn flight_size(&self) -> u64 {
        u64::from(self.board.in_flight())
    }

    /// Returns SND.UNA, the first packet that is not acknowledged.
    pub fn una(&self) -> u64 {
        self.board.una()
    }

    /// Returns whether the whole transfer is acknowledged.
    pub fn finished(&self) -> bool {
        self.board.una() >= self.end
    }

    /// Returns SND.NXT, the next packet that has not been sent.
    pub fn nxt(&self) -> u64 {
        self.board.nxt()
    }

    /// Returns the first packet of the transfer.
    pub fn first(&self) -> u64 {
        self.first
    }

    /// Returns the start of the transfer.
    pub fn opened(&self) -> Time {
        self.opened
    }

    /// Returns one past the last packet of the transfer.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// Returns the current retransmission timeout.
    pub fn rto(&self) -> Time {
        self.timer.rto()
    }

    /// Returns the instant at which to call [`Selective::on_timer`]; [`Time::NEVER`] while nothing waits for one.
    pub fn deadline(&self) -> Time {
        self.deadline_before(Time::NEVER)
    }

    /// Returns the deadline if it is before `limit`; else an instant that is not, [`Time::NEVER`] only for that.
    #[inline(always)]
    pub fn deadline_before(&self, limit: Time) -> Time {
        let others = self.pacer.deadline().min(self.written.next());
        match self.timer.earliest() {
            // The timer does not fire before this instant.
            earliest if earliest >= limit.min(others) => earliest.min(others),
            _ => self.timer.deadline(&self.rules.wheel).min(others),
        }
    }
}
