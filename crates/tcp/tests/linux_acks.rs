//! Linux's rules for sending ACKs, held against recorded ACKs of the kernel: `linux_acks/*.txt` has the data packets that
//! reached a receiver, and how many of them each ACK acknowledged.
//!
//! The packets' arrivals are those of the recorded senders, behind the path's only link. The receive buffer begins with
//! 2 MB and grows to 64 MiB at most; the application reads at once.

use std::collections::BTreeSet;

use base::{Clock, Marks, Time};
use tcp::{Acknowledgment, Dialect, LinuxReceiver, Receiver, ReceiverConfig};

const CLOCK: Clock = Clock::PICOSECONDS;
/// Time between two packets in a row \[us\].
const SERVICE_US: u64 = 120;
/// Time of an ACK on the return path \[s\].
const RETURN_S: f64 = 0.05;

/// A recorded run.
struct Run {
    /// Packets: arrival \[us\], number, stamp \[us\].
    data: Vec<(u64, u64, u64)>,
    /// Packets with PSH.
    pushed: BTreeSet<u64>,
    /// Numbers of the kernel's ACKs.
    acks: Vec<u64>,
}

fn parse(text: &str) -> Run {
    let mut run = Run { data: Vec::new(), pushed: BTreeSet::new(), acks: Vec::new() };
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let mut words = line.split(' ');
        let kind = words.next();
        let numbers: Vec<u64> = words.map(|word| word.parse().expect("a number")).collect();
        match (kind, numbers.as_slice()) {
            (Some("data"), &[time, count, sequence, first, last]) => run.data.extend((0..count).map(|index| {
                let stamp = first + (last - first) * index / (count - 1).max(1);
                (time + index * SERVICE_US, sequence + index, stamp)
            })),
            (Some("push"), packets) => run.pushed.extend(packets),
            (Some("acks"), &[packets, count]) => {
                for _ in 0..count {
                    run.acks.push(run.acks.last().copied().unwrap_or(0) + packets);
                }
            }
            _ => panic!("not a line of a run: {line}"),
        }
    }
    run
}

/// Returns the numbers of the ACKs that our receiver sends for the packets of a run, and the windows that they announce
/// \[packets\].
fn acknowledge(run: &Run) -> Vec<(u64, u64)> {
    let linux = LinuxReceiver { buffer_bytes: 2_000_000, most_buffer_bytes: 67_108_864, ..LinuxReceiver::default() };
    let config = ReceiverConfig { selective: true, linux: Some(linux), ..ReceiverConfig::default() };
    let mut receiver = Receiver::new(&config, Dialect::Rfc, CLOCK).with_path(CLOCK.time(RETURN_S), Time::ZERO);
    let at = |us: u64| Time::from_ticks(us * 1_000_000);
    receiver.begin_transfer(at(run.data[0].2));
    let mut acks = Vec::new();
    for &(time, sequence, stamp) in &run.data {
        while receiver.deadline() <= at(time) {
            let ack = receiver.on_timer();
            acks.push(read(&mut receiver, ack));
        }
        let marks = Marks::PSH.only_if(run.pushed.contains(&sequence));
        if let Some(ack) = receiver.on_data(at(time), sequence, at(stamp), marks, 0) {
            acks.push(read(&mut receiver, ack));
        }
    }
    acks
}

fn read(receiver: &mut Receiver, ack: Acknowledgment) -> (u64, u64) {
    if ack.journal != 0 {
        receiver.read_journal(ack.journal, ack.next, &mut Vec::new());
    }
    (ack.next, receiver.announced_window())
}

/// Compares our ACKs with the kernel's: the first `exact` ACKs are the same ones, and the number of all differs by a
/// fraction at most.
fn compare(text: &str, exact: usize, fraction: f64) {
    let run = parse(text);
    let ours: Vec<u64> = acknowledge(&run).into_iter().map(|(next, _)| next).collect();
    let first = ours.iter().zip(&run.acks).position(|(ours, kernel)| ours != kernel);
    assert!(first.is_none_or(|first| first >= exact), "ACK {first:?}");
    let last = *run.acks.last().expect("ACKs");
    let (ours, kernel) = (ours.iter().filter(|&&next| next <= last).count(), run.acks.len());
    assert!((ours as f64 / kernel as f64 - 1.0).abs() <= fraction, "{ours} ACKs, {kernel} of the kernel");
}

