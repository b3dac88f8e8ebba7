mod accounts;
mod ack_streams;
mod ahead;
mod batches;
mod deferred;
mod elements;
mod event;
mod flows;
mod handshakes;
mod notify;
mod receivers;
mod special;
mod waiting;

use std::collections::BTreeMap;

use base::cast::low_u32;
use base::{Clock, Marks, Packet, Ring, Time, Tournament};
use net::{Measurement, Origin, Signal};
use tcp::SpareStates;

use crate::batches::BatchCounter;
use crate::calendar_queue::CalendarQueue;
use crate::channels::Channels;
use crate::delays::{flow_delays, FlowDelays};
use crate::flow::{ArrivingAck, FlowSlot, PrivateDepartures};
use crate::handshake::Handshake;
use crate::links::{offered, Offered};
use crate::loss_log::LossLogs;
use crate::observe::{records_links, Observers};
use crate::recovery::RecoveryStatistics;
use crate::route::{routes, Element, Hop, LinkKind, Routes};
use crate::scenario::{Scenario, TrafficConfig};
use crate::statistics::FlowStatistics;
use crate::traffic::{Completions, Pings, Transfers};
use accounts::{count_mark, mark};
use ack_streams::DelayedAcks;
use deferred::Feeds;
pub(crate) use elements::Elements;
pub(crate) use event::{EventId, EventNumbers};
use flows::Flows;
use waiting::WaitingAcks;

/// A packet and the time of its next step.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Scheduled {
    pub(crate) time: Time,
    pub(crate) packet: Packet,
}

/// Everything but the senders: links, merge points, receivers, and the return paths.
#[derive(Debug)]
pub(crate) struct Network {
    pub(crate) clock: Clock,
    pub(crate) measurement: Measurement,
    /// End of the current batch of the receivers; [`Time::NEVER`] if no batches are counted.
    pub(crate) batch_end: Time,
    /// Batches of the measured part, if they are counted.
    pub(crate) batches: Option<Box<BatchCounter>>,
    pub(crate) events: Tournament,
    pub(crate) numbers: EventNumbers,
    pub(crate) flows: Vec<FlowSlot>,
    /// States that receivers of each entry of the scenario need in transfers alone; `None`: each has its own.
    spare_states: Vec<Option<SpareStates>>,
    /// Counters of flows; large groups have one for all their flows.
    pub(crate) accounts: Vec<FlowStatistics>,
    /// Counters of recoveries, one entry for each account.
    pub(crate) recoveries: Vec<RecoveryStatistics>,
    /// Delays, one entry for each account; none if they are not measured.
    pub(crate) delays: Vec<FlowDelays>,
    loss_logs: LossLogs,
    pub(crate) observers: Option<Box<Observers>>,
    /// Whether the run records queues, drops, captures or states of AQMs, so that links notify observers.
    links_observed: bool,
    pub(crate) transfers: Transfers,
    pub(crate) completions: Completions,
    pub(crate) pings: Pings,
    /// Handshakes of the flows that have one.
    pub(crate) handshakes: BTreeMap<u32, Handshake>,
    hops: Vec<Hop>,
    link_kinds: Vec<LinkKind>,
    elements: Elements,
    private_departures: PrivateDepartures,
    pub(crate) channels: Option<Box<Channels>>,
    /// Capacities of the elements, if the rate of one changes.
    pub(crate) offered: Option<Offered>,
    /// Packets of ordered streams, each before the merge point of its stream.
    merges: Vec<Ring<Scheduled>>,
    /// Merge points in front of queues whose arrivals may need no events.
    pub(crate) feeds: Feeds,
    /// Packets of many streams before the merge point that these share.
    shared_merges: Vec<CalendarQueue>,
    /// Packets in each pipe in which packets overtake.
    in_pipes: Vec<CalendarQueue>,
    acks: WaitingAcks,
    delayed_acks: DelayedAcks,
    /// Departures of packets that had waited for their sender's pacer, and ACKs in one queue of several senders, that needed no
    /// event.
    pub(crate) handled_ahead: u64,
    /// Packets that a queue is dropping at this event.
    dropped: Vec<Packet>,
    /// The first congestion control that could not go on: its flow, when that was, and why.
    pub(crate) failure: Option<(u32, Time, String)>,
}

