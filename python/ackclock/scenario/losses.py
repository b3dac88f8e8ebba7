"""Packets that a link loses before its queue: the table of a scenario, and the laws that the engine reads."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.contract import CHECKED, RANGES, count_within, within
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.fields import Count, Number
from ackclock.scenario.lists import ListOf
from ackclock.scenario.schema_kinds import LONGEST_RUN_S, MOST_STEPS, choice
from ackclock.scenario.tables import check_fields

_LAW = "elements[].loss.law"

LossModelName = Literal["bernoulli", "poisson", "gilbert-elliott", "packets", "times"]
CrossingName = Literal["all", "data", "acks"]

_PROBABILITY = Number(0, 1, 0.01, closed=True, from_low=True)
_INSTANT = Amount("3 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))
LOSS_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bernoulli": (("probability",), ()),
    "poisson": (("mean_interval",), ("void_after",)),
    "gilbert-elliott": (("to_bad", "to_good"), ("loss_in_good", "loss_in_bad")),
    "packets": (("packets",), ()),
    "times": (("times",), ()),
}
"""The fields that each model of loss needs, and those that it may have."""


class Loss(Table):
    """Packets that are lost as they come to the link, before its queue."""

    model: Annotated[LossModelName, choice("model", LossModelName)] = entry(
        "which packets: each with a probability (bernoulli), the next one after each instant of a random process "
        "(poisson), in bursts (gilbert-elliott), or those given by number (packets) or instant (times)"
    )
    applies_to: Annotated[CrossingName, choice("kind of packets", CrossingName)] = entry(
        "which packets can be lost and are counted; acks: those without data, and answers of a handshake", "all"
    )
    probability: Annotated[float | None, _PROBABILITY] = entry("bernoulli: loss probability", None, words="none")
    mean_interval: Annotated[float | None, Amount("10 s", (Span("s", 1e-6, LONGEST_RUN_S, "1 us to 1e7 s"),))] = entry(
        "poisson: mean time between two instants; the next packet after each is lost", None, words="none"
    )
    void_after: Annotated[float, Amount("1 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))] = entry(
        "poisson: a loss instant expires if no packet arrives within this time", 0.5, toml="500 ms"
    )
    to_bad: Annotated[float | None, _PROBABILITY] = entry(
        "gilbert-elliott: probability of a step to the bad state, after each packet in the good one", None, words="none"
    )
    to_good: Annotated[float | None, _PROBABILITY] = entry(
        "gilbert-elliott: and back; bursts are of 1/`to_good` packets on average", None, words="none"
    )
    loss_in_good: Annotated[float, _PROBABILITY] = entry(
        "gilbert-elliott: loss probability in the good state, where it begins", 0.0
    )
    loss_in_bad: Annotated[float, _PROBABILITY] = entry("gilbert-elliott: loss probability in the bad state", 1.0)
    packets: Annotated[
        tuple[int, ...] | None, ListOf(Count(1, 10**12, 5), "packet numbers", "[5, 9]", MOST_STEPS, rising=True)
    ] = entry("packets: those with the given numbers, counted on this link from 1", None, words="none")
    times: Annotated[
        tuple[float, ...] | None, ListOf(_INSTANT, "instants", '["3 s", "7 s"]', MOST_STEPS, rising=True)
    ] = entry("times: the next packet after each of these instants", None, words="none")


Fraction = Annotated[float, within(f"{_LAW}.probability")]
MeanInterval = Annotated[float, Field(ge=RANGES[f"{_LAW}.mean_interval_s"].low, le=RANGES["run.duration_s"].high)]


@dataclass(frozen=True, slots=True)
class BernoulliLoss:
    """A law that loses each packet with a probability."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    model: Literal["bernoulli"]
    probability: Fraction


@dataclass(frozen=True, slots=True)
class PoissonLoss:
    """A law that loses the next packet after each instant of a Poisson process."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    model: Literal["poisson"]
    mean_interval_s: MeanInterval
    void_after_s: Annotated[float, within(f"{_LAW}.void_after_s")]


@dataclass(frozen=True, slots=True)
class GilbertElliottLoss:
    """A law that loses packets by a Markov chain of two states, which takes a step after each packet."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = True
    model: Literal["gilbert-elliott"]
    to_bad: Fraction
    to_good: Fraction
    loss_in_good: Fraction
    loss_in_bad: Fraction


@dataclass(frozen=True, slots=True)
class PacketsLoss:
    """A law that loses the packets with the given numbers, counted from 1, in rising order."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = False
    model: Literal["packets"]
    numbers: Annotated[
        tuple[Annotated[int, within(f"{_LAW}.numbers[]")], ...], count_within(f"{_LAW}.numbers (length)")
    ]


@dataclass(frozen=True, slots=True)
class TimesLoss:
    """A law that loses the next packet after each given instant, in rising order."""

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = False
    model: Literal["times"]
    times_s: Annotated[
        tuple[Annotated[float, within(f"{_LAW}.times_s[]")], ...], count_within(f"{_LAW}.times_s (length)")
    ]


LossLaw = BernoulliLoss | PoissonLoss | GilbertElliottLoss | PacketsLoss | TimesLoss
"""Every law answers `is_random`: whether it draws random numbers."""


@dataclass(frozen=True, slots=True)
class LossSettings:
    """Process that loses packets as they arrive at a link."""

    __pydantic_config__ = CHECKED
    applies_to: CrossingName
    law: Annotated[LossLaw, Field(discriminator="model")]


def loss_law(loss: Loss) -> LossLaw:
    """Turn the table into SI numbers.

    Parameters
    ----------
    loss : Loss
        The table.

    Returns
    -------
    BernoulliLoss, PoissonLoss, GilbertElliottLoss, PacketsLoss or TimesLoss
        What the engine reads.

    Raises
    ------
    TableError
        If it lacks a field of its model, or has one of another.
    """
    check_fields(loss, "model", loss.model, LOSS_FIELDS)
    match loss.model:
        case "bernoulli":
            return BernoulliLoss("bernoulli", loss.probability or 0.0)
        case "poisson":
            return PoissonLoss("poisson", loss.mean_interval or 0.0, loss.void_after)
        case "gilbert-elliott":
            steps = (loss.to_bad or 0.0, loss.to_good or 0.0)
            return GilbertElliottLoss("gilbert-elliott", *steps, loss.loss_in_good, loss.loss_in_bad)
        case "packets":
            return PacketsLoss("packets", loss.packets or ())
        case "times":
            return TimesLoss("times", loss.times or ())
