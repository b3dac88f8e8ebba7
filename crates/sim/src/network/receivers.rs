//! What receivers do with packets.

use base::{Packet, PacketKind, Time};
use tcp::Acknowledgment;

use super::Network;

impl Network {
    /// A packet that nobody answers has arrived.
    #[inline(never)]
    pub(super) fn take_in(&mut self, flow: u32, time: Time) {
        let index = self.phase.index(time);
        let counts = &mut self.accounts[self.flows[flow as usize].receiver_account as usize];
        counts.received[index] += 1;
        counts.delivered[index] += 1;
    }

    /// The receiver of a flow is ready for its next transfer.
    pub(crate) fn begin_next_transfer(&mut self, flow: u32, now: Time) {
        self.flows[flow as usize].receiver.begin_next_transfer(now);
    }

    /// A receiver's timer is due, unless what it held back has gone.
    #[inline(never)]
    pub(crate) fn on_receiver_timer(&mut self, delaying: u32, now: Time) {
        let flow = self.delaying[delaying as usize];
        let slot = &mut self.flows[flow as usize];
        let deadline = slot.receiver.deadline();
        self.events.set(slot.receiver_timer, if deadline > now { deadline } else { Time::NEVER });
        if deadline <= now {
            let acknowledgment = slot.receiver.on_timer();
            self.send_ack(flow, now, acknowledgment);
        }
    }

    /// A receiver sends an ACK that it held back.
    fn send_ack(&mut self, flow: u32, now: Time, acknowledgment: Acknowledgment) {
        let (time, packet) = self.answer(flow, now, acknowledgment);
        if self.hops[self.flows[flow as usize].data as usize].is_private() {
            self.forward_to_crowd(time, packet);
        } else {
            self.forward(time, packet);
        }
    }

    #[inline(always)]
    pub(super) fn receive(&mut self, time: Time, packet: &Packet) -> Option<Acknowledgment> {
        let flow = packet.flow;
        if self.flows[flow as usize].receiver.deadline() <= time {
            self.send_held_ack(flow);
        }
        let slot = &mut self.flows[flow as usize];
        let before = slot.receiver.next();
        let acknowledgment = slot.receiver.on_data(time, packet.sequence, packet.stamp);
        let index = self.phase.index(time);
        let counts = &mut self.accounts[slot.receiver_account as usize];
        counts.received[index] += 1;
        counts.delivered[index] += slot.receiver.next() - before;
        if slot.receiver.deadline() != Time::NEVER {
            self.events.advance(slot.receiver_timer, slot.receiver.deadline());
        }
        acknowledgment
    }

    /// Data that the clock has not reached yet are told ahead; an ACK that is due before them goes first.
    #[cold]
    fn send_held_ack(&mut self, flow: u32) {
        let slot = &mut self.flows[flow as usize];
        let due = slot.receiver.deadline();
        let acknowledgment = slot.receiver.on_timer();
        self.send_ack(flow, due, acknowledgment);
    }

    #[inline(always)]
    pub(super) fn answer(&self, flow: u32, time: Time, acknowledgment: Acknowledgment) -> (Time, Packet) {
        let slot = &self.flows[flow as usize];
        let hop = slot.first_ack_hop;
        let packet = Packet {
            sequence: acknowledgment.next,
            stamp: acknowledgment.echo,
            hop,
            flow,
            bytes: slot.ack_bytes,
            kind: PacketKind::Ack,
            slow_start: false,
        };
        (time + self.hops[hop as usize - 1].delay, packet)
    }
}
