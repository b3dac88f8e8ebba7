mod fifo;
mod priority;

use serde::{Deserialize, Serialize};

use super::classes::Classes;
use fifo::Fifo;
use priority::Priority;

/// A scheduler and its parameters: sorts packets into classes, and chooses the class that is served next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum SchedulerConfig {
    /// First in, first out.
    Fifo {},
    /// Strict priority without interruption.
    Priority {
        /// Number of levels.
        levels: u8,
    },
}

/// A scheduler at work.
#[derive(Clone, Copy, Debug)]
pub(super) enum Scheduler {
    Fifo(Fifo),
    Priority(Priority),
}

impl SchedulerConfig {
    /// Returns whether packets are transmitted in the order of their arrival.
    pub const fn is_foreseen(&self) -> bool {
        match self {
            SchedulerConfig::Fifo {} => true,
            SchedulerConfig::Priority { .. } => false,
        }
    }

    pub(super) fn build(&self) -> Scheduler {
        match self {
            SchedulerConfig::Fifo {} => Scheduler::Fifo(Fifo),
            SchedulerConfig::Priority { .. } => Scheduler::Priority(Priority),
        }
    }

    /// Returns the number of classes.
    pub(super) fn classes(&self) -> usize {
        match *self {
            SchedulerConfig::Fifo {} => 1,
            SchedulerConfig::Priority { levels } => levels.into(),
        }
    }
}

impl Scheduler {
    /// Returns the class of a packet of a priority level.
    #[inline(always)]
    pub(super) fn class(&mut self, level: u8) -> usize {
        match self {
            Scheduler::Fifo(fifo) => fifo.class(),
            Scheduler::Priority(priority) => priority.class(level),
        }
    }

    /// Returns the class whose first packet is transmitted next.
    #[inline(always)]
    pub(super) fn next(&mut self, waiting: &Classes) -> Option<usize> {
        match self {
            Scheduler::Fifo(fifo) => fifo.next(waiting),
            Scheduler::Priority(priority) => priority.next(waiting),
        }
    }
}
