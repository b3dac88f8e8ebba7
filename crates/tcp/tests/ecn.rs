//! The receiver's echo of marks, clause by clause.

use base::{Clock, Marks, Time};
use tcp::{
    Ack, Acknowledgment, Actions, Dialect, Ecn, LinuxReceiver, LossEvent, Receiver, ReceiverConfig, Segment, Selective,
    SelectiveConfig, State,
};

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
            let ack = self.receiver.on_data(at(ms), sequence, at(ms), marks, 0);
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

/// Linux `tcp_data_queue_ofo` looks at the mark before it holds the packet.
#[test]
fn the_ack_of_the_packets_before_a_mark_does_not_report_a_packet_beyond_a_hole() {
    for linux in [false, true] {
        let mut host = Host::new(Ecn::Dctcp, linux);
        host.receive(1, &(0..200).map(|sequence| (sequence, ECT)).collect::<Vec<_>>());
        host.wait(250);
        host.receive(300, &[(200, ECT)]);
        let reported = |receiver: &mut Receiver, ack: Acknowledgment| {
            let mut selected = Vec::new();
            receiver.read_journal(ack.journal, ack.next, &mut selected);
            (ack.next, ack.marks.has(Marks::ECE), selected.len())
        };
        let before = host.receiver.on_data(at(301), 202, at(301), CE, 0).expect("the ACK that was delayed");
        assert_eq!(reported(&mut host.receiver, before), (201, false, 0), "by Linux: {linux}");
        let with = host.receiver.on_timer();
        assert_eq!(reported(&mut host.receiver, with), (201, true, 1), "by Linux: {linux}");
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

/// RFC 9768 section 3.2.2.5.1: the first mark in a row is acknowledged at once, and so is the second one since the last
/// ACK; ACE counts all of them, from 5 on. A packet that has arrived before is not acceptable, and does not count (section 3.2).
#[test]
fn accurate_acks_count_marks() {
    for linux in [false, true] {
        let linux = linux.then(|| LinuxReceiver { most_buffer_bytes: 131_072, ..LinuxReceiver::default() });
        let ecn = Ecn::Accurate;
        let config = ReceiverConfig { ack_every: 100, ack_delay_s: 1.0, selective: true, ecn, linux, blocks: None };
        let mut receiver = Receiver::new(&config, Dialect::Rfc, CLOCK);
        let mut acks = Vec::new();
        // Linux begins with quick ACKs, until its window stops to grow.
        let first = if linux.is_some() { 200 } else { 0 };
        for number in 0..first {
            receiver.on_data(at(number), number, at(number), ECT, 0);
            while receiver.deadline() <= at(number) {
                receiver.on_timer();
            }
        }
        if linux.is_some() {
            while receiver.deadline() < Time::NEVER {
                receiver.on_timer();
            }
        }
        let marks = [(0, ECT), (1, CE), (2, CE), (3, CE), (4, ECT), (5, CE), (0, CE)];
        for (step, (offset, bits)) in (300..).zip(marks) {
            let ack = receiver.on_data(at(step), first + offset, at(step), bits, 0);
            acks.extend(ack.map(|ack| (step - 300, ack.next - first, ack.marks.ace())));
        }
        // By Linux's rules two packets are acknowledged in any case.
        assert_eq!(acks, [(1, 2, 6), (3, 4, 0), (5, 6, 1), (6, 6, 1)], "by Linux: {}", linux.is_some());
        receiver.begin_transfer(at(400));
        let ack = receiver.on_data(at(401), first + 6, at(401), CE, 0);
        assert_eq!(ack.map(|ack| ack.marks.ace()), Some(6), "the next transfer counts from 5 again");
    }
}

#[derive(Default)]
struct Wire(Vec<Segment>);

impl Actions for Wire {
    fn transmit(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    fn loss(&mut self, _: LossEvent) {}
}

fn sender(control: &str, ecn: Ecn, wire: &mut Wire) -> Selective {
    let mut config = SelectiveConfig { ecn, initial_window: 20.0, ..SelectiveConfig::default() };
    control.clone_into(&mut config.congestion_control.name);
    let mut sender = Selective::new(&config, None, CLOCK);
    sender.on_start(at(0), wire);
    sender
}

fn hear(sender: &mut Selective, wire: &mut Wire, ms: u64, next: u64, ace: u8) -> (State, f64) {
    let ack = Ack { next, echo: at(0), selected: &[], window: u64::MAX, marks: Marks::of_ace(ace), waited: Time::ZERO };
    sender.on_ack(at(ms), ack, wire);
    (sender.state(), sender.ssthresh())
}

/// RFC 9768 section 3.2.2.2: a difference of the counter is that many marks; one reduction in a window of data.
#[test]
fn a_sender_reads_marks_from_the_counter() {
    let mut wire = Wire::default();
    let mut sender = sender("reno", Ecn::Accurate, &mut wire);
    assert!(wire.0.iter().all(|segment| segment.marks.codepoint() == 2 && segment.marks.ace() == 5));
    assert_eq!(hear(&mut sender, &mut wire, 100, 2, 5), (State::Open, f64::INFINITY));
    // Without news the counter of an ACK counts for nothing: another one has superseded it.
    assert_eq!(hear(&mut sender, &mut wire, 101, 2, 7).0, State::Open);
    assert_eq!(hear(&mut sender, &mut wire, 102, 4, 6), (State::Cwr, 11.0));
    assert_eq!(hear(&mut sender, &mut wire, 103, 6, 0), (State::Cwr, 11.0));
    // The same counter adds no further mark, although its bit ECE is set.
    assert_eq!(hear(&mut sender, &mut wire, 104, 8, 1).0, State::Cwr);
    let mut next = 8;
    while sender.state() == State::Cwr && next < sender.nxt() {
        next += 2;
        hear(&mut sender, &mut wire, 100 + next, next, 1);
    }
    assert_eq!((sender.state(), sender.cwnd().floor()), (State::Open, 11.0));
    assert!(wire.0.iter().all(|segment| !segment.marks.has(Marks::CWR)));
}

/// RFC 9768 section 3.2.2.5.2: a counter that has not moved may have gone round if eight packets are acknowledged.
#[test]
fn a_sender_takes_the_safest_case() {
    let mut wire = Wire::default();
    let mut first = sender("reno", Ecn::Accurate, &mut wire);
    assert_eq!(hear(&mut first, &mut wire, 100, 7, 5).0, State::Open);
    let mut second = sender("reno", Ecn::Accurate, &mut wire);
    assert_eq!(hear(&mut second, &mut wire, 100, 8, 5).0, State::Cwr);
}

/// RFC 9331 section 4.1: data of a control of L4S are ECT(1).
#[test]
fn data_of_prague_are_of_the_codepoint_of_l4s() {
    for (control, ecn, codepoint) in
        [("prague", Ecn::Accurate, 1), ("prague", Ecn::Off, 0), ("dctcp", Ecn::Dctcp, 2), ("reno", Ecn::Classic, 2)]
    {
        let mut wire = Wire::default();
        sender(control, ecn, &mut wire);
        assert!(wire.0.iter().all(|segment| segment.marks.codepoint() == codepoint), "{control} {ecn:?}");
    }
}
