//! Senders without selective acknowledgment, and reductions that marks began, as Linux has them: what the recordings of
//! the kernel do not show.

use base::{Clock, Marks, Time};
use tcp::{Ack, Actions, LossDetection, LossEvent, Segment, Selective, SelectiveConfig, State};

const CLOCK: Clock = Clock::PICOSECONDS;

#[derive(Default)]
struct Sent(Vec<(u64, bool)>);

impl Actions for Sent {
    fn transmit(&mut self, segment: Segment) {
        self.0.push((segment.sequence, segment.retransmission));
    }

    fn loss(&mut self, _: LossEvent) {}
}

/// A sender that has sent its initial window of ten packets at the start.
struct Host {
    sender: Selective,
    sent: Sent,
    now: u64,
}

impl Host {
    fn new(change: impl FnOnce(&mut SelectiveConfig)) -> Host {
        let loss_detection = LossDetection::Dupack;
        let defaults = SelectiveConfig::default();
        let mut config = SelectiveConfig { sack: false, loss_detection, tail_loss_probe: false, ..defaults };
        change(&mut config);
        let mut host = Host { sender: Selective::new(&config, None, CLOCK), sent: Sent::default(), now: 100 };
        host.sender.on_handshake(at(100), at(100), 0, true);
        host.sender.on_start(at(100), &mut host.sent);
        host.sent.0.clear();
        host
    }

    /// Lets an ACK arrive a millisecond later, which echoes a stamp; returns what is sent.
    fn hear(&mut self, next: u64, echo: u64, window: u64, marked: bool) -> Vec<(u64, bool)> {
        self.now += 1;
        let ack =
            Ack { next, echo: at(echo), selected: &[], window, marks: Marks::ECE.only_if(marked), waited: Time::ZERO };
        self.sender.on_ack(at(self.now), ack, &mut self.sent);
        std::mem::take(&mut self.sent.0)
    }

    /// Lets an ACK arrive that echoes the start.
    fn ack(&mut self, next: u64) -> Vec<(u64, bool)> {
        self.hear(next, 100, u64::MAX, false)
    }

    fn expire(&mut self) {
        let deadline = self.sender.deadline();
        self.now = deadline.ticks() / 1_000_000_000 + 1;
        self.sender.on_timer(at(self.now), &mut self.sent);
        assert_eq!(std::mem::take(&mut self.sent.0), [(self.sender.una(), true)]);
    }
}

fn at(ms: u64) -> Time {
    Time::from_ticks(ms * 1_000_000_000)
}

/// Linux `tcp_limit_reno_sacked`: the network made the others.
#[test]
fn no_more_duplicate_acks_count_than_packets_can_have_arrived() {
    let mut host = Host::new(|config| config.max_window = Some(10.0));
    let sent: Vec<_> = (0..30).flat_map(|_| host.ack(0)).collect();
    assert_eq!(sent, [(0, true)]);
    // Nine packets have arrived, and one is retransmitted.
    assert_eq!(host.sender.flight_size(), 1);
}

/// RFC 5681 section 2: an ACK with another window is not a duplicate.
#[test]
fn an_ack_that_opens_the_receivers_window_is_no_duplicate() {
    for (step, expected) in [(1, State::Open), (0, State::Recovery)] {
        let mut host = Host::new(|_| ());
        host.hear(1, 100, 20, false);
        (1..=4).for_each(|number| drop(host.hear(1, 100, 20 + step * number, false)));
        assert_eq!(host.sender.state(), expected);
    }
}

/// Linux `tcp_try_undo_loss`: without selective acknowledgment timestamps restore the window, and the state stays.
#[test]
fn an_early_stamp_after_a_timeout_restores_the_window_and_keeps_the_state() {
    for (sack, expected) in [(false, State::Loss), (true, State::Open)] {
        let mut host = Host::new(|config| (config.sack, config.frto) = (sack, false));
        host.expire();
        assert_eq!(host.sender.cwnd(), 1.0);
        host.ack(2);
        assert!(host.sender.cwnd() >= 10.0);
        assert_eq!(host.sender.state(), expected);
    }
}

/// Linux `tcp_clean_rtx_queue`: of two packets of which one was sent again, the other one may have arrived long ago.
#[test]
fn an_ack_of_a_retransmission_and_an_original_proves_no_spurious_timeout() {
    for (sack, spurious) in [(false, false), (true, true)] {
        let mut host = Host::new(|config| (config.sack, config.timestamps) = (sack, false));
        host.expire();
        host.ack(2);
        assert_eq!(host.sender.cwnd() >= 10.0, spurious);
        // Originals alone are proof.
        host.ack(3);
        assert!(host.sender.cwnd() >= 10.0);
    }
}

/// Linux `tcp_process_loss`: RFC 5682 step 3a; new data arrived, so that a packet left the network.
#[test]
fn a_duplicate_ack_of_new_data_after_a_timeout_lets_a_retransmission_out() {
    let mut host = Host::new(|config| config.timestamps = false);
    host.expire();
    assert_eq!(host.ack(1), [(10, false), (11, false)]);
    assert_eq!(host.ack(1), [(1, true)]);
    assert_eq!(host.sender.state(), State::Loss);
}

/// Linux `tcp_fastretrans_alert`: a mark proves the congestion.
#[test]
fn a_mark_in_recovery_forbids_its_undo() {
    for (marked, undone) in [(false, true), (true, false)] {
        let mut host = Host::new(|config| config.ecn = tcp::Ecn::Classic);
        (0..3).for_each(|_| drop(host.ack(0)));
        assert_eq!((host.sender.state(), host.sender.ssthresh()), (State::Recovery, 5.0));
        host.hear(0, 100, u64::MAX, marked);
        let nxt = host.sender.nxt();
        host.ack(nxt);
        assert_eq!(host.sender.cwnd() >= 10.0, undone, "{}", host.sender.cwnd());
    }
}
