"""The choice between queues that were simulated, and what speaks against each that is not the answer."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import inf, log, prod
from typing import Final

from ackclock.advice.queue_records import QueueAlternative
from ackclock.advice.targets import Targets
from ackclock.stats import Estimate
from ackclock.wording import amount, number, percent, plural, seconds

AS_GOOD: Final = 0.05
"""Relative difference in worth up to which the simpler queue is the answer."""
OF_BULK: Final = 0.95
"""Least throughput, as a fraction of the largest, where nobody but flows that send all the time crosses the link."""
OF_MIXED: Final = 0.8
"""The same where light flows or transfers gain by a short delay."""
WORSE: Final = 0.2
"""Relative increase of the times of transfers and light flows with which no queue is advised for its throughput."""
FAIR: Final = 0.8
"""Least fairness index, as a fraction of the largest."""


@dataclass(frozen=True)
class QueueChoice:
    """The judge of queues that were compared.

    The answer meets the targets, leaves no transfer unfinished that another finishes, costs little throughput and
    fairness, and is worth most: by the product of the throughput, the fairness, and the inverse of the times of those
    who gain by a short queue. These are light flows and transfers, if there are any, or else all packets. Of queues
    that are worth the same, the one with the largest power is taken.

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
        able = [place for place, row in enumerate(self.rows) if not self.excluded(row)]
        for measure in (self.worth, self._power):
            most = max((measure(self.rows[place]) for place in able), default=0.0)
            able = [place for place in able if measure(self.rows[place]) >= most + log(1.0 - AS_GOOD)]
        return next(iter(able), 0)

    @property
    def least_throughput(self) -> float:
        """Least throughput of the answer, as a fraction of the largest."""
        if self.targets.queue_throughput is not None:
            return self.targets.queue_throughput
        return OF_MIXED if self._is_mixed else OF_BULK

    @property
    def _is_mixed(self) -> bool:
        """Return whether light flows, L4S flows or transfers cross the link."""
        measures = (lambda row: row.light_p95_s, lambda row: row.slowdown_mean, lambda row: row.l4s_p95_s)
        return any(map(self._known, measures))

    def is_better(self, new: QueueAlternative, old: QueueAlternative) -> bool:
        """Return whether a queue is better than the present one in other runs.

        A gain of throughput does not make up for transfers, light or L4S flows that are clearly worse off there.
        """
        waits = ((new.light_p95_s, old.light_p95_s), (new.l4s_p95_s, old.l4s_p95_s))
        times = [(self.trip_s + mean(after), self.trip_s + mean(before)) for after, before in waits]
        times = [one for one in [*times, (mean(new.slowdown_mean), mean(old.slowdown_mean))] if one[1] < inf]
        is_worse = any(after > (1.0 + WORSE) * before for after, before in times)
        return not is_worse and replace(self, rows=(old, new)).best == 1

    def worth(self, row: QueueAlternative) -> float:
        """Give the logarithm of the product of all that counts: each counts by its ratio (Kelly 1997)."""
        return sum(log(factor) if factor > 0.0 else -inf for factor, _ in self._factors(row))

    def _power(self, row: QueueAlternative) -> float:
        """Give the logarithm of throughput over round trip (Kleinrock 1979), that of 95% of all packets."""
        delay, gain = self.trip_s + mean(row.wait_p95_s), self._gain(row)
        return -inf if gain == 0.0 else log(gain / delay) if delay > 0.0 else inf

    def excluded(self, row: QueueAlternative) -> str:
        """Say why a queue may not be the answer; empty if it may."""
        fewest = min(self._known(lambda one: one.unfinished_transfers), default=0.0)
        unfinished = (row.unfinished_transfers["mean"] or 0.0) - fewest
        longest = self.targets.rtt_p95_s
        if unfinished > 0.0:
            return f"{plural(unfinished, 'transfer')} more not finished than with another"
        if mean(row.loss_fraction) > self._most_loss:
            return f"a loss of {amount(mean(row.loss_fraction), '1')}"
        if longest is not None and mean(row.rtt_p95_s) > longest:
            return f"round trips of up to {seconds(mean(row.rtt_p95_s))} for 95% of the packets"
        if self._gain(row) < self.least_throughput:
            return f"{self._less_throughput(row)} than another"
        fairest = max(self._known(lambda one: one.fairness_index), default=0.0)
        if mean(row.fairness_index) < FAIR * fairest:
            return f"a fairness of {mean(row.fairness_index):.2f}, where {fairest:.2f} can be had"
        return ""

    def reason(
        self, row: QueueAlternative, answer: QueueAlternative, refuted: QueueAlternative | None = None, how: str = ""
    ) -> str:
        """Say why a queue is not the answer: what it has less of by the largest ratio; of the answer, nothing.

        One that was refuted was not better in the second runs, which `how` puts into words.
        """
        if row is answer:
            return ""
        if excluded := self.excluded(row):
            return excluded
        if row is refuted:
            return f"not better {how}"
        if self.is_as_good(row, answer):
            return self._as_good(row, answer)
        pairs = zip(self._factors(answer), self._factors(row), strict=True)
        return max((log(best / own) if own else inf, text) for (best, _), (own, text) in pairs if best)[1]

    def is_as_good(self, row: QueueAlternative, answer: QueueAlternative) -> bool:
        """Return whether a queue that may be the answer is worth as much."""
        return not self.excluded(row) and self.worth(answer) - self.worth(row) <= -log(1.0 - AS_GOOD)

    def _as_good(self, row: QueueAlternative, answer: QueueAlternative) -> str:
        """Say why another queue is taken than one that is worth as much."""
        if self._power(row) < self._power(answer) + log(1.0 - AS_GOOD):
            waits = f"95% of the packets wait up to {seconds(short(row.wait_p95_s))}"
            times = mean(row.wait_p95_s) / mean(answer.wait_p95_s) if mean(answer.wait_p95_s) > 0.0 else inf
            compared = f"{number(times)} times as long as with" if times < inf else "which they do not with"
            return f"as good, with a longer queue: {waits}, {compared} {answer.name}"
        if self.rows.index(row) < self.rows.index(answer):
            return "hardly better"
        if answer is self.rows[0]:
            return "as good as the present one, which needs no change"
        kinds = {one.name.partition(",")[0] for one in (row, answer)}
        return (
            "as good, and less simple" if len(kinds) > 1 else "as good: of such sizes the first in this table is taken"
        )

    def _factors(self, row: QueueAlternative) -> Iterator[tuple[float, str]]:
        """Give the factors of the worth, of which more is better, each with the words for a queue that has less."""
        yield self._gain(row), self._less_throughput(row)
        if not self._is_mixed and self.trip_s + mean(row.wait_p95_s):
            yield (
                1.0 / (self.trip_s + mean(row.wait_p95_s)),
                self._waits("the packets", row, lambda one: one.wait_p95_s),
            )
        if self._known(lambda one: one.light_p95_s):
            light = 1.0 / (self.trip_s + mean(row.light_p95_s))
            yield light, self._waits("the packets of light flows", row, lambda one: one.light_p95_s)
            lost = row.light_loss_fraction["mean"] or 0.0
            yield 1.0 - lost, f"light flows lose {percent(lost)} of their packets"
        if self._known(lambda one: one.l4s_p95_s):
            l4s = 1.0 / (self.trip_s + mean(row.l4s_p95_s))
            yield l4s, self._waits("the packets of L4S flows", row, lambda one: one.l4s_p95_s)
        if least := min(self._known(lambda one: one.slowdown_mean, self._able), default=0.0):
            ratio = mean(row.slowdown_mean) / least
            yield 1.0 / ratio, f"transfers take {number(ratio)} times as long as with another"
        if fairest := max(self._known(lambda one: one.fairness_index), default=0.0):
            index = row.fairness_index["mean"] or fairest
            yield index, f"a fairness of {index:.2f}, where {fairest:.2f} can be had"

    def _gain(self, row: QueueAlternative) -> float:
        """Give the throughput as a fraction of the largest: the flows', or that over the links if that is larger.

        A better share of a bottleneck may lower one of the two, and loses nothing: the flows' where a flow over several
        links gets what flows over one link each had, the links' where flows over fewer of them get it.
        """
        return max(
            own / most if most > 0.0 else 1.0 for own, most in zip(_throughputs(row), self._largest, strict=True)
        )

    @cached_property
    def _largest(self) -> tuple[float, float]:
        """The largest throughput of the flows, and over the links."""
        of_flows, over_links = zip(*map(_throughputs, self.rows), strict=True)
        return max(of_flows), max(over_links)

    def _less_throughput(self, row: QueueAlternative) -> str:
        return f"{percent(1.0 - self._gain(row), 2)} less throughput{_of_both(row)}"

    def _waits(self, whose: str, row: QueueAlternative, measure: Callable[[QueueAlternative], Estimate]) -> str:
        wait, least = mean(measure(row)), min(self._known(measure, self._able), default=0.0)
        if wait == inf:
            return f"none of {whose} arrives"
        times = f", {number(wait / least)} times as long as with another" if least > 0.0 else ""
        return f"95% of {whose} wait up to {seconds(short(measure(row)))}{times}"

    def _known(
        self, measure: Callable[[QueueAlternative], Estimate], rows: Sequence[QueueAlternative] | None = None
    ) -> list[float]:
        found = map(measure, self.rows if rows is None else rows)
        return [float(one["mean"]) for one in found if one["mean"] is not None]

    @cached_property
    def _able(self) -> Sequence[QueueAlternative]:
        """The queues that may be the answer, with which others are compared in words; all where none may."""
        return [row for row in self.rows if not self.excluded(row)] or self.rows

    @property
    def _most_loss(self) -> float:
        """The largest loss that a queue may have: the target, or the present one's where none meets that."""
        target = self.targets.queue_loss
        if target is None:
            return inf
        return (
            target if any(mean(row.loss_fraction) <= target for row in self.rows) else mean(self.rows[0].loss_fraction)
        )


def _geometric(directions: tuple[Estimate, Estimate]) -> float:
    """Give the throughput, of two directions the geometric mean; 1 where no flow sends all the time."""
    rates = [float(rate["mean"]) for rate in directions if rate["mean"] is not None]
    return prod(rates) ** (1.0 / len(rates)) if rates else 1.0


def _throughputs(row: QueueAlternative) -> tuple[float, float]:
    """Give a queue's throughput of the flows, and over the links."""
    of_flows = _geometric((row.throughput_bps, row.reverse_throughput_bps))
    return of_flows, _geometric((row.carried_bps, row.reverse_carried_bps))


def _of_both(row: QueueAlternative) -> str:
    """Say how throughputs were put together, where that is not their sum."""
    if row.throughput_bps["mean"] is not None and row.reverse_throughput_bps["mean"] is not None:
        return " (geometric mean of both directions)"
    return " (of the flows and over the links)" if mean(row.carried_bps) > mean(row.throughput_bps) else ""


def mean(found: Estimate) -> float:
    """Give the mean, infinity without one."""
    return inf if found["mean"] is None else float(found["mean"])


def short(found: Estimate) -> float:
    """Give the mean with three digits."""
    return float(f"{mean(found):.3g}")
