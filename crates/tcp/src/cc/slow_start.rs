//! Slow start and its end before a loss, for all controls that have one.

use base::cast::{low_u32, trunc_to_u64};
use base::Time;

use super::hystart::HyStart;
use super::hystart_plus::HyStartPlus;
use super::{AckSample, Dialect, Settings, SlowStart, StartProgress, Window};

/// A round trip, when it was measured, and the smallest one so far \[us\].
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    pub(super) now: u64,
    pub(super) rtt: u64,
    pub(super) min: u64,
}

/// Slow start for one connection.
#[derive(Clone, Debug)]
pub(super) struct Start {
    end: End,
    /// Packets by which an ACK may raise cwnd in standard slow start.
    limit: u32,
}

#[derive(Clone, Debug)]
enum End {
    Standard,
    HyStart(HyStart),
    HyStartPlus(HyStartPlus),
}

impl Start {
    pub(super) fn new(settings: &Settings) -> Start {
        let end = match settings.slow_start {
            SlowStart::Standard => End::Standard,
            SlowStart::HyStart => End::HyStart(HyStart::new(settings)),
            SlowStart::HyStartPlusPlus => End::HyStartPlus(HyStartPlus::new(settings)),
        };
        // RFC 5681 section 3.1 (2): by SMSS bytes at most. Linux (`tcp_slow_start`) has no limit.
        let limit = match settings.dialect {
            Dialect::Linux => u32::MAX,
            Dialect::Rfc => 1,
        };
        Start { end, limit }
    }

    /// Creates a copy as of the start of a connection.
    pub(super) fn fresh(&self) -> Start {
        let end = match &self.end {
            End::Standard => End::Standard,
            End::HyStart(hystart) => End::HyStart(hystart.fresh()),
            End::HyStartPlus(hystart) => End::HyStartPlus(hystart.fresh()),
        };
        Start { end, limit: self.limit }
    }

    /// Returns whether it was ended before a loss, or goes on conservatively.
    pub(super) fn progress(&self) -> StartProgress {
        match &self.end {
            End::Standard => StartProgress::default(),
            End::HyStart(hystart) => hystart.progress(),
            End::HyStartPlus(hystart) => hystart.progress(),
        }
    }

    /// Takes note of an ACK, and grows the window if it may and is in slow start; returns the acknowledged packets that
    /// are left for congestion avoidance, none if the window may not grow.
    pub(super) fn on_ack(&mut self, ack: &AckSample, window: &mut Window) -> u32 {
        let round_trip = match &self.end {
            End::HyStart(hystart) if window.in_slow_start() => hystart.measure(ack),
            _ => None,
        };
        self.on_measured_ack(ack, round_trip, window)
    }

    /// Does the same with a round trip that the caller has measured, for HyStart; none if it does not count.
    pub(super) fn on_measured_ack(
        &mut self,
        ack: &AckSample,
        round_trip: Option<RoundTrip>,
        window: &mut Window,
    ) -> u32 {
        let grows = ack.may_grow && ack.cwnd_limited;
        match &mut self.end {
            End::Standard => {}
            End::HyStart(hystart) => {
                if let Some(round_trip) = round_trip {
                    hystart.on_round_trip(ack, round_trip, window);
                }
            }
            End::HyStartPlus(hystart) if window.in_slow_start() && !hystart.has_ended() => {
                return hystart.on_ack(ack, grows, window);
            }
            End::HyStartPlus(_) => {}
        }
        if !grows {
            0
        } else if window.in_slow_start() {
            slow_start(window, ack.acked.min(self.limit))
        } else {
            ack.acked
        }
    }

    /// Takes note of a loss or of marks.
    pub(super) fn on_congestion(&mut self) {
        if let End::HyStartPlus(hystart) = &mut self.end {
            hystart.on_congestion();
        }
    }

    /// Takes note of an expiry of the retransmission timer.
    pub(super) fn on_timeout(&mut self, now: Time, nxt: u64) {
        if let End::HyStart(hystart) = &mut self.end {
            hystart.on_timeout(now, nxt);
        }
    }
}

/// Grows cwnd in slow start, to ssthresh at most; returns the acknowledged packets that are left for congestion
/// avoidance (Linux `tcp_slow_start`; RFC 3465 without its limit).
pub(super) fn slow_start(window: &mut Window, acked: u32) -> u32 {
    let cwnd = window.cwnd + f64::from(acked);
    if cwnd <= window.ssthresh {
        window.cwnd = cwnd;
        return 0;
    }
    let cwnd = window.ssthresh;
    let used = trunc_to_u64((cwnd - window.cwnd).ceil());
    window.cwnd = cwnd;
    acked.saturating_sub(low_u32(used))
}
