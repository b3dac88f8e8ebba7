//! The rows that a run records on request. Observers only look: a run is the same bit for bit with and without them.

mod aqm;
mod columns;
mod drop_counter;
mod losses;
mod rates;
mod rounds;
mod rows;
mod states;

use std::collections::BTreeMap;

use base::cast::{to_index, to_u32};
use base::{Clock, Packet, Steps, Thinner, Time};
use net::Measurement;
use tcp::{SackLog, Segment, Selective, Sender};

use aqm::LastStates;
use drop_counter::DropCounter;
use rates::{mean_rates, rate_rows};
use rounds::RoundFollower;
pub use rows::{
    AqmRow, CaptureRow, CwndRow, DelayRow, DropRow, LossRow, OverviewKind, OverviewRow, QueueDistributionRow, QueueRow,
    RateRow, RepairRow, RoundRow, RttRow, SequenceKind, SequenceRow, StateRow, Traces,
};
use states::StateFollower;

use crate::capture_size::{self, duplex};
use crate::pipes::delay_process;
use crate::scenario::{Scenario, TraceConfig};

/// The queue length of one link over time.
#[derive(Clone, Debug, Default)]
struct QueueFollower {
    since: Time,
    packets: u64,
    time_at: Vec<Time>,
    arrivals_at: Vec<u64>,
    thinner: Thinner,
    drops: DropCounter,
}

/// The observers of a run.
#[derive(Clone, Debug)]
pub(crate) struct Observers {
    traces: Traces,
    clock: Clock,
    measurement: Measurement,
    steps: Steps,
    followers: Vec<QueueFollower>,
    windows: Vec<Thinner>,
    /// Thinned sequence numbers of ACKs, by flow; empty unless the overview has them.
    acked: Vec<Thinner>,
    /// Thinned round trips of pings, by flow.
    pings: BTreeMap<u32, Thinner>,
    rounds: Vec<RoundFollower>,
    states: Vec<StateFollower>,
    aqm_states: LastStates,
    captured: Vec<bool>,
    captured_bytes: u64,
}

/// Returns the changes of all delays by time. They do not depend on the run.
fn delay_rows(scenario: &Scenario, replication: u64, end: Time, clock: Clock) -> Vec<DelayRow> {
    let mut rows = Vec::new();
    for (index, element) in scenario.elements.iter().enumerate() {
        let Some(config) = element.delay_process() else { continue };
        let mut process = delay_process(config, scenario.run.seed, replication, clock);
        let constant = clock.time(element.delay_s());
        let mut time = Time::ZERO;
        while time <= end {
            rows.push(DelayRow { link: to_u32(index), time, delay: constant + process.at(time) });
            time = process.until();
        }
    }
    rows.sort_by_key(|row| row.time);
    rows
}

/// Returns the intervals of the overview: the magnified part at the end has as many of them as the whole run.
pub(crate) fn overview_steps(scenario: &Scenario, clock: Clock) -> Steps {
    let (run, asked) = (&scenario.run, &scenario.trace);
    let step = |seconds: f64| clock.time(seconds).max(Time::TICK);
    let interval_s = asked.overview_interval_s.unwrap_or(0.0);
    let coarse = step(interval_s);
    match asked.overview_detail_s {
        None => Steps::even(coarse),
        Some(detail_s) => Steps {
            coarse,
            fine: step(interval_s * (detail_s / run.duration_s).min(1.0)),
            fine_from: clock.time((run.duration_s - detail_s).max(0.0)),
        },
    }
}

/// Returns whether a scenario records queues.
fn records_queues(asked: &TraceConfig) -> bool {
    asked.queue || asked.queue_distribution || asked.overview_interval_s.is_some()
}

/// Returns whether a scenario records anything at links: queues, drops, captures, states of AQMs.
pub(crate) fn records_links(asked: &TraceConfig) -> bool {
    records_queues(asked) || asked.drops || asked.aqm || asked.capture.is_some()
}

fn wanted<T>(wanted: bool) -> Option<Vec<T>> {
    wanted.then(Vec::new)
}

