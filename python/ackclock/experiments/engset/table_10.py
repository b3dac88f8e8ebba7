"""Table 10: averages for different buffers at a very high load."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.engset.heavy import SOURCES, web
from ackclock.experiments.engset.path import KILO, Law, curve, loss_percent, measured, packets, printed, rate_kbps
from ackclock.experiments.frame import Finding, Measure, Outcome, Run, Setting, share
from ackclock.experiments.side_by_side import SideBySide, column
from ackclock.scenario import Resolved

LAWS: tuple[Law, ...] = ("EE", "E")
BUFFERS = (50, 75, 100, 150, 200, 300, 500, 750)
LOWER = 82
QUICK = 600e3
QUICK_LOWER = 250e3
Key = tuple[Law, int, int]
"""The law of sizes, B and N."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give both laws with eight buffers, and at 100% load."""
    found: dict[Key, Resolved] = {}
    for law in LAWS:
        for buffer in BUFFERS:
            found[law, buffer, SOURCES] = web(law, buffer).scenario(packets(setting, QUICK))
            found[law, buffer, LOWER] = web(law, buffer, LOWER).scenario(packets(setting, QUICK_LOWER))
    return found


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare the averages, and those at the lower load."""
    rates = {key: rate_kbps(run) for key, run in runs.items()}
    table = printed("table-10")
    findings: dict[str, Finding] = {}
    for law in LAWS:
        paper = table[table["law"] == law].set_index("buffer")
        own = {buffer: runs[law, buffer, SOURCES] for buffer in BUFFERS}
        on = {buffer: measured(run, "on_mean_s", 1.0 / KILO) for buffer, run in own.items()}
        findings[f"{law}_h"] = _farthest({buffer: rates[law, buffer, SOURCES] for buffer in BUFFERS}, paper["h_kbps"])
        findings[f"{law}_on"] = _farthest(on, paper["on_ms"])
        for buffer, run in own.items():
            findings[f"{law}_L_{buffer}"] = Finding(loss_percent(run), 100.0 * float(web(law, buffer).prediction.loss))
    models = [web("E", buffer).prediction for buffer in BUFFERS]
    theory = table[table["law"] == "E"]["theory_loss"].to_numpy(dtype=float)
    findings["theory_h"] = Finding(model=float(models[0].rate) / KILO)
    findings["theory_on"] = Finding(model=KILO * float(models[0].on_time))
    findings["theory_L"] = Finding(model=float(np.max(np.abs([100.0 * float(one.loss) for one in models] - theory))))
    spread = {
        (law, sources): _spread([rates[law, buffer, sources].value for buffer in BUFFERS])
        for law in LAWS
        for sources in (SOURCES, LOWER)
    }
    findings["compensation"] = Finding(
        max(spread[law, SOURCES] for law in LAWS), note=f"largest h above the smallest; N = {SOURCES}"
    )
    findings["only_high"] = Finding(
        share([spread[law, LOWER] > 2.0 * spread[law, SOURCES] for law in LAWS]),
        note=", ".join(f"{law}: {spread[law, LOWER]:.1f}% with N = {LOWER}" for law in LAWS),
    )
    return Outcome(findings, {"table": _chart(runs, rates)}, (), {"table": _side_by_side(runs)})


def _side_by_side(runs: Mapping[Key, Run]) -> SideBySide:
    """Put the averages next to the printed ones, a row for each law and buffer."""
    table = printed("table-10")
    own = [runs[row.law, int(row.buffer), SOURCES] for row in table.itertuples()]
    found = {
        "h [kbit/s]": ("h_kbps", [rate_kbps(run) for run in own]),
        "ON [ms]": ("on_ms", [measured(run, "on_mean_s", 1.0 / KILO) for run in own]),
        "L [%]": ("loss", [loss_percent(run) for run in own]),
    }
    columns = [
        column(title, table[name], *([getattr(one, part) for one in all_of] for part in ("value", "low", "high")))
        for title, (name, all_of) in found.items()
    ]
    names = {"law": list(table["law"]), "B": [f"{buffer}" for buffer in table["buffer"]]}
    return SideBySide("Table 10: averages against the buffer", names, columns)


def _printed(table: Any, name: str) -> list[Curve]:
    parts = [table[table["law"] == law] for law in LAWS]
    return [curve("the paper", part["buffer"], part[name], "paper", number) for number, part in enumerate(parts)]


def _farthest(found: Mapping[int, Measure], paper: Any) -> Finding:
    apart = {buffer: 100.0 * abs(one.value / paper[buffer] - 1.0) for buffer, one in found.items()}
    note = ", ".join(f"{one.value:.1f}" for one in found.values())
    return Finding(max(apart.values()), note=f"{note}; the paper: {', '.join(map(str, paper))}")


def _spread(values: list[float]) -> float:
    return 100.0 * (max(values) / min(values) - 1.0)


def _chart(runs: Mapping[Key, Run], rates: Mapping[Key, Measure]) -> Chart:
    table = printed("table-10")
    panels = []
    for sources in (SOURCES, LOWER):
        curves = []
        for number, law in enumerate(LAWS):
            curves.append(
                curve(
                    f"{law}, simulated",
                    BUFFERS,
                    [rates[law, buffer, sources].value for buffer in BUFFERS],
                    "simulation",
                    number,
                )
            )
        model = float(web("E", 200, sources).prediction.rate) / KILO
        curves.append(curve("theory", [BUFFERS[0], BUFFERS[-1]], [model, model], "theory", 2))
        if sources == SOURCES:
            curves += _printed(table, "h_kbps")
        panels.append(Panel("B [packets]", "h [kbit/s]", curves, f"N = {sources}", log_x=True))
    losses = [
        curve(
            f"{law}, simulated",
            BUFFERS,
            [loss_percent(runs[law, buffer, SOURCES]).value for buffer in BUFFERS],
            "simulation",
            number,
        )
        for number, law in enumerate(LAWS)
    ]
    losses += _printed(table, "loss")
    losses.append(
        curve("theory", BUFFERS, [100.0 * float(web("E", buffer).prediction.loss) for buffer in BUFFERS], "theory", 2)
    )
    panels.append(Panel("B [packets]", "L [%]", losses, f"N = {SOURCES}", log_x=True))
    return Chart(
        "Table 10: rate and loss against the buffer, (10M, 2M, R50), F = 12, W_R = 44",
        panels,
        3,
        size_inches=(15.0, 6.5),
    )
