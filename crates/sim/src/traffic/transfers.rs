//! Web sources, which alternate between transfers and silences, and the statistics of their transfers, from what a
//! source itself knows.

use base::cast::to_u32;
use base::{prefetch, Clock, RandomStream, Time};
use net::Measurement;
use tcp::{Classic, ClassicConfig, Selective, Sender};

use super::laws::{Sizes, Times};
use crate::loss_log::Losses;
use crate::scenario::{FlowConfig, TrafficConfig};

/// Largest number of a packet within its transfer whose drops are counted apart; drops of later packets count here too.
const LAST_NUMBER: u64 = 9_999;

/// All web sources of a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Transfers {
    groups: Vec<Group>,
    sources: Vec<Source>,
    /// Entry of each source; empty until a packet's view of a queue is recorded.
    seen: Vec<Seen>,
}

/// Identical sources: one entry of the scenario.
#[derive(Clone, Debug)]
struct Group {
    /// Number of its first source.
    first: u32,
    clock: Clock,
    template: Sender,
    /// A sender between two transfers, and the memory of those that have ended.
    idle: Classic,
    #[expect(clippy::vec_box, reason = "a sender keeps its box: nothing is copied")]
    closed: Vec<Box<Selective>>,
    sizes: Sizes,
    off: Times,
    active: usize,
    since: Time,
    statistics: TransferStatistics,
}

/// A source; aligned so that it never spans two cache lines.
#[derive(Clone, Debug)]
#[repr(align(32))]
struct Source {
    random: RandomStream,
}

const _: () = assert!(size_of::<Source>() == 32);

/// The queue lengths that a transfer's packets found on arrival at links.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    /// Sum of the lengths.
    queue: u64,
    /// Number of arrivals.
    arrivals: u64,
}

/// The counters of a group of sources. Except for the totals, they are of the measurement: of transfers that end in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TransferStatistics {
    /// Index of the entry of the scenario.
    pub entry: usize,
    /// Transfers started over the whole run.
    pub started: u64,
    /// Transfers completed over the whole run.
    pub completed: u64,
    /// Transfers by size.
    pub classes: Vec<SizeClass>,
    /// Time and transfers by the number of active sources, from 0 on: the birth and death process.
    pub states: Vec<State>,
    /// Data packets dropped, by their number within their transfer, from 0 on; the last entry includes all later
    /// packets.
    pub sequence_drops: Vec<u64>,
}

/// The transfers of one size class.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeClass {
    /// Smallest size in the class \[packets\].
    pub from: u64,
    /// Largest size in the class \[packets\]; `None`: unbounded.
    pub to: Option<u64>,
    /// Number of transfers.
    pub transfers: u64,
    /// Sum of their sizes \[packets\].
    pub packets: u64,
    /// Sum of their durations, from the first packet sent to the last ACK \[ticks\].
    pub on: u128,
    /// Sum of their mean rates \[packets/s\].
    pub rates: f64,
    /// Time of that spent waiting for retransmission timeouts, since the packet sent last before each \[ticks\].
    pub stalled: u128,
    /// Sum of the times from their first packet sent to the last one.
    pub sending: u128,
    /// Data packets sent, including retransmissions.
    pub sent: u64,
    /// Retransmissions among them.
    pub retransmitted: u64,
    /// Data packets dropped.
    pub dropped: u64,
    /// Expired retransmission timers.
    pub timeouts: u64,
    /// Number of fast retransmits.
    pub fast_retransmits: u64,
    /// Retransmissions in fast recoveries that succeeded.
    pub recovered: u64,
    /// Retransmissions in fast recoveries that a timeout ended.
    pub failed: u64,
    /// Arrivals of their data packets at shared links; counted if the run records the queues' distributions.
    pub arrivals: u64,
    /// Sum of the packets that these arrivals found in the links.
    pub queue_seen: u64,
}

/// The time with a number of active sources, and the transfers that ended in it (each still counted as active).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct State {
    /// Time with that number of active sources.
    pub time: Time,
    /// Transfers that ended.
    pub transfers: u64,
    /// Sum of their sizes \[packets\].
    pub packets: u64,
    /// Sum of their durations \[ticks\].
    pub on: u128,
}

