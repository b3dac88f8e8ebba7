//! The events of the ends: cells that ABR sources send, packets that IP queues serve.

use base::Time;

use super::steps::{Step, StepTarget};
use super::AtmNetwork;
use crate::cell::Cell;

impl AtmNetwork {
    /// Sends the next cell of an ABR source.
    #[inline(always)]
    pub(super) fn on_source(&mut self, end: u32, now: Time) {
        let system = &mut self.ends[end as usize];
        let before = system.source.acr();
        let sent = system.send(now);
        let (next, step) = (system.next_cell(now), system.first_step);
        self.events.set(self.first_source + end, next);
        let Some((payload, packet_has_left)) = sent else { return };
        self.record_acr(now, end, before);
        if packet_has_left {
            self.record_queues(now, end);
        }
        let Step { target: StepTarget::Port(port), slot, .. } = self.steps[step as usize] else { return };
        self.enqueue(now, port, slot, Cell { step, payload });
    }

    /// Passes a packet that an IP queue has served to the channel.
    #[inline(never)]
    pub(super) fn on_ip(&mut self, end: u32, now: Time) {
        let next = self.ends[end as usize].serve_ip();
        self.events.set(self.first_ip + end, next);
        self.wake(now, end);
        self.record_queues(now, end);
    }

    /// Schedules the next cell of an end that may have been idle.
    #[inline(always)]
    pub(super) fn wake(&mut self, now: Time, end: u32) {
        let next = self.ends[end as usize].next_cell(now);
        self.events.advance(self.first_source + end, next);
    }
}
