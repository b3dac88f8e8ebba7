//! Links that lose packets: which ones, and what TCP makes of it.

use crate::outside::common::{all_traces, flow, link, link_of, rfc, run, scenario};
use base::{PacketKind, Time};
use net::{AppliesTo, Discipline, LossLaw, Overflow};
use sim::scenario::LossConfig;
use sim::{DropRow, Outcome, Scenario};
use tcp::{ClassicConfig, Recovery};

/// Packets of 512 bytes that the link serves in a second.
const MU: f64 = 1000.0;

fn loss(applies_to: AppliesTo, law: LossLaw) -> Option<LossConfig> {
    Some(LossConfig { applies_to, law })
}

/// One flow over a link that is never full, 0.1 s there and back, with what is lost there.
fn lossy(duration_s: f64, sender: ClassicConfig, loss: Option<LossConfig>) -> Scenario {
    let mut there = link("there", MU * 512.0 * 8.0, None);
    (there.delay_s, there.loss) = (0.049, loss);
    let mut back = link("back", 1e9, None);
    back.delay_s = 0.05;
    let mut scenario = scenario("lossy", duration_s, [there, back], vec![flow("flow", &[0], &[1], sender)]);
    scenario.trace = all_traces();
    scenario
}

fn drops(outcome: &Outcome) -> Vec<DropRow> {
    outcome.traces.drops.clone().unwrap()
}

#[test]
fn one_lost_packet_costs_one_fast_retransmit() {
    let sender = ClassicConfig { max_window: Some(40.0), ..rfc(Recovery::Reno) };
    let only = LossLaw::Packets { numbers: vec![500] };
    let outcome = run(&lossy(10.0, sender, loss(AppliesTo::All, only)));
    let rows = drops(&outcome);
    assert_eq!(rows.len(), 1);
    assert_eq!((rows[0].packet.sequence, rows[0].lost, rows[0].packet.kind), (499, true, PacketKind::Data));
    let counted = (&outcome.links[0], &outcome.flows[0]);
    assert_eq!(
        (counted.0.lost, counted.0.dropped, counted.1.lost, counted.1.dropped),
        ([0, 1], [0, 0], [0, 1], [0, 0])
    );
    assert_eq!((counted.1.fast_retransmits, counted.1.timeouts, counted.1.retransmitted), ([0, 1], [0, 0], [0, 1]));
}

#[test]
fn a_lost_ack_is_made_good_by_the_next() {
    let sender = ClassicConfig { max_window: Some(40.0), ..rfc(Recovery::Reno) };
    let mut scenario = lossy(10.0, sender, None);
    link_of(&mut scenario, 1).loss = loss(AppliesTo::Acks, LossLaw::Bernoulli { probability: 0.2 });
    let outcome = run(&scenario);
    let link = &outcome.links[1];
    // Some 3900 ACKs: four standard errors of the share are 0.026.
    let share = link.lost[1] as f64 / link.arrived[1] as f64;
    assert!((share - 0.2).abs() < 0.026, "{share}");
    assert_eq!((outcome.flows[0].retransmitted, outcome.flows[0].lost), ([0, 0], [0, 0]));
    assert!(drops(&outcome).iter().all(|row| row.lost && row.packet.kind == PacketKind::Ack && row.link == 1));
    assert_eq!(drops(&outcome).len() as u64, link.lost[1]);
}

#[test]
fn what_applies_to_acks_leaves_data_alone() {
    let law = LossLaw::Bernoulli { probability: 1.0 };
    let outcome = run(&lossy(10.0, rfc(Recovery::Reno), loss(AppliesTo::Acks, law)));
    assert_eq!(outcome.links[0].lost, [0, 0]);
    assert!(outcome.flows[0].delivered[1] > 1000);
}

#[test]
fn the_next_packet_after_each_instant_is_lost() {
    let times_s = vec![2.0, 4.0, 4.0001, 6.0];
    let sender = ClassicConfig { max_window: Some(40.0), ..rfc(Recovery::Newreno) };
    let outcome = run(&lossy(10.0, sender, loss(AppliesTo::Data, LossLaw::Times { times_s })));
    let lost: Vec<f64> = drops(&outcome).iter().map(|row| outcome.clock.seconds(row.time)).collect();
    let sent = outcome.traces.sequence.as_deref().unwrap();
    let next = |instant: f64| {
        let after =
            sent.iter().filter(|row| row.kind != sim::SequenceKind::Acked && row.time >= outcome.clock.time(instant));
        after.map(|row| outcome.clock.seconds(row.time)).next().unwrap()
    };
    let mut expected = [2.0, 4.0, 4.0001, 6.0].map(next).to_vec();
    expected.dedup();
    assert_eq!(lost, expected);
}

