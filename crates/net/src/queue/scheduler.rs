mod dual;
mod fifo;
mod fq;
mod priority;

use base::{Packet, RandomStream};
use serde::{Deserialize, Serialize};

use super::classes::Classes;
use dual::Dual;
pub use dual::DualConfig;
pub(super) use dual::L4S;
use fifo::Fifo;
use fq::Fq;
pub use fq::FqConfig;
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
    /// Fair queueing: each queue of flows sends as many bytes in a round.
    Fq(FqConfig),
    /// Two queues, of L4S and of classic traffic (RFC 9332).
    Dual(DualConfig),
}

/// A scheduler at work.
#[derive(Clone, Debug)]
pub(super) enum Scheduler {
    Fifo(Fifo),
    Priority(Priority),
    Fq(Fq),
    Dual(Dual),
}

impl SchedulerConfig {
    /// Returns whether packets are transmitted in the order of their arrival.
    pub const fn is_foreseen(&self) -> bool {
        match self {
            SchedulerConfig::Fifo {} => true,
            SchedulerConfig::Priority { .. } | SchedulerConfig::Fq(_) | SchedulerConfig::Dual(_) => false,
        }
    }

    /// Returns whether it draws random numbers.
    pub const fn is_random(&self) -> bool {
        match self {
            SchedulerConfig::Fifo {} | SchedulerConfig::Priority { .. } | SchedulerConfig::Dual(_) => false,
            SchedulerConfig::Fq(config) => config.queues.is_some(),
        }
    }

    /// Returns whether each class has an AQM of its own; else one sees all packets.
    pub(super) const fn has_aqm_by_class(&self) -> bool {
        match self {
            SchedulerConfig::Fifo {} | SchedulerConfig::Priority { .. } | SchedulerConfig::Dual(_) => false,
            SchedulerConfig::Fq(_) => true,
        }
    }

    pub(super) fn build(&self, random: &RandomStream) -> Scheduler {
        match self {
            SchedulerConfig::Fifo {} => Scheduler::Fifo(Fifo),
            SchedulerConfig::Priority { .. } => Scheduler::Priority(Priority),
            SchedulerConfig::Fq(config) => Scheduler::Fq(Fq::new(*config, random)),
            SchedulerConfig::Dual(config) => Scheduler::Dual(Dual::new(*config)),
        }
    }
}

impl Scheduler {
    /// Returns the class of a packet that arrives at a priority level.
    #[inline(always)]
    pub(super) fn class(&self, packet: &Packet, level: u8) -> usize {
        match self {
            Scheduler::Fifo(fifo) => fifo.class(),
            Scheduler::Priority(priority) => priority.class(level),
            Scheduler::Fq(fq) => fq.class(packet),
            Scheduler::Dual(dual) => dual.class(packet),
        }
    }

    /// Notes that a packet has joined a class.
    #[inline(always)]
    pub(super) fn joined(&mut self, class: usize) {
        match self {
            Scheduler::Fifo(_) | Scheduler::Priority(_) | Scheduler::Dual(_) => {}
            Scheduler::Fq(fq) => fq.joined(class),
        }
    }

    /// Returns the class whose first packet is transmitted next; it may be empty.
    #[inline(always)]
    pub(super) fn next(&mut self, waiting: &Classes) -> Option<usize> {
        match self {
            Scheduler::Fifo(fifo) => fifo.next(waiting),
            Scheduler::Priority(priority) => priority.next(waiting),
            Scheduler::Fq(fq) => fq.next(),
            Scheduler::Dual(dual) => dual.next(waiting),
        }
    }

    /// Notes that the class that is next has sent a packet.
    #[inline(always)]
    pub(super) fn sent(&mut self, class: usize, bytes: u16, waiting: &Classes) {
        match self {
            Scheduler::Fifo(_) | Scheduler::Priority(_) => {}
            Scheduler::Fq(fq) => fq.sent(class, bytes),
            Scheduler::Dual(dual) => dual.sent(class, bytes, waiting),
        }
    }

    /// Notes that the class that is next had no packet to send.
    pub(super) fn found_empty(&mut self, class: usize) {
        match self {
            Scheduler::Fifo(_) | Scheduler::Priority(_) | Scheduler::Dual(_) => {}
            Scheduler::Fq(fq) => fq.found_empty(class),
        }
    }
}
