//! From paths to hops: where a packet's way is known on arrival, and where it must wait for its turn in time.

mod feeders;

use std::collections::BTreeMap;

use base::Time;

use crate::flow::{DepartureSeat, Seats};
use crate::scenario::{FlowConfig, LinkConfig, Scenario};
use feeders::{behind_own_delay, feeder_of, feeders, overtakes, Feeder, Feeders};

/// One step of a packet's way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Hop {
    pub(crate) element: Element,
    /// Propagation after it.
    pub(crate) delay: Time,
}

/// What a hop leads to; the number is an index into the network's table of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// A link whose departures are known on arrival.
    Link(u32),
    /// A link whose departures are events, entered at a priority level.
    Queue { index: u32, level: u8 },
    /// The flow's own copy of a link; the number is that of the group of copies.
    Private(u32),
    /// The end of an ordered stream where it joins others: packets wait there for the clock.
    Merge(u32),
    /// The end of many streams, which come from private links; all their packets wait in one queue.
    SharedMerge(u32),
    /// The receiver of the packet's flow.
    Receiver,
    /// The sender of the packet's flow; ACKs wait in the flow's own queue.
    Sender,
    /// The sender of the packet's flow; ACKs wait in one queue for all such senders.
    SharedSender,
    /// The end of a flow of datagrams.
    Sink,
    /// A process before a link that loses packets.
    Loss(u32),
    /// A pipe behind a link whose delay changes; packets keep their order, so arrivals are known at once.
    Pipe(u32),
    /// A pipe in which packets overtake: they wait there for the clock.
    Overtaking(u32),
    /// One direction of an ATM channel: packets wait at its end for the clock.
    Channel(u32),
    /// The TCP process of a host.
    Process(u32),
}

// A hop fills a quarter of a cache line.
const _: () = assert!(size_of::<Hop>() == 16);

/// Kind of a link of the scenario, and its index in the table of that kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkKind {
    Link(u32),
    Queue(u32),
    /// As many copies as flows cross it, in groups of flows alike.
    Private,
    /// One direction of a channel of the ATM network, by its end.
    Channel(u32),
    /// The TCP process of a host.
    Process(u32),
}

/// Copies of a link for the flows of one entry, which carry packets of one size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PrivateGroup {
    pub(crate) link: usize,
    entry: usize,
    pub(crate) bytes: u16,
    /// Propagation after it.
    pub(crate) delay: Time,
    /// Where a flow's last departure from it stands.
    pub(crate) seat: DepartureSeat,
}

/// All routes.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    pub(crate) hops: Vec<Hop>,
    /// Where each flow's data start, and its ACKs.
    pub(crate) starts: Vec<(u32, u32)>,
    /// Above the last departures of any flow.
    pub(crate) seats: DepartureSeat,
    pub(crate) link_kinds: Vec<LinkKind>,
    /// Number of merge points of one stream each.
    pub(crate) merges: usize,
    /// Number of merge points that many streams share.
    pub(crate) shared_merges: usize,
    pub(crate) private_groups: Vec<PrivateGroup>,
}

/// Returns whether departures from a link are events: its discipline may drop a waiting packet, or let others overtake it.
fn needs_events(link: &LinkConfig) -> bool {
    // In an infinitely fast link no packet waits.
    link.rate_bps.is_some() && !link.queue.discipline().is_foreseen()
}

fn link_kinds(scenario: &Scenario) -> Vec<LinkKind> {
    let (mut plain, mut queued, mut processes) = (0, 0, 0);
    let mut channels = BTreeMap::new();
    if let Some(config) = &scenario.atm {
        channels.extend(config.links.iter().enumerate().map(|(end, &link)| (link, end as u32)));
    }
    let mut kind = |(index, link): (usize, &LinkConfig)| {
        if let Some(&end) = channels.get(&index) {
            return LinkKind::Channel(end);
        }
        if link.private {
            return LinkKind::Private;
        }
        if link.processing.is_some() {
            processes += 1;
            return LinkKind::Process(processes - 1);
        }
        let (kind, counter): (fn(u32) -> LinkKind, _) =
            if needs_events(link) { (LinkKind::Queue, &mut queued) } else { (LinkKind::Link, &mut plain) };
        *counter += 1;
        kind(*counter - 1)
    };
    scenario.links.iter().enumerate().map(&mut kind).collect()
}

