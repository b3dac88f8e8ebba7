"""The conclusion's configuration of seven switches: connections both ways over 23 channels, cells across one trunk."""

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, resolved, scenario_tables, share
from ackclock.experiments.two_way.atm import SEGMENT, USER_SHARE, rows, scenario, user_mbps
from ackclock.experiments.two_way.line import PAPER
from ackclock.models import two_way
from ackclock.scenario import Resolved

KINDS: Final = {"a": 4, "b": 4, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1, "h": 1}
"""Kinds of channels, and the trunks that each crosses."""
SHARES: Final = {"a": 10.0, "b": 5.0, "c": 35.0, "d": 35.0, "e": 35.0, "f": 10.0, "g": 5.0, "h": 47.5}
"""Max-min shares from west to east [Mbit/s]; 10 Mbit/s of cells cross SW4-SW5 that way, so h has 5 less."""
BACK: Final = SHARES | {"h": 52.5}
WINDOW: Final = 7
RM_CELLS: Final = 30 / 31
"""Capacity of a channel with RM cells of both directions, by that with RM cells of one direction alone."""
TRUNK_S, ACCESS_S = 5e-3, 0.5e-3


def scenarios(setting: Setting) -> Mapping[str, Resolved]:
    """Give traffic both ways, and from west to east alone."""
    length = {"run.duration": setting.pick("6 s", "30 s"), "run.warmup": "3 s", "trace.sequence": True}
    tables: dict[str, Any] = scenario_tables(PAPER, "gfc-2")
    tables["flow"] = [flow for flow in tables["flow"] if flow["name"].endswith("-there")]
    return {"both": scenario("gfc-2", length | {"trace.acr": True}), "one": resolved(tables, length)}


def outcome(_setting: Setting, runs: Mapping[str, Run]) -> Outcome:
    """Judge the shares, the effect and the formula, channel by channel."""
    both, one = runs["both"], runs["one"]
    names = [flow.name for flow in both.resolved.flows]
    alone = {flow.name: _efficiency(one, flow.name) * RM_CELLS for flow in one.resolved.flows}
    found = {name: _efficiency(both, name) for name in names}
    model = {name: _model(name) for name in names}
    ends = [
        rows(both, "acr", f"{name.partition('-')[0]}{'' if name.endswith('there') else '.reverse'}")[1][-1] / 1e6
        for name in names
    ]
    off = [abs(end / _share(name) - 1.0) for end, name in zip(ends, names, strict=True)]
    worst = max(names, key=lambda name: abs(found[name] - model[name]))
    findings = {
        "shares": Finding(100.0 * max(off), note=f"largest error of the {len(names)} cell rates at the end"),
        "effect": Finding(
            share([found[name] < alone[name] - 0.01 for name in alone]),
            note="by more than a point of what the channel can carry",
        ),
        "formula": Finding(
            100.0 * abs(found[worst] - model[worst]),
            note=f"largest error in points of {len(names)} connections, at {worst}: {100 * found[worst]:.1f}%, by the "
            f"formula {100 * model[worst]:.1f}%",
        ),
    }
    return Outcome(findings, {"figure": _chart(found, alone, model)})


def _share(name: str) -> float:
    return (SHARES if name.endswith("there") else BACK)[name[0]]


def _efficiency(run: Run, name: str) -> float:
    names = [flow.name for flow in run.resolved.flows]
    return user_mbps(run, names.index(name)) / (_share(name) * USER_SHARE)


def _model(name: str) -> float:
    kind = name[0]
    delay = KINDS[kind] * TRUNK_S + 2 * ACCESS_S
    rates = [shares[kind] * 1e6 * USER_SHARE / (8 * SEGMENT) for shares in (SHARES, BACK)]
    there, back = np.asarray(two_way.efficiency(WINDOW, delay, rates)).tolist()
    return float(there if name.endswith("there") else back)


def _chart(found: Mapping[str, float], alone: Mapping[str, float], model: Mapping[str, float]) -> Chart:
    names = [f"{kind}1" for kind in KINDS]
    x = np.arange(float(len(names)))
    curves = []
    for number, (label, values, end) in enumerate(
        (
            ("one direction alone, simulated", alone, "there"),
            ("both directions, simulated", found, "there"),
            ("both directions, formula", model, "there"),
            ("the other direction, simulated", found, "back"),
        )
    ):
        heights = np.array([values[f"{name}-{end}"] for name in names])
        curves.append(Curve(label, x + 0.08 * (number - 1.5), heights, "marks", number))
    ticks = [f"{name[0].upper()}\n{SHARES[name[0]]:g} Mbit/s" for name in names]
    panel = Panel("kind of channel, and its share", "efficiency", curves, x_ticks=ticks, y_top=1.05)
    title = f"Seven switches (GFC-2): part of its channel that each connection gets, W = {WINDOW} segments"
    return Chart(title, [panel])
