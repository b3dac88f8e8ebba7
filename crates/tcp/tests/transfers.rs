//! A sender whose memory is used again for the next transfer is a new connection.

use crate::outside::cases::config;
use crate::outside::selective_axes::selective;
use base::{Clock, Marks, Time};
use proptest::prelude::*;
use tcp::{Ack, Actions, Classic, ClassicConfig, LossEvent, Recovered, Segment, Selected, Sender, SenderConfig};

const CLOCK: Clock = Clock::new(1_000_000_000);

/// A network that takes note of what is sent.
#[derive(Default)]
struct Sent(Vec<u64>);

impl Actions for Sent {
    fn transmit(&mut self, segment: Segment) {
        self.0.push(segment.sequence);
    }

    fn retransmitting(&mut self, _first: u64, _una: u64) {}

    fn loss(&mut self, _event: LossEvent) {}

    fn recovered(&mut self, _recovered: Recovered) {}
}

/// Sends a transfer of which some first copies are lost, an ACK for each packet that arrives.
fn send_all(sender: &mut Sender, size: u64, lost: &[bool], selective: bool) {
    let (mut sent, mut now, mut done) = (Sent::default(), Time::ZERO, 0);
    let mut arrived = vec![false; usize::try_from(size).unwrap()];
    sender.on_start(now, &mut sent);
    while !sender.finished() {
        assert!(sent.0.len() < 100_000, "the transfer does not end");
        if done == sent.0.len() {
            now = now.max(sender.deadline());
            sender.on_timer(now, &mut sent);
            continue;
        }
        let sequence = sent.0[done];
        let again = sent.0[..done].contains(&sequence);
        done += 1;
        now += CLOCK.time(0.003);
        while sender.deadline() <= now {
            sender.on_timer(sender.deadline(), &mut sent);
        }
        let index = usize::try_from(sequence).unwrap();
        if !again && lost[index % lost.len()] {
            continue;
        }
        let duplicate = std::mem::replace(&mut arrived[index], true);
        let next = arrived.iter().position(|arrived| !arrived).unwrap_or(arrived.len()) as u64;
        let selected = [Selected { first: sequence, end: sequence + 1, duplicate }];
        let news = if selective && (sequence >= next || duplicate) { &selected[..] } else { &[] };
        let echo = now - CLOCK.time(0.003);
        sender.on_ack(
            now,
            Ack { next, echo, selected: news, window: u64::MAX, marks: Marks::NONE, waited: Time::ZERO },
            &mut sent,
        );
    }
}

proptest! {
    #![proptest_config(config(256))]

    #[test]
    fn the_memory_of_a_transfer_that_ended_makes_no_difference_to_the_next(
        config in selective(),
        size in 1_u64..60,
        lost in prop::collection::vec(prop::bool::weighted(0.2), 1..20),
    ) {
        let selective = config.sack;
        let template = Sender::new(&SenderConfig::Selective(config), Some(0), CLOCK);
        let idle = Classic::new(&ClassicConfig::default(), Some(0), CLOCK);
        let mut sender = template.open_at(0, size, Time::ZERO, None);
        send_all(&mut sender, size, &lost, selective);
        let windows = (sender.cwnd(), sender.ssthresh());
        let closed = sender.close(&idle);
        prop_assert!(closed.is_some());
        prop_assert_eq!((sender.cwnd(), sender.ssthresh()), windows);
        prop_assert_eq!((sender.una(), sender.flight_size(), sender.deadline()), (size, 0, Time::NEVER));
        let now = CLOCK.time(100.0);
        let reopened = template.open_at(size, 7, now, closed);
        prop_assert_eq!(format!("{reopened:?}"), format!("{:?}", template.open_at(size, 7, now, None)));
    }
}
