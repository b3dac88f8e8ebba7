//! CAKE's isolation of flows and hosts (Linux `net/sched/sch_cake.c`, `cake_hash`, `cake_enqueue`, `cake_dequeue`).

use base::cast::{to_index, to_u32};
use base::{Packet, RandomStream};
use serde::{Deserialize, Serialize};

use super::chain::{Chain, Links};
use super::flows::mixed;
use super::Origin;
use crate::queue::classes::Classes;

/// Parameters of CAKE's scheduler.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CakeConfig {
    /// Bytes that a queue may send in a round, while it is the only one of its host.
    pub quantum_bytes: u32,
    /// Whether flows are hashed into 1024 queues in sets of eight; else each flow has a queue of its own.
    pub hashed: bool,
    /// Whether hosts share the rate first, and then the flows of each (`triple-isolate`).
    pub by_host: bool,
    /// Rate of CAKE's own shaper, which has no burst \[bit/s\]; `None`: packets leave as fast as the link takes them.
    pub bandwidth_bps: Option<f64>,
}

impl CakeConfig {
    /// The defaults of Linux, without a shaper.
    pub const TYPICAL: CakeConfig =
        CakeConfig { quantum_bytes: 1514, hashed: true, by_host: true, bandwidth_bps: None };
}

/// Queues that flows are hashed into (`CAKE_QUEUES`), and those of a set in which a flow looks for one of its own
/// (`CAKE_SET_WAYS`).
const QUEUES: u32 = 1024;
const WAYS: u32 = 8;
/// The most flows by which a quantum is divided.
const MOST_FLOWS: u32 = QUEUES;

/// Deficit round robin of queues (DRR++): sparse ones first, and those that have run empty are visited until their AQM is
/// at rest. Each class is a queue.
#[derive(Clone, Debug)]
pub(crate) struct Cake {
    quantum: u64,
    hashed: bool,
    by_host: bool,
    /// Number that the hash of flows depends on.
    salt: u64,
    /// Random numbers that round quanta.
    dither: RandomStream,
    states: Vec<State>,
    links: Links,
    chains: [Chain; 3],
    /// Flows in bulk of each host (`srchost_bulk_flow_count`).
    bulk_flows: Vec<u32>,
    /// Whether the present search for a packet has yet to visit a decaying queue (`first_flow`).
    begins: bool,
}

/// The chains of queues: of those that became active lately, of the others that are active, and of empty ones.
const NEW: usize = 0;
const OLD: usize = 1;
const DECAYING: usize = 2;

/// The set that a queue is in (`CAKE_SET_*`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    #[default]
    None,
    Sparse,
    /// Sparse, but among the old ones without packets, as it has a deficit to make up for.
    SparseWait,
    Bulk,
    Decaying,
}

#[derive(Clone, Copy, Debug, Default)]
struct State {
    deficit: i64,
    set: Set,
    host: u16,
    /// Hash of the flow for which the queue is reserved.
    tag: u32,
}

impl Cake {
    pub(super) fn new(config: CakeConfig, random: &RandomStream) -> Cake {
        let CakeConfig { quantum_bytes, hashed, by_host, .. } = config;
        let salt = if hashed { random.branch("perturbation").bits() } else { 0 };
        let states = vec![State::default(); if hashed { to_index(QUEUES.into()) } else { 0 }];
        Cake {
            quantum: quantum_bytes.into(),
            hashed,
            by_host,
            salt,
            dither: random.branch("quantum"),
            states,
            links: Links::default(),
            chains: Default::default(),
            bulk_flows: Vec::new(),
            begins: true,
        }
    }

    /// Returns the queue of a packet, which is then its flow's.
    pub(super) fn class(&mut self, packet: &Packet, origin: Origin) -> usize {
        let class = if self.hashed { self.reserved(packet.flow) } else { to_index(packet.flow.into()) };
        if class >= self.states.len() {
            self.states.resize_with(class + 1, State::default);
        }
        let State { set, host, .. } = self.states[class];
        if host != origin.host {
            // Flows of two hosts collide: the queue is the newer one's.
            if set == Set::Bulk {
                self.leave_bulk(class);
            }
            self.states[class].host = origin.host;
            if set == Set::Bulk {
                self.join_bulk(class);
            }
        }
        class
    }

