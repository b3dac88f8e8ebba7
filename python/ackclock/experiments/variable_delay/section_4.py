"""Section 4: the square-root law with p, the reductions of the window for each packet; and where it does not hold."""

from collections.abc import Mapping

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.variable_delay.recursion import (
    DISTRIBUTIONS,
    LOSSES,
    REACTIONS,
    Estimates,
    marks,
    percent,
    simulated,
)
from ackclock.models import variable_delay
from ackclock.models.variable_delay import Reaction
from ackclock.scenario import Resolved

MANY_LOSSES = 0.5
OFF_PERCENT = 2.0


def scenarios(_setting: Setting) -> Mapping[str, Resolved]:
    """Return no scenarios, as the section has no network."""
    return {}


def outcome(setting: Setting, _runs: Mapping[str, Run]) -> Outcome:
    """Judge the law, the closed form of p, and the implicit equation."""
    once, each = _found("per-round", setting), _found("per-loss", setting)
    probabilities = [
        percent(float(variable_delay.reduction_probability(DISTRIBUTIONS[name], losses)), one.reduction_probability)
        for (name, losses), one in once.items()
    ]
    implicit = [
        percent(float(variable_delay.per_loss_rate(DISTRIBUTIONS[name], one.reduction_probability)), one.rate)
        for (name, _), one in each.items()
    ]
    off = [percent(_law(one), one.rate) for (_, losses), one in each.items() if losses >= MANY_LOSSES]
    findings = {
        "square_root": Finding(max(percent(_law(one), one.rate) for one in once.values())),
        "probability": Finding(max(probabilities)),
        "implicit": Finding(max(implicit)),
        "per_loss": Finding(
            share([error > OFF_PERCENT for error in off]), note=f"off by {min(off):.0f} to {max(off):.0f}%"
        ),
    }
    note = (
        "X counts the window at the end of each round, as the paper does: beta / (2 E[R]) more than the packets sent, "
        "half a packet a round here."
    )
    return Outcome(findings, {"square-root": _chart({"per-round": once, "per-loss": each})}, (note,))


def _found(reaction: Reaction, setting: Setting) -> dict[tuple[str, float], Estimates]:
    """Simulate all cases in which p is a probability: not more reductions than packets."""
    found = {(name, losses): simulated(name, losses, reaction, setting) for name in DISTRIBUTIONS for losses in LOSSES}
    return {case: one for case, one in found.items() if one.reduction_probability <= 1.0}


def _law(one: Estimates) -> float:
    return float(variable_delay.square_root_rate(1.0, one.reduction_probability))


def _chart(found: Mapping[Reaction, Mapping[tuple[str, float], Estimates]]) -> Chart:
    panels = []
    for reaction, cases in found.items():
        largest = max(one.reduction_probability**-0.5 for one in cases.values())
        x = np.linspace(1.0, largest, 40)
        curves = [Curve("square-root law", x, np.asarray(variable_delay.square_root_rate(1.0, x**-2)), "thick", 4)]
        for colour, (name, trips) in enumerate(DISTRIBUTIONS.items()):
            if reaction == "per-loss":
                y = np.asarray(variable_delay.per_loss_rate(trips, x**-2))
                curves.append(Curve(f"{name}, implicit equation", x, y, "theory", colour))
            here = [one for (other, _), one in cases.items() if other == name]
            places = [one.reduction_probability**-0.5 for one in here]
            curves.append(marks(f"{name}, simulated", places, [one.rate for one in here], colour))
        y_label = "X E[R] [packets a round]"
        panels.append(Panel("1 / sqrt(p)", y_label, curves, f"{REACTIONS[reaction]}: {_TITLES[reaction]}"))
    return Chart("Section 4: throughput against the reductions of the window for each packet, p", panels, 2)


_TITLES = {"per-round": "one line, whatever the distribution", "per-loss": "a line for each distribution"}
