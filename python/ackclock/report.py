"""A summary as tables for people: on a terminal and in a notebook."""

import html
import math
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.summary import Summary
from ackclock.tables import TableText, html_table, rich_table
from ackclock.trust import trust_text
from ackclock.wording import bit_rate, bit_rate_scale, hundredths, number, plural, seconds, significant

if TYPE_CHECKING:
    from rich.console import RenderableType

Row = Mapping[str, Any]

MOST_ROWS = 12
MOST_TCPS = 4
"""Largest number of TCPs that are named under the title."""
MOST_DECIMALS = 6
PERCENT = 0.01
_ROUND_TRIPS = {"min": "min", "mean": "avg", "p95": "95%", "max": "max", "mdev": "mdev"}
"""The round trips that `ping` prints, and a percentile, with their titles."""


@dataclass(frozen=True)
class Column:
    """The column of one quantity in a table: its title, its unit and its digits.

    Parameters
    ----------
    key : str
        The summary's key.
    title : str
        What the reader calls it, and its unit on a line of its own.
    scale : float
        What to divide by for that unit.
    digits : int, optional
        Significant digits; `None` for a count.
    additive : bool
        Whether a sum over flows means something.
    """

    key: str
    title: str
    scale: float = 1.0
    digits: int | None = 4
    additive: bool = False

    def text(self, value: float) -> str:
        """Write one value."""
        scaled = value / self.scale
        if scaled == 0.0 or self.digits is None:
            return number(scaled)
        if self.scale == PERCENT:
            return hundredths(scaled, self.digits, zeros=True)
        return significant(scaled, self.digits, zeros=True)

    def interval(self, value: float, half_width: float) -> str:
        """Write a value over half its interval, both to the interval's second digit."""
        decimals = max(0, 1 - math.floor(math.log10(half_width / self.scale)))
        if decimals > MOST_DECIMALS:
            return self.text(value)
        return f"{value / self.scale:,.{decimals}f}\n±{half_width / self.scale:,.{decimals}f}"


def flow_table(summary: Summary) -> TableText:
    """Lay out the flows; many of them as their sum, their lowest, median and highest."""
    flows = summary["flows"]
    columns = _flow_columns(flows)
    headers = ["flow", *(column.title for column in columns)]
    if len(flows) <= MOST_ROWS:
        return TableText(
            headers, [[flow["name"], *(_cell(flow[column.key], column) for column in columns)] for flow in flows]
        )
    rows = [_sum_row(flows, columns)]
    kinds: tuple[tuple[str, Callable[[list[float]], float]], ...] = (
        ("lowest", min),
        ("median", statistics.median),
        ("highest", max),
    )
    rows += [[name, *(_over_flows(flows, column, pick) for column in columns)] for name, pick in kinds]
    return TableText(headers, rows, f"Each column of {len(flows)} flows by itself; --json has every flow.")


def source_table(summary: Summary) -> TableText:
    """Lay out the sources of transfers."""
    sources = summary.get("sources", [])
    scale, prefix = bit_rate_scale(max((_mean(row["rate_bps"]) for row in sources), default=0.0))
    columns = [
        Column("transfers", "transfers", digits=None),
        Column("size_mean_packets", "size\npackets"),
        Column("rate_bps", f"mean rate\n{prefix}bit/s", scale),
        Column("on_mean_s", "ON time\nms", 1e-3),
        Column("stalled_fraction", "in time-\nouts %", PERCENT, 3),
        Column("active_mean", "active\nmean"),
    ]
    rows = [
        [row["name"], str(row["sources"]), *(_cell(row[column.key], column) for column in columns)] for row in sources
    ]
    return TableText(["web sources", "how\nmany", *(column.title for column in columns)], rows)


def completion_table(summary: Summary) -> TableText:
    """Lay out the completion times of transfers."""
    rows = summary.get("completions", [])
    columns = [
        Column("transfers", "finished", digits=None),
        Column("fct_mean_s", "FCT\nmean s"),
        Column("fct_p95_s", "FCT\n95% s"),
        Column("fct_max_s", "FCT\nmax s"),
        Column("fct_acked_mean_s", "to last\nACK s"),
        Column("slowdown_mean", "slow-\ndown", digits=3),
    ]
    if any(_mean(row["unfinished"]) > 0.0 for row in rows):
        columns.insert(1, Column("unfinished", "un-\nfinished", digits=None))
    cells = [[row["name"], *(_cell(row[column.key], column) for column in columns)] for row in rows]
    note = "FCT: from the first packet sent to the last one delivered; slowdown: over the empty path's."
    return TableText(["transfers", *(column.title for column in columns)], cells, note)


