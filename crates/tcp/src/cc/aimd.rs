//! Increase and decrease as powers of the window: AIMD, MIMD and binomial controls (Bansal and Balakrishnan 2001), in
//! real numbers.

use base::Time;

use super::common::Common;
use super::{AckSample, CongestionControl, Parameter, Settings, Signal, StartProgress, Window};

/// Numbers that scenarios may set.
pub(super) const PARAMETERS: [Parameter; 4] = [
    Parameter::new(
        "alpha",
        "",
        [0.0, 1000.0],
        1.0,
        "Increase in a round trip, times cwnd^-k; for MulTCP (Crowcroft and Oechslin 1998) the number of flows.",
    ),
    Parameter::new("beta", "", [0.0, 1.0], 0.5, "Decrease at a loss or a mark, times cwnd^l; for MulTCP 1 / (2 N)."),
    Parameter::new(
        "k",
        "",
        [-1.0, 4.0],
        0.0,
        "Power of the increase: 0 for AIMD, -1 for MIMD, 1 for IIAD, 0.5 for SQRT.",
    ),
    Parameter::new("l", "", [0.0, 1.0], 1.0, "Power of the decrease: 1 for AIMD and MIMD, 0 for IIAD, 0.5 for SQRT."),
];

#[derive(Clone, Debug)]
struct Aimd {
    common: Common,
    alpha: f64,
    beta: f64,
    k: f64,
    l: f64,
}

/// Creates the control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    let [alpha, beta, k, l] = settings.values(&PARAMETERS);
    Box::new(Aimd { common: Common::new(settings), alpha, beta, k, l })
}

impl CongestionControl for Aimd {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        let left = self.common.slow_start.on_ack(ack, window);
        if left > 0 {
            // Bansal and Balakrishnan (2): w(t + R) = w(t) + alpha / w(t)^k.
            let increase = self.alpha * window.cwnd.powf(-self.k);
            window.cwnd += increase * (f64::from(left) / window.cwnd).min(1.0);
        }
    }

    fn on_congestion(&mut self, _signal: Signal, _now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        // Bansal and Balakrishnan (2): w - beta w^l.
        (window.cwnd - self.beta * window.cwnd.powf(self.l)).max(2.0)
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Aimd { common: self.common.fresh(), ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;
    use crate::cc::tests::ack;

    /// Returns the growth of a window of 100 packets in a round trip, and what remains of it after a loss.
    fn rules(parameters: [f64; 4]) -> (f64, f64) {
        let mut control = new(&Settings { parameters: parameters.to_vec(), ..Settings::linux(Clock::PICOSECONDS) });
        let mut window = Window { cwnd: 100.0, ssthresh: 100.0 };
        (0..100).for_each(|_| control.on_ack(&ack(Time::ZERO, 1), &mut window));
        let lost = Window { cwnd: 100.0, ssthresh: 100.0 };
        (window.cwnd - 100.0, control.on_congestion(Signal::Loss, Time::ZERO, &lost))
    }

    #[test]
    fn powers_make_the_controls_of_the_literature() {
        for (name, parameters, growth, remains) in [
            ("AIMD", [1.0, 0.5, 0.0, 1.0], 1.0, 50.0),
            ("MulTCP", [8.0, 1.0 / 16.0, 0.0, 1.0], 8.0, 93.75),
            ("MIMD", [0.01, 0.125, -1.0, 1.0], 1.0, 87.5),
            ("IIAD", [1.0, 1.0, 1.0, 0.0], 0.01, 99.0),
            ("SQRT", [1.0, 0.5, 0.5, 0.5], 0.1, 95.0),
        ] {
            let found = rules(parameters);
            // The window grows during the round trip, which changes its ACKs' shares.
            assert!((found.0 / growth - 1.0).abs() < 0.05 && found.1 == remains, "{name}: {found:?}");
        }
    }
}
