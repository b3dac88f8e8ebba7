//! Sources of transfers, private links and sources without TCP, against theory, with intervals that were chosen before
//! the run.

use crate::outside::common::{classic_of, flow, link, ns2, rfc, run, scenario, tcp_of, transfer_of};
use base::cast::{to_index, trunc_to_u64};
use base::Time;
use net::BufferLimit;
use sim::scenario::{ElementConfig, FlowConfig, LinkConfig, PrivateLinkConfig, SizeLaw, TimeLaw, TrafficConfig};
use sim::{Outcome, Scenario, SequenceKind};
use tcp::{
    ClassicConfig, Dialect, HalfWindow, Increase, LinuxReceiver, LossCause, LossDetection, PartialAckTimer,
    ReceiverConfig, Recovery, RttSample, SelectiveConfig, SlowStartWhile,
};

/// [engset, section 3.1].
fn engset() -> ClassicConfig {
    let base = rfc(Recovery::Newreno);
    ClassicConfig {
        dialect: Dialect::Engset,
        initial_window: 2.0,
        max_window: Some(44.0),
        slow_start_while: SlowStartWhile::AtOrBelow,
        increase: Increase::Counted,
        half_window: HalfWindow::WholePackets,
        partial_ack_timer: PartialAckTimer::SlowButSteady,
        rto: tcp::RtoConfig { sample: RttSample::PerRound, granularity_s: 0.0, max_s: 64.0, ..base.rto },
        ..base
    }
}

fn private(name: &str, rate_bps: f64) -> ElementConfig {
    let LinkConfig { name, rate_bps, delay_s, buffer, counting, .. } = link(name, rate_bps, None);
    ElementConfig::PrivateLink(PrivateLinkConfig { name, rate_bps, delay_s, buffer, counting })
}

/// Returns a private link of a scenario, to change it.
fn private_of(scenario: &mut Scenario, index: usize) -> &mut PrivateLinkConfig {
    match &mut scenario.elements[index] {
        ElementConfig::PrivateLink(link) => link,
        other => panic!("not a private link: {other:?}"),
    }
}

/// (100M, rate, 2M, R50) of [engset, table 2]: the round trip of a packet of 1500 bytes and an ACK of 40 is 50 ms in
/// all. The flows have transfers of the given sizes after the given silences, or one transfer without end.
fn paper(
    count: usize,
    rate_bps: f64,
    buffer: Option<u64>,
    transfers: Option<(SizeLaw, TimeLaw)>,
    duration_s: f64,
) -> Scenario {
    let elements = [
        private("ingress", 100e6),
        private("ingress.reverse", 100e6),
        link("shared", rate_bps, buffer).into(),
        link("shared.reverse", rate_bps, None).into(),
        private("egress", 2e6),
        private("egress.reverse", 2e6),
    ];
    let services = 1540.0 * 8.0 * (1.0 / 100e6 + 1.0 / rate_bps + 1.0 / 2e6);
    let mut flow = flow("web", &[0, 2, 4], &[5, 3, 1], engset());
    (flow.count, flow.packet_bytes) = (count, 1500);
    (flow.forward_delay_s, tcp_of(&mut flow).return_delay_s) = ((0.05 - services) / 2.0, (0.05 - services) / 2.0);
    if let Some((size, off)) = transfers {
        let connection = tcp_of(&mut flow).clone();
        flow.traffic = TrafficConfig::Web { size, off, classes: vec![6, 14, 30, 62], connection };
    }
    scenario("web", duration_s, elements, vec![flow])
}

/// Transfers, packets and time of them all.
fn totals(outcome: &Outcome) -> (u64, u64, f64) {
    let classes = &outcome.transfers[0].classes;
    let on: u128 = classes.iter().map(|class| class.on).sum();
    let count = |of: fn(&sim::SizeClass) -> u64| classes.iter().map(of).sum();
    (count(|class| class.transfers), count(|class| class.packets), on as f64 / 1e12)
}

#[test]
fn a_transfer_alone_takes_what_engset_table_3_says() {
    // (m, n) = (2, 2), (3, 5), (4, 7): m round trips of 50 ms and n service times of 6 ms.
    for (packets, milliseconds) in [(5, 112.0), (12, 180.0), (22, 242.0)] {
        let transfers = Some((SizeLaw::Fixed { packets }, TimeLaw::Fixed { mean_s: 1.0 }));
        let outcome = run(&paper(1, 10e6, Some(200), transfers, 20.0));
        let (transfers, _, on) = totals(&outcome);
        assert_eq!(transfers, trunc_to_u64(20.0 / (1.0 + milliseconds / 1e3)));
        let mean = 1e3 * on / transfers as f64;
        assert!((mean - milliseconds).abs() < 1e-6, "F = {packets}: {mean} ms");
    }
}

