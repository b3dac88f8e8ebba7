"""The answer to a run as plain data: chart, verdict, tables, warnings, and what the models say."""

from collections.abc import Iterator, Mapping
from typing import Any

from ackclock.comparison import Comparison
from ackclock.lab.bounds import TRACED_PACKETS
from ackclock.lab.running import Ran, Recorded
from ackclock.lab.thinning import chart_data, thinned
from ackclock.pictures import linked_chart
from ackclock.report import has_classes, heading, summary_tables, tcp_text
from ackclock.tables import Place, TableText

Json = dict[str, Any]
_NUMBERS = {
    "flows": (
        *("throughput_bps", "goodput_bps", "loss_fraction", "timeouts", "fast_retransmits"),
        *("cwnd_mean_packets", "cwnd_max_packets"),
        *("rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_max_s", "finish_s"),
        *("spurious_timeouts", "spurious_fast_retransmits"),
    ),
    "links": (
        *("utilisation_fraction", "throughput_bps", "loss_fraction", "dropped_packets", "marked_packets"),
        *("queue_mean_packets", "queue_max_packets", "queueing_p50_s", "queueing_p95_s", "queueing_max_s"),
    ),
    "completions": ("transfers", "unfinished", "fct_mean_s", "fct_p50_s", "fct_p95_s", "fct_max_s", "slowdown_mean"),
    "pings": ("sent", "answered", "loss_fraction", "rtt_min_s", "rtt_mean_s", "rtt_p50_s", "rtt_p95_s", "rtt_max_s"),
    "classes": (
        *("throughput_bps", "loss_fraction", "marked_packets"),
        *("queueing_mean_s", "queueing_p50_s", "queueing_p95_s", "queueing_p99_s", "queueing_max_s"),
    ),
}
"""The quantities that the page compares between two runs, and that it downloads: of all rows, not of those it shows."""


def answer(ran: Ran, place: Place = "page") -> Json:
    """Describe in words and numbers what a run showed, and where the rows are that its tables leave out."""
    result, comparison = ran.result, ran.comparison
    summary = result.summary
    return {
        "title": summary["title"],
        "tcp": tcp_text(summary),
        "heading": heading(summary, result.resolved.run.confidence),
        "verdict": summary["verdict"],
        "warnings": summary["warnings"],
        "note": _note(ran),
        "tables": [table_data(table) for table in summary_tables(summary, place)],
        "numbers": list(_numbers(summary, classes=has_classes(summary))),
        "theory": theory(comparison),
        "inapplicable": [{"title": one.title, "reasons": list(one.reasons)} for one in comparison.inapplicable],
    }


def _note(ran: Ran) -> str:
    """Say which panels a run with many packets lacks; empty if it has all."""
    if "sequence" in ran.recorded.traces:
        return ""
    return (
        f"The run has more than {TRACED_PACKETS:,} packets: its picture has no rates and no packets by number. "
        "A shorter duration brings them back."
    )


def chart_of(recorded: Recorded, start: float, end: float, columns: int) -> Json:
    """Describe the panels between two times [s], for a number of pixels."""
    chart = linked_chart(recorded.prepared.resolved, recorded.traces, recorded.reference_lines)
    return chart_data(thinned(chart, start, end, columns))


def theory(comparison: Comparison) -> list[Json]:
    """Describe what each model says, next to what was simulated."""
    return [
        {
            "title": title,
            "table": table_data(table),
            "sentences": list(model.sentences),
            "warnings": list(model.warnings),
        }
        for model, (title, _, table) in zip(comparison.predictions, comparison.tables, strict=True)
    ]


def table_data(table: TableText) -> Json:
    """Give a table as plain data."""
    return {
        "headers": table.headers,
        "rows": table.rows,
        "note": table.note,
        "words": sorted(table.words),
    }


def _numbers(summary: Mapping[str, Any], *, classes: bool) -> Iterator[Json]:
    """Give the means of quantities that two runs are compared by, with half their intervals.

    The loss of a flow of pings is that of its pings, as `ping` counts it: those in flight at the end are left out.
    """
    pinging = {row["name"] for row in summary.get("pings", ())}
    for kind, quantities in _NUMBERS.items():
        if kind == "classes" and not classes:
            continue
        for row in summary.get(kind, ()):
            name = f"{row['link']}: {row['name']}" if kind == "classes" else row["name"]
            for quantity in quantities:
                if kind == "flows" and name in pinging and quantity == "loss_fraction":
                    continue
                found = row.get(quantity)
                if found is not None and found["mean"] is not None:
                    half = None if found["low"] is None else (found["high"] - found["low"]) / 2.0
                    yield {"of": kind, "name": name, "quantity": quantity, "mean": found["mean"], "half": half}
