//! Pipes made from the settings of links.

use base::{RandomStream, Time};
use net::{DelayLaw, DelayProcess, DelayState, Pipe};

use crate::scenario::{DelayLawConfig, DelayProcessConfig, LinkConfig, OrderConfig, Scenario};

fn law(config: &DelayLawConfig) -> DelayLaw {
    let time = Time::from_seconds;
    match config {
        DelayLawConfig::Steps { steps_s } => {
            DelayLaw::Steps(steps_s.iter().map(|&(from, delay)| (time(from), time(delay))).collect())
        }
        DelayLawConfig::Alternating { states, start, transitions } => {
            let states = states.iter().map(|state| DelayState {
                delay: time(state.delay_s),
                least_stay_s: state.least_stay_s,
                mean_extra_s: state.mean_extra_s,
            });
            DelayLaw::Alternating { states: states.collect(), start: *start, transitions: transitions.clone() }
        }
        DelayLawConfig::Handover { low_s, high_s, period_s } => {
            DelayLaw::Handover { bounds_s: (*low_s, *high_s), period: time(*period_s) }
        }
    }
}

/// Returns a link's delay process in one replication.
pub(crate) fn delay_process(process: &DelayProcessConfig, seed: u64, replication: u64) -> DelayProcess {
    let random = RandomStream::named(seed, replication, &format!("delay/{}", process.stream));
    DelayProcess::new(law(&process.law), random)
}

/// Returns the pipes of a scenario, in the order of its links.
pub(crate) fn pipes(scenario: &Scenario, replication: u64) -> Vec<Pipe> {
    let pipe = |link: &LinkConfig| {
        let config = link.delay_process.as_ref()?;
        let process = delay_process(config, scenario.run.seed, replication);
        Some(Pipe::new(process, Time::from_seconds(link.delay_s), config.order == OrderConfig::Keep))
    };
    scenario.links.iter().filter_map(pipe).collect()
}