#[test]
fn lightly_loaded_sources_are_engsets() {
    // 10 sources on a link that is never a bottleneck are independent: each active for ON / (ON + OFF) of the time,
    // whatever the law of ON.
    let law = SizeLaw::Exponential { mean_packets: 12.0, min_packets: 3.0 };
    let outcome = run(&paper(10, 1e9, None, Some((law, TimeLaw::Exponential { mean_s: 1.0 })), 20_000.0));
    let (transfers, packets, on) = totals(&outcome);
    // Four standard errors of 9 packets.
    assert!((packets as f64 / transfers as f64 - 12.0).abs() < 4.0 * 9.0 / (transfers as f64).sqrt());
    let active = on / transfers as f64 / (on / transfers as f64 + 1.0);
    let mut binomial = (1.0 - active).powi(10);
    for (j, state) in outcome.transfers[0].states.iter().enumerate() {
        let share = outcome.clock.seconds(state.time) / 20_000.0;
        // Four standard errors, with a state that changes some three times a second.
        let error = 4.0 * (binomial * (1.0 - binomial) / 20_000.0).sqrt() + 1e-4;
        assert!((share - binomial).abs() < error, "P_{j} = {share}, {binomial} in theory");
        binomial *= (10 - j) as f64 / (j + 1) as f64 * active / (1.0 - active);
    }
}

#[test]
fn a_loaded_link_gives_the_rates_and_losses_of_engset_table_6() {
    let law = SizeLaw::Exponential { mean_packets: 12.0, min_packets: 3.0 };
    for (count, h_kbps, loss_percent) in [(82, 563.1, (0.0, 0.0)), (134, 154.7, (2.35, 2.75))] {
        let off = TimeLaw::Exponential { mean_s: 1.0 };
        let outcome = run(&paper(count, 10e6, Some(200), Some((law.clone(), off)), 3000.0));
        let (_, packets, on) = totals(&outcome);
        let h = packets as f64 * 12.0 / on;
        assert!((h / h_kbps - 1.0).abs() < 0.015, "N = {count}: h = {h} kbit/s, {h_kbps} in the paper");
        let shared = &outcome.links[2];
        let loss = 100.0 * shared.dropped[1] as f64 / shared.arrived[1] as f64;
        assert!((loss_percent.0..=loss_percent.1).contains(&loss), "N = {count}: L = {loss} %");
    }
}

#[test]
fn transfers_that_follow_at_once_lose_no_packet_and_take_none_of_another() {
    // A buffer of 5 packets and no silence: retransmissions of a transfer are still in flight in the next one.
    for off in [0.0, 0.001, 0.03] {
        let transfers = Some((SizeLaw::Fixed { packets: 9 }, TimeLaw::Fixed { mean_s: off }));
        let mut scenario = paper(20, 1e6, Some(5), transfers, 400.0);
        scenario.flows[0].start_spread_s = 1.0;
        let outcome = run(&scenario);
        let sources = &outcome.transfers[0];
        let (transfers, packets, _) = totals(&outcome);
        assert_eq!((sources.completed, packets), (transfers, 9 * transfers));
        assert!(sources.started - sources.completed <= 20 && transfers > 1000);
        let [acked, delivered, dropped] = [
            outcome.flows.iter().map(|flow| flow.acked[1]).sum::<u64>(),
            outcome.flows.iter().map(|flow| flow.delivered[1]).sum::<u64>(),
            outcome.flows.iter().map(|flow| flow.dropped[1]).sum::<u64>(),
        ];
        assert!((packets..packets + 20 * 9).contains(&acked) && (acked..acked + 20 * 9).contains(&delivered));
        assert!(sources.sequence_drops.len() <= 9, "{:?}", sources.sequence_drops);
        assert!(sources.sequence_drops.iter().sum::<u64>() <= dropped);
        let time: f64 = sources.states.iter().map(|state| outcome.clock.seconds(state.time)).sum();
        assert!((time - 400.0).abs() < 1e-6);
        assert_eq!(sources.states.iter().map(|state| state.transfers).sum::<u64>(), transfers);
    }
}

/// Returns a shared link with the settings of a private one.
fn copy(own: &PrivateLinkConfig, number: usize) -> LinkConfig {
    let PrivateLinkConfig { name, rate_bps, delay_s, buffer, counting } = own.clone();
    LinkConfig { rate_bps, delay_s, buffer, counting, ..link(&format!("{name}{number}"), 1.0, None) }
}

