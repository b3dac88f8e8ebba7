use base::{Clock, Time};

use crate::aal5::CELL_BITS;
use crate::cell::RmCell;

/// Largest excess of the overload over one at which the port still raises all channels to the same level.
const DELTA: f64 = 0.1;

/// ERICA: in each interval a port measures its input and counts its active channels N. With the overload
/// `z = input / target` it allocates `max(target / N, CCR / z)` to a channel. Unless the port is overloaded, a channel
/// also gets at least the largest allocation of the last interval: otherwise unequal rates that add up to the target
/// would remain unequal.
#[derive(Clone, Debug)]
pub(crate) struct Erica {
    /// Target rate \[bit/s\].
    target: f64,
    interval: Time,
    /// Start of the current interval.
    since: Time,
    /// Cells in the current interval.
    cells: u64,
    /// Channels active in the current interval.
    active: u32,
    channels: Vec<Channel>,
    clock: Clock,
    /// Overload of the last interval.
    overload: f64,
    /// Fair share of the last interval \[bit/s\].
    fair_share: f64,
    /// Largest allocation of the last interval \[bit/s\].
    last_largest: f64,
    /// Largest allocation of the current interval \[bit/s\].
    largest: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    current_rate: f64,
    active: bool,
    /// Allocation in the current interval, which holds until its end.
    allocated: Option<f64>,
}

impl Erica {
    /// Creates the state for a number of channels, with intervals of `interval_s` seconds.
    pub(crate) fn new(target: f64, interval_s: f64, channels: usize, clock: Clock) -> Erica {
        let channels = vec![Channel::default(); channels];
        Erica {
            target,
            interval: clock.time(interval_s),
            since: Time::ZERO,
            cells: 0,
            active: 0,
            channels,
            clock,
            overload: 1.0,
            fair_share: target,
            last_largest: 0.0,
            largest: 0.0,
        }
    }

    /// Changes the target.
    pub(crate) fn set_capacity(&mut self, target: f64) {
        self.target = target;
    }

    /// Counts a cell of a channel that arrives.
    pub(crate) fn count(&mut self, now: Time, channel: u32) {
        let span = now - self.since;
        if span >= self.interval {
            self.close(now, span);
        }
        self.cells += 1;
        let channel = &mut self.channels[channel as usize];
        self.active += u32::from(!channel.active);
        channel.active = true;
    }

    /// Records the current rate that a forward RM cell of a channel carries.
    pub(crate) fn record(&mut self, channel: u32, current_rate: f64) {
        self.channels[channel as usize].current_rate = current_rate;
    }

    /// Writes the allocation of a channel into a backward RM cell.
    pub(crate) fn stamp(&mut self, channel: u32, cell: &mut RmCell) {
        let channel = &mut self.channels[channel as usize];
        let share = channel.current_rate / self.overload;
        let level = if self.overload > 1.0 + DELTA { 0.0 } else { self.last_largest };
        let rate = *channel.allocated.get_or_insert(self.fair_share.max(share).max(level).min(self.target));
        self.largest = self.largest.max(rate);
        cell.explicit_rate = cell.explicit_rate.min(rate);
    }

    /// Ends the current interval.
    fn close(&mut self, now: Time, span: Time) {
        let input = self.cells as f64 * CELL_BITS / self.clock.seconds(span);
        // An idle interval contains no information about an overload.
        if input > 0.0 {
            self.overload = input / self.target;
            self.fair_share = self.target / f64::from(self.active.max(1));
        }
        (self.last_largest, self.largest) = (self.largest, self.fair_share);
        (self.cells, self.active, self.since) = (0, 0, now);
        self.channels.iter_mut().for_each(|channel| (channel.active, channel.allocated) = (false, None));
    }
}
