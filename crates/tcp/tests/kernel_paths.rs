//! The sender with selective acknowledgment against recorded runs of the Linux kernel, ACK by ACK.
//!
//! A recording has a line for each ACK that reached the kernel: its time, and the sender's state just before. The path
//! (mostly 100 Mbit/s, 50 ms each way) and the losses of the recording are played here, and the recorded ACKs are fed to our
//! sender: their times, what they acknowledge cumulatively, and selectively what has arrived until then.

#[path = "kernel/cases.rs"]
mod cases;

use std::collections::BTreeSet;

use base::{Clock, Marks, RandomStream, Time};
use tcp::{
    Ack, Actions, Dialect, Ecn, LinuxReceiver, LossEvent, Pacing, PushConfig, Receiver, ReceiverConfig, Segment,
    Selected, Selective, SelectiveConfig, State,
};

const CLOCK: Clock = Clock::PICOSECONDS;
const MICROSECOND: Time = Time::from_ticks(1_000_000);

struct Wire {
    now: Time,
    free: Time,
    /// Transmissions of each segment.
    sent: Vec<u32>,
    packets: u64,
    fate: Fate,
    /// The packet that is held, and how many have yet to pass.
    holding: Option<(Arrival, u32)>,
    /// Arrivals at the receiver.
    arrivals: Vec<Arrival>,
    retransmissions: Vec<(Time, u64)>,
    /// Packets with PSH, in the order of their first transmissions.
    pushed: Vec<u64>,
}

/// Losses, marks and delays of the path.
#[derive(Clone, Default)]
struct Fate {
    /// Time of a packet on the link \[s\].
    service_s: f64,
    /// Propagation delay of ACKs, half of the round trip \[s\].
    back_s: f64,
    /// Time of the handshake beyond the propagation delays \[s\].
    handshake_s: f64,
    /// Packets that the queue holds, with the one in service, if it is limited.
    buffer: Option<u64>,
    /// Reading of the kernel's clock at the beginning, less whole milliseconds \[s\].
    clock_s: f64,
    /// Seed with which a control draws what the kernel drew.
    seed: u64,
    /// Instant from which on the delay of data is another one than that of ACKs, and the delay \[s\].
    changed: Option<(f64, f64)>,
    /// Segments, from 1, whose first `copies` transmissions are lost.
    lost: Vec<u64>,
    copies: u32,
    /// Segments, from 1, whose second transmission is lost.
    lost_again: &'static [u64],
    /// Whether they are lost in front of the link, and not behind it.
    full: bool,
    /// Data packet, counted from 1, that is marked, or of which each multiple is.
    marked: Option<u64>,
    each_multiple: bool,
    /// Segment, from 1, that the path holds until a number of later packets have passed.
    held: Option<(u64, u32)>,
    /// Packet that is shorter than the others, and its time on the link \[s\].
    short: Option<(u64, f64)>,
}

impl Fate {
    /// Returns the propagation delay of data that depart at an instant.
    fn forward(&self, departure: Time) -> Time {
        let later = self.changed.filter(|&(from, _)| departure >= CLOCK.time(from));
        CLOCK.time(later.map_or(self.back_s, |(_, delay)| delay))
    }

    /// Returns the round trip of the handshake.
    fn handshake(&self) -> Time {
        CLOCK.time(2.0 * self.back_s + self.handshake_s)
    }

    /// Returns the time of a packet on the link.
    fn service(&self, packet: u64) -> Time {
        let short = self.short.filter(|&(short, _)| short == packet);
        CLOCK.time(short.map_or(self.service_s, |(_, service)| service))
    }

    fn marks(&self, packet: u64) -> bool {
        self.marked.is_some_and(|number| packet == number || (self.each_multiple && packet.is_multiple_of(number)))
    }
}

/// A packet that reaches the receiver: when, which, when it was sent, and its ECN bits.
#[derive(Clone, Copy)]
struct Arrival {
    at: Time,
    sequence: u64,
    sent: Time,
    marks: Marks,
    echo_age: u32,
}