/// The same sources, each with links of its own instead of private ones.
fn apart(together: &Scenario) -> Scenario {
    let mut apart = together.clone();
    apart.elements.retain(|element| !element.is_private());
    apart.flows.clear();
    for number in 0..together.flows[0].count {
        let first = apart.elements.len();
        apart.elements.extend(together.elements.iter().filter_map(|element| match element {
            ElementConfig::PrivateLink(own) => Some(ElementConfig::Link(copy(own, number))),
            _ => None,
        }));
        let mut flow = FlowConfig { name: format!("web[{number}]"), count: 1, ..together.flows[0].clone() };
        // In `together`, link 2 is the first shared one, 3 its reverse; private links keep their order.
        let there = |&link: &usize| match link {
            2 | 3 => link - 2,
            0 | 1 => first + link,
            _ => first + link - 2,
        };
        flow.path = flow.path.iter().map(there).collect();
        let back = &mut tcp_of(&mut flow).return_path;
        *back = back.iter().map(there).collect();
        apart.flows.push(flow);
    }
    apart
}

#[test]
fn private_links_are_links_of_ones_own() {
    let law = SizeLaw::Exponential { mean_packets: 30.0, min_packets: 3.0 };
    let transfers = Some((law, TimeLaw::Exponential { mean_s: 0.1 }));
    // Rates with a common measure: many packets arrive at the same instant, in the order of their flows.
    let mut together = paper(3, 4e6, Some(10), transfers, 200.0);
    together.run.seed = 3;
    let flow = &mut together.flows[0];
    (flow.forward_delay_s, tcp_of(flow).return_delay_s) = (0.0187, 0.0191);
    private_of(&mut together, 4).buffer = Some(BufferLimit::Packets(20));
    private_of(&mut together, 4).rate_bps = Some(2e6);
    private_of(&mut together, 5).rate_bps = Some(2e6);
    // ACKs at once or delayed, and back over links of the flow's own to the last, or over the shared one last.
    for (ack_every, return_path) in [(1, vec![5, 3, 1]), (2, vec![5, 3, 1]), (1, vec![5, 3]), (2, vec![5, 3])] {
        let tcp = tcp_of(&mut together.flows[0]);
        tcp.receiver = ReceiverConfig { ack_every, ack_delay_s: 0.0517, ..ReceiverConfig::default() };
        let return_links = return_path.len();
        tcp.return_path = return_path;
        let (together, apart) = (run(&together), run(&apart(&together)));
        assert_eq!(together.clock, apart.clock);
        assert_eq!(
            format!("{:?}", together.flows),
            format!("{:?}", apart.flows),
            "an ACK for {ack_every}, back over {return_links} links"
        );
        assert!(together.flows.iter().all(|flow| flow.dropped[1] > 0));
        // The row of the egress links: sums, and the longest queue.
        let copies = [2 + 2, 2 + 6, 2 + 10].map(|link| &apart.links[link]);
        let egress = &together.links[4];
        assert_eq!(egress.departed[1], copies.iter().map(|link| link.departed[1]).sum::<u64>());
        assert_eq!(egress.queue_area, copies.iter().map(|link| link.queue_area).sum::<u128>());
        assert_eq!(Some(egress.queue_max), copies.iter().map(|link| link.queue_max).max());
    }
}

/// Senders in front of a shared link wait for the clock, whatever links their ACKs arrive over.
#[test]
fn senders_in_front_of_a_shared_link_send_in_order_of_time() {
    let law = SizeLaw::Exponential { mean_packets: 30.0, min_packets: 3.0 };
    let transfers = Some((law, TimeLaw::Exponential { mean_s: 0.1 }));
    // As above, many packets arrive at the same instant.
    let mut together = paper(3, 4e6, Some(10), transfers, 100.0);
    let flow = &mut together.flows[0];
    (flow.forward_delay_s, tcp_of(flow).return_delay_s) = (0.0187, 0.0191);
    let last = private_of(&mut together, 1);
    (last.rate_bps, last.delay_s) = (Some(3e6), 0.0131);
    private_of(&mut together, 4).rate_bps = Some(2e6);
    private_of(&mut together, 5).rate_bps = Some(2e6);
    together.flows[0].path = vec![2, 4];
    let (together, apart) = (run(&together), run(&apart(&together)));
    assert_eq!(together.clock, apart.clock);
    assert_eq!(format!("{:?}", together.flows), format!("{:?}", apart.flows));
    assert!(together.flows.iter().all(|flow| flow.dropped[1] > 0));
}

