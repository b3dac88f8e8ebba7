"""The resolved form of rates that change."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Final, Literal

import numpy as np
from pydantic import Field

from ackclock.scenario.contract import CHECKED, Whole, count_within, within
from ackclock.scenario.losses import Fraction

_RATES: Final = "elements[].rate_process.law"
_LEAST_BPS: Final = 1.0
_DIGITS: Final = 12
_DOUBLINGS: Final = 40
"""Squarings of a matrix of transitions: its 2^40th power is the limit, to the precision of numbers."""
BITS: Final = 8.0


@dataclass(frozen=True, slots=True)
class StepsRate:
    """A rate that changes at given instants: from when [s] which rate [bit/s], the first from 0 on.

    With a period the steps begin again after it; else the last rate remains. A rate of 0 is an outage.
    """

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = False
    kind: Literal["steps"]
    steps_bps: Annotated[
        tuple[
            tuple[
                Annotated[float, within(f"{_RATES}.steps_bps[] (time)")],
                Annotated[float, within(f"{_RATES}.steps_bps[] (rate)")],
            ],
            ...,
        ],
        count_within(f"{_RATES}.steps_bps (length)"),
    ]
    period_s: Annotated[float, within(f"{_RATES}.period_s")] | None

    @property
    def most_bps(self) -> float:
        """Largest rate [bit/s]."""
        return max(rate for _, rate in self.steps_bps)

    @property
    def least_bps(self) -> float:
        """Least rate but 0, an outage [bit/s]."""
        return min(rate for _, rate in self.steps_bps if rate > 0.0)

    @property
    def changes(self) -> bool:
        """Return whether there is more than one rate."""
        return len({rate for _, rate in self.steps_bps}) > 1

    def mean_bps(self, duration_s: float) -> float:
        """Compute the mean rate over a run, or over a period that is shorter [bit/s]."""
        end_s = min(duration_s, self.period_s or np.inf)
        times = np.minimum([*(time for time, _ in self.steps_bps), np.inf], end_s)
        rates = np.array([rate for _, rate in self.steps_bps])
        return _in_range(float(np.dot(np.diff(times), rates)) / end_s)

    def steps_until(self, end_s: float, most: int) -> list[tuple[float, float]] | None:
        """Give each step before the end of a run: from when [s] which rate [bit/s]; None if they are more than most."""
        period_s = self.period_s or np.inf
        rounds = 1 if period_s >= end_s else int(np.ceil(end_s / period_s))
        if rounds * len(self.steps_bps) > most:
            return None
        starts = [number * period_s if number else 0.0 for number in range(rounds)]
        steps = [(start + time, rate) for start in starts for time, rate in self.steps_bps]
        return [(time, rate) for time, rate in steps if time < end_s]


@dataclass(frozen=True, slots=True)
class RateStateSettings:
    """A state of an alternating rate."""

    __pydantic_config__ = CHECKED
    rate_bps: Annotated[float, within(f"{_RATES}.states[].rate_bps")]
    least_stay_s: Annotated[float, within(f"{_RATES}.states[].least_stay_s")]
    mean_extra_s: Annotated[float, within(f"{_RATES}.states[].mean_extra_s")]

    @property
    def mean_stay_s(self) -> float:
        """Mean time in the state [s]."""
        return self.least_stay_s + self.mean_extra_s


@dataclass(frozen=True)
class AlternatingRate:
    """A semi-Markov rate; without a matrix of transitions each state is followed by the next one, cyclically."""

    __pydantic_config__ = CHECKED
    kind: Literal["alternating"]
    states: Annotated[tuple[RateStateSettings, ...], count_within(f"{_RATES}.states (length)")]
    start: Whole
    transitions: tuple[tuple[Fraction, ...], ...] | None

    @property
    def is_random(self) -> bool:
        """Return whether it draws random numbers."""
        return self.transitions is not None or any(state.mean_extra_s > 0.0 for state in self.states)

    @property
    def most_bps(self) -> float:
        """Largest rate [bit/s]."""
        return max(state.rate_bps for state in self.states)

    @property
    def least_bps(self) -> float:
        """Least rate but 0, an outage [bit/s]."""
        return min(state.rate_bps for state in self.states if state.rate_bps > 0.0)

    @property
    def changes(self) -> bool:
        """Return whether there is more than one rate."""
        return len({state.rate_bps for state in self.states}) > 1

    def mean_bps(self, duration_s: float) -> float:
        """Compute the mean rate in the long run, from the first state on [bit/s]."""
        del duration_s
        return self._long_run_bps

    @cached_property
    def _long_run_bps(self) -> float:
        stays = self._visits() * np.array([state.mean_stay_s for state in self.states])
        rates = np.array([state.rate_bps for state in self.states])
        return _in_range(float(np.dot(stays, rates) / stays.sum()))

    def _visits(self) -> "np.ndarray[tuple[int], np.dtype[np.float64]]":
        """Compute the fraction of visits to each state in the long run.

        The mean of the matrix and the identity has the same one, and its powers converge whatever the period.
        """
        if self.transitions is None:
            return np.ones(len(self.states))
        power = (np.array(self.transitions) + np.identity(len(self.states))) / 2.0
        for _ in range(_DOUBLINGS):
            power = power @ power
            power /= power.sum(axis=1, keepdims=True)
        return np.asarray(power[self.start])


@dataclass(frozen=True, slots=True)
class OpportunitiesRate:
    """Opportunities to deliver packets at given instants [ms], as those of Mahimahi's `mm-link`.

    Each delivers `bytes` bytes at most, of one packet or of several, and each packet needs `header_bytes` in addition
    to its own. The list begins again when its last instant is over.
    """

    __pydantic_config__ = CHECKED
    is_random: ClassVar[bool] = False
    most_bps: ClassVar[None] = None
    least_bps: ClassVar[None] = None
    changes: ClassVar[bool] = True
    kind: Literal["opportunities"]
    times_ms: Annotated[
        tuple[Annotated[int, within(f"{_RATES}.times_ms[]")], ...], count_within(f"{_RATES}.times_ms (length)")
    ]
    bytes: Annotated[int, within(f"{_RATES}.bytes")]
    header_bytes: Annotated[int, within(f"{_RATES}.header_bytes")]

    def mean_bps(self, duration_s: float) -> float:
        """Compute the mean over the list [bit/s], headers included."""
        del duration_s
        return _in_range(BITS * self.bytes * len(self.times_ms) / (self.times_ms[-1] / 1e3))


RateLaw = StepsRate | AlternatingRate | OpportunitiesRate
"""Every law answers `is_random`, `changes` (it has more than one rate), `most_bps` (its largest rate; None if a packet
may take no time) and `mean_bps(duration_s)`."""


@dataclass(frozen=True, slots=True)
class RateProcessSettings:
    """A rate that changes; `stream` names what it is drawn from."""

    __pydantic_config__ = CHECKED
    stream: str
    law: Annotated[RateLaw, Field(discriminator="kind")]

    @property
    def header_bytes(self) -> int:
        """Bytes that each packet needs in addition to its own."""
        return self.law.header_bytes if isinstance(self.law, OpportunitiesRate) else 0


def entries(law: RateLaw) -> int:
    """Count the entries of a law's lists."""
    match law:
        case StepsRate():
            return len(law.steps_bps)
        case AlternatingRate():
            return len(law.states) + sum(len(row) for row in law.transitions or ())
        case OpportunitiesRate():
            return len(law.times_ms)


def ends_in_outage(rates: Sequence[float], *, repeats: bool) -> bool:
    """Return whether a rate that goes through others is 0 for ever in the end."""
    return max(rates) == 0.0 if repeats else rates[-1] == 0.0


def _in_range(mean_bps: float) -> float:
    return max(_LEAST_BPS, float(f"{mean_bps:.{_DIGITS}g}"))
