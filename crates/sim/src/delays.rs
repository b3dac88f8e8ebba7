//! Delays of packets: the distributions of round trips, of one-way delays, and of the waits at links.

use std::mem::offset_of;

use base::{Clock, Histogram, Time};

use crate::column::Column::{self, Bool, Seconds};
use crate::empty_path::EmptyPath;
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
///
/// A cache line for the receiver, and one for the sender.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct FlowDelays {
    /// One-way delay of a data packet on the empty path.
    pub least: Time,
    /// One-way delays of the data packets that reached the receiver, less `least` each.
    pub excess: Histogram,
    /// Whether the excess is waiting alone: no delay and no rate on the path changes by itself.
    pub excess_is_waiting: bool,
    /// Round trips of the ACKs of new data.
    pub round_trips: Histogram,
}

// Whole cache lines.
const _: () = assert!(size_of::<FlowDelays>() == 128);
const _: () = assert!(offset_of!(FlowDelays, round_trips) == 64);

fn ticks(time: Time) -> f64 {
    time.ticks() as f64
}

impl Delays {
    /// The columns of the flows' table; a flow without packets has zeros.
    pub const FLOW_COLUMNS: &'static [Column<FlowDelays>] = &[
        Seconds("least_s", |flow| ticks(flow.least)),
        Seconds("excess_max_s", |flow| ticks(flow.excess.longest())),
        Seconds("round_trip_max_s", |flow| ticks(flow.round_trips.longest())),
        Bool("excess_is_waiting", |flow| flow.excess_is_waiting),
    ];

    /// The columns of the elements' table.
    pub const WAIT_COLUMNS: &'static [Column<Histogram>] = &[Seconds("wait_max_s", |waits| ticks(waits.longest()))];
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
pub(crate) fn flow_delays(scenario: &Scenario, clock: Clock) -> Vec<FlowDelays> {
    let of_row = |flow: &FlowConfig| FlowDelays {
        least: EmptyPath::of_data(flow, &scenario.elements, clock).one_way,
        excess: Histogram::default(),
        round_trips: Histogram::default(),
        excess_is_waiting: flow.path.iter().all(|&element| has_constant_delay(&scenario.elements[element])),
    };
    let flows = scenario.flows.iter().filter(|_| scenario.run.delays);
    flows.flat_map(|flow| std::iter::repeat_n(of_row(flow), rows(flow))).collect()
}

/// Returns whether a packet of one size needs the same time for an element whenever it does not wait there.
fn has_constant_delay(element: &ElementConfig) -> bool {
    match element {
        ElementConfig::Link(link) => link.delay_process.is_none() && link.rate_process.is_none(),
        ElementConfig::PrivateLink(_) | ElementConfig::Host(_) => true,
        // Its rate changes.
        ElementConfig::Channel(_) => false,
    }
}
