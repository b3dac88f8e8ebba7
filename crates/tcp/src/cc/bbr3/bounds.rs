//! The model of the path: rounds, the largest bandwidth, and the bounds of rate and volume, those for long and those for
//! the time until bandwidth is probed for again (sections 5.5.1 to 5.5.6, 5.5.10.3).

use super::{Bbr3, Sample, BETA, LEAST_WINDOW};

/// Part of the long-term bound that is left to other flows (`BBR.Headroom`, 2.8).
const HEADROOM: f64 = 0.15;

/// Round trips by packets: each ends when a packet that was sent after its beginning is delivered (5.5.1).
#[derive(Clone, Copy, Debug)]
pub(super) struct Rounds {
    pub(super) count: u64,
    /// Whether the ACK that is handled begins one.
    pub(super) starts: bool,
    /// Packets that had been delivered at its beginning (`BBR.next_round_delivered`).
    end: u64,
}

impl Rounds {
    pub(super) const START: Rounds = Rounds { count: 0, starts: false, end: 0 };

    /// Begins a round that is not counted (`StartRound()`).
    pub(super) fn begin(&mut self, delivered: u64) {
        self.end = delivered;
    }

    fn update(&mut self, prior_delivered: u64, delivered: u64) {
        self.starts = prior_delivered >= self.end;
        if self.starts {
            self.begin(delivered);
            self.count += 1;
        }
    }
}

/// The largest delivery rate of this ProbeBW cycle and the one before (5.5.3 to 5.5.6).
#[derive(Clone, Copy, Debug)]
pub(super) struct MaxBandwidth {
    pub(super) largest: f64,
    /// Largest rate of the cycle before, and of this one.
    cycles: [f64; 2],
}

impl MaxBandwidth {
    pub(super) const START: MaxBandwidth = MaxBandwidth { largest: 0.0, cycles: [0.0; 2] };

    /// Takes a sample; one that the application limited counts if it is the largest (`UpdateMaxBw()`).
    fn observe(&mut self, sample: &Sample) {
        if sample.bandwidth > 0.0 && (sample.bandwidth >= self.largest || !sample.app_limited) {
            self.cycles[1] = self.cycles[1].max(sample.bandwidth);
            self.largest = self.cycles[0].max(self.cycles[1]);
        }
    }

    /// Begins the next cycle (`AdvanceMaxBwFilter()`); one without samples goes on.
    pub(super) fn advance(&mut self) {
        if self.cycles[1] > 0.0 {
            self.cycles = [self.cycles[1], 0.0];
        }
    }
}

/// The deliveries and losses of the last round trip (2.10).
#[derive(Clone, Copy, Debug)]
pub(super) struct Deliveries {
    /// Largest rate, and most packets in a round trip (`BBR.bw_latest`, `BBR.inflight_latest`).
    bandwidth: f64,
    pub(super) in_flight: f64,
    /// Whether packets were lost in the round (`BBR.is_loss_in_round`).
    lossy: bool,
    /// Packets that had been delivered at the beginning of its round (`BBR.loss_round_delivered`), and whether the ACK
    /// that is handled begins one.
    round_end: u64,
    pub(super) round_starts: bool,
}

impl Deliveries {
    pub(super) const START: Deliveries =
        Deliveries { bandwidth: 0.0, in_flight: 0.0, lossy: false, round_end: 0, round_starts: false };

    /// Takes a sample (`UpdateLatestDeliverySignals()`).
    pub(super) fn update(&mut self, sample: &Sample, delivered: u64) {
        self.bandwidth = self.bandwidth.max(sample.bandwidth);
        self.in_flight = self.in_flight.max(sample.delivered);
        self.round_starts = sample.prior_delivered >= self.round_end;
        if self.round_starts {
            self.round_end = delivered;
        }
    }

    /// Forgets all samples but the last one at the end of a round (`AdvanceLatestDeliverySignals()`).
    pub(super) fn advance(&mut self, sample: &Sample) {
        if self.round_starts {
            (self.bandwidth, self.in_flight) = (sample.bandwidth, sample.delivered);
        }
    }

    /// Forgets all samples and losses (`ResetCongestionSignals()`).
    pub(super) fn reset(&mut self) {
        (self.bandwidth, self.in_flight, self.lossy) = (0.0, 0.0, false);
    }

    /// Takes note of a loss: the first one of a round begins a full round in which what is delivered is observed. Returns
    /// whether it is the first one (`NoteLoss()`, 5.5.10.2).
    pub(super) fn lose(&mut self, delivered: u64) -> bool {
        let first = !std::mem::replace(&mut self.lossy, true);
        if first {
            self.round_end = delivered;
        }
        first
    }

    /// Forgets the losses of the round.
    pub(super) fn forgive(&mut self) {
        self.lossy = false;
    }
}

/// The bounds of rate and volume until bandwidth is probed for again (`BBR.bw_shortterm`, `BBR.inflight_shortterm`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct ShortTerm {
    pub(super) bandwidth: f64,
    pub(super) in_flight: f64,
}

impl ShortTerm {
    pub(super) const NONE: ShortTerm = ShortTerm { bandwidth: f64::INFINITY, in_flight: f64::INFINITY };
}

/// The bound of the volume that lasts (`BBR.inflight_longterm`).
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LongTerm {
    pub(super) in_flight: f64,
}

impl LongTerm {
    pub(super) const NONE: LongTerm = LongTerm { in_flight: f64::INFINITY };

    /// Returns the volume that leaves room to other flows (`InflightWithHeadroom()`, 5.3.3.9).
    pub(super) fn with_headroom(self) -> f64 {
        if self.in_flight.is_infinite() {
            return f64::INFINITY;
        }
        (self.in_flight - (HEADROOM * self.in_flight).max(1.0)).max(LEAST_WINDOW)
    }
}

impl Bbr3 {
    /// Updates rounds and bandwidth, and once in a round with losses the short-term bounds (`UpdateCongestionSignals()`,
    /// 5.5.10.3).
    pub(super) fn update_congestion(&mut self, sample: &Sample) {
        self.rounds.update(sample.prior_delivered, self.delivered);
        self.cycle.rounds_since_probe += u64::from(self.rounds.starts);
        self.max_bandwidth.observe(sample);
        if self.deliveries.round_starts {
            if self.deliveries.lossy && !self.phase.is_probing() {
                self.lower_short_term(sample.cwnd);
            }
            self.deliveries.forgive();
        }
    }

    /// Lowers the short-term bounds towards what is delivered (`InitLowerBounds()`, `LossLowerBounds()`).
    fn lower_short_term(&mut self, cwnd: f64) {
        let lower = |bound: f64, first: f64, latest: f64| {
            let bound = if bound.is_infinite() { first } else { bound };
            latest.max(BETA * bound)
        };
        self.short_term = ShortTerm {
            bandwidth: lower(self.short_term.bandwidth, self.max_bandwidth.largest, self.deliveries.bandwidth),
            in_flight: lower(self.short_term.in_flight, cwnd, self.deliveries.in_flight),
        };
    }
}
