//! The TCP protocol machine alone: no network, no clock.
//!
//! TCP counts in packets here: sequence number `n` is the n-th data packet, from 0. A [`Sender`] receives ACKs and the
//! expiry of its timer, and responds with [`Actions`]; a [`Receiver`] receives data and responds with ACKs.

mod actions;
pub mod cc;
mod config;
mod loss;
mod quirks;
mod reassembly;
mod receiver;
mod rto;
mod rules;
mod sender;
mod window;

pub use actions::{Ack, Actions, LossCause, LossEvent, Recovered, Segment, Selected};
pub use config::{
    Dialect, Estimator, HalfWindow, Increase, PartialAckTimer, ReceiverConfig, Recovery, RtoConfig, RttSample,
    SenderConfig, SlowStartWhile,
};
pub use receiver::{Acknowledgment, Receiver};
pub use sender::Sender;
