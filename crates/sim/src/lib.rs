//! The composition root: a resolved scenario becomes a network, the loop runs it, and columns come out.

mod batches;
mod buckets;
mod calendar_queue;
mod capture;
mod capture_connections;
mod capture_end;
mod capture_options;
mod capture_section;
mod capture_size;
mod channels;
mod check;
mod classes;
mod column;
mod contract;
mod delays;
mod empty_path;
mod engine;
mod flow;
mod handshake;
mod job;
mod links;
mod loss_log;
mod losses;
mod network;
mod observe;
mod outbox;
mod outcome;
mod pipes;
mod recovery;
mod route;
pub mod scenario;
mod sender_slot;
mod statistics;
mod traffic;

pub use batches::{Batches, FlowBatch, LinkBatch};
pub use buckets::BucketRow;
pub use capture::{captured_links, pcapng};
pub use check::{all_limits, check, Limit};
pub use classes::ClassRow;
pub use column::Column;
pub use contract::contract;
pub use delays::{Delays, FlowDelays};
pub use engine::{Engine, Progress};
pub use job::Job;
pub use links::{deliveries_ms, Offered};
pub use observe::{
    AqmRow, CaptureRow, CwndRow, DelayRow, DropRow, LossRow, OverviewKind, OverviewRow, QueueDistributionRow, QueueRow,
    RateRow, RepairRow, RoundRow, RttRow, SequenceKind, SequenceRow, StateRow, Traces,
};
pub use outcome::Outcome;
pub use recovery::{RecoveryStatistics, Repair, TimeoutKind};
pub use scenario::Scenario;
pub use statistics::{FlowStatistics, MOST_ROWS_OF_A_GROUP};
pub use traffic::{CompletionStatistics, PingStatistics, SizeClass, State, TransferStatistics};

// The tests from outside are compiled with those inside: as a program of their own they would need the crate a second time.
#[cfg(test)]
extern crate self as sim;
#[cfg(test)]
#[path = "../tests/all.rs"]
mod outside;
