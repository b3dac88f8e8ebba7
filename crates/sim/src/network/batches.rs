//! Batches of links: what each did in each part of the measurement.

use base::Time;
use net::LinkSample;

use super::Network;
use crate::batches::{link_batches, BatchCounter, LinkBatch};
use crate::route::LinkKind;

impl Network {
    /// Adds the counters of the queues whose departures are events, and of losses, at the end of a batch.
    pub(crate) fn sample(&self, instant: Time, counter: &mut BatchCounter) {
        counter.queues.extend(self.elements.queues.iter().map(|queue| queue.sample(instant, &self.measurement)));
        counter.lost.extend(self.elements.losses.iter().map(|slot| slot.lost[1]));
    }

    /// Returns the batches of the links, those of one link in a row, at the end of the run. Private links, the processes
    /// of hosts and channels have unknown ones.
    pub(crate) fn link_batches(&mut self, counter: &BatchCounter) -> Vec<LinkBatch> {
        let (elements, measurement) = (&mut self.elements, &self.measurement);
        let queues = elements.queues.len();
        let mut batches: Vec<Vec<LinkBatch>> = Vec::with_capacity(self.link_kinds.len());
        for kind in &self.link_kinds {
            let samples: Option<Vec<LinkSample>> = match *kind {
                LinkKind::Link(index) => Some(elements.links[index as usize].batches(measurement)),
                LinkKind::Queue(index) => {
                    Some(counter.queues.iter().skip(index as usize).step_by(queues).copied().collect())
                }
                LinkKind::Private | LinkKind::Process(_) | LinkKind::Channel(_) => None,
            };
            batches.push(link_batches(samples.as_deref()));
        }
        for (number, slot) in elements.losses.iter().enumerate() {
            let mut before = 0;
            let samples = counter.lost.iter().skip(number).step_by(elements.losses.len());
            for (batch, &lost) in batches[slot.link as usize].iter_mut().zip(samples) {
                batch.lose(lost - before);
                before = lost;
            }
        }
        batches.concat()
    }
}
