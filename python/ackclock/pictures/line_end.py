"""The magnified end of a run: the queues at both ends of one line, and what its flows had acknowledged."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ackclock.charts import Curve, Panel
from ackclock.overview import overview_detail_s
from ackclock.paths import nodes
from ackclock.pictures.parts import TIME, by_name, end_s, held, of_kind, step_curve, theory_lines
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.wording import plural, seconds

if TYPE_CHECKING:
    from ackclock.prediction import ReferenceLine


@dataclass(frozen=True)
class _Line:
    """The line or channel with the longest queue, and the part of the run that is magnified.

    Parameters
    ----------
    ends : sequence of str
        Names of both directions.
    begin, end : float
        The magnified time [s].
    is_host : bool
        Whether it is the process of a host.
    """

    ends: Sequence[str]
    begin: float
    end: float
    is_host: bool

    @property
    def name(self) -> str:
        """Name of the line."""
        return self.ends[0].removesuffix(".reverse") if self.ends else "the line"

    @property
    def last(self) -> str:
        """The magnified time, for titles."""
        return f"the last {seconds(self.end - self.begin)}"


def end_panels(
    resolved: Resolved, overview: pd.DataFrame, reference_lines: "Sequence[ReferenceLine]"
) -> tuple[Panel, Panel]:
    """Draw the queues at both ends of the line with the longest one, and what its flows had acknowledged."""
    line = _busiest_line(resolved, overview)
    return _queues(line, overview, reference_lines), _acknowledged(line, resolved, overview)


def _busiest_line(resolved: Resolved, overview: pd.DataFrame) -> _Line:
    """Find the line or channel with the longest queue in the part that is magnified."""
    end = end_s(resolved)
    begin = end - min(overview_detail_s(resolved) or end, end)
    counted = _counted(overview)
    late = counted[counted["time_s"] >= begin].groupby("name", observed=True)["value"].max()
    # pandas cannot look a name up among few of very many categories.
    late.index = late.index.astype(str)
    names = [link.name for link in resolved.elements] if len(counted) else []
    longest = max(names, key=lambda name: float(late.get(name, 0.0)), default="")
    line = longest.removesuffix(".reverse")
    ends = [name for name in names if name.removesuffix(".reverse") == line]
    hosts = {link.name for link in resolved.elements if link.kind == "host"}
    return _Line(ends, begin, end, line in hosts)


def _counted(overview: pd.DataFrame) -> pd.DataFrame:
    """Return the queues of data packets if they were counted by themselves, and those of all packets otherwise."""
    data = of_kind(overview, "data_queue")
    return data if len(data) else of_kind(overview, "queue")


def _queues(line: _Line, overview: pd.DataFrame, reference_lines: "Sequence[ReferenceLine]") -> Panel:
    whole = by_name(of_kind(overview, "queue"))
    data = by_name(of_kind(overview, "data_queue"))
    curves = []
    for number, name in enumerate(line.ends):
        if not data:
            curves += [step_curve(name, whole[name], line.end, number)] if name in whole else []
            continue
        curves += [step_curve(f"{name}, data", data[name], line.end, number)] if name in data else []
        if number == 0 and name in whole:
            curves.append(_filled(f"{name}, with ACKs", whole[name], line.end))
    bounds = [bound.value for bound in reference_lines if bound.kind == "queue" and bound.name in line.ends]
    where = "Packets that wait for the process of" if line.is_host else "Queues at both ends of"
    return Panel(
        TIME,
        "queue [packets]",
        curves,
        f"{where} {line.name}, {line.last}",
        theory_lines(bounds, "theory: {} data packets at most"),
        x_range=(line.begin, line.end),
        y_whole=True,
        dashed=True,
    )


def _filled(label: str, rows: pd.DataFrame, end: float) -> Curve:
    """Return the area below a value that holds until the next."""
    top = step_curve(label, rows, end, 0)
    return Curve(label, top.x, top.y, "step-band", 0, np.zeros(len(top.x)), top.y)


def _acknowledged(line: _Line, resolved: Resolved, overview: pd.DataFrame) -> Panel:
    """Draw the growth of what the flows over a line have acknowledged, and at the full rate [two-way, figure 5.4]."""
    indices = {link.name: index for index, link in enumerate(resolved.elements)}
    acked = of_kind(overview, "acked")
    curves, rates = [], set()
    for number, name in enumerate(line.ends):
        flows = [flow for flow in resolved.rows if indices[name] in flow.path]
        rows = acked[acked["name"].isin([flow.name for flow in flows])]
        if not flows or rows.empty:
            continue
        label = flows[0].name if len(flows) == 1 else f"{plural(len(flows), 'flow')} over {name}"
        curves.append(step_curve(label, _growth(rows, line.begin), line.end, number))
        rates.add(_packet_rate(resolved, flows[0]))
    span = line.end - line.begin
    ends = np.array([line.begin, line.end])
    full = [
        Curve("at the full rate", ends, np.array([0.0, rate * span]), "guide")
        for rate in sorted(rate for rate in rates if np.isfinite(rate))
    ]
    way = "of what comes to" if line.is_host else "over"
    return Panel(
        TIME,
        "acknowledged [packets]",
        [*curves, *full],
        f"Data acknowledged {way} {line.name}, {line.last}",
        x_range=(line.begin, line.end),
        dashed=True,
    )


def _growth(acked: pd.DataFrame, begin: float) -> pd.DataFrame:
    """Add the counts of all flows, and count from a time on."""
    added = acked["value"] - acked.groupby("name", observed=True)["value"].shift(fill_value=0.0)
    total = pd.DataFrame({"time_s": acked["time_s"], "value": added.cumsum()})
    since = float(np.nan_to_num(held(total, np.array([begin]))[0]))
    late = total[total["time_s"] >= begin]
    values = np.append(0.0, late["value"] - since)
    return pd.DataFrame({"time_s": np.append(begin, late["time_s"]), "value": values})


def _packet_rate(resolved: Resolved, flow: ResolvedFlow) -> float:
    """Return the rate of the slowest link of a flow's path in its packets [1/s]; infinite if none has a rate."""
    return min((node.packet_rate for node in nodes(resolved, flow.path, flow.packet_bytes)), default=np.inf)
