//! Streams of ACKs that several receivers send.
//!
//! Receivers that get their data in one stream are ahead of the clock together: when a packet arrives at one of them, all
//! earlier ones have arrived at the others, and the timers that expired before it are known. Their ACKs are sent first. So
//! the ACKs of all these receivers leave in order of time, and need no events where their stream alone feeds a link.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use base::cast::to_u32;
use base::Time;

use super::event::EventId;
use super::flows::AckTimer;
use super::Network;
use crate::route::{Element, Hop};

/// The timers of all receivers that may delay ACKs.
#[derive(Debug)]
pub(super) struct DelayedAcks {
    pub(super) timers: Vec<AckTimer>,
    /// Streams of ACKs that several receivers send.
    streams: Vec<AckStream>,
}

/// The timers of the receivers that send a stream of ACKs.
#[derive(Debug)]
struct AckStream {
    /// Instant up to which no timer expires: the first one that is scheduled, or [`Time::NEVER`].
    first: Time,
    /// Instants and flows of the timers that are scheduled. One may be earlier than its receiver's deadline, or may have none.
    scheduled: BinaryHeap<Reverse<(Time, u32)>>,
    /// The timer whose event is that of the stream: its first one.
    timer: u32,
}

impl Default for AckStream {
    fn default() -> AckStream {
        AckStream { first: Time::NEVER, scheduled: BinaryHeap::new(), timer: 0 }
    }
}

impl AckStream {
    fn find_first(&mut self) {
        self.first = self.scheduled.peek().map_or(Time::NEVER, |&Reverse((time, _))| time);
    }
}

impl DelayedAcks {
    /// Returns the timers, none of which is scheduled; `hops`: those of all paths, `streams`: the number of streams there.
    pub(super) fn new(timers: Vec<AckTimer>, hops: &[Hop], streams: usize) -> DelayedAcks {
        let mut streams: Vec<AckStream> = (0..streams).map(|_| AckStream::default()).collect();
        // The first timer of each stream remains.
        for (number, timer) in timers.iter().enumerate().rev() {
            if let Element::Receivers(stream) = hops[timer.first_hop as usize - 1].element {
                streams[stream as usize].timer = to_u32(number);
            }
        }
        DelayedAcks { timers, streams }
    }
}

impl Network {
    /// Sends the delayed ACKs of the stream to which a receiver belongs whose timers expire before a packet of `flow` arrives
    /// there: at one instant the flows go in order.
    #[inline(always)]
    pub(super) fn send_acks_due(&mut self, receiver: Element, time: Time, flow: u32) {
        let Element::Receivers(stream) = receiver else { return };
        if self.delayed_acks.streams[stream as usize].first <= time {
            self.send_acks_before(stream, time, flow);
        }
    }

    /// Schedules the timer of a receiver that sends a stream with others.
    pub(super) fn schedule_in_stream(&mut self, stream: u32, timer: u32, deadline: Time) {
        let stream = &mut self.delayed_acks.streams[stream as usize];
        stream.scheduled.push(Reverse((deadline, self.delayed_acks.timers[timer as usize].flow)));
        if deadline < stream.first {
            stream.first = deadline;
            self.events.advance(self.numbers.number(EventId::ReceiverTimer(stream.timer)), deadline);
        }
    }

    /// Sends the delayed ACKs of a stream whose timers expire now.
    pub(super) fn on_stream_timer(&mut self, stream: u32, now: Time) {
        self.send_acks_before(stream, now, u32::MAX);
        let AckStream { first, timer, .. } = self.delayed_acks.streams[stream as usize];
        self.events.set(self.numbers.number(EventId::ReceiverTimer(timer)), first);
    }

    #[cold]
    #[inline(never)]
    fn send_acks_before(&mut self, stream: u32, until: Time, flow: u32) {
        while let Some(&Reverse(first)) = self.delayed_acks.streams[stream as usize].scheduled.peek() {
            if first >= (until, flow) {
                break;
            }
            self.delayed_acks.streams[stream as usize].scheduled.pop();
            self.send_scheduled_ack(stream, first);
        }
        self.delayed_acks.streams[stream as usize].find_first();
    }

    /// Sends the delayed ACK of a receiver whose timer was scheduled, or schedules the timer again if it expires later.
    fn send_scheduled_ack(&mut self, stream: u32, (time, flow): (Time, u32)) {
        let (number, deadline) = (self.flows[flow as usize].receiver_timer, self.receiver_deadline(flow));
        let timer = &mut self.delayed_acks.timers[number as usize];
        if timer.scheduled != time {
            return;
        }
        timer.scheduled = Time::NEVER;
        if deadline <= time {
            self.on_receiver_deadline(number, deadline);
        } else if deadline != Time::NEVER {
            timer.scheduled = deadline;
            self.delayed_acks.streams[stream as usize].scheduled.push(Reverse((deadline, flow)));
        }
    }
}
