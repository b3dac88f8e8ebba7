//! Links and queue disciplines. Knows packets and time, but no TCP.
//!
//! A link is a buffer and a transmitter. There are two kinds, by when a packet's fate is known: a [`Link`] knows it on
//! arrival; the [`Discipline`] of a [`QueuedLink`] may still drop a waiting packet, or let others overtake it. A
//! [`Process`] is a host's serial work: a fixed time a packet. A [`Pipe`] is a propagation delay that changes, a
//! [`RateProcess`] a rate that does. A [`LossProcess`] loses packets as they arrive at a link.

mod bucket;
mod buffer;
mod by_class;
mod delay;
mod link;
mod loss;
mod private;
mod process;
mod queue;
mod queued;
mod rate;
mod sampling;
mod shaper;
mod statistics;

pub use bucket::{BucketConfig, BucketKind};
pub use buffer::{Buffer, BufferLimit, Counting};
pub use by_class::{ClassStatistics, FlowGroups};
pub use delay::{DelayLaw, DelayProcess, DelayState, Pipe};
pub use link::Link;
pub use loss::{AppliesTo, LossLaw, LossProcess};
pub use private::PrivateLinks;
pub use process::Process;
pub use queue::{
    disciplines, AqmConfig, AqmState, CakeConfig, Cause, CobaltConfig, CodelConfig, CodelRules, Discipline, DrrConfig,
    DualConfig, DualPi2Config, DualPi2Rules, FlowEntry, FqConfig, Origin, Overflow, PiConfig, PieConfig, RedAdaptation,
    RedConfig, RedEcn, RedLinuxConfig, SchedulerConfig, SfqConfig, SfqRules, Signal, StepConfig, WfqConfig,
};
pub use queued::QueuedLink;
pub use rate::{RateLaw, RateProcess, RateState, MAHIMAHI_BYTES, MAHIMAHI_HEADER};
pub use sampling::{batch_end, LinkSample, BATCHES};
pub use statistics::{LinkStatistics, Measurement};
