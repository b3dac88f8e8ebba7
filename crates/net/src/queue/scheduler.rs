mod cake;
mod chain;
mod drr;
mod dual;
mod fifo;
mod flows;
mod fq;
mod priority;
mod sfq;
mod wfq;

use base::{Packet, RandomStream, Rate, Time};
use serde::{Deserialize, Serialize};

use super::classes::Classes;
use cake::Cake;
pub use cake::CakeConfig;
use drr::Drr;
pub use drr::DrrConfig;
use dual::Dual;
pub use dual::DualConfig;
pub(super) use dual::{KINDS, L4S};
use fifo::Fifo;
use fq::Fq;
pub use fq::{FlowEntry, FqConfig};
use priority::Priority;
use sfq::Sfq;
pub use sfq::{SfqConfig, SfqRules};
use wfq::Wfq;
pub use wfq::WfqConfig;

/// The facts of a packet's flow by which schedulers sort.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// Priority level, 0 the highest.
    pub level: u8,
    /// Number of the flow's host.
    pub host: u16,
}

impl From<u8> for Origin {
    fn from(level: u8) -> Origin {
        Origin { level, host: 0 }
    }
}

/// A scheduler and its parameters: sorts packets into classes, and chooses the class that is served next.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Weighted fair queueing: the order in which processor sharing would finish packets.
    Wfq(WfqConfig),
    /// Stochastic fairness queueing (McKenney 1990).
    Sfq(SfqConfig),
    /// Deficit round robin by ns-2's rules.
    Drr(DrrConfig),
    /// Two queues, of L4S and of classic traffic (RFC 9332).
    Dual(DualConfig),
    /// CAKE's isolation of flows and hosts, with a shaper of its own.
    Cake(CakeConfig),
}

/// A scheduler at work.
#[derive(Clone, Debug)]
pub(super) enum Scheduler {
    Fifo(Fifo),
    Priority(Priority),
    Fq(Fq),
    Wfq(Box<Wfq>),
    Sfq(Box<Sfq>),
    Drr(Box<Drr>),
    Dual(Dual),
    Cake(Box<Cake>),
}

impl SchedulerConfig {
    /// Returns whether packets are transmitted in the order of their arrival.
    pub const fn is_foreseen(&self) -> bool {
        match self {
            SchedulerConfig::Fifo {} => true,
            SchedulerConfig::Priority { .. } | SchedulerConfig::Fq(_) | SchedulerConfig::Sfq(_) => false,
            SchedulerConfig::Dual(_) | SchedulerConfig::Cake(_) | SchedulerConfig::Drr(_) => false,
            SchedulerConfig::Wfq(_) => false,
        }
    }

    /// Returns whether it draws random numbers.
    pub const fn is_random(&self) -> bool {
        match self {
            SchedulerConfig::Fifo {} | SchedulerConfig::Priority { .. } | SchedulerConfig::Dual(_) => false,
            SchedulerConfig::Fq(config) => config.queues.is_some(),
            SchedulerConfig::Sfq(config) => config.hashed,
            SchedulerConfig::Drr(config) => config.queues.is_some(),
            SchedulerConfig::Wfq(config) => config.queues.is_some(),
            // Quanta are rounded by chance.
            SchedulerConfig::Cake(_) => true,
        }
    }

    /// Returns whether each class has an AQM of its own; else one sees all packets.
    pub(super) const fn has_aqm_by_class(&self) -> bool {
        match self {
            SchedulerConfig::Fifo {} | SchedulerConfig::Priority { .. } | SchedulerConfig::Dual(_) => false,
            SchedulerConfig::Fq(_) | SchedulerConfig::Sfq(_) | SchedulerConfig::Cake(_) => true,
            SchedulerConfig::Drr(_) | SchedulerConfig::Wfq(_) => true,
        }
    }

    /// Returns the rate of the scheduler's own shaper \[bit/s\], if it has one.
    pub const fn bandwidth_bps(&self) -> Option<f64> {
        match self {
            SchedulerConfig::Fifo {} | SchedulerConfig::Priority { .. } | SchedulerConfig::Dual(_) => None,
            SchedulerConfig::Fq(_) | SchedulerConfig::Sfq(_) | SchedulerConfig::Drr(_) => None,
            SchedulerConfig::Wfq(_) => None,
            SchedulerConfig::Cake(config) => config.bandwidth_bps,
        }
    }

