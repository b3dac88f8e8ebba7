"""Table 8: statistics by size at high losses."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.heavy import MAIN, heavy
from ackclock.experiments.engset.path import classes, curve, exceedance, measured, printed, rate_kbps
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.side_by_side import SideBySide, column
from ackclock.scenario import Resolved

COLUMNS = {
    "percent": "part of the files [%]",
    "size": "mean size [packets]",
    "h_kbps": "h, read as h2 [kbit/s]",
    "queue_seen": "queue that a packet sees [packets]",
    "timeouts": "timeouts per drop [%]",
    "recovered": "retransmissions in recoveries per drop [%]",
}
COMMON_PERCENT = 0.4
SMALLEST = 3


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give the one setting."""
    return heavy(setting, MAIN)


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Compare each column where there are files enough."""
    run = runs[MAIN]
    paper, found = printed("table-8").set_index("low"), _table(run)
    near = paper[paper["percent"] >= COMMON_PERCENT]
    own = found.loc[near.index]
    findings: dict[str, Finding] = {}
    for name in COLUMNS:
        relative = name in {"size", "h_kbps", "queue_seen"}
        apart = (own[name] / near[name] - 1.0) * 100.0 if relative else own[name] - near[name]
        numbers = ", ".join(f"{value:.4g}" for value in own[name])
        findings[name] = Finding(
            float(apart.abs().max()), note=f"{numbers}; the paper: {', '.join(map(str, near[name]))}"
        )
    by_time = ", ".join(f"{value:.4g}" for value in own["all_by_all"])
    findings["h_kbps"] = replace(findings["h_kbps"], note=f"{findings['h_kbps'].note}; all bits by all time: {by_time}")
    x, above = exceedance(run)
    mean_queue = float(above.sum())
    findings |= {
        "F": Finding(measured(run, "size_mean_packets")),
        "h": Finding(rate_kbps(run)),
        "mean_queue": Finding(mean_queue, note=f"time average; the longest: {x[above > 0].max() + 1:.0f}"),
        "one_less": Finding(mean_queue - float(own.loc[SMALLEST, "queue_seen"]), note="of files of 3 to 6 packets"),
        "inverse": Finding(
            share([*(own["timeouts"].diff().dropna() < 0.0), *(own["recovered"].diff().dropna() > 0.0)]),
        ),
    }
    panels = [
        Panel(
            "smallest size of the class [packets]",
            title,
            [
                curve("simulated", found.index, found[name], "simulation", 0),
                curve("the paper", paper.index, paper[name], "paper", 0),
            ],
            log_x=True,
        )
        for name, title in COLUMNS.items()
    ]
    title = "Table 8: by size, N = 134, (10M, 2M, R50), EE, F = 12, W_R = 44, B = 150"
    tables = {"table": _side_by_side(found.reindex(paper.index), paper)}
    return Outcome(findings, {"table": Chart(title, panels, 3, size_inches=(15.0, 10.0))}, (), tables)


def _side_by_side(own: Any, paper: Any) -> SideBySide:
    columns = [column(text, paper[name], own[name]) for name, text in COLUMNS.items()]
    names = {"smallest size [packets]": [f"{low}" for low in paper.index]}
    return SideBySide("Table 8: by size, at high losses", names, columns)


def _table(run: Run) -> Any:
    table = classes(run)
    table.index = pd.Index([max(low, SMALLEST) for low in table.index], name="low")
    table = table.rename(columns={"timeouts": "timeout_count", "share_percent": "percent"})
    dropped = table["dropped_packets"].where(table["dropped_packets"] > 0.0)
    # By F / ON the printed h of the classes give 205 kbit/s of all, not the printed 155.5: they are means of rates.
    table["all_by_all"], table["h_kbps"] = table["h_kbps"], table["h2_kbps"]
    table["timeouts"] = 100.0 * table["timeout_count"] / dropped
    # Those of recoveries that a timeout ended count too, as in table 7.
    again = table["recovery_retransmissions"] + table["failed_recovery_retransmissions"]
    table["recovered"] = 100.0 * again / dropped
    return table
