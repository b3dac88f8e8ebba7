mod ahead;

use base::{RandomStream, Time};
use net::Phase;
use tcp::{Ack, Actions, Segment, Sender};

use crate::flow::ArrivingAck;
use crate::network::Network;
use crate::outbox::Outbox;
use crate::outcome::Outcome;
use crate::scenario::{Scenario, TrafficConfig};
use crate::sender_slot::SenderSlot;
use crate::traffic::Datagrams;
use ahead::MANY_FLOWS;

/// More packets of one flow in flight than this, and nothing limits it.
const MOST_IN_FLIGHT: u64 = 20_000_000;

/// How far a run is.
#[derive(Clone, Debug, PartialEq)]
pub enum Progress {
    /// Not at its end.
    Running,
    /// At its end.
    Finished,
    /// It cannot go on, and why.
    Failed(String),
}

/// One replication of a scenario.
#[derive(Debug)]
pub struct Engine {
    network: Network,
    senders: Vec<SenderSlot>,
    datagrams: Vec<Datagrams>,
    /// The name of each entry of the scenario, and how many flows it stands for.
    entries: Vec<(String, usize)>,
    now: Time,
    events: u64,
    replication: u64,
    /// The flow whose sender was fetched last, and after how many packets from crowds the rest of what it needs is to be; 0: it is.
    upcoming: (u32, u32),
}

impl Engine {
    /// Sets up one replication of a scenario that [`crate::check`] found no fault in.
    pub fn new(scenario: &Scenario, replication: u64) -> Engine {
        let phase = Phase {
            warmup: Time::from_seconds(scenario.run.warmup_s),
            end: Time::from_seconds(scenario.run.duration_s),
        };
        let mut network = Network::new(scenario, replication, phase);
        let stream = |name: &str| RandomStream::named(scenario.run.seed, replication, name);
        let (mut senders, mut datagrams) = (Vec::with_capacity(scenario.flow_count()), Vec::new());
        for (entry, flow) in scenario.flows.iter().enumerate() {
            let own = |number: usize| stream(&format!("flow/{}/traffic", flow.member_name(number)));
            let first_source = network.transfers.add(entry, flow, (0..flow.count).map(own));
            let sender = Sender::new(&flow.sender, flow.size_packets.filter(|_| flow.traffic.is_none()));
            for number in 0..flow.count {
                let spread = match flow.start_spread_s {
                    0.0 => 0.0,
                    spread => spread * stream(&format!("flow/{}", flow.member_name(number))).uniform(),
                };
                let mut start = Time::from_seconds(flow.start_s + spread);
                let index = senders.len();
                network.flows[index].crowded = network.is_crowded(index as u32);
                let mut own_datagrams = None;
                match &flow.traffic {
                    None => {}
                    Some(TrafficConfig::Web { .. }) => {
                        let source = first_source + number as u32;
                        start += network.transfers.draw_silence(source);
                        network.flows[index].source = source;
                    }
                    Some(config) => {
                        let (source, first) = Datagrams::new(config, flow.packet_bytes, start, own(number));
                        start = first;
                        own_datagrams = Some(datagrams.len() as u32);
                        datagrams.push(source);
                    }
                }
                network.flows[index].pending = start;
                senders.push(SenderSlot { sender: sender.clone(), start, datagrams: own_datagrams });
            }
        }
        for (flow, slot) in senders.iter().enumerate() {
            network.events.set(network.first_sender + flow as u32, slot.start);
        }
        let entries = scenario.flows.iter().map(|flow| (flow.name.clone(), flow.count)).collect();
        Engine { network, senders, datagrams, entries, now: Time::ZERO, events: 0, replication, upcoming: (0, 0) }
    }

    /// Share of the run that lies behind, 0 to 1.
    pub fn fraction(&self) -> f64 {
        let end = self.network.phase.end.seconds();
        if end > 0.0 {
            (self.now.seconds() / end).min(1.0)
        } else {
            1.0
        }
    }

