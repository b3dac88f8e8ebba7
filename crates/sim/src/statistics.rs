use base::cast::to_u32;
use base::Time;

use crate::scenario::FlowConfig;
use crate::traffic::{Completion, Transfer};

/// Most flows of a group, with those of all its copies, that are counted one by one; the flows of a larger one have one
/// row for all, a row for each copy.
pub const MOST_ROWS_OF_A_GROUP: usize = 1000;

/// Returns the number of rows that count the flows of an entry of the scenario.
pub(crate) fn rows(flow: &FlowConfig) -> usize {
    if flow.count * flow.copies > MOST_ROWS_OF_A_GROUP {
        1
    } else {
        flow.count
    }
}

/// The counters of a flow, or the sums of a group of more than [`MOST_ROWS_OF_A_GROUP`] flows. Pairs are of the warm-up
/// and of the measurement.
///
/// The fields are ordered by use: those that every packet needs come first.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct FlowStatistics {
    /// Data packets put on the wire.
    pub sent: [u64; 2],
    /// Data packets that reached the receiver.
    pub received: [u64; 2],
    /// Packets delivered in order to the application.
    pub delivered: [u64; 2],
    /// Packets that ACKs acknowledged.
    pub acked: [u64; 2],
    /// Sum of the round trips of the ACKs of new data, in the measurement \[ticks\].
    pub rtt_sum: u128,
    /// Number of these round trips.
    pub rtt_samples: u64,
    /// Integral of cwnd over the measurement \[packets times ps\].
    pub cwnd_area: f64,
    /// Largest cwnd in the measurement, of a group the largest of its flows \[packets\].
    pub cwnd_max: f64,
    /// Time at which the transfer, of a group the last one, was completely acknowledged; [`Time::NEVER`] if it was not.
    pub finish: Time,
    /// Flows whose transfer has not been completely acknowledged.
    pub unfinished: u32,
    /// Start of the first transfer, except of a web source; [`Time::NEVER`] if none has begun.
    pub opened: Time,
    /// End of the life of its transfers: the last delivery, or the end of the run if one of them has not finished.
    pub closed: Time,
    /// Finished transfers: those of the whole run, of web sources those that end in the measurement.
    pub completed: u64,
    /// Sum of their flow completion times, from the first packet sent to the last one delivered \[ticks\].
    pub completion_sum: u128,
    /// Longest of these times.
    pub completion_max: Time,
    /// Sum of the times from the first packet sent to the last ACK \[ticks\].
    pub completion_acked_sum: u128,
    /// Sum of the completion times relative to the least that the empty path allows.
    pub slowdown_sum: f64,
    /// Retransmissions among the packets sent.
    pub retransmitted: [u64; 2],
    /// Data packets that a queue dropped.
    pub dropped: [u64; 2],
    /// Data packets that a queue marked instead of dropping them, each once however many queues mark it.
    pub marked: [u64; 2],
    /// Data packets that links lost before a queue.
    pub lost: [u64; 2],
    /// ACKs equal to the last one, while data is outstanding.
    pub duplicate_acks: [u64; 2],
    /// Expired retransmission timers.
    pub timeouts: [u64; 2],
    /// Number of fast retransmits.
    pub fast_retransmits: [u64; 2],
    /// Data packets that were sent in the warm-up, and dropped or lost in the measured part.
    pub gone_of_warmup: u64,
    /// Data packets that were sent in the warm-up, and first marked in the measured part.
    pub marked_of_warmup: u64,
    /// Packets that arrived in the warm-up, beyond a hole, and were delivered in order in the measured part; if some are
    /// still beyond a hole at the end of the run, those received first count as delivered first.
    pub delivered_of_warmup: u64,
}

impl FlowStatistics {
    /// Returns the counters of `flows` flows before their start.
    pub(crate) fn new(flows: usize) -> FlowStatistics {
        FlowStatistics {
            sent: [0; 2],
            received: [0; 2],
            delivered: [0; 2],
            acked: [0; 2],
            rtt_sum: 0,
            rtt_samples: 0,
            cwnd_area: 0.0,
            cwnd_max: 0.0,
            finish: Time::NEVER,
            unfinished: to_u32(flows),
            opened: Time::NEVER,
            closed: Time::ZERO,
            completed: 0,
            completion_sum: 0,
            completion_max: Time::ZERO,
            completion_acked_sum: 0,
            slowdown_sum: 0.0,
            retransmitted: [0; 2],
            dropped: [0; 2],
            marked: [0; 2],
            lost: [0; 2],
            duplicate_acks: [0; 2],
            timeouts: [0; 2],
            fast_retransmits: [0; 2],
            gone_of_warmup: 0,
            marked_of_warmup: 0,
            delivered_of_warmup: 0,
        }
    }

    /// Records that a flow begins its one transfer.
    pub(crate) fn open(&mut self, now: Time) {
        self.opened = self.opened.min(now);
    }

    /// Counts the durations of a finished transfer.
    pub(crate) fn complete(&mut self, transfer: &Transfer, completion: &Completion) {
        self.closed = self.closed.max(transfer.delivered);
        self.completed += 1;
        self.completion_sum += u128::from(completion.delivered.ticks());
        self.completion_max = self.completion_max.max(completion.delivered);
        self.completion_acked_sum += u128::from(completion.acked.ticks());
        self.slowdown_sum += completion.slowdown;
    }

    /// Ends the life of its transfers with the run, if one of them has not finished.
    pub(crate) fn close(&mut self, end: Time) {
        if self.unfinished > 0 {
            self.closed = end;
        }
    }

    /// Counts a flow whose one transfer is completely acknowledged.
    pub(crate) fn finish_one(&mut self, now: Time) {
        self.unfinished -= 1;
        if self.unfinished == 0 {
            self.finish = now;
        }
    }
}
