//! Hops of paths: the links whose departures are known on arrival, and the places where packets wait for the
//! clock.

mod feeders;
mod streams;

use std::collections::BTreeMap;

use base::cast::to_u32;
use base::{Clock, Time};
use net::Origin;

use crate::flow::{DepartureSlot, SlotAllocator};
use crate::scenario::{ElementConfig, FlowConfig, LinkConfig, Scenario};
use feeders::{behind_own_delay, feeder_at_far_end, feeder_of, feeders, Feeder, Feeders};
use streams::{ack_streams, arriving_acks};

/// One step of a packet's path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hop {
    pub(crate) element: Element,
    /// Propagation delay after the element.
    pub(crate) delay: Time,
}

/// The element to which a hop leads; the number is an index into the network's table of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// A link whose departures are known on arrival.
    Link(u32),
    /// A link whose departures are events, entered at a priority level by packets of a host.
    Queue { index: u32, level: u8, host: u16 },
    /// A private link; the number is the index of its group.
    Private(u32),
    /// The merge point of one ordered stream, in front of a link: packets wait there for the clock.
    Merge(u32),
    /// The merge point of many streams from private links, in front of a link: all packets wait in one queue.
    SharedMerge(u32),
    /// The receiver of the packet's flow.
    Receiver,
    /// The receiver of the packet's flow, one of several that get their data in one stream, and so send one stream of ACKs.
    Receivers(u32),
    /// The sender of the packet's flow; ACKs wait in the flow's own queue.
    Sender,
    /// The sender of the packet's flow, one of several that get their ACKs in one stream: these wait in one queue.
    Senders(u32),
    /// The sender of the packet's flow, with private links on both sides; ACKs wait in one queue for all such senders.
    SharedSender,
    /// The receiver of datagrams.
    Sink,
    /// An end of a flow of pings.
    Ping(PingEnd),
    /// A process that loses packets before a link.
    Loss(u32),
    /// A pipe whose delay changes, behind a link; packets keep their order, so arrivals are known at once.
    Pipe(u32),
    /// A pipe in which packets overtake one another: they wait there for the clock.
    Overtaking(u32),
    /// One direction of an ATM channel: packets wait at its end for the clock.
    Channel(u32),
    /// The TCP process of a host.
    Process(u32),
}

/// An end of a flow of pings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PingEnd {
    /// The sender of echo requests, to which echoes come back.
    Near,
    /// The receiver of echo requests, which sends each back.
    Far,
}

// A hop fills a quarter of a cache line.
const _: () = assert!(size_of::<Hop>() == 16);

/// Kind of a link of the scenario, and its index in the table of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    Link(u32),
    Queue(u32),
    /// Private links, one for each flow, in groups of identical flows.
    Private,
    /// One direction of an ATM channel, by the index of its end.
    Channel(u32),
    /// The TCP process of a host.
    Process(u32),
}

/// A group of private links: the copies of one link for the flows of one entry, which carry packets of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PrivateGroup {
    pub(crate) link: usize,
    entry: usize,
    pub(crate) bytes: u16,
    /// Propagation delay after the link.
    pub(crate) delay: Time,
    /// Slot of a flow's last departure from its link.
    pub(crate) slot: DepartureSlot,
}

/// The routes of all flows.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    pub(crate) hops: Vec<Hop>,
    /// First hop of each flow's data, and of its ACKs or echoes.
    pub(crate) starts: Vec<(u32, u32)>,
    /// Number of slots for departures that a flow needs, at most.
    pub(crate) departure_slots: usize,
    pub(crate) link_kinds: Vec<LinkKind>,
    /// Number of merge points of one stream each.
    pub(crate) merges: usize,
    /// Number of merge points that many streams share.
    pub(crate) shared_merges: usize,
    /// Number of streams of ACKs that several receivers send.
    pub(crate) ack_streams: usize,
    /// Number of streams of ACKs that several senders get.
    pub(crate) arriving_acks: usize,
    pub(crate) private_groups: Vec<PrivateGroup>,
}

/// Returns whether departures from a link are events, as its discipline may drop a waiting packet, or let others
/// overtake.
fn needs_events(link: &LinkConfig) -> bool {
    // In an infinitely fast link no packet waits.
    link.rate_bps.is_some() && (!link.queue.is_foreseen() || link.token_bucket.is_some())
}

/// Returns the kind of each element and its index in the table of that kind.
fn link_kinds(scenario: &Scenario) -> Vec<LinkKind> {
    let (mut plain, mut queued, mut processes) = (0, 0, 0);
    let count = |counter: &mut u32| {
        *counter += 1;
        *counter - 1
    };
    let kind = |element: &ElementConfig| match element {
        ElementConfig::Link(link) if needs_events(link) => LinkKind::Queue(count(&mut queued)),
        ElementConfig::Link(_) => LinkKind::Link(count(&mut plain)),
        ElementConfig::PrivateLink(_) => LinkKind::Private,
        ElementConfig::Channel(channel) => LinkKind::Channel(to_u32(channel.end)),
        ElementConfig::Host(_) => LinkKind::Process(count(&mut processes)),
    };
    scenario.elements.iter().map(kind).collect()
}

