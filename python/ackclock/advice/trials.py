"""Trials of sizes: what a run gives, which targets it misses, and the table of what was tried."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf

from ackclock.advice.bench import (
    MOST_RUNS,
    Bench,
    has_percentiles,
    loss_cycles,
    of_flows,
    of_link,
    of_longest_round_trip,
)
from ackclock.advice.knobs import Knob
from ackclock.advice.lengths import Length
from ackclock.advice.records import Alternative, Alternatives
from ackclock.advice.search import Bracket, neighbour, smallest
from ackclock.advice.targets import Targets
from ackclock.result import Result
from ackclock.scenario.copies import described_name
from ackclock.stats import Estimate
from ackclock.wording import amount, number, percent, plural, seconds

Sizes = Mapping[Knob, float]
"""A size for each knob that does not have the scenario's own."""
MOST_ROWS = 8
LEAST_SHARE = 0.02
"""Least throughput of a [[flow]], as a fraction of that with ample sizes."""


@dataclass(frozen=True)
class Judge:
    """The targets, next to what ample sizes give.

    Parameters
    ----------
    targets : Targets
        The targets.
    links : tuple of tuple of str
        The links whose utilisation and loss are judged; equal ones together.
    reference : Result
        The run with ample sizes.
    """

    targets: Targets
    links: tuple[tuple[str, ...], ...]
    reference: Result

    def missed(self, result: Result) -> list[str]:
        """Say which targets a larger size could reach are missed."""
        return [text for _, text in self._misses(result)]

    def names_of_missed(self, result: Result) -> tuple[str, ...]:
        """Name all targets that are missed, as a table does."""
        late = ["round trip"] if self.too_late(result) else []
        return (*(name for name, _ in self._misses(result)), *late)

    def _misses(self, result: Result) -> Iterator[tuple[str, str]]:
        """Give the name of each target that a larger size could reach and that is missed, and the words for it."""
        if has_transfers(result):
            if text := self._late(result):
                yield "time of transfers", text
        else:
            found = ((group[0], self._idle(result, group)) for group in self.links)
            yield from ((f"utilisation of {name}", text) for name, text in found if text)
        yield from self._starved(result)
        loss = self.worst_loss(result)
        if self.targets.loss is not None and loss > self.targets.loss:
            yield "loss", f"the loss is {amount(loss, '1')}"

    def too_late(self, result: Result) -> list[str]:
        """Say whether the round trips, which a larger size only makes longer, are too long."""
        found = of_longest_round_trip(result)["mean"]
        if self.targets.rtt_p95_s is None or found is None or found <= self.targets.rtt_p95_s:
            return []
        return [f"the round trips are {seconds(found)}"]

    def worst_loss(self, result: Result) -> float:
        """Give the largest loss at a link that is judged [1]."""
        return max(
            float(of_link(name, "loss_fraction")(result)["mean"] or 0.0) for group in self.links for name in group
        )

    def _idle(self, result: Result, group: tuple[str, ...]) -> str:
        found, ample = (_utilisation(one, group) for one in (result, self.reference))
        if found >= self.targets.utilisation * ample:
            return ""
        return f"the utilisation of {group[0]} is only {percent(found)}, and {percent(ample)} with an ample one"

    def _starved(self, result: Result) -> Iterator[tuple[str, str]]:
        """Name the flows that get next to nothing of their throughput with ample sizes."""
        found, ample = (_rates(one) for one in (result, self.reference))
        for name, most in ample.items():
            if found.get(name, 0.0) < LEAST_SHARE * most:
                rates = (amount(rate, "bit/s") for rate in (found.get(name, 0.0), most))
                yield f"throughput of {name}", f"{name} has {', and '.join(rates)} with ample ones"

    def _late(self, result: Result) -> str:
        found, ample = (_slowest_s(one) for one in (result, self.reference))
        return "" if found * self.targets.utilisation <= ample else _takes(found)


def _takes(time_s: float) -> str:
    return "not all transfers finish" if time_s == inf else f"the slowest transfer takes {seconds(time_s)}"


def _utilisation(result: Result, group: tuple[str, ...]) -> float:
    return sum(float(of_link(name, "utilisation_fraction")(result)["mean"] or 0.0) for name in group) / len(group)


def _rates(result: Result) -> dict[str, float]:
    """Sum the throughput of each [[flow]] that has a congestion control and no end [bit/s]."""
    endless = {described_name(flow.name) for flow in result.resolved.flows if flow.is_endless}
    found: dict[str, float] = {}
    for row in result.summary["flows"]:
        name = row["name"].partition("[")[0]
        if name in endless:
            found[name] = found.get(name, 0.0) + float(row["throughput_bps"]["mean"] or 0.0)
    return found


def has_transfers(result: Result) -> bool:
    """Return whether all flows are transfers that end: their time counts, not the links'."""
    return all(row["finish_s"] is not None for row in result.summary["flows"])


def _slowest_s(result: Result) -> float:
    """Give the time that the slowest transfer takes, in the mean over runs [s]; infinite if one has not finished."""
    if any(row["finish_s"]["mean"] is None for row in result.summary["flows"]):
        return inf
    return max(float(row["fct_max_s"]["mean"] or 0.0) for row in result.summary["completions"])


