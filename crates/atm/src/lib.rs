//! An ATM network, cell by cell: AAL5, ABR (TM 4.0), switches with explicit-rate allocation.
//!
//! It knows no TCP and no other network. IP packets go in at one end of a duplex virtual channel ([`AtmNetwork::offer`])
//! and come out at the other ([`AtmNetwork::advance`]); in between all is clock-driven, and time is whole picoseconds.
//!
//! An *end* is one side of a channel: end `2 c` is channel `c`'s near side, `2 c + 1` its far side. What is offered at an
//! end arrives at the other.

mod aal5;
mod allocation;
mod cell;
mod check;
mod config;
mod destination;
mod end_system;
mod erica;
mod max_min;
mod network;
mod port;
mod shares;
mod source;
mod statistics;
mod trace;

pub use aal5::{cell_time, cells, CELL_BITS};
pub use allocation::Allocation;
pub use cell::RmCell;
pub use check::check;
pub use config::{
    AbrParameters, AllocationConfig, AtmConfig, ChannelConfig, CrossConfig, EndConfig, IpService, PortConfig,
    TraceConfig,
};
pub use destination::{Destination, Transit};
pub use max_min::{max_min, Claim};
pub use network::{Arrival, AtmNetwork};
pub use source::{AbrSource, InRate};
pub use statistics::{EndStatistics, PortStatistics};
pub use trace::{Row, Traces};
