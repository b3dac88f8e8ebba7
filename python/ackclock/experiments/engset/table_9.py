"""Table 9: rates and stalls by size for small and large buffers."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pandas as pd

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.heavy import QUICK, web
from ackclock.experiments.engset.path import Law, classes, curve, loss_percent, measured, packets, printed
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.side_by_side import SideBySide, column
from ackclock.scenario import Resolved

LAWS: tuple[Law, ...] = ("EE", "EP")
BUFFERS = (50, 150, 750)
RTTS_MS = (49.9, 50.4)
"""Values of RTT_0 near the 50 ms, which show how the smallest buffer's numbers depend on the phase of packets."""
COMMON_PERCENT = 0.3
RARE_FROM = 257
"""Smallest size of the classes of EP with less of the files, by the printed fractions of table 4: judged together.

EE has one such class, with 0.027% of the files: seven files in the quick form.
"""
Key = tuple[Law, int] | tuple[Law, int, float]
"""The law of sizes and B; another RTT_0 [ms]."""
SMALL, LARGE = 3, 129


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give three buffers for both laws."""
    number = packets(setting, QUICK)
    found: dict[Key, Resolved] = {
        (law, buffer): web(law, buffer).scenario(number) for law in LAWS for buffer in BUFFERS
    }
    shifted: dict[Key, Resolved] = {
        (law, BUFFERS[0], rtt_ms): _shifted(law, rtt_ms, number) for law in LAWS for rtt_ms in RTTS_MS
    }
    return found | shifted


def _shifted(law: Law, rtt_ms: float, number: float) -> Resolved:
    return replace(web(law, BUFFERS[0]), rtt_ms=rtt_ms).scenario(number)


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare rates and stalls where there are files enough."""
    found = {(law, buffer): _table(runs[law, buffer]) for law in LAWS for buffer in BUFFERS}
    findings: dict[str, Finding] = {}
    for law in LAWS:
        for buffer in BUFFERS:
            paper, own, common = _both(law, buffer, found[law, buffer])
            apart = 100.0 * (own["h2_kbps"] / paper["h2_kbps"] - 1.0)
            numbers = ", ".join(f"{value:.1f}" for value in own.loc[common, "h2_kbps"])
            findings[f"{law}_h2_{buffer}"] = Finding(float(apart[common].abs().max()), note=numbers)
            findings[f"{law}_L_{buffer}"] = Finding(loss_percent(runs[law, buffer]))
            if buffer != BUFFERS[-1]:
                stalls = (own["stalled_percent"] - paper["stalled"])[common]
                numbers = ", ".join(f"{value:.1f}" for value in own.loc[common, "stalled_percent"])
                findings[f"{law}_stalled_{buffer}"] = Finding(float(stalls.abs().max()), note=numbers)
    for law in LAWS:
        name = f"{law}_h2_{BUFFERS[0]}"
        moved = [_column(_table(runs[law, BUFFERS[0], rtt_ms]), "h2_kbps") for rtt_ms in RTTS_MS]
        note = "; ".join(f"with RTT_0 = {rtt_ms} ms: {text}" for rtt_ms, text in zip(RTTS_MS, moved, strict=True))
        findings[name] = replace(findings[name], note=f"{findings[name].note}; {note}")
    for buffer in BUFFERS:
        findings |= _rare("EP", buffer, found["EP", buffer])
    rate = {(key, low): table.loc[low, "h2_kbps"] for key, table in found.items() for low in (SMALL, LARGE)}
    findings["favour"] = Finding(
        share(
            [rate[(law, 50), SMALL] > rate[(law, 750), SMALL] for law in LAWS]
            + [rate[(law, 50), LARGE] < rate[(law, 750), LARGE] for law in LAWS]
        )
    )
    both = [(measured(runs[key], "rate_bps").value, measured(runs[key], "rate_mean_bps").value) for key in found]
    apart = ", ".join(
        f"{law}-{buffer}: {h / 1e3:.0f}, {h2 / 1e3:.0f}" for (law, buffer), (h, h2) in zip(found, both, strict=True)
    )
    findings["h2_larger"] = Finding(share([h2 > h for h, h2 in both]), note=f"h, h2 [kbit/s] {apart}")
    classed = [bool(one) for table in found.values() for one in _larger(table)]
    findings["h2_larger_class"] = Finding(share(classed), note=f"{len(classed)} classes of six cases")
    return Outcome(findings, {"table": _chart(found)}, (), {"table": _side_by_side(found)})


