"""The resolved form of links: delays that change, packets that are lost, the process of a host."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from pydantic import ConfigDict, Field

from ackclock.scenario.contract import RANGES, count_within, within
from ackclock.scenario.resolved_queues import Buffer, QueueSettings
from ackclock.scenario.schema_links import CountingName

CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

_DELAYS, _LOSSES = "links[].delay_process.law", "links[].loss.law"
Delay = Annotated[float, within("links[].delay_s")]
Stay = Annotated[float, Field(ge=RANGES[f"{_DELAYS}.period_s"].low, le=RANGES["run.duration_s"].high)]
Fraction = Annotated[float, within(f"{_LOSSES}.probability")]


@dataclass(frozen=True, slots=True)
class StepsLaw:
    """A delay that changes at given instants: from when [s] which delay [s], the first from 0 on."""

    __pydantic_config__ = CONFIG
    is_random: ClassVar[bool] = False
    kind: Literal["steps"]
    steps_s: Annotated[
        tuple[tuple[Annotated[float, within(f"{_DELAYS}.steps_s[] (time)")], Delay], ...],
        count_within(f"{_DELAYS}.steps_s (length)"),
    ]

    @property
    def changes(self) -> bool:
        """Return whether there is more than one delay."""
        return len(self.steps_s) > 1

    @property
    def least_s(self) -> float:
        """Least delay [s]."""
        return min(delay for _, delay in self.steps_s)


@dataclass(frozen=True, slots=True)
class DelayStateSettings:
    """A state of an alternating delay."""

    __pydantic_config__ = CONFIG
    delay_s: Delay
    least_stay_s: Annotated[float, within(f"{_DELAYS}.states[].least_stay_s")]
    mean_extra_s: Annotated[float, within(f"{_DELAYS}.states[].mean_extra_s")]


@dataclass(frozen=True, slots=True)
class AlternatingLaw:
    """A semi-Markov delay; without a matrix of transitions each state is followed by the next one, cyclically."""

    __pydantic_config__ = CONFIG
    changes: ClassVar[bool] = True
    is_random: ClassVar[bool] = True
    kind: Literal["alternating"]
    states: Annotated[tuple[DelayStateSettings, ...], Field(min_length=1, max_length=1000)]
    start: Annotated[int, Field(ge=0)]
    transitions: tuple[tuple[Fraction, ...], ...] | None

    @property
    def least_s(self) -> float:
        """Least delay [s]."""
        return min(state.delay_s for state in self.states)


@dataclass(frozen=True, slots=True)
class HandoverLaw:
    """A new delay each period, uniform between two bounds."""

    __pydantic_config__ = CONFIG
    changes: ClassVar[bool] = True
    is_random: ClassVar[bool] = True
    kind: Literal["handover"]
    low_s: Delay
    high_s: Delay
    period_s: Stay

    @property
    def least_s(self) -> float:
        """Least delay [s]."""
        return self.low_s


DelayLaw = StepsLaw | AlternatingLaw | HandoverLaw
"""Every law answers `is_random` (it draws random numbers), `changes` (it has more than one delay) and `least_s`."""


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
    is_random: ClassVar[bool] = True
    model: Literal["bernoulli"]
    probability: Fraction


@dataclass(frozen=True, slots=True)
class PoissonLoss:
    """The next packet after each instant of a Poisson process."""

    __pydantic_config__ = CONFIG
    is_random: ClassVar[bool] = True
    model: Literal["poisson"]
    mean_interval_s: Stay
    void_after_s: Annotated[float, within(f"{_LOSSES}.void_after_s")]


@dataclass(frozen=True, slots=True)
class GilbertElliottLoss:
    """By a chain of two states that takes a step after each packet."""

    __pydantic_config__ = CONFIG
    is_random: ClassVar[bool] = True
    model: Literal["gilbert-elliott"]
    to_bad: Fraction
    to_good: Fraction
    loss_in_good: Fraction
    loss_in_bad: Fraction


@dataclass(frozen=True, slots=True)
class PacketsLoss:
    """Those with the given numbers, counted from 1, in rising order."""

    __pydantic_config__ = CONFIG
    is_random: ClassVar[bool] = False
    model: Literal["packets"]
    numbers: Annotated[
        tuple[Annotated[int, within(f"{_LOSSES}.numbers[]")], ...], count_within(f"{_LOSSES}.numbers (length)")
    ]


@dataclass(frozen=True, slots=True)
class TimesLoss:
    """The next packet after each given instant, in rising order."""

    __pydantic_config__ = CONFIG
    is_random: ClassVar[bool] = False
    model: Literal["times"]
    times_s: Annotated[
        tuple[Annotated[float, within(f"{_LOSSES}.times_s[]")], ...], count_within(f"{_LOSSES}.times_s (length)")
    ]


LossLaw = BernoulliLoss | PoissonLoss | GilbertElliottLoss | PacketsLoss | TimesLoss
"""Every law answers `is_random`: whether it draws random numbers."""


@dataclass(frozen=True, slots=True)
class ProcessingSettings:
    """Processing times of a host's TCP process for the packets that arrive, one after the other."""

    __pydantic_config__ = CONFIG
    data_s: Delay
    ack_s: Delay