/// The pipe behind each link, where its delay changes.
fn pipes(links: &[LinkConfig]) -> Vec<Option<Element>> {
    let mut next = 0;
    let mut pipe = |link: &LinkConfig| {
        link.delay_process.as_ref()?;
        next += 1;
        Some(if overtakes(link) { Element::Overtaking(next - 1) } else { Element::Pipe(next - 1) })
    };
    links.iter().map(&mut pipe).collect()
}

/// What loses packets before each link, where something does.
fn losses(links: &[LinkConfig]) -> Vec<Option<Element>> {
    let mut next = 0;
    let mut loss = |link: &LinkConfig| {
        link.loss.as_ref()?;
        next += 1;
        Some(Element::Loss(next - 1))
    };
    links.iter().map(&mut loss).collect()
}

/// The links of a way, and the process of the host where it ends.
fn links_and_process<'a>(way: &'a [usize], links: &[LinkConfig]) -> (&'a [usize], &'a [usize]) {
    let ends_in_process = way.last().is_some_and(|&last| links[last].processing.is_some());
    way.split_at(way.len() - usize::from(ends_in_process))
}

/// Lays out the hops of all flows.
pub(crate) fn routes(scenario: &Scenario) -> Routes {
    let mut layout = Layout {
        link_kinds: link_kinds(scenario),
        pipes: pipes(&scenario.links),
        losses: losses(&scenario.links),
        feeders: feeders(scenario),
        merges: BTreeMap::new(),
        shared_merges: BTreeMap::new(),
        hops: Vec::new(),
        links: &scenario.links,
        private_groups: BTreeMap::new(),
        own_seats: Seats::default(),
        seats: 0,
    };
    let mut starts: Vec<(u32, u32)> = Vec::with_capacity(scenario.flow_count());
    for (entry, flow) in scenario.flows.iter().enumerate() {
        let first = layout.hops.len();
        for number in 0..flow.count {
            let own = layout.hops.len();
            let start = layout.flow(starts.len(), entry, flow);
            // Flows alike share their hops, unless each has streams of its own at merges.
            if number > 0 && layout.hops[first..own] == layout.hops[own..] {
                layout.hops.truncate(own);
                starts.push(starts[starts.len() - 1]);
            } else {
                starts.push(start);
            }
        }
    }
    let mut private_groups: Vec<(u32, PrivateGroup)> =
        layout.private_groups.into_iter().map(|(group, number)| (number, group)).collect();
    private_groups.sort_unstable();
    Routes {
        hops: layout.hops,
        starts,
        seats: layout.seats,
        link_kinds: layout.link_kinds,
        merges: layout.merges.len(),
        shared_merges: layout.shared_merges.len(),
        private_groups: private_groups.into_iter().map(|(_, group)| group).collect(),
    }
}

struct Layout<'a> {
    link_kinds: Vec<LinkKind>,
    pipes: Vec<Option<Element>>,
    losses: Vec<Option<Element>>,
    feeders: Vec<Feeders>,
    merges: BTreeMap<(usize, Feeder), u32>,
    /// By the link that they wait for.
    shared_merges: BTreeMap<usize, u32>,
    hops: Vec<Hop>,
    links: &'a [LinkConfig],
    private_groups: BTreeMap<PrivateGroup, u32>,
    /// Those of the flow that is laid out.
    own_seats: Seats,
    seats: DepartureSeat,
}

