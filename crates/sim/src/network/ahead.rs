//! Departures that are handled ahead of the clock.
//!
//! A packet is on its way to a queue for some time after the event that sent it. So all arrivals within that time are known,
//! and with them all departures. Where nobody but the queue meets what departs from it before it waits for the clock, one
//! event handles these departures in a row: the result is that of one event each, and code and state stay in the near cache.

use base::{prefetch, Packet, PacketKind, Time};

use super::event::EventId;
use super::{copy_by_field, Network};
use crate::route::{Element, Hop};

/// Most departures that one event handles.
const MOST_AT_ONCE: u32 = 64;

/// Returns for how long after the clock all arrivals at a queue behind feeds are known; zero if departures from it must not
/// be handled ahead of the clock.
pub(super) fn known_arrivals(hops: &[Hop], queue: u32) -> Time {
    let is_queue = |hop: &Hop| matches!(hop.element, Element::Queue { index, .. } if index == queue);
    let places = (0..hops.len()).filter(|&place| is_queue(&hops[place]));
    let known = places.map(|place| match place.checked_sub(1) {
        Some(feed) if meets_nobody(&hops[place + 1..]) => least_time(&hops[..feed]),
        _ => Time::ZERO,
    });
    known.min().unwrap_or(Time::ZERO)
}

/// Returns the least time that packets need for the last of these hops, from where they leave at the clock's time on.
fn least_time(hops: &[Hop]) -> Time {
    let mut sum = Time::ZERO;
    for hop in hops.iter().rev() {
        match hop.element {
            Element::Link(_) => sum += hop.delay,
            // ACKs and answers leave a receiver at the clock's time too, when its timer expires.
            Element::Queue { .. } | Element::Receiver | Element::Receivers(_) => return sum + hop.delay,
            Element::Private(_) | Element::Loss(_) | Element::Pipe(_) | Element::Process(_) => {}
            Element::Merge(_)
            | Element::SharedMerge(_)
            | Element::Overtaking(_)
            | Element::Channel(_)
            | Element::Sender
            | Element::Senders(_)
            | Element::SharedSender
            | Element::Sink
            | Element::Ping(_) => return sum,
        }
    }
    sum
}

/// Returns whether all that packets meet on these hops, until they wait for the clock or are gone, serves their stream alone.
fn meets_nobody(hops: &[Hop]) -> bool {
    for hop in hops {
        match hop.element {
            Element::Link(_) | Element::Loss(_) | Element::Receiver | Element::Receivers(_) => {}
            Element::Merge(_) | Element::Sender | Element::Senders(_) | Element::Sink => return true,
            _ => return false,
        }
    }
    false
}

impl Network {
    /// Returns the propagation delay after a packet's hop.
    pub(crate) fn delay_after(&self, packet: &Packet) -> Time {
        self.hops[packet.hop as usize].delay
    }

    /// Forwards the packet that departs from a queue behind a feed, and those whose departures are known after it.
    #[inline(never)]
    pub(super) fn on_fed_queue(&mut self, index: u32, merge: u32, now: Time) {
        let last = (now + self.feeds.known_arrivals(index)).min(self.measurement.end);
        let mut time = now;
        for number in 1..=MOST_AT_ONCE {
            self.take_arrivals(merge, index, time);
            self.prefetch_for_departure(index);
            let departed = self.end_transmission(index, time);
            if !self.dropped.is_empty() {
                self.report_drops(self.elements.queue_links[index as usize], time);
            }
            let queue = &self.elements.queues[index as usize];
            let (next, flow, data_or_ack) = match queue.transmission() {
                // What a request or an ACK of a FIN does to its receiver belongs to its instant.
                Some((end, packet)) => {
                    (end, Some(packet.flow), packet.kind.is_data() || packet.kind == PacketKind::Ack)
                }
                None => (Time::NEVER, None, false),
            };
            if let Some(flow) = flow {
                self.flows[flow as usize].prefetch_receiver();
            }
            if let Some(packet) = departed {
                let delay = self.delay_after(&packet);
                self.forward_from_merge(time + delay, Packet { hop: packet.hop + 1, ..copy_by_field(&packet) });
            }
            time = next;
            let is_known = data_or_ack && time <= last && time < self.batch_end;
            let (queue, stream) = (&self.elements.queues[index as usize], &self.merges[merge as usize]);
            if number == MOST_AT_ONCE || !is_known || !queue.can_take_later(stream.len()) {
                break;
            }
            self.feeds.departures += 1;
        }
        self.events.set(self.numbers.number(EventId::Queue(index)), time);
        self.schedule_first(merge, index);
    }

    /// Prefetches what the receiver of the packet in transmission needs elsewhere, soon before it arrives there.
    #[inline(always)]
    fn prefetch_for_departure(&self, index: u32) {
        if let Some((_, packet)) = self.elements.queues[index as usize].transmission() {
            let slot = &self.flows[packet.flow as usize];
            slot.receiver.prefetch_rules();
            self.delays.get(slot.receiver_account as usize).into_iter().for_each(prefetch);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hop(element: Element, ticks: u64) -> Hop {
        Hop { element, delay: Time::from_ticks(ticks) }
    }

    const QUEUE: Element = Element::Queue { index: 1, level: 0, host: 0 };

    /// Another flow's path ends before this one begins.
    fn path(front: &[Hop], behind: Element) -> Vec<Hop> {
        let mut hops = vec![hop(Element::Link(7), 500), hop(Element::Sender, 0)];
        hops.extend(front);
        hops.extend([hop(Element::Merge(0), 0), hop(QUEUE, 90), hop(behind, 3), hop(Element::Sink, 0)]);
        hops
    }

    #[test]
    fn arrivals_are_known_for_the_time_since_the_last_event_on_the_way() {
        let links = [hop(Element::Link(0), 20), hop(Element::Link(1), 7)];
        let behind = Element::Link(2);
        let other = hop(Element::Queue { index: 0, level: 0, host: 0 }, 40);
        let known = |front: &[Hop]| known_arrivals(&path(front, behind), 1).ticks();
        assert_eq!(known(&links), 27);
        assert_eq!(known(&[other, links[0]]), 60, "a packet leaves a queue at an event, and its delay follows");
        assert_eq!(known(&[links[0], hop(Element::Receiver, 2), links[1]]), 9, "ACKs, some of which a timer sends");
        assert_eq!(known(&[links[0], hop(Element::Merge(3), 0), links[1]]), 7);
        assert_eq!(known(&[]), 0);
        let mut both = path(&links, behind);
        both.extend(path(&links[1..], behind));
        assert_eq!(known_arrivals(&both, 1).ticks(), 7, "the least of all paths");
        assert_eq!(known_arrivals(&both, 0).ticks(), 0, "no path crosses this queue");
    }

    #[test]
    fn departures_are_at_their_instants_where_others_could_meet_them() {
        let front = [hop(Element::Link(0), 20)];
        let known = |behind| known_arrivals(&path(&front, behind), 1).ticks();
        let waiting = [Element::Merge(1), Element::Sender, Element::Senders(0)];
        for element in [Element::Link(2), Element::Loss(0), Element::Receiver].into_iter().chain(waiting) {
            assert_eq!(known(element), 20, "{element:?}");
        }
        for element in [Element::SharedMerge(0), Element::Private(0), Element::Overtaking(0), Element::Channel(0)] {
            assert_eq!(known(element), 0, "{element:?}");
        }
    }
}
