//! ECN as ns-2.35's one-way agents and sinks have it, rule by rule; the cross-check compares whole runs with ns-2.

use base::{Clock, Marks, Time};
use tcp::{
    Ack, Actions, ClassicConfig, Dialect, Ecn, Estimator, HalfWindow, LossEvent, Receiver, ReceiverConfig, Recovery,
    RtoConfig, Segment, Sender, SenderConfig,
};

const CLOCK: Clock = Clock::PICOSECONDS;

#[derive(Default)]
struct Wire(Vec<Segment>);

impl Actions for Wire {
    fn transmit(&mut self, segment: Segment) {
        self.0.push(segment);
    }

    fn loss(&mut self, _: LossEvent) {}
}

/// A sender of ns-2's rules with what it has sent.
struct Party {
    sender: Sender,
    wire: Wire,
}

fn at(ms: u64) -> Time {
    Time::from_ticks(ms * 1_000_000_000)
}

impl Party {
    fn new(recovery: Recovery, initial_window: f64) -> Party {
        let rto = RtoConfig {
            estimator: Estimator::Ticks,
            granularity_s: 0.1,
            min_s: 0.2,
            initial_s: 3.0,
            ..RtoConfig::default()
        };
        let config = ClassicConfig {
            dialect: Dialect::Ns2,
            recovery,
            initial_window,
            half_window: HalfWindow::WholePackets,
            ecn: Ecn::Classic,
            rto,
            ..ClassicConfig::default()
        };
        let mut party =
            Party { sender: Sender::new(&SenderConfig::Classic(config), None, CLOCK), wire: Wire::default() };
        party.sender.on_start(Time::ZERO, &mut party.wire);
        party
    }

    /// Takes ACKs a millisecond apart, which echo a mark or not; returns the windows after each.
    fn hear(&mut self, from_ms: u64, acks: &[(u64, bool)]) -> Vec<f64> {
        let mut windows = Vec::new();
        for (step, &(next, marked)) in acks.iter().enumerate() {
            let ack = Ack {
                next,
                echo: Time::ZERO,
                selected: &[],
                window: u64::MAX,
                marks: Marks::ECE.only_if(marked),
                waited: Time::ZERO,
            };
            self.sender.on_ack(at(from_ms + step as u64), ack, &mut self.wire);
            windows.push(self.sender.cwnd());
        }
        windows
    }

    /// Takes what was sent: numbers, and whether each packet is ECN-capable, and announces a reduction.
    fn sent(&mut self) -> Vec<(u64, bool, bool)> {
        let bits = |segment: Segment| (segment.marks.is_capable(), segment.marks.has(Marks::CWR));
        self.wire.0.drain(..).map(|one| (one.sequence, bits(one).0, bits(one).1)).collect()
    }
}

/// `TcpAgent::output`: the first packet asks for ECN and is not ECN-capable; `TcpAgent::ecn`: one reduction in a window,
/// which the next packet announces.
#[test]
fn an_echo_halves_the_window_once_in_a_window_of_data() {
    let mut party = Party::new(Recovery::Newreno, 8.0);
    assert!(party.wire.0[0].marks.has(Marks::ECE));
    assert_eq!(party.sent()[..2], [(0, false, false), (1, true, false)]);
    // The echo of the first packet is the receiver's consent: no reduction.
    assert_eq!(party.hear(100, &[(1, true), (2, false)]), [9.0, 10.0]);
    assert_eq!(party.sent(), [8, 9, 10, 11].map(|number| (number, true, false)));
    // Packets 2 to 11 are outstanding; other echoes of the same window change nothing, and let nothing grow.
    assert_eq!(party.hear(110, &[(3, true), (4, true), (8, true)]), [5.0; 3]);
    assert_eq!(party.sender.ssthresh(), 5.0);
    assert_eq!(party.sent(), [(12, true, true)]);
    // Congestion avoidance goes on without the echo; an echo beyond packet 11 reduces again.
    assert_eq!(party.hear(120, &[(9, false), (12, true), (13, true)]), [5.2, 5.2, 2.0]);
}

/// `dupack_action`: after an echo the loss in the same window is repaired without another reduction.
#[test]
fn a_loss_in_a_window_that_an_echo_reduced_is_repaired_alone() {
    for (recovery, window, repair) in
        [(Recovery::Reno, 5.0, vec![4]), (Recovery::Newreno, 5.0, vec![4]), (Recovery::Tahoe, 1.0, vec![4])]
    {
        let mut party = Party::new(recovery, 8.0);
        party.hear(100, &[(1, true), (2, false), (3, true), (4, false)]);
        let (cwnd, ssthresh) = (party.sender.cwnd(), party.sender.ssthresh());
        assert_eq!((cwnd, ssthresh), (5.2, 5.0), "{recovery:?}");
        party.sent();
        party.hear(110, &[(4, false), (4, false), (4, false)]);
        assert_eq!(party.sender.ssthresh(), 5.0, "{recovery:?}");
        assert_eq!(party.sender.cwnd().floor(), window, "{recovery:?}");
        let sent: Vec<u64> = party.sent().iter().map(|&(number, ..)| number).filter(|&number| number < 12).collect();
        assert_eq!(sent, repair, "{recovery:?}");
    }
}

