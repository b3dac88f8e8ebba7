mod accounts;
mod crowds;
mod rare;
mod receivers;
mod told;

use base::{Packet, RandomStream, Ring, Time, Tournament};
use net::{Link, Phase, Pipe, PrivateLinks, QueuedLink};
use tcp::Receiver;

use crate::calendar_queue::CalendarQueue;
use crate::channels::Channels;
use crate::flow::{ArrivingAck, DepartureSeat, Departures, FlowSlot};
use crate::links::{link, private_links, queued_link};
use crate::loss_log::LossLogs;
use crate::losses::{losses, LossSlot};
use crate::observe::Observers;
use crate::pipes::pipes;
use crate::recovery::RecoveryStatistics;
use crate::route::{routes, Element, Hop, Place, Routes};
use crate::scenario::Scenario;
use crate::statistics::{FlowStatistics, MOST_ROWS_OF_A_GROUP};
use crate::traffic::Transfers;
use rare::{processes, ProcessSlot};

/// A packet and its instant.
#[derive(Clone, Copy, Debug, Default)]
struct Scheduled {
    time: Time,
    packet: Packet,
}

/// What a flow's own copies of a link share with those of all flows alike.
#[derive(Clone, Debug)]
struct PrivateGroup {
    links: PrivateLinks,
    /// Propagation after them.
    delay: Time,
    /// The scenario's link.
    link: u32,
    /// Where a flow's last departure from it stands.
    seat: DepartureSeat,
}

/// All between the senders: links, the streams that join there, receivers, and the ACKs that come back.
///
/// Elements in the order in which events at the same instant happen: departures from links, the ATM network, arrivals where streams join,
/// arrivals from pipes in which packets overtake, receivers' timers, senders (ACK before timer).
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) phase: Phase,
    pub(crate) events: Tournament,
    pub(crate) flows: Vec<FlowSlot>,
    /// ACKs on their last way to each sender, unless those of all senders wait in the crowd.
    pub(crate) acks: Vec<Ring<ArrivingAck>>,
    /// Of flows, and of large groups.
    pub(crate) accounts: Vec<FlowStatistics>,
    /// What each of these counts of its losses.
    pub(crate) recoveries: Vec<RecoveryStatistics>,
    loss_logs: LossLogs,
    pub(crate) observers: Option<Box<Observers>>,
    hops: Vec<Hop>,
    links: Vec<Link>,
    queues: Vec<QueuedLink>,
    /// Packets that a queue has just dropped; empty between two events.
    dropped: Vec<Packet>,
    private_groups: Vec<PrivateGroup>,
    departures: Departures,
    pub(crate) transfers: Transfers,
    places: Vec<Place>,
    /// The scenario's link of each table entry.
    link_indices: Vec<u32>,
    queue_indices: Vec<u32>,
    streams: Vec<Ring<Scheduled>>,
    losses: Vec<LossSlot>,
    pipes: Vec<Pipe>,
    processes: Vec<ProcessSlot>,
    /// Who is in each pipe, where packets overtake.
    overtaking: Vec<CalendarQueue>,
    /// The last one is that of the senders.
    crowds: Vec<CalendarQueue>,
    pub(crate) channels: Option<Box<Channels>>,
    /// The flows whose receivers may hold ACKs back.
    delaying: Vec<u32>,
    pub(crate) first_stream: u32,
    pub(crate) first_crowd: u32,
    pub(crate) first_receiver: u32,
    pub(crate) first_sender: u32,
}

