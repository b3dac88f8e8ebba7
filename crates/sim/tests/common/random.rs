//! Random legal scenarios.

#[path = "../../../tcp/tests/axes/mod.rs"]
mod axes;
#[path = "../../../tcp/tests/cases.rs"]
mod cases;
#[path = "../../../tcp/tests/selective_axes/mod.rs"]
mod selective_axes;

use base::cast::to_u32;
use net::{
    AppliesTo, AqmConfig, BucketConfig, BucketKind, BufferLimit, CakeConfig, CobaltConfig, CodelConfig, CodelRules,
    Counting, DelayLaw, DelayState, Discipline, DrrConfig, DualConfig, DualPi2Config, DualPi2Rules, FqConfig, LossLaw,
    PiConfig, PieConfig, RateLaw, RateState, RedAdaptation, RedConfig, RedEcn, RedLinuxConfig, SchedulerConfig,
    SfqConfig, StepConfig, WfqConfig,
};
use proptest::prelude::*;
use sim::scenario::{
    ConnectionConfig, DelayProcessConfig, ElementConfig, FlowConfig, HostConfig, LinkConfig, LossConfig, OrderConfig,
    PrivateLinkConfig, RateProcessConfig, TraceConfig, TrafficConfig,
};
use sim::Scenario;
use tcp::{ClassicConfig, Dialect, LinuxReceiver, PacketMemory, ReceiverConfig, Recovery, SackBlocks, SenderConfig};

use crate::outside::common;

pub use cases::config;

/// Generates scenarios of 1 to 6 links, shared or private, and 1 to 6 TCP flows of any kind on any paths, between hosts
/// or not, for 1 to 20 s, with any warm-up and seed.
pub fn scenario() -> impl Strategy<Value = Scenario> {
    let run = (1.0..20.0_f64, prop_oneof![Just(0.0), 0.0..1.0_f64], any::<u64>());
    let hosts = prop_oneof![2 => Just(vec![]), 1 => prop::collection::vec(host(), 1..=3)];
    let network = (prop::collection::vec(element(), 1..=6), run)
        .prop_flat_map(|(elements, run)| {
            let flows = prop::collection::vec(flow(elements.len(), run.0), 1..=6);
            (Just(elements), flows, Just(run))
        })
        .prop_map(|(elements, flows, (duration_s, warmup, seed))| assemble(elements, flows, duration_s, warmup, seed));
    (network, hosts).prop_map(|(mut scenario, hosts)| {
        add_hosts(&mut scenario, &hosts);
        scenario
    })
}

/// Makes all senders ns-2's Sack1, whose ACKs have `most` blocks at most.
pub fn select(scenario: &mut Scenario, most: u16) {
    for flow in &mut scenario.flows {
        let tcp = common::tcp_of(flow);
        let copies = |&element: &usize| matches!(scenario.elements[element], ElementConfig::PrivateLink(_));
        // A link of which each flow has a copy takes ACKs of one length.
        let bytes = if tcp.return_path.iter().any(copies) { 0 } else { 8 };
        let windows = match &tcp.sender {
            SenderConfig::Classic(sender) => *sender,
            SenderConfig::Selective(sender) => {
                ClassicConfig { max_window: sender.max_window, ..ClassicConfig::default() }
            }
        };
        tcp.sender = ClassicConfig { dialect: Dialect::Ns2, recovery: Recovery::Sack1, ..windows }.into();
        tcp.receiver = ReceiverConfig {
            selective: false,
            ecn: tcp.sender.ecn(),
            linux: None,
            blocks: Some(SackBlocks { most, bytes }),
            ..tcp.receiver
        };
    }
}

fn host() -> impl Strategy<Value = HostConfig> {
    let time = || prop_oneof![1 => Just(0.0), 4 => 1e-6..0.02_f64];
    (time(), time()).prop_map(|(data_s, ack_s)| common::host("", data_s, ack_s))
}

