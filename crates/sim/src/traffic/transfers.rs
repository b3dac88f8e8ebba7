//! Sources that transfer and are silent in turn, and what is measured of them, from the sources' own knowledge.

use base::{prefetch, RandomStream, Time};
use net::Phase;
use tcp::Sender;

use super::laws::{Sizes, Times};
use crate::loss_log::Losses;
use crate::scenario::{FlowConfig, TrafficConfig};

/// Drops of packets with a higher number within their transfer are counted with this one.
const LAST_NUMBER: u64 = 9_999;

/// All such sources of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transfers {
    groups: Vec<Group>,
    sources: Vec<Source>,
    /// By source, where any packet looked.
    seen: Vec<Seen>,
}

/// Sources alike: one entry of the scenario.
#[derive(Clone, Debug)]
struct Group {
    /// Its first source.
    first: u32,
    template: Sender,
    sizes: Sizes,
    off: Times,
    active: usize,
    since: Time,
    statistics: TransferStatistics,
}

/// Never in two cache lines.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Source {
    random: RandomStream,
}

const _: () = assert!(size_of::<Source>() == 32);

/// What a transfer's packets found in queues, and how many looked.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    queue: u64,
    arrivals: u64,
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
        let first = self.sources.len() as u32;
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
                first,
                template: Sender::new(&flow.sender, Some(0)),
                sizes: Sizes::new(size),
                off: Times::new(*off),
                active: 0,
                since: Time::ZERO,
                statistics,
            });
            self.sources.extend(randoms.map(|random| Source { random }));
        }
        first
    }

    /// Fetches the state of a source, if there is such a one.
    #[inline(always)]
    pub(crate) fn prefetch(&self, source: u32) {
        if let Some(source) = self.sources.get(source as usize) {
            prefetch(source);
        }
    }

    /// The silence before the next transfer.
    pub(crate) fn draw_silence(&mut self, source: u32) -> Time {
        let group = self.group(source);
        self.groups[group].off.draw(&mut self.sources[source as usize].random)
    }

    /// The group of a source.
    fn group(&self, source: u32) -> usize {
        self.groups.partition_point(|group| group.first <= source) - 1
    }

    /// A transfer begins with packet `first`: its sender.
    pub(crate) fn begin(&mut self, source: u32, now: Time, first: u64, phase: &Phase) -> Sender {
        if let Some(seen) = self.seen.get_mut(source as usize) {
            *seen = Seen::default();
        }
        let group = self.group(source);
        let (group, source) = (&mut self.groups[group], &mut self.sources[source as usize]);
        let size = group.sizes.draw(&mut source.random);
        group.spend_until(now, phase);
        group.active += 1;
        group.statistics.started += 1;
        if group.statistics.states.len() == group.active {
            group.statistics.states.push(State::default());
        }
        group.template.open_at(first, size, now)
    }

    /// The transfer of this sender is acknowledged whole, after these losses.
    pub(crate) fn end(&mut self, source: u32, now: Time, sender: &Sender, losses: &Losses, phase: &Phase) {
        let seen = self.seen.get(source as usize).copied().unwrap_or_default();
        let group = self.group(source);
        let group = &mut self.groups[group];
        group.spend_until(now, phase);
        let (packets, on) = (sender.una() - sender.first(), now - sender.opened());
        group.statistics.completed += 1;
        if phase.index(now) == 1 {
            let state = &mut group.statistics.states[group.active];
            state.transfers += 1;
            state.packets += packets;
            state.on += u128::from(on.picoseconds());
            let classes = &mut group.statistics.classes;
            let class = classes.partition_point(|class| class.to.is_some_and(|to| to < packets));
            classes[class].add(packets, on, losses, seen);
        }
        group.active -= 1;
    }

    /// A packet of the transfer under way comes to a link that holds `queue` packets.
    pub(crate) fn look(&mut self, source: u32, queue: u64) {
        if self.seen.is_empty() {
            self.seen = vec![Seen::default(); self.sources.len()];
        }
        let seen = &mut self.seen[source as usize];
        (seen.queue, seen.arrivals) = (seen.queue + queue, seen.arrivals + 1);
    }

    /// A link drops a packet of a transfer, in the measurement: its number within that.
    pub(crate) fn drop(&mut self, source: u32, number: u64) {
        let group = self.group(source);
        let drops = &mut self.groups[group].statistics.sequence_drops;
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
    fn add(&mut self, packets: u64, on: Time, losses: &Losses, seen: Seen) {
        self.transfers += 1;
        self.packets += packets;
        self.on += u128::from(on.picoseconds());
        self.rates += packets as f64 / on.seconds();
        self.stalled += u128::from(losses.stalled.picoseconds());
        self.sent += packets + losses.retransmitted;
        self.retransmitted += losses.retransmitted;
        self.dropped += losses.dropped;
        self.timeouts += losses.timeouts;
        self.fast_retransmits += losses.fast_retransmits;
        self.recovered += losses.recovered;
        self.queue_seen += seen.queue;
        self.arrivals += seen.arrivals;
    }
}
