//! Sources that transfer and are silent in turn, and what is measured of them, from the sources' own knowledge.

use base::{prefetch, RandomStream, Time};
use net::Phase;
use tcp::Sender;

use super::laws::{Sizes, Times};
use crate::flow::FlowSlot;
use crate::scenario::{FlowConfig, TrafficConfig};

/// Drops of packets with a higher number within their transfer are counted with this one.
const LAST_NUMBER: u64 = 9_999;

/// All such sources of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transfers {
    groups: Vec<Group>,
    sources: Vec<Source>,
}

/// Sources alike: one entry of the scenario.
#[derive(Clone, Debug)]
struct Group {
    template: Sender,
    sizes: Sizes,
    off: Times,
    active: usize,
    since: Time,
    statistics: TransferStatistics,
}

/// Whole cache lines.
#[derive(Clone, Debug)]
#[repr(align(64))]
struct Source {
    random: RandomStream,
    /// The transfer under way, or the last one: since when, its first packet.
    started: Time,
    first: u64,
    /// Time in which it waited for a timeout.
    stalled: Time,
    /// Packets that its own found in queues, and how many of its own looked.
    seen: [u64; 2],
    /// Packets that fast recoveries which succeeded sent again.
    recovered: u64,
    /// The flow's counters when it began.
    before: Counters,
    group: u32,
}

/// What a flow had counted at some instant; differences are right where less than 2^32 lies between.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counters {
    sent: u32,
    retransmitted: u32,
    dropped: u32,
    timeouts: u32,
    fast_retransmits: u32,
}

impl Counters {
    pub(crate) fn of(flow: &FlowSlot) -> Counters {
        let total = |pair: [u64; 2]| (pair[0] + pair[1]) as u32;
        Counters {
            sent: total(flow.sender_counts.map(|counts| counts.sent)),
            retransmitted: total(flow.rare.retransmitted),
            dropped: total(flow.rare.dropped),
            timeouts: total(flow.rare.timeouts),
            fast_retransmits: total(flow.rare.fast_retransmits),
        }
    }
}

/// What a group of sources counts. All but the totals is of the measurement: of transfers that end in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransferStatistics {
    /// The entry of the scenario.
    pub entry: usize,
    /// Transfers begun, over the whole run.
    pub started: u64,
    /// Transfers completed, over the whole run.
    pub completed: u64,
    /// By size.
    pub classes: Vec<SizeClass>,
    /// By the number of active sources, from none on: the birth and death process.
    pub states: Vec<State>,
    /// Data packets dropped, by their number within their transfer, from 0 on; the last entry holds all beyond too.
    pub sequence_drops: Vec<u64>,
}

/// The transfers of one class of sizes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeClass {
    /// The smallest size that can occur in it, and the largest; none: without bound \[packets\].
    pub from: u64,
    /// See there.
    pub to: Option<u64>,
    /// How many.
    pub transfers: u64,
    /// Packets to transfer, each counted once.
    pub packets: u64,
    /// Time from their first packet's sending to their last ACK.
    pub on: u128,
    /// Sum over the transfers of packets by seconds.
    pub rates: f64,
    /// Time in it that was spent waiting for a retransmission timeout: from the last packet sent before it.
    pub stalled: u128,
    /// Data packets sent, repetitions included.
    pub sent: u64,
    /// Repetitions.
    pub retransmitted: u64,
    /// Data packets dropped.
    pub dropped: u64,
    /// Expired retransmission timers.
    pub timeouts: u64,
    /// Fast retransmits.
    pub fast_retransmits: u64,
    /// Repetitions in fast recoveries that succeeded.
    pub recovered: u64,
    /// Arrivals of its data packets at links that are shared; counted where the run records the queues' distributions.
    pub arrivals: u64,
    /// Sum over these of the packets found there.
    pub queue_seen: u64,
}

/// So many active sources: for how long, and the transfers that ended then, themselves counted as active.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Time with so many.
    pub time: Time,
    /// How many transfers ended.
    pub transfers: u64,
    /// Their packets.
    pub packets: u64,
    /// Their time.
    pub on: u128,
}

impl Transfers {
    /// Adds the sources of an entry; `randoms` are their streams. The numbers of its first source and the first silences.
    pub(crate) fn add(&mut self, entry: usize, flow: &FlowConfig, randoms: impl Iterator<Item = RandomStream>) -> u32 {
        let (first, group) = (self.sources.len() as u32, self.groups.len() as u32);
        if let Some(TrafficConfig::Web { size, off, classes }) = &flow.traffic {
            let mut from = 0;
            let bounds = classes.iter().copied().map(Some).chain([None]);
            let class = |to: Option<u64>| {
                let class = SizeClass { from, to, ..SizeClass::default() };
                from = to.unwrap_or(0) + 1;
                class
            };
            let statistics = TransferStatistics {
                entry,
                classes: bounds.map(class).collect(),
                states: vec![State::default()],
                ..TransferStatistics::default()
            };
            self.groups.push(Group {
                template: Sender::new(&flow.sender, Some(0)),
                sizes: Sizes::new(size),
                off: Times::new(*off),
                active: 0,
                since: Time::ZERO,
                statistics,
            });
            let (started, stalled) = (Time::ZERO, Time::ZERO);
            let source = |random| Source {
                random,
                started,
                first: 0,
                stalled,
                seen: [0; 2],
                recovered: 0,
                before: Counters::default(),
                group,
            };
            self.sources.extend(randoms.map(source));
        }
        first
    }

