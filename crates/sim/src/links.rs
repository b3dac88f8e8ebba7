//! Links made from their settings.

use base::{Clock, RandomStream, Rate};
use net::{Buffer, Link, PrivateLinks, QueuedLink};

use crate::scenario::{LinkConfig, PrivateLinkConfig};

fn rate(rate_bps: Option<f64>, clock: Clock) -> Rate {
    rate_bps.map_or(Rate::UNLIMITED, |rate_bps| Rate::new(rate_bps, clock))
}

/// Returns a link whose departures are known on arrival.
pub(crate) fn link(config: &LinkConfig, clock: Clock, random: RandomStream) -> Link {
    Link::new(rate(config.rate_bps, clock), Buffer::new(config.buffer, config.counting), &config.queue, clock, random)
}

/// Returns copies of a link for flows that send packets of `bytes` over it.
pub(crate) fn private_links(config: &PrivateLinkConfig, bytes: u16, clock: Clock) -> PrivateLinks {
    PrivateLinks::new(rate(config.rate_bps, clock), Buffer::new(config.buffer, config.counting), bytes)
}

/// Returns a link whose departures are events.
pub(crate) fn queued_link(config: &LinkConfig, clock: Clock, random: RandomStream) -> QueuedLink {
    QueuedLink::new(
        rate(config.rate_bps, clock),
        Buffer::new(config.buffer, config.counting),
        &config.queue,
        clock,
        random,
    )
}
