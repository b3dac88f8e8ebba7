//! The sender with selective acknowledgment against recorded runs of the Linux kernel, ACK by ACK.
//!
//! A recording has a line for each ACK that reached the kernel: its time, and the sender's state just before. The path
//! (100 Mbit/s, 50 ms each way) and the losses of the recording are played here, and the recorded ACKs are fed to our
//! sender: their times, what they acknowledge cumulatively, and selectively what has arrived until then.

use std::collections::BTreeSet;

use base::{Clock, Time};
use tcp::cc::SlowStart;
use tcp::{Ack, Actions, LossDetection, LossEvent, Segment, Selected, Selective, SelectiveConfig, State};

const CLOCK: Clock = Clock::PICOSECONDS;

struct Wire {
    now: Time,
    free: Time,
    service: Time,
    forward: Time,
    /// Transmissions of each segment.
    sent: Vec<u32>,
    packets: u64,
    is_lost: Box<dyn Fn(u64, u32, u64) -> bool>,
    /// Segment, from 1, that the path holds until a number of later packets have passed.
    held: Option<(u64, u32)>,
    holding: Option<(u64, Time, u32)>,
    /// Arrivals at the receiver: instant, packet, and when it was sent.
    arrivals: Vec<(Time, u64, Time)>,
    retransmissions: Vec<(Time, u64)>,
}

impl Wire {
    fn new(now: Time, is_lost: Box<dyn Fn(u64, u32, u64) -> bool>) -> Wire {
        Wire {
            now,
            free: Time::ZERO,
            service: CLOCK.time(0.000_12),
            forward: CLOCK.time(0.05),
            sent: Vec::new(),
            packets: 0,
            is_lost,
            held: None,
            holding: None,
            arrivals: Vec::new(),
            retransmissions: Vec::new(),
        }
    }
}

impl Wire {
    /// Lets a packet pass the path, or holds it.
    fn arrive(&mut self, sequence: u64, index: usize) {
        let at = self.free + self.forward;
        if let Some((_, more)) = self.held.filter(|&(segment, _)| segment == sequence + 1 && self.sent[index] == 1) {
            self.holding = Some((sequence, self.now, more));
            return;
        }
        self.arrivals.push((at, sequence, self.now));
        if let Some((held, sent, more)) = self.holding.take() {
            if more > 1 {
                self.holding = Some((held, sent, more - 1));
            } else {
                self.arrivals.push((at, held, sent));
            }
        }
    }
}

impl Actions for Wire {
    fn transmit(&mut self, segment: Segment) {
        let start = self.now.max(self.free);
        self.free = start + self.service;
        let index = usize::try_from(segment.sequence).expect("small");
        if self.sent.len() <= index {
            self.sent.resize(index + 1, 0);
        }
        self.sent[index] += 1;
        self.packets += 1;
        if segment.retransmission {
            self.retransmissions.push((self.now, segment.sequence));
        }
        if !(self.is_lost)(segment.sequence + 1, self.sent[index], self.packets) {
            self.arrive(segment.sequence, index);
        }
    }

    fn loss(&mut self, _: LossEvent) {}
}

/// A sender's state before an ACK.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Line {
    nxt: u64,
    una: u64,
    cwnd: f64,
    ssthresh: f64,
}

/// An ACK of a recording: the sender's state before it, when it arrived, and the receiver's window before it \[packets\].
#[derive(Clone, Copy, Debug)]
struct Recorded {
    seconds: f64,
    line: Line,
    window: u64,
}

/// A line that differs.
#[derive(Debug)]
#[expect(dead_code, reason = "printed")]
struct Difference {
    number: usize,
    seconds: f64,
    kernel: Line,
    ours: Line,
}

fn read(text: &str) -> Vec<Recorded> {
    let recorded = |line: &str| {
        let fields: Vec<i64> = line.split(',').map(|field| field.parse().expect("a number")).collect();
        let [microseconds, nxt, una, cwnd, ssthresh, window] = fields[..] else { panic!("{line}") };
        let number = |value: i64| u64::try_from(value).expect("not negative");
        let ssthresh = if ssthresh < 0 { f64::INFINITY } else { number(ssthresh) as f64 };
        let line = Line { nxt: number(nxt), una: number(una), cwnd: number(cwnd) as f64, ssthresh };
        Recorded { seconds: number(microseconds) as f64 / 1e6, line, window: number(window) }
    };
    text.lines().skip(1).map(recorded).collect()
}

