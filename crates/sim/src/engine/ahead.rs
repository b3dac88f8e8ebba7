//! Memory is fetched ahead, where many flows make a packet wait for it.

use base::Time;

use super::Engine;

/// From so many flows on, a packet waits for memory longer than all else takes.
pub(super) const MANY_FLOWS: usize = 6000;

impl Engine {
    /// Fetches what packets need that have their turn in a crowd soon. Some of it is named by what was to be fetched before.
    #[inline(always)]
    pub(super) fn prefetch_for_crowd(&mut self, element: u32) {
        let senders = &self.senders;
        self.network.prefetch_for_crowd(element, |flow| senders[flow as usize].prefetch());
        if self.upcoming.1 > 0 {
            self.upcoming.1 -= 1;
            if self.upcoming.1 == 0 {
                self.prefetch_for_start();
            }
        }
    }

    /// Fetches what an ACK of all before `next` needs besides, which does not only open the window: where it ends a transfer, or comes
    /// to a flow with losses.
    #[inline(always)]
    pub(super) fn prefetch_for_seldom_ack(&mut self, flow: u32, next: u64) {
        let slot = &self.senders[flow as usize];
        if slot.sender.ends_before(next) {
            slot.prefetch_rest();
            self.network.transfers.prefetch(self.network.flows[flow as usize].source);
            self.network.events.prefetch(self.network.first_sender + flow);
        }
        self.network.prefetch_losses(flow);
    }

    /// Fetches the sender that has its turn next among those around this one; the rest of what it needs a little later.
    #[inline(always)]
    pub(super) fn prefetch_for_sender(&mut self, flow: u32) {
        if self.upcoming.1 > 0 {
            self.prefetch_for_start();
        }
        let element = self.network.events.first_around(self.network.first_sender + flow);
        if let Some(slot) = self.senders.get(element.wrapping_sub(self.network.first_sender) as usize) {
            slot.prefetch();
            slot.prefetch_rest();
            self.network.flows[(element - self.network.first_sender) as usize].prefetch_sender_end();
            self.network.events.prefetch(element);
            self.upcoming = (element - self.network.first_sender, 2);
        }
    }

    /// Fetches the rest of what the sender fetched last needs, where it is to begin, or where its timer may expire.
    #[inline(always)]
    fn prefetch_for_start(&mut self) {
        let flow = self.upcoming.0;
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
