"""The random numbers of ns-2: MRG32k3a, and the phase of a TCP agent's coarse clock that it draws from them."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeVar

M1 = 4_294_967_087
M2 = 4_294_944_443

DEFAULT_SEED = 1
"""ns-2.35 seeds its default generator with 1 when it loads (ns-random.tcl)."""

Item = TypeVar("Item")


class Mrg32k3a:
    """Combined multiple recursive generator with two components of order 3.

    L'Ecuyer, "Good parameters and implementations for combined multiple recursive random number generators",
    Operations Research 47 (1999), figure I.

    Parameters
    ----------
    seed : int
        All six words of the state, as ns-2's ``$rng seed N`` sets them; 1 to 4294944442.

    Examples
    --------
    >>> round(Mrg32k3a(12345).uniform(), 10)
    0.127011122
    """

    def __init__(self, seed: int) -> None:
        if not 0 < seed < M2:
            raise ValueError(f"seed: out of range; given {seed}; allowed 1 to {M2 - 1}")
        self._first = (seed, seed, seed)
        self._second = (seed, seed, seed)

    def uniform(self) -> float:
        """Draw the next number, uniform in (0, 1), of 32 bits."""
        a, b, c = self._first
        first = (1_403_580 * b - 810_728 * a) % M1
        self._first = (b, c, first)
        a, b, c = self._second
        second = (527_612 * c - 1_370_589 * a) % M2
        self._second = (b, c, second)
        difference = first - second if first > second else first - second + M1
        return difference * (1.0 / (M1 + 1.0))

    def between(self, low: float, high: float) -> float:
        """Draw a number uniform between `low` and `high`."""
        return low + (high - low) * self.uniform()

    def integer(self, low: int, high: int) -> int:
        """Draw an integer from `low` to `high`, both possible."""
        return low + int((high - low + 1) * self.uniform())

    def choice(self, items: Sequence[Item]) -> Item:
        """Draw one of `items`."""
        return items[self.integer(0, len(items) - 1)]

    def __iter__(self) -> Iterator[float]:
        while True:
            yield self.uniform()


def boot_fraction(agent: int = 0, agents: int = 1, seed: int = DEFAULT_SEED) -> float:
    """Phase of an ns-2 TCP agent's coarse clock, in ticks (``boot_time_ / tcpTick_``).

    Parameters
    ----------
    agent : int
        Place of the agent in the order in which ``$ns run`` resets the agents of all nodes, from 0.
    agents : int
        Number of TCP agents in the simulation.
    seed : int
        Seed of the default generator, set before the first agent is made.

    Returns
    -------
    float
        Fraction of a tick [1].

    Notes
    -----
    Every agent draws once when it is made and once more when ``$ns run`` resets it; the second draw counts.
    Nothing else in a network of drop-tail links draws. The nodes are reset in the order of Tcl's
    ``array names Node_``: 0, 1, 2, 3 with up to four nodes, but 4, 0, 1, 2, 3 with five.

    Examples
    --------
    >>> boot_fraction()
    0.5558807159827996
    """
    if not 0 <= agent < agents:
        raise ValueError(f"agent: out of range; given {agent}; allowed 0 to {agents - 1}")
    return next(islice(Mrg32k3a(seed), agents + agent, None))