/// Returns the empty tables of the rows that a scenario asks for.
fn empty_traces(scenario: &Scenario, replication: u64, end: Time, clock: Clock) -> Traces {
    let asked = &scenario.trace;
    Traces {
        cwnd: wanted(asked.cwnd),
        rtt: wanted(asked.rtt),
        sequence: wanted(asked.sequence),
        queue: wanted(asked.queue),
        queue_distribution: wanted(asked.queue_distribution),
        drops: wanted(asked.drops),
        losses: wanted(asked.losses),
        recovery: wanted(asked.recovery),
        rounds: wanted(asked.rounds),
        state: wanted(asked.state),
        aqm: wanted(asked.aqm),
        overview: asked.overview_interval_s.is_some().then(|| mean_rates(scenario, replication, end, clock)),
        rate: asked.rate.then(|| rate_rows(scenario, replication, end, clock)),
        delay: asked.delay.then(|| delay_rows(scenario, replication, end, clock)),
        capture: wanted(asked.capture.is_some()),
        sack_logs: BTreeMap::new(),
        atm: None,
    }
}

impl Observers {
    /// Returns the observers that a scenario asks for; `None` if it asks for nothing.
    pub(crate) fn new(
        scenario: &Scenario,
        replication: u64,
        measurement: Measurement,
        clock: Clock,
    ) -> Option<Box<Observers>> {
        let asked = &scenario.trace;
        let captured = asked.capture.as_ref().map_or(Vec::new(), |names| {
            scenario.elements.iter().map(|one| names.iter().any(|name| duplex(name) == duplex(one.name()))).collect()
        });
        let follows = records_queues(asked);
        let atm = scenario.atm.as_ref().is_some_and(|atm| atm.trace != atm::TraceConfig::default());
        let rows = asked.cwnd || asked.rtt || asked.sequence || asked.drops || asked.losses;
        let rows =
            rows || asked.recovery || asked.rounds || asked.state || asked.aqm || asked.delay || asked.rate || atm;
        let thinners = || vec![Thinner::default(); scenario.flow_count()];
        let magnifies = asked.overview_interval_s.and(asked.overview_detail_s).is_some();
        (follows || rows || asked.capture.is_some()).then(|| {
            Box::new(Observers {
                traces: empty_traces(scenario, replication, measurement.end, clock),
                clock,
                measurement,
                steps: overview_steps(scenario, clock),
                followers: if follows { vec![QueueFollower::default(); scenario.elements.len()] } else { Vec::new() },
                windows: thinners(),
                acked: if magnifies { thinners() } else { Vec::new() },
                pings: BTreeMap::new(),
                rounds: if asked.rounds { vec![RoundFollower::default(); scenario.flow_count()] } else { Vec::new() },
                states: if asked.state { vec![StateFollower::default(); scenario.flow_count()] } else { Vec::new() },
                aqm_states: LastStates::new(),
                captured,
                captured_bytes: 0,
            })
        })
    }

    /// Returns whether queue lengths are followed.
    #[inline]
    pub(crate) fn follows_queues(&self) -> bool {
        !self.followers.is_empty()
    }

    /// Returns whether the states of senders are recorded.
    pub(crate) fn follows_states(&self) -> bool {
        !self.states.is_empty()
    }

    /// Records a change of cwnd.
    pub(crate) fn cwnd(&mut self, flow: u32, time: Time, sender: &Sender) {
        if let Some(rows) = &mut self.traces.cwnd {
            rows.push(CwndRow {
                flow,
                time,
                cwnd: sender.cwnd(),
                ssthresh: sender.ssthresh(),
                flight_size: sender.flight_size(),
                rto: sender.rto(),
            });
        }
        if let Some(rows) = &mut self.traces.overview {
            let emit = |time, value| rows.push(OverviewRow { kind: OverviewKind::Cwnd, index: flow, time, value });
            self.windows[flow as usize].observe(time, sender.cwnd(), &self.steps, emit);
        }
    }

    /// Records what happened to a sender with selective acknowledgment.
    #[inline(never)]
    pub(crate) fn state(&mut self, flow: u32, time: Time, sender: &mut Selective) {
        if let (Some(rows), Some(follower)) = (&mut self.traces.state, self.states.get_mut(flow as usize)) {
            follower.observe(flow, time, sender, rows);
        }
    }

