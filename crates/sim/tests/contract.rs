//! The JSON form of the resolved scenario: the ranges of the contract are those that the checks apply, and each kind of
//! a table has its own fields alone.

use std::collections::BTreeMap;
use std::fs;
use std::mem::discriminant;
use std::path::{Path, PathBuf};

use crate::outside::common::{classic_of, flow, link, ns2, scenario, tcp_of, transfer_of};
use atm::{AbrParameters, AllocationConfig, AtmConfig, ChannelConfig, EndConfig, IpService, PortConfig};
use base::cast::trunc_to_i64;
use net::{disciplines, AqmConfig, CakeConfig, CodelConfig, Discipline, RedAdaptation, RedConfig, SchedulerConfig};
use serde_json::{json, Value};
use sim::scenario::{ElementConfig, HandshakeConfig, LinkConfig};
use sim::{all_limits, check, Scenario};
use tcp::{LinuxReceiver, PushConfig, Recovery, SelectiveConfig, SendBuffer, SenderConfig, WritesConfig};

/// Ranges of quantities that no single value of the JSON form has.
const DERIVED: [&str; 3] = [
    "elements[].rate_process.law.transitions[]",
    "elements[].delay_process.law.transitions[]",
    "flows[].traffic.classes",
];
/// Ranges that the other fields of the examples narrow.
const NARROWED: [&str; 12] = [
    "run.warmup_s",
    "elements[].queue.aqm.min_threshold_bytes",
    "elements[].rate_process.law.period_s",
    "elements[].queue.aqm.min_threshold_packets",
    "elements[].delay_process.law.low_s",
    "elements[].delay_process.law.period_s",
    "elements[].loss.law.mean_interval_s",
    "flows[].priority",
    "flows[].traffic.connection.ack_priority",
    "flows[].traffic.connection.sender.rto.granularity_s",
    "flows[].traffic.connection.sender.last_packet_bytes",
    "flows[].traffic.size.min_packets",
];
/// Fields that distinguish the kinds of a table.
const TAGS: [&str; 5] = ["kind", "law", "model", "algorithm", "machine"];