/// The window grows three times: an ACK for each packet, then for each second one, and again; beyond the hole ACKs are held.
/// A packet with PSH is acknowledged although it is the only one since the last ACK. The first difference is the end of the
/// hole: until then 190 duplicate ACKs are sent here, and 182 there.
#[test]
fn acks_are_the_kernels_while_the_window_grows_and_after() {
    compare(include_str!("linux_acks/V_cubic_curve.txt"), 1116, 0.005);
}

/// The windows are those that the kernel's sender of the same run found before each ACK (`kernel/paths`), and where one
/// reaches its limit, the unit of the window scale (2048 bytes) less.
#[test]
fn windows_are_the_kernels() {
    let run = parse(include_str!("linux_acks/V_cubic_curve.txt"));
    // The recording's lines are differences from the line before.
    let mut sums = [0_u64; 6];
    let recorded = include_str!("kernel/paths/cubic_curve.csv").lines().skip(1).map(|line| {
        for (sum, word) in sums.iter_mut().zip(line.split(',')) {
            *sum = sum.wrapping_add_signed(word.parse().expect("a number"));
        }
        (sums[2], sums[5])
    });
    let kernel: Vec<(u64, u64)> = recorded.skip(1).collect();
    let ours = acknowledge(&run);
    for (index, (ours, kernel)) in ours.into_iter().zip(kernel).take(563).enumerate() {
        let unit = u64::from(index >= 485);
        assert!(ours.0 == kernel.0 && (kernel.1 - unit..=kernel.1).contains(&ours.1), "{index}: {ours:?}, {kernel:?}");
    }
}

/// Each packet beyond the hole enlarges the window, and is acknowledged at once.
#[test]
fn acks_beyond_a_hole_are_the_kernels() {
    compare(include_str!("linux_acks/V_reno_1loss.txt"), usize::MAX, 0.0);
}

/// Returns when the receiver sends the ACKs that it delays, in milliseconds, on a path of 300 ms; four quick ACKs have
/// been sent for packets in the first four milliseconds. Packets from 4 on arrive at the given instants.
fn delayed_acks(arrivals_ms: &[u64]) -> Vec<u64> {
    let linux = LinuxReceiver {
        segment_bytes: 1000,
        buffer_bytes: 16000,
        most_buffer_bytes: 16000,
        announced: false,
        ..LinuxReceiver::default()
    };
    let config = ReceiverConfig { selective: true, linux: Some(linux), ..ReceiverConfig::default() };
    let mut receiver = Receiver::new(&config, Dialect::Rfc, CLOCK).with_path(CLOCK.time(0.3), Time::ZERO);
    let at = |ms: u64| Time::from_ticks(ms * 1_000_000_000);
    for number in 0..4 {
        assert!(receiver.on_data(at(number), number, at(number), Marks::NONE, 0).is_some());
    }
    let mut delayed = Vec::new();
    for (number, &arrival) in (4..).zip(arrivals_ms) {
        assert_eq!(receiver.on_data(at(arrival), number, at(arrival), Marks::NONE, 0), None, "at {arrival} ms");
        delayed.push(receiver.deadline().ticks() / 1_000_000_000);
        receiver.on_timer();
    }
    delayed
}

