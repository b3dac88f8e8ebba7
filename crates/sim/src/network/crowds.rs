//! Links that flows have for themselves, and the crowds in which what comes from them waits for its turn.

use base::{prefetch, Packet, PacketKind, Time};

use super::{Network, PrivateGroup, Traffic};
use crate::route::{Element, Hop};

impl Network {
    /// As [`Network::forward`], where links that the flow has for itself are on the way. Apart from it: ways without such links
    /// keep their registers. An ACK that comes to a sender whose ACKs wait in a crowd: whose it is, and when.
    #[inline(never)]
    fn forward_over_private(&mut self, mut time: Time, mut packet: Packet) -> Option<(u32, Time, Packet)> {
        let mut place = packet.hop as usize;
        while time <= self.phase.end {
            let Hop { element, delay } = &mut self.hops[place];
            match *element {
                Element::Private(group) => {
                    let PrivateGroup { links, delay: propagation, .. } = &mut self.private_groups[group as usize];
                    let fate = links.arrive(delay, time, &self.phase);
                    let propagation = *propagation;
                    if fate.is_none() || self.observers.is_some() {
                        packet.hop = place as u32;
                        self.tell_private_fate(group as usize, time, packet, fate);
                    }
                    time = fate? + propagation;
                    place += 1;
                }
                Element::Link(index) => {
                    let delay = *delay;
                    packet.hop = place as u32;
                    let fate = match self.observers {
                        None => self.links[index as usize].arrive(time, packet.bytes, &self.phase),
                        Some(_) => self.cross_observed_link(index, time, packet),
                    };
                    if fate.is_none() {
                        self.count_private_drop(time, packet);
                    }
                    time = fate? + delay;
                    place += 1;
                }
                Element::Receiver(flow) => {
                    let acknowledgment = self.receive(flow, time, &packet)?;
                    (time, packet) = self.answer(flow, time, acknowledgment);
                    place = packet.hop as usize;
                }
                Element::Crowd { crowd, flow } => {
                    packet.hop = place as u32;
                    self.join_crowd(u32::from(crowd), flow, time, packet);
                    return None;
                }
                Element::CrowdedSender(flow) => {
                    packet.hop = place as u32;
                    return Some((flow, time, packet));
                }
                _ => {
                    packet.hop = place as u32;
                    self.forward_from_private(time, packet);
                    return None;
                }
            }
        }
        None
    }

    /// As [`Network::forward_over_private`], up to the crowd of the senders.
    #[inline(always)]
    pub(super) fn forward_to_crowd(&mut self, time: Time, packet: Packet) {
        if let Some((flow, time, packet)) = self.forward_over_private(time, packet) {
            self.wait_for_sender(flow, time, packet);
        }
    }

    /// An ACK waits for its turn at the sender.
    #[inline(never)]
    pub(crate) fn wait_for_sender(&mut self, flow: u32, time: Time, packet: Packet) {
        self.flows[flow as usize].crowded_acks += 1;
        self.join_crowd(self.senders_crowd(), flow, time, packet);
    }

    #[cold]
    #[inline(never)]
    fn forward_from_private(&mut self, time: Time, packet: Packet) {
        self.forward(time, packet);
    }

    #[cold]
    #[inline(never)]
    fn count_private_drop(&mut self, time: Time, packet: Packet) {
        self.count_drop(time, &packet);
    }

    #[cold]
    #[inline(never)]
    fn tell_private_fate(&mut self, group: usize, now: Time, packet: Packet, fate: Option<Time>) {
        let link = self.private_groups[group].link;
        let flow = self.flow_of(&packet);
        if fate.is_none() {
            self.count_drop(now, &packet);
        }
        let Some(observers) = &mut self.observers else { return };
        match fate {
            Some(departure) => observers.left(departure, link, &packet),
            None => observers.dropped(now, link, flow, &packet, false),
        }
    }

    /// A packet waits for its turn.
    #[inline(always)]
    fn join_crowd(&mut self, crowd: u32, flow: u32, time: Time, packet: Packet) {
        let waiting = &mut self.crowds[crowd as usize];
        waiting.push(time, packet, flow);
        // Not `advance`: crowds stand near the top, and whether the packet is the first cannot be predicted.
        self.events.set(self.first_crowd + crowd, waiting.first());
    }

    /// The first packet of a crowd has its turn.
    #[inline(always)]
    pub(crate) fn take_from_crowd(&mut self, element: u32) -> Option<Packet> {
        let waiting = &mut self.crowds[(element - self.first_crowd) as usize];
        let packet = waiting.pop()?;
        let next = waiting.first();
        self.events.set(element, next);
        Some(packet)
    }

    /// Fetches what the first packet of a crowd will need: whose it is, and whether it is an ACK.
    #[inline(always)]
    pub(crate) fn prefetch_for_crowd(&self, element: u32) -> Option<(u32, bool)> {
        let (packet, flow) = self.crowds[(element - self.first_crowd) as usize].first_two()?;
        let slot = self.flows.get(flow as usize)?;
        let place = packet.hop as usize;
        [1, 4].iter().filter_map(|ahead| self.hops.get(place + ahead)).for_each(prefetch);
        // The lines that data need, or ACKs.
        prefetch(&slot.statistics);
        if packet.kind == PacketKind::Ack {
            prefetch(&slot.crowded_acks);
            prefetch(&slot.statistics.rtt_samples);
            prefetch(self.hops.get(self.data[flow as usize] as usize)?);
            self.events.prefetch(self.first_sender + flow);
        } else {
            prefetch(&slot.receiver);
            prefetch(&slot.traffic);
        }
        Some((flow, packet.kind == PacketKind::Ack))
    }

    /// Fetches the state of a flow, and of its source.
    #[inline(always)]
    pub(crate) fn prefetch_flow(&self, flow: u32) {
        let slot = &self.flows[flow as usize];
        prefetch(&slot.receiver);
        prefetch(&slot.traffic);
        prefetch(&slot.statistics);
        prefetch(&slot.statistics.rtt_samples);
        prefetch(&slot.acks);
        self.hops.get(self.data[flow as usize] as usize).into_iter().for_each(prefetch);
        if let Traffic::Transfers(source) = slot.traffic {
            self.transfers.prefetch(source);
        }
    }

    /// A packet leaves the crowd in which it waited before a link. An ACK that comes back to a sender: whose it is, and when.
    #[inline(always)]
    pub(crate) fn leave_crowd(&mut self, now: Time, mut packet: Packet) -> Option<(u32, Time, Packet)> {
        packet.hop += 1;
        self.forward_over_private(now, packet)
    }

    /// An ACK leaves the crowd of the senders: whose it is.
    #[inline(always)]
    pub(crate) fn leave_senders_crowd(&mut self, packet: &Packet) -> Option<u32> {
        let Element::CrowdedSender(flow) = self.hops[packet.hop as usize].element else { return None };
        self.flows[flow as usize].crowded_acks -= 1;
        Some(flow)
    }

    fn senders_crowd(&self) -> u32 {
        self.crowds.len() as u32 - 1
    }
}
