use std::mem::offset_of;

use base::cast::{to_index, to_u32};
use base::{prefetch, Marks, Packet, PacketKind, Time};
use tcp::Receiver;

use crate::loss_log::LogNumber;
use crate::statistics::FlowStatistics;

/// An ACK that is about to arrive at its sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ArrivingAck {
    pub(crate) time: Time,
    pub(crate) next: u64,
    pub(crate) echo: Time,
    /// Number of packets in the receiver's journal that it makes known; 0: none. Of an answer: its number.
    pub(crate) journal: u32,
    /// Bits of its header, ECE among them.
    pub(crate) marks: Marks,
    /// An ACK, or an answer.
    pub(crate) kind: PacketKind,
}

impl ArrivingAck {
    /// Returns the ACK of a packet that arrives at `time`.
    #[inline(always)]
    pub(crate) fn of(time: Time, packet: &Packet) -> ArrivingAck {
        let &Packet { sequence: next, stamp: echo, journal, marks, kind, .. } = packet;
        ArrivingAck { time, next, echo, journal, marks, kind }
    }
}

/// Number of slots for departures in each half of a [`FlowSlot`].
const SLOTS_AT_END: usize = 2;

/// The state of a flow in the network and the engine.
///
/// Fields are ordered by use: the first cache line is the sender's end, for ACKs and the data that they release; the
/// second one is the receiver's end, for data.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct FlowSlot {
    /// Instant of the sender's event in the event queue, or a later one.
    pub(crate) pending: Time,
    /// Last change of the congestion window.
    pub(crate) since: Time,
    /// Instant of the last transmission.
    pub(crate) last_sent: Time,
    /// Last departure from each of the first private links at this end; see [`PrivateDepartures`].
    sender_departures: [Time; SLOTS_AT_END],
    /// Index of the account that counts the flow's packets.
    pub(crate) account: u32,
    /// Index of the source of transfers; or [`NO_SOURCE`].
    pub(crate) source: u32,
    /// Number of ACKs of the flow in the common queue of ACKs.
    pub(crate) shared_acks: u32,
    /// Index of the first hop of data.
    pub(crate) data: u32,
    /// Log of losses; `None` until the flow loses or retransmits a packet.
    pub(crate) loss_log: Option<LogNumber>,
    pub(crate) packet_bytes: u16,
    /// Last departure from each of the first private links at the receiver's end.
    receiver_departures: [Time; SLOTS_AT_END],
    /// Copy of `account` in this cache line.
    pub(crate) receiver_account: u32,
    /// Number of the last entry in the receiver's journal, while it has given its state back.
    pub(crate) journal: u32,
    pub(crate) receiver: Receiver,
    /// Index of the receiver's timer, if it delays ACKs.
    pub(crate) receiver_timer: u32,
    /// Packets that arrived in the warm-up and that the receiver holds beyond a hole.
    pub(crate) held_of_warmup: u32,
}

pub(crate) const NO_SOURCE: u32 = u32::MAX;

// Whole cache lines; the fields of the receiver that every packet needs are at the end of the second one.
const _: () = assert!(size_of::<FlowSlot>() == 192);
const _: () = assert!(offset_of!(FlowSlot, receiver_departures) == 64);
const _: () = assert!(offset_of!(FlowSlot, receiver) == 88);

/// The last departure from each private link of each flow, which is the whole state of such a link.
///
/// The first links at each end of a flow have slots in its [`FlowSlot`], all others here.
#[derive(Clone, Debug)]
pub(crate) struct PrivateDepartures {
    more: Vec<Time>,
    /// Slots of a flow in `more`.
    slots_per_flow: usize,
}

/// Index of the slot of a private link's last departure: two slots at the sender's end, two at the receiver's, all
/// others in `PrivateDepartures::more`.
pub(crate) type DepartureSlot = usize;

/// Allocates the slots of a flow; counts those allocated at the sender's end and at the receiver's.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct SlotAllocator([usize; 2]);

