//! The parts that most controls share: clocks, slow start, Reno's growth.

use base::Time;

use super::kernel::{packets, KernelClock};
use super::slow_start::Start;
use super::{AckSample, Settings, Window};

#[derive(Clone, Debug)]
pub(super) struct Common {
    pub(super) clock: KernelClock,
    pub(super) slow_start: Start,
    pub(super) counter: Counter,
}

impl Common {
    pub(super) fn new(settings: &Settings) -> Common {
        Common {
            clock: KernelClock::new(settings.clock),
            slow_start: Start::new(settings),
            counter: Counter::default(),
        }
    }

    /// Creates a copy as of the start of a connection.
    pub(super) fn fresh(&self) -> Common {
        Common { clock: self.clock, slow_start: self.slow_start.fresh(), counter: Counter::default() }
    }

    /// Grows the window as Reno does.
    pub(super) fn grow_as_reno(&mut self, ack: &AckSample, window: &mut Window) {
        let left = self.slow_start.on_ack(ack, window);
        self.count(packets(window.cwnd), left, window);
    }

    /// Adds a packet to cwnd for each `packets` of those that are acknowledged.
    pub(super) fn count(&mut self, packets: u32, acked: u32, window: &mut Window) {
        if acked > 0 {
            self.counter.grow(&mut window.cwnd, packets, acked);
        }
    }

    /// Forgets at a reduction what has been counted (`tcp_init_cwnd_reduction`, `tcp_enter_loss`).
    pub(super) fn on_congestion(&mut self) {
        self.counter = Counter::default();
        self.slow_start.on_congestion();
    }

    /// Takes note of an expiry of the retransmission timer.
    pub(super) fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.counter = Counter::default();
        self.slow_start.on_timeout(now, nxt);
    }

    /// Returns the round trip that an ACK measures \[us\].
    pub(super) fn round_trip(&self, ack: &AckSample) -> Option<u64> {
        ack.rtt.map(|rtt| self.clock.between(ack.now, rtt))
    }
}

/// Number of packets that an ACK acknowledges cumulatively, from SND.UNA before and after.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cumulative {
    una: u64,
}

impl Cumulative {
    pub(super) fn advance(&mut self, una: u64) -> u64 {
        let packets = una.saturating_sub(self.una);
        self.una = self.una.max(una);
        packets
    }
}

/// Returns half of cwnd, at least two packets (`tcp_reno_ssthresh`).
pub(super) fn half(window: &Window) -> f64 {
    (window.cwnd / 2.0).floor().max(2.0)
}

/// A window in whole packets that grows by one for a number of acknowledged packets, as Linux counts
/// (`tcp_cong_avoid_ai`).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counter {
    pub(super) acked: u32,
}

impl Counter {
    /// Counts acknowledged packets, and adds one packet to cwnd for each `packets` of them.
    pub(crate) fn grow(&mut self, cwnd: &mut f64, packets: u32, acked: u32) {
        let packets = packets.max(1);
        // Credits that were collected for a larger number count as one packet at most.
        if self.acked >= packets {
            self.acked = 0;
            *cwnd += 1.0;
        }
        self.acked += acked;
        *cwnd += f64::from(self.acked / packets);
        self.acked %= packets;
    }
}
