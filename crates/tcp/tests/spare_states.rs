//! Receivers that give the state back between two transfers that they need in transfers alone.

use base::{Clock, Marks, Time};
use tcp::{Acknowledgment, Dialect, LinuxReceiver, Receiver, ReceiverConfig, SackBlocks, Selected, SpareStates};

const CLOCK: Clock = Clock::PICOSECONDS;

fn config() -> ReceiverConfig {
    let linux = LinuxReceiver { buffer_bytes: 200_000, most_buffer_bytes: 6_000_000, ..LinuxReceiver::default() };
    ReceiverConfig { selective: true, linux: Some(linux), ..ReceiverConfig::default() }
}

fn receiver(config: &ReceiverConfig) -> Receiver {
    Receiver::new(config, Dialect::Rfc, CLOCK).with_path(CLOCK.time(0.01), Time::ZERO)
}

fn at(ms: u64) -> Time {
    CLOCK.time(ms as f64 * 1e-3)
}

/// An ACK, what it makes known, and the window that it announces.
type Answer = (Acknowledgment, Vec<Selected>, u64);

/// Passes a transfer of 40 packets to a receiver, numbered from `first` on, of which some arrive late; packet 12 arrives
/// `copies` times more. Returns the answers, and those to ACKs whose numbers are old.
fn transfer(receiver: &mut Receiver, first: u64, start_ms: u64, copies: u64) -> Vec<Answer> {
    receiver.begin_transfer(at(start_ms));
    let late = |number: u64| number % 7 == 3;
    let on_time = (0..40).filter(|&number| !late(number));
    let arrivals = on_time.chain((0..40).filter(|&number| late(number))).chain((0..copies).map(|_| 12));
    let mut answers = Vec::new();
    for (index, number) in arrivals.enumerate() {
        let now = at(start_ms + 20 + index as u64);
        let timed = (receiver.deadline() <= now).then(|| receiver.on_timer());
        let at_once = receiver.on_data(now, first + number, at(start_ms + index as u64), Marks::NONE, 0);
        for ack in timed.into_iter().chain(at_once) {
            let mut selected = Vec::new();
            // Every third ACK is lost, and an old one arrives in its place.
            let journal = if index % 3 == 1 { ack.journal.saturating_sub(5) } else { ack.journal };
            receiver.read_journal(journal, ack.next, &mut selected);
            answers.push((ack, selected, receiver.announced_window()));
        }
    }
    assert_eq!((receiver.next(), receiver.held()), (first + 40, 0));
    answers
}

#[test]
fn a_receiver_with_a_spare_state_answers_as_one_with_a_state_of_its_own() {
    let mut own = receiver(&config());
    let mut one = receiver(&config());
    let mut states = SpareStates::of(&mut one).expect("a state that can be spare");
    let mut other = one.clone();
    let (mut entered, mut entered_of_other) = (0, 0);
    for round in 0..4 {
        let (first, start) = (40 * round, 10_000 * round);
        let expected = transfer(&mut own, first, start, round % 2);
        assert!(expected.iter().any(|(_, selected, window)| !selected.is_empty() && *window < u64::MAX));
        // Two receivers that take turns have one state between them.
        for (receiver, entered) in [(&mut one, &mut entered), (&mut other, &mut entered_of_other)] {
            states.give(receiver, *entered);
            assert_eq!(transfer(receiver, first, start, round % 2), expected, "transfer {round}");
            *entered = states.take(receiver, round % 2).expect("all copies have arrived");
            assert!(*entered > 0, "packets out of order are entries of the journal");
        }
    }
}

#[test]
fn a_receiver_keeps_its_state_while_copies_of_packets_may_arrive() {
    let mut receiver = receiver(&config());
    let mut states = SpareStates::of(&mut receiver).expect("a state that can be spare");
    states.give(&mut receiver, 0);
    transfer(&mut receiver, 0, 0, 1);
    assert_eq!(states.take(&mut receiver, 2), None, "a second copy is on its way");
    let answer = receiver.on_data(at(500), 20, at(490), Marks::NONE, 0).expect("an ACK of a duplicate");
    assert!(answer.journal > 0, "the duplicate is in the journal");
    assert!(states.take(&mut receiver, 2).is_some());
}

#[test]
fn a_receiver_that_needs_its_state_between_transfers_shares_none() {
    let mut closing = receiver(&config()).with_close();
    let mut logged = receiver(&config()).with_log();
    let blocks = ReceiverConfig { blocks: Some(SackBlocks { most: 3, bytes: 8 }), ..ReceiverConfig::default() };
    let mut plain = receiver(&ReceiverConfig::default());
    for receiver in [&mut closing, &mut logged, &mut receiver(&blocks), &mut plain] {
        assert!(SpareStates::of(receiver).is_none());
    }
}

/// Windows are in the ACKs themselves; while packets out of order are to be read, they are in the journal.
#[test]
fn an_ack_has_the_window_itself_unless_it_has_packets_out_of_order() {
    let mut receiver = receiver(&config());
    receiver.begin_transfer(at(0));
    let mut answer = |number: u64| {
        receiver.on_data(at(20 + number), number, at(number), Marks::NONE, 0).map(|ack| {
            let mut selected = Vec::new();
            receiver.read_journal(ack.journal, ack.next, &mut selected);
            (Acknowledgment::window_in(ack.journal), receiver.announced_window(), selected.len())
        })
    };
    let in_order: Vec<_> = (0..4).filter_map(&mut answer).collect();
    assert_eq!(in_order.len(), 4, "quick ACKs");
    for pair in in_order.windows(2) {
        assert!(pair[0].1 < pair[1].1, "the window grows with each packet: {pair:?}");
    }
    assert!(in_order.iter().all(|&(own, known, _)| own == Some(known)), "{in_order:?}");
    let (own, known, selected) = answer(5).expect("an ACK of a packet beyond a hole");
    assert_eq!((own, selected), (None, 1));
    assert!(known >= in_order[3].1 && known < u64::MAX, "{known}");
    let (own, known_then, _) = answer(4).expect("an ACK where the hole is filled");
    assert_eq!(own, Some(known_then));
}
