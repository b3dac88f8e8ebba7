"""The parts that pictures of runs share: values that hold until the next, a band of many flows, the warm-up."""

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ackclock.charts import Curve, Panel, Span, StraightLine
from ackclock.overview import FINISH, overview_interval_s
from ackclock.scenario import Resolved
from ackclock.wording import plural

if TYPE_CHECKING:
    from ackclock.prediction import ReferenceLine

MOST_LINES: Final = 6
"""Largest number of lines of a panel: as many colours as a reader can distinguish."""
GRID_POINTS: Final = 1000
MOST_SAMPLES: Final = 2_000_000
"""Largest number of samples of all flows of a band together."""
TIME: Final = "time [s]"
ALIKE: Final = 0.01
"""Relative difference of values of the theory below which they are one line."""
MOST_THEORY_LINES: Final = 3
SHORT: Final = 0.5
"""Part of a run that the time axis shows if all transfers are over in less."""
STEPS: Final = 10
"""Steps of the overview that a time axis has at least."""
IDLE: Final = " (idle ones: the last value)"
"""Words for a band of sources that are idle at times: the overview does not say when."""


def end_s(resolved: Resolved) -> float:
    """Return the end of the run [s]."""
    return resolved.run.duration_s


def shown_until_s(resolved: Resolved, overview: pd.DataFrame) -> float:
    """Return the end of the time axis [s]: a little after the last of transfers that all end early, or the run's end.

    Pings go on after it. It is late enough for some steps of the overview.
    """
    ends = finishes(overview)
    names = [name for flow in resolved.flows if flow.kind != "ping" for name in flow.names]
    last = max(1.1 * max((ends.get(name, inf) for name in names), default=inf), STEPS * overview_interval_s(resolved))
    return last if last < SHORT * end_s(resolved) else end_s(resolved)


def of_kind(overview: pd.DataFrame, kind: str) -> pd.DataFrame:
    """Return the rows of the overview that have a kind, such as "cwnd"."""
    return overview[overview["kind"] == kind]