impl SlotAllocator {
    /// Returns the next free slot at an end, or elsewhere if all slots at this end are taken.
    pub(crate) fn allocate(&mut self, at_sender: bool) -> DepartureSlot {
        let end = usize::from(!at_sender);
        let taken = self.0[end];
        self.0[end] += 1;
        if taken < SLOTS_AT_END {
            return end * SLOTS_AT_END + taken;
        }
        let elsewhere: usize = self.0.iter().map(|taken| taken.saturating_sub(SLOTS_AT_END)).sum();
        2 * SLOTS_AT_END + elsewhere - 1
    }
}

impl PrivateDepartures {
    /// Returns the slots of `flows` flows, `slots` for each, with no departure yet.
    pub(crate) fn new(flows: usize, slots: usize) -> PrivateDepartures {
        let slots_per_flow = slots.saturating_sub(2 * SLOTS_AT_END);
        PrivateDepartures { more: vec![Time::ZERO; flows * slots_per_flow], slots_per_flow }
    }

    /// Returns the last departure in a slot of a flow.
    #[inline(always)]
    pub(crate) fn last<'a>(&'a mut self, flows: &'a mut [FlowSlot], flow: u32, slot: DepartureSlot) -> &'a mut Time {
        if slot < SLOTS_AT_END {
            &mut flows[flow as usize].sender_departures[slot]
        } else if slot < 2 * SLOTS_AT_END {
            &mut flows[flow as usize].receiver_departures[slot - SLOTS_AT_END]
        } else {
            &mut self.more[flow as usize * self.slots_per_flow + slot - 2 * SLOTS_AT_END]
        }
    }
}

impl FlowSlot {
    /// Returns the state of a flow that has done nothing yet.
    pub(crate) fn new(receiver: Receiver, packet_bytes: u16, data: u32, account: u32) -> FlowSlot {
        FlowSlot {
            pending: Time::NEVER,
            since: Time::NEVER,
            last_sent: Time::ZERO,
            sender_departures: Default::default(),
            account,
            source: NO_SOURCE,
            shared_acks: 0,
            data,
            loss_log: None,
            packet_bytes,
            receiver_departures: Default::default(),
            receiver_account: account,
            journal: 0,
            held_of_warmup: 0,
            receiver,
            receiver_timer: 0,
        }
    }

    /// Returns the index of the source of transfers, if there is one.
    #[inline(always)]
    pub(crate) fn source(&self) -> Option<u32> {
        (self.source != NO_SOURCE).then_some(self.source)
    }

    /// Accounts for packets beyond a hole after one has arrived that delivers none or several: how many are of the
    /// warm-up (`index` 0), and how many of these are delivered in the measured part.
    #[cold]
    #[inline(never)]
    pub(crate) fn account_for_held(&mut self, counts: &mut FlowStatistics, index: usize, delivered: u64) {
        if index == 0 {
            self.held_of_warmup = self.receiver.held();
            return;
        }
        // The packet that has just arrived is the first of those delivered.
        let released = delivered.saturating_sub(1);
        let of_warmup = u64::from(self.held_of_warmup).min(released);
        self.held_of_warmup -= to_u32(to_index(of_warmup));
        counts.delivered_of_warmup += of_warmup;
    }

    /// Prefetches the fields that an ACK and the sender need.
    #[inline(always)]
    pub(crate) fn prefetch_sender_end(&self) {
        prefetch(&self.pending);
    }

    /// Prefetches all that data need but what the receiver has elsewhere.
    #[inline(always)]
    pub(crate) fn prefetch_receiver(&self) {
        prefetch(&self.receiver_departures);
        self.receiver.prefetch_rest();
    }

    /// Prefetches the fields that data need.
    #[inline(always)]
    pub(crate) fn prefetch_receiver_end(&self) {
        prefetch(&self.receiver_departures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_private_link_has_a_slot_of_its_own() {
        // Six links, each at one end or the other, in all combinations.
        for ends in 0..64_u32 {
            let mut slots = SlotAllocator::default();
            let mut given: Vec<_> = (0..6).map(|link| slots.allocate(ends >> link & 1 == 0)).collect();
            given.sort_unstable();
            let distinct = given.windows(2).all(|pair| pair[0] < pair[1]);
            let (here, there) = (6 - ends.count_ones() as usize, ends.count_ones() as usize);
            let elsewhere = here.saturating_sub(2) + there.saturating_sub(2);
            assert!(distinct && given[5] < 4 + elsewhere, "{given:?}");
        }
    }
}
