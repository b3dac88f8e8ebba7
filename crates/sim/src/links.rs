//! From a link's settings to the link.

use base::{RandomStream, Rate};
use net::{Buffer, Counting, Limit, Link, QueuedLink, Red, RedConfig, Victim};

use crate::scenario::{BufferConfig, CountingConfig, LinkConfig, PriorityVictimConfig, QueueConfig, VictimConfig};

fn rate(config: &LinkConfig) -> Rate {
    config.rate_bps.map_or(Rate::UNLIMITED, Rate::from_bits_per_second)
}

fn buffer(config: &LinkConfig) -> Buffer {
    let limit = match config.buffer {
        None => Limit::Unlimited,
        Some(BufferConfig::Packets(packets)) => Limit::Packets(packets),
        Some(BufferConfig::Bytes(bytes)) => Limit::Bytes(bytes),
    };
    let counting = match config.counting {
        CountingConfig::WithService => Counting::WithService,
        CountingConfig::Waiting => Counting::Waiting,
    };
    Buffer::new(limit, counting)
}

fn red(config: &LinkConfig, random: RandomStream) -> Option<Red> {
    let QueueConfig::Red {
        min_threshold_packets: min_threshold,
        max_threshold_packets: max_threshold,
        weight,
        max_probability,
        gentle,
        mean_packet_bytes,
        ..
    } = config.queue
    else {
        return None;
    };
    let red = RedConfig { min_threshold, max_threshold, weight, max_probability, gentle, mean_packet_bytes };
    Some(Red::new(red, rate(config), random))
}

pub(crate) fn link(config: &LinkConfig, random: RandomStream) -> Link {
    Link::new(rate(config), buffer(config), red(config, random))
}

pub(crate) fn queued_link(config: &LinkConfig, random: RandomStream) -> QueuedLink {
    let victim = match config.queue {
        QueueConfig::RandomDrop {} => Victim::Random(random.clone()),
        QueueConfig::Priority { victim: PriorityVictimConfig::Arriving, .. } => Victim::Arriving,
        QueueConfig::Priority { victim: PriorityVictimConfig::Lowest, .. } => Victim::Lowest,
        QueueConfig::Red { victim: VictimConfig::Random, .. } => Victim::Random(random.branch("victim")),
        _ => Victim::Front,
    };
    QueuedLink::new(rate(config), buffer(config), victim, red(config, random))
}