/// Linux `tcp_sack_new_ofo_skb`: with two runs beyond a hole, a packet of a third one sends the ACK that is held, without
/// that packet, which needs none then (`tcp_ack_snd_check`); packets of the newest run hold it for a millisecond.
#[test]
fn a_third_run_beyond_a_hole_sends_the_held_ack() {
    let linux =
        LinuxReceiver { buffer_bytes: 20_000, most_buffer_bytes: 20_000, announced: false, ..LinuxReceiver::default() };
    let config = ReceiverConfig { selective: true, linux: Some(linux), ..ReceiverConfig::default() };
    let at = |us: u64| CLOCK.time(us as f64 * 1e-6);
    let answers = |sequences: &[u64]| {
        let mut receiver = Receiver::new(&config, Dialect::Rfc, CLOCK).with_path(CLOCK.time(RETURN_S), Time::ZERO);
        receiver.begin_transfer(Time::ZERO);
        // Beyond the quick ACKs of a connection's beginning.
        for sequence in 0..40 {
            receiver.on_data(at(100_000 + 120 * sequence), sequence, at(120 * sequence), Marks::NONE, 0);
        }
        let arrive = |(index, &sequence): (usize, &u64)| {
            let now = at(110_000 + 120 * index as u64);
            receiver.on_data(now, sequence, at(60_000), Marks::NONE, 0).map(|ack| ack.journal)
        };
        sequences.iter().enumerate().map(arrive).collect::<Vec<_>>()
    };
    let reported = |answers: Vec<Option<u32>>| answers.iter().map(|answer| answer.is_some()).collect::<Vec<_>>();
    let in_a_row = answers(&[41, 42, 43, 44, 45, 46, 47, 48]);
    let with_holes = answers(&[41, 43, 45, 47, 49, 51, 53, 55]);
    assert_eq!(reported(in_a_row), [true, true, true, false, false, false, false, false]);
    // The fourth is held, and the next one sends its ACK; the sixth is held again.
    assert_eq!(reported(with_holes.clone()), [true, true, true, false, true, false, true, false]);
    let news: Vec<u32> =
        with_holes.iter().flatten().zip(with_holes.iter().flatten().skip(1)).map(|(a, b)| b - a).collect();
    assert_eq!(news, [1, 1, 1, 2]);
}

/// Returns a receiver whose buffer does not grow, and which announces windows.
fn with_buffer(buffer_bytes: u64, selective: bool) -> Receiver {
    let linux = LinuxReceiver { buffer_bytes, most_buffer_bytes: buffer_bytes, ..LinuxReceiver::default() };
    let config = ReceiverConfig { selective, linux: Some(linux), ..ReceiverConfig::default() };
    Receiver::new(&config, Dialect::Rfc, CLOCK).with_path(CLOCK.time(RETURN_S), Time::ZERO)
}

/// Linux `tcp_delack_timer_handler`: the timer of a delayed ACK, which runs on after that ACK was sent
/// (`inet_csk_clear_xmit_timer`), sends the ACKs that are held beyond a hole.
#[test]
fn the_timer_of_an_ack_that_was_sent_sends_held_ones() {
    let mut receiver = with_buffer(20_000, true);
    let at = |us: u64| CLOCK.time(us as f64 * 1e-6);
    fn arrive(receiver: &mut Receiver, now: Time, sequence: u64) -> (bool, Time) {
        let answer = receiver.on_data(now, sequence, now - CLOCK.time(0.05), Marks::NONE, 0);
        (answer.is_some(), receiver.deadline())
    }
    // Beyond the quick ACKs of a connection's beginning an ACK waits for the next packet, 40 ms in whole ones.
    let waits = (0..50).find(|&sequence| {
        let (answered, _) = arrive(&mut receiver, at(100_000 + 20 * sequence), sequence);
        sequence >= 40 && !answered
    });
    let (hole, timer) = (waits.expect("an ACK is delayed") + 1, at(141_000));
    assert_eq!(receiver.deadline(), timer);
    // It goes with the first of three that packets beyond a hole cause at once; others are held for 1.1 ms.
    let at_once = (1..4).all(|beyond| arrive(&mut receiver, at(101_000), hole + beyond) == (true, Time::NEVER));
    assert!(at_once);
    assert_eq!(arrive(&mut receiver, at(102_000), hole + 4), (false, at(103_100)));
    receiver.on_timer();
    assert_eq!(arrive(&mut receiver, at(140_500), hole + 5), (false, timer));
    receiver.on_timer();
    assert_eq!(arrive(&mut receiver, at(141_500), hole + 6), (false, at(142_600)), "the timer has expired");
}

