//! Packets in flight: a run ends where nothing limits them, before they fill the memory.

use super::Engine;
use base::Time;

/// Packets in flight of one sender from which on those of all are counted at each of its events.
const MANY_IN_FLIGHT: u64 = 1 << 16;
/// Senders whose packets in flight are counted once in each call of [`Engine::advance`]; more of them more seldom.
const COUNTED_AT_ONCE: usize = 5000;

impl Engine {
    /// Ends the run if a sender, or all senders together, have more packets in flight than memory should hold; returns
    /// whether it does.
    #[inline(always)]
    pub(super) fn is_flooded_by(&mut self, flow: u32) -> bool {
        self.senders[flow as usize].sender.flight_size() > MANY_IN_FLIGHT && self.is_flooded()
    }

    /// Counts the packets in flight of all senders, whose number grows by little from one call to the next; of very many
    /// senders not in each call.
    pub(super) fn count_in_flight(&mut self) {
        self.calls += 1;
        if self.calls.is_multiple_of(1 + self.senders.len() / COUNTED_AT_ONCE) {
            self.is_flooded();
        }
    }

    /// Ends the run if more packets are in flight than memory should hold; returns whether it does.
    #[cold]
    #[inline(never)]
    fn is_flooded(&mut self) -> bool {
        let flights = self.senders.iter().map(|slot| slot.sender.flight_size());
        if flights.clone().sum::<u64>() <= self.most_in_flight {
            return false;
        }
        let (_, flow) = flights.zip(0..).max().unwrap_or_default();
        let others = if self.senders.len() == 1 { "" } else { ", those of other flows included" };
        let why = format!(
            "more than {} packets in flight{others}; nothing on its path limits it: give a link a buffer, or the flow a \
             receiver's window",
            self.most_in_flight
        );
        self.network.failure.get_or_insert((flow, self.now, why));
        // The next event is not handled.
        self.stop = Time::ZERO;
        true
    }
}
