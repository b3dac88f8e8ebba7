"""Section 5: more variable round trips, more throughput; theorem 2, remark 1, and what slow variation does."""

import itertools
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Final

import numpy as np

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.variable_delay.recursion import (
    DISTRIBUTIONS,
    LOSSES,
    VARIATIONS,
    Estimates,
    estimates,
    gamma,
    marks,
    percent,
    simulated,
)
from ackclock.models import variable_delay
from ackclock.models.variable_delay import Reaction, RoundTripChain, RoundTrips
from ackclock.scenario import Resolved

SHOWN_LOSSES: Final = (0.1, 0.5, 3.0)
RARE: Final = 0.01
ERRORS: Final = 3.0
"""Number of standard errors below which a difference counts as none."""
LONGER: Final = (1.1, 1.5, 2.0)
SHORTER: Final = (0.5, 0.7, 0.9)
STAYS: Final = (2.0, 20.0, 100.0, 300.0)
SHORT, LONG = 0.2, 1.8
SLOW_STAY: Final = 100.0
SLOW_GAIN, INDEPENDENT_GAIN = 1.10, 1.01


def scenarios(_setting: Setting) -> Mapping[str, Resolved]:
    """Return no scenarios, as the section has no network."""
    return {}


def outcome(setting: Setting, _runs: Mapping[str, Run]) -> Outcome:
    """Judge theorem 2 and what follows from it."""
    by_variation = {losses: [varied(variation, losses, setting) for variation in VARIATIONS] for losses in SHOWN_LOSSES}
    slow = {stay: estimates(_chain(stay), RARE, rounds=setting.pick(10_000, 200_000)) for stay in STAYS}
    rare = estimates(DISTRIBUTIONS["exponential"], RARE, rounds=setting.pick(10_000, 200_000))
    mean = _fixed(RARE)
    findings = {
        "theorem_2": _theorem("per-round", setting),
        "theorem_2_per_loss": _theorem("per-loss", setting),
        "more_is_better": Finding(
            share([_at_least(more, less) for row in by_variation.values() for less, more in itertools.pairwise(row)])
        ),
        "mean_is_worse": Finding(
            share([_at_least(one, row[0]) for row in by_variation.values() for one in row[1:]]),
            note=f"gain up to {max(row[-1].rate / row[0].rate for row in by_variation.values()):.2f} times",
        ),
        "remark_i": Finding(model=share(_remark_i())),
        "remark_i_as_printed": Finding(
            model=share(_longer()), note="round trips 1.1, 1.5 and 2 times as long are larger in that order"
        ),
        "remark_ii_as_printed": Finding(
            model=share(_shorter()), note="a shorter constant round trip gives more throughput, not less"
        ),
        "rare": Finding(percent(rare.rate, mean)),
        "slow": Finding(
            share([slow[SLOW_STAY].rate >= SLOW_GAIN * mean, slow[2.0].rate < INDEPENDENT_GAIN * mean]),
            note=f"gain {100 * (slow[SLOW_STAY].rate / mean - 1):.0f}% and {100 * (slow[2.0].rate / mean - 1):.1f}%",
        ),
    }
    charts = {"variability": _chart(by_variation), "remark-1": _remark_chart(), "slow": _slow_chart(slow)}
    return Outcome(findings, charts)


@lru_cache
def varied(variation: float, losses: float, setting: Setting) -> Estimates:
    """Simulate the recursion for gamma round trips."""
    return estimates(gamma(variation), losses, rounds=setting.pick(3_000, 50_000))


def _fixed(losses: float) -> float:
    return float(variable_delay.sending_rate(RoundTrips.constant(1.0), losses).printed)


def _at_least(first: Estimates, second: Estimates) -> bool:
    return first.rate >= second.rate - ERRORS * float(np.hypot(first.error, second.error))


def _theorem(reaction: Reaction, setting: Setting) -> Finding:
    """Take each ordered pair that fulfils (10), and see which has the larger throughput."""
    held, apart = [], 0
    for losses, (first, second) in itertools.product(LOSSES, itertools.permutations(DISTRIBUTIONS, 2)):
        found = variable_delay.compare_variability(
            DISTRIBUTIONS[first], DISTRIBUTIONS[second], losses, reaction=reaction
        )
        if found.more_variable > 0:
            one, other = (simulated(name, losses, reaction, setting) for name in (first, second))
            held.append(_at_least(one, other))
            apart += not _at_least(other, one)
    return Finding(share(held), note=f"{len(held)} pairs, {apart} of them clearly apart")