fn state_of(sender: &Selective) -> Line {
    // The kernel's probe shows `tcp_current_ssthresh`.
    let reducing = matches!(sender.state(), State::Cwr | State::Recovery);
    let three_quarters = (sender.cwnd() / 2.0).floor() + (sender.cwnd() / 4.0).floor();
    let ssthresh = if reducing { sender.ssthresh() } else { sender.ssthresh().max(three_quarters) };
    Line { nxt: sender.nxt(), una: sender.una(), cwnd: sender.cwnd(), ssthresh }
}

/// Packets beyond a hole at the receiver, and how much of its arrivals the sender knows.
#[derive(Default)]
struct Told {
    count: usize,
    beyond: BTreeSet<u64>,
    /// Next packet expected.
    next: u64,
    /// Stamp that an ACK echoes (RFC 7323 section 4.3).
    echo: Time,
}

impl Told {
    /// Returns what has arrived until an instant and is not in an earlier ACK, for an ACK of the packets below `next`; `una` is
    /// what was acknowledged before.
    fn news(&mut self, wire: &mut Wire, until: Time, una: u64, next: u64) -> Vec<Selected> {
        wire.arrivals[self.count..].sort_by_key(|&(at, ..)| at);
        let mut news = Vec::new();
        while let Some(&(_, sequence, sent)) = wire.arrivals.get(self.count).filter(|(at, ..)| *at <= until) {
            if sequence == self.next && next <= sequence {
                // The ACK left before this packet, which arrived in the same microsecond.
                break;
            }
            self.count += 1;
            if sequence == self.next {
                self.echo = sent;
            }
            let duplicate = sequence < una || !self.beyond.insert(sequence);
            while self.beyond.contains(&self.next) {
                self.next += 1;
            }
            news.push(Selected { first: sequence, end: sequence + 1, duplicate });
        }
        news
    }
}

/// Plays a recording against our sender, whose path loses what `is_lost` says of a segment (from 1), its copy and the
/// number of the packet; returns the lines that differ.
fn play(
    text: &str,
    config: &SelectiveConfig,
    size: Option<u64>,
    is_lost: impl Fn(u64, u32, u64) -> bool + 'static,
    held: Option<(u64, u32)>,
) -> (Vec<Difference>, Wire) {
    let recorded = read(text);
    let handshake = CLOCK.time(0.100_009);
    let mut sender = Selective::new(config, size, CLOCK);
    let mut wire = Wire::new(handshake, Box::new(is_lost));
    wire.held = held;
    sender.on_handshake(wire.now, handshake);
    sender.on_start(wire.now, &mut wire);
    let (mut told, mut differences) = (Told::default(), Vec::new());
    for (number, &Recorded { seconds, line, .. }) in recorded.iter().enumerate() {
        let now = CLOCK.time(seconds);
        while sender.deadline() <= now {
            wire.now = sender.deadline();
            sender.on_timer(wire.now, &mut wire);
        }
        let ours = state_of(&sender);
        if ours != line {
            differences.push(Difference { number, seconds, kernel: line, ours });
        }
        let after = recorded.get(number + 1).unwrap_or(&recorded[number]);
        // The recorded instants have some microseconds of the path's other links in them.
        let until = now - wire.forward + CLOCK.time(0.000_01);
        let selected = told.news(&mut wire, until, line.una, after.line.una);
        wire.now = now;
        let ack = Ack { next: after.line.una, echo: told.echo, selected: &selected, window: after.window };
        sender.on_ack(now, ack, &mut wire);
    }
    (differences, wire)
}

