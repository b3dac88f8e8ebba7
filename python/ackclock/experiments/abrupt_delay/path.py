"""The common part of the paper's simulations: one connection over one link whose round trip changes."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Curve
from ackclock.experiments.frame import Measure, Run, resolved, scenario_tables
from ackclock.models import abrupt_delay
from ackclock.scenario import Resolved

K = TypeVar("K")
PAPER: Final = "abrupt_delay"
PACKET_BITS: Final = 8 * 1000
RATE: Final = 125.0
"""Rate of the link, mu [packets/s]: 1 Mbit/s of packets of 1 KByte, headers included."""
STEP_S: Final = 6.0
"""Instant at which the round trip changes in section III [s]."""
WINDOWS: Final = (26, 20, 13)
"""Largest windows of figures 1 to 4, w_m [packets]. At the printed 26 the link is never idle, for mu T_1 = 25."""
ROUND_TRIPS_S: Final = (0.1, 0.3)
"""Round trips of section IV, T_1 and T_2."""
Version = Literal["reno-abrupt-delay", "old-tahoe-abrupt-delay"]
VERSIONS: Final[Mapping[Version, str]] = {"reno-abrupt-delay": "Reno", "old-tahoe-abrupt-delay": "OldTahoe"}
PER_ROUND: Final = {"flow.flow.tcp.rto.sample": "per-round"}
"""Changes for a sender without time stamps: one sample a round."""
GENIE: Final = {
    "flow.flow.tcp.dupack_threshold": "infinite",
    "flow.flow.tcp.rto.min": "1000 s",
    "flow.flow.tcp.rto.max": "1000 s",
}
"""Changes for a sender that never detects a loss, so that no change of the delay misleads it."""


def step(old_s: float, new_s: float, window: int, changes: Mapping[str, Any], instant_s: float = STEP_S) -> Resolved:
    """Resolve a connection whose round trip steps once; round trips [s] include the service of a packet."""
    tables = scenario_tables(PAPER, "step")
    link, flow = tables["link"][0], tables["flow"][0]
    rate = changes.get("link.path.rate", link["rate"])
    service = PACKET_BITS / (1e6 * float(rate.split()[0]))
    link["delay_process"]["steps"] = [
        ["0 s", _seconds(old_s - service)],
        [_seconds(instant_s), _seconds(new_s - service)],
    ]
    flow["tcp"]["max_window"] = f"{window} pkt"
    return resolved(tables, changes)


def alternating(factor: float, changes: Mapping[str, Any], *, rate_mbps: float = 1.0, loss: float = 0.0) -> Resolved:
    """Resolve a connection whose round trip alternates, with the holding time factor h and losses of data packets."""
    tables = scenario_tables(PAPER, "alternating")
    link = tables["link"][0]
    service = PACKET_BITS / (1e6 * rate_mbps)
    link["rate"] = f"{rate_mbps:g} Mbit/s"
    link["delay_process"]["states"] = [
        {"delay": _seconds(total - service), "least_stay": _seconds(total), "mean_extra": _seconds(factor * total)}
        for total in ROUND_TRIPS_S
    ]
    if loss > 0.0:
        link["loss"] = {"model": "bernoulli", "probability": loss, "applies_to": "data"}
    return resolved(tables, changes)


def lengths(duration_s: float, replications: int | None = None) -> dict[str, Any]:
    """Give the changes for measured time, after a warm-up of 100 s, and replications."""
    changes: dict[str, Any] = {"run.duration": _seconds(100.0 + duration_s), "run.warmup": "100 s"}
    return changes if replications is None else changes | {"run.replications": replications}


def _seconds(value: float) -> str:
    return f"{value:.9g} s"


def goodput(run: Run) -> Measure:
    """Give the goodput [packets/s]."""
    return run.flow("goodput_bps", PACKET_BITS)


def goodputs(runs: Mapping[K, Run], keys: Sequence[K]) -> NDArray[np.float64]:
    """Give the goodput of some runs with its interval [packets/s]: rows of value, low, high."""
    found = [goodput(runs[key]) for key in keys]
    return np.array([[one.value, one.low, one.high] for one in found]).T


def simulated(label: str, x: Any, runs: Mapping[K, Run], keys: Sequence[K], colour: int | None = None) -> Curve:
    """Make the curve of the goodput of some runs."""
    value, low, high = goodputs(runs, keys)
    return Curve(label, np.asarray(x, dtype=float), value, "simulation", colour, low, high)


def ideal(factor: float, window: float = 12.0, rate: float = RATE) -> float:
    """Compute R_I [packets/s] for the round trips of section IV."""
    return float(abrupt_delay.ideal_goodput_of_factor(window, ROUND_TRIPS_S, factor, rate).capped)


def level(label: str, x: Sequence[float], value: float, colour: int) -> Curve:
    """Make a level line over the ends of x."""
    return Curve(label, np.array([min(x), max(x)], dtype=float), np.array([value, value]), "theory", colour)


def total(run: Run, quantity: str) -> float:
    """Give a count of the flow."""
    return run.flow(quantity).value


def part_of_best(values: NDArray[np.float64], place: int, least_range: float = 0.02) -> float:
    """Give the value at a place as a fraction of the largest [%]; 0 for a flat curve, which has no best place.

    Examples
    --------
    >>> part_of_best(np.array([1.0, 2.0]), 1), part_of_best(np.array([2.0, 2.0]), 1)
    (100.0, 0.0)
    """
    if values.min() > (1.0 - least_range) * values.max():
        return 0.0
    return float(100.0 * values[place] / values.max())


def best_within(values: NDArray[np.float64], percent: float = 1.0) -> NDArray[np.bool_]:
    """Return which values are within some percent of the largest."""
    return np.asarray(values >= (1.0 - percent / 100.0) * values.max())