    /// Finds a queue in the set of a flow: its own, else an inactive one, else the first (`cake_hash`).
    fn reserved(&mut self, flow: u32) -> usize {
        let tag = (mixed(u64::from(flow) ^ self.salt) >> 32) as u32;
        let first = tag % QUEUES;
        let in_set = |way: u32| to_index((first - first % WAYS + (first + way) % WAYS).into());
        let mut ways = (0..WAYS).map(in_set);
        let own = ways.clone().find(|&class| self.states[class].tag == tag);
        let free = || ways.find(|&class| self.states[class].set == Set::None);
        let class = own.or_else(free).unwrap_or_else(|| to_index(first.into()));
        self.states[class].tag = tag;
        class
    }

    /// Notes that a packet has joined a class: an inactive or decaying one becomes sparse.
    pub(super) fn joined(&mut self, class: usize) {
        match self.states[class].set {
            Set::None => self.become_sparse(class),
            Set::Decaying => {
                self.links.remove(&mut self.chains[DECAYING], to_u32(class));
                self.become_sparse(class);
            }
            Set::SparseWait => self.become_bulk(class),
            Set::Sparse | Set::Bulk => {}
        }
    }

    fn become_sparse(&mut self, class: usize) {
        self.links.push(&mut self.chains[NEW], to_u32(class));
        self.states[class].set = Set::Sparse;
        self.states[class].deficit = self.quantum_of(class);
    }

    fn become_bulk(&mut self, class: usize) {
        self.states[class].set = Set::Bulk;
        self.join_bulk(class);
    }

    fn join_bulk(&mut self, class: usize) {
        let host = usize::from(self.states[class].host);
        if host >= self.bulk_flows.len() {
            self.bulk_flows.resize(host + 1, 0);
        }
        self.bulk_flows[host] += 1;
    }

    fn leave_bulk(&mut self, class: usize) {
        self.bulk_flows[usize::from(self.states[class].host)] -= 1;
    }

    /// Returns the quantum of a queue: that of its host shared by the host's flows in bulk, rounded by chance so that no
    /// byte is lost (`cake_get_flow_quantum`).
    fn quantum_of(&mut self, class: usize) -> i64 {
        let host = usize::from(self.states[class].host);
        let flows = if self.by_host { self.bulk_flows.get(host).copied().unwrap_or(0) } else { 0 };
        let fraction = 65_535 / u64::from(flows.clamp(1, MOST_FLOWS));
        let dithered = (self.quantum * fraction + (self.dither.bits() >> 48)) >> 16;
        i64::try_from(dithered).unwrap_or(i64::MAX)
    }

    /// Returns the class whose turn it is, which may be empty: one decaying class in each search for a packet, sparse
    /// classes, those in bulk, and decaying ones in the end.
    pub(super) fn next(&mut self, waiting: &Classes) -> Option<usize> {
        while waiting.len() > 0 {
            let (number, chain) = self.front()?;
            self.begins = false;
            let class = to_index(number.into());
            if self.states[class].deficit > 0 {
                return Some(class);
            }
            if self.states[class].set == Set::Sparse {
                if waiting.held_by(class).0 > 0 {
                    self.become_bulk(class);
                } else {
                    self.states[class].set = Set::SparseWait;
                }
            }
            self.states[class].deficit += self.quantum_of(class);
            self.links.remove(&mut self.chains[chain], number);
            self.links.push(&mut self.chains[OLD], number);
        }
        self.begins = true;
        None
    }

    /// Returns the queue whose turn it is, and its chain.
    fn front(&self) -> Option<(u32, usize)> {
        let order = if self.begins { [DECAYING, NEW, OLD] } else { [NEW, OLD, DECAYING] };
        order.into_iter().find_map(|chain| Some((self.chains[chain].first()?, chain)))
    }

    /// Notes that the class whose turn it is has sent a packet.
    pub(super) fn sent(&mut self, class: usize, bytes: u16) {
        self.states[class].deficit -= i64::from(bytes);
        self.begins = true;
    }

    /// Notes that the class whose turn it is was found empty: it decays until its AQM is at rest.
    pub(super) fn found_empty(&mut self, class: usize, is_at_rest: bool) {
        let number = to_u32(class);
        for chain in &mut self.chains {
            if chain.first() == Some(number) {
                self.links.remove(chain, number);
            }
        }
        if self.states[class].set == Set::Bulk {
            self.leave_bulk(class);
        }
        self.states[class].set = if is_at_rest { Set::None } else { Set::Decaying };
        if !is_at_rest {
            self.links.push(&mut self.chains[DECAYING], number);
        }
    }
}

#[cfg(test)]
mod tests;
