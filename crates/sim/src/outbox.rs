use base::{Packet, PacketKind, Time};
use tcp::{Actions, Loss, LossCause, Segment};

use crate::flow::{FlowSlot, Traffic};
use crate::network::Network;

/// What a sender does, done.
pub(crate) struct Outbox<'a> {
    pub(crate) network: &'a mut Network,
    pub(crate) flow: u32,
    pub(crate) now: Time,
    pub(crate) last_sent: &'a mut Time,
    pub(crate) packet_bytes: u16,
}

impl Actions for Outbox<'_> {
    #[inline(always)]
    fn transmit(&mut self, segment: Segment) {
        let index = self.network.phase.index(self.now);
        *self.last_sent = self.now;
        let slot = &mut self.network.flows[self.flow as usize];
        slot.sender_counts[index].sent += 1;
        if segment.retransmission {
            slot.rare.retransmitted[index] += 1;
        }
        let hop = slot.data;
        if let Some(observers) = &mut self.network.observers {
            observers.sent(self.flow, self.now, &segment);
        }
        let packet = Packet {
            sequence: segment.sequence,
            stamp: self.now,
            hop,
            bytes: self.packet_bytes,
            kind: if segment.retransmission { PacketKind::Retransmission } else { PacketKind::Data },
            slow_start: segment.slow_start,
        };
        self.network.send(self.flow, self.now, packet);
    }

    fn loss(&mut self, loss: Loss) {
        let index = self.network.phase.index(self.now);
        let FlowSlot { rare, traffic, .. } = &mut self.network.flows[self.flow as usize];
        if let (Traffic::Transfers(source), LossCause::Timeout) = (*traffic, loss.cause) {
            self.network.transfers.stall(source, self.now, *self.last_sent);
        }
        match loss.cause {
            LossCause::Timeout => rare.timeouts[index] += 1,
            LossCause::FastRetransmit => rare.fast_retransmits[index] += 1,
        }
        self.network.on_loss(self.flow, self.now, loss, *self.last_sent);
    }

    #[cold]
    #[inline(never)]
    fn retransmitting(&mut self, sequence: u64, una: u64) {
        self.network.loss_log(self.flow).on_retransmission(sequence, una, self.now);
    }

    #[cold]
    #[inline(never)]
    fn recovered(&mut self, sent: u64, resent: u64) {
        self.network.on_recovered(self.flow, self.now, sent, resent);
    }
}
