//! Tables of the links of a run, and of the elements in front of them and behind them.

use base::cast::to_u32;
use base::{Clock, RandomStream, Time};
use net::{Link, Measurement, Pipe, PrivateLinks, Process, QueuedLink};

use crate::batches::BatchCounter;
use crate::classes::{class_rows, count_classes, set_entries, ClassRow};
use crate::flow::DepartureSlot;
use crate::links::{link, private_links, queued_link, rate_process};
use crate::losses::{losses, LossSlot};
use crate::pipes::pipes;
use crate::route::{LinkKind, Routes};
use crate::scenario::{ElementConfig, Scenario};

/// The private links of a group of flows: copies of one link, a copy for each flow.
#[derive(Clone, Debug)]
pub(crate) struct PrivateGroup {
    pub(crate) links: PrivateLinks,
    /// Propagation delay after them.
    pub(crate) delay: Time,
    /// Index of the scenario's element.
    pub(crate) link: u32,
    /// Slot of a flow's last departure from its copy.
    pub(crate) slot: DepartureSlot,
}

/// The TCP process of a host.
#[derive(Clone, Debug)]
pub(crate) struct ProcessSlot {
    pub(crate) process: Process,
    /// Index of the scenario's element.
    pub(crate) link: u32,
}

/// The elements that packets cross, by kind; hops hold indices into these tables.
#[derive(Debug)]
pub(crate) struct Elements {
    /// Links whose departures are known on arrival.
    pub(crate) links: Vec<Link>,
    /// The scenario's element of each of `links`.
    pub(crate) link_links: Vec<u32>,
    /// Links whose departures are events.
    pub(crate) queues: Vec<QueuedLink>,
    /// The scenario's element of each of `queues`.
    pub(crate) queue_links: Vec<u32>,
    /// The numbers of the classes that each of `queues` counts; empty if delays are not measured.
    class_numbers: Vec<Vec<u32>>,
    pub(crate) private_groups: Vec<PrivateGroup>,
    pub(crate) losses: Vec<LossSlot>,
    /// Pipes whose delay changes.
    pub(crate) pipes: Vec<Pipe>,
    pub(crate) processes: Vec<ProcessSlot>,
}

impl Elements {
    /// Returns the elements of a replication, none of which has seen a packet.
    pub(crate) fn new(scenario: &Scenario, replication: u64, routes: &Routes, clock: Clock) -> Elements {
        let mut elements = Elements {
            links: Vec::new(),
            link_links: Vec::new(),
            queues: Vec::new(),
            queue_links: Vec::new(),
            class_numbers: Vec::new(),
            private_groups: private_groups(scenario, routes, clock),
            losses: losses(scenario, replication, clock),
            pipes: pipes(scenario, replication, clock),
            processes: processes(scenario, clock),
        };
        for (index, (config, kind)) in scenario.elements.iter().zip(&routes.link_kinds).enumerate() {
            let ElementConfig::Link(config) = config else { continue };
            let random = RandomStream::named(scenario.run.seed, replication, &format!("link/{}", config.name));
            let process = config.rate_process.as_deref();
            let process = process.map(|process| rate_process(process, scenario, replication, clock));
            if matches!(kind, LinkKind::Queue(_)) {
                let mut queue = queued_link(config, clock, random).with_rate_process(process);
                if scenario.trace.aqm {
                    queue.trace_aqm();
                }
                elements.queues.push(queue);
                elements.queue_links.push(to_u32(index));
            } else {
                elements.links.push(link(config, clock, random).with_rate_process(process));
                elements.link_links.push(to_u32(index));
            }
        }
        set_entries(&mut elements.queues, scenario);
        if scenario.run.delays {
            elements.measure_waits(clock.time(scenario.run.warmup_s));
            elements.class_numbers = count_classes(&mut elements.queues, &elements.queue_links, scenario);
        }
        elements
    }

    /// Returns what the links with classes counted of each.
    pub(crate) fn class_rows(&self) -> Vec<ClassRow> {
        class_rows(&self.queues, &self.queue_links, &self.class_numbers)
    }

    fn measure_waits(&mut self, warmup: Time) {
        self.links.iter_mut().for_each(|link| link.measure_waits(warmup));
        self.queues.iter_mut().for_each(|queue| queue.measure_waits(warmup));
        self.private_groups.iter_mut().for_each(|group| group.links.measure_waits(warmup));
        self.processes.iter_mut().for_each(|slot| slot.process.measure_waits(warmup));
    }

    /// Prepares for counting batches; returns `None` if they are not counted, as in all replications but the first.
    pub(crate) fn count_batches(
        &mut self,
        accounts: usize,
        replication: u64,
        measurement: Measurement,
    ) -> Option<Box<BatchCounter>> {
        let links = self.links.len() + self.queues.len() + self.private_groups.len() + self.processes.len();
        let counter = (replication == 0).then(|| BatchCounter::new(accounts, links, measurement)).flatten()?;
        self.links.iter_mut().for_each(|link| link.count_batches(&measurement));
        Some(counter)
    }
}

fn private_groups(scenario: &Scenario, routes: &Routes, clock: Clock) -> Vec<PrivateGroup> {
    let groups = routes.private_groups.iter().filter_map(|group| match &scenario.elements[group.link] {
        ElementConfig::PrivateLink(config) => Some(PrivateGroup {
            links: private_links(config, group.bytes, clock),
            delay: group.delay,
            link: to_u32(group.link),
            slot: group.slot,
        }),
        ElementConfig::Link(_) | ElementConfig::Channel(_) | ElementConfig::Host(_) => None,
    });
    groups.collect()
}

/// Returns the hosts' processes in the order of the scenario's elements.
fn processes(scenario: &Scenario, clock: Clock) -> Vec<ProcessSlot> {
    let slots = scenario.elements.iter().enumerate().filter_map(|(index, element)| match element {
        ElementConfig::Host(host) => {
            let process = Process::new(clock.time(host.data_s), clock.time(host.ack_s));
            Some(ProcessSlot { process, link: to_u32(index) })
        }
        ElementConfig::Link(_) | ElementConfig::PrivateLink(_) | ElementConfig::Channel(_) => None,
    });
    slots.collect()
}