impl Network {
    /// Lays out a replication of a scenario.
    pub(crate) fn new(scenario: &Scenario, replication: u64, measurement: Measurement, clock: Clock) -> Network {
        let mut network = Network::with_all_events(scenario, replication, measurement, clock);
        // Observers of links want to see each arrival at its instant; and cells are counted from one event to the next.
        if !network.links_observed && network.channels.is_none() {
            // A transfer that begins changes its receiver, which must not be ahead of it.
            let lasting = !scenario.flows.iter().any(|flow| matches!(flow.traffic, TrafficConfig::Web { .. }));
            network.feeds = Feeds::new(&network.hops, &network.elements.queues, network.merges.len(), lasting);
        }
        network
    }

    /// Lays out a replication in which each arrival at a queue is an event.
    fn with_all_events(scenario: &Scenario, replication: u64, measurement: Measurement, clock: Clock) -> Network {
        let routes = routes(scenario, clock);
        let mut elements = Elements::new(scenario, replication, &routes, clock);
        let Flows { slots: flows, accounts, ack_timers, spare_states } = Flows::new(scenario, &routes.starts, clock);
        let counted = elements.count_batches(accounts.len(), replication, measurement);
        let numbers = event_numbers(scenario, &routes, &elements, ack_timers.len());
        Network {
            clock,
            measurement,
            batch_end: counted.as_ref().map_or(Time::NEVER, |batches| batches.end()),
            batches: counted,
            events: event::event_queue(&numbers, elements.queues.len(), flows.len()),
            numbers,
            recoveries: vec![RecoveryStatistics::default(); accounts.len()],
            accounts,
            delays: flow_delays(scenario, clock),
            loss_logs: LossLogs::default(),
            observers: Observers::new(scenario, replication, measurement, clock),
            links_observed: records_links(&scenario.trace),
            offered: offered(scenario, replication, &measurement, clock),
            transfers: Transfers::default(),
            completions: Completions::new(scenario, clock),
            pings: Pings::new(scenario, clock),
            handshakes: flows::handshakes(scenario, clock),
            acks: WaitingAcks::new(scenario, &routes, flows.len(), clock),
            delayed_acks: DelayedAcks::new(ack_timers, &routes.hops, routes.ack_streams),
            hops: routes.hops,
            link_kinds: routes.link_kinds,
            in_pipes: vec![CalendarQueue::default(); elements.pipes.len()],
            elements,
            private_departures: PrivateDepartures::new(flows.len(), routes.departure_slots),
            channels: Channels::new(scenario, numbers.number(EventId::Channels), clock),
            merges: vec![Ring::default(); routes.merges],
            feeds: Feeds::default(),
            shared_merges: vec![CalendarQueue::default(); routes.shared_merges],
            flows,
            spare_states,
            handled_ahead: 0,
            dropped: Vec::new(),
            failure: None,
        }
    }

    /// Forwards a packet from its hop, and ACKs that it causes, until each waits for the clock or is gone.
    #[inline(always)]
    pub(crate) fn forward(&mut self, time: Time, packet: Packet) {
        let private = matches!(self.hops[packet.hop as usize].element, Element::Private(_));
        let ack = if private { self.forward_private(time, packet) } else { self.walk::<false>(time, packet) };
        if let Some(ack) = ack {
            self.share_ack(packet.flow, &ack);
        }
    }

    /// Forwards a packet from behind a merge point, as [`Network::forward`] does. A private link is seldom next here, so
    /// that the look whether it is would cost 1% of a run.
    #[inline(always)]
    pub(super) fn forward_from_merge(&mut self, time: Time, packet: Packet) {
        if let Some(ack) = self.walk::<false>(time, packet) {
            self.share_ack(packet.flow, &ack);
        }
    }

    /// Forwards a packet on a path with private links; returns an ACK that arrives at a sender without a queue of its
    /// own.
    #[inline(never)]
    pub(crate) fn forward_private(&mut self, time: Time, packet: Packet) -> Option<ArrivingAck> {
        self.walk::<true>(time, copy_by_field(&packet))
    }

    /// Forwards a packet from a hop behind a shared merge point, as [`Network::forward_private`] does.
    ///
    /// The caller passes `hop` apart instead of changing the packet, and this function reads the packet's fields one by
    /// one. A read of several fields at once would wait for the store of one of them just before: 2 to 4% of a run.
    #[inline(never)]
    pub(crate) fn forward_merged(&mut self, time: Time, hop: u32, packet: &Packet) -> Option<ArrivingAck> {
        self.walk::<true>(time, Packet { hop, ..copy_by_field(packet) })
    }