def _rare(law: Law, buffer: int, table: Any) -> dict[str, Finding]:
    """Compare the rare classes together: the means of ours and of the printed numbers, weighted by our files."""
    paper, own, _ = _both(law, buffer, table)
    rare = [low for low in paper.index if low >= RARE_FROM and own.loc[low, "transfers"] > 0.0]
    files, times = own.loc[rare, "transfers"], own.loc[rare, "on_s"]
    ours, printed_h2 = (float((rows.loc[rare, "h2_kbps"] * files).sum() / files.sum()) for rows in (own, paper))
    note = f"{files.sum():.0f} files of {RARE_FROM} packets and more"
    findings = {
        f"{law}_rare_h2_{buffer}": Finding(
            100.0 * (ours / printed_h2 - 1.0), note=f"{ours:.1f} for {printed_h2:.1f} kbit/s; {note}"
        )
    }
    if buffer != BUFFERS[-1]:
        stalled = float((own.loc[rare, "stalled_percent"] * times).sum() / times.sum())
        expected = float((paper.loc[rare, "stalled"] * times).sum() / times.sum())
        findings[f"{law}_rare_stalled_{buffer}"] = Finding(
            stalled - expected, note=f"{stalled:.1f} for {expected:.1f}%; {note}"
        )
    return findings


def _side_by_side(found: Mapping[tuple[Law, int], Any]) -> SideBySide:
    """Put the rates and stalls next to the printed ones, a row for each law, buffer and size."""
    both = {key: _both(*key, table)[:2] for key, table in found.items()}
    paper, own = (pd.concat([pair[place] for pair in both.values()]) for place in (0, 1))
    names = {
        "law": [str(law) for (law, _), (rows, _) in both.items() for _ in rows.index],
        "B": [f"{buffer}" for (_, buffer), (rows, _) in both.items() for _ in rows.index],
        "smallest size [packets]": [f"{low}" for low in paper.index],
    }
    columns = [
        column("h2 [kbit/s]", paper["h2_kbps"], own["h2_kbps"]),
        column("part of the ON time stalled [%]", paper["stalled"], own["stalled_percent"]),
    ]
    return SideBySide("Table 9: by size and buffer", names, columns)


def _column(table: Any, name: str) -> str:
    return ", ".join(f"{value:.1f}" for value in table.loc[table["share_percent"] >= COMMON_PERCENT, name])


def _larger(table: Any) -> list[bool]:
    common = table[table["share_percent"] >= COMMON_PERCENT]
    return [bool(one) for one in common["h2_kbps"] > common["h_kbps"]]


def _table(run: Run) -> Any:
    table = classes(run)
    table.index = pd.Index([max(low, SMALL) for low in table.index], name="low")
    return table


def _both(law: Law, buffer: int, own: Any) -> tuple[Any, Any, Any]:
    table = printed("table-9")
    paper = table[(table["law"] == law) & (table["buffer"] == buffer)].set_index("low")
    own = own.reindex(paper.index)
    return paper, own, own["share_percent"] >= COMMON_PERCENT


def _chart(found: Mapping[tuple[Law, int], Any]) -> Chart:
    panels = []
    for own_column, paper_column, title in (
        ("h2_kbps", "h2_kbps", "h2 [kbit/s]"),
        ("stalled_percent", "stalled", "part of the ON time stalled [%]"),
    ):
        for law in LAWS:
            curves = []
            for number, buffer in enumerate(BUFFERS):
                own = found[law, buffer]
                paper = _both(law, buffer, own)[0]
                curves.append(curve(f"B = {buffer}, simulated", own.index, own[own_column], "simulation", number))
                curves.append(curve("the paper", paper.index, paper[paper_column], "paper", number))
            panels.append(Panel("smallest size of the class [packets]", title, curves, law, log_x=True))
    title = "Table 9: by size and buffer, N = 134, (10M, 2M, R50), F = 12, W_R = 44"
    return Chart(title, panels, 2, size_inches=(14.0, 12.0))
