//! Pings: packets at equal intervals, which the far end sends back, and the round trips of their echoes.

use base::cast::to_u32;
use base::{Clock, Histogram, Time};
use net::Measurement;

use crate::scenario::{Scenario, TrafficConfig};

/// The counters of the pings of one entry of the scenario. Pairs are of pings sent in the warm-up and in the
/// measurement. Each ping sent is answered, lost, or still in flight at the end of the run.
#[derive(Clone, Debug, Default)]
pub struct PingStatistics {
    /// Index of the entry of the scenario.
    pub entry: usize,
    /// Echo requests sent.
    pub sent: [u64; 2],
    /// Echoes that came back.
    pub answered: [u64; 2],
    /// Requests and echoes that were dropped by a queue or lost on a link.
    pub lost: [u64; 2],
    /// Round trips, in the measurement.
    pub round_trips: Histogram,
    /// Sum of these round trips \[ticks\].
    pub sum: u128,
    /// Sum of their squares \[s²\].
    pub squares: f64,
    /// The shortest of them; [`Time::NEVER`] without any.
    pub shortest: Time,
}

/// The pings of all entries of the scenario that ping.
#[derive(Clone, Debug)]
pub(crate) struct Pings {
    groups: Vec<Group>,
    clock: Clock,
}

#[derive(Clone, Debug)]
struct Group {
    /// Index of its first flow.
    first_flow: u32,
    /// Index behind its last flow.
    end_flow: u32,
    statistics: PingStatistics,
}

impl Pings {
    /// Returns the counters of a scenario before its run.
    pub(crate) fn new(scenario: &Scenario, clock: Clock) -> Pings {
        let mut end_flow = 0;
        let groups = scenario.flows.iter().enumerate().filter_map(|(entry, flow)| {
            let first_flow = end_flow;
            end_flow += to_u32(flow.count);
            let statistics = PingStatistics { entry, shortest: Time::NEVER, ..PingStatistics::default() };
            matches!(flow.traffic, TrafficConfig::Ping { .. }).then_some(Group { first_flow, end_flow, statistics })
        });
        Pings { groups: groups.collect(), clock }
    }

    /// Returns the counters of a flow; `None` if it does not ping.
    fn of(&mut self, flow: u32) -> Option<&mut PingStatistics> {
        let group = self.groups.partition_point(|group| group.end_flow <= flow);
        self.groups.get_mut(group).filter(|group| group.first_flow <= flow).map(|group| &mut group.statistics)
    }

    /// Counts a request that a flow sends, if the flow pings.
    pub(crate) fn count_sent(&mut self, flow: u32, now: Time, measurement: &Measurement) {
        if let Some(pings) = self.of(flow) {
            pings.sent[measurement.index(now)] += 1;
        }
    }

    /// Counts a request or an echo that is dropped or lost, if the flow pings.
    pub(crate) fn count_lost(&mut self, flow: u32, sent: Time, measurement: &Measurement) {
        if let Some(pings) = self.of(flow) {
            pings.lost[measurement.index(sent)] += 1;
        }
    }

    /// Counts an echo that comes back.
    pub(crate) fn count_answered(&mut self, flow: u32, sent: Time, now: Time, measurement: &Measurement) {
        let (clock, index) = (self.clock, measurement.index(sent));
        let Some(pings) = self.of(flow) else { return };
        pings.answered[index] += 1;
        if index == 1 {
            let round_trip = now - sent;
            pings.round_trips.record(round_trip);
            pings.sum += u128::from(round_trip.ticks());
            pings.squares += clock.seconds(round_trip) * clock.seconds(round_trip);
            pings.shortest = pings.shortest.min(round_trip);
        }
    }

    /// Returns the counters of all entries.
    pub(crate) fn finish(&mut self) -> Vec<PingStatistics> {
        self.groups.drain(..).map(|group| group.statistics).collect()
    }
}
