//! The absence of a congestion control.

use base::Time;

use super::{AckSample, CongestionControl, Signal, Window};

/// The control of a sender whose own one is taken out of it for a moment. It allocates nothing.
#[derive(Clone, Debug)]
struct Absent;

impl CongestionControl for Absent {
    fn on_ack(&mut self, _ack: &AckSample, _window: &mut Window) {}

    fn on_congestion(&mut self, _signal: Signal, _now: Time, window: &Window) -> f64 {
        window.ssthresh
    }

    fn restart(&mut self) {}

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(Absent)
    }
}

impl Default for Box<dyn CongestionControl> {
    fn default() -> Self {
        Box::new(Absent)
    }
}
