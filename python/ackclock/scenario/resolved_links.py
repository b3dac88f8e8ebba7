"""The resolved form of what may stand on a link beside its queue: delays that change, packets that are lost."""

from dataclasses import dataclass
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field

CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

Seconds = Annotated[float, Field(ge=0, le=1e7)]
Delay = Annotated[float, Field(ge=0, le=1e5)]
Stay = Annotated[float, Field(ge=1e-6, le=1e7)]
Share = Annotated[float, Field(ge=0, le=1)]


@dataclass(frozen=True, slots=True)
class StepsLaw:
    """A delay that changes at given instants: from when [s] which delay [s], the first from 0 on."""

    __pydantic_config__ = CONFIG
    kind: Literal["steps"]
    steps_s: Annotated[tuple[tuple[Seconds, Delay], ...], Field(min_length=1, max_length=1_000_000)]

    @property
    def least_s(self) -> float:
        """Least delay [s]."""
        return min(delay for _, delay in self.steps_s)


@dataclass(frozen=True, slots=True)
class DelayStateSettings:
    """A state of an alternating delay."""

    __pydantic_config__ = CONFIG
    delay_s: Delay
    least_stay_s: Seconds
    mean_extra_s: Seconds


@dataclass(frozen=True, slots=True)
class AlternatingLaw:
    """A semi-Markov delay; without a matrix of transitions each state is followed by the next one, cyclically."""

    __pydantic_config__ = CONFIG
    kind: Literal["alternating"]
    states: Annotated[tuple[DelayStateSettings, ...], Field(min_length=1, max_length=1000)]
    start: Annotated[int, Field(ge=0)]
    transitions: tuple[tuple[Share, ...], ...] | None

    @property
    def least_s(self) -> float:
        """Least delay [s]."""
        return min(state.delay_s for state in self.states)


@dataclass(frozen=True, slots=True)
class HandoverLaw:
    """A new delay each period, uniform between two bounds."""

    __pydantic_config__ = CONFIG
    kind: Literal["handover"]
    low_s: Delay
    high_s: Delay
    period_s: Stay

    @property
    def least_s(self) -> float:
        """Least delay [s]."""
        return self.low_s


DelayLaw = StepsLaw | AlternatingLaw | HandoverLaw


@dataclass(frozen=True, slots=True)
class DelayProcessSettings:
    """A delay that changes, on top of the link's constant one; `stream` names what it is drawn from."""

    __pydantic_config__ = CONFIG
    stream: str
    order: Literal["overtake", "keep"]
    law: Annotated[DelayLaw, Field(discriminator="kind")]


@dataclass(frozen=True, slots=True)
class BernoulliLoss:
    """Each packet with a probability."""

    __pydantic_config__ = CONFIG
    model: Literal["bernoulli"]
    probability: Share


@dataclass(frozen=True, slots=True)
class PoissonLoss:
    """The next packet after each instant of a Poisson process."""

    __pydantic_config__ = CONFIG
    model: Literal["poisson"]
    mean_interval_s: Stay
    void_after_s: Seconds


@dataclass(frozen=True, slots=True)
class GilbertElliottLoss:
    """By a chain of two states that takes a step after each packet."""

    __pydantic_config__ = CONFIG
    model: Literal["gilbert-elliott"]
    to_bad: Share
    to_good: Share
    loss_in_good: Share
    loss_in_bad: Share


@dataclass(frozen=True, slots=True)
class PacketsLoss:
    """Those with the given numbers, counted from 1, in rising order."""

    __pydantic_config__ = CONFIG
    model: Literal["packets"]
    numbers: Annotated[tuple[Annotated[int, Field(ge=1, le=10**15)], ...], Field(min_length=1, max_length=1_000_000)]


@dataclass(frozen=True, slots=True)
class TimesLoss:
    """The next packet after each given instant, in rising order."""

    __pydantic_config__ = CONFIG
    model: Literal["times"]
    times_s: Annotated[tuple[Seconds, ...], Field(min_length=1, max_length=1_000_000)]


LossLaw = BernoulliLoss | PoissonLoss | GilbertElliottLoss | PacketsLoss | TimesLoss


@dataclass(frozen=True, slots=True)
class ProcessingSettings:
    """What the TCP process of a host takes for each packet that arrives, one after the other."""

    __pydantic_config__ = CONFIG
    data_s: Delay
    ack_s: Delay


@dataclass(frozen=True, slots=True)
class LossSettings:
    """What loses packets as they come to a link."""

    __pydantic_config__ = CONFIG
    applies_to: Literal["all", "data", "acks"]
    law: Annotated[LossLaw, Field(discriminator="model")]
