//! Loss processes made from the settings of links.

use base::{RandomStream, Time};
use net::{AppliesTo, LossLaw, LossProcess};

use crate::scenario::{CrossingConfig, LossLawConfig, Scenario};

/// The loss process before a link.
#[derive(Clone, Debug)]
pub(crate) struct LossSlot {
    pub(crate) process: LossProcess,
    /// Index of the scenario's link.
    pub(crate) link: u32,
    /// Packets lost in the warm-up and in the measured part.
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

/// Returns the loss processes of a scenario, in the order of its links.
pub(crate) fn losses(scenario: &Scenario, replication: u64) -> Vec<LossSlot> {
    let links = scenario.links.iter().enumerate();
    let slots = links.filter_map(|(index, link)| {
        let config = link.loss.as_ref()?;
        let random = RandomStream::named(scenario.run.seed, replication, &format!("loss/{}", link.name));
        let applies_to = match config.applies_to {
            CrossingConfig::All => AppliesTo::All,
            CrossingConfig::Data => AppliesTo::Data,
            CrossingConfig::Acks => AppliesTo::Acks,
        };
        Some(LossSlot {
            process: LossProcess::new(law(&config.law), applies_to, random),
            link: index as u32,
            lost: [0; 2],
        })
    });
    slots.collect()
}