    /// Handles so many events at most.
    pub fn advance(&mut self, events: u64) -> Progress {
        if let Some(why) = self.network.observers.as_ref().and_then(|observers| observers.failure(self.now)) {
            return Progress::Failed(why);
        }
        for _ in 0..events {
            let (time, element) = self.network.events.first();
            if time > self.network.phase.end {
                self.now = self.network.phase.end;
                return Progress::Finished;
            }
            self.now = time;
            self.events += 1;
            if element >= self.network.first_sender {
                let flow = element - self.network.first_sender;
                self.on_sender(flow, time);
                if self.senders.len() >= MANY_FLOWS {
                    self.prefetch_for_sender(flow);
                }
                if self.senders[flow as usize].sender.flight_size() > MOST_IN_FLIGHT {
                    return Progress::Failed(self.flood(flow));
                }
            } else if element >= self.network.first_receiver {
                self.network.on_receiver_timer(element - self.network.first_receiver, time);
            } else if element >= self.network.first_crowd {
                self.on_crowd(element, time);
            } else if element >= self.network.first_stream {
                self.network.on_arrival(element - self.network.first_stream, time);
            } else {
                self.network.on_departure(element, time);
            }
        }
        Progress::Running
    }

    /// What the run gave, once it is finished.
    pub fn finish(mut self, cpu_s: f64) -> Outcome {
        for flow in 0..self.senders.len() {
            let cwnd = self.senders[flow].sender.cwnd();
            self.account_cwnd(flow, self.network.phase.end, cwnd);
        }
        // What is no longer needed makes room for what is kept.
        self.senders = Vec::new();
        self.network.tell_last_departures();
        let links = self.network.link_statistics();
        let cells = self.network.channels.as_ref().map_or(0, |channels| channels.events());
        let mut observers = self.network.observers.take();
        let channels = self.network.channels.take();
        let atm = channels.and_then(|channels| observers.as_mut().map(|observers| channels.finish(observers)));
        let traces = observers.map(|observers| observers.finish(atm)).unwrap_or_default();
        let transfers = std::mem::take(&mut self.network.transfers).finish(&self.network.phase);
        Outcome {
            replication: self.replication,
            phase: self.network.phase,
            events: self.events + cells,
            cpu_s,
            flows: self.network.accounts,
            recoveries: self.network.recoveries,
            links,
            transfers,
            traces,
        }
    }

    #[cold]
    fn flood(&self, flow: u32) -> String {
        let mut number = flow as usize;
        let entry = self.entries.iter().find(|(_, count)| {
            let here = number < *count;
            number -= if here { 0 } else { *count };
            here
        });
        let name = entry.map_or(String::new(), |(name, count)| match count {
            1 => name.clone(),
            _ => format!("{name}[{number}]"),
        });
        format!(
            "flow \"{name}\": {MOST_IN_FLIGHT} packets in flight after {:.6} s; nothing on its path limits it: \
             give a link a buffer, or the flow a receiver's window",
            self.now.seconds()
        )
    }

    /// An ACK, the timer, or the start: in this order at the same instant.
    #[inline(always)]
    fn on_sender(&mut self, flow: u32, now: Time) {
        if self.network.flows[flow as usize].crowded {
            return self.on_crowded_sender(flow, now);
        }
        let cwnd = self.senders[flow as usize].sender.cwnd();
        let acks = &mut self.network.acks[flow as usize];
        match acks.front() {
            Some(&ack) if ack.time <= now => {
                acks.pop();
                self.on_ack(flow, now, ack);
            }
            _ => self.on_timer_or_start(flow, now),
        }
        self.follow_cwnd(flow, now, cwnd);
        let ack = self.network.acks[flow as usize].front().map_or(Time::NEVER, |ack| ack.time);
        let next = ack.min(self.senders[flow as usize].next());
        self.network.events.set(self.network.first_sender + flow, next);
    }

