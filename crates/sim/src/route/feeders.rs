//! What feeds each link: which decides whether packets must wait there for their turn in time.

use std::collections::BTreeSet;

use crate::scenario::{FlowConfig, LinkConfig, OrderConfig, Scenario};

/// Where packets come from, in order of time. Senders are none: they send at the clock's own instant. Nor are pipes in which
/// packets overtake: they wait there for the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Feeder {
    Link(usize),
    /// A flow's copy of a link; or a link that a flow's own propagation stands behind.
    Private(usize, usize),
    Receiver(usize),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Feeders {
    pub(super) streams: BTreeSet<Feeder>,
    /// Packets come at the clock's own instant too.
    pub(super) clock: bool,
}

pub(super) fn overtakes(link: &LinkConfig) -> bool {
    link.delay_process.as_ref().is_some_and(|process| process.order == OrderConfig::Overtake)
}

pub(super) fn feeders(scenario: &Scenario) -> Vec<Feeders> {
    let mut feeders = vec![Feeders::default(); scenario.links.len()];
    for (index, (entry, _)) in scenario.members().enumerate() {
        let flow = &scenario.flows[entry];
        for (way, start) in ways(flow, index) {
            let mut feeder = start;
            for &link in way {
                feeder = behind_own_delay(feeder, flow, index, link, &scenario.links);
                match feeder {
                    None => feeders[link].clock = true,
                    // It matters only whether there are several.
                    Some(feeder) if feeders[link].streams.len() < 2 => {
                        feeders[link].streams.insert(feeder);
                    }
                    Some(_) => {}
                }
                feeder = feeder_of(&scenario.links[link], link, index);
            }
        }
    }
    feeders
}

/// The ways of a flow's data and of its ACKs, and what feeds each one's first link; none: the clock.
fn ways(flow: &FlowConfig, index: usize) -> impl Iterator<Item = (&[usize], Option<Feeder>)> {
    let back = flow.is_tcp().then_some((flow.return_path.as_slice(), Some(Feeder::Receiver(index))));
    [(flow.path.as_slice(), None)].into_iter().chain(back)
}

/// What a link feeds the next one by; none where its packets wait for the clock, because they overtake.
pub(super) fn feeder_of(config: &LinkConfig, link: usize, flow: usize) -> Option<Feeder> {
    if config.private {
        Some(Feeder::Private(flow, link))
    } else {
        (!overtakes(config)).then_some(Feeder::Link(link))
    }
}

/// What feeds a link by way of a flow. The flow's own propagation stands before its receiver's host: with it, packets of
/// several flows that share the link before are out of order there, so each flow's are a stream of their own.
pub(super) fn behind_own_delay(
    feeder: Option<Feeder>,
    flow: &FlowConfig,
    index: usize,
    link: usize,
    links: &[LinkConfig],
) -> Option<Feeder> {
    let at_receiver = links[link].processing.is_some() && flow.path.last() == Some(&link);
    match feeder {
        Some(Feeder::Link(from)) if at_receiver && flow.forward_delay_s > 0.0 => Some(Feeder::Private(index, from)),
        feeder => feeder,
    }
}
