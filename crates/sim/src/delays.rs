//! Delays of packets: the distributions of round trips, of one-way delays, and of the waits at links.

use base::cast::to_u32;
use base::{Histogram, Rate, Time};

use crate::column::Column::{self, Bool, F64, U32, U64};
use crate::scenario::{ElementConfig, FlowConfig, Scenario};
use crate::statistics::rows;

/// The distributions of the delays in the measurement of a replication.
#[derive(Clone, Debug)]
pub struct Delays {
    /// Those of the flows, row by row as their counters.
    pub flows: Vec<FlowDelays>,
    /// Waits at each element, from a packet's arrival until its transmission begins, in the order of the scenario.
    pub waits: Vec<Histogram>,
}

/// The distributions of a flow's delays, or of all flows of a large group.
#[derive(Clone, Debug)]
pub struct FlowDelays {
    /// One-way delay of a data packet on the empty path.
    pub least: Time,
    /// One-way delays of the data packets that reached the receiver, less `least` each.
    pub excess: Histogram,
    /// Round trips of the ACKs of new data.
    pub round_trips: Histogram,
    /// Whether the excess is waiting alone: no delay on the path changes by itself.
    pub excess_is_waiting: bool,
}

/// A bucket of a histogram that holds something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BucketRow {
    /// Index of the histogram's flow or element.
    pub row: u32,
    /// Number of the bucket ([`Histogram::start_of`]).
    pub bucket: u32,
    /// Number of durations in it.
    pub count: u64,
}

impl BucketRow {
    /// The columns of a table of buckets.
    pub const COLUMNS: &'static [Column<BucketRow>] =
        &[U32("row", |row| row.row), U32("bucket", |row| row.bucket), U64("count", |row| row.count)];

    /// Returns the buckets of histograms that hold something, one histogram after the other.
    pub fn of<'a>(histograms: impl Iterator<Item = &'a Histogram>) -> Vec<BucketRow> {
        let rows = histograms.enumerate().flat_map(|(row, histogram)| {
            let of_bucket = move |(bucket, count)| BucketRow { row: to_u32(row), bucket: to_u32(bucket), count };
            histogram.buckets().map(of_bucket)
        });
        rows.collect()
    }
}

impl Delays {
    /// The columns of the flows' table; a flow without packets has zeros.
    pub const FLOW_COLUMNS: &'static [Column<FlowDelays>] = &[
        F64("least_s", |flow| flow.least.seconds()),
        F64("excess_max_s", |flow| flow.excess.longest().seconds()),
        F64("round_trip_max_s", |flow| flow.round_trips.longest().seconds()),
        Bool("excess_is_waiting", |flow| flow.excess_is_waiting),
    ];

    /// The columns of the elements' table.
    pub const WAIT_COLUMNS: &'static [Column<Histogram>] = &[F64("wait_max_s", |waits| waits.longest().seconds())];
}

impl FlowDelays {
    /// Counts a data packet that was sent at `sent` and reaches the receiver now.
    #[inline(always)]
    pub(crate) fn arrive(&mut self, sent: Time, now: Time) {
        self.excess.record(now - sent - self.least);
    }
}

/// Returns the delays of a scenario's flows before their start, one entry for each row of counters; none if delays are
/// not measured.
pub(crate) fn flow_delays(scenario: &Scenario) -> Vec<FlowDelays> {
    let of_row = |flow: &FlowConfig| FlowDelays {
        least: Time::from_seconds(flow.forward_delay_s)
            + least_way(&flow.path, flow.packet_bytes, false, &scenario.elements),
        excess: Histogram::default(),
        round_trips: Histogram::default(),
        excess_is_waiting: flow.path.iter().all(|&element| has_constant_delay(&scenario.elements[element])),
    };
    let flows = scenario.flows.iter().filter(|_| scenario.run.delays);
    flows.flat_map(|flow| std::iter::repeat_n(of_row(flow), rows(flow.count))).collect()
}

/// Returns the least time from the first of some elements to behind the last one, in the engine's arithmetic.
pub(crate) fn least_way(path: &[usize], bytes: u16, acks: bool, elements: &[ElementConfig]) -> Time {
    let crossed = path.iter().filter_map(|&element| elements.get(element));
    let span = |element: &ElementConfig| {
        let mut rate = element.rate_bps().map_or(Rate::UNLIMITED, Rate::from_bits_per_second);
        let processing = match element {
            ElementConfig::Host(host) => {
                if acks {
                    host.ack_s
                } else {
                    host.data_s
                }
            }
            ElementConfig::Link(_) | ElementConfig::PrivateLink(_) | ElementConfig::Channel(_) => 0.0,
        };
        Time::from_seconds(element.least_delay_s()) + rate.service_time(bytes) + Time::from_seconds(processing)
    };
    crossed.map(span).fold(Time::ZERO, |sum, span| sum + span)
}

/// Returns whether a packet of one size needs the same time for an element whenever it does not wait there.
fn has_constant_delay(element: &ElementConfig) -> bool {
    match element {
        ElementConfig::Link(link) => link.delay_process.is_none(),
        ElementConfig::PrivateLink(_) | ElementConfig::Host(_) => true,
        // Its rate changes.
        ElementConfig::Channel(_) => false,
    }
}
