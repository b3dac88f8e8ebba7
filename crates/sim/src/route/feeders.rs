//! The feeders of each link, which decide whether packets must wait in front of it for the clock.

use std::collections::BTreeSet;

use crate::scenario::{ElementConfig, FlowConfig, Scenario};

/// A source of packets in order of time. Senders and pipes in which packets overtake are not feeders: packets leave
/// them at the clock's own time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feeder {
    Link(usize),
    /// Private link of a flow; or a link, followed by the propagation delay of a flow: flow and link.
    Private(usize, usize),
    Receiver(usize),
    /// All receivers behind a link whose delays, from the link to the receiver and from there on, are equal: as their data
    /// arrive in order, so do their ACKs leave. The delays are the bits of their numbers.
    Receivers {
        link: usize,
        delays: [u64; 2],
    },
}

#[derive(Clone, Debug, Default)]
pub(super) struct Feeders {
    pub(super) streams: BTreeSet<Feeder>,
    /// Whether packets also arrive at the clock's own time.
    pub(super) clock: bool,
}

pub(super) fn feeders(scenario: &Scenario) -> Vec<Feeders> {
    let mut feeders = vec![Feeders::default(); scenario.elements.len()];
    for (index, (entry, _)) in scenario.members().enumerate() {
        let flow = &scenario.flows[entry];
        for (path, start) in paths(flow, index, &scenario.elements) {
            let mut feeder = start;
            for &link in path {
                feeder = behind_own_delay(feeder, flow, index, link, &scenario.elements);
                match feeder {
                    None => feeders[link].clock = true,
                    // Whether there are several is all that matters.
                    Some(feeder) if feeders[link].streams.len() < 2 => {
                        feeders[link].streams.insert(feeder);
                    }
                    Some(_) => {}
                }
                feeder = feeder_of(&scenario.elements[link], link, index);
            }
        }
    }
    feeders
}

/// Returns the paths of a flow's data and of its answers, and the feeder of each path's first link; `None`: the clock.
fn paths<'a>(
    flow: &'a FlowConfig,
    index: usize,
    elements: &[ElementConfig],
) -> impl Iterator<Item = (&'a [usize], Option<Feeder>)> {
    let back = flow.way_back().map(|back| (back.path, Some(feeder_at_far_end(flow, index, elements))));
    [(flow.path.as_slice(), None)].into_iter().chain(back)
}

/// Returns the feeder that the far end of a flow is: with all receivers that get their data in one stream, or alone.
pub(super) fn feeder_at_far_end(flow: &FlowConfig, index: usize, elements: &[ElementConfig]) -> Feeder {
    let link = flow.path.last().copied().filter(|&link| matches!(elements[link], ElementConfig::Link(_)));
    let in_order = link.filter(|&link| !elements[link].overtakes());
    match (in_order, flow.way_back()) {
        (Some(link), Some(back)) if back.is_acks => {
            Feeder::Receivers { link, delays: [flow.forward_delay_s.to_bits(), back.delay_s.to_bits()] }
        }
        _ => Feeder::Receiver(index),
    }
}

/// Returns the feeder that a link is for the next one; `None` if its packets overtake, and so wait for the clock.
pub(super) fn feeder_of(config: &ElementConfig, link: usize, flow: usize) -> Option<Feeder> {
    if config.is_private() {
        Some(Feeder::Private(flow, link))
    } else {
        (!config.overtakes()).then_some(Feeder::Link(link))
    }
}

/// Returns the feeder of a link for the packets of a flow. The flow's propagation delay is in front of its receiver's
/// host: as flows that share the link before may differ in it, the packets of each flow are a stream of their own
/// there.
pub(super) fn behind_own_delay(
    feeder: Option<Feeder>,
    flow: &FlowConfig,
    index: usize,
    link: usize,
    elements: &[ElementConfig],
) -> Option<Feeder> {
    let at_receiver = elements[link].is_host() && flow.path.last() == Some(&link);
    match feeder {
        Some(Feeder::Link(from)) if at_receiver && flow.forward_delay_s > 0.0 => Some(Feeder::Private(index, from)),
        feeder => feeder,
    }
}
