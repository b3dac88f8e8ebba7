use std::mem::offset_of;

use base::{prefetch, Ring, Time};
use tcp::Receiver;

use crate::recovery::LossLog;
use crate::statistics::FlowStatistics;

/// An ACK on its last way to the sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ArrivingAck {
    pub(crate) time: Time,
    pub(crate) next: u64,
    pub(crate) echo: Time,
}

/// What starts a flow, and goes on starting it; the number is an index into the table of that kind.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Traffic {
    /// Its start, once.
    #[default]
    Once,
    /// Transfers and silences in turn.
    Transfers(u32),
    /// Packets that nobody answers.
    Datagrams(u32),
}

/// What a flow counts seldom; see [`FlowStatistics`].
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub(crate) struct RareCounts {
    pub(crate) retransmitted: [u64; 2],
    pub(crate) dropped: [u64; 2],
    pub(crate) lost: [u64; 2],
    pub(crate) duplicate_acks: [u64; 2],
    pub(crate) timeouts: [u64; 2],
    pub(crate) fast_retransmits: [u64; 2],
}

/// What its sender counts: of each packet, and of each ACK.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SenderCounts {
    pub(crate) sent: u64,
    pub(crate) acked: u64,
}

/// What its receiver counts of each packet.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReceiverCounts {
    pub(crate) received: u64,
    pub(crate) delivered: u64,
}

/// What the network keeps of a flow. Counts in pairs: in the warm-up, and in the measurement.
///
/// In the order of use: within the measurement, an ACK needs one cache line of it, and a packet of data another one.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct FlowSlot {
    pub(crate) rare: RareCounts,
    /// When the transfer was acknowledged whole.
    pub(crate) finish: Time,
    pub(crate) traffic: Traffic,
    pub(crate) sender_counts: [SenderCounts; 2],
    /// ACKs that wait in the crowd of the senders.
    pub(crate) crowded_acks: u32,
    /// The first hop of its data.
    pub(crate) data: u32,
    pub(crate) rtt_samples: u64,
    pub(crate) rtt_sum: u128,
    pub(crate) cwnd_area: f64,
    pub(crate) cwnd_max: f64,
    /// ACKs on their last way to the sender.
    pub(crate) acks: Ring<ArrivingAck>,
    /// Its losses; none where there was none.
    pub(crate) loss_log: Option<Box<LossLog>>,
    /// The receiver's element in the event queue, where it may hold ACKs back.
    pub(crate) receiver_timer: u32,
    pub(crate) receiver_counts: [ReceiverCounts; 2],
    /// The first hop of its ACKs, right behind that of the receiver, and their size.
    pub(crate) first_ack_hop: u32,
    pub(crate) ack_bytes: u16,
    pub(crate) receiver: Receiver,
}

// Whole cache lines; what an ACK needs begins one, and what data need.
const _: () = assert!(size_of::<FlowSlot>() == 384);
const _: () = assert!((offset_of!(FlowSlot, sender_counts) + size_of::<SenderCounts>()).is_multiple_of(64));
const _: () = assert!((offset_of!(FlowSlot, receiver_counts) + size_of::<ReceiverCounts>()).is_multiple_of(64));

impl FlowSlot {
    /// A flow that has done nothing yet.
    pub(crate) fn new(receiver: Receiver, ack_bytes: u16, data: u32, acks: u32) -> FlowSlot {
        FlowSlot {
            rare: RareCounts::default(),
            finish: Time::NEVER,
            traffic: Traffic::Once,
            sender_counts: Default::default(),
            crowded_acks: 0,
            data,
            rtt_samples: 0,
            rtt_sum: 0,
            cwnd_area: 0.0,
            cwnd_max: 0.0,
            acks: Ring::default(),
            loss_log: None,
            receiver_timer: 0,
            receiver_counts: Default::default(),
            first_ack_hop: acks,
            ack_bytes,
            receiver,
        }
    }

    /// All that it counted.
    pub(crate) fn statistics(&self) -> FlowStatistics {
        let RareCounts { retransmitted, dropped, lost, duplicate_acks, timeouts, fast_retransmits } = self.rare;
        FlowStatistics {
            sent: self.sender_counts.map(|counts| counts.sent),
            received: self.receiver_counts.map(|counts| counts.received),
            delivered: self.receiver_counts.map(|counts| counts.delivered),
            acked: self.sender_counts.map(|counts| counts.acked),
            rtt_sum: self.rtt_sum,
            rtt_samples: self.rtt_samples,
            cwnd_area: self.cwnd_area,
            cwnd_max: self.cwnd_max,
            finish: self.finish,
            retransmitted,
            dropped,
            lost,
            duplicate_acks,
            timeouts,
            fast_retransmits,
        }
    }

    /// Fetches what an ACK needs.
    #[inline(always)]
    pub(crate) fn prefetch_for_ack(&self) {
        prefetch(&self.crowded_acks);
    }

    /// Fetches what the end of a transfer needs, and what follows a loss.
    #[inline(always)]
    pub(crate) fn prefetch_rare(&self) {
        prefetch(&self.rare);
        prefetch(&self.finish);
    }

    /// Fetches what data need.
    #[inline(always)]
    pub(crate) fn prefetch_for_data(&self) {
        self.receiver.prefetch();
    }
}
