"""The linked panels of a run: their phases, thresholds, scales and rates are what the run recorded."""

import numpy as np
import pytest

import ackclock
from ackclock.charts import Chart, Panel
from ackclock.pictures import linked_chart
from ackclock.plots import chart_picture

TRACES = {f"trace.{name}": True for name in ("cwnd", "rtt", "sequence", "state", "recovery")}
LINE = """
[[link]]
name = "line"
rate = "10 Mbit/s"
delay = "18 ms"
buffer = "50 pkt"
[[flow]]
name = "one"
path = ["line"]
tcp = "{tcp}"
[run]
duration = "20 s"
"""


def linked(text: str, **more: object) -> tuple[ackclock.Result, Chart]:
    result = ackclock.run(text, overrides={**TRACES, **more})
    return result, linked_chart(result.resolved, result.traces)


def panel(chart: Chart, title: str) -> Panel:
    return next(one for one in chart.panels if one.title == title)


def test_all_panels_share_the_time_of_the_run_and_can_be_drawn() -> None:
    _, chart = linked(LINE.format(tcp="linux-reno"))
    titles = [one.title for one in chart.panels]
    assert titles == ["Congestion window", "Queues", "Round trips", "Rates", "Packets by number"]
    assert {one.x_range for one in chart.panels} == {(0.0, 20.0)}
    figure = chart_picture(chart)
    assert len(figure.axes) == 5
    assert Chart.from_dict(chart.to_dict()).to_dict() == chart.to_dict()


def test_slow_start_is_shaded_while_cwnd_is_below_ssthresh() -> None:
    result, chart = linked(LINE.format(tcp="newreno-rfc6582"))
    rows = result.traces["cwnd"]
    times, slow = rows["time_s"].to_numpy(), (rows["cwnd"] < rows["ssthresh"]).to_numpy()
    spans = [span for span in panel(chart, "Congestion window").spans if span.label == "slow start"]
    assert spans
    middle = np.array([any(span.start <= time < span.end for span in spans) for time in times])
    longer_than_a_pixel = np.append(np.diff(times), 0.0) > 20.0 / 2000.0
    assert (middle[longer_than_a_pixel] == slow[longer_than_a_pixel]).all()


def test_fast_recoveries_and_timeouts_of_a_classic_sender_are_those_of_its_trace() -> None:
    result = ackclock.run("geo-retransmission-loss", overrides=TRACES)
    shown = panel(linked_chart(result.resolved, result.traces), "Congestion window")
    rows = result.traces["recovery"]
    timeouts = rows[rows["event"] != "recovery"]["time_s"].tolist()
    marks = [curve for curve in shown.curves if curve.label == "timeout"]
    assert [time for curve in marks for time in curve.x] == timeouts
    fast = [span for span in shown.spans if span.label == "fast recovery"]
    assert len(fast) == len(rows) - len(timeouts)


def test_the_threshold_holds_until_the_next_and_the_first_one_is_left_out() -> None:
    result, chart = linked(LINE.format(tcp="linux-reno"))
    (curve,) = [one for one in panel(chart, "Congestion window").curves if one.label == "ssthresh"]
    assert curve.kind == "step-guide"
    rows = result.traces["cwnd"]
    known = rows[np.isfinite(rows["ssthresh"])]
    assert curve.x[0] == known["time_s"].iloc[0]
    assert set(curve.y) == set(known["ssthresh"][known["ssthresh"] <= 2.0 * rows["cwnd"].max()])


def test_the_second_scale_of_a_queue_is_the_time_that_it_takes_to_drain() -> None:
    _, chart = linked(LINE.format(tcp="linux-reno"))
    second = panel(chart, "Queues").second
    assert second is not None
    assert second.label == "delay at line [ms]"
    assert second.factor == pytest.approx(1.2)  # 1500 bytes at 10 Mbit/s


def test_a_queue_of_data_and_acks_has_no_second_scale() -> None:
    back = '[[flow]]\nname = "two"\npath = ["line.reverse"]\ntcp = "linux-reno"\n[run]'
    _, chart = linked(LINE.format(tcp="linux-reno").replace("[run]", back))
    assert panel(chart, "Queues").second is None


VARYING = """[link.rate_process]
kind = "markov"
states = [{ rate = "10 Mbit/s", mean_stay = "400 ms" }, { rate = "1 Mbit/s", mean_stay = "400 ms" }]
"""
STEPS = """[link.rate_process]
kind = "steps"
steps = [["0 s", "10 Mbit/s"], ["10 s", "%s"]]
"""
BUCKET = '[link.token_bucket]\nkind = "shaper"\nburst = "15 kB"\n'


