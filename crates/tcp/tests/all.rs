//! The tests of senders and receivers from outside, which see what others see of the crate. A new file has its line here.

mod application;
mod axes;
mod cases;
mod controls;
mod dialogues;
mod ecn;
mod journal;
mod kernel;
mod kernel_paths;
mod linux_acks;
mod notices;
mod ns2_ecn;
mod properties;
mod reordering;
mod selective_axes;
mod spare_states;
mod transfers;
mod undo_responses;
mod without_sack;
