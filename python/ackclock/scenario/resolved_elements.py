"""The resolved form of the elements that packets cross: links, ATM channels, hosts."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import Field

from ackclock.scenario.contract import CHECKED, RANGES, Whole, count_within, within
from ackclock.scenario.losses import Fraction, LossSettings
from ackclock.scenario.resolved_buffers import Buffer
from ackclock.scenario.resolved_queues import DROP_TAIL, Discipline
from ackclock.scenario.resolved_rates import RateProcessSettings
from ackclock.scenario.schema_links import BucketKindName, CountingName

_DELAYS = "elements[].delay_process.law"
Rate = Annotated[float, within("elements[].rate_bps")]
Delay = Annotated[float, within("elements[].delay_s")]
Stay = Annotated[float, Field(ge=RANGES[f"{_DELAYS}.period_s"].low, le=RANGES["run.duration_s"].high)]


@dataclass(frozen=True, slots=True)
class StepsLaw:
    """A delay that changes at given instants: from when [s] which delay [s], the first from 0 on."""

    __pydantic_config__ = CHECKED
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

    __pydantic_config__ = CHECKED
    delay_s: Delay
    least_stay_s: Annotated[float, within(f"{_DELAYS}.states[].least_stay_s")]
    mean_extra_s: Annotated[float, within(f"{_DELAYS}.states[].mean_extra_s")]


@dataclass(frozen=True, slots=True)
class AlternatingLaw:
    """A semi-Markov delay; without a matrix of transitions each state is followed by the next one, cyclically."""

    __pydantic_config__ = CHECKED
    changes: ClassVar[bool] = True
    is_random: ClassVar[bool] = True
    kind: Literal["alternating"]
    states: Annotated[tuple[DelayStateSettings, ...], Field(min_length=1, max_length=1000)]
    start: Whole
    transitions: tuple[tuple[Fraction, ...], ...] | None

    @property
    def least_s(self) -> float:
        """Least delay [s]."""
        return min(state.delay_s for state in self.states)


@dataclass(frozen=True, slots=True)
class HandoverLaw:
    """A new delay each period, uniform between two bounds."""

    __pydantic_config__ = CHECKED
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

    __pydantic_config__ = CHECKED
    stream: str
    order: Literal["overtake", "keep"]
    law: Annotated[DelayLaw, Field(discriminator="kind")]


class _Element:
    """Base of all elements: what follows a path asks each element the same questions, whatever its kind."""

    __slots__ = ()

    if TYPE_CHECKING:

        @property
        def rate_bps(self) -> float | None: ...
        @property
        def delay_s(self) -> float: ...
        @property
        def buffer(self) -> Buffer | None: ...
        @property
        def counting(self) -> CountingName: ...
        @property
        def queue(self) -> Discipline: ...
        @property
        def rate_process(self) -> RateProcessSettings | None: ...
        @property
        def token_bucket(self) -> "TokenBucketSettings | None": ...
        @property
        def delay_process(self) -> DelayProcessSettings | None: ...
        @property
        def loss(self) -> LossSettings | None: ...

    @property
    def is_random(self) -> bool:
        """Return whether its queue, its rate, its delay or its losses draw random numbers."""
        rate, process, loss = self.rate_process, self.delay_process, self.loss
        return (
            self.queue.is_random
            or (rate is not None and rate.law.is_random)
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
        """Return the time to transmit a packet [s], at the largest rate if it changes; 0 of a token bucket."""
        if self.token_bucket is not None:
            return 0.0
        most_bps = self.rate_bps if self.rate_process is None else self.rate_process.law.most_bps
        return 0.0 if most_bps is None else size_bytes * 8.0 / most_bps

    def processing_s(self, *, ack: bool) -> float:
        """Return the time that a host takes for an ACK or a data packet [s]; 0 at any other element."""
        del ack
        return 0.0

    def capacity_packets(self, packet_bytes: float) -> float | None:
        """Return how many packets of a size it holds, the one in transmission included; None without a limit."""
        if self.buffer is None:
            return None
        return self.buffer.capacity_packets(packet_bytes) + (1.0 if self.counting == "waiting" else 0.0)


@dataclass(frozen=True, slots=True)
class TokenBucketSettings:
    """A token bucket that lets packets go, in place of a line that transmits them one after another."""

    __pydantic_config__ = CHECKED
    kind: BucketKindName
    burst_bytes: Annotated[int, within("elements[].token_bucket.burst_bytes")]


@dataclass(frozen=True, slots=True)
class SimplexLink(_Element):
    """One direction of a link; of a rate that changes, `rate_bps` is the mean."""

    __pydantic_config__ = CHECKED
    kind: Literal["link"]
    name: str
    rate_bps: Rate | None
    delay_s: Delay
    buffer: Buffer | None
    counting: CountingName
    queue: Discipline
    delay_process: DelayProcessSettings | None
    loss: LossSettings | None
    rate_process: RateProcessSettings | None = None
    token_bucket: TokenBucketSettings | None = None


@dataclass(frozen=True, slots=True)
class PrivateLink(_Element):
    """One direction of a link of which each flow has a copy; its queue is drop-tail."""

    __pydantic_config__ = CHECKED
    queue: ClassVar[Discipline] = DROP_TAIL
    rate_process: ClassVar[None] = None
    token_bucket: ClassVar[None] = None
    delay_process: ClassVar[None] = None
    loss: ClassVar[None] = None
    kind: Literal["private-link"]
    name: str
    rate_bps: Rate | None
    delay_s: Delay
    buffer: Buffer | None
    counting: CountingName


@dataclass(frozen=True, slots=True)
class ChannelDirection(_Element):
    """One direction of an ATM channel.

    Rate and delay are for models: the fair share of the rate, and the propagation delay. The ATM network decides both
    in a run. `end` is where packets enter: 0 and 1 are the near and the far end of the first channel, and so on.
    """

    __pydantic_config__ = CHECKED
    buffer: ClassVar[None] = None
    counting: ClassVar[CountingName] = "with-service"
    queue: ClassVar[Discipline] = DROP_TAIL
    rate_process: ClassVar[None] = None
    token_bucket: ClassVar[None] = None
    delay_process: ClassVar[None] = None
    loss: ClassVar[None] = None
    kind: Literal["channel"]
    name: str
    end: Whole
    rate_bps: Rate
    delay_s: Delay


@dataclass(frozen=True, slots=True)
class HostProcess(_Element):
    """The TCP process of a host, last on the paths that end there: its times for a data packet and for an ACK."""

    __pydantic_config__ = CHECKED
    rate_bps: ClassVar[None] = None
    delay_s: ClassVar[float] = 0.0
    buffer: ClassVar[None] = None
    counting: ClassVar[CountingName] = "with-service"
    queue: ClassVar[Discipline] = DROP_TAIL
    rate_process: ClassVar[None] = None
    token_bucket: ClassVar[None] = None
    delay_process: ClassVar[None] = None
    loss: ClassVar[None] = None
    kind: Literal["host"]
    name: str
    data_s: Delay
    ack_s: Delay

    def processing_s(self, *, ack: bool) -> float:
        """Return the time for an ACK or a data packet [s]."""
        return self.ack_s if ack else self.data_s


Element = SimplexLink | PrivateLink | ChannelDirection | HostProcess
"""An element, distinguished by its `kind`."""
