"""Trials of sizes: simulations with common random numbers, and the search among them."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from ackclock.advice.bench import MOST_RUNS, Bench, loss_cycles
from ackclock.advice.knobs import Knob
from ackclock.advice.lengths import Length
from ackclock.advice.search import Bracket, neighbour, smallest
from ackclock.result import Result
from ackclock.wording import number, plural, seconds

Sizes = Mapping[Knob, float]
"""A size for each knob that does not have the scenario's own."""


@dataclass(frozen=True, slots=True)
class Reach:
    """Sizes that a search tries.

    Parameters
    ----------
    start : int
        The first one [pkt].
    most : int
        The largest one [pkt].
    """

    start: int
    most: int


@dataclass
class Trials:
    """Runs of the scenario with sizes changed, all of one length and with common random numbers.

    Parameters
    ----------
    bench : Bench
        Where they run.
    length : Length
        Their length.
    knobs : tuple of Knob
        The sizes that may change.
    tried : dict
        The sizes of each knob that its last search has simulated, with the sizes that the others had.
    refuted : list of mapping
        The sizes of all knobs that meet the targets there, but not in the runs of the confirmation.
    """

    bench: Bench
    length: Length
    knobs: tuple[Knob, ...]
    tried: dict[Knob, dict[float, Sizes]] = field(default_factory=dict)
    refuted: list[Sizes] = field(default_factory=list)

    def run(self, sizes: Sequence[Sizes], what: str, length: Length | None = None) -> list[Result]:
        """Simulate several choices of sizes."""
        changes = [
            {key: value for knob, size in one.items() for key, value in knob.changes(size).items()} for one in sizes
        ]
        return self.bench.run_all(changes, what, length or self.length)

    def search(self, knob: Knob, others: Sizes, reach: Reach, passes: Callable[[Result], bool]) -> Bracket:
        """Find the smallest size of a knob that passes, with the others as given and with their neighbours above."""
        tried = self.tried.setdefault(knob, {})
        if any(elsewhere(sizes, knob) != others for sizes in tried.values()):
            tried.clear()

        def test(sizes: Sequence[int]) -> dict[int, bool]:
            if self.bench.spent:
                return dict.fromkeys(sizes, False)
            choices: list[Sizes] = [{**others, knob: size} for size in sizes]
            tried.update(zip(map(float, sizes), choices, strict=True))
            what = f"{knob.what} of {' and '.join(map(number, sizes))} packets at {knob.place}"
            runs = self.run(choices, f"{what}, up to simulation {MOST_RUNS}")
            passed = dict(zip(sizes, map(passes, runs), strict=True))
            if others and all(passed.values()):
                above = {other: float(neighbour(int(size))) for other, size in others.items()}
                (run,) = self.run([{**above, knob: sizes[0]}], f"{what}, larger elsewhere")
                passed[sizes[0]] = passes(run)
            return passed

        return smallest(test, reach.start, reach.most, knob.least)

    def search_in_step(self, most: Mapping[Knob, int], passes: Callable[[Result], bool]) -> dict[Knob, float] | None:
        """Find the smallest sizes that pass with all of them the same part of the largest; None if none do."""
        first = max(self.knobs, key=lambda knob: most[knob])

        def at(size: int) -> dict[Knob, float]:
            part = size / most[first]
            return {knob: float(max(knob.least, round(part * most[knob]))) for knob in self.knobs}

        def test(sizes: Sequence[int]) -> dict[int, bool]:
            if self.bench.spent:
                return dict.fromkeys(sizes, False)
            what = f"{first.what}s in step, {' and '.join(map(number, sizes))} packets at {first.place}"
            runs = self.run([at(size) for size in sizes], f"{what}, up to simulation {MOST_RUNS}")
            return dict(zip(sizes, map(passes, runs), strict=True))

        bracket = smallest(test, first.start, most[first], first.least)
        return None if bracket.size is None else at(bracket.size)


def elsewhere(sizes: Sizes, knob: Knob) -> Sizes:
    """Give the sizes of the other knobs."""
    return {other: size for other, size in sizes.items() if other != knob}


def in_words(length: Length, result: Result) -> str:
    """Say for how long, and over how many loss cycles, a run was measured."""
    cycles = plural(round(loss_cycles(result)), "loss cycle")
    measured = seconds(length.duration_s - length.warmup_s)
    times = "" if result.summary["replications"] == 1 else f" {result.summary['replications']} times"
    return f"{measured}{times}, {cycles}"
