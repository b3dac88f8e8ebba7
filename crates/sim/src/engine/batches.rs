//! The ends of batches and of the run.

use base::Time;

use super::Engine;
use crate::batches::Batches;

impl Engine {
    /// Handles all ends of batches up to the next event, at `time`, which is not before [`Engine::stop`]; returns whether
    /// the run goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn pass(&mut self, time: Time) -> bool {
        if self.network.failure.is_some() {
            return false;
        }
        let end = self.network.measurement.end;
        while let Some(mut batches) = self.network.batches.take() {
            let instant = batches.end();
            if instant <= time.min(end) {
                self.network.take_all_arrivals(instant);
                self.network.sample(instant, &mut batches);
                batches.end_batch(&self.network.accounts, &self.cwnd_areas(instant));
                self.network.batches = Some(batches);
            } else {
                self.network.batches = Some(batches);
                break;
            }
        }
        let next = self.network.batches.as_ref().map_or(Time::NEVER, |batches| batches.end());
        self.network.batch_end = next;
        self.stop = next.min(end + Time::TICK);
        if time > end {
            self.network.take_all_arrivals(end + Time::TICK);
        }
        time <= end
    }

    /// Returns the integral of cwnd of each account up to an instant. A sender may be ahead of the clock.
    fn cwnd_areas(&self, instant: Time) -> Vec<f64> {
        let mut areas: Vec<f64> = self.network.accounts.iter().map(|flow| flow.cwnd_area).collect();
        let warmup = self.network.measurement.warmup;
        for (slot, flow) in self.senders.iter().zip(&self.network.flows) {
            if slot.datagrams.is_none() && flow.since != Time::NEVER {
                let since = flow.since.max(warmup).ticks() as f64;
                areas[flow.account as usize] += slot.sender.cwnd() * (instant.ticks() as f64 - since);
            }
        }
        areas
    }

    /// Returns what flows and links did in each batch, at the end of the run.
    pub(super) fn finish_batches(&mut self) -> Option<Batches> {
        let mut counter = self.network.batches.take()?;
        self.network.sample(self.network.measurement.end, &mut counter);
        let links = self.network.link_batches(&counter);
        Some(Batches { flows: counter.finish(&self.network.accounts), links })
    }
}
