//! Laws of every outcome with all traces: conservation, order, and that counters and traces agree.

use base::Time;
use net::{AqmConfig, BucketConfig, BucketKind, BufferLimit, Counting, SchedulerConfig};
use sim::scenario::{ElementConfig, FlowConfig, LinkConfig};
use sim::{Outcome, Scenario, SequenceKind};
use tcp::{Ecn, LossCause, SenderConfig};

/// Panics if a law is broken.
pub fn check_laws(scenario: &Scenario, outcome: &Outcome) {
    check_order(outcome);
    for flow in 0..scenario.flows.len() {
        check_packets(scenario, outcome, flow);
        check_events(outcome, flow);
        check_window(scenario, outcome, flow);
    }
    for link in 0..scenario.elements.len() {
        check_link(scenario, outcome, link);
        // No trace has the queues of private links.
        if !scenario.elements[link].is_private() {
            check_inside(outcome, link);
            check_queue(scenario, outcome, link);
            check_drops(scenario, outcome, link);
            check_distribution(outcome, link);
        }
    }
}

fn total(pair: [u64; 2]) -> u64 {
    pair[0] + pair[1]
}

fn rows<T>(rows: &Option<Vec<T>>) -> &[T] {
    rows.as_deref().expect("all traces are on")
}

fn count<T>(rows: &[T], of: impl Fn(&T) -> bool) -> u64 {
    rows.iter().filter(|row| of(row)).count() as u64
}

/// Returns the number of a flow's data packets that links dropped or lost.
pub fn dropped_data(outcome: &Outcome, flow: usize) -> u64 {
    let data = |row: &sim::DropRow| row.packet.flow as usize == flow && row.packet.kind.is_data();
    count(rows(&outcome.traces.drops), data)
}

fn check_order(outcome: &Outcome) {
    let traces = &outcome.traces;
    let ordered = |times: Vec<Time>| {
        assert!(times.is_sorted(), "time goes backwards in a trace");
        assert!(times.last().is_none_or(|&last| last <= outcome.measurement.end), "a row after the end");
    };
    ordered(rows(&traces.cwnd).iter().map(|row| row.time).collect());
    ordered(rows(&traces.rtt).iter().map(|row| row.time).collect());
    ordered(rows(&traces.sequence).iter().map(|row| row.time).collect());
    ordered(rows(&traces.queue).iter().map(|row| row.time).collect());
    ordered(rows(&traces.drops).iter().map(|row| row.time).collect());
    ordered(rows(&traces.losses).iter().map(|row| row.time).collect());
    ordered(rows(&traces.recovery).iter().map(|row| row.time).collect());
    ordered(rows(&traces.rounds).iter().map(|row| row.time).collect());
    ordered(rows(&traces.overview).iter().map(|row| row.time).collect());
}

/// Checks that each packet that was sent has arrived, was dropped, or is in flight.
fn check_packets(scenario: &Scenario, outcome: &Outcome, flow: usize) {
    let counted = &outcome.flows[flow];
    let [sent, received, delivered] = [counted.sent, counted.received, counted.delivered].map(total);
    let gone = received + dropped_data(outcome, flow);
    assert!(gone <= sent, "flow {flow}: {sent} packets sent, {gone} received or dropped");
    assert!(delivered <= received && total(counted.acked) <= delivered);
    let size = scenario.flows[flow].size_packets().unwrap_or(u64::MAX);
    assert!(delivered <= size);
    assert_eq!(counted.finish < Time::NEVER, total(counted.acked) == size);
    assert!(counted.sent[1] >= counted.retransmitted[1]);
}

/// Checks that counters and traces of a flow agree.
fn check_events(outcome: &Outcome, flow: usize) {
    let (counted, traces, warmup) = (&outcome.flows[flow], &outcome.traces, outcome.measurement.warmup);
    let sequence = |kind| count(rows(&traces.sequence), |row| row.flow as usize == flow && row.kind == kind);
    assert_eq!(total(counted.sent), sequence(SequenceKind::Sent) + sequence(SequenceKind::Retransmitted));
    assert_eq!(total(counted.retransmitted), sequence(SequenceKind::Retransmitted));
    let losses = |cause| count(rows(&traces.losses), |row| row.flow as usize == flow && row.loss.cause == cause);
    assert_eq!(total(counted.dropped) + total(counted.lost), dropped_data(outcome, flow));
    assert_eq!(total(counted.timeouts), losses(LossCause::Timeout));
    assert_eq!(total(counted.fast_retransmits), losses(LossCause::FastRetransmit));
    let samples = rows(&traces.rtt).iter().filter(|row| row.flow as usize == flow && row.time >= warmup);
    let (samples, sum) = samples.fold((0, 0), |(n, sum), row| (n + 1, sum + u128::from(row.rtt.ticks())));
    assert_eq!((counted.rtt_samples, counted.rtt_sum), (samples, sum));
}