/// Whose way is laid out.
#[derive(Clone, Copy)]
struct Traveller {
    flow: usize,
    entry: usize,
    bytes: u16,
    level: u8,
    /// They are ACKs.
    answers: bool,
}

impl Layout<'_> {
    fn flow(&mut self, index: usize, entry: usize, flow: &FlowConfig) -> (u32, u32) {
        let data = self.hops.len() as u32;
        self.own_seats = Seats::default();
        let traveller =
            Traveller { flow: index, entry, bytes: flow.packet_bytes, level: flow.priority, answers: false };
        let (links, process) = links_and_process(&flow.path, self.links);
        let feeder = self.way(links, None, Time::from_seconds(flow.forward_delay_s), traveller);
        if let &[host] = process {
            self.way(process, behind_own_delay(feeder, flow, index, host, self.links), Time::ZERO, traveller);
        }
        if !flow.is_tcp() {
            self.push(Element::Sink, Time::ZERO);
            return (data, data);
        }
        self.push(Element::Receiver, Time::from_seconds(flow.return_delay_s));
        let acks = self.hops.len() as u32;
        let traveller = Traveller { bytes: flow.ack_bytes, level: flow.ack_priority, answers: true, ..traveller };
        self.way(&flow.return_path, Some(Feeder::Receiver(index)), Time::ZERO, traveller);
        let shared = flow.return_path.last().is_some_and(|&last| self.link_kinds[last] == LinkKind::Private);
        self.push(if shared { Element::SharedSender } else { Element::Sender }, Time::ZERO);
        (data, acks)
    }

    /// A way over some links, with more delay behind the last one; what feeds the link after them.
    fn way(
        &mut self,
        links: &[usize],
        mut feeder: Option<Feeder>,
        last_delay: Time,
        traveller: Traveller,
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
            // A pipe and a channel have propagation of their own.
            let own = pipe.is_none() && !matches!(self.link_kinds[link], LinkKind::Channel(_));
            let delay = if own { Time::from_seconds(self.links[link].delay_s) } else { Time::ZERO };
            let after = if pipe.is_none() { delay + more } else { Time::ZERO };
            match self.link_kinds[link] {
                LinkKind::Link(index) => self.push(Element::Link(index), after),
                LinkKind::Queue(index) => {
                    self.push(Element::Queue { index, level: traveller.level }, after);
                }
                LinkKind::Private => {
                    let Traveller { entry, bytes, .. } = traveller;
                    // Up to the first link that others cross too, or from the last one on.
                    let outside = if traveller.answers { &links[position..] } else { &links[..position] };
                    let at_sender = outside.iter().all(|&other| self.link_kinds[other] == LinkKind::Private);
                    let seat = self.own_seats.next(at_sender);
                    self.seats = self.seats.max(seat + 1);
                    let group = self.private_group(PrivateGroup { link, entry, bytes, delay: after, seat });
                    self.push(Element::Private(group), Time::ZERO);
                }
                LinkKind::Channel(end) => self.push(Element::Channel(end), after),
                LinkKind::Process(index) => self.push(Element::Process(index), after),
            }
            if let Some(pipe) = pipe {
                self.push(pipe, more);
            }
            feeder = feeder_of(&self.links[link], link, traveller.flow);
        }
        feeder
    }

    fn private_group(&mut self, group: PrivateGroup) -> u32 {
        let next = self.private_groups.len() as u32;
        *self.private_groups.entry(group).or_insert(next)
    }

    /// Where what comes from `feeder` waits for `link`; none where the link needs no order from elsewhere: it has one feeder alone,
    /// and its departures are known on arrival.
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
            let next = self.shared_merges.len() as u32;
            return Some(Element::SharedMerge(*self.shared_merges.entry(link).or_insert(next)));
        }
        let next = self.merges.len() as u32;
        Some(Element::Merge(*self.merges.entry((link, feeder)).or_insert(next)))
    }

    fn push(&mut self, element: Element, delay: Time) {
        self.hops.push(Hop { element, delay });
    }
}
