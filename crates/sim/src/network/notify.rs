//! Notifications to the observers about packets in the network, if there are observers.

use base::cast::to_u32;
use base::{Packet, Time};

use super::accounts::mark;
use super::elements::ProcessSlot;
use super::Network;
use crate::route::{Element, Hop};

impl Network {
    /// Crosses links as [`Network::cross_links`] does, and notifies the observers.
    #[cold]
    #[inline(never)]
    pub(super) fn cross_observed_links(&mut self, mut time: Time, packet: &mut Packet) -> Option<Time> {
        while time <= self.measurement.end {
            let Hop { element: Element::Link(index), delay } = self.hops[packet.hop as usize] else {
                return Some(time);
            };
            time = self.cross_observed_link(index, time, packet)? + delay;
            packet.hop += 1;
        }
        None
    }

    /// Returns when a packet departs from a link, and notifies the observers; `None` if it is dropped.
    #[cold]
    #[inline(never)]
    pub(super) fn cross_observed_link(&mut self, index: u32, time: Time, packet: &mut Packet) -> Option<Time> {
        self.report_departures(index, time);
        let link = self.elements.link_links[index as usize];
        self.report_arrival(link, time, packet);
        let (flows, accounts) = (self.flows.as_slice(), self.accounts.as_mut_slice());
        let queue = &mut self.elements.links[index as usize];
        let (bytes, measurement) = (packet.bytes, &self.measurement);
        let mark = || mark(packet, time, measurement, flows, accounts);
        let departure = queue.arrive(time, bytes, measurement, mark);
        let observers = self.observers.as_mut()?;
        if let Some(state) = queue.aqm_state().filter(|_| observers.follows_aqm()) {
            observers.aqm(link, time, state);
        }
        match departure {
            Some(departure) => {
                observers.queue(link, time, queue.packets());
                observers.left(departure, link, packet);
            }
            None => {
                observers.dropped(time, link, packet, false);
                self.count_drop(time, *packet);
            }
        }
        departure
    }

    /// Counts and reports what became of a packet at a private link.
    #[cold]
    #[inline(never)]
    pub(super) fn report_private_link(&mut self, link: u32, now: Time, packet: Packet, departure: Option<Time>) {
        if departure.is_none() {
            self.count_drop(now, packet);
        }
        let Some(observers) = &mut self.observers else { return };
        match departure {
            Some(departure) => observers.left(departure, link, &packet),
            None => observers.dropped(now, link, &packet, false),
        }
    }

    /// Counts the packets that the queue of a link has just dropped, and reports them.
    #[cold]
    #[inline(never)]
    pub(super) fn report_drops(&mut self, link: u32, now: Time) {
        let mut dropped = std::mem::take(&mut self.dropped);
        for packet in dropped.drain(..) {
            self.count_drop(now, packet);
            if let Some(observers) = &mut self.observers {
                observers.dropped(now, link, &packet, false);
            }
        }
        self.dropped = dropped;
    }

    /// Reports all departures up to the end of the run that are known but not yet reported.
    pub(crate) fn report_last_departures(&mut self) {
        for index in 0..self.elements.links.len() {
            self.report_departures(to_u32(index), self.measurement.end);
        }
        for index in 0..self.elements.processes.len() {
            self.report_processed(to_u32(index), self.measurement.end);
        }
    }

    /// Reports the departures from a link up to an instant.
    fn report_departures(&mut self, index: u32, until: Time) {
        let Some(observers) = &mut self.observers else { return };
        if observers.follows_queues() {
            let (queue, link) = (&self.elements.links[index as usize], self.elements.link_links[index as usize]);
            for (gone, departure) in queue.departures().take_while(|&departure| departure <= until).enumerate() {
                observers.queue(link, departure, queue.packets() - gone as u64 - 1);
            }
        }
    }

    /// Reports the packets that a host's process finishes up to an instant.
    pub(super) fn report_processed(&mut self, index: u32, until: Time) {
        let Some(observers) = &mut self.observers else { return };
        if observers.follows_queues() {
            let ProcessSlot { process, link } = &self.elements.processes[index as usize];
            for (gone, end) in process.departures().take_while(|&end| end <= until).enumerate() {
                observers.queue(*link, end, process.packets() - gone as u64 - 1);
            }
        }
    }

    /// Reports the states of a queue's AQM that may have changed.
    #[cold]
    #[inline(never)]
    pub(super) fn report_aqm(&mut self, index: u32, now: Time) {
        let (link, queue) = (self.elements.queue_links[index as usize], &mut self.elements.queues[index as usize]);
        if let Some(observers) = self.observers.as_mut().filter(|observers| observers.follows_aqm()) {
            queue.report_aqm(|state| observers.aqm(link, now, state));
        }
    }

    /// Reports the packets in a queue, and the states of its AQM that may have changed.
    #[cold]
    #[inline(never)]
    pub(super) fn report_queue(&mut self, index: u32, now: Time) {
        let (link, packets) =
            (self.elements.queue_links[index as usize], self.elements.queues[index as usize].packets());
        if let Some(observers) = &mut self.observers {
            observers.queue(link, now, packets);
        }
        self.report_aqm(index, now);
    }

    /// Reports the departure of a packet from a queue, or that packets were dropped in the place of one.
    #[cold]
    #[inline(never)]
    pub(super) fn report_departure(&mut self, index: u32, now: Time, departed: Option<&Packet>) {
        let link = self.elements.queue_links[index as usize];
        let Some(observers) = &mut self.observers else { return };
        if departed.is_some() || !self.dropped.is_empty() {
            observers.queue(link, now, self.elements.queues[index as usize].packets());
        }
        if let Some(packet) = departed {
            observers.left(now, link, packet);
        }
        self.report_aqm(index, now);
    }

    /// Reports that a packet arrives at a link, before it is enqueued or dropped.
    #[inline(always)]
    pub(super) fn report_arrival(&mut self, link: u32, time: Time, packet: &Packet) {
        if let Some(found) = self.observers.as_mut().and_then(|observers| observers.arrival(link, time)) {
            self.count_queue_seen(found, packet);
        }
    }

    /// Counts the queue that a packet of a transfer finds.
    #[cold]
    fn count_queue_seen(&mut self, found: u64, packet: &Packet) {
        let slot = &self.flows[packet.flow as usize];
        let current = packet.kind.is_data() && packet.sequence >= slot.receiver.first();
        if let (Some(source), true) = (slot.source(), current) {
            self.transfers.record_queue_seen(source, found);
        }
    }
}
