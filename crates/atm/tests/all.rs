//! The tests of networks, which see what others see of the crate. A new file has its line here.

mod allocation;
mod common;
mod one_channel;
mod source_rules;