/// The mean window under independent losses: sqrt(3 / (2 p)) for an ACK each packet and a halving each loss (Mathis et
/// al. 1997), which takes losses as evenly spaced. An interval of 12 % around it was chosen before the run.
#[test]
fn the_window_follows_the_square_root_law() {
    for probability in [0.002, 0.0005] {
        let sender = ClassicConfig { initial_ssthresh: Some(20.0), ..rfc(Recovery::Newreno) };
        let mut scenario = lossy(2000.0, sender, loss(AppliesTo::Data, LossLaw::Bernoulli { probability }));
        link_of(&mut scenario, 0).rate_bps = Some(1e9);
        scenario.trace = Default::default();
        scenario.run.warmup_s = 20.0;
        let outcome = run(&scenario);
        let (flow, link) = (&outcome.flows[0], &outcome.links[0]);
        let share = link.lost[1] as f64 / link.arrived[1] as f64;
        let error = (probability / link.arrived[1] as f64).sqrt();
        assert!((share - probability).abs() < 4.0 * error, "{share}");
        let round_trip = outcome.clock.ticks_in_seconds(flow.rtt_sum as f64 / flow.rtt_samples as f64);
        let window = flow.delivered[1] as f64 / 1980.0 * round_trip;
        let theory = (1.5 / probability).sqrt();
        assert!((window / theory - 1.0).abs() < 0.12, "{window} packets, {theory} in theory");
    }
}

#[test]
fn losses_come_before_the_queue_whatever_the_discipline() {
    let sender = ClassicConfig { max_window: Some(60.0), ..rfc(Recovery::Newreno) };
    let law = LossLaw::GilbertElliott { to_bad: 0.02, to_good: 0.3, loss_in_good: 0.0, loss_in_bad: 0.5 };
    let scenarios = [Overflow::Arriving, Overflow::Random].map(|overflow| {
        let mut scenario = lossy(60.0, sender, loss(AppliesTo::All, law.clone()));
        link_of(&mut scenario, 0).queue = Discipline { overflow, ..Discipline::DROP_TAIL };
        scenario
    });
    let [eager, eventful] = scenarios.map(|scenario| run(&scenario));
    assert!(eager.links[0].lost[1] > 100);
    assert_eq!(eager.links[0], eventful.links[0]);
    assert_eq!(drops(&eager), drops(&eventful));
}

/// The numbers of the packets that a link loses depend on its own stream alone.
#[test]
fn a_link_loses_the_same_packets_whatever_else_the_scenario_has() {
    let sender = ClassicConfig { max_window: Some(20.0), ..rfc(Recovery::Newreno) };
    let alone = lossy(20.0, sender, loss(AppliesTo::Data, LossLaw::Bernoulli { probability: 0.02 }));
    let mut with_others = alone.clone();
    link_of(&mut with_others, 1).loss = loss(AppliesTo::Acks, LossLaw::Bernoulli { probability: 0.02 });
    link_of(&mut with_others, 0).queue.overflow = Overflow::Random;
    let lost = |scenario: &Scenario| -> Vec<usize> {
        let outcome = run(scenario);
        let sent =
            outcome.traces.sequence.as_deref().unwrap().iter().filter(|row| row.kind != sim::SequenceKind::Acked);
        let sent: Vec<(Time, u64)> = sent.map(|row| (row.time, row.sequence)).collect();
        let number = |row: &DropRow| sent.iter().position(|&sent| sent == (row.time, row.packet.sequence)).unwrap();
        drops(&outcome).iter().filter(|row| row.link == 0).map(number).collect()
    };
    let (alone, with_others) = (lost(&alone), lost(&with_others));
    let common = alone.len().min(with_others.len());
    assert!(common > 20);
    assert_eq!(alone[..common], with_others[..common]);
}