/// RFC 2018 section 3, Linux `tcp_established_options`: an ACK is longer by its blocks, also where the sender knows them, and
/// by a duplicate that it reports.
#[test]
fn blocks_make_acks_longer() {
    let mut receiver = with_buffer(2_000_000, true).with_ack_bytes(52);
    receiver.begin_transfer(Time::ZERO);
    let mut lengths = Vec::new();
    for (number, sequence) in (1_u64..).zip([0, 2, 3, 5, 7, 9, 1, 4, 4, 6, 8, 10, 10, 11]) {
        let now = Time::from_ticks(number * 2_000_000_000);
        let ack = receiver.on_data(now, sequence, Time::ZERO, Marks::NONE, 0).unwrap_or_else(|| receiver.on_timer());
        lengths.push((sequence, receiver.ack_bytes()));
        assert_eq!(receiver.plain_ack_bytes(), 52, "that of an ACK of the sender's");
        read(&mut receiver, ack);
    }
    let expected = [(0, 52), (2, 64), (3, 64), (5, 72), (7, 80), (9, 80), (1, 80), (4, 72), (4, 80), (6, 64), (8, 52)];
    assert_eq!(lengths[..11], expected);
    assert_eq!(lengths[11..], [(10, 52), (10, 64), (11, 52)]);
}

/// Linux `__tcp_ack_snd_check`: three duplicates are sent at once. The ACK of a packet that fills one hole of two is the
/// first of them if what waits leaves less room than the window that was announced.
#[test]
fn a_partial_fill_is_a_duplicate_where_the_window_shrinks() {
    let mut receiver = with_buffer(200_000, true);
    let mut now = CLOCK.time(0.1);
    let mut is_answered = |sequence: u64| {
        now += CLOCK.time(2e-5);
        receiver.on_data(now, sequence, now - CLOCK.time(0.05), Marks::NONE, 0).is_some()
    };
    // Two holes: packets 200 and 221.
    for sequence in (0..200).chain(201..221).chain(222..240) {
        is_answered(sequence);
    }
    assert!(is_answered(200), "the fill");
    assert_eq!([240, 241, 242].map(is_answered), [true, true, false]);
}

/// Linux `tcp_init_buffer_space`, `tcp_rcv_space_adjust`: the first round trip of reading begins with the last ACK of the
/// handshake, which is ahead of the first packet by that packet's service at the slowest server; at its end the buffer
/// grows. It does not matter when the connection begins.
#[test]
fn the_first_round_trip_of_reading_begins_with_the_handshake() {
    let linux = LinuxReceiver { buffer_bytes: 40_000, most_buffer_bytes: 6_291_456, ..LinuxReceiver::default() };
    let config = ReceiverConfig { selective: true, linux: Some(linux), ..ReceiverConfig::default() };
    // Packets come each 3 ms, and the round trip is 36 ms.
    let first_growth = |start_ms: u64, service_ms: u64| {
        let at = |ms: u64| CLOCK.time(ms as f64 * 1e-3);
        let mut receiver = Receiver::new(&config, Dialect::Rfc, CLOCK).with_path(at(18), at(service_ms));
        let windows = (0..30).filter_map(|sequence| {
            let now = at(start_ms + 3 * sequence);
            let ack = receiver.on_data(now, sequence, now - at(18), Marks::NONE, 0)?;
            Some((sequence, Acknowledgment::window_in(ack.journal)?))
        });
        let windows: Vec<(u64, u64)> = windows.collect();
        windows.iter().find(|(_, window)| *window > windows[0].1).map(|&(sequence, _)| sequence)
    };
    // The round ends as packet 12 is read, 36 ms after packet 0, or a packet earlier; the next packet's ACK says so.
    assert_eq!([18, 10_018].map(|start_ms| first_growth(start_ms, 0)), [Some(13); 2]);
    assert_eq!([18, 10_018].map(|start_ms| first_growth(start_ms, 3)), [Some(12); 2]);
}