    /// As [`Engine::on_sender`], where ACKs wait elsewhere.
    #[inline(never)]
    fn on_crowded_sender(&mut self, flow: u32, now: Time) {
        let cwnd = self.senders[flow as usize].sender.cwnd();
        self.on_timer_or_start(flow, now);
        self.follow_cwnd(flow, now, cwnd);
        let next = self.senders[flow as usize].next();
        self.network.flows[flow as usize].pending = next;
        self.network.events.set(self.network.first_sender + flow, next);
    }

    /// A packet that waited in a crowd has its turn.
    #[inline(never)]
    fn on_crowd(&mut self, element: u32, now: Time) {
        let waiting = self.network.crowd(element);
        let Some((&packet, _)) = waiting.pop() else { return };
        let flow = packet.flow;
        let next = waiting.first();
        self.network.events.set(element, next);
        if self.senders.len() >= MANY_FLOWS {
            self.prefetch_for_crowd(element);
        }
        if element + 1 == self.network.first_receiver {
            self.network.flows[flow as usize].crowded_acks -= 1;
            self.on_crowded_ack(flow, ArrivingAck { time: now, next: packet.sequence, echo: packet.stamp });
        } else if let Some(ack) = self.network.leave_crowd(now, packet) {
            let none_before = self.network.flows[flow as usize].crowded_acks == 0;
            // Both at once: with very many flows, memory is what they wait for.
            if none_before & self.senders[flow as usize].sender.only_opens(ack.time, ack.next) {
                self.on_crowded_ack(flow, ack);
            } else {
                if self.senders.len() >= MANY_FLOWS {
                    self.prefetch_for_seldom_ack(flow, ack.next);
                }
                self.network.wait_for_sender(flow, ack);
            }
        }
    }

    /// As [`Engine::on_sender`], where ACKs wait elsewhere. The timer's event stays where it is while the timer moves on;
    /// one that comes too early finds nothing to do but to be set anew.
    #[inline(never)]
    fn on_crowded_ack(&mut self, flow: u32, ack: ArrivingAck) {
        let now = ack.time;
        let cwnd = self.senders[flow as usize].sender.cwnd();
        self.on_ack(flow, now, ack);
        self.follow_cwnd(flow, now, cwnd);
        let (deadline, slot) = (self.senders[flow as usize].sender.deadline(), &mut self.network.flows[flow as usize]);
        if deadline == Time::NEVER {
            self.wait_for_start(flow);
        } else if deadline < slot.pending {
            slot.pending = deadline;
            self.network.events.advance(self.network.first_sender + flow, deadline);
        }
    }

    /// Nothing is to do for a sender before it starts anew. Apart from it, as most ACKs need not know when that is.
    #[inline(never)]
    fn wait_for_start(&mut self, flow: u32) {
        let (start, slot) = (self.senders[flow as usize].start, &mut self.network.flows[flow as usize]);
        if start != slot.pending {
            slot.pending = start;
            self.network.events.set(self.network.first_sender + flow, start);
        }
    }

    #[cold]
    fn on_timer_or_start(&mut self, flow: u32, now: Time) {
        let slot = &mut self.senders[flow as usize];
        if slot.sender.deadline() <= now {
            slot.sender.on_timer(now, &mut Outbox { network: &mut self.network, flow, now });
        } else if slot.start <= now {
            slot.start = Time::NEVER;
            let datagrams = slot.datagrams;
            if let Some(source) = self.network.flows[flow as usize].source() {
                self.begin_transfer(flow, source, now);
            } else if let Some(source) = datagrams {
                self.send_datagram(flow, source, now);
            } else {
                self.open(flow, now);
            }
        }
    }

    fn open(&mut self, flow: u32, now: Time) {
        let slot = &mut self.senders[flow as usize];
        slot.sender.on_start(now, &mut Outbox { network: &mut self.network, flow, now });
        if let Some(observers) = &mut self.network.observers {
            observers.cwnd(flow, now, &slot.sender);
        }
    }