def ping_table(summary: Summary) -> TableText:
    """Lay out the pings, as `ping` sums them up."""
    rows = summary.get("pings", [])
    columns = [
        Column("sent", "sent", digits=None),
        Column("answered", "received", digits=None),
        Column("loss_fraction", "loss\n%", PERCENT, 3),
        *(Column(f"rtt_{key}_s", f"RTT {name}\nms", 1e-3) for key, name in _ROUND_TRIPS.items()),
    ]
    cells = [[row["name"], *(_cell(row[column.key], column) for column in columns)] for row in rows]
    return TableText(["ping", *(column.title for column in columns)], cells)


def summary_tables(summary: Summary) -> list[TableText]:
    """Lay out all that a summary has tables for: flows, transfers, pings, web sources, links."""
    some = [("completions", completion_table), ("pings", ping_table), ("sources", source_table)]
    return [flow_table(summary), *(table(summary) for key, table in some if summary.get(key)), link_table(summary)]


def link_table(summary: Summary) -> TableText:
    """Lay out the links that matter: those with a rate, no reverse ones where nothing waited; of many the busiest.

    What is busy without a rate is the process of a host.
    """
    shown = [link for link in summary["links"] if _takes_time(link) and not _idle_reverse(link)]
    if len(shown) > MOST_ROWS:
        busiest = sorted(shown, key=lambda link: _mean(link["utilisation_fraction"]), reverse=True)[:MOST_ROWS]
        shown = [link for link in shown if link in busiest]
    columns = _link_columns(shown)
    rows = [[link["name"], _rate(link), *(_cell(link[column.key], column) for column in columns)] for link in shown]
    hidden = len(summary["links"]) - len(shown)
    note = f"{plural(hidden, 'link')} without a queue, or less busy, left out; --json has all." if hidden else ""
    return TableText(["link", "rate", *(column.title for column in columns)], rows, note)


def tcp_text(summary: Summary) -> str:
    """Say which TCP was simulated; empty if there was none, or an older result does not know."""
    names = list(dict.fromkeys(summary.get("tcp", {}).values()))
    more = f" and {len(names) - MOST_TCPS} more" if len(names) > MOST_TCPS else ""
    return f"TCP: {', '.join(names[:MOST_TCPS])}{more}" if names else ""


def heading(summary: Summary, confidence: float) -> str:
    """Say what was run, for how long and how often."""
    measured = f"measured from {seconds(summary['warmup_s'])} to {seconds(summary['duration_s'])}"
    return f"{measured}; {trust_text(summary, confidence)}"


def as_text(summary: Summary, confidence: float) -> Iterator["RenderableType"]:
    """Write title, tables, verdict and warnings for a terminal.

    Parameters
    ----------
    summary : Summary
        What to print.
    confidence : float
        The intervals' probability [1].

    Yields
    ------
    rich.console.RenderableType
        Lines and tables, one below the other.
    """
    from rich.text import Text  # noqa: PLC0415  the library itself does without rich

    yield Text(summary["title"], style="bold")
    for line in filter(None, (tcp_text(summary), heading(summary, confidence))):
        yield Text(line, style="dim")
    for table in summary_tables(summary):
        yield ""
        yield rich_table(table)
        if table.note:
            yield Text(table.note, style="dim")
    yield ""
    yield Text("Verdict: ", style="bold").append(Text(summary["verdict"], style="not bold"))
    for warning in summary["warnings"]:
        yield Text("Warning: ", style="yellow").append(Text(warning, style="not bold default"))


def as_html(summary: Summary, confidence: float) -> str:
    """Write title, tables, verdict and warnings as HTML."""
    parts = [f"<h4>{html.escape(summary['title'])}</h4>"]
    parts += [f"<p>{html.escape(line)}</p>" for line in (tcp_text(summary), heading(summary, confidence)) if line]
    parts += [html_table(table) for table in summary_tables(summary)]
    parts.append(f"<p><b>Verdict:</b> {html.escape(summary['verdict'])}</p>")
    parts += [f"<p><b>Warning:</b> {html.escape(warning)}</p>" for warning in summary["warnings"]]
    return "".join(parts)


def _takes_time(link: Row) -> bool:
    return link["rate_bps"] is not None or _mean(link["utilisation_fraction"]) > 0.0


