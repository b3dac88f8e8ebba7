//! Begins and ends of transfers, and packets without TCP.

use base::{Marks, Time};
use tcp::{Actions, Segment};

use super::Engine;
use crate::outbox::Outbox;
use crate::traffic::Transfer;

impl Engine {
    /// Begins the current transfer of a flow at both ends.
    pub(super) fn open(&mut self, flow: u32, now: Time) {
        self.network.begin_transfer(flow, now);
        self.connect(flow, now);
    }

    /// Begins a transfer of a web source. Packet numbers go on, so that no old packet can belong to the new transfer.
    #[inline(never)]
    pub(super) fn begin_transfer(&mut self, flow: u32, source: u32, now: Time) {
        let slot = &mut self.senders[flow as usize];
        let network = &mut self.network;
        network.transfers.begin(source, now, &mut slot.sender, &network.measurement);
        // Retransmissions of the last transfer may still be in the network.
        network.forget_losses(flow);
        self.open(flow, now);
    }

    #[inline(never)]
    pub(super) fn on_finished(&mut self, flow: u32, now: Time) {
        self.count_completion(flow, now);
        let begun = self.begun(flow);
        let slot = &mut self.senders[flow as usize];
        if slot.sender.closes() {
            self.network.acknowledge_fin(flow, slot.sender.una(), now, slot.sender.marks_of_ack());
        }
        let Some(source) = self.network.flows[flow as usize].source() else {
            let account = self.network.flows[flow as usize].account;
            return self.network.accounts[account as usize].finish_one(now);
        };
        let last_sent = self.network.flows[flow as usize].last_sent;
        let losses = self.network.forget_losses(flow);
        let transfers = &mut self.network.transfers;
        transfers.end(source, [begun, last_sent, now], &mut slot.sender, &losses, &self.network.measurement);
        slot.start = now + transfers.draw_silence(source);
        self.network.end_transfer(flow, source, &losses);
    }

    /// Counts a transfer whose last ACK arrives; transfers of web sources count in the measurement only.
    fn count_completion(&mut self, flow: u32, now: Time) {
        let opened = self.begun(flow);
        let network = &mut self.network;
        let (slot, sender) = (&network.flows[flow as usize], &self.senders[flow as usize].sender);
        if slot.source().is_some() && network.measurement.index(now) == 0 {
            return;
        }
        let transfer = Transfer {
            packets: sender.una() - sender.first(),
            opened,
            delivered: slot.receiver.last_delivery(),
            acked: now,
        };
        let completion = network.completions.record(flow, &transfer);
        network.accounts[slot.account as usize].complete(&transfer, &completion);
    }

    #[inline(never)]
    pub(super) fn send_datagram(&mut self, flow: u32, source: u32, now: Time) {
        let source = &mut self.datagrams[source as usize];
        let segment =
            Segment { sequence: source.sent, retransmission: false, marks: Marks::NONE, bytes: None, echo_age: 0 };
        source.sent += 1;
        self.senders[flow as usize].start = source.next(now);
        self.network.pings.count_sent(flow, now, &self.network.measurement);
        Outbox { network: &mut self.network, flow, now, reschedules: false }.transmit(segment);
    }
}
