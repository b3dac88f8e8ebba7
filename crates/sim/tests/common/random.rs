//! Random legal scenarios.

#[path = "../../../tcp/tests/axes/mod.rs"]
mod axes;

use proptest::prelude::*;
use proptest::test_runner::{Config, FileFailurePersistence};
use sim::scenario::{
    BufferConfig, CountingConfig, CrossingConfig, DelayLawConfig, DelayProcessConfig, DelayStateConfig, FlowConfig,
    LinkConfig, LossConfig, LossLawConfig, OrderConfig, QueueConfig, Run, TraceConfig, VictimConfig,
};
use sim::Scenario;

/// Returns a configuration with `cases` cases, unless PROPTEST_CASES asks for another number.
pub fn config(cases: u32) -> Config {
    Config {
        cases: std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(cases),
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..Config::default()
    }
}

/// Generates scenarios of 1 to 6 links of any kind and 1 to 6 flows of any kind on any paths, between hosts or not, for
/// 1 to 20 s, with any warm-up and seed.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    let run = (1.0..20.0_f64, prop_oneof![Just(0.0), 0.0..1.0_f64], any::<u64>());
    let hosts = prop_oneof![2 => Just(vec![]), 1 => prop::collection::vec(host(), 1..=3)];
    let network = (prop::collection::vec(link(), 1..=6), run)
        .prop_flat_map(|(links, run)| {
            let flows = prop::collection::vec(flow(links.len(), run.0), 1..=6);
            (Just(links), flows, Just(run))
        })
        .prop_map(|(links, flows, (duration_s, warmup, seed))| assemble(links, flows, duration_s, warmup, seed));
    (network, hosts).prop_map(|(mut scenario, hosts)| {
        add_hosts(&mut scenario, &hosts);
        scenario
    })
}

fn host() -> impl Strategy<Value = LinkConfig> {
    let time = || prop_oneof![1 => Just(0.0), 4 => 1e-6..0.02_f64];
    (time(), time()).prop_map(|(data_s, ack_s)| super::common::process("", data_s, ack_s))
}

/// Ends the flows at hosts in turn: the data of each at one, its ACKs at the next one, if there is another.
fn add_hosts(scenario: &mut Scenario, hosts: &[LinkConfig]) {
    let first = scenario.links.len();
    for (number, host) in hosts.iter().enumerate() {
        scenario.links.push(LinkConfig { name: format!("host {number}"), ..host.clone() });
        for (index, flow) in scenario.flows.iter_mut().enumerate() {
            if index % hosts.len() == number {
                flow.path.push(first + number);
            } else if (index + 1) % hosts.len() == number {
                flow.return_path.push(first + number);
            }
        }
    }
}

/// Any set of probes.
pub fn probes() -> impl Strategy<Value = TraceConfig> {
    (any::<[bool; 10]>(), prop::option::of(0.01..5.0_f64), any::<bool>()).prop_map(
        |(
            [cwnd, rtt, sequence, queue, queue_distribution, drops, losses, delay, recovery, rounds],
            overview_interval_s,
            capture,
        )| TraceConfig {
            cwnd,
            rtt,
            sequence,
            queue,
            queue_distribution,
            drops,
            losses,
            delay,
            recovery,
            rounds,
            overview_interval_s,
            overview_detail_s: None,
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
        link.delay_process.iter_mut().for_each(|process| process.stream = format!("link {index}"));
    }
    for (index, flow) in flows.iter_mut().enumerate() {
        flow.name = format!("flow {index}");
        // Something must limit a flow, and its round trip must take time.
        if flow.path.iter().all(|&link| links[link].rate_bps.is_none()) {
            flow.sender.max_window = Some(flow.sender.max_window.unwrap_or(30.0));
            flow.forward_delay_s = flow.forward_delay_s.max(0.02);
        }
    }
    let run =
        Run { duration_s, warmup_s: warmup * duration_s, replications: 1, seed, confidence: 0.95, precision: None };
    Scenario { format: 2, title: "random".to_owned(), run, links, flows, trace: TraceConfig::default(), atm: None }
}

fn link() -> impl Strategy<Value = LinkConfig> {
    let rate = prop::option::weighted(0.9, prop_oneof![2e4..2e6_f64, 1e6..1e7_f64, Just(1e6)]);
    let delay = prop_oneof![Just(0.0), 0.0..0.1_f64];
    let buffer = prop_oneof![
        Just(None),
        (1_u64..40).prop_map(|packets| Some(BufferConfig::Packets(packets))),
        (1_u64..40_000).prop_map(|bytes| Some(BufferConfig::Bytes(bytes))),
    ];
    let process = prop::option::weighted(0.2, delay_process());
    let loss = prop::option::weighted(0.2, loss());
    (rate, delay, buffer, any::<bool>(), queue(), process, loss).prop_map(
        |(rate_bps, delay_s, buffer, waiting, queue, delay_process, loss)| LinkConfig {
            name: String::new(),
            rate_bps,
            delay_s,
            buffer,
            counting: if waiting { CountingConfig::Waiting } else { CountingConfig::WithService },
            queue,
            delay_process,
            loss,
            private: false,
            processing: None,
        },
    )
}

fn loss() -> impl Strategy<Value = LossConfig> {
    let share = || prop_oneof![0.0..0.1_f64, 0.0..0.5_f64];
    let law = prop_oneof![
        share().prop_map(|probability| LossLawConfig::Bernoulli { probability }),
        (0.01..5.0_f64, 0.0..1.0_f64)
            .prop_map(|(mean_interval_s, void_after_s)| LossLawConfig::Poisson { mean_interval_s, void_after_s }),
        (share(), 0.05..1.0_f64, share(), share()).prop_map(|(to_bad, to_good, loss_in_good, loss_in_bad)| {
            LossLawConfig::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad }
        }),
        prop::collection::btree_set(1_u64..300, 1..20)
            .prop_map(|numbers| LossLawConfig::Packets { numbers: numbers.into_iter().collect() }),
        prop::collection::btree_set(0_u32..20_000, 1..20).prop_map(|times| LossLawConfig::Times {
            times_s: times.into_iter().map(|time| f64::from(time) / 1000.0).collect()
        }),
    ];
    let applies_to = prop::sample::select(vec![CrossingConfig::All, CrossingConfig::Data, CrossingConfig::Acks]);
    (applies_to, law).prop_map(|(applies_to, law)| LossConfig { applies_to, law })
}

