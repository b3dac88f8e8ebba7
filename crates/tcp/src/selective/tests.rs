//! Rules of the kernel that its recorded runs do not show, and of the RFCs where they differ.

use std::collections::VecDeque;

use base::{Clock, Marks, Time};

use super::*;
use crate::actions::{Actions, LossEvent, Segment};
use crate::{LossDetection, Selected, SelectiveConfig, TimeoutRules};

/// Instants are whole microseconds.
const CLOCK: Clock = Clock::new(1_000_000);

struct Unobserved;

impl Actions for Unobserved {
    fn transmit(&mut self, _segment: Segment) {}
    fn loss(&mut self, _event: LossEvent) {}
}

fn us(microseconds: u64) -> Time {
    Time::from_ticks(microseconds)
}

fn sacked(first: u64, end: u64) -> Selected {
    Selected { first, end, duplicate: false }
}

fn ack(next: u64, echo: Time, selected: &[Selected]) -> Ack<'_> {
    Ack { next, echo, selected, window: u64::MAX, marks: Marks::NONE, waited: Time::ZERO }
}

/// Returns a sender that starts at 1 ms, after a handshake with a round trip.
fn start(config: &SelectiveConfig, rtt: Time, size: Option<u64>) -> Selective {
    let mut sender = Selective::new(config, size, CLOCK);
    sender.on_handshake(us(1000), rtt, 0, true);
    sender.on_start(us(1000), &mut Unobserved);
    sender
}

/// RFC 6298 (5.3): an ACK of new data restarts the timer. RFC 8985 section 7.2: a probe is sent when it would expire, at the
/// latest. The round trip of 2 s hardly varies, so that the timeout is hardly longer.
#[test]
fn by_the_rfc_a_timeout_begins_with_the_last_ack() {
    let mut config = SelectiveConfig { initial_window: 4.0, ..SelectiveConfig::default() };
    (config.rto.rules, config.rto.granularity_s) = (TimeoutRules::Rfc6298, 0.0);
    let mut sender = start(&config, us(2_000_000), None);
    let (mut now, mut sent) = (2_001_000, VecDeque::from([1000; 4]));
    for next in 1..400 {
        assert!(sender.deadline() > us(now), "{next}: a timer fires at {:?}, before {now}", sender.deadline());
        let (echo, nxt) = (sent.pop_front().expect("in flight"), sender.nxt());
        sender.on_ack(us(now), ack(next, us(echo), &[]), &mut Unobserved);
        sent.extend((nxt..sender.nxt()).map(|_| now));
        assert_eq!(sender.expiry(), us(now) + sender.rto());
        now = (now + 100_000).max(sent[0] + 2_000_000);
    }
    // Where another timer ran meanwhile, it starts again from then on (RFC 8985 section 7.3).
    let at = us(now) + us(500_000);
    sender.start_reordering(us(now), us(1000));
    sender.restart_rto(at);
    assert_eq!(sender.deadline(), at + sender.rto());
}

/// Linux `tcp_rto_delta_us`: its floor of 200 ms above the round trip allows for a timeout of the first packet.
#[test]
fn by_linux_a_timeout_begins_with_the_first_packet() {
    let mut sender = start(&SelectiveConfig::default(), us(100_000), None);
    sender.on_ack(us(101_000), ack(2, us(1000), &[]), &mut Unobserved);
    assert_eq!(sender.expiry(), us(1000) + sender.rto());
}

/// Linux `tcp_rearm_rto`: what is left of a timeout that has passed is a microsecond, which takes a jiffy.
#[test]
fn an_overdue_timeout_waits_for_a_jiffy() {
    let mut config = SelectiveConfig { initial_window: 4.0, ..SelectiveConfig::default() };
    config.rto.granularity_s = 0.001;
    let mut sender = start(&config, us(100_000), None);
    let now = us(1_000_000);
    sender.start_reordering(us(990_000), us(1000));
    sender.restart_rto(now);
    assert_eq!(sender.deadline(), sender.rules.wheel.fires(now, now + us(1)));
    assert_eq!(sender.deadline(), us(1_002_000));
}

