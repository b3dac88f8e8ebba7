//! TCP over ABR channels: the configurations that the paper [two-way, section 5] simulates.

use crate::outside::common::random::config;
use crate::outside::common::{classic_of, flow, host, link, ns2, run, scenario, tcp_of};
use atm::{AbrParameters, AllocationConfig, AtmConfig, ChannelConfig, EndConfig, IpService, PortConfig};
use base::cast::to_u32;
use proptest::prelude::*;
use sim::scenario::{ElementConfig, FlowConfig};
use sim::{Outcome, Scenario};
use tcp::{ClassicConfig, Recovery};

const LINE_RATE: f64 = 155.52e6;
/// The part of the line rate that is left for TCP segments [notes on two-way].
const USER_RATE: f64 = 130.85e6;

fn port(rate_bps: f64, delay_s: f64) -> PortConfig {
    let allocation = AllocationConfig::TwoPass { utilization: 1.0 };
    PortConfig { name: "port".to_owned(), rate_bps, delay_s, buffer_cells: None, efci_cells: None, allocation }
}

fn channel(forward: Vec<usize>, backward: Vec<usize>, ip_service: IpService) -> ChannelConfig {
    let end = EndConfig { abr: AbrParameters::two_way(LINE_RATE), ip_service };
    ChannelConfig { name: "channel".to_owned(), forward, backward, near: end, far: end }
}

/// The direction from an end of a channel.
fn way(end: usize) -> ElementConfig {
    ElementConfig::Channel(sim::scenario::ChannelConfig {
        name: format!("way {end}"),
        end,
        rate_bps: LINE_RATE,
        delay_s: 0.0,
    })
}

/// Flows in both directions over each channel, `windows` \[segments\] from the near end and from the far one.
fn two_way(network: AtmConfig, windows: [&[f64]; 2], duration_s: f64, warmup_s: f64) -> Scenario {
    let ends = 2 * network.channels.len();
    let mut flows = Vec::new();
    for end in 0..ends {
        for (number, &window) in windows[end % 2].iter().enumerate() {
            let sender = ClassicConfig { max_window: Some(window), ..ns2(Recovery::Reno) };
            let name = format!("flow {end} {number}");
            flows.push(FlowConfig { packet_bytes: 9220, ..flow(&name, &[end], &[end ^ 1], sender) });
        }
    }
    let mut scenario = scenario("two-way over ATM", duration_s, (0..ends).map(way), flows);
    scenario.run.warmup_s = warmup_s;
    scenario.atm = Some(network);
    assert_eq!(sim::check(&scenario), Vec::<String>::new());
    scenario
}

fn simple(rates: [f64; 2], windows: [f64; 2]) -> Scenario {
    let network = AtmConfig {
        ports: rates.map(|rate| port(rate, 0.008)).to_vec(),
        channels: vec![channel(vec![0], vec![1], IpService::ChannelRate)],
        ..AtmConfig::default()
    };
    let mut scenario = two_way(network, [&windows[..1], &windows[1..]], 4.0, 1.0);
    if let Some(network) = &mut scenario.atm {
        (network.trace.acr, network.trace.ip_queue) = (true, true);
    }
    scenario
}

/// User data of a flow in the measurement \[bit/s\].
fn throughput(outcome: &Outcome, flow: usize, seconds: f64) -> f64 {
    outcome.flows[flow].delivered[1] as f64 * 9180.0 * 8.0 / seconds
}

fn peak(outcome: &Outcome, end: u32) -> f64 {
    let rows = outcome.traces.atm.iter().flat_map(|traces| &traces.ip_queue_data);
    let late = rows.filter(|row| row.index == end && row.time >= outcome.clock.time(1.0));
    late.map(|row| row.value).fold(0.0, f64::max)
}

fn reaches(outcome: &Outcome, end: u32, rate: f64) -> f64 {
    let rows = outcome.traces.atm.iter().flat_map(|traces| &traces.acr);
    let reached = rows.filter(|row| row.index == end).find(|row| row.value >= rate * (1.0 - 1e-9));
    reached.map_or(f64::NAN, |row| outcome.clock.seconds(row.time))
}

fn last_rate(outcome: &Outcome, end: u32) -> f64 {
    let mut rows = outcome.traces.atm.iter().flat_map(|traces| &traces.acr);
    rows.rfind(|row| row.index == end).map_or(f64::NAN, |row| row.value)
}

