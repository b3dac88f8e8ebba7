"""The table of the sizes that a search has tried at a place."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import inf

from ackclock.advice.alternatives import Alternative, Alternatives
from ackclock.advice.bench import has_percentiles, loss_cycles, of_flows, of_link, of_longest_round_trip
from ackclock.advice.judge import Judge
from ackclock.advice.knobs import Knob
from ackclock.advice.search import neighbour
from ackclock.advice.trials import Sizes, Trials, elsewhere
from ackclock.result import Result
from ackclock.stats import Estimate
from ackclock.wording import plural

MOST_ROWS = 8
"""Rows of a table, unless more are worth showing."""


@dataclass(frozen=True)
class SizeTable:
    """Choice of the sizes at a place that were tried: the least, its neighbours, the present one, the rule's.

    Parameters
    ----------
    trials : Trials
        What was simulated.
    judge : Judge
        The targets.
    knob : Knob
        The place.
    sizes : mapping of Knob to float, optional
        The least that meet the targets.
    below : int
        The largest at the place that was found not to.
    keep : bool
        Whether the present sizes are the answer.
    """

    trials: Trials
    judge: Judge
    knob: Knob
    sizes: Sizes | None
    below: int
    keep: bool

    @property
    def alternatives(self) -> Alternatives:
        """The rows that a reader wants to see, by size."""
        rows = [self._row(place) for place in sorted(self._shown(), key=lambda place: self._choices[place][self.knob])]
        round_trip = "p95" if has_percentiles(self.judge.reference) else "mean"
        where = f"{self.knob.what} at\n{self.knob.place}, packets"
        return Alternatives(where, tuple(rows), round_trip, _in_words(elsewhere(self._usual, self.knob)))

    @property
    def _present(self) -> Sizes:
        return {knob: knob.present for knob in self.trials.knobs}

    @property
    def _ample(self) -> Sizes:
        return {knob: float(knob.ample) for knob in self.trials.knobs}

    @property
    def _tried(self) -> list[Sizes]:
        found = list(self.trials.tried.get(self.knob, {}).values())
        return found if self.sizes is None else [*found, self.sizes]

    @property
    def _usual(self) -> Sizes:
        """Sizes with those of the other knobs that a row has unless it says otherwise."""
        return self._tried[-1] if self._tried else self._ample

    @cached_property
    def _choices(self) -> list[Sizes]:
        """The sizes of all knobs that were simulated, each once."""
        found: list[Sizes] = []
        for sizes in (*self._tried, self._ample, self._present):
            if sizes not in found:
                found.append(sizes)
        return found

    def _run(self, sizes: Sizes) -> Result:
        if sizes == self._ample:
            return self.judge.reference
        return self.trials.run([{} if sizes == self._present else sizes], "")[0]

    def _shown(self) -> list[int]:
        """Choose the rows that a reader wants to see, and the nearest to the answer until there are enough."""
        start = float(self.knob.start)
        least = None if self.sizes is None else self.sizes[self.knob]
        wanted = {start, float(self.below)} | ({least, float(neighbour(int(least)))} if least is not None else set())
        always = [self._ample, self._present]
        sizes = [choice[self.knob] for choice in self._choices]
        shown = [place for place, size in enumerate(sizes) if size in wanted or self._choices[place] in always]
        others = (place for place in range(len(sizes)) if place not in shown)
        nearest = sorted(others, key=lambda place: abs(sizes[place] - (start if least is None else least)))
        return shown + nearest[: max(0, MOST_ROWS - len(shown))]

    def _row(self, place: int) -> Alternative:
        sizes = self._choices[place]
        size, result = sizes[self.knob], self._run(sizes)
        missed = self.judge.names_of_missed(result)
        chosen = sizes == (self._present if self.keep else self.sizes)
        doubt = self._doubt(sizes) if not missed and not chosen else ""
        return Alternative(
            size_packets=_finite(size),
            utilisation_fraction=_of_links(result, self.knob.links, "utilisation_fraction"),
            throughput_bps=of_flows("throughput_bps")(result),
            rtt_p95_s=of_longest_round_trip(result),
            loss_fraction=_of_links(result, self.knob.links, "loss_fraction"),
            loss_cycles=loss_cycles(result),
            meets=not missed,
            chosen=chosen,
            note=", ".join(filter(None, (self._note(sizes), self._where_others_differ(sizes), doubt))),
            missed=missed,
            others={knob.place: _finite(other) for knob, other in elsewhere(sizes, self.knob).items()},
        )

    def _note(self, sizes: Sizes) -> str:
        """Say what a size is: the least if it is not the answer, the present one, a rule's, an ample one."""
        if self.keep and sizes == self.sizes:
            return "least"
        if sizes == self._present or (self._is_usual(sizes) and sizes[self.knob] == self.knob.present):
            return "now"
        rule = next((rule.value for rule in self.knob.rules if rule.valid), None)
        if self._is_usual(sizes) and sizes[self.knob] == rule:
            return "rule"
        return "ample" if sizes == self._ample else ""

    def _where_others_differ(self, sizes: Sizes) -> str:
        """Say which sizes the other knobs have, if not those of most rows."""
        if self._is_usual(sizes):
            return ""
        return f"with {_in_words(elsewhere(sizes, self.knob))}"

    def _is_usual(self, sizes: Sizes) -> bool:
        return elsewhere(sizes, self.knob) == elsewhere(self._usual, self.knob)

    def _doubt(self, sizes: Sizes) -> str:
        """Say of a size below the least that meets the targets why it is not the least."""
        if sizes in self.trials.refuted:
            return "refuted"
        is_below = self.sizes is not None and sizes[self.knob] < self.sizes[self.knob]
        return "by chance" if is_below and self._is_usual(sizes) else ""


def in_packets(size: float) -> str:
    """Write a size for people."""
    return "no limit" if size == inf else plural(size, "packet")


def _in_words(sizes: Mapping[Knob, float]) -> str:
    return " and ".join(f"{in_packets(size)} at {knob.place}" for knob, size in sizes.items())


def _finite(size: float) -> float | None:
    return size if size < inf else None


def _of_links(result: Result, names: Sequence[str], key: str) -> Estimate:
    """Measure a quantity of a link; of several the mean, without an interval."""
    found = [of_link(name, key)(result) for name in names]
    if len(found) == 1:
        return found[0]
    means = [one["mean"] or 0.0 for one in found]
    return Estimate(mean=sum(means) / len(means), low=None, high=None, n=found[0]["n"])