/// The window's mean and maximum are those of its trace; before its first row a flow has no window.
fn check_window(scenario: &Scenario, outcome: &Outcome, flow: usize) {
    let measurement = &outcome.measurement;
    let connection = scenario.flows[flow].connection().expect("a flow with TCP");
    // ns-2's Sack1 halves without a floor, and so does ns-2's ECN.
    let with_echo = matches!(&connection.sender, SenderConfig::Classic(sender) if sender.ecn != Ecn::Off);
    let least = if connection.receiver.blocks.is_some() || with_echo { 0.0 } else { 1.0 };
    let (mut cwnd, mut since) = (0.0, Time::ZERO);
    let (mut area, mut largest) = (0.0, f64::NEG_INFINITY);
    let end = [(measurement.end, least)];
    let changes = rows(&outcome.traces.cwnd).iter().filter(|row| row.flow as usize == flow);
    for (time, next) in changes.map(|row| (row.time, row.cwnd)).chain(end) {
        if time >= measurement.warmup {
            area += cwnd * since.overlap(time, measurement.warmup, measurement.end).ticks() as f64;
            largest = cwnd.max(largest);
        }
        (cwnd, since) = (next, time);
        assert!(cwnd >= least);
    }
    let counted = &outcome.flows[flow];
    assert!((counted.cwnd_area - area).abs() <= 1e-9 * area.max(1.0), "{} but {area}", counted.cwnd_area);
    // A change at the very end counts too.
    assert!(counted.cwnd_max >= largest, "{} but {largest}", counted.cwnd_max);
}

/// Returns the number of links that an element is: one for each flow that crosses it, if it is private.
fn copies(scenario: &Scenario, link: usize) -> u64 {
    let crosses = |flow: &&FlowConfig| flow.path.contains(&link) || flow.return_path().contains(&link);
    if scenario.elements[link].is_private() {
        scenario.flows.iter().filter(crosses).count() as u64
    } else {
        1
    }
}

/// Returns the time in which the tokens come that a full bucket may give at once, a packet's debt with them.
fn burst(element: &ElementConfig, outcome: &Outcome) -> Time {
    let bucket = element.link().and_then(|link| Some((link.token_bucket?, link.rate_bps?)));
    let seconds = |(bucket, rate): (BucketConfig, f64)| (bucket.burst_bytes + 9180) as f64 * 8.0 / rate;
    bucket.map_or(Time::ZERO, |bucket| outcome.clock.time(seconds(bucket)))
}

/// Checks that packets leave a link only after they came, that drops are those of the trace, and work that of the rate.
fn check_link(scenario: &Scenario, outcome: &Outcome, link: usize) {
    let (counted, measurement) = (&outcome.links[link], &outcome.measurement);
    let [arrived, departed, dropped] = [counted.arrived, counted.departed, counted.dropped].map(total);
    let lost = total(counted.lost);
    assert!(departed + dropped + lost <= arrived, "link {link}");
    assert_eq!(dropped, count(rows(&outcome.traces.drops), |row| row.link as usize == link && !row.lost));
    assert_eq!(lost, count(rows(&outcome.traces.drops), |row| row.link as usize == link && row.lost));
    assert!(lost == 0 || scenario.elements[link].loss().is_some());
    let (span, copies) = (measurement.end - measurement.warmup, copies(scenario, link));
    let most = u128::from((span + burst(&scenario.elements[link], outcome)).ticks()) * u128::from(copies);
    assert!(counted.busy <= most, "link {link} is busy for longer than the run");
    let Some(rate) = scenario.elements[link].rate_bps() else { return };
    // A packet in transmission at either end counts where its last bit leaves.
    let edge = 2.0 * 9180.0 * copies as f64;
    if let Some(process) = scenario.elements[link].rate_process() {
        let offered = outcome.offered.as_ref().expect("a rate that changes").bits[link] / 8.0;
        let headers = counted.departed[1] as f64 * f64::from(process.law.header_bytes());
        let carried = counted.departed_bytes[1] as f64 + headers;
        assert!(carried <= offered + edge, "link {link}: {carried} bytes left, {offered} could have");
        return;
    }
    let (carried, worked) =
        (counted.departed_bytes[1] as f64, outcome.clock.ticks_in_seconds(counted.busy as f64) * rate / 8.0);
    assert!((carried - worked).abs() <= edge + 1e-6 * carried, "link {link}: {carried} bytes left, {worked} served");
}

/// Each packet that came to a link has left it, was dropped, or is inside.
fn check_inside(outcome: &Outcome, link: usize) {
    let counted = &outcome.links[link];
    let mut here = rows(&outcome.traces.queue).iter().filter(|row| row.link as usize == link);
    let inside = here.next_back().map_or(0, |row| row.packets);
    let [arrived, departed, dropped] = [counted.arrived, counted.departed, counted.dropped].map(total);
    assert_eq!(arrived, departed + dropped + total(counted.lost) + inside, "link {link}");
}