impl Transfers {
    /// Adds the sources of an entry, with their random streams; returns the number of its first source.
    pub(crate) fn add(
        &mut self,
        entry: usize,
        flow: &FlowConfig,
        clock: Clock,
        randoms: impl Iterator<Item = RandomStream>,
    ) -> u32 {
        let first = to_u32(self.sources.len());
        if let TrafficConfig::Web { size, off, classes, connection } = &flow.traffic {
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
                clock,
                template: Sender::new(&connection.sender, Some(0), clock),
                idle: Classic::new(&ClassicConfig::default(), Some(0), clock),
                closed: Vec::new(),
                sizes: Sizes::new(size),
                off: Times::new(*off, clock),
                active: 0,
                since: Time::ZERO,
                statistics,
            });
            self.sources.extend(randoms.map(|random| Source { random }));
        }
        first
    }

    /// Prefetches the state of a source, if it exists.
    #[inline(always)]
    pub(crate) fn prefetch(&self, source: u32) {
        if let Some(source) = self.sources.get(source as usize) {
            prefetch(source);
        }
    }

    /// Draws the silence before the next transfer.
    pub(crate) fn draw_silence(&mut self, source: u32) -> Time {
        let group = self.group(source);
        self.groups[group].off.draw(&mut self.sources[source as usize].random)
    }

    /// Returns the index of the entry of the scenario that a source is of.
    pub(crate) fn entry(&self, source: u32) -> usize {
        self.groups[self.group(source)].statistics.entry
    }

    /// Returns the index of a source's group.
    fn group(&self, source: u32) -> usize {
        self.groups.partition_point(|group| group.first <= source) - 1
    }

    /// Starts the next transfer of a sender.
    pub(crate) fn begin(&mut self, source: u32, now: Time, sender: &mut Sender, measurement: &Measurement) {
        if let Some(seen) = self.seen.get_mut(source as usize) {
            *seen = Seen::default();
        }
        let group = self.group(source);
        let (group, source) = (&mut self.groups[group], &mut self.sources[source as usize]);
        let size = group.sizes.draw(&mut source.random);
        group.spend_until(now, measurement);
        group.active += 1;
        group.statistics.started += 1;
        if group.statistics.states.len() == group.active {
            group.statistics.states.push(State::default());
        }
        *sender = group.template.open_at(sender.una(), size, now, group.closed.pop());
        // What a control draws leaves the sizes and silences of the source as they are.
        sender.set_random(|| source.random.branch("control"));
    }

    /// Ends a transfer, which is completely acknowledged; counts it with its losses. `span` is its start, when its last packet was
    /// sent, and now.
    pub(crate) fn end(
        &mut self,
        source: u32,
        span: [Time; 3],
        sender: &mut Sender,
        losses: &Losses,
        measurement: &Measurement,
    ) {
        let [begun, last_sent, now] = span;
        let seen = self.seen.get(source as usize).copied().unwrap_or_default();
        let group = self.group(source);
        let group = &mut self.groups[group];
        group.spend_until(now, measurement);
        let (packets, on) = (sender.una() - sender.first(), now - begun);
        group.statistics.completed += 1;
        if measurement.index(now) == 1 {
            let state = &mut group.statistics.states[group.active];
            state.transfers += 1;
            state.packets += packets;
            state.on += u128::from(on.ticks());
            let classes = &mut group.statistics.classes;
            let class = classes.partition_point(|class| class.to.is_some_and(|to| to < packets));
            classes[class].add(packets, on, losses, seen);
            classes[class].sending += u128::from((last_sent - begun).ticks());
            classes[class].rates += packets as f64 / group.clock.seconds(on);
        }
        group.active -= 1;
        group.closed.extend(sender.close(&group.idle));
    }

    /// Records that a packet of the current transfer arrives at a link that holds `queue` packets.
    pub(crate) fn record_queue_seen(&mut self, source: u32, queue: u64) {
        if self.seen.is_empty() {
            self.seen = vec![Seen::default(); self.sources.len()];
        }
        let seen = &mut self.seen[source as usize];
        (seen.queue, seen.arrivals) = (seen.queue + queue, seen.arrivals + 1);
    }

    /// Counts a drop, in the measurement, of the packet with this number within its transfer.
    pub(crate) fn drop(&mut self, source: u32, number: u64) {
        let group = self.group(source);
        let drops = &mut self.groups[group].statistics.sequence_drops;
        let number = number.min(LAST_NUMBER) as usize;
        if drops.len() <= number {
            drops.resize(number + 1, 0);
        }
        drops[number] += 1;
    }

    /// Returns the counters of all groups at the end of the run.
    pub(crate) fn finish(mut self, measurement: &Measurement) -> Vec<TransferStatistics> {
        for group in &mut self.groups {
            group.spend_until(measurement.end, measurement);
        }
        self.groups.into_iter().map(|group| group.statistics).collect()
    }
}

impl Group {
    /// Counts the time since the last change of the number of active sources.
    fn spend_until(&mut self, now: Time, measurement: &Measurement) {
        self.statistics.states[self.active].time += self.since.overlap(now, measurement.warmup, measurement.end);
        self.since = now;
    }
}

impl SizeClass {
    /// Counts a transfer.
    fn add(&mut self, packets: u64, on: Time, losses: &Losses, seen: Seen) {
        self.transfers += 1;
        self.packets += packets;
        self.on += u128::from(on.ticks());
        self.stalled += u128::from(losses.stalled.ticks());
        self.sent += packets + losses.retransmitted;
        self.retransmitted += losses.retransmitted;
        self.dropped += losses.dropped;
        self.timeouts += losses.timeouts;
        self.fast_retransmits += losses.fast_retransmits;
        self.recovered += losses.recovered;
        self.failed += losses.failed;
        self.queue_seen += seen.queue;
        self.arrivals += seen.arrivals;
    }
}