@pytest.mark.parametrize("queue", ["fq", "priority", "drr"])
def test_a_queue_that_does_not_serve_in_order_has_no_second_scale(queue: str) -> None:
    """A packet waited for 920 ms where the scale ended at 103 ms."""
    link = f'queue = "{queue}"\n[[flow]]'
    _, chart = linked(LINE.format(tcp="linux-reno").replace("[[flow]]", link))
    assert panel(chart, "Queues").second is None


@pytest.mark.parametrize("link", [VARYING, STEPS % "2 Mbit/s", BUCKET])
def test_a_queue_that_drains_at_no_one_rate_has_no_second_scale(link: str) -> None:
    text = LINE.format(tcp="linux-reno")
    given = text if link == BUCKET else text.replace('rate = "10 Mbit/s"\n', "")
    _, chart = linked(given.replace("[[flow]]", f"{link}[[flow]]"))
    assert panel(chart, "Queues").second is None


def test_steps_of_one_rate_have_the_second_scale_of_that_rate() -> None:
    text = LINE.format(tcp="linux-reno").replace('rate = "10 Mbit/s"\n', "")
    _, chart = linked(text.replace("[[flow]]", f"{STEPS % '10 Mbit/s'}[[flow]]"))
    second = panel(chart, "Queues").second
    assert second is not None
    assert second.factor == pytest.approx(1.2)


def test_the_rates_add_up_to_what_was_acknowledged() -> None:
    result, chart = linked(LINE.format(tcp="linux-reno"))
    (curve,) = panel(chart, "Rates").curves
    rows = result.traces["sequence"]
    acked = rows[rows["kind"] == "acknowledged"]["sequence"].max()
    mean = float(np.mean(curve.y[:-1]))
    assert mean * 1e6 * 20.0 / 12_000.0 == pytest.approx(acked, rel=1e-9)


def test_what_is_sent_again_is_a_hollow_mark_beside_the_full_ones_of_its_flow() -> None:
    two = '[[flow]]\nname = "two"\npath = ["line"]\ntcp = "linux-reno"\n[run]'
    result, _ = linked(LINE.format(tcp="linux-reno").replace("[run]", two))
    lines = {line.get_label(): line for line in result.plot(panels=["sequence"]).axes[0].lines}
    for name in result.resolved.flow_names:
        first, again = lines[f"{name}: sent"], lines[f"{name}: sent again"]
        assert again.get_color() == first.get_color()
        assert (again.get_markerfacecolor(), first.get_markerfacecolor()) == ("none", first.get_color())


def test_round_trips_are_never_below_the_empty_path() -> None:
    _, chart = linked(LINE.format(tcp="linux-reno"))
    shown = panel(chart, "Round trips")
    least = next(line.value for line in shown.lines)
    assert shown.curves[0].y.min() >= least - 1e-6


def test_each_change_of_a_queue_takes_the_place_of_the_overview() -> None:
    result, chart = linked(LINE.format(tcp="linux-reno"), **{"trace.queue": True})
    rows = result.traces["queue"]
    own = rows[rows["link"] == "line"]
    (curve,) = panel(chart, "Queues").curves
    assert curve.y[:-1].tolist() == own["packets"].tolist()


def test_senders_that_differ_have_lanes_of_states_and_rates_that_are_paced() -> None:
    two = '[[flow]]\nname = "two"\npath = ["line"]\ntcp = "linux-bbr"\n[run]'
    _, chart = linked(LINE.format(tcp="linux-cubic").replace("[run]", two))
    titles = [one.title for one in chart.panels]
    assert titles[:3] == ["Congestion window", "States of the senders", "Pacing and delivery"]


def test_only_the_first_replication_is_drawn() -> None:
    _, chart = linked(
        LINE.format(tcp="linux-reno"),
        **{"run.replications": 2, "link.line.loss": {"model": "bernoulli", "probability": 0.01}},
    )
    (curve,) = panel(chart, "Round trips").curves
    assert (np.diff(curve.x) >= 0.0).all()


def test_a_rate_that_changes_in_steps_is_drawn_as_it_was_and_no_link_is_called_the_slowest() -> None:
    steps = '[["0 s", "10 Mbit/s"], ["5 s", "2 Mbit/s"], ["7.003 s", "20 Mbit/s"]], repeat = "15 s"'
    process = f'rate_process = {{ kind = "steps", steps = {steps} }}'
    text = LINE.format(tcp="linux-reno").replace('rate = "10 Mbit/s"', process)
    result, chart = linked(text)
    assert not panel(chart, "Rates").lines
    (line,) = result.plot(panels=["link-rate"]).axes[0].lines
    assert np.asarray(line.get_xdata()).tolist() == [0.0, 5.0, 7.003, 15.0, 20.0]
    assert np.asarray(line.get_ydata()).tolist() == [10.0, 2.0, 20.0, 10.0, 10.0]
