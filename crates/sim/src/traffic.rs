//! Traffic sources: transfers over TCP, datagrams without ACKs, and pings.

mod completions;
mod config;
mod datagrams;
mod laws;
mod pings;
mod transfers;

pub use completions::CompletionStatistics;
pub(crate) use completions::{Completion, Completions, Transfer};
pub use config::{SizeLaw, TimeLaw};
pub(crate) use datagrams::Datagrams;
pub(crate) use laws::Sizes;
pub use pings::PingStatistics;
pub(crate) use pings::Pings;
pub(crate) use transfers::Transfers;
pub use transfers::{SizeClass, State, TransferStatistics};
