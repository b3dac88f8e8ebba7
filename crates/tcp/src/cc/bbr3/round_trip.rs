//! The smallest round trip, and ProbeRTT, in which it is measured with few packets in flight; the restart from idle
//! (sections 5.3.4, 5.4 and 5.5.7).

use super::cycle::Feedback;
use super::{Bbr3, Phase, Sample, ShortTerm, Window};

/// Age of the smallest round trip at which the next smallest one replaces it (`BBR.MinRTTFilterLen`), and at which it is
/// measured again (`BBR.ProbeRTTInterval`) \[us\].
const FILTER: u64 = 10_000_000;
const INTERVAL: u64 = 5_000_000;
/// Time with few packets in flight (`BBR.ProbeRTTDuration`) \[us\].
const DURATION: u64 = 200_000;

/// The smallest round trip, and its measurement (2.16).
#[derive(Clone, Copy, Debug)]
pub(super) struct RoundTrip {
    /// Smallest round trip of ten seconds \[us\]; `None` before the first one. And its instant \[us\].
    pub(super) smallest: Option<u64>,
    pub(super) since: u64,
    /// Smallest round trip of five seconds \[us\], and its instant \[us\] (`BBR.probe_rtt_min_delay`,
    /// `BBR.probe_rtt_min_stamp`).
    recent: Option<u64>,
    pub(super) recent_since: u64,
    /// Whether that is too old (`BBR.probe_rtt_expired`).
    expired: bool,
    /// End of the time with few packets in flight, once they are few \[us\], and whether a round of it is over.
    pub(super) until: Option<u64>,
    round_done: bool,
    /// Whether few packets were in flight at the last ACK on purpose.
    pub(super) held_back: bool,
}

impl RoundTrip {
    pub(super) const START: RoundTrip = RoundTrip {
        smallest: None,
        since: 0,
        recent: None,
        recent_since: 0,
        expired: false,
        until: None,
        round_done: false,
        held_back: false,
    };

    /// Begins at an instant, with the round trip of the handshake \[us\].
    pub(super) fn start(&mut self, now: u64, rtt: Option<u64>) {
        *self = RoundTrip { smallest: rtt, since: now, recent_since: now, ..RoundTrip::START };
    }
}

impl Bbr3 {
    /// Updates the smallest round trips (`UpdateMinRTT()`, 5.3.4.3).
    pub(super) fn update_round_trip(&mut self, rtt: Option<u64>) {
        let (now, known) = (self.now, &mut self.round_trip);
        known.expired = now > known.recent_since + INTERVAL;
        if let Some(rtt) = rtt.filter(|&rtt| known.expired || known.recent.is_none_or(|recent| rtt < recent)) {
            (known.recent, known.recent_since) = (Some(rtt), now);
        }
        let old = now > known.since + FILTER;
        if let Some(recent) = known.recent.filter(|&recent| old || known.smallest.is_none_or(|rtt| recent < rtt)) {
            (known.smallest, known.since) = (Some(recent), known.recent_since);
        }
    }

    /// Enters ProbeRTT when the smallest round trip is too old, unless the flow was idle, and stays in it
    /// (`CheckProbeRTT()`).
    pub(super) fn check_probe_rtt(&mut self, sample: &Sample, window: &mut Window) {
        if self.phase != Phase::ProbeRtt && self.round_trip.expired && !self.restarts {
            self.phase = Phase::ProbeRtt;
            self.save_window(sample.cwnd);
            self.round_trip.until = None;
            self.cycle.feedback = Feedback::Stopping;
            self.rounds.begin(self.delivered);
        }
        self.round_trip.held_back = self.phase == Phase::ProbeRtt;
        if self.phase == Phase::ProbeRtt {
            self.stay_in_probe_rtt(sample, window);
        }
        self.restarts &= sample.delivered == 0.0;
    }

    /// Waits until few packets are in flight, then for a time and a round (`HandleProbeRTT()`).
    fn stay_in_probe_rtt(&mut self, sample: &Sample, window: &mut Window) {
        if self.round_trip.until.is_some() {
            self.round_trip.round_done |= self.rounds.starts;
            if self.round_trip.round_done {
                self.check_end_of_probe_rtt(window);
            }
        } else if sample.in_flight <= self.probe_rtt_window() {
            self.round_trip.until = Some(self.now + DURATION);
            self.round_trip.round_done = false;
            self.rounds.begin(self.delivered);
        }
    }

    /// Leaves ProbeRTT if the time is over, for ProbeBW, or for Startup if the path was never full
    /// (`CheckProbeRTTDone()`, `ExitProbeRTT()`).
    fn check_end_of_probe_rtt(&mut self, window: &mut Window) {
        if self.round_trip.until.is_none_or(|until| self.now <= until) {
            return;
        }
        self.round_trip.recent_since = self.now;
        window.cwnd = self.output.restored(window.cwnd);
        self.short_term = ShortTerm::NONE;
        if self.pipe.reached {
            self.start_down();
            self.phase = Phase::Cruise;
        } else {
            self.phase = Phase::Startup;
        }
    }

    /// Restarts after the application had nothing to send: at the bandwidth, with what was in flight
    /// (`HandleRestartFromIdle()`, 5.4.1).
    pub(super) fn restart_from_idle(&mut self, window: &mut Window) {
        self.restarts = true;
        self.aggregation.begin(self.now);
        if self.phase.is_of_cycle() {
            self.set_pacing_rate(1.0);
        } else if self.phase == Phase::ProbeRtt {
            self.check_end_of_probe_rtt(window);
        }
    }
}