/// A recording and the settings of its hosts.
struct Case {
    name: &'static str,
    text: &'static str,
    config: SelectiveConfig,
    /// Packets of the transfer.
    size: Option<u64>,
    /// Segments, from 1, whose first `copies` transmissions are lost.
    lost: Vec<u64>,
    copies: u32,
    /// Segment, from 1, that is held until a number of later packets have passed.
    held: Option<(u64, u32)>,
    /// First retransmissions of the recording: microseconds and packet.
    retransmitted: &'static [(u64, u64)],
}

/// Returns a host of the recordings. Its clock is 5.006 ms ahead of a multiple of eight jiffies at their beginning.
fn host(control: &str, loss_detection: LossDetection) -> SelectiveConfig {
    let mut config = SelectiveConfig { loss_detection, ..SelectiveConfig::default() };
    config.tail_loss_probe = loss_detection == LossDetection::Rack;
    config.rto.clock_offset_s = 0.005_006;
    control.clone_into(&mut config.congestion_control.name);
    if control == "reno" {
        config.congestion_control.slow_start = SlowStart::Standard;
    }
    config
}

macro_rules! case {
    ($name:literal, $config:expr, $size:expr, $lost:expr, $copies:literal, $retransmitted:expr) => {
        Case {
            name: $name,
            text: include_str!(concat!("kernel/paths/", $name, ".csv")),
            config: $config,
            size: $size,
            lost: $lost,
            copies: $copies,
            held: None,
            retransmitted: &$retransmitted,
        }
    };
}

fn cases() -> Vec<Case> {
    let rack = || host("reno", LossDetection::Rack);
    let count = || host("reno", LossDetection::Dupack);
    let no_probe = SelectiveConfig { tail_loss_probe: false, ..rack() };
    vec![
        case!("reno_1loss", rack(), None, vec![100], 1, [(504_341, 99)]),
        case!("reno_1loss_norack", count(), None, vec![100], 1, [(504_341, 99)]),
        case!(
            "reno_4loss",
            rack(),
            None,
            vec![100, 101, 104, 110],
            1,
            [(504_581, 99), (504_821, 100), (505_061, 103), (505_421, 109)]
        ),
        case!("reno_half_lost", rack(), None, (161..=240).collect(), 1, [(611_661, 160), (611_901, 161)]),
        case!("reno_lostrtx", rack(), None, vec![100], 2, [(504_341, 99), (607_941, 99)]),
        case!("reno_lostrtx_norack", count(), None, vec![100], 2, [(504_341, 99), (914_994, 99)]),
        case!("tail1_tlp", rack(), Some(50), vec![50], 1, [(706_994, 49)]),
        case!("tail3_tlp", rack(), Some(50), vec![48, 49, 50], 1, [(610_994, 49), (711_116, 47), (811_238, 48)]),
        case!("tail1_notlp", no_probe, Some(50), vec![50], 1, [(706_994, 49)]),
        Case { held: Some((100, 2)), ..case!("reorder2", rack(), None, vec![], 0, []) },
        Case { held: Some((100, 8)), ..case!("reorder8", rack(), None, vec![], 0, [(504_341, 99)]) },
        Case { held: Some((100, 8)), ..case!("reorder8_norack", count(), None, vec![], 0, [(504_341, 99)]) },
        case!("cubic_curve", host("cubic", LossDetection::Rack), None, vec![1000], 1, [(845_505, 999)]),
    ]
}

/// SND.NXT, SND.UNA, cwnd and ssthresh are the kernel's before each ACK, and retransmissions leave within a millisecond of
/// the kernel's.
#[test]
fn each_ack_finds_the_kernels_state() {
    for case in cases() {
        let Case { name, text, config, size, lost, copies, held, retransmitted } = case;
        let is_lost = move |segment, copy, _| lost.contains(&segment) && copy <= copies;
        let (differences, wire) = play(text, &config, size, is_lost, held);
        let first = differences.first();
        assert!(first.is_none(), "{name}: {} lines differ, the first is {first:?}", differences.len());
        for (index, &(microseconds, sequence)) in retransmitted.iter().enumerate() {
            let (at, packet) = wire.retransmissions[index];
            let off = (CLOCK.seconds(at) - microseconds as f64 / 1e6).abs();
            assert!(packet == sequence && off < 1e-3, "{name}: packet {packet} at {at:?}, not {sequence}");
        }
    }
}
