"""A summary as tables for people: on a terminal and in a notebook."""

import html
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from ackclock.columns import (
    MILLISECOND,
    MOST_ROWS,
    PERCENT,
    Column,
    Row,
    mean_of,
    plain_rows,
    rows_or_spread,
    spread_rows,
    sum_row,
)
from ackclock.groups import by_table, row_name
from ackclock.quantities import DROP_CAUSES
from ackclock.scenario.copies import described_name
from ackclock.summary import Summary
from ackclock.tables import Place, TableText, html_table, rich_table, what_has_all
from ackclock.trust import trust_text
from ackclock.wording import bit_rate, bit_rate_scale, plural, seconds

if TYPE_CHECKING:
    from rich.console import RenderableType

MOST_TABLES = 4
"""Largest number of tables whose flows are summed up each by itself."""
MOST_TCPS = 4
"""Largest number of TCPs that are named under the title."""
_ROUND_TRIPS = (
    *(("min", "RTT\nmin"), ("mean", "ms\navg"), ("p50", "\nmedian"), ("p95", "\n95%")),
    *(("max", "\nmax"), ("mdev", "\nmdev")),
)
"""The round trips that `ping` prints, the median and a percentile, with titles that go on over the columns."""


def flow_table(summary: Summary, place: Place = "printed") -> TableText:
    """Lay out the flows; many of them as the sum, the lowest, the median and the highest of each table's."""
    flows = summary["flows"]
    columns = _flow_columns(flows)
    headers = ["flow", *(column.title for column in columns)]
    if len(flows) <= MOST_ROWS:
        return TableText(headers, plain_rows(flows, columns))
    tables = by_table(flows, row_name)
    if len(tables) > MOST_TABLES:
        tables = {"": flows}
    rows = [row for name, group in tables.items() for row in _group_rows(_prefix(name, tables), group, columns)]
    return TableText(headers, rows, f"Each column by itself; {what_has_all('flows', place)} {len(flows)} rows.")


def _prefix(name: str, tables: Mapping[str, Sequence[Row]]) -> str:
    return "" if len(tables) == 1 else f"{name} "


def _group_rows(prefix: str, flows: Sequence[Row], columns: Sequence[Column]) -> list[list[str]]:
    """Lay out the flows of a table: one as it is, several as their sum and what they spread over."""
    if len(flows) == 1:
        return plain_rows(flows, columns)
    return [[f"{prefix}sum", *sum_row(flows, columns)], *spread_rows(prefix, flows, columns)]


def source_table(summary: Summary) -> TableText:
    """Lay out the sources of transfers."""
    sources = summary.get("sources", [])
    scale, prefix = bit_rate_scale(max((mean_of(row["rate_bps"]) for row in sources), default=0.0))
    columns = [
        Column("transfers", "transfers", digits=None),
        Column("size_mean_packets", "size\npackets"),
        Column("rate_bps", f"mean rate\n{prefix}bit/s", scale),
        Column("on_mean_s", "ON time\nms", 1e-3),
        Column("stalled_fraction", "in time-\nouts %", PERCENT, 3),
        Column("active_mean", "active\nmean"),
    ]
    numbers = {row["name"]: str(row["sources"]) for row in sources}
    rows = [[name, numbers.get(name, ""), *cells] for name, *cells in rows_or_spread(sources, columns)]
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
    if any(mean_of(row["unfinished"]) > 0.0 for row in rows):
        columns.insert(1, Column("unfinished", "un-\nfinished", digits=None))
    cells = rows_or_spread(rows, columns)
    note = "FCT: from the first packet sent to the last one delivered; slowdown: over the empty path's."
    if any(row["fct_max_s"]["n"] > 1 for row in rows):
        note += " 95% and max are of all runs together."
    return TableText(["transfers", *(column.title for column in columns)], cells, note)


