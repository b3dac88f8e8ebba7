//! Window traces in packets as text, for a reviewer to read in the diff. `make golden` rewrites them.

use std::fmt::Write as _;
use std::path::Path;

use crate::outside::common::story::narrate;
use crate::outside::common::{
    all_traces, classic_of, flow, geo, link, link_of, ns2, rfc, run, scenario, tcp_of, transfer_of,
};
use net::{disciplines, AqmConfig, BufferLimit, Discipline, Overflow, RedConfig};
use sim::scenario::{ElementConfig, FlowConfig, LinkConfig};
use sim::Scenario;
use tcp::{ClassicConfig, ReceiverConfig, Recovery};

const RECOVERIES: [(&str, Recovery); 4] = [
    ("OldTahoe", Recovery::OldTahoe),
    ("Tahoe", Recovery::Tahoe),
    ("Reno", Recovery::Reno),
    ("NewReno", Recovery::Newreno),
];

/// Compares with the file of that name, or writes it if ACKCLOCK_BLESS is set.
fn check_golden(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/golden/{name}.txt"));
    if std::env::var_os("ACKCLOCK_BLESS").is_some() {
        std::fs::write(&path, text).unwrap();
        return;
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let pairs = golden.lines().zip(text.lines()).position(|(old, new)| old != new);
    let line = pairs.unwrap_or(golden.lines().count().min(text.lines().count()));
    let from = |text: &str| text.lines().skip(line.saturating_sub(2)).take(6).collect::<Vec<_>>().join("\n");
    assert!(
        golden == text,
        "{} is different from line {} on; was:\n{}\nis:\n{}\n`make golden` rewrites it; look at the diff",
        path.display(),
        line + 1,
        from(&golden),
        from(text)
    );
}

/// Returns a description and the stories of some scenarios, with every `every`-th round.
fn chronicle(description: &str, every: usize, scenarios: impl IntoIterator<Item = Scenario>) -> String {
    let mut text = String::new();
    for line in description.lines() {
        let _ = writeln!(text, "# {}", line.trim());
    }
    if every > 1 {
        let _ = writeln!(text, "# A row every {every} round trips, and at each event.");
    }
    for mut scenario in scenarios {
        scenario.trace = all_traces();
        let _ = write!(text, "\n{}\n\n{}", scenario.title, narrate(&scenario, &run(&scenario), every));
    }
    text
}

/// One flow over a bottleneck of 10 packets' bandwidth-delay product with room for 8.
fn pipe(title: &str, duration_s: f64, sender: ClassicConfig) -> Scenario {
    let mut bottleneck = link("bottleneck", 409_600.0, Some(8));
    bottleneck.delay_s = 0.045;
    let mut back = link("back", 10e6, None);
    back.delay_s = 0.045;
    scenario(title, duration_s, [bottleneck, back], vec![flow("flow", &[0], &[1], sender)])
}

/// Ends the first slow start of the first flow at 12 packets.
fn avoid_from_12(scenario: &mut Scenario) {
    classic_of(&mut scenario.flows[0]).initial_ssthresh = Some(12.0);
}

fn each_recovery(duration_s: f64, change: impl Fn(&mut Scenario)) -> impl Iterator<Item = Scenario> {
    RECOVERIES.into_iter().map(move |(name, recovery)| {
        let mut scenario = pipe(name, duration_s, rfc(recovery));
        change(&mut scenario);
        scenario
    })
}

#[test]
fn golden_slow_start_overflow() {
    let description = "The first slow start overflows the bottleneck: many packets of one window are lost.
        A bottleneck of 100 packets/s, 10 packets of bandwidth-delay product and room for 8; RFC rules.";
    check_golden("slow_start_overflow", &chronicle(description, 1, each_recovery(4.0, |_| {})));
}

#[test]
fn golden_avoidance_overflow() {
    let description = "Congestion avoidance overflows the bottleneck by one packet.
        A bottleneck of 100 packets/s, 10 packets of bandwidth-delay product and room for 8; RFC rules, first ssthresh 12.";
    let scenarios = each_recovery(4.0, avoid_from_12);
    check_golden("avoidance_overflow", &chronicle(description, 1, scenarios));
}

/// Another flow's packets, all at once, over `path`.
fn burst(start_s: f64, packets: u64, path: &[usize]) -> FlowConfig {
    let sender = ClassicConfig { initial_window: packets as f64, ..rfc(Recovery::Newreno) };
    let mut burst = FlowConfig { start_s, ..flow("burst", path, &[1], sender) };
    *transfer_of(&mut burst) = Some(packets);
    burst
}

#[test]
fn golden_burst_loss() {
    let description = "At 0.9 s a burst of 14 packets of another flow, 200 packets/s, fills the bottleneck: several packets of one window
        are lost. A bottleneck of 100 packets/s, 10 packets of bandwidth-delay product and room for 8; RFC rules, first ssthresh 12.";
    let scenarios = each_recovery(3.0, |scenario| {
        avoid_from_12(scenario);
        // The burst comes between a departure and the packet that the departure leads to a round trip later.
        link_of(scenario, 1).delay_s = 0.051;
        scenario.elements.push(link("side", 819_200.0, None).into());
        scenario.flows.push(burst(0.9, 14, &[2, 0]));
    });
    check_golden("burst_loss", &chronicle(description, 1, scenarios));
}

#[test]
fn golden_delayed_acks() {
    let description = "An ACK for every second packet, or after 200 ms: slow start and avoidance open at half the pace.
        A bottleneck of 100 packets/s, 10 packets of bandwidth-delay product and room for 8; NewReno by the RFCs.";
    let scenarios =
        [("an ACK for every packet", 1), ("an ACK for every second packet", 2)].map(|(title, ack_every)| {
            let mut scenario = pipe(title, 6.0, rfc(Recovery::Newreno));
            tcp_of(&mut scenario.flows[0]).receiver =
                ReceiverConfig { ack_every, ack_delay_s: 0.2, ..ReceiverConfig::default() };
            scenario
        });
    check_golden("delayed_acks", &chronicle(description, 1, scenarios));
}

#[test]
fn golden_limited_transmit() {
    let description = "The first of few packets in flight meets a full buffer: two duplicates at most, so a timeout. Limited transmit (RFC
        3042) sends what brings the third. A bottleneck of 100 packets/s with room for 8, which a burst of 8 packets fills at 0.095 s;
        a transfer of 30 packets by NewReno, from a window of 3 in avoidance.";
    let scenarios = [("without", false), ("with limited transmit", true)].map(|(title, limited_transmit)| {
        let sender = ClassicConfig { limited_transmit, initial_ssthresh: Some(2.0), ..rfc(Recovery::Newreno) };
        let mut scenario = pipe(title, 4.0, sender);
        *transfer_of(&mut scenario.flows[0]) = Some(30);
        scenario.flows.push(burst(0.095, 8, &[0]));
        scenario
    });
    check_golden("limited_transmit", &chronicle(description, 1, scenarios));
}

