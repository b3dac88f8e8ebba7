//! Explicit rates that end at the max-min shares, in constant time a cell.
//!
//! A reconstruction: the paper takes the algorithm of its reference 12, whose text is not public; this one keeps to its
//! published principle (each port keeps a rate for each channel, and whether it is bottlenecked here).

use base::Time;

use crate::cell::RmCell;

/// What a port knows of its channels.
#[derive(Clone, Debug)]
pub struct Shares {
    /// What there is to share \[bit/s\].
    capacity: f64,
    /// How many channels are bottlenecked here.
    bottlenecked: u32,
    /// Sum of the rates of the others.
    satisfied: f64,
    channels: Vec<Share>,
    /// A channel of which nothing is heard so long is gone.
    silence: Time,
    next_look: usize,
}

/// A channel that is unknown is satisfied with nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Share {
    bottlenecked: bool,
    rate: f64,
    heard: Time,
}

impl Shares {
    /// For so many channels, of which nothing is known.
    pub fn new(capacity: f64, channels: usize, silence: Time) -> Shares {
        let channels = vec![Share::default(); channels];
        Shares { capacity, bottlenecked: 0, satisfied: 0.0, channels, silence, next_look: 0 }
    }

    /// There is more or less to share from now on.
    pub fn set_capacity(&mut self, capacity: f64) {
        self.capacity = capacity;
    }

    /// Forward, two passes: a stamp, nothing recorded.
    pub fn stamp(&mut self, channel: u32, cell: &mut RmCell) {
        cell.explicit_rate = cell.explicit_rate.min(self.most(channel));
    }

    /// The channel asks for a rate.
    pub fn record(&mut self, now: Time, channel: u32, request: f64) {
        self.forget_the_silent(now);
        self.channels[channel as usize].heard = now;
        let most = self.most(channel);
        self.set(channel as usize, request >= most, request.min(most));
    }

    /// The most that a channel may have, as if it were bottlenecked here. Never nothing: where the capacity has just shrunk
    /// below what was given away, an RM cell must still come through and tell.
    fn most(&self, channel: u32) -> f64 {
        let share = &self.channels[channel as usize];
        let free = self.capacity - self.satisfied;
        let most = if share.bottlenecked {
            free / f64::from(self.bottlenecked)
        } else {
            (free + share.rate) / f64::from(self.bottlenecked + 1)
        };
        most.max(self.capacity / (16 * self.channels.len()) as f64)
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

    /// Looks at one channel each time, so at all of them in turn.
    fn forget_the_silent(&mut self, now: Time) {
        let look = self.next_look;
        self.next_look = (look + 1) % self.channels.len();
        if now - self.channels[look].heard > self.silence {
            self.set(look, false, 0.0);
        }
    }
}
