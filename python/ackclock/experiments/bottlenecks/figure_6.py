"""Figure 6: the B' that is required, against B, so that no mu' gives a double slow start."""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.bottlenecks.path import MU, MU_MBPS, ROUND_TRIP_S, mostly_double, scenario
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import bottlenecks
from ackclock.scenario import Resolved

# With 560 ms of propagation; 2.7 ms of service at mu, some 2 ms at mu'.
TIME = float(bottlenecks.minimum_round_trip_time(ROUND_TRIP_S, [MU, 1.4 * MU]))
PIPE = MU * TIME
DURATION = "800 s"
MARGIN = 0.1
"""Least relative distance of B and B' from the limits at which a place is judged: at a limit a packet decides."""


class Place(NamedTuple):
    """A pair of buffers."""

    buffer: int
    other: int


Key = tuple[Place, float]
"""The buffers B and B', and mu' [Mbit/s]."""


def _grid(setting: Setting) -> list[Place]:
    buffers = range(20, 231, setting.pick(30, 10))
    others = range(20, 141, setting.pick(20, 10))
    return [Place(buffer, other) for buffer in buffers for other in others]


def _rates(setting: Setting) -> tuple[float, ...]:
    """Choose mu' near both ends, where the limits are set; mu itself would move the queue of avoidance to B'."""
    return setting.pick((1.55, 2.95), (1.55, 1.9, 2.2, 2.6, 2.95))


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give a grid of B and B', at several mu'."""
    return {
        (Place(buffer, other), rate): scenario(
            "two-nodes",
            {
                "link.feeder.rate": f"{rate} Mbit/s",
                "link.feeder.buffer": f"{other} pkt",
                "link.satellite.buffer": f"{buffer} pkt",
                "run.duration": DURATION,
                "trace.losses": True,
            },
        )
        for buffer, other in _grid(setting)
        for rate in _rates(setting)
    }


def outcome(setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge where a double slow start appears, by the paper's region and by equation (4)."""
    seen = {place: any(mostly_double(runs[place, rate]) for rate in _rates(setting)) for place in _grid(setting)}
    at_rates = {place: any(_predicted(place, rate) for rate in _rates(setting)) for place in seen}
    rough = {place: _outside_region(place) for place in seen}
    clear = [place for place in seen if _clear(place)]
    inside = [place for place in clear if not rough[place]]
    half = float(bottlenecks.minimum_intermediate_buffer_approximate(MU, TIME, PIPE)) / PIPE
    findings = {
        "region": Finding(
            100.0 * share([not seen[place] for place in inside]),
            note=f"{len(inside)} places at least {100 * MARGIN:.0f}% inside B > mu T/3, B' > (mu T + B)/4",
        ),
        "outside": Finding(
            100.0 * share([seen[place] for place in clear if rough[place]]),
            note="the approximations ask for more than (4): outside their region there is room without an overflow",
        ),
        "exact": Finding(
            100.0 * share([seen[place] == at_rates[place] for place in seen]),
            note=f"W_B < W_th at the {len(_rates(setting))} mu' that were simulated, all {len(seen)} places",
        ),
        "half_pipe": Finding(
            _half_pipe(seen), half, "simulated: the least B' without a double slow start at B nearest to mu T"
        ),
    }
    return Outcome(findings, {"figure": _chart(seen)})


def _predicted(place: Place, rate_mbps: float) -> bool:
    sizes = bottlenecks.two_node_bursts(MU, rate_mbps / MU_MBPS * MU, place.buffer, place.other)
    threshold = bottlenecks.slow_start_threshold(MU, TIME, place.buffer)
    return bool(bottlenecks.double_slow_start(threshold, np.minimum(*sizes)))


def _limits(buffer: float) -> tuple[float, float]:
    """Give the paper's approximate limits of B and B'."""
    return (
        float(bottlenecks.minimum_bottleneck_buffer_approximate(MU, TIME)),
        float(bottlenecks.minimum_intermediate_buffer_approximate(MU, TIME, buffer)),
    )


def _outside_region(place: Place) -> bool:
    least, least_other = _limits(place.buffer)
    return place.buffer <= least or place.other <= least_other


def _clear(place: Place) -> bool:
    least, least_other = _limits(place.buffer)
    return abs(place.buffer / least - 1.0) >= MARGIN and abs(place.other / least_other - 1.0) >= MARGIN


def _half_pipe(seen: Mapping[Place, bool]) -> float:
    """Give the least B' without a double slow start at the B nearest to the pipe, as a fraction of the pipe."""
    nearest = min({place.buffer for place in seen}, key=lambda buffer: abs(buffer - PIPE))
    enough = [place.other for place, double in seen.items() if place.buffer == nearest and not double]
    return min(enough, default=np.nan) / PIPE


def _chart(seen: Mapping[Place, bool]) -> Chart:
    buffers = np.linspace(PIPE / 3.0, 235.0, 200)
    least = float(bottlenecks.minimum_bottleneck_buffer(MU, TIME))
    exact = np.linspace(least, 235.0, 400)
    others = np.asarray(bottlenecks.minimum_intermediate_buffer(MU, TIME, exact))
    rough = np.asarray(bottlenecks.minimum_intermediate_buffer_approximate(MU, TIME, buffers))
    top = np.full(len(buffers), 150.0)
    curves = [
        Curve("the paper's region: B > mu T/3, B' > (mu T + B)/4", buffers, rough, "band", 4, rough, top),
        Curve("equation (4), exactly", np.insert(exact, 0, least), np.insert(others, 0, 150.0), "theory", 5),
    ]
    for label, double, colour in (("one slow start a cycle, simulated", False, 0), ("two, at some mu'", True, 1)):
        places = [place for place, found in seen.items() if found is double]
        x, y = (np.array(values, dtype=float) for values in zip(*places, strict=True)) if places else (np.empty(0),) * 2
        curves.append(Curve(label, x, y, "marks", colour))
    panel = Panel("B, the bottleneck's buffer [packets]", "B', the node before [packets]", curves, y_top=150.0)
    title = f"Figure 6: buffers without a double slow start whatever mu' is (mu T = {PIPE:.0f} packets)"
    return Chart(title, [panel], size_inches=(12.0, 8.0))
