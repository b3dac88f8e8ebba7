//! Packets that wait for the clock: at merge points, in pipes, and ACKs in front of their senders.

mod ack_waits;

use base::{Clock, Marks, Packet, Ring, Time};
use tcp::Acknowledgment;

use super::event::EventId;
use super::{copy_by_field, Network, Scheduled};
use crate::calendar_queue::CalendarQueue;
use crate::flow::{ArrivingAck, FlowSlot};
use crate::route::{Element, Routes};
use crate::scenario::Scenario;
use ack_waits::AckWaits;

/// Unit of timestamps \[s\].
const MILLISECOND_S: f64 = 0.001;
/// Packets for which memory is prefetched, with very many flows.
const PACKETS_AHEAD: usize = 4;

/// The ACKs that wait in front of senders.
#[derive(Debug)]
pub(super) struct WaitingAcks {
    /// Those in front of the sender of each flow; empty if no flow has a queue of its own.
    own: Vec<Ring<ArrivingAck>>,
    /// Those in front of the senders that get theirs in one stream, by stream.
    streams: Vec<Ring<Scheduled>>,
    /// Those in front of the senders of all other flows.
    shared: CalendarQueue,
    /// Departures of the ACKs that may wait on the return path, if there are such.
    waits: Option<Box<AckWaits>>,
}

impl WaitingAcks {
    /// Returns the queues of flows, all empty.
    pub(super) fn new(scenario: &Scenario, routes: &Routes, flows: usize, clock: Clock) -> WaitingAcks {
        let have_own = routes.hops.iter().any(|hop| hop.element == Element::Sender);
        WaitingAcks {
            own: vec![Ring::default(); if have_own { flows } else { 0 }],
            streams: vec![Ring::default(); routes.arriving_acks],
            shared: CalendarQueue::default(),
            waits: AckWaits::new(scenario, clock).map(Box::new),
        }
    }
}

impl Network {
    /// Takes note that an ACK leaves its receiver.
    #[inline(always)]
    pub(super) fn note_leaving(&mut self, flow: u32, ack: &Acknowledgment, left: Time) {
        if let Some(waits) = &mut self.acks.waits {
            waits.leave(flow, (ack.next, ack.echo, ack.journal), left);
        }
    }

    /// Returns how long an ACK that arrives has waited on its way, or was longer on it than on an empty one; a millisecond more
    /// if its timestamp is that much older than its sending.
    #[inline(always)]
    pub(crate) fn waited(&mut self, flow: u32, ack: &ArrivingAck) -> Time {
        let waited = match &mut self.acks.waits {
            None => Time::ZERO,
            Some(waits) => waits.arrive(flow, (ack.next, ack.echo, ack.journal), ack.time),
        };
        if ack.marks.has(Marks::OLD_STAMP) {
            waited + self.clock.time(MILLISECOND_S)
        } else {
            waited
        }
    }

    /// Enqueues a packet at the merge point of its stream. Packets of one stream arrive in order.
    ///
    /// Paths with private links (`PRIVATE`) have few such streams, and a walk that holds this code is 15% slower there (134
    /// web sources).
    #[inline(always)]
    pub(super) fn wait_at_merge<const PRIVATE: bool>(&mut self, merge: u32, time: Time, packet: Packet) {
        if PRIVATE {
            return self.wait_at_merge_apart(merge, time, packet);
        }
        let stream = &mut self.merges[merge as usize];
        if let Some(queue) = self.feeds.queue_behind(merge) {
            // The next hop is that of the queue.
            stream.push(Scheduled { time, packet: Packet { hop: packet.hop + 1, ..packet } });
            return self.schedule_added(merge, queue);
        }
        if stream.is_empty() {
            self.events.advance(self.numbers.number(EventId::Merge(merge)), time);
        }
        stream.push(Scheduled { time, packet });
    }

    #[inline(never)]
    fn wait_at_merge_apart(&mut self, merge: u32, time: Time, packet: Packet) {
        self.wait_at_merge::<false>(merge, time, packet);
    }

