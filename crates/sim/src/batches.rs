//! Batches of the measured part: what each flow and link does in each, for intervals by batch means.

use base::cast::to_index;
use base::Time;
use net::{batch_end, LinkSample, Measurement, BATCHES};

use crate::column::Column::{self, Seconds, F64};
use crate::statistics::FlowStatistics;

/// Most flows, and most links, whose batches are counted.
const MOST_ROWS: usize = 4000;

/// The counters of a flow, or sums of a group, from the end of the warm-up to an instant; or in one batch.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowBatch {
    /// Data packets put on the wire.
    pub sent: f64,
    /// Data packets that reached the receiver.
    pub received: f64,
    /// Packets delivered in order to the application.
    pub delivered: f64,
    /// Retransmissions among the packets sent.
    pub retransmitted: f64,
    /// Data packets that a queue dropped, or a link lost.
    pub gone: f64,
    /// Expired retransmission timers.
    pub timeouts: f64,
    /// Number of fast retransmits.
    pub fast_retransmits: f64,
    /// Sum of the round trips of the ACKs of new data \[ticks\].
    pub rtt_sum: f64,
    /// Number of these round trips.
    pub rtt_samples: f64,
    /// Integral of cwnd \[packets times ticks\].
    pub cwnd_area: f64,
}

/// The counters of a link in one batch; NaN where they are not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkBatch {
    /// Packets that arrived, those that were lost before the queue included.
    pub arrived: f64,
    /// Packets that the queue dropped.
    pub dropped: f64,
    /// Packets that were lost before the queue.
    pub lost: f64,
    /// Bytes of the packets that were transmitted completely.
    pub departed_bytes: f64,
    /// Time spent transmitting \[ticks\].
    pub busy: f64,
    /// Integral of the number of packets in the link \[packets times ticks\].
    pub queue_area: f64,
}

/// The batches of a replication, those of one flow or link in a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Batches {
    /// Batches of the flows' accounts.
    pub flows: Vec<FlowBatch>,
    /// Batches of the links.
    pub links: Vec<LinkBatch>,
}

impl Batches {
    /// The columns of the flows' table.
    pub const FLOW_COLUMNS: &'static [Column<FlowBatch>] = &[
        F64("sent_packets", |batch| batch.sent),
        F64("received_packets", |batch| batch.received),
        F64("delivered_packets", |batch| batch.delivered),
        F64("retransmitted_packets", |batch| batch.retransmitted),
        F64("gone_packets", |batch| batch.gone),
        F64("timeouts", |batch| batch.timeouts),
        F64("fast_retransmits", |batch| batch.fast_retransmits),
        Seconds("rtt_sum_s", |batch| batch.rtt_sum),
        F64("rtt_samples", |batch| batch.rtt_samples),
        Seconds("cwnd_area", |batch| batch.cwnd_area),
    ];
    /// The columns of the links' table.
    pub const LINK_COLUMNS: &'static [Column<LinkBatch>] = &[
        F64("arrived_packets", |batch| batch.arrived),
        F64("dropped_packets", |batch| batch.dropped),
        F64("lost_packets", |batch| batch.lost),
        F64("departed_bytes", |batch| batch.departed_bytes),
        Seconds("busy_s", |batch| batch.busy),
        Seconds("queue_area_packet_s", |batch| batch.queue_area),
    ];
}

/// The state of counting batches while a replication runs.
///
/// Receivers and links run far ahead of the clock. So each is sampled in its own order, when the first packet arrives
/// there after the end of a batch. All else is sampled when the clock comes to the end of a batch;
/// of that, at most a round trip behind private links is ahead of the clock.
#[derive(Debug)]
pub(crate) struct BatchCounter {
    measurement: Measurement,
    /// Number of the current batch, from 1 on.
    current: u64,
    /// Counters at each batch end, of each account in turn.
    flows: Vec<FlowBatch>,
    /// Packets received and delivered by each account at each batch end so far.
    received: Vec<Vec<[u64; 2]>>,
    /// Counters at each batch end, of each queue whose departures are events in turn.
    pub(crate) queues: Vec<LinkSample>,
    /// Packets lost at each batch end, before each link that loses packets in turn.
    pub(crate) lost: Vec<u64>,
}

impl BatchCounter {
    /// Returns the state before a run; `None` if there are too many flows or links.
    pub(crate) fn new(accounts: usize, links: usize, measurement: Measurement) -> Option<Box<BatchCounter>> {
        let state = BatchCounter {
            measurement,
            current: 1,
            flows: Vec::new(),
            received: vec![Vec::new(); accounts],
            queues: Vec::new(),
            lost: Vec::new(),
        };
        (accounts.max(links) <= MOST_ROWS).then(|| Box::new(state))
    }

    /// Returns the end of the current batch; [`Time::NEVER`] for the last one, which ends with the run.
    pub(crate) fn end(&self) -> Time {
        self.end_of(self.current)
    }

    fn end_of(&self, batch: u64) -> Time {
        if batch < BATCHES {
            batch_end(batch, &self.measurement)
        } else {
            Time::NEVER
        }
    }

