/// The payload of a resource-management cell (TM 4.0 section 5.10.2). Rates are exact \[bit/s\].
///
/// Deviation: TM 4.0 encodes rates in 16 bits (nine of mantissa); here rates are not rounded.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RmCell {
    /// Rate of the source when it sent the cell (CCR).
    pub current_rate: f64,
    /// Largest rate that the ports allow so far (ER).
    pub explicit_rate: f64,
    /// The source must reduce its rate (CI, congestion indication).
    pub congestion: bool,
    /// The source must not raise its rate (NI, no increase).
    pub no_increase: bool,
}

/// The payload of a cell.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Payload {
    /// Part of a packet.
    Data {
        /// Number of the packet at its end.
        packet: u32,
        /// Whether this is the last cell of the packet (the AAL-indicate bit).
        last: bool,
        /// Whether a port on the path was congested (EFCI).
        congested: bool,
    },
    /// A resource-management cell from the source.
    Forward(RmCell),
    /// A resource-management cell on its return to the source.
    Backward(RmCell),
    /// Padding of constant-rate cross-traffic.
    Cross,
}

/// A cell, as a small plain value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    /// Next step: an index into the network's table of steps.
    pub(crate) step: u32,
    pub(crate) payload: Payload,
}

impl Default for Cell {
    fn default() -> Self {
        Cell { step: 0, payload: Payload::Cross }
    }
}

// Links store cells in flight: with its arrival time a cell takes less than a cache line.
const _: () = assert!(size_of::<Cell>() <= 40);
