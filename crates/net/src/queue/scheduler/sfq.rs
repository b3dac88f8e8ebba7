//! Stochastic fairness queueing (McKenney 1990) by the rules of ns-2.35 (`queue/sfq.cc`) or of Linux
//! (`net/sched/sch_sfq.c`).

use std::collections::VecDeque;

use base::cast::{to_index, to_u32};
use base::{Packet, RandomStream};
use serde::{Deserialize, Serialize};

use super::flows::mixed;
use crate::queue::classes::Classes;

/// Parameters of stochastic fairness queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SfqConfig {
    /// Whose rules hold.
    pub rules: SfqRules,
    /// Number of queues (`buckets_` of ns-2, `divisor` of Linux).
    pub queues: u32,
    /// Whether flows are hashed into the queues; else each flow has a queue of its own.
    pub hashed: bool,
    /// Bytes that a queue may send in a round, by Linux's rules (`quantum`).
    pub quantum_bytes: u32,
    /// Most packets that may wait in a queue, by Linux's rules (`depth`).
    pub depth_packets: u32,
}

/// The rules of an implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SfqRules {
    /// A packet of each queue in turn. An arriving packet is dropped if its queue has half of what is free, or more than its
    /// share where little is free.
    Ns2,
    /// A quantum of each queue in turn; a queue has a depth, and a full buffer drops of the longest queue.
    Linux,
}

impl SfqConfig {
    /// The defaults of ns-2.
    pub const TYPICAL: SfqConfig =
        SfqConfig { rules: SfqRules::Ns2, queues: 16, hashed: true, quantum_bytes: 1514, depth_packets: 127 };
}

/// Stochastic fairness queueing at work; a class is a queue.
#[derive(Clone, Debug)]
pub(crate) struct Sfq {
    config: SfqConfig,
    /// Number that the hash of flows depends on.
    salt: u64,
    /// Queues with packets, the one whose turn it is first.
    active: VecDeque<u32>,
    /// Bytes that each queue may still send before its turn ends (`allot`, in bytes as in Debian's 6.1; older kernels
    /// counted units of 8 bytes).
    allots: Vec<i64>,
    /// Flags of the queues that are in `active`.
    listed: Vec<bool>,
}

impl Sfq {
    pub(super) fn new(config: SfqConfig, random: &RandomStream) -> Sfq {
        let salt = if config.hashed { random.branch("perturbation").bits() } else { 0 };
        Sfq { config, salt, active: VecDeque::new(), allots: Vec::new(), listed: Vec::new() }
    }

    pub(super) fn class(&self, packet: &Packet) -> usize {
        let flow = u64::from(packet.flow);
        let hashed = || mixed(flow ^ self.salt) % u64::from(self.config.queues.max(1));
        to_index(if self.config.hashed { hashed() } else { flow })
    }

    /// Returns whether a packet may join a class, in a buffer of a number of packets.
    pub(super) fn admits(&self, class: usize, waiting: &Classes, limit: u64) -> bool {
        let used = waiting.held_by(class).0 as u64;
        match self.config.rules {
            SfqRules::Ns2 => {
                let (queues, free) = (u64::from(self.config.queues.max(1)), limit.saturating_sub(waiting.len() as u64));
                used < free >> 1 && !(free < queues && used > limit / queues)
            }
            SfqRules::Linux => used < u64::from(self.config.depth_packets),
        }
    }

    /// Notes that a packet has joined a class. The first one puts its queue last.
    pub(super) fn joined(&mut self, class: usize, waiting: &Classes) {
        if waiting.held_by(class).0 > 1 {
            return;
        }
        if class >= self.allots.len() {
            self.allots.resize(class + 1, 0);
            self.listed.resize(class + 1, false);
        }
        self.allots[class] = self.quantum();
        // It is still in the list where a full buffer has dropped its last packet.
        if self.listed[class] {
            self.leave(class);
        }
        self.listed[class] = true;
        self.active.push_back(to_u32(class));
    }

    fn leave(&mut self, class: usize) {
        self.listed[class] = false;
        self.active.retain(|&other| other != to_u32(class));
    }

    fn quantum(&self) -> i64 {
        self.config.quantum_bytes.into()
    }

    /// Returns the first class in turn that has packets.
    pub(super) fn first(&self, waiting: &Classes) -> Option<usize> {
        self.active.iter().map(|&number| to_index(number.into())).find(|&class| waiting.held_by(class).0 > 0)
    }

    /// Returns the class whose turn it is; it may be empty where a full buffer dropped its packets.
    pub(super) fn next(&mut self) -> Option<usize> {
        loop {
            let number = *self.active.front()?;
            let class = to_index(number.into());
            if self.config.rules == SfqRules::Ns2 || self.allots[class] > 0 {
                return Some(class);
            }
            self.allots[class] += self.quantum();
            self.active.rotate_left(1);
        }
    }

    /// Notes that the class whose turn it is has sent a packet.
    pub(super) fn sent(&mut self, class: usize, bytes: u16, waiting: &Classes) {
        if waiting.held_by(class).0 == 0 {
            self.active.pop_front();
            self.listed[class] = false;
        } else if self.config.rules == SfqRules::Ns2 {
            self.active.rotate_left(1);
        } else {
            self.allots[class] -= i64::from(bytes);
        }
    }

    /// Notes that the class whose turn it is was found empty.
    pub(super) fn found_empty(&mut self, class: usize) {
        self.leave(class);
    }
}

#[cfg(test)]
mod tests;
