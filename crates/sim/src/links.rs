//! Links and queue disciplines made from their settings.

use base::{RandomStream, Rate};
use net::{
    AqmConfig, Buffer, Counting, Discipline, Limit, Link, Overflow, PrivateLinks, QueuedLink, RedConfig,
    SchedulerConfig,
};

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

impl QueueConfig {
    /// Returns the scheduler, the AQM and the overflow rule.
    pub fn discipline(&self) -> Discipline {
        match *self {
            QueueConfig::DropTail {} => Discipline::DROP_TAIL,
            QueueConfig::DropFromFront {} => Discipline { overflow: Overflow::Front, ..Discipline::DROP_TAIL },
            QueueConfig::RandomDrop {} => Discipline { overflow: Overflow::Random, ..Discipline::DROP_TAIL },
            QueueConfig::Priority { levels, victim } => {
                let overflow = match victim {
                    PriorityVictimConfig::Arriving => Overflow::Arriving,
                    PriorityVictimConfig::Lowest => Overflow::Lowest,
                };
                Discipline::new(SchedulerConfig::Priority { levels }, AqmConfig::None, overflow)
            }
            QueueConfig::Red {
                min_threshold_packets: min_threshold,
                max_threshold_packets: max_threshold,
                weight,
                max_probability,
                gentle,
                victim,
                mean_packet_bytes,
            } => {
                let overflow = match victim {
                    VictimConfig::Arriving => Overflow::Arriving,
                    VictimConfig::Random => Overflow::Random,
                };
                let red =
                    RedConfig { min_threshold, max_threshold, weight, max_probability, gentle, mean_packet_bytes };
                Discipline::new(SchedulerConfig::Fifo, AqmConfig::Red(red), overflow)
            }
        }
    }

    /// Returns the settings of a discipline; `None` for a combination of parts that no settings describe.
    pub fn of(discipline: &Discipline) -> Option<QueueConfig> {
        use {AqmConfig as Aqm, SchedulerConfig as Scheduler};
        match (discipline.scheduler, discipline.aqm, discipline.overflow) {
            (Scheduler::Fifo, Aqm::None, Overflow::Arriving) => Some(QueueConfig::DropTail {}),
            (Scheduler::Fifo, Aqm::None, Overflow::Front) => Some(QueueConfig::DropFromFront {}),
            (Scheduler::Fifo, Aqm::None, Overflow::Random) => Some(QueueConfig::RandomDrop {}),
            (Scheduler::Priority { levels }, Aqm::None, Overflow::Arriving) => {
                Some(QueueConfig::Priority { levels, victim: PriorityVictimConfig::Arriving })
            }
            (Scheduler::Priority { levels }, Aqm::None, Overflow::Lowest) => {
                Some(QueueConfig::Priority { levels, victim: PriorityVictimConfig::Lowest })
            }
            (Scheduler::Fifo, Aqm::Red(config), Overflow::Arriving) => Some(red(config, VictimConfig::Arriving)),
            (Scheduler::Fifo, Aqm::Red(config), Overflow::Random) => Some(red(config, VictimConfig::Random)),
            (Scheduler::Fifo, _, Overflow::Lowest)
            | (Scheduler::Fifo, Aqm::Red(_), Overflow::Front)
            | (Scheduler::Priority { .. }, Aqm::None, Overflow::Front | Overflow::Random)
            | (Scheduler::Priority { .. }, Aqm::Red(_), _) => None,
        }
    }
}

fn red(config: RedConfig, victim: VictimConfig) -> QueueConfig {
    QueueConfig::Red {
        min_threshold_packets: config.min_threshold,
        max_threshold_packets: config.max_threshold,
        weight: config.weight,
        max_probability: config.max_probability,
        gentle: config.gentle,
        victim,
        mean_packet_bytes: config.mean_packet_bytes,
    }
}

/// Returns a link whose departures are known on arrival.
pub(crate) fn link(config: &LinkConfig, random: RandomStream) -> Link {
    Link::new(rate(config), buffer(config), &config.queue.discipline(), random)
}

/// Returns copies of a link for flows that send packets of `bytes` over it.
pub(crate) fn private_links(config: &LinkConfig, bytes: u16) -> PrivateLinks {
    PrivateLinks::new(rate(config), buffer(config), bytes)
}

/// Returns a link whose departures are events.
pub(crate) fn queued_link(config: &LinkConfig, random: RandomStream) -> QueuedLink {
    QueuedLink::new(rate(config), buffer(config), &config.queue.discipline(), random)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_discipline_of_the_list_has_settings_that_give_it_back() {
        for (name, discipline) in net::DISCIPLINES {
            let settings = QueueConfig::of(&discipline);
            assert_eq!(settings.map(|settings| settings.discipline()), Some(discipline), "{name}");
        }
    }
}
