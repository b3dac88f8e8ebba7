//! The losses that senders detect, and their repairs.

use base::Time;
use tcp::LossEvent;

use super::rows::{LossRow, RepairRow};
use super::Observers;
use crate::recovery::Repair;

impl Observers {
    /// Records a loss that a sender detected.
    pub(crate) fn loss(&mut self, flow: u32, time: Time, loss: LossEvent, spurious: bool) {
        if let Some(rows) = &mut self.traces.losses {
            rows.push(LossRow { time, flow, loss, spurious });
        }
    }

    /// Corrects the loss that a flow detected at an instant: it was not spurious.
    #[cold]
    pub(crate) fn not_spurious(&mut self, flow: u32, time: Time) {
        let rows = self.traces.losses.iter_mut().flatten().rev();
        rows.filter(|row| row.flow == flow && row.time == time).take(1).for_each(|row| row.spurious = false);
    }

    /// Records a timeout, or a fast recovery that has succeeded.
    pub(crate) fn repair(&mut self, flow: u32, time: Time, repair: Repair) {
        if let Some(rows) = &mut self.traces.recovery {
            rows.push(RepairRow { time, flow, repair });
        }
    }
}
