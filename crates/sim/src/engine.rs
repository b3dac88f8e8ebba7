mod acks;
mod ahead;
mod batches;
mod flood;
mod handshakes;
mod senders;
#[cfg(test)]
pub(crate) mod tests;
mod transfers;

use base::cast::to_u32;
use base::{PacketKind, RandomStream, Time};
use net::Measurement;
use tcp::{Selected, Sender, MOST_IN_FLIGHT};

use crate::flow::ArrivingAck;
use crate::handshake::Handshake;
use crate::network::{EventId, Network};
use crate::outbox::Outbox;
use crate::outcome::Outcome;
use crate::scenario::{ElementConfig, Scenario};
use crate::sender_slot::SenderSlot;
use crate::traffic::Datagrams;
use acks::{pass_ack, report_state};
use ahead::{Upcoming, MANY_FLOWS};

/// The state of a run.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// The run has not reached its end.
    Running,
    /// The run has reached its end.
    Finished,
    /// The run cannot go on, with the reason.
    Failed(String),
}

/// One replication of a scenario.
#[derive(Debug)]
pub struct Engine {
    network: Network,
    senders: Vec<SenderSlot>,
    datagrams: Vec<Datagrams>,
    /// Name and number of flows of each entry of the scenario.
    entries: Vec<(String, usize)>,
    now: Time,
    events: u64,
    /// First instant before whose event a batch or the run ends.
    stop: Time,
    counted: flood::Counted,
    /// Packets in flight of all flows from which on nothing limits them.
    most_in_flight: u64,
    replication: u64,
    upcoming: Upcoming,
    /// Packets that the ACK of this moment acknowledges selectively.
    selected: Vec<Selected>,
    /// Whether no element lets packets of a flow overtake one another.
    keeps_order: bool,
}

impl Engine {
    /// Sets up one replication of a scenario that [`crate::check`] found no fault in.
    pub fn new(scenario: &Scenario, replication: u64) -> Engine {
        let clock = scenario.clock();
        let measurement =
            Measurement { warmup: clock.time(scenario.run.warmup_s), end: clock.time(scenario.run.duration_s) };
        let entries = scenario.flows.iter().map(|flow| (flow.name.clone(), flow.count)).collect();
        let mut engine = Engine {
            network: Network::new(scenario, replication, measurement, clock),
            senders: Vec::with_capacity(scenario.flow_count()),
            datagrams: Vec::new(),
            entries,
            now: Time::ZERO,
            events: 0,
            stop: Time::ZERO,
            counted: flood::Counted::default(),
            most_in_flight: MOST_IN_FLIGHT,
            replication,
            upcoming: Upcoming::default(),
            selected: Vec::new(),
            keeps_order: scenario.elements.iter().all(ElementConfig::keeps_order),
        };
        for (entry, flow) in scenario.flows.iter().enumerate() {
            engine.add_senders(entry, flow, &|name| RandomStream::named(scenario.run.seed, replication, name));
        }
        engine
    }

    /// Returns the memory that the recorded rows take so far \[bytes\].
    pub fn trace_bytes(&self) -> u64 {
        let cells = self.network.channels.as_ref().map_or(0, |channels| channels.trace_bytes());
        self.network.observers.as_ref().map_or(0, |observers| observers.trace_bytes() + cells)
    }

    /// Returns the fraction of the run that is done, 0 to 1.
    pub fn fraction(&self) -> f64 {
        let end = self.network.measurement.end;
        if end > Time::ZERO {
            (self.now.ticks() as f64 / end.ticks() as f64).min(1.0)
        } else {
            1.0
        }
    }

    /// Handles at most this number of events.
    pub fn advance(&mut self, events: u64) -> Progress {
        if let Some(why) = self.network.observers.as_ref().and_then(|observers| observers.failure(self.now)) {
            return Progress::Failed(why);
        }
        let progress = self.handle(events);
        self.count_in_flight();
        match &self.network.failure {
            Some((flow, at, why)) => Progress::Failed(self.failed(*flow, *at, why)),
            None => progress,
        }
    }

    /// Handles at most this number of events, as long as nothing fails.
    fn handle(&mut self, events: u64) -> Progress {
        for _ in 0..events {
            let (time, number) = self.network.events.first();
            if time >= self.stop && !self.pass(time) {
                self.now = self.network.measurement.end;
                return Progress::Finished;
            }
            self.now = time;
            self.events += 1;
            match self.network.numbers.id(number) {
                EventId::Sender(flow) => self.on_sender(flow, time),
                EventId::SharedAcks => self.on_shared_acks(time),
                EventId::Acks(stream) => self.on_acks(stream, time),
                EventId::SharedMerge(merge) => self.on_shared_merge(merge, time),
                EventId::Merge(merge) => self.network.on_merge(merge, time),
                EventId::Queue(index) => self.network.on_queue(index, time),
                EventId::ReceiverTimer(timer) => self.network.on_receiver_timer(timer, time),
                EventId::Pipe(pipe) => self.network.on_pipe(pipe, time),
                EventId::Channels => self.network.on_channels(time),
            }
        }
        Progress::Running
    }

