mod atm_network;
mod blocks;
mod delay;
mod ecn;
mod hosts;
mod last_packet;
mod limits;
mod loss;
mod numbers;
mod queue;
mod rate;
mod traffic;

use std::collections::BTreeSet;

use base::{Clock, Time};
use net::{BufferLimit, SchedulerConfig};
use tcp::{ClassicConfig, ControlConfig, Estimator, SelectiveConfig, SenderConfig};

use crate::empty_path::EmptyPath;
use crate::scenario::{
    ConnectionConfig, ElementConfig, FlowConfig, LinkConfig, PrivateLinkConfig, Scenario, TrafficConfig,
};
use limits::*;
pub use limits::{all_limits, Limit};

/// Shortest tick \[s\] with which no round trip overflows the integer arithmetic of the coarse clock.
const SHORTEST_TICK_S: f64 = 1e-6;

/// Returns all faults of a resolved scenario, each as `place: what is wrong; given ...; allowed ...`; none if it can
/// run.
pub fn check(scenario: &Scenario) -> Vec<String> {
    let mut faults = Faults::default();
    faults.field("", FORMAT, f64::from(scenario.format));
    let run = &scenario.run;
    faults.field("run", DURATION, run.duration_s);
    faults.field("run", Limit { high: run.duration_s, ..WARMUP }, run.warmup_s);
    faults.numbers(scenario);
    for (index, element) in scenario.elements.iter().enumerate() {
        let place = format!("elements[{index}]");
        faults.element(&place, element);
        if let Some(process) = element.rate_process() {
            faults.rate_process(&place, element, &process.law, run.duration_s);
        }
        if let Some(bucket) = element.link().and_then(|link| link.token_bucket) {
            faults.token_bucket(&place, element, &bucket);
        }
        if let Some(process) = element.delay_process() {
            faults.delay_law(&format!("{place}.delay_process.law"), &process.law, run.duration_s);
        }
        if let Some(loss) = element.loss() {
            faults.loss_law(&format!("{place}.loss.law"), &loss.law, run.duration_s);
        }
    }
    let clock = scenario.clock();
    for (index, flow) in scenario.flows.iter().enumerate() {
        faults.flow(&format!("flows[{index}]"), flow, &scenario.elements, clock);
    }
    faults.channels(scenario);
    if let Some(interval) = scenario.trace.overview_interval_s {
        faults.field("trace", OVERVIEW_INTERVAL, interval);
    }
    if let Some(detail) = scenario.trace.overview_detail_s {
        faults.field("trace", OVERVIEW_DETAIL, detail);
    }
    let known: BTreeSet<&str> = scenario.elements.iter().map(ElementConfig::name).collect();
    for (index, name) in scenario.trace.capture.iter().flatten().enumerate() {
        if !known.contains(name.as_str()) {
            faults.0.push(format!("trace.capture[{index}]: no such link; given {name:?}; allowed the name of a link"));
        }
    }
    faults.0
}

