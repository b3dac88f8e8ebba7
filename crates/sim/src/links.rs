//! Links made from their settings.

use base::{RandomStream, Rate};
use net::{Buffer, Link, PrivateLinks, QueuedLink};

use crate::scenario::{LinkConfig, PrivateLinkConfig};

fn rate(rate_bps: Option<f64>) -> Rate {
    rate_bps.map_or(Rate::UNLIMITED, Rate::from_bits_per_second)
}

/// Returns a link whose departures are known on arrival.
pub(crate) fn link(config: &LinkConfig, random: RandomStream) -> Link {
    Link::new(rate(config.rate_bps), Buffer::new(config.buffer, config.counting), &config.queue, random)
}

/// Returns copies of a link for flows that send packets of `bytes` over it.
pub(crate) fn private_links(config: &PrivateLinkConfig, bytes: u16) -> PrivateLinks {
    PrivateLinks::new(rate(config.rate_bps), Buffer::new(config.buffer, config.counting), bytes)
}

/// Returns a link whose departures are events.
pub(crate) fn queued_link(config: &LinkConfig, random: RandomStream) -> QueuedLink {
    QueuedLink::new(rate(config.rate_bps), Buffer::new(config.buffer, config.counting), &config.queue, random)
}
