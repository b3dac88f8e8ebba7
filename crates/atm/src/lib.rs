//! An ATM network, cell by cell: AAL5, ABR (TM 4.0), switches with explicit-rate allocation.
//!
//! The crate depends on no TCP and on no other network. IP packets enter at one end of a duplex virtual channel
//! ([`AtmNetwork::offer`]) and leave at the other ([`AtmNetwork::advance`]); everything between is clock-driven, and
//! time is in whole ticks of the clock that it gets.
//!
//! An *end* is one side of a channel: end `2 c` is channel `c`'s near side, `2 c + 1` its far side. A packet that is
//! offered at one end arrives at the other.

mod aal5;
mod allocation;
mod cell;
mod check;
mod config;
mod destination;
mod end_system;
mod erica;
mod network;
mod port;
mod shares;
mod source;
mod statistics;
mod trace;

pub use aal5::{cell_time, cells};
pub use cell::RmCell;
pub use check::check;
pub use config::{
    AbrParameters, AllocationConfig, AtmConfig, ChannelConfig, CrossConfig, EndConfig, IpService, PortConfig,
    TraceConfig,
};
pub use destination::{Destination, Transit};
pub use network::{Arrival, AtmNetwork};
pub use source::{AbrSource, InRate};
pub use statistics::{EndStatistics, PortStatistics};
pub use trace::{Row, Traces};

// The tests from outside are compiled with those inside: as a program of their own they would need the crate a second time.
#[cfg(test)]
extern crate self as atm;
#[cfg(test)]
#[path = "../tests/all.rs"]
mod outside;