/// Draws a path of the paper with random rates, buffers, traffic and TCP.
fn draw_paper(case: u64, random: &mut base::RandomStream) -> Scenario {
    let senders = [engset(), rfc(Recovery::Newreno), rfc(Recovery::Reno), ns2(Recovery::Tahoe), ns2(Recovery::Newreno)];
    let law = SizeLaw::Exponential { mean_packets: 20.0, min_packets: 3.0 };
    let mean_s = 0.5 * random.uniform();
    let transfers = if case.is_multiple_of(4) { None } else { Some((law, TimeLaw::Exponential { mean_s })) };
    let rate_bps = 4e6 + 1e6 * random.uniform();
    let mut ahead = paper(1 + random.below(8), rate_bps, Some(1 + random.below(30) as u64), transfers, 20.0);
    ahead.run.seed = case;
    // Rates without a common measure with one another, or with the timers' ticks: at equal instants the order would be
    // another.
    private_of(&mut ahead, 4).rate_bps = Some(2e6);
    private_of(&mut ahead, 5).rate_bps = Some(2e6);
    let last = private_of(&mut ahead, 1);
    last.rate_bps = Some(3.1e6 * (0.02 + random.uniform()));
    last.delay_s = [0.0, 0.1, 3.0][to_index(case) % 3] * random.uniform();
    private_of(&mut ahead, 4).buffer = Some(BufferLimit::Packets(1 + random.below(30) as u64));
    ahead.flows[0].start_spread_s = 1.0;
    tcp_of(&mut ahead.flows[0]).sender = senders[random.below(senders.len())].into();
    ahead
}

/// The comparison of senders that take ACKs ahead of the clock with the same ones that wait for it.
struct Compared {
    /// Packets of the first ones that queues dropped.
    lost: u64,
    /// Whether the first ones had fewer events.
    saved: bool,
    /// Whether two events at one instant came in another order.
    tie: bool,
}

/// Senders behind private links take some ACKs ahead of the clock, by up to the delay of their last link. One more
/// link, which takes no time and is shared, makes them wait for the clock: nothing but the number of events may differ.
fn compare_with_senders_at_their_time(case: u64, ahead: &Scenario) -> Compared {
    let mut at_its_time = ahead.clone();
    at_its_time.elements.push(LinkConfig { rate_bps: None, ..link("last", 1.0, None) }.into());
    tcp_of(&mut at_its_time.flows[0]).return_path.push(6);
    let mut watched = ahead.clone();
    for scenario in [&mut watched, &mut at_its_time] {
        let trace = &mut scenario.trace;
        (trace.cwnd, trace.rtt, trace.sequence, trace.queue) = (true, true, true, true);
        (trace.losses, trace.recovery) = (true, true);
    }
    let (ahead, at_its_time, watched) = (run(ahead), run(&at_its_time), run(&watched));
    assert_eq!(format!("{:?}", ahead.flows), format!("{:?}", watched.flows), "case {case}");
    assert_eq!((&ahead.transfers, ahead.events), (&watched.transfers, watched.events));
    assert!(watched.traces.cwnd.as_ref().is_some_and(|rows| rows.is_sorted_by_key(|row| row.time)));
    assert!(watched.traces.rtt.as_ref().is_some_and(|rows| rows.is_sorted_by_key(|row| row.time)));
    let rows = [&watched, &at_its_time].map(|outcome| outcome.traces.sequence.as_deref().unwrap_or_default());
    assert!(rows[0].is_sorted_by_key(|row| row.time));
    let first = rows[0].iter().zip(rows[1]).position(|(one, other)| format!("{one:?}") != format!("{other:?}"));
    match first {
        None => {
            assert_eq!(format!("{:?}", ahead.flows), format!("{:?}", at_its_time.flows), "case {case}");
            assert_eq!(format!("{:?}", ahead.recoveries), format!("{:?}", at_its_time.recoveries), "case {case}");
            assert_eq!(ahead.transfers, at_its_time.transfers, "case {case}");
            let [(losses, repairs), others] =
                [&watched, &at_its_time].map(|outcome| (&outcome.traces.losses, &outcome.traces.recovery));
            assert_eq!(format!("{:?}", (losses, repairs)), format!("{others:?}"), "case {case}");
        }
        Some(first) => {
            // An ACK and another flow's timer at the same instant have another order there: all else is the same up
            // to then.
            let time = rows[0][first].time;
            let there = rows.map(|rows| {
                let rows = rows.iter().filter(|row| row.time == time);
                rows.map(|row| format!("{row:?}")).collect::<std::collections::BTreeSet<_>>()
            });
            assert_eq!(there[0], there[1], "case {case}");
        }
    }
    Compared {
        lost: ahead.flows.iter().map(|flow| flow.dropped[1]).sum(),
        saved: ahead.events < at_its_time.events,
        tie: first.is_some(),
    }
}

