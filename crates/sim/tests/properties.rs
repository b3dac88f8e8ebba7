//! Random legal scenarios: they never fail, packets are conserved, probes and threads change nothing.

use std::time::Duration;

use crate::outside::common::laws::{check_laws, dropped_data};
use crate::outside::common::recovery_laws::check_recoveries;
use crate::outside::common::{all_traces, flow, link, ns2, random, run, scenario, tcp_of, transfer_of};
use net::{disciplines, Discipline, Overflow, RateLaw};
use proptest::prelude::*;
use sim::scenario::{ElementConfig, HandshakeConfig, LinkConfig, PrivateLinkConfig, TraceConfig};
use sim::{Job, Outcome, Scenario};
use tcp::{LinuxReceiver, Pacing, ReceiverConfig, Recovery, SelectiveConfig, SenderConfig};

proptest! {
    #![proptest_config(random::config(1500))]

    #[test]
    fn packets_are_conserved_and_probes_change_nothing(scenario in random::scenario(), probes in random::probes()) {
        let with = |trace: TraceConfig| run(&Scenario { trace, ..scenario.clone() });
        let followed = with(all_traces());
        check_laws(&scenario, &followed);
        check_recoveries(&followed, |flow| {
            matches!(scenario.flows[flow].connection(), Some(tcp) if matches!(tcp.sender, SenderConfig::Classic(_)))
        });
        prop_assert_eq!(counters(&scenario, &followed), counters(&scenario, &with(TraceConfig::default())));
        prop_assert_eq!(counters(&scenario, &followed), counters(&scenario, &with(probes)));
    }

    /// Links whose departures are known on arrival cost no events. With them or without, the network is the same.
    #[test]
    fn what_is_foreseen_is_what_happens(mut scenario in random::scenario()) {
        // Packets that leave private links at the same instant, or a link at one opportunity, go on in the order in which
        // they were computed, and that is not the same with events.
        scenario.elements.iter_mut().for_each(share);
        for link in scenario.elements.iter_mut().filter_map(ElementConfig::link_mut) {
            link.rate_process.take_if(|process| matches!(process.law, RateLaw::Opportunities { .. }));
        }
        let mut eventful = scenario.clone();
        let plain = scenario.elements.iter_mut().filter_map(ElementConfig::link_mut);
        let other = eventful.elements.iter_mut().filter_map(ElementConfig::link_mut);
        for (plain, other) in plain.zip(other).filter(|(plain, _)| plain.queue == Discipline::DROP_TAIL) {
            // Departures are events with random drop, but an unlimited buffer drops nothing.
            (plain.buffer, other.buffer, other.queue.overflow) = (None, None, Overflow::Random);
        }
        prop_assert_eq!(network(&run(&scenario)), network(&run(&eventful)));
    }
}

proptest! {
    #![proptest_config(random::config(500))]

    #[test]
    fn ns2_sack_conserves_packets_too(mut scenario in random::scenario(), most in 1_u16..=4, probes in random::probes()) {
        random::select(&mut scenario, most);
        prop_assert_eq!(sim::check(&scenario), Vec::<String>::new());
        let with = |trace: TraceConfig| run(&Scenario { trace, ..scenario.clone() });
        let followed = with(all_traces());
        check_laws(&scenario, &followed);
        check_recoveries(&followed, |_| true);
        prop_assert_eq!(counters(&scenario, &followed), counters(&scenario, &with(probes)));
    }

    #[test]
    fn ns2_sack_delivers_all_and_threads_change_nothing(mut scenario in random::scenario(), most in 1_u16..=4) {
        random::select(&mut scenario, most);
        scenario.flows.iter_mut().for_each(|flow| { transfer_of(flow).get_or_insert(100); });
        (scenario.run.duration_s, scenario.run.warmup_s) = (3000.0, 0.0);
        let outcome = run(&Scenario { trace: all_traces(), ..scenario.clone() });
        check_laws(&scenario, &outcome);
        check_rest(&outcome);
        prop_assert_eq!(replicate(&scenario, 1), replicate(&scenario, 2));
    }
}

