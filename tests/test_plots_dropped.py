"""Marks of drops and losses say which link, and why; curves end where the flow does; buffers in bytes have a line."""

from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.charts import Panel

LINK = """
[[link]]
name = "line"
rate = "20 Mbit/s"
delay = "5 ms"
{line}
[[flow]]
name = "up"
path = ["line"]
tcp = "linux-cubic"
{flow}
[run]
duration = "10 s"
"""
LOSS = 'loss = { model = "bernoulli", probability = 0.002 }'
WINDOWS, QUEUES = "cwnd [packets]", "queue [packets]"


def run(line: str, flow: str = "", overrides: dict[str, Any] | None = None) -> ackclock.Result:
    return ackclock.run(LINK.format(line=line, flow=flow), overrides=overrides)


def panel(result: ackclock.Result, label: str) -> Panel:
    return next(one for one in result.chart().panels if one.y_label == label)


def marks(result: ackclock.Result) -> dict[str, "np.ndarray[tuple[int], np.dtype[np.float64]]"]:
    return {one.label: one.x for one in panel(result, QUEUES).events}


def test_losses_of_a_link_are_not_called_drops() -> None:
    assert list(marks(run(f'buffer = "2000 pkt"\n{LOSS}'))) == ["line: loss"]
    assert list(marks(run('buffer = "20 pkt"'))) == ["line: drop"]


def test_a_link_that_drops_and_loses_has_marks_of_both_where_they_are() -> None:
    result = run(f'buffer = "40 pkt"\n{LOSS}', overrides={"trace.drops": True})
    found, rows = marks(result), result.traces["drops"]
    assert set(found) == {"line: drop", "line: loss"}
    drops, losses = (rows["time_s"][rows["lost"] == lost].to_numpy() for lost in (False, True))
    interval = 10.0 / 2000.0
    for label, times in (("line: drop", drops), ("line: loss", losses)):
        assert all(np.abs(times - one).min() <= interval for one in found[label])
    lost_alone = np.array([one for one in losses if np.abs(drops - one).min() > 3.0 * interval])
    assert len(lost_alone) > 5
    assert len(found["line: loss"]) == pytest.approx(len(lost_alone), abs=2)


def test_where_an_aqm_drops_too_a_mark_may_be_either() -> None:
    result = run(f'buffer = "100 pkt"\nqueue = "codel"\n{LOSS}')
    assert list(marks(result)) == ["line: drop or loss"]


def test_a_policer_is_named_and_its_marks_have_a_colour_that_no_queue_has() -> None:
    result = run('token_bucket = { kind = "policer", burst = "30 kB" }')
    queues = panel(result, QUEUES)
    (events,) = queues.events
    assert events.label == "line: drop (policer)"
    assert [curve.label for curve in queues.curves] == ["line.reverse"]
    assert events.colour not in {curve.colour for curve in queues.curves}
    axes = result.plot().axes[1]
    legend = axes.get_legend()
    assert legend is not None
    (handle,) = [line for line in legend.get_lines() if line.get_marker() == "x"]
    assert handle.get_color() == next(line for line in axes.lines if line.get_marker() == "x").get_color()


def test_many_links_that_drop_have_seven_entries_at_most() -> None:
    links = "".join(f'[[link]]\nname = "l{n}"\nrate = "{9 - n} Mbit/s"\nbuffer = "5 pkt"\n' for n in range(8))
    flows = "".join(f'[[flow]]\nname = "f{n}"\npath = ["l{n}"]\nrtt = "20 ms"\n' for n in range(8))
    queues = panel(ackclock.run(f'{links}{flows}[run]\nduration = "5 s"'), QUEUES)
    labels = [one.label for one in queues.events]
    assert len(labels) == 7
    assert labels[-1] == "other links: drop or loss"
    drawn = {curve.label: curve.colour for curve in queues.curves}
    for one in queues.events[:-1]:
        name = one.label.removesuffix(": drop")
        assert one.colour == drawn.get(name, one.colour)


def test_copies_of_a_link_share_their_marks() -> None:
    text = (
        '[[link]]\nname = "l"\ncopies = 3\nrate = "5 Mbit/s"\nbuffer = "5 pkt"\n[[flow]]\npath = ["l"]\nrtt = "20 ms"\n'
    )
    assert list(marks(ackclock.run(f'{text}[run]\nduration = "5 s"'))) == ["l: drop"]


@pytest.mark.parametrize("chosen", [None, ["cwnd"], ["rtt"]])
def test_a_curve_of_a_flow_that_finishes_ends_there(chosen: list[str] | None) -> None:
    result = run('buffer = "40 pkt"', 'size = "2 MB"')
    finish = result.summary["flows"][0]["finish_s"]["mean"]
    assert finish is not None
    assert 0.5 < finish < 3.0
    for curve in (one for one in result.chart(panels=chosen).panels[0].curves if one.kind != "marks"):
        assert curve.x[-1] <= finish + 0.1, curve.label
        assert curve.x[-1] >= finish - 0.1, curve.label


def test_a_flow_that_never_finishes_is_drawn_to_the_end_of_the_run() -> None:
    result = run('buffer = "40 pkt"', 'size = "2 GB"')
    assert panel(result, WINDOWS).curves[0].x[-1] == 10.0


def test_finished_flows_are_not_in_the_band() -> None:
    band, median = panel(run('buffer = "40 pkt"', 'count = 9\nsize = "500 kB"'), WINDOWS).curves
    assert band.label == "lowest to highest of 9 flows"
    assert band.x[-1] < 4.0
    assert median.x[-1] < 4.0


def test_a_band_with_idle_sources_says_so() -> None:
    web = 'count = 9\ntraffic = { kind = "web", size = { law = "fixed", mean = "30 pkt" }, off = "1 s" }'
    band = panel(run('buffer = "40 pkt"', web), WINDOWS).curves[0]
    assert band.label == "lowest to highest of 9 flows (idle ones: the last value)"


def test_a_buffer_in_bytes_is_a_line_at_the_packets_that_fill_it() -> None:
    (line,) = [one for one in panel(run('buffer = "60 kB"'), QUEUES).lines if one.colour == 0]
    assert (line.label, line.value) == ("buffer", 40.0)


def test_a_buffer_in_bytes_of_packets_of_several_sizes_says_which_fill_it() -> None:
    result = run(
        'buffer = "60 kB"', '[[flow]]\nname = "ping"\npath = ["line"]\ntraffic = { kind = "ping", interval = "1 s" }'
    )
    (line,) = [one for one in panel(result, QUEUES).lines if one.colour == 0]
    assert (line.label, line.value) == ("buffer of line: 40 packets of 1500 B", 40.0)


def test_a_far_buffer_in_bytes_is_in_the_legend_in_bytes() -> None:
    result = run('buffer = "30 MB"', 'size = "300 pkt"')
    assert "buffer of line, above: 30 MB" in [one.label for one in panel(result, QUEUES).lines]
