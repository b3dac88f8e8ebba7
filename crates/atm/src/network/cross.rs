//! Constant-rate cross-traffic, and the rate that it takes from ABR.

use base::{Clock, Time};

use super::steps::Steps;
use super::AtmNetwork;
use crate::aal5::cell_time;
use crate::cell::{Cell, Payload};
use crate::config::CrossConfig;

/// Least fraction of a port's rate that is allocated to ABR, whatever cross-traffic takes: RM cells must get through.
const LEAST_SHARE: f64 = 1e-3;

/// A source of cross-traffic.
#[derive(Clone, Debug)]
pub(super) struct CrossSource {
    path: Vec<usize>,
    first_step: u32,
    rate: f64,
    spacing: Time,
    stop: Time,
    running: bool,
}

impl CrossSource {
    pub(super) fn new(config: &CrossConfig, steps: &mut Steps, clock: Clock) -> CrossSource {
        CrossSource {
            path: config.path.clone(),
            first_step: steps.add_cross(&config.path),
            rate: config.rate_bps,
            spacing: cell_time(config.rate_bps, clock),
            stop: config.stop_s.map_or(Time::NEVER, |stop_s| clock.time(stop_s)),
            running: false,
        }
    }
}

impl AtmNetwork {
    /// Starts a cross source, sends its next cell, or stops it.
    #[inline(never)]
    pub(super) fn on_cross(&mut self, index: u32, now: Time) {
        let cross = &mut self.crosses[index as usize];
        if now >= cross.stop {
            cross.running = false;
            self.events.set(self.first_cross + index, Time::NEVER);
            return self.reserve();
        }
        let starts = !std::mem::replace(&mut cross.running, true);
        let next = (now + cross.spacing).min(cross.stop);
        let cell = Cell { step: cross.first_step, payload: Payload::Cross };
        self.events.set(self.first_cross + index, next);
        if starts {
            self.reserve();
        }
        self.arrive_at_node(now, cell);
    }

    /// Subtracts the rates of running cross sources from the capacity that ports allocate.
    #[cold]
    fn reserve(&mut self) {
        for (index, port) in self.ports.iter_mut().enumerate() {
            let running = self.crosses.iter().filter(|cross| cross.running && cross.path.contains(&index));
            port.reserve(running.map(|cross| cross.rate).sum(), LEAST_SHARE);
        }
    }
}
