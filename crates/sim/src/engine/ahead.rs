//! Memory is fetched ahead, where many flows make a packet wait for it.

use base::Time;

use super::Engine;

/// From so many flows on, a packet waits for memory longer than all else takes.
pub(super) const MANY_FLOWS: usize = 6000;

impl Engine {
    /// Fetches the sources of senders that begin transfers soon, and of ACKs that may end theirs. Which source it is stands in
    /// memory that was to be fetched before.
    #[inline(always)]
    pub(super) fn prefetch_sources(&mut self, element: u32) {
        if self.upcoming.1 > 0 {
            self.upcoming.1 -= 1;
            if self.upcoming.1 == 0 {
                self.prefetch_for_start();
            }
        }
        if element + 1 == self.network.first_receiver {
            if let Some(flow) = self.network.crowd(element).soon(2) {
                self.network.transfers.prefetch(self.senders[flow as usize].source);
            }
        }
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
            self.network.events.prefetch(element);
            self.upcoming = (element - self.network.first_sender, 2);
        }
    }

    /// Fetches the rest of what the sender fetched last needs, where it is to begin.
    #[inline(always)]
    fn prefetch_for_start(&mut self) {
        let flow = self.upcoming.0;
        let slot = &self.senders[flow as usize];
        if slot.sender.deadline() == Time::NEVER {
            self.network.prefetch_flow(flow);
            self.network.transfers.prefetch(slot.source);
        }
    }
}