/// Ends the flows at hosts in turn: the data of each at one, its ACKs at the next one, if there is another.
fn add_hosts(scenario: &mut Scenario, hosts: &[HostConfig]) {
    let first = scenario.elements.len();
    for (number, host) in hosts.iter().enumerate() {
        scenario.elements.push(HostConfig { name: format!("host {number}"), ..host.clone() }.into());
        for (index, flow) in scenario.flows.iter_mut().enumerate() {
            if index % hosts.len() == number {
                flow.path.push(first + number);
            } else if (index + 1) % hosts.len() == number {
                common::tcp_of(flow).return_path.push(first + number);
            }
        }
    }
}

/// Any set of probes.
pub fn probes() -> impl Strategy<Value = TraceConfig> {
    (any::<[bool; 13]>(), prop::option::of(0.01..5.0_f64), any::<bool>()).prop_map(
        |(
            [cwnd, rtt, sequence, queue, queue_distribution, drops, losses, delay, recovery, rounds, state, rate, aqm],
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
            state,
            rate,
            aqm,
            overview_interval_s,
            overview_detail_s: None,
            capture: capture.then(|| vec!["link 0".to_owned()]),
        },
    )
}

fn assemble(
    mut elements: Vec<ElementConfig>,
    mut flows: Vec<FlowConfig>,
    duration_s: f64,
    warmup: f64,
    seed: u64,
) -> Scenario {
    for (index, element) in elements.iter_mut().enumerate() {
        let name = format!("link {index}");
        match element {
            ElementConfig::Link(link) => {
                link.delay_process.iter_mut().for_each(|process| process.stream.clone_from(&name));
                link.rate_process.iter_mut().for_each(|process| process.stream.clone_from(&name));
                link.name = name;
            }
            ElementConfig::PrivateLink(link) => link.name = name,
            ElementConfig::Channel(_) | ElementConfig::Host(_) => {}
        }
    }
    for (index, flow) in flows.iter_mut().enumerate() {
        flow.name = format!("flow {index}");
        // Something must limit a flow, and its round trip must take time.
        if flow.path.iter().all(|&element| elements[element].most_bps().is_none()) {
            let max_window = match &mut common::tcp_of(flow).sender {
                SenderConfig::Classic(sender) => &mut sender.max_window,
                SenderConfig::Selective(sender) => &mut sender.max_window,
            };
            max_window.get_or_insert(30.0);
            flow.forward_delay_s = flow.forward_delay_s.max(0.02);
        }
        let (bytes, ends) = (flow.packet_bytes, flow.size_packets().is_some_and(|packets| packets % 2 == 0));
        let of_one_length = |&element: &usize| matches!(elements[element], ElementConfig::PrivateLink(_));
        let may = ends && !flow.path.iter().any(of_one_length);
        if let (true, SenderConfig::Selective(sender)) = (may, &mut common::tcp_of(flow).sender) {
            sender.last_packet_bytes = Some(bytes.div_ceil(3));
        }
    }
    let mut scenario = common::scenario("random", duration_s, elements, flows);
    (scenario.run.warmup_s, scenario.run.seed) = (warmup * duration_s, seed);
    scenario
}

fn element() -> impl Strategy<Value = ElementConfig> {
    prop_oneof![6 => link().prop_map(ElementConfig::from), 1 => private_link().prop_map(ElementConfig::from)]
}

fn rate() -> impl Strategy<Value = Option<f64>> {
    prop::option::weighted(0.9, prop_oneof![2e4..2e6_f64, 1e6..1e7_f64, Just(1e6)])
}

fn delay() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), 0.0..0.1_f64]
}

fn buffer() -> impl Strategy<Value = Option<BufferLimit>> {
    prop_oneof![
        Just(None),
        (1_u64..40).prop_map(|packets| Some(BufferLimit::Packets(packets))),
        (1_u64..40_000).prop_map(|bytes| Some(BufferLimit::Bytes(bytes))),
    ]
}

