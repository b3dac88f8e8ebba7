"""Table 2: which windows saturate a link, and the queue that remains."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import curve, printed
from ackclock.experiments.engset.single import lone, lone_path
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.side_by_side import SideBySide, column
from ackclock.models import engset
from ackclock.scenario import Resolved

Key = tuple[float, int, int]
"""The setting: C [Mbit/s], RTT_0 [ms] and W_R."""
SATURATED = 0.999
SHARED = 10.0
"""Smallest C at which the slowest link is the shared one [Mbit/s]."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give an endless connection for each row."""
    duration = setting.pick("30 s", "300 s")
    found = {}
    for row in printed("table-2").itertuples():
        resolved = lone(float(row.capacity), float(row.rtt_ms), int(row.window), None, duration=duration)
        found[_key(row)] = replace(resolved, run=replace(resolved.run, warmup_s=10.0))
    return found


def _key(row: Any) -> Key:
    return float(row.capacity), int(row.rtt_ms), int(row.window)


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare each row with the formulas and with a long connection."""
    table = printed("table-2")
    models = [engset.saturation(lone_path(row.capacity, row.rtt_ms), row.window) for row in table.itertuples()]
    ratios = [abs(float(one.ratio) - row.ratio) for one, row in zip(models, table.itertuples(), strict=True)]
    queues = [abs(float(one.queue) - row.queue) for one, row in zip(models, table.itertuples(), strict=True)]
    found = [_measured(runs[_key(row)], float(row.capacity)) for row in table.itertuples()]
    busy = [one[1] > SATURATED for one in found]
    agreed = [full == bool(row.saturated) for full, row in zip(busy, table.itertuples(), strict=True)]
    saturated = table["saturated"] == 1
    simulated = np.array([queue for queue, _ in found])
    apart = np.abs(simulated - table["queue"])[saturated]
    findings = {
        "ratio": Finding(model=max(ratios)),
        "queue": Finding(float(apart.max()), max(queues), "largest difference in packets, of the saturated rows"),
        "condition": Finding(
            share(agreed), note="the link sends more than 99.9% of the time where the table has Saturated"
        ),
    }
    place = np.arange(len(table), dtype=float)
    curves = [
        curve("simulated, time average", place, simulated, "marks", 0),
        curve("W_R - floor(beta) + 1 where saturated, theory", place, [one.queue for one in models], "theory-marks", 1),
        curve("the paper", place, table["queue"].where(saturated), "paper", 0),
    ]
    ticks = [f"{row.capacity}M\nR{row.rtt_ms}\nW{row.window}" for row in table.itertuples()]
    panel = Panel("C, RTT_0 and W_R", "packets at the slowest link", curves, x_ticks=ticks)
    chart = Chart("Table 2: what a long connection leaves in the queue", [panel])
    names = {
        "C [Mbit/s]": [f"{row.capacity}" for row in table.itertuples()],
        "RTT_0 [ms]": [f"{row.rtt_ms}" for row in table.itertuples()],
        "W_R": [f"{row.window}" for row in table.itertuples()],
    }
    columns = [
        column("beta / W_R, theory", table["ratio"], [float(one.ratio) for one in models]),
        column("queue, theory [packets]", table["queue"], [float(one.queue) for one in models]),
        column("queue where saturated, simulated [packets]", table["queue"].where(saturated), simulated),
        column("saturated (1)", table["saturated"], np.array(busy, dtype=float)),
    ]
    return Outcome(findings, {"table": chart}, (), {"table": SideBySide("Table 2: saturation", names, columns)})


def _measured(run: Run, capacity: float) -> tuple[float, float]:
    names = [link.name for link in run.resolved.elements]
    slowest = names.index("egress" if capacity < SHARED else "shared")
    links, time = run.replications[0]["links"], run.resolved.run.measured_s
    return float(links["queue_area_packet_s"][slowest]) / time, float(links["busy_s"][slowest]) / time