/// Returns the shortest round trip in the engine's arithmetic: if it were zero, the clock would not advance.
fn round_trip(flow: &FlowConfig, elements: &[ElementConfig], clock: Clock) -> Time {
    let back = EmptyPath::of_answers(flow, elements, clock).unwrap_or_default();
    EmptyPath::of_data(flow, elements, clock).one_way + back.one_way
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

    fn element(&mut self, place: &str, element: &ElementConfig) {
        if let Some(rate) = element.rate_bps() {
            self.field(place, LINK_RATE, rate);
        }
        self.field(place, LINK_DELAY, element.delay_s());
        match element {
            ElementConfig::Link(LinkConfig { buffer, queue, .. }) => {
                self.buffer(place, *buffer);
                self.queue(&format!("{place}.queue"), queue);
            }
            ElementConfig::PrivateLink(PrivateLinkConfig { buffer, .. }) => self.buffer(place, *buffer),
            ElementConfig::Channel(_) => {}
            ElementConfig::Host(host) => {
                self.field(place, PROCESSING_DATA, host.data_s);
                self.field(place, PROCESSING_ACK, host.ack_s);
            }
        }
    }

    fn buffer(&mut self, place: &str, buffer: Option<BufferLimit>) {
        match buffer {
            None => {}
            Some(BufferLimit::Packets(limit)) => self.field(&format!("{place}.buffer"), BUFFER_PACKETS, limit as f64),
            Some(BufferLimit::Bytes(limit)) => self.field(&format!("{place}.buffer"), BUFFER_BYTES, limit as f64),
        }
    }

    /// Checks a flow's level against the fewest levels of the priority queues on a path.
    fn level(&mut self, place: &str, limit: Limit, level: u8, path: &[usize], elements: &[ElementConfig]) {
        let levels = path.iter().filter_map(|&element| match elements.get(element)?.link()?.queue.scheduler {
            SchedulerConfig::Priority { levels } => Some(levels),
            SchedulerConfig::Fifo {} | SchedulerConfig::Fq(_) => None,
            SchedulerConfig::Sfq(_) | SchedulerConfig::Dual(_) | SchedulerConfig::Cake(_) => None,
            SchedulerConfig::Drr(_) | SchedulerConfig::Wfq(_) => None,
        });
        let high = levels.min().map_or(limit.high, |levels| f64::from(levels.max(1) - 1));
        self.field(place, Limit { high, ..limit }, f64::from(level));
    }

    fn flow(&mut self, place: &str, flow: &FlowConfig, elements: &[ElementConfig], clock: Clock) {
        self.path(place, flow, elements.len());
        self.field(place, FORWARD_DELAY, flow.forward_delay_s);
        self.field(place, START, flow.start_s);
        self.field(place, START_SPREAD, flow.start_spread_s);
        self.field(place, PACKET, f64::from(flow.packet_bytes));
        self.level(place, PRIORITY, flow.priority, &flow.path, elements);
        self.field(place, HOST, f64::from(flow.host));
        self.field(place, FLOW_WEIGHT, f64::from(flow.weight));
        self.field(place, COUNT, flow.count as f64);
        self.field(place, COPIES, flow.copies as f64);
        self.host_is_last(&format!("{place}.path"), &flow.path, 1, elements);
        self.traffic(&format!("{place}.traffic"), flow);
        if let TrafficConfig::Ping { return_path, return_delay_s, .. } = &flow.traffic {
            let place = format!("{place}.traffic");
            self.host_is_last(&format!("{place}.return_path"), return_path, 0, elements);
            self.level(&place, PRIORITY, flow.priority, return_path, elements);
            self.field(&place, ECHO_DELAY, *return_delay_s);
        }
        let Some(tcp) = flow.connection() else { return };
        if !flow.path.is_empty() && round_trip(flow, elements, clock) == Time::ZERO {
            self.0.push(format!(
                "{place}.path: a round trip takes no time; given no delay and no service time; allowed 1 ps and more"
            ));
        }
        let place = format!("{place}.traffic.connection");
        self.host_is_last(&format!("{place}.return_path"), &tcp.return_path, 0, elements);
        self.field(&place, RETURN_DELAY, tcp.return_delay_s);
        self.field(&place, ACK, f64::from(tcp.ack_bytes));
        self.level(&place, ACK_PRIORITY, tcp.ack_priority, &tcp.return_path, elements);
        self.endpoints(&place, tcp);
        self.blocks(&place, tcp, elements);
        self.last_packet(&place, flow, tcp, elements);
        self.ecn(&place, tcp);
        if let Some(handshake) = &tcp.handshake {
            let place = format!("{place}.handshake");
            self.field(&place, SYN, f64::from(handshake.syn_bytes));
            self.field(&place, SYN_TIMEOUT, handshake.timeout_s);
            self.field(&place, CLIENT_HELLO, f64::from(handshake.client_hello_packets));
            self.field(&place, SERVER_HELLO, f64::from(handshake.server_hello_packets));
        }
    }

    fn path(&mut self, place: &str, flow: &FlowConfig, elements: usize) {
        let mut seen = BTreeSet::new();
        if flow.path.is_empty() {
            self.0.push(format!("{place}.path: empty; given []; allowed at least one element"));
        }
        for &element in flow.path.iter().chain(flow.return_path()) {
            if element >= elements {
                self.0.push(format!(
                    "{place}.path: no such element; given {element}; allowed 0 to {}",
                    elements.saturating_sub(1)
                ));
            } else if !seen.insert(element) {
                self.0.push(format!(
                    "{place}.path: crosses an element twice; given {element}; allowed once, there and back"
                ));
            }
        }
    }

    fn endpoints(&mut self, place: &str, tcp: &ConnectionConfig) {
        match &tcp.sender {
            SenderConfig::Classic(sender) => self.classic_sender(&format!("{place}.sender"), sender),
            SenderConfig::Selective(sender) => self.selective_sender(&format!("{place}.sender"), sender),
        }
        let receiver = format!("{place}.receiver");
        self.field(&receiver, ACK_EVERY, f64::from(tcp.receiver.ack_every));
        self.field(&receiver, ACK_DELAY, tcp.receiver.ack_delay_s);
        if let Some(linux) = tcp.receiver.linux {
            let place = format!("{receiver}.linux");
            self.field(&place, LINUX_SEGMENT, f64::from(linux.segment_bytes));
            self.field(&place, LINUX_BUFFER, linux.buffer_bytes as f64);
            self.field(&place, LINUX_MOST_BUFFER, linux.most_buffer_bytes as f64);
        }
    }

    fn windows(&mut self, place: &str, initial: f64, ssthresh: Option<f64>, most: Option<f64>) {
        self.field(place, INITIAL_WINDOW, initial);
        if let Some(threshold) = ssthresh {
            self.field(place, INITIAL_SSTHRESH, threshold);
        }
        if let Some(window) = most {
            self.field(place, MAX_WINDOW, window);
        }
    }

    fn selective_sender(&mut self, place: &str, sender: &SelectiveConfig) {
        self.windows(place, sender.initial_window, sender.initial_ssthresh, sender.max_window);
        self.field(place, DUPACK_THRESHOLD, f64::from(sender.dupack_threshold));
        self.field(place, SENDER_SEGMENT, f64::from(sender.segment_bytes));
        self.application(place, sender);
        let rto = &sender.rto;
        for (limit, value) in [
            (RTO_MIN, rto.min_s),
            (RTO_MAX, rto.max_s),
            (RTO_INITIAL, rto.initial_s),
            (GRANULARITY, rto.granularity_s),
            (CLOCK_OFFSET, rto.clock_offset_s),
        ] {
            self.field(&format!("{place}.rto"), limit, value);
        }
        self.congestion_control(&format!("{place}.congestion_control"), &sender.congestion_control);
    }

    fn application(&mut self, place: &str, sender: &SelectiveConfig) {
        if let Some(buffer) = &sender.send_buffer {
            let place = format!("{place}.send_buffer");
            self.field(&place, SEND_BUFFER, buffer.buffer_bytes as f64);
            self.field(&place, SEND_MOST_BUFFER, buffer.most_buffer_bytes as f64);
        }
        if let Some(write) = sender.push.and_then(|push| push.write_bytes) {
            self.field(&format!("{place}.push"), WRITE, write as f64);
        }
        if let Some(writes) = &sender.writes {
            let place = format!("{place}.writes");
            self.field(&place, WRITES_PACKETS, writes.packets as f64);
            self.field(&place, WRITES_INTERVAL, writes.interval_s);
        }
    }

    fn congestion_control(&mut self, place: &str, control: &ControlConfig) {
        let name = &control.name;
        if control.provided.is_some() {
            return;
        }
        if control.program.is_some() {
            return self
                .0
                .push(format!("{place}.name: no such control; given {name:?}; allowed its class with the run"));
        }
        let Some(algorithm) = tcp::cc::ALGORITHMS.iter().find(|algorithm| algorithm.name == name) else {
            let names: Vec<&str> = tcp::cc::ALGORITHMS.iter().map(|algorithm| algorithm.name).collect();
            let allowed = names.join(", ");
            return self.0.push(format!("{place}.name: no such control; given {name:?}; allowed {allowed}"));
        };
        for (name, &value) in &control.parameters {
            let Some(known) = algorithm.parameters.iter().find(|parameter| parameter.name == name) else {
                let names: Vec<&str> = algorithm.parameters.iter().map(|parameter| parameter.name).collect();
                let allowed = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
                self.0.push(format!("{place}.parameters: no such parameter; given {name:?}; allowed {allowed}"));
                continue;
            };
            if !(known.low..=known.high).contains(&value) {
                let (low, high) = (known.low, known.high);
                self.0.push(format!("{place}.parameters.{name}: out of range; given {value}; allowed {low} to {high}"));
            }
        }
    }

    fn classic_sender(&mut self, place: &str, sender: &ClassicConfig) {
        let rto = &sender.rto;
        self.windows(place, sender.initial_window, sender.initial_ssthresh, sender.max_window);
        if let Some(threshold) = sender.dupack_threshold {
            self.field(place, DUPACK_THRESHOLD, f64::from(threshold));
        }
        if let Some(burst) = sender.max_burst {
            self.field(place, MAX_BURST, f64::from(burst));
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
            self.field(&format!("{place}.rto"), limit, value);
        }
    }
}