fn counting() -> impl Strategy<Value = Counting> {
    prop::sample::select(vec![Counting::WithService, Counting::Waiting])
}

fn link() -> impl Strategy<Value = LinkConfig> {
    let process = prop::option::weighted(0.2, delay_process());
    let rates = prop::option::weighted(0.2, rate_law());
    let loss = prop::option::weighted(0.2, loss());
    let bucket = prop::option::weighted(0.1, token_bucket());
    ((rate(), rates, bucket), delay(), buffer(), counting(), queue(), process, loss).prop_map(
        |((rate_bps, law, bucket), delay_s, buffer, counting, queue, delay_process, loss)| LinkConfig {
            name: String::new(),
            rate_bps: rate_bps.or(law.as_ref().map(|_| 1e6)),
            token_bucket: bucket
                .filter(|_| rate_bps.is_some() && law.is_none() && delay_s > 0.0)
                .filter(|_| queue.scheduler.bandwidth_bps().is_none()),
            rate_process: law.map(|law| Box::new(RateProcessConfig { stream: String::new(), law })),
            delay_s,
            buffer,
            counting,
            queue,
            delay_process,
            loss,
        },
    )
}

fn token_bucket() -> impl Strategy<Value = BucketConfig> {
    let kind = prop::sample::select(vec![BucketKind::Shaper, BucketKind::Policer]);
    (kind, 0_u64..20_000).prop_map(|(kind, burst_bytes)| BucketConfig { kind, burst_bytes })
}

fn private_link() -> impl Strategy<Value = PrivateLinkConfig> {
    (rate(), delay(), buffer(), counting()).prop_map(|(rate_bps, delay_s, buffer, counting)| PrivateLinkConfig {
        name: String::new(),
        rate_bps,
        delay_s,
        buffer,
        counting,
    })
}

fn loss() -> impl Strategy<Value = LossConfig> {
    let share = || prop_oneof![0.0..0.1_f64, 0.0..0.5_f64];
    let law = prop_oneof![
        share().prop_map(|probability| LossLaw::Bernoulli { probability }),
        (0.01..5.0_f64, 0.0..1.0_f64)
            .prop_map(|(mean_interval_s, void_after_s)| LossLaw::Poisson { mean_interval_s, void_after_s }),
        (share(), 0.05..1.0_f64, share(), share()).prop_map(|(to_bad, to_good, loss_in_good, loss_in_bad)| {
            LossLaw::GilbertElliott { to_bad, to_good, loss_in_good, loss_in_bad }
        }),
        prop::collection::btree_set(1_u64..300, 1..20)
            .prop_map(|numbers| LossLaw::Packets { numbers: numbers.into_iter().collect() }),
        prop::collection::btree_set(0_u32..20_000, 1..20).prop_map(|times| LossLaw::Times {
            times_s: times.into_iter().map(|time| f64::from(time) / 1000.0).collect()
        }),
    ];
    let applies_to = prop::sample::select(vec![AppliesTo::All, AppliesTo::Data, AppliesTo::Acks]);
    (applies_to, law).prop_map(|(applies_to, law)| LossConfig { applies_to, law })
}

