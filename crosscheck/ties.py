"""Find a run of ns-2 that agrees with ours where its order of simultaneous events decides."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import product

from crosscheck import ns2
from crosscheck.compare import Verdict
from crosscheck.ns2_shake import DRIFT, GROWTH, LITTLE_GROWTH, QUIET, TIME_TOLERANCE_S, WAYS, Piece, Shake
from crosscheck.outcome import Outcome, compare_outcomes, queues_differ_s
from crosscheck.subset import Scenario, has_red

Pieces = tuple[Piece, ...]

MENDING_WAYS = (7, 1, 8, 9, 13, 4, 10, 14, 11, 15, 12, 16, 17, 18)
"""Ways of shaking at a tie: first those that throw the coin again."""

TURNS = (0, 4, 8)
"""Places in `MENDING_WAYS` at which the ways begin, in turn: how one tie fell decides which others can be mended."""

LOOK_BACK_S = (0.3, 0.1, 1.0, 3.0, 0.05, 0.02)
"""Times by which the shaking begins before the difference that it is to mend, in turn [s].

The shorter it is, the fewer other ties are thrown again; the longer, the more of what leads to the tie is shaken.
"""

LOOK_AHEAD_S = 2.0
"""Time by which a run goes on after the difference that it is to mend, before it is known whether it does [s]."""

MOST_RUNS = 1000
"""Runs of ns-2 that are shaken in other ways at single ties, for one scenario and one way elsewhere at most.

Where packets tie again and again, some hundred ties in a row must fall as ours, each after two to five runs.
"""

MANY_TIES = 50
"""Ties that were mended one after another from which a run that still differs is undecided.

A shaken run of ns-2 gets beyond few differences that are not ties: another rule of RED fails long before. A difference
behind so large a number of ties counts as one of them.
"""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of shaken runs of ns-2 with ours.

    Parameters
    ----------
    runs : int
        Runs shaken in one way throughout, one after the other until one agrees.
    pieces : int
        Parts of a run that agrees where none of one way does, each shaken in a way of its own: one before the first
        tie, and two for each tie; 0 if none was found. Where none agrees to the end, those of one that gets beyond
        more than `MANY_TIES` before the search ends.
    until_s : float
        Instant up to which the best run agrees, what packets find at a RED included; infinite if its windows do to the
        end [s].
    """

    runs: int
    pieces: int
    until_s: float

    @property
    def found(self) -> bool:
        """Return whether a run agrees to the end."""
        return self.until_s == math.inf

    @property
    def undecided(self) -> bool:
        """Return whether no run agrees to the end, though one gets beyond many ties."""
        return not self.found and self.pieces > 0

    def line(self) -> str:
        """Say it in words."""
        if self.found and not self.pieces:
            return f"run {self.runs} of ns-2, shaken by as much as the clocks differ, agrees with ours"
        said = f"of {self.runs} runs of ns-2, shaken by as much as the clocks differ, none agrees with ours"
        if self.undecided:
            shaken, until = f"shaken in other ways at {self.pieces // 2} ties", f"{self.until_s:.9f} s"
            return f"{said}; one that is {shaken} does until {until}, where the search ends"
        if self.pieces:
            return f"{said}; one does that is shaken in other ways at {self.pieces // 2} ties"
        return f"{said}; the best one does until {self.until_s:.9f} s"


