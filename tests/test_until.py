"""One run is lengthened until a quantity is known well enough."""

from typing import Any

import pytest

import ackclock
from ackclock.errors import ScenarioError, SweepError
from ackclock.precision import longer, relative_half_width
from ackclock.scenario import load, resolve
from fakes import make_flow, make_replication, make_resolved

TEXT = """
[[link]]
name = "wan"
rate = "5 Mbit/s"
buffer = "30 pkt"
loss = { model = "bernoulli", probability = 0.004 }
[[flow]]
name = "bulk"
count = 2
path = ["wan"]
rtt = "60 ms"
tcp = "newreno-ns2"
[run]
warmup = "5 s"
"""


def wanted(text: str) -> dict[str, Any]:
    precision = resolve(load(TEXT + text)).to_dict()["run"]["precision"]
    return {name: precision[name] for name in ("element", "name", "quantity", "within", "longest_s")}


def test_until_is_short_for_a_precision() -> None:
    short = wanted('duration = "until 2%"')
    assert short == wanted('duration = "100 s"\nprecision = { within = "2%", longest = "6400 s" }')
    assert short == {
        "element": "flow",
        "name": "*",
        "quantity": "throughput_bps",
        "within": 0.02,
        "longest_s": 6400.0,
    }
    assert resolve(load(TEXT + 'duration = "until 2 %"')).run.duration_s == 100.0


def test_the_run_is_as_long_as_it_takes_and_runs_again_alike() -> None:
    result = ackclock.run(TEXT + 'duration = "until 2%"', picture=False)
    found, duration = result.summary["precision"], result.summary["duration_s"]
    assert found is not None
    assert found["reached"] <= 0.02
    assert duration in [100.0 * 2**times for times in range(1, 7)]
    assert result.resolved.run.duration_s == duration
    assert ackclock.run(result.resolved, picture=False).summary == result.summary
    shorter = ackclock.run(
        TEXT + f'duration = "{duration / 2} s"\nprecision = {{ within = "2%", longest = "{duration / 2} s" }}',
        picture=False,
    ).summary["precision"]
    assert shorter is not None
    assert shorter["reached"] is None or shorter["reached"] > 0.02


def test_the_longest_run_without_the_precision_is_said_to_be() -> None:
    text = TEXT + 'duration = "20 s"\nprecision = { quantity = "flow.bulk.goodput", within = "0.1%", longest = "50 s" }'
    summary = ackclock.run(text, picture=False).summary
    assert summary["duration_s"] == 50.0
    (warning,) = (line for line in summary["warnings"] if line.startswith("flow.bulk.goodput_bps"))
    assert warning.endswith("after the longest run, 50 s, ±0.1% was wanted; raise run.precision.longest")


def test_a_deterministic_run_is_lengthened_too() -> None:
    text = TEXT.replace("loss =", "# loss =") + 'duration = "10 s"\nprecision = { within = "1%", longest = "2000 s" }'
    summary = ackclock.run(text, picture=False).summary
    assert summary["deterministic"]
    assert summary["precision"] is not None
    assert summary["precision"]["reached"] <= 0.01


def test_a_finite_transfer_is_known_at_once() -> None:
    text = TEXT.replace("loss =", "# loss =").replace('"bulk"', '"bulk"\nsize = "500 pkt"')
    assert ackclock.run(text + 'duration = "until 2%"', picture=False).summary["duration_s"] == 100.0


def test_what_has_no_interval_is_lengthened_to_the_longest() -> None:
    precision = {"element": "flow", "name": "*", "quantity": "goodput_bps", "within": 0.02, "most": 2, "batch": 2}
    resolved = make_resolved(precision={**precision, "longest_s": 350.0})
    durations = [resolved.run.duration_s]
    following = resolved
    while (longer_one := longer(following, [make_replication(following)])) is not None:
        following = longer_one
        durations.append(following.run.duration_s)
    assert durations == [100.0, 200.0, 350.0]


@pytest.mark.parametrize(
    ("run", "fault"),
    [
        ('duration = "until 2"', 'duration, line 15: is not a percentage; given "until 2"'),
        ('duration = "until 2%"\nprecision = { within = "1%" }', "says the precision that run.precision says too"),
        ('duration = "9 s"\nprecision = { within = "1%", longest = "8 s" }', "is less than run.duration"),
        ('duration = "9 s"\nreplications = 2\nprecision = { within = "1%", longest = "90 s" }', "asks for several"),
        ('duration = "9 s"\nprecision = { within = "1%", longest = "90 s", most = 9 }', "counts replications"),
    ],
)
def test_contradictions_are_faults(run: str, fault: str) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(TEXT + run)
    assert fault in str(caught.value)


def test_a_sweep_has_one_duration() -> None:
    with pytest.raises(SweepError, match="a sweep has one duration"):
        ackclock.sweep(TEXT + 'duration = "until 2%"', {"link.wan.buffer": ["10 pkt", "20 pkt"]})


def test_all_flows_are_those_without_end() -> None:
    text = TEXT + 'duration = "until 3%"\n[[flow]]\nname = "page"\npath = ["wan"]\nsize = "50 kB"\nstart = "10 s"\n'
    found = ackclock.run(text, picture=False).summary["precision"]
    assert found is not None
    assert found["reached"] <= 0.03


SHARED = """
[[link]]
name = "l"
rate = "5 Mbit/s"
delay = "20 ms"
buffer = "40 pkt"
[[flow]]
name = "cubic"
path = ["l"]
tcp = "linux-cubic"
[[flow]]
name = "reno"
path = ["l"]
tcp = "linux-reno"
[run]
warmup = "20 s"
"""


def test_each_flow_of_a_full_link_is_known_not_their_sum_alone() -> None:
    """Two flows that fill a link have a sum of 5 Mbit/s at once, and shares within 5% only after minutes."""
    found = ackclock.run(SHARED + 'duration = "until 5%"', picture=False)
    flows, precision = found.flows, found.summary["precision"]
    halves = (flows["throughput_bps_high"] - flows["throughput_bps_low"]) / 2.0 / flows["throughput_bps"]
    assert halves.max() <= 0.05
    assert precision is not None
    assert precision["reached"] == pytest.approx(halves.max())
    assert found.summary["duration_s"] > 100.0


def test_of_several_flows_the_least_known_one_decides_over_replications_too() -> None:
    precision = {"element": "flow", "name": "*", "quantity": "goodput_bps", "within": 0.02, "most": 9, "batch": 2}
    resolved = make_resolved([make_flow("a", start_spread_s=1.0), make_flow("b")], precision=precision)
    runs = [
        make_replication(resolved, number, flows={"delivered_packets": delivered})
        for number, delivered in enumerate(([900.0, 1100.0], [1100.0, 900.0]))
    ]
    assert relative_half_width(resolved, runs) == pytest.approx(12.706 * 0.1, rel=1e-4)
