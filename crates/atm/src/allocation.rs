use base::Time;

use crate::cell::RmCell;
use crate::config::AllocationConfig;
use crate::erica::Erica;
use crate::shares::Shares;

/// Silence after which a channel is gone: where nothing waits, TM 4.0 forgets a rate after as long (ADTF).
const SILENCE_S: f64 = 0.5;

/// How a port tells explicit rates.
#[derive(Clone, Debug)]
pub enum Allocation {
    /// It does not.
    None,
    /// Stamped on the way out, recorded on the way back.
    TwoPass(Shares, f64),
    /// The current rate recorded on the way out.
    ByCcr(Shares, f64),
    /// ERICA.
    Erica(Erica, f64),
}

impl Allocation {
    /// For a port of this rate \[bit/s\] which so many channels cross.
    pub fn new(config: AllocationConfig, rate: f64, channels: usize) -> Allocation {
        let shares = |utilization| Shares::new(utilization * rate, channels, Time::from_seconds(SILENCE_S));
        match config {
            AllocationConfig::None {} => Allocation::None,
            AllocationConfig::TwoPass { utilization } => Allocation::TwoPass(shares(utilization), utilization),
            AllocationConfig::ByCcr { utilization } => Allocation::ByCcr(shares(utilization), utilization),
            AllocationConfig::Erica { utilization, interval_s } => {
                Allocation::Erica(Erica::new(utilization * rate, Time::from_seconds(interval_s), channels), utilization)
            }
        }
    }

    /// So much is left for ABR \[bit/s\].
    pub fn set_capacity(&mut self, rate: f64) {
        match self {
            Allocation::None => {}
            Allocation::TwoPass(shares, utilization) | Allocation::ByCcr(shares, utilization) => {
                shares.set_capacity(*utilization * rate);
            }
            Allocation::Erica(erica, utilization) => erica.set_capacity(*utilization * rate),
        }
    }

    /// A cell of a channel joins the port's queue.
    #[inline(always)]
    pub fn count(&mut self, now: Time, channel: u32) {
        if let Allocation::Erica(erica, _) = self {
            erica.count(now, channel);
        }
    }

    /// A forward RM cell joins the port's queue.
    pub fn forward(&mut self, now: Time, channel: u32, cell: &mut RmCell) {
        match self {
            Allocation::None => {}
            Allocation::TwoPass(shares, _) => shares.stamp(channel, cell),
            Allocation::ByCcr(shares, _) => {
                shares.record(now, channel, cell.current_rate);
                shares.stamp(channel, cell);
            }
            Allocation::Erica(erica, _) => erica.tell(channel, cell.current_rate),
        }
    }

    /// A backward RM cell reaches the port's node.
    pub fn backward(&mut self, now: Time, channel: u32, cell: &mut RmCell) {
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
