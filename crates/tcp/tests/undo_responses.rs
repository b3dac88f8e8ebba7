//! The window after a spurious timeout, by the rules of Linux, of RFC 4015, and without any.

use base::{Clock, Marks, Time};
use tcp::{Ack, Actions, LossEvent, Segment, Selective, SelectiveConfig, State, UndoResponse};

const CLOCK: Clock = Clock::PICOSECONDS;

#[derive(Default)]
struct Sent(Vec<(u64, bool)>);

impl Actions for Sent {
    fn transmit(&mut self, segment: Segment) {
        assert_eq!(segment.marks.codepoint(), Marks::NONE.codepoint());
        self.0.push((segment.sequence, segment.retransmission));
    }

    fn loss(&mut self, _: LossEvent) {}
}

fn ack(next: u64, echo: Time) -> Ack<'static> {
    Ack { next, echo, selected: &[], window: u64::MAX, marks: Marks::NONE, waited: Time::ZERO }
}

/// Returns the sender after a timeout whose packets were late: an initial window of two packets grows to 16, these are on
/// their way for 2 s, and then one ACK of `acked` of them arrives, which echoes the stamp of an original.
fn after_a_spurious_timeout(undo: UndoResponse, acked: u64) -> Selective {
    let config = SelectiveConfig {
        undo,
        initial_window: 2.0,
        initial_ssthresh: Some(16.0),
        tail_loss_probe: false,
        ..SelectiveConfig::default()
    };
    let (mut sender, mut sent) = (Selective::new(&config, None, CLOCK), Sent::default());
    let mut now = Time::ZERO;
    sender.on_handshake(now, CLOCK.time(0.1), 0, true);
    sender.on_start(now, &mut sent);
    while sender.cwnd() < 16.0 {
        let echo = now;
        now += CLOCK.time(0.1);
        for next in sender.una() + 1..=sender.nxt() {
            sender.on_ack(now, ack(next, echo), &mut sent);
        }
    }
    assert_eq!((sender.cwnd(), sender.flight_size()), (16.0, 16));
    let deadline = sender.deadline();
    sender.on_timer(deadline, &mut sent);
    assert_eq!(sender.state(), State::Loss);
    assert_eq!(sent.0.last(), Some(&(sender.una(), true)));
    sender.on_ack(now + CLOCK.time(2.0), ack(sender.una() + acked, now), &mut sent);
    sender
}

#[test]
fn linux_restores_the_window() {
    let sender = after_a_spurious_timeout(UndoResponse::Linux, 16);
    assert_eq!((sender.state(), sender.ssthresh()), (State::Open, 16.0));
    assert!((16.0..18.0).contains(&sender.cwnd()), "{}", sender.cwnd());
}

/// RFC 4015 section 3.2 (5): cwnd is FlightSize and the acknowledged data, the initial window at most; ssthresh is the
/// FlightSize before the timeout.
#[test]
fn rfc_4015_lets_no_burst_follow() {
    let sender = after_a_spurious_timeout(UndoResponse::Rfc4015, 16);
    assert_eq!((sender.state(), sender.cwnd(), sender.ssthresh()), (State::Open, 2.0, 16.0));
    let sender = after_a_spurious_timeout(UndoResponse::Rfc4015, 1);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (15.0 + 1.0, 16.0));
    let sender = after_a_spurious_timeout(UndoResponse::Rfc4015, 10);
    assert_eq!((sender.cwnd(), sender.ssthresh()), (6.0 + 2.0, 16.0));
}

#[test]
fn without_a_response_the_reduction_stays() {
    let sender = after_a_spurious_timeout(UndoResponse::None, 16);
    assert_eq!((sender.state(), sender.ssthresh()), (State::Open, 8.0));
    // From one packet to ssthresh with the packets of the ACK, and one more.
    assert_eq!(sender.cwnd(), 9.0);
}
