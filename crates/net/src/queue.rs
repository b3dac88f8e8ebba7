//! Queue disciplines: a scheduler, active queue management (AQM) and an overflow rule.

mod aqm;
mod classes;
mod overflow;
mod scheduler;

use base::{Clock, Marks, Packet, RandomStream, Rate, Time};
use serde::{Deserialize, Serialize};

use crate::buffer::{Buffer, Occupancy};
use aqm::Aqms;
use aqm::Departing;
pub(crate) use aqm::{Aqm, Arriving, Verdict};
pub use aqm::{
    AqmConfig, AqmState, CobaltConfig, CodelConfig, CodelRules, DualPi2Config, DualPi2Rules, PiConfig, PieConfig,
    RedAdaptation, RedConfig, RedEcn, RedLinuxConfig, StepConfig,
};
pub(crate) use classes::Waiting;
use classes::{Classes, Position};
pub use overflow::Overflow;
use scheduler::Scheduler;
pub use scheduler::{
    CakeConfig, DrrConfig, DualConfig, FlowEntry, FqConfig, Origin, SchedulerConfig, SfqConfig, SfqRules, WfqConfig,
};

/// A queue discipline with its parameters: one choice on each of three axes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Discipline {
    /// Order of transmission.
    pub scheduler: SchedulerConfig,
    /// Drops other than those of a full buffer.
    pub aqm: AqmConfig,
    /// Packet that is dropped in place of the arriving one.
    pub overflow: Overflow,
}

/// Returns all disciplines by name, with typical parameters.
pub fn disciplines() -> Vec<(&'static str, Discipline)> {
    let plain = |overflow| Discipline { overflow, ..Discipline::DROP_TAIL };
    let priority = |overflow| Discipline { scheduler: SchedulerConfig::Priority { levels: 2 }, ..plain(overflow) };
    let red = AqmConfig::Red(RedConfig::TYPICAL);
    let fq = SchedulerConfig::Fq(FqConfig { quantum_bytes: 600, queues: Some(2), ..FqConfig::TYPICAL });
    let dual = SchedulerConfig::Dual(DualConfig::TYPICAL);
    let pi2 = |config| Discipline::new(dual, AqmConfig::DualPi2(config), Overflow::Arriving);
    let drr = SchedulerConfig::Fq(FqConfig { queues: None, sparse_first: false, ..FqConfig::TYPICAL });
    let wfq = SchedulerConfig::Wfq(WfqConfig::TYPICAL);
    let drr_ns2 = SchedulerConfig::Drr(DrrConfig { quantum_bytes: 600, ..DrrConfig::TYPICAL });
    let cake = SchedulerConfig::Cake(CakeConfig { quantum_bytes: 600, ..CakeConfig::TYPICAL });
    let sfq = |rules| SchedulerConfig::Sfq(SfqConfig { rules, queues: 4, ..SfqConfig::TYPICAL });
    let first = [
        ("drop-tail", Discipline::DROP_TAIL),
        ("drop-from-front", plain(Overflow::Front)),
        ("random-drop", plain(Overflow::Random)),
    ];
    let with_aqm = AqmConfig::LISTED.map(|(name, aqm)| (name, Discipline { aqm, ..Discipline::DROP_TAIL }));
    let last = [
        ("red-random-drop", Discipline { aqm: red, ..plain(Overflow::Random) }),
        ("priority", priority(Overflow::Arriving)),
        ("priority-push-out", priority(Overflow::Lowest)),
        ("fq", Discipline::new(fq, AqmConfig::None {}, Overflow::Longest)),
        ("fq-codel", Discipline::new(fq, AqmConfig::Codel(CodelConfig::TYPICAL), Overflow::Fattest)),
        ("fq-pie", Discipline::new(fq, AqmConfig::Pie(PieConfig::TYPICAL), Overflow::Arriving)),
        ("dualpi2", pi2(DualPi2Config::TYPICAL)),
        ("dualpi2-rfc", pi2(DualPi2Config::RFC)),
        ("cake", Discipline::new(cake, AqmConfig::Cobalt(CobaltConfig::TYPICAL), Overflow::Heaviest)),
        ("sfq", Discipline::new(sfq(SfqRules::Ns2), AqmConfig::None {}, Overflow::Arriving)),
        ("sfq-linux", Discipline::new(sfq(SfqRules::Linux), AqmConfig::None {}, Overflow::LongestLately)),
        ("drr", Discipline::new(drr, AqmConfig::None {}, Overflow::Longest)),
        ("wfq", Discipline::new(wfq, AqmConfig::None {}, Overflow::Longest)),
        ("drr-ns2", Discipline::new(drr_ns2, AqmConfig::None {}, Overflow::HeaviestInTurn)),
    ];
    first.into_iter().chain(with_aqm).chain(last).collect()
}

