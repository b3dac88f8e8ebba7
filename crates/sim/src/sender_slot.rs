use base::{prefetch, Time};
use tcp::Sender;

/// A sender, and what the engine keeps of it. In the order of use: the first three cache lines are what an ACK needs.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct SenderSlot {
    /// When it starts, or starts anew.
    pub(crate) start: Time,
    /// Its instant in the event queue, or a later one.
    pub(crate) pending: Time,
    /// cwnd since when.
    pub(crate) since: Time,
    /// When it last sent.
    pub(crate) last_sent: Time,
    pub(crate) packet_bytes: u16,
    /// Its ACKs wait in the crowd of all such senders.
    pub(crate) crowded: bool,
    /// Its source of transfers, as [`crate::flow::Traffic`] says too, in a line that is needed anyway (3% with 100,000 sources);
    /// [`NO_SOURCE`] where it has none.
    pub(crate) source: u32,
    pub(crate) sender: Sender,
}

pub(crate) const NO_SOURCE: u32 = u32::MAX;

// Whole cache lines.
const _: () = assert!(size_of::<SenderSlot>() == 256);

impl SenderSlot {
    /// Fetches what an ACK needs.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        prefetch(&self.start);
        self.sender.prefetch();
    }
}
