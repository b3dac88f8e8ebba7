"""Figure 2: a trace of round trips, and the ordered round trips that decide the chain's two states."""

from collections.abc import Mapping
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from ackclock.charts import Chart, Curve, Panel
from ackclock.experiments.frame import Finding, Outcome, Run, Setting, share
from ackclock.experiments.variable_delay.path import (
    INTERVALS,
    MODELS,
    PACKET_BITS,
    PERIODS,
    predictions,
    round_trips,
    scenario,
    seeds,
)
from ackclock.models import variable_delay
from ackclock.scenario import Resolved

SHOWN = 20
EACH_ACK: Final = "each ack"
Key = int | Literal["each ack"]
"""The period [s], or a sample for each ACK."""
INTERVAL = INTERVALS[0]
STEEP = 5.0
LONGEST_SHOWN_S = 3.0
PAPER_SAMPLE = 9600.0


def scenarios(setting: Setting) -> Mapping[Key, Resolved]:
    """Give table 1's runs, of which the first at each period is taken; and one with a sample for each ACK."""
    runs: dict[Key, Resolved] = {period: scenario(period, INTERVAL, seeds(setting)) for period in PERIODS}
    return runs | {EACH_ACK: scenario(SHOWN, INTERVAL, 1, {"trace.rtt": True})}


def outcome(_setting: Setting, runs: Mapping[Key, Run]) -> Outcome:
    """Judge the number of round trips, and where the ordered ones bend up."""
    found = {period: round_trips(runs[period])[0] for period in PERIODS}
    counts = np.array([len(samples) for samples in found.values()], dtype=float)
    knees = 100.0 * np.array([knee(np.sort(samples)) for samples in found.values()])
    findings = {
        "samples": Finding(
            float(np.median(counts)),
            note=f"{counts.min():.0f} to {counts.max():.0f} by period; 85% of that of {SHOWN} s is "
            f"{variable_delay.PAPER_QUANTILE * len(found[SHOWN]):.0f}",
        ),
        "knee": Finding(
            float(np.median(knees)),
            note=f"{knees.min():.1f} to {knees.max():.1f}% by period; "
            f"without rounds above {LONGEST_SHOWN_S:g} s, which are mostly of the first slow start, {_short(found)}%",
        ),
        "steep": Finding(share([_steepness(samples) >= STEEP for samples in found.values()])),
    }
    return Outcome(
        findings, {"figure": _chart(runs[SHOWN])}, (_by_the_knee(found[SHOWN]), _by_each_ack(runs[EACH_ACK]))
    )


def knee(ordered: NDArray[np.float64]) -> float:
    """Find where an increasing sequence bends up: the part of it that lies before the place farthest below its chord.

    Examples
    --------
    >>> knee(np.concatenate([np.zeros(85), np.linspace(0.0, 10.0, 16)]))
    0.85
    """
    place = np.linspace(0.0, 1.0, len(ordered))
    height = (ordered - ordered[0]) / (ordered[-1] - ordered[0])
    return float(place[np.argmax(place - height)])


def _short(found: Mapping[int, NDArray[np.float64]]) -> str:
    """Give the median knee without the longest rounds [%]."""
    return f"{100.0 * np.median([knee(np.sort(one[one <= LONGEST_SHOWN_S])) for one in found.values()]):.1f}"


def _steepness(samples: NDArray[np.float64]) -> float:
    """Compare the mean slopes of the ordered round trips above and below the first 85%."""
    ordered, part = np.sort(samples), variable_delay.PAPER_QUANTILE
    bend = ordered[int(part * len(ordered))]
    return float((ordered[-1] - bend) / (1.0 - part) / ((bend - ordered[0]) / part))


def _by_the_knee(samples: NDArray[np.float64]) -> str:
    """Say what the choice of the ON state does to the prediction."""
    rates = []
    for part in (0.75, 0.85, 0.95):
        fitted = variable_delay.fit_two_states(samples, quantile=part)
        rate = variable_delay.markov_window(fitted.chain, 1.0 / INTERVAL, increase=0.5).rate.printed
        rates.append(f"{float(rate) * PACKET_BITS / 1e6:.3f} at {100 * part:.0f}%")
    return f"The Markov prediction of this run by where the ON state begins [Mbit/s]: {', '.join(rates)}."


def _by_each_ack(run: Run) -> str:
    """Say what samples for each ACK, instead of one a round, do to the predictions."""
    acks = run.trace("rtt")["rtt_s"].to_numpy()
    (rounds,) = round_trips(run)
    each, one = predictions(acks, 1.0 / INTERVAL), predictions(rounds, 1.0 / INTERVAL)
    parts = ", ".join(
        f"{MODELS[model].split(':')[0]} {each[model]:.2f} instead of {one[model]:.2f}"
        for model in ("fixed", "variable", "markov")
    )
    counts = f"{len(acks):,} of them, {len(rounds):,} rounds"
    return f"With a sample for each ACK ({counts}) the predictions are {parts} Mbit/s."


def _chart(run: Run) -> Chart:
    rounds = run.trace("rounds")
    rounds = rounds[rounds["replication"] == 0]
    samples = rounds["rtt_s"].to_numpy()
    ordered = np.sort(samples)
    number = np.arange(1, len(ordered) + 1, dtype=float)
    at = variable_delay.PAPER_QUANTILE * len(ordered)
    guide = Curve("85% of the samples", np.array([at, at]), np.array([0.0, LONGEST_SHOWN_S]), "guide")
    panels = [
        Panel(
            "time [s]",
            "round trip [s]",
            [Curve("round trips, simulated", rounds["time_s"].to_numpy(), samples, "step", 0)],
            f"a run, periods of {SHOWN} s, lambda = 1/{INTERVAL} (longest: {ordered[-1]:.0f} s)",
            y_top=LONGEST_SHOWN_S,
        ),
        Panel(
            "number of the sample, by size",
            "round trip [s]",
            [
                Curve("ordered round trips", number, ordered, "step", 3),
                guide,
                Curve(
                    "the paper: ON from about sample 9600",
                    np.array([PAPER_SAMPLE]),
                    ordered[[int(PAPER_SAMPLE)]],
                    "paper",
                ),
            ],
            f"the same in order: {len(ordered)} samples",
            y_top=LONGEST_SHOWN_S,
        ),
    ]
    return Chart("Figure 2: a typical process of round trips, and the ordered one", panels, 2, size_inches=(14.0, 7.0))
