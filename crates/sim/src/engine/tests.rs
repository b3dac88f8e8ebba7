use base::Marks;
use serde_json::{json, Value};
use tcp::SenderConfig;

use super::*;
use crate::scenario::TrafficConfig;

/// Returns a shared link that loses some packets.
fn shared_link(name: &str) -> Value {
    json!({
        "kind": "link", "name": name, "rate_bps": 3e6, "delay_s": 0.02, "buffer": { "packets": 100 },
        "counting": "waiting",
        "queue": { "scheduler": { "kind": "fifo" }, "aqm": { "kind": "none" }, "overflow": "arriving" },
        "delay_process": null,
        "loss": { "applies_to": "all", "law": { "model": "bernoulli", "probability": 0.02 } }
    })
}

fn private_link(name: &str) -> Value {
    json!({
        "kind": "private-link", "name": name, "rate_bps": 2e6, "delay_s": 0.01, "buffer": { "packets": 1000 },
        "counting": "waiting"
    })
}

/// Returns three transfers of 3000 packets over a link that loses some of them, with ACKs over another one; the links to
/// these and from them are private ones, if there are any.
pub(crate) fn lossy(private: bool) -> Scenario {
    let mut elements = vec![shared_link("data"), shared_link("acks")];
    let (mut path, mut return_path) = (vec![0], vec![1]);
    if private {
        elements.extend(["in", "in.reverse", "out", "out.reverse"].map(private_link));
        (path, return_path) = (vec![2, 0, 4], vec![5, 1, 3]);
    }
    let sender = json!({
        "machine": "classic", "dialect": "rfc", "recovery": "newreno", "initial_window": 3.0,
        "initial_ssthresh": null, "max_window": null,
        "slow_start_while": "below", "increase": "reciprocal", "half_window": "fractional", "dupack_threshold": 3,
        "limited_transmit": false, "partial_ack_timer": "impatient",
        "rto": {
            "estimator": "rfc6298", "sample": "per-ack", "k": 4, "granularity_s": 0.001, "min_s": 1.0, "max_s": 60.0,
            "initial_s": 1.0, "max_backoff": 64, "clock_offset_s": 0.0
        }
    });
    let connection = json!({
        "return_path": return_path, "return_delay_s": 0.0, "ack_bytes": 40, "ack_priority": 0, "sender": sender,
        "receiver": { "ack_every": 1, "ack_delay_s": 0.0, "selective": true }
    });
    let flow = json!({
        "name": "flow", "count": 3, "start_s": 0.0, "start_spread_s": 1.0, "path": path, "forward_delay_s": 0.01,
        "packet_bytes": 1000, "priority": 0,
        "traffic": { "kind": "tcp", "size_packets": 3000, "connection": connection }
    });
    let off = json!(false);
    let trace = json!({
        "cwnd": off, "rtt": off, "sequence": off, "queue": off, "queue_distribution": off, "drops": off, "losses": off,
        "delay": off, "recovery": off, "rounds": off, "overview_interval_s": null, "overview_detail_s": null,
        "capture": null
    });
    let run = json!({
        "duration_s": 1000.0, "warmup_s": 0.0, "replications": 1, "seed": 1, "confidence": 0.95, "precision": null,
        "delays": true
    });
    let scenario = json!({
        "format": 3, "title": "lossy", "run": run, "elements": elements, "flows": [flow], "trace": trace, "atm": null
    });
    serde_json::from_value(scenario).expect("a scenario")
}

/// The last ACK of a transfer has made all known that arrived out of order; only a later duplicate is new.
#[test]
fn senders_come_to_know_all_that_arrives_out_of_order() {
    for private in [false, true] {
        let mut engine = Engine::new(&lossy(private), 0);
        while engine.advance(1000) == Progress::Running {}
        for flow in 0..3 {
            assert!(engine.senders[flow].sender.finished(), "private links: {private}");
            let receiver = &mut engine.network.flows[flow].receiver;
            let ack = receiver.on_data(engine.now, 2999, engine.now, Marks::NONE, 0).expect("an ACK");
            assert!(ack.journal > 20, "few packets came out of order: {}", ack.journal);
            let mut selected = Vec::new();
            receiver.read_journal(ack.journal, ack.next, &mut selected);
            assert_eq!(selected, [Selected { first: 2999, end: 3000, duplicate: true }], "private links: {private}");
        }
        let lost: Vec<u64> = engine.finish(0.0).links.iter().take(2).map(|link| link.lost[1]).collect();
        assert!(lost.iter().all(|&lost| lost > 100), "{lost:?}");
    }
}

/// The machine that ignores what ACKs acknowledge selectively does the same with such ACKs and without.
#[test]
fn a_classic_sender_ignores_what_acks_acknowledge_selectively() {
    for private in [false, true] {
        let finish = |selective: bool| {
            let mut scenario = lossy(private);
            let connection = scenario.flows[0].connection_mut().expect("TCP");
            // The longest headers there are: blocks make no ACK longer.
            (connection.ack_bytes, connection.receiver.selective) = (80, selective);
            let mut engine = Engine::new(&scenario, 0);
            while engine.advance(1000) == Progress::Running {}
            format!("{:?}", engine.finish(0.0).flows)
        };
        assert_eq!(finish(true), finish(false), "private links: {private}");
    }
}

/// Three senders put their initial windows on a path that holds them all: the run ends before the third one has.
#[test]
fn all_flows_together_may_have_so_many_packets_in_flight() {
    for private in [false, true] {
        let mut scenario = lossy(private);
        let SenderConfig::Classic(sender) = &mut scenario.flows[0].connection_mut().expect("TCP").sender else {
            panic!("not classic")
        };
        sender.initial_window = 70_000.0;
        if let TrafficConfig::Tcp { size_packets, .. } = &mut scenario.flows[0].traffic {
            *size_packets = None;
        }
        let mut engine = Engine::new(&scenario, 0);
        engine.most_in_flight = 150_000;
        let mut progress = Progress::Running;
        while progress == Progress::Running {
            progress = engine.advance(1_000_000);
        }
        let Progress::Failed(why) = progress else { panic!("{progress:?}") };
        assert!(why.contains("have more than 150000 packets in flight, this one the most"), "{why}");
        assert_eq!(engine.senders.iter().filter(|slot| slot.sender.flight_size() > 0).count(), 3);
        let mut engine = Engine::new(&scenario, 0);
        engine.most_in_flight = 66_000;
        assert!(
            matches!(engine.advance(1_000_000), Progress::Failed(why) if why.contains("nothing on its path limits it"))
        );
    }
}