#[test]
fn senders_ahead_of_the_clock_do_what_they_do_at_their_time() {
    let mut random = base::RandomStream::named(1, 0, "senders ahead of the clock");
    let all: Vec<Compared> =
        (0..200).map(|case| compare_with_senders_at_their_time(case, &draw_paper(case, &mut random))).collect();
    let count = |which: fn(&Compared) -> bool| all.iter().filter(|one| which(one)).count();
    let (saved, ties) = (count(|one| one.saved), count(|one| one.tie));
    let lost: u64 = all.iter().map(|one| one.lost).sum();
    assert!(lost > 10_000 && saved > 150 && ties < 20, "{lost} lost, {saved} cases with fewer events, {ties} ties");
}

/// The ACKs of a receiver by Linux's rules announce windows, which its journal has, and with RACK those of packets beyond a
/// hole are ahead of the clock too.
#[test]
fn hosts_that_learn_of_losses_ahead_of_the_clock_do_what_they_do_at_their_time() {
    let mut random = base::RandomStream::named(1, 0, "hosts ahead of the clock");
    let linux = LinuxReceiver { announced: true, ..LinuxReceiver::default() };
    let receiver =
        ReceiverConfig { ack_every: 2, ack_delay_s: 0.04, selective: true, linux: Some(linux), ..Default::default() };
    let draw = |case| {
        let mut ahead = draw_paper(case, &mut random);
        let tcp = tcp_of(&mut ahead.flows[0]);
        let mut sender = SelectiveConfig::default();
        ["cubic", "reno", "bbr"][to_index(case) % 3].clone_into(&mut sender.congestion_control.name);
        match case % 5 {
            0 => sender.loss_detection = LossDetection::Dupack,
            1 => sender.tail_loss_probe = false,
            _ => {}
        }
        (tcp.sender, tcp.receiver) = (sender.into(), receiver);
        // With ACKs of this length a drop is handled after its loss was declared, in case 43 (`LossLog::on_drop`).
        tcp.ack_bytes = 104;
        ahead
    };
    let drawn: Vec<Scenario> = (0..150).map(draw).collect();
    let all: Vec<Compared> =
        (0..).zip(&drawn).map(|(case, ahead)| compare_with_senders_at_their_time(case, ahead)).collect();
    let count = |which: fn(&Compared) -> bool| all.iter().filter(|one| which(one)).count();
    let (saved, ties) = (count(|one| one.saved), count(|one| one.tie));
    let lost: u64 = all.iter().map(|one| one.lost).sum();
    assert!(lost > 10_000 && saved > 110 && ties < 15, "{lost} lost, {saved} cases with fewer events, {ties} ties");
}

/// Identical sources share their hops; observers must still see the right source.
#[test]
fn drops_and_captures_name_the_source_that_they_are_of() {
    let law = SizeLaw::Exponential { mean_packets: 12.0, min_packets: 3.0 };
    let mut observed = paper(60, 4e6, Some(10), Some((law, TimeLaw::Exponential { mean_s: 1.0 })), 60.0);
    observed.trace.drops = true;
    observed.trace.capture = Some(vec!["shared".to_owned()]);
    let outcome = run(&observed);
    let (drops, captured) = (outcome.traces.drops.unwrap(), outcome.traces.capture.unwrap());
    for (source, counts) in outcome.flows.iter().enumerate() {
        let dropped = drops.iter().filter(|row| row.packet.flow as usize == source).count() as u64;
        assert_eq!(dropped, counts.dropped[0] + counts.dropped[1], "source {source}");
        let data = captured.iter().filter(|row| row.packet.flow as usize == source && row.link == 2).count() as u64;
        // What has left the shared link is received, or on its way at the end; ACKs leave the other way.
        let received = counts.received[0] + counts.received[1];
        assert!((received..received + 30).contains(&data), "source {source}: {received} received, {data} captured");
    }
    assert!(drops.len() > 500 && outcome.flows.iter().any(|counts| counts.dropped[1] > 0));
    let received = |source: usize| outcome.flows[source].received[1];
    assert!((1..60).any(|source| received(source) != received(0)), "they differ");
}

