//! Classes of packets at links: counters of each class of a queue that has several, or of each group of flows.

use base::cast::to_u32;
use net::{ClassStatistics, FlowEntry, FlowGroups, QueuedLink, SchedulerConfig};

use crate::column::Column::{self, Seconds, F64, U32};
use crate::scenario::{ElementConfig, LinkConfig, Scenario};

/// Most rows of a link.
const MOST_ROWS: usize = 64;
/// Most rows of all links together, if that leaves each link [`LEAST_ROWS`].
const MOST_ROWS_OF_ALL: usize = 4096;
/// Least rows of a link with several classes.
const LEAST_ROWS: usize = 2;

/// Number of the row of all flows that have no row of their own.
const OTHERS: u32 = u32::MAX;

/// A class of packets at a link.
#[derive(Clone, Debug)]
pub struct ClassRow {
    /// Index of the scenario's element.
    pub element: u32,
    /// Number of the class: the priority level, or 0 of L4S and 1 of classic traffic; at a link that gives flows queues of
    /// their own that of the flows' entry in the scenario, and 2^32 - 1 of the flows of all entries that have no row.
    pub number: u32,
    /// Counters of the class.
    pub statistics: ClassStatistics,
}

impl ClassRow {
    /// The columns of the classes' table, values of the measurement.
    pub const COLUMNS: &'static [Column<ClassRow>] = &[
        U32("element", |row| row.element),
        U32("number", |row| row.number),
        F64("arrived_packets", |row| row.statistics.arrived as f64),
        F64("dropped_packets", |row| row.statistics.dropped as f64),
        F64("marked_packets", |row| row.statistics.marked as f64),
        F64("dropped_of_warmup_packets", |row| row.statistics.dropped_of_warmup as f64),
        F64("marked_of_warmup_packets", |row| row.statistics.marked_of_warmup as f64),
        F64("sent_packets", |row| row.statistics.sent as f64),
        F64("sent_bytes", |row| row.statistics.sent_bytes as f64),
        Seconds("wait_max_s", |row| row.statistics.waits.longest().ticks() as f64),
    ];
}

/// Lets links count their classes; `elements` are the indices of theirs in the scenario. Returns the numbers of the rows of
/// each link.
pub(crate) fn count_classes(links: &mut [QueuedLink], elements: &[u32], scenario: &Scenario) -> Vec<Vec<u32>> {
    let most = (MOST_ROWS_OF_ALL / links.len().max(1)).clamp(LEAST_ROWS, MOST_ROWS);
    let numbers = links.iter_mut().zip(elements).map(|(link, &element)| {
        let Some(LinkConfig { queue, .. }) = scenario.elements[element as usize].link() else { return Vec::new() };
        let (groups, numbers) = match queue.scheduler.kinds_of_packets() {
            Some(classes) => (FlowGroups::default(), (0..to_u32(classes)).collect()),
            None => flow_groups(scenario, element as usize, most),
        };
        link.count_classes(&queue.scheduler, groups);
        numbers
    });
    numbers.collect()
}

/// Returns the rows of the links that count their classes, whose numbers are given.
pub(crate) fn class_rows(links: &[QueuedLink], elements: &[u32], numbers: &[Vec<u32>]) -> Vec<ClassRow> {
    let rows = links.iter().zip(elements).zip(numbers).flat_map(|((link, &element), numbers)| {
        let of_link = numbers.iter().zip(link.classes());
        of_link.map(move |(&number, counts)| ClassRow { element, number, statistics: counts })
    });
    rows.collect()
}

/// Gives links the entries of the scenario, if they matter: where one has a weight, or a queue of its own.
pub(crate) fn set_entries(links: &mut [QueuedLink], scenario: &Scenario) {
    let by_entry = |element: &ElementConfig| match element.link().map(|link| link.queue.scheduler) {
        Some(SchedulerConfig::Fq(fq)) => fq.by_entry,
        Some(SchedulerConfig::Wfq(wfq)) => wfq.by_entry,
        _ => false,
    };
    if scenario.flows.iter().all(|flow| flow.weight == 1) && !scenario.elements.iter().any(by_entry) {
        return;
    }
    let mut next = 0;
    let entries = scenario.flows.iter().map(|flow| {
        let first = next;
        next += to_u32(flow.count);
        FlowEntry { first, weight: flow.weight }
    });
    let entries: Vec<FlowEntry> = entries.collect();
    links.iter_mut().for_each(|link| link.set_entries(&entries));
}

/// Returns the groups of flows at an element, and their numbers: each entry whose packets or answers cross it has one, up to
/// a number of groups, of which the last one is then of all others.
fn flow_groups(scenario: &Scenario, element: usize, most: usize) -> (FlowGroups, Vec<u32>) {
    let crosses: Vec<bool> = scenario
        .flows
        .iter()
        .map(|flow| flow.path.contains(&element) || flow.way_back().is_some_and(|back| back.path.contains(&element)))
        .collect();
    let crossing = crosses.iter().filter(|&&crosses| crosses).count();
    let own = if crossing > most { most - 1 } else { most };
    let (mut runs, mut numbers, mut first) = (Vec::new(), Vec::new(), 0);
    for (entry, (flow, crosses)) in scenario.flows.iter().zip(crosses).enumerate() {
        if crosses && numbers.len() <= own {
            numbers.push(if numbers.len() < own { to_u32(entry) } else { OTHERS });
        }
        runs.push((first, numbers.len().saturating_sub(1)));
        first += to_u32(flow.count);
    }
    (FlowGroups::new(runs), numbers)
}