/// Any law of a rate, with outages; the mean rate of its link only sets time scales.
fn rate_law() -> impl Strategy<Value = RateLaw> {
    let some_rate = || prop_oneof![1 => Just(0.0), 4 => 2e4..1e7_f64];
    let steps =
        (prop::collection::vec((0.001..2.0_f64, some_rate()), 0..5), 2e4..1e7_f64, prop::option::of(0.0..2.0_f64))
            .prop_map(|(steps, last, more)| {
                let until_then = |index: usize| steps[..index].iter().map(|step| step.0).sum::<f64>();
                let listed = steps.iter().enumerate().map(|(index, step)| (until_then(index), step.1));
                let end = until_then(steps.len());
                let steps_bps = listed.chain([(end, last)]).collect();
                RateLaw::Steps { steps_bps, period_s: more.map(|more| end + more + 0.001) }
            });
    let state = (some_rate(), 0.0..0.5_f64, 0.001..1.0_f64)
        .prop_map(|(rate_bps, least_stay_s, mean_extra_s)| RateState { rate_bps, least_stay_s, mean_extra_s });
    let alternating =
        (prop::collection::vec(state, 0..4), 2e4..1e7_f64, any::<bool>()).prop_map(|(mut states, rate_bps, drawn)| {
            states.push(RateState { rate_bps, least_stay_s: 0.0, mean_extra_s: 0.2 });
            let row = vec![1.0 / states.len() as f64; states.len()];
            let transitions = drawn.then(|| vec![row; states.len()]);
            RateLaw::Alternating { start: 0, states, transitions }
        });
    let opportunities =
        (prop::collection::vec(0_u64..40, 0..30), 64_u32..9000, 0_u32..50).prop_map(|(gaps, bytes, header_bytes)| {
            let until_then = |count: usize| gaps[..count].iter().sum::<u64>();
            let mut times_ms: Vec<u64> = (1..=gaps.len()).map(until_then).collect();
            times_ms.push(until_then(gaps.len()) + 1);
            RateLaw::Opportunities { times_ms, bytes, header_bytes }
        });
    prop_oneof![steps, alternating, opportunities]
}

fn delay_process() -> impl Strategy<Value = DelayProcessConfig> {
    let order = prop_oneof![2 => Just(OrderConfig::Overtake), 1 => Just(OrderConfig::Keep)];
    (order, delay_law()).prop_map(|(order, law)| DelayProcessConfig { stream: String::new(), order, law })
}

fn delay_law() -> impl Strategy<Value = DelayLaw> {
    let step = (0.001..5.0_f64, 0.0..0.3_f64);
    let steps = prop::collection::vec(step, 1..6).prop_map(|steps| {
        let until_then = |index: usize| steps[..index].iter().map(|step| step.0).sum();
        let steps_s = steps.iter().enumerate().map(|(index, step)| (until_then(index), step.1)).collect();
        DelayLaw::Steps { steps_s }
    });
    let state = (0.0..0.3_f64, 0.0..0.5_f64, 0.001..1.0_f64)
        .prop_map(|(delay_s, least_stay_s, mean_extra_s)| DelayState { delay_s, least_stay_s, mean_extra_s });
    let alternating = (prop::collection::vec(state, 1..4), any::<bool>()).prop_map(|(states, drawn)| {
        let row = vec![1.0 / states.len() as f64; states.len()];
        let transitions = drawn.then(|| vec![row; states.len()]);
        DelayLaw::Alternating { start: states.len() - 1, states, transitions }
    });
    let handover = (0.0..0.1_f64, 0.0..0.2_f64, 0.1..15.0_f64).prop_map(|(low_s, span, period_s)| DelayLaw::Handover {
        low_s,
        high_s: low_s + span,
        period_s,
    });
    prop_oneof![steps, alternating, handover]
}

/// Any discipline of the list; drop-tail, whose departures are foreseen, most often.
fn queue() -> impl Strategy<Value = Discipline> {
    let listed: Vec<Discipline> = net::disciplines().into_iter().map(|(_, discipline)| discipline).collect();
    prop_oneof![
        2 => Just(Discipline::DROP_TAIL),
        to_u32(listed.len()) => prop::sample::select(listed).prop_flat_map(with_any_parameters),
    ]
}

fn with_any_parameters(queue: Discipline) -> impl Strategy<Value = Discipline> {
    (with_any_levels(queue.scheduler), with_any_thresholds(queue.aqm)).prop_map(move |(scheduler, aqm)| Discipline {
        scheduler,
        aqm,
        ..queue
    })
}

