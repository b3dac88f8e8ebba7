"""Find a run of ns-2 that agrees with ours where its order of simultaneous events decides."""

import math
from collections.abc import Callable
from dataclasses import dataclass

from crosscheck import ns2
from crosscheck.compare import Verdict
from crosscheck.ns2_shake import DRIFT, TIME_TOLERANCE_S, WAYS, Piece, Shake
from crosscheck.outcome import Outcome, compare_outcomes
from crosscheck.subset import Scenario

Pieces = tuple[Piece, ...]

MENDING_WAYS = (6, 7, 8, 9, 1, 2)
"""Ways of shaking from a tie on: first those that throw the coin again."""

LOOK_BACK_S = (0.3, 2.0, 0.05, 8.0)
"""Times by which a piece begins before the difference that it is to mend, in turn [s]."""

MOST_RUNS = 120
"""Runs of ns-2 of more than one piece, for one scenario at most."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The agreement of shaken runs of ns-2 with ours.

    Parameters
    ----------
    runs : int
        Runs shaken in one way throughout.
    agreed : int
        Those of them that agree with ours to the end.
    pieces : int
        Parts of a run that agrees, each shaken in a way of its own, where none of one way does; 0 if none was found.
    until_s : float
        Instant up to which the best run agrees; infinite if it does to the end [s].
    """

    runs: int
    agreed: int
    pieces: int
    until_s: float

    @property
    def found(self) -> bool:
        """Return whether a run agrees to the end."""
        return self.agreed > 0 or self.pieces > 0

    def line(self) -> str:
        """Say it in words."""
        said = f"of {self.runs} runs of ns-2, shaken by as much as the clocks differ, {self.agreed} agree with ours"
        if self.agreed:
            return said
        if self.pieces:
            return f"{said}; one does that is shaken in another way from {self.pieces - 1} ties on"
        return f"{said}; none does, the best until {self.until_s:.9f} s"


def agreement(scenario: Scenario, ours: Outcome, verdicts: list[Verdict]) -> Agreement:
    """Look for shaken runs of ns-2 that agree with ours.

    First each way of shaking is tried throughout. If none agrees to the end, the best one is kept until shortly before
    it differs, and from there on the run is shaken in the other ways, and so on: each tie is a coin that is thrown
    again until it falls as ours.

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

    def until(pieces: Pieces) -> float:
        theirs = ns2.run(scenario, shake=Shake(pieces, drift))
        return min(verdict.differs_s for verdict in compare_outcomes(scenario, theirs, ours, TIME_TOLERANCE_S))

    reached = {way: until((Piece(way),)) for way in WAYS}
    agreed = sum(at == math.inf for at in reached.values())
    best = max(WAYS, key=lambda way: reached[way])
    if agreed:
        return Agreement(len(reached), agreed, 0, math.inf)
    pieces, until_s = _mended((Piece(best),), reached[best], until)
    return Agreement(len(reached), 0, len(pieces) if until_s == math.inf else 0, until_s)


def _mended(pieces: Pieces, until_s: float, until: Callable[[Pieces], float]) -> tuple[Pieces, float]:
    """Shake a run in other ways from shortly before it differs on, again and again, as long as that gets it further."""
    tries = [(look_back_s, way) for look_back_s in LOOK_BACK_S for way in MENDING_WAYS]
    runs = 0
    tried = iter(tries)
    while until_s < math.inf and runs < MOST_RUNS and (attempt := next(tried, None)):
        look_back_s, way = attempt
        longer = _continued(pieces, until_s - look_back_s, way)
        runs += 1
        at = until(longer)
        if at > until_s + 2 * TIME_TOLERANCE_S:
            pieces, until_s, tried = longer, at, iter(tries)
    return pieces, until_s


def _continued(pieces: Pieces, from_s: float, way: int) -> Pieces:
    """Shake a run in another way from an instant on."""
    kept = tuple(piece for piece in pieces if piece.from_s < from_s)
    return (*kept, Piece(way, from_s)) if kept else (Piece(way),)


def _drift(verdicts: list[Verdict]) -> float:
    """Return the relative change of rates that is as large as the difference of the clocks, as the changes show it."""
    worst = max((verdict.worst_time_s / verdict.differs_s for verdict in verdicts if not verdict.passed), default=0.0)
    return max(DRIFT, worst)