/// Makes one link for all flows of a link of which each has a copy.
fn share(element: &mut ElementConfig) {
    if let ElementConfig::PrivateLink(private) = element {
        let PrivateLinkConfig { name, rate_bps, delay_s, buffer, counting } = private.clone();
        *element = LinkConfig { rate_bps, delay_s, buffer, counting, ..link(&name, 1.0, None) }.into();
    }
}

proptest! {
    #![proptest_config(random::config(300))]

    #[test]
    fn what_was_sent_is_received_or_dropped_once_all_is_over(mut scenario in random::scenario(), size in 1_u64..200) {
        for flow in &mut scenario.flows {
            transfer_of(flow).get_or_insert(size);
        }
        scenario.run.duration_s = 3000.0;
        scenario.run.warmup_s = 0.0;
        scenario.trace = all_traces();
        let outcome = run(&scenario);
        check_laws(&scenario, &outcome);
        check_rest(&outcome);
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits(scenario in random::scenario(), probes in random::probes()) {
        let scenario = Scenario { trace: probes, ..scenario };
        let alone = replicate(&scenario, 1);
        prop_assert_eq!(&alone[0], &bits(run(&scenario)));
        prop_assert_eq!(&alone, &replicate(&scenario, 2));
        prop_assert_eq!(&alone, &replicate(&scenario, 4));
    }
}

/// A trace sees each arrival at a queue at its instant. Without one, packets of one stream may join the queue when a
/// transmission ends; and where a link in front of it takes time, departures may be handled ahead of the clock.
#[test]
fn packets_do_the_same_with_and_without_events_of_their_own() {
    let handshake = HandshakeConfig { syn_bytes: 60, timeout_s: 0.3, client_hello_packets: 1, server_hello_packets: 3 };
    for (name, queue) in disciplines() {
        for (buffer, delay_s, delayed) in
            [(4, 0.0, false), (20, 0.0, true), (500, 0.0, false), (4, 0.05, true), (20, 0.003, false), (500, 0.2, true)]
        {
            let fast = LinkConfig { delay_s, ..link("fast", 1e7, None) };
            let slow = LinkConfig { queue, ..link("slow", 2e6, Some(buffer)) };
            let links = [fast, slow, link("back", 1e7, None), link("last", 3e6, Some(10))];
            let mut senders = ["one", "two", "three"].map(|name| flow(name, &[0, 1, 3], &[2], ns2(Recovery::Newreno)));
            if delayed {
                senders.iter_mut().for_each(|sender| tcp_of(sender).receiver.ack_every = 2);
                tcp_of(&mut senders[0]).receiver.selective = true;
                tcp_of(&mut senders[1]).handshake = Some(handshake);
                *transfer_of(&mut senders[2]) = Some(300);
            }
            let mut plain = scenario("arrivals", 20.0, links, senders.into());
            plain.run.warmup_s = 2.0;
            let traced = Scenario { trace: all_traces(), ..plain.clone() };
            let untraced = |scenario| {
                let outcome = run(scenario);
                // A receiver that knows of later data needs fewer events of its timer.
                let events = if delayed { 0 } else { outcome.events };
                bits(Outcome { traces: Default::default(), events, ..outcome })
            };
            assert_eq!(untraced(&plain), untraced(&traced), "{name} with {buffer} packets, {delay_s} s before");
        }
    }
}

/// A trace sees each paced departure at its instant. Without one, a packet whose departure nothing can change has no event.
#[test]
fn paced_packets_do_the_same_with_and_without_events_of_their_own() {
    for (control, pacing) in [("bbr", Pacing::None), ("bbr3", Pacing::None), ("cubic", Pacing::Linux)] {
        // The ACKs of nine senders wait in one queue.
        for flows in [1, 2, 9] {
            let mut sender = SelectiveConfig { pacing, ..SelectiveConfig::default() };
            control.clone_into(&mut sender.congestion_control.name);
            let sender = SenderConfig::Selective(sender);
            let flows = (0..flows).map(|number| flow(&format!("flow{number}"), &[0], &[1], sender.clone())).collect();
            let links = [link("there", 5e6, Some(20)), link("back", 5e6, None)];
            let mut plain = scenario("departures", 40.0, links, flows);
            plain.run.warmup_s = 2.0;
            let traced = Scenario { trace: all_traces(), ..plain.clone() };
            let untraced = |scenario| bits(Outcome { traces: Default::default(), ..run(scenario) });
            assert_eq!(untraced(&plain), untraced(&traced), "{control}, {pacing:?}");
        }
    }
}

/// Paced departures and those from queues are both ahead of the clock where flows of today's hosts share a queue; with
/// traces neither is.
#[test]
fn mixed_controls_do_the_same_through_any_queue_with_and_without_traces() {
    let mixes = [
        [("bbr", Pacing::None), ("cubic", Pacing::None), ("cubic", Pacing::Linux)],
        [("bbr3", Pacing::None), ("bbr", Pacing::None), ("reno", Pacing::None)],
    ];
    let mut drops = 0;
    for (name, queue) in disciplines() {
        for (mix, (buffer, delay_s)) in mixes.into_iter().zip([(30, 0.004), (300, 0.05)]) {
            // With the small buffer the ACKs of nine senders wait in one queue.
            let times = if buffer == 30 { 3 } else { 1 };
            let flows = (0..times * mix.len()).map(|number| {
                let (control, pacing) = mix[number % mix.len()];
                let mut sender = SelectiveConfig { pacing, ..SelectiveConfig::default() };
                control.clone_into(&mut sender.congestion_control.name);
                let mut one = flow(&format!("{control}{number}"), &[0, 1, 3], &[2], SenderConfig::Selective(sender));
                let linux = LinuxReceiver { announced: true, ..LinuxReceiver::default() };
                tcp_of(&mut one).receiver =
                    ReceiverConfig { selective: true, linux: Some(linux), ..ReceiverConfig::default() };
                one
            });
            let fast = LinkConfig { delay_s, ..link("fast", 2e7, None) };
            let slow = LinkConfig { queue, ..link("slow", 4e6, Some(buffer)) };
            let links = [fast, slow, link("back", 2e7, None), link("last", 1e7, Some(40))];
            let mut plain = scenario("mixture", 15.0, links, flows.collect());
            plain.run.warmup_s = 1.0;
            let traced = Scenario { trace: all_traces(), ..plain.clone() };
            let (plain, traced) = (run(&plain), run(&traced));
            assert_eq!(network(&plain), network(&traced), "{name} with {buffer} packets, {delay_s} s before");
            drops += plain.links[1].dropped[1];
        }
    }
    assert!(drops > 1000, "{drops}");
}

/// Transfers that ended long ago have nothing left on their way.
fn check_rest(outcome: &Outcome) {
    let rest = outcome.clock.time(1000.0);
    if outcome.flows.iter().any(|flow| flow.finish + rest > outcome.measurement.end) {
        return;
    }
    for (index, flow) in outcome.flows.iter().enumerate() {
        let gone = flow.received[1] + dropped_data(outcome, index);
        assert_eq!(flow.sent[1], gone, "flow {index}: sent, received or dropped");
        assert_eq!(flow.delivered[1], flow.acked[1]);
    }
    for (index, link) in outcome.links.iter().enumerate() {
        assert_eq!(link.arrived[1], link.departed[1] + link.dropped[1] + link.lost[1], "link {index} is empty");
    }
}

/// All counters of flows and links.
fn network(outcome: &Outcome) -> String {
    format!("{:?} {:?} {:?}", outcome.flows, outcome.recoveries, outcome.links)
}

/// All counters, as text that is equal where all bits are. The number of events is not among them where ACKs are delayed:
/// a receiver that knows of later data, as it does without a trace, needs fewer events of its timer.
fn counters(scenario: &Scenario, outcome: &Outcome) -> String {
    let delayed = scenario.flows.iter().any(|flow| flow.connection().is_some_and(|tcp| tcp.receiver.delays_acks()));
    let events = if delayed { 0 } else { outcome.events };
    format!("{events} {}", network(outcome))
}

/// All of an outcome but the time that it took.
fn bits(outcome: Outcome) -> String {
    format!("{:?}", Outcome { cpu_s: 0.0, ..outcome })
}

fn replicate(scenario: &Scenario, threads: usize) -> Vec<String> {
    let job = Job::start(scenario.clone(), vec![0, 1, 2, 3, 4], threads, u64::MAX).unwrap();
    while !job.wait(Duration::from_secs(1)) {}
    job.outcomes().unwrap().into_iter().map(|outcome| bits((*outcome).clone())).collect()
}
