use base::{prefetch, Time};
use tcp::Sender;

/// A sender, and the state of it that the engine seldom needs: an ACK touches the first two cache lines only.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct SenderSlot {
    pub(crate) sender: Sender,
    /// Next start of the flow or of a transfer; ignored while the retransmission timer is armed.
    pub(crate) start: Time,
    /// Index of the source of datagrams, if the flow is one.
    pub(crate) datagrams: Option<u32>,
}

// Whole cache lines.
const _: () = assert!(size_of::<SenderSlot>() == 192);

impl SenderSlot {
    /// Returns the next event of the sender that is not an ACK, given when its timer expires: that, or else its start.
    #[inline(always)]
    pub(crate) fn next(&self, deadline: Time) -> Time {
        match deadline {
            Time::NEVER => self.start,
            deadline => deadline,
        }
    }

    /// Prefetches the fields that an ACK needs.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        self.sender.prefetch();
    }

    /// Prefetches all other fields.
    #[inline(always)]
    pub(crate) fn prefetch_rest(&self) {
        prefetch(&self.start);
    }
}
