//! What the fuzz targets share: a run of bounded work, and what must hold after any run.

mod describe;
mod invariants;

pub use describe::Description;
pub use invariants::{check_outcome, check_same};

use sim::{Engine, Outcome, Progress, Scenario};

/// Events of a run at most, and how many at a time.
const EVENTS: u64 = 5000;
const SLICE: u64 = 500;
/// A larger scenario is a legal way to ask for much work.
const MOST_LINKS: usize = 40;
const MOST_FLOWS: usize = 20;
const LARGEST_WINDOW: f64 = 300.0;

/// A run, perhaps cut short.
#[derive(Debug)]
pub struct Run {
    /// What it gave until then.
    pub outcome: Outcome,
    /// It came to its end.
    pub finished: bool,
}

/// Whether a run of bounded events is bounded work.
pub fn is_small(scenario: &Scenario) -> bool {
    let windows = scenario.flows.iter().all(|flow| flow.sender.initial_window <= LARGEST_WINDOW);
    windows && scenario.links.len() <= MOST_LINKS && scenario.flow_count() <= MOST_FLOWS
}

/// Runs so many events at most; none where the engine refused to go on, in words.
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