/// Packets that a link holds where its limit counts packets.
fn capacity(config: &LinkConfig) -> Option<u64> {
    match (config.buffer, config.counting) {
        // Nothing is in transmission there.
        (Some(BufferLimit::Packets(limit)), _) if config.token_bucket.is_some() => Some(limit),
        (Some(BufferLimit::Packets(limit)), Counting::WithService) => Some(limit),
        (Some(BufferLimit::Packets(limit)), Counting::Waiting) => Some(limit + 1),
        _ => None,
    }
}

/// Only a full buffer drops, or an AQM, or SFQ; and a link that takes no time is never full.
fn check_drops(scenario: &Scenario, outcome: &Outcome, link: usize) {
    let drops = || rows(&outcome.traces.drops).iter().filter(|row| row.link as usize == link && !row.lost);
    let Some(config) = scenario.elements[link].link() else {
        return assert_eq!(drops().count(), 0, "host {link} drops");
    };
    let polices = config.token_bucket.is_some_and(|bucket| bucket.kind == BucketKind::Policer);
    // SFQ drops what comes to a queue that is long for its share, or longer than its depth.
    let shares = matches!(config.queue.scheduler, SchedulerConfig::Sfq(_));
    if config.queue.aqm != (AqmConfig::None {}) || polices || shares {
        return;
    }
    let queue: Vec<_> = rows(&outcome.traces.queue).iter().filter(|row| row.link as usize == link).collect();
    for drop in drops() {
        assert_ne!(config.rate_bps, None, "link {link} takes no time, yet drops");
        let before = queue.partition_point(|row| row.time <= drop.time);
        let packets = before.checked_sub(1).map_or(0, |last| queue[last].packets);
        match (capacity(config), config.buffer) {
            (Some(capacity), _) => assert_eq!(packets, capacity, "link {link} drops at {:?}", drop.time),
            // No packet is longer than 9180 bytes.
            (None, Some(BufferLimit::Bytes(limit))) => assert!((packets + 1) * 9180 > limit, "link {link} has room"),
            _ => panic!("link {link} has room for all, yet drops"),
        }
    }
}

/// Returns the length of the shortest packet that there may be: 40 bytes, or that of the last one of a transfer.
fn shortest_packet(scenario: &Scenario) -> u64 {
    let last = scenario.flows.iter().filter_map(|flow| flow.connection()?.last_packet_bytes());
    last.map(u64::from).min().unwrap_or(40).clamp(1, 40)
}

/// The queue keeps to its limit, and its counters are those of its trace.
fn check_queue(scenario: &Scenario, outcome: &Outcome, link: usize) {
    let (element, counted, measurement) = (&scenario.elements[link], &outcome.links[link], &outcome.measurement);
    let limit = match element.link() {
        // One more is in transmission.
        Some(LinkConfig { buffer: Some(BufferLimit::Bytes(limit)), .. }) => limit / shortest_packet(scenario) + 1,
        Some(config) => capacity(config).unwrap_or(u64::MAX),
        None => u64::MAX,
    };
    let (mut packets, mut since, mut area, mut largest) = (0, Time::ZERO, 0, 0);
    for row in rows(&outcome.traces.queue).iter().filter(|row| row.link as usize == link) {
        area += u128::from(packets) * u128::from(since.overlap(row.time, measurement.warmup, measurement.end).ticks());
        // The queue at the start of the measurement counts too.
        if since < measurement.warmup && row.time > measurement.warmup {
            largest = packets;
        }
        (packets, since) = (row.packets, row.time);
        assert!(packets <= limit, "link {link} holds {packets} packets");
        if since >= measurement.warmup {
            largest = largest.max(packets);
        }
    }
    area +=
        u128::from(packets) * u128::from(since.overlap(measurement.end, measurement.warmup, measurement.end).ticks());
    assert_eq!(counted.queue_area, area, "link {link}");
    match element {
        // Whether a packet that takes no time was ever inside is a matter of taste.
        ElementConfig::Host(host) if host.data_s.min(host.ack_s) == 0.0 => {}
        ElementConfig::Link(LinkConfig { rate_bps: None, .. }) => {
            assert!(counted.queue_max <= 1, "link {link} queues {} packets", counted.queue_max);
        }
        _ => assert_eq!(counted.queue_max, largest.max(packets), "link {link}"),
    }
}

/// The distribution spans the measurement, and its mean is that of the counters.
fn check_distribution(outcome: &Outcome, link: usize) {
    let (counted, measurement) = (&outcome.links[link], &outcome.measurement);
    let here = || rows(&outcome.traces.queue_distribution).iter().filter(|row| row.link as usize == link);
    let span = here().fold(Time::ZERO, |span, row| span + row.time);
    assert_eq!(span, measurement.end - measurement.warmup, "link {link}");
    let area: u128 = here().map(|row| u128::from(row.packets) * u128::from(row.time.ticks())).sum();
    assert_eq!(counted.queue_area, area, "link {link}");
    assert_eq!(counted.arrived[1] - counted.lost[1], here().map(|row| row.arrivals).sum::<u64>(), "link {link}");
}
