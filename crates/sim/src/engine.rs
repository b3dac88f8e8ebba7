use base::{Packet, PacketKind, RandomStream, Time};
use net::Phase;
use tcp::{Ack, Actions, Loss, LossCause, Segment, Sender};

use crate::network::{ArrivingAck, FlowSlot, Network};
use crate::outcome::Outcome;
use crate::scenario::{FlowConfig, Scenario};

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

#[derive(Debug)]
struct SenderSlot {
    sender: Sender,
    start: Time,
    packet_bytes: u16,
    /// cwnd since when.
    cwnd: f64,
    since: Time,
}

/// One replication of a scenario.
#[derive(Debug)]
pub struct Engine {
    network: Network,
    senders: Vec<SenderSlot>,
    names: Vec<String>,
    now: Time,
    events: u64,
    replication: u64,
}

impl Engine {
    /// Sets up one replication of a scenario that [`crate::check`] found no fault in.
    pub fn new(scenario: &Scenario, replication: u64) -> Engine {
        let phase = Phase {
            warmup: Time::from_seconds(scenario.run.warmup_s),
            end: Time::from_seconds(scenario.run.duration_s),
        };
        let mut network = Network::new(scenario, replication, phase);
        let slot = |flow: &FlowConfig| {
            let mut random = RandomStream::named(scenario.run.seed, replication, &format!("flow/{}", flow.name));
            SenderSlot {
                sender: Sender::new(&flow.sender, flow.size_packets),
                start: Time::from_seconds(flow.start_s + random.uniform() * flow.start_spread_s),
                packet_bytes: flow.packet_bytes,
                cwnd: flow.sender.initial_window,
                since: Time::ZERO,
            }
        };
        let senders: Vec<SenderSlot> = scenario.flows.iter().map(slot).collect();
        for (flow, slot) in senders.iter().enumerate() {
            network.events.set(network.first_sender + flow as u32, slot.start);
        }
        let names = scenario.flows.iter().map(|flow| flow.name.clone()).collect();
        Engine { network, senders, names, now: Time::ZERO, events: 0, replication }
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
                if self.senders[flow as usize].sender.flight_size() > MOST_IN_FLIGHT {
                    return Progress::Failed(self.flood(flow));
                }
            } else if element >= self.network.first_receiver {
                self.network.on_receiver_timer(element - self.network.first_receiver, time);
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
            self.account_cwnd(flow, self.network.phase.end);
        }
        self.network.tell_last_departures();
        let links = self.network.link_statistics();
        let traces = self.network.observers.take().map(|observers| observers.finish()).unwrap_or_default();
        Outcome {
            replication: self.replication,
            phase: self.network.phase,
            events: self.events,
            cpu_s,
            flows: self.network.flows.iter().map(|flow| flow.statistics).collect(),
            recoveries: self.network.recovery_statistics(),
            links,
            traces,
        }
    }

    #[cold]
    fn flood(&self, flow: u32) -> String {
        format!(
            "flow \"{}\": {MOST_IN_FLIGHT} packets in flight after {:.6} s; nothing on its path limits it: \
             give a link a buffer, or the flow a receiver's window",
            self.names[flow as usize],
            self.now.seconds()
        )
    }

    /// An ACK, the timer, or the start: in this order at the same instant.
    #[inline(always)]
    fn on_sender(&mut self, flow: u32, now: Time) {
        let acks = &mut self.network.flows[flow as usize].acks;
        match acks.front() {
            Some(&ack) if ack.time <= now => {
                acks.pop();
                self.on_ack(flow, now, ack);
            }
            _ => self.on_timer_or_start(flow, now),
        }
        self.follow_cwnd(flow, now);
        let slot = &self.senders[flow as usize];
        let ack = self.network.flows[flow as usize].acks.front().map_or(Time::NEVER, |ack| ack.time);
        let next = ack.min(slot.sender.deadline()).min(slot.start);
        self.network.events.set(self.network.first_sender + flow, next);
    }

    #[cold]
    fn on_timer_or_start(&mut self, flow: u32, now: Time) {
        let slot = &mut self.senders[flow as usize];
        let mut outbox = Outbox { network: &mut self.network, flow, now, packet_bytes: slot.packet_bytes };
        if slot.sender.deadline() <= now {
            slot.sender.on_timer(now, &mut outbox);
        } else if slot.start <= now {
            slot.start = Time::NEVER;
            slot.sender.on_start(now, &mut outbox);
            if let Some(observers) = &mut self.network.observers {
                observers.cwnd(flow, now, &slot.sender);
            }
        }
    }

    #[inline(always)]
    fn on_ack(&mut self, flow: u32, now: Time, ack: ArrivingAck) {
        let slot = &mut self.senders[flow as usize];
        let index = self.network.phase.index(now);
        let statistics = &mut self.network.flows[flow as usize].statistics;
        let una = slot.sender.una();
        let fresh = ack.next > una;
        if fresh {
            statistics.acked[index] += ack.next - una;
            if index == 1 {
                statistics.rtt_sum += u128::from((now - ack.echo).picoseconds());
                statistics.rtt_samples += 1;
            }
        } else if ack.next == una && slot.sender.flight_size() > 0 {
            statistics.duplicate_acks[index] += 1;
        }
        if let Some(observers) = &mut self.network.observers {
            observers.ack(flow, now, ack.next, fresh.then(|| now - ack.echo), &slot.sender);
        }
        let mut outbox = Outbox { network: &mut self.network, flow, now, packet_bytes: slot.packet_bytes };
        slot.sender.on_ack(now, Ack { next: ack.next, echo: ack.echo }, &mut outbox);
        if fresh && slot.sender.finished() {
            self.network.flows[flow as usize].statistics.finish = now;
        }
    }

    #[inline(always)]
    fn follow_cwnd(&mut self, flow: u32, now: Time) {
        let slot = &self.senders[flow as usize];
        if slot.sender.cwnd() == slot.cwnd {
            return;
        }
        self.account_cwnd(flow as usize, now);
        if let Some(observers) = &mut self.network.observers {
            observers.cwnd(flow, now, &self.senders[flow as usize].sender);
        }
    }

    #[inline(always)]
    fn account_cwnd(&mut self, flow: usize, now: Time) {
        let (slot, phase) = (&mut self.senders[flow], &self.network.phase);
        let statistics = &mut self.network.flows[flow].statistics;
        if now >= phase.warmup {
            // The window that stood when the measurement began counts too.
            let span = now - slot.since.max(phase.warmup);
            statistics.cwnd_area += slot.cwnd * span.picoseconds() as i64 as f64;
            for cwnd in [slot.cwnd, slot.sender.cwnd()] {
                if cwnd > statistics.cwnd_max {
                    statistics.cwnd_max = cwnd;
                }
            }
        }
        slot.cwnd = slot.sender.cwnd();
        slot.since = now;
    }
}

