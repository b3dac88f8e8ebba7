//! Random legal scenarios.

#[path = "../../../tcp/tests/axes/mod.rs"]
mod axes;

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence};
use sim::scenario::{
    BufferConfig, CountingConfig, FlowConfig, LinkConfig, QueueConfig, Run, TraceConfig, VictimConfig,
};
use sim::Scenario;

/// So many cases, unless PROPTEST_CASES asks for another number.
pub fn config(cases: u32) -> Config {
    Config {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..Config::default()
    }
}

/// 1 to 6 links of any kind, 1 to 6 flows of any kind that cross them any way, for 1 to 20 s, with any warm-up and seed.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    let run = (1.0..20.0_f64, prop_oneof![Just(0.0), 0.0..1.0_f64], any::<u64>());
    (prop::collection::vec(link(), 1..=6), run)
        .prop_flat_map(|(links, run)| {
            let flows = prop::collection::vec(flow(links.len(), run.0), 1..=6);
            (Just(links), flows, Just(run))
        })
        .prop_map(|(links, flows, (duration_s, warmup, seed))| assemble(links, flows, duration_s, warmup, seed))
}

/// Any set of probes.
pub fn probes() -> impl Strategy<Value = TraceConfig> {
    (any::<[bool; 7]>(), prop::option::of(0.01..5.0_f64), any::<bool>()).prop_map(
        |([cwnd, rtt, sequence, queue, queue_distribution, drops, losses], overview_interval_s, capture)| TraceConfig {
            cwnd,
            rtt,
            sequence,
            queue,
            queue_distribution,
            drops,
            losses,
            overview_interval_s,
            capture: capture.then(|| vec!["link 0".to_owned()]),
        },
    )
}

fn assemble(
    mut links: Vec<LinkConfig>,
    mut flows: Vec<FlowConfig>,
    duration_s: f64,
    warmup: f64,
    seed: u64,
) -> Scenario {
    for (index, link) in links.iter_mut().enumerate() {
        link.name = format!("link {index}");
    }
    for (index, flow) in flows.iter_mut().enumerate() {
        flow.name = format!("flow {index}");
        // Something must limit a flow, and its round trip must take time.
        if flow.path.iter().all(|&link| links[link].rate_bps.is_none()) {
            flow.sender.max_window = Some(flow.sender.max_window.unwrap_or(30.0));
            flow.forward_delay_s = flow.forward_delay_s.max(0.02);
        }
    }
    let run = Run { duration_s, warmup_s: warmup * duration_s, replications: 1, seed, confidence: 0.95 };
    Scenario { format: 2, title: "random".to_owned(), run, links, flows, trace: TraceConfig::default() }
}

fn link() -> impl Strategy<Value = LinkConfig> {
    let rate = prop::option::weighted(0.9, prop_oneof![2e4..2e6_f64, 1e6..1e7_f64, Just(1e6)]);
    let delay = prop_oneof![Just(0.0), 0.0..0.1_f64];
    let buffer = prop_oneof![
        Just(None),
        (1_u64..40).prop_map(|packets| Some(BufferConfig::Packets(packets))),
        (1_u64..40_000).prop_map(|bytes| Some(BufferConfig::Bytes(bytes))),
    ];
    (rate, delay, buffer, any::<bool>(), queue()).prop_map(|(rate_bps, delay_s, buffer, waiting, queue)| LinkConfig {
        name: String::new(),
        rate_bps,
        delay_s,
        buffer,
        counting: if waiting { CountingConfig::Waiting } else { CountingConfig::WithService },
        queue,
        private: false,
    })
}

fn queue() -> impl Strategy<Value = QueueConfig> {
    prop_oneof![
        3 => Just(QueueConfig::DropTail {}),
        1 => Just(QueueConfig::DropFromFront {}),
        1 => Just(QueueConfig::RandomDrop {}),
        2 => red(),
    ]
}

fn red() -> impl Strategy<Value = QueueConfig> {
    (0.0..10.0_f64, 0.1..20.0_f64, 0.001..1.0_f64, 0.0..1.0_f64, any::<[bool; 2]>()).prop_map(
        |(min, span, weight, max_probability, [gentle, random])| QueueConfig::Red {
            min_threshold_packets: min,
            max_threshold_packets: min + span,
            weight,
            max_probability,
            gentle,
            victim: if random { VictimConfig::Random } else { VictimConfig::Arriving },
            mean_packet_bytes: 500,
        },
    )
}

fn flow(links: usize, duration_s: f64) -> impl Strategy<Value = FlowConfig> {
    let way = (Just((0..links).collect::<Vec<_>>()).prop_shuffle(), 1..=links, 0..=links);
    let delays = prop_oneof![Just((0.0, 0.0)), (0.0..0.1_f64, 0.0..0.1_f64)];
    let bytes =
        (prop::sample::select(vec![40_u16, 512, 1000, 1500, 9180]), prop::sample::select(vec![40_u16, 52, 512]));
    let start = prop_oneof![Just((0.0, 0.0)), (0.0..duration_s, 0.0..duration_s)];
    let size = prop::option::of(1_u64..300);
    (way, delays, bytes, start, size, axes::sender(), axes::receiver()).prop_map(
        |((order, there, back), delays, bytes, start, size_packets, sender, receiver)| {
            let (path, rest) = order.split_at(there);
            FlowConfig {
                name: String::new(),
                path: path.to_vec(),
                return_path: rest[..back.min(rest.len())].to_vec(),
                forward_delay_s: delays.0,
                return_delay_s: delays.1,
                packet_bytes: bytes.0,
                ack_bytes: bytes.1,
                start_s: start.0,
                start_spread_s: start.1,
                size_packets,
                count: 1,
                traffic: None,
                sender,
                receiver,
            }
        },
    )
}
