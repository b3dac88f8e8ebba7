//! Types that all parts of the engine share: time, rates, packets, random streams, event queue.

pub mod cast;
mod clock;
mod divisor;
mod fraction;
mod histogram;
mod packet;
mod prefetch;
mod random;
mod rate;
mod ring;
mod room;
mod thinner;
mod time;
mod tournament;

pub use clock::Clock;
pub use divisor::Divisor;
pub use fraction::{greatest_common_divisor, least_common_multiple, Fraction};
pub use histogram::Histogram;
pub use packet::{Marks, Packet, PacketKind};
pub use prefetch::prefetch;
pub use random::RandomStream;
pub use rate::Rate;
pub use ring::Ring;
pub use room::make_room;
pub use thinner::{Steps, Thinner};
pub use time::Time;
pub use tournament::Tournament;