/// [two-way, figures 5.2 to 5.4]: ACR comes to its maximum in about 110 ms, in steps; the IP queue has peaks of 13
/// segments (14 with the one in service); and 65.1% of what the channel can carry where L = 15, 66.3% where L is the
/// propagation alone, 14.25.
#[test]
fn simple_configuration_is_the_papers() {
    let outcome = run(&simple([LINE_RATE; 2], [28.0; 2]));
    for end in 0..2 {
        let share = throughput(&outcome, end, 3.0) / USER_RATE;
        let (reached, peak) = (reaches(&outcome, to_u32(end), LINE_RATE) * 1e3, peak(&outcome, to_u32(end)));
        println!("symmetric, end {end}: ACR after {reached:.1} ms, {peak} segments, {:.2}%", share * 100.0);
        assert!((90.0..130.0).contains(&reached));
        assert!((13.0..=14.0).contains(&peak));
        assert!((0.63..0.68).contains(&share));
    }
    // The steps: pauses of several milliseconds between bursts of increases.
    let traces = outcome.traces.atm.expect("it was asked for");
    let times: Vec<f64> =
        traces.acr.iter().filter(|row| row.index == 0).map(|row| outcome.clock.seconds(row.time)).collect();
    assert_eq!(times.len(), 64);
    let gaps = times.windows(2).filter(|pair| pair[1] - pair[0] > 0.005);
    assert!((2..8).contains(&gaps.count()), "{times:?}");
}

/// "A non-zero TCP processing time does not alter the fundamental dynamics" [two-way, section 2.1], over channels too.
/// Criterion: what 300 us cost is within half a point of what theorem 1 gives for a delay longer by a segment's
/// processing and an ACK's.
#[test]
fn processing_at_the_hosts_is_but_a_longer_delay() {
    let share = |time_s: f64| {
        let mut scenario = simple([LINE_RATE; 2], [28.0; 2]);
        between_hosts(&mut scenario, time_s);
        let outcome = run(&scenario);
        [0, 1].map(|end| throughput(&outcome, end, 3.0) / USER_RATE)
    };
    let theorem = |time_s: f64| 28.0 / (28.0 + (0.008 + 2.0 * time_s) * USER_RATE / (9180.0 * 8.0));
    let expected = theorem(0.0) - theorem(3e-4);
    for (without, with) in share(0.0).into_iter().zip(share(3e-4)) {
        println!("without {without:.4}, with 300 us {with:.4}, theorem 1: {expected:.4} less");
        assert!((without - with - expected).abs() < 0.005);
    }
    assert_eq!(
        share(0.0),
        [0, 1].map(|end| throughput(&run(&simple([LINE_RATE; 2], [28.0; 2])), end, 3.0) / USER_RATE)
    );
}

/// Lets the flows of even and of odd numbers send from a host each to the other.
fn between_hosts(scenario: &mut Scenario, time_s: f64) {
    let first = scenario.elements.len();
    scenario.elements.extend(["left", "right"].map(|name| ElementConfig::Host(host(name, time_s, time_s))));
    for (index, flow) in scenario.flows.iter_mut().enumerate() {
        flow.path.push(first + 1 - index % 2);
        tcp_of(flow).return_path.push(first + index % 2);
    }
}

/// [two-way, section 5.3]: 56%, 73.5 Mbit/s, for the fast direction; 84% for the slow one [notes: "about 80%" is
/// rounded].
#[test]
fn asymmetric_configuration_is_the_papers() {
    let rates = [51.6e6, 155e6];
    let outcome = run(&simple(rates, [14.0, 28.0]));
    let user = [throughput(&outcome, 0, 3.0), throughput(&outcome, 1, 3.0)];
    let share = [0, 1].map(|end| user[end] / (rates[end] / LINE_RATE * USER_RATE));
    let peaks = [0, 1].map(|end| peak(&outcome, end));
    println!(
        "asymmetric: {:.2} and {:.2} Mbit/s, shares {share:.4?}, IP queues {peaks:?}",
        user[0] / 1e6,
        user[1] / 1e6
    );
    assert!((user[1] - 73.5e6).abs() < 1.5e6 && (share[1] - 0.56).abs() < 0.02);
    assert!((share[0] - 0.84).abs() < 0.03);
}

