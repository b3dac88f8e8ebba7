//! Tables of the links of a run, and of the elements in front of them and behind them.

use base::{RandomStream, Time};
use net::{Link, Pipe, PrivateLinks, Process, QueuedLink};

use crate::flow::DepartureSlot;
use crate::links::{link, private_links, queued_link};
use crate::losses::{losses, LossSlot};
use crate::pipes::pipes;
use crate::route::{LinkKind, Routes};
use crate::scenario::Scenario;

/// The private links of a group of flows: copies of one link, a copy for each flow.
#[derive(Clone, Debug)]
pub(crate) struct PrivateGroup {
    pub(crate) links: PrivateLinks,
    /// Propagation delay after them.
    pub(crate) delay: Time,
    /// Index of the scenario's link.
    pub(crate) link: u32,
    /// Slot of a flow's last departure from its copy.
    pub(crate) slot: DepartureSlot,
}

/// The TCP process of a host.
#[derive(Clone, Debug)]
pub(crate) struct ProcessSlot {
    pub(crate) process: Process,
    /// Index of the scenario's link that stands for it.
    pub(crate) link: u32,
}

/// The elements that packets cross, by kind; hops hold indices into these tables.
#[derive(Debug)]
pub(crate) struct Elements {
    /// Links whose departures are known on arrival.
    pub(crate) links: Vec<Link>,
    /// The scenario's link of each of `links`.
    pub(crate) link_links: Vec<u32>,
    /// Links whose departures are events.
    pub(crate) queues: Vec<QueuedLink>,
    /// The scenario's link of each of `queues`.
    pub(crate) queue_links: Vec<u32>,
    pub(crate) private_groups: Vec<PrivateGroup>,
    pub(crate) losses: Vec<LossSlot>,
    /// Pipes whose delay changes.
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) processes: Vec<ProcessSlot>,
}

impl Elements {
    /// Returns the elements of a replication, none of which has seen a packet.
    pub(crate) fn new(scenario: &Scenario, replication: u64, routes: &Routes) -> Elements {
        let mut elements = Elements {
            links: Vec::new(),
            link_links: Vec::new(),
            queues: Vec::new(),
            queue_links: Vec::new(),
            private_groups: private_groups(scenario, routes),
            losses: losses(scenario, replication),
            pipes: pipes(scenario, replication),
            processes: processes(scenario),
        };
        for (index, (config, kind)) in scenario.links.iter().zip(&routes.link_kinds).enumerate() {
            let random = RandomStream::named(scenario.run.seed, replication, &format!("link/{}", config.name));
            match kind {
                LinkKind::Link(_) => {
                    elements.links.push(link(config, random));
                    elements.link_links.push(index as u32);
                }
                LinkKind::Queue(_) => {
                    elements.queues.push(queued_link(config, random));
                    elements.queue_links.push(index as u32);
                }
                LinkKind::Private | LinkKind::Channel(_) | LinkKind::Process(_) => {}
            }
        }
        elements
    }
}

fn private_groups(scenario: &Scenario, routes: &Routes) -> Vec<PrivateGroup> {
    let groups = routes.private_groups.iter().map(|group| PrivateGroup {
        links: private_links(&scenario.links[group.link], group.bytes),
        delay: group.delay,
        link: group.link as u32,
        slot: group.slot,
    });
    groups.collect()
}

/// Returns the hosts' processes in the order of the links that stand for them.
fn processes(scenario: &Scenario) -> Vec<ProcessSlot> {
    let slots = scenario.links.iter().enumerate().filter_map(|(index, link)| {
        let times = link.processing?;
        let process = Process::new(Time::from_seconds(times.data_s), Time::from_seconds(times.ack_s));
        Some(ProcessSlot { process, link: index as u32 })
    });
    slots.collect()
}
