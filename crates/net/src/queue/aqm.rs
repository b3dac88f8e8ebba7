mod cobalt;
mod codel;
mod dual_pi2;
mod pi;
mod pie;
mod red;
mod red_linux;
mod state;
mod step;

use base::cast::to_u32;
use base::{Clock, RandomStream, Rate, Time};
use serde::{Deserialize, Serialize};

use crate::buffer::Occupancy;
use cobalt::Cobalt;
pub use cobalt::CobaltConfig;
use codel::Codel;
pub use codel::{CodelConfig, CodelRules};
use dual_pi2::DualPi2;
pub use dual_pi2::{DualPi2Config, DualPi2Rules};
use pi::Pi;
pub use pi::PiConfig;
use pie::Pie;
pub use pie::PieConfig;
use red::Red;
pub use red::{RedAdaptation, RedConfig, RedEcn};
use red_linux::RedLinux;
pub use red_linux::RedLinuxConfig;
pub use state::AqmState;
use step::Step;
pub use step::StepConfig;

/// Active queue management (AQM) and its parameters: drops or marks packets as signals of congestion.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum AqmConfig {
    /// Absence of AQM: only a full buffer drops packets.
    None {},
    /// Random Early Detection.
    Red(RedConfig),
    /// Random Early Detection of bytes, by Linux's rules.
    RedLinux(RedLinuxConfig),
    /// Controlled Delay (RFC 8289).
    Codel(CodelConfig),
    /// COBALT: CoDel and BLUE.
    Cobalt(CobaltConfig),
    /// Proportional Integral controller Enhanced.
    Pie(PieConfig),
    /// Proportional Integral controller.
    Pi(PiConfig),
    /// Marks above a threshold.
    Step(StepConfig),
    /// The AQM of a coupled dual queue (RFC 9332).
    #[serde(rename = "dualpi2")]
    DualPi2(DualPi2Config),
}

/// Decision about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// The packet goes on.
    Pass,
    /// The packet is marked, or dropped if its transport is not ECN-capable (RFC 3168 section 5).
    Mark,
    /// A packet is dropped: at departure this one, on arrival the one that the overflow rule chooses.
    Drop,
}

/// A packet that arrives.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arriving {
    pub(crate) now: Time,
    /// Number of packets that the arriving one finds, as the buffer counts them.
    pub(crate) queue: u64,
    /// Time since the last departure; `None` if the link is busy.
    pub(crate) idle: Option<Time>,
    /// Packets that wait of those that this AQM sees, without a packet in transmission.
    pub(crate) waiting: u64,
    /// Bytes of these.
    pub(crate) waiting_bytes: u64,
    pub(crate) bytes: u16,
}

/// A packet that the scheduler has chosen to be transmitted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Departing<'a> {
    pub(crate) now: Time,
    /// Time that the packet has spent in the queue.
    pub(crate) sojourn: Time,
    /// Whether the packet's transport is ECN-capable.
    pub(crate) capable: bool,
    pub(crate) bytes: u16,
    /// The whole queue without this packet.
    pub(crate) left: &'a Occupancy,
    /// Bytes that are left of the packets that this AQM sees.
    pub(crate) left_bytes: u64,
    /// The scheduler's class of the packet.
    pub(crate) class: usize,
    /// Packets of that class that are left.
    pub(crate) left_in_class: usize,
    /// Whether this packet departs in the place of another one, which the AQM has just dropped.
    pub(crate) again: bool,
}

/// An AQM algorithm: decides about packets, and never moves them.
pub(crate) trait Algorithm {
    /// Notes the time of an event before anything else happens then, and since when the oldest packet has been waiting.
    fn advance(&mut self, _now: Time, _oldest: Option<Time>) {}

    /// Decides about an arriving packet.
    fn on_arrival(&mut self, _arriving: &Arriving) -> Verdict {
        Verdict::Pass
    }

    /// Notes that an arriving packet was dropped, early or by a full buffer, or one in its place.
    fn on_drop(&mut self, _now: Time) {}

    /// Notes that a full buffer dropped packets at the front of the class.
    fn on_overflow(&mut self, _packets: u32, _now: Time) {}

    /// Decides about a packet that the scheduler has chosen.
    fn on_departure(&mut self, _departing: &Departing<'_>) -> Verdict {
        Verdict::Pass
    }

    /// Notes that no packet is left where one should depart; returns whether the algorithm is at rest.
    fn on_empty(&mut self, _now: Time) -> bool {
        true
    }
}

/// An AQM at work, from the beginning of a cache line on.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) enum Aqm {
    /// Random Early Detection.
    Red(Red),
    /// Random Early Detection of bytes, by Linux's rules.
    RedLinux(RedLinux),
    /// Controlled Delay (RFC 8289).
    Codel(Codel),
    /// COBALT: CoDel and BLUE.
    Cobalt(Cobalt),
    /// Proportional Integral controller Enhanced.
    Pie(Pie),
    /// Proportional Integral controller.
    Pi(Pi),
    /// Marks above a threshold.
    Step(Step),
    /// The AQM of a coupled dual queue (RFC 9332).
    DualPi2(DualPi2),
    #[cfg(test)]
    Impatient(Impatient),
}

