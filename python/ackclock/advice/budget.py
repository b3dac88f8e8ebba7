"""Budget of an advice: what its simulations are expected to take, corrected by the time that they took so far."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Final

from ackclock.cost import Estimate
from ackclock.errors import Fault, LimitError
from ackclock.limits import LONG_S, refuse_beyond, worded
from ackclock.units import Quantity
from ackclock.wording import plural

WHAT: Final = "this advice"
HINT: Final = "raise the limit, ask for one topic alone, or shorten run.duration"


@dataclass
class Budget:
    """Account of the simulations of an advice.

    Parameters
    ----------
    limits : sequence of Quantity
        What all of them together may take: time, memory, packets.
    on_estimate : callable
        Gets a sentence before a long search or comparison.
    clock : callable
        Gives the time [s].
    """

    limits: Sequence[Quantity] = ()
    on_estimate: Callable[[str], None] = lambda _: None
    clock: Callable[[], float] = monotonic
    _started_s: float | None = None
    _taken_s: float = 0.0
    _foreseen_s: float = 0.0
    """Time that the finished simulations took, and that which they were expected to take before they ran."""
    _finished: int = 0
    _spent: Estimate = field(default_factory=lambda: Estimate(0.0, 0.0, 0.0))

    @property
    def has_time(self) -> bool:
        """Return whether a time is limited."""
        return any(limit.unit == "s" for limit in self.limits)

    def charge(self, each: Sequence[Estimate], at_once: int) -> float:
        """Refuse simulations with which all of them are expected to take more than a limit; give their time [s].

        It is 0 if a wanted precision decides how long they are.
        """
        self._started_s = self.clock() if self._started_s is None else self._started_s
        batch = _together(each, at_once)
        self._spent = replace(
            batch,
            packets=self._spent.packets + batch.packets,
            memory_bytes=max(self._spent.memory_bytes, batch.memory_bytes),
        )
        refuse_beyond(self.limits, self._with(batch.seconds), what=WHAT, hint=HINT)
        return batch.seconds if all(one.most == 1.0 for one in each) else 0.0

    def settle(self, foreseen_s: float, taken_s: float, number: int) -> None:
        """Note what simulations took."""
        if foreseen_s > 0.0:
            self._foreseen_s += foreseen_s
            self._taken_s += taken_s
        self._finished += number

    def check(self) -> None:
        """Refuse to go on once the time is over.

        Raises
        ------
        LimitError
            With the limit that has passed.
        """
        for limit in self.limits:
            if limit.unit == "s" and self._elapsed_s > limit.value:
                problem = (
                    f"has passed after {plural(self._finished, 'simulation')}, and {WHAT} needs more: what they took "
                    "was not to be foreseen"
                )
                raise LimitError(Fault("limit", problem, given=worded(limit.value, "s"), hint=HINT))

    def announce(self, one: Sequence[Estimate], at_once: int, most: float = 1.0) -> None:
        """Say what a search or a comparison is expected to take if that is long, and refuse it if that is too much.

        Parameters
        ----------
        one : sequence of Estimate
            The simulations that there will be at least.
        at_once : int
            The number of them that run at a time.
        most : float
            How many times as many there may be.
        """
        least = _together(one, at_once)
        refuse_beyond(
            self.limits,
            replace(self._with(least.seconds), packets=self._spent.packets + least.packets),
            what=WHAT,
            hint=HINT,
        )
        least_s = self._factor * least.seconds
        if least_s > LONG_S:
            times = worded(least_s, "s") if most == 1.0 else f"{worded(least_s, 's')} to {worded(most * least_s, 's')}"
            number = f"{len(one)}" if most == 1.0 else f"{len(one)} to {round(most * len(one))}"
            threads = plural(least.threads, "thread")
            self.on_estimate(f"About {times} of computing with {threads} for {number} simulations more")

    @property
    def _factor(self) -> float:
        """The time that simulations take over that which is expected before any has run [1]."""
        return self._taken_s / self._foreseen_s if self._foreseen_s > 0.0 else 1.0

    @property
    def _elapsed_s(self) -> float:
        return 0.0 if self._started_s is None else self.clock() - self._started_s

    def _with(self, further_s: float) -> Estimate:
        """Estimate all simulations so far, with further ones."""
        return replace(self._spent, seconds=self._elapsed_s + self._factor * further_s)


def _together(each: Sequence[Estimate], at_once: int) -> Estimate:
    """Estimate several simulations, some of which run at a time."""
    return Estimate(
        sum(one.packets for one in each),
        sum(one.seconds for one in each) / at_once,
        max((one.memory_bytes for one in each), default=0.0),
        at_once * max((one.threads for one in each), default=1),
    )