/// Returns the pipe behind each element, if its delay changes.
fn pipes(elements: &[ElementConfig]) -> Vec<Option<Element>> {
    let mut next = 0;
    let pipe = |element: &ElementConfig| {
        element.delay_process()?;
        next += 1;
        Some(if element.overtakes() { Element::Overtaking(next - 1) } else { Element::Pipe(next - 1) })
    };
    elements.iter().map(pipe).collect()
}

/// Returns the process that loses packets before each element, if there is one.
fn losses(elements: &[ElementConfig]) -> Vec<Option<Element>> {
    let mut next = 0;
    let loss = |element: &ElementConfig| {
        element.loss()?;
        next += 1;
        Some(Element::Loss(next - 1))
    };
    elements.iter().map(loss).collect()
}

/// Splits a path into its links and the process of the host at its end, if there is one.
fn split_process<'a>(path: &'a [usize], elements: &[ElementConfig]) -> (&'a [usize], &'a [usize]) {
    let ends_in_process = path.last().is_some_and(|&last| elements[last].is_host());
    path.split_at(path.len() - usize::from(ends_in_process))
}

/// Returns the hops of all flows.
pub(crate) fn routes(scenario: &Scenario, clock: Clock) -> Routes {
    let mut builder = RouteBuilder::new(scenario, clock);
    let mut starts: Vec<(u32, u32)> = Vec::with_capacity(scenario.flow_count());
    for (entry, flow) in scenario.flows.iter().enumerate() {
        let first = builder.hops.len();
        for number in 0..flow.count {
            let own = builder.hops.len();
            let mut start = builder.add_flow(starts.len(), entry, flow);
            // Identical flows share their hops, unless each has streams of its own at merge points.
            if number > 0 && builder.hops[first..own] == builder.hops[own..] {
                builder.hops.truncate(own);
                start = starts[starts.len() - 1];
            }
            starts.push(start);
        }
    }
    let mut private_groups: Vec<(PrivateGroup, u32)> = builder.private_groups.into_iter().collect();
    private_groups.sort_unstable_by_key(|&(_, number)| number);
    Routes {
        hops: builder.hops,
        starts,
        departure_slots: builder.departure_slots,
        link_kinds: builder.link_kinds,
        merges: builder.merges.len(),
        shared_merges: builder.shared_merges.len(),
        ack_streams: builder.ack_streams.len(),
        arriving_acks: builder.arriving_acks.len(),
        private_groups: private_groups.into_iter().map(|(group, _)| group).collect(),
    }
}

struct RouteBuilder<'a> {
    link_kinds: Vec<LinkKind>,
    pipes: Vec<Option<Element>>,
    losses: Vec<Option<Element>>,
    feeders: Vec<Feeders>,
    merges: BTreeMap<(usize, Feeder), u32>,
    /// Merge points by the link in front of which they are.
    shared_merges: BTreeMap<usize, u32>,
    /// Streams of ACKs that several receivers send.
    ack_streams: BTreeMap<Feeder, u32>,
    /// Streams of ACKs that several senders get, by what feeds them.
    arriving_acks: BTreeMap<Feeder, u32>,
    hops: Vec<Hop>,
    elements: &'a [ElementConfig],
    clock: Clock,
    private_groups: BTreeMap<PrivateGroup, u32>,
    /// Slots of the flow that is added now.
    allocator: SlotAllocator,
    departure_slots: usize,
}

/// One direction of a flow: its data, or what answers them.
#[derive(Clone, Copy)]
struct FlowDirection {
    flow: usize,
    entry: usize,
    bytes: u16,
    origin: Origin,
    /// Whether these are the ACKs or echoes.
    is_answer: bool,
}