/// `TcpAgent::timeout`: after an echo it leaves ssthresh alone; the first echo after a timeout reduces, whatever it
/// acknowledges.
#[test]
fn a_timeout_in_a_window_that_an_echo_reduced_keeps_ssthresh() {
    let mut party = Party::new(Recovery::Newreno, 8.0);
    party.hear(100, &[(1, true), (2, false), (3, true)]);
    let deadline = party.sender.deadline();
    party.sender.on_timer(deadline, &mut party.wire);
    assert_eq!((party.sender.cwnd(), party.sender.ssthresh()), (1.0, 5.0));
    // Another timeout halves it as ever: the window of one packet gives the least of two.
    let deadline = party.sender.deadline();
    party.sender.on_timer(deadline, &mut party.wire);
    assert_eq!((party.sender.cwnd(), party.sender.ssthresh()), (1.0, 2.0));
    party.sent();
    assert_eq!(party.hear(9000, &[(3, true)]), [0.0], "an ACK of nothing new");
    assert_eq!(party.sender.deadline(), deadline + (party.sender.rto()), "the timer is as it was");
}

/// `TcpAgent::newtimer`, RFC 3168 section 6.1.2: a window below one packet sends the next one as the timer expires.
#[test]
fn a_window_below_one_packet_waits_for_the_timer() {
    let mut party = Party::new(Recovery::Newreno, 1.0);
    assert_eq!(party.hear(100, &[(1, true)]), [2.0]);
    assert_eq!(party.hear(200, &[(3, true)]), [1.0]);
    party.sent();
    let packet = party.sender.una();
    assert_eq!(party.hear(300, &[(packet + 1, true)]), [0.0]);
    assert_eq!((party.sent(), party.sender.flight_size()), (vec![], 0));
    let deadline = party.sender.deadline();
    assert!(deadline > at(300) && deadline < Time::NEVER);
    let ssthresh = party.sender.ssthresh();
    party.sender.on_timer(deadline, &mut party.wire);
    assert_eq!(party.sent(), [(packet + 1, true, true)]);
    assert_eq!((party.sender.cwnd(), party.sender.ssthresh()), (1.0, ssthresh));
}

/// A sink of ns-2's rules that acknowledges every second packet.
fn sink() -> Receiver {
    let config = ReceiverConfig { ack_every: 2, ack_delay_s: 0.1, ecn: Ecn::Classic, ..ReceiverConfig::default() };
    Receiver::new(&config, Dialect::Ns2, CLOCK)
}

/// Lets packets arrive; returns the ACKs: what each expects next, and whether it echoes a mark.
fn acks(receiver: &mut Receiver, packets: &[(u64, Marks)]) -> Vec<(u64, bool)> {
    let mut heard = Vec::new();
    for (step, &(sequence, marks)) in packets.iter().enumerate() {
        let now = at(10 + step as u64);
        heard.extend(receiver.on_data(now, sequence, now, marks, 0).map(|ack| (ack.next, ack.marks.has(Marks::ECE))));
    }
    heard
}

/// `TcpSink::ack`: the bits of the delayed packet and of the new one count together, and a mark outweighs CWR.
#[test]
fn a_sink_takes_bits_in_with_the_ack_of_two_packets() {
    let (ect, ce, cwr) = (Marks::ECT, Marks::CE, Marks::ECT.with(Marks::CWR));
    let mut receiver = sink();
    let packets = [Marks::ECE, ect, ect, ect, ce, cwr, cwr, ect, cwr, ce];
    let found = acks(&mut receiver, &(0..).zip(packets).collect::<Vec<_>>());
    // The first packet is echoed for its request alone.
    assert_eq!(found, [(2, true), (4, false), (6, true), (8, false), (10, true)]);
    // Packet by packet, CWR of the second one would have ended the echo.
    let config = ReceiverConfig { ack_every: 2, ack_delay_s: 0.1, ecn: Ecn::Classic, ..ReceiverConfig::default() };
    let mut other = Receiver::new(&config, Dialect::Rfc, CLOCK);
    assert_eq!(acks(&mut other, &[(0, ect), (1, ect), (2, ce), (3, cwr)]), [(2, false), (4, false)]);
}

/// `DelAckSink::timeout`: the packet that was delayed is acknowledged with its bits.
#[test]
fn a_delayed_ack_echoes_its_packet() {
    let mut receiver = sink();
    assert_eq!(acks(&mut receiver, &[(0, Marks::ECE), (1, Marks::ECT), (2, Marks::CE)]), [(2, true)]);
    assert!(receiver.on_timer().marks.has(Marks::ECE));
    // Until CWR, also beyond a hole.
    assert_eq!(acks(&mut receiver, &[(4, Marks::ECT), (3, Marks::ECT)]), [(3, true), (5, true)]);
    assert_eq!(acks(&mut receiver, &[(5, Marks::ECT.with(Marks::CWR)), (6, Marks::ECT)]), [(7, false)]);
}
