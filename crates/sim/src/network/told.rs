//! What observers are told of a packet's way, where there are any.

use base::{Packet, PacketKind, Time};

use super::Network;
use crate::route::{Element, Hop};

impl Network {
    /// As [`Network::cross_links`], and tells the observers.
    #[cold]
    pub(super) fn cross_observed_links(&mut self, mut time: Time, packet: &mut Packet) -> Option<Time> {
        while time <= self.phase.end {
            let Hop { element: Element::Link(index), delay } = self.hops[packet.hop as usize] else {
                return Some(time);
            };
            let Some(departure) = self.cross_observed_link(index, time, *packet) else {
                self.count_drop(time, packet);
                return None;
            };
            time = departure + delay;
            packet.hop += 1;
        }
        None
    }

    /// When the packet departs; none where it is dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn cross_observed_link(&mut self, index: u32, time: Time, packet: Packet) -> Option<Time> {
        self.tell_departures(index as usize, time);
        self.tell_arrival(self.link_indices[index as usize], time, &packet);
        let fate = self.links[index as usize].arrive(time, packet.bytes, &self.phase);
        self.tell_fate(index as usize, time, &packet, fate);
        fate
    }

    #[cold]
    pub(super) fn tell_departure(&mut self, index: u32, now: Time, packets: u64, packet: &Packet) {
        let link = self.queue_indices[index as usize];
        let Some(observers) = &mut self.observers else { return };
        observers.queue(link, now, packets);
        observers.left(now, link, packet);
    }

    /// Tells the observers of the departures that are known but not yet told.
    pub(crate) fn tell_last_departures(&mut self) {
        for index in 0..self.links.len() {
            self.tell_departures(index, self.phase.end);
        }
        for index in 0..self.processes.len() {
            self.tell_processed(index, self.phase.end);
        }
    }

    pub(super) fn tell_departures(&mut self, index: usize, until: Time) {
        let Some(observers) = &mut self.observers else { return };
        if observers.follows_queues() {
            let (link, name) = (&self.links[index], self.link_indices[index]);
            let departures = link.departures().take_while(|&departure| departure <= until);
            for (gone, departure) in departures.enumerate() {
                observers.queue(name, departure, link.packets() - gone as u64 - 1);
            }
        }
    }

    /// A packet comes to a link, before it is let in or not.
    #[inline(always)]
    pub(super) fn tell_arrival(&mut self, link: u32, time: Time, packet: &Packet) {
        if let Some(found) = self.observers.as_mut().and_then(|observers| observers.arrival(link, time)) {
            self.look(found, packet);
        }
    }

    #[cold]
    fn look(&mut self, found: u64, packet: &Packet) {
        let slot = &self.flows[packet.flow as usize];
        let current = packet.kind != PacketKind::Ack && packet.sequence >= slot.receiver.first();
        if let (Some(source), true) = (slot.source(), current) {
            self.transfers.look(source, found);
        }
    }

    pub(super) fn tell_fate(&mut self, index: usize, time: Time, packet: &Packet, fate: Option<Time>) {
        let Some(observers) = &mut self.observers else { return };
        let name = self.link_indices[index];
        match fate {
            Some(departure) => {
                observers.queue(name, time, self.links[index].packets());
                observers.left(departure, name, packet);
            }
            None => observers.dropped(time, name, packet, false),
        }
    }
}