/// What a sender does, done.
struct Outbox<'a> {
    network: &'a mut Network,
    flow: u32,
    now: Time,
    packet_bytes: u16,
}

impl Actions for Outbox<'_> {
    #[inline(always)]
    fn transmit(&mut self, segment: Segment) {
        let index = self.network.phase.index(self.now);
        let FlowSlot { statistics, data: hop, last_sent, .. } = &mut self.network.flows[self.flow as usize];
        *last_sent = self.now;
        statistics.sent[index] += 1;
        statistics.retransmitted[index] += u64::from(segment.retransmission);
        let hop = *hop;
        if let Some(observers) = &mut self.network.observers {
            observers.sent(self.flow, self.now, &segment);
        }
        let packet = Packet {
            sequence: segment.sequence,
            stamp: self.now,
            hop,
            bytes: self.packet_bytes,
            kind: if segment.retransmission { PacketKind::Retransmission } else { PacketKind::Data },
            slow_start: segment.slow_start,
        };
        self.network.forward(self.now, packet);
    }

    fn loss(&mut self, loss: Loss) {
        let index = self.network.phase.index(self.now);
        let statistics = &mut self.network.flows[self.flow as usize].statistics;
        match loss.cause {
            LossCause::Timeout => statistics.timeouts[index] += 1,
            LossCause::FastRetransmit => statistics.fast_retransmits[index] += 1,
        }
        self.network.on_loss(self.flow, self.now, loss);
    }

    #[cold]
    #[inline(never)]
    fn retransmitting(&mut self, sequence: u64, una: u64) {
        self.network.loss_log(self.flow).on_retransmission(sequence, una, self.now);
    }

    #[cold]
    #[inline(never)]
    fn recovered(&mut self, sent: u64, resent: u64) {
        self.network.on_recovered(self.flow, self.now, sent, resent);
    }
}