    /// Forwards a packet along its path, with one match over all kinds of elements. Nothing past the end of the run
    /// happens.
    ///
    /// The compiler makes a copy of this function for each caller, as one copy for all paths costs 8 to 10% of a run. If
    /// there are private links (`PRIVATE`), the packet crosses links one by one and stays in registers: what goes out of
    /// line is a copy, as a packet that is read whole from memory right after a part of it was written waits for the
    /// store. Elsewhere the packet is in memory, and the loop over links in a row has the registers.
    #[inline(always)]
    fn walk<const PRIVATE: bool>(&mut self, mut time: Time, mut moving: Packet) -> Option<ArrivingAck> {
        loop {
            if !PRIVATE {
                time = self.cross_links(time, &mut moving)?;
            } else if time > self.measurement.end {
                return None;
            }
            let Hop { element, delay } = self.hops[moving.hop as usize];
            let in_registers = if PRIVATE { copy_by_field(&moving) } else { Packet::default() };
            let packet = if PRIVATE { &in_registers } else { &moving };
            match element {
                Element::Link(index) => (time, moving.marks) = self.cross_link(index, time, delay, packet)?,
                Element::Private(_) | Element::SharedMerge(_) | Element::SharedSender if !PRIVATE => {
                    return self.forward_private(time, *packet);
                }
                Element::Private(group) => time = self.cross_private_link(group, time, *packet)?,
                Element::Receiver | Element::Receivers(_) => {
                    self.send_acks_due(element, time, packet.flow);
                    let ack = self.receive(time, packet)?;
                    (time, moving) = self.answer(packet.flow, time, ack, packet.hop + 1);
                    continue;
                }
                Element::SharedSender => return Some(ArrivingAck::of(time, packet)),
                Element::Merge(merge) => break self.wait_at_merge::<PRIVATE>(merge, time, *packet),
                Element::SharedMerge(merge) => break self.wait_at_shared_merge(merge, time, *packet),
                Element::Sender => break self.wait_for_sender(time, packet),
                Element::Senders(stream) => break self.wait_for_senders(stream, time, packet),
                Element::Queue { index, level, host } => {
                    break self.join_queue(index, time, *packet, Origin { level, host });
                }
                Element::Sink => break self.count_datagram(time, packet),
                special @ (Element::Loss(_)
                | Element::Pipe(_)
                | Element::Overtaking(_)
                | Element::Channel(_)
                | Element::Process(_)
                | Element::Ping(_)) => time = self.cross_special(special, time, *packet)?,
            }
            moving.hop += 1;
        }
        None
    }

    /// Crosses all links in a row whose departures are known on arrival; returns when the packet arrives at the hop
    /// behind them, or `None` if it is dropped, or still in flight when the run ends.
    #[inline(always)]
    fn cross_links(&mut self, mut time: Time, packet: &mut Packet) -> Option<Time> {
        if self.links_observed {
            return self.cross_observed_links(time, packet);
        }
        let (bytes, mut hop) = (packet.bytes, packet.hop as usize);
        while time <= self.measurement.end {
            let Hop { element: Element::Link(index), delay } = self.hops[hop] else {
                // The index of a hop has 32 bits; counting in 64 saves the loop an instruction.
                packet.hop = low_u32(hop as u64);
                return Some(time);
            };
            let link = &mut self.elements.links[index as usize];
            // What only an AQM needs is out of line, so that the loop has the registers.
            let departure = match link.has_aqm() {
                false => link.arrive_without_aqm(time, bytes, &self.measurement),
                true => self.cross_link_with_aqm(index, time, packet),
            };
            let Some(departure) = departure else {
                self.count_drop(time, *packet);
                return None;
            };
            time = departure + delay;
            hop += 1;
        }
        None
    }

    /// Returns when a packet departs from a link with an AQM, which may mark it; `None` if it is dropped.
    #[inline(never)]
    fn cross_link_with_aqm(&mut self, index: u32, time: Time, packet: &mut Packet) -> Option<Time> {
        let Network { measurement, flows, accounts, .. } = self;
        let bytes = packet.bytes;
        let mark = || mark(packet, time, measurement, flows, accounts);
        self.elements.links[index as usize].arrive(time, bytes, measurement, mark)
    }

    /// Returns when a packet arrives behind a link whose departures are known on arrival, and its bits then; `None` if it is
    /// dropped. `delay` is what it takes from its departure on.
    #[inline(always)]
    fn cross_link(&mut self, index: u32, time: Time, delay: Time, packet: &Packet) -> Option<(Time, Marks)> {
        if self.links_observed {
            let mut copy = copy_by_field(packet);
            let departure = self.cross_observed_link(index, time, &mut copy)?;
            return Some((departure + delay, copy.marks));
        }
        let link = &mut self.elements.links[index as usize];
        let (departure, marks) = if link.has_aqm() {
            let mut copy = copy_by_field(packet);
            (self.cross_link_with_aqm(index, time, &mut copy), copy.marks)
        } else {
            (link.arrive_without_aqm(time, packet.bytes, &self.measurement), packet.marks)
        };
        if departure.is_none() {
            self.count_drop(time, copy_by_field(packet));
        }
        Some((departure? + delay, marks))
    }

