use base::Time;

/// A large group of flows is counted as one: of its single flows nothing is told.
pub const MOST_ROWS_OF_A_GROUP: usize = 1000;

/// What a flow counts, always; or all flows of an entry together, where they are more than [`MOST_ROWS_OF_A_GROUP`]: sums, and the
/// largest window. Pairs: in the warm-up, and in the measurement.
///
/// In the order of use: what each packet needs lies in front.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct FlowStatistics {
    /// Data packets put on the wire.
    pub sent: [u64; 2],
    /// Data packets that reached the receiver.
    pub received: [u64; 2],
    /// Packets delivered in order to the application.
    pub delivered: [u64; 2],
    /// Packets acknowledged.
    pub acked: [u64; 2],
    /// Sum of the round trips of the ACKs of new data, in the measurement \[ps\].
    pub rtt_sum: u128,
    /// How many these are.
    pub rtt_samples: u64,
    /// Integral of cwnd over the measurement \[packets times ps\].
    pub cwnd_area: f64,
    /// Largest cwnd in the measurement \[packets\].
    pub cwnd_max: f64,
    /// When the transfer was acknowledged whole, the last one of a group; [`Time::NEVER`] where it was not.
    pub finish: Time,
    /// Flows whose transfer was not.
    pub unfinished: u32,
    /// Those of the packets sent that were sent before.
    pub retransmitted: [u64; 2],
    /// Data packets that a queue dropped.
    pub dropped: [u64; 2],
    /// Data packets that were lost before a queue.
    pub lost: [u64; 2],
    /// ACKs that repeat the last one while data is outstanding.
    pub duplicate_acks: [u64; 2],
    /// Expired retransmission timers.
    pub timeouts: [u64; 2],
    /// Fast retransmits.
    pub fast_retransmits: [u64; 2],
}

impl FlowStatistics {
    /// Of so many flows that have done nothing yet.
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
            unfinished: flows as u32,
            retransmitted: [0; 2],
            dropped: [0; 2],
            lost: [0; 2],
            duplicate_acks: [0; 2],
            timeouts: [0; 2],
            fast_retransmits: [0; 2],
        }
    }

    /// A flow's transfer is acknowledged whole.
    pub(crate) fn finish_one(&mut self, now: Time) {
        self.unfinished -= 1;
        if self.unfinished == 0 {
            self.finish = now;
        }
    }
}
