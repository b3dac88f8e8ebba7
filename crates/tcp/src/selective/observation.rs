//! The sender as traces show it. What happens is noted in bits; an observer takes them after each event of the sender.

use std::sync::Arc;

use base::Time;
use serde::Deserialize;

use super::rate::Rate;
use super::{Selective, State};
use crate::actions::Ack;
use crate::cc::{Phase, StartProgress};
use crate::LossDetection;

/// The reason for which the state of a sender is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SenderEvent {
    /// A transfer started.
    Start,
    /// The retransmission timer expired.
    Timeout,
    /// A tail loss probe was sent (RFC 8985 section 7.3).
    Probe,
    /// The probe turned out to have repaired a loss, so that the window was reduced (section 7.4).
    ProbeRepair,
    /// A reduction was undone, as a timestamp showed that the original had arrived (RFC 3522).
    UndoEifel,
    /// A reduction was undone, as the receiver had duplicates of all retransmissions (RFC 3708).
    UndoDsack,
    /// A reduction was undone, as data that were sent once arrived after the timeout (RFC 5682).
    UndoFrto,
    /// A reduction was undone, as all arrived before anything was retransmitted.
    UndoUnsent,
    /// Slow start was ended before a loss (HyStart, RFC 9406).
    HystartExit,
    /// The state of congestion changed.
    State,
    /// The congestion control's phase changed.
    Phase,
    /// A round trip ended: all that was outstanding at the round before is acknowledged.
    Round,
}

impl SenderEvent {
    /// All events, in the order of their codes.
    pub const ALL: [SenderEvent; 12] = [
        SenderEvent::Start,
        SenderEvent::Timeout,
        SenderEvent::Probe,
        SenderEvent::ProbeRepair,
        SenderEvent::UndoEifel,
        SenderEvent::UndoDsack,
        SenderEvent::UndoFrto,
        SenderEvent::UndoUnsent,
        SenderEvent::HystartExit,
        SenderEvent::State,
        SenderEvent::Phase,
        SenderEvent::Round,
    ];
}

/// A set of events of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderEvents(u16);

impl SenderEvents {
    /// Adds an event if it `happened`.
    pub fn add_if(&mut self, happened: bool, event: SenderEvent) {
        self.0 |= u16::from(happened) << event as u16;
    }

    /// Adds an event.
    pub fn add(&mut self, event: SenderEvent) {
        self.add_if(true, event);
    }

    /// Returns whether an event is among these.
    pub fn has(self, event: SenderEvent) -> bool {
        self.0 >> event as u16 & 1 == 1
    }

    /// Returns whether these are none.
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

/// The state of a sender with selective acknowledgment at an instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SenderView {
    /// State of congestion.
    pub state: State,
    /// Phase of the congestion control.
    pub phase: Phase,
    /// Progress of its slow start.
    pub start: StartProgress,
    /// Congestion window \[packets\].
    pub cwnd: f64,
    /// Slow start threshold \[packets\].
    pub ssthresh: f64,
    /// Packets that are taken to be in the network (RFC 6675).
    pub pipe: u64,
    /// Packets delivered and sent since proportional rate reduction began (RFC 9937); zeros while it does not act.
    pub prr: (u32, u32),
    /// Smoothed round trip; `None` before the first sample.
    pub srtt: Option<Time>,
    /// RACK's window for reordered packets (RFC 8985 section 6.2); `None` without RACK or a round trip.
    pub reordering_window: Option<Time>,
    /// Rate at which packets are paced \[bit/s of payload\]; `None` if they are not.
    pub pacing_rate: Option<f64>,
    /// Newest sample of the delivery rate that the application did not limit \[bit/s of payload\].
    pub delivery_rate: Option<f64>,
}

impl Selective {
    /// Samples the delivery rate for [`Selective::view`], whether the congestion control needs it or not.
    pub fn observe(&mut self) {
        let rules = Arc::make_mut(&mut self.rules);
        rules.is_observed = true;
        self.rate = rules.samples_rate().then(|| Box::new(Rate::new(rules.kernel_clock)));
    }

    /// Returns what happened since the last call.
    pub fn take_events(&mut self) -> SenderEvents {
        std::mem::take(&mut self.events)
    }

    /// Returns the sender's state for a trace.
    pub fn view(&self) -> SenderView {
        let bits = f64::from(self.rules.config.segment_bytes) * 8.0;
        let acts = self.is_reducing() && !self.rules.needs.window;
        let srtt = Some(self.rtt.smoothed()).filter(|&srtt| srtt > Time::ZERO);
        let by_time = self.rules.config.sack && self.rules.config.loss_detection == LossDetection::Rack;
        SenderView {
            state: self.state,
            phase: self.control.phase(self.in_slow_start()),
            start: self.control.start_progress(),
            cwnd: self.window.cwnd,
            ssthresh: self.window.ssthresh,
            pipe: self.flight_size(),
            prr: if acts { self.reduction.progress() } else { (0, 0) },
            srtt,
            reordering_window: srtt.filter(|_| by_time).map(|_| self.rack.window(&self.reordering())),
            pacing_rate: self.pacer.rate().map(|bytes| bytes as f64 * 8.0),
            delivery_rate: self.rate.as_ref().and_then(|rate| rate.packets_per_second()).map(|rate| rate * bits),
        }
    }

    /// Returns the event of an undo that an ACK which passed [`Selective::may_undo`] allows.
    pub(super) fn undo_event(&self, ack: &Ack<'_>) -> SenderEvent {
        if self.undo.is_answered() {
            return SenderEvent::UndoDsack;
        }
        self.undo_event_of_late(ack)
    }

    /// Returns the event of an undo because packets were late.
    pub(super) fn undo_event_of_late(&self, ack: &Ack<'_>) -> SenderEvent {
        if self.is_echo_of_original(ack) {
            return SenderEvent::UndoEifel;
        }
        SenderEvent::UndoUnsent
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_has_a_bit_of_its_own() {
        for (code, event) in SenderEvent::ALL.into_iter().enumerate() {
            let mut events = SenderEvents::default();
            assert!(events.is_empty());
            events.add(event);
            let found: Vec<_> = SenderEvent::ALL.into_iter().filter(|&one| events.has(one)).collect();
            assert_eq!((event as usize, found), (code, vec![event]));
        }
    }
}
