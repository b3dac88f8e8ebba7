//! The phase of a congestion control, as traces name it.

use serde::Deserialize;

/// The phase of a congestion control.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Exponential growth up to ssthresh.
    SlowStart,
    /// Slower growth, as round trips have grown (RFC 9406).
    ConservativeSlowStart,
    /// All that follows slow start, reductions included.
    CongestionAvoidance,
    /// BBR: the search for the bandwidth.
    Startup,
    /// BBR: the queue of the startup leaves.
    Drain,
    /// BBR: less than the bandwidth, so that a queue leaves.
    ProbeBwDown,
    /// BBR: the bandwidth.
    ProbeBwCruise,
    /// BBR: the bandwidth again, before it is probed for.
    ProbeBwRefill,
    /// BBR: more than the bandwidth.
    ProbeBwUp,
    /// BBR: few packets in flight, to measure the smallest round trip.
    ProbeRtt,
}

/// The progress of a slow start that may end before a loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StartProgress {
    /// Whether it goes on conservatively (RFC 9406).
    pub conservative: bool,
    /// Whether it was ended before a loss.
    pub ended: bool,
}

impl StartProgress {
    /// Returns the phase of a control of a window.
    pub fn phase(self, in_slow_start: bool) -> Phase {
        match (in_slow_start, self.conservative) {
            (true, true) => Phase::ConservativeSlowStart,
            (true, false) => Phase::SlowStart,
            (false, _) => Phase::CongestionAvoidance,
        }
    }
}
