use base::{Clock, Time};

use crate::cell::RmCell;
use crate::config::AllocationConfig;
use crate::erica::Erica;
use crate::shares::Shares;

/// Silence after which a channel counts as gone \[s\]: an idle TM 4.0 source gives up its rate after the same time
/// (ADTF).
const SILENCE_S: f64 = 0.5;

/// The algorithm by which a port allocates explicit rates.
#[derive(Clone, Debug)]
pub(crate) enum Allocation {
    /// The port stamps no explicit rates.
    None,
    /// Rates stamped into forward RM cells and recorded from backward ones; with the utilisation.
    TwoPass(Shares, f64),
    /// Current rates recorded from forward RM cells; with the utilisation.
    ByCcr(Shares, f64),
    /// ERICA, with the utilisation.
    Erica(Erica, f64),
}

impl Allocation {
    /// Creates the allocation of a port with a rate \[bit/s\] and a number of channels.
    pub(crate) fn new(config: AllocationConfig, rate: f64, channels: usize, clock: Clock) -> Allocation {
        let shares = |utilization| Shares::new(utilization * rate, channels, clock.time(SILENCE_S));
        match config {
            AllocationConfig::None {} => Allocation::None,
            AllocationConfig::TwoPass { utilization } => Allocation::TwoPass(shares(utilization), utilization),
            AllocationConfig::ByCcr { utilization } => Allocation::ByCcr(shares(utilization), utilization),
            AllocationConfig::Erica { utilization, interval_s } => {
                Allocation::Erica(Erica::new(utilization * rate, interval_s, channels, clock), utilization)
            }
        }
    }

    /// Sets the rate that is left for ABR \[bit/s\].
    pub(crate) fn set_capacity(&mut self, rate: f64) {
        match self {
            Allocation::None => {}
            Allocation::TwoPass(shares, utilization) | Allocation::ByCcr(shares, utilization) => {
                shares.set_capacity(*utilization * rate);
            }
            Allocation::Erica(erica, utilization) => erica.set_capacity(*utilization * rate),
        }
    }

    /// Counts a cell of a channel that arrives at the port's queue.
    #[inline(always)]
    pub(crate) fn count(&mut self, now: Time, channel: u32) {
        if let Allocation::Erica(erica, _) = self {
            erica.count(now, channel);
        }
    }

    /// Handles a forward RM cell that arrives at the port's queue.
    pub(crate) fn forward(&mut self, now: Time, channel: u32, cell: &mut RmCell) {
        match self {
            Allocation::None => {}
            Allocation::TwoPass(shares, _) => shares.stamp(channel, cell),
            Allocation::ByCcr(shares, _) => {
                shares.record(now, channel, cell.current_rate);
                shares.stamp(channel, cell);
            }
            Allocation::Erica(erica, _) => erica.record(channel, cell.current_rate),
        }
    }

    /// Handles a backward RM cell that arrives at the port's node.
    pub(crate) fn backward(&mut self, now: Time, channel: u32, cell: &mut RmCell) {
        match self {
            Allocation::None | Allocation::ByCcr(..) => {}
            Allocation::TwoPass(shares, _) => {
                shares.record(now, channel, cell.explicit_rate);
                shares.stamp(channel, cell);
            }
            Allocation::Erica(erica, _) => erica.stamp(channel, cell),
        }
    }
}