impl Network {
    pub(crate) fn new(scenario: &Scenario, replication: u64, phase: Phase) -> Network {
        let Routes { hops, starts, seats, places, streams, crowds, private_groups } = routes(scenario);
        let (mut links, mut queues) = (Vec::new(), Vec::new());
        let (mut link_indices, mut queue_indices) = (Vec::new(), Vec::new());
        for (index, (config, place)) in scenario.links.iter().zip(&places).enumerate() {
            let random = RandomStream::named(scenario.run.seed, replication, &format!("link/{}", config.name));
            match place {
                Place::Link(_) => {
                    links.push(link(config, random));
                    link_indices.push(index as u32);
                }
                Place::Queue(_) => {
                    queues.push(queued_link(config, random));
                    queue_indices.push(index as u32);
                }
                Place::Private | Place::Channel(_) | Place::Process(_) => {}
            }
        }
        let channels = Channels::new(scenario, queues.len() as u32);
        let first_stream = queues.len() as u32 + u32::from(channels.is_some());
        let pipes = pipes(scenario, replication);
        let first_crowd = first_stream + (streams + pipes.len()) as u32;
        let first_receiver = first_crowd + crowds as u32 + 1;
        let mut delaying = Vec::new();
        let mut flows = Vec::with_capacity(starts.len());
        let mut accounts = Vec::new();
        for (index, ((entry, number), &(data, acks))) in scenario.members().zip(&starts).enumerate() {
            let flow = &scenario.flows[entry];
            let together = if flow.count > MOST_ROWS_OF_A_GROUP { flow.count } else { 1 };
            if number % together == 0 {
                accounts.push(FlowStatistics::new(together));
            }
            let receiver = Receiver::new(&flow.receiver, flow.sender.dialect);
            let account = accounts.len() as u32 - 1;
            let mut slot = FlowSlot::new(receiver, flow.packet_bytes, flow.ack_bytes, data, acks, account);
            slot.receiver_timer = first_receiver + delaying.len() as u32;
            flows.push(slot);
            if flow.receiver.ack_every > 1 {
                delaying.push(index as u32);
            }
        }
        let first_sender = first_receiver + delaying.len() as u32;
        let all_crowded = !hops.iter().any(|hop| matches!(hop.element, Element::Sender | Element::Sink));
        Network {
            phase,
            events: Tournament::with_near(first_receiver as usize, first_sender as usize + flows.len()),
            acks: vec![Ring::default(); if all_crowded { 0 } else { flows.len() }],
            flows,
            recoveries: vec![RecoveryStatistics::default(); accounts.len()],
            accounts,
            loss_logs: LossLogs::default(),
            observers: Observers::new(scenario, replication, phase),
            overtaking: vec![CalendarQueue::default(); pipes.len()],
            pipes,
            losses: losses(scenario, replication),
            processes: processes(scenario),
            channels,
            hops,
            links,
            queues,
            dropped: Vec::new(),
            private_groups: private_groups
                .iter()
                .map(|group| PrivateGroup {
                    links: private_links(&scenario.links[group.link], group.bytes),
                    delay: group.delay,
                    link: group.link as u32,
                    seat: group.seat,
                })
                .collect(),
            departures: Departures::new(starts.len(), seats),
            transfers: Transfers::default(),
            places,
            link_indices,
            queue_indices,
            streams: vec![Ring::default(); streams],
            crowds: vec![CalendarQueue::default(); crowds + 1],
            delaying,
            first_stream,
            first_crowd,
            first_receiver,
            first_sender,
        }
    }

    /// A sender sends a packet.
    #[inline(always)]
    pub(crate) fn send(&mut self, now: Time, packet: Packet) {
        if self.hops[packet.hop as usize].is_private() {
            self.forward_to_crowd(now, packet);
        } else {
            self.forward(now, packet);
        }
    }

    /// A packet comes to its hop at `time`, and goes on as far as its way is known.
    #[inline(always)]
    pub(crate) fn forward(&mut self, mut time: Time, mut packet: Packet) {
        loop {
            let crossed = match self.observers {
                None => self.cross_links(time, &mut packet),
                Some(_) => self.cross_observed_links(time, &mut packet),
            };
            let Some(arrival) = crossed else { return };
            match self.hops[packet.hop as usize].element {
                Element::Receiver => {
                    let Some(acknowledgment) = self.receive(arrival, &packet) else { return };
                    (time, packet) = self.answer(packet.flow, arrival, acknowledgment);
                }
                Element::Sender => return self.come_back(arrival, &packet),
                Element::Merge(stream) => return self.wait_at_merge(stream, arrival, packet),
                Element::Queue(index) => return self.join_queue(index, arrival, packet, 0),
                Element::Link(_) => time = arrival,
                // Crowds come right behind such links.
                Element::Private(_) | Element::Crowd(_) | Element::CrowdedSender => {
                    return self.forward_to_crowd(arrival, packet)
                }
                Element::Sink => return self.take_in(packet.flow, arrival),
                rare => {
                    let Some(onward) = self.cross(rare, arrival, packet) else { return };
                    time = onward;
                    packet.hop += 1;
                }
            }
        }
    }

