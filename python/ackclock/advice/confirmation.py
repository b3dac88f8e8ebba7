"""Confirmation of an answer: by a longer run, by other random numbers, by both, or by nothing."""

from collections.abc import Iterable
from dataclasses import dataclass

from ackclock.advice.lengths import Length
from ackclock.result import Result
from ackclock.scenario import Resolved


@dataclass(frozen=True, slots=True)
class Confirmation:
    """The second run of an answer, next to that of the search.

    Parameters
    ----------
    is_longer : bool
        Whether it is measured for twice the time.
    is_random : bool
        Whether one of the runs that are compared draws random numbers.
    has_ended : bool
        Whether all flows are transfers that ended in the first run: a longer one shows the same.
    """

    is_longer: bool
    is_random: bool
    has_ended: bool = False

    @property
    def is_missing(self) -> bool:
        """Return whether the second run is the first again, so that it confirms nothing."""
        return not self.is_random and (not self.is_longer or self.has_ended)

    @property
    def words(self) -> str:
        """Differences from the first run, for people."""
        if not self.is_longer:
            return "with other random numbers" if self.is_random else "in the same run"
        return f"in runs of twice the time{' with other random numbers' if self.is_random else ''}"

    @property
    def why_missing(self) -> str:
        """Reason why no run could confirm the answer."""
        reason = "all transfers end" if self.has_ended else "the scenario changes at given instants"
        return f"nothing is random and {reason}: no other run could confirm the answer"


def confirmation(length: Length, compared: Iterable[Resolved], first: Iterable[Result] = ()) -> Confirmation:
    """Say what the second run of an answer is.

    Parameters
    ----------
    length : Length
        The length of the search's runs.
    compared : iterable of Resolved
        The scenarios that are compared.
    first : iterable of Result
        Their runs in the search.
    """
    is_random = any(not resolved.is_deterministic for resolved in compared)
    runs = list(first)
    has_ended = bool(runs) and all(map(_has_ended, runs))
    return Confirmation(not length.is_fixed, is_random, has_ended)


def _has_ended(result: Result) -> bool:
    """Return whether all flows are transfers, and over."""
    finished = [row["finish_s"] for row in result.summary["flows"]]
    return all(one is not None and one["mean"] is not None for one in finished)