@dataclass(frozen=True, slots=True)
class LossSettings:
    """Process that loses packets as they arrive at a link."""

    __pydantic_config__ = CONFIG
    applies_to: Literal["all", "data", "acks"]
    law: Annotated[LossLaw, Field(discriminator="model")]


LinkKind = Literal["link", "private-link", "host"]


@dataclass(frozen=True, slots=True)
class SimplexLink:
    """One direction of a link; or, with `processing`, the TCP process of a host, last on the ways that end there."""

    __pydantic_config__ = CONFIG
    name: str
    rate_bps: Annotated[float, within("links[].rate_bps")] | None
    delay_s: Delay
    buffer: Buffer | None
    counting: CountingName
    queue: Annotated[QueueSettings, Field(discriminator="discipline")]
    delay_process: DelayProcessSettings | None = None
    loss: LossSettings | None = None
    private: bool = False
    processing: ProcessingSettings | None = None

    @property
    def kind(self) -> LinkKind:
        """The kind of element: a link, a link of which each flow has a copy of its own, or the process of a host.

        The link that represents an ATM channel is a "link"; `Resolved.channel_end` gives the channel's end.
        """
        if self.processing is not None:
            return "host"
        return "private-link" if self.private else "link"

    @property
    def is_random(self) -> bool:
        """Return whether its queue, its delay or its losses draw random numbers."""
        process, loss = self.delay_process, self.loss
        return (
            self.queue.is_random
            or (process is not None and process.law.is_random)
            or (loss is not None and loss.law.is_random)
        )

    @property
    def loses(self) -> bool:
        """Return whether packets can be lost there, before the queue or because the buffer is full."""
        return self.buffer is not None or self.loss is not None

    @property
    def least_delay_s(self) -> float:
        """Least propagation delay [s]."""
        return self.delay_s + (0.0 if self.delay_process is None else self.delay_process.law.least_s)

    def service_s(self, size_bytes: int) -> float:
        """Return the time to transmit a packet [s]."""
        return 0.0 if self.rate_bps is None else size_bytes * 8.0 / self.rate_bps

    def processing_s(self, *, ack: bool) -> float:
        """Return the time that a host takes for an ACK or a data packet [s]; 0 at a link."""
        if self.processing is None:
            return 0.0
        return self.processing.ack_s if ack else self.processing.data_s

    def capacity_packets(self, packet_bytes: float) -> float | None:
        """Return how many packets of a size it holds, the one in transmission included; None without a limit."""
        if self.buffer is None:
            return None
        return self.buffer.capacity_packets(packet_bytes) + (1.0 if self.counting == "waiting" else 0.0)