    /// Crosses the links ahead whose departures are known on arrival: when the packet comes to the next hop of another kind.
    /// None where it is dropped, or still on its way when the run ends: what lies past the end never happens.
    #[inline(always)]
    fn cross_links(&mut self, mut time: Time, packet: &mut Packet) -> Option<Time> {
        let (phase, hops, links) = (self.phase, self.hops.as_slice(), self.links.as_mut_slice());
        let (bytes, mut place) = (packet.bytes, packet.hop as usize);
        while time <= phase.end {
            let Hop { element: Element::Link(index), delay } = hops[place] else {
                packet.hop = place as u32;
                return Some(time);
            };
            let Some(departure) = links[index as usize].arrive(time, bytes, &phase) else {
                packet.hop = place as u32;
                self.count_drop(time, packet);
                return None;
            };
            time = departure + delay;
            place += 1;
        }
        None
    }

    /// The first packet of a stream has its turn.
    #[inline(never)]
    pub(crate) fn on_arrival(&mut self, stream: u32, now: Time) {
        let Some(ring) = self.streams.get_mut(stream as usize) else {
            return self.on_arrival_from_pipe(stream - self.streams.len() as u32, now);
        };
        let Some(Scheduled { mut packet, .. }) = ring.pop() else { return };
        let next = ring.front().map_or(Time::NEVER, |first| first.time);
        self.events.set(self.first_stream + stream, next);
        packet.hop += 1;
        self.forward(now, packet);
    }

    /// A packet leaves a link whose departures are events.
    #[inline(never)]
    pub(crate) fn on_departure(&mut self, index: u32, now: Time) {
        let Some(queue) = self.queues.get_mut(index as usize) else { return self.on_channels(now) };
        let dropped = &mut self.dropped;
        let departed = queue.depart(now, &self.phase, &mut |packet| dropped.push(packet));
        let (packets, next) = (queue.packets(), queue.next_departure());
        self.events.set(index, next);
        let Some(mut packet) = departed else { return };
        if self.observers.is_some() {
            self.tell_departure(index, now, packets, &packet);
        }
        if !self.dropped.is_empty() {
            self.report_drops(index, now);
        }
        let delay = self.hops[packet.hop as usize].delay;
        packet.hop += 1;
        self.forward(now + delay, packet);
    }

    fn join_queue(&mut self, index: u32, now: Time, packet: Packet, level: u8) {
        let name = self.queue_indices[index as usize];
        if self.observers.is_some() {
            self.tell_arrival(name, now, &packet);
        }
        let (queue, dropped) = (&mut self.queues[index as usize], &mut self.dropped);
        queue.arrive(now, packet, level, &self.phase, &mut |packet| dropped.push(packet));
        let (packets, departure) = (queue.packets(), queue.next_departure());
        self.events.advance(index, departure);
        if let Some(observers) = &mut self.observers {
            observers.queue(name, now, packets);
        }
        if !self.dropped.is_empty() {
            self.report_drops(index, now);
        }
    }

    /// Counts the packets that a queue has just dropped, and reports them to the observers.
    #[cold]
    fn report_drops(&mut self, index: u32, now: Time) {
        let link = self.queue_indices[index as usize];
        let mut dropped = std::mem::take(&mut self.dropped);
        for packet in dropped.drain(..) {
            self.count_drop(now, &packet);
            if let Some(observers) = &mut self.observers {
                observers.dropped(now, link, &packet, false);
            }
        }
        self.dropped = dropped;
    }

    /// Propagation after the packet's hop.
    pub(crate) fn delay_after(&self, packet: &Packet) -> Time {
        self.hops[packet.hop as usize].delay
    }

    #[inline(always)]
    fn wait_at_merge(&mut self, stream: u32, time: Time, packet: Packet) {
        let ring = &mut self.streams[stream as usize];
        if ring.is_empty() {
            self.events.advance(self.first_stream + stream, time);
        }
        ring.push(Scheduled { time, packet });
    }

    #[inline(always)]
    fn come_back(&mut self, time: Time, packet: &Packet) {
        let ring = &mut self.acks[packet.flow as usize];
        if ring.is_empty() {
            self.events.advance(self.first_sender + packet.flow, time);
        }
        ring.push(ArrivingAck { time, next: packet.sequence, echo: packet.stamp });
    }

    /// Whether a flow's ACKs wait for its sender in the crowd of all such senders.
    pub(crate) fn is_crowded(&self, flow: u32) -> bool {
        let mut rest = self.hops[self.flows[flow as usize].first_ack_hop as usize..].iter();
        let end = |hop: &&Hop| matches!(hop.element, Element::Sender | Element::CrowdedSender | Element::Sink);
        rest.find(end).is_some_and(|hop| matches!(hop.element, Element::CrowdedSender))
    }
}
