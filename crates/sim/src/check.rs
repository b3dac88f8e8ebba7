mod atm_network;
mod delay;
mod loss;
mod processing;
mod traffic;

use std::collections::BTreeSet;

use base::{Rate, Time};
use tcp::Estimator;

use crate::scenario::{BufferConfig, FlowConfig, LinkConfig, QueueConfig, Scenario};

/// The forms that this engine reads. What the second one added has defaults that leave the first one's meaning.
const FORMATS: (u32, u32) = (1, 2);
/// Longest run and delay \[s\]: `u64` picoseconds hold 1.8e7 s.
const LONGEST_S: f64 = 1e7;
/// Flows of an entry.
const MOST_FLOWS: f64 = 1e7;
const LONGEST_DELAY_S: f64 = 1e5;
/// At the fastest a packet of a byte takes a picosecond.
const RATES_BPS: (f64, f64) = (1.0, 1e13);
const LARGEST_WINDOW: f64 = 1e9;
/// All of it leaves in one event.
const LARGEST_INITIAL_WINDOW: f64 = 1e6;
/// The shortest tick \[s\] for which no round trip overflows the integer arithmetic of the coarse clock.
const SHORTEST_TICK_S: f64 = 1e-6;
const MOST_LEVELS: u8 = 8;
const MOST_HOPS: f64 = u32::MAX as f64 / 4.0;

/// All faults of a resolved scenario, one a line: `place: what is wrong; given ...; allowed ...`. Empty: it can run.
pub fn check(scenario: &Scenario) -> Vec<String> {
    let mut faults = Faults::default();
    faults.number("format", f64::from(scenario.format), f64::from(FORMATS.0), f64::from(FORMATS.1));
    let run = &scenario.run;
    faults.number("run.duration_s", run.duration_s, 1e-12, LONGEST_S);
    faults.number("run.warmup_s", run.warmup_s, 0.0, run.duration_s);
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
        faults.number("trace.overview_interval_s", interval, 1e-9, LONGEST_S);
    }
    if let Some(detail) = scenario.trace.overview_detail_s {
        faults.number("trace.overview_detail_s", detail, 1e-9, LONGEST_S);
    }
    for (index, name) in scenario.trace.capture.iter().flatten().enumerate() {
        if !scenario.links.iter().any(|link| link.name == *name) {
            faults.0.push(format!("trace.capture[{index}]: no such link; given {name:?}; allowed the name of a link"));
        }
    }
    faults.0
}

/// The shortest round trip, in the engine's arithmetic: at zero the clock would stand still.
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

#[derive(Default)]
pub(crate) struct Faults(Vec<String>);

impl Faults {
    pub(crate) fn say(&mut self, fault: String) {
        self.0.push(fault);
    }

    #[cfg(test)]
    pub(crate) fn into_inner(self) -> Vec<String> {
        self.0
    }

    pub(crate) fn number(&mut self, place: &str, value: f64, low: f64, high: f64) {
        // A comparison with not-a-number fails too.
        if !(low..=high).contains(&value) {
            self.0.push(format!("{place}: out of range; given {value}; allowed {low} to {high}"));
        }
    }

    fn link(&mut self, place: &str, link: &LinkConfig) {
        if let Some(rate) = link.rate_bps {
            self.number(&format!("{place}.rate_bps"), rate, RATES_BPS.0, RATES_BPS.1);
        }
        self.number(&format!("{place}.delay_s"), link.delay_s, 0.0, LONGEST_DELAY_S);
        if let Some(BufferConfig::Packets(limit) | BufferConfig::Bytes(limit)) = link.buffer {
            self.number(&format!("{place}.buffer"), limit as f64, 1.0, 1e15);
        }
        self.queue(&format!("{place}.queue"), &link.queue);
        if let QueueConfig::Priority { levels, .. } = link.queue {
            self.number(&format!("{place}.queue.levels"), f64::from(levels), 1.0, f64::from(MOST_LEVELS));
        }
        if let Some(times) = link.processing {
            self.processing(place, link, times);
        }
        if link.private && link.queue != (QueueConfig::DropTail {}) {
            self.0.push(format!("{place}.queue: of a private link; given {:?}; allowed drop-tail", link.queue));
        }
        if link.private && (link.delay_process.is_some() || link.loss.is_some()) {
            self.0.push(format!("{place}: a private link with a delay that changes or with losses; allowed neither"));
        }
    }

