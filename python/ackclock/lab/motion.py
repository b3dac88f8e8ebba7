"""Slow motion: a short part of a run, with each packet and each ACK at each link."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from ackclock.errors import Fault, LimitError
from ackclock.scenario import Resolved
from ackclock.stories import Journey, followed, plain, stories

MOST_JOURNEYS: Final = 6000
"""Largest number of packets and ACKs of an answer; the part of the run is made shorter until it has fewer."""


def motion(resolved: Resolved, start: float, end: float, on_fraction: Callable[[float], None]) -> dict[str, Any]:
    """Follow each packet that is in flight between two times.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    start, end : float
        The times [s].
    on_fraction : callable
        Gets the fraction done of the run that records them.

    Returns
    -------
    dict
        `start` and `end` of what is shown, `journeys`, the stories of packets (`stories`), and what happened to the
        senders (`events`).

    Raises
    ------
    LimitError
        If recording each packet takes too much memory, or the scenario has ATM channels.
    """
    if resolved.atm is not None:
        problem = "does not show ATM channels, whose cells are not packets"
        raise LimitError(Fault("slow motion", problem, hint="the curves and the numbers have them"))
    end = min(end, resolved.run.duration_s)
    seen = followed(resolved, start, end, "slow motion", lambda fraction, _: on_fraction(fraction))
    short, all_journeys = seen.resolved, seen.journeys
    end, shown = _few([one for one in all_journeys if one.sent <= end and one.ended >= start], end)
    names = short.flow_names
    found = {(one.flow, one.number) for one in shown if not one.answer}
    told = stories(short, seen.traces, [one for one in all_journeys if (one.flow, one.number) in found])
    return {
        "start": start,
        "end": end,
        "elements": [element.name for element in short.elements],
        "journeys": [plain(one, short, names) for one in shown],
        "stories": {f"{names[flow]} {number}": story.plain() for (flow, number), story in told.items()},
        "cwnd": _windows(seen.traces, start, end),
    }


def _few(shown: list[Journey], end: float) -> tuple[float, list[Journey]]:
    """Shorten the part of the run until it has few enough journeys."""
    if len(shown) <= MOST_JOURNEYS:
        return end, shown
    last = sorted(one.sent for one in shown)[MOST_JOURNEYS]
    return last, [one for one in shown if one.sent <= last]


def _windows(traces: Mapping[str, Any], start: float, end: float) -> list[list[Any]]:
    """Give the changes of cwnd between two times: flow, instant, cwnd, ssthresh if it limits anything."""
    rows = traces["cwnd"]
    rows = rows[(rows["time_s"] >= start) & (rows["time_s"] <= end)]
    columns = (rows[name].tolist() for name in ("flow", "time_s", "cwnd", "ssthresh"))
    return [
        [str(flow), time, cwnd, ssthresh if ssthresh < 1e9 else None]
        for flow, time, cwnd, ssthresh in zip(*columns, strict=True)
    ]
