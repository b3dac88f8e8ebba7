//! Completion times of transfers: from the first packet sent to the last one delivered, and to the last ACK.

use base::cast::to_u32;
use base::{Clock, Histogram, Time};

use crate::empty_path::EmptyPath;
use crate::scenario::{ElementConfig, FlowConfig, Scenario, TrafficConfig};

/// A finished transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transfer {
    pub(crate) packets: u64,
    /// Instant at which its first packet was sent.
    pub(crate) opened: Time,
    /// Instant at which its last packet was delivered in order.
    pub(crate) delivered: Time,
    /// Instant of its last ACK.
    pub(crate) acked: Time,
}

/// The durations of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Completion {
    /// Flow completion time: from the first packet sent to the last one delivered.
    pub(crate) delivered: Time,
    /// Time from the first packet sent to the last ACK.
    pub(crate) acked: Time,
    /// Flow completion time relative to the least that the empty path allows; not a number on a path without delay, and
    /// over an ATM channel.
    pub(crate) slowdown: f64,
}

/// The distributions of the finished transfers of one entry of the scenario: of a flow with a size, those of the whole
/// run; of a web source, those that end in the measurement.
#[derive(Clone, Debug, Default)]
pub struct CompletionStatistics {
    /// Index of the entry of the scenario.
    pub entry: usize,
    /// Flow completion times: from the first packet sent to the last one delivered.
    pub delivered: Histogram,
    /// Times from the first packet sent to the last ACK.
    pub acked: Histogram,
    /// Slowdowns; 1 is a second of [`CompletionStatistics::SLOWDOWNS`].
    pub slowdown: Histogram,
}

impl CompletionStatistics {
    /// The clock on which a slowdown of 1 is a second, whatever the run's own: 10^12 / 2^10 ticks, so that slowdowns up
    /// to 1.8 10^10 have a bucket, each within the width that the histogram has for a duration.
    pub const SLOWDOWNS: Clock = Clock::new(976_562_500);
}

/// The completion times of all entries of the scenario that transfer something.
#[derive(Clone, Debug)]
pub(crate) struct Completions {
    groups: Vec<Group>,
}

#[derive(Clone, Debug)]
struct Group {
    /// Index of its first flow.
    first_flow: u32,
    path: EmptyPath,
    /// Least time of a transfer whose last packet has a length of its own.
    least: Option<Time>,
    statistics: CompletionStatistics,
}

fn crosses_channel(flow: &FlowConfig, elements: &[ElementConfig]) -> bool {
    flow.path.iter().any(|&index| matches!(elements[index], ElementConfig::Channel(_)))
}

/// Returns the least time of a flow's only transfer, if its last packet has a length of its own.
fn least_time(flow: &FlowConfig, elements: &[ElementConfig], clock: Clock) -> Option<Time> {
    let last = (flow.size_packets()?, flow.connection()?.last_packet_bytes()?);
    (!crosses_channel(flow, elements)).then(|| EmptyPath::time_with_last(flow, elements, clock, last))
}

/// Returns the empty path of a flow's data; one without delay if it crosses an ATM channel, which has no least time.
fn least_path(flow: &FlowConfig, elements: &[ElementConfig], clock: Clock) -> EmptyPath {
    if crosses_channel(flow, elements) {
        EmptyPath::default()
    } else {
        EmptyPath::of_data(flow, elements, clock)
    }
}

impl Completions {
    /// Returns the counters of a scenario before its run.
    pub(crate) fn new(scenario: &Scenario, clock: Clock) -> Completions {
        let mut next_flow = 0;
        let groups = scenario.flows.iter().enumerate().filter_map(|(entry, flow)| {
            let first_flow = next_flow;
            next_flow += to_u32(flow.count);
            let ends = flow.size_packets().is_some() || matches!(flow.traffic, TrafficConfig::Web { .. });
            let statistics = CompletionStatistics { entry, ..CompletionStatistics::default() };
            ends.then(|| Group {
                first_flow,
                path: least_path(flow, &scenario.elements, clock),
                least: least_time(flow, &scenario.elements, clock),
                statistics,
            })
        });
        Completions { groups: groups.collect() }
    }

    /// Counts a finished transfer of a flow that has transfers; returns its durations.
    pub(crate) fn record(&mut self, flow: u32, transfer: &Transfer) -> Completion {
        let group = self.groups.partition_point(|group| group.first_flow <= flow) - 1;
        let Group { path, least, statistics, .. } = &mut self.groups[group];
        let (delivered, acked) = (transfer.delivered - transfer.opened, transfer.acked - transfer.opened);
        statistics.delivered.record(delivered);
        statistics.acked.record(acked);
        let least = least.unwrap_or_else(|| path.time_of(transfer.packets));
        if least == Time::ZERO {
            return Completion { delivered, acked, slowdown: f64::NAN };
        }
        let slowdown = delivered.ticks() as f64 / least.ticks() as f64;
        statistics.slowdown.record(CompletionStatistics::SLOWDOWNS.time(slowdown));
        Completion { delivered, acked, slowdown }
    }

    /// Returns the counters of all entries.
    pub(crate) fn finish(&mut self) -> Vec<CompletionStatistics> {
        self.groups.drain(..).map(|group| group.statistics).collect()
    }
}
