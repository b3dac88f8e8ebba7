mod atm_network;
mod delay;
mod limits;
mod loss;
mod processing;
mod traffic;

use std::collections::BTreeSet;

use base::{Rate, Time};
use tcp::Estimator;

use crate::scenario::{BufferConfig, FlowConfig, LinkConfig, QueueConfig, Scenario};
use limits::*;
pub use limits::{Limit, LIMITS};

/// Shortest tick \[s\] with which no round trip overflows the integer arithmetic of the coarse clock.
const SHORTEST_TICK_S: f64 = 1e-6;
/// Most hops of all flows together.
const MOST_HOPS: f64 = u32::MAX as f64 / 4.0;

/// Returns all faults of a resolved scenario, each as `place: what is wrong; given ...; allowed ...`; none if it can
/// run.
pub fn check(scenario: &Scenario) -> Vec<String> {
    let mut faults = Faults::default();
    faults.field("", FORMAT, f64::from(scenario.format));
    let run = &scenario.run;
    faults.field("run", DURATION, run.duration_s);
    faults.field("run", Limit { high: run.duration_s, ..WARMUP }, run.warmup_s);
    for (index, link) in scenario.links.iter().enumerate() {
        faults.link(&format!("links[{index}]"), link);
        if let Some(process) = &link.delay_process {
            faults.delay_law(&format!("links[{index}].delay_process.law"), &process.law, run.duration_s);
        }
        if let Some(loss) = &link.loss {
            faults.loss_law(&format!("links[{index}].loss.law"), &loss.law, run.duration_s);
        }
    }
    let way = |flow: &FlowConfig| flow.path.len() + flow.return_path.len() + 4;
    let hops: f64 = scenario.flows.iter().map(|flow| flow.count as f64 * way(flow) as f64).sum();
    faults.number("flows", hops, 0.0, MOST_HOPS);
    for (index, flow) in scenario.flows.iter().enumerate() {
        faults.flow(&format!("flows[{index}]"), flow, &scenario.links);
    }
    if let Some(channels) = &scenario.atm {
        faults.channels(channels, &scenario.links);
    }
    if let Some(interval) = scenario.trace.overview_interval_s {
        faults.field("trace", OVERVIEW_INTERVAL, interval);
    }
    if let Some(detail) = scenario.trace.overview_detail_s {
        faults.field("trace", OVERVIEW_DETAIL, detail);
    }
    for (index, name) in scenario.trace.capture.iter().flatten().enumerate() {
        if !scenario.links.iter().any(|link| link.name == *name) {
            faults.0.push(format!("trace.capture[{index}]: no such link; given {name:?}; allowed the name of a link"));
        }
    }
    faults.0
}

/// Returns the shortest round trip in the engine's arithmetic: if it were zero, the clock would not advance.
fn round_trip(flow: &FlowConfig, links: &[LinkConfig]) -> Time {
    let way = |path: &[usize], bytes: u16, acks: bool| {
        let crossed = path.iter().filter_map(|&link| links.get(link));
        let span = |link: &LinkConfig| {
            let mut rate = link.rate_bps.map_or(Rate::UNLIMITED, Rate::from_bits_per_second);
            let processing = link.processing.map_or(0.0, |times| if acks { times.ack_s } else { times.data_s });
            Time::from_seconds(link.least_delay_s()) + rate.service_time(bytes) + Time::from_seconds(processing)
        };
        crossed.map(span).fold(Time::ZERO, |sum, span| sum + span)
    };
    let private = Time::from_seconds(flow.forward_delay_s) + Time::from_seconds(flow.return_delay_s);
    private + way(&flow.path, flow.packet_bytes, false) + way(&flow.return_path, flow.ack_bytes, true)
}

/// The faults found so far.
#[derive(Default)]
pub(crate) struct Faults(Vec<String>);

impl Faults {
    /// Adds a fault.
    pub(crate) fn say(&mut self, fault: String) {
        self.0.push(fault);
    }

    #[cfg(test)]
    pub(crate) fn into_inner(self) -> Vec<String> {
        self.0
    }

    /// Checks the value of a field against its range; `place` is the path of the table that has the field.
    pub(crate) fn field(&mut self, place: &str, limit: Limit, value: f64) {
        let separator = if place.is_empty() { "" } else { "." };
        self.within(&format!("{place}{separator}{}", limit.name()), limit, value);
    }

    /// Checks a value at a given path against a range.
    pub(crate) fn within(&mut self, place: &str, limit: Limit, value: f64) {
        self.number(place, value, limit.low, limit.high);
    }

    fn number(&mut self, place: &str, value: f64, low: f64, high: f64) {
        // Not-a-number is in no range.
        if !(low..=high).contains(&value) {
            self.0.push(format!("{place}: out of range; given {value}; allowed {low} to {high}"));
        }
    }

    fn link(&mut self, place: &str, link: &LinkConfig) {
        if let Some(rate) = link.rate_bps {
            self.field(place, LINK_RATE, rate);
        }
        self.field(place, LINK_DELAY, link.delay_s);
        match link.buffer {
            None => {}
            Some(BufferConfig::Packets(limit)) => self.field(&format!("{place}.buffer"), BUFFER_PACKETS, limit as f64),
            Some(BufferConfig::Bytes(limit)) => self.field(&format!("{place}.buffer"), BUFFER_BYTES, limit as f64),
        }
        self.queue(&format!("{place}.queue"), &link.queue);
        if let Some(times) = link.processing {
            self.processing(place, link, times);
        }
        if link.private && link.queue != (QueueConfig::DropTail {}) {
            self.0.push(format!(
                "{place}.queue: not the discipline of a private link; given {:?}; allowed drop-tail",
                link.queue
            ));
        }
        if link.private && (link.delay_process.is_some() || link.loss.is_some()) {
            self.0.push(format!(
                "{place}: a private link has a constant delay and no losses; given another; allowed neither"
            ));
        }
    }