/// Three channels between pairs of hosts over one trunk, R-1 in [two-way, figure 5.9]. The delays are not printed: 15
/// ms for two of them (nine segments at a third of the rate), a thousandth of it for the third.
#[test]
fn r1_shares_the_trunk_and_synchronizes_four_connections() {
    let third = 43.6e6;
    let mut network = AtmConfig { ports: vec![port(LINE_RATE, 0.0); 2], ..AtmConfig::default() };
    for delay_s in [0.015, 0.015, 15e-6] {
        let first = network.ports.len();
        network.ports.extend([delay_s / 2.0; 4].map(|delay_s| port(LINE_RATE, delay_s)));
        network.channels.push(channel(
            vec![first, 0, first + 1],
            vec![first + 2, 1, first + 3],
            IpService::RateBps(third * 9220.0 / 9180.0),
        ));
    }
    network.trace.acr = true;
    network.trace.ip_queue = true;
    let outcome = run(&two_way(network, [&[7.0; 4], &[7.0; 4]], 6.0, 2.0));
    let fat = [0, 2, 4].map(|end| (0..4).map(|flow| throughput(&outcome, 4 * end + flow, 4.0)).sum::<f64>() / third);
    let each = [0, 1, 2, 3].map(|flow| throughput(&outcome, flow, 4.0) / 1e6);
    println!("R-1: shares of 43.6 Mbit/s {fat:.3?}, IP queue {}, each of four {each:.2?} Mbit/s", peak(&outcome, 0));
    for end in [0, 2, 4] {
        assert!((last_rate(&outcome, end) - LINE_RATE / 3.0).abs() < 1.0);
    }
    // 28 / (28 + 9) of a fat connection's rate [two-way, section 5.4]; the IP queue stores and forwards once more.
    assert!(fat[..2].iter().all(|share| (share - 28.0 / 37.0).abs() < 0.03));
    assert!(fat[2] > 0.9);
    assert!(each.iter().all(|rate| (rate / each[0] - 1.0).abs() < 0.05));
}

/// A server and three clients, a channel each [two-way, section 5.5]; packets wait at the ATM layer.
#[test]
fn client_and_server_get_seven_tenths_each() {
    // The server's link, both ways; the delays are not printed: 5 ms.
    let mut network = AtmConfig { ports: vec![port(LINE_RATE, 0.001); 2], ..AtmConfig::default() };
    for _ in 0..3 {
        let first = network.ports.len();
        network.ports.extend([0.004; 2].map(|delay_s| port(LINE_RATE, delay_s)));
        network.channels.push(channel(vec![first, 0], vec![1, first + 1], IpService::Immediate));
    }
    network.trace.acr = true;
    let outcome = run(&two_way(network, [&[7.0], &[7.0]], 6.0, 2.0));
    let shares: Vec<f64> = (0..6).map(|flow| throughput(&outcome, flow, 4.0) / (USER_RATE / 3.0)).collect();
    println!("client-server: {shares:.3?}");
    for end in 0..6 {
        assert!((last_rate(&outcome, end) - LINE_RATE / 3.0).abs() < 1.0);
    }
    // "Approximately 70%"; 5 ms are 2.97 segments: 7 / (7 + 2.97).
    assert!(shares.iter().all(|share| (share - 0.70).abs() < 0.02));
}

/// A host behind a plain link, ports that overflow: what is lost in cells is lost in packets, and TCP repairs it.
fn lossy() -> Scenario {
    let mut network = AtmConfig {
        ports: [port(LINE_RATE, 0.001), port(20e6, 0.002), port(20e6, 0.001), port(LINE_RATE, 0.002)].to_vec(),
        channels: vec![channel(vec![0, 1], vec![3, 2], IpService::ChannelRate)],
        ..AtmConfig::default()
    };
    network.ports.iter_mut().for_each(|port| port.allocation = AllocationConfig::None {});
    network.ports[1].buffer_cells = Some(1000);
    let plain = ["there", "back"].map(|name| ElementConfig::Link(link(name, 100e6, None)));
    let sender = ClassicConfig { max_window: Some(40.0), ..ns2(Recovery::Newreno) };
    let data = FlowConfig {
        packet_bytes: 1500,
        forward_delay_s: 0.001,
        ..flow("there", &[0, 2], &[3, 1], ClassicConfig { max_window: Some(400.0), ..sender })
    };
    let back = FlowConfig { packet_bytes: 9220, ..flow("back", &[3], &[2], sender) };
    let mut scenario = scenario("lossy", 5.0, plain.into_iter().chain((0..2).map(way)), vec![data, back]);
    scenario.run.warmup_s = 1.0;
    scenario.atm = Some(network);
    assert_eq!(sim::check(&scenario), Vec::<String>::new());
    scenario
}

