//! The TCP protocol machine alone: no network, no clock.
//!
//! TCP counts in packets here: sequence number `n` is the n-th data packet, from 0. A [`Sender`] receives ACKs and the
//! expiry of its timer, and responds with [`Actions`]; a [`Receiver`] receives data and responds with ACKs.

mod actions;
pub mod cc;
mod classic;
mod config;
mod endpoint;
mod quirks;
mod reassembly;
mod receiver;
mod rto;
mod selective;

pub use actions::{Ack, Actions, LossCause, LossEvent, Recovered, Segment, Selected};
pub use classic::Classic;
pub use config::{
    ClassicConfig, ControlConfig, Dialect, Estimator, HalfWindow, Increase, LinuxReceiver, LossDetection,
    PartialAckTimer, ReceiverConfig, Recovery, RtoConfig, RttSample, SelectiveConfig, SenderConfig, SlowStartWhile,
    TimeoutConfig,
};
pub use endpoint::Sender;
pub use receiver::{Acknowledgment, Receiver};
pub use selective::{Selective, State};