#[test]
fn golden_figure_2() {
    let description =
        "[bottlenecks], figure 2: two nodes, 100 and 50 packets; propagation 560 ms, Tahoe with ns-2's rules.
        ns-2 cuts the window at 5.64 s (from 455) and 72.78 s (from 308), at 5.68 s (469) and 29.78 s (258).";
    let scenarios = [1.5e6, 1.6e6].map(|rate| {
        let title = format!("feeder of {} Mbit/s", rate / 1e6);
        geo(&title, 150.0, [(100e6, None), (rate, Some(100)), (1.5e6, Some(50))])
    });
    check_golden("figure_2", &chronicle(description, 4, scenarios));
}

#[test]
fn golden_figure_9() {
    let description =
        "[bottlenecks], figure 9, B = 18, drop-tail: the retransmission is lost in each cycle, a timeout follows.";
    let scenario = geo("drop-tail", 150.0, [(2.7e6, None), (2.2e6, Some(15)), (1.5e6, Some(18))]);
    check_golden("figure_9", &chronicle(description, 3, [scenario]));
}

fn with_queue(mut scenario: Scenario, queue: Discipline) -> Scenario {
    let links = scenario.elements.iter_mut().filter_map(ElementConfig::link_mut);
    for link in links.filter(|link| link.buffer.is_some()) {
        link.queue = queue;
    }
    scenario
}