impl Wire {
    fn new(fate: Fate) -> Wire {
        Wire {
            now: CLOCK.time(fate.clock_s) + fate.handshake(),
            free: Time::ZERO,
            sent: Vec::new(),
            packets: 0,
            fate,
            holding: None,
            arrivals: Vec::new(),
            retransmissions: Vec::new(),
            pushed: Vec::new(),
        }
    }
}

impl Wire {
    /// Lets a packet pass the path, or holds it.
    fn arrive(&mut self, segment: Segment, index: usize, marks: Marks) {
        let Segment { sequence, echo_age, .. } = segment;
        let at = self.free + self.fate.forward(self.free);
        let arrival = Arrival { at, sequence, sent: self.now, marks, echo_age };
        let held = self.fate.held.filter(|&(segment, _)| segment == sequence + 1 && self.sent[index] == 1);
        if let Some((_, more)) = held {
            self.holding = Some((arrival, more));
            return;
        }
        self.arrivals.push(arrival);
        if let Some((held, more)) = self.holding.take() {
            if more > 1 {
                self.holding = Some((held, more - 1));
            } else {
                self.arrivals.push(Arrival { at, ..held });
            }
        }
    }
}

impl Actions for Wire {
    fn transmit(&mut self, segment: Segment) {
        let index = usize::try_from(segment.sequence).expect("small");
        if self.sent.len() <= index {
            self.sent.resize(index + 1, 0);
        }
        self.sent[index] += 1;
        self.packets += 1;
        if segment.retransmission {
            self.retransmissions.push((self.now, segment.sequence));
        } else if segment.marks.has(Marks::PSH) {
            self.pushed.push(segment.sequence);
        }
        let (number, copy) = (segment.sequence + 1, self.sent[index]);
        let again = copy == 2 && self.fate.lost_again.contains(&number);
        let lost = again || (copy <= self.fate.copies && self.fate.lost.contains(&number));
        let service = self.fate.service(segment.sequence);
        // A packet that departs within a microsecond still takes its place.
        let waiting = (self.free + MICROSECOND - self.now).ticks().div_ceil(service.ticks());
        let full = self.free > self.now && self.fate.buffer.is_some_and(|buffer| waiting >= buffer);
        if full || (lost && self.fate.full) {
            return;
        }
        self.free = self.now.max(self.free) + service;
        let mut marks = segment.marks;
        if self.fate.marks(self.packets) {
            marks.mark();
        }
        if !lost {
            self.arrive(segment, index, marks);
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

/// Reads a recording, whose lines are differences from the line before.
fn read(text: &str) -> Vec<Recorded> {
    let mut sums = [0_i64; 6];
    let recorded = |line: &str| {
        for (sum, field) in sums.iter_mut().zip(line.split(',')) {
            *sum += field.parse::<i64>().expect("a number");
        }
        let [microseconds, nxt, una, cwnd, ssthresh, window] = sums;
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
    /// Whether ACKs echo a mark, which each packet decides (RFC 8257), or CE and CWR (RFC 3168).
    marked: bool,
    by_packet: bool,
}

impl Told {
    /// Returns what has arrived until an instant and is not in an earlier ACK, for an ACK of the packets below `next`; `una` is
    /// what was acknowledged before.
    fn news(&mut self, wire: &mut Wire, until: Time, una: u64, next: u64) -> Vec<Selected> {
        wire.arrivals[self.count..].sort_by_key(|arrival| arrival.at);
        let mut news = Vec::new();
        while let Some(&Arrival { sequence, sent, marks, .. }) =
            wire.arrivals.get(self.count).filter(|arrival| arrival.at <= until)
        {
            if sequence == self.next && next <= sequence {
                // The ACK left before this packet, which arrived in the same microsecond.
                break;
            }
            self.count += 1;
            let keeps = self.marked && !self.by_packet && !marks.has(Marks::CWR);
            self.marked = keeps || marks.has(Marks::CE);
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

/// Plays a recording against our sender; returns the lines that differ.
fn play(case: &Case) -> (Vec<Difference>, Wire) {
    let recorded = read(case.text);
    let mut sender = Selective::new(&case.config, case.size, CLOCK);
    let mut wire = Wire::new(case.fate.clone());
    sender.set_random(RandomStream::named(case.fate.seed, 0, "phase"));
    sender.on_handshake(wire.now, case.fate.handshake(), 0, true);
    sender.on_start(wire.now, &mut wire);
    let mut told = Told { by_packet: case.config.ecn == Ecn::Dctcp, ..Told::default() };
    let mut differences = Vec::new();
    for (number, &Recorded { seconds, line, .. }) in recorded.iter().enumerate() {
        let now = CLOCK.time(case.fate.clock_s + seconds);
        // Recorded instants are rounded: what comes so near to the ACK is before it where the recording says so.
        let is_before = |sender: &Selective| {
            let certain = sender.deadline() + MICROSECOND <= now;
            certain || (sender.deadline() <= now + MICROSECOND && sender.nxt() < line.nxt)
        };
        while is_before(&sender) {
            wire.now = sender.deadline();
            sender.on_timer(wire.now, &mut wire);
        }
        let ours = state_of(&sender);
        if ours != line {
            differences.push(Difference { number, seconds, kernel: line, ours });
        }
        let after = recorded.get(number + 1).unwrap_or(&recorded[number]);
        // The recorded instants have some microseconds of the path's other links in them.
        let until = now - CLOCK.time(case.fate.back_s) + CLOCK.time(0.000_01);
        let mut selected = told.news(&mut wire, until, line.una, after.line.una);
        if !case.config.sack {
            selected.clear();
        }
        wire.now = now;
        let ack = Ack {
            next: after.line.una,
            echo: told.echo,
            selected: &selected,
            window: after.window,
            marks: Marks::ECE.only_if(told.marked),
            waited: Time::ZERO,
        };
        sender.on_ack(now, ack, &mut wire);
    }
    (differences, wire)
}

/// A recording and the settings of its hosts.
#[derive(Clone)]
struct Case {
    name: &'static str,
    text: &'static str,
    config: SelectiveConfig,
    /// Packets of the transfer.
    size: Option<u64>,
    fate: Fate,
    /// First retransmissions of the recording: microseconds and packet.
    retransmitted: Vec<(u64, u64)>,
}

/// SND.NXT, SND.UNA, cwnd and ssthresh are the kernel's before each ACK, and retransmissions leave within a millisecond of
/// the kernel's.
#[test]
fn each_ack_finds_the_kernels_state() {
    for case in cases::all() {
        let (differences, wire) = play(&case);
        let Case { name, retransmitted, .. } = case;
        let first = differences.first();
        assert!(first.is_none(), "{name}: {} lines differ, the first is {first:?}", differences.len());
        for (index, &(microseconds, sequence)) in retransmitted.iter().enumerate() {
            let (at, packet) = wire.retransmissions[index];
            let off = (CLOCK.seconds(at) - microseconds as f64 / 1e6).abs();
            assert!(packet == sequence && off < 1e-3, "{name}: packet {packet} at {at:?}, not {sequence}");
        }
    }
}

/// Paced packets leave when the kernel's do: their ACKs arrive within a millisecond of the recorded ones.
///
/// The recorded host handed its packets to `fq` up to three before their departures (`tcp_small_queue_check`), at the
/// rate of that moment, so that its SND.NXT is ahead of ours. While cwnd goes from 11 to 20 packets in a millisecond,
/// and the rate with it, packets 13 to 30 have the old rate there and the new one here: they leave 3.7 ms earlier.
#[test]
fn paced_packets_leave_within_a_millisecond_of_the_kernels() {
    let case = cases::paced(Pacing::Linux);
    let (differences, wire) = play(&case);
    for Difference { kernel, ours, .. } in differences {
        assert_eq!((kernel.una, kernel.cwnd, kernel.ssthresh), (ours.una, ours.cwnd, ours.ssthresh));
        assert!((ours.nxt..=ours.nxt + 4).contains(&kernel.nxt), "{kernel:?} {ours:?}");
    }
    for pair in read(case.text).windows(2) {
        let acked = pair[1].line.una;
        let arrival = wire.arrivals.iter().find(|arrival| arrival.sequence + 1 == acked).expect("sent");
        let off = CLOCK.seconds(arrival.at + CLOCK.time(case.fate.back_s)) - pair[0].seconds;
        let most = if (13..=30).contains(&acked) { 4e-3 } else { 1e-3 };
        assert!(off.abs() < most, "packet {acked}: {off} s");
    }
}

/// PSH is where the kernel set it, whose application wrote 64 KiB at a time: where the send buffer was full, and for each
/// half of the largest window that the receiver had announced; that was 64 KiB until the first ACK, and more than twice a
/// write from then on. The recorded captures were made again for this (`make crosscheck-linux` has the kernel).
#[test]
fn psh_is_where_the_kernel_sets_it() {
    let recorded: [(&str, &[u64]); 3] = [
        ("cubic_curve", &[22, 67, 113, 158, 203, 248, 294, 339, 366, 489, 624, 794, 1009, 1280, 1625, 2060, 2611]),
        ("reno_1loss", &[22, 67, 113, 158, 203, 248, 294, 339, 366, 489, 612]),
        ("tail1_tlp", &[22, 49]),
    ];
    let cases = cases::all();
    for (name, expected) in recorded {
        let case = cases.iter().find(|case| case.name == name).expect("a recording");
        let push = Some(PushConfig { write_bytes: Some(65536) });
        let (_, wire) = play(&Case { config: SelectiveConfig { push, ..case.config.clone() }, ..case.clone() });
        let ours: Vec<u64> = wire.pushed.into_iter().take(expected.len()).collect();
        assert_eq!(ours, expected, "{name}");
    }
}

/// Returns the numbers of the ACKs that our receiver sends for the packets of a recording, on the path of its ACKs.
fn acknowledge(case: &Case) -> Vec<u64> {
    let linux = LinuxReceiver { buffer_bytes: 2_000_000, most_buffer_bytes: 67_108_864, ..LinuxReceiver::default() };
    let config = ReceiverConfig { selective: true, linux: Some(linux), ..ReceiverConfig::default() };
    let mut receiver = Receiver::new(&config, Dialect::Rfc, CLOCK).with_path(CLOCK.time(case.fate.back_s), Time::ZERO);
    receiver.begin_transfer(CLOCK.time(case.fate.clock_s) + case.fate.handshake());
    let mut acks = Vec::new();
    for &Arrival { at, sequence, sent, marks, echo_age } in &play(case).1.arrivals {
        while receiver.deadline() <= at {
            acks.push(receiver.on_timer().next);
        }
        acks.extend(receiver.on_data(at, sequence, sent, marks, echo_age).map(|ack| ack.next));
    }
    acks
}

/// Linux `tcp_rcv_rtt_measure_ts`: the round trip is that of the ACK whose timestamp a segment echoes, which a sender that
/// paces had got some time before. The receive buffer grows with it, and with that which packets are acknowledged singly: in
/// BBR's startup the first 343 of them. In the recording with drops a millisecond of the kernel's clock begins elsewhere.
#[test]
fn acks_of_packets_that_bbr_paces_are_the_kernels() {
    for (name, exact) in [("bbr_clean", 4723), ("bbr_drops", 1129)] {
        let case = cases::all().into_iter().find(|case| case.name == name).expect("a recording");
        let push = Some(PushConfig { write_bytes: Some(65536) });
        let case = Case { config: SelectiveConfig { push, ..case.config.clone() }, ..case };
        let kernel: Vec<u64> = read(case.text).iter().skip(1).take(exact).map(|recorded| recorded.line.una).collect();
        assert_eq!(acknowledge(&case)[..exact], kernel, "{name}");
    }
}