    /// Returns the results of a finished run.
    pub fn finish(mut self, cpu_s: f64) -> Outcome {
        for flow in 0..to_u32(self.senders.len()) {
            let slot = &self.senders[flow as usize];
            // Datagrams have no congestion window, nor has a flow that has not started.
            if slot.datagrams.is_none() && self.network.flows[flow as usize].since != Time::NEVER {
                self.add_cwnd(flow, self.network.measurement.end, [slot.sender.cwnd(); 2]);
            }
        }
        let batches = self.finish_batches();
        // The memory is free for the results.
        self.senders = Vec::new();
        self.network.report_last_departures();
        let links = self.network.link_statistics();
        let delays = self.network.take_delays();
        let cells = self.network.channels.as_ref().map_or(0, |channels| channels.events());
        let sack_logs = self.network.take_sack_logs();
        let mut observers = self.network.observers.take();
        let channels = self.network.channels.take();
        let atm = channels.and_then(|channels| observers.as_mut().map(|observers| channels.finish(observers)));
        let traces = observers.map(|observers| observers.finish(atm, sack_logs)).unwrap_or_default();
        let network = &mut self.network;
        network.accounts.iter_mut().for_each(|account| account.close(network.measurement.end));
        let transfers = std::mem::take(&mut network.transfers).finish(&network.measurement);
        let completions = network.completions.finish();
        let pings = network.pings.finish();
        Outcome {
            clock: network.clock,
            replication: self.replication,
            measurement: self.network.measurement,
            events: self.events + self.network.handled_ahead + self.network.feeds.handled() + cells,
            cpu_s,
            classes: self.network.class_rows(),
            flows: self.network.accounts,
            recoveries: self.network.recoveries,
            links,
            offered: self.network.offered,
            delays,
            transfers,
            completions,
            pings,
            batches,
            traces,
        }
    }

    #[cold]
    fn failed(&self, flow: u32, at: Time, why: &str) -> String {
        format!("flow \"{}\" at {:.6} s: {why}", self.flow_name(flow), self.network.clock.seconds(at))
    }

    /// Handles the event of a sender: at equal instants an ACK, then the timer, then the start.
    #[inline(always)]
    fn on_sender(&mut self, flow: u32, now: Time) {
        let deadline = match self.network.pop_ack(flow, now) {
            Some(ack) => self.take_ack(flow, &ack, true),
            None => {
                self.on_timer_or_start(flow, now);
                self.deadline(flow)
            }
        };
        let next = self.network.next_ack(flow).min(self.senders[flow as usize].next(deadline));
        self.network.schedule_sender(flow, next);
        self.is_flooded_by(flow);
        if self.senders.len() >= MANY_FLOWS {
            self.prefetch_for_sender(flow);
        }
    }

    /// Forwards the first packet of a shared merge point; handles at once an ACK that it causes, if nobody else can
    /// notice.
    #[inline(never)]
    fn on_shared_merge(&mut self, merge: u32, now: Time) {
        let Some(&packet) = self.network.shared_merge(merge).pop() else { return };
        self.network.schedule_shared_merge(merge);
        if self.senders.len() >= MANY_FLOWS {
            self.prefetch_for_merge(merge);
        }
        let flow = packet.flow;
        // By reference: a copy of it would be read before it is written whole, as in `Network::forward_merged`.
        let arriving = self.network.forward_merged(now, packet.hop + 1, &packet);
        let Some(ack) = &arriving else { return };
        let slot = &self.network.flows[flow as usize];
        let is_next = (slot.shared_acks == 0) & (ack.kind == PacketKind::Ack);
        let (sender, news) = (&self.senders[flow as usize].sender, !slot.receiver.announces_windows_alone(ack.journal));
        // Both at once: with very many flows each waits for memory.
        if is_next & sender.may_take_ahead(ack.time, ack.next, news, self.keeps_order) {
            self.take_shared_ack(flow, ack);
        } else {
            if self.senders.len() >= MANY_FLOWS {
                self.prefetch_for_rare_ack(flow, ack.next);
            }
            self.network.share_ack(flow, ack);
        }
    }

    /// Handles the first of the ACKs that wait in one queue for all senders.
    #[inline(never)]
    fn on_shared_acks(&mut self, now: Time) {
        let Some((flow, ack)) = self.network.pop_shared_ack(now) else { return };
        if self.senders.len() >= MANY_FLOWS {
            self.prefetch_for_acks();
        }
        self.take_shared_ack(flow, &ack);
    }

