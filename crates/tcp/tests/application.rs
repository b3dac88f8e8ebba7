//! Applications that write in bursts, and what a pause does to cwnd.

use base::{Clock, Marks, Time};
use tcp::{Ack, Actions, Close, LossEvent, Pacing, Segment, Selective, SelectiveConfig, SendBuffer, WritesConfig};

const CLOCK: Clock = Clock::PICOSECONDS;
const ROUND_TRIP_S: f64 = 0.1;

/// Instants \[s\] and numbers of the packets sent.
#[derive(Default)]
struct Sent(Vec<(Time, u64)>, Time);

impl Actions for Sent {
    fn transmit(&mut self, segment: Segment) {
        self.0.push((self.1, segment.sequence));
    }

    fn loss(&mut self, _: LossEvent) {}
}

/// A sender on a path without limits, each of whose packets is acknowledged after a round trip.
struct Path {
    sender: Selective,
    sent: Sent,
    acknowledged: usize,
}

impl Path {
    fn new(config: &SelectiveConfig) -> Path {
        let mut path = Path { sender: Selective::new(config, None, CLOCK), sent: Sent::default(), acknowledged: 0 };
        path.sender.on_handshake(Time::ZERO, CLOCK.time(ROUND_TRIP_S), 0, true);
        path.sender.on_start(Time::ZERO, &mut path.sent);
        path
    }

    /// Lets events happen until an instant.
    fn run(&mut self, until_s: f64) {
        loop {
            let ack = self.sent.0.get(self.acknowledged).map(|&(at, _)| at + CLOCK.time(ROUND_TRIP_S));
            let (next, deadline) = (ack.unwrap_or(Time::NEVER), self.sender.deadline());
            self.sent.1 = next.min(deadline);
            if self.sent.1 > CLOCK.time(until_s) {
                return;
            }
            if deadline < next {
                self.sender.on_timer(deadline, &mut self.sent);
                continue;
            }
            let (echo, sequence) = self.sent.0[self.acknowledged];
            self.acknowledged += 1;
            let ack = Ack {
                next: sequence + 1,
                echo,
                selected: &[],
                window: u64::MAX,
                marks: Marks::NONE,
                waited: Time::ZERO,
            };
            self.sender.on_ack(next, ack, &mut self.sent);
        }
    }

    /// Returns how many packets were sent at each instant \[s\].
    fn bursts(&self) -> Vec<(f64, usize)> {
        let instants: Vec<Time> = self.sent.0.iter().map(|&(at, _)| at).collect();
        instants.chunk_by(|a, b| a == b).map(|same| (CLOCK.seconds(same[0]), same.len())).collect()
    }
}

fn config(packets: u64, interval_s: f64) -> SelectiveConfig {
    SelectiveConfig { writes: Some(WritesConfig { packets, interval_s }), ..SelectiveConfig::default() }
}

#[test]
fn an_application_writes_its_bursts_at_their_instants() {
    let mut path = Path::new(&config(4, 0.25));
    path.run(1.1);
    assert_eq!(path.bursts(), [(0.0, 4), (0.25, 4), (0.5, 4), (0.75, 4), (1.0, 4)]);
}

#[test]
fn a_window_that_the_application_does_not_use_does_not_grow() {
    let mut path = Path::new(&config(4, 0.25));
    path.run(20.0);
    assert_eq!(path.sender.cwnd(), 10.0);
}

/// `tcp_cwnd_restart`: cwnd is halved for each timeout (300 ms) of a pause, and is not below the initial window.
#[test]
fn a_pause_brings_cwnd_down() {
    let of = |idle_restart, interval_s| {
        let mut path = Path::new(&SelectiveConfig { idle_restart, ..config(80, interval_s) });
        path.run(interval_s - 0.01);
        let before = path.sender.cwnd();
        path.run(interval_s);
        (before, path.sender.cwnd(), path.sender.ssthresh())
    };
    // The last packets leave at 0.3 s. A packet in flight for each one acknowledged in slow start: 10 + 80.
    assert_eq!(of(true, 0.55), (90.0, 90.0, f64::INFINITY), "a pause of 250 ms");
    assert_eq!(of(true, 0.7), (90.0, 45.0, f64::INFINITY), "a pause of 400 ms");
    assert_eq!(of(true, 1.1), (90.0, 22.0, f64::INFINITY), "a pause of 800 ms");
    assert_eq!(of(true, 9.0), (90.0, 10.0, f64::INFINITY), "a long pause");
    assert_eq!(of(false, 9.0), (90.0, 90.0, f64::INFINITY));
}

