//! Scenarios from few words, and runs of them.
// Each test binary uses its part of this.
#![allow(dead_code)]

use sim::scenario::{
    BufferConfig, CountingConfig, FlowConfig, LinkConfig, ProcessingConfig, QueueConfig, Run, TraceConfig,
};
use sim::{Engine, Outcome, Progress, Scenario};
use tcp::{
    Dialect, Estimator, Increase, PartialAckTimer, ReceiverConfig, Recovery, RtoConfig, RttSample, SenderConfig,
    SlowStartWhile,
};

/// A drop-tail link that counts the packet in transmission, without propagation.
pub fn link(name: &str, rate_bps: f64, buffer_packets: Option<u64>) -> LinkConfig {
    LinkConfig {
        name: name.to_owned(),
        rate_bps: Some(rate_bps),
        delay_s: 0.0,
        buffer: buffer_packets.map(BufferConfig::Packets),
        counting: CountingConfig::WithService,
        queue: QueueConfig::DropTail {},
        delay_process: None,
        loss: None,
        private: false,
        processing: None,
    }
}

/// The TCP process of a host.
pub fn process(name: &str, data_s: f64, ack_s: f64) -> LinkConfig {
    let processing = Some(ProcessingConfig { data_s, ack_s });
    LinkConfig { rate_bps: None, processing, ..link(name, 1.0, None) }
}

/// ns-2's sender with the settings of the papers' time; the phase of its clock is that of ns-2's only agent.
pub fn ns2(recovery: Recovery) -> SenderConfig {
    SenderConfig {
        dialect: Dialect::Ns2,
        recovery,
        initial_window: 1.0,
        initial_ssthresh: None,
        max_window: None,
        slow_start_while: SlowStartWhile::Below,
        increase: Increase::Reciprocal,
        dupack_threshold: Some(3),
        limited_transmit: false,
        partial_ack_timer: PartialAckTimer::Impatient,
        rto: RtoConfig {
            estimator: Estimator::Ticks,
            sample: RttSample::PerRound,
            k: 4,
            granularity_s: 0.1,
            min_s: 0.2,
            max_s: 60.0,
            initial_s: 3.0,
            max_backoff: 65536,
            clock_offset_s: 0.055_588_071_598_279_97,
        },
    }
}

/// A sender by RFC 5681, 6582 and 6298, without limited transmit.
pub fn rfc(recovery: Recovery) -> SenderConfig {
    SenderConfig {
        dialect: Dialect::Rfc,
        initial_window: 3.0,
        rto: RtoConfig {
            estimator: Estimator::Rfc6298,
            sample: RttSample::PerAck,
            granularity_s: 0.001,
            min_s: 1.0,
            initial_s: 1.0,
            max_backoff: 64,
            clock_offset_s: 0.0,
            ..ns2(recovery).rto
        },
        ..ns2(recovery)
    }
}

/// A bulk flow of 512-byte packets and 40-byte ACKs, from the start, with an ACK for each packet.
pub fn flow(name: &str, path: &[usize], return_path: &[usize], sender: SenderConfig) -> FlowConfig {
    FlowConfig {
        name: name.to_owned(),
        path: path.to_vec(),
        return_path: return_path.to_vec(),
        forward_delay_s: 0.0,
        return_delay_s: 0.0,
        packet_bytes: 512,
        ack_bytes: 40,
        start_s: 0.0,
        start_spread_s: 0.0,
        size_packets: None,
        count: 1,
        traffic: None,
        sender,
        receiver: ReceiverConfig { ack_every: 1, ack_delay_s: 0.1 },
        priority: 0,
        ack_priority: 0,
    }
}

/// The path of [bottlenecks] over a GEO satellite: propagation of 560 ms there and back, three links in a row, given as
/// (rate, buffer), and the same three back with room for all ACKs; one Tahoe flow of ns-2.
pub fn geo(title: &str, duration_s: f64, links: [(f64, Option<u64>); 3]) -> Scenario {
    let names = ["access", "feeder", "satellite"];
    let there = names.iter().zip(links).map(|(name, (rate, buffer))| link(name, rate, buffer));
    let back = names.iter().zip(links).map(|(name, (rate, _))| link(&format!("{name}.reverse"), rate, None));
    let mut flow = flow("flow", &[0, 1, 2], &[5, 4, 3], ns2(Recovery::Tahoe));
    (flow.forward_delay_s, flow.return_delay_s) = (0.28, 0.28);
    scenario(title, duration_s, there.chain(back).collect(), vec![flow])
}

/// A scenario with seed 1, measured from its start, without traces.
pub fn scenario(title: &str, duration_s: f64, links: Vec<LinkConfig>, flows: Vec<FlowConfig>) -> Scenario {
    Scenario {
        format: 2,
        title: title.to_owned(),
        run: Run { duration_s, warmup_s: 0.0, replications: 1, seed: 1, confidence: 0.95, precision: None },
        links,
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
