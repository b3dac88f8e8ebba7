//! Prefetching: with very many flows a packet waits longer for memory than for anything else.

use base::Time;

use super::Engine;
use crate::network::EventId;

/// Number of flows from which on prefetching saves more than it costs.
pub(super) const MANY_FLOWS: usize = 6000;

/// Packets that are handled between prefetching a sender and prefetching what it names.
const PACKETS_BETWEEN: u32 = 2;

/// The sender that was prefetched last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Upcoming {
    flow: u32,
    /// Packets to handle before the rest of what it needs is prefetched; 0: that has been done.
    packets_left: u32,
}

impl Engine {
    /// Prefetches what the next packets of a shared merge point need.
    #[inline(always)]
    pub(super) fn prefetch_for_merge(&mut self, merge: u32) {
        let senders = &self.senders;
        self.network.prefetch_for_merge(merge, |flow| senders[flow as usize].prefetch());
        self.count_down();
    }

    /// Prefetches what the next shared ACKs need.
    #[inline(always)]
    pub(super) fn prefetch_for_acks(&mut self) {
        let senders = &self.senders;
        self.network.prefetch_for_acks(|flow| senders[flow as usize].prefetch());
        self.count_down();
    }

    #[inline(always)]
    fn count_down(&mut self) {
        if self.upcoming.packets_left > 0 {
            self.upcoming.packets_left -= 1;
            if self.upcoming.packets_left == 0 {
                self.prefetch_for_start();
            }
        }
    }

    /// Prefetches what an ACK of all packets before `next` needs that does more than open the window: it ends a
    /// transfer, or its flow has losses.
    #[inline(always)]
    pub(super) fn prefetch_for_rare_ack(&mut self, flow: u32, next: u64) {
        let slot = &self.senders[flow as usize];
        if slot.sender.ends_before(next) {
            slot.prefetch_rest();
            self.network.transfers.prefetch(self.network.flows[flow as usize].source);
            self.network.events.prefetch(self.network.numbers.number(EventId::Sender(flow)));
        }
        self.network.prefetch_losses(flow);
    }

    /// Prefetches the sender whose event is the next among those around a sender.
    #[inline(always)]
    pub(super) fn prefetch_for_sender(&mut self, flow: u32) {
        if self.upcoming.packets_left > 0 {
            self.prefetch_for_start();
        }
        let number = self.network.events.first_around(self.network.numbers.number(EventId::Sender(flow)));
        let EventId::Sender(next) = self.network.numbers.id(number) else { return };
        if let Some(slot) = self.senders.get(next as usize) {
            slot.prefetch();
            slot.prefetch_rest();
            self.network.flows[next as usize].prefetch_sender_end();
            self.network.events.prefetch(number);
            self.upcoming = Upcoming { flow: next, packets_left: PACKETS_BETWEEN };
        }
    }

    /// Prefetches the rest of what the upcoming sender needs: its start, or its timeout.
    #[inline(always)]
    fn prefetch_for_start(&mut self) {
        let flow = self.upcoming.flow;
        if self.senders[flow as usize].sender.deadline() == Time::NEVER {
            let slot = &self.network.flows[flow as usize];
            slot.prefetch_receiver_end();
            slot.receiver.prefetch_rest();
            self.network.transfers.prefetch(slot.source);
        } else {
            self.network.prefetch_losses(flow);
        }
    }
}
