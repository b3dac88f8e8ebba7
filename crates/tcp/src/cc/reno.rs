//! Reno: RFC 5681 with appropriate byte counting (RFC 3465), as Linux's `tcp_cong.c` counts.

use base::Time;

use super::common::Common;
use super::{AckSample, CongestionControl, Parameter, Settings, Signal, StartProgress, Window};

/// Numbers that scenarios may set.
pub(super) const PARAMETERS: [Parameter; 2] = [
    Parameter::new("beta", "", [0.1, 0.95], 0.5, "Fraction of cwnd that remains after a loss."),
    Parameter::new(
        "beta_ecn",
        "",
        [0.1, 0.95],
        0.5,
        "Fraction of cwnd that remains after a mark; RFC 8511 (ABE) says 0.8.",
    ),
];

#[derive(Clone, Debug)]
struct Reno {
    /// Fractions of cwnd that remain after a loss and after a mark.
    beta: [f64; 2],
    common: Common,
}

/// Creates Reno's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    Box::new(reno(settings))
}

fn reno(settings: &Settings) -> Reno {
    Reno { beta: settings.values(&PARAMETERS), common: Common::new(settings) }
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        self.common.grow_as_reno(ack, window);
    }

    fn on_congestion(&mut self, signal: Signal, _now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        // RFC 5681 section 3.1 (4) with cwnd in place of FlightSize, as `tcp_reno_ssthresh`; RFC 8511 section 3.
        let [loss, mark] = self.beta;
        let beta = if signal == Signal::Ecn { mark } else { loss };
        (window.cwnd * beta).floor().max(2.0)
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Reno { common: self.common.fresh(), ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;
    use crate::cc::{tests as cc_tests, SlowStart};

    fn standard() -> Settings {
        Settings { slow_start: SlowStart::Standard, ..Settings::linux(Clock::PICOSECONDS) }
    }

    fn ack(acked: u32) -> AckSample {
        cc_tests::ack(Time::ZERO, acked)
    }

    #[test]
    fn slow_start_doubles_and_the_rest_of_an_ack_counts_in_avoidance() {
        let (mut reno, mut window) = (reno(&standard()), Window { cwnd: 10.0, ssthresh: 12.0 });
        reno.on_ack(&ack(1), &mut window);
        assert_eq!(window.cwnd, 11.0);
        // One packet reaches ssthresh; eleven of the next twelve count.
        reno.on_ack(&ack(12), &mut window);
        assert_eq!(window.cwnd, 12.0);
        reno.on_ack(&ack(1), &mut window);
        assert_eq!(window.cwnd, 13.0);
    }

    #[test]
    fn a_loss_halves_whole_packets_and_leaves_two() {
        let halves = [109.0, 5.0, 2.0, 1.0].map(|cwnd| {
            reno(&standard()).on_congestion(Signal::Loss, Time::ZERO, &Window { cwnd, ssthresh: f64::INFINITY })
        });
        assert_eq!(halves, [54.0, 2.0, 2.0, 2.0]);
    }

    #[test]
    fn the_window_stays_where_it_may_not_grow() {
        let mut window = Window { cwnd: 10.0, ssthresh: 100.0 };
        for blocked in [AckSample { may_grow: false, ..ack(5) }, AckSample { cwnd_limited: false, ..ack(5) }] {
            reno(&standard()).on_ack(&blocked, &mut window);
            assert_eq!(window.cwnd, 10.0);
        }
    }
}
