//! Loss processes made from the settings of links.

use base::cast::to_u32;
use base::{Clock, RandomStream};
use net::LossProcess;

use crate::scenario::Scenario;

/// The loss process before a link.
#[derive(Clone, Debug)]
pub(crate) struct LossSlot {
    pub(crate) process: LossProcess,
    /// Index of the scenario's element.
    pub(crate) link: u32,
    /// Packets lost in the warm-up and in the measured part.
    pub(crate) lost: [u64; 2],
}

/// Returns the loss processes of a scenario, in the order of its elements.
pub(crate) fn losses(scenario: &Scenario, replication: u64, clock: Clock) -> Vec<LossSlot> {
    let elements = scenario.elements.iter().enumerate();
    let slots = elements.filter_map(|(index, element)| {
        let config = element.loss()?;
        let random = RandomStream::named(scenario.run.seed, replication, &format!("loss/{}", element.name()));
        let process = LossProcess::new(config.law.clone(), config.applies_to, clock, random);
        Some(LossSlot { process, link: to_u32(index), lost: [0; 2] })
    });
    slots.collect()
}
