//! Congestion controls alone against recorded runs of Linux 6.1, ACK by ACK.
//!
//! Each `kernel/*.csv` has a line for each ACK of one flow, from the first: time since the ACK before \[us\], growth of
//! SND.UNA and of SND.NXT, packets newly delivered, round trip of the newest of them, what the ACK is, and cwnd after
//! it; ssthresh where the control has set it, and how many of the packets were marked. The kernel ran in virtual time on
//! a path without other flows:
//!
//! - `cubic_two_losses`: 100 Mb/s, 10 ms; the 100th and the 400th packet are lost.
//! - `hystart_train`: 20 Mb/s, 50 ms; a train of ACKs ends slow start.
//! - `hystart_delay`: 2 Mb/s, 50 ms; round trips end slow start.
//! - `reno_loss`: 100 Mb/s, 100 ms; a packet is lost.
//! - `dctcp_marks`: 100 Mb/s, 20 ms; each 50th packet is marked.
//!
//! In recovery and in a reduction cwnd is the sender's affair, and is taken from the recording.

use std::path::Path;

use base::{Clock, Time};
use tcp::cc::{AckSample, Algorithm, CongestionControl, Settings, Signal, Window, ALGORITHMS};
use tcp::State;

const CLOCK: Clock = Clock::new(1_000_000);

fn algorithm(name: &str) -> &'static Algorithm {
    ALGORITHMS.iter().find(|row| row.name == name).expect("a row of the list")
}

/// A line of a recording: what arrives, and the kernel's window after it.
struct Line {
    ack: AckSample,
    event: String,
    cwnd: f64,
    ssthresh: Option<f64>,
}

impl Line {
    /// Reads a line that follows another one.
    fn after(line: &str, last: &AckSample) -> Line {
        let fields: Vec<&str> = line.split(',').collect();
        let number = |column: usize| fields[column].parse::<u64>().ok();
        let event = fields[5].to_string();
        let rtt = number(4).map(Time::from_ticks);
        let min_rtt = rtt.map_or(last.min_rtt, |rtt| last.min_rtt.min(rtt));
        let may_grow = matches!(event.as_str(), "ack" | "open");
        let ack = AckSample {
            now: last.now + Time::from_ticks(number(0).unwrap()),
            acked: u32::try_from(number(3).unwrap()).unwrap(),
            marked: fields.get(8).map_or(0, |marked| marked.parse().unwrap()),
            state: if may_grow { State::Open } else { State::Recovery },
            may_grow,
            rtt,
            min_rtt,
            srtt: min_rtt,
            una: last.una + number(1).unwrap(),
            nxt: last.nxt + number(2).unwrap(),
            ..*last
        };
        let ssthresh = number(7).map(|ssthresh| ssthresh as f64);
        Line { ack, event, cwnd: number(6).unwrap() as f64, ssthresh }
    }
}

/// An ACK before the first one.
const START: AckSample = AckSample {
    now: Time::ZERO,
    acked: 0,
    marked: 0,
    lost: 0,
    lost_total: 0,
    state: State::Open,
    may_grow: true,
    cwnd_limited: true,
    cwnd_used: true,
    rtt: None,
    min_rtt: Time::NEVER,
    srtt: Time::ZERO,
    una: 0,
    nxt: 0,
    in_flight: [0; 2],
    plain: true,
    window: u64::MAX,
    departure: Time::ZERO,
    rate: None,
};

/// Returns the numbers of ACKs and of reductions, and those after which the window is not the kernel's.
fn replay(control: &mut dyn CongestionControl, recording: &str) -> (u32, u32, Vec<String>) {
    let mut window = Window { cwnd: 10.0, ssthresh: f64::INFINITY };
    let (mut last, mut count, mut reductions, mut faults) = (START, 0, 0, Vec::new());
    for text in recording.lines().skip(1) {
        let Line { ack, event, cwnd, ssthresh } = Line::after(text, &last);
        if event == "open" {
            window.cwnd = window.ssthresh;
        }
        control.measure(&ack, &window);
        control.on_ack(&ack, &mut window);
        if let "loss" | "mark" = event.as_str() {
            let signal = if event == "mark" { Signal::Ecn } else { Signal::Loss };
            window.ssthresh = control.on_congestion(signal, ack.now, &window);
            reductions += 1;
        }
        if matches!(event.as_str(), "loss" | "mark" | "recovery") {
            window.cwnd = cwnd;
        }
        count += 1;
        if window.cwnd != cwnd || ssthresh.is_some_and(|ssthresh| window.ssthresh != ssthresh) {
            faults.push(format!("ACK {count} [{text}]: {window:?}"));
        }
        last = ack;
    }
    (count, reductions, faults)
}

fn recording(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kernel").join(name)).unwrap()
}

#[test]
fn controls_have_the_kernels_window_after_each_ack() {
    for (name, control, acks, reductions) in [
        ("cubic_two_losses.csv", "cubic", 600, 2),
        ("hystart_train.csv", "cubic", 150, 0),
        ("hystart_delay.csv", "cubic", 400, 0),
        ("reno_loss.csv", "reno", 370, 1),
        ("dctcp_marks.csv", "dctcp", 390, 7),
    ] {
        let row = algorithm(control);
        let mut control = (row.new)(&Settings { slow_start: row.slow_start, ..Settings::linux(CLOCK) });
        let (count, seen, faults) = replay(control.as_mut(), &recording(name));
        assert_eq!((count, seen), (acks, reductions), "{name}");
        assert!(faults.is_empty(), "{name}: {} faults, first {}", faults.len(), faults[0]);
    }
}
