//! Receivers: data in, ACKs out.

use std::collections::BTreeMap;

use base::cast::to_u32;
use base::{Packet, PacketKind, Time};
use tcp::{Acknowledgment, SackLog, Selected};

use super::flows::AckTimer;
use super::{EventId, Network};
use crate::batches::BatchCounter;
use crate::handshake::Handshake;
use crate::loss_log::Losses;
use crate::route::Element;
use crate::statistics::FlowStatistics;

impl Network {
    /// Counts a datagram that arrives.
    #[inline(never)]
    pub(super) fn count_datagram(&mut self, time: Time, packet: &Packet) {
        let index = self.measurement.index(time);
        let account = self.flows[packet.flow as usize].receiver_account;
        let counts = &mut self.accounts[account as usize];
        if time >= self.batch_end {
            end_batches(&mut self.batches, account, counts, time);
        }
        counts.received[index] += 1;
        counts.delivered[index] += 1;
        if let (Some(delays), 1) = (self.delays.get_mut(account as usize), index) {
            delays.arrive(packet.stamp, time);
        }
    }

    /// Prepares the receiver of a flow for a transfer.
    pub(crate) fn begin_transfer(&mut self, flow: u32, now: Time) {
        let slot = &mut self.flows[flow as usize];
        if let Some(source) = slot.source() {
            if let Some(states) = &mut self.spare_states[self.transfers.entry(source)] {
                states.give(&mut slot.receiver, slot.journal);
            }
        }
        slot.receiver.begin_transfer(now);
    }

    /// Ends the transfer of a web source at the receiver, all of which is acknowledged.
    pub(crate) fn end_transfer(&mut self, flow: u32, source: u32, losses: &Losses) {
        let slot = &mut self.flows[flow as usize];
        if let Some(states) = &mut self.spare_states[self.transfers.entry(source)] {
            let arriving = losses.retransmitted - losses.gone;
            slot.journal = states.take(&mut slot.receiver, arriving).unwrap_or(slot.journal);
        }
        slot.receiver.end_transfer();
    }

