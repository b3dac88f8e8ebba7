//! Streams of the ACKs of several flows.

use std::collections::BTreeMap;

use super::feeders::{feeder_at_far_end, feeder_of, Feeder};
use crate::scenario::Scenario;

/// Number of senders from which on their ACKs wait in one queue, if they arrive in one stream. A sender with a queue of its own
/// may pace packets ahead of the clock, which saves more where there are few senders.
const MANY_SENDERS: usize = 8;

/// Returns the streams of ACKs that several receivers send, and their numbers.
pub(super) fn ack_streams(scenario: &Scenario) -> BTreeMap<Feeder, u32> {
    let mut receivers: BTreeMap<Feeder, usize> = BTreeMap::new();
    for flow in &scenario.flows {
        let feeder = feeder_at_far_end(flow, 0, &scenario.elements);
        if let Feeder::Receivers { .. } = feeder {
            *receivers.entry(feeder).or_default() += flow.count;
        }
    }
    let several = receivers.into_iter().filter(|&(_, count)| count > 1);
    several.zip(0..).map(|((feeder, _), number)| (feeder, number)).collect()
}

/// Returns the streams of ACKs that many senders get, by what feeds them, and their numbers.
pub(super) fn arriving_acks(scenario: &Scenario) -> BTreeMap<Feeder, u32> {
    let mut senders: BTreeMap<Feeder, usize> = BTreeMap::new();
    for flow in &scenario.flows {
        let Some(back) = flow.way_back().filter(|back| back.is_acks) else { continue };
        let feeder = match back.path.last() {
            Some(&link) => feeder_of(&scenario.elements[link], link, 0),
            None => Some(feeder_at_far_end(flow, 0, &scenario.elements)),
        };
        if let Some(feeder @ (Feeder::Link(_) | Feeder::Receivers { .. })) = feeder {
            *senders.entry(feeder).or_default() += flow.count;
        }
    }
    let many = senders.into_iter().filter(|&(_, count)| count >= MANY_SENDERS);
    many.zip(0..).map(|((feeder, _), number)| (feeder, number)).collect()
}