    /// Both ends begin anew. Packet numbers go on, so that nothing of the last transfer is taken for the new one's.
    #[inline(never)]
    fn begin_transfer(&mut self, flow: u32, source: u32, now: Time) {
        let slot = &mut self.senders[flow as usize];
        let network = &mut self.network;
        slot.sender = network.transfers.begin(source, now, slot.sender.una(), &network.phase);
        network.begin_next_transfer(flow, now);
        // Of repetitions that outlived the last one.
        network.forget_losses(flow);
        self.open(flow, now);
    }

    #[inline(never)]
    fn on_finished(&mut self, flow: u32, now: Time) {
        let slot = &mut self.senders[flow as usize];
        let Some(source) = self.network.flows[flow as usize].source() else {
            let account = self.network.flows[flow as usize].account;
            return self.network.accounts[account as usize].finish_one(now);
        };
        let losses = self.network.forget_losses(flow);
        let transfers = &mut self.network.transfers;
        transfers.end(source, now, &slot.sender, &losses, &self.network.phase);
        slot.start = now + transfers.draw_silence(source);
    }

    #[inline(never)]
    fn send_datagram(&mut self, flow: u32, source: u32, now: Time) {
        let source = &mut self.datagrams[source as usize];
        let segment = Segment { sequence: source.sent, retransmission: false, slow_start: false };
        source.sent += 1;
        self.senders[flow as usize].start = source.next(now);
        Outbox { network: &mut self.network, flow, now }.transmit(segment);
    }

    #[inline(always)]
    fn on_ack(&mut self, flow: u32, now: Time, ack: ArrivingAck) {
        let slot = &mut self.senders[flow as usize];
        let index = self.network.phase.index(now);
        let account = self.network.flows[flow as usize].account;
        let counts = &mut self.network.accounts[account as usize];
        let una = slot.sender.una();
        let fresh = ack.next > una;
        if fresh {
            counts.acked[index] += ack.next - una;
            if index == 1 {
                counts.rtt_sum += u128::from((now - ack.echo).picoseconds());
                counts.rtt_samples += 1;
            }
        } else if ack.next == una && slot.sender.flight_size() > 0 && ack.echo >= slot.sender.opened() {
            counts.duplicate_acks[index] += 1;
        }
        if let Some(observers) = &mut self.network.observers {
            observers.ack(flow, now, ack.next, fresh.then(|| now - ack.echo), &slot.sender);
        }
        let mut outbox = Outbox { network: &mut self.network, flow, now };
        slot.sender.on_ack(now, Ack { next: ack.next, echo: ack.echo }, &mut outbox);
        if fresh && slot.sender.finished() {
            self.on_finished(flow, now);
        }
    }

    /// It was `before`, and may have changed.
    #[inline(always)]
    fn follow_cwnd(&mut self, flow: u32, now: Time, before: f64) {
        if self.senders[flow as usize].sender.cwnd() == before {
            return;
        }
        self.account_cwnd(flow as usize, now, before);
        if let Some(observers) = &mut self.network.observers {
            observers.cwnd(flow, now, &self.senders[flow as usize].sender);
        }
    }

    #[inline(always)]
    fn account_cwnd(&mut self, flow: usize, now: Time, before: f64) {
        let (slot, phase) = (&mut self.network.flows[flow], &self.network.phase);
        let (after, counts) = (self.senders[flow].sender.cwnd(), &mut self.network.accounts[slot.account as usize]);
        if now >= phase.warmup {
            // The window that stood when the measurement began counts too.
            let span = now - slot.since.max(phase.warmup);
            counts.cwnd_area += before * span.picoseconds() as i64 as f64;
            for cwnd in [before, after] {
                if cwnd > counts.cwnd_max {
                    counts.cwnd_max = cwnd;
                }
            }
        }
        slot.since = now;
    }
}