impl<'a> RouteBuilder<'a> {
    fn new(scenario: &'a Scenario, clock: Clock) -> RouteBuilder<'a> {
        RouteBuilder {
            link_kinds: link_kinds(scenario),
            pipes: pipes(&scenario.elements),
            losses: losses(&scenario.elements),
            feeders: feeders(scenario),
            merges: BTreeMap::new(),
            shared_merges: BTreeMap::new(),
            ack_streams: ack_streams(scenario),
            arriving_acks: arriving_acks(scenario),
            hops: Vec::new(),
            elements: &scenario.elements,
            clock,
            private_groups: BTreeMap::new(),
            allocator: SlotAllocator::default(),
            departure_slots: 0,
        }
    }

    /// Adds the hops of a flow; returns the first hop of its data and of its ACKs or echoes.
    fn add_flow(&mut self, index: usize, entry: usize, flow: &FlowConfig) -> (u32, u32) {
        let data = to_u32(self.hops.len());
        self.allocator = SlotAllocator::default();
        let origin = Origin { level: flow.priority, host: flow.host };
        let direction = FlowDirection { flow: index, entry, bytes: flow.packet_bytes, origin, is_answer: false };
        let (links, process) = split_process(&flow.path, self.elements);
        let feeder = self.add_path(links, None, self.clock.time(flow.forward_delay_s), direction);
        if let &[host] = process {
            self.add_path(process, behind_own_delay(feeder, flow, index, host, self.elements), Time::ZERO, direction);
        }
        let Some(back) = flow.way_back() else {
            self.push(Element::Sink, Time::ZERO);
            return (data, data);
        };
        let feeder = feeder_at_far_end(flow, index, self.elements);
        let far_end = match self.ack_streams.get(&feeder) {
            _ if !back.is_acks => Element::Ping(PingEnd::Far),
            Some(&stream) => Element::Receivers(stream),
            None => Element::Receiver,
        };
        self.push(far_end, self.clock.time(back.delay_s));
        let answers = to_u32(self.hops.len());
        let origin = Origin { level: back.priority, ..origin };
        let direction = FlowDirection { bytes: back.bytes, origin, is_answer: true, ..direction };
        let feeder = self.add_path(back.path, Some(feeder), Time::ZERO, direction);
        let arriving = feeder.and_then(|feeder| self.arriving_acks.get(&feeder));
        let is_private = |link: Option<&usize>| link.is_some_and(|&link| self.link_kinds[link] == LinkKind::Private);
        let near_end = if !back.is_acks {
            Element::Ping(PingEnd::Near)
        } else if is_private(back.path.last()) && is_private(flow.path.first()) {
            // A sender may handle ACKs ahead of the clock if its data wait for the clock behind a private link.
            Element::SharedSender
        } else {
            arriving.map_or(Element::Sender, |&stream| Element::Senders(stream))
        };
        self.push(near_end, Time::ZERO);
        (data, answers)
    }

    /// Adds the hops of a path, with a delay after the last link; returns the feeder of the next link.
    fn add_path(
        &mut self,
        links: &[usize],
        mut feeder: Option<Feeder>,
        last_delay: Time,
        direction: FlowDirection,
    ) -> Option<Feeder> {
        for (position, &link) in links.iter().enumerate() {
            if let Some(merge) = feeder.and_then(|feeder| self.merge(link, feeder)) {
                self.push(merge, Time::ZERO);
            }
            if let Some(loss) = self.losses[link] {
                self.push(loss, Time::ZERO);
            }
            let more = if position + 1 == links.len() { last_delay } else { Time::ZERO };
            let pipe = self.pipes[link];
            // A pipe and a channel include the propagation delay.
            let own = pipe.is_none() && !matches!(self.link_kinds[link], LinkKind::Channel(_));
            let delay = if own { self.clock.time(self.elements[link].delay_s()) } else { Time::ZERO };
            let after = if pipe.is_none() { delay + more } else { Time::ZERO };
            match self.link_kinds[link] {
                LinkKind::Link(index) => self.push(Element::Link(index), after),
                LinkKind::Queue(index) => {
                    let Origin { level, host } = direction.origin;
                    self.push(Element::Queue { index, level, host }, after);
                }
                LinkKind::Private => {
                    let FlowDirection { entry, bytes, .. } = direction;
                    // Up to the first link that other flows cross too, or from the last such link on.
                    let outside = if direction.is_answer { &links[position..] } else { &links[..position] };
                    let at_sender = outside.iter().all(|&other| self.link_kinds[other] == LinkKind::Private);
                    let slot = self.allocator.allocate(at_sender);
                    self.departure_slots = self.departure_slots.max(slot + 1);
                    let group = self.private_group(PrivateGroup { link, entry, bytes, delay: after, slot });
                    self.push(Element::Private(group), Time::ZERO);
                }
                LinkKind::Channel(end) => self.push(Element::Channel(end), after),
                LinkKind::Process(index) => self.push(Element::Process(index), after),
            }
            if let Some(pipe) = pipe {
                self.push(pipe, more);
            }
            feeder = feeder_of(&self.elements[link], link, direction.flow);
        }
        feeder
    }

    fn private_group(&mut self, group: PrivateGroup) -> u32 {
        let next = to_u32(self.private_groups.len());
        *self.private_groups.entry(group).or_insert(next)
    }

    /// Returns the merge point of `feeder` in front of `link`; `None` if the link needs none, as it has a single
    /// ordered feeder and its departures are known on arrival.
    fn merge(&mut self, link: usize, feeder: Feeder) -> Option<Element> {
        if self.link_kinds[link] == LinkKind::Private {
            return None;
        }
        let Feeders { streams, clock } = &self.feeders[link];
        let alone = streams.len() == 1 && !clock;
        if alone && matches!(self.link_kinds[link], LinkKind::Link(_) | LinkKind::Process(_)) {
            return None;
        }
        if matches!(feeder, Feeder::Private(..)) {
            let next = to_u32(self.shared_merges.len());
            return Some(Element::SharedMerge(*self.shared_merges.entry(link).or_insert(next)));
        }
        let next = to_u32(self.merges.len());
        Some(Element::Merge(*self.merges.entry((link, feeder)).or_insert(next)))
    }

    fn push(&mut self, element: Element, delay: Time) {
        self.hops.push(Hop { element, delay });
    }
}
