use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::Arc;

use base::cast::to_u32;
use base::{Clock, Marks, RandomStream, Time};

use super::*;
use crate::classic::rules::Rules;
use crate::{
    Ack, Acknowledgment, Actions, Classic, ClassicConfig, Ecn, Estimator, HalfWindow, Increase, LossEvent,
    PartialAckTimer, Receiver, ReceiverConfig, Recovery, RtoConfig, RttSample, Segment, SlowStartWhile,
};

/// An axis: its name, and a function that copies its value from the second row to the first.
type Axis = (&'static str, fn(&mut Quirks, &Quirks));

macro_rules! axes {
    ($($axis:ident)*) => { [$((stringify!($axis), |row: &mut Quirks, other: &Quirks| row.$axis = other.$axis)),*] };
}

const AXES: [Axis; 18] = axes! {
    halve whole_ssthresh recovery_window full_ack second_fast_retransmit fast_retransmit_sends_new_data
    fast_retransmit_restarts_timer newreno_burst limited_transmit timeout_ssthresh timeout_resets_tahoe_dupacks repeated_timeout_resets_recover
    timer_restart partial_ack_is_sampled recovery_is_timed timestamp_ends_backoff duplicate_of_last_is_delayed
    echoes_with_acks
};

/// Returns name and value of each field of a row, as `Debug` prints them.
fn fields(row: &Quirks) -> Vec<(String, String)> {
    let text = format!("{row:#?}");
    let field =
        |line: &str| line.trim().trim_end_matches(',').split_once(": ").map(|(n, v)| (n.to_owned(), v.to_owned()));
    text.lines().filter_map(field).collect()
}

/// The documentation of [`Dialect`] shows this table.
#[test]
fn the_documented_table_of_dialects_holds_the_rows() {
    let mut table = "| axis |".to_owned();
    Dialect::ALL.iter().for_each(|dialect| write!(table, " `{}` |", dialect.name()).unwrap());
    table += "\n|---|---|---|---|\n";
    let rows: Vec<_> = Dialect::ALL.iter().map(|&dialect| fields(&Quirks::of(dialect))).collect();
    for (axis, (name, _)) in rows[0].iter().enumerate() {
        write!(table, "| `{name}` |").unwrap();
        rows.iter().for_each(|row| write!(table, " {} |", row[axis].1).unwrap());
        table += "\n";
    }
    assert_eq!(table, include_str!("dialects.md"), "quirks/dialects.md must be:\n{table}");
}

/// Axes without effect in a dialect. After a timeout of the RFCs' Tahoe `recover` rules out a fast retransmit, and
/// limited transmit sends new data only, so that the count of duplicate ACKs does not matter.
const WITHOUT_EFFECT: [(&str, Dialect); 1] = [("timeout_resets_tahoe_dupacks", Dialect::Rfc)];

/// Each axis changes some transfer, for each two dialects with different values.
#[test]
fn each_axis_has_an_effect_in_each_dialect() {
    let names: Vec<_> = fields(&Quirks::RFC).into_iter().map(|(name, _)| name).collect();
    assert_eq!(AXES.map(|(name, _)| name).to_vec(), names);
    for (name, copy) in AXES {
        for (dialect, other) in pairs() {
            let row = Quirks::of(dialect);
            let mut changed = row;
            copy(&mut changed, &Quirks::of(other));
            if changed == row {
                continue;
            }
            let ecn = if name.starts_with("echoes") { Ecn::Classic } else { Ecn::Off };
            let differs = (0..MOST_TRANSFERS).any(|seed| transfer(row, ecn, seed) != transfer(changed, ecn, seed));
            assert_eq!(differs, !WITHOUT_EFFECT.contains(&(name, dialect)), "{name} of {other:?} in {dialect:?}");
        }
    }
}

fn pairs() -> impl Iterator<Item = (Dialect, Dialect)> {
    Dialect::ALL.iter().flat_map(|&one| Dialect::ALL.iter().map(move |&other| (one, other)))
}

/// Random transfers that are tried before an axis counts as one without effect.
const MOST_TRANSFERS: u64 = 3000;

/// Runs a random transfer with the quirks; returns all segments and ACKs.
fn transfer(quirks: Quirks, ecn: Ecn, seed: u64) -> Vec<(Time, Message)> {
    let mut random = RandomStream::named(seed, 0, "transfer");
    let config = ClassicConfig { ecn, ..config(&mut random) };
    let mut sender = Classic::new(&config, Some(60), Clock::PICOSECONDS);
    sender.rules = Arc::new(Rules { quirks, ..Rules::new(&config, Clock::PICOSECONDS) });
    let ack_every = 1 + to_u32(random.below(2));
    let receiver = Receiver::with_quirks(
        &ReceiverConfig { ack_every, ack_delay_s: 0.1, ecn: config.ecn, ..ReceiverConfig::default() },
        &quirks,
        Clock::PICOSECONDS,
    );
    let mut channel = Channel::default();
    sender.on_start(Time::ZERO, &mut channel);
    let loss = random.uniform() * 0.3;
    let mut ends = Ends { sender, receiver, channel };
    for _ in 0..500 {
        if !ends.step(|| random.uniform() < loss) {
            break;
        }
    }
    ends.channel.sent
}

/// A sender and a receiver with the channel between them.
struct Ends {
    sender: Classic,
    receiver: Receiver,
    channel: Channel,
}

impl Ends {
    /// Handles the next arrival or timer; returns whether there was one.
    fn step(&mut self, is_lost: impl FnOnce() -> bool) -> bool {
        let Ends { sender, receiver, channel } = self;
        let arrival = channel.travelling.first_key_value().map_or(Time::NEVER, |(&(time, _), _)| time);
        let now = arrival.min(sender.deadline()).min(receiver.deadline());
        channel.now = now;
        if now == Time::NEVER {
            return false;
        }
        if receiver.deadline() == now {
            channel.send(Message::Ack(receiver.on_timer()));
        } else if sender.deadline() == now {
            sender.on_timer(now, channel);
        } else {
            let (_, message) = channel.travelling.pop_first().expect("a message arrives now");
            match message {
                _ if is_lost() => {}
                Message::Ack(Acknowledgment { next, echo, marks, .. }) => {
                    let marked = marks.has(Marks::ECE);
                    sender.on_ack(
                        now,
                        Ack {
                            next,
                            echo,
                            selected: &[],
                            window: u64::MAX,
                            marks: Marks::ECE.only_if(marked),
                            waited: Time::ZERO,
                        },
                        channel,
                    );
                }
                Message::Data(sequence, stamp, marks) => {
                    if let Some(ack) = receiver.on_data(now, sequence, stamp, marks, 0) {
                        channel.send(Message::Ack(ack));
                    }
                }
            }
        }
        true
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Message {
    Data(u64, Time, Marks),
    Ack(Acknowledgment),
}

/// Messages in flight, by arrival and number, and all messages ever sent.
#[derive(Default)]
struct Channel {
    now: Time,
    travelling: BTreeMap<(Time, usize), Message>,
    sent: Vec<(Time, Message)>,
}

impl Channel {
    fn send(&mut self, message: Message) {
        // Messages overtake one another.
        let number = self.sent.len();
        let delay = Clock::PICOSECONDS.time(0.05 + 0.05 * (number % 7) as f64);
        self.sent.push((self.now, message));
        self.travelling.insert((self.now + delay, number), message);
    }
}

impl Actions for Channel {
    fn transmit(&mut self, segment: Segment) {
        let mut marks = segment.marks;
        if self.sent.len().is_multiple_of(5) {
            marks.mark();
        }
        self.send(Message::Data(segment.sequence, self.now, marks));
    }

    fn loss(&mut self, _: LossEvent) {}
}

fn config(random: &mut RandomStream) -> ClassicConfig {
    let window = 1.0 + random.below(20) as f64;
    ClassicConfig {
        dialect: Dialect::Rfc,
        recovery: any(random, Recovery::ALL),
        initial_window: window,
        initial_ssthresh: None,
        max_window: Some(window + random.below(10) as f64),
        slow_start_while: any(random, SlowStartWhile::ALL),
        increase: any(random, Increase::ALL),
        half_window: any(random, HalfWindow::ALL),
        dupack_threshold: Some(1 + to_u32(random.below(5))),
        limited_transmit: random.below(2) == 0,
        max_burst: None,
        partial_ack_timer: any(random, PartialAckTimer::ALL),
        rto: RtoConfig {
            estimator: any(random, Estimator::ALL),
            sample: any(random, RttSample::ALL),
            k: 4,
            granularity_s: 0.01,
            min_s: 0.05,
            max_s: 0.1 + random.uniform(),
            initial_s: 1.0,
            max_backoff: 1 + to_u32(random.below(8)),
            clock_offset_s: 0.0,
        },
        ecn: Ecn::Off,
    }
}

fn any<T: Copy>(random: &mut RandomStream, values: &[T]) -> T {
    values[random.below(values.len())]
}
