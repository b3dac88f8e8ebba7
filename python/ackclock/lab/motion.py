"""Slow motion: a short part of a run, with each packet and each ACK at each link."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from math import ceil
from typing import Any, Final

from ackclock.api import expected, simulate
from ackclock.errors import Fault, LimitError
from ackclock.lab.bounds import MOTION_BYTES
from ackclock.lab.captured import departures
from ackclock.lab.journeys import Journey, journeys, plain
from ackclock.lab.stories import stories
from ackclock.paths import empty_round_trip_s
from ackclock.scenario import Resolved

MOST_JOURNEYS: Final = 6000
"""Largest number of packets and ACKs of an answer; the part of the run is made shorter until it has fewer."""
ROUND_TRIPS: Final = 6.0
"""Length of what is simulated after the part that is shown, for the fates of its packets [empty round trips]."""
LEAST_S: Final = 0.5
_BLOCK_BYTES: Final = 120
"""Bytes of a packet in a capture, in addition to its own."""


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
    longest = max((empty_round_trip_s(resolved, flow) for flow in resolved.flows if flow.connection), default=0.0)
    around = max(LEAST_S, ROUND_TRIPS * longest)
    short = _shortened(resolved, min(end + around, resolved.run.duration_s))
    _check_memory(short)
    result = simulate(short, picture=False, on_progress=lambda fraction, _: on_fraction(fraction))
    since = max(0.0, start - around)
    left = departures(short, result.captures, since, short.run.duration_s)
    all_journeys = journeys(short, result.traces, left, since)
    end, shown = _few([one for one in all_journeys if one.sent <= end and one.ended >= start], end)
    names = short.flow_names
    found = {(one.flow, one.number) for one in shown if not one.answer}
    told = stories(short, result.traces, [one for one in all_journeys if (one.flow, one.number) in found])
    return {
        "start": start,
        "end": end,
        "elements": [element.name for element in short.elements],
        "journeys": [plain(one, short, names) for one in shown],
        "stories": {f"{names[flow]} {number}": story.plain() for (flow, number), story in told.items()},
        "cwnd": _windows(result.traces, start, end),
    }


def _few(shown: list[Journey], end: float) -> tuple[float, list[Journey]]:
    """Shorten the part of the run until it has few enough journeys."""
    if len(shown) <= MOST_JOURNEYS:
        return end, shown
    last = sorted(one.sent for one in shown)[MOST_JOURNEYS]
    return last, [one for one in shown if one.sent <= last]


def _shortened(resolved: Resolved, end: float) -> Resolved:
    """Return the scenario's first replication up to an instant, with each packet recorded."""
    warmup = min(resolved.run.warmup_s, end / 2.0)
    run = replace(resolved.run, duration_s=end, warmup_s=warmup, replications=1, precision=None, delays=False)
    crossed = {index for flow in resolved.flows for index in flow.crossed}
    links = [element.name for index, element in enumerate(resolved.elements) if index in crossed]
    links = [name for name in links if resolved.elements_by_name[name].kind != "host"]
    duplex = tuple(dict.fromkeys(name.removesuffix(".reverse") for name in links))
    trace = replace(resolved.trace, sequence=True, drops=True, losses=True, cwnd=True, delay=True, capture=duplex)
    return replace(resolved, run=run, trace=replace(trace, rtt=False, queue=False, state=False))


def _check_memory(resolved: Resolved) -> None:
    packets = expected(resolved).packets
    sizes = sum(flow.packet_bytes + flow.answer_bytes + 2 * _BLOCK_BYTES for flow in resolved.flows)
    links = len(resolved.trace.capture or ())
    needed = packets * links * sizes / len(resolved.flows)
    if needed > MOTION_BYTES:
        end = resolved.run.duration_s * MOTION_BYTES / needed
        problem = f"each packet up to {resolved.run.duration_s:.3g} s takes about {ceil(needed / 1e6):,} MB to record"
        hint = f"look at a part of the run before about {end:.2g} s, or lower the rates"
        raise LimitError(Fault("slow motion", problem, allowed=f"{MOTION_BYTES / 1e6:,.0f} MB", hint=hint))


def _windows(traces: Mapping[str, Any], start: float, end: float) -> list[list[Any]]:
    """Give the changes of cwnd between two times: flow, instant, cwnd, ssthresh if it limits anything."""
    rows = traces["cwnd"]
    rows = rows[(rows["time_s"] >= start) & (rows["time_s"] <= end)]
    columns = (rows[name].tolist() for name in ("flow", "time_s", "cwnd", "ssthresh"))
    return [
        [str(flow), time, cwnd, ssthresh if ssthresh < 1e9 else None]
        for flow, time, cwnd, ssthresh in zip(*columns, strict=True)
    ]
