//! Properties that hold for every combination of the axes: a sender and a receiver are joined by a channel that loses
//! packets, delays them, and keeps their order or not.

use std::collections::{BTreeMap, BTreeSet};

use crate::outside::{axes, cases};
use base::cast::trunc_to_u64;
use base::{Clock, Marks, RandomStream, Time};
use proptest::prelude::*;
use tcp::{
    Ack, Acknowledgment, Actions, Classic, ClassicConfig, Dialect, Ecn, LossCause, LossEvent, Receiver, ReceiverConfig,
    Recovery, Segment,
};

/// Number of events after which a transfer counts as stuck; the longest one seen takes some ten thousand.
const MOST_EVENTS: u32 = 1_000_000;

proptest! {
    #![proptest_config(cases::config(20_000))]

    #[test]
    fn every_transfer_completes_once_and_in_order_within_its_windows(
        sender in axes::sender(), receiver in axes::receiver(), channel in channel(), size in 1_u64..150, seed in any::<u64>(),
    ) {
        World::new(sender, receiver, channel, size, seed).run();
    }
}

/// The channel in both directions.
#[derive(Clone, Copy, Debug)]
struct Channel {
    data_loss: f64,
    ack_loss: f64,
    delay_s: f64,
    jitter_s: f64,
    ordered: bool,
}

fn channel() -> impl Strategy<Value = Channel> {
    let loss = || prop_oneof![Just(0.0), 0.0..0.1_f64, 0.0..0.5_f64];
    (loss(), loss(), 0.0001..0.3_f64, 0.0..0.3_f64, any::<bool>()).prop_map(
        |(data_loss, ack_loss, delay_s, jitter_s, ordered)| Channel { data_loss, ack_loss, delay_s, jitter_s, ordered },
    )
}

/// A packet in flight.
#[derive(Clone, Copy, Debug)]
enum Message {
    Data(u64, Time),
    Ack(Acknowledgment),
}

/// The actions of the sender in one call.
#[derive(Default)]
struct Recorded {
    segments: Vec<Segment>,
    losses: Vec<LossEvent>,
}

impl Actions for Recorded {
    fn transmit(&mut self, segment: Segment) {
        self.segments.push(segment);
    }

    fn loss(&mut self, loss: LossEvent) {
        self.losses.push(loss);
    }
}

struct World {
    config: ClassicConfig,
    sender: Classic,
    receiver: Receiver,
    ack_delay: Time,
    size: u64,
    now: Time,
    channel: Channel,
    random: RandomStream,
    /// Packets in flight, by arrival, then by the order of sending.
    travelling: BTreeMap<(Time, u64), Message>,
    sent: u64,
    latest: [Time; 2],
    /// One past the highest packet sent.
    highest: u64,
    una: u64,
    lost: bool,
    /// Duplicate ACKs that may inflate the window.
    duplicates: u64,
    /// Packet whose ACK ends fast recovery.
    recover: Option<u64>,
    arrived: BTreeSet<u64>,
    delivered: u64,
    acknowledged: u64,
}

impl World {
    fn new(config: ClassicConfig, receiver: ReceiverConfig, channel: Channel, size: u64, seed: u64) -> World {
        // With ns-2's ECN a window may be below one packet, and the timer runs then; `ns2_ecn.rs` has its rules.
        let config = ClassicConfig { ecn: Ecn::Off, ..config };
        World {
            sender: Classic::new(&config, Some(size), Clock::PICOSECONDS),
            receiver: Receiver::new(&receiver, config.dialect, Clock::PICOSECONDS),
            ack_delay: Clock::PICOSECONDS.time(receiver.ack_delay_s),
            config,
            size,
            now: Time::ZERO,
            channel,
            random: RandomStream::named(seed, 0, "channel"),
            travelling: BTreeMap::new(),
            sent: 0,
            latest: [Time::ZERO; 2],
            highest: 0,
            una: 0,
            lost: false,
            duplicates: 0,
            recover: None,
            arrived: BTreeSet::new(),
            delivered: 0,
            acknowledged: 0,
        }
    }

    fn run(mut self) {
        let mut recorded = Recorded::default();
        self.sender.on_start(self.now, &mut recorded);
        self.check_sender(recorded);
        for _ in 0..MOST_EVENTS {
            let message = self.travelling.first_key_value().map_or(Time::NEVER, |(&(time, _), _)| time);
            let due = message.min(self.sender.deadline()).min(self.receiver.deadline());
            if due == Time::NEVER {
                return self.check_end();
            }
            assert!(due >= self.now, "time goes backwards");
            self.now = due;
            if message == due {
                self.arrive();
            } else if self.receiver.deadline() == due {
                let acknowledgment = self.receiver.on_timer();
                self.check_receiver(Some(acknowledgment));
            } else {
                self.expire();
            }
        }
        panic!(
            "stuck: {} of {} packets acknowledged after {} s",
            self.una,
            self.size,
            Clock::PICOSECONDS.seconds(self.now)
        );
    }

    fn arrive(&mut self) {
        match self.travelling.pop_first() {
            Some((_, Message::Data(sequence, stamp))) => {
                self.arrived.insert(sequence);
                let acknowledgment = self.receiver.on_data(self.now, sequence, stamp, Marks::NONE, 0);
                self.check_receiver(acknowledgment);
            }
            Some((_, Message::Ack(Acknowledgment { next, echo, .. }))) => {
                self.expect_ack(next);
                let mut recorded = Recorded::default();
                self.sender.on_ack(
                    self.now,
                    Ack { next, echo, selected: &[], window: u64::MAX, marks: Marks::NONE, waited: Time::ZERO },
                    &mut recorded,
                );
                self.check_sender(recorded);
            }
            None => unreachable!("a message arrives now"),
        }
    }