/// `tcp_update_pacing_rate` is called for ACKs alone: the burst behind a pause leaves at the rate before it.
#[test]
fn the_pacing_rate_stays_over_a_pause() {
    let mut path = Path::new(&SelectiveConfig { pacing: Pacing::Linux, idle_restart: true, ..config(80, 9.0) });
    path.run(8.9);
    let (cwnd, rate) = (path.sender.cwnd(), path.sender.pacing_rate());
    path.run(9.0);
    assert!(cwnd > 20.0 && path.sender.cwnd() == 10.0, "{cwnd}");
    assert_eq!(path.sender.pacing_rate(), rate);
}

/// `tcp_current_ssthresh`: three quarters of the cwnd before the pause are reached again in slow start.
#[test]
fn ssthresh_keeps_what_a_pause_takes() {
    let mut path = Path::new(&SelectiveConfig { initial_ssthresh: Some(16.0), ..config(400, 9.0) });
    path.run(8.9);
    let before = path.sender.cwnd();
    assert!(before > 30.0, "{before}");
    path.run(9.0);
    assert_eq!(path.sender.cwnd(), 10.0);
    assert_eq!(path.sender.ssthresh(), (before / 2.0).floor() + (before / 4.0).floor());
}

/// A buffer of 10 packets (2728 bytes each, `SKB_TRUESIZE` included) that may not grow. The application writes four
/// whenever a third of it is free: of the ten in the first round trip two are left over for the next group, so that
/// eight follow, and go on to.
#[test]
fn a_send_buffer_limits_what_is_outstanding() {
    let buffer = SendBuffer { buffer_bytes: 27_280, most_buffer_bytes: 27_280 };
    let mut path = Path::new(&SelectiveConfig { send_buffer: Some(buffer), ..SelectiveConfig::default() });
    path.run(0.95);
    assert_eq!(path.bursts()[0], (0.0, 10));
    let rounds: Vec<usize> = (1..10)
        .map(|round| CLOCK.time(f64::from(round) / 10.0))
        .map(|round| path.sent.0.iter().filter(|(at, _)| *at == round).count())
        .collect();
    assert!(rounds.iter().all(|&packets| packets == 8) && path.sender.cwnd() > 10.0, "{rounds:?}");
    let grown = SendBuffer { most_buffer_bytes: 1_000_000, ..buffer };
    let mut path = Path::new(&SelectiveConfig { send_buffer: Some(grown), ..SelectiveConfig::default() });
    path.run(0.35);
    assert_eq!(path.sender.flight_size(), 80, "the buffer grows with cwnd");
}

/// `tcp_cwnd_test`: cwnd need not have room for the packet with the FIN, so that eleven take one round trip.
#[test]
fn the_last_packet_of_a_connection_that_closes_leaves_with_the_one_before() {
    for (close, pacing) in [(Close::None, Pacing::None), (Close::Tcp, Pacing::None), (Close::Tcp, Pacing::Linux)] {
        let config = SelectiveConfig { close, pacing, ..SelectiveConfig::default() };
        let sizes = [9, 10, 11, 12].map(|size| {
            let mut sender = Selective::new(&config, Some(size), CLOCK);
            let mut sent = Sent::default();
            sender.on_handshake(Time::ZERO, CLOCK.time(ROUND_TRIP_S), 0, true);
            sender.on_start(Time::ZERO, &mut sent);
            while sender.deadline() < CLOCK.time(ROUND_TRIP_S) {
                sender.on_timer(sender.deadline(), &mut sent);
            }
            sent.0.len()
        });
        assert_eq!(sizes, if close == Close::Tcp { [9, 10, 11, 10] } else { [9, 10, 10, 10] }, "{close:?} {pacing:?}");
    }
}
