//! The receiver's echo of marks, clause by clause.

use base::{Clock, Marks, Time};
use tcp::{Dialect, Ecn, LinuxReceiver, Receiver, ReceiverConfig};

const CLOCK: Clock = Clock::PICOSECONDS;
const CE: Marks = Marks::CE;
const ECT: Marks = Marks::ECT;

/// A receiver, and the ACKs that it sent: the instant in ms, what it expects next, and whether it echoes a mark.
struct Host {
    receiver: Receiver,
    acks: Vec<(u64, u64, bool)>,
}

impl Host {
    fn new(ecn: Ecn, linux: bool) -> Host {
        let linux = linux.then(|| LinuxReceiver { most_buffer_bytes: 131_072, ..LinuxReceiver::default() });
        let config = ReceiverConfig { ack_every: 2, ack_delay_s: 0.04, selective: true, ecn, linux, blocks: None };
        Host { receiver: Receiver::new(&config, Dialect::Rfc, CLOCK), acks: Vec::new() }
    }

    /// Lets packets arrive, a millisecond after one another from `start` on.
    fn receive(&mut self, start: u64, packets: &[(u64, Marks)]) {
        for (step, &(sequence, marks)) in packets.iter().enumerate() {
            let ms = start + step as u64;
            self.wait(ms);
            let ack = self.receiver.on_data(at(ms), sequence, at(ms), marks);
            self.acks.extend(ack.map(|ack| (ms, ack.next, ack.marks.has(Marks::ECE))));
        }
    }

    /// Sends the delayed ACKs whose timers have expired at an instant.
    fn wait(&mut self, ms: u64) {
        while self.receiver.deadline() <= at(ms) {
            let due = self.receiver.deadline().ticks() / 1_000_000_000;
            let ack = self.receiver.on_timer();
            self.acks.push((due, ack.next, ack.marks.has(Marks::ECE)));
        }
    }

    fn take(&mut self) -> Vec<(u64, u64, bool)> {
        std::mem::take(&mut self.acks)
    }
}

fn at(ms: u64) -> Time {
    Time::from_ticks(ms * 1_000_000_000)
}

/// RFC 3168 section 6.1.3: each ACK has ECE until a packet with CWR arrives.
#[test]
fn each_ack_echoes_a_mark_until_the_sender_has_reduced_its_window() {
    let mut host = Host::new(Ecn::Classic, false);
    host.receive(1, &[(0, ECT), (1, ECT), (2, ECT), (3, CE), (4, ECT), (5, ECT), (7, ECT)]);
    assert_eq!(host.take(), [(2, 2, false), (4, 4, true), (6, 6, true), (7, 6, true)]);
    // CWR ends it, with an ACK at once; the same packet may be marked again.
    host.receive(10, &[(6, ECT.with(Marks::CWR)), (8, ECT), (9, CE.with(Marks::CWR)), (10, ECT)]);
    assert_eq!(host.take(), [(10, 8, false), (12, 10, true)]);
}

/// A sender without ECN is not echoed to, as its packets are never marked.
#[test]
fn without_ecn_nothing_is_echoed() {
    let mut host = Host::new(Ecn::Off, false);
    host.receive(1, &[(0, CE), (1, CE), (3, CE)]);
    assert_eq!(host.take(), [(2, 2, false), (3, 2, false)]);
}

/// RFC 8257 section 3.2: where the mark of packets changes, one ACK echoes those before, and one follows at once.
#[test]
fn a_change_of_marks_is_acknowledged_at_once_and_exactly() {
    for linux in [false, true] {
        let mut host = Host::new(Ecn::Dctcp, linux);
        // Linux begins with quick ACKs, until its window stops to grow.
        let first = if linux { 200 } else { 0 };
        host.receive(1, &(0..first).map(|sequence| (sequence, ECT)).collect::<Vec<_>>());
        host.wait(250);
        host.take();
        let marks = [ECT, ECT, ECT, CE, CE, CE, ECT, ECT];
        let packets: Vec<_> = (first..).zip(marks).collect();
        host.receive(300, &packets);
        host.wait(307);
        let expected = [
            (301, 2, false),
            // The third packet, whose ACK was delayed, and then the fourth one.
            (303, 3, false),
            (303, 4, true),
            (305, 6, true),
            // No ACK is delayed.
            (306, 7, false),
        ];
        assert_eq!(host.take(), expected.map(|(ms, next, echo)| (ms, first + next, echo)), "by Linux: {linux}");
    }
}

/// Linux `__tcp_ecn_check_ce`: the sender's window may be small, so that the next ACKs are not delayed.
#[test]
fn after_a_mark_linux_sends_two_quick_acks() {
    let mut host = Host::new(Ecn::Classic, true);
    host.receive(1, &(0..200).map(|sequence| (sequence, ECT)).collect::<Vec<_>>());
    host.wait(250);
    host.take();
    let packets: Vec<_> = (200..).zip([CE, ECT, ECT, ECT, ECT, ECT]).collect();
    host.receive(300, &packets);
    let expected = [(300, 1), (301, 2), (303, 4), (305, 6)];
    assert_eq!(host.take(), expected.map(|(ms, next)| (ms, 200 + next, true)));
}

/// RFC 3168 section 6.1.5 keeps retransmissions from being marked, so a packet that is not ECN-capable is one.
#[test]
fn after_a_retransmission_linux_sends_quick_acks() {
    let mut host = Host::new(Ecn::Classic, true);
    host.receive(1, &(0..200).map(|sequence| (sequence, ECT)).collect::<Vec<_>>());
    host.wait(250);
    host.take();
    host.receive(300, &[(200, Marks::NONE), (201, ECT), (202, ECT), (203, ECT)]);
    assert_eq!(host.take(), [(300, 201, false), (301, 202, false), (303, 204, false)]);
}

#[test]
fn the_next_transfer_begins_without_an_echo() {
    let mut host = Host::new(Ecn::Classic, false);
    host.receive(1, &[(0, CE), (1, ECT)]);
    host.receiver.begin_transfer(at(5));
    host.receive(6, &[(2, ECT), (3, ECT)]);
    assert_eq!(host.take(), [(2, 2, true), (7, 4, false)]);
}
