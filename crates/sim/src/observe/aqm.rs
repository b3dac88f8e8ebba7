use std::collections::BTreeMap;

use base::Time;
use net::AqmState;

use super::rows::AqmRow;
use super::Observers;

/// The last recorded states of AQMs, by link and class.
pub(super) type LastStates = BTreeMap<(u32, u32), AqmState>;

impl Observers {
    /// Returns whether the states of AQMs are recorded.
    pub(crate) fn follows_aqm(&self) -> bool {
        self.traces.aqm.is_some()
    }

    /// Records the state of a link's AQM, if it has changed.
    pub(crate) fn aqm(&mut self, link: u32, time: Time, state: AqmState) {
        let Some(rows) = &mut self.traces.aqm else { return };
        if time <= self.measurement.end && self.aqm_states.insert((link, state.class), state) != Some(state) {
            rows.push(AqmRow { link, time, state });
        }
    }
}