/// A group of more than 1000 flows has one row: the sums of the traces of its flows.
#[test]
fn a_large_group_is_counted_as_one() {
    let law = SizeLaw::Exponential { mean_packets: 12.0, min_packets: 3.0 };
    let mut observed = paper(1001, 50e6, Some(100), Some((law, TimeLaw::Exponential { mean_s: 0.3 })), 3.0);
    observed.flows.push(FlowConfig { name: "other".to_owned(), count: 2, ..observed.flows[0].clone() });
    observed.run.warmup_s = 0.7;
    let trace = &mut observed.trace;
    (trace.cwnd, trace.rtt, trace.sequence, trace.drops, trace.losses, trace.recovery) =
        (true, true, true, true, true, true);
    let outcome = run(&observed);
    assert_eq!((outcome.flows.len(), outcome.recoveries.len()), (3, 3));
    let (group, recoveries, warmup) = (&outcome.flows[0], &outcome.recoveries[0], outcome.measurement.warmup);
    let traces = &outcome.traces;
    let of_group = |flow: u32| flow < 1001;
    let pair = |times: Vec<Time>| {
        let before = times.iter().filter(|&&time| time < warmup).count() as u64;
        [before, times.len() as u64 - before]
    };
    let sequence = |kinds: &[SequenceKind]| {
        let rows = traces.sequence.as_ref().unwrap().iter();
        pair(rows.filter(|row| of_group(row.flow) && kinds.contains(&row.kind)).map(|row| row.time).collect())
    };
    assert_eq!(group.sent, sequence(&[SequenceKind::Sent, SequenceKind::Retransmitted]));
    assert_eq!(group.retransmitted, sequence(&[SequenceKind::Retransmitted]));
    assert!(group.retransmitted[0] > 100 && group.retransmitted[1] > 1000);
    let dropped = traces.drops.as_ref().unwrap().iter().filter(|row| of_group(row.packet.flow));
    assert_eq!(group.dropped, pair(dropped.map(|row| row.time).collect()));
    let losses = |cause| {
        let rows = traces.losses.as_ref().unwrap().iter();
        pair(rows.filter(|row| of_group(row.flow) && row.loss.cause == cause).map(|row| row.time).collect())
    };
    assert_eq!(group.timeouts, losses(LossCause::Timeout));
    assert_eq!(group.fast_retransmits, losses(LossCause::FastRetransmit));
    assert_eq!(recoveries.timeouts.iter().sum::<u64>(), group.timeouts[1]);
    let repairs = traces.recovery.as_ref().unwrap().iter();
    let recovered = repairs.filter(|row| of_group(row.flow) && row.time >= warmup && row.repair.event() == 5);
    let recovered: Vec<_> = recovered.map(|row| row.repair.sent).collect();
    assert_eq!((recoveries.recoveries, recoveries.sent), (recovered.len() as u64, recovered.iter().sum()));
    assert_windows_and_round_trips_are_those_of_the_traces(group, &outcome);
}

/// Checks the first group of 1001 flows.
fn assert_windows_and_round_trips_are_those_of_the_traces(group: &sim::FlowStatistics, outcome: &Outcome) {
    let (traces, warmup) = (&outcome.traces, outcome.measurement.warmup);
    let of_group = |flow: u32| flow < 1001;
    let samples = traces.rtt.as_ref().unwrap().iter().filter(|row| of_group(row.flow) && row.time >= warmup);
    let samples: Vec<_> = samples.map(|row| u128::from(row.rtt.ticks())).collect();
    assert_eq!((group.rtt_samples, group.rtt_sum), (samples.len() as u64, samples.iter().sum()));
    let (mut windows, mut area, mut largest) = (vec![(0.0, Time::ZERO); 1001], 0.0, 0.0_f64);
    let end = (0..1001).map(|flow| (flow, outcome.measurement.end, 0.0));
    let changes = traces.cwnd.as_ref().unwrap().iter().filter(|row| of_group(row.flow));
    for (flow, time, cwnd) in changes.map(|row| (row.flow, row.time, row.cwnd)).chain(end) {
        let (before, since) = std::mem::replace(&mut windows[flow as usize], (cwnd, time));
        area += before * since.overlap(time, warmup, outcome.measurement.end).ticks() as f64;
        largest = largest.max(if time >= warmup { before } else { 0.0 });
    }
    assert!((group.cwnd_area / area - 1.0).abs() < 1e-9, "{} but {area}", group.cwnd_area);
    assert_eq!(group.cwnd_max, largest);
}

