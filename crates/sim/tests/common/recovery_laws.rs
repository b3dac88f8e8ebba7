//! Laws of the losses and rounds of every outcome with all traces.

use base::Time;
use sim::{Outcome, SequenceKind};
use tcp::LossCause;

fn rows<T>(rows: &Option<Vec<T>>) -> &[T] {
    rows.as_deref().expect("all traces are on")
}

/// Panics if a law is broken; `is_classic` is true for the flows with the classic sender.
pub fn check_recoveries(outcome: &Outcome, is_classic: impl Fn(usize) -> bool) {
    for flow in 0..outcome.flows.len() {
        check_losses(outcome, flow);
        check_repairs(outcome, flow, u64::from(is_classic(flow)));
        check_rounds(outcome, flow);
    }
}

/// Checks that each timeout is of one kind, and that counters and the trace of losses agree.
fn check_losses(outcome: &Outcome, flow: usize) {
    let (counted, warmup) = (&outcome.recoveries[flow], outcome.measurement.warmup);
    assert_eq!(counted.timeouts.iter().sum::<u64>(), outcome.flows[flow].timeouts[1], "flow {flow}: kinds of timeouts");
    let spurious = |cause| {
        let here = rows(&outcome.traces.losses).iter().filter(|row| row.flow as usize == flow && row.time >= warmup);
        here.filter(|row| row.spurious && row.loss.cause == cause).count() as u64
    };
    assert_eq!(counted.spurious_timeouts, spurious(LossCause::Timeout));
    assert_eq!(counted.spurious_fast_retransmits, spurious(LossCause::FastRetransmit));
    assert!(counted.slow_start_timeouts <= outcome.flows[flow].timeouts[1]);
    assert!(counted.stalled <= outcome.measurement.end);
}

/// Checks that counters and the trace of repairs agree, and that a repair retransmits `least` packets: Linux may undo a
/// reduction before it retransmits any.
fn check_repairs(outcome: &Outcome, flow: usize, least: u64) {
    let (counted, warmup) = (&outcome.recoveries[flow], outcome.measurement.warmup);
    let here = || rows(&outcome.traces.recovery).iter().filter(|row| row.flow as usize == flow && row.time >= warmup);
    for kind in 0..5 {
        let found = here().filter(|row| row.repair.event() == kind).count() as u64;
        assert_eq!(counted.timeouts[usize::from(kind)], found, "flow {flow}: kind {kind}");
    }
    let recovered = || here().filter(|row| row.repair.event() == 5).map(|row| row.repair);
    assert_eq!(counted.recoveries, recovered().count() as u64);
    assert_eq!(counted.retransmissions, recovered().map(|repair| repair.retransmissions).sum::<u64>());
    assert_eq!(counted.sent, recovered().map(|repair| repair.sent).sum::<u64>());
    assert_eq!(counted.sent_on_end, recovered().map(|repair| repair.sent_on_end).sum::<u64>());
    for repair in recovered() {
        assert!(least <= repair.retransmissions && repair.retransmissions <= repair.sent, "flow {flow}: {repair:?}");
    }
}

/// Checks that rounds tile the time from the first packet on, except the time in which nothing is outstanding and the
/// next packet is paced or not yet written, and in each one all that was outstanding at its start is acknowledged.
fn check_rounds(outcome: &Outcome, flow: usize) {
    let mut sequence = rows(&outcome.traces.sequence).iter().filter(|row| row.flow as usize == flow).peekable();
    let mut start = sequence.peek().map_or(Time::ZERO, |row| row.time);
    let (mut sent, mut acknowledged) = (0, 0);
    // The packet that ends a silence: the next new one, if nothing is outstanding.
    let mut follow = |until: Time| {
        while let Some(row) = sequence.next_if(|row| row.time <= until) {
            match row.kind {
                SequenceKind::Acked => acknowledged = acknowledged.max(row.sequence),
                SequenceKind::Sent | SequenceKind::Retransmitted => sent = sent.max(row.sequence + 1),
            }
        }
        let mut new = sequence.clone().filter(|row| row.kind == SequenceKind::Sent);
        let next = if acknowledged >= sent { new.next().map(|row| row.time) } else { None };
        (sent, acknowledged, next)
    };
    let (mut outstanding, _, mut next) = follow(start);
    for row in rows(&outcome.traces.rounds).iter().filter(|row| row.flow as usize == flow) {
        if let Some(next) = next.filter(|&next| next <= row.time) {
            (start, outstanding) = (next, follow(next).0);
        }
        assert_eq!(row.time - row.rtt, start, "flow {flow}: a gap between rounds");
        let (sent, acknowledged, silence_ends) = follow(row.time);
        assert!(acknowledged >= outstanding, "flow {flow}: {acknowledged} acknowledged of {outstanding}");
        (start, outstanding, next) = (row.time, sent, silence_ends);
    }
}