    /// Ends the batches of an account's receivers that end at `now` or before, before a packet is counted that arrives
    /// then. Receivers of a group may be in different batches for a moment; the first one ends the batch of all.
    pub(crate) fn end_received(&mut self, account: u32, flow: &FlowStatistics, now: Time) {
        let mut batch = self.received[account as usize].len() as u64 + 1;
        while batch < BATCHES && now >= self.end_of(batch) {
            self.received[account as usize].push([flow.received[1], flow.delivered[1]]);
            batch += 1;
        }
    }

    /// Ends a batch when the clock comes to its end; `areas` has the integral of cwnd of each account.
    pub(crate) fn end_batch(&mut self, accounts: &[FlowStatistics], areas: &[f64]) {
        for (flow, &cwnd_area) in accounts.iter().zip(areas) {
            self.flows.push(FlowBatch {
                sent: flow.sent[1] as f64,
                received: 0.0,
                delivered: 0.0,
                retransmitted: flow.retransmitted[1] as f64,
                gone: (flow.dropped[1] + flow.lost[1]) as f64,
                timeouts: flow.timeouts[1] as f64,
                fast_retransmits: flow.fast_retransmits[1] as f64,
                rtt_sum: flow.rtt_sum as f64,
                rtt_samples: flow.rtt_samples as f64,
                cwnd_area,
            });
        }
        let end = self.end();
        for (account, flow) in (0_u32..).zip(accounts) {
            // Where nothing arrives after the end of the batch, it ends by the clock.
            self.end_received(account, flow, end);
        }
        self.current += 1;
    }

    /// Ends the last batch with the run, and returns what each flow did in each batch, those of one flow in a row.
    pub(crate) fn finish(mut self, accounts: &[FlowStatistics]) -> Vec<FlowBatch> {
        let areas: Vec<f64> = accounts.iter().map(|flow| flow.cwnd_area).collect();
        self.end_batch(accounts, &areas);
        let rows = accounts.len();
        for (account, flow) in (0_u32..).zip(accounts) {
            let last = [flow.received[1], flow.delivered[1]];
            let samples = self.received[account as usize].iter().chain(std::iter::once(&last));
            for (sample, &[received, delivered]) in
                self.flows.iter_mut().skip(account as usize).step_by(rows).zip(samples)
            {
                (sample.received, sample.delivered) = (received as f64, delivered as f64);
            }
        }
        by_row(&self.flows, rows, FlowBatch::default(), FlowBatch::since)
    }
}

impl FlowBatch {
    fn since(&self, before: &FlowBatch) -> FlowBatch {
        FlowBatch {
            sent: self.sent - before.sent,
            received: self.received - before.received,
            delivered: self.delivered - before.delivered,
            retransmitted: self.retransmitted - before.retransmitted,
            gone: self.gone - before.gone,
            timeouts: self.timeouts - before.timeouts,
            fast_retransmits: self.fast_retransmits - before.fast_retransmits,
            rtt_sum: self.rtt_sum - before.rtt_sum,
            rtt_samples: self.rtt_samples - before.rtt_samples,
            cwnd_area: self.cwnd_area - before.cwnd_area,
        }
    }
}

impl LinkBatch {
    /// The batch of a link whose batches are not counted.
    const UNKNOWN: LinkBatch = LinkBatch {
        arrived: f64::NAN,
        dropped: f64::NAN,
        lost: f64::NAN,
        departed_bytes: f64::NAN,
        busy: f64::NAN,
        queue_area: f64::NAN,
    };

    fn between(before: &LinkSample, after: &LinkSample) -> LinkBatch {
        LinkBatch {
            arrived: (after.arrived - before.arrived) as f64,
            dropped: (after.dropped - before.dropped) as f64,
            lost: 0.0,
            departed_bytes: (after.departed_bytes - before.departed_bytes) as f64,
            busy: (after.busy - before.busy) as f64,
            queue_area: (after.queue_area - before.queue_area) as f64,
        }
    }

    /// Adds the packets that were lost before the queue.
    pub(crate) fn lose(&mut self, lost: u64) {
        self.lost += lost as f64;
        self.arrived += lost as f64;
    }
}

/// Returns a link's batches from its counters at their ends; unknown ones without counters.
pub(crate) fn link_batches(samples: Option<&[LinkSample]>) -> Vec<LinkBatch> {
    match samples {
        None => vec![LinkBatch::UNKNOWN; to_index(BATCHES)],
        Some(samples) => by_row(samples, 1, LinkSample::default(), |after, before| LinkBatch::between(before, after)),
    }
}

/// Returns what happened in each batch, row by row, from samples of `rows` rows in turn at the end of each batch.
fn by_row<T: Copy, B>(samples: &[T], rows: usize, start: T, between: impl Fn(&T, &T) -> B) -> Vec<B> {
    let at = |row: usize, batch: usize| samples.get(batch * rows + row).copied().unwrap_or(start);
    let batches = to_index(BATCHES);
    let of_row = |row: usize| {
        (0..batches).map(move |batch| (at(row, batch), if batch == 0 { start } else { at(row, batch - 1) }))
    };
    (0..rows).flat_map(of_row).map(|(after, before)| between(&after, &before)).collect()
}
