//! The ranges of the contract are those that the checks apply.

mod common;

use common::{flow, link, ns2, scenario};
use serde_json::{json, Value};
use sim::{check, Limit, Scenario, LIMITS};
use tcp::Recovery;

/// Ranges of quantities that no single value of the JSON form has.
const DERIVED: [&str; 2] = ["links[].delay_process.law.transitions[]", "flows[].traffic.classes"];
/// Ranges that the other fields of the examples narrow.
const NARROWED: [&str; 9] = [
    "run.warmup_s",
    "links[].queue.min_threshold_packets",
    "links[].delay_process.law.low_s",
    "links[].delay_process.law.period_s",
    "links[].loss.law.mean_interval_s",
    "flows[].priority",
    "flows[].ack_priority",
    "flows[].sender.rto.granularity_s",
    "flows[].traffic.size.min_packets",
];

/// Returns a scenario with a value in every field that has a range and belongs to all links and flows.
fn plain() -> Value {
    let mut flow = flow("flow", &[0], &[1], ns2(Recovery::Reno));
    flow.size_packets = Some(100);
    (flow.sender.initial_ssthresh, flow.sender.max_window) = (Some(20.0), Some(40.0));
    let links = vec![link("link", 1e6, Some(10)), link("back", 1e6, None)];
    let mut scenario = scenario("ranges", 10.0, links, vec![flow]);
    (scenario.trace.overview_interval_s, scenario.trace.overview_detail_s) = (Some(0.5), Some(0.2));
    serde_json::to_value(scenario).expect("JSON")
}

/// Returns the plain scenario with another value at a place.
fn with(pointer: &str, value: Value) -> Value {
    let mut scenario = plain();
    *scenario.pointer_mut(pointer).expect("a field") = value;
    scenario
}

/// Returns a scenario with web sources of a size law.
fn web(size: Value) -> Value {
    let off = json!({ "law": "fixed", "mean_s": 1.0 });
    let mut scenario = with("/flows/0/traffic", json!({ "kind": "web", "size": size, "off": off, "classes": [] }));
    scenario["flows"][0]["size_packets"] = Value::Null;
    scenario
}

/// Returns scenarios that together have all fields of links with a range.
fn examples_of_links() -> Vec<Value> {
    let law = |law: Value| json!({ "stream": "s", "order": "keep", "law": law });
    let loss = |law: Value| json!({ "applies_to": "all", "law": law });
    let red = json!({
        "discipline": "red", "min_threshold_packets": 5.0, "max_threshold_packets": 15.0, "weight": 0.002,
        "max_probability": 0.1, "gentle": true, "victim": "arriving", "mean_packet_bytes": 512
    });
    let bursts = json!({
        "model": "gilbert-elliott", "to_bad": 0.1, "to_good": 0.1, "loss_in_good": 0.0, "loss_in_bad": 1.0
    });
    let alternating = json!({
        "kind": "alternating", "start": 0, "transitions": null,
        "states": [{ "delay_s": 0.1, "least_stay_s": 1.0, "mean_extra_s": 1.0 }]
    });
    let handover = json!({ "kind": "handover", "low_s": 0.1, "high_s": 0.2, "period_s": 15.0 });
    vec![
        plain(),
        with("/links/0/queue", red),
        with("/links/0/queue", json!({ "discipline": "priority", "levels": 2, "victim": "arriving" })),
        with("/links/0/buffer", json!({ "bytes": 15000 })),
        with("/links/0/processing", json!({ "data_s": 0.1, "ack_s": 0.1 })),
        with("/links/0/delay_process", law(alternating)),
        with("/links/0/delay_process", law(handover)),
        with("/links/0/loss", loss(json!({ "model": "bernoulli", "probability": 0.1 }))),
        with("/links/0/loss", loss(json!({ "model": "poisson", "mean_interval_s": 1.0, "void_after_s": 1.0 }))),
        with("/links/0/loss", loss(bursts)),
        with("/links/0/loss", loss(json!({ "model": "packets", "numbers": [5] }))),
        with("/links/0/loss", loss(json!({ "model": "times", "times_s": [5.0] }))),
    ]
}

