//! Links and what acts in them. Knows packets and time, but no TCP.
//!
//! A link is a server with a buffer, then a propagation delay. Two kinds, by when a packet's fate is known:
//! [`Link`], where it is known on arrival (drop-tail, RED that drops the arriving packet), and [`QueuedLink`],
//! whose discipline may still throw out a packet that waits, or let others go first (drop-from-front, random drop, RED with a random victim, priority).
//! A [`Process`] is a host's serial work: a fixed time a packet. A [`Pipe`] is a propagation delay that changes; [`Loss`] loses packets as they come to a link.

mod buffer;
mod delay;
mod link;
mod loss;
mod private;
mod process;
mod queue;
mod queued;
mod statistics;

pub use buffer::{Buffer, Counting, Limit};
pub use delay::{DelayLaw, DelayProcess, DelayState, Pipe};
pub use link::Link;
pub use loss::{Crossing, Loss, LossLaw};
pub use private::PrivateLinks;
pub use process::Process;
pub use queue::{AqmConfig, Discipline, Overflow, RedConfig, SchedulerConfig, DISCIPLINES};
pub use queued::QueuedLink;
pub use statistics::{LinkStatistics, Phase};
