"""The overview that a run records for its picture."""

import numpy as np
import pytest

import ackclock
from ackclock.overview import INTERVALS

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
        "trace": {kind: True},
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