/// Returns scenarios that together have all fields of traffic with a range.
fn examples_of_traffic() -> Vec<Value> {
    let time = json!({ "law": "exponential", "mean_s": 1.0 });
    vec![
        with("/flows/0/traffic", json!({ "kind": "on-off", "rate_bps": 1e5, "on": time, "off": time })),
        web(json!({ "law": "fixed", "packets": 5 })),
        web(json!({ "law": "pareto", "mean_packets": 12.0, "shape": 1.5 })),
        web(json!({
            "law": "exponential-exponential", "mean_packets": 12.0, "min_packets": 3.0, "tail_fraction": 0.1,
            "tail_packets": 50.0
        })),
    ]
}

/// Returns the path of the first field that a range is of, as the faults name it.
fn place(limit: &Limit) -> String {
    limit.field.replace("[]", "[0]")
}

fn pointer(limit: &Limit) -> String {
    format!("/{}", limit.field.replace("[]", "/0").replace('.', "/"))
}

/// Returns whether the scenario is refused because a value is out of its range, or not even a number of its kind.
fn is_refused(scenario: &Value, limit: &Limit) -> bool {
    let fault = format!("{}: out of range", place(limit));
    match serde_json::from_value::<Scenario>(scenario.clone()) {
        Err(_) => true,
        Ok(scenario) => check(&scenario).iter().any(|line| line.starts_with(&fault)),
    }
}

#[test]
fn a_value_is_refused_outside_of_its_range_and_only_there() {
    let examples = [examples_of_links(), examples_of_traffic()].concat();
    for limit in LIMITS.iter().filter(|limit| !limit.field.contains(' ') && !DERIVED.contains(&limit.field)) {
        let example = examples.iter().find(|example| example.pointer(&pointer(limit)).is_some_and(Value::is_number));
        let mut scenario = example.unwrap_or_else(|| panic!("no example of {}", limit.field)).clone();
        let value = scenario.pointer_mut(&pointer(limit)).expect("a field").clone();
        assert!(!is_refused(&scenario, limit), "{}: {value}", limit.field);
        let is_whole = value.is_u64();
        let below = if is_whole || limit.low == 0.0 { limit.low - 1.0 } else { limit.low / 2.0 };
        let above = if is_whole { limit.high + 1.0 } else { limit.high * 2.0 };
        for (value, refused) in [(below, true), (limit.low, false), (limit.high, false), (above, true)] {
            if value.is_infinite() || (!refused && NARROWED.contains(&limit.field)) {
                continue;
            }
            let given = if is_whole { json!(value as i64) } else { json!(value) };
            *scenario.pointer_mut(&pointer(limit)).expect("a field") = given.clone();
            assert_eq!(is_refused(&scenario, limit), refused, "{}: {given}", limit.field);
        }
    }
}

#[test]
fn a_list_is_refused_if_it_is_empty() {
    let fields = |suffix: &'static str| LIMITS.iter().filter(move |limit| limit.field.ends_with(suffix));
    assert_eq!(fields(" (length)").count(), 4);
    let laws = [
        ("links[].delay_process", json!({ "kind": "steps", "steps_s": [] })),
        ("links[].delay_process", json!({ "kind": "alternating", "states": [], "start": 0, "transitions": null })),
        ("links[].loss", json!({ "model": "packets", "numbers": [] })),
        ("links[].loss", json!({ "model": "times", "times_s": [] })),
    ];
    for (limit, (field, law)) in fields(" (length)").zip(laws) {
        let mut scenario = plain();
        let table = field.rsplit('.').next().expect("a table");
        scenario["links"][0][table] = match table {
            "loss" => json!({ "applies_to": "all", "law": law }),
            _ => json!({ "stream": "s", "order": "keep", "law": law }),
        };
        assert!(is_refused(&scenario, limit), "{}", limit.field);
    }
}
