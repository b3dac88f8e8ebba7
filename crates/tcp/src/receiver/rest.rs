//! The state of a receiver that a packet in order does not need.

use base::{Clock, Time};

use super::blocks::Blocks;
use super::ecn::EcnEcho;
use super::journal::Journal;
use super::linux::LinuxAcks;
use super::{Receiver, SackLog};
use crate::quirks::Quirks;
use crate::ReceiverConfig;

/// The state of a receiver that most have no use for.
#[derive(Clone, Debug, Default)]
pub(super) struct Rest {
    /// Packets that ACKs acknowledge selectively, and windows that they announce.
    pub(super) journal: Journal,
    /// Linux's rules for sending ACKs, if they apply.
    pub(super) linux: Option<LinuxAcks>,
    /// The echo of marks, if there is one.
    pub(super) ecn: Option<EcnEcho>,
    /// The blocks of ACKs by ns-2's rules, in place of the journal.
    pub(super) blocks: Option<Box<Blocks>>,
    /// The record of SACK options, if a capture needs them.
    pub(super) log: Option<Box<SackLog>>,
    /// One past the packet that had the flag FIN, if it has arrived.
    pub(super) fin: Option<u64>,
}

impl Rest {
    /// Returns what a receiver needs from the beginning; `None`: nothing.
    pub(super) fn of(config: &ReceiverConfig, quirks: &Quirks, clock: Clock) -> Option<Rest> {
        let linux = config.linux.map(|settings| LinuxAcks::new(settings, Time::ZERO, clock));
        let ecn = EcnEcho::new(config.ecn, quirks);
        let blocks = config.blocks.map(|settings| Box::new(Blocks::new(settings)));
        let needed = linux.is_some() || ecn.is_some() || blocks.is_some();
        needed.then(|| Rest { journal: Journal::default(), linux, ecn, blocks, ..Rest::default() })
    }
}

impl Receiver {
    /// Returns whether an ACK with this number of the journal makes windows known alone, and no packets.
    pub fn announces_windows_alone(&self, number: u32) -> bool {
        let alone = |rest: &Rest| rest.blocks.is_none() && rest.journal.has_windows_alone(number);
        number == 0 || self.rest.as_deref().is_some_and(alone)
    }

    /// Gives memory back that it can do without until the next transfer.
    pub fn end_transfer(&mut self) {
        self.rest.iter_mut().for_each(|rest| rest.journal.release());
    }
}
