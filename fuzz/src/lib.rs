//! The common part of the fuzz targets: a run of bounded work, and the invariants of any run.

mod describe;
mod invariants;

pub use describe::Description;
pub use invariants::{check_outcome, check_same};

use sim::scenario::FlowConfig;
use sim::{Engine, Outcome, Progress, Scenario};

/// Most events of a run.
const EVENTS: u64 = 5000;
/// Events between two looks at the progress.
const SLICE: u64 = 500;
// A larger scenario is legal too, but each of its events is more work.
const MOST_ELEMENTS: usize = 40;
const MOST_FLOWS: usize = 20;
const LARGEST_WINDOW: f64 = 300.0;

/// A run, perhaps cut short.
#[derive(Debug)]
pub struct Run {
    /// Results up to the end of the run, or up to the cut.
    pub outcome: Outcome,
    /// Whether the run reached its end.
    pub finished: bool,
}

/// Returns whether a bounded number of events is a bounded amount of work.
pub fn is_small(scenario: &Scenario) -> bool {
    let is_narrow =
        |flow: &FlowConfig| flow.connection().is_none_or(|tcp| tcp.sender.initial_window() <= LARGEST_WINDOW);
    let narrow = scenario.flows.iter().all(is_narrow);
    narrow && scenario.elements.len() <= MOST_ELEMENTS && scenario.flow_count() <= MOST_FLOWS
}

/// Runs at most [`EVENTS`] events; `None` if the engine refuses to go on and says why.
pub fn run(scenario: &Scenario) -> Option<Run> {
    let mut engine = Engine::new(scenario, 0);
    let mut finished = false;
    for _ in 0..EVENTS / SLICE {
        match engine.advance(SLICE) {
            Progress::Running => assert!((0.0..=1.0).contains(&engine.fraction())),
            Progress::Finished => finished = true,
            Progress::Failed(why) => {
                assert!(!why.is_empty());
                return None;
            }
        }
        if finished {
            break;
        }
    }
    Some(Run { outcome: engine.finish(0.0), finished })
}