fn with_any_levels(scheduler: SchedulerConfig) -> BoxedStrategy<SchedulerConfig> {
    match scheduler {
        SchedulerConfig::Priority { .. } => (3_u8..=8).prop_map(|levels| SchedulerConfig::Priority { levels }).boxed(),
        SchedulerConfig::Dual(_) => (0_u8..=100, 1_u16..3000)
            .prop_map(|(classic_percent, mtu_bytes)| SchedulerConfig::Dual(DualConfig { classic_percent, mtu_bytes }))
            .boxed(),
        SchedulerConfig::Fq(_) => fair_queueing().prop_map(SchedulerConfig::Fq).boxed(),
        SchedulerConfig::Sfq(sfq) => (256_u32..4000, 1_u32..20, any::<bool>(), 1_u32..20)
            .prop_map(move |(quantum_bytes, queues, hashed, depth_packets)| {
                SchedulerConfig::Sfq(SfqConfig { quantum_bytes, queues, hashed, depth_packets, ..sfq })
            })
            .boxed(),
        SchedulerConfig::Drr(_) => (256_u32..4000, prop::option::of(1_u32..20))
            .prop_map(|(quantum_bytes, queues)| SchedulerConfig::Drr(DrrConfig { quantum_bytes, queues }))
            .boxed(),
        SchedulerConfig::Wfq(_) => (prop::option::of(1_u32..20), any::<bool>())
            .prop_map(|(queues, by_entry)| SchedulerConfig::Wfq(WfqConfig { queues, by_entry }))
            .boxed(),
        SchedulerConfig::Cake(_) => cake().prop_map(SchedulerConfig::Cake).boxed(),
        fifo @ SchedulerConfig::Fifo {} => Just(fifo).boxed(),
    }
}

fn fair_queueing() -> impl Strategy<Value = FqConfig> {
    let queues = prop::option::of(1_u32..20);
    (256_u32..4000, queues, any::<[bool; 3]>()).prop_map(
        |(quantum_bytes, queues, [sparse_first, by_entry, emptied_becomes_old])| FqConfig {
            quantum_bytes,
            queues,
            sparse_first,
            by_entry,
            emptied_becomes_old,
        },
    )
}

fn cake() -> impl Strategy<Value = CakeConfig> {
    let bandwidth = prop::option::of(1e5..1e8_f64);
    (256_u32..4000, any::<bool>(), any::<bool>(), bandwidth).prop_map(
        |(quantum_bytes, hashed, by_host, bandwidth_bps)| CakeConfig { quantum_bytes, hashed, by_host, bandwidth_bps },
    )
}

fn with_any_thresholds(aqm: AqmConfig) -> BoxedStrategy<AqmConfig> {
    match aqm {
        AqmConfig::Red(_) => red().prop_map(AqmConfig::Red).boxed(),
        AqmConfig::RedLinux(_) => red_linux().prop_map(AqmConfig::RedLinux).boxed(),
        AqmConfig::Codel(_) => codel().prop_map(AqmConfig::Codel).boxed(),
        AqmConfig::Cobalt(_) => cobalt().prop_map(AqmConfig::Cobalt).boxed(),
        AqmConfig::Pi(_) => pi().prop_map(AqmConfig::Pi).boxed(),
        AqmConfig::Pie(_) => pie().prop_map(AqmConfig::Pie).boxed(),
        AqmConfig::Step(_) => {
            (0.0..30.0_f64).prop_map(|threshold_packets| AqmConfig::Step(StepConfig { threshold_packets })).boxed()
        }
        AqmConfig::DualPi2(_) => dual_pi2().prop_map(AqmConfig::DualPi2).boxed(),
        none @ AqmConfig::None {} => Just(none).boxed(),
    }
}

fn dual_pi2() -> impl Strategy<Value = DualPi2Config> {
    let times = (0.0001..0.05_f64, 0.001..0.1_f64, 0.0..0.01_f64);
    let rules = (0.0..0.01_f64, prop::sample::select(vec![DualPi2Rules::Rfc, DualPi2Rules::Linux]));
    (times, 0.0..10.0_f64, 0.0..10.0_f64, 0.0..5.0_f64, 1_u16..3000, rules).prop_map(
        |((target_s, update_s, step_s), alpha, beta, coupling, mtu_bytes, (ramp_s, rules))| DualPi2Config {
            target_s,
            update_s,
            alpha,
            beta,
            coupling,
            step_s,
            mtu_bytes,
            ramp_s,
            rules,
        },
    )
}

