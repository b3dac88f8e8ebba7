/// What a resource-management cell carries (TM 4.0 section 5.10.2). Rates are exact \[bit/s\].
///
/// Deviation: TM 4.0 codes rates in 16 bits (nine of mantissa); here an allocation is not rounded on its way.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RmCell {
    /// The source's rate when it sent the cell (CCR).
    pub current_rate: f64,
    /// The most that the way allows so far (ER).
    pub explicit_rate: f64,
    /// Congestion (CI): the source shall slow down.
    pub congestion: bool,
    /// No increase (NI).
    pub no_increase: bool,
}

/// What a cell carries.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Load {
    /// Part of a packet.
    Data {
        /// The packet's number at its end.
        packet: u32,
        /// It ends the packet (the AAL-indicate bit).
        last: bool,
        /// It met congestion (EFCI).
        congested: bool,
    },
    /// A resource-management cell on its way out.
    Forward(RmCell),
    /// And on its way back.
    Backward(RmCell),
    /// Constant-rate cross-traffic.
    Cross,
}

/// A cell, as a small plain value.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    /// Where it is going: an index into the network's table of steps.
    pub(crate) step: u32,
    pub(crate) load: Load,
}

impl Default for Cell {
    fn default() -> Self {
        Cell { step: 0, load: Load::Cross }
    }
}

// Links hold cells in flight: with its instant a cell fills less than a cache line.
const _: () = assert!(size_of::<Cell>() <= 40);