def _rate(link: Row) -> str:
    if link["rate_bps"] is None:
        return "processing"
    return ("mean " if link.get("rate_changes") else "") + bit_rate(link["rate_bps"])


def _idle_reverse(link: Row) -> bool:
    waited = _mean(link["queue_max_packets"]) > 1.0 or _mean(link["dropped_packets"]) > 0.0
    waited = waited or _mean(link["lost_packets"]) > 0.0
    return str(link["name"]).endswith(".reverse") and not waited


def _flow_columns(flows: Sequence[Row]) -> list[Column]:
    scale, prefix = bit_rate_scale(max((_mean(flow["throughput_bps"]) for flow in flows), default=0.0))
    finite = any(flow["finish_s"] is not None for flow in flows)
    columns = [
        # Rates over the lives of transfers, which differ, have no sum.
        Column("throughput_bps", f"throughput\n{prefix}bit/s", scale, additive=not finite),
        Column("goodput_bps", f"goodput\n{prefix}bit/s", scale, additive=not finite),
        Column("loss_fraction", "loss\n%", PERCENT, 3),
        Column("timeouts", "time-\nouts", digits=None, additive=True),
        Column("fast_retransmits", "fast\nrexmits", digits=None, additive=True),
        Column("cwnd_mean_packets", "cwnd\nmean", digits=None),
        *_delay_columns(flows),
    ]
    return [*columns, Column("finish_s", "finish\ns")] if finite else columns


def _delay_columns(flows: Sequence[Row]) -> list[Column]:
    """Choose round trips, or one-way delays where there are no ACKs; means in a result without percentiles."""
    for key, title in (("rtt", "RTT"), ("delay", "delay")):
        if any(flow.get(f"{key}_max_s") is not None for flow in flows):
            # The title goes on over the columns.
            shown = ((title, "p50"), ("ms", "p95"), ("", "max"))
            return [Column(f"{key}_{name}_s", f"{above}\n{name}", 1e-3, 3) for above, name in shown]
    return [Column("cwnd_max_packets", "cwnd\nmax", digits=None), Column("rtt_mean_s", "RTT\nms", 1e-3)]


def _link_columns(links: Sequence[Row]) -> list[Column]:
    scale, prefix = bit_rate_scale(max((_mean(link["throughput_bps"]) for link in links), default=0.0))
    losing = any(_mean(link["lost_packets"]) > 0.0 for link in links)
    lost = [Column("lost_packets", "lost\npackets", digits=None)] if losing else []
    marking = any(_mean(link.get("marked_packets")) > 0.0 for link in links)
    marked = [Column("marked_packets", "marked\npackets", digits=None)] if marking else []
    return [
        Column("utilisation_fraction", "utilis-\nation %", PERCENT, 3),
        Column("throughput_bps", f"throughput\n{prefix}bit/s", scale),
        Column("loss_fraction", "loss\n%", PERCENT, 3),
        Column("dropped_packets", "dropped\npackets", digits=None),
        *marked,
        *lost,
        *_queue_columns(links),
    ]


def _queue_columns(links: Sequence[Row]) -> list[Column]:
    """Choose the waits at links; queues in packets of a result without percentiles."""
    if all(link.get("queueing_max_s") is None for link in links):
        return [
            Column("queue_mean_packets", "queue\nmean", digits=None),
            Column("queue_max_packets", "queue\nmax", digits=None),
        ]
    shown = (("delay", "p95"), ("ms", "max"))
    return [Column(f"queueing_{name}_s", f"{above}\n{name}", 1e-3, 3) for above, name in shown]


def _mean(found: Mapping[str, Any] | None) -> float:
    return 0.0 if found is None or found["mean"] is None else float(found["mean"])


def _cell(found: Mapping[str, Any] | None, column: Column) -> str:
    if found is None or found["mean"] is None:
        return "-"
    half = 0.0 if found["low"] is None else (found["high"] - found["low"]) / 2.0
    return column.interval(found["mean"], half) if half > 0.0 else column.text(found["mean"])


def _sum_row(flows: Sequence[Row], columns: Sequence[Column]) -> list[str]:
    sums = (
        column.text(sum(_mean(flow[column.key]) for flow in flows)) if column.additive else "" for column in columns
    )
    return ["sum", *sums]


def _over_flows(flows: Sequence[Row], column: Column, pick: Callable[[list[float]], float]) -> str:
    means = [flow[column.key]["mean"] for flow in flows if flow[column.key] is not None]
    known = [mean for mean in means if mean is not None]
    return column.text(pick(known)) if known else "-"
