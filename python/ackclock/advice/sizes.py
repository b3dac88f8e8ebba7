"""The search of one or several sizes: every one as small as the targets allow, confirmed by other random numbers."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from math import nan

from ackclock.advice.alternatives import Alternatives
from ackclock.advice.bench import Bench, loss_cycles, mean_slowdown, round_trips_s
from ackclock.advice.confirmation import Confirmation, confirmation
from ackclock.advice.judge import Judge, has_transfers
from ackclock.advice.knobs import Knob
from ackclock.advice.lengths import LONE_CYCLES, Length
from ackclock.advice.search import Bracket, neighbour
from ackclock.advice.size_table import SizeTable
from ackclock.advice.trials import Reach, Sizes, Trials, elsewhere
from ackclock.result import Result

CONFIRMATIONS = 3
"""Number of times that a size which is refuted gives way to its neighbour above."""
SEARCHES_OF_EACH = 3
"""Number of times that each of two sizes is searched at most, as the least of one depends on the other."""
WORTH = 0.05
"""Least part of the round trips that a smaller size must save in the mean over flows, if the present one is enough."""
SLOWER = 0.05
"""Relative increase of the time of transfers from which a size is not advised for the sake of a loss by default."""


@dataclass(frozen=True)
class Answer:
    """Outcome of a search.

    Parameters
    ----------
    knobs : tuple of Knob
        What was searched.
    brackets : dict
        The outcome of each search.
    sizes : dict, optional
        The sizes that hold in the confirmation; None if there are none.
    trials : Trials
        All that was simulated.
    judge, confirming : Judge
        The targets, for the runs of the search and for those of the confirmation.
    base, before : Result
        The scenario as it is, in both.
    found, after : Result
        The sizes found, in both.
    is_settled : bool
        Whether each size was searched with the others as they were found, where there are several.
    """

    knobs: tuple[Knob, ...]
    brackets: dict[Knob, Bracket]
    sizes: dict[Knob, float] | None
    trials: Trials
    judge: Judge
    confirming: Judge
    base: Result
    before: Result
    found: Result
    after: Result
    is_settled: bool = True

    @property
    def confirmation(self) -> Confirmation:
        """The confirmation's runs, next to those of the search."""
        return confirmation(self.trials.length, [self.trials.bench.resolved], [self.base, self.found])

    @property
    def is_enough(self) -> bool:
        """Return whether the present sizes meet the targets, in the search's runs and in the confirmation's."""
        return not any(
            judge.missed(run) or judge.too_late(run)
            for judge, run in ((self.judge, self.base), (self.confirming, self.before))
        )

    @property
    def is_worth_it(self) -> bool:
        """Return whether the sizes found are to be recommended: they meet what the present ones miss, or save delay."""
        if self.sizes is None or self.confirming.too_late(self.after):
            return False
        if self.is_bought_too_dear or self.is_luck:
            return False
        if not self.is_enough:
            return True
        pairs = ((self.base, self.found), (self.before, self.after))
        return all(_remaining(*pair) < 1.0 - WORTH for pair in pairs)

    @property
    def times_slower(self) -> float:
        """The mean slowdown of transfers with the sizes found over that with the present ones [1]; nan of none."""
        before, after = (mean_slowdown(run.summary.get("completions", ())) for run in (self.before, self.after))
        return after / before if before > 0.0 else nan

    @property
    def is_bought_too_dear(self) -> bool:
        """Return whether a loss that the user did not ask for makes transfers slower: those show what a loss costs."""
        return "loss" not in self.judge.targets.named and self.times_slower > 1.0 + SLOWER

    @property
    def is_luck(self) -> bool:
        """Return whether the size rests on a few losses of transfers: other transfers have others."""
        return self.is_enough and has_transfers(self.base) and 0.0 < loss_cycles(self.after) < LONE_CYCLES

    @property
    def changes(self) -> dict[str, str]:
        """The fields that differ from the scenario's."""
        if self.sizes is None or not self.is_worth_it:
            return {}
        different = [(knob, size) for knob, size in self.sizes.items() if size != knob.present]
        return {field: value for knob, size in different for field, value in knob.changes(size).items()}

    def table(self, knob: Knob) -> Alternatives:
        """Lay out the sizes of a knob that were tried."""
        below, keep = self.brackets[knob].below, not self.changes
        return SizeTable(self.trials, self.judge, knob, self.sizes, below, keep).alternatives


def _remaining(before: Result, after: Result) -> float:
    """Compute the ratio of the round trips after to those before, in the mean over the flows [1]."""
    old, new = round_trips_s(before), round_trips_s(after)
    ratios = [new[name] / old[name] for name in old.keys() & new.keys() if old[name] > 0.0]
    return sum(ratios) / len(ratios) if ratios else 1.0


def search_sizes(bench: Bench, knobs: Sequence[Knob], length: Length) -> Answer:
    """Search the smallest sizes that meet the targets, one knob after the other, and confirm them.

    Parameters
    ----------
    bench : Bench
        Where the simulations run.
    knobs : sequence of Knob
        The sizes, at least one.
    length : Length
        Length of the runs.
    """
    trials = Trials(bench, length, tuple(knobs))
    ample: dict[Knob, float] = {knob: float(knob.ample) for knob in knobs}
    bench.announce_search(length)
    base, reference = trials.run([{}, ample], "the scenario as it is, and with ample sizes")
    links = tuple(dict.fromkeys(knob.links for knob in knobs))
    judge = Judge(bench.targets, links, reference)
    brackets, sizes, is_settled = search_each(trials, judge)
    found = Answer(tuple(knobs), brackets, sizes, trials, judge, judge, base, base, base, base, is_settled)
    return found if sizes is None else _confirmed(found, ample)


