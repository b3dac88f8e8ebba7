//! Scenarios from few words, and runs of them.

pub mod laws;
pub mod random;
pub mod recovery_laws;
pub mod story;
pub mod two_queues;

use net::{BufferLimit, Counting, Discipline};
use sim::scenario::{
    ConnectionConfig, ElementConfig, FlowConfig, HostConfig, LinkConfig, Run, TraceConfig, TrafficConfig,
};
use sim::{Engine, Outcome, Progress, Scenario};
use tcp::{
    ClassicConfig, Dialect, Estimator, HalfWindow, ReceiverConfig, Recovery, RtoConfig, RttSample, SenderConfig,
};

/// A drop-tail link that counts the packet in transmission, without propagation.
pub fn link(name: &str, rate_bps: f64, buffer_packets: Option<u64>) -> LinkConfig {
    LinkConfig {
        name: name.to_owned(),
        rate_bps: Some(rate_bps),
        rate_process: None,
        token_bucket: None,
        delay_s: 0.0,
        buffer: buffer_packets.map(BufferLimit::Packets),
        counting: Counting::WithService,
        queue: Discipline::DROP_TAIL,
        delay_process: None,
        loss: None,
    }
}

/// The TCP process of a host.
pub fn host(name: &str, data_s: f64, ack_s: f64) -> HostConfig {
    HostConfig { name: name.to_owned(), data_s, ack_s }
}

/// ns-2's sender with the settings of the papers' time; the phase of its clock is that of ns-2's only agent.
pub fn ns2(recovery: Recovery) -> ClassicConfig {
    ClassicConfig {
        dialect: Dialect::Ns2,
        recovery,
        initial_window: 1.0,
        half_window: HalfWindow::WholePackets,
        rto: RtoConfig {
            estimator: Estimator::Ticks,
            sample: RttSample::PerRound,
            granularity_s: 0.1,
            min_s: 0.2,
            initial_s: 3.0,
            max_backoff: 65536,
            clock_offset_s: 0.055_588_071_598_279_97,
            ..RtoConfig::default()
        },
        ..ClassicConfig::default()
    }
}

/// A sender by RFC 5681, 6582 and 6298, without limited transmit.
pub fn rfc(recovery: Recovery) -> ClassicConfig {
    ClassicConfig { recovery, ..ClassicConfig::default() }
}

/// A bulk flow of 512-byte packets and 40-byte ACKs, from the start, with an ACK for each packet.
pub fn flow(name: &str, path: &[usize], return_path: &[usize], sender: impl Into<SenderConfig>) -> FlowConfig {
    let connection = ConnectionConfig {
        return_path: return_path.to_vec(),
        return_delay_s: 0.0,
        ack_bytes: 40,
        ack_priority: 0,
        handshake: None,
        sender: sender.into(),
        receiver: ReceiverConfig { ack_every: 1, ack_delay_s: 0.1, ..ReceiverConfig::default() },
    };
    FlowConfig {
        name: name.to_owned(),
        count: 1,
        copies: 1,
        start_s: 0.0,
        start_spread_s: 0.0,
        path: path.to_vec(),
        forward_delay_s: 0.0,
        packet_bytes: 512,
        priority: 0,
        host: 0,
        weight: 1,
        traffic: TrafficConfig::Tcp { size_packets: None, connection },
    }
}

/// Returns a link of a scenario, to change it.
pub fn link_of(scenario: &mut Scenario, index: usize) -> &mut LinkConfig {
    scenario.elements[index].link_mut().expect("a link")
}

/// Returns the TCP connection of a flow, to change it.
pub fn tcp_of(flow: &mut FlowConfig) -> &mut ConnectionConfig {
    flow.connection_mut().expect("a flow with TCP")
}

/// Returns the settings of a flow's classic sender, to change them.
pub fn classic_of(flow: &mut FlowConfig) -> &mut ClassicConfig {
    match &mut tcp_of(flow).sender {
        SenderConfig::Classic(config) => config,
        SenderConfig::Selective(_) => panic!("not a classic sender"),
    }
}

/// Returns the size of a flow's only transfer \[packets\], to change it.
pub fn transfer_of(flow: &mut FlowConfig) -> &mut Option<u64> {
    match &mut flow.traffic {
        TrafficConfig::Tcp { size_packets, .. } => size_packets,
        other => panic!("not a single transfer: {other:?}"),
    }
}

/// The path of [bottlenecks] over a GEO satellite: propagation of 560 ms there and back, three links in a row, given as
/// (rate, buffer), and the same three back with room for all ACKs; one Tahoe flow of ns-2.
pub fn geo(title: &str, duration_s: f64, links: [(f64, Option<u64>); 3]) -> Scenario {
    let names = ["access", "feeder", "satellite"];
    let there = names.iter().zip(links).map(|(name, (rate, buffer))| link(name, rate, buffer));
    let back = names.iter().zip(links).map(|(name, (rate, _))| link(&format!("{name}.reverse"), rate, None));
    let mut flow = flow("flow", &[0, 1, 2], &[5, 4, 3], ns2(Recovery::Tahoe));
    (flow.forward_delay_s, tcp_of(&mut flow).return_delay_s) = (0.28, 0.28);
    scenario(title, duration_s, there.chain(back), vec![flow])
}

/// A scenario with seed 1, measured from its start, without traces.
pub fn scenario(
    title: &str,
    duration_s: f64,
    elements: impl IntoIterator<Item = impl Into<ElementConfig>>,
    flows: Vec<FlowConfig>,
) -> Scenario {
    Scenario {
        format: 3,
        title: title.to_owned(),
        run: Run {
            duration_s,
            warmup_s: 0.0,
            replications: 1,
            seed: 1,
            confidence: 0.95,
            precision: None,
            delays: true,
        },
        elements: elements.into_iter().map(Into::into).collect(),
        flows,
        trace: TraceConfig::default(),
        atm: None,
    }
}

/// Returns settings that record everything except captures.
pub fn all_traces() -> TraceConfig {
    TraceConfig {
        cwnd: true,
        rtt: true,
        sequence: true,
        queue: true,
        queue_distribution: true,
        drops: true,
        losses: true,
        delay: true,
        recovery: true,
        rounds: true,
        state: true,
        rate: true,
        aqm: true,
        overview_interval_s: Some(0.5),
        overview_detail_s: Some(0.2),
        capture: None,
    }
}

/// Runs replication 0 of a scenario to its end.
pub fn run(scenario: &Scenario) -> Outcome {
    let faults = sim::check(scenario);
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let mut engine = Engine::new(scenario, 0);
    loop {
        match engine.advance(1_000_000) {
            Progress::Running => {}
            Progress::Finished => return engine.finish(0.0),
            Progress::Failed(why) => panic!("{why}"),
        }
    }
}