    /// Checks a flow's level against the fewest levels of the priority queues on a path.
    fn level(&mut self, place: &str, limit: Limit, level: u8, path: &[usize], links: &[LinkConfig]) {
        let levels = path.iter().filter_map(|&link| match links.get(link)?.queue {
            QueueConfig::Priority { levels, .. } => Some(levels),
            _ => None,
        });
        let high = levels.min().map_or(limit.high, |levels| f64::from(levels.max(1) - 1));
        self.field(place, Limit { high, ..limit }, f64::from(level));
    }

    fn queue(&mut self, place: &str, queue: &QueueConfig) {
        match *queue {
            QueueConfig::DropTail {} | QueueConfig::DropFromFront {} | QueueConfig::RandomDrop {} => {}
            QueueConfig::Priority { levels, .. } => self.field(place, LEVELS, f64::from(levels)),
            QueueConfig::Red {
                min_threshold_packets: min,
                max_threshold_packets: max,
                weight,
                max_probability,
                mean_packet_bytes,
                ..
            } => {
                self.field(place, MAX_THRESHOLD, max);
                self.field(place, Limit { high: max, ..MIN_THRESHOLD }, min);
                if min >= max {
                    self.say(format!("{place}.min_threshold_packets: not below the maximum threshold; given {min}"));
                }
                self.field(place, WEIGHT, weight);
                self.field(place, MAX_PROBABILITY, max_probability);
                self.field(place, MEAN_PACKET, f64::from(mean_packet_bytes));
            }
        }
    }

    fn flow(&mut self, place: &str, flow: &FlowConfig, links: &[LinkConfig]) {
        self.path(place, flow, links.len());
        self.processes(place, flow, links);
        if flow.is_tcp() && !flow.path.is_empty() && round_trip(flow, links) == Time::ZERO {
            self.0.push(format!(
                "{place}.path: a round trip takes no time; given no delay and no service time; allowed 1 ps and more"
            ));
        }
        self.field(place, FORWARD_DELAY, flow.forward_delay_s);
        self.field(place, RETURN_DELAY, flow.return_delay_s);
        self.field(place, START, flow.start_s);
        self.field(place, START_SPREAD, flow.start_spread_s);
        self.field(place, PACKET, f64::from(flow.packet_bytes));
        self.field(place, ACK, f64::from(flow.ack_bytes));
        if let Some(size) = flow.size_packets {
            self.field(place, TRANSFER, size as f64);
        }
        self.level(place, PRIORITY, flow.priority, &flow.path, links);
        self.level(place, ACK_PRIORITY, flow.ack_priority, &flow.return_path, links);
        self.field(place, COUNT, flow.count as f64);
        self.traffic(place, flow);
        self.endpoints(place, flow);
    }

    fn path(&mut self, place: &str, flow: &FlowConfig, links: usize) {
        let mut seen = BTreeSet::new();
        if flow.path.is_empty() {
            self.0.push(format!("{place}.path: empty; given []; allowed at least one link"));
        }
        for &link in flow.path.iter().chain(&flow.return_path) {
            if link >= links {
                self.0.push(format!(
                    "{place}.path: no such link; given {link}; allowed 0 to {}",
                    links.saturating_sub(1)
                ));
            } else if !seen.insert(link) {
                self.0.push(format!("{place}.path: crosses a link twice; given {link}; allowed once, there and back"));
            }
        }
    }

    fn endpoints(&mut self, place: &str, flow: &FlowConfig) {
        let (sender, rto, receiver) = (&flow.sender, &flow.sender.rto, &flow.receiver);
        let place_of = |end: &str| format!("{place}.{end}");
        self.field(&place_of("sender"), INITIAL_WINDOW, sender.initial_window);
        if let Some(threshold) = sender.initial_ssthresh {
            self.field(&place_of("sender"), INITIAL_SSTHRESH, threshold);
        }
        if let Some(window) = sender.max_window {
            self.field(&place_of("sender"), MAX_WINDOW, window);
        }
        if let Some(threshold) = sender.dupack_threshold {
            self.field(&place_of("sender"), DUPACK_THRESHOLD, f64::from(threshold));
        }
        let shortest_tick = if rto.estimator == Estimator::Ticks { SHORTEST_TICK_S } else { GRANULARITY.low };
        for (limit, value) in [
            (Limit { low: shortest_tick, ..GRANULARITY }, rto.granularity_s),
            (RTO_MIN, rto.min_s),
            (RTO_MAX, rto.max_s),
            (RTO_INITIAL, rto.initial_s),
            (CLOCK_OFFSET, rto.clock_offset_s),
            (RTO_K, f64::from(rto.k)),
            (MAX_BACKOFF, f64::from(rto.max_backoff)),
        ] {
            self.field(&place_of("sender.rto"), limit, value);
        }
        self.field(&place_of("receiver"), ACK_EVERY, f64::from(receiver.ack_every));
        self.field(&place_of("receiver"), ACK_DELAY, receiver.ack_delay_s);
    }
}
