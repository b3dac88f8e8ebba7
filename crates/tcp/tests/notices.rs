//! Events of which a sender notifies its congestion control: flights that begin, recoveries and their ends.

use std::sync::{Arc, Mutex};

use base::{Clock, Marks, Time};
use tcp::cc::{AckSample, CongestionControl, Provided, Provider, Restart, Signal, Window};
use tcp::{Ack, Actions, Ecn, LossEvent, Pacing, Segment, Selected, Selective, SelectiveConfig, State, WritesConfig};

/// Events that a control heard of.
#[derive(Clone, Debug, Default)]
struct Heard(Arc<Mutex<Vec<String>>>);

impl Heard {
    fn note(&self, what: impl Into<String>) {
        self.0.lock().expect("no test panics with it").push(what.into());
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().expect("no test panics with it"))
    }
}

impl Provider for Heard {
    fn create(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

/// Halves the window at any congestion, and never lets it grow.
impl CongestionControl for Heard {
    fn on_ack(&mut self, _: &AckSample, _: &mut Window) {}

    fn on_congestion(&mut self, signal: Signal, _: Time, window: &Window) -> f64 {
        self.note(format!("{signal:?}"));
        window.cwnd / 2.0
    }

    fn on_recovery(&mut self, window: &mut Window) {
        self.note(format!("recovery at {}", window.cwnd));
    }

    fn on_recovery_end(&mut self, window: &mut Window) {
        self.note(format!("end at {}", window.cwnd));
    }

    fn on_restart(&mut self, _: &Restart, _: &mut Window) {
        self.note("flight");
    }

    fn restart(&mut self) {}

    fn clone_box(&self) -> Box<dyn CongestionControl> {
        Box::new(self.clone())
    }
}

#[derive(Default)]
struct Sent(Vec<u64>);

impl Actions for Sent {
    fn transmit(&mut self, segment: Segment) {
        self.0.push(segment.sequence);
    }

    fn loss(&mut self, _: LossEvent) {}
}

fn ms(ms: u64) -> Time {
    Time::from_ticks(ms * 1_000_000_000)
}

/// A sender after a handshake with a round trip of 100 ms, at 100 ms.
struct Stage {
    sender: Selective,
    sent: Sent,
    heard: Heard,
}

impl Stage {
    fn new(config: SelectiveConfig) -> Stage {
        let (heard, mut config) = (Heard::default(), config);
        config.congestion_control.provided = Some(Provided(Arc::new(heard.clone())));
        let mut sender = Selective::new(&config, None, Clock::PICOSECONDS);
        let mut sent = Sent::default();
        sender.on_handshake(ms(100), ms(100), 0, true);
        sender.on_start(ms(100), &mut sent);
        Stage { sender, sent, heard }
    }

    /// Lets timers expire up to an ACK and hears it: it echoes what was sent at `echo`, and reports packets from the first to
    /// before the second number, as duplicates if so said.
    fn hear(&mut self, at: u64, echo: u64, next: u64, reported: Option<(u64, u64, bool)>, marks: Marks) {
        self.run(at);
        let selected: Vec<_> =
            reported.into_iter().map(|(first, end, duplicate)| Selected { first, end, duplicate }).collect();
        let ack = Ack { next, echo: ms(echo), selected: &selected, window: u64::MAX, marks, waited: Time::ZERO };
        self.sender.on_ack(ms(at), ack, &mut self.sent);
    }

    fn run(&mut self, until: u64) {
        while self.sender.deadline() < ms(until) {
            self.sender.on_timer(self.sender.deadline(), &mut self.sent);
        }
    }
}

/// Linux `tcp_event_data_sent`: after a timeout nothing is in flight, though packets are outstanding.
#[test]
fn a_flight_begins_with_the_retransmission_after_a_timeout() {
    let mut stage = Stage::new(SelectiveConfig { tail_loss_probe: false, ..SelectiveConfig::default() });
    assert_eq!((stage.sent.0.len(), stage.heard.take()), (10, vec![]), "the first flight is not reported");
    stage.run(600);
    assert_eq!((stage.sender.state(), stage.sent.0.last()), (State::Loss, Some(&0)));
    assert_eq!(stage.heard.take(), ["Timeout", "flight"]);
    // Without news the packet is lost once more.
    stage.run(1200);
    assert_eq!(stage.heard.take(), ["flight"]);
}

/// Linux `tcp_enter_recovery`, `tcp_set_ca_state`: a loss in CWR adds no reduction, but the control is notified: DCTCP reacts to it.
#[test]
fn the_control_is_notified_of_a_recovery_in_a_reduction_for_marks() {
    let mut stage = Stage::new(SelectiveConfig { ecn: Ecn::Classic, ..SelectiveConfig::default() });
    stage.hear(200, 100, 2, None, Marks::ECE);
    assert_eq!((stage.sender.state(), stage.heard.take()), (State::Cwr, vec!["Ecn".to_owned()]));
    stage.hear(210, 100, 2, Some((3, 7, false)), Marks::NONE);
    assert_eq!(stage.sender.state(), State::Recovery);
    assert_eq!(stage.heard.take(), ["recovery at 9"], "PRR lets one packet out for two delivered");
}

/// Linux `tcp_end_cwnd_reduction`: also the end of a recovery that was undone at that moment is one.
#[test]
fn a_recovery_ends_whether_it_was_undone_or_not() {
    for (echo, end) in [(150, "end at 10"), (205, "end at 5")] {
        let mut stage = Stage::new(SelectiveConfig::default());
        stage.sender.stop_writing();
        stage.hear(200, 100, 0, Some((1, 10, false)), Marks::NONE);
        assert_eq!(stage.heard.take(), ["Loss", "recovery at 10", "flight"], "all others have arrived");
        stage.hear(250, echo, 10, None, Marks::NONE);
        assert_eq!((stage.sender.state(), stage.heard.take()), (State::Open, vec![end.to_owned()]), "{echo}");
    }
}

/// The bit of ECE is one of a counter with AccECN (RFC 9768), which begins with it: no packet was marked.
#[test]
fn a_late_duplicate_with_a_counter_reduces_nothing() {
    let writes = WritesConfig { packets: 5, interval_s: 1.0 };
    let mut stage =
        Stage::new(SelectiveConfig { writes: Some(writes), ecn: Ecn::Accurate, ..SelectiveConfig::default() });
    stage.run(350);
    let counter = Marks::of_ace(5);
    assert!(counter.has(Marks::ECE));
    stage.hear(360, 100, 5, None, counter);
    stage.hear(460, 100, 5, Some((4, 5, true)), counter);
    assert_eq!((stage.sender.state(), stage.heard.take()), (State::Open, vec![]));
}

/// Linux `tcp_ack`, `no_queue`: the report that the probe was a duplicate comes when all is acknowledged.
#[test]
fn a_probe_that_was_not_needed_reduces_nothing() {
    for (duplicate, heard) in [(true, vec!["flight"]), (false, vec!["flight", "Loss", "end at 5"])] {
        let writes = WritesConfig { packets: 5, interval_s: 1.0 };
        let mut stage = Stage::new(SelectiveConfig { writes: Some(writes), ..SelectiveConfig::default() });
        stage.run(350);
        assert_eq!(stage.sent.0, [0, 1, 2, 3, 4, 4], "a probe after two round trips");
        stage.hear(360, 100, 5, None, Marks::NONE);
        if duplicate {
            stage.hear(460, 100, 5, Some((4, 5, true)), Marks::NONE);
        }
        stage.run(1150);
        assert_eq!(stage.sent.0.len(), 11);
        stage.hear(1200, 1100, 10, None, Marks::NONE);
        assert_eq!(stage.heard.take(), heard, "{duplicate}");
    }
}

/// Linux `tcp_update_pacing_rate` in `tcp_ack` of the answer to the SYN: neither the initial window nor an ssthresh is known.
#[test]
fn the_first_pacing_rate_is_that_of_ten_packets_in_slow_start() {
    for (initial_window, initial_ssthresh) in [(10.0, None), (32.0, None), (10.0, Some(12.0)), (2.0, None)] {
        let config =
            SelectiveConfig { pacing: Pacing::Linux, initial_window, initial_ssthresh, ..SelectiveConfig::default() };
        let stage = Stage::new(config);
        // Twice ten packets of 1448 bytes in 100 ms.
        assert_eq!(stage.sender.pacing_rate(), Some(289_600), "{initial_window} {initial_ssthresh:?}");
    }
}