    /// Returns when a packet leaves its flow's private link, propagation included; `None` if it is dropped.
    #[inline(always)]
    fn cross_private_link(&mut self, group: u32, time: Time, packet: Packet) -> Option<Time> {
        let group = &mut self.elements.private_groups[group as usize];
        let (delay, link) = (group.delay, group.link);
        let last = self.private_departures.last(&mut self.flows, packet.flow, group.slot);
        let departure = group.links.arrive(last, time, &self.measurement);
        if departure.is_none() || self.links_observed {
            self.report_private_link(link, time, packet, departure);
        }
        Some(departure? + delay)
    }

    /// Adds a packet to a queue whose departures are events.
    #[inline(never)]
    fn join_queue(&mut self, index: u32, now: Time, packet: Packet, origin: Origin) {
        if self.links_observed {
            self.report_arrival(self.elements.queue_links[index as usize], now, &packet);
        }
        let (queue, dropped) = (&mut self.elements.queues[index as usize], &mut self.dropped);
        let (measurement, flows, accounts) = (&self.measurement, self.flows.as_slice(), self.accounts.as_mut_slice());
        queue.arrive(now, packet, origin, measurement, &mut |signal, packet| match signal {
            Signal::Marked { again } => count_mark(&packet, again, now, measurement, flows, accounts),
            Signal::Dropped(_) => dropped.push(packet),
        });
        let (departure, lets_go) = (queue.next_departure(), queue.lets_go(now));
        self.events.advance(self.numbers.number(EventId::Queue(index)), departure);
        if self.links_observed {
            self.report_queue(index, now);
        }
        if !self.dropped.is_empty() {
            self.report_drops(self.elements.queue_links[index as usize], now);
        }
        if lets_go {
            self.on_queue(index, now);
        }
    }

    /// Forwards the packet that departs from a queue.
    #[inline(never)]
    pub(crate) fn on_queue(&mut self, index: u32, now: Time) {
        if let Some(merge) = self.feeds.merge_before(index) {
            return self.on_fed_queue(index, merge, now);
        }
        let departed = self.end_transmission(index, now);
        let next = self.elements.queues[index as usize].next_departure();
        self.events.set(self.numbers.number(EventId::Queue(index)), next);
        if self.links_observed {
            self.report_departure(index, now, departed.as_ref());
        }
        if !self.dropped.is_empty() {
            self.report_drops(self.elements.queue_links[index as usize], now);
        }
        let Some(mut packet) = departed else { return };
        let delay = self.delay_after(&packet);
        packet.hop += 1;
        self.forward(now + delay, packet);
    }

    /// Ends the transmission of a queue's packet, which is returned, and begins the next one; notes which packets are dropped.
    #[inline(always)]
    fn end_transmission(&mut self, index: u32, now: Time) -> Option<Packet> {
        let (queue, dropped) = (&mut self.elements.queues[index as usize], &mut self.dropped);
        let (measurement, flows, accounts) = (&self.measurement, self.flows.as_slice(), self.accounts.as_mut_slice());
        queue.depart(now, measurement, &mut |signal, packet| match signal {
            Signal::Marked { again } => count_mark(&packet, again, now, measurement, flows, accounts),
            Signal::Dropped(_) => dropped.push(packet),
        })
    }
}

/// Returns the numbers of all that has events.
fn event_numbers(scenario: &Scenario, routes: &Routes, elements: &Elements, receiver_timers: usize) -> EventNumbers {
    EventNumbers::new(event::EventCounts {
        queues: elements.queues.len(),
        channels: scenario.atm.is_some(),
        merges: routes.merges,
        pipes: elements.pipes.len(),
        shared_merges: routes.shared_merges,
        acks: routes.arriving_acks,
        receiver_timers,
    })
}

/// Returns a copy of a packet that is made of its fields, so that the original can stay in registers.
#[inline(always)]
fn copy_by_field(packet: &Packet) -> Packet {
    let &Packet { sequence, stamp, hop, flow, journal, bytes, kind, marks } = packet;
    Packet { sequence, stamp, hop, flow, journal, bytes, kind, marks }
}
