"""Table 4: what a smaller receiver window does to transfers of each size."""

from collections.abc import Mapping
from typing import Any, Literal

import pandas as pd

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import Law, Web, classes, curve, packets, printed
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.side_by_side import SideBySide, column
from ackclock.scenario import Resolved

Path = Literal["main", "egress", "ingress"]
Key = tuple[Law, int, Path]
"""The law of sizes, W_R and the path."""
RATES: Mapping[Path, tuple[float, float]] = {"main": (100.0, 1000.0), "egress": (100.0, 2.0), "ingress": (2.0, 100.0)}
"""C_1 and C_3 [Mbit/s]: the table's path, and those where the egress or the ingress link paces packets."""
QUICK = 2e6
SHOWN: Mapping[Law, str] = {"EE": "exponential tail (EE)", "EP": "Pareto tail (EP)"}
COMMON_PERCENT = 0.3
"""Fraction of the files from which on a class of the paper's table is compared [%]."""
LONGER_BELOW = 31


def _web(law: Law, window: int, path: Path) -> Web:
    ingress, egress = RATES[path]
    return Web(80, law=law, window=window, ingress=ingress, egress=egress)


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give both windows for both laws, with what packets see in the queue."""
    number = packets(setting, QUICK)
    return {
        (law, window, path): _web(law, window, path).scenario(number, queue_distribution=True)
        for law in SHOWN
        for window in (44, 12)
        for path in RATES
    }


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare the ratios by class."""
    findings: dict[str, Finding] = {}
    panels, tables = [], {}
    for law, name in SHOWN.items():
        paper = printed("table-4")
        paper = paper[paper["law"] == law].set_index("low")
        found = _ratios(classes(runs[law, 44, "main"]), classes(runs[law, 12, "main"]))
        common = paper[paper["percent"] >= COMMON_PERCENT]
        near = found.loc[common.index]
        findings[f"{law}_on"] = Finding(float((near["on"] - common["on"]).abs().max()), note=_numbers(near["on"]))
        findings[f"{law}_seen"] = Finding(
            float((near["queue_seen"] - common["queue_seen"]).abs().max()), note=_numbers(near["queue_seen"])
        )
        findings[f"{law}_turn"] = Finding(
            share([(ratio > 0.0) == (low < LONGER_BELOW) for low, ratio in near["on"].items()])
        )
        findings[f"{law}_shorter"] = Finding(float(found["share"][found["on"] < 0.0].sum()))
        findings[f"{law}_queue"] = Finding(share((near["queue_seen"] > 0.0).tolist()))
        findings[f"{law}_rare"] = _rare(found, paper)
        panels.append(_panel(found, paper, name))
        tables[f"table-{law}"] = _side_by_side(found.reindex(paper.index), paper, name)
    for path in ("egress", "ingress"):
        findings |= _similar(runs, path)
    title = "Table 4: W_R = 44 against W_R = 12, F = 12, (10M, 1G, R50), N = 80"
    return Outcome(findings, {"table": Chart(title, panels, 2, size_inches=(13.0, 6.5))}, (), tables)


def _side_by_side(own: Any, paper: Any, name: str) -> SideBySide:
    columns = [
        column("files [%]", paper["percent"], own["share"]),
        column("ON time, more with W_R = 44 [%]", paper["on"], own["on"]),
        column("queue that a packet sees, more with W_R = 44 [%]", paper["queue_seen"], own["queue_seen"]),
    ]
    return SideBySide(f"Table 4, {name}", {"smallest size [packets]": [f"{low}" for low in paper.index]}, columns)


def _rare(found: Any, paper: Any) -> Finding:
    """Judge the signs of both ratios in the classes that are too rare to compare numbers."""
    rare = found.loc[[low for low in paper.index if low in found.index and paper.loc[low, "percent"] < COMMON_PERCENT]]
    return Finding(
        share([*(rare["on"] < 0.0), *(rare["queue_seen"] > 0.0)]),
        note=f"ON times {_numbers(rare['on'])}; queue seen {_numbers(rare['queue_seen'])}",
    )


def _similar(runs: Mapping[Key, Run], path: Path) -> dict[str, Finding]:
    """Judge by the signs of the table whether another path gives similar ratios: both laws, common classes."""
    on, queue, texts = [], [], []
    for law in SHOWN:
        paper = printed("table-4")
        paper = paper[(paper["law"] == law) & (paper["percent"] >= COMMON_PERCENT)].set_index("low")
        found = _ratios(classes(runs[law, 44, path]), classes(runs[law, 12, path])).loc[paper.index]
        on += ((found["on"] > 0.0) == (paper["on"] > 0.0)).tolist()
        queue += ((found["queue_seen"] > 0.0) == (paper["queue_seen"] > 0.0)).tolist()
        texts.append(f"{law}: ON times {_numbers(found['on'])}; queue seen {_numbers(found['queue_seen'])}")
    return {f"{path}_on": Finding(share(on), note="; ".join(texts)), f"{path}_queue": Finding(share(queue))}


def _ratios(large: Any, small: Any) -> Any:
    table = pd.DataFrame(
        {name: 100.0 * (large[f"{name}"] / small[f"{name}"] - 1.0) for name in ("on_ms", "queue_seen")}
    )
    table = table.rename(columns={"on_ms": "on"}).assign(share=large["share_percent"])
    table.index = pd.Index([max(low, 3) for low in table.index], name="low")
    return table.dropna()


def _numbers(values: Any) -> str:
    return ", ".join(f"{value:.1f}" for value in values)


def _panel(found: Any, paper: Any, name: str) -> Panel:
    shown = found[found["share"] * 1e-2 > 0.0]
    curves = [
        curve("ON time, simulated", shown.index, shown["on"], "simulation", 0),
        curve("queue seen by a packet, simulated", shown.index, shown["queue_seen"], "simulation", 1),
        curve("the paper", paper.index, paper["on"], "paper", 0),
        curve("the paper", paper.index, paper["queue_seen"], "paper", 1),
    ]
    return Panel(
        "smallest size of the class [packets]", "more with W_R = 44 [%]", curves, name, from_zero=False, log_x=True
    )