/// Packet numbers go on from transfer to transfer: with a fixed size, they show the transfer of each packet, and so
/// whether it has ended.
#[test]
fn what_transfers_count_is_what_their_flows_did() {
    let transfers = Some((SizeLaw::Fixed { packets: 20 }, TimeLaw::Exponential { mean_s: 0.3 }));
    let mut observed = paper(200, 10e6, Some(50), transfers, 20.0);
    (observed.trace.sequence, observed.trace.losses, observed.trace.recovery) = (true, true, true);
    let outcome = run(&observed);
    let ended: Vec<u64> = outcome.flows.iter().map(|flow| flow.acked[1] / 20 * 20).collect();
    let in_ended = |flow: u32, sequence: u64| sequence < ended[flow as usize];
    let sequence = outcome.traces.sequence.as_ref().unwrap();
    let sent = |kind| {
        let rows = sequence.iter().filter(|row| row.kind == kind && in_ended(row.flow, row.sequence));
        rows.count() as u64
    };
    let losses = outcome.traces.losses.as_ref().unwrap();
    let found = |cause| {
        let rows = losses.iter().filter(|row| row.loss.cause == cause && in_ended(row.flow, row.loss.sequence));
        rows.count() as u64
    };
    let repairs = outcome.traces.recovery.as_ref().unwrap().iter();
    let repairs = repairs.filter(|row| in_ended(row.flow, row.repair.loss.sequence));
    let (recovered, timeouts): (Vec<_>, Vec<_>) = repairs.map(|row| row.repair).partition(|repair| repair.event() == 5);
    let count = |of: fn(&sim::SizeClass) -> u64| outcome.transfers[0].classes.iter().map(of).sum::<u64>();
    assert_eq!(count(|class| class.packets), ended.iter().sum::<u64>());
    assert_eq!(count(|class| class.sent), sent(SequenceKind::Sent) + sent(SequenceKind::Retransmitted));
    assert_eq!(count(|class| class.retransmitted), sent(SequenceKind::Retransmitted));
    assert_eq!(count(|class| class.timeouts), found(LossCause::Timeout));
    assert_eq!(count(|class| class.fast_retransmits), found(LossCause::FastRetransmit));
    assert_eq!(count(|class| class.recovered), recovered.iter().map(|repair| repair.retransmissions).sum::<u64>());
    let stalled: u128 = outcome.transfers[0].classes.iter().map(|class| class.stalled).sum();
    assert_eq!(stalled, timeouts.iter().map(|repair| u128::from(repair.time.ticks())).sum());
    assert!(count(|class| class.timeouts) > 100 && count(|class| class.recovered) > 100, "too few");
}

/// A drop counts for the current transfer; the drop of a retransmission that outlives its transfer, in a silence, for
/// none.
#[test]
fn drops_count_for_the_current_transfer() {
    let transfers = Some((SizeLaw::Fixed { packets: 5 }, TimeLaw::Exponential { mean_s: 0.3 }));
    let mut observed = paper(100, 3e6, Some(10), transfers, 60.0);
    // Timers that expire long before any ACK can arrive retransmit nearly everything for nothing.
    private_of(&mut observed, 0).delay_s = 0.2;
    let timer = &mut classic_of(&mut observed.flows[0]).rto;
    (timer.initial_s, timer.min_s) = (0.05, 0.02);
    (observed.trace.sequence, observed.trace.drops) = (true, true);
    let outcome = run(&observed);
    let sequence = outcome.traces.sequence.as_ref().unwrap();
    let (mut in_transfer, mut silent) = (0, 0);
    for drop in outcome.traces.drops.as_ref().unwrap() {
        let before = |kind| {
            let rows = sequence
                .iter()
                .filter(move |row| row.flow == drop.packet.flow && row.kind == kind && row.time <= drop.time);
            rows.map(|row| row.sequence).max().unwrap_or(0)
        };
        let (last_sent, next) = (before(SequenceKind::Sent), before(SequenceKind::Acked));
        let end = last_sent / 5 * 5 + 5;
        if next == end {
            silent += 1;
        } else if end <= outcome.flows[drop.packet.flow as usize].acked[1] {
            in_transfer += 1;
        }
    }
    assert_eq!(outcome.transfers[0].classes.iter().map(|class| class.dropped).sum::<u64>(), in_transfer);
    assert!(silent > 5 && in_transfer > 1000, "{silent} in silence, {in_transfer} of transfers");
}