    /// Returns the number of kinds of packets that it tells apart by its classes; `None`: its classes are queues of flows.
    pub fn kinds_of_packets(&self) -> Option<usize> {
        match self {
            SchedulerConfig::Fifo {} => Some(1),
            SchedulerConfig::Priority { levels } => Some((*levels).into()),
            SchedulerConfig::Dual(_) => Some(KINDS),
            SchedulerConfig::Fq(_) | SchedulerConfig::Sfq(_) | SchedulerConfig::Cake(_) => None,
            SchedulerConfig::Drr(_) | SchedulerConfig::Wfq(_) => None,
        }
    }

    pub(super) fn build(&self, rate: Rate, random: &RandomStream) -> Scheduler {
        match self {
            SchedulerConfig::Fifo {} => Scheduler::Fifo(Fifo),
            SchedulerConfig::Priority { .. } => Scheduler::Priority(Priority),
            SchedulerConfig::Fq(config) => Scheduler::Fq(Fq::new(*config, random)),
            SchedulerConfig::Wfq(config) => Scheduler::Wfq(Box::new(Wfq::new(*config, rate, random))),
            SchedulerConfig::Sfq(config) => Scheduler::Sfq(Box::new(Sfq::new(*config, random))),
            SchedulerConfig::Drr(config) => Scheduler::Drr(Box::new(Drr::new(*config, random))),
            SchedulerConfig::Dual(config) => Scheduler::Dual(Dual::new(*config)),
            SchedulerConfig::Cake(config) => Scheduler::Cake(Box::new(Cake::new(*config, random))),
        }
    }
}

// The functions that each packet needs look for fair queueing first: a comparison costs less than a jump through a table.
impl Scheduler {
    /// Takes the entries of the scenario, for their weights and where the flows of one share a queue.
    pub(super) fn set_entries(&mut self, entries: &[FlowEntry]) {
        match self {
            Scheduler::Fq(fq) => fq.set_entries(entries),
            Scheduler::Wfq(wfq) => wfq.set_entries(entries),
            Scheduler::Fifo(_) | Scheduler::Priority(_) | Scheduler::Sfq(_) => {}
            Scheduler::Drr(_) | Scheduler::Dual(_) | Scheduler::Cake(_) => {}
        }
    }

    /// Returns the class of a packet that arrives.
    #[inline(always)]
    pub(super) fn class(&mut self, packet: &Packet, origin: Origin) -> usize {
        if let Scheduler::Fq(fq) = self {
            return fq.class(packet);
        }
        match self {
            Scheduler::Fifo(fifo) => fifo.class(),
            Scheduler::Priority(priority) => priority.class(origin.level),
            Scheduler::Fq(fq) => fq.class(packet),
            Scheduler::Wfq(wfq) => wfq.class(packet),
            Scheduler::Sfq(sfq) => sfq.class(packet),
            Scheduler::Drr(drr) => drr.class(packet),
            Scheduler::Dual(dual) => dual.class(packet),
            Scheduler::Cake(cake) => cake.class(packet, origin),
        }
    }

    /// Returns whether a packet may join a class, in a buffer of a number of packets.
    #[inline(always)]
    pub(super) fn admits(&self, class: usize, waiting: &Classes, limit: u64) -> bool {
        match self {
            Scheduler::Sfq(sfq) => sfq.admits(class, waiting, limit),
            Scheduler::Fifo(_) | Scheduler::Priority(_) | Scheduler::Dual(_) => true,
            Scheduler::Fq(_) | Scheduler::Cake(_) | Scheduler::Drr(_) | Scheduler::Wfq(_) => true,
        }
    }

    /// Returns whether any packet may join its class.
    pub(super) fn admits_all(&self) -> bool {
        match self {
            Scheduler::Sfq(_) => false,
            Scheduler::Fifo(_) | Scheduler::Priority(_) | Scheduler::Dual(_) => true,
            Scheduler::Fq(_) | Scheduler::Cake(_) | Scheduler::Drr(_) | Scheduler::Wfq(_) => true,
        }
    }

