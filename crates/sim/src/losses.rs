//! From a link's settings to what loses packets before it.

use base::{RandomStream, Time};
use net::{Crossing, Loss, LossLaw};

use crate::scenario::{CrossingConfig, LossLawConfig, Scenario};

/// What loses packets before a link of the scenario, and how many it lost: in the warm-up, and in the measurement.
#[derive(Clone, Debug)]
pub(crate) struct LossSlot {
    pub(crate) loss: Loss,
    pub(crate) link: u32,
    pub(crate) lost: [u64; 2],
}

fn law(config: &LossLawConfig) -> LossLaw {
    match config {
        LossLawConfig::Bernoulli { probability } => LossLaw::Bernoulli(*probability),
        LossLawConfig::Poisson { mean_interval_s, void_after_s } => {
            LossLaw::Poisson { mean_interval_s: *mean_interval_s, void_after: Time::from_seconds(*void_after_s) }
        }
        LossLawConfig::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad } => {
            LossLaw::GilbertElliott { to_bad: *to_bad, to_good: *to_good, in_good: *loss_in_good, in_bad: *loss_in_bad }
        }
        LossLawConfig::Packets { numbers } => LossLaw::Packets(numbers.clone()),
        LossLawConfig::Times { times_s } => {
            LossLaw::Times(times_s.iter().map(|&time| Time::from_seconds(time)).collect())
        }
    }
}

/// The loss processes of a scenario, in the order of its links.
pub(crate) fn losses(scenario: &Scenario, replication: u64) -> Vec<LossSlot> {
    let links = scenario.links.iter().enumerate();
    let slots = links.filter_map(|(index, link)| {
        let config = link.loss.as_ref()?;
        let random = RandomStream::named(scenario.run.seed, replication, &format!("loss/{}", link.name));
        let crossing = match config.applies_to {
            CrossingConfig::All => Crossing::All,
            CrossingConfig::Data => Crossing::Data,
            CrossingConfig::Acks => Crossing::Acks,
        };
        Some(LossSlot { loss: Loss::new(law(&config.law), crossing, random), link: index as u32, lost: [0; 2] })
    });
    slots.collect()
}
