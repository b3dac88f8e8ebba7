use base::{prefetch, Time};
use tcp::Sender;

/// A sender, and what the engine keeps of it that is seldom needed: an ACK needs the first two cache lines.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct SenderSlot {
    pub(crate) sender: Sender,
    /// When it starts, or starts anew; of no account while its timer runs.
    pub(crate) start: Time,
    /// Its source of packets that nobody answers, if it has one.
    pub(crate) datagrams: Option<u32>,
}

// Whole cache lines.
const _: () = assert!(size_of::<SenderSlot>() == 192);

impl SenderSlot {
    /// When it has something to do that no ACK leads to.
    #[inline(always)]
    pub(crate) fn next(&self) -> Time {
        match self.sender.deadline() {
            Time::NEVER => self.start,
            deadline => deadline,
        }
    }

    /// Fetches what an ACK needs.
    #[inline(always)]
    pub(crate) fn prefetch(&self) {
        self.sender.prefetch();
    }

    /// Fetches the rest.
    #[inline(always)]
    pub(crate) fn prefetch_rest(&self) {
        prefetch(&self.start);
    }
}
