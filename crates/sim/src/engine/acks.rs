//! ACKs on their way into senders, whichever machines these are.

use base::{PacketKind, Time};
use tcp::{Ack, Acknowledgment, Machine, Selected, Selective};

use super::Engine;
use crate::flow::ArrivingAck;
use crate::network::{EventId, Network, Scheduled};
use crate::outbox::Outbox;

/// Most ACKs of a stream that one event handles.
const MOST_AT_ONCE: u32 = 64;

impl Engine {
    /// Handles the first ACK of a stream, and those after it that come before all else.
    #[inline(never)]
    pub(super) fn on_acks(&mut self, stream: u32, now: Time) {
        let number = self.network.numbers.number(EventId::Acks(stream));
        // Its own event is not among those that the next ACKs are compared with.
        self.network.events.set(number, Time::NEVER);
        let mut next = now;
        for handled in 1..=MOST_AT_ONCE {
            let Some(Scheduled { time, packet }) = self.network.arriving_acks(stream).pop() else { return };
            let is_flooded = self.take_shared_ack(packet.flow, &ArrivingAck::of(time, &packet));
            next = self.network.arriving_acks(stream).front().map_or(Time::NEVER, |first| first.time);
            if handled == MOST_AT_ONCE || is_flooded || !self.network.is_quiet(next) {
                break;
            }
            self.now = next;
            self.network.handled_ahead += 1;
        }
        self.network.events.set(number, next);
    }
}

/// The effect of an ACK on its sender.
pub(super) struct Taken {
    /// cwnd before it, and after.
    pub(super) cwnd: [f64; 2],
    /// Whether it ended the transfer.
    pub(super) finished: bool,
    /// Instant at which the sender's timer expires then. If another event of the sender comes first, any instant that is
    /// not before that event.
    pub(super) deadline: Time,
}

/// Passes an ACK to a machine, and counts it; returns `None` for a packet of the handshake. `reschedules`: whether the
/// sender's event is scheduled again afterwards.
#[inline(always)]
pub(super) fn pass_ack<M: Machine>(
    sender: &mut M,
    network: &mut Network,
    buffer: &mut Vec<Selected>,
    flow: u32,
    ack: &ArrivingAck,
    reschedules: bool,
) -> Option<Taken> {
    let (now, cwnd) = (ack.time, sender.cwnd());
    let index = network.measurement.index(now);
    let account = network.flows[flow as usize].account;
    let counts = &mut network.accounts[account as usize];
    let una = sender.una();
    let fresh = ack.next > una;
    if fresh {
        counts.acked[index] += ack.next - una;
        if index == 1 {
            counts.rtt_sum += u128::from((now - ack.echo).ticks());
            counts.rtt_samples += 1;
            if let Some(delays) = network.delays.get_mut(account as usize) {
                delays.round_trips.record(now - ack.echo);
            }
        }
    } else if ack.kind == PacketKind::Answer {
        return None;
    } else if ack.next == una && sender.flight_size() > 0 && ack.echo >= sender.opened() {
        counts.duplicate_acks[index] += 1;
    }
    if let Some(observers) = &mut network.observers {
        observers.ack(flow, now, ack.next, fresh.then(|| now - ack.echo), cwnd);
    }
    let waited = network.waited(flow, ack);
    let (selected, window) = match (ack.journal, Acknowledgment::window_in(ack.journal)) {
        (0, _) => (&[][..], u64::MAX),
        (_, Some(window)) => (&[][..], window),
        (number, None) => network.read_journal(flow, number, ack.next, buffer),
    };
    let ack = Ack { next: ack.next, echo: ack.echo, selected, window, marks: ack.marks, waited };
    sender.on_ack(now, ack, &mut Outbox { network, flow, now, reschedules });
    let finished = fresh && sender.finished();
    // When the timer expires exactly matters only if that comes first.
    let first = if reschedules { network.next_ack(flow) } else { network.flows[flow as usize].pending };
    Some(Taken { cwnd: [cwnd, sender.cwnd()], finished, deadline: sender.deadline_before(first) })
}

/// Notifies the observers, if there are some, of an event of a sender with selective acknowledgment.
#[inline(always)]
pub(super) fn report_state(network: &mut Network, flow: u32, now: Time, sender: &mut Selective) {
    if let Some(observers) = &mut network.observers {
        observers.state(flow, now, sender);
    }
}
