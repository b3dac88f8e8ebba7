use super::super::AqmState;
use super::Codel;

impl Codel {
    /// Returns the state that traces have.
    pub(in crate::queue::aqm) fn state(&self) -> AqmState {
        let next_drop = self.dropping.then(|| self.drop_next as f64 / self.units_per_tick);
        AqmState { count: Some(self.count), dropping: Some(self.dropping), next_drop, ..AqmState::default() }
    }
}
