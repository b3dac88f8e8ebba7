//! Links and what acts in them. Knows packets and time, but no TCP.
//!
//! A link is a server with a buffer, then a propagation delay. Two kinds, by when a packet's fate is known:
//! [`Link`], where it is known on arrival (drop-tail, RED that drops the arriving packet), and [`QueuedLink`],
//! whose discipline may still throw out a packet that waits (drop-from-front, random drop, RED with a random victim).

mod buffer;
mod link;
mod private;
mod queued;
mod red;
mod statistics;

pub use buffer::{Buffer, Counting, Limit};
pub use link::Link;
pub use private::PrivateLinks;
pub use queued::{QueuedLink, Victim};
pub use red::{Red, RedConfig, RedVerdict};
pub use statistics::{LinkStatistics, Phase};
