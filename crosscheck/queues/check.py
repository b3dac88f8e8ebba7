"""Compare a drawn queue of ours with ns-2's."""

from dataclasses import dataclass

from crosscheck.queues import ns2, ours
from crosscheck.queues.draw import DURATION_S, Case
from crosscheck.queues.events import Difference, first_difference


@dataclass(frozen=True, slots=True)
class Report:
    """The comparison of a queue.

    Parameters
    ----------
    name : str
        Name of the scenario: the discipline, the seed and the number.
    arrivals, departures, drops, marks : int
        Number of the events that were compared, of our engine.
    difference : Difference or None
        The first event that is not ns-2's.
    """

    name: str
    arrivals: int
    departures: int
    drops: int
    marks: int
    difference: Difference | None

    def line(self) -> str:
        """Describe the comparison in a line."""
        if self.difference:
            return f"FAIL {self.name}: {self.difference}"
        counts = f"{self.arrivals} arrivals, {self.departures} departures, {self.drops} drops, {self.marks} marks"
        return f"PASS {self.name}: {counts}"


def check(case: Case, other: Case | None = None) -> Report:
    """Play a scenario in our engine, and its arrivals at ns-2's queue.

    Parameters
    ----------
    case : Case
        The scenario.
    other : Case, optional
        A scenario whose queue ns-2 has instead.

    Returns
    -------
    Report
        Whether both did the same, event by event.

    Raises
    ------
    crosscheck.ns2.Ns2Error
        Where ns-2 is missing, fails or takes too long.
    """
    played = ours.play(case.resolved)
    theirs = ns2.play((other or case).with_seeds(len(played.arrivals)), played.arrivals)
    events = played.events
    difference = first_difference(theirs, events, DURATION_S)
    return Report(case.name, len(played.arrivals), len(events.departures), len(events.drops), events.marks, difference)
