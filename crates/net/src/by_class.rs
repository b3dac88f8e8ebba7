//! Counters of the classes of a link's queue.

use base::{Histogram, Time};

use crate::queue::{SchedulerConfig, Signal, Waiting};
use crate::statistics::{LinkStatistics, Measurement};

/// The counters of a class of packets, or of a group of flows, at a link, in the measured part.
#[derive(Clone, Debug, Default)]
pub struct ClassStatistics {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Packets that the queue marked instead of dropping them.
    pub marked: u64,
    /// Packets that arrived in the warm-up, of those that the queue dropped.
    pub dropped_of_warmup: u64,
    /// Packets that arrived in the warm-up, of those that the queue marked.
    pub marked_of_warmup: u64,
    /// Packets that were transmitted completely.
    pub sent: u64,
    /// Bytes of these packets.
    pub sent_bytes: u64,
    /// Waits, from a packet's arrival until its transmission begins, of the packets that arrived in the measured part.
    pub waits: Histogram,
}

/// The groups of flows that a link counts apart.
#[derive(Clone, Debug, Default)]
pub struct FlowGroups {
    /// The first flow of each run of flows, in rising order, and their group.
    runs: Vec<(u32, usize)>,
    groups: usize,
}

/// Rows of counters for the classes of a queue.
#[derive(Clone, Debug)]
pub(crate) struct ByClass {
    rows: Rows,
    each: Vec<ClassStatistics>,
}

/// The counters that a packet belongs to.
#[derive(Clone, Debug)]
enum Rows {
    /// Those of the scheduler's class.
    Classes,
    /// Those of the group of its flow.
    Flows(FlowGroups),
}

impl ClassStatistics {
    /// Returns the counters of a class that all packets of a link are of, given those of the link and their waits.
    pub(crate) fn of_all(link: &LinkStatistics, waits: &Histogram) -> ClassStatistics {
        ClassStatistics {
            arrived: link.arrived[1],
            dropped: link.dropped[1],
            marked: link.marked[1],
            dropped_of_warmup: link.dropped_of_warmup,
            marked_of_warmup: link.marked_of_warmup,
            sent: link.departed[1],
            sent_bytes: link.departed_bytes[1],
            waits: waits.clone(),
        }
    }
}

impl FlowGroups {
    /// Returns groups: the first flow of each run of flows, in rising order from flow 0 on, with the run's group.
    pub fn new(runs: Vec<(u32, usize)>) -> FlowGroups {
        let groups = runs.iter().map(|&(_, group)| group + 1).max().unwrap_or(0);
        FlowGroups { runs, groups }
    }

    #[inline(always)]
    fn of(&self, flow: u32) -> usize {
        let next = self.runs.partition_point(|&(first, _)| first <= flow);
        self.runs.get(next.wrapping_sub(1)).map_or(0, |&(_, group)| group)
    }
}

impl ByClass {
    /// Returns empty counters for a scheduler: of its classes where they have a meaning, or of groups of flows where it
    /// gives flows queues of their own; `None` where it has but one class.
    pub(crate) fn new(scheduler: &SchedulerConfig, flows: FlowGroups) -> Option<ByClass> {
        let (rows, count) = match scheduler.kinds_of_packets() {
            Some(1) => return None,
            Some(classes) => (Rows::Classes, classes),
            None => {
                let groups = flows.groups;
                (Rows::Flows(flows), groups)
            }
        };
        (count > 0).then(|| ByClass { rows, each: vec![ClassStatistics::default(); count] })
    }

    /// Returns the counters, row by row.
    pub(crate) fn each(&self) -> &[ClassStatistics] {
        &self.each
    }

    #[inline(always)]
    fn of(&mut self, class: usize, flow: u32) -> &mut ClassStatistics {
        let row = match &self.rows {
            Rows::Classes => class,
            Rows::Flows(groups) => groups.of(flow),
        };
        let last = self.each.len() - 1;
        &mut self.each[row.min(last)]
    }

    /// Counts a packet that is enqueued, or dropped on its arrival.
    pub(crate) fn arrive(&mut self, class: usize, flow: u32, now: Time, measurement: &Measurement) {
        self.of(class, flow).arrived += measurement.index(now) as u64;
    }

    /// Counts a packet that the queue marks or drops.
    pub(crate) fn signal(
        &mut self,
        signal: Signal,
        class: usize,
        waiting: &Waiting,
        now: Time,
        measurement: &Measurement,
    ) {
        let counts = self.of(class, waiting.packet.flow);
        let (count, of_warmup) = match signal {
            Signal::Marked { .. } => (&mut counts.marked, &mut counts.marked_of_warmup),
            Signal::Dropped(_) => (&mut counts.dropped, &mut counts.dropped_of_warmup),
        };
        *count += measurement.index(now) as u64;
        *of_warmup += measurement.carried_over(waiting.since, now);
    }

    /// Counts a packet whose transmission begins now and ends at `departure`.
    #[inline(always)]
    pub(crate) fn send(
        &mut self,
        class: usize,
        waiting: &Waiting,
        now: Time,
        departure: Time,
        measurement: &Measurement,
    ) {
        let counts = self.of(class, waiting.packet.flow);
        if departure >= measurement.warmup && departure <= measurement.end {
            counts.sent += 1;
            counts.sent_bytes += u64::from(waiting.packet.bytes);
        }
        if waiting.since >= measurement.warmup {
            counts.waits.record(now - waiting.since);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_of_the_group_of_the_run_that_it_lies_in() {
        let groups = FlowGroups::new(vec![(0, 0), (1, 1), (1, 2), (5, 0)]);
        let found: Vec<usize> = [0, 1, 4, 5, 900].into_iter().map(|flow| groups.of(flow)).collect();
        assert_eq!(found, [0, 2, 2, 0, 0], "a run without flows has none");
        assert_eq!(groups.groups, 3);
    }
}
