//! From paths to hops: where a packet's way is known on arrival, and where it must wait for its turn in time.

use std::collections::{BTreeMap, BTreeSet};

use base::Time;

use crate::scenario::{FlowConfig, LinkConfig, OrderConfig, QueueConfig, Scenario, VictimConfig};

/// One step of a packet's way.
#[derive(Clone, Copy, Debug)]
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
    /// A link whose departures are events.
    Queue(u32),
    /// Such a link with levels of priority, of which this is the way at one.
    Level { queue: u32, level: u8 },
    /// The end of an ordered stream that others join: the packet waits there until its instant.
    Merge(u32),
    /// What loses packets before a link.
    Loss(u32),
    /// A pipe whose delay changes, behind a link: packets keep their order, and it is known at once when they arrive.
    Pipe(u32),
    /// A pipe in which they overtake one another: the packet waits there until its instant.
    Crowd(u32),
    /// The receiver of a flow.
    Receiver(u32),
    /// The sender of a flow.
    Sender(u32),
}

// A hop fills a quarter of a cache line.
const _: () = assert!(size_of::<Hop>() == 16);

/// Which table a link of the scenario stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Link(u32),
    Queue(u32),
}

/// Where packets come from, in order of time. Senders are none: they send at the clock's own instant. Nor are pipes in which
/// packets overtake: they wait there for the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Feeder {
    Link(usize),
    Receiver(usize),
}

#[derive(Clone, Debug, Default)]
struct Feeders {
    streams: BTreeSet<Feeder>,
    /// Packets come at the clock's own instant too.
    clock: bool,
}

/// All routes.
#[derive(Clone, Debug)]
pub(crate) struct Routes {
    pub(crate) hops: Vec<Hop>,
    /// Where each flow's data start.
    pub(crate) data: Vec<u32>,
    /// Where each flow's ACKs start.
    pub(crate) acks: Vec<u32>,
    pub(crate) places: Vec<Place>,
    /// How many streams wait at merges.
    pub(crate) streams: usize,
}

/// A discipline that may throw out a packet that waits, or let others go first, makes departures events.
fn needs_events(link: &LinkConfig) -> bool {
    // An infinitely fast link has no queue to throw out of.
    link.rate_bps.is_some()
        && match link.queue {
            QueueConfig::DropTail {} => false,
            QueueConfig::Red { victim, .. } => victim == VictimConfig::Random,
            QueueConfig::DropFromFront {} | QueueConfig::RandomDrop {} | QueueConfig::Priority { .. } => true,
        }
}

fn places(links: &[LinkConfig]) -> Vec<Place> {
    let (mut plain, mut queued) = (0, 0);
    let mut place = |link: &LinkConfig| {
        let (place, counter): (fn(u32) -> Place, _) =
            if needs_events(link) { (Place::Queue, &mut queued) } else { (Place::Link, &mut plain) };
        *counter += 1;
        place(*counter - 1)
    };
    links.iter().map(&mut place).collect()
}

fn overtakes(link: &LinkConfig) -> bool {
    link.delay_process.as_ref().is_some_and(|process| process.order == OrderConfig::Overtake)
}

/// The pipe behind each link, where its delay changes.
fn pipes(links: &[LinkConfig]) -> Vec<Option<Element>> {
    let mut next = 0;
    let mut pipe = |link: &LinkConfig| {
        link.delay_process.as_ref()?;
        next += 1;
        Some(if overtakes(link) { Element::Crowd(next - 1) } else { Element::Pipe(next - 1) })
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

fn feeders(scenario: &Scenario) -> Vec<Feeders> {
    let mut feeders = vec![Feeders::default(); scenario.links.len()];
    for (index, flow) in scenario.flows.iter().enumerate() {
        feeders[flow.path[0]].clock = true;
        if let Some(&first) = flow.return_path.first() {
            feeders[first].streams.insert(Feeder::Receiver(index));
        }
        for way in [&flow.path, &flow.return_path] {
            for pair in way.windows(2) {
                if overtakes(&scenario.links[pair[0]]) {
                    feeders[pair[1]].clock = true;
                } else {
                    feeders[pair[1]].streams.insert(Feeder::Link(pair[0]));
                }
            }
        }
    }
    feeders
}

/// Lays out the hops of all flows.
pub(crate) fn routes(scenario: &Scenario) -> Routes {
    let mut layout = Layout {
        places: places(&scenario.links),
        pipes: pipes(&scenario.links),
        losses: losses(&scenario.links),
        feeders: feeders(scenario),
        streams: BTreeMap::new(),
        hops: Vec::new(),
        links: &scenario.links,
    };
    let (data, acks) = scenario.flows.iter().enumerate().map(|(index, flow)| layout.flow(index, flow)).unzip();
    Routes { hops: layout.hops, data, acks, places: layout.places, streams: layout.streams.len() }
}

struct Layout<'a> {
    places: Vec<Place>,
    pipes: Vec<Option<Element>>,
    losses: Vec<Option<Element>>,
    feeders: Vec<Feeders>,
    streams: BTreeMap<(usize, Feeder), u32>,
    hops: Vec<Hop>,
    links: &'a [LinkConfig],
}

impl Layout<'_> {
    fn flow(&mut self, index: usize, flow: &FlowConfig) -> (u32, u32) {
        let data = self.hops.len() as u32;
        self.way(&flow.path, None, flow.priority);
        self.add_delay(flow.forward_delay_s);
        self.push(Element::Receiver(index as u32), flow.return_delay_s);
        let acks = self.hops.len() as u32;
        self.way(&flow.return_path, Some(Feeder::Receiver(index)), flow.ack_priority);
        self.push(Element::Sender(index as u32), 0.0);
        (data, acks)
    }

    fn way(&mut self, links: &[usize], mut feeder: Option<Feeder>, level: u8) {
        for &link in links {
            if let Some(stream) = feeder.and_then(|feeder| self.stream(link, feeder)) {
                self.push(Element::Merge(stream), 0.0);
            }
            if let Some(loss) = self.losses[link] {
                self.push(loss, 0.0);
            }
            let element = match (self.places[link], self.links[link].queue) {
                (Place::Link(index), _) => Element::Link(index),
                (Place::Queue(queue), QueueConfig::Priority { .. }) => Element::Level { queue, level },
                (Place::Queue(index), _) => Element::Queue(index),
            };
            feeder = Some(Feeder::Link(link));
            match self.pipes[link] {
                None => self.push(element, self.links[link].delay_s),
                Some(pipe) => {
                    self.push(element, 0.0);
                    self.push(pipe, 0.0);
                    feeder = feeder.filter(|_| matches!(pipe, Element::Pipe(_)));
                }
            }
        }
    }

    /// The stream from `feeder` into `link`; none where the link needs no order from elsewhere: it has one feeder alone,
    /// and its departures are known on arrival.
    fn stream(&mut self, link: usize, feeder: Feeder) -> Option<u32> {
        let Feeders { streams, clock } = &self.feeders[link];
        let alone = streams.len() == 1 && !clock;
        if alone && matches!(self.places[link], Place::Link(_)) {
            return None;
        }
        let next = self.streams.len() as u32;
        Some(*self.streams.entry((link, feeder)).or_insert(next))
    }

    fn push(&mut self, element: Element, delay_s: f64) {
        self.hops.push(Hop { element, delay: Time::from_seconds(delay_s) });
    }

    fn add_delay(&mut self, delay_s: f64) {
        if let Some(hop) = self.hops.last_mut() {
            hop.delay += Time::from_seconds(delay_s);
        }
    }
}