    /// Records an ACK before the sender, whose window is `cwnd`, processes it.
    pub(crate) fn ack(&mut self, flow: u32, time: Time, next: u64, rtt: Option<Time>, cwnd: f64) {
        if let (Some(rows), Some(follower)) = (&mut self.traces.rounds, self.rounds.get_mut(flow as usize)) {
            if let Some(rtt) = follower.acknowledged(time, next) {
                rows.push(RoundRow { flow, time, rtt, window: cwnd });
            }
        }
        if let Some(rows) = &mut self.traces.sequence {
            rows.push(SequenceRow { flow, time, kind: SequenceKind::Acked, sequence: next });
        }
        if let (Some(rows), Some(thinner)) = (&mut self.traces.overview, self.acked.get_mut(flow as usize)) {
            let emit = |time, value| rows.push(OverviewRow { kind: OverviewKind::Acked, index: flow, time, value });
            thinner.observe(time, next as f64, &self.steps, emit);
        }
        if let (Some(rows), Some(rtt)) = (&mut self.traces.rtt, rtt) {
            rows.push(RttRow { flow, time, rtt });
        }
    }

    /// Records the round trip of a ping.
    pub(crate) fn echo(&mut self, flow: u32, time: Time, rtt: Time) {
        if let Some(rows) = &mut self.traces.rtt {
            rows.push(RttRow { flow, time, rtt });
        }
        if let Some(rows) = &mut self.traces.overview {
            let emit = |time, value| rows.push(OverviewRow { kind: OverviewKind::Ping, index: flow, time, value });
            self.pings.entry(flow).or_default().observe(time, self.clock.seconds(rtt), &self.steps, emit);
        }
    }

    /// Records a sent data packet.
    pub(crate) fn sent(&mut self, flow: u32, time: Time, segment: &Segment) {
        if let Some(rows) = &mut self.traces.sequence {
            let kind = if segment.retransmission { SequenceKind::Retransmitted } else { SequenceKind::Sent };
            rows.push(SequenceRow { flow, time, kind, sequence: segment.sequence });
        }
        if let Some(follower) = self.rounds.get_mut(flow as usize) {
            follower.sent(time, segment.sequence);
        }
    }

    /// Records a packet that a queue dropped, or that was `lost` before the queue.
    pub(crate) fn dropped(&mut self, time: Time, link: u32, packet: &Packet, lost: bool) {
        if let Some(rows) = &mut self.traces.drops {
            rows.push(DropRow { time, link, packet: *packet, lost });
        }
        if let (Some(rows), Some(follower)) = (&mut self.traces.overview, self.followers.get_mut(link as usize)) {
            let emit = |time, value| rows.push(OverviewRow { kind: OverviewKind::Drops, index: link, time, value });
            follower.drops.observe(time, self.steps.coarse, emit);
        }
    }

    /// Returns the memory that the recorded rows take so far \[bytes\], those of the ATM network apart.
    pub(crate) fn trace_bytes(&self) -> u64 {
        self.traces.bytes()
    }

    /// Returns why the run must stop before its end, if it must.
    pub(crate) fn failure(&self, now: Time) -> Option<String> {
        let too_large = self.captured_bytes > capture_size::MOST_BYTES;
        too_large.then(|| capture_size::too_large(self.captured_bytes, self.clock.seconds(now)))
    }

    /// Records the departure of a packet's last bit from a link.
    pub(crate) fn left(&mut self, time: Time, link: u32, packet: &Packet) {
        if time <= self.measurement.end && self.captured.get(link as usize) == Some(&true) {
            if let Some(rows) = &mut self.traces.capture {
                rows.push(CaptureRow { time, link, packet: *packet });
                // At least: the options are known at the end of the run.
                self.captured_bytes += capture_size::block_bytes(packet, 0);
            }
        }
    }

    /// Records an arrival, whether the packet is then dropped or not; returns the number of packets that it finds in
    /// the link, if the queues' distributions are recorded.
    pub(crate) fn arrival(&mut self, link: u32, time: Time) -> Option<u64> {
        let follower = self.followers.get_mut(link as usize)?;
        if time >= self.measurement.warmup {
            grow_to(&mut follower.arrivals_at, follower.packets);
            follower.arrivals_at[to_index(follower.packets)] += 1;
        }
        self.traces.queue_distribution.as_ref().map(|_| follower.packets)
    }

