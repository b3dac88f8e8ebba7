"""Pictures of senders' states: bands, marks, lanes and rates, from the trace of states."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.charts import Chart, Curve, Panel, Span
from ackclock.errors import ResultError
from ackclock.plots import chart_picture

TEXT = """
[[link]]
name = "line"
rate = "10 Mbit/s"
delay = "20 ms"
buffer = "30 pkt"
LINK
FLOWS
[run]
duration = "10 s"
[trace]
state = true
"""
FLOW = '[[flow]]\nname = "NAME"\npath = ["line"]\ntcp = "PRESET"\n'
LATER = 'delay_process = { kind = "steps", steps = [["0 s", "0 ms"], ["6 s", "900 ms"]] }'


def run(*presets: str, link: str = "", extra: str = "") -> Any:
    flows = [FLOW.replace("NAME", f"flow-{n}").replace("PRESET", preset) for n, preset in enumerate(presets)]
    text = TEXT.replace("FLOWS", "".join(flows)).replace("LINK", link)
    return ackclock.run(text.replace("[trace]", f"{extra}\n[trace]"))


def panels(result: Any) -> dict[str, Panel]:
    return {panel.y_label: panel for panel in result.chart().panels}


def named(spans: Any, label: str) -> list[tuple[float, float]]:
    return [(span.start, span.end) for span in spans if span.label == label]


def test_recoveries_of_a_flow_are_bands_behind_its_window() -> None:
    result = run("linux-cubic")
    rows = result.traces["state"]
    rows = rows[rows["event"].isin(["start", "state"])]
    begins = rows[rows["state"] == "Recovery"]["time_s"].tolist()
    spans = named(panels(result)["cwnd [packets]"].spans, "Recovery")
    assert [start for start, _ in spans] == begins
    assert len(begins) >= 3
    ends = rows[rows["state"] == "Open"]["time_s"].tolist()
    assert all(end in ends or end == 10.0 for _, end in spans)


def test_bands_are_drawn_over_the_whole_height_and_named_once() -> None:
    figure = run("linux-cubic").plot()
    windows = figure.axes[0]
    legend = windows.get_legend()
    assert [text.get_text() for text in legend.get_texts()] == ["flow-0", "HyStart exit", "Recovery"]
    (bands,) = windows.collections
    assert bands.get_transform() == windows.get_xaxis_transform()
    assert {tuple(path.get_extents().intervaly) for path in bands.get_paths()} == {(0.0, 1.0)}


def test_what_happened_is_marked_on_the_window() -> None:
    result = run("linux-cubic", link=LATER)
    curves = {curve.label: curve for curve in panels(result)["cwnd [packets]"].curves if curve.kind == "marks"}
    assert set(curves) == {"timeout", "probe", "undo", "HyStart exit"}
    rows = result.traces["state"]
    undone = rows[rows["event"] == "undo-eifel"]
    assert curves["undo"].x.tolist() == undone["time_s"].tolist()
    assert curves["undo"].y.tolist() == undone["cwnd"].tolist()
    (loss,) = named(panels(result)["cwnd [packets]"].spans, "Loss")
    assert loss == (curves["timeout"].x[0], undone["time_s"].iloc[0])


def test_rates_are_drawn_for_who_paces_with_the_phases_of_bbr() -> None:
    result = run("linux-bbr")
    panel = panels(result)["payload rate [Mbit/s]"]
    assert [curve.label for curve in panel.curves] == ["pacing rate", "delivery rate"]
    rows = result.traces["state"]
    np.testing.assert_array_equal(panel.curves[0].y[:-1], rows["pacing_rate_bps"] / 1e6)
    drain = rows[rows["phase"] == "drain"]["time_s"].iloc[0]
    assert named(panel.spans, "startup") == [(0.0, drain)]
    assert "payload rate [Mbit/s]" not in panels(run("linux-cubic"))


def test_several_flows_have_lanes() -> None:
    result = run("linux-cubic", "newreno-rfc6582", "linux-bbr")
    found = panels(result)
    lanes = found["state"]
    assert lanes.y_ticks == ["flow-0", "flow-2"]
    assert {(span.low, span.high) for span in lanes.spans} == {(-0.35, 0.35), (0.65, 1.35)}
    assert not found["cwnd [packets]"].spans
    assert [curve.label for curve in found["payload rate [Mbit/s]"].curves] == [
        "flow-2: pacing rate",
        "flow-2: delivery rate",
    ]
    axes = result.plot().axes[1]
    assert [text.get_text() for text in axes.get_yticklabels()] == ["flow-0", "flow-2"]


def test_more_senders_than_colours_have_no_lanes_and_the_refusal_says_what_to_do() -> None:
    result = run(*["linux-cubic"] * 7)
    assert "state" not in panels(result)
    with pytest.raises(ResultError, match=r"or more than six do; choose some with flows=\[\.\.\.\]"):
        result.chart(panels=["states"])
    (lanes,) = result.chart(panels=["states"], flows=["flow-1", "flow-3"]).panels
    assert lanes.y_ticks == ["flow-1", "flow-3"]


def test_a_lone_sender_has_a_lane_where_one_is_chosen() -> None:
    result = run("linux-cubic")
    (lanes,) = result.chart(panels=["states"]).panels
    assert (lanes.y_ticks, lanes.title) == (["flow-0"], "States of the senders")
    assert named(lanes.spans, "Recovery") == named(panels(result)["cwnd [packets]"].spans, "Recovery")


def test_senders_without_selective_acknowledgment_have_no_states_and_the_refusal_says_so() -> None:
    with pytest.raises(ResultError, match="panel states: no sender that is drawn has selective acknowledgment"):
        run("newreno-rfc6582").chart(panels=["states"])


def test_a_picture_without_the_trace_is_as_before() -> None:
    text = TEXT.replace("FLOWS", FLOW.replace("PRESET", "linux-bbr")).replace("LINK", "")
    result = ackclock.run(text.replace("state = true", ""))
    assert set(panels(result)) >= {"cwnd [packets]", "queue [packets]"}
    assert "payload rate [Mbit/s]" not in panels(result)


def test_a_result_that_was_saved_has_the_same_picture(tmp_path: Path) -> None:
    result = run("linux-bbr")
    result.save(tmp_path / "run", picture=False)
    assert ackclock.Result.load(tmp_path / "run").chart().to_dict() == result.chart().to_dict()


def test_the_first_replication_is_drawn() -> None:
    loss = 'loss = { model = "bernoulli", probability = 0.01 }'
    result = run("linux-cubic", link=loss, extra="replications = 2")
    rows = result.traces["state"]
    assert rows["replication"].nunique() == 2
    begins = rows[(rows["replication"] == 0) & (rows["state"] == "Recovery")]["time_s"].tolist()
    spans = named(panels(result)["cwnd [packets]"].spans, "Recovery")
    assert {start for start, _ in spans} <= set(begins)


@pytest.mark.parametrize("span", [Span(0.0, 1.0), Span(0.0, 1.0, "a", 1), Span(2.0, 3.0, "b", 2, 0.5, 1.5)])
def test_a_shaded_phase_is_the_same_after_json(span: Span) -> None:
    x = np.arange(4.0)
    chart = Chart("chart", [Panel("x", "y", [Curve("curve", x, x)], spans=[span])])
    read = Chart.from_dict(json.loads(json.dumps(chart.to_dict())))
    assert list(read.panels[0].spans) == [span]
    (axes,) = chart_picture(read).axes
    (patch,) = axes.collections
    low, high = (0.0, 1.0) if span.low is None else (span.low, span.high)
    assert patch.get_paths()[0].get_extents().intervaly.tolist() == [low, high]
