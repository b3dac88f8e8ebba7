"""Section 4: the square-root law with p, the reductions of the window for each packet; and where it does not hold."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.variable_delay.path import (
    INCREASE,
    MEGA,
    PACKET_BITS,
    STEADY,
    TCP,
    mbps,
    round_trips,
    scenario,
)
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
from ackclock.models.variable_delay import Reaction, fit_two_states, markov_window
from ackclock.scenario import Resolved

QUIET = {"flow.on-off.traffic.rate": "0.01 Mbit/s"}
MANY_LOSSES = 0.5
OFF_PERCENT = 2.0


CONSTANT_P = 4.5e-4
"""A probability of loss at which the throughput is that of table 1."""
PERIODS_S = (0, 5, 20, 50)
"""Mean ON and OFF times [s]; 0: the ON-OFF source hardly sends, so that round trips are constant."""
INTERVALS_S = (2, 10)
"""Mean times between losses of Reno's runs [s]."""
Key = tuple[Literal["p", "reno"], int, int]
"""The case, the period [s], and the mean time between losses [s], 0 where p is given."""


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Resolve the network of section 6.1 with a constant p, and with Reno; the recursion has no network."""
    found: dict[Key, Resolved] = {}
    loss: Mapping[str, object] = {"model": "bernoulli", "probability": CONSTANT_P, "applies_to": "data"}
    for period in PERIODS_S:
        changes: Mapping[str, Any] = STEADY | {"link.lossy.loss": loss} | (QUIET if period == 0 else {})
        found["p", period, 0] = scenario(period or PERIODS_S[1], None, setting.pick(12, 50), changes)
    for interval in INTERVALS_S:
        for period in PERIODS_S[1:]:
            changes = STEADY | {"flow.tcp.tcp.preset": "reno-ns2"}
            found["reno", period, interval] = scenario(period, interval, setting.pick(4, 50), changes)
    return found


def outcome(setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
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
        "constant_p": _constant(runs),
        "reno": _reno(runs),
    }
    note = (
        "X counts the window at the end of each round, as the paper does: beta / (2 E[R]) more than the packets sent, "
        "half a packet a round here."
    )
    return Outcome(findings, {"square-root": _chart({"per-round": once, "per-loss": each})}, (note,))


def _constant(runs: Mapping[Key, Run]) -> Finding:
    """Compare X E[R] of the periods: one number, if only the mean round trip counts."""
    products = [_packets_a_round(runs["p", period, 0]) for period in PERIODS_S]
    text = ", ".join(f"{one:.2f}" for one in products)
    return Finding(
        100.0 * (max(products) / min(products) - 1.0),
        note=f"X E[R] with constant round trips and with periods of 5, 20 and 50 s: {text} packets a round",
    )


def _packets_a_round(run: Run) -> float:
    mean_s = float(np.mean(np.concatenate(round_trips(run))))
    return run.flow("throughput_bps", PACKET_BITS, TCP).value * mean_s


def _reno(runs: Mapping[Key, Run]) -> Finding:
    """Compare Reno's throughput with A1.ii for the two states of its own rounds."""
    errors, texts = [], []
    for case, period, interval in runs:
        if case != "reno":
            continue
        run = runs[case, period, interval]
        rates = [
            mbps(
                float(
                    markov_window(
                        fit_two_states(one).chain, 1.0 / interval, increase=INCREASE, reaction=each
                    ).rate.printed
                )
            )
            for each in REACTIONS
            for one in round_trips(run)
        ]
        once, per_loss = np.mean(np.reshape(rates, (len(REACTIONS), -1)), axis=1)
        measured = run.flow("throughput_bps", MEGA, TCP).value
        errors.append(100.0 * abs(float(per_loss) / measured - 1.0))
        texts.append(f"{period} s, a loss in {interval} s: {measured:.3f} for {per_loss:.3f} (A1.i: {once:.3f})")
    return Finding(max(errors), note=f"simulated, and Markov with A1.ii [Mbit/s]: {'; '.join(texts)}")


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