#[test]
fn cells_lost_are_packets_lost_and_counted() {
    let outcome = run(&lossy());
    let (flow, way) = (&outcome.flows[0], &outcome.links[2]);
    let total = |pair: [u64; 2]| pair[0] + pair[1];
    assert!(total(way.dropped) > 0 && total(flow.retransmitted) > 0);
    // All that arrived at the channel left it or was dropped, except for a window of each flow.
    let gone = total(way.departed) + total(way.dropped);
    assert!((gone..=gone + 440).contains(&total(way.arrived)), "{way:?}");
    // Data are dropped in this channel alone.
    assert!(total(flow.dropped) <= total(way.dropped));
    assert!(total(flow.sent) - total(flow.received) - total(flow.dropped) <= 400);
    // NewReno repairs the holes one a round trip, and goes on.
    assert!(flow.delivered[1] > 100);
}

#[test]
fn observers_change_nothing_over_channels() {
    for plain in [lossy(), simple([LINE_RATE; 2], [28.0; 2])] {
        let mut observed = plain.clone();
        observed.trace.queue = true;
        observed.trace.overview_interval_s = Some(0.1);
        observed.trace.sequence = true;
        observed.trace.drops = true;
        let outcomes = [run(&plain), run(&observed), run(&observed)];
        let seen = |outcome: &Outcome| format!("{:?} {:?} {}", outcome.flows, outcome.links, outcome.events);
        assert_eq!(seen(&outcomes[0]), seen(&outcomes[1]));
        assert_eq!(format!("{:?}", outcomes[1].traces), format!("{:?}", outcomes[2].traces));
        // The queue that observers see is the one that is counted.
        let rows = outcomes[1].traces.queue.as_ref().expect("it was asked for");
        let links = to_u32(outcomes[1].links.len());
        let from = outcomes[1].clock.time(1.0);
        let late = |link: u32| rows.iter().filter(move |row| row.link == link && row.time >= from);
        let most = late(links - 2).map(|row| row.packets).max();
        assert_eq!(most, Some(outcomes[1].links[links as usize - 2].queue_max));
    }
}

#[test]
fn faults_of_the_network_name_their_place() {
    let mut scenario = simple([LINE_RATE; 2], [28.0; 2]);
    if let Some(network) = &mut scenario.atm {
        network.ports[1].rate_bps = f64::NAN;
        network.channels[0].near.abr.icr_bps = 1e9;
        network.channels[0].far.abr.nrm = 1;
        network.channels[0].backward = vec![7];
    }
    assert_eq!(
        sim::check(&scenario),
        [
            "atm.ports[1].rate_bps: out of range; given NaN; allowed 1 to 1000000000000",
            "atm.channels[0].backward: no such port; given 7; allowed 0 to 1",
            "atm.channels[0].near.abr.icr_bps: out of range; given 1000000000; allowed 1 to 155520000",
            "atm.channels[0].far.abr.nrm: out of range; given 1; allowed 2 to 256",
        ]
    );
}

/// Returns the faults of a scenario with one channel whose directions have the given ends.
fn faults_of_ends(ends: &[usize]) -> Vec<String> {
    let mut scenario = simple([LINE_RATE; 2], [28.0; 2]);
    scenario.elements = ends.iter().map(|&end| way(end)).collect();
    sim::check(&scenario)
}

#[test]
fn each_end_of_a_channel_has_one_element() {
    assert_eq!(faults_of_ends(&[1, 0]), Vec::<String>::new());
    assert_eq!(
        faults_of_ends(&[0, 2]),
        [
            "elements[1].end: no such end of a channel; given 2; allowed less than 2",
            "atm.channels[0]: no element for an end; given end 1; allowed one each",
        ]
    );
    assert_eq!(faults_of_ends(&[1, 1, 0]), ["elements[1].end: an end that another element has; given 1; allowed once"]);
}

#[test]
fn a_channel_needs_a_network() {
    let mut scenario = simple([LINE_RATE; 2], [28.0; 2]);
    scenario.atm = None;
    assert_eq!(
        sim::check(&scenario),
        [0, 1].map(|end| format!("elements[{end}].end: no such end of a channel; given {end}; allowed less than 0"))
    );
}