/// Returns a scenario with a value in every field that has a range and belongs to all links and TCP flows. The first
/// element is on the return path, where a host may be alone.
fn plain() -> Value {
    let mut flow = flow("flow", &[1], &[0], ns2(Recovery::Reno));
    *transfer_of(&mut flow) = Some(100);
    tcp_of(&mut flow).receiver.linux = Some(LinuxReceiver::default());
    let handshake = HandshakeConfig { syn_bytes: 60, timeout_s: 1.0, client_hello_packets: 1, server_hello_packets: 3 };
    tcp_of(&mut flow).handshake = Some(handshake);
    let sender = classic_of(&mut flow);
    (sender.initial_ssthresh, sender.max_window) = (Some(20.0), Some(40.0));
    let links = [link("link", 1e6, Some(10)), link("back", 1e6, None)];
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

/// Returns scenarios that together have all kinds of elements.
fn examples_of_elements() -> Vec<Value> {
    let private = json!({
        "kind": "private-link", "name": "private", "rate_bps": 1e6, "delay_s": 0.1, "buffer": { "packets": 10 },
        "counting": "waiting"
    });
    let host = json!({ "kind": "host", "name": "host", "data_s": 0.1, "ack_s": 0.1 });
    let examples = vec![
        plain(),
        with("/elements/0/buffer", json!({ "bytes": 15000 })),
        with("/elements/0/token_bucket", json!({ "kind": "shaper", "burst_bytes": 15 })),
        with("/elements/0/token_bucket", json!({ "kind": "policer", "burst_bytes": 30_000 })),
        with("/elements/0", private),
        with("/elements/0", host),
    ];
    let processes = [examples_of_rates(), examples_of_delays(), examples_of_losses()].concat();
    [examples, examples_of_queues(), processes, examples_of_channels()].concat()
}

fn examples_of_queues() -> Vec<Value> {
    let with_threshold = CodelConfig { ce_threshold_s: Some(0.001), ..CodelConfig::TYPICAL };
    let codel = Discipline { aqm: AqmConfig::Codel(with_threshold), ..Discipline::DROP_TAIL };
    let scheduler = SchedulerConfig::Cake(CakeConfig { bandwidth_bps: Some(1e6), ..CakeConfig::TYPICAL });
    let cake = Discipline { scheduler, ..Discipline::DROP_TAIL };
    let adaptation = Some(RedAdaptation { bottom: Some(0.01), ..RedAdaptation::NS2 });
    let red = Discipline { aqm: AqmConfig::Red(RedConfig { adaptation, ..RedConfig::NS2 }), ..Discipline::DROP_TAIL };
    let listed = disciplines().into_iter().map(|(_, discipline)| discipline);
    listed.chain([codel, cake, red]).map(|discipline| with("/elements/0/queue", json!(discipline))).collect()
}

fn examples_of_rates() -> Vec<Value> {
    let example = |law: Value| with("/elements/0/rate_process", json!({ "stream": "stream", "law": law }));
    vec![
        example(json!({ "kind": "steps", "steps_bps": [[0.0, 1e6], [1.0, 0.0]], "period_s": 2.0 })),
        example(json!({
            "kind": "alternating", "start": 0, "transitions": [[0.0, 1.0], [1.0, 0.0]],
            "states": [
                { "rate_bps": 0.0, "least_stay_s": 1.0, "mean_extra_s": 1.0 },
                { "rate_bps": 1e6, "least_stay_s": 1.0, "mean_extra_s": 1.0 }
            ]
        })),
        example(json!({ "kind": "opportunities", "times_ms": [5], "bytes": 1504, "header_bytes": 4 })),
    ]
}

fn examples_of_delays() -> Vec<Value> {
    let example =
        |law: Value| with("/elements/0/delay_process", json!({ "stream": "stream", "order": "keep", "law": law }));
    vec![
        example(json!({ "kind": "steps", "steps_s": [[0.0, 0.1], [1.0, 0.2]] })),
        example(json!({
            "kind": "alternating", "start": 0, "transitions": [[1.0]],
            "states": [{ "delay_s": 0.1, "least_stay_s": 1.0, "mean_extra_s": 1.0 }]
        })),
        example(json!({ "kind": "handover", "low_s": 0.1, "high_s": 0.2, "period_s": 15.0 })),
    ]
}

fn examples_of_losses() -> Vec<Value> {
    let example = |law: Value| with("/elements/0/loss", json!({ "applies_to": "all", "law": law }));
    vec![
        example(json!({ "model": "bernoulli", "probability": 0.1 })),
        example(json!({ "model": "poisson", "mean_interval_s": 1.0, "void_after_s": 1.0 })),
        example(json!({
            "model": "gilbert-elliott", "to_bad": 0.1, "to_good": 0.1, "loss_in_good": 0.0, "loss_in_bad": 1.0
        })),
        example(json!({ "model": "packets", "numbers": [5] })),
        example(json!({ "model": "times", "times_s": [5.0] })),
    ]
}

fn examples_of_channels() -> Vec<Value> {
    let ends = [0, 1].map(
        |end| json!({ "kind": "channel", "name": format!("way {end}"), "end": end, "rate_bps": 1e6, "delay_s": 0.1 }),
    );
    let near = EndConfig { abr: AbrParameters::standard(1e6), ip_service: IpService::ChannelRate };
    let channel = ChannelConfig { name: "channel".to_owned(), forward: vec![0], backward: vec![1], near, far: near };
    let port = |allocation| PortConfig {
        name: "port".to_owned(),
        rate_bps: 1e6,
        delay_s: 0.1,
        buffer_cells: Some(100),
        efci_cells: Some(50),
        allocation,
    };
    let allocations = [
        AllocationConfig::None {},
        AllocationConfig::TwoPass { utilization: 1.0 },
        AllocationConfig::ByCcr { utilization: 1.0 },
        AllocationConfig::Erica { utilization: 1.0, interval_s: 0.01 },
    ];
    let example = |allocation| {
        let (ports, channels) = (vec![port(allocation); 2], vec![channel.clone()]);
        let mut scenario = with("/elements", json!(ends));
        scenario["atm"] = json!(AtmConfig { ports, channels, ..AtmConfig::default() });
        scenario
    };
    allocations.map(example).to_vec()
}

/// Returns scenarios that together have all kinds of traffic.
fn examples_of_traffic() -> Vec<Value> {
    let example = |traffic: Value| with("/flows/0/traffic", traffic);
    let connection = plain()["flows"][0]["traffic"]["connection"].clone();
    let fixed = json!({ "law": "fixed", "mean_s": 1.0 });
    let web = |size: Value| {
        let (off, classes) = (&fixed, [2, 10]);
        example(json!({ "kind": "web", "size": size, "off": off, "classes": classes, "connection": connection }))
    };
    let random = json!({ "law": "exponential", "mean_s": 1.0 });
    let selective = json!(SenderConfig::Selective(SelectiveConfig {
        initial_ssthresh: Some(20.0),
        max_window: Some(40.0),
        send_buffer: Some(SendBuffer { buffer_bytes: 16384, most_buffer_bytes: 4_194_304 }),
        writes: Some(WritesConfig { packets: 5, interval_s: 1.0 }),
        push: Some(PushConfig { write_bytes: Some(65536) }),
        last_packet_bytes: Some(100),
        ..SelectiveConfig::default()
    }));
    vec![
        with("/flows/0/traffic/connection/sender", selective),
        with("/flows/0/traffic/connection/sender/max_burst", json!(4)),
        example(json!({ "kind": "constant", "rate_bps": 1e5 })),
        example(json!({ "kind": "poisson", "rate_bps": 1e5 })),
        example(json!({ "kind": "on-off", "rate_bps": 1e5, "on": fixed, "off": random })),
        example(json!({ "kind": "poisson-on-off", "rate_bps": 1e5, "on": random, "off": fixed })),
        example(json!({ "kind": "ping", "interval_s": 1.0, "return_path": [0], "return_delay_s": 0.1 })),
        web(json!({ "law": "fixed", "packets": 5 })),
        web(json!({ "law": "empirical", "packets": [5, 6] })),
        web(json!({ "law": "pareto", "mean_packets": 12.0, "shape": 1.5 })),
        web(json!({ "law": "exponential", "mean_packets": 12.0, "min_packets": 3.0 })),
        web(json!({
            "law": "exponential-pareto", "mean_packets": 12.0, "min_packets": 3.0, "tail_fraction": 0.1, "shape": 1.5
        })),
        web(json!({
            "law": "exponential-exponential", "mean_packets": 12.0, "min_packets": 3.0, "tail_fraction": 0.1,
            "tail_packets": 50.0
        })),
    ]
}

fn examples() -> Vec<Value> {
    [examples_of_elements(), examples_of_traffic(), vec![with_blocks()]].concat()
}

/// Returns the plain scenario with the sender and the receiver of ns-2's Sack1.
fn with_blocks() -> Value {
    let mut scenario = with("/flows/0/traffic/connection/receiver/linux", Value::Null);
    let connection = &mut scenario["flows"][0]["traffic"]["connection"];
    connection["sender"]["recovery"] = json!("sack1");
    connection["receiver"]["blocks"] = json!({ "most": 3, "bytes": 8 });
    scenario
}

/// Returns where the first value of a field is.
fn pointer(field: &str) -> String {
    format!("/{}", field.replace("[]", "/0").replace('.', "/"))
}

fn parse(scenario: &Value) -> Result<Scenario, serde_json::Error> {
    serde_json::from_value(scenario.clone())
}

/// Returns whether the scenario is refused because a value is out of its range, or not even a number of its kind.
fn is_refused(scenario: &Value, field: &str) -> bool {
    // The path of the field as faults name it.
    let fault = format!("{}: out of range", field.replace("[]", "[0]"));
    parse(scenario).map_or(true, |scenario| check(&scenario).iter().any(|line| line.starts_with(&fault)))
}

#[test]
fn the_examples_are_legal_and_have_every_kind() {
    let examples = examples();
    for example in &examples {
        assert_eq!(check(&parse(example).expect("a scenario")), Vec::<String>::new());
    }
    let contract = sim::contract();
    let axes = contract["axes"].as_object().expect("a table");
    for (field, kinds) in axes.iter().filter(|(field, _)| TAGS.iter().any(|tag| field.ends_with(&format!(".{tag}")))) {
        for kind in kinds.as_array().expect("a list") {
            let is_here = |example: &Value| example.pointer(&pointer(field)) == Some(kind);
            assert!(examples.iter().any(is_here), "no example with {field} = {kind}");
        }
    }
}

#[test]
fn a_value_is_refused_outside_of_its_range_and_only_there() {
    let examples = examples();
    for limit in all_limits().iter().filter(|limit| !limit.field.contains(' ') && !DERIVED.contains(&limit.field)) {
        let pointer = pointer(limit.field);
        let has_field = |example: &&Value| example.pointer(&pointer).is_some_and(Value::is_number);
        assert!(examples.iter().any(|example| has_field(&example)), "no example of {}", limit.field);
        for mut scenario in examples.iter().filter(has_field).cloned() {
            let is_whole = scenario.pointer(&pointer).is_some_and(Value::is_u64);
            let below = if is_whole || limit.low == 0.0 { limit.low - 1.0 } else { limit.low / 2.0 };
            let above = if is_whole { limit.high + 1.0 } else { limit.high * 2.0 };
            for (value, refused) in [(below, true), (limit.low, false), (limit.high, false), (above, true)] {
                if value.is_infinite() || (!refused && NARROWED.contains(&limit.field)) {
                    continue;
                }
                let given = if is_whole { json!(trunc_to_i64(value)) } else { json!(value) };
                *scenario.pointer_mut(&pointer).expect("a field") = given.clone();
                assert_eq!(is_refused(&scenario, limit.field), refused, "{}: {given} in {scenario}", limit.field);
            }
        }
    }
}

#[test]
fn a_list_is_refused_if_it_is_empty() {
    let examples = examples();
    let limits = all_limits();
    let lists = limits.iter().filter_map(|limit| Some((limit.field, limit.field.strip_suffix(" (length)")?)));
    assert_eq!(lists.clone().count(), 7);
    for (limit, list) in lists {
        let example = examples.iter().find(|example| example.pointer(&pointer(list)).is_some_and(Value::is_array));
        let mut scenario = example.unwrap_or_else(|| panic!("no example of {list}")).clone();
        *scenario.pointer_mut(&pointer(list)).expect("a list") = json!([]);
        assert!(is_refused(&scenario, limit), "{list}");
    }
}

#[test]
fn bounds_of_size_classes_rise_and_are_sizes() {
    let refused = |classes: Value| {
        let web = json!({
            "kind": "web", "size": { "law": "fixed", "packets": 5 }, "off": { "law": "fixed", "mean_s": 1.0 },
            "classes": classes, "connection": plain()["flows"][0]["traffic"]["connection"]
        });
        check(&parse(&with("/flows/0/traffic", web)).expect("a scenario"))
    };
    assert_eq!(refused(json!([1, 2, 1_000_000_000_000_u64])), Vec::<String>::new());
    // The class above this bound would begin beyond the largest number.
    assert!(refused(json!([1, u64::MAX]))[0].starts_with("flows[0].traffic.classes[1]: out of range"));
    assert!(refused(json!([0, 1]))[0].starts_with("flows[0].traffic.classes[0]: out of range"));
    assert!(refused(json!([3, 3]))[0].starts_with("flows[0].traffic.classes[1]: not above the one before; given 3"));
}

#[test]
fn a_number_is_read_to_its_last_bit() {
    let mut bits: u64 = 1;
    for _ in 0..20_000 {
        bits = bits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let given = f64::from_bits(bits >> 1);
        if given.is_finite() {
            let read: f64 = serde_json::from_str(&format!("{given:e}")).expect("a number");
            assert_eq!(read.to_bits(), given.to_bits(), "{given:e}");
        }
    }
}

/// Returns where all tables of a value are.
fn tables(value: &Value, place: &str) -> Vec<String> {
    let entries = |children: Vec<(String, &Value)>| {
        children.into_iter().flat_map(|(name, child)| tables(child, &format!("{place}/{name}"))).collect()
    };
    match value {
        Value::Object(table) => {
            let inside: Vec<String> = entries(table.iter().map(|(name, child)| (name.clone(), child)).collect());
            [vec![place.to_owned()], inside].concat()
        }
        Value::Array(list) => {
            entries(list.iter().enumerate().map(|(index, child)| (index.to_string(), child)).collect())
        }
        _ => Vec::new(),
    }
}

#[test]
fn a_table_with_an_unknown_field_or_a_field_of_another_kind_is_refused() {
    let examples = examples();
    // By place, the fields of all kinds of the table that is there.
    let mut fields: BTreeMap<String, BTreeMap<String, Value>> = BTreeMap::new();
    for example in &examples {
        for place in tables(example, "") {
            let table = example.pointer(&place).and_then(Value::as_object).expect("a table").clone();
            let unknown = ("unknown".to_owned(), json!(1));
            fields.entry(place).or_default().extend(table.into_iter().chain([unknown]));
        }
    }
    for example in &examples {
        for place in tables(example, "") {
            for (field, value) in &fields[&place] {
                let mut scenario = example.clone();
                let table = scenario.pointer_mut(&place).and_then(Value::as_object_mut).expect("a table");
                if !table.contains_key(field) {
                    table.insert(field.clone(), value.clone());
                    // The check knows the parameters of a congestion control by name.
                    let refused = parse(&scenario).map_or(true, |scenario| !check(&scenario).is_empty());
                    assert!(refused, "{place} with {field} in {example}");
                }
            }
        }
    }
}

/// Returns where the resolved scenarios are from which the fuzzer starts.
fn folder_of_seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds")
}

