//! The TCP protocol machine alone: no network, no clock.
//!
//! TCP counts in packets here: sequence number `n` is the n-th data packet, from 0. A [`Sender`] is told of ACKs and of
//! its timer, and answers with [`Actions`]; a [`Receiver`] is told of data and answers with ACKs.

mod actions;
mod config;
mod loss;
mod reassembly;
mod receiver;
mod rto;
mod rules;
mod sender;
mod window;

pub use actions::{Ack, Actions, Loss, LossCause, Recovered, Segment};
pub use config::{
    Dialect, Estimator, Increase, PartialAckTimer, ReceiverConfig, Recovery, RtoConfig, RttSample, SenderConfig,
    SlowStartWhile,
};
pub use receiver::{Acknowledgment, Receiver};
pub use sender::Sender;
