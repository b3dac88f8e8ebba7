//! TCP Westwood+ (Mascolo et al. 2001, Grieco and Mascolo 2004), as Linux's `tcp_westwood.c`: after a loss the window is
//! what the path has carried in its smallest round trip.
//!
//! Deviation: header prediction takes an ACK whose window is the one before in whole packets; in the kernel, in bytes.

use base::Time;

use super::common::{half, Common};
use super::{AckSample, CongestionControl, Settings, Signal, StartProgress, Window};

/// Smallest interval in which the bandwidth is measured \[jiffies\].
const INTERVAL: u64 = 50;
/// Round trip before the first sample \[jiffies\].
const UNKNOWN: u64 = 20_000;

#[derive(Clone, Debug)]
struct Westwood {
    common: Common,
    mss: u64,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct State {
    /// Bandwidth after one and after two low-pass filters \[byte/jiffy\].
    bandwidth: [u64; 2],
    /// Bytes of the interval that is measured, and its start \[jiffies\].
    bytes: u64,
    since: u64,
    una: Option<u64>,
    /// Window that the newest ACK announced \[packets\].
    window: u64,
    /// Bytes that duplicate ACKs have reported and no cumulative one yet.
    reported: u64,
    /// Newest and smallest round trip \[jiffies\].
    rtt: u64,
    min_rtt: u64,
    /// Whether the smallest round trip is to be forgotten at the next ACK.
    forgets: bool,
}

impl State {
    const START: State = State {
        bandwidth: [0; 2],
        bytes: 0,
        since: 0,
        una: None,
        window: u64::MAX,
        reported: 0,
        rtt: UNKNOWN,
        min_rtt: UNKNOWN,
        forgets: true,
    };

    /// Ends the interval if it is long enough (`westwood_update_window`).
    fn measure(&mut self, now: u64) {
        let span = now - self.since;
        if span <= self.rtt.max(INTERVAL) {
            return;
        }
        let sample = self.bytes / span;
        let [first, second] = &mut self.bandwidth;
        if *first == 0 && *second == 0 {
            (*first, *second) = (sample, sample);
        } else {
            *first = (7 * *first + sample) / 8;
            *second = (7 * *second + *first) / 8;
        }
        self.bytes = 0;
        self.since = now;
    }

    /// Returns the bytes that an ACK reports as arrived (`westwood_acked_count`, `westwood_fast_bw`).
    fn arrived(&mut self, ack: &AckSample, mss: u64) -> u64 {
        let before = self.una.unwrap_or(ack.una);
        self.una = Some(ack.una.max(before));
        let bytes = ack.una.saturating_sub(before) * mss;
        // Header prediction takes ACKs that are like the one before (`CA_ACK_SLOWPATH`).
        let alike = std::mem::replace(&mut self.window, ack.window) == ack.window;
        if ack.plain && alike {
            bytes
        } else if bytes == 0 {
            self.reported += mss;
            mss
        } else if bytes <= mss {
            bytes
        } else if self.reported >= bytes {
            self.reported -= bytes;
            mss
        } else {
            bytes - std::mem::take(&mut self.reported)
        }
    }
}

/// Creates Westwood's control, as of the start of a connection.
pub(super) fn new(settings: &Settings) -> Box<dyn CongestionControl> {
    Box::new(Westwood { common: Common::new(settings), mss: u64::from(settings.mss.max(1)), state: State::START })
}

impl Westwood {
    /// Returns the packets that the path carries in its smallest round trip.
    fn carried(&self) -> f64 {
        ((self.state.bandwidth[1] * self.state.min_rtt / self.mss) as f64).max(2.0)
    }
}

impl CongestionControl for Westwood {
    fn measure(&mut self, ack: &AckSample, _window: &Window) {
        let now = self.common.clock.jiffies(ack.now);
        let state = &mut self.state;
        if state.una.is_none() {
            // The first interval begins with the connection, a round trip before the first ACK.
            state.since = self.common.clock.jiffies(ack.now - ack.rtt.unwrap_or(Time::ZERO));
            state.una = Some(ack.una);
        }
        if let Some(rtt) = self.common.round_trip(ack).filter(|&rtt| rtt > 0) {
            state.rtt = rtt.div_ceil(1000);
        }
        state.measure(now);
        state.bytes += state.arrived(ack, self.mss);
        state.min_rtt = if std::mem::take(&mut state.forgets) { state.rtt } else { state.min_rtt.min(state.rtt) };
    }