/// Returns a scenario whose flow crosses a queue of each discipline of the list.
fn all_disciplines() -> Scenario {
    let listed = disciplines();
    let (path, back) = ((0..listed.len()).collect::<Vec<_>>(), listed.len());
    let queued = listed.into_iter().map(|(name, queue)| LinkConfig { queue, ..link(name, 1e6, Some(10)) });
    let flows = vec![flow("flow", &path, &[back], ns2(Recovery::Reno))];
    scenario("A queue of each discipline", 10.0, queued.chain([link("back", 1e6, None)]), flows)
}

#[test]
fn golden_seed_of_the_fuzzer_with_each_discipline() {
    let path = folder_of_seeds().join("disciplines.json");
    let text = serde_json::to_string(&all_disciplines()).expect("JSON") + "\n";
    if std::env::var_os("ACKCLOCK_BLESS").is_some() {
        fs::write(&path, &text).expect("a file");
    }
    assert_eq!(fs::read_to_string(&path).ok(), Some(text), "`make golden` rewrites {}", path.display());
}

/// Returns the resolved scenarios from which the fuzzer starts.
fn seeds() -> Vec<Value> {
    let files = folder_of_seeds().read_dir().expect("a folder").map(|entry| fs::read(entry.expect("a file").path()));
    files.map(|bytes| serde_json::from_slice(&bytes.expect("a text")).expect("JSON")).collect()
}

