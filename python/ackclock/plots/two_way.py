"""The picture of a run in which data of some flows meet the ACKs of others, over plain links or ATM channels.

Bunches of ACKs, and the bursts that they let out, come and go within a round trip: the last ones are magnified.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from ackclock.overview import overview_detail_s
from ackclock.paths import nodes
from ackclock.plots.parts import (
    BAND_POINTS,
    COLOURS,
    MOST_LINES,
    draw_band,
    draw_drops,
    draw_queues,
    draw_steps,
    draw_windows,
    held,
    longest_queues,
    shade_warmup,
    shown,
    style,
)
from ackclock.scenario import Resolved
from ackclock.wording import plural, seconds

if TYPE_CHECKING:
    from ackclock.prediction import ReferenceLine

LEGEND_SIZE: Final = 9.5
LEGEND_POINTS: Final = (385.0, 5.3, 46.0)
"""Width of a legend, of a letter, and of what stands beside a label [pt]."""
TITLE_SIZE: Final = 11.0
ROW_INCHES: Final = 4.0
CELL_BINS: Final = 300
SETTLED: Final = 0.01
"""A rate stands once it stays as near to its last value."""
MOST_THEORY_LINES: Final = 3
UNSTEADY: Final = 0.2
"""Queues of the first and the last quarter that differ by so large a part are worth a panel."""
LEAST_MAGNIFICATION: Final = 1.5


def is_magnified(overview: pd.DataFrame) -> bool:
    """Tell whether the overview has what `magnified_picture` draws."""
    return bool((overview["kind"] == "acked").any())


def magnified_picture(resolved: Resolved, overview: pd.DataFrame, levels: "Sequence[ReferenceLine]" = ()) -> Figure:
    """Draw windows and throughput of the whole run, rates and cells of ATM channels, queue and data of the run's end.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    overview : DataFrame
        The overview trace: kind, name, time_s, value, in order of time.
    levels : sequence of ReferenceLine, optional
        What the theory says of throughput and queues: dashed lines.

    Returns
    -------
    Figure
        1200 pixels wide, 400 for each row: cwnd and throughput averaged from t = 0; where there are channels, the
        allowed cell rates until they stand and the longest cell queues; both ends of the line with the longest queue,
        and what its flows had acknowledged. Where packets were dropped, or a queue of a plain line grows or drains,
        the queues of the whole run stand between.
    """
    kinds = {str(kind): rows for kind, rows in overview.groupby("kind", observed=True)}
    atm = "acr" in kinds
    whole = not atm and _is_unsteady(resolved, overview)
    # Windows and throughput; rates and cells, or queues; queues and data of the end.
    rows = ["wt", *(["rc"] if atm else ["qq"] if whole else []), "ed"]
    with style():
        figure = Figure(figsize=(12.0, ROW_INCHES * len(rows)), dpi=100, layout="constrained")
        panels: dict[str, Axes] = figure.subplot_mosaic("\n".join(rows))
        _draw_whole_windows(panels["w"], resolved, overview)
        _draw_throughput(panels["t"], resolved, kinds["acked"], levels)
        if atm:
            _draw_rates(panels["r"], resolved, kinds["acr"])
            _draw_cells(panels["c"], resolved, kinds.get("cell_queue"))
        if whole:
            _draw_whole_queues(panels["q"], resolved, overview)
        _draw_magnified(panels["e"], panels["d"], resolved, kinds, levels)
        for axes in panels.values():
            axes.set_ylim(bottom=0.0)
            axes.set_xlabel("time [s]")
            _put_legend(axes)
        figure.suptitle(resolved.title, wrap=True)
    return figure


def _put_legend(axes: Axes) -> None:
    """Put the legend between the title and the axes, in as many columns as fit."""
    labels = [str(label) for label in axes.get_legend_handles_labels()[1]]
    if not labels:
        return
    columns = next((count for count in range(len(labels), 1, -1) if _fits(labels, count)), 1)
    rows = -(-len(labels) // columns)
    legend = axes.legend(
        loc="lower left",
        bbox_to_anchor=(0.0, 1.0),
        ncols=columns,
        frameon=False,
        borderaxespad=0.3,
        columnspacing=1.2,
        handlelength=2.6,
        fontsize=LEGEND_SIZE,
    )
    legend.set_in_layout(False)
    axes.set_title(axes.get_title(loc="left"), loc="left", fontsize=TITLE_SIZE, pad=6.0 + 15.5 * rows)


def _fits(labels: Sequence[str], columns: int) -> bool:
    """Tell whether a legend of so many columns, the first ones the longest, is no wider than its axes."""
    width, letter, beside = LEGEND_POINTS
    lengths = np.array_split([len(label) for label in labels], columns)
    return bool(sum(letter * column.max() + beside for column in lengths) <= width)


def _end_s(resolved: Resolved) -> float:
    return resolved.run.duration_s


def _draw_whole_windows(axes: Axes, resolved: Resolved, overview: pd.DataFrame) -> None:
    axes.set_title("Congestion windows", loc="left")
    draw_windows(axes, resolved, overview, dashed=True)
    limits = {flow.sender.max_window for flow in resolved.flows if flow.sender.max_window is not None}
    for place, limit in enumerate(sorted(limits)[:MOST_THEORY_LINES]):
        axes.axhline(limit, color="0.35", linestyle=":", label="receiver's window" if place == 0 else None)
    shade_warmup(axes, resolved, "warm-up, not measured")
    axes.set_xlim(0.0, _end_s(resolved))


def _is_unsteady(resolved: Resolved, overview: pd.DataFrame) -> bool:
    """Tell whether queues changed over the run: packets were dropped, or the longest queue is another at its end."""
    if (overview["kind"] == "drop").any():
        return True
    end = _end_s(resolved)
    queued = overview[overview["kind"] == "queue"]
    begin = resolved.run.warmup_s
    early, late = (
        float(queued[queued["time_s"].between(since, since + (end - begin) / 4.0)]["value"].max())
        for since in (begin, end - (end - begin) / 4.0)
    )
    return abs(late - early) > UNSTEADY * max(late, early)


def _draw_whole_queues(axes: Axes, resolved: Resolved, overview: pd.DataFrame) -> None:
    names = longest_queues(overview)
    draw_queues(axes, resolved, overview, names)
    draw_drops(axes, overview[overview["kind"] == "drop"], names)
    shade_warmup(axes, resolved, None)
    axes.set_xlim(0.0, _end_s(resolved))
    axes.set_title("Queues", loc="left")


def _draw_throughput(axes: Axes, resolved: Resolved, acked: pd.DataFrame, levels: "Sequence[ReferenceLine]") -> None:
    """Draw the throughput averaged from t = 0 [two-way, figure 5.8]."""
    grid = np.linspace(0.0, _end_s(resolved), BAND_POINTS + 1)[1:]
    curves = {
        flow.name: held(acked[acked["name"] == flow.name], grid) * flow.packet_bytes * 8e-6 / grid
        for flow in resolved.rows
    }
    if len(curves) > MOST_LINES:
        draw_band(axes, grid, curves.values())
    else:
        for number, (name, values) in enumerate(curves.items()):
            _draw_line(axes, grid, values, number, name)
    theory = [level for level in levels if level.kind == "throughput"]
    _draw_theory(axes, [level.value / 1e6 for level in theory], "theory, {} Mbit/s")
    shade_warmup(axes, resolved, None)
    axes.set_xlim(0.0, _end_s(resolved))
    axes.set_title("Throughput, averaged from t = 0", loc="left")
    axes.set_ylabel("throughput [Mbit/s]")


def _draw_line(axes: Axes, x: NDArray[np.float64], y: NDArray[np.float64], number: int, label: str) -> None:
    frame = pd.DataFrame({"time_s": x, "value": y})
    draw_steps(axes, frame, float(x[-1]), number, label, dashed=True)


def _draw_theory(axes: Axes, values: Iterable[float], label: str) -> None:
    """Draw a dashed line for each value, those that are alike once; nothing where they would be many."""
    distinct: list[float] = []
    for value in sorted(values):
        if not distinct or value > distinct[-1] * (1.0 + SETTLED):
            distinct.append(value)
    if len(distinct) <= MOST_THEORY_LINES:
        for value in distinct:
            axes.axhline(value, color="0.25", linestyle="--", linewidth=1.0, label=label.format(f"{value:.3g}"))


def _draw_rates(axes: Axes, resolved: Resolved, rates: pd.DataFrame) -> None:
    """Draw the allowed cell rates until all of them stand; of many, one for each rate that they come to."""
    ends = {str(name): rows for name, rows in rates.groupby("name", observed=True) if len(rows) > 1}
    alike: dict[str, list[str]] = {}
    for name, rows in ends.items():
        last = float(rows["value"].iloc[-1])
        same = (first for first in alike if abs(last / float(ends[first]["value"].iloc[-1]) - 1.0) < SETTLED)
        key = next(same, name) if len(ends) > MOST_LINES else name
        alike.setdefault(key, []).append(name)
    end = _end_s(resolved)
    for number, (name, group) in enumerate(list(alike.items())[:MOST_LINES]):
        rows = ends[name].assign(value=ends[name]["value"] / 1e6)
        label = name if len(group) == 1 else f"{name} and {len(group) - 1} alike"
        draw_steps(axes, rows, end, number, label, dashed=True)
    standing = max((_stands_from(rows) for rows in ends.values()), default=end)
    axes.set_xlim(0.0, min(end, LEAST_MAGNIFICATION * standing) if standing < end / LEAST_MAGNIFICATION else end)
    axes.set_title("Allowed cell rates at the ends of the channels", loc="left")
    axes.set_ylabel("allowed cell rate [Mbit/s]")


def _stands_from(rows: pd.DataFrame) -> float:
    """Find from when on a value stays near its last."""
    off = np.flatnonzero(np.abs(rows["value"] / rows["value"].iloc[-1] - 1.0) > SETTLED)
    return float(rows["time_s"].iloc[min(off[-1] + 1, len(rows) - 1)]) if len(off) else 0.0


def _draw_cells(axes: Axes, resolved: Resolved, cells: pd.DataFrame | None) -> None:
    """Draw the longest queue of cells within each short time, of the ports with the longest ones."""
    end = _end_s(resolved)
    edges = np.linspace(0.0, end, CELL_BINS + 1)
    longest = {} if cells is None else cells.groupby("name", observed=True)["value"].max().to_dict()
    names = sorted(longest, key=lambda name: -longest[name])[:MOST_LINES]
    for number, name in enumerate(names):
        rows = cells[cells["name"] == name] if cells is not None else pd.DataFrame()
        place = np.minimum(np.searchsorted(edges, rows["time_s"], side="right") - 1, CELL_BINS - 1)
        most = pd.Series(rows["value"].to_numpy()).groupby(place).max().reindex(range(CELL_BINS), fill_value=0.0)
        _draw_line(axes, edges[:-1], most.to_numpy(), number, str(name))
    shade_warmup(axes, resolved, None)
    axes.set_xlim(0.0, end)
    axes.set_title(f"Cells in ports, the most in each {seconds(end / CELL_BINS)}", loc="left")
    axes.set_ylabel("cell queue [cells]")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))


def _draw_magnified(
    queue_axes: Axes,
    data_axes: Axes,
    resolved: Resolved,
    kinds: "dict[str, pd.DataFrame]",
    levels: "Sequence[ReferenceLine]",
) -> None:
    end = _end_s(resolved)
    span = min(overview_detail_s(resolved) or end, end)
    begin = end - span
    counted = kinds.get("data_queue", kinds.get("queue"))
    ends = _busiest_ends(resolved, counted, begin)
    for number, name in enumerate(ends):
        rows = kinds["queue"][kinds["queue"]["name"] == name] if "queue" in kinds else pd.DataFrame()
        if "data_queue" in kinds:
            data = kinds["data_queue"]
            draw_steps(queue_axes, data[data["name"] == name], end, number, f"{name}, data", dashed=True)
            if number == 0:
                _fill(queue_axes, rows, end, f"{name}, with ACKs")
        else:
            draw_steps(queue_axes, rows, end, number, name, dashed=True)
    bounds = [level.value for level in levels if level.kind == "queue" and level.name in ends]
    _draw_theory(queue_axes, bounds, "theory: {} data packets at most")
    line = ends[0].removesuffix(".reverse") if ends else "the line"
    hosts = {link.name for link in resolved.links if link.kind == "host"}
    where = f"Packets that wait for the process of {line}" if line in hosts else f"Queues at both ends of {line}"
    queue_axes.set_title(f"{where}, the last {seconds(span)}", loc="left")
    queue_axes.set_ylabel("queue [packets]")
    queue_axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    way = "of what comes to" if line in hosts else "over"
    data_axes.set_title(f"Data acknowledged {way} {line}, the last {seconds(span)}", loc="left")
    _draw_acknowledged(data_axes, resolved, kinds["acked"], ends, begin)
    for axes in (queue_axes, data_axes):
        axes.set_xlim(begin, end)


def _busiest_ends(resolved: Resolved, counted: pd.DataFrame | None, begin: float) -> list[str]:
    """Name both directions of the line or channel with the longest queue in the part that is magnified."""
    names = [link.name for link in resolved.links]
    if counted is None or counted.empty:
        return []
    late = counted[counted["time_s"] >= begin].groupby("name", observed=True)["value"].max()
    longest = max(names, key=lambda name: float(late.get(name, 0.0)))
    line = longest.removesuffix(".reverse")
    return [name for name in names if name.removesuffix(".reverse") == line]


def _fill(axes: Axes, rows: pd.DataFrame, end: float, label: str) -> None:
    if rows.empty:
        return
    times = np.append(rows["time_s"].to_numpy(), end)
    values = np.append(rows["value"].to_numpy(), rows["value"].iloc[-1])
    axes.fill_between(
        times, values, step="post", color=COLOURS[0], alpha=0.2, linewidth=0, label=shown(label), zorder=1.5
    )


def _draw_acknowledged(axes: Axes, resolved: Resolved, acked: pd.DataFrame, ends: Sequence[str], begin: float) -> None:
    """Draw how what the flows over a line have acknowledged grows, and at the full rate [two-way, figure 5.4]."""
    indices = {link.name: index for index, link in enumerate(resolved.links)}
    end, slopes = _end_s(resolved), set()
    for number, name in enumerate(ends):
        flows = [flow for flow in resolved.rows if indices[name] in flow.path]
        rows = acked[acked["name"].isin([flow.name for flow in flows])]
        if not flows or rows.empty:
            continue
        # What each flow's count adds to that of all, as it changes.
        added = rows["value"] - rows.groupby("name", observed=True)["value"].shift(fill_value=0.0)
        total = pd.DataFrame({"time_s": rows["time_s"], "value": added.cumsum()})
        since = float(np.nan_to_num(held(total, np.array([begin]))[0]))
        late = total[total["time_s"] >= begin]
        growth = pd.DataFrame(
            {"time_s": np.append(begin, late["time_s"]), "value": np.append(0.0, late["value"] - since)}
        )
        label = flows[0].name if len(flows) == 1 else f"{plural(len(flows), 'flow')} over {name}"
        draw_steps(axes, growth, end, number, label, dashed=True)
        rates = [node.packet_rate for node in nodes(resolved, flows[0].path, flows[0].packet_bytes)]
        slopes.add(min(rates, default=np.inf))
    for place, slope in enumerate(sorted(slope for slope in slopes if np.isfinite(slope))):
        label_once = "at the full rate" if place == 0 else None
        axes.plot([begin, end], [0.0, slope * (end - begin)], color="0.35", linestyle=":", label=label_once)
    axes.set_ylabel("acknowledged [packets]")