impl Discipline {
    /// First in, first out; a full buffer drops the arriving packet.
    pub const DROP_TAIL: Discipline = Discipline::new(SchedulerConfig::Fifo {}, AqmConfig::None {}, Overflow::Arriving);

    /// Returns a discipline of the given parts.
    pub const fn new(scheduler: SchedulerConfig, aqm: AqmConfig, overflow: Overflow) -> Discipline {
        Discipline { scheduler, aqm, overflow }
    }

    /// Returns whether a packet's fate is known on arrival: a packet in the queue is neither overtaken nor dropped.
    pub const fn is_foreseen(&self) -> bool {
        self.scheduler.is_foreseen() && self.aqm.is_foreseen() && self.overflow.is_foreseen()
    }

    /// Returns whether it draws random numbers.
    pub const fn is_random(&self) -> bool {
        self.scheduler.is_random() || self.aqm.is_random() || self.overflow.is_random()
    }
}

/// The transmitter that a queue feeds.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Transmitter {
    /// The transmitter has been idle since this instant.
    Idle { since: Time },
    /// A token bucket decides when a packet may go; none is in transmission.
    Closed,
    /// A packet of this length is in transmission.
    Busy { bytes: u16 },
}

/// A sign of congestion that a queue gave with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signal {
    /// Mark of the packet: the congestion is notified explicitly (RFC 3168).
    Marked {
        /// Whether an earlier queue had marked the packet too.
        again: bool,
    },
    /// Drop of the packet.
    Dropped(Cause),
}

/// The cause of a drop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Buffer without room.
    Buffer,
    /// Active queue management, early or at departure.
    Aqm,
    /// Policer without tokens.
    Policer,
}

/// The waiting packets of a link and the discipline that they obey.
#[derive(Clone, Debug)]
pub(crate) struct Queue {
    buffer: Buffer,
    scheduler: Scheduler,
    aqm: Option<Aqms>,
    overflow: Overflow,
    /// Random numbers of the overflow rule.
    random: RandomStream,
    waiting: Classes,
    /// The packet that was dequeued last. It stays here: it would be copied several times elsewhere.
    dequeued: Waiting,
    /// Whether the AQM learns at each event when the oldest of the waiting packets arrived.
    watches_the_oldest: bool,
}

impl Queue {
    /// Returns an empty queue of a discipline, in front of a link of the given rate.
    pub(crate) fn new(
        discipline: &Discipline,
        buffer: Buffer,
        rate: Rate,
        clock: Clock,
        random: RandomStream,
    ) -> Queue {
        let Discipline { scheduler, aqm, overflow } = discipline;
        Queue {
            watches_the_oldest: aqm.watches_the_oldest(),
            buffer,
            scheduler: scheduler.build(rate, &random),
            overflow: *overflow,
            // Where the AQM draws too, the overflow rule has a stream of its own.
            random: if aqm.is_random() { random.branch("victim") } else { random.clone() },
            aqm: Aqms::new(*aqm, scheduler.has_aqm_by_class(), rate, clock, random),
            waiting: Classes::default(),
            dequeued: Waiting::default(),
        }
    }

    /// Takes the entries of the scenario, for their weights and where the flows of one share a queue.
    pub(crate) fn set_entries(&mut self, entries: &[FlowEntry]) {
        self.scheduler.set_entries(entries);
    }

    /// Returns the number of waiting packets.
    pub(crate) fn len(&self) -> usize {
        self.waiting.len()
    }

    /// Returns whether an arriving packet is neither dropped nor marked where the buffer has room for it.
    pub(crate) fn decides_later(&self) -> bool {
        self.scheduler.admits_all() && !self.aqm.as_ref().is_some_and(Aqms::sees_arrivals)
    }

    /// Returns whether a number of packets surely find room while one of `in_service` bytes is in transmission.
    #[inline(always)]
    pub(crate) fn has_room_for(&self, packets: usize, in_service: u16) -> bool {
        let held = self.occupancy(Transmitter::Busy { bytes: in_service });
        self.buffer.has_room_for(&held, packets as u64)
    }

