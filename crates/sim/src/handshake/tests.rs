use tcp::{ClassicConfig, SenderConfig};

use super::*;

fn tls() -> Handshake {
    let config = HandshakeConfig { syn_bytes: 60, timeout_s: 1.0, client_hello_packets: 2, server_hello_packets: 3 };
    let clock = Clock::new(1000);
    let exact = TimerWheel::of(&SenderConfig::Classic(ClassicConfig::default()), clock);
    Handshake::new(config, exact, clock)
}

/// Returns a packet of a request that was sent at `stamp` seconds.
fn request(number: u32, marks: Marks, stamp: u64) -> Packet {
    Packet { journal: number, marks, stamp: seconds(stamp), ..Packet::default() }
}

fn seconds(seconds: u64) -> Time {
    Time::from_ticks(1000 * seconds)
}

#[test]
fn a_syn_is_sent_again_after_one_two_and_four_seconds() {
    let mut handshake = tls();
    handshake.begin(seconds(10));
    assert_eq!(request_at(&mut handshake, 10), (vec![1], Some(60), seconds(11)));
    assert_eq!(handshake.request(seconds(11)).2, seconds(13));
    assert_eq!(handshake.request(seconds(13)).2, seconds(17));
    assert_eq!(handshake.repeated(), 2);
    for _ in 0..10 {
        handshake.request(seconds(0));
    }
    assert_eq!(handshake.request(seconds(0)).2, seconds(120));
}

const ASKING: Marks = Marks::ECE.with(Marks::CWR);

/// Returns a handshake whose SYNs arrived with these bits, in this order.
fn with_syns(arriving: &[Marks]) -> Handshake {
    let mut handshake = tls();
    handshake.begin(seconds(10));
    for &marks in arriving {
        handshake.on_request(&request(1, marks, 10), seconds(11));
    }
    handshake
}

#[test]
fn a_connection_is_plain_if_the_first_syn_that_arrives_does_not_ask_for_ecn() {
    for (arriving, plain) in [([ASKING, Marks::NONE], false), ([Marks::NONE, ASKING], true)] {
        let mut handshake = with_syns(&arriving);
        assert_eq!(handshake.is_plain(), plain);
        assert_eq!(handshake.marks_of_answer(), Marks::ECE.only_if(!plain));
        handshake.begin(seconds(20));
        assert_eq!(handshake.syn, None, "another connection");
    }
}

/// RFC 9768, table 2: not-ECT, ECT(1), ECT(0), CE.
#[test]
fn accurate_feedback_tells_how_the_syn_and_its_answer_arrived() {
    let table = [(Marks::NONE, 0b010), (Marks::ECT1, 0b011), (Marks::ECT, 0b100), (Marks::CE, 0b110)];
    for (arrived, ace) in table {
        let handshake = with_syns(&[ASKING.with(Marks::AE).with(arrived)]);
        assert_eq!(handshake.marks_of_answer().ace(), ace);
        assert_eq!(handshake.marks_of_ack(Marks::NONE, arrived).ace(), ace);
    }
    assert_eq!(with_syns(&[ASKING]).marks_of_ack(Marks::ECT, Marks::CE), Marks::ECT, "classic ECN has no such note");
}

/// Returns the numbers of the packets that answer a packet of a request, and their length.
fn answer(handshake: &mut Handshake, number: u32) -> Option<(Vec<u32>, Option<u16>)> {
    let answer = handshake.on_request(&request(number, Marks::NONE, 0), seconds(1));
    answer.map(|answer| (answer.numbers.collect(), answer.bytes))
}

/// Returns the numbers of a request that is sent now, the length of its packets, and its timer's expiry.
fn request_at(handshake: &mut Handshake, now: u64) -> (Vec<u32>, Option<u16>, Time) {
    let (numbers, bytes, again) = handshake.request(seconds(now));
    (numbers.collect(), bytes, again)
}

#[test]
fn the_answer_to_a_syn_is_sent_again_five_times() {
    let mut handshake = tls();
    handshake.begin(seconds(0));
    handshake.on_request(&request(1, ASKING, 0), seconds(2));
    for due in [3, 5, 9, 17, 33] {
        assert_eq!(handshake.answer_due(), seconds(due));
        let again = handshake.on_answer_timer(seconds(due)).unwrap();
        assert_eq!(
            (again.request, again.numbers.collect::<Vec<_>>(), again.bytes),
            (request(1, ASKING, 0), vec![1], Some(60))
        );
    }
    assert_eq!(handshake.answer_due(), seconds(65));
    assert_eq!((handshake.on_answer_timer(seconds(65)), handshake.answer_due()), (None, Time::NEVER));
    let answered = handshake.on_request(&request(1, Marks::NONE, 63), seconds(66)).unwrap();
    assert_eq!(
        (answered.request.stamp, handshake.answer_due()),
        (seconds(63), seconds(67)),
        "a new SYN to the receiver"
    );
}

#[test]
fn a_syn_that_arrives_again_is_answered_for_the_first_and_restarts_the_timer() {
    let mut handshake = tls();
    handshake.begin(seconds(0));
    handshake.on_request(&request(1, ASKING, 0), seconds(2));
    handshake.on_answer_timer(seconds(3));
    let answered = handshake.on_request(&request(1, Marks::NONE, 1), seconds(4)).unwrap();
    assert_eq!((answered.request.stamp, handshake.answer_due()), (seconds(0), seconds(6)));
    assert!(handshake.on_answer(1));
    assert!(handshake.next(seconds(3)));
    assert_eq!(handshake.answer_due(), Time::NEVER);
}

#[test]
fn each_packet_of_a_hello_is_needed() {
    let mut handshake = tls();
    handshake.begin(seconds(0));
    handshake.request(seconds(0));
    assert_eq!(answer(&mut handshake, 1), Some((vec![1], Some(60))));
    assert!(handshake.on_answer(1));
    assert!(handshake.next(seconds(3)));
    assert_eq!(request_at(&mut handshake, 5), (vec![257, 258], None, seconds(8)));
    assert_eq!(answer(&mut handshake, 1), None, "a late SYN");
    assert_eq!(answer(&mut handshake, 258), None);
    assert_eq!(answer(&mut handshake, 257), Some((vec![257, 258, 259], None)));
    assert_eq!(answer(&mut handshake, 257), None, "sent again");
    assert_eq!(answer(&mut handshake, 258), Some((vec![257, 258, 259], None)));
    assert_eq!([258, 259, 259, 257, 257].map(|number| handshake.on_answer(number)), [false, false, false, true, false]);
    assert!(!handshake.next(seconds(3)) && !handshake.goes_on());
    assert!(!handshake.on_answer(257));
}

#[test]
fn what_arrived_of_a_hello_is_not_sent_again() {
    let mut handshake = tls();
    handshake.begin(seconds(0));
    handshake.request(seconds(0));
    answer(&mut handshake, 1);
    handshake.on_answer(1);
    handshake.next(seconds(3));
    request_at(&mut handshake, 1);
    answer(&mut handshake, 257);
    assert_eq!(request_at(&mut handshake, 4).0, [258]);
    assert_eq!(answer(&mut handshake, 258), Some((vec![257, 258, 259], None)));
    assert!(!handshake.on_answer(258));
    assert_eq!(request_at(&mut handshake, 10).0, [258], "the last packet asks for the rest of the answer");
    assert_eq!(answer(&mut handshake, 258), Some((vec![257, 259], None)));
    assert!(!handshake.on_answer(259) && handshake.on_answer(257));
}
