//! The TCP protocol machine alone: no network, no clock.
//!
//! TCP counts in packets here: sequence number `n` is the n-th data packet, from 0. A [`Sender`] receives ACKs and the
//! expiry of its timer, and responds with [`Actions`]; a [`Receiver`] receives data and responds with ACKs.

mod actions;
pub mod cc;
mod classic;
mod config;
mod echo_age;
mod endpoint;
mod machine;
mod memory;
mod quirks;
mod reassembly;
mod receiver;
mod rto;
mod selective;
mod timer_wheel;
mod windowed;

/// Most packets of a sender that may be in flight. A sender sends one more at one instant at most, whatever its window is, so
/// that the network can end the run.
pub const MOST_IN_FLIGHT: u64 = 20_000_000;

pub use actions::{Ack, Actions, LossCause, LossEvent, Recovered, Segment, Selected};
pub use classic::{Classic, Sack1};
pub use config::{
    ClassicConfig, Close, ControlConfig, ControlProgram, Dialect, Ecn, Estimator, HalfWindow, Increase, LinuxReceiver,
    LossDetection, Pacing, PacketMemory, PartialAckTimer, PushConfig, ReceiverConfig, Recovery, RtoConfig, RttSample,
    SackBlocks, SelectiveConfig, SendBuffer, SenderConfig, SlowStartWhile, TimeoutConfig, TimeoutRules, UndoResponse,
    WindowValidation, WritesConfig,
};
pub use endpoint::Sender;
pub use machine::Machine;
pub use memory::OVERHEAD as SEGMENT_OVERHEAD;
pub use receiver::{AckKey, Acknowledgment, Receiver, SackLog, SpareStates};
pub use selective::{Selective, SenderEvent, SenderEvents, SenderView, State};
pub use timer_wheel::TimerWheel;

// The tests from outside are compiled with those inside: as a program of their own they would need the crate a second time.
#[cfg(test)]
extern crate self as tcp;
#[cfg(test)]
#[path = "../tests/all.rs"]
mod outside;
