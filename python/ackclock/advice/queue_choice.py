"""The choice between queues that were simulated, and what speaks against each that is not the answer."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, prod
from typing import Final

from ackclock.advice.queue_records import QueueAlternative
from ackclock.advice.targets import Targets
from ackclock.stats import Estimate
from ackclock.wording import amount, number, percent, plural, seconds

UNFAIR: Final = 0.05
"""Largest distance of a fairness index from the best one's."""
AS_GOOD: Final = 0.03
"""Relative difference in power up to which the simpler queue is the answer."""
LIGHT: Final = 0.05
"""Largest part by which light flows' round trips may be longer than with the best queue."""
LONGER: Final = 0.1
"""Relative difference in delay that is worth a word."""


@dataclass(frozen=True)
class QueueChoice:
    """The judge of queues that were compared.

    The answer costs nothing that a target forbids, keeps the round trips of light flows short, and has the largest
    power: throughput over round trip (Kleinrock 1979), here that of 95% of the packets on the shortest path.

    Parameters
    ----------
    rows : sequence of QueueAlternative
        The queues, the simplest first.
    targets : Targets
        What the user asks for.
    trip_s : float
        Shortest empty round trip of the flows [s].
    """

    rows: Sequence[QueueAlternative]
    targets: Targets
    trip_s: float

    @property
    def best(self) -> int:
        """The answer's place in the rows: of equals the first. The present queue, the first row, if none may be it."""
        able = [place for place, row in enumerate(self.rows) if not self.missed(row)]
        able = [place for place in able if not self._delays_light_flows(self.rows[place], able)]
        most = max((self._power(self.rows[place]) for place in able), default=0.0)
        return next((place for place in able if self._power(self.rows[place]) >= (1.0 - AS_GOOD) * most), 0)

    def missed(self, row: QueueAlternative) -> str:
        """Say what a queue costs that another does not; empty if it may be the answer."""
        found = (self._costs_throughput(row), self._delays_transfers(row), self._is_unfair(row), self._misses(row))
        return next(filter(None, found), "")

    def reason(self, row: QueueAlternative, answer: QueueAlternative) -> str:
        """Say why a queue is not the answer."""
        if missed := self.missed(row):
            return missed
        light, least = mean(row.light_p95_s), mean(answer.light_p95_s)
        if isfinite(light) and self.trip_s + light > (1.0 + LIGHT) * (self.trip_s + least):
            return (
                f"95% of the packets of light flows wait up to {seconds(short(row.light_p95_s))}{_times(light, least)}"
            )
        wait, least = mean(row.wait_p95_s), mean(answer.wait_p95_s)
        if wait > (1.0 + LONGER) * least and self._power(row) < self._power(answer):
            return f"95% of the packets wait up to {seconds(short(row.wait_p95_s))}{_times(wait, least)}"
        if self._power(row) > self._power(answer) * (1.0 + AS_GOOD):
            return "not better with other random numbers"
        if self._gain(row) < (1.0 - AS_GOOD) * self._gain(answer):
            return "the delay that it saves does not make up for the throughput that it costs"
        return "as good, and less simple"

    def _delays_light_flows(self, row: QueueAlternative, able: Iterable[int]) -> bool:
        least = min(mean(self.rows[place].light_p95_s) for place in able)
        return isfinite(least) and self.trip_s + mean(row.light_p95_s) > (1.0 + LIGHT) * (self.trip_s + least)

    def _power(self, row: QueueAlternative) -> float:
        delay = self.trip_s + mean(row.wait_p95_s)
        return self._gain(row) / delay if delay else inf

    @staticmethod
    def _gain(row: QueueAlternative) -> float:
        """Give the throughput, of two directions the geometric mean (proportional fairness, Kelly 1997).

        Without endless flows that of transfers, by their slowdown.
        """
        rates = [rate["mean"] for rate in (row.throughput_bps, row.reverse_throughput_bps) if rate["mean"] is not None]
        return prod(rates) ** (1.0 / len(rates)) if rates else 1.0 / (row.slowdown_mean["mean"] or 1.0)

    def _known(self, measure: Callable[[QueueAlternative], Estimate]) -> list[float]:
        return [float(found["mean"]) for found in map(measure, self.rows) if found["mean"] is not None]

    def _costs_throughput(self, row: QueueAlternative) -> str:
        if row.throughput_bps["mean"] is None and row.reverse_throughput_bps["mean"] is None:
            return ""
        most = max(map(self._gain, self.rows))
        if self._gain(row) >= self.targets.queue_throughput * most:
            return ""
        both = row.throughput_bps["mean"] is not None and row.reverse_throughput_bps["mean"] is not None
        measure = " (geometric mean of both directions)" if both else ""
        return f"{percent(1.0 - self._gain(row) / most, 2)} less throughput{measure} than another"

    def _delays_transfers(self, row: QueueAlternative) -> str:
        fewest = min(self._known(lambda one: one.unfinished_transfers), default=0.0)
        if (row.unfinished_transfers["mean"] or 0.0) > fewest:
            return f"{plural(mean(row.unfinished_transfers) - fewest, 'transfer')} more not finished than with another"
        least = min(self._known(lambda one: one.slowdown_mean), default=inf)
        if row.slowdown_mean["mean"] is not None and self.targets.queue_throughput * mean(row.slowdown_mean) > least:
            return f"transfers take {number(mean(row.slowdown_mean) / least)} times as long as with another"
        return ""

    def _is_unfair(self, row: QueueAlternative) -> str:
        fairest = max(self._known(lambda one: one.fairness_index), default=0.0)
        if mean(row.fairness_index) < fairest - UNFAIR:
            return f"a fairness of {mean(row.fairness_index):.2f}, where {fairest:.2f} can be had"
        return ""

    def _misses(self, row: QueueAlternative) -> str:
        if mean(row.loss_fraction) > self._most_loss:
            return f"a loss of {amount(mean(row.loss_fraction), '1')}"
        longest = self.targets.rtt_p95_s
        if longest is not None and mean(row.rtt_p95_s) > longest:
            return f"round trips of {seconds(mean(row.rtt_p95_s))}"
        return ""

    @property
    def _most_loss(self) -> float:
        """The largest loss that a queue may have: the target, or the present one's where none meets that."""
        target = self.targets.queue_loss
        if target is None:
            return inf
        return (
            target if any(mean(row.loss_fraction) <= target for row in self.rows) else mean(self.rows[0].loss_fraction)
        )


def mean(found: Estimate) -> float:
    """Give the mean, infinity without one."""
    return inf if found["mean"] is None else float(found["mean"])


def short(found: Estimate) -> float:
    """Give the mean with three digits."""
    return float(f"{mean(found):.3g}")


def _times(value: float, least: float) -> str:
    return f", {number(value / least)} times as long" if least > 0.0 else ""
