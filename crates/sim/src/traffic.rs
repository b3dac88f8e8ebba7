//! Traffic sources: transfers over TCP, and datagrams without ACKs.

mod config;
mod datagrams;
mod laws;
mod transfers;

pub use config::{SizeLaw, TimeLaw};
pub(crate) use datagrams::{gap, Datagrams};
pub(crate) use laws::Sizes;
pub(crate) use transfers::Transfers;
pub use transfers::{SizeClass, State, TransferStatistics};
