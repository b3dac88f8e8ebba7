//! The trace of senders with selective acknowledgment: a row for each event, and one for each round trip.

use base::Time;
use tcp::cc::Phase;
use tcp::{Selective, SenderEvent, State};

use super::rows::StateRow;

/// The state of one flow's sender when it was looked at last.
#[derive(Clone, Copy, Debug)]
struct Known {
    state: State,
    phase: Phase,
    /// Whether slow start was ended before a loss.
    ended: bool,
    /// SND.NXT when the current round began.
    round_end: u64,
}

/// A flow whose sender's states are recorded.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct StateFollower(Option<Known>);

impl StateFollower {
    /// Adds a row for each thing that happened to a sender since the last call; a round trip alone is one too.
    pub(super) fn observe(&mut self, flow: u32, time: Time, sender: &mut Selective, rows: &mut Vec<StateRow>) {
        let (mut events, view) = (sender.take_events(), sender.view());
        let before = self.0.filter(|_| !events.has(SenderEvent::Start));
        let round = before.is_none_or(|known| sender.una() >= known.round_end);
        if let Some(known) = before {
            events.add_if(view.start.ended && !known.ended, SenderEvent::HystartExit);
            events.add_if(view.state != known.state, SenderEvent::State);
            events.add_if(view.phase != known.phase, SenderEvent::Phase);
            events.add_if(round && events.is_empty(), SenderEvent::Round);
        }
        rows.extend(SenderEvent::ALL.into_iter().filter(|&event| events.has(event)).map(|event| StateRow {
            flow,
            time,
            event,
            view,
        }));
        let round_end = before.filter(|_| !round).map_or(sender.nxt(), |known| known.round_end);
        self.0 = Some(Known { state: view.state, phase: view.phase, ended: view.start.ended, round_end });
    }
}
