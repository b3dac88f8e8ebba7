use std::mem::offset_of;

use base::{prefetch, Ring, Time};
use tcp::Receiver;

use crate::recovery::LogNumber;

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

/// Departures that stand with the flow.
const DEPARTURES_HERE: usize = 4;

/// What the network keeps of a flow. In the order of use: the first cache line is what an ACK needs, data need the next one too.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub(crate) struct FlowSlot {
    /// When the last packet departs from each of its own copies of links; see [`Departures`].
    departures: [Time; DEPARTURES_HERE],
    pub(crate) traffic: Traffic,
    /// Where it is counted.
    pub(crate) account: u32,
    /// ACKs that wait in the crowd of the senders.
    pub(crate) crowded_acks: u32,
    /// The first hop of its data.
    pub(crate) data: u32,
    /// The first hop of its ACKs, right behind that of the receiver, and their size.
    pub(crate) first_ack_hop: u32,
    pub(crate) ack_bytes: u16,
    /// The receiver's element in the event queue, where it may hold ACKs back.
    pub(crate) receiver_timer: u32,
    pub(crate) receiver: Receiver,
    /// The log of its losses; none where there was none that matters.
    pub(crate) loss_log: Option<LogNumber>,
    /// ACKs on their last way to the sender.
    pub(crate) acks: Ring<ArrivingAck>,
}

// Whole cache lines; what data need beyond the first begins one.
const _: () = assert!(size_of::<FlowSlot>() == 192);
const _: () = assert!(offset_of!(FlowSlot, receiver) == 64);

/// When the last packet departs from each flow's own copies of links: the first of them stand with the flow, the rest here.
#[derive(Clone, Debug)]
pub(crate) struct Departures {
    more: Vec<Time>,
    /// How many of a flow stand here.
    each: usize,
}

impl Departures {
    /// For so many flows, each of which has so many such links at most.
    pub(crate) fn new(flows: usize, most: usize) -> Departures {
        let each = most.saturating_sub(DEPARTURES_HERE);
        Departures { more: vec![Time::ZERO; flows * each], each }
    }

    /// Of a flow, from the copy of a link before which it crosses `ordinal` others of its own.
    #[inline(always)]
    pub(crate) fn last<'a>(&'a mut self, flows: &'a mut [FlowSlot], flow: u32, ordinal: usize) -> &'a mut Time {
        if ordinal < DEPARTURES_HERE {
            &mut flows[flow as usize].departures[ordinal]
        } else {
            &mut self.more[flow as usize * self.each + ordinal - DEPARTURES_HERE]
        }
    }
}

impl FlowSlot {
    /// A flow that has done nothing yet.
    pub(crate) fn new(receiver: Receiver, ack_bytes: u16, data: u32, acks: u32, account: u32) -> FlowSlot {
        FlowSlot {
            departures: Default::default(),
            traffic: Traffic::Once,
            account,
            crowded_acks: 0,
            data,
            first_ack_hop: acks,
            ack_bytes,
            receiver_timer: 0,
            receiver,
            loss_log: None,
            acks: Ring::default(),
        }
    }

    /// Fetches what an ACK needs.
    #[inline(always)]
    pub(crate) fn prefetch_for_ack(&self) {
        prefetch(&self.departures);
    }

    /// Fetches what data need.
    #[inline(always)]
    pub(crate) fn prefetch_for_data(&self) {
        prefetch(&self.departures);
        self.receiver.prefetch();
    }
}
