//! The congestion window: its growth and its reduction. RFC 5681 section 3.1.

use base::cast::trunc_to_i64;

use crate::classic::rules::Rules;
use crate::quirks::{Halve, RecoveryWindow};
use crate::{ClassicConfig, HalfWindow, Increase, SlowStartWhile};

/// cwnd and ssthresh \[packets\].
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Window {
    pub(crate) cwnd: f64,
    pub(crate) ssthresh: f64,
    /// Artificial inflation in fast recovery (RFC 5681 section 3.2 step 4); kept apart, so that cwnd is the window
    /// proper.
    pub(crate) inflation: u32,
    counted_acks: u32,
}

impl Window {
    pub(crate) fn new(config: &ClassicConfig) -> Window {
        let limit = config.max_window.unwrap_or(f64::INFINITY);
        Window {
            cwnd: config.initial_window,
            ssthresh: config.initial_ssthresh.unwrap_or(limit),
            inflation: 0,
            counted_acks: 0,
        }
    }

    /// Returns the number of packets that may be outstanding.
    #[inline(always)]
    pub(crate) fn usable(&self, rules: &Rules) -> u64 {
        let inflated = trunc_to_i64(self.cwnd) + i64::from(self.inflation);
        inflated.unsigned_abs().min(rules.limit_packets)
    }

    #[inline(always)]
    pub(crate) fn in_slow_start(&self, rules: &Rules) -> bool {
        match rules.slow_start_while {
            SlowStartWhile::Below => self.cwnd < self.ssthresh,
            SlowStartWhile::AtOrBelow => self.cwnd <= self.ssthresh,
        }
    }

    /// Opens the window for an ACK of new data.
    #[inline(always)]
    pub(crate) fn open(&mut self, rules: &Rules) {
        if self.in_slow_start(rules) {
            // RFC 5681 (2), for an ACK of at least one packet.
            self.cwnd += 1.0;
        } else {
            self.avoid(rules.increase);
        }
    }

    #[inline(always)]
    fn avoid(&mut self, increase: Increase) {
        match increase {
            // RFC 5681 (3).
            Increase::Reciprocal => self.cwnd += 1.0 / self.cwnd,
            Increase::ReciprocalFloor => {
                self.cwnd += 1.0 / self.cwnd.floor();
                // floor(W) times 1/floor(W) is one packet, whatever the rounding of the sum.
                if (self.cwnd - self.cwnd.round()).abs() < 1e-9 {
                    self.cwnd = self.cwnd.round();
                }
            }
            Increase::Counted => {
                self.counted_acks += 1;
                if f64::from(self.counted_acks) >= self.cwnd {
                    self.counted_acks = 0;
                    self.cwnd += 1.0;
                }
            }
        }
    }

    /// Returns half of the amount that a loss halves, before the minimum of [`Window::cut`].
    pub(crate) fn half(&self, flight_size: u64, rules: &Rules) -> f64 {
        match (rules.half_window, rules.quirks.halve) {
            (HalfWindow::WholePackets, Halve::Window) => (self.usable(rules) / 2) as f64,
            (HalfWindow::WholePackets, Halve::Flight) => (flight_size / 2) as f64,
            // ns-2 `TcpAgent::windowd`, `RenoTcpAgent::windowd`.
            (HalfWindow::Fractional, Halve::Window) => {
                (self.cwnd + f64::from(self.inflation)).min(rules.limit_packets as f64) / 2.0
            }
            (HalfWindow::Fractional, Halve::Flight) => flight_size as f64 / 2.0,
        }
    }

    /// Lowers ssthresh to `half`, but not below two packets (RFC 5681 (4)).
    pub(crate) fn cut(&mut self, half: f64, rules: &Rules) {
        let half = if rules.quirks.whole_ssthresh { half.floor() } else { half };
        self.ssthresh = half.max(2.0);
        self.counted_acks = 0;
    }

    /// Sets cwnd at the start of fast recovery, after [`Window::cut`] with the same half.
    pub(crate) fn enter_recovery(&mut self, half: f64, rules: &Rules) {
        self.cwnd = match rules.quirks.recovery_window {
            // Deviation: ns-2 lets cwnd fall below one packet here, and then sends nothing until the timer expires.
            RecoveryWindow::Half => half.max(1.0),
            RecoveryWindow::Ssthresh => self.ssthresh,
        };
        self.inflation = rules.threshold;
    }

    /// Deflates the window at a partial ACK by the number of packets acknowledged, and adds one packet: RFC 6582
    /// section 3.2 step 3. The inflation is used up first, except for one packet (ns-2 `partialnewack`).
    pub(crate) fn deflate(&mut self, acknowledged: u64) {
        match u32::try_from(acknowledged) {
            Ok(acknowledged) if acknowledged < self.inflation => self.inflation = self.inflation + 1 - acknowledged,
            _ => {
                self.cwnd -= acknowledged as f64 - f64::from(self.inflation);
                self.inflation = 1;
            }
        }
        // An echo of a mark right after a timeout has left less (ns-2 `partialnewack`).
        self.cwnd = self.cwnd.max(1.0);
    }

    /// Sets cwnd to the loss window: RFC 5681 section 3.1.
    pub(crate) fn restart(&mut self) {
        self.cwnd = 1.0;
        self.inflation = 0;
        self.counted_acks = 0;
    }
}
