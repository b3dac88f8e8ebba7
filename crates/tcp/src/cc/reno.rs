//! Reno: RFC 5681 with appropriate byte counting (RFC 3465), as Linux's `tcp_cong.c` counts.

use base::cast::{to_index, to_u32, trunc_to_u64};
use base::Time;

use super::{slow_start, AckSample, CongestionControl, Counter, Signal, Window};

#[derive(Clone, Debug, Default)]
struct Reno {
    counter: Counter,
}

/// Creates Reno's control, as of the start of a connection.
pub(super) fn new() -> Box<dyn CongestionControl> {
    Box::<Reno>::default()
}

impl CongestionControl for Reno {
    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        if !ack.may_grow || !ack.cwnd_limited {
            return;
        }
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = slow_start(window, acked);
        }
        if acked > 0 {
            let packets = to_u32(to_index(trunc_to_u64(window.cwnd)));
            self.counter.grow(&mut window.cwnd, packets, acked);
        }
    }

    fn on_congestion(&mut self, _signal: Signal, _now: Time, window: &Window) -> f64 {
        // `tcp_reno_ssthresh`: RFC 5681 (4) with cwnd in place of FlightSize.
        (window.cwnd / 2.0).floor().max(2.0)
    }

    fn fresh(&self) -> Box<dyn CongestionControl> {
        new()
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ack(acked: u32) -> AckSample {
        AckSample {
            now: Time::ZERO,
            acked,
            may_grow: true,
            cwnd_limited: true,
            rtt: None,
            min_rtt: Time::NEVER,
            srtt: Time::ZERO,
            una: 0,
            nxt: 0,
        }
    }

    #[test]
    fn slow_start_doubles_and_the_rest_of_an_ack_counts_in_avoidance() {
        let (mut reno, mut window) = (new(), Window { cwnd: 10.0, ssthresh: 12.0 });
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
        let halves = [109.0, 5.0, 2.0, 1.0]
            .map(|cwnd| new().on_congestion(Signal::Loss, Time::ZERO, &Window { cwnd, ssthresh: f64::INFINITY }));
        assert_eq!(halves, [54.0, 2.0, 2.0, 2.0]);
    }

    #[test]
    fn the_window_stays_where_it_may_not_grow() {
        let mut window = Window { cwnd: 10.0, ssthresh: 100.0 };
        for blocked in [AckSample { may_grow: false, ..ack(5) }, AckSample { cwnd_limited: false, ..ack(5) }] {
            new().on_ack(&blocked, &mut window);
            assert_eq!(window.cwnd, 10.0);
        }
    }
}
