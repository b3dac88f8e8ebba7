"""Random legal scenarios resolve and round-trip; random garbage is refused with a ScenarioError and nothing else."""

import copy
import datetime as dt
import json
from collections.abc import Callable, Iterator
from io import StringIO
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from rich.console import Console

from ackclock.prediction import predict_resolved
from ackclock.scenario import Resolved, ScenarioError, json_schema, load, preset_names, resolve, with_overrides
from ackclock.scenario.contract import CONGESTION_CONTROLS
from ackclock.scenario.machines import MACHINES, machine_of
from ackclock.scenario.tcp import preset

VALIDATOR = Draft202012Validator(json_schema())
Document = dict[str, Any]


def amount(low: float, high: float, unit: str) -> st.SearchStrategy[str]:
    return st.floats(low, high).map(lambda value: f"{value:.6g} {unit}")


def table(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries(required, optional=optional)


def anew(value: list[Any]) -> st.SearchStrategy[list[Any]]:
    """Draw a list that nobody else holds: tests write into it."""
    return st.builds(copy.deepcopy, st.just(value))


RATE = st.one_of(amount(0.1, 1000, "Mbit/s"), amount(0.1, 10, "Gbps"), amount(20, 900, "kB/s"))
TIME = st.one_of(amount(0, 200, "ms"), amount(0, 1, "s"), amount(1, 900, "us"))
BUFFER = st.one_of(
    st.integers(1, 500).map(lambda n: f"{n} pkt"),
    st.integers(2, 500).map(lambda n: f"{n} kB"),
    amount(200, 900, "ms"),
    st.just("unlimited"),
)
QUEUE = st.one_of(
    st.sampled_from(["drop-tail", "drop-from-front", "random-drop", "red", "priority"]),
    table(
        {"discipline": st.just("priority")},
        {"levels": st.integers(2, 8), "victim": st.sampled_from(["arriving", "lowest"])},
    ),
    table(
        {"discipline": st.just("red")},
        {
            "min_threshold": amount(1, 10, "pkt"),
            "max_threshold": amount(11, 90, "pkt"),
            "weight": st.floats(1e-4, 1),
            "max_probability": st.floats(1e-3, 1),
            "gentle": st.booleans(),
            "victim": st.sampled_from(["arriving", "random"]),
            "mean_packet": st.just("500 B"),
            "rules": st.sampled_from(["floyd-jacobson", "ns2"]),
            "wait": st.booleans(),
            "least_queue": amount(0, 3, "pkt"),
            "first_passes": st.booleans(),
            "overflow_restarts": st.booleans(),
        },
    ),
)
COUNTING = st.sampled_from(["with-service", "waiting"])
ORDER = st.sampled_from(["overtake", "keep"])
DELAY_PROCESS = st.one_of(
    table(
        {"kind": st.just("steps"), "steps": anew([["0 s", "10 ms"], ["2 s", "30 ms"], ["2.5 s", "0 s"]])},
        {"order": ORDER, "both_ways": st.booleans()},
    ),
    table(
        {
            "kind": st.just("alternating"),
            "states": st.lists(table({"delay": TIME, "mean_extra": amount(0.1, 9, "s")}, {}), min_size=2, max_size=2),
        },
        {"order": ORDER, "transitions": anew([[0, 1], [0.25, 0.75]]), "start_state": st.integers(1, 2)},
    ),
    table(
        {"kind": st.just("handover"), "low": amount(0, 9, "ms"), "high": amount(10, 90, "ms")},
        {"order": ORDER, "period": amount(0.1, 20, "s"), "both_ways": st.booleans()},
    ),
)
SHARE = st.floats(0, 1)
LOSS = st.one_of(
    table(
        {"model": st.just("bernoulli"), "probability": SHARE}, {"applies_to": st.sampled_from(["all", "data", "acks"])}
    ),
    table({"model": st.just("poisson"), "mean_interval": amount(0.1, 20, "s")}, {"void_after": TIME}),
    table(
        {"model": st.just("gilbert-elliott"), "to_bad": SHARE, "to_good": SHARE},
        {"loss_in_good": SHARE, "loss_in_bad": SHARE},
    ),
    table({"model": st.just("packets"), "packets": st.sets(st.integers(1, 999), min_size=1).map(sorted)}, {}),
    table({"model": st.just("times"), "times": anew(["0 s", "10 ms", "3 s"])}, {}),
)
DIRECTION = {
    "delay": TIME,
    "buffer": BUFFER,
    "queue": QUEUE,
    "counting": COUNTING,
    "delay_process": DELAY_PROCESS,
    "loss": LOSS,
}
LINK = table({"rate": RATE}, {**DIRECTION, "reverse": table({}, {"rate": RATE, **DIRECTION})})
TIMER = {"min": amount(0, 2, "s"), "max": amount(4, 100, "s"), "initial": amount(0.5, 3, "s")}
RTO = table(
    {"granularity": amount(0.001, 0.5, "s")},
    {
        **TIMER,
        "estimator": st.sampled_from(["ticks", "rfc6298"]),
        "sample": st.sampled_from(["per-round", "per-ack"]),
        "k": st.integers(1, 8),
        "max_backoff": st.integers(1, 64),
    },
)
ENDS = {
    "initial_window": st.one_of(amount(1, 10, "pkt"), amount(2, 15, "kB")),
    "max_window": st.one_of(amount(1, 100, "pkt"), st.sampled_from(["unlimited", "64 KiB"])),
    "ack_every": st.integers(1, 4),
    "ack_delay": amount(0, 500, "ms"),
}
PRESETS = {
    machine: [name for name in preset_names() if machine_of(preset(name).recovery, None) == machine]
    for machine in MACHINES
}
RENO_RULES = {
    **ENDS,
    "initial_ssthresh": st.one_of(amount(1, 100, "pkt"), st.just("max-window")),
    "slow_start_while": st.sampled_from(["below", "at-or-below"]),
    "increase": st.sampled_from(["reciprocal", "reciprocal-floor", "counted"]),
    "half_window": st.sampled_from(["whole-packets", "fractional"]),
    "dupack_threshold": st.one_of(st.integers(1, 9), st.just("infinite")),
    "limited_transmit": st.booleans(),
    "max_burst": st.one_of(st.integers(1, 9), st.just("unlimited")),
    "partial_ack_timer": st.sampled_from(["slow-but-steady", "impatient"]),
    "rto": RTO,
}
CLASSIC = table(
    {"preset": st.sampled_from([name for name in PRESETS["classic"] if preset(name).recovery != "sack1"])},
    {
        **RENO_RULES,
        "dialect": st.sampled_from(["ns2", "rfc", "engset"]),
        "recovery": st.sampled_from(["old-tahoe", "tahoe", "reno", "newreno"]),
    },
)
SACK1 = table(
    {"preset": st.just("sack1-ns2")},
    {**RENO_RULES, "dialect": st.just("ns2"), "recovery": st.just("sack1"), "sack_blocks": st.integers(1, 4)},
)
SELECTIVE = table(
    {"preset": st.sampled_from(PRESETS["selective"])},
    {
        **ENDS,
        "recovery": st.just("sack"),
        "initial_ssthresh": st.one_of(amount(1, 100, "pkt"), st.sampled_from(["max-window", "infinite"])),
        "congestion_control": st.sampled_from(tuple(CONGESTION_CONTROLS)),
        "loss_detection": st.sampled_from(["rack", "dupack"]),
        "tail_loss_probe": st.booleans(),
        "frto": st.booleans(),
        "timestamps": st.booleans(),
        "pacing": st.sampled_from(["none", "linux"]),
        "dupack_threshold": st.integers(1, 9),
        "rto": table({}, {**TIMER, "granularity": amount(0, 20, "ms")}),
    },
)
TCP = st.one_of(st.sampled_from(preset_names()), CLASSIC, SACK1, SELECTIVE)
PERIOD = st.one_of(
    amount(0.001, 100, "s"),
    table({"mean": amount(0.001, 100, "s"), "law": st.sampled_from(["fixed", "exponential"])}, {}),
)
SIZE = st.one_of(
    st.integers(1, 1000).map(lambda n: f"{n} pkt"),
    table({"law": st.just("exponential"), "mean": amount(3, 1000, "pkt")}, {"min": amount(1, 3, "pkt")}),
    table(
        {"law": st.just("exponential-pareto"), "mean": amount(12, 1000, "pkt")},
        {"tail_fraction": st.floats(0.01, 0.2), "shape": st.floats(1.2, 3)},
    ),
    table({"law": st.just("exponential-exponential"), "mean": amount(20, 1000, "pkt")}, {}),
    table({"law": st.just("pareto"), "mean": amount(1, 1000, "pkt")}, {"shape": st.floats(1.01, 10)}),
)
TRAFFIC = table({"kind": st.just("web"), "size": SIZE, "off": PERIOD}, {})
READING = {"rtt": st.none() | st.sampled_from(["rtt", "two_way_propagation"])}
SOURCE = table({"kind": st.sampled_from(["on-off", "poisson-on-off"]), "rate": RATE, "on": PERIOD, "off": PERIOD}, {})
FLOW = st.one_of(
    table(
        {**READING, "traffic": TRAFFIC}, {"count": st.integers(1, 5), "tcp": TCP, "start_spread": amount(0, 10, "s")}
    ),
    table({"rtt": st.none(), "traffic": SOURCE}, {"count": st.integers(1, 5)}),
    table(
        READING,
        {
            "packet": st.integers(40, 1500).map(lambda n: f"{n} B"),
            "ack": st.integers(1, 100).map(lambda n: f"{n} B"),
            "count": st.integers(1, 5),
            "start": amount(0, 10, "s"),
            "start_spread": amount(0, 10, "s"),
            "size": st.one_of(st.just("unlimited"), st.integers(1, 10**6).map(lambda n: f"{n} kB")),
            "tcp": TCP,
            "priority": st.integers(0, 1),
            "ack_priority": st.integers(0, 1),
        },
    ),
)
TITLE = st.text(st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp"]), max_size=20)
RUN = table(
    {"duration": amount(20, 1e4, "s")},
    {
        "warmup": amount(0, 19, "s"),
        "replications": st.integers(1, 100),
        "seed": st.integers(0, 2**63 - 1),
        "confidence": st.floats(0.5, 0.999),
    },
)
TRACE = table({}, {"cwnd": st.booleans(), "queue": st.booleans(), "overview_interval": amount(0.1, 10, "s")})


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """Draw a legal scenario: links in a row, flows over parts of it in either direction."""
    links = [
        {"name": f"link-{number}", **entry} for number, entry in enumerate(draw(st.lists(LINK, min_size=1, max_size=4)))
    ]
    flows = []
    for flow in draw(st.lists(FLOW, min_size=1, max_size=4)):
        first = draw(st.integers(0, len(links) - 1))
        last = draw(st.integers(first, len(links) - 1))
        backwards = draw(st.booleans())
        names = [f"link-{number}" for number in range(first, last + 1)]
        reading = flow.pop("rtt")
        length = {} if reading is None else {reading: draw(amount(20, 100, "s"))}
        flows.append(
            {"path": [f"{name}.reverse" for name in reversed(names)] if backwards else names, **length, **flow}
        )
    return {"title": draw(TITLE), "link": links, "flow": flows, "run": draw(RUN), "trace": draw(TRACE)}


@given(documents())
@settings(max_examples=200, deadline=None)
def test_every_legal_scenario_gets_a_prediction_or_reasons(document: Document) -> None:
    found = predict_resolved(resolve(load(document)))
    assert found.applicable or found.inapplicable
    assert all(model.reasons and all(model.reasons) for model in found.inapplicable)
    assert all(number.value >= 0.0 for model in found.applicable for number in model.numbers)
    json.dumps(found.to_dict(), allow_nan=False)
    Console(file=StringIO()).print(found)


@given(documents())
@settings(max_examples=200, deadline=None)
def test_legal_scenarios_resolve_and_round_trip(document: Document) -> None:
    before = copy.deepcopy(document)
    resolved = resolve(load(document))
    assert document == before
    assert VALIDATOR.is_valid(document)
    data = resolved.to_dict()
    assert json.loads(resolved.to_json()) == data
    again = Resolved.from_dict(json.loads(resolved.to_json()))
    assert again == resolved
    assert again.to_json() == resolved.to_json()
    assert len(resolved.elements) == 2 * len(document["link"])
    assert [flow.count for flow in resolved.flows] == [flow.get("count", 1) for flow in document["flow"]]


@given(documents())
@settings(max_examples=100, deadline=None)
def test_round_trips_add_up_to_what_was_asked_for(document: Document) -> None:
    resolved = resolve(load(document))
    for table, flow in zip(document["flow"], resolved.flows, strict=True):
        if flow.connection is None:
            continue
        propagation = flow.forward_delay_s + flow.tcp.return_delay_s
        service = 0.0
        for path, size in ((flow.path, flow.packet_bytes), (flow.return_path, flow.tcp.ack_bytes)):
            propagation += sum(resolved.elements[link].least_delay_s for link in path)
            service += sum(8 * size / (resolved.elements[link].rate_bps or float("inf")) for link in path)
        if "two_way_propagation" in table:
            assert propagation == pytest.approx(float(table["two_way_propagation"].split()[0]), abs=1e-9)
        if "rtt" in table:
            assert propagation + service == pytest.approx(float(table["rtt"].split()[0]), abs=1e-9)


def spots(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield path
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        yield from spots(entry, (*path, key))


GARBAGE = st.recursive(
    st.one_of(
        st.text(max_size=20),
        st.integers(),
        st.just(10**400),
        st.floats(),
        st.booleans(),
        st.just(dt.date(1999, 2, 1)),
        st.sampled_from(
            ["0 s", "-1 pkt", "1e400 Mbit/s", "1 pkt", "1 s", "1 bit/s", "1 B", "unlimited", "red", "infinite"]
        ),
    ),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@given(documents(), st.data())
@settings(max_examples=300, deadline=None)
def test_garbage_in_any_field_gives_a_scenario_error_or_a_scenario(document: Document, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([path for path in spots(document) if path]))
        holder: Any = document
        for key in path[:-1]:
            holder = holder[key]
        action = data.draw(st.sampled_from(["replace", "delete", "add"]))
        if action == "add" and isinstance(holder, dict):
            holder[data.draw(st.text(max_size=8))] = data.draw(GARBAGE)
        elif action == "delete":
            del holder[path[-1]]
        else:
            holder[path[-1]] = data.draw(GARBAGE)
    accepted_or_explained(document)


@given(documents(), st.sampled_from(["link.link-0.", "flow.flow.", "flow.flow1.", "run.", "trace.", ""]), st.data())
@settings(max_examples=100, deadline=None)
def test_garbage_in_overrides_gives_a_scenario_error_or_a_scenario(
    document: Document, head: str, data: st.DataObject
) -> None:
    fields = ["queue", "tcp", "rate", "path", "tcp.rto.min", "queue.weight", "path.0.x", "duration", ""]
    key = head + data.draw(st.sampled_from(fields) | st.text(max_size=8))
    scenario = load(document)
    value = data.draw(GARBAGE)
    explained(lambda: resolve(with_overrides(scenario, {key: value})))


TEXT = """\
title = "x"
[[link]]
name = "a"
rate = "1.5 Mbit/s"
queue = { discipline = "red", weight = 0.1 }
[link.reverse]
rate = "1 Mbit/s"
[[flow]]
path = ["a"]
rtt = "560 ms"
tcp = { preset = "tahoe-ns2", rto = { min = "1 s" } }
[run]
duration = "100 s"
"""


@given(st.integers(0, len(TEXT)), st.integers(0, 12), st.text(alphabet="[]{}=\"'#\\\n. 1aekMs-_", max_size=6))
@settings(max_examples=400, deadline=None)
def test_garbage_in_the_text_gives_a_scenario_error_or_a_scenario(position: int, cut: int, inserted: str) -> None:
    accepted_or_explained(TEXT[:position] + inserted + TEXT[position + cut :] + "\n")


@given(st.text(max_size=200))
def test_any_text_gives_a_scenario_error(text: str) -> None:
    with pytest.raises(ScenarioError):
        load(text + "\n")


def accepted_or_explained(origin: str | Document) -> None:
    explained(lambda: Resolved.from_dict(resolve(load(origin)).to_dict()))


def explained(call: Callable[[], object]) -> None:
    """Make a call that may fail, with faults that say something."""
    try:
        call()
    except ScenarioError as caught:
        error = caught
    else:
        return
    assert error.faults
    assert all(fault.place and fault.problem and str(fault) for fault in error.faults)
    assert str(error)
