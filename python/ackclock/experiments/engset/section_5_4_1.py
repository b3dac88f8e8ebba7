"""Section 5.4.1: the buffer rule, how it depends on N, and whether it works."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.engset.path import FILES, MEGA, Law, Web, curve, loss_percent, packets
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.models import engset
from ackclock.models.engset.rule import FILES as RULE_FILES
from ackclock.scenario import Resolved

QUICK = 150e3
PRINTED = {10.0: 202.0, 50.0: 417.0}
BUFFERS = {10.0: 200, 50.0: 420}
LARGE = 500
LOADS = (0.8, 1.2)
FAST = "50M"
Key = tuple[str, int, int]
"""The case, F and RTT_0 [ms]."""
CASES: Mapping[str, tuple[Law, int]] = {"E": ("E", 44), "EE": ("EE", 12), "EP": ("EP", 12)}


def _webs() -> dict[Key, Web]:
    found: dict[Key, Web] = {}
    for name, (law, window) in CASES.items():
        for rtt_ms in (50, 300):
            for files in FILES if law == "E" else (12,):
                web = Web(1, files, law, window, BUFFERS[10.0], egress=1000.0, rtt_ms=rtt_ms)
                found[name, files, rtt_ms] = web.at_load(1.0)
    fast = Web(1, 80, buffer=BUFFERS[50.0], capacity=50.0, egress=1000.0)
    return found | {(FAST, 80, rtt_ms): replace(fast, rtt_ms=rtt_ms).at_load(1.0) for rtt_ms in (50, 300)}


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give links with the rule's buffers at 100% load."""
    return {key: web.scenario(packets(setting, QUICK)) for key, web in _webs().items()}


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Look for the printed buffers, and measure the loss with them."""
    findings = _rules()
    lost = {key: loss_percent(run) for key, run in runs.items()}
    worst = max(lost, key=lambda key: lost[key].value)
    findings["works"] = Finding(
        share([one.value <= 1.0 for one in lost.values()]),
        note=f"{len(lost)} settings; most is lost with {_named(worst)}: {lost[worst].value:.2f}%",
    )
    return Outcome(findings, {"rule": _chart()})


def _named(key: Key) -> str:
    name, files, rtt_ms = key
    return f"{name} F{files} R{rtt_ms}"


def _rules() -> dict[str, Finding]:
    findings = {}
    for capacity, paper in PRINTED.items():
        rule = engset.buffer_rule(engset.rule_path(capacity * MEGA))
        nearest = np.argmin(np.abs(rule.offered_load - 1.0), axis=0)[np.newaxis]
        per_file = np.take_along_axis(rule.buffer, nearest, axis=0)[0].max(axis=1)
        place = RULE_FILES.index(LARGE)
        both = ", ".join(f"{value:.0f}" for value in rule.buffer[:, place, :].ravel())
        findings[f"large_{capacity:g}"] = Finding(
            model=float(per_file[place]),
            note="N nearest to 100%, the larger of both RTT_0; with N just below (R50, R300), then just above: "
            f"{both}; the paper: {paper:.0f}",
        )
        findings[f"largest_at_{capacity:g}"] = Finding(
            model=float(RULE_FILES[int(per_file.argmax())]),
            note="B for F = 5 to 1000: " + ", ".join(f"{value:.0f}" for value in per_file),
        )
        turns = set(np.sign(np.diff(per_file)).tolist())
        findings[f"no_tendency_{capacity:g}"] = Finding(model=float(len(turns) > 1))
    return findings


def _chart() -> Chart:
    panels = []
    for capacity, paper in PRINTED.items():
        curves: list[Curve] = []
        for number, files in enumerate((12, 120, 500, 1000)):
            path = engset.Path(0.05, [100e6, capacity * MEGA, 1e9])
            low, high = (float(engset.sources_for_load(path, files, load)) for load in LOADS)
            sources = np.unique(np.linspace(max(1.0, np.floor(low)), np.ceil(high), 40).astype(int))
            rule = engset.buffer_rule(path, sources[:, None, None], files=[files])
            load, buffer = 100.0 * rule.offered_load.ravel(), rule.buffer.ravel()
            curves.append(curve(f"F = {files}, theory", load, buffer, "theory", number))
        curves.append(curve("the paper, F = 500", [100.0], [paper], "paper", 2))
        panels.append(
            Panel(
                "open-loop load rho_0 [%]",
                "B for a loss of 1% [packets]",
                curves,
                f"{capacity:g} Mbit/s, RTT_0 = 50 ms",
                y_top=2.5 * paper,
            )
        )
    return Chart("Section 5.4.1: the buffer of the rule depends on N", panels, 2, size_inches=(13.0, 6.5))
