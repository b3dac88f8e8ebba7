//! Explicit rates that converge to the max-min shares, in constant time per cell.
//!
//! This is a reconstruction: the paper uses the algorithm of its reference 12, whose text is not public. It follows the
//! published principle (each port stores a rate for each channel, and whether the port is the channel's bottleneck).

use base::Time;

use crate::cell::RmCell;

/// The state of a port's allocation to its channels.
#[derive(Clone, Debug)]
pub(crate) struct Shares {
    /// Capacity to be shared \[bit/s\].
    capacity: f64,
    /// Number of channels bottlenecked at this port.
    bottlenecked: u32,
    /// Sum of the rates of the other channels \[bit/s\].
    satisfied: f64,
    channels: Vec<Share>,
    /// Time without RM cells after which a channel counts as gone.
    timeout: Time,
    /// Channel to be checked next for its timeout.
    next_check: usize,
}

/// The share of one channel; an unknown channel has the rate zero and is not bottlenecked.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    bottlenecked: bool,
    rate: f64,
    /// Instant of its last RM cell.
    last_heard: Time,
}

impl Shares {
    /// Creates the state for a number of unknown channels.
    pub(crate) fn new(capacity: f64, channels: usize, timeout: Time) -> Shares {
        let channels = vec![Share::default(); channels];
        Shares { capacity, bottlenecked: 0, satisfied: 0.0, channels, timeout, next_check: 0 }
    }

    /// Changes the capacity.
    pub(crate) fn set_capacity(&mut self, capacity: f64) {
        self.capacity = capacity;
    }

    /// Limits the explicit rate of an RM cell to what its channel may have.
    pub(crate) fn stamp(&mut self, channel: u32, cell: &mut RmCell) {
        cell.explicit_rate = cell.explicit_rate.min(self.limit(channel));
    }

    /// Records the rate that a channel requests.
    pub(crate) fn record(&mut self, now: Time, channel: u32, request: f64) {
        self.expire_one(now);
        self.channels[channel as usize].last_heard = now;
        let limit = self.limit(channel);
        self.set(channel as usize, request >= limit, request.min(limit));
    }

    /// Returns the largest rate that a channel may have, as if it were bottlenecked here. It is never zero: RM cells
    /// must get through even if the capacity has just fallen below the sum of the recorded rates.
    fn limit(&self, channel: u32) -> f64 {
        let share = &self.channels[channel as usize];
        let free = self.capacity - self.satisfied;
        let limit = if share.bottlenecked {
            free / f64::from(self.bottlenecked)
        } else {
            (free + share.rate) / f64::from(self.bottlenecked + 1)
        };
        limit.max(self.capacity / (16 * self.channels.len()) as f64)
    }

    fn set(&mut self, channel: usize, bottlenecked: bool, rate: f64) {
        let share = &mut self.channels[channel];
        if share.bottlenecked {
            self.bottlenecked -= 1;
        } else {
            self.satisfied -= share.rate;
        }
        (share.bottlenecked, share.rate) = (bottlenecked, rate);
        if bottlenecked {
            self.bottlenecked += 1;
        } else {
            self.satisfied += rate;
        }
    }

    /// Checks the timeout of one channel, so that repeated calls check all of them in turn.
    fn expire_one(&mut self, now: Time) {
        let channel = self.next_check;
        self.next_check = (channel + 1) % self.channels.len();
        if now - self.channels[channel].last_heard > self.timeout {
            self.set(channel, false, 0.0);
        }
    }
}
