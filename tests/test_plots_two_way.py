"""The picture of runs in which data meet the ACKs of others: its panels, what they hold, and that it can be read."""

import json
from collections.abc import Mapping

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import ackclock
from ackclock.charts import Chart
from ackclock.comparison import Comparison
from ackclock.overview import overview_detail_s
from ackclock.scenario import load, resolve, with_overrides
from ackclock.scenario.ready import ready_path

SHORT = {"run.duration": "1 s", "run.warmup": "300 ms"}
LAST_ROW = ["queue [packets]", "acknowledged [packets]"]


def compared(name: str, changes: Mapping[str, object] = SHORT) -> Comparison:
    return ackclock.compare(ackclock.run(f"two-way-{name}", overrides=dict(changes)))


@pytest.fixture(scope="module")
def abr() -> Comparison:
    return compared("abr")


@pytest.fixture(scope="module")
def abr_picture(abr: Comparison) -> Figure:
    return abr.result.plot(abr.reference_lines)


def labels(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


def curve(axes: Axes, label: str) -> tuple[list[float], list[float]]:
    line = next(line for line in axes.lines if line.get_label() == label)
    return np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()


def test_channels_have_panels_for_rates_cells_queues_and_data(abr_picture: Figure) -> None:
    assert [axes.get_ylabel() for axes in abr_picture.axes] == [
        *("cwnd [packets]", "throughput [Mbit/s]"),
        *("allowed cell rate [Mbit/s]", "cell queue [cells]"),
        *LAST_ROW,
    ]
    assert {axes.get_xlabel() for axes in abr_picture.axes} == {"time [s]"}
    assert tuple(abr_picture.get_size_inches()) == (12.0, 12.0)


def panel_titles(figure: Figure) -> list[str]:
    return [axes.get_title(loc="left") for axes in figure.axes]


def test_where_packets_are_dropped_the_queues_of_the_whole_run_stand_between() -> None:
    lossy = compared("symmetric", {**SHORT, "link.line.buffer": "10 pkt"})
    figure = lossy.result.plot()
    assert panel_titles(figure)[2] == "Queues"
    queues = figure.axes[2]
    assert queues.get_xlim() == (0.0, 1.0)
    assert {"line", "line.reverse", "buffer", "line: drop"} <= set(labels(queues))
    assert max(curve(queues, "line")[1]) == 10.0
    assert "Queues" not in panel_titles(compared("symmetric").result.plot())


def test_where_a_queue_grows_the_whole_run_is_shown_too() -> None:
    # A window that grows without a limit over a buffer without one.
    growing = compared("symmetric", {**SHORT, "flow.there.tcp.max_window": "1000 pkt"})
    assert "Queues" in panel_titles(growing.result.plot())


def test_rates_are_shown_until_they_stand(abr_picture: Figure) -> None:
    rates = abr_picture.axes[2]
    assert labels(rates) == ["vc", "vc.reverse"]
    _, values = curve(rates, "vc")
    assert (values[0], values[-1]) == (3.1104, 155.52)
    # Figure 5.2 of the paper: about 110 ms; without a handshake 95 ms.
    assert 0.09 < rates.get_xlim()[1] < 0.2


def test_queues_of_both_ends_and_the_theory_s_bound(abr_picture: Figure) -> None:
    queues = abr_picture.axes[4]
    expected = {"vc, data", "vc, with ACKs", "vc.reverse, data", "theory: 27.4 data packets at most"}
    assert set(labels(queues)) == expected
    # Figure 5.3: 13 segments that wait, one in service.
    assert max(curve(queues, "vc, data")[1]) == 14.0


def test_throughput_from_zero_and_data_at_the_end_tell_the_same(abr: Comparison, abr_picture: Figure) -> None:
    throughput, data = abr_picture.axes[1], abr_picture.axes[5]
    assert labels(throughput) == ["left", "right", "theory, 87.4 Mbit/s"]
    times, growth = curve(data, "left")
    resolved = abr.result.resolved
    rate = growth[-1] * 9220 * 8e-6 / (times[-1] - times[0])
    assert rate == pytest.approx(87.4, rel=0.1)
    assert times[-1] - times[0] == pytest.approx(overview_detail_s(resolved))
    # From t = 0 it is less: slow start, and rates that rise.
    assert 60.0 < curve(throughput, "left")[1][-1] < 87.4


def test_ends_that_fall_together_are_told_apart_by_their_dashes(abr_picture: Figure) -> None:
    for axes in abr_picture.axes:
        drawn = [line for line in axes.lines if not str(line.get_label()).startswith("_")]
        looks = [(line.get_color(), line.get_linestyle()) for line in drawn]
        dashes = [line._dash_pattern for line in drawn]  # type: ignore[attr-defined]
        assert len(looks) == len({(colour, str(dash)) for (colour, _), dash in zip(looks, dashes, strict=True)})


@pytest.mark.parametrize("name", ["abr", "asymmetric", "client-server", "r1", "gfc2", "symmetric"])
def test_legends_cover_no_curve_and_stay_within_the_picture(name: str) -> None:
    found = compared(name, {"run.duration": "600 ms", "run.warmup": "100 ms"})
    figure = found.result.plot(found.reference_lines)
    figure.draw_without_rendering()
    whole = figure.get_window_extent()
    for axes in figure.axes:
        legend = axes.get_legend()
        assert legend is not None
        box, inside, title = legend.get_window_extent(), axes.get_window_extent(), axes._left_title.get_window_extent()  # type: ignore[attr-defined]
        assert box.y0 >= inside.y1 - 1.0
        assert title.y0 >= box.y1 - 3.0
        assert box.x1 <= min(whole.x1, inside.x1 + 25.0)
        assert title.y1 <= whole.y1
    plt.close(figure)


@pytest.mark.parametrize("name", ["gfc2", "symmetric"])
def test_every_picture_and_comparison_survives_json(name: str) -> None:
    found = compared(name, {"run.duration": "600 ms", "run.warmup": "100 ms"})
    for chart in (found.result.chart(found.reference_lines), found.chart()):
        read = Chart.from_dict(json.loads(json.dumps(chart.to_dict(), allow_nan=False)))
        assert read.to_dict() == chart.to_dict()
        pd.testing.assert_frame_equal(read.table, chart.table)


def test_many_channels_share_curves_and_many_flows_a_band() -> None:
    found = compared("gfc2")
    windows, throughput, rates, cells, queues, data = found.result.plot(found.reference_lines).axes
    assert "lowest to highest of 46 flows" in labels(windows)
    assert "lowest to highest of 46 flows" in labels(throughput)
    assert 4 <= len(labels(rates)) <= 6
    assert any(label.endswith(" alike") for label in labels(rates))
    assert len(labels(cells)) == 6
    assert len([label for label in labels(queues) if label.endswith(", data")]) == 2
    assert labels(data)[-1] == "at the full rate"


def test_plain_lines_show_queues_and_bunches_too() -> None:
    found = compared("symmetric")
    figure = found.result.plot(found.reference_lines)
    assert [axes.get_ylabel() for axes in figure.axes] == ["cwnd [packets]", "throughput [Mbit/s]", *LAST_ROW]
    queues, data = figure.axes[2:]
    assert labels(queues) == ["line", "line.reverse", "theory: 26 data packets at most"]
    times, growth = (np.asarray(values) for values in curve(data, "there"))
    # In bunches: half of the window at once, then none for longer than a segment takes.
    assert np.diff(times).max() > 10 * 9180 * 8 / 131e6
    assert growth[-1] > 28


def test_a_host_that_cannot_keep_up_is_what_is_magnified() -> None:
    text = ready_path("two-way-symmetric").read_text(encoding="utf-8")
    text = text.replace('path = ["line"]', 'path = ["line"]\nreceiver = "slow"')
    text = text.replace('path = ["line.reverse"]', 'path = ["line.reverse"]\nsender = "slow"')
    scenario = with_overrides(load(text + '\n[[host]]\nname = "slow"\nprocessing = "2 ms"\n'), SHORT)
    queues, data = ackclock.run(scenario).plot().axes[2:]
    assert queues.get_title(loc="left").startswith("Packets that wait for the process of slow, the last ")
    assert labels(queues) == ["slow"]
    assert "there" in labels(data)


def test_what_meets_no_acks_has_windows_queues_and_delays_in_its_picture() -> None:
    overrides = {"run.duration": "20 s", "run.warmup": "0 s", "run.replications": 1}
    assert len(ackclock.run("geo-two-nodes", overrides=overrides).plot().axes) == 4


def test_the_user_chooses_how_much_is_magnified() -> None:
    scenario = with_overrides(
        load("geo-two-nodes"),
        {"trace.overview_detail": "5 s", "run.duration": "20 s", "run.warmup": "0 s"},
    )
    resolved = resolve(scenario)
    assert overview_detail_s(resolved) == 5.0
    figure = ackclock.run(scenario).plot()
    assert figure.axes[-1].get_xlim() == (15.0, 20.0)


@pytest.mark.parametrize("answer", [{}, {"traffic": {"kind": "ping"}}])
def test_datagrams_that_meet_acks_or_echoes_have_a_picture(answer: dict[str, object]) -> None:
    link = {"name": "a", "rate": "1 Mbit/s", "delay": "10 ms", "buffer": "9 pkt"}
    datagrams = {"name": "video", "path": ["a.reverse"], "traffic": {"kind": "constant", "rate": "200 kbit/s"}}
    flows = [{"name": "other", "path": ["a"], **answer}, datagrams]
    result = ackclock.run({"link": [link], "flow": flows, "run": {"duration": "2 s"}})
    assert result.plot(ackclock.compare(result).reference_lines).axes
