"""Section 3: the window in closed form, and by simulation of the recursion."""

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting
from ackclock.experiments.variable_delay.recursion import (
    DECREASE,
    DISTRIBUTIONS,
    LOSSES,
    REACTIONS,
    Estimates,
    estimates,
    marks,
    percent,
    simulated,
)
from ackclock.models import variable_delay
from ackclock.models.variable_delay import MarkovWindow, Reaction, RoundTripChain
from ackclock.scenario import Resolved

STAYS: Final = (2.0, 5.0, 10.0, 30.0)
"""Mean number of rounds in the state of long round trips."""
SHORT_S, LONG_S, LONG_SHARE, CHAIN_LOSSES = 0.1, 0.7, 0.15, 0.2


def scenarios(_setting: Setting) -> Mapping[str, Resolved]:
    """Return no scenarios, as the section has no network."""
    return {}


def outcome(setting: Setting, _runs: Mapping[str, Run]) -> Outcome:
    """Give the largest errors over distributions, loss rates and reactions."""
    cases = list(_cases())
    window = [percent(_window(*case), simulated(*case, setting).window) for case in cases]
    average = [percent(_time_average(*case), simulated(*case, setting).time_average) for case in cases]
    chains = {stay: chain(stay) for stay in STAYS}
    seen = {
        stay: estimates(one, CHAIN_LOSSES, rounds=setting.pick(500, 5_000) * max(10, int(stay)))
        for stay, one in chains.items()
    }
    theory = {stay: variable_delay.markov_window(one, CHAIN_LOSSES) for stay, one in chains.items()}
    printed = {stay: as_printed(one, CHAIN_LOSSES) for stay, one in chains.items()}
    places = f"largest of {len(cases)} cases"
    findings = {
        "window": Finding(max(window), note=places),
        "time_average": Finding(max(average), note=places),
        "markov": Finding(max(percent(float(theory[stay].window), seen[stay].window) for stay in STAYS)),
        "markov_time_average": Finding(
            max(percent(float(theory[stay].time_average), seen[stay].time_average) for stay in STAYS)
        ),
        "markov_as_printed": Finding(
            max(percent(printed[stay], seen[stay].window) for stay in STAYS),
            note="sums a_i w_j P_ij over the wrong index: "
            + ", ".join(f"{100 * (printed[stay] / seen[stay].window - 1):+.0f}% at {stay:g} rounds" for stay in STAYS),
        ),
    }
    return Outcome(findings, {"windows": _chart(setting), "chain": _chain_chart(seen, theory, printed)})


def _cases() -> Iterator[tuple[str, float, Reaction]]:
    return ((name, losses, reaction) for name in DISTRIBUTIONS for losses in LOSSES for reaction in REACTIONS)


def _window(name: str, losses: float, reaction: Reaction) -> float:
    return float(variable_delay.mean_window(DISTRIBUTIONS[name], losses, reaction=reaction))


def _time_average(name: str, losses: float, reaction: Reaction) -> float:
    return float(variable_delay.time_average_window(DISTRIBUTIONS[name], losses, reaction=reaction))


def chain(stay: float) -> RoundTripChain:
    """Make a chain of short and long round trips, 15% of them long, that stays long for `stay` rounds on average."""
    leave = 1.0 / stay
    enter = leave * LONG_SHARE / (1.0 - LONG_SHARE)
    return variable_delay.round_trip_chain([[1.0 - enter, enter], [leave, 1.0 - leave]], [SHORT_S, LONG_S])


def as_printed(one: RoundTripChain, losses: float) -> float:
    """Solve (5) as it is printed, ``(I - A) w = B`` with ``A_ij = a_i P_ij``, and add up w."""
    a = DECREASE + (1.0 - DECREASE) * np.array([float(state.transform(losses)) for state in one.round_trips])
    return float(np.linalg.solve(np.eye(len(a)) - a[:, None] * one.transitions, one.stationary).sum())


def _chart(setting: Setting) -> Chart:
    panels = []
    rounds = np.geomspace(1.0 / max(LOSSES), 1.0 / min(LOSSES), 40)
    for reaction, name_of in REACTIONS.items():
        curves = []
        for colour, (name, trips) in enumerate(DISTRIBUTIONS.items()):
            theory = variable_delay.mean_window(trips, 1.0 / rounds, reaction=reaction)
            curves.append(Curve(f"{name}, (4)", rounds, np.asarray(theory), "theory", colour))
            found = [simulated(name, losses, reaction, setting).window for losses in LOSSES]
            curves.append(marks(f"{name}, simulated", [1.0 / losses for losses in LOSSES], found, colour))
        title = {"per-round": "once a round with losses", "per-loss": "for each loss"}[reaction]
        axis = "mean rounds between losses, 1 / (lambda E[R])"
        panels.append(Panel(axis, "E[W] at the end of a round [packets]", curves, f"{name_of}: halved {title}"))
    return Chart("Section 3: the mean window, in closed form and simulated", panels, 2, share_y=True)


def _chain_chart(
    seen: Mapping[float, Estimates], theory: Mapping[float, MarkovWindow], printed: Mapping[float, float]
) -> Chart:
    stays = np.array(STAYS)
    curves = [
        Curve("E[W] by (5), transposed", stays, np.array([float(one.window) for one in theory.values()]), "theory", 0),
        marks("E[W], simulated", list(STAYS), [one.window for one in seen.values()], 0),
        Curve("E[W] by (5) as printed", stays, np.array(list(printed.values())), "theory-2", 1),
        Curve(
            "E[W(t)] by section 3.2.2",
            stays,
            np.array([float(one.time_average) for one in theory.values()]),
            "theory",
            2,
        ),
        marks("E[W(t)], simulated", list(STAYS), [one.time_average for one in seen.values()], 2),
    ]
    title = f"round trips of {SHORT_S:g} s, {100 * LONG_SHARE:g}% of {LONG_S:g} s; lambda = {CHAIN_LOSSES:g} losses/s"
    panel = Panel("mean number of rounds in the long state", "window [packets]", curves, title)
    return Chart("Section 3: correlated round trips", [panel])