def _remark_i() -> list[bool]:
    """Take gamma distributions of one mean: the one that varies more is larger in the convex order."""
    pairs = itertools.combinations([gamma(variation) for variation in VARIATIONS], 2)
    return [
        bool(one > 0)
        for less, more in pairs
        for one in variable_delay.compare_variability(more, less, np.array(LOSSES)).more_variable
    ]


def _longer() -> list[bool]:
    """Take an exponential round trip, and one that is longer by a factor: larger in the increasing convex order."""
    trips = DISTRIBUTIONS["exponential"]
    # The transform of c R at s is that of R at c s.
    return [bool(trips.transform(factor * s) >= trips.transform(s)) for factor in LONGER for s in LOSSES]


def _shorter() -> list[bool]:
    """Take constants below the mean of an exponential round trip."""
    trips = DISTRIBUTIONS["exponential"]
    return [
        bool(trips.transform(s) >= RoundTrips.constant(constant).transform(s)) for constant in SHORTER for s in LOSSES
    ]


def _chain(stay: float) -> RoundTripChain:
    """Make a chain of short and long round trips, mean 1, that stays in each state for `stay` rounds on average."""
    leave = 1.0 / stay
    return variable_delay.round_trip_chain([[1.0 - leave, leave], [leave, 1.0 - leave]], [SHORT, LONG])


def _chart(by_variation: Mapping[float, Sequence[Estimates]]) -> Chart:
    x = np.linspace(0.0, VARIATIONS[-1], 21)
    curves = []
    for colour, (losses, row) in enumerate(by_variation.items()):
        gains = [float(variable_delay.sending_rate(gamma(v), losses).printed) / _fixed(losses) for v in x]
        curves.append(Curve(f"lambda E[R] = {losses:g}, (9)", x, np.array(gains), "theory", colour))
        found = [one.rate / _fixed(losses) for one in row]
        curves.append(marks(f"lambda E[R] = {losses:g}, simulated", list(VARIATIONS), found, colour))
    panel = Panel(
        "coefficient of variation of the round trip (gamma, the mean is 1)",
        "throughput, by that of the constant round trip",
        curves,
        from_zero=False,
    )
    return Chart("Theorem 2: independent round trips, the more variable the better", [panel])


def _remark_chart() -> Chart:
    s = np.linspace(0.0, 3.0, 61)
    trips = DISTRIBUTIONS["exponential"]
    curves = [
        Curve("R: exponential, mean 1", s, np.asarray(trips.transform(s)), "simulation", 0),
        Curve("constant 1: below, as theorem 2 needs", s, np.exp(-s), "theory", 2),
        Curve(
            "2 R, larger in the increasing convex order: below, not above",
            s,
            np.asarray(trips.transform(2.0 * s)),
            "theory-2",
            1,
        ),
        Curve("constant 0.5 <= E[R]: above, not below", s, np.exp(-0.5 * s), "theory", 3),
    ]
    panel = Panel("lambda [losses a mean round trip]", "R*(lambda) = E[exp(-lambda R)]", curves)
    return Chart("Remark 1: the transform orders throughputs of equal means alone", [panel])


def _slow_chart(slow: Mapping[float, Estimates]) -> Chart:
    stays = np.geomspace(STAYS[0], STAYS[-1], 40)
    curves = []
    for colour, losses in enumerate((RARE, 0.1)):
        gains = [
            float(variable_delay.markov_window(_chain(stay), losses).rate.printed) / _fixed(losses) for stay in stays
        ]
        curves.append(Curve(f"lambda E[R] = {losses:g}, (5)", stays, np.array(gains), "theory", colour))
    found = [one.rate / _fixed(RARE) for one in slow.values()]
    curves.append(marks(f"lambda E[R] = {RARE:g}, simulated", list(STAYS), found, 0))
    curves.append(Curve("a loss's time, 1 / lambda", np.full(2, 1.0 / RARE), np.array([1.0, max(found)]), "guide"))
    panel = Panel(
        f"mean number of rounds in each state (round trips of {SHORT:g} and {LONG:g})",
        "throughput, by that of the mean round trip",
        curves,
        from_zero=False,
    )
    return Chart("Section 5: delay that varies as slowly as losses come", [panel])