#[test]
fn the_seeds_of_the_fuzzer_are_legal_and_have_every_discipline_element_and_traffic() {
    let seeds = seeds();
    let scenarios: Vec<Scenario> = seeds.iter().map(|seed| parse(seed).expect("a scenario")).collect();
    for scenario in &scenarios {
        assert_eq!(check(scenario), Vec::<String>::new());
    }
    let parts = |queue: &Discipline| (discriminant(&queue.scheduler), discriminant(&queue.aqm), queue.overflow);
    for (name, discipline) in &disciplines() {
        let mut links = scenarios.iter().flat_map(|scenario| &scenario.elements).filter_map(ElementConfig::link);
        assert!(links.any(|link| parts(&link.queue) == parts(discipline)), "no seed with {name}");
    }
    let axes = &sim::contract()["axes"];
    for (list, kind_of) in [("elements", "kind"), ("flows", "traffic.kind")] {
        for kind in axes[format!("{list}[].{kind_of}")].as_array().expect("a list") {
            let mut entries = seeds.iter().filter_map(|seed| seed[list].as_array()).flatten();
            let is_here = entries.any(|entry| entry.pointer(&pointer(kind_of)) == Some(kind));
            assert!(is_here, "no seed with {list} of the kind {kind}");
        }
    }
}