fn red_linux() -> impl Strategy<Value = RedLinuxConfig> {
    let ecn = prop::sample::select(vec![RedEcn::Off, RedEcn::Early, RedEcn::All]);
    let flags = (any::<bool>(), ecn);
    (0_u32..20_000, 1_u32..40_000, 0.0..=1.0_f64, 1_u8..20, flags, 1_u16..3000).prop_map(
        |(min_threshold_bytes, delta, max_probability, weight_log, (adaptive, ecn), mean_packet_bytes)| {
            RedLinuxConfig {
                min_threshold_bytes,
                max_threshold_bytes: min_threshold_bytes + delta,
                max_probability,
                weight_log,
                adaptive,
                ecn,
                mean_packet_bytes,
            }
        },
    )
}

fn codel() -> impl Strategy<Value = CodelConfig> {
    let rules = prop::sample::select(vec![CodelRules::Rfc, CodelRules::Linux]);
    let times = (0.0001..0.05_f64, 0.001..0.5_f64, prop::option::of(0.0..0.02_f64));
    (times, any::<bool>(), 1_u16..3000, rules).prop_map(
        |((target_s, interval_s, ce_threshold_s), ecn, mtu_bytes, rules)| CodelConfig {
            target_s,
            interval_s,
            ecn,
            ce_threshold_s,
            mtu_bytes,
            rules,
        },
    )
}

fn cobalt() -> impl Strategy<Value = CobaltConfig> {
    (0.0001..0.05_f64, 0.001..0.5_f64, 0.0..0.01_f64).prop_map(|(target_s, interval_s, mtu_s)| CobaltConfig {
        target_s,
        interval_s,
        mtu_s,
    })
}

fn pie() -> impl Strategy<Value = PieConfig> {
    let times = (0.0001..0.05_f64, 0.001..0.1_f64, 0.0..0.3_f64);
    (times, 0.0..10.0_f64, 0.0..10.0_f64, any::<bool>(), 1_u16..3000).prop_map(
        |((target_s, update_s, burst_s), alpha, beta, ecn, mtu_bytes)| PieConfig {
            target_s,
            update_s,
            first_update_s: 0.5 * burst_s,
            alpha,
            beta,
            burst_s,
            ecn,
            mtu_bytes,
        },
    )
}

fn pi() -> impl Strategy<Value = PiConfig> {
    let factors = (0.0..0.1_f64, 0.0..0.1_f64);
    (0.0..20.0_f64, factors, 0.001..0.1_f64, 100_u16..3000, any::<[bool; 3]>()).prop_map(
        |(target_packets, (factor_new, factor_old), update_s, mean_packet_bytes, [in_bytes, by_size, ecn])| PiConfig {
            target_packets,
            factor_new,
            factor_old,
            update_s,
            in_bytes,
            by_size,
            mean_packet_bytes,
            ecn,
        },
    )
}

fn adaptation() -> impl Strategy<Value = Option<RedAdaptation>> {
    let bounds = (0.1..1.0_f64, prop::option::of(0.0..0.1_f64));
    prop::option::of((0.0..2.0_f64, 0.0..0.5_f64, 0.1..1.0_f64, bounds).prop_map(
        |(interval_s, step_up, factor_down, (top, bottom))| RedAdaptation {
            interval_s,
            step_up,
            factor_down,
            top,
            bottom,
        },
    ))
}