@dataclass
class Trials:
    """Runs of the scenario with sizes changed, all of one length and with common random numbers.

    Parameters
    ----------
    bench : Bench
        Where they run.
    length : Length
        Their length.
    tried : dict
        The sizes of each knob that were simulated, with the sizes that the others had.
    refuted : dict
        Those that meet the targets there, but not with other random numbers.
    """

    bench: Bench
    length: Length
    tried: dict[Knob, dict[float, Sizes]] = field(default_factory=dict)
    refuted: dict[Knob, set[float]] = field(default_factory=dict)

    def run(self, sizes: Sequence[Sizes], what: str, length: Length | None = None) -> list[Result]:
        """Simulate several choices of sizes."""
        changes = [
            {key: value for knob, size in one.items() for key, value in knob.changes(size).items()} for one in sizes
        ]
        return self.bench.run_all(changes, what, length or self.length)

    def search(self, knob: Knob, others: Sizes, most: int, passes: Callable[[Result], bool]) -> Bracket:
        """Find the smallest size of a knob that passes, with the others as given."""

        def test(sizes: Sequence[int]) -> dict[int, bool]:
            if self.bench.spent:
                return dict.fromkeys(sizes, False)
            choices = [{**others, knob: size} for size in sizes]
            self.tried.setdefault(knob, {}).update(zip(map(float, sizes), choices, strict=True))
            what = f"{knob.what} of {' and '.join(map(number, sizes))} packets at {knob.place}"
            return {
                size: passes(one)
                for size, one in zip(sizes, self.run(choices, f"{what}, up to simulation {MOST_RUNS}"), strict=True)
            }

        return smallest(test, knob.start, most)

    def alternatives(self, knob: Knob, sizes: Sizes | None, below: int, judge: Judge, *, keep: bool) -> Alternatives:
        """Lay out what was tried at a place: the least size, its neighbours, the present one, the rule's.

        Parameters
        ----------
        knob : Knob
            The place.
        sizes : mapping of Knob to float, optional
            The least that meet the targets.
        below : int
            The largest that was found not to.
        judge : Judge
            The targets.
        keep : bool
            Whether the present size is the answer.
        """
        least = None if sizes is None else sizes[knob]
        if sizes is not None and least is not None:
            self.tried.setdefault(knob, {}).setdefault(least, sizes)
        runs = {size: self.run([others], "")[0] for size, others in self.tried.get(knob, {}).items()}
        runs[float(knob.ample)] = judge.reference
        runs.setdefault(knob.present, self.run([{}], "")[0])
        notes = _notes(knob, least if keep else None)
        chosen = knob.present if keep else least
        rows = [
            _alternative(knob, size, runs[size], judge, notes.get(size, ""), chosen=size == chosen)
            for size in sorted(_shown(runs, knob, least, below))
        ]
        rows = [self._doubted(knob, row, least) for row in rows]
        round_trip = "p95" if has_percentiles(judge.reference) else "mean"
        return Alternatives(f"{knob.what} at\n{knob.place}, packets", tuple(rows), round_trip)

    def _doubted(self, knob: Knob, row: Alternative, least: float | None) -> Alternative:
        """Say of a size below the answer that meets the targets why it is not the answer."""
        size = row.size_packets
        if size is None or not row.meets or row.chosen:
            return row
        is_refuted = size in self.refuted.get(knob, ())
        doubt = "refuted" if is_refuted else "by chance" if least is not None and size < least else ""
        return replace(row, note=", ".join(filter(None, (row.note, doubt))))


def _notes(knob: Knob, least: float | None) -> dict[float, str]:
    """Say which sizes are special: an ample one, a rule's, the present one, and the least if it is not the answer."""
    rule = next((rule.value for rule in knob.rules if rule.valid), None)
    notes = {float(knob.ample): "ample", **({rule: "rule"} if rule is not None else {}), knob.present: "now"}
    return notes if least is None else {**notes, least: "least"}


def _shown(runs: Mapping[float, Result], knob: Knob, chosen: float | None, below: int) -> set[float]:
    """Choose the sizes that a reader wants to see, and the nearest to the chosen one until there are enough."""
    wanted = {float(knob.start), float(knob.ample), knob.present, float(below)}
    if chosen is not None:
        wanted |= {chosen, float(neighbour(int(chosen)))}
    shown = wanted & set(runs)
    middle = chosen or float(knob.start)
    for size in sorted(set(runs) - shown, key=lambda size: abs(size - middle)):
        if len(shown) < MOST_ROWS:
            shown.add(size)
    return shown


def _alternative(  # noqa: PLR0913  by keyword
    knob: Knob, size: float, result: Result, judge: Judge, note: str, *, chosen: bool
) -> Alternative:
    return Alternative(
        size_packets=size if size < inf else None,
        utilisation_fraction=_of_links(result, knob.links, "utilisation_fraction"),
        throughput_bps=of_flows("throughput_bps")(result),
        rtt_p95_s=of_longest_round_trip(result),
        loss_fraction=_of_links(result, knob.links, "loss_fraction"),
        loss_cycles=loss_cycles(result),
        meets=not judge.names_of_missed(result),
        chosen=chosen,
        note=note,
        missed=judge.names_of_missed(result),
    )


def _of_links(result: Result, names: tuple[str, ...], key: str) -> Estimate:
    """Measure a quantity of a link; of several the mean, without an interval."""
    found = [of_link(name, key)(result) for name in names]
    if len(found) == 1:
        return found[0]
    means = [one["mean"] or 0.0 for one in found]
    return Estimate(mean=sum(means) / len(means), low=None, high=None, n=found[0]["n"])


def in_words(length: Length, result: Result) -> str:
    """Say for how long, and over how many loss cycles, a run was measured."""
    cycles = plural(round(loss_cycles(result)), "loss cycle")
    measured = seconds(length.duration_s - length.warmup_s)
    times = "" if result.summary["replications"] == 1 else f" {result.summary['replications']} times"
    return f"{measured}{times}, {cycles}"
