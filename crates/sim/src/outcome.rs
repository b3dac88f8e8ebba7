use base::cast::to_u32;
use base::{Clock, Time};
use net::{LinkStatistics, Measurement};

use crate::batches::Batches;
use crate::classes::ClassRow;
use crate::column::Column::{self, Seconds, F64, U32};
use crate::delays::Delays;
use crate::links::Offered;
use crate::observe::Traces;
use crate::recovery::{RecoveryStatistics, TimeoutKind};
use crate::statistics::FlowStatistics;
use crate::traffic::{CompletionStatistics, PingStatistics, SizeClass, State, TransferStatistics};

/// The results of one replication.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// Number of the replication.
    pub replication: u64,
    /// Clock of all times.
    pub clock: Clock,
    /// Bounds of the measured part.
    pub measurement: Measurement,
    /// Number of events handled.
    pub events: u64,
    /// CPU time of the event loop \[s\].
    pub cpu_s: f64,
    /// Counters of the flows, in the order of the scenario; a group of more than [`crate::MOST_ROWS_OF_A_GROUP`] has
    /// one row.
    pub flows: Vec<FlowStatistics>,
    /// Counters of timeouts and recoveries, row by row as `flows`.
    pub recoveries: Vec<RecoveryStatistics>,
    /// Counters of the links, in the order of the scenario.
    pub links: Vec<LinkStatistics>,
    /// Capacities of the links, if the rate of one changes.
    pub offered: Option<Offered>,
    /// Distributions of delays, if they are measured.
    pub delays: Option<Delays>,
    /// Counters of the classes of packets at links that have several, if delays are measured.
    pub classes: Vec<ClassRow>,
    /// Counters of the transfers, one entry for each group of sources, in the order of the scenario.
    pub transfers: Vec<TransferStatistics>,
    /// Completion times of the transfers, one entry for each flow with a size and each group of web sources, in the
    /// order of the scenario.
    pub completions: Vec<CompletionStatistics>,
    /// Counters of the pings, one entry for each group, in the order of the scenario.
    pub pings: Vec<PingStatistics>,
    /// Counters of flows and links in each batch of the measured part; of replication 0 only, and not of very many rows.
    pub batches: Option<Batches>,
    /// Rows that were recorded.
    pub traces: Traces,
}

fn total(pair: [u64; 2]) -> f64 {
    (pair[0] + pair[1]) as f64
}

fn ticks(time: Time) -> f64 {
    time.ticks() as f64
}

/// Returns an instant in ticks; not a number if it never comes.
fn instant(time: Time) -> f64 {
    if time == Time::NEVER {
        f64::NAN
    } else {
        ticks(time)
    }
}