def ping_table(summary: Summary) -> TableText:
    """Lay out the pings, as `ping` sums them up."""
    rows = summary.get("pings", [])
    columns = [
        Column("sent", "sent", digits=None),
        Column("answered", "received", digits=None),
        Column("loss_fraction", "loss\n%", PERCENT, 3),
        *(Column(f"rtt_{key}_s", title, 1e-3) for key, title in _ROUND_TRIPS),
    ]
    cells = rows_or_spread(rows, columns)
    return TableText(["ping", *(column.title for column in columns)], cells)


def delay_table(summary: Summary) -> TableText:
    """Lay out the one-way delays of datagrams; no rows if the table of flows has them, as none has round trips."""
    flows, pings = summary["flows"], {row["name"] for row in summary.get("pings", [])}
    silent = [flow for flow in flows if flow.get("rtt_max_s") is None and flow.get("delay_max_s") is not None]
    titles = (("p50", "delay\np50"), ("p95", "ms\np95"), ("p99", "\np99"), ("max", "\nmax"))
    columns = [Column(f"delay_{name}_s", title, MILLISECOND, 3) for name, title in titles]
    columns.append(Column("loss_fraction", "loss\n%", PERCENT, 3))
    rows = [flow for flow in silent if flow["name"] not in pings] if len(silent) < len(flows) else []
    return TableText(["datagrams", *(column.title for column in columns)], rows_or_spread(rows, columns))


def class_table(summary: Summary, place: Place = "printed") -> TableText:
    """Lay out the classes of packets at links; those of copies together, of many those of the largest throughput."""
    found = [{**row, "name": f"{row['link']}: {row['name']}"} for row in summary.get("classes", [])]
    tables = by_table(found, row_name)
    kept = sorted(tables, key=lambda name: max(mean_of(row["throughput_bps"]) for row in tables[name]))[-MOST_ROWS:]
    shown = [row for row in found if described_name(row_name(row)) in kept]
    scale, prefix = bit_rate_scale(max((mean_of(row["throughput_bps"]) for row in shown), default=0.0))
    marking = any(mean_of(row["marked_packets"]) > 0.0 for row in shown)
    titles = (("mean", "wait\nmean ms"), ("p50", "p50"), ("p95", "p95"), ("p99", "p99"), ("max", "max"))
    columns = [
        Column("throughput_bps", f"throughput\n{prefix}bit/s", scale),
        Column("loss_fraction", "loss\n%", PERCENT, 3),
        *([Column("marked_fraction", "marked\n%", PERCENT, 3)] if marking else []),
        *(Column(f"queueing_{name}_s", title, 1e-3, 3) for name, title in titles),
    ]
    cells = rows_or_spread(shown, columns)
    hidden = len(found) - len(shown)
    note = f"{plural(hidden, 'row')} left out; {what_has_all('classes', place)}." if hidden else ""
    return TableText(["link: class", *(column.title for column in columns)], cells, note)


def summary_tables(summary: Summary, place: Place = "printed") -> list[TableText]:
    """Lay out all that a summary has tables for: flows, transfers, pings, web sources, links."""
    some = [("completions", completion_table), ("pings", ping_table), ("sources", source_table)]
    between = [table(summary) for key, table in some if summary.get(key)]
    delays = delay_table(summary)
    tables = [flow_table(summary, place), *([delays] if delays.rows else []), *between, link_table(summary, place)]
    return [*tables, class_table(summary, place)] if has_classes(summary) else tables


def has_classes(summary: Summary) -> bool:
    """Return whether packets of several classes crossed a link."""
    links = [row["link"] for row in summary.get("classes", [])]
    return len(set(links)) < len(links)