fn allocations() -> impl Strategy<Value = AllocationConfig> {
    prop_oneof![
        Just(AllocationConfig::None {}),
        Just(AllocationConfig::TwoPass { utilization: 1.0 }),
        Just(AllocationConfig::ByCcr { utilization: 0.9 }),
        Just(AllocationConfig::Erica { utilization: 0.95, interval_s: 0.002 }),
    ]
}

prop_compose! {
    /// Two channels over a trunk, the second one's far end on it; plain links before them; TCP both ways.
    fn random()(
        rates in prop::collection::vec(2e6..200e6_f64, 6),
        delays in prop::collection::vec(0.0..5e-3_f64, 6),
        buffer in prop::option::of(1_u64..2000),
        efci in prop::option::of(1_u64..500),
        allocation in allocations(),
        service in prop_oneof![Just(IpService::ChannelRate), Just(IpService::Immediate), (1e6..100e6_f64).prop_map(IpService::RateBps)],
        cross in prop::option::of(1e5..1.9e6_f64),
        windows in prop::collection::vec(1.0..60.0_f64, 4),
        bytes in 40_u16..9220,
        ack_every in 1_u32..3,
        processing in prop::option::of(0.0..2e-3_f64),
    ) -> Scenario {
        let mut network = AtmConfig::default();
        for (&rate_bps, &delay_s) in rates.iter().zip(&delays) {
            network.ports.push(PortConfig {
                buffer_cells: buffer, efci_cells: efci, allocation, ..port(rate_bps, delay_s)
            });
        }
        network.channels = vec![channel(vec![0, 1], vec![2, 3], service), channel(vec![4, 1], vec![2, 5], service)];
        network.cross = cross.into_iter().map(|rate_bps| atm::CrossConfig {
            name: "cross".to_owned(), path: vec![1], rate_bps, start_s: 0.05, stop_s: Some(0.2),
        }).collect();
        let plain = ["there", "back"].map(|name| ElementConfig::Link(link(name, 50e6, None)));
        let elements = plain.into_iter().chain((0..4).map(way));
        let ways: [(&[usize], &[usize]); 4] = [(&[0, 2], &[3, 1]), (&[3, 1], &[2]), (&[4], &[5]), (&[5, 2], &[3, 4])];
        let flows = ways.iter().zip(&windows).enumerate().map(|(index, ((path, back), &window))| {
            let sender = ClassicConfig { max_window: Some(window), ..ns2(Recovery::Newreno) };
            let mut flow = flow(&format!("flow {index}"), path, back, sender);
            (flow.packet_bytes, tcp_of(&mut flow).receiver.ack_every) = (bytes, ack_every);
            flow
        }).collect();
        let mut scenario = scenario("random", 0.4, elements, flows);
        scenario.run.warmup_s = 0.1;
        scenario.atm = Some(network);
        processing.into_iter().for_each(|time_s| between_hosts(&mut scenario, time_s));
        scenario
    }
}

proptest! {
    #![proptest_config(config(48))]

    #[test]
    fn packets_are_conserved_over_any_channels(scenario in random()) {
        prop_assert_eq!(sim::check(&scenario), Vec::<String>::new());
        let outcome = run(&scenario);
        let total = |pair: [u64; 2]| pair[0] + pair[1];
        for link in &outcome.links[2..] {
            prop_assert!(total(link.departed) + total(link.dropped) <= total(link.arrived));
            prop_assert!(link.busy <= u128::from(outcome.clock.time(0.3).ticks()));
        }
        for (index, flow) in outcome.flows.iter().enumerate() {
            let window = classic_of(&mut scenario.flows[index].clone()).max_window.unwrap_or(0.0);
            let gone = total(flow.received) + total(flow.dropped);
            prop_assert!(gone <= total(flow.sent) && total(flow.delivered) <= total(flow.received));
            prop_assert!(total(flow.delivered) as f64 <= total(flow.acked) as f64 + window + 1.0);
        }
        let mut observed = scenario.clone();
        observed.trace.queue_distribution = true;
        observed.trace.capture = Some(vec!["way 0".to_owned()]);
        let seen = |outcome: &Outcome| format!("{:?} {:?}", outcome.flows, outcome.links);
        prop_assert_eq!(seen(&run(&observed)), seen(&outcome));
    }
}