impl Outcome {
    /// The columns of the flows' table: values of the measurement, and totals over the whole run.
    pub const FLOW_COLUMNS: &'static [Column<FlowStatistics>] = &[
        F64("sent_packets", |flow| flow.sent[1] as f64),
        F64("retransmitted_packets", |flow| flow.retransmitted[1] as f64),
        F64("received_packets", |flow| flow.received[1] as f64),
        F64("dropped_packets", |flow| flow.dropped[1] as f64),
        F64("marked_packets", |flow| flow.marked[1] as f64),
        F64("lost_packets", |flow| flow.lost[1] as f64),
        F64("delivered_packets", |flow| flow.delivered[1] as f64),
        F64("acked_packets", |flow| flow.acked[1] as f64),
        F64("duplicate_acks", |flow| flow.duplicate_acks[1] as f64),
        F64("timeouts", |flow| flow.timeouts[1] as f64),
        F64("fast_retransmits", |flow| flow.fast_retransmits[1] as f64),
        Seconds("rtt_sum_s", |flow| flow.rtt_sum as f64),
        F64("rtt_samples", |flow| flow.rtt_samples as f64),
        F64("cwnd_max", |flow| flow.cwnd_max),
        Seconds("cwnd_area", |flow| flow.cwnd_area),
        Seconds("finish_s", |flow| instant(flow.finish)),
        Seconds("opened_s", |flow| instant(flow.opened)),
        Seconds("closed_s", |flow| instant(flow.closed)),
        F64("unfinished", |flow| f64::from(flow.unfinished)),
        F64("completed", |flow| flow.completed as f64),
        Seconds("completion_sum_s", |flow| flow.completion_sum as f64),
        Seconds("completion_max_s", |flow| ticks(flow.completion_max)),
        Seconds("completion_acked_sum_s", |flow| flow.completion_acked_sum as f64),
        F64("slowdown_sum", |flow| flow.slowdown_sum),
        F64("sent_total", |flow| total(flow.sent)),
        F64("received_total", |flow| total(flow.received)),
        F64("dropped_total", |flow| total(flow.dropped)),
        F64("marked_total", |flow| total(flow.marked)),
        F64("lost_total", |flow| total(flow.lost)),
        F64("delivered_total", |flow| total(flow.delivered)),
        F64("gone_of_warmup_packets", |flow| flow.gone_of_warmup as f64),
        F64("marked_of_warmup_packets", |flow| flow.marked_of_warmup as f64),
        F64("delivered_of_warmup_packets", |flow| flow.delivered_of_warmup as f64),
    ];

    /// The columns of timeouts and recoveries that the flows' table also has, all of the measurement.
    pub const RECOVERY_COLUMNS: &'static [Column<RecoveryStatistics>] = &[
        F64("spurious_timeouts", |flow| flow.spurious_timeouts as f64),
        F64("spurious_fast_retransmits", |flow| flow.spurious_fast_retransmits as f64),
        F64("timeouts_repeated", |flow| flow.timeouts[TimeoutKind::Repeated as usize] as f64),
        F64("timeouts_in_recovery", |flow| flow.timeouts[TimeoutKind::InRecovery as usize] as f64),
        F64("timeouts_at_beginning", |flow| flow.timeouts[TimeoutKind::Beginning as usize] as f64),
        F64("timeouts_at_end", |flow| flow.timeouts[TimeoutKind::End as usize] as f64),
        F64("timeouts_other", |flow| flow.timeouts[TimeoutKind::Other as usize] as f64),
        F64("timeouts_in_slow_start", |flow| flow.slow_start_timeouts as f64),
        Seconds("stalled_s", |flow| ticks(flow.stalled)),
        F64("recoveries", |flow| flow.recoveries as f64),
        F64("recovery_retransmissions", |flow| flow.retransmissions as f64),
        F64("recovery_sent", |flow| flow.sent as f64),
        F64("recovery_sent_on_end", |flow| flow.sent_on_end as f64),
        Seconds("recovery_s", |flow| ticks(flow.time)),
        F64("failed_recovery_retransmissions", |flow| flow.failed_retransmissions as f64),
        F64("failed_recovery_sent", |flow| flow.failed_sent as f64),
        Seconds("failed_recovery_s", |flow| ticks(flow.failed_time)),
        F64("recoveries_begun", |flow| flow.begun as f64),
        Seconds("first_recovery_s", |flow| ticks(flow.first_begun)),
        Seconds("last_recovery_s", |flow| ticks(flow.last_begun)),
        Seconds("shortest_cycle_s", |flow| ticks(flow.shortest_cycle)),
        Seconds("longest_cycle_s", |flow| ticks(flow.longest_cycle)),
    ];

    /// The columns of the links' table: values of the measurement, and totals over the whole run.
    pub const LINK_COLUMNS: &'static [Column<LinkStatistics>] = &[
        F64("arrived_packets", |link| link.arrived[1] as f64),
        F64("dropped_packets", |link| link.dropped[1] as f64),
        F64("marked_packets", |link| link.marked[1] as f64),
        F64("lost_packets", |link| link.lost[1] as f64),
        F64("departed_packets", |link| link.departed[1] as f64),
        F64("departed_bytes", |link| link.departed_bytes[1] as f64),
        Seconds("busy_s", |link| link.busy as f64),
        Seconds("queue_area_packet_s", |link| link.queue_area as f64),
        F64("queue_max_packets", |link| link.queue_max as f64),
        F64("arrived_total", |link| total(link.arrived)),
        F64("dropped_total", |link| total(link.dropped)),
        F64("marked_total", |link| total(link.marked)),
        F64("lost_total", |link| total(link.lost)),
        F64("departed_total", |link| total(link.departed)),
        F64("dropped_of_warmup_packets", |link| link.dropped_of_warmup as f64),
        F64("dropped_by_aqm_packets", |link| link.dropped_by_aqm as f64),
        F64("dropped_by_policer_packets", |link| link.dropped_by_policer as f64),
    ];

    /// The columns of a group's table of transfers by size, in the measurement.
    pub const CLASS_COLUMNS: &'static [Column<SizeClass>] = &[
        F64("from_packets", |class| class.from as f64),
        F64("to_packets", |class| class.to.map_or(f64::INFINITY, |to| to as f64)),
        F64("transfers", |class| class.transfers as f64),
        F64("packets", |class| class.packets as f64),
        Seconds("on_s", |class| class.on as f64),
        F64("rate_sum_packets_per_s", |class| class.rates),
        Seconds("stalled_s", |class| class.stalled as f64),
        Seconds("sending_s", |class| class.sending as f64),
        F64("sent_packets", |class| class.sent as f64),
        F64("retransmitted_packets", |class| class.retransmitted as f64),
        F64("dropped_packets", |class| class.dropped as f64),
        F64("timeouts", |class| class.timeouts as f64),
        F64("fast_retransmits", |class| class.fast_retransmits as f64),
        F64("recovery_retransmissions", |class| class.recovered as f64),
        F64("failed_recovery_retransmissions", |class| class.failed as f64),
        F64("arrivals", |class| class.arrivals as f64),
        F64("queue_seen_packets", |class| class.queue_seen as f64),
    ];

    /// The columns of the table of completion times: the longest of each kind.
    pub const COMPLETION_COLUMNS: &'static [Column<CompletionStatistics>] = &[
        U32("entry", |group| to_u32(group.entry)),
        Seconds("delivered_max_s", |group| ticks(group.delivered.longest())),
        Seconds("acked_max_s", |group| ticks(group.acked.longest())),
        F64("slowdown_max", |group| CompletionStatistics::SLOWDOWNS.seconds(group.slowdown.longest())),
    ];

    /// The columns of the table of pings: values of those sent in the measurement, and totals over the whole run.
    pub const PING_COLUMNS: &'static [Column<PingStatistics>] = &[
        U32("entry", |pings| to_u32(pings.entry)),
        F64("sent", |pings| pings.sent[1] as f64),
        F64("answered", |pings| pings.answered[1] as f64),
        F64("lost", |pings| pings.lost[1] as f64),
        F64("sent_total", |pings| total(pings.sent)),
        F64("answered_total", |pings| total(pings.answered)),
        F64("lost_total", |pings| total(pings.lost)),
        Seconds("rtt_sum_s", |pings| pings.sum as f64),
        F64("rtt_square_sum_s2", |pings| pings.squares),
        Seconds("rtt_min_s", |pings| instant(pings.shortest)),
        Seconds("rtt_max_s", |pings| ticks(pings.round_trips.longest())),
    ];

    /// The columns of a group's table of states, in the measurement; row `n` is of `n` active sources.
    pub const STATE_COLUMNS: &'static [Column<State>] = &[
        Seconds("time_s", |state| ticks(state.time)),
        F64("transfers", |state| state.transfers as f64),
        F64("packets", |state| state.packets as f64),
        Seconds("on_s", |state| state.on as f64),
    ];

    /// Returns the number of data packets delivered in order to all applications over the whole run.
    pub fn packets(&self) -> u64 {
        self.flows.iter().map(|flow| flow.delivered[0] + flow.delivered[1]).sum()
    }
}
