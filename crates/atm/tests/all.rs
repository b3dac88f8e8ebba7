//! The tests of networks as one program, which is linked once. A new file has its line here.

mod allocation;
mod common;
mod one_channel;
mod source_rules;
