use base::cast::{to_index, to_u32};
use base::{Divisor, Packet, RandomStream};

use super::FlowEntry;

/// The queues that flows have: one each, one for an entry of the scenario, or those that they are hashed into.
#[derive(Clone, Debug)]
pub(super) struct FlowQueues {
    /// Number of queues that flows are hashed into.
    hashed: Option<Divisor>,
    /// Whether the flows of an entry share one queue, if flows are not hashed.
    by_entry: bool,
    /// The entries of the scenario; none if all flows are alike and have queues of their own.
    entries: Vec<FlowEntry>,
    /// Number that the hash of flows depends on (`perturbation`).
    salt: u64,
    /// The classes of the first flows, each plus 1; 0 until a packet of the flow arrives.
    known: Vec<u32>,
}

/// Flows whose classes are kept. To compute the class of a flow costs less than a miss in a larger table.
const MOST_KNOWN: usize = 4096;

impl FlowQueues {
    pub(super) fn new(hashed: Option<u32>, by_entry: bool, random: &RandomStream) -> FlowQueues {
        let salt = if hashed.is_some() { random.branch("perturbation").bits() } else { 0 };
        let hashed = hashed.map(|queues| Divisor::new(queues.into()));
        FlowQueues { hashed, by_entry, entries: Vec::new(), salt, known: Vec::new() }
    }

    /// Takes the entries of the scenario, in rising order of their first flows.
    pub(super) fn set_entries(&mut self, entries: &[FlowEntry]) {
        entries.clone_into(&mut self.entries);
        self.known.clear();
    }

    fn entry_of(&self, flow: u32) -> usize {
        self.entries.partition_point(|entry| entry.first <= flow).saturating_sub(1)
    }

    /// Returns the weight of a queue: that of its flow, or of its entry; 1 of those that flows are hashed into.
    pub(super) fn weight_of(&self, class: usize) -> u16 {
        let entry = match self.hashed {
            Some(_) => return 1,
            None if self.by_entry => class,
            None => self.entry_of(to_u32(class)),
        };
        self.entries.get(entry).map_or(1, |entry| entry.weight)
    }

    /// Returns the class of a packet.
    #[inline(always)]
    pub(super) fn class(&mut self, packet: &Packet) -> usize {
        match self.known.get(to_index(packet.flow.into())) {
            Some(&known) if known > 0 => to_index((known - 1).into()),
            _ => self.find_class(packet.flow),
        }
    }

    /// Returns the class of a flow, and keeps that of one of the first flows.
    #[cold]
    #[inline(never)]
    fn find_class(&mut self, flow: u32) -> usize {
        let (class, flow) = (self.class_of(flow), to_index(flow.into()));
        if flow < MOST_KNOWN {
            if flow >= self.known.len() {
                self.known.resize(flow + 1, 0);
            }
            self.known[flow] = to_u32(class) + 1;
        }
        class
    }

    fn class_of(&self, flow: u32) -> usize {
        if self.by_entry && self.hashed.is_none() {
            return self.entry_of(flow);
        }
        let flow = u64::from(flow);
        to_index(self.hashed.map_or(flow, |queues| queues.remainder(mixed(flow ^ self.salt))))
    }
}

/// Returns a number whose bits all depend on all bits of `number` (Steele, Lea, Flood 2014, `mix64`).
pub(super) fn mixed(number: u64) -> u64 {
    let mut bits = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}
