"""The picture of a sweep: what its numbers are of, and the units in which they are drawn."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.charts import Chart, HeatMap, Panel
from ackclock.plots import chart_picture
from ackclock.plots.cells import _text
from ackclock.sweeps.charting import sweep_chart
from ackclock.sweeps.dataset import Finished, finished_points
from ackclock.sweeps.running import run_points
from ackclock.sweeps.scales import scale_of, words_of
from ackclock.sweeps.store import Memory
from ackclock.sweeps.sweeping import planned_sweep

TWO = """
title = "Near and far"
[[link]]
name = "line"
rate = "10 Mbit/s"
buffer = "50 pkt"
[[flow]]
name = "near"
path = ["line"]
rtt = "10 ms"
[[flow]]
name = "far"
path = ["line"]
rtt = "200 ms"
[run]
duration = "10 s"
warmup = "1 s"
"""
BUFFER = {"link.line.buffer": ["20 pkt", "80 pkt"]}
EXPONENT = re.compile(r"\de[-+]?\d")


def drawn(text: str, vary: Mapping[Any, Any], **fields: Any) -> tuple[Chart, list[Finished]]:
    planned = planned_sweep(text, vary, fields)
    store = Memory()
    run_points([point.resolved for point in planned.points], store)
    finished = list(finished_points(planned, store))
    return sweep_chart(planned, finished), finished


def row(one: Finished, name: str) -> dict[str, Any]:
    return next(row for row in one.flows if row["name"] == name)


def words(panel: Panel) -> list[str]:
    return [panel.x_label, panel.y_label, *(panel.x_ticks or ()), *(panel.y_ticks or ())]


def test_each_flow_has_its_own_delay_and_the_same_colour_in_both_panels() -> None:
    chart, finished = drawn(TWO, BUFFER)
    throughput, delay = chart.panels
    assert [curve.label for curve in throughput.curves if curve.kind == "simulation"] == [
        "simulated, all flows",
        "simulated, near",
        "simulated, far",
    ]
    assert [curve.label for curve in delay.curves] == ["simulated, near", "simulated, far"]
    assert (delay.x_label, delay.y_label) == ("round trip, 95th percentile [ms]", "throughput [Mbit/s]")
    colours = {curve.label: curve.colour for curve in throughput.curves}
    for curve in delay.curves:
        found = [row(one, curve.label.removeprefix("simulated, ")) for one in finished]
        assert curve.x == pytest.approx([one["rtt_p95_s"]["mean"] * 1e3 for one in found])
        assert curve.y == pytest.approx([one["throughput_bps"]["mean"] / 1e6 for one in found])
        assert curve.colour == colours[curve.label]


def test_rates_of_transfers_are_averaged_and_not_added() -> None:
    """Two transfers one after the other had 19.9 Mbit/s "together" on a line of 10."""
    sizes = TWO.replace('rtt = "10 ms"', 'rtt = "10 ms"\nsize = "1 MB"')
    both = sizes.replace('rtt = "200 ms"', 'rtt = "10 ms"\nsize = "1 MB"\nstart = "5 s"').replace('warmup = "1 s"', "")
    chart, finished = drawn(both, BUFFER)
    assert chart.panels[0].curves[0].label == "simulated, mean of the transfers"
    rates = [[row(one, name)["throughput_bps"]["mean"] / 1e6 for name in ("near", "far")] for one in finished]
    assert chart.panels[0].curves[0].y == pytest.approx(np.mean(rates, axis=1))
    mixed, finished = drawn(sizes.replace('warmup = "1 s"', ""), BUFFER)
    assert mixed.panels[0].curves[0].label == "simulated, all flows"
    lasting = [row(one, "far")["throughput_bps"]["mean"] / 1e6 for one in finished]
    assert mixed.panels[0].curves[0].y == pytest.approx(lasting)


def test_of_many_flows_the_labels_say_what_the_numbers_are_of() -> None:
    vary = {**BUFFER, "run.seed": [1, 2, 3]}
    chart, finished = drawn(TWO, vary, **{"run.duration": "3 s"})
    throughput, delay, _, near, far = chart.panels
    assert throughput.y_label == delay.y_label == "throughput of all flows together [Mbit/s]"
    assert delay.x_label == "round trip, mean of the flows' 95th percentiles [ms]"
    delays = [np.mean([row["rtt_p95_s"]["mean"] for row in one.flows]) for one in finished[::3]]
    assert delay.curves[0].x == pytest.approx(np.array(delays) * 1e3)
    assert (near.title, far.title) == ("near", "far")
    assert near.cells is not None
    assert near.cells.label == "round trip, 95th percentile [ms]"
    assert near.cells.values[0, 1] == pytest.approx(row(finished[3], "near")["rtt_p95_s"]["mean"] * 1e3)


def test_identical_flows_are_one_curve_that_says_so() -> None:
    chart, _ = drawn(TWO.replace('name = "far"', 'name = "far"\ncount = 3'), BUFFER)
    delay = chart.panels[1]
    assert [curve.label for curve in delay.curves] == ["simulated, near", "simulated, far (3 flows together)"]
    assert delay.x_label == "round trip, mean of the flows' 95th percentiles [ms]"


def test_the_theory_of_one_of_several_flows_names_it() -> None:
    chart, _ = drawn("two-way-symmetric", {"run.seed": [1, 2]}, **{"run.duration": "1 s", "run.warmup": "0.5 s"})
    theory = [curve.label for curve in chart.panels[0].curves if curve.kind.startswith("theory")]
    assert [label.partition(":")[0] for label in theory] == ["there", "back"]


def test_large_numbers_have_a_prefix_and_no_exponent() -> None:
    text = TWO.replace("10 Mbit/s", "10 Gbit/s").replace("200 ms", "100 us").replace("10 ms", "100 us")
    vary = {"link.line.rate": ["1 Gbit/s", "10 Gbit/s"], "link.line.buffer": ["100 kB", "1 MB"]}
    chart, _ = drawn(text, vary, **{"run.duration": "40 ms", "run.warmup": "10 ms"})
    throughputs = chart.panels[2]
    assert words(throughputs) == ["link.line.rate [Gbit/s]", "link.line.buffer [MB]", "1", "10", "0.1", "1"]
    assert throughputs.cells is not None
    assert throughputs.cells.label == "throughput of all flows together [Gbit/s]"
    picture = chart_picture(chart)
    texts = [text.get_text() for axes in picture.axes for text in (*axes.texts, *axes.get_xticklabels())]
    assert any(text.startswith("9.") or text == "10" for text in texts)
    assert not [text for text in texts if EXPONENT.search(text)]


def test_the_data_of_a_sweep_are_drawn_in_the_same_units() -> None:
    text = TWO.replace("10 Mbit/s", "10 Gbit/s").replace("200 ms", "100 us").replace("10 ms", "100 us")
    vary = {"link.line.rate": ["1 Gbit/s", "10 Gbit/s"], "link.line.buffer": ["100 kB", "1 MB"]}
    data = ackclock.sweep(text, vary, duration="40 ms", warmup="10 ms")
    panel = data.ackclock.chart("flow_throughput").panels[0]
    assert words(panel) == ["link.line.rate [Gbit/s]", "link.line.buffer [MB]", "1", "10", "0.1", "1"]
    (curves,) = data.sel(flow="near").ackclock.chart("flow_throughput", against="flow_rtt_p95").panels
    assert curves.x_label == "rtt p95 [ms]"
    assert list(curves.curves[0].notes or ()) == ["1", "10"]


def test_a_cell_of_a_large_value_is_written_out() -> None:
    values, one = np.array([[12345.6]]), np.array([[34567.0]])
    assert _text(HeatMap("packets", values, values - one, values + one), (0, 0)) == "12,350\n\u00b135,000"


@pytest.mark.parametrize(
    ("values", "unit", "expected"),
    [
        ([0.5e6, 9.5e8], "bit/s", (1e6, "Mbit/s")),
        ([9e3], "bit/s", (1e3, "kbit/s")),
        ([2e10, np.nan], "bit/s", (1e9, "Gbit/s")),
        ([np.nan], "bit/s", (1e6, "Mbit/s")),
        ([5e5, 1500.0], "B", (1e3, "kB")),
        ([0.0], "B", (1.0, "B")),
        ([1.2], "s", (1e-3, "ms")),
        ([120.0], "s", (1.0, "s")),
        ([0.0], "s", (1e-3, "ms")),
        ([3e6], "pkt", (1.0, "pkt")),
        ([], "s", (1e-3, "ms")),
    ],
)
def test_a_prefix_fits_the_largest_value(values: list[float], unit: str, expected: tuple[float, str]) -> None:
    assert scale_of([np.array(values)], unit) == expected


def test_numbers_in_words_have_no_exponent() -> None:
    assert words_of(np.array([1e6, 0.00001, 20.0])) == ["1,000,000", "0.00001", "20"]