    /// Reads the journal of a flow's receiver up to the number that an ACK of all packets before `next` has, into `selected`;
    /// returns the receiver's window too.
    #[cold]
    #[inline(never)]
    pub(crate) fn read_journal<'a>(
        &mut self,
        flow: u32,
        number: u32,
        next: u64,
        selected: &'a mut Vec<Selected>,
    ) -> (&'a [Selected], u64) {
        selected.clear();
        let receiver = &mut self.flows[flow as usize].receiver;
        receiver.read_journal(number, next, selected);
        (selected, receiver.announced_window())
    }

    /// Takes the records of SACK options, by flow.
    pub(crate) fn take_sack_logs(&mut self) -> BTreeMap<u32, SackLog> {
        let slots = self.flows.iter_mut().enumerate();
        slots.filter_map(|(flow, slot)| Some((to_u32(flow), slot.receiver.take_log()?))).collect()
    }

    /// Sends the ACK that a receiver has delayed, or the answer to a SYN again; nothing if it was sent meanwhile.
    #[inline(never)]
    pub(crate) fn on_receiver_timer(&mut self, timer: u32, now: Time) {
        let AckTimer { flow, first_hop, .. } = self.delayed_acks.timers[timer as usize];
        if let Element::Receivers(stream) = self.hops[first_hop as usize - 1].element {
            return self.on_stream_timer(stream, now);
        }
        let deadline = self.receiver_deadline(flow);
        let next = if deadline > now { deadline } else { Time::NEVER };
        self.delayed_acks.timers[timer as usize].scheduled = next;
        self.events.set(self.numbers.number(EventId::ReceiverTimer(timer)), next);
        if deadline <= now {
            self.on_receiver_deadline(timer, now);
        }
    }

    /// Returns the first instant at which a timer of a flow's receiver expires: of a delayed ACK, or of the answer to a SYN.
    pub(super) fn receiver_deadline(&self, flow: u32) -> Time {
        let answer = self.handshakes.get(&flow).map_or(Time::NEVER, Handshake::answer_due);
        self.flows[flow as usize].receiver.deadline().min(answer)
    }

    /// Sends what a timer of a receiver has waited for that expires now, and schedules the other one.
    pub(super) fn on_receiver_deadline(&mut self, timer: u32, now: Time) {
        let flow = self.delayed_acks.timers[timer as usize].flow;
        let receiver = &mut self.flows[flow as usize].receiver;
        if receiver.deadline() <= now {
            let acknowledgment = receiver.on_timer();
            self.send_ack(timer, now, acknowledgment);
        } else {
            self.answer_again(flow, now);
        }
        self.schedule_receiver(timer);
    }

    /// Schedules the timer of a receiver, if it expires before the instant for which it is scheduled.
    pub(super) fn schedule_receiver(&mut self, timer: u32) {
        let AckTimer { flow, scheduled, .. } = self.delayed_acks.timers[timer as usize];
        let deadline = self.receiver_deadline(flow);
        if deadline < scheduled {
            self.schedule_ack(timer, deadline);
        }
    }

    /// Schedules a receiver's timer.
    #[cold]
    #[inline(never)]
    fn schedule_ack(&mut self, timer: u32, deadline: Time) {
        let AckTimer { first_hop, .. } = self.delayed_acks.timers[timer as usize];
        self.delayed_acks.timers[timer as usize].scheduled = deadline;
        if let Element::Receivers(stream) = self.hops[first_hop as usize - 1].element {
            return self.schedule_in_stream(stream, timer, deadline);
        }
        self.events.advance(self.numbers.number(EventId::ReceiverTimer(timer)), deadline);
    }

    /// Sends a delayed ACK.
    #[inline(never)]
    pub(super) fn send_ack(&mut self, timer: u32, now: Time, acknowledgment: Acknowledgment) {
        let AckTimer { flow, first_hop, .. } = self.delayed_acks.timers[timer as usize];
        let (time, packet) = self.answer(flow, now, acknowledgment, first_hop);
        self.forward(time, packet);
    }

    /// Passes a data packet to its receiver; returns the ACK that the receiver sends at once.
    #[inline(always)]
    pub(super) fn receive(&mut self, time: Time, packet: &Packet) -> Option<Acknowledgment> {
        let flow = packet.flow;
        if self.flows[flow as usize].receiver.deadline() <= time {
            self.send_held_ack(flow);
        }
        let slot = &mut self.flows[flow as usize];
        let before = slot.receiver.next();
        let acknowledgment = slot.receiver.on_data(time, packet.sequence, packet.stamp, packet.marks, packet.journal);
        let index = self.measurement.index(time);
        let counts = &mut self.accounts[slot.receiver_account as usize];
        if time >= self.batch_end {
            end_batches(&mut self.batches, slot.receiver_account, counts, time);
        }
        counts.received[index] += 1;
        let delivered = slot.receiver.next() - before;
        counts.delivered[index] += delivered;
        if delivered != 1 {
            if !packet.kind.is_data() {
                counts.received[index] -= 1;
                self.answer_request(time, packet);
                return None;
            }
            slot.account_for_held(counts, index, delivered);
        }
        if index == 1 {
            if let Some(delays) = self.delays.get_mut(slot.receiver_account as usize) {
                delays.arrive(packet.stamp, time);
            }
        }
        let (deadline, timer) = (slot.receiver.deadline(), slot.receiver_timer);
        // As an event does, one that is scheduled stays while the deadline moves on.
        if deadline != Time::NEVER && deadline < self.delayed_acks.timers[timer as usize].scheduled {
            self.schedule_ack(timer, deadline);
        }
        acknowledgment
    }

    /// Sends a delayed ACK whose timer expires before the data that arrive now, ahead of the clock.
    #[cold]
    fn send_held_ack(&mut self, flow: u32) {
        let slot = &mut self.flows[flow as usize];
        let (due, timer) = (slot.receiver.deadline(), slot.receiver_timer);
        let acknowledgment = slot.receiver.on_timer();
        self.send_ack(timer, due, acknowledgment);
    }

    /// Returns the packet of an ACK, whose first hop is `hop`, and when it leaves the receiver.
    #[inline(always)]
    pub(super) fn answer(&mut self, flow: u32, time: Time, acknowledgment: Acknowledgment, hop: u32) -> (Time, Packet) {
        self.note_leaving(flow, &acknowledgment, time);
        let slot = &self.flows[flow as usize];
        let packet = Packet {
            sequence: acknowledgment.next,
            stamp: acknowledgment.echo,
            hop,
            flow,
            journal: acknowledgment.journal,
            bytes: slot.receiver.ack_bytes(),
            kind: PacketKind::Ack,
            marks: acknowledgment.marks,
        };
        (time + self.hops[hop as usize - 1].delay, packet)
    }
}

/// Ends the batches of receivers that end before a packet arrives.
#[cold]
#[inline(never)]
fn end_batches(batches: &mut Option<Box<BatchCounter>>, account: u32, counts: &FlowStatistics, now: Time) {
    if let Some(batches) = batches {
        batches.end_received(account, counts, now);
    }
}
