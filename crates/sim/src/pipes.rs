//! Pipes made from the settings of links.

use base::{Clock, RandomStream};
use net::{DelayProcess, Pipe};

use crate::scenario::{DelayProcessConfig, ElementConfig, LinkConfig, OrderConfig, Scenario};

/// Returns a link's delay process in one replication.
pub(crate) fn delay_process(process: &DelayProcessConfig, seed: u64, replication: u64, clock: Clock) -> DelayProcess {
    let random = RandomStream::named(seed, replication, &format!("delay/{}", process.stream));
    DelayProcess::new(process.law.clone(), clock, random)
}

/// Returns the pipes of a scenario, in the order of its links.
pub(crate) fn pipes(scenario: &Scenario, replication: u64, clock: Clock) -> Vec<Pipe> {
    let pipe = |link: &LinkConfig| {
        let config = link.delay_process.as_ref()?;
        let process = delay_process(config, scenario.run.seed, replication, clock);
        Some(Pipe::new(process, clock.time(link.delay_s), config.order == OrderConfig::Keep))
    };
    scenario.elements.iter().filter_map(ElementConfig::link).filter_map(pipe).collect()
}
