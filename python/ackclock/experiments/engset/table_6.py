"""Table 6: rates and losses as the load grows, B = 200."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Panel
from ackclock.experiments.engset.path import (
    FULL_PACKETS,
    KILO,
    Law,
    Web,
    curve,
    loss_percent,
    packets,
    rate_kbps,
    simulated,
)
from ackclock.experiments.frame import Finding, Measure, Outcome, Run, Setting, share
from ackclock.experiments.side_by_side import SideBySide, column
from ackclock.scenario import Resolved
from ackclock.sweeps import packets_of
from ackclock.transfers import source_rows

Key = tuple[Law, int]
"""The law of sizes and N."""
QUICK = 1e6
SOURCES = (82, 98, 115, 134)
SHOWN: tuple[Law, ...] = ("EE", "E")
RATES = {"theory": (547.8, 344.6, 219.5, 154.9), "EE": (489.8, 328.2, 219.2, 155.9), "E": (563.1, 347.1, 219.5, 154.7)}
LOSSES = {"theory": (0.03, 4.91, 22.0, 38.3), "EE": (0.29, 1.04, 2.66, 4.80), "E": (0.0, 0.004, 0.41, 2.55)}


def _web(law: Law, sources: int) -> Web:
    return Web(sources, law=law, buffer=200)


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give both laws at four loads."""
    number = packets(setting, QUICK)
    return {(law, sources): _web(law, sources).scenario(number) for law in SHOWN for sources in SOURCES}


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Compare each number."""
    rates = {key: rate_kbps(run) for key, run in runs.items()}
    lost = {key: loss_percent(run) for key, run in runs.items()}
    models = [_web("E", sources).prediction for sources in SOURCES]
    model_rates = [float(one.rate) / KILO for one in models]
    model_losses = [100.0 * float(one.loss) for one in models]
    findings: dict[str, Finding] = {}
    for place, sources in enumerate(SOURCES):
        findings[f"theory_h_{sources}"] = Finding(model=model_rates[place])
        findings[f"theory_L_{sources}"] = Finding(model=model_losses[place])
        for law in SHOWN:
            findings[f"{law}_h_{sources}"] = Finding(rates[law, sources], model_rates[place])
            findings[f"{law}_L_{sources}"] = Finding(lost[law, sources], model_losses[place])
    apart = [abs(rates["EE", sources].value / rates["E", sources].value - 1.0) for sources in SOURCES]
    off = [abs(rates["EE", sources].value / model_rates[place] - 1.0) for place, sources in enumerate(SOURCES)]
    findings["equal"] = Finding(share([apart[-1] < apart[0], off[-1] < off[0]]))
    above = [(law, place) for law in SHOWN for place in range(4) if model_losses[place] > 1.0]
    findings["overestimates"] = Finding(
        share([model_losses[place] > 2.0 * lost[law, SOURCES[place]].value for law, place in above])
    )
    findings["run_to_run"] = _run_to_run(runs)
    chart = _chart(rates, lost, model_rates, model_losses)
    return Outcome(findings, {"table": chart}, (), {"table": _side_by_side(rates, lost, model_rates, model_losses)})


def _side_by_side(
    rates: Mapping[Key, Measure], lost: Mapping[Key, Measure], model_rates: list[float], model_losses: list[float]
) -> SideBySide:
    columns = []
    for title, found, model, paper in (
        ("h [kbit/s]", rates, model_rates, RATES),
        ("L [%]", lost, model_losses, LOSSES),
    ):
        columns.append(column(f"{title}, theory", paper["theory"], model))
        for law in SHOWN:
            own = [found[law, sources] for sources in SOURCES]
            parts = ([getattr(one, part) for one in own] for part in ("value", "low", "high"))
            columns.append(column(f"{title}, {law}", paper[law], *parts))
    return SideBySide("Table 6: growing load", {"N": [f"{sources}" for sources in SOURCES]}, columns)


def _run_to_run(runs: Mapping[Key, Run]) -> Finding:
    """Compute within how many per cent of its mean h of one run of the paper's length lies in 95 cases of 100."""
    squares = {}
    for key, run in runs.items():
        values = [source_rows(run.resolved, [one])[0]["rate_bps"]["mean"] for one in run.replications]
        length = packets_of(run.replications) / len(values)
        squares[key] = float(np.var(values, ddof=1)) / float(np.mean(values)) ** 2 * length / FULL_PACKETS
    text = ", ".join(f"{law}, N = {sources}: {196.0 * np.sqrt(one):.1f}%" for (law, sources), one in squares.items())
    return Finding(float(196.0 * np.sqrt(np.mean(list(squares.values())))), note=text)


def _chart(
    rates: Mapping[Key, Measure], lost: Mapping[Key, Measure], model_rates: list[float], model_losses: list[float]
) -> Chart:
    panels = []
    for title, found, model, paper in (
        ("connection rate h [kbit/s]", rates, model_rates, RATES),
        ("loss L [%]", lost, model_losses, LOSSES),
    ):
        curves = [
            simulated(f"{law}, simulated", SOURCES, [found[law, sources] for sources in SOURCES], number)
            for number, law in enumerate(SHOWN)
        ]
        curves.append(curve("theory", SOURCES, model, "theory", 2))
        curves += [
            curve("the paper", SOURCES, paper[name], "paper", number) for number, name in enumerate((*SHOWN, "theory"))
        ]
        panels.append(Panel("sources N", title, curves))
    title = "Table 6: growing load, (10M, 2M, R50), F = 12, W_R = 44, B = 200"
    return Chart(title, panels, 2, size_inches=(13.0, 6.5))
