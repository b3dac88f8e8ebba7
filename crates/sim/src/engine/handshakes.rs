//! Handshakes of flows, from the first SYN to the first data.

use base::Time;
use tcp::Sender;

use super::acks::report_state;
use super::Engine;
use crate::flow::ArrivingAck;
use crate::outbox::Outbox;

impl Engine {
    /// Begins a connection: with its handshake, if it has one, or else with the data.
    pub(super) fn connect(&mut self, flow: u32, now: Time) {
        match self.network.handshakes.get_mut(&flow) {
            None => self.start_data(flow, now),
            Some(handshake) => {
                handshake.begin(now);
                self.request(flow, now);
            }
        }
    }

    /// Sends a request of the handshake, for the first time or again, and sets its timer.
    pub(super) fn request(&mut self, flow: u32, now: Time) {
        let slot = &mut self.senders[flow as usize];
        let handshake = self.network.handshakes.get(&flow).filter(|handshake| handshake.is_first());
        let marks = match handshake {
            Some(handshake) => slot.sender.marks_of_syn(handshake.is_sent()),
            None => slot.sender.marks_of_hellos(),
        };
        let again = self.network.send_request(flow, now, marks);
        slot.start = again;
    }

    /// Handles a packet that answers a request: the last one begins the next exchange, or the data.
    #[cold]
    #[inline(never)]
    pub(super) fn take_answer(&mut self, flow: u32, ack: &ArrivingAck) {
        let Some(handshake) = self.network.handshakes.get_mut(&flow) else { return };
        let first = handshake.is_first();
        if !handshake.on_answer(ack.journal) {
            return;
        }
        let (now, slot) = (ack.time, &mut self.senders[flow as usize]);
        let cwnd = slot.sender.cwnd();
        if first {
            slot.sender.on_handshake(now, now - ack.echo, handshake.repeated(), ack.echo == handshake.begun);
            if handshake.is_plain() {
                slot.sender.on_plain_handshake();
            }
        }
        let goes_on = handshake.next(slot.sender.rto());
        if first {
            let marks = handshake.marks_of_ack(slot.sender.marks_without_data(), ack.marks);
            self.network.acknowledge_syn(flow, now, marks);
        }
        if goes_on {
            self.request(flow, now);
        } else {
            slot.start = Time::NEVER;
            self.network.flows[flow as usize].receiver.end_handshake(now);
            self.start_data(flow, now);
        }
        if self.network.flows[flow as usize].since != Time::NEVER {
            self.account_cwnd_since(flow, now, cwnd);
        }
    }

    /// Returns when a flow's transfer began: with its first SYN, or else with its data.
    pub(super) fn begun(&self, flow: u32) -> Time {
        let opened = || self.senders[flow as usize].sender.opened();
        self.network.handshakes.get(&flow).map_or_else(opened, |handshake| handshake.begun)
    }

    fn start_data(&mut self, flow: u32, now: Time) {
        // Before its first data a flow has no window that counts.
        let since = &mut self.network.flows[flow as usize].since;
        if *since == Time::NEVER {
            *since = now;
        }
        let slot = &mut self.senders[flow as usize];
        if let Some(window) = self.network.flows[flow as usize].receiver.first_window() {
            slot.sender.hear_first_window(window);
        }
        slot.sender.on_start(now, &mut Outbox { network: &mut self.network, flow, now, reschedules: false });
        if let Some(observers) = &mut self.network.observers {
            observers.cwnd(flow, now, &slot.sender);
        }
        if let Sender::Selective(sender) = &mut slot.sender {
            report_state(&mut self.network, flow, now, sender);
        }
    }
}
