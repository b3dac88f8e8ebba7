//! Packets of a connection's handshake and of its close.

use base::cast::low_u32;
use base::{Marks, Packet, PacketKind, Time};
use tcp::Receiver;

use super::Network;
use crate::handshake::{is_syn, Answer};

impl Network {
    /// Answers a packet of a request, if the request is complete; nothing answers the ACK of a SYN or a FIN.
    #[cold]
    #[inline(never)]
    pub(super) fn answer_request(&mut self, time: Time, packet: &Packet) {
        if packet.kind.is_bare_ack() {
            if packet.kind == PacketKind::Open {
                self.flows[packet.flow as usize].receiver.take_last_of_handshake(time);
            }
            return;
        }
        let handshake = self.handshakes.get_mut(&packet.flow);
        if let Some(answer) = handshake.and_then(|handshake| handshake.on_request(packet, time)) {
            let receiver = &mut self.flows[packet.flow as usize].receiver;
            if is_syn(packet.journal) {
                receiver.answer_syn(time);
            } else {
                receiver.answer_data();
            }
            self.send_answer(time, answer);
            self.schedule_receiver(self.flows[packet.flow as usize].receiver_timer);
        }
    }

    /// Sends the answer to a SYN again, as its timer expires.
    #[cold]
    pub(super) fn answer_again(&mut self, flow: u32, now: Time) {
        let handshake = self.handshakes.get_mut(&flow);
        if let Some(answer) = handshake.and_then(|handshake| handshake.on_answer_timer(now)) {
            self.send_answer(now, answer);
        }
    }

    fn send_answer(&mut self, time: Time, answer: Answer) {
        let Answer { request, numbers, bytes, marks } = answer;
        let slot = &self.flows[request.flow as usize];
        let (sequence, bytes) = (slot.receiver.first(), bytes.unwrap_or(slot.packet_bytes));
        let departure = time + self.hops[request.hop as usize].delay;
        for journal in numbers {
            let answer =
                Packet { sequence, journal, hop: request.hop + 1, bytes, kind: PacketKind::Answer, marks, ..request };
            self.forward_apart(departure, answer);
        }
    }

    /// Sends a request of a flow's handshake; returns when to send it again. Its packets and those of its answer have `marks`.
    pub(crate) fn send_request(&mut self, flow: u32, now: Time, marks: Marks) -> Time {
        let Some(handshake) = self.handshakes.get_mut(&flow) else { return Time::NEVER };
        handshake.marks = marks;
        let (numbers, bytes, again) = handshake.request(now);
        let slot = &self.flows[flow as usize];
        let (hop, bytes) = (slot.data, bytes.unwrap_or(slot.packet_bytes));
        for journal in numbers {
            let (sequence, kind) = (Receiver::NO_DATA, PacketKind::Request);
            let request = Packet { sequence, stamp: now, hop, flow, journal, bytes, kind, marks };
            self.forward_apart(now, request);
        }
        again
    }

    /// Sends the ACK of the receiver's SYN, before all data.
    pub(crate) fn acknowledge_syn(&mut self, flow: u32, now: Time, marks: Marks) {
        self.send_bare_ack(flow, PacketKind::Open, 0, now, marks);
    }

    /// Sends the ACK of the receiver's FIN, behind all data before packet `end`.
    pub(crate) fn acknowledge_fin(&mut self, flow: u32, end: u64, now: Time, marks: Marks) {
        self.send_bare_ack(flow, PacketKind::Close, low_u32(end), now, marks);
    }

    #[cold]
    #[inline(never)]
    fn send_bare_ack(&mut self, flow: u32, kind: PacketKind, journal: u32, now: Time, marks: Marks) {
        let slot = &self.flows[flow as usize];
        let (hop, bytes, sequence) = (slot.data, slot.receiver.plain_ack_bytes(), Receiver::NO_DATA);
        let packet = Packet { sequence, stamp: now, hop, flow, journal, bytes, kind, marks };
        self.forward_apart(now, packet);
    }

    /// Forwards a packet of a handshake or a close.
    #[inline(never)]
    fn forward_apart(&mut self, time: Time, packet: Packet) {
        if let Some(ack) = self.forward_private(time, packet) {
            self.share_ack(packet.flow, &ack);
        }
    }
}