    /// Forwards the first packet of a stream.
    #[inline(never)]
    pub(crate) fn on_merge(&mut self, merge: u32, now: Time) {
        if let Some(queue) = self.feeds.queue_behind(merge) {
            return self.on_feed(merge, queue, now);
        }
        let stream = &mut self.merges[merge as usize];
        let Some(Scheduled { mut packet, .. }) = stream.pop() else { return };
        let next = stream.front().map_or(Time::NEVER, |first| first.time);
        self.events.set(self.numbers.number(EventId::Merge(merge)), next);
        packet.hop += 1;
        self.forward_from_merge(now, packet);
    }

    /// Enqueues a packet in a pipe in which packets overtake.
    pub(super) fn wait_in_pipe(&mut self, pipe: u32, departure: Time, packet: Packet) {
        let arrival = self.cross_pipe(pipe, departure, packet.hop);
        if arrival <= self.measurement.end {
            self.events.advance(self.numbers.number(EventId::Pipe(pipe)), arrival);
            self.in_pipes[pipe as usize].push(arrival, packet);
        }
    }

    /// Forwards the first packet that arrives from a pipe.
    #[cold]
    pub(crate) fn on_pipe(&mut self, pipe: u32, now: Time) {
        let inside = &mut self.in_pipes[pipe as usize];
        let Some(&(mut packet)) = inside.pop() else { return };
        let next = inside.first();
        self.events.set(self.numbers.number(EventId::Pipe(pipe)), next);
        packet.hop += 1;
        self.forward(now, packet);
    }

    /// Enqueues a packet at a merge point that many streams share.
    #[inline(always)]
    pub(super) fn wait_at_shared_merge(&mut self, merge: u32, time: Time, packet: Packet) {
        if let Some(first) = push(&mut self.shared_merges[merge as usize], time, packet) {
            self.events.set(self.numbers.number(EventId::SharedMerge(merge)), first);
        }
    }

    /// Returns the packets that wait at a shared merge point.
    #[inline(always)]
    pub(crate) fn shared_merge(&mut self, merge: u32) -> &mut CalendarQueue {
        &mut self.shared_merges[merge as usize]
    }

    /// Schedules the event of a shared merge point from which a packet was taken.
    #[inline(always)]
    pub(crate) fn schedule_shared_merge(&mut self, merge: u32) {
        let next = self.shared_merges[merge as usize].first();
        self.events.set(self.numbers.number(EventId::SharedMerge(merge)), next);
    }

    /// Enqueues an ACK for its sender in the flow's own queue. The ACKs of one flow arrive in order.
    #[inline(always)]
    pub(super) fn wait_for_sender(&mut self, time: Time, packet: &Packet) {
        let acks = &mut self.acks.own[packet.flow as usize];
        if acks.is_empty() {
            self.events.advance(self.numbers.number(EventId::Sender(packet.flow)), time);
        }
        acks.push(ArrivingAck::of(time, packet));
    }

    /// Enqueues an ACK for its sender in the queue of a stream.
    #[inline(always)]
    pub(super) fn wait_for_senders(&mut self, stream: u32, time: Time, packet: &Packet) {
        let acks = &mut self.acks.streams[stream as usize];
        if acks.is_empty() {
            self.events.advance(self.numbers.number(EventId::Acks(stream)), time);
        }
        acks.push(Scheduled { time, packet: copy_by_field(packet) });
    }

    /// Returns the ACKs of a stream that are to arrive at its senders.
    #[inline(always)]
    pub(crate) fn arriving_acks(&mut self, stream: u32) -> &mut Ring<Scheduled> {
        &mut self.acks.streams[stream as usize]
    }

    /// Dequeues the flow's next ACK, if one has arrived.
    #[inline(always)]
    pub(crate) fn pop_ack(&mut self, flow: u32, now: Time) -> Option<ArrivingAck> {
        let acks = self.acks.own.get_mut(flow as usize)?;
        acks.front().filter(|ack| ack.time <= now)?;
        acks.pop()
    }

    /// Returns when the flow's next ACK arrives that waits in the flow's own queue.
    #[inline(always)]
    pub(crate) fn next_ack(&self, flow: u32) -> Time {
        self.acks.own.get(flow as usize).and_then(|acks| acks.front()).map_or(Time::NEVER, |ack| ack.time)
    }

