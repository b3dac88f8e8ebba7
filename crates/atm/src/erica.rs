use base::Time;

use crate::aal5::CELL_BITS;
use crate::cell::RmCell;

/// How far the overload may be above one while the port still levels its channels up.
const DELTA: f64 = 0.1;

/// ERICA: in each interval a port measures its input and counts its active channels; `z = input / target`, and a channel may
/// have `max(target / N, CCR / z)`. Unless the port is overloaded, a channel may also have the most that any was told in the
/// last interval: without that, rates that add up to the target stay as unequal as they are.
#[derive(Clone, Debug)]
pub struct Erica {
    /// What it aims at \[bit/s\].
    target: f64,
    interval: Time,
    /// Since when it measures.
    since: Time,
    cells: u64,
    active: u32,
    channels: Vec<Channel>,
    /// Of the last interval.
    overload: f64,
    fair_share: f64,
    most_told: f64,
    /// Of this one.
    telling: f64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    current_rate: f64,
    active: bool,
    /// What it was told in this interval: later cells of the interval are told the same.
    told: Option<f64>,
}

impl Erica {
    /// For so many channels.
    pub fn new(target: f64, interval: Time, channels: usize) -> Erica {
        let channels = vec![Channel::default(); channels];
        Erica {
            target,
            interval,
            since: Time::ZERO,
            cells: 0,
            active: 0,
            channels,
            overload: 1.0,
            fair_share: target,
            most_told: 0.0,
            telling: 0.0,
        }
    }

    /// It aims at more or less from now on.
    pub fn set_capacity(&mut self, target: f64) {
        self.target = target;
    }

    /// A cell of a channel arrives.
    pub fn count(&mut self, now: Time, channel: u32) {
        let span = now - self.since;
        if span >= self.interval {
            self.close(now, span);
        }
        self.cells += 1;
        let channel = &mut self.channels[channel as usize];
        self.active += u32::from(!channel.active);
        channel.active = true;
    }

    /// A forward RM cell tells the channel's rate.
    pub fn tell(&mut self, channel: u32, current_rate: f64) {
        self.channels[channel as usize].current_rate = current_rate;
    }

    /// A backward RM cell of a channel takes the rate with it.
    pub fn stamp(&mut self, channel: u32, cell: &mut RmCell) {
        let channel = &mut self.channels[channel as usize];
        let share = channel.current_rate / self.overload;
        let level = if self.overload > 1.0 + DELTA { 0.0 } else { self.most_told };
        let told = *channel.told.get_or_insert(self.fair_share.max(share).max(level).min(self.target));
        self.telling = self.telling.max(told);
        cell.explicit_rate = cell.explicit_rate.min(told);
    }

    fn close(&mut self, now: Time, span: Time) {
        let input = self.cells as f64 * CELL_BITS / span.seconds();
        // An idle interval tells nothing of an overload.
        if input > 0.0 {
            self.overload = input / self.target;
            self.fair_share = self.target / f64::from(self.active.max(1));
        }
        (self.most_told, self.telling) = (self.telling, self.fair_share);
        (self.cells, self.active, self.since) = (0, 0, now);
        self.channels.iter_mut().for_each(|channel| (channel.active, channel.told) = (false, None));
    }
}