/// Linux `tcp_tsopt_ecr_before`: timestamps count milliseconds.
#[test]
fn the_echo_of_an_original_is_older_by_a_millisecond() {
    for (granularity_s, late, undone) in [(0.001, 0, false), (0.001, 700, true), (0.0, 0, true)] {
        let mut config = SelectiveConfig::default();
        config.rto.granularity_s = granularity_s;
        let mut sender = start(&config, us(300), None);
        // The first packet was overtaken; its retransmission is in the same millisecond, or in the next one.
        sender.on_ack(us(1300 + late), ack(0, us(1000), &[sacked(1, 5)]), &mut Unobserved);
        assert_eq!(sender.state(), State::Recovery);
        sender.on_ack(us(1350 + late), ack(5, us(1000), &[]), &mut Unobserved);
        assert_eq!(sender.state() == State::Open, undone, "{granularity_s} s, {late} us later");
    }
}

/// Linux `tcp_sacktag_write_queue`: no reordering is measured in Loss unless the reduction can be undone.
#[test]
fn reordering_counts_in_loss_if_the_reduction_can_be_undone() {
    for marked in [true, false] {
        let mut config = SelectiveConfig { tail_loss_probe: false, ecn: Ecn::Classic, ..SelectiveConfig::default() };
        config.loss_detection = LossDetection::Dupack;
        let mut sender = start(&config, us(100_000), None);
        // A reduction by marks cannot be undone, and the timeout is covered by it.
        let marks = if marked { Marks::ECE } else { Marks::NONE };
        sender.on_ack(us(101_000), Ack { marks, ..ack(1, us(1000), &[]) }, &mut Unobserved);
        sender.on_ack(us(102_000), ack(1, us(1000), &[sacked(8, 10)]), &mut Unobserved);
        while sender.state() != State::Loss {
            let at = sender.deadline();
            sender.on_timer(at, &mut Unobserved);
        }
        assert_eq!(sender.undo.marker.is_none(), marked);
        sender.on_ack(us(600_000), ack(1, us(1000), &[sacked(2, 3)]), &mut Unobserved);
        let found = (sender.reordering, sender.reordering_seen);
        assert_eq!(found, if marked { (3, false) } else { (8, true) });
    }
}

/// Linux `tcp_check_sack_reordering`: a block is measured against what was acknowledged selectively before the ACK's number.
#[test]
fn a_duplicate_is_not_measured_against_what_its_ack_acknowledges() {
    let config = SelectiveConfig { initial_window: 20.0, tail_loss_probe: false, ..SelectiveConfig::default() };
    let mut sender = start(&config, us(100_000), None);
    let selected = [sacked(1, 2), sacked(3, 8)];
    sender.on_ack(us(101_000), ack(0, us(1000), &selected), &mut Unobserved);
    sender.on_ack(us(201_200), ack(0, us(101_000), &[sacked(2, 3)]), &mut Unobserved);
    assert!(!sender.reordering_seen, "a retransmitted packet says nothing");
    let duplicate = Selected { first: 2, end: 3, duplicate: true };
    sender.on_ack(us(201_900), ack(20, us(101_000), &[duplicate]), &mut Unobserved);
    assert_eq!((sender.reordering, sender.reordering_seen), (6, true));
}

/// Linux `tcp_rack_advance`, `tcp_timeout_mark_lost`: a SYN has a round trip too, so that a timeout before the first ACK of data
/// leaves packets that are younger.
#[test]
fn the_first_timeout_leaves_packets_younger_than_the_handshakes_round_trip() {
    let config = SelectiveConfig { tail_loss_probe: false, writes: None, ..SelectiveConfig::default() };
    let mut sender = start(&config, us(100_000), Some(2));
    sender.supply(us(280_000), 3, &mut Unobserved);
    let at = sender.deadline();
    sender.on_timer(at, &mut Unobserved);
    assert!(at > us(300_000) && at < us(380_000), "{at:?}");
    assert_eq!((sender.state(), sender.board.lost(), sender.cwnd()), (State::Loss, 2, 4.0));
}