/// Linux `tcp_data_queue`: the ACK of what fills a hole is sent before the application reads, so that its window is the
/// smaller by what waits in the buffer; the next one has the whole window again, and does not count as a duplicate.
#[test]
fn what_fills_a_hole_is_unread_while_its_ack_is_sent() {
    let mut receiver = with_buffer(200_000, false);
    let mut now = CLOCK.time(0.1);
    let mut window_after = |sequence: u64| {
        now += CLOCK.time(1e-4);
        let ack = receiver.on_data(now, sequence, now - CLOCK.time(0.05), Marks::NONE, 0)?;
        Acknowledgment::window_in(ack.journal)
    };
    // Half of the buffer less a packet, in whole units of the window scale.
    let whole = (0..200).filter_map(&mut window_after).last();
    assert_eq!(whole, Some(68));
    assert!((201..221).all(|sequence| window_after(sequence).is_some_and(|packets| packets <= 68)));
    // 21 packets of 1448 bytes with this one, and the overhead of three buffers.
    assert_eq!(window_after(200), Some(57));
    assert_eq!((221..224).filter_map(&mut window_after).last(), Some(68));
}

/// Linux `__tcp_cleanup_rbuf`: where what the application reads doubles the window, an ACK says so at once.
#[test]
fn a_window_that_doubles_is_announced_at_once() {
    let mut receiver = with_buffer(60_000, false);
    let mut now = CLOCK.time(0.1);
    let mut window_after = |receiver: &mut Receiver, sequence: u64| {
        now += CLOCK.time(1e-4);
        let ack = receiver.on_data(now, sequence, now - CLOCK.time(0.05), Marks::NONE, 0)?;
        Acknowledgment::window_in(ack.journal).map(|packets| (packets, receiver.deadline() == now))
    };
    let whole = (0..100).filter_map(|sequence| window_after(&mut receiver, sequence)).last();
    assert_eq!(whole, Some((19, false)));
    // None of them follows another one: each has a buffer of its own, until 16 join that of what fills the hole.
    for sequence in (101..120).rev() {
        assert!(window_after(&mut receiver, sequence).is_some_and(|(_, more)| !more));
    }
    assert_eq!(window_after(&mut receiver, 100), Some((8, true)));
    let update = receiver.on_timer();
    assert_eq!((update.next, Acknowledgment::window_in(update.journal)), (120, Some(19)));
    assert_eq!(receiver.deadline(), Time::NEVER);
}

/// `tcp_event_data_recv`, `tcp_delack_timer_handler`, `tcp_send_delayed_ack`: the delay is 40 ms where packets come within
/// 20 ms, else it follows the time between them, doubled where the ACK did not wait for long enough, to 200 ms.
#[test]
fn the_delay_of_an_ack_follows_the_time_between_packets() {
    // 40; 80 / 2 + 71 = 111; 222 / 2 + 200; 200 at most. Each waits to the end of a timer's tick, those of 63 ms and more to the
    // next multiple of 8 ms on the host's clock (`calc_wheel_index`).
    assert_eq!(delayed_acks(&[4, 75, 275, 650]), [4 + 41, (75_u64 + 111 + 1).next_multiple_of(8), 480, 856]);
    // Within 20 ms: 80 / 2 + 20.
    assert_eq!(delayed_acks(&[4, 20]), [45, 20 + 61]);
}

/// `ss -i` shows `wscale:7` for the default `tcp_rmem` of 6 MiB.
#[test]
fn the_shift_of_windows_follows_the_largest_buffer() {
    let shift = |most_buffer_bytes| LinuxReceiver { most_buffer_bytes, ..LinuxReceiver::default() }.window_shift();
    assert_eq!([1000, 65536, 131_072, 6_291_456, 67_108_864, 1 << 60].map(shift), [1, 1, 2, 7, 11, 14]);
}
