//! Scalable TCP (Kelly 2003), as Linux's `tcp_scalable.c`: growth by a hundredth of what is acknowledged.

use base::Time;

use super::common::Common;
use super::kernel::packets;
use super::{AckSample, CongestionControl, Parameter, Settings, Signal, StartProgress, Window};

/// Numbers that scenarios may set.
pub(super) const PARAMETERS: [Parameter; 2] = [
    Parameter::new("a", "", [0.001, 1.0], 0.01, "Packets of growth for a packet acknowledged; Linux has 1/100."),
    Parameter::new("b", "", [0.01, 0.9], 0.125, "Fraction of cwnd that a loss takes."),
];

#[derive(Clone, Debug)]
struct Scalable {
    common: Common,
    /// Acknowledged packets for a packet of growth, at most.
    count: u32,
    decrease: f64,
}

/// Creates Scalable's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    let [increase, decrease] = settings.values(&PARAMETERS);
    Box::new(Scalable { common: Common::new(settings), count: packets((1.0 / increase).round()), decrease })
}

impl CongestionControl for Scalable {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        let left = self.common.slow_start.on_ack(ack, window);
        self.common.count(packets(window.cwnd).min(self.count), left, window);
    }

    fn on_congestion(&mut self, _signal: Signal, _now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        (window.cwnd - (window.cwnd * self.decrease).floor()).max(2.0)
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Scalable { common: self.common.fresh(), ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}