    /// Counts duplicates as RFC 5681 section 2 defines them.
    fn expect_ack(&mut self, next: u64) {
        let partial = self.config.recovery == Recovery::Newreno && self.recover.is_some_and(|recover| next < recover);
        if next == self.una && self.una < self.highest {
            self.duplicates += 1;
        } else if next > self.una && !partial {
            self.duplicates = 0;
            self.recover = None;
        }
    }

    fn expire(&mut self) {
        let mut recorded = Recorded::default();
        self.sender.on_timer(self.now, &mut recorded);
        assert!(recorded.losses.iter().any(|loss| loss.cause == LossCause::Timeout), "a timer expired for nothing");
        assert_eq!(self.sender.cwnd(), 1.0, "the loss window is one packet");
        self.recover = None;
        let plain = matches!(self.config.recovery, Recovery::OldTahoe | Recovery::Tahoe);
        if self.config.dialect != Dialect::Ns2 || !plain {
            self.duplicates = 0;
        }
        self.check_sender(recorded);
    }

    /// Checks the sender after each call.
    fn check_sender(&mut self, recorded: Recorded) {
        assert!(self.sender.una() >= self.una, "una goes backwards");
        self.una = self.sender.una();
        assert!(self.una <= self.highest, "una beyond what was sent");
        for loss in recorded.losses {
            self.lost = true;
            assert_eq!(loss.sequence, self.una);
            if loss.cause == LossCause::FastRetransmit && self.config.recovery != Recovery::Tahoe {
                self.recover = Some(self.highest);
            }
        }
        assert!(self.sender.cwnd() >= 1.0, "cwnd {}", self.sender.cwnd());
        assert!(!self.lost || self.sender.ssthresh() >= 2.0, "ssthresh {}", self.sender.ssthresh());
        for segment in recorded.segments {
            self.check_segment(&segment);
            self.transmit(0, self.channel.data_loss, Message::Data(segment.sequence, self.now));
        }
        let outstanding = self.una < self.highest;
        assert_eq!(self.sender.deadline() != Time::NEVER, outstanding, "the timer runs while data is outstanding");
        assert!(self.sender.flight_size() <= self.highest - self.una);
        assert_eq!(self.sender.finished(), self.una == self.size);
    }

    fn check_segment(&mut self, segment: &Segment) {
        let sequence = segment.sequence;
        assert!((self.una..self.size).contains(&sequence), "packet {sequence} is not an open one of the transfer");
        assert_eq!(segment.retransmission, sequence < self.highest, "packet {sequence}");
        assert!(sequence <= self.highest, "packet {sequence} before {}", self.highest);
        assert!(!segment.marks.has(Marks::SLOW_START) || self.recover.is_none(), "slow start in fast recovery");
        self.highest = self.highest.max(sequence + 1);
        // RFC 5681 section 2: the minimum of cwnd, inflated by duplicates, and rwnd.
        let window = trunc_to_u64(self.sender.cwnd()) + self.duplicates;
        let allowed = window.min(self.config.max_window.map_or(u64::MAX, trunc_to_u64));
        assert!(sequence < self.una + allowed, "packet {sequence} beyond {} + {allowed}", self.una);
    }

    /// Checks the receiver after each call.
    fn check_receiver(&mut self, acknowledgment: Option<Acknowledgment>) {
        while self.arrived.contains(&self.delivered) {
            self.delivered += 1;
        }
        assert_eq!(self.receiver.next(), self.delivered, "delivered in order");
        match acknowledgment {
            Some(acknowledgment) => {
                assert_eq!(acknowledgment.next, self.delivered);
                assert!(acknowledgment.next >= self.acknowledged, "ACK numbers go backwards");
                assert!(acknowledgment.echo <= self.now, "an echo from the future");
                self.acknowledged = acknowledgment.next;
                self.transmit(1, self.channel.ack_loss, Message::Ack(acknowledgment));
            }
            // ns-2 also delays the ACK of a retransmission of the last packet in order.
            None if self.config.dialect == Dialect::Ns2 => assert_ne!(self.receiver.deadline(), Time::NEVER),
            None => assert!(self.acknowledged < self.delivered, "nothing new, yet no ACK"),
        }
        let held = self.acknowledged < self.delivered;
        assert!(!held || self.receiver.deadline() != Time::NEVER, "a held ACK has a timer");
        assert!(!held || self.receiver.deadline() <= self.now + self.ack_delay, "held for too long");
    }

    fn transmit(&mut self, way: usize, loss: f64, message: Message) {
        let delay = Clock::PICOSECONDS.time(self.channel.delay_s + self.random.uniform() * self.channel.jitter_s);
        if self.random.uniform() < loss {
            return;
        }
        let mut arrival = self.now + delay;
        if self.channel.ordered {
            arrival = arrival.max(self.latest[way]);
            self.latest[way] = arrival;
        }
        self.sent += 1;
        self.travelling.insert((arrival, self.sent), message);
    }

    fn check_end(&self) {
        assert_eq!((self.una, self.delivered), (self.size, self.size), "all is delivered and acknowledged");
        assert!(self.sender.finished());
        assert_eq!(self.highest, self.size, "nothing beyond the end");
    }
}