    /// Handles an ACK of a sender that has no queue of its own for ACKs.
    ///
    /// The event of such a sender is its timer or its start alone. It stays where it is while the timer moves on: an
    /// event that finds nothing to do is only scheduled again. Returns whether the run cannot go on, as
    /// [`Engine::is_flooded_by`] does.
    #[inline(never)]
    fn take_shared_ack(&mut self, flow: u32, ack: &ArrivingAck) -> bool {
        let (deadline, slot) = (self.take_ack(flow, ack, false), &mut self.network.flows[flow as usize]);
        if deadline == Time::NEVER {
            self.wait_for_start(flow);
        } else if deadline < slot.pending {
            slot.pending = deadline;
            self.network.events.advance(self.network.numbers.number(EventId::Sender(flow)), deadline);
        }
        self.is_flooded_by(flow)
    }

    /// Schedules the next start of a sender that has nothing else to do. Out of line: few ACKs end a transfer.
    #[inline(never)]
    fn wait_for_start(&mut self, flow: u32) {
        let start = self.senders[flow as usize].start;
        if start != self.network.flows[flow as usize].pending {
            self.network.schedule_sender(flow, start);
        }
    }

    /// Handles a timeout, or the start of a transfer or of a flow; an event that came too early is neither.
    #[cold]
    fn on_timer_or_start(&mut self, flow: u32, now: Time) {
        let cwnd = self.senders[flow as usize].sender.cwnd();
        let slot = &mut self.senders[flow as usize];
        if slot.sender.deadline() <= now {
            slot.sender.on_timer(now, &mut Outbox { network: &mut self.network, flow, now, reschedules: true });
        } else if slot.start <= now {
            slot.start = Time::NEVER;
            if self.network.handshakes.get(&flow).is_some_and(Handshake::goes_on) {
                return self.request(flow, now);
            }
            let slot = &mut self.senders[flow as usize];
            let datagrams = slot.datagrams;
            if let Some(source) = self.network.flows[flow as usize].source() {
                self.begin_transfer(flow, source, now);
            } else if let Some(source) = datagrams {
                self.send_datagram(flow, source, now);
            } else {
                let account = self.network.flows[flow as usize].account;
                self.network.accounts[account as usize].open(now);
                self.open(flow, now);
            }
        } else {
            return;
        }
        if let Sender::Selective(sender) = &mut self.senders[flow as usize].sender {
            report_state(&mut self.network, flow, now, sender);
        }
        self.account_cwnd_since(flow, now, cwnd);
    }

    /// Passes an ACK to its sender, as [`pass_ack`] does; returns when the sender's timer expires then.
    #[inline(always)]
    fn take_ack(&mut self, flow: u32, ack: &ArrivingAck, reschedules: bool) -> Time {
        let (network, selected) = (&mut self.network, &mut self.selected);
        // The machine is looked up once: an ACK asks it for much.
        let taken = match &mut self.senders[flow as usize].sender {
            Sender::Classic(sender) => pass_ack(sender, network, selected, flow, ack, false),
            Sender::Sack1(sender) => pass_ack(&mut **sender, network, selected, flow, ack, false),
            Sender::Selective(sender) => {
                let taken = pass_ack(&mut **sender, network, selected, flow, ack, reschedules);
                if taken.is_some() {
                    report_state(network, flow, ack.time, sender);
                }
                taken
            }
        };
        let Some(taken) = taken else {
            self.take_answer(flow, ack);
            return self.deadline(flow);
        };
        if taken.finished {
            self.on_finished(flow, ack.time);
        }
        if taken.cwnd[0] != taken.cwnd[1] {
            self.account_cwnd(flow, ack.time, taken.cwnd);
        }
        if taken.finished {
            return self.deadline(flow);
        }
        taken.deadline
    }

    /// Returns when the timer of a sender expires.
    #[inline(always)]
    fn deadline(&self, flow: u32) -> Time {
        self.senders[flow as usize].sender.deadline()
    }

    /// Accounts for a congestion window that may have changed from `before`.
    fn account_cwnd_since(&mut self, flow: u32, now: Time, before: f64) {
        let after = self.senders[flow as usize].sender.cwnd();
        if after != before {
            self.account_cwnd(flow, now, [before, after]);
        }
    }

    /// Accounts for a congestion window that has changed from the first to the second value.
    #[inline(always)]
    fn account_cwnd(&mut self, flow: u32, now: Time, cwnd: [f64; 2]) {
        self.add_cwnd(flow, now, cwnd);
        if let Some(observers) = &mut self.network.observers {
            observers.cwnd(flow, now, &self.senders[flow as usize].sender);
        }
    }

    /// Adds the congestion window since its last change, the first value, to its average.
    #[inline(always)]
    fn add_cwnd(&mut self, flow: u32, now: Time, [before, after]: [f64; 2]) {
        let (slot, measurement) = (&mut self.network.flows[flow as usize], &self.network.measurement);
        let counts = &mut self.network.accounts[slot.account as usize];
        if now >= measurement.warmup {
            // The window at the start of the measurement counts too.
            let span = now - slot.since.max(measurement.warmup);
            counts.cwnd_area += before * span.ticks() as f64;
            for cwnd in [before, after] {
                if cwnd > counts.cwnd_max {
                    counts.cwnd_max = cwnd;
                }
            }
        }
        slot.since = now;
    }
}
