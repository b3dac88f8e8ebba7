//! The state of a receiver that a packet in order does not need.

use std::num::NonZeroU64;

use base::{Clock, Time};

use super::blocks::Blocks;
use super::ecn::EcnEcho;
use super::journal::Journal;
use super::linux::LinuxAcks;
use super::{Acknowledgment, Receiver, SackLog, CLOSES};
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
    pub(super) fin: Option<NonZeroU64>,
    /// Packets of the transfer that arrived once more, if the receiver enters packets in the journal.
    pub(super) duplicates: u32,
    /// Length of an ACK without blocks \[bytes\], unless Linux's rules or ns-2's have it.
    plain_ack_bytes: u16,
}

impl Rest {
    /// Returns what a receiver needs from the beginning; `None`: nothing.
    pub(super) fn of(config: &ReceiverConfig, quirks: &Quirks, clock: Clock) -> Option<Rest> {
        let linux = config.linux.map(|settings| LinuxAcks::new(settings, clock));
        let ecn = EcnEcho::new(config.ecn, quirks);
        let blocks = config.blocks.map(|settings| Box::new(Blocks::new(settings)));
        let needed = linux.is_some() || ecn.is_some() || blocks.is_some();
        needed.then(|| Rest { journal: Journal::default(), linux, ecn, blocks, ..Rest::default() })
    }
}

impl Rest {
    /// Returns whether the packet before `next` had the flag FIN.
    pub(super) fn ended_at(&self, next: u64) -> bool {
        self.fin.is_some_and(|end| end.get() == next)
    }
}

impl Receiver {
    /// Returns the state that most receivers have no use for, and creates it where there was none.
    pub(super) fn rest(&mut self) -> &mut Rest {
        let plain_ack_bytes = self.ack_bytes;
        self.rest.get_or_insert_with(|| Box::new(Rest { plain_ack_bytes, ..Rest::default() }))
    }

    /// Sets the length of an ACK that has no blocks \[bytes\].
    pub fn with_ack_bytes(mut self, bytes: u16) -> Receiver {
        self.ack_bytes = bytes;
        if let Some(rest) = &mut self.rest {
            rest.plain_ack_bytes = bytes;
            rest.blocks.iter_mut().for_each(|blocks| blocks.set_ack_bytes(bytes));
        }
        if let Some(rules) = self.linux_rules() {
            rules.set_ack_bytes(bytes);
        }
        self
    }

    /// Returns the length of the ACK that was given out last \[bytes\].
    #[inline(always)]
    pub fn ack_bytes(&self) -> u16 {
        self.ack_bytes
    }

    /// Returns the length of an ACK without blocks \[bytes\], of either end.
    pub fn plain_ack_bytes(&self) -> u16 {
        let Some(rest) = self.rest.as_deref() else { return self.ack_bytes };
        let by_ns2 = || rest.blocks.as_ref().map(|blocks| blocks.plain_ack_bytes());
        rest.linux.as_ref().map(LinuxAcks::plain_ack_bytes).or_else(by_ns2).unwrap_or(rest.plain_ack_bytes)
    }

    /// Makes ACKs as long as those without blocks, as the next one may answer a packet in order, which leaves the length as it
    /// is.
    pub(super) fn shorten_acks(&mut self) {
        self.ack_bytes = self.plain_ack_bytes();
    }

    /// Returns whether an ACK with this number of the journal makes windows known alone, and no packets.
    #[inline(always)]
    pub fn announces_windows_alone(&self, number: u32) -> bool {
        let alone = |rest: &Rest| rest.blocks.is_none() && rest.journal.has_windows_alone(number);
        number == 0 || Acknowledgment::window_in(number).is_some() || self.rest.as_deref().is_some_and(alone)
    }

    /// Prefetches what the next packet in order needs by Linux's rules.
    #[inline(always)]
    pub fn prefetch_rules(&self) {
        if let Some(rules) = self.rest.as_ref().and_then(|rest| rest.linux.as_ref()) {
            rules.prefetch();
        }
    }

    /// Gives memory back that it can do without until the next transfer.
    pub fn end_transfer(&mut self) {
        self.rest.iter_mut().for_each(|rest| rest.journal.release());
    }
}

/// The states that receivers with equal settings need in transfers alone: those given back wait for the next transfers.
///
/// A transfer begins with a fresh state. All that goes on is the number of the journal's last entry, which the caller
/// keeps meanwhile: ACKs of an earlier transfer, which may arrive later, have numbers too.
#[derive(Clone, Debug)]
pub struct SpareStates {
    fresh: Rest,
    #[expect(clippy::vec_box, reason = "a receiver keeps its box: nothing is copied")]
    spare: Vec<Box<Rest>>,
}

impl SpareStates {
    /// Takes the state of a receiver that has received nothing, and whose clones may share spare ones. Returns `None` if
    /// the receiver has none, or one that it needs between transfers too: an old packet may be answered with a FIN, ACKs
    /// with blocks are numbered, and a record goes on.
    pub fn of(receiver: &mut Receiver) -> Option<SpareStates> {
        let closes = receiver.held & CLOSES != 0;
        let rest = receiver.rest.take_if(|rest| !closes && rest.blocks.is_none() && rest.log.is_none())?;
        Some(SpareStates { fresh: *rest, spare: Vec::new() })
    }

    /// Takes the state of a receiver whose transfer has ended, and whose sender reads ACKs no more; returns the number of
    /// its journal's last entry, `None` if the receiver keeps its state. Of the copies of packets that were sent again,
    /// `arriving` have not been lost: if as many duplicates have arrived, no packet of the transfer is in the network.
    pub fn take(&mut self, receiver: &mut Receiver, arriving: u64) -> Option<u32> {
        let idle = receiver.deadline == Time::NEVER && receiver.held() == 0;
        let rest = receiver.rest.take_if(|rest| idle && u64::from(rest.duplicates) == arriving)?;
        let entered = rest.journal.entered();
        self.spare.push(rest);
        Some(entered)
    }

    /// Gives a state to a receiver that has none, before its next transfer begins; `entered` is the number of its
    /// journal's last entry.
    pub fn give(&mut self, receiver: &mut Receiver, entered: u32) {
        if receiver.rest.is_some() {
            return;
        }
        let mut rest = self.spare.pop().unwrap_or_else(|| Box::new(self.fresh.clone()));
        rest.journal.restart_after(entered);
        receiver.rest = Some(rest);
    }
}
