//! Types that all parts of the engine share: time, rates, packets, random streams, event queue.

pub mod cast;
mod clock;
mod fraction;
mod histogram;
mod packet;
mod prefetch;
mod random;
mod rate;
mod ring;
mod thinner;
mod time;
mod tournament;

pub use clock::Clock;
pub use fraction::{greatest_common_divisor, least_common_multiple, Fraction};
pub use histogram::Histogram;
pub use packet::{Packet, PacketKind};
pub use prefetch::prefetch;
pub use random::RandomStream;
pub use rate::Rate;
pub use ring::Ring;
pub use thinner::{Steps, Thinner};
pub use time::Time;
pub use tournament::Tournament;