fn delay_process() -> impl Strategy<Value = DelayProcessConfig> {
    let order = prop_oneof![2 => Just(OrderConfig::Overtake), 1 => Just(OrderConfig::Keep)];
    (order, delay_law()).prop_map(|(order, law)| DelayProcessConfig { stream: String::new(), order, law })
}

fn delay_law() -> impl Strategy<Value = DelayLawConfig> {
    let step = (0.001..5.0_f64, 0.0..0.3_f64);
    let steps = prop::collection::vec(step, 1..6).prop_map(|steps| {
        let until_then = |index: usize| steps[..index].iter().map(|step| step.0).sum();
        let steps_s = steps.iter().enumerate().map(|(index, step)| (until_then(index), step.1)).collect();
        DelayLawConfig::Steps { steps_s }
    });
    let state = (0.0..0.3_f64, 0.0..0.5_f64, 0.001..1.0_f64)
        .prop_map(|(delay_s, least_stay_s, mean_extra_s)| DelayStateConfig { delay_s, least_stay_s, mean_extra_s });
    let alternating = (prop::collection::vec(state, 1..4), any::<bool>()).prop_map(|(states, drawn)| {
        let row = vec![1.0 / states.len() as f64; states.len()];
        let transitions = drawn.then(|| vec![row; states.len()]);
        DelayLawConfig::Alternating { start: states.len() - 1, states, transitions }
    });
    let handover = (0.0..0.1_f64, 0.0..0.2_f64, 0.1..15.0_f64)
        .prop_map(|(low_s, span, period_s)| DelayLawConfig::Handover { low_s, high_s: low_s + span, period_s });
    prop_oneof![steps, alternating, handover]
}

/// Any discipline of the list; drop-tail, whose departures are foreseen, most often.
fn queue() -> impl Strategy<Value = QueueConfig> {
    let listed: Vec<_> = net::DISCIPLINES.iter().filter_map(|(_, discipline)| QueueConfig::of(discipline)).collect();
    prop_oneof![
        2 => Just(QueueConfig::DropTail {}),
        listed.len() as u32 => prop::sample::select(listed).prop_flat_map(with_any_parameters),
    ]
}

fn with_any_parameters(queue: QueueConfig) -> BoxedStrategy<QueueConfig> {
    match queue {
        QueueConfig::DropTail {} | QueueConfig::DropFromFront {} | QueueConfig::RandomDrop {} => Just(queue).boxed(),
        QueueConfig::Priority { victim, .. } => {
            (3_u8..=8).prop_map(move |levels| QueueConfig::Priority { levels, victim }).boxed()
        }
        QueueConfig::Red { victim, .. } => red(victim).boxed(),
    }
}

fn red(victim: VictimConfig) -> impl Strategy<Value = QueueConfig> {
    (0.0..10.0_f64, 0.1..20.0_f64, 0.001..1.0_f64, 0.0..1.0_f64, any::<bool>()).prop_map(
        move |(min, span, weight, max_probability, gentle)| QueueConfig::Red {
            min_threshold_packets: min,
            max_threshold_packets: min + span,
            weight,
            max_probability,
            gentle,
            victim,
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
    // Links with priority have three levels or more.
    let levels = (0_u8..3, 0_u8..3);
    (way, delays, bytes, start, size, axes::sender(), axes::receiver(), levels).prop_map(
        |((order, there, back), delays, bytes, start, size_packets, sender, receiver, levels)| {
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
                priority: levels.0,
                ack_priority: levels.1,
            }
        },
    )
}
