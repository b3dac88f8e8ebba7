//! The tests of whole runs, which see what others see of the crate. A new file has its line here.

mod ack_streams;
mod atm_two_way;
mod changing_delay;
mod changing_rate;
mod common;
mod completions;
mod contract;
mod golden;
mod ground_truth;
mod losing_links;
mod physics;
mod pings;
mod priority;
mod processing;
mod properties;
mod provided;
mod ties;
mod traffic;
mod two_way;
