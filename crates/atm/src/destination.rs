use crate::cell::RmCell;

/// A packet whose cells are on their way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transit {
    /// The packet.
    pub packet: base::Packet,
    /// Its number at its end.
    pub number: u32,
    /// Its cells.
    pub cells: u32,
    /// When it entered, when its first data cell went, and its last.
    pub history: [base::Time; 3],
}

/// The destination's side of an end: it turns RM cells around, and puts packets together.
#[derive(Clone, Copy, Debug, Default)]
pub struct Destination {
    /// EFCI of the last data cell.
    congested: bool,
    backward: Option<RmCell>,
    /// Backward RM cells that a newer one replaced.
    replaced: u64,
    /// Since the last end of a packet: cells, and the packet of the first of them.
    cells: u32,
    first: u32,
}

impl Destination {
    /// TM 4.0 section 5.10.5 rules 2, 3: a forward RM cell becomes a backward one, with CI where the last data cell carried
    /// EFCI; it replaces one that still waits.
    pub fn turn_around(&mut self, forward: RmCell) {
        let congestion = forward.congestion || self.congested;
        self.congested = false;
        self.replaced += u64::from(self.backward.is_some());
        self.backward = Some(RmCell { congestion, ..forward });
    }

    /// Whether a backward RM cell waits.
    #[inline(always)]
    pub fn backward_waits(&self) -> bool {
        self.backward.is_some()
    }

    /// The waiting backward RM cell goes.
    pub fn take_backward(&mut self) -> Option<RmCell> {
        self.backward.take()
    }

    /// Backward RM cells that a newer one replaced.
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    /// A data cell. TM 4.0 section 5.10.5 rule 1: its EFCI is kept.
    #[inline(always)]
    pub fn data(&mut self, packet: u32, congested: bool) {
        self.congested = congested;
        if self.cells == 0 {
            self.first = packet;
        }
        self.cells += 1;
    }

    /// The last cell came was the end of this packet: whether all cells since the last end are its own, and all of its own are here.
    /// Where the end of a packet is lost, its cells spoil the next one (AAL5 finds the wrong length or checksum).
    pub fn complete(&mut self, transit: &Transit) -> bool {
        let cells = std::mem::take(&mut self.cells);
        self.first == transit.number && cells == transit.cells
    }
}