#[test]
fn golden_random_drop() {
    let description = "[bottlenecks], figure 10, B = 18, random drop, seed 1: the retransmission gets through, other than in figure 9.";
    let scenario = geo("random drop", 150.0, [(2.7e6, None), (2.2e6, Some(15)), (1.5e6, Some(18))]);
    let scenario = with_queue(scenario, Discipline { overflow: Overflow::Random, ..Discipline::DROP_TAIL });
    check_golden("random_drop", &chronicle(description, 4, [scenario]));
}

#[test]
fn golden_red() {
    let description = "RED, seed 1: single drops before the buffer is full.
        A bottleneck of 100 packets/s, 10 packets of bandwidth-delay product; thresholds 5 and 15 packets, w_q = 0.02, max_p = 0.1,
        gentle; Reno by the RFCs, first ssthresh 12. The victim: the arriving packet, or one drawn among all.";
    let scenarios = [Overflow::Arriving, Overflow::Random].map(|overflow| {
        let sender = ClassicConfig { initial_ssthresh: Some(12.0), ..rfc(Recovery::Reno) };
        let mut scenario = pipe(&format!("victim: {overflow:?}").to_lowercase(), 12.0, sender);
        link_of(&mut scenario, 0).buffer = Some(BufferLimit::Packets(40));
        let red = RedConfig { weight: 0.02, mean_packet_bytes: 512, ..RedConfig::TYPICAL };
        with_queue(scenario, Discipline { aqm: AqmConfig::Red(red), overflow, ..Discipline::DROP_TAIL })
    });
    check_golden("red", &chronicle(description, 2, scenarios));
}

#[test]
fn golden_disciplines() {
    let description = "Each queue discipline of the list with its typical parameters, seed 1.
        A bottleneck of 100 packets/s, 10 packets of bandwidth-delay product and room for 20; Reno by the RFCs, first ssthresh 12.
        At 8 s a burst of 14 packets of another flow, which has the lower level where there are several.";
    let scenarios = disciplines().into_iter().map(|(name, discipline)| {
        let sender = ClassicConfig { initial_ssthresh: Some(12.0), ..rfc(Recovery::Reno) };
        let mut scenario = pipe(name, 16.0, sender);
        link_of(&mut scenario, 0).buffer = Some(BufferLimit::Packets(20));
        scenario.flows.push(FlowConfig { priority: 1, ..burst(8.0, 14, &[0]) });
        with_queue(scenario, discipline)
    });
    check_golden("disciplines", &chronicle(description, 4, scenarios));
}

#[test]
fn golden_two_way() {
    let description = "Two flows in opposite directions: data and ACKs share both queues, so ACKs come in bunches.
        100 packets/s each way, 90 ms of propagation, room for 8; Reno with ns-2's rules, first ssthresh 12, the second from 0.5 s.";
    let sender = ClassicConfig { initial_ssthresh: Some(12.0), ..ns2(Recovery::Reno) };
    let mut two_way = pipe("two-way", 6.0, sender);
    let back = LinkConfig { name: "back".to_owned(), ..link_of(&mut two_way, 0).clone() };
    two_way.elements[1] = back.into();
    two_way.flows[0].name = "there".to_owned();
    two_way.flows.push(FlowConfig { start_s: 0.5, ..flow("back", &[1], &[0], sender) });
    check_golden("two_way", &chronicle(description, 1, [two_way]));
}