    /// Schedules the event of a sender in place of the one that is scheduled.
    #[inline(always)]
    pub(crate) fn schedule_sender(&mut self, flow: u32, time: Time) {
        self.flows[flow as usize].pending = time;
        let number = self.numbers.number(EventId::Sender(flow));
        // Where departures were ahead of the clock, the next ACK has taken the place of this event.
        if self.events.instant(number) != time {
            self.events.set(number, time);
        }
    }

    /// Puts the next ACK in the place of the sender's event, which is handled now, if that ACK comes after `to`, and no other
    /// event surely before; returns whether it does.
    #[inline(always)]
    pub(crate) fn withdraw_sender(&mut self, flow: u32, to: Time) -> bool {
        let next = self.next_ack(flow);
        // Of many flows, whose ACKs wait in one queue, another one's event mostly comes before.
        let leaves = next > to && (next != Time::NEVER || self.events.runner_up() > to);
        if leaves {
            self.events.set(self.numbers.number(EventId::Sender(flow)), next);
        }
        leaves
    }

    /// Returns whether all events, and the ends of batches and of the run, come after an instant.
    #[inline(always)]
    pub(crate) fn is_quiet(&self, to: Time) -> bool {
        to < self.events.earliest().min(self.batch_end) && to <= self.measurement.end
    }

    /// Enqueues an ACK in the common queue of all ACKs that arrive over private links.
    #[inline(never)]
    pub(crate) fn share_ack(&mut self, flow: u32, ack: &ArrivingAck) {
        self.flows[flow as usize].shared_acks += 1;
        let ArrivingAck { time, next: sequence, echo: stamp, journal, marks, kind } = *ack;
        let packet = Packet { sequence, stamp, flow, journal, marks, kind, ..Packet::default() };
        if let Some(first) = push(&mut self.acks.shared, time, packet) {
            self.events.set(self.numbers.number(EventId::SharedAcks), first);
        }
    }

    /// Dequeues the first shared ACK, whose time has come, and returns its flow too.
    #[inline(always)]
    pub(crate) fn pop_shared_ack(&mut self, now: Time) -> Option<(u32, ArrivingAck)> {
        let packet = self.acks.shared.pop()?;
        let (flow, ack) = (packet.flow, ArrivingAck::of(now, packet));
        let first = self.acks.shared.first();
        self.events.set(self.numbers.number(EventId::SharedAcks), first);
        self.flows[flow as usize].shared_acks -= 1;
        Some((flow, ack))
    }

    /// Prefetches what the next packets of a shared merge point need; `prefetch_sender` does so for a flow's sender.
    #[inline(always)]
    pub(crate) fn prefetch_for_merge(&mut self, merge: u32, prefetch_sender: impl Fn(u32)) {
        prefetch_for(&mut self.shared_merges[merge as usize], &self.flows, prefetch_sender);
    }

    /// Prefetches what the next shared ACKs need; `prefetch_sender` does so for a flow's sender.
    #[inline(always)]
    pub(crate) fn prefetch_for_acks(&mut self, prefetch_sender: impl Fn(u32)) {
        prefetch_for(&mut self.acks.shared, &self.flows, prefetch_sender);
    }
}

/// Adds a packet to a queue; returns the queue's first instant if the event queue has to know it.
#[inline(always)]
fn push(queue: &mut CalendarQueue, time: Time, packet: Packet) -> Option<Time> {
    // These owners are near the top of the event queue. Whether a packet is the first of a small queue cannot be
    // predicted, and the branch costs more than setting the same instant again.
    let before = if queue.is_large() { queue.first() } else { Time::NEVER };
    queue.push(time, packet);
    let first = queue.first();
    (first != before).then_some(first)
}

#[inline(always)]
fn prefetch_for(queue: &mut CalendarQueue, flows: &[FlowSlot], prefetch_sender: impl Fn(u32)) {
    queue.sort_ahead(PACKETS_AHEAD, |packet| {
        let slot = &flows[packet.flow as usize];
        if packet.kind.goes_back() {
            slot.prefetch_sender_end();
            prefetch_sender(packet.flow);
        } else {
            slot.prefetch_receiver_end();
        }
    });
}