    /// Records that a link holds `packets` packets from `time` on.
    pub(crate) fn queue(&mut self, link: u32, time: Time, packets: u64) {
        let Some(follower) = self.followers.get_mut(link as usize) else { return };
        if time > self.measurement.end || packets == follower.packets {
            return;
        }
        follower.spend_until(time, &self.measurement);
        follower.packets = packets;
        if let Some(rows) = &mut self.traces.queue {
            rows.push(QueueRow { link, time, packets });
        }
        if let Some(rows) = &mut self.traces.overview {
            let emit = |time, value| rows.push(OverviewRow { kind: OverviewKind::Queue, index: link, time, value });
            follower.thinner.observe(time, packets as f64, &self.steps, emit);
        }
    }

    /// Records a point of the ATM network's overview.
    pub(crate) fn overview_row(&mut self, kind: OverviewKind, index: u32, time: Time, value: f64) {
        if let Some(rows) = &mut self.traces.overview {
            rows.push(OverviewRow { kind, index, time, value });
        }
    }

    /// Returns the rows at the end of the run.
    pub(crate) fn finish(mut self, atm: Option<atm::Traces>, sack_logs: BTreeMap<u32, SackLog>) -> Traces {
        (self.traces.atm, self.traces.sack_logs) = (atm, sack_logs);
        self.flush_thinners();
        if let Some(rows) = &mut self.traces.queue_distribution {
            for (link, follower) in self.followers.iter_mut().enumerate() {
                follower.spend_until(self.measurement.end, &self.measurement);
                rows.extend(follower.distribution(to_u32(link)));
            }
        }
        // Some senders, and links whose departures are known on arrival, report ahead of the clock; each in its own
        // order.
        let Traces { cwnd, rtt, sequence, rounds, state, losses, recovery, queue, drops, overview, capture, .. } =
            &mut self.traces;
        sort(cwnd, |row| row.time);
        sort(rtt, |row| row.time);
        sort(sequence, |row| row.time);
        sort(rounds, |row| row.time);
        sort(state, |row| row.time);
        sort(losses, |row| row.time);
        sort(recovery, |row| row.time);
        sort(queue, |row| row.time);
        sort(drops, |row| row.time);
        sort(overview, |row| row.time);
        sort(capture, |row| row.time);
        self.traces
    }

    fn flush_thinners(&mut self) {
        let Some(rows) = &mut self.traces.overview else { return };
        let row = |kind, index: usize, time, value| OverviewRow { kind, index: to_u32(index), time, value };
        for (flow, thinner) in self.windows.iter_mut().enumerate() {
            thinner.flush(|time, value| rows.push(row(OverviewKind::Cwnd, flow, time, value)));
        }
        for (flow, thinner) in self.acked.iter_mut().enumerate() {
            thinner.flush(|time, value| rows.push(row(OverviewKind::Acked, flow, time, value)));
        }
        for (flow, thinner) in &mut self.pings {
            thinner.flush(|time, value| rows.push(row(OverviewKind::Ping, *flow as usize, time, value)));
        }
        for (link, follower) in self.followers.iter_mut().enumerate() {
            follower.thinner.flush(|time, value| rows.push(row(OverviewKind::Queue, link, time, value)));
            follower.drops.flush(|time, value| rows.push(row(OverviewKind::Drops, link, time, value)));
        }
    }
}

impl QueueFollower {
    fn spend_until(&mut self, time: Time, measurement: &Measurement) {
        grow_to(&mut self.time_at, self.packets);
        self.time_at[to_index(self.packets)] += self.since.overlap(time, measurement.warmup, measurement.end);
        self.since = time;
    }

    fn distribution(&self, link: u32) -> impl Iterator<Item = QueueDistributionRow> + '_ {
        let lengths = self.time_at.len().max(self.arrivals_at.len());
        (0..lengths).map(move |packets| QueueDistributionRow {
            link,
            packets: packets as u64,
            time: self.time_at.get(packets).copied().unwrap_or_default(),
            arrivals: self.arrivals_at.get(packets).copied().unwrap_or_default(),
        })
    }
}

/// Sorts rows by time; rows with equal times stay in their order.
fn sort<Row>(rows: &mut Option<Vec<Row>>, time: fn(&Row) -> Time) {
    if let Some(rows) = rows {
        rows.sort_by_key(time);
    }
}

fn grow_to<T: Clone + Default>(values: &mut Vec<T>, index: u64) {
    let length = to_index(index) + 1;
    if values.len() < length {
        values.resize(length, T::default());
    }
}
