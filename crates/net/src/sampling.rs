use base::Time;

use crate::statistics::{LinkStatistics, Measurement};

/// Number of batches of the measured part: it has many divisors, so that neighbours can be merged evenly.
pub const BATCHES: u64 = 60;

/// The counters of a link from the end of the warm-up to an instant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinkSample {
    /// Packets that arrived at the queue.
    pub arrived: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Bytes of the packets that were transmitted completely.
    pub departed_bytes: u64,
    /// Time spent transmitting \[ticks\].
    pub busy: u128,
    /// Integral of the number of packets in the link \[packets times ticks\].
    pub queue_area: u128,
}

impl LinkSample {
    /// Returns the counters of the measured part so far.
    pub(crate) fn of(statistics: &LinkStatistics) -> LinkSample {
        LinkSample {
            arrived: statistics.arrived[1],
            dropped: statistics.dropped[1],
            departed_bytes: statistics.departed_bytes[1],
            busy: statistics.busy,
            queue_area: statistics.queue_area,
        }
    }
}

/// Returns the end of batch `number` of the measured part, from 0 (the end of the warm-up) to [`BATCHES`] (the end of
/// the run).
pub fn batch_end(number: u64, measurement: &Measurement) -> Time {
    if number >= BATCHES {
        return measurement.end;
    }
    let step = (measurement.end - measurement.warmup).ticks() / BATCHES;
    measurement.warmup + Time::from_ticks(step).times(number)
}