    fn on_ack(&mut self, ack: &AckSample, window: &mut Window) {
        self.common.grow_as_reno(ack, window);
    }

    fn on_congestion(&mut self, signal: Signal, _now: Time, window: &Window) -> f64 {
        self.common.on_congestion();
        if signal == Signal::Timeout {
            self.state.forgets = true;
            return self.carried();
        }
        half(window)
    }

    fn on_recovery_end(&mut self, window: &mut Window) {
        window.ssthresh = self.carried();
        window.cwnd = window.ssthresh;
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.common.on_timeout(now, nxt);
    }

    fn start_progress(&self) -> StartProgress {
        self.common.slow_start.progress()
    }

    fn restart(&mut self) {
        *self = Westwood { common: self.common.fresh(), state: State::START, ..*self };
    }

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[cfg(test)]
mod tests {
    use base::Clock;

    use super::*;

    const CLOCK: Clock = Clock::new(1_000_000);

    #[test]
    fn recovery_ends_with_the_window_that_the_path_carries() {
        // A packet of 1448 bytes each millisecond, and a round trip of 40 ms.
        let mut control = new(&Settings::linux(CLOCK));
        let mut window = Window { cwnd: 60.0, ssthresh: 60.0 };
        for packet in 1..=5000_u64 {
            let now = Time::from_ticks(1_000_000 + 1000 * packet);
            let rtt = Some(Time::from_ticks(40_000));
            let ack =
                AckSample { may_grow: false, una: packet, nxt: packet + 60, rtt, ..crate::cc::tests::ack(now, 1) };
            control.measure(&ack, &window);
        }
        control.on_recovery_end(&mut window);
        assert!((window.cwnd - 40.0).abs() <= 1.0 && window.ssthresh == window.cwnd, "{window:?}");
        assert_eq!(control.on_congestion(Signal::Timeout, CLOCK.time(6.0), &window), window.cwnd);
    }

    #[test]
    fn duplicate_acks_count_a_packet_each_and_once() {
        // Three duplicates, an ACK of five packets of which these are three, and one of a single packet.
        for (plain, last) in [(false, [200, 100]), (true, [500, 100])] {
            let mut state = State { una: Some(10), ..State::START };
            let mut hear =
                |una, plain| state.arrived(&AckSample { una, plain, ..crate::cc::tests::ack(Time::ZERO, 1) }, 100);
            assert_eq!([10, 10, 10].map(|una| hear(una, false)), [100, 100, 100]);
            assert_eq!([15, 16].map(|una| hear(una, plain)), last, "plain: {plain}");
            assert_eq!(state.reported, if plain { 300 } else { 0 });
        }
    }

    /// Linux `westwood_update_window`: SND.UNA of the first ACK is taken as what was acknowledged before.
    #[test]
    fn the_first_ack_counts_as_a_duplicate_where_it_announces_a_window() {
        for (window, bytes) in [(45, 1448), (u64::MAX, 0)] {
            let mut westwood =
                Westwood { common: Common::new(&Settings::linux(CLOCK)), mss: 1448, state: State::START };
            let rtt = Some(Time::from_ticks(40_000));
            let ack = AckSample { una: 1, rtt, window, ..crate::cc::tests::ack(CLOCK.time(1.0), 1) };
            westwood.measure(&ack, &Window { cwnd: 10.0, ssthresh: f64::INFINITY });
            let State { bytes: counted, reported, since, rtt, min_rtt, .. } = westwood.state;
            assert_eq!((counted, reported, since, rtt, min_rtt), (bytes, bytes, 960, 40, 40), "{window}");
        }
    }

    #[test]
    fn an_interval_is_longer_than_50_ms_and_than_a_round_trip() {
        for (rtt, longest) in [(20, 50), (50, 50), (120, 120)] {
            let mut state = State { rtt, bytes: 1_000_000, ..State::START };
            state.measure(longest);
            assert_eq!((state.bandwidth, state.bytes, state.since), ([0; 2], 1_000_000, 0), "{rtt}");
            state.measure(longest + 1);
            assert_eq!((state.bandwidth, state.bytes), ([1_000_000 / (longest + 1); 2], 0), "{rtt}");
        }
    }

    #[test]
    fn the_bandwidth_passes_two_filters_of_an_eighth() {
        let mut state = State { rtt: 20, bandwidth: [800, 800], bytes: 160_000, ..State::START };
        state.measure(100);
        assert_eq!(state.bandwidth, [(7 * 800 + 1600) / 8, (7 * 800 + 900) / 8]);
    }
}