    /// Returns the class that the overflow rule asks for: that with packets whose turn it is, or that with the most bytes.
    pub(super) fn first(&self, waiting: &Classes) -> Option<usize> {
        match self {
            Scheduler::Sfq(sfq) => sfq.first(waiting),
            Scheduler::Drr(drr) => drr.first(waiting),
            Scheduler::Fifo(_) | Scheduler::Priority(_) | Scheduler::Dual(_) => None,
            Scheduler::Fq(_) | Scheduler::Cake(_) | Scheduler::Wfq(_) => None,
        }
    }

    /// Notes that a packet has joined a class.
    #[inline(always)]
    pub(super) fn joined(&mut self, class: usize, now: Time, bytes: u16, waiting: &mut Classes) {
        if let Scheduler::Fq(fq) = self {
            return fq.joined(class, waiting);
        }
        match self {
            Scheduler::Fifo(_) | Scheduler::Priority(_) | Scheduler::Dual(_) => {}
            Scheduler::Fq(fq) => fq.joined(class, waiting),
            Scheduler::Wfq(wfq) => wfq.joined(class, now, bytes),
            Scheduler::Sfq(sfq) => sfq.joined(class, waiting),
            Scheduler::Drr(drr) => drr.joined(class, waiting),
            Scheduler::Cake(cake) => cake.joined(class),
        }
    }

    /// Returns the class whose first packet is transmitted next; it may be empty.
    #[inline(always)]
    pub(super) fn next(&mut self, waiting: &mut Classes) -> Option<usize> {
        if let Scheduler::Fq(fq) = self {
            return fq.next(waiting);
        }
        match self {
            Scheduler::Fifo(fifo) => fifo.next(waiting),
            Scheduler::Priority(priority) => priority.next(waiting),
            Scheduler::Fq(fq) => fq.next(waiting),
            Scheduler::Wfq(wfq) => wfq.next(waiting),
            Scheduler::Sfq(sfq) => sfq.next(),
            Scheduler::Drr(drr) => drr.next(waiting),
            Scheduler::Dual(dual) => dual.next(waiting),
            Scheduler::Cake(cake) => cake.next(waiting),
        }
    }

    /// Notes that the class that is next has sent a packet.
    #[inline(always)]
    pub(super) fn sent(&mut self, class: usize, bytes: u16, waiting: &mut Classes) {
        if let Scheduler::Fq(fq) = self {
            return fq.sent(class, bytes, waiting);
        }
        match self {
            Scheduler::Fifo(_) | Scheduler::Priority(_) => {}
            Scheduler::Fq(fq) => fq.sent(class, bytes, waiting),
            Scheduler::Wfq(wfq) => wfq.sent(class, waiting),
            Scheduler::Sfq(sfq) => sfq.sent(class, bytes, waiting),
            Scheduler::Drr(drr) => drr.sent(class, bytes, waiting),
            Scheduler::Dual(dual) => dual.sent(class, bytes, waiting),
            Scheduler::Cake(cake) => cake.sent(class, bytes),
        }
    }

    /// Notes that a full buffer has dropped the last packet of a class.
    pub(super) fn lost(&mut self, class: usize) {
        if let Scheduler::Wfq(wfq) = self {
            wfq.lost(class);
        }
    }

    /// Notes that the class that is next had no packet to send, and whether its AQM is at rest.
    pub(super) fn found_empty(&mut self, class: usize, is_at_rest: bool, waiting: &mut Classes) {
        match self {
            Scheduler::Fifo(_) | Scheduler::Priority(_) | Scheduler::Dual(_) | Scheduler::Wfq(_) => {}
            Scheduler::Fq(fq) => fq.found_empty(class, waiting),
            Scheduler::Sfq(sfq) => sfq.found_empty(class),
            Scheduler::Drr(drr) => drr.found_empty(class),
            Scheduler::Cake(cake) => cake.found_empty(class, is_at_rest),
        }
    }
}
