"""Checks of what a caller chose to see of a result: panels, a part of the run, flows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from ackclock.errors import ArgumentError, Fault
from ackclock.pictures import TRACES_OF_PANELS, Choice
from ackclock.scenario.arguments import NAMES, NUMBER, Allowed, check_arguments

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.scenario import Resolved
    from ackclock.summary import Summary

_MOST_NAMES: Final = 24
DEFAULT: Final = ("cwnd", "queue")
"""The panels if a range of times or flows is chosen, and panels are not; without a queue the first alone."""
_RANGE = Allowed(
    "begin and end in seconds, such as (10, 20)",
    lambda value: isinstance(value, list | tuple) and len(value) == 2 and all(map(NUMBER.holds, value)),
)


def default_choice(summary: Summary) -> Choice:
    """Return the panels that are drawn if none are chosen."""
    return _with_queue_if_any(summary, Choice(DEFAULT))


def chosen(  # noqa: PLR0913, PLR0917  what the callers got
    function: str,
    resolved: Resolved,
    summary: Summary,
    panels: Sequence[str] | None,
    between: tuple[float, float] | None,
    flows: Sequence[str] | None,
) -> Choice | None:
    """Check what a caller chose.

    Parameters
    ----------
    function : str
        The function that was called, for messages.
    resolved : Resolved
        The scenario that was run.
    summary : Summary
        Its summary.
    panels, between, flows
        As for `Result.plot`.

    Returns
    -------
    Choice or None
        None if nothing was chosen.

    Raises
    ------
    ArgumentError
        If a name is unknown, or the range is not a part of the run.
    """
    check_arguments(
        function,
        panels=(panels, NAMES.or_none()),
        between=(between, _RANGE.or_none()),
        flows=(flows, NAMES.or_none()),
    )
    _check_names(function, "panels", panels, tuple(TRACES_OF_PANELS))
    known = dict.fromkeys((*(flow.name for flow in resolved.flows), *resolved.flow_names))
    _check_names(function, "flows", flows, tuple(known))
    end = resolved.run.duration_s
    if between is not None and not 0.0 <= between[0] < between[1] <= end:
        given, allowed = f"{between[0]:g} to {between[1]:g} s", f"a part of 0 to {end:g} s"
        raise ArgumentError(Fault(f'{function}(), argument "between"', "is not a part of the run", given, allowed))
    if panels is None and between is None and flows is None:
        return None
    choice = Choice(
        DEFAULT if panels is None else tuple(panels),
        None if between is None else (float(between[0]), float(between[1])),
        None if flows is None else tuple(flows),
    )
    return choice if panels is not None else _with_queue_if_any(summary, choice)


def _with_queue_if_any(summary: Summary, choice: Choice) -> Choice:
    longest = [row["queue_max_packets"]["mean"] for row in summary["links"]]
    waited = any(one is not None and one > 1.0 for one in longest)
    return choice if waited else replace(choice, panels=("cwnd",))


def _check_names(function: str, argument: str, given: Sequence[str] | None, known: Sequence[str]) -> None:
    if given is None:
        return
    place = f'{function}(), argument "{argument}"'
    if not given:
        raise ArgumentError(Fault(place, "names nothing to draw", "[]", f"some of {listed(known)}"))
    for name in given:
        if name not in known:
            raise ArgumentError(Fault(place, f"has no {argument[:-1]} of this name", f'"{name}"', listed(known)))


def listed(names: Sequence[str]) -> str:
    """Write names for a message, the first of many."""
    shown = ", ".join(f'"{name}"' for name in names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES:,} more"
