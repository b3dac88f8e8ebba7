//! The phases, and the gains of each (section 5.6.1).

/// The phase of a flow (`BBR.state`); those of ProbeBW are four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Startup,
    Drain,
    Down,
    Cruise,
    Refill,
    Up,
    ProbeRtt,
}

impl Phase {
    /// Returns the phase as traces name it.
    pub(super) fn traced(self) -> crate::cc::Phase {
        match self {
            Phase::Startup => crate::cc::Phase::Startup,
            Phase::Drain => crate::cc::Phase::Drain,
            Phase::Down => crate::cc::Phase::ProbeBwDown,
            Phase::Cruise => crate::cc::Phase::ProbeBwCruise,
            Phase::Refill => crate::cc::Phase::ProbeBwRefill,
            Phase::Up => crate::cc::Phase::ProbeBwUp,
            Phase::ProbeRtt => crate::cc::Phase::ProbeRtt,
        }
    }

    /// Returns the factor of the bandwidth at which packets are paced (`BBR.pacing_gain`).
    pub(super) fn pacing_gain(self) -> f64 {
        match self {
            // 4 ln 2: the rate at which what is sent doubles in each round trip.
            Phase::Startup => 2.77,
            Phase::Drain => 0.5,
            Phase::Down => 0.9,
            Phase::Cruise | Phase::Refill | Phase::ProbeRtt => 1.0,
            Phase::Up => 1.25,
        }
    }

    /// Returns the factor of the packets that fill the path, for the window (`BBR.cwnd_gain`).
    pub(super) fn window_gain(self) -> f64 {
        match self {
            Phase::Up => 2.25,
            Phase::ProbeRtt => 0.5,
            Phase::Startup | Phase::Drain | Phase::Down | Phase::Cruise | Phase::Refill => 2.0,
        }
    }

    /// Returns whether it is one of ProbeBW (`IsInAProbeBWState()`, 5.3.3.9).
    pub(super) fn is_of_cycle(self) -> bool {
        matches!(self, Phase::Down | Phase::Cruise | Phase::Refill | Phase::Up)
    }

    /// Returns whether it looks for more bandwidth (`IsProbingBW()`, 5.3.3.9).
    pub(super) fn is_probing(self) -> bool {
        matches!(self, Phase::Startup | Phase::Refill | Phase::Up)
    }
}