#[test]
fn a_large_group_has_finished_with_its_last_flow() {
    let mut group = paper(1001, 50e6, None, None, 60.0);
    group.flows[0].start_spread_s = 1.0;
    *transfer_of(&mut group.flows[0]) = Some(3);
    group.trace.sequence = true;
    let outcome = run(&group);
    let acknowledged = outcome.traces.sequence.unwrap().into_iter().filter(|row| row.kind == SequenceKind::Acked);
    assert_eq!(outcome.flows[0].finish, acknowledged.map(|row| row.time).max().unwrap());
    assert_eq!((outcome.flows[0].unfinished, outcome.flows[0].acked[1]), (0, 3003));
    group.run.duration_s = 0.9;
    let outcome = run(&group);
    assert_eq!(outcome.flows[0].finish, Time::NEVER);
    assert!((10..1001).contains(&outcome.flows[0].unfinished));
}

/// The engine prefetches memory for thousands of flows; every packet is accounted for all the same.
#[test]
fn thousands_of_sources_lose_and_gain_no_packet() {
    let law = SizeLaw::Exponential { mean_packets: 12.0, min_packets: 3.0 };
    let transfers = Some((law, TimeLaw::Exponential { mean_s: 1.0 }));
    let outcome = run(&paper(8000, 480e6, Some(1600), transfers, 3.0));
    let shared = &outcome.links[2];
    let total = |count: fn(&sim::FlowStatistics) -> u64| outcome.flows.iter().map(count).sum::<u64>();
    let (sent, received, dropped) = (total(|f| f.sent[1]), total(|f| f.received[1]), total(|f| f.dropped[1]));
    assert!(dropped > 1000 && received > 50_000, "{received} received, {dropped} dropped");
    assert_eq!(shared.dropped[1], dropped);
    assert!(shared.arrived[1] <= sent && received <= shared.departed[1]);
    // In flight at the end: no more than the buffer and half a second's worth.
    assert!(sent - received - dropped < 1600 + 20_000, "{}", sent - received - dropped);
}

#[test]
fn poisson_packets_wait_as_in_m_d_1() {
    let traffic = TrafficConfig::Poisson { rate_bps: 0.5e6 };
    let source = FlowConfig { packet_bytes: 1250, traffic, ..flow("source", &[0], &[], rfc(Recovery::Reno)) };
    // 100 packets a second of the link, 50 of the source.
    let mut scenario = scenario("M/D/1", 20_100.0, [link("server", 1e6, None)], vec![source]);
    scenario.run.warmup_s = 100.0;
    let outcome = run(&scenario);
    let server = &outcome.links[0];
    let mean = server.queue_area as f64 / 1e12 / 20_000.0;
    // rho + rho^2 / (2 (1 - rho)) = 0.75; of a million packets in some 500,000 busy periods.
    assert!((mean - 0.75).abs() < 0.01, "{mean}");
    assert!((outcome.clock.ticks_in_seconds(server.busy as f64) / 20_000.0 - 0.5).abs() < 4.0 / 1000.0);
    let flow = &outcome.flows[0];
    assert_eq!((flow.acked, flow.dropped, flow.timeouts), ([0; 2], [0; 2], [0; 2]));
    assert!(flow.sent[1].abs_diff(flow.delivered[1]) < 20);
}

#[test]
fn datagrams_beyond_the_buffer_are_dropped_and_all_are_accounted_for() {
    let law = |mean_s| TimeLaw::Exponential { mean_s };
    let traffic = TrafficConfig::PoissonOnOff { rate_bps: 2e6, on: law(2.0), off: law(2.0) };
    let source = FlowConfig { count: 2, traffic, ..flow("source", &[0], &[], rfc(Recovery::Reno)) };
    let outcome = run(&scenario("on-off", 2000.0, [link("link", 1.5e6, Some(10))], vec![source]));
    let link = &outcome.links[0];
    let sent: u64 = outcome.flows.iter().map(|flow| flow.sent[1]).sum();
    let gone: u64 = outcome.flows.iter().map(|flow| flow.received[1] + flow.dropped[1]).sum();
    assert_eq!(link.arrived[1], sent);
    assert!(link.dropped[1] > 0 && (gone..gone + 11).contains(&sent));
    // Half of 2 Mbit/s each; 500 cycles a source vary by 1 / sqrt(500) of their on-time twice over.
    let rate = sent as f64 * 512.0 * 8.0 / 2000.0;
    assert!((rate / 2e6 - 1.0).abs() < 4.0 / (1000.0_f64).sqrt(), "{rate} bit/s");
}
