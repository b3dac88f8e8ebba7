//! The columns of the tables of recorded rows. A time is in seconds; a flow, a link or a port is an index.

use base::{Marks, PacketKind, Time};

use super::rows::{
    AqmRow, CwndRow, DelayRow, DropRow, LossRow, OverviewRow, QueueDistributionRow, QueueRow, RateRow, RepairRow,
    RoundRow, RttRow, SequenceRow, StateRow,
};
use crate::column::Column::{self, Bool, Seconds, F64, U32, U64, U8};

fn ticks(time: Time) -> f64 {
    time.ticks() as f64
}

impl CwndRow {
    /// The columns of the table `cwnd`.
    pub const COLUMNS: &'static [Column<CwndRow>] = &[
        U32("flow", |row| row.flow),
        Seconds("time_s", |row| ticks(row.time)),
        F64("cwnd", |row| row.cwnd),
        F64("ssthresh", |row| row.ssthresh),
        U64("flight_size", |row| row.flight_size),
        Seconds("rto_s", |row| ticks(row.rto)),
    ];
}

impl RttRow {
    /// The columns of the table `rtt`.
    pub const COLUMNS: &'static [Column<RttRow>] = &[
        U32("flow", |row| row.flow),
        Seconds("time_s", |row| ticks(row.time)),
        Seconds("rtt_s", |row| ticks(row.rtt)),
    ];
}

impl SequenceRow {
    /// The columns of the table `sequence`.
    pub const COLUMNS: &'static [Column<SequenceRow>] = &[
        U32("flow", |row| row.flow),
        Seconds("time_s", |row| ticks(row.time)),
        U8("kind", |row| row.kind as u8),
        U64("sequence", |row| row.sequence),
    ];
}

impl QueueRow {
    /// The columns of the table `queue`.
    pub const COLUMNS: &'static [Column<QueueRow>] =
        &[U32("link", |row| row.link), Seconds("time_s", |row| ticks(row.time)), U64("packets", |row| row.packets)];
}

impl AqmRow {
    /// The columns of the table `aqm`; what an algorithm does not have is not a number.
    pub const COLUMNS: &'static [Column<AqmRow>] = &[
        U32("link", |row| row.link),
        Seconds("time_s", |row| ticks(row.time)),
        U32("queue", |row| row.state.class),
        F64("count", |row| row.state.count.map_or(f64::NAN, f64::from)),
        Bool("dropping", |row| row.state.dropping == Some(true)),
        Seconds("next_drop_s", |row| row.state.next_drop.unwrap_or(f64::NAN)),
        F64("probability", |row| row.state.probability.unwrap_or(f64::NAN)),
        F64("average_packets", |row| row.state.average_packets.unwrap_or(f64::NAN)),
    ];
}

impl QueueDistributionRow {
    /// The columns of the table `queue_distribution`.
    pub const COLUMNS: &'static [Column<QueueDistributionRow>] = &[
        U32("link", |row| row.link),
        U64("packets", |row| row.packets),
        Seconds("time_s", |row| ticks(row.time)),
        U64("arrivals", |row| row.arrivals),
    ];
}

impl DropRow {
    /// The columns of the table `drops`.
    pub const COLUMNS: &'static [Column<DropRow>] = &[
        Seconds("time_s", |row| ticks(row.time)),
        U32("link", |row| row.link),
        U32("flow", |row| row.packet.flow),
        U64("sequence", |row| row.packet.sequence),
        Bool("retransmission", |row| row.packet.kind == PacketKind::Retransmission),
        Bool("slow_start", |row| row.packet.kind.is_data() && row.packet.marks.has(Marks::SLOW_START)),
        Bool("ack", |row| row.packet.kind.goes_back()),
        Bool("lost", |row| row.lost),
    ];
}

impl LossRow {
    /// The columns of the table `losses`.
    pub const COLUMNS: &'static [Column<LossRow>] = &[
        Seconds("time_s", |row| ticks(row.time)),
        U32("flow", |row| row.flow),
        U64("sequence", |row| row.loss.sequence),
        U8("cause", |row| row.loss.cause as u8),
        Bool("slow_start", |row| row.loss.slow_start),
        Bool("retransmission", |row| row.loss.retransmission),
        Bool("spurious", |row| row.spurious),
    ];
}

impl RepairRow {
    /// The columns of the table `recovery`.
    pub const COLUMNS: &'static [Column<RepairRow>] = &[
        U32("flow", |row| row.flow),
        Seconds("time_s", |row| ticks(row.time)),
        U8("event", |row| row.repair.event()),
        U64("sequence", |row| row.repair.loss.sequence),
        U64("window", |row| row.repair.loss.window),
        Bool("slow_start", |row| row.repair.loss.slow_start),
        Bool("spurious", |row| row.repair.spurious),
        Seconds("duration_s", |row| ticks(row.repair.time)),
        U64("retransmissions", |row| row.repair.retransmissions),
        U64("sent", |row| row.repair.sent),
        U64("sent_on_end", |row| row.repair.sent_on_end),
    ];
}

impl RoundRow {
    /// The columns of the table `rounds`.
    pub const COLUMNS: &'static [Column<RoundRow>] = &[
        U32("flow", |row| row.flow),
        Seconds("time_s", |row| ticks(row.time)),
        Seconds("rtt_s", |row| ticks(row.rtt)),
        F64("window", |row| row.window),
    ];
}

impl StateRow {
    /// The columns of the table `state`; what is not known is not a number.
    pub const COLUMNS: &'static [Column<StateRow>] = &[
        U32("flow", |row| row.flow),
        Seconds("time_s", |row| ticks(row.time)),
        U8("event", |row| row.event as u8),
        U8("state", |row| row.view.state as u8),
        U8("phase", |row| row.view.phase as u8),
        F64("cwnd", |row| row.view.cwnd),
        F64("ssthresh", |row| row.view.ssthresh),
        U64("pipe", |row| row.view.pipe),
        U32("prr_delivered", |row| row.view.prr.0),
        U32("prr_sent", |row| row.view.prr.1),
        Seconds("srtt_s", |row| row.view.srtt.map_or(f64::NAN, ticks)),
        Seconds("reordering_window_s", |row| row.view.reordering_window.map_or(f64::NAN, ticks)),
        F64("pacing_rate_bps", |row| row.view.pacing_rate.unwrap_or(f64::NAN)),
        F64("delivery_rate_bps", |row| row.view.delivery_rate.unwrap_or(f64::NAN)),
    ];
}

impl DelayRow {
    /// The columns of the table `delay`.
    pub const COLUMNS: &'static [Column<DelayRow>] = &[
        U32("link", |row| row.link),
        Seconds("time_s", |row| ticks(row.time)),
        Seconds("delay_s", |row| ticks(row.delay)),
    ];
}

impl RateRow {
    /// The columns of the table `rate`.
    pub const COLUMNS: &'static [Column<RateRow>] =
        &[U32("link", |row| row.link), Seconds("time_s", |row| ticks(row.time)), F64("rate_bps", |row| row.rate)];
}

impl OverviewRow {
    /// The columns of the table `overview`.
    pub const COLUMNS: &'static [Column<OverviewRow>] = &[
        U8("kind", |row| row.kind as u8),
        U32("index", |row| row.index),
        Seconds("time_s", |row| ticks(row.time)),
        F64("value", |row| row.value),
    ];
}