def link_table(summary: Summary, place: Place = "printed") -> TableText:
    """Lay out the links that matter: those with a rate, no reverse ones where nothing waited; of many the busiest.

    What is busy without a rate is the process of a host.
    """
    waiting = [link for link in summary["links"] if _takes_time(link) and not _idle_reverse(link)]
    kept = dict(sorted(by_table(waiting, row_name).items(), key=_busiest, reverse=True)[:MOST_ROWS])
    tables = [(name, links) for name, links in by_table(summary["links"], row_name).items() if name in kept]
    shown = [link for _, links in tables for link in links]
    columns = _link_columns(shown)
    rows = [row for name, links in tables for row in _link_rows(name, links, columns)]
    hidden = len(summary["links"]) - len(shown)
    left_out = f"{plural(hidden, 'link')} without a queue, or less busy, left out"
    note = f"{left_out}; {what_has_all('links', place)}." if hidden else ""
    for name, links in tables:
        if len(links) > 1:
            note += f"{' ' * bool(note)}{name}: {plural(len(links), 'copy', 'copies')}, each column by itself."
    return TableText(["link", "rate", *(column.title for column in columns)], rows, note)


def _busiest(table: tuple[str, Sequence[Row]]) -> float:
    return max(mean_of(link["utilisation_fraction"]) for link in table[1])


def _link_rows(name: str, links: Sequence[Row], columns: Sequence[Column]) -> list[list[str]]:
    """Lay out the copies of a link: one as it is, several as what they spread over."""
    laid_out = plain_rows(links, columns) if len(links) == 1 else spread_rows(f"{name} ", links, columns)
    return [[head, _rate(links[0]), *cells] for head, *cells in laid_out]


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
    return link["rate_bps"] is not None or mean_of(link["utilisation_fraction"]) > 0.0


def _rate(link: Row) -> str:
    if link["rate_bps"] is None:
        return "processing"
    return ("mean " if link.get("rate_changes") else "") + bit_rate(link["rate_bps"])


def _idle_reverse(link: Row) -> bool:
    waited = mean_of(link["queue_max_packets"]) > 1.0 or mean_of(link["dropped_packets"]) > 0.0
    waited = waited or mean_of(link["lost_packets"]) > 0.0
    return str(link["name"]).endswith(".reverse") and not waited


def _flow_columns(flows: Sequence[Row]) -> list[Column]:
    scale, prefix = bit_rate_scale(max((mean_of(flow["throughput_bps"]) for flow in flows), default=0.0))
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
    scale, prefix = bit_rate_scale(max((mean_of(link["throughput_bps"]) for link in links), default=0.0))
    losing = any(mean_of(link["lost_packets"]) > 0.0 for link in links)
    lost = [Column("lost_packets", "lost\npackets", digits=None)] if losing else []
    marking = any(mean_of(link.get("marked_packets")) > 0.0 for link in links)
    marked = [Column("marked_packets", "marked\npackets", digits=None)] if marking else []
    return [
        Column("utilisation_fraction", "utilis-\nation %", PERCENT, 3),
        Column("throughput_bps", f"throughput\n{prefix}bit/s", scale),
        Column("loss_fraction", "loss\n%", PERCENT, 3),
        Column("dropped_packets", "dropped\npackets", digits=None),
        *_cause_columns(links),
        *marked,
        *lost,
        *_queue_columns(links),
    ]


def _cause_columns(links: Sequence[Row]) -> list[Column]:
    """Choose the causes of drops, where the packets of one link were dropped for several."""
    counts = {name: [mean_of(link.get(name)) > 0.0 for link in links] for name in DROP_CAUSES}
    if not any(sum(causes) > 1 for causes in zip(*counts.values(), strict=True)):
        return []
    titles = ("by full\nbuffer", "by AQM\npackets", "policed\npackets")
    named = zip(DROP_CAUSES, titles, strict=True)
    return [Column(name, title, digits=None) for name, title in named if any(counts[name])]


def _queue_columns(links: Sequence[Row]) -> list[Column]:
    """Choose the waits at links; queues in packets of a result without percentiles."""
    if all(link.get("queueing_max_s") is None for link in links):
        return [
            Column("queue_mean_packets", "queue\nmean", digits=None),
            Column("queue_max_packets", "queue\nmax", digits=None),
        ]
    shown = (("delay", "p95"), ("ms", "max"))
    return [Column(f"queueing_{name}_s", f"{above}\n{name}", 1e-3, 3) for above, name in shown]
