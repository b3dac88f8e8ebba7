//! Arrivals that need no event of their own.
//!
//! A packet that comes to a queue while another one is in transmission only joins those that wait, if the discipline
//! decides about it at its departure and the buffer has room. So where one stream alone feeds such a queue, its packets
//! join when the transmission ends: each with its own instant, and in their order.

use std::collections::BTreeMap;

use base::cast::to_u32;
use base::Time;
use net::{Origin, QueuedLink};

use super::ahead::known_arrivals;
use super::event::EventId;
use super::{Network, Scheduled};
use crate::route::{Element, Hop};

/// The queues whose arrivals need no events while a packet is in transmission, and the merge points in front of them.
#[derive(Debug, Default)]
pub(crate) struct Feeds {
    /// The queue behind each merge point, if it is one of these.
    queues: Vec<Option<u32>>,
    /// The merge point in front of each queue, if the queue is one of these.
    merges: Vec<Option<u32>>,
    /// Time after the clock within which all arrivals at each queue are known; zero if departures from it must not be ahead.
    known: Vec<Time>,
    /// Arrivals that had no event.
    arrivals: u64,
    /// Departures that had no event.
    pub(super) departures: u64,
}

impl Feeds {
    /// Returns the number of arrivals and departures that had no event.
    pub(crate) fn handled(&self) -> u64 {
        self.arrivals + self.departures
    }

    /// Returns the feeds of the hops; `lasting`: the scenario has no flow with one transfer after the other.
    pub(super) fn new(hops: &[Hop], queues: &[QueuedLink], merges: usize, lasting: bool) -> Feeds {
        // What is in front of each queue on all paths: one merge point, or `None` if there is anything else.
        let mut fronts: BTreeMap<u32, Option<u32>> = BTreeMap::new();
        let before = std::iter::once(None).chain(hops.iter().map(|hop| Some(hop.element)));
        for (front, hop) in before.zip(hops) {
            let Element::Queue { index, .. } = hop.element else { continue };
            let merge = match front {
                Some(Element::Merge(merge)) => Some(merge),
                _ => None,
            };
            let found = fronts.entry(index).or_insert(merge);
            *found = found.filter(|_| *found == merge);
        }
        let (none, known) = (vec![None; queues.len()], vec![Time::ZERO; queues.len()]);
        let mut feeds = Feeds { queues: vec![None; merges], merges: none, known, arrivals: 0, departures: 0 };
        for (queue, merge) in fronts {
            if let Some(merge) = merge.filter(|_| queues[queue as usize].decides_later()) {
                feeds.queues[merge as usize] = Some(queue);
                feeds.merges[queue as usize] = Some(merge);
                feeds.known[queue as usize] = if lasting { known_arrivals(hops, queue) } else { Time::ZERO };
            }
        }
        feeds
    }

    /// Returns the queue behind a merge point whose arrivals may need no events.
    #[inline(always)]
    pub(super) fn queue_behind(&self, merge: u32) -> Option<u32> {
        self.queues.get(merge as usize).copied().flatten()
    }

    /// Returns the merge point in front of a queue whose arrivals may need no events.
    #[inline(always)]
    pub(super) fn merge_before(&self, queue: u32) -> Option<u32> {
        self.merges.get(queue as usize).copied().flatten()
    }

    /// Returns for how long after the clock all arrivals at a queue are known; zero if departures from it must not be ahead
    /// of the clock.
    pub(super) fn known_arrivals(&self, queue: u32) -> Time {
        self.known.get(queue as usize).copied().unwrap_or(Time::ZERO)
    }
}

impl Network {
    /// Schedules the first arrival of a feed behind a packet that has just been added to its stream, if it needs an event.
    #[inline(always)]
    pub(super) fn schedule_added(&mut self, merge: u32, queue: u32) {
        let stream = &self.merges[merge as usize];
        if !self.elements.queues[queue as usize].can_take_later(stream.len()) {
            let first = stream.front().map_or(Time::NEVER, |first| first.time);
            self.events.advance(self.numbers.number(EventId::Merge(merge)), first);
        }
    }

    /// Schedules the first arrival of a feed after an event at its queue, or none if it needs no event.
    #[inline(always)]
    pub(super) fn schedule_first(&mut self, merge: u32, queue: u32) {
        let stream = &self.merges[merge as usize];
        let needed = !self.elements.queues[queue as usize].can_take_later(stream.len());
        let first = stream.front().filter(|_| needed).map_or(Time::NEVER, |first| first.time);
        let number = self.numbers.number(EventId::Merge(merge));
        if first != self.events.instant(number) {
            self.events.set(number, first);
        }
    }

    /// Forwards the first packet of a feed to its queue.
    #[inline(never)]
    pub(super) fn on_feed(&mut self, merge: u32, queue: u32, now: Time) {
        let Some(Scheduled { packet, .. }) = self.merges[merge as usize].pop() else { return };
        if let Element::Queue { index, level, host } = self.hops[packet.hop as usize].element {
            self.join_queue(index, now, packet, Origin { level, host });
        }
        self.schedule_first(merge, queue);
    }

    /// Lets the packets of a feed join its queue that arrive before an instant, during a transmission.
    #[inline(always)]
    pub(super) fn take_arrivals(&mut self, merge: u32, queue: u32, until: Time) {
        let (stream, queue) = (&mut self.merges[merge as usize], &mut self.elements.queues[queue as usize]);
        while let Some(Scheduled { time, packet }) = stream.front().filter(|first| first.time < until) {
            if let Element::Queue { level, host, .. } = self.hops[packet.hop as usize].element {
                queue.join(*time, packet, Origin { level, host }, &self.measurement);
            }
            self.feeds.arrivals += 1;
            stream.pop();
        }
    }

    /// Lets the packets of all feeds join their queues that arrive before an instant, where no event is before it.
    pub(crate) fn take_all_arrivals(&mut self, until: Time) {
        for queue in 0..to_u32(self.feeds.merges.len()) {
            if let Some(merge) = self.feeds.merge_before(queue) {
                self.take_arrivals(merge, queue, until);
            }
        }
    }
}
