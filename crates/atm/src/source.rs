use base::{Clock, Time};

use crate::aal5::cell_time;
use crate::cell::RmCell;
use crate::config::AbrParameters;

/// The ABR source of TM 4.0 section 5.10.4, alone: no queue, no network, no clock of its own.
///
/// Two choices that the rules leave open: an idle source sends nothing while nothing waits, not even a forward RM cell
/// for which it is time; and a change of the rate reschedules the next cell at once (to `1 / ACR` after the last one).
/// Out-of-rate cells are not modelled.
#[derive(Clone, Copy, Debug)]
pub struct AbrSource {
    parameters: AbrParameters,
    clock: Clock,
    trm: Time,
    adtf: Time,
    /// Number of forward RM cells without a backward one after which the rate falls (CRM).
    crm: u64,
    /// Allowed cell rate \[bit/s\].
    acr: f64,
    /// Time between cells, `1 / ACR`.
    spacing: Time,
    started: bool,
    /// Instant of the last cell.
    last_cell: Time,
    /// Instant of the last forward RM cell.
    last_forward: Time,
    cells_since_forward: u32,
    backward_since_forward: bool,
    forward_since_backward: u64,
}

/// The kind of the next in-rate cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum InRate {
    /// A forward RM cell.
    Forward(RmCell),
    /// The waiting backward RM cell.
    Backward,
    /// The next data cell.
    Data,
}

impl AbrSource {
    /// Creates a source that has sent nothing.
    pub fn new(parameters: AbrParameters, clock: Clock) -> AbrSource {
        AbrSource {
            trm: clock.time(parameters.trm_s),
            adtf: clock.time(parameters.adtf_s),
            // TM 4.0 section 5.10.3: CRM = ceil(TBE / Nrm).
            crm: parameters.tbe_cells.div_ceil(u64::from(parameters.nrm)),
            // TM 4.0 section 5.10.4 rule 2: ACR starts at ICR.
            acr: parameters.icr_bps,
            spacing: cell_time(parameters.icr_bps, clock),
            started: false,
            last_cell: Time::ZERO,
            last_forward: Time::ZERO,
            cells_since_forward: 0,
            backward_since_forward: false,
            forward_since_backward: 0,
            parameters,
            clock,
        }
    }

    /// Returns the allowed cell rate \[bit/s\].
    #[inline(always)]
    pub fn acr(&self) -> f64 {
        self.acr
    }

    /// Returns the earliest instant of the next in-rate cell. Rule 1: cells are spaced by at least `1 / ACR`.
    #[inline(always)]
    pub fn due(&self) -> Time {
        if self.started {
            self.last_cell + self.spacing
        } else {
            Time::ZERO
        }
    }

    /// Chooses the next in-rate cell; a data cell or a backward RM cell must wait.
    #[inline(always)]
    pub fn send(&mut self, now: Time, data_waits: bool, backward_waits: bool) -> InRate {
        self.last_cell = now;
        if self.forward_is_next(now) {
            return InRate::Forward(self.send_forward(now));
        }
        self.cells_since_forward += 1;
        // Rule 3 b: a waiting backward RM cell is sent if none was sent since the last forward one, or if no data
        // waits.
        if backward_waits && (!self.backward_since_forward || !data_waits) {
            self.backward_since_forward = true;
            return InRate::Backward;
        }
        // Rule 3 c.
        InRate::Data
    }

    /// Returns whether the next in-rate cell is a forward RM cell: rule 3 a, and rule 2 for the first cell.
    #[inline(always)]
    fn forward_is_next(&self, now: Time) -> bool {
        let AbrParameters { nrm, mrm, .. } = self.parameters;
        !self.started
            || self.cells_since_forward >= nrm - 1
            || (self.cells_since_forward >= mrm && now - self.last_forward >= self.trm)
    }

    #[inline(never)]
    fn send_forward(&mut self, now: Time) -> RmCell {
        let AbrParameters { pcr_bps, mcr_bps, icr_bps, cdf, .. } = self.parameters;
        let mut acr = self.acr;
        // Rule 5 (4 in the short form): after ADTF without a forward RM cell the rate falls back to ICR.
        if self.started && acr > icr_bps && now - self.last_forward > self.adtf {
            acr = icr_bps;
        }
        // Rule 6: CRM forward RM cells without a backward one.
        if self.forward_since_backward >= self.crm {
            acr = (acr - acr * cdf).max(mcr_bps);
        }
        self.set_acr(acr);
        self.started = true;
        self.last_forward = now;
        self.cells_since_forward = 0;
        self.backward_since_forward = false;
        self.forward_since_backward += 1;
        // Rule 7: CCR = ACR, ER = PCR, CI = NI = 0.
        RmCell { current_rate: acr, explicit_rate: pcr_bps, congestion: false, no_increase: false }
    }

    /// Adapts the rate to a backward RM cell.
    pub fn receive(&mut self, cell: &RmCell) {
        let AbrParameters { pcr_bps, mcr_bps, rif, rdf, .. } = self.parameters;
        self.forward_since_backward = 0;
        let mut acr = self.acr;
        // Rule 8: CI reduces the rate, whether or not NI is set; without either the rate rises.
        if cell.congestion {
            acr -= acr * rdf;
        } else if !cell.no_increase {
            acr = (acr + rif * pcr_bps).min(pcr_bps);
        }
        // Rule 9, and rule 1: MCR <= ACR <= PCR.
        self.set_acr(acr.min(cell.explicit_rate).max(mcr_bps));
    }

    fn set_acr(&mut self, acr: f64) {
        if acr != self.acr {
            self.acr = acr;
            self.spacing = cell_time(acr, self.clock);
        }
    }
}