def by_name(rows: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the rows of each flow or link that has any."""
    column = rows["name"]
    if isinstance(column.dtype, pd.CategoricalDtype):  # of few names, without the cost of a grouping
        codes = column.cat.codes.to_numpy()
        present = np.flatnonzero(np.bincount(codes, minlength=1)).tolist()
        if len(present) <= MOST_LINES:
            names = column.cat.categories
            return {str(names[code]): rows if len(present) == 1 else rows[codes == code] for code in present}
    return {str(name): own for name, own in rows.groupby("name", observed=True)}


def warmup(resolved: Resolved, label: str = "") -> tuple[Span, ...]:
    """Return the phase that is not measured, if there is one."""
    end = resolved.run.warmup_s
    return (Span(0.0, end, label),) if end > 0.0 else ()


def held(rows: pd.DataFrame, times: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sample a value that holds until the next; nan before its first row."""
    if rows.empty:
        return np.full(len(times), np.nan)
    last = np.searchsorted(rows["time_s"].to_numpy(), times, side="right") - 1
    return np.where(last >= 0, rows["value"].to_numpy()[np.maximum(last, 0)], np.nan)


def step_curve(label: str, rows: pd.DataFrame, end: float, colour: int) -> Curve:
    """Return the curve of a value that holds until the next, the last one until an end, such as the run's."""
    times = rows["time_s"].to_numpy(dtype=float)
    times = np.append(times, max(end, times[-1]))
    values = np.append(rows["value"].to_numpy(dtype=float), rows["value"].iloc[-1])
    return Curve(label, times, values, "step", colour)


def grid(resolved: Resolved) -> NDArray[np.float64]:
    """Return the times at which a band samples its flows [s]; the more flows, the fewer."""
    points = max(20, min(GRID_POINTS, MOST_SAMPLES // len(resolved.flow_names)))
    return np.linspace(0.0, end_s(resolved), points)


def finishes(overview: pd.DataFrame) -> dict[str, float]:
    """Return when the flows that finished did so [s]: a value that they had no longer holds."""
    rows = of_kind(overview, FINISH)
    return dict(zip(rows["name"].astype(str), rows["time_s"].astype(float), strict=True))


def flow_curves(
    resolved: Resolved, values: Mapping[str, pd.DataFrame], ends: Mapping[str, float] | None = None
) -> tuple[Curve, ...]:
    """Draw a line for each flow, or a band for the flows of large groups and lines for the others.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    values : mapping of str to DataFrame
        Rows of `time_s` and `value` by the flow's name; each value holds until the next.
    ends : mapping of str to float, optional
        What `finishes` gives: the last value of a flow holds until there; of others to the end of the run.
    """
    ends = {} if ends is None else ends
    single, banded = _split(resolved)
    present = [name for name in banded if name in values]
    idle = IDLE if any(flow.kind == "web" and flow.names[0] in banded for flow in resolved.flows) else ""
    band = _band([(values[name], ends.get(name, np.inf)) for name in present], grid(resolved), idle)
    first = 1 if band else 0
    lines = [
        step_curve(name, values[name], ends.get(name, end_s(resolved)), number)
        for number, name in enumerate(single, first)
        if name in values
    ]
    return (*band, *lines)


def _split(resolved: Resolved) -> tuple[list[str], list[str]]:
    """Divide the flows into those that have a line each and those of the band."""
    names = list(resolved.flow_names)
    if len(names) <= MOST_LINES:
        return names, []
    single = {flow.name for flow in resolved.flows if flow.count == 1}
    if len(single) >= MOST_LINES:
        return [], names
    return [name for name in names if name in single], [name for name in names if name not in single]


def _band(flows: Sequence[tuple[pd.DataFrame, float]], times: NDArray[np.float64], words: str) -> tuple[Curve, ...]:
    """Return the band from the lowest to the highest value, and the median.

    A flow counts from its first value until its end, which it is given with.
    """
    if not flows:
        return ()
    values = np.stack([np.where(times <= end, held(rows, times), np.nan) for rows, end in flows])
    started = ~np.isnan(values).all(axis=0)
    times, values = times[started], values[:, started]
    low, median, high = np.nanmin(values, axis=0), np.nanmedian(values, axis=0), np.nanmax(values, axis=0)
    label = f"lowest to highest of {plural(len(flows), 'flow')}{words}"
    return (
        Curve(label, times, median, "step-band", 0, low, high),
        Curve("median", times, median, "step", 0),
    )


def window_panel(
    resolved: Resolved, overview: pd.DataFrame, title: str = "", lines: Iterable[StraightLine] = ()
) -> Panel:
    """Draw each flow's cwnd over the whole run."""
    return Panel(
        TIME,
        "cwnd [packets]",
        flow_curves(resolved, by_name(of_kind(overview, "cwnd")), finishes(overview)),
        title,
        tuple(lines),
        spans=warmup(resolved, "warm-up, not measured"),
        x_range=(0.0, end_s(resolved)),
    )


def named_lines(lines: "Iterable[ReferenceLine]") -> tuple[StraightLine, ...]:
    """Return reference lines that have their names at the right."""
    return tuple(StraightLine(line.value, f"{line.label} = {line.value:.4g}", named="margin") for line in lines)


def theory_lines(values: Iterable[float], label: str) -> tuple[StraightLine, ...]:
    """Return a line for each value, those that are alike once; none if they would be many."""
    distinct: list[float] = []
    for value in sorted(values):
        if not distinct or value > distinct[-1] * (1.0 + ALIKE):
            distinct.append(value)
    if len(distinct) > MOST_THEORY_LINES:
        return ()
    return tuple(StraightLine(value, label.format(f"{value:.3g}")) for value in distinct)
