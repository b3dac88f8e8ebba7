"""The overview that a run records for its picture."""

import numpy as np
import pytest

import ackclock
from ackclock.overview import INTERVALS, overview_interval_s
from ackclock.pictures import overview_chart

DURATION_S = 2.0


@pytest.mark.parametrize(
    ("kind", "of", "column", "size"), [("queue", "link", "packets", "9 pkt"), ("cwnd", "flow", "cwnd", "90 pkt")]
)
def test_the_overview_has_the_value_that_holds_through_a_pause(kind: str, of: str, column: str, size: str) -> None:
    """A burst empties within an interval of the overview, and the link is then idle until a timeout."""
    document = {
        "link": [{"name": "port", "rate": "1 Gbit/s", "delay": "20 us", "buffer": "20 pkt"}],
        "flow": [{"name": "burst", "count": 9, "path": ["port"], "size": size}],
        "run": {"duration": f"{DURATION_S} s"},
        "trace": {kind: True, "overview_interval": f"{DURATION_S / INTERVALS} s"},
    }
    traces = ackclock.run(document).traces
    overview, pauses = traces["overview"], 0
    for name, drawn in overview[overview["kind"] == kind].groupby("name", observed=True):
        exact = traces[kind][traces[kind][of] == name]
        times, values = drawn["time_s"].to_numpy(), drawn["value"].to_numpy()
        for time, value, end in zip(times, values, np.append(times[1:], DURATION_S), strict=True):
            if end - time > 2.0 * DURATION_S / INTERVALS:
                pauses += 1
                assert value == exact[exact["time_s"] <= (time + end) / 2.0][column].iloc[-1]
    assert pauses > 1


@pytest.mark.parametrize(
    ("sizes", "steps"), [(["9 pkt"], 40_000), (["1 GB"], INTERVALS), (["9 pkt", None], INTERVALS), ([], INTERVALS)]
)
def test_transfers_that_may_be_over_soon_have_finer_steps(sizes: list[str | None], steps: int) -> None:
    ping = {"name": "ping", "path": ["l"], "traffic": {"kind": "ping"}}
    flows = [
        {"name": f"f{place}", "path": ["l"], **({} if size is None else {"size": size})}
        for place, size in enumerate(sizes)
    ]
    document = {
        "link": [{"name": "l", "rate": "10 Mbit/s", "delay": "10 ms", "buffer": "50 pkt"}],
        "flow": [*flows, ping],
        "run": {"duration": "60 s"},
    }
    assert overview_interval_s(ackclock.resolve(document)) == pytest.approx(60.0 / steps)


def axis(duration: str = "60 s", **flow: object) -> tuple[float, float]:
    document = {
        "link": [{"name": "l", "rate": "10 Mbit/s", "delay": "10 ms", "buffer": "50 pkt"}],
        "flow": [{"name": "f", "path": ["l"], **flow}, {"path": ["l"], "traffic": {"kind": "ping"}}],
        "run": {"duration": duration},
    }
    result = ackclock.run(document)
    (shown,) = {panel.x_range for panel in overview_chart(result.resolved, result.traces["overview"]).panels}
    assert shown is not None
    return shown


def test_the_time_axis_ends_soon_after_transfers_that_are_over_early() -> None:
    """2000 packets take 2.4 s at 10 Mbit/s; a transfer of one packet still has ten steps of the overview."""
    assert axis(size="2000 pkt")[1] == pytest.approx(1.1 * 2.45, rel=0.02)
    assert axis("600 s", size="1 pkt")[1] == pytest.approx(10 * 600.0 / 40_000)


@pytest.mark.parametrize("size", ["35000 pkt", "1000000 pkt", None])
def test_the_time_axis_is_the_run_s_where_a_transfer_is_long_or_a_flow_has_no_end(size: str | None) -> None:
    assert axis(**({} if size is None else {"size": size})) == (0.0, 60.0)
