//! Owners of events, and their numbers in the event queue.

use base::cast::to_u32;
use base::Tournament;

/// Owner of an event. Of events at one instant the first in the order of these variants happens first, then the one
/// with the lowest index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EventId {
    /// A queued link: a packet departs.
    Queue(u32),
    /// The ATM network: its next cell event.
    Channels,
    /// A merge point of one stream: its first packet moves on.
    Merge(u32),
    /// A pipe in which packets overtake: the first one arrives.
    Pipe(u32),
    /// A merge point that many streams share: the first packet moves on.
    SharedMerge(u32),
    /// The common queue of ACKs: the first one reaches its sender.
    SharedAcks,
    /// A stream of ACKs to several senders: the first one reaches its sender.
    Acks(u32),
    /// A receiver's timer of delayed ACKs, by the index of the receiver among those that have one.
    ReceiverTimer(u32),
    /// A flow's sender: an ACK, its retransmission timer, or its start.
    Sender(u32),
}

/// Numbers of the event queue: each kind of owner has a range of them, in the order of [`EventId`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct EventNumbers {
    channels: u32,
    merges: u32,
    pipes: u32,
    shared_merges: u32,
    shared_acks: u32,
    acks: u32,
    receiver_timers: u32,
    senders: u32,
}

/// Numbers of owners of events, by kind.
#[derive(Clone, Copy, Debug)]
pub(super) struct EventCounts {
    pub(super) queues: usize,
    pub(super) channels: bool,
    pub(super) merges: usize,
    pub(super) pipes: usize,
    pub(super) shared_merges: usize,
    pub(super) acks: usize,
    pub(super) receiver_timers: usize,
}

impl EventNumbers {
    /// Returns the ranges for these numbers of owners; the range of the senders has no end.
    pub(super) fn new(counts: EventCounts) -> EventNumbers {
        let channels = to_u32(counts.queues);
        let merges = channels + u32::from(counts.channels);
        let pipes = merges + to_u32(counts.merges);
        let shared_merges = pipes + to_u32(counts.pipes);
        let shared_acks = shared_merges + to_u32(counts.shared_merges);
        let acks = shared_acks + 1;
        let receiver_timers = acks + to_u32(counts.acks);
        let senders = receiver_timers + to_u32(counts.receiver_timers);
        EventNumbers { channels, merges, pipes, shared_merges, shared_acks, acks, receiver_timers, senders }
    }

    /// Returns the number of an owner.
    #[inline(always)]
    pub(crate) fn number(&self, id: EventId) -> u32 {
        match id {
            EventId::Queue(index) => index,
            EventId::Channels => self.channels,
            EventId::Merge(index) => self.merges + index,
            EventId::Pipe(index) => self.pipes + index,
            EventId::SharedMerge(index) => self.shared_merges + index,
            EventId::SharedAcks => self.shared_acks,
            EventId::Acks(index) => self.acks + index,
            EventId::ReceiverTimer(index) => self.receiver_timers + index,
            EventId::Sender(flow) => self.senders + flow,
        }
    }

    /// Returns the owner of a number.
    #[inline(always)]
    pub(crate) fn id(&self, number: u32) -> EventId {
        if number >= self.senders {
            EventId::Sender(number - self.senders)
        } else if number >= self.receiver_timers {
            EventId::ReceiverTimer(number - self.receiver_timers)
        } else if number >= self.acks {
            EventId::Acks(number - self.acks)
        } else if number >= self.shared_acks {
            EventId::SharedAcks
        } else if number >= self.shared_merges {
            EventId::SharedMerge(number - self.shared_merges)
        } else if number >= self.pipes {
            EventId::Pipe(number - self.pipes)
        } else if number >= self.merges {
            EventId::Merge(number - self.merges)
        } else if number >= self.channels {
            EventId::Channels
        } else {
            EventId::Queue(number)
        }
    }
}

/// Returns the event queue of all owners of events. Those with the most are the queues, in which all packets wait, or
/// else the merge points.
pub(super) fn event_queue(numbers: &EventNumbers, queues: usize, flows: usize) -> Tournament {
    let first_rare = if queues > 0 { EventId::Merge(0) } else { EventId::ReceiverTimer(0) };
    let frequent = numbers.number(first_rare) as usize;
    Tournament::with_frequent(frequent, numbers.number(EventId::Sender(0)) as usize + flows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_has_one_owner_in_the_order_of_the_kinds() {
        for channels in [false, true] {
            let (queues, merges, pipes, shared_merges, acks, receiver_timers) = (2, 3, 1, 2, 2, 2);
            let counts = EventCounts { queues, channels, merges, pipes, shared_merges, acks, receiver_timers };
            let numbers = EventNumbers::new(counts);
            let mut expected = vec![EventId::Queue(0), EventId::Queue(1)];
            expected.extend(channels.then_some(EventId::Channels));
            expected.extend((0..3).map(EventId::Merge));
            expected.push(EventId::Pipe(0));
            expected.extend((0..2).map(EventId::SharedMerge));
            expected.push(EventId::SharedAcks);
            expected.extend((0..2).map(EventId::Acks));
            expected.extend((0..2).map(EventId::ReceiverTimer));
            expected.extend((0..3).map(EventId::Sender));
            let found: Vec<EventId> = (0..to_u32(expected.len())).map(|number| numbers.id(number)).collect();
            assert_eq!(found, expected);
            let back: Vec<u32> = expected.iter().map(|&id| numbers.number(id)).collect();
            assert_eq!(back, (0..to_u32(expected.len())).collect::<Vec<_>>());
        }
    }
}