    /// Levels that the links with priority on a way have.
    fn levels(&mut self, place: &str, level: u8, way: &[usize], links: &[LinkConfig]) {
        let levels = way.iter().filter_map(|&link| match links.get(link)?.queue {
            QueueConfig::Priority { levels, .. } => Some(levels),
            _ => None,
        });
        let most = levels.min().unwrap_or(MOST_LEVELS).max(1) - 1;
        self.number(place, f64::from(level), 0.0, f64::from(most));
    }

    fn queue(&mut self, place: &str, queue: &QueueConfig) {
        if let QueueConfig::Red { min_threshold_packets: min, max_threshold_packets: max, .. } = *queue {
            self.number(&format!("{place}.max_threshold_packets"), max, f64::MIN_POSITIVE, 1e15);
            self.number(&format!("{place}.min_threshold_packets"), min, 0.0, max);
            if min >= max {
                self.0.push(format!("{place}.min_threshold_packets: not below the maximum threshold; given {min}"));
            }
        }
        if let QueueConfig::Red { weight, max_probability, mean_packet_bytes, .. } = *queue {
            self.number(&format!("{place}.weight"), weight, f64::MIN_POSITIVE, 1.0);
            self.number(&format!("{place}.max_probability"), max_probability, 0.0, 1.0);
            self.number(&format!("{place}.mean_packet_bytes"), f64::from(mean_packet_bytes), 1.0, 65535.0);
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
        for (field, value) in [("forward_delay_s", flow.forward_delay_s), ("return_delay_s", flow.return_delay_s)] {
            self.number(&format!("{place}.{field}"), value, 0.0, LONGEST_DELAY_S);
        }
        self.number(&format!("{place}.start_s"), flow.start_s, 0.0, LONGEST_S);
        self.number(&format!("{place}.start_spread_s"), flow.start_spread_s, 0.0, LONGEST_S);
        self.number(&format!("{place}.packet_bytes"), f64::from(flow.packet_bytes), 1.0, 65535.0);
        self.number(&format!("{place}.ack_bytes"), f64::from(flow.ack_bytes), 1.0, 65535.0);
        if let Some(size) = flow.size_packets {
            self.number(&format!("{place}.size_packets"), size as f64, 1.0, 1e15);
        }
        self.levels(&format!("{place}.priority"), flow.priority, &flow.path, links);
        self.levels(&format!("{place}.ack_priority"), flow.ack_priority, &flow.return_path, links);
        self.number(&format!("{place}.count"), flow.count as f64, 1.0, MOST_FLOWS);
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
        let (sender, rto) = (&flow.sender, &flow.sender.rto);
        self.number(&format!("{place}.sender.initial_window"), sender.initial_window, 1.0, LARGEST_INITIAL_WINDOW);
        for (field, value) in [("initial_ssthresh", sender.initial_ssthresh), ("max_window", sender.max_window)] {
            if let Some(value) = value {
                self.number(&format!("{place}.sender.{field}"), value, 1.0, LARGEST_WINDOW);
            }
        }
        if let Some(threshold) = sender.dupack_threshold {
            self.number(&format!("{place}.sender.dupack_threshold"), f64::from(threshold), 1.0, 1e9);
        }
        let least_tick = if rto.estimator == Estimator::Ticks { SHORTEST_TICK_S } else { 0.0 };
        for (field, value, low) in [
            ("granularity_s", rto.granularity_s, least_tick),
            ("min_s", rto.min_s, 0.0),
            ("max_s", rto.max_s, 1e-6),
            ("initial_s", rto.initial_s, 1e-6),
            ("clock_offset_s", rto.clock_offset_s, 0.0),
        ] {
            self.number(&format!("{place}.sender.rto.{field}"), value, low, LONGEST_DELAY_S);
        }
        self.number(&format!("{place}.sender.rto.k"), f64::from(rto.k), 1.0, 1000.0);
        self.number(&format!("{place}.sender.rto.max_backoff"), f64::from(rto.max_backoff), 1.0, 1e9);
        let receiver = &flow.receiver;
        self.number(&format!("{place}.receiver.ack_every"), f64::from(receiver.ack_every), 1.0, 1e9);
        self.number(&format!("{place}.receiver.ack_delay_s"), receiver.ack_delay_s, 0.0, LONGEST_DELAY_S);
    }
}
