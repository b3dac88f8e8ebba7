//! Losses that senders detect, against the packets that really were dropped.

use crate::outside::common::recovery_laws::check_recoveries;
#[allow(dead_code)]
use crate::outside::common::{all_traces, classic_of, flow, link, random, rfc, run, scenario, tcp_of, transfer_of};
use proptest::prelude::*;
use sim::scenario::{ElementConfig, FlowConfig};
use sim::{Outcome, Scenario, TimeoutKind};
use tcp::{
    ClassicConfig, Dialect, Ecn, HalfWindow, Increase, LossCause, PartialAckTimer, Recovery, RtoConfig, RttSample,
    SenderConfig, SlowStartWhile,
};

proptest! {
    #![proptest_config(random::config(400))]

    /// The queues of these scenarios hold no packet until the timer expires, no ACK is lost, nothing overtakes, and
    /// `recover` guards against the duplicates of retransmissions: each loss that is detected is one.
    #[test]
    fn every_detected_loss_is_a_loss(mut scenario in random::scenario(), tahoe in any::<bool>()) {
        for flow in &mut scenario.flows {
            transfer_of(flow).get_or_insert(200);
            let tcp = tcp_of(flow);
            tcp.return_path.clear();
            tcp.return_delay_s = 0.01;
            if let SenderConfig::Selective(_) = tcp.sender {
                (tcp.sender, tcp.receiver.selective) = (rfc(Recovery::Newreno).into(), false);
            }
            tcp.receiver.ecn = Ecn::Off;
            let sender = classic_of(flow);
            (sender.dialect, sender.ecn) = (Dialect::Rfc, Ecn::Off);
            sender.recovery = if tahoe { Recovery::Tahoe } else { Recovery::Newreno };
            let timer = &mut sender.rto;
            (timer.min_s, timer.initial_s, timer.max_s) = (5000.0, 5000.0, 1e5);
        }
        for link in scenario.elements.iter_mut().filter_map(ElementConfig::link_mut) {
            (link.delay_process, link.rate_process) = (None, None);
            link.loss = None; // a Poisson process has too many instants in such a long run
        }
        (scenario.run.duration_s, scenario.run.warmup_s) = (5e6, 0.0);
        let outcome = run(&scenario);
        for flow in &outcome.recoveries {
            prop_assert_eq!((flow.spurious_timeouts, flow.spurious_fast_retransmits), (0, 0));
        }
    }
}

/// The TCP of [engset, section 3.1].
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
        rto: RtoConfig { sample: RttSample::PerRound, granularity_s: 1e-6, max_s: 64.0, ..base.rto },
        ..base
    }
}

/// [engset], settings 100M-1.5M-128k-D300ms-P576B with room for all: a transfer of `packets` packets.
fn slow_egress(packets: u64) -> Outcome {
    // ACKs of 40 bytes cross the same rates: the empty round trip is 341.83 ms.
    let rates = [100e6, 1.5e6, 128e3, 128e3, 1.5e6, 100e6];
    let links = rates.iter().enumerate().map(|(index, &rate)| link(&format!("link {index}"), rate, None));
    let mut flow =
        FlowConfig { packet_bytes: 576, forward_delay_s: 0.15, ..flow("flow", &[0, 1, 2], &[3, 4, 5], engset()) };
    tcp_of(&mut flow).return_delay_s = 0.15;
    *transfer_of(&mut flow) = Some(packets);
    run(&Scenario { trace: all_traces(), ..scenario("slow egress", 100.0, links, vec![flow]) })
}

/// [engset, section 4.2]: "For F = 54, a timeout occurs for packet '54', for F = 106 it occurs for packet '90'":
/// spurious ones, for a queue that grows faster than the timer learns.
#[test]
fn slow_start_into_a_slow_link_times_out_for_nothing() {
    for (packets, late) in [(54, 54), (106, 90)] {
        let outcome = slow_egress(packets);
        let first = outcome.traces.losses.as_ref().and_then(|rows| rows.first()).expect("a timeout");
        assert_eq!((first.loss.cause, first.loss.sequence + 1), (LossCause::Timeout, late), "F = {packets}");
        assert!(first.spurious);
        let counted = &outcome.recoveries[0];
        assert_eq!(counted.spurious_timeouts, outcome.flows[0].timeouts[1], "nothing is ever dropped");
        assert_eq!(TimeoutKind::of(&first.loss), TimeoutKind::End, "all packets have been sent");
        check_recoveries(&outcome, |_| true);
    }
}

/// [engset, section 4.2]: "for file sizes between 54 and 106 packets a spurious timeout occurs".
#[test]
fn transfers_that_fit_time_out_never() {
    for packets in [12, 53, 107] {
        assert_eq!(slow_egress(packets).flows[0].timeouts[1], 0, "F = {packets}");
    }
}
