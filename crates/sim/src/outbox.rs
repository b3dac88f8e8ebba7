use base::{Packet, PacketKind, Time};
use tcp::{Actions, LossEvent, Recovered, Segment};

use crate::network::Network;

/// Carries out a sender's actions in the network.
pub(crate) struct Outbox<'a> {
    pub(crate) network: &'a mut Network,
    pub(crate) flow: u32,
    pub(crate) now: Time,
    /// Whether the sender's event is scheduled again after what it handles now.
    pub(crate) reschedules: bool,
}

impl Actions for Outbox<'_> {
    #[inline(always)]
    fn transmit(&mut self, segment: Segment) {
        let index = self.network.measurement.index(self.now);
        let slot = &mut self.network.flows[self.flow as usize];
        slot.last_sent = self.now;
        self.network.accounts[slot.account as usize].sent[index] += 1;
        let (hop, bytes) = (slot.data, segment.bytes.unwrap_or(slot.packet_bytes));
        if let Some(observers) = &mut self.network.observers {
            observers.sent(self.flow, self.now, &segment);
        }
        let packet = Packet {
            sequence: segment.sequence,
            stamp: self.now,
            hop,
            flow: self.flow,
            journal: segment.echo_age,
            bytes,
            kind: if segment.retransmission { PacketKind::Retransmission } else { PacketKind::Data },
            marks: segment.marks,
        };
        self.network.forward(self.now, packet);
    }

    fn loss(&mut self, loss: LossEvent) {
        self.network.on_loss(self.flow, self.now, loss);
    }

    #[cold]
    #[inline(never)]
    fn retransmitting(&mut self, sequence: u64, una: u64) {
        self.network.on_retransmission(self.flow, self.now, sequence, una);
    }

    #[cold]
    #[inline(never)]
    fn recovered(&mut self, recovered: Recovered) {
        self.network.on_recovered(self.flow, self.now, recovered);
    }

    // Observers see each event at its instant.
    #[inline(always)]
    fn leave_clock(&mut self, to: Time) -> bool {
        self.reschedules && self.network.observers.is_none() && self.network.withdraw_sender(self.flow, to)
    }

    // A departure before all other events would be the next event anyway.
    #[inline(always)]
    fn is_quiet(&self, to: Time) -> bool {
        self.network.is_quiet(to)
    }

    #[inline(always)]
    fn go_ahead(&mut self, to: Time) {
        self.now = to;
        self.network.handled_ahead += 1;
    }

    #[cold]
    #[inline(never)]
    fn fail(&mut self, why: String) {
        self.network.failure.get_or_insert((self.flow, self.now, why));
    }
}
