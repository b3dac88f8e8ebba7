use crate::cell::RmCell;

/// A packet whose cells are in flight.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transit {
    /// The packet itself.
    pub packet: base::Packet,
    /// Number of the packet at its end.
    pub number: u32,
    /// Number of its cells.
    pub cells: u32,
    /// Instants at which the packet entered, its first data cell left, and its last one left.
    pub history: [base::Time; 3],
}

/// The destination of an end: it turns RM cells around and reassembles packets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Destination {
    /// EFCI bit of the last data cell.
    congested: bool,
    /// Backward RM cell that waits to be sent.
    backward: Option<RmCell>,
    /// Number of backward RM cells that a newer one replaced.
    replaced: u64,
    /// Number of data cells since the last end of a packet.
    cells: u32,
    /// Packet of the first of these cells.
    first: u32,
}

impl Destination {
    /// Turns a forward RM cell into a backward one, with CI if the last data cell carried EFCI, and replaces one that
    /// still waits: TM 4.0 section 5.10.5 rules 2 and 3.
    pub fn turn_around(&mut self, forward: RmCell) {
        let congestion = forward.congestion || self.congested;
        self.congested = false;
        self.replaced += u64::from(self.backward.is_some());
        self.backward = Some(RmCell { congestion, ..forward });
    }

    /// Returns whether a backward RM cell waits.
    #[inline(always)]
    pub fn backward_waits(&self) -> bool {
        self.backward.is_some()
    }

    /// Takes the waiting backward RM cell.
    pub fn take_backward(&mut self) -> Option<RmCell> {
        self.backward.take()
    }

    /// Returns the number of backward RM cells that a newer one replaced.
    pub fn replaced(&self) -> u64 {
        self.replaced
    }

    /// Receives a data cell of a packet and stores its EFCI: TM 4.0 section 5.10.5 rule 1.
    #[inline(always)]
    pub fn data(&mut self, packet: u32, congested: bool) {
        self.congested = congested;
        if self.cells == 0 {
            self.first = packet;
        }
        self.cells += 1;
    }

    /// Completes the packet whose last cell has just arrived; returns whether the cells since the last end are exactly
    /// the cells of this packet. The cells of a packet whose end is lost corrupt the next packet (AAL5 finds a wrong
    /// length or checksum).
    pub fn complete(&mut self, transit: &Transit) -> bool {
        let cells = std::mem::take(&mut self.cells);
        self.first == transit.number && cells == transit.cells
    }
}
