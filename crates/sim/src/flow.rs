use std::mem::offset_of;

use base::{prefetch, Time};
use tcp::Receiver;

use crate::loss_log::LogNumber;

/// An ACK on its last way to the sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ArrivingAck {
    pub(crate) time: Time,
    pub(crate) next: u64,
    pub(crate) echo: Time,
}

/// Departures that stand with each end of a flow.
const DEPARTURES_AT_END: usize = 2;

/// What the network and the engine keep of a flow. In the order of use: the first cache line is that of the sender's end, for ACKs and
/// for what they let out; the second one that of the receiver's end, for data.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct FlowSlot {
    /// The sender's instant in the event queue, or a later one.
    pub(crate) pending: Time,
    /// The sender has its congestion window since then.
    pub(crate) since: Time,
    /// When it last sent.
    pub(crate) last_sent: Time,
    /// When the last packet departs from each of the flow's own copies of links at this end; see [`Departures`].
    sender_departures: [Time; DEPARTURES_AT_END],
    /// Where it is counted.
    pub(crate) account: u32,
    /// Its source of transfers; [`NO_SOURCE`] where it has none.
    pub(crate) source: u32,
    /// Number of its ACKs that wait where all senders' ACKs do.
    pub(crate) shared_acks: u32,
    /// The first hop of its data.
    pub(crate) data: u32,
    /// The log of its losses; none where there was none that matters.
    pub(crate) loss_log: Option<LogNumber>,
    pub(crate) packet_bytes: u16,
    /// As `sender_departures`, of all other copies.
    receiver_departures: [Time; DEPARTURES_AT_END],
    /// As `account`.
    pub(crate) receiver_account: u32,
    /// The first hop of its ACKs, right behind that of the receiver, and their size.
    pub(crate) first_ack_hop: u32,
    pub(crate) ack_bytes: u16,
    pub(crate) receiver: Receiver,
    /// The receiver's element in the event queue, where it may hold ACKs back.
    pub(crate) receiver_timer: u32,
}

pub(crate) const NO_SOURCE: u32 = u32::MAX;

// Whole cache lines, in which the front of the receiver ends one.
const _: () = assert!(size_of::<FlowSlot>() == 192);
const _: () = assert!(offset_of!(FlowSlot, receiver_departures) == 64);
const _: () = assert!(offset_of!(FlowSlot, receiver) == 96);

/// When the last packet departs from each flow's own copies of links: the first at each end of the flow stand with it, the rest here.
#[derive(Clone, Debug)]
pub(crate) struct Departures {
    more: Vec<Time>,
    /// How many of a flow stand here.
    each: usize,
}

/// Where the last departure from a flow's copy of a link stands: so many at the sender's end, as many at the receiver's, and from then on
/// elsewhere.
pub(crate) type DepartureSeat = usize;

/// The seats that a flow has taken: at the sender's end, and at the other one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Seats([usize; 2]);

impl Seats {
    /// The next one at this end, or elsewhere where none is left there.
    pub(crate) fn next(&mut self, at_sender: bool) -> DepartureSeat {
        let end = usize::from(!at_sender);
        let there = self.0[end];
        self.0[end] += 1;
        if there < DEPARTURES_AT_END {
            return end * DEPARTURES_AT_END + there;
        }
        let elsewhere: usize = self.0.iter().map(|taken| taken.saturating_sub(DEPARTURES_AT_END)).sum();
        2 * DEPARTURES_AT_END + elsewhere - 1
    }
}

impl Departures {
    /// For so many flows, each of which has seats below this one.
    pub(crate) fn new(flows: usize, seats: DepartureSeat) -> Departures {
        let each = seats.saturating_sub(2 * DEPARTURES_AT_END);
        Departures { more: vec![Time::ZERO; flows * each], each }
    }

    /// Of a flow.
    #[inline(always)]
    pub(crate) fn last<'a>(&'a mut self, flows: &'a mut [FlowSlot], flow: u32, seat: DepartureSeat) -> &'a mut Time {
        if seat < DEPARTURES_AT_END {
            &mut flows[flow as usize].sender_departures[seat]
        } else if seat < 2 * DEPARTURES_AT_END {
            &mut flows[flow as usize].receiver_departures[seat - DEPARTURES_AT_END]
        } else {
            &mut self.more[flow as usize * self.each + seat - 2 * DEPARTURES_AT_END]
        }
    }
}

impl FlowSlot {
    /// A flow that has done nothing yet.
    pub(crate) fn new(
        receiver: Receiver,
        packet_bytes: u16,
        ack_bytes: u16,
        data: u32,
        acks: u32,
        account: u32,
    ) -> FlowSlot {
        FlowSlot {
            pending: Time::NEVER,
            since: Time::ZERO,
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
            first_ack_hop: acks,
            ack_bytes,
            receiver,
            receiver_timer: 0,
        }
    }

    /// Its source of transfers, if it has one.
    #[inline(always)]
    pub(crate) fn source(&self) -> Option<u32> {
        (self.source != NO_SOURCE).then_some(self.source)
    }

    /// Fetches what an ACK needs, and the sender.
    #[inline(always)]
    pub(crate) fn prefetch_sender_end(&self) {
        prefetch(&self.pending);
    }

    /// Fetches what data need.
    #[inline(always)]
    pub(crate) fn prefetch_receiver_end(&self) {
        prefetch(&self.receiver_departures);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_copy_of_a_link_has_a_seat_of_its_own() {
        // Each way of six to lie at one end or the other.
        for ends in 0..64_u32 {
            let mut seats = Seats::default();
            let mut given: Vec<_> = (0..6).map(|link| seats.next(ends >> link & 1 == 0)).collect();
            given.sort_unstable();
            let distinct = given.windows(2).all(|pair| pair[0] < pair[1]);
            let (here, there) = (6 - ends.count_ones() as usize, ends.count_ones() as usize);
            let elsewhere = here.saturating_sub(2) + there.saturating_sub(2);
            assert!(distinct && given[5] < 4 + elsewhere, "{given:?}");
        }
    }
}
