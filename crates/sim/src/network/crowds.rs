//! Links that flows have for themselves, and the crowds in which what comes from them waits for its turn.

use base::{Packet, PacketKind, Time};

use super::{Network, PrivateGroup};
use crate::calendar_queue::CalendarQueue;
use crate::flow::ArrivingAck;
use crate::route::{Element, Hop};

/// With very many flows, memory is fetched for so many packets ahead.
const PACKETS_AHEAD: usize = 4;

impl Network {
    /// As [`Network::forward`], where links that the flow has for itself are on the way. Apart from it: ways without such links
    /// keep their registers. An ACK that comes to a sender whose ACKs wait in a crowd.
    #[inline(never)]
    fn forward_over_private(&mut self, mut time: Time, packet: Packet) -> Option<ArrivingAck> {
        // In registers, not as one packet in memory: to read it whole right after a part of it was written would wait for all that is
        // being written, and with very many flows that takes long.
        let Packet { mut hop, flow, mut sequence, mut stamp, mut bytes, mut kind, mut slow_start } = packet;
        while time <= self.phase.end {
            let Hop { element, delay } = self.hops[hop as usize];
            let packet = Packet { hop, flow, sequence, stamp, bytes, kind, slow_start };
            match element {
                Element::Private(group) => {
                    let PrivateGroup { links, delay, seat, .. } = &mut self.private_groups[group as usize];
                    let last = self.departures.last(&mut self.flows, flow, *seat);
                    let fate = links.arrive(last, time, &self.phase);
                    let delay = *delay;
                    if fate.is_none() || self.observers.is_some() {
                        self.tell_private_fate(group as usize, time, packet, fate);
                    }
                    time = fate? + delay;
                    hop += 1;
                }
                Element::Link(index) => {
                    let fate = match self.observers {
                        None => self.links[index as usize].arrive(time, bytes, &self.phase),
                        Some(_) => self.cross_observed_link(index, time, packet),
                    };
                    if fate.is_none() {
                        self.count_private_drop(time, packet);
                    }
                    time = fate? + delay;
                    hop += 1;
                }
                Element::Receiver => {
                    let acknowledgment = self.receive(time, &packet)?;
                    (time, Packet { hop, sequence, stamp, bytes, kind, slow_start, .. }) =
                        self.answer(flow, time, acknowledgment);
                }
                Element::Crowd(crowd) => {
                    self.join_crowd(crowd, time, packet);
                    return None;
                }
                Element::CrowdedSender => return Some(ArrivingAck { time, next: sequence, echo: stamp }),
                Element::Sender => {
                    self.come_back(time, &packet);
                    return None;
                }
                _ => {
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
        if let Some(ack) = self.forward_over_private(time, packet) {
            self.wait_for_sender(packet.flow, ack);
        }
    }

    /// An ACK waits for its turn at the sender.
    #[inline(never)]
    pub(crate) fn wait_for_sender(&mut self, flow: u32, ack: ArrivingAck) {
        self.flows[flow as usize].crowded_acks += 1;
        let packet = Packet { sequence: ack.next, stamp: ack.echo, flow, kind: PacketKind::Ack, ..Packet::default() };
        self.join_crowd(self.senders_crowd(), ack.time, packet);
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
        if fate.is_none() {
            self.count_drop(now, &packet);
        }
        let Some(observers) = &mut self.observers else { return };
        match fate {
            Some(departure) => observers.left(departure, link, &packet),
            None => observers.dropped(now, link, &packet, false),
        }
    }

    /// A packet waits for its turn.
    #[inline(always)]
    fn join_crowd(&mut self, crowd: u32, time: Time, packet: Packet) {
        let waiting = &mut self.crowds[crowd as usize];
        // Crowds stand near the top of the event queue: in a small one, whether the packet is the first cannot be predicted, and to ask
        // costs more than to tell the queue anyway.
        let before = if waiting.is_large() { waiting.first() } else { Time::NEVER };
        waiting.push(time, packet, packet.flow);
        let first = waiting.first();
        if first != before {
            self.events.set(self.first_crowd + crowd, first);
        }
    }

    /// The crowd of an element.
    #[inline(always)]
    pub(crate) fn crowd(&mut self, element: u32) -> &mut CalendarQueue {
        &mut self.crowds[(element - self.first_crowd) as usize]
    }

    /// Fetches what packets need that have their turn in a crowd soon; `fetch_sender` that of their senders.
    #[inline(always)]
    pub(crate) fn prefetch_for_crowd(&mut self, element: u32, fetch_sender: impl Fn(u32)) {
        let crowd = &mut self.crowds[(element - self.first_crowd) as usize];
        let flows = &self.flows;
        crowd.sort_ahead(PACKETS_AHEAD, |packet, _| {
            let slot = &flows[packet.flow as usize];
            if packet.kind == PacketKind::Ack {
                slot.prefetch_sender_end();
                fetch_sender(packet.flow);
            } else {
                slot.prefetch_receiver_end();
            }
        });
    }

    /// A packet leaves the crowd in which it waited before a link. An ACK that comes back to its sender.
    #[inline(always)]
    pub(crate) fn leave_crowd(&mut self, now: Time, mut packet: Packet) -> Option<ArrivingAck> {
        packet.hop += 1;
        self.forward_over_private(now, packet)
    }

    fn senders_crowd(&self) -> u32 {
        self.crowds.len() as u32 - 1
    }
}