    /// Fetches the state of a source, if there is such a one.
    #[inline(always)]
    pub(crate) fn prefetch(&self, source: u32) {
        if let Some(source) = self.sources.get(source as usize) {
            prefetch(&source.random);
            prefetch(&source.group);
        }
    }

    /// The silence before the next transfer.
    pub(crate) fn draw_silence(&mut self, source: u32) -> Time {
        let source = &mut self.sources[source as usize];
        self.groups[source.group as usize].off.draw(&mut source.random)
    }

    /// A transfer begins with packet `first`: its sender.
    pub(crate) fn begin(&mut self, source: u32, now: Time, first: u64, before: Counters, phase: &Phase) -> Sender {
        let source = &mut self.sources[source as usize];
        let group = &mut self.groups[source.group as usize];
        let size = group.sizes.draw(&mut source.random);
        (source.started, source.first, source.before, source.stalled) = (now, first, before, Time::ZERO);
        (source.seen, source.recovered) = ([0; 2], 0);
        group.spend_until(now, phase);
        group.active += 1;
        group.statistics.started += 1;
        if group.statistics.states.len() == group.active {
            group.statistics.states.push(State::default());
        }
        group.template.open_at(first, size, now)
    }

    /// The transfer is acknowledged up to `end`, one past its last packet.
    pub(crate) fn end(&mut self, source: u32, now: Time, end: u64, after: Counters, phase: &Phase) {
        let source = &self.sources[source as usize];
        let group = &mut self.groups[source.group as usize];
        group.spend_until(now, phase);
        let (packets, on) = (end - source.first, now - source.started);
        group.statistics.completed += 1;
        if phase.index(now) == 1 {
            let state = &mut group.statistics.states[group.active];
            state.transfers += 1;
            state.packets += packets;
            state.on += u128::from(on.picoseconds());
            let classes = &mut group.statistics.classes;
            let class = classes.partition_point(|class| class.to.is_some_and(|to| to < packets));
            classes[class].add(packets, on, source, &after);
        }
        group.active -= 1;
    }

    /// A timeout of the transfer under way; it had last sent at `last_sent`.
    pub(crate) fn stall(&mut self, source: u32, now: Time, last_sent: Time) {
        self.sources[source as usize].stalled += now - last_sent;
    }

    /// A fast recovery has succeeded; it sent so many packets again.
    pub(crate) fn recover(&mut self, source: u32, retransmissions: u64) {
        self.sources[source as usize].recovered += retransmissions;
    }

    /// A packet comes to a link that holds `queue` packets.
    pub(crate) fn look(&mut self, source: u32, sequence: u64, queue: u64) {
        let source = &mut self.sources[source as usize];
        if sequence >= source.first {
            source.seen = [source.seen[0] + queue, source.seen[1] + 1];
        }
    }

    /// A link drops a packet, at an instant of the measurement.
    pub(crate) fn drop(&mut self, source: u32, sequence: u64) {
        let source = &self.sources[source as usize];
        // A repetition that outlives its transfer is no packet of the next one.
        let Some(number) = sequence.checked_sub(source.first) else { return };
        let drops = &mut self.groups[source.group as usize].statistics.sequence_drops;
        let number = number.min(LAST_NUMBER) as usize;
        if drops.len() <= number {
            drops.resize(number + 1, 0);
        }
        drops[number] += 1;
    }

    /// What all groups counted, once the run is over.
    pub(crate) fn finish(mut self, phase: &Phase) -> Vec<TransferStatistics> {
        self.groups.iter_mut().for_each(|group| group.spend_until(phase.end, phase));
        self.groups.into_iter().map(|group| group.statistics).collect()
    }
}

impl Group {
    fn spend_until(&mut self, now: Time, phase: &Phase) {
        self.statistics.states[self.active].time += self.since.overlap(now, phase.warmup, phase.end);
        self.since = now;
    }
}

impl SizeClass {
    fn add(&mut self, packets: u64, on: Time, source: &Source, after: &Counters) {
        let since = |after: u32, before: u32| u64::from(after.wrapping_sub(before));
        let before = &source.before;
        self.transfers += 1;
        self.packets += packets;
        self.on += u128::from(on.picoseconds());
        self.rates += packets as f64 / on.seconds();
        self.stalled += u128::from(source.stalled.picoseconds());
        self.sent += since(after.sent, before.sent);
        self.retransmitted += since(after.retransmitted, before.retransmitted);
        self.dropped += since(after.dropped, before.dropped);
        self.timeouts += since(after.timeouts, before.timeouts);
        self.fast_retransmits += since(after.fast_retransmits, before.fast_retransmits);
        self.recovered += source.recovered;
        self.queue_seen += source.seen[0];
        self.arrivals += source.seen[1];
    }
}