def agreement(scenario: Scenario, ours: Outcome, verdicts: list[Verdict]) -> Agreement:
    """Look for shaken runs of ns-2 that agree with ours.

    First each way of shaking is tried throughout, and again with a little growth of delays, until one agrees to the
    end. If none does, a run is shaken at ties alone: from shortly before it differs from ours until then, in one way
    after another, and so on. Each tie is a coin that is thrown until it falls as ours. Elsewhere that run is not
    shaken: growing delays add up in all round trips, and after a minute some flows would be so far behind others that
    no shaking by as much as the clocks differ turned a tie of theirs. Where there are too many ties for that, the best
    one of the ways is mended so.

    A RED remembers a tie in its average for longer than the shaking looks back. So a run with RED differs from where a
    packet finds another queue there, though it agrees if its windows do to the end. As each tie at the RED counts then,
    there are too many for a run that is not shaken elsewhere, which is tried last.

    Parameters
    ----------
    scenario : dict
        Resolved scenario.
    ours : Outcome
        What our engine said of it.
    verdicts : list of Verdict
        How that differs from ns-2's run that is not shaken.

    Returns
    -------
    Agreement
        What was found.
    """
    drift = _drift(verdicts)

    def until(pieces: Pieces, end_s: float = math.inf, *, growth: float) -> float:
        theirs = ns2.run(scenario, shake=Shake(pieces, drift, growth), until_s=end_s)
        seen = scenario | {"run": scenario["run"] | {"duration_s": min(scenario["run"]["duration_s"], end_s)}}
        windows_s = min(verdict.differs_s for verdict in compare_outcomes(seen, theirs, ours, TIME_TOLERANCE_S))
        return windows_s if windows_s == math.inf else min(windows_s, queues_differ_s(theirs, ours, TIME_TOLERANCE_S))

    reached: dict[tuple[int, float], float] = {}
    for growth, way in product((GROWTH, LITTLE_GROWTH), WAYS):
        reached[way, growth] = until((Piece(way),), growth=growth)
        if reached[way, growth] == math.inf:
            return Agreement(len(reached), pieces=0, until_s=math.inf)
    furthest = 0.0
    best = max(reached, key=reached.__getitem__)
    for turn, (way, growth) in product(TURNS, _elsewhere(scenario, best)):
        pieces, until_s = _mended(way, turn, partial(until, growth=growth))
        if until_s == math.inf or len(pieces) > 2 * MANY_TIES:
            return Agreement(len(reached), len(pieces), until_s)
        furthest = max(furthest, until_s)
    return Agreement(len(reached), pieces=0, until_s=furthest)


def _elsewhere(scenario: Scenario, best: tuple[int, float]) -> tuple[tuple[int, float], tuple[int, float]]:
    """Give the ways and growths of the runs that are shaken in others at ties, in the order in which they are tried."""
    quiet = (QUIET, GROWTH)
    return (best, quiet) if any(map(has_red, scenario["elements"])) else (quiet, best)


def _mended(elsewhere: int, turn: int, until: Callable[[Pieces, float], float]) -> tuple[Pieces, float]:
    """Shake a run of one way in others where it differs, again and again, as long as that gets it further.

    A run that is to mend a tie ends soon after it; only one that agrees until then is played to the end.
    """
    ways = MENDING_WAYS[turn:] + MENDING_WAYS[:turn]
    tries = [(look_back_s, way) for look_back_s in LOOK_BACK_S for way in ways]
    pieces: Pieces = (Piece(elsewhere),)
    until_s, runs, tried = until(pieces, math.inf), 1, iter(tries)
    while until_s < math.inf and runs < MOST_RUNS and (attempt := next(tried, None)):
        look_back_s, way = attempt
        longer = (*_from_there(pieces, until_s - look_back_s, way), Piece(elsewhere, until_s))
        runs += 1
        at = until(longer, until_s + LOOK_AHEAD_S)
        if at == math.inf:
            runs += 1
            at = until(longer, math.inf)
        if at > until_s + 2 * TIME_TOLERANCE_S:
            pieces, until_s, tried = longer, at, iter(tries)
    return pieces, until_s


def _from_there(pieces: Pieces, from_s: float, way: int) -> Pieces:
    """Shake a run in another way from an instant on."""
    kept = tuple(piece for piece in pieces if piece.from_s < from_s)
    return (*kept, Piece(way, from_s)) if kept else (Piece(way),)


def _drift(verdicts: list[Verdict]) -> float:
    """Return the relative change of rates that is as large as the difference of the clocks, as the changes show it."""
    worst = max((verdict.worst_time_s / verdict.differs_s for verdict in verdicts if not verdict.passed), default=0.0)
    return max(DRIFT, worst)