def search_each(trials: Trials, judge: Judge) -> tuple[dict[Knob, Bracket], dict[Knob, float] | None, bool]:
    """Search a size; of several all in step, then each with the others as found, until none can be smaller.

    Parameters
    ----------
    trials : Trials
        Where the simulations run.
    judge : Judge
        The targets.

    Returns
    -------
    brackets : dict
        The outcome of the last search of each.
    sizes : dict, optional
        The sizes [pkt]; None if none pass.
    is_settled : bool
        Whether each was searched with the others as found.
    """
    most = {knob: judge.most(knob) for knob in trials.knobs}

    def passes(result: Result) -> bool:
        return not judge.missed(result)

    if len(most) == 1:
        (only,) = trials.knobs
        bracket = trials.search(only, {}, Reach(only.start, most[only]), passes)
        return {only: bracket}, None if bracket.size is None else {only: float(bracket.size)}, True
    sizes = trials.search_in_step(most, passes)
    if sizes is None:
        return {knob: Bracket(None, largest) for knob, largest in most.items()}, None, True
    return _lowered(trials, sizes, passes)


def _lowered(
    trials: Trials, sizes: dict[Knob, float], passes: Callable[[Result], bool]
) -> tuple[dict[Knob, Bracket], dict[Knob, float], bool]:
    """Lower each of several sizes that pass as far as the others, as they are by then, allow."""
    brackets = {knob: Bracket(int(size), 0) for knob, size in sizes.items()}
    searched_with: dict[Knob, Sizes] = {}
    for _ in range(SEARCHES_OF_EACH * len(sizes)):
        knob = next((one for one in sizes if searched_with.get(one) != elsewhere(sizes, one)), None)
        if knob is None:
            return brackets, sizes, True
        if trials.bench.spent:
            break
        largest, failed = int(sizes[knob]), brackets[knob].below
        searched_with[knob] = elsewhere(sizes, knob)
        found = trials.search(knob, searched_with[knob], Reach(failed or largest // 2, largest), passes)
        # Where even this size does not hold with larger ones elsewhere, it is as small as it can be.
        brackets[knob] = Bracket(found.size or largest, found.below if found.size else 0)
        sizes = {**sizes, knob: float(found.size or largest)}
    return brackets, sizes, False


def _confirmed(found: Answer, ample: dict[Knob, float]) -> Answer:
    """Simulate the sizes for twice the time with other random numbers; one that is refuted gives way to the next."""
    other, how = found.trials.length.other, found.confirmation.words
    for _ in range(CONFIRMATIONS):
        runs = found.trials.run([{}, ample, found.sizes or {}], f"the answer once more, {how}", other)
        before, reference, after = runs
        found = replace(found, confirming=replace(found.judge, reference=reference), before=before, after=after)
        if not found.confirming.missed(after):
            found = _smaller(found)
            (searched,) = found.trials.run([found.sizes or {}], "the answer")
            return replace(found, found=searched)
        found.trials.refuted.append(found.sizes or {})
        above = {knob: float(neighbour(int(size))) for knob, size in (found.sizes or {}).items()}
        found = replace(found, sizes=above, is_settled=len(above) == 1)
    return replace(found, sizes=None)


def _smaller(found: Answer) -> Answer:
    """Take a smaller size that the search has tried and that holds too, so that no row above the answer contradicts it.

    A size that was refuted gave way to its neighbour, a tenth above; the search may have tried one between.
    """
    for knob, size in (found.sizes or {}).items():
        for smaller in _tried_between(found, knob, size):
            sizes = {**(found.sizes or {}), knob: smaller}
            (after,) = found.trials.run([sizes], "a smaller size", found.trials.length.other)
            other = replace(found, sizes=sizes, after=after)
            if not found.confirming.missed(after):
                found = other
                break
            found.trials.refuted.append(sizes)
    return found


def _tried_between(found: Answer, knob: Knob, size: float) -> list[float]:
    """Give the sizes that hold in the search, above the largest that does not and below a size, unrefuted ones."""
    refuted = {sizes[knob] for sizes in found.trials.refuted}
    below = found.brackets[knob].below
    tried = {one: others for one, others in found.trials.tried.get(knob, {}).items() if below < one < size}
    return [
        one
        for one, others in sorted(tried.items())
        if one not in refuted and not any(map(found.judge.missed, _with_neighbour(found, knob, others)))
    ]


def _with_neighbour(found: Answer, knob: Knob, sizes: Sizes) -> list[Result]:
    above = {**sizes, knob: float(neighbour(int(sizes[knob])))}
    return found.trials.run([sizes, above], "a smaller size and its neighbour above")


def largest_within(answer: Answer, knob: Knob) -> float | None:
    """Find the largest size of a knob whose round trips are short enough, the others as found.

    It is 0 if none is, and None if the search is over.
    """
    judge, others = answer.judge, elsewhere(answer.sizes or {}, knob)
    most = int((answer.sizes or {}).get(knob, knob.ample))
    reach = Reach(knob.start, most)
    bracket = answer.trials.search(knob, others, reach, lambda result: bool(judge.too_late(result)))
    if answer.trials.bench.spent:
        return None
    return float(most) if bracket.size is None else max(0.0, float(min(bracket.size - 1, most)))