impl AqmConfig {
    /// The algorithms by name, with typical parameters.
    pub const LISTED: [(&'static str, AqmConfig); 7] = [
        ("red", AqmConfig::Red(RedConfig::TYPICAL)),
        ("red-linux", AqmConfig::RedLinux(RedLinuxConfig::TYPICAL)),
        ("codel", AqmConfig::Codel(CodelConfig::TYPICAL)),
        ("pie", AqmConfig::Pie(PieConfig::TYPICAL)),
        ("pi", AqmConfig::Pi(PiConfig::TYPICAL)),
        ("cobalt", AqmConfig::Cobalt(CobaltConfig::TYPICAL)),
        ("step", AqmConfig::Step(StepConfig::TYPICAL)),
    ];

    /// Returns whether it decides on arrival alone.
    pub const fn is_foreseen(&self) -> bool {
        match self {
            AqmConfig::None {} | AqmConfig::Red(_) | AqmConfig::RedLinux(_) | AqmConfig::Step(_) => true,
            AqmConfig::Codel(_) | AqmConfig::Cobalt(_) | AqmConfig::Pie(_) => false,
            AqmConfig::Pi(_) | AqmConfig::DualPi2(_) => false,
        }
    }

    /// Returns whether it draws random numbers.
    pub const fn is_random(&self) -> bool {
        match self {
            AqmConfig::None {} | AqmConfig::Codel(_) | AqmConfig::Step(_) => false,
            AqmConfig::Red(_) | AqmConfig::RedLinux(_) | AqmConfig::Pie(_) => true,
            AqmConfig::Cobalt(_) | AqmConfig::Pi(_) => true,
            AqmConfig::DualPi2(config) => matches!(config.rules, DualPi2Rules::Linux),
        }
    }

    /// Returns whether it must know of each event ([`Algorithm::advance`]).
    pub(super) const fn watches_the_oldest(&self) -> bool {
        match self {
            AqmConfig::DualPi2(_) => true,
            AqmConfig::None {} | AqmConfig::Red(_) | AqmConfig::RedLinux(_) | AqmConfig::Codel(_) => false,
            AqmConfig::Pie(_) | AqmConfig::Pi(_) | AqmConfig::Cobalt(_) | AqmConfig::Step(_) => false,
        }
    }

    /// Returns whether it decides about arriving packets ([`Algorithm::on_arrival`]).
    const fn decides_on_arrival(&self) -> bool {
        match self {
            AqmConfig::Red(_) | AqmConfig::RedLinux(_) | AqmConfig::Pie(_) => true,
            AqmConfig::Pi(_) | AqmConfig::Step(_) => true,
            AqmConfig::None {} | AqmConfig::Codel(_) | AqmConfig::Cobalt(_) | AqmConfig::DualPi2(_) => false,
        }
    }

    /// Returns the AQM of an empty queue in front of a link of the given rate; `None` for no AQM.
    pub(crate) fn build(&self, rate: Rate, clock: Clock, random: RandomStream) -> Option<Aqm> {
        match self {
            AqmConfig::None {} => None,
            AqmConfig::Red(config) => Some(Aqm::Red(Red::new(*config, rate, clock, random))),
            AqmConfig::RedLinux(config) => Some(Aqm::RedLinux(RedLinux::new(*config, rate, clock, random))),
            AqmConfig::Codel(config) => Some(Aqm::Codel(Codel::new(*config, clock))),
            AqmConfig::Cobalt(config) => Some(Aqm::Cobalt(Cobalt::new(*config, clock, random))),
            AqmConfig::Pie(config) => Some(Aqm::Pie(Pie::new(*config, clock, random))),
            AqmConfig::Pi(config) => Some(Aqm::Pi(Pi::new(*config, clock, random))),
            AqmConfig::Step(config) => Some(Aqm::Step(Step(*config))),
            AqmConfig::DualPi2(config) => Some(Aqm::DualPi2(DualPi2::new(*config, clock, random))),
        }
    }
}

impl Aqm {
    /// Returns the algorithm.
    #[inline(always)]
    pub(crate) fn algorithm(&mut self) -> &mut dyn Algorithm {
        match self {
            Aqm::Red(red) => red,
            Aqm::RedLinux(red) => red,
            Aqm::Codel(codel) => codel,
            Aqm::Cobalt(cobalt) => cobalt,
            Aqm::Pie(pie) => pie,
            Aqm::Pi(pi) => pi,
            Aqm::Step(step) => step,
            Aqm::DualPi2(pi2) => pi2,
            #[cfg(test)]
            Aqm::Impatient(impatient) => impatient,
        }
    }
}

impl Aqm {
    /// Returns the state of the algorithm, with 0 as its class.
    pub(crate) fn state(&self) -> AqmState {
        match self {
            Aqm::Red(red) => red.state(),
            Aqm::RedLinux(red) => red.state(),
            Aqm::Codel(codel) => codel.state(),
            Aqm::Cobalt(cobalt) => cobalt.state(),
            Aqm::Pie(pie) => pie.state(),
            Aqm::Pi(pi) => pi.state(),
            Aqm::DualPi2(pi2) => pi2.state(),
            Aqm::Step(_) => AqmState::default(),
            #[cfg(test)]
            Aqm::Impatient(_) => AqmState::default(),
        }
    }
}

/// The AQM of a queue: one for all packets, or one for each class.
#[derive(Clone, Debug)]
pub(super) struct Aqms {
    config: AqmConfig,
    rate: Rate,
    clock: Clock,
    random: RandomStream,
    by_class: bool,
    /// The AQM of all packets, or those of the classes up to the last one that a packet has been of.
    each: Vec<Aqm>,
    /// Classes whose AQM has been asked since a trace took their states; `None` without a trace.
    asked: Option<Vec<usize>>,
}

impl Aqms {
    /// Returns the AQM of an empty queue in front of a link of the given rate; `None` for no AQM.
    pub(super) fn new(
        config: AqmConfig,
        by_class: bool,
        rate: Rate,
        clock: Clock,
        random: RandomStream,
    ) -> Option<Aqms> {
        let mut aqms = Aqms { config, rate, clock, random, by_class, each: Vec::new(), asked: None };
        aqms.each.push(aqms.build(0)?);
        Some(aqms)
    }