fn red() -> impl Strategy<Value = RedConfig> {
    let ecn = prop::sample::select(vec![RedEcn::Off, RedEcn::Early, RedEcn::All]);
    let rules = (any::<[bool; 6]>(), 0.0..4.0_f64, ecn, adaptation());
    (0.0..10.0_f64, 0.1..20.0_f64, 0.001..1.0_f64, 0.0..1.0_f64, rules).prop_map(
        |(min, span, weight, max_probability, (flags, least, ecn, adaptation))| {
            let [gentle, wait, first_passes, overflow_restarts, in_bytes, by_size] = flags;
            RedConfig {
                min_threshold_packets: min,
                max_threshold_packets: min + span,
                weight,
                max_probability,
                gentle,
                mean_packet_bytes: 500,
                ecn,
                wait,
                least_queue_packets: least.floor(),
                first_passes,
                overflow_restarts,
                in_bytes,
                by_size,
                adaptation,
            }
        },
    )
}

/// Returns the ends of a connection: the receiver reports packets beyond a hole if the sender uses that.
fn ends() -> impl Strategy<Value = (SenderConfig, ReceiverConfig)> {
    let classic = axes::sender().prop_map(SenderConfig::Classic);
    let selective = selective_axes::selective().prop_map(SenderConfig::Selective);
    let buffers = (1_u32..3000, 1_u64..60_000, 0_u64..300_000, any::<bool>(), any::<bool>());
    let linux = buffers.prop_map(|(segment_bytes, buffer_bytes, more, announced, timestamps)| LinuxReceiver {
        segment_bytes,
        buffer_bytes,
        most_buffer_bytes: buffer_bytes + more,
        announced,
        timestamps,
        // Not drawn by itself, so that the recorded cases stay what they are.
        memory: match more % 4 {
            0 => PacketMemory::Linear,
            2 => PacketMemory::Veth,
            _ => PacketMemory::Paged,
        },
    });
    let receiver = (axes::receiver(), prop::option::of(linux));
    (prop_oneof![2 => classic, 1 => selective], receiver).prop_map(|(sender, (receiver, linux))| {
        let (selective, ecn, linux) = match &sender {
            SenderConfig::Classic(config) => (false, config.ecn, None),
            SenderConfig::Selective(config) => (config.sack, config.ecn, linux),
        };
        (sender, ReceiverConfig { selective, ecn, linux, ..receiver })
    })
}

fn flow(elements: usize, duration_s: f64) -> impl Strategy<Value = FlowConfig> {
    let way = (Just((0..elements).collect::<Vec<_>>()).prop_shuffle(), 1..=elements, 0..=elements);
    let delays = prop_oneof![Just((0.0, 0.0)), (0.0..0.1_f64, 0.0..0.1_f64)];
    let bytes =
        (prop::sample::select(vec![40_u16, 512, 1000, 1500, 9180]), prop::sample::select(vec![40_u16, 52, 512]));
    let start = prop_oneof![Just((0.0, 0.0)), (0.0..duration_s, 0.0..duration_s)];
    let size = prop::option::of(1_u64..300);
    // Links with priority have three levels or more.
    let levels = (0_u8..3, 0_u8..3);
    (way, delays, bytes, start, size, ends(), levels).prop_map(
        |((order, there, back), delays, bytes, start, size_packets, (sender, receiver), levels)| {
            let (path, rest) = order.split_at(there);
            let connection = ConnectionConfig {
                return_path: rest[..back.min(rest.len())].to_vec(),
                return_delay_s: delays.1,
                ack_bytes: bytes.1,
                ack_priority: levels.1,
                handshake: None,
                sender,
                receiver,
            };
            FlowConfig {
                name: String::new(),
                count: 1,
                copies: 1,
                start_s: start.0,
                start_spread_s: start.1,
                path: path.to_vec(),
                forward_delay_s: delays.0,
                packet_bytes: bytes.0,
                priority: levels.0,
                host: u16::from(levels.1 & 1),
                weight: 1 + u16::from(levels.0),
                traffic: TrafficConfig::Tcp { size_packets, connection },
            }
        },
    )
}
