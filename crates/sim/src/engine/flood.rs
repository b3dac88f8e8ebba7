//! Packets in flight: a run ends where nothing limits them, before they fill the memory.

use base::Time;

use super::Engine;

/// Packets in flight of one sender from which on those of all are counted at its events.
const MANY_IN_FLIGHT: u64 = 1 << 16;
/// Senders that are looked at for each of these events at most, in the mean.
const LOOKED_AT: usize = 64;
/// Senders whose packets in flight are counted once in each call of [`Engine::advance`]; more of them more seldom.
const COUNTED_AT_ONCE: usize = 5000;

/// Numbers that say when the packets in flight of all senders are counted again.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// Calls of [`Engine::advance`] since the run began.
    calls: usize,
    /// Events of senders with many packets in flight since they were counted last.
    events: usize,
}

impl Engine {
    /// Ends the run if a sender has more packets in flight than memory should hold, or all senders together have; returns
    /// whether it does.
    #[inline(always)]
    pub(super) fn is_flooded_by(&mut self, flow: u32) -> bool {
        let packets = self.senders[flow as usize].sender.flight_size();
        packets > MANY_IN_FLIGHT && self.is_flooded_by_many(packets)
    }

    /// Counts the packets of all senders where one has many in flight: at each of its events if there are few senders.
    #[cold]
    #[inline(never)]
    fn is_flooded_by_many(&mut self, packets: u64) -> bool {
        self.counted.events += 1;
        let is_due = self.counted.events > self.senders.len() / LOOKED_AT || packets > self.most_in_flight;
        is_due && self.is_flooded()
    }

    /// Counts the packets in flight of all senders, whose number grows by little from one call to the next; of very many
    /// senders not in each call.
    pub(super) fn count_in_flight(&mut self) {
        self.counted.calls += 1;
        if self.counted.calls.is_multiple_of(1 + self.senders.len() / COUNTED_AT_ONCE) {
            self.is_flooded();
        }
    }

    /// Ends the run if more packets are in flight than memory should hold; returns whether it does.
    #[cold]
    #[inline(never)]
    fn is_flooded(&mut self) -> bool {
        self.counted.events = 0;
        let flights = self.senders.iter().map(|slot| slot.sender.flight_size());
        if flights.clone().sum::<u64>() <= self.most_in_flight {
            return false;
        }
        let (most, flow) = flights.zip(0..).max().unwrap_or_default();
        let limit = self.most_in_flight;
        // The one flow with half of them is the cause, whatever the others do.
        let why = if most > limit / 2 {
            format!(
                "more than {} packets in flight; nothing on its path limits it: give a link a buffer, or the flow a \
                 receiver's window",
                most.min(limit)
            )
        } else {
            format!(
                "all flows together have more than {limit} packets in flight, this one the most of them: {most}; take \
                 fewer flows or smaller windows, or give links buffers"
            )
        };
        self.network.failure.get_or_insert((flow, self.now, why));
        // The next event is not handled.
        self.stop = Time::ZERO;
        true
    }
}