    /// Returns whether each class has an AQM of its own.
    pub(super) fn are_by_class(&self) -> bool {
        self.by_class
    }

    /// Returns whether arriving packets are shown to it; a trace takes its states then too.
    pub(super) fn sees_arrivals(&self) -> bool {
        self.config.decides_on_arrival() || self.asked.is_some()
    }

    /// Returns the algorithm that sees the packets of a class.
    #[inline(always)]
    pub(super) fn of(&mut self, class: usize) -> &mut dyn Algorithm {
        self.aqm(class).algorithm()
    }

    /// Lets a packet of a class depart if it waited for so short a time that nothing else matters; returns whether it does.
    #[inline(always)]
    pub(super) fn surely_passes(&mut self, class: usize, sojourn: Time, again: bool) -> bool {
        // A trace wants to see each decision.
        match self.each.get_mut(if self.by_class { class } else { 0 }) {
            Some(Aqm::Codel(codel)) if self.asked.is_none() => codel.surely_passes(sojourn, again),
            _ => false,
        }
    }

    /// Decides about a packet that the scheduler has chosen.
    #[inline(always)]
    pub(super) fn on_departure(&mut self, departing: &Departing<'_>) -> Verdict {
        match self.aqm(departing.class) {
            // Most queues that decide at departure have CoDel: known here, it needs no call.
            Aqm::Codel(codel) => codel.on_departure(departing),
            other => other.algorithm().on_departure(departing),
        }
    }

    #[inline(always)]
    fn aqm(&mut self, class: usize) -> &mut Aqm {
        let class = if self.by_class { class } else { 0 };
        if class >= self.each.len() || self.asked.is_some() {
            self.prepare(class);
        }
        &mut self.each[class]
    }

    /// Makes the AQMs up to that of a class, and notes for a trace that it is asked.
    #[cold]
    fn prepare(&mut self, class: usize) {
        if let Some(asked) = &mut self.asked {
            asked.push(class);
        }
        while self.each.len() <= class {
            let Some(aqm) = self.build(self.each.len()) else { break };
            self.each.push(aqm);
        }
    }

    /// Keeps from now on which states may have changed.
    pub(super) fn be_traced(&mut self) {
        self.asked = Some(Vec::new());
    }

    /// Reports the states that may have changed since the last time.
    pub(super) fn report_states(&mut self, mut report: impl FnMut(AqmState)) {
        let Aqms { asked, each, .. } = self;
        for class in asked.iter_mut().flat_map(|asked| asked.drain(..)) {
            report(AqmState { class: to_u32(class), ..each[class].state() });
        }
    }

    fn build(&self, class: usize) -> Option<Aqm> {
        let random = match class {
            0 => self.random.clone(),
            _ => self.random.branch(&class.to_string()),
        };
        self.config.build(self.rate, self.clock, random)
    }

    #[cfg(test)]
    pub(super) fn impatient(patience: Time) -> Aqms {
        Aqms {
            config: AqmConfig::None {},
            rate: Rate::UNLIMITED,
            clock: Clock::PICOSECONDS,
            random: RandomStream::named(1, 0, "none"),
            by_class: false,
            each: vec![Aqm::Impatient(Impatient(patience))],
            asked: None,
        }
    }
}

/// An AQM that drops packets at departure if they have waited for longer than this and are not the last one.
#[cfg(test)]
#[derive(Clone, Debug)]
pub(crate) struct Impatient(pub(crate) Time);

#[cfg(test)]
impl Algorithm for Impatient {
    fn on_departure(&mut self, departing: &Departing<'_>) -> Verdict {
        if departing.sojourn > self.0 && departing.left.packets > 0 {
            Verdict::Drop
        } else {
            Verdict::Pass
        }
    }
}