    /// Keeps from now on which states of its AQM may have changed.
    pub(crate) fn trace_aqm(&mut self) {
        self.aqm.iter_mut().for_each(Aqms::be_traced);
    }

    /// Reports the states of its AQM that may have changed since the last time.
    pub(crate) fn report_aqm(&mut self, report: impl FnMut(AqmState)) {
        if let Some(aqm) = &mut self.aqm {
            aqm.report_states(report);
        }
    }

    /// Returns the waiting packets, class by class.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter()
    }

    /// Enqueues a packet. Where the AQM or a full buffer demands a drop, the overflow rule says of
    /// which packet; that may be the arriving one. Returns the class of the arriving packet; `signalled` gets that of
    /// each packet that is marked or dropped.
    pub(crate) fn enqueue(
        &mut self,
        mut arriving: Waiting,
        origin: Origin,
        transmitter: Transmitter,
        signalled: &mut impl FnMut(Signal, usize, Waiting),
    ) -> usize {
        let held = self.occupancy(transmitter);
        self.advance(arriving.since);
        let class = self.scheduler.class(&arriving.packet, origin);
        let verdict = self.verdict(&arriving, class, &held, transmitter);
        let early = match verdict {
            Verdict::Pass => false,
            Verdict::Mark => !arriving.packet.marks.is_capable(),
            Verdict::Drop => true,
        };
        let has_room = self.buffer.admits(&held, arriving.packet.bytes);
        let admitted = self.scheduler.admits(class, &self.waiting, self.buffer.most_waiting());
        if early || !admitted || (!has_room && !self.overflow.chooses_later()) {
            if let Some(aqm) = &mut self.aqm {
                aqm.of(class).on_drop(arriving.since);
            }
            let victim = self.victim(&arriving.packet, class, &held);
            let dropped = Signal::Dropped(if early { Cause::Aqm } else { Cause::Buffer });
            let Some((of, victim)) = victim.and_then(|at| Some((at.class, self.waiting.remove(at)?))) else {
                signalled(dropped, class, arriving);
                return class;
            };
            signalled(dropped, of, victim);
        }
        if verdict == Verdict::Mark {
            let again = arriving.packet.marks.has(Marks::CE);
            if arriving.packet.marks.mark() {
                signalled(Signal::Marked { again }, class, arriving);
            }
        }
        self.waiting.push(class, arriving.since, &arriving.packet);
        self.scheduler.joined(class, arriving.since, arriving.packet.bytes, &mut self.waiting);
        if !has_room && self.overflow.chooses_later() {
            self.drop_waiting(arriving.since, transmitter, signalled);
        }
        class
    }

    /// Enqueues a packet that is neither dropped nor marked; returns its class.
    #[inline(always)]
    pub(crate) fn join(&mut self, now: Time, packet: &Packet, origin: Origin) -> usize {
        self.advance(now);
        let class = self.scheduler.class(packet, origin);
        self.waiting.push(class, now, packet);
        self.scheduler.joined(class, now, packet.bytes, &mut self.waiting);
        class
    }

    /// Returns the packet that was dequeued last.
    #[inline(always)]
    pub(crate) fn dequeued(&self) -> &Waiting {
        &self.dequeued
    }

    /// Drops waiting packets until the buffer holds the rest.
    #[cold]
    fn drop_waiting(
        &mut self,
        now: Time,
        transmitter: Transmitter,
        signalled: &mut impl FnMut(Signal, usize, Waiting),
    ) {
        while !self.buffer.holds(&self.occupancy(transmitter)) {
            let drop = |class, waiting| signalled(Signal::Dropped(Cause::Buffer), class, waiting);
            let first = self.scheduler.first(&self.waiting);
            let dropped = self.overflow.drop_waiting(&mut self.waiting, first, drop);
            let Some((class, packets)) = dropped else { return };
            self.scheduler.lost(class);
            if let Some(aqm) = &mut self.aqm {
                aqm.of(class).on_overflow(packets, now);
            }
        }
    }

    /// Dequeues the next packet to transmit ([`Queue::dequeued`]), and returns its class; drops those before it that the AQM
    /// drops at departure.
    #[inline(always)]
    pub(crate) fn dequeue(&mut self, now: Time, signalled: &mut impl FnMut(Signal, usize, Waiting)) -> Option<usize> {
        self.advance(now);
        while let Some(class) = self.scheduler.next(&mut self.waiting) {
            if self.dequeue_from(class, now, signalled) {
                self.scheduler.sent(class, self.dequeued.packet.bytes, &mut self.waiting);
                return Some(class);
            }
            let is_at_rest = match self.aqm.as_mut().filter(|aqm| aqm.are_by_class()) {
                Some(aqm) => aqm.of(class).on_empty(now),
                None => true,
            };
            self.scheduler.found_empty(class, is_at_rest, &mut self.waiting);
        }
        if let Some(aqm) = self.aqm.as_mut().filter(|aqm| !aqm.are_by_class()) {
            aqm.of(0).on_empty(now);
        }
        None
    }

    /// Dequeues the first packet of a class that its AQM does not drop; returns whether there is one.
    #[inline(always)]
    fn dequeue_from(&mut self, class: usize, now: Time, signalled: &mut impl FnMut(Signal, usize, Waiting)) -> bool {
        let mut again = false;
        while self.waiting.pop(class, &mut self.dequeued) {
            let sojourn = now - self.dequeued.since;
            if self.aqm.as_mut().is_none_or(|aqm| aqm.surely_passes(class, sojourn, again)) {
                return true;
            }
            let left = self.occupancy(Transmitter::Idle { since: now });
            let Some(aqm) = &mut self.aqm else { return true };
            let left_bytes = if aqm.are_by_class() { self.waiting.held_by(class).1 } else { left.bytes };
            let Packet { bytes, marks, .. } = self.dequeued.packet;
            let (left, left_in_class, capable) = (&left, self.waiting.held_by(class).0, marks.is_capable());
            let departing = Departing { now, sojourn, capable, bytes, left, left_bytes, class, left_in_class, again };
            match aqm.on_departure(&departing) {
                Verdict::Pass => return true,
                Verdict::Mark if self.dequeued.packet.marks.mark() => {
                    signalled(Signal::Marked { again: marks.has(Marks::CE) }, class, self.dequeued);
                    return true;
                }
                Verdict::Mark | Verdict::Drop => signalled(Signal::Dropped(Cause::Aqm), class, self.dequeued),
            }
            again = true;
        }
        false
    }

    fn occupancy(&self, transmitter: Transmitter) -> Occupancy {
        let (packets, bytes) = (self.waiting.len() as u64, self.waiting.bytes());
        match transmitter {
            Transmitter::Idle { .. } | Transmitter::Closed => Occupancy { packets, bytes, bytes_in_service: 0 },
            Transmitter::Busy { bytes: in_service } => {
                let bytes_in_service = u64::from(in_service);
                Occupancy { packets: packets + 1, bytes: bytes + bytes_in_service, bytes_in_service }
            }
        }
    }

    #[inline(always)]
    fn advance(&mut self, now: Time) {
        if !self.watches_the_oldest {
            return;
        }
        if let Some(aqm) = &mut self.aqm {
            aqm.of(0).advance(now, self.waiting.oldest_since());
        }
    }

    fn verdict(&mut self, arriving: &Waiting, class: usize, held: &Occupancy, transmitter: Transmitter) -> Verdict {
        let (now, bytes) = (arriving.since, arriving.packet.bytes);
        let Some(aqm) = self.aqm.as_mut().filter(|aqm| aqm.sees_arrivals()) else { return Verdict::Pass };
        let idle = match transmitter {
            Transmitter::Idle { since } => Some(now - since),
            Transmitter::Busy { .. } | Transmitter::Closed => None,
        };
        let (queue, waiting, waiting_bytes) = if aqm.are_by_class() {
            let (packets, bytes) = self.waiting.held_by(class);
            (packets as u64, packets as u64, bytes)
        } else {
            let waiting = self.waiting.len() as u64;
            (self.buffer.counted_packets(held), waiting, held.bytes - held.bytes_in_service)
        };
        aqm.of(class).on_arrival(&Arriving { now, queue, idle, waiting, waiting_bytes, bytes })
    }

    fn victim(&mut self, arriving: &Packet, class: usize, held: &Occupancy) -> Option<Position> {
        let fits_in_place_of = |victim: &Packet| {
            let (packets, bytes) = (held.packets - 1, held.bytes - u64::from(victim.bytes));
            self.buffer.admits(&Occupancy { packets, bytes, ..*held }, arriving.bytes)
        };
        self.overflow.victim(&self.waiting, class, fits_in_place_of, &mut self.random)
    }
}

#[cfg(test)]
mod tests;
