"""A part of a run once more, with each packet and each ACK at each link."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from math import ceil, inf
from typing import Final

import pandas as pd

from ackclock.cost import estimate
from ackclock.engine import run_resolved
from ackclock.errors import Fault, LimitError
from ackclock.memory import trace_limit
from ackclock.paths import empty_round_trip_s
from ackclock.scenario import Resolved
from ackclock.stories.captured import departures
from ackclock.stories.journeys import Journey, journeys
from ackclock.traces import captures, trace_frames

MOST_BYTES: Final = 4e8
"""Expected memory of the packets that are recorded at all links [B]."""
ROUND_TRIPS: Final = 6.0
"""Length of what is simulated after the part that is asked for, for the fates of its packets [empty round trips]."""
LEAST_S: Final = 0.5
AT_FIRST_S: Final = 1.0
"""Time for which a packet that nothing acknowledges is followed at first [s]."""
LONGER: Final = 4.0
"""Factor of that time if the packet has not arrived by then."""
_BLOCK_BYTES: Final = 120
"""Bytes of a packet in a capture, in addition to its own."""

Key = tuple[int, int]
"""A packet: the number of its flow, and its own."""


@dataclass(frozen=True)
class Followed:
    """A part of a run with each packet.

    Parameters
    ----------
    resolved : Resolved
        The scenario as it was run for this.
    traces : mapping of str to DataFrame
        Its traces, from the beginning of the run on.
    journeys : list of Journey
        Each copy of a packet and each ACK that was sent shortly before the part, in it, or shortly after it.
    """

    resolved: Resolved
    traces: Mapping[str, pd.DataFrame]
    journeys: list[Journey]


def followed(  # noqa: PLR0913  all but five by name
    resolved: Resolved,
    start: float,
    end: float,
    what: str,
    on_progress: Callable[[float, int], None] | None = None,
    *,
    instead: str = "look at a part of the run",
) -> Followed:
    """Simulate the first replication up to an instant, and follow each packet from another instant on.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    start, end : float
        The part of the run [s].
    what : str
        What it is for, as a message names it.
    on_progress : callable, optional
        Gets the fraction done and the replications finished.
    instead : str
        Advice of a message where it takes too much memory, up to the latest instant.

    Raises
    ------
    LimitError
        If recording each packet takes too much memory.
    KeyboardInterrupt
        After Ctrl-C.
    """
    longest = max((empty_round_trip_s(resolved, flow) for flow in resolved.flows if flow.connection), default=0.0)
    around = max(LEAST_S, ROUND_TRIPS * longest)
    short = followed_scenario(resolved, min(end + around, resolved.run.duration_s))
    _check_memory(short, what, instead)
    outcome = run_resolved(short, threads=1, on_progress=on_progress)
    if not outcome.replications:
        raise KeyboardInterrupt
    traces, since = trace_frames(short, outcome), max(0.0, start - around)
    left = departures(short, captures(outcome), since, short.run.duration_s)
    return Followed(short, traces, journeys(short, traces, left, since))


def followed_to_its_end(resolved: Resolved, key: Key, start: float, what: str, instead: str) -> Followed:
    """Follow a packet that nothing acknowledges, and its echo if it is a ping, for as long as that takes.

    Parameters
    ----------
    resolved : Resolved
        The scenario.
    key : (int, int)
        The number of its flow, and its own.
    start : float
        The instant at which it was sent [s].
    what, instead : str
        As for `followed`.

    Raises
    ------
    LimitError
        If recording each packet takes too much memory.
    """
    length, whole = AT_FIRST_S, resolved.run.duration_s
    flow = next(flow for flow in resolved.flows if resolved.flow_names[key[0]] in flow.names)
    while True:
        seen = followed(resolved, start, min(start + length, whole), what, instead=instead)
        own = [one for one in seen.journeys if (one.flow, one.number) == key and one.ended < inf]
        if len(own) == 1 + bool(flow.return_path) or any(one.dropped for one in own) or start + length >= whole:
            return seen
        length *= LONGER


def followed_scenario(resolved: Resolved, end: float) -> Resolved:
    """Return the scenario's first replication up to an instant [s], with each packet recorded."""
    warmup = min(resolved.run.warmup_s, end / 2.0)
    run = replace(resolved.run, duration_s=end, warmup_s=warmup, replications=1, precision=None, delays=False)
    crossed = {index for flow in resolved.flows for index in flow.crossed}
    links = [element.name for index, element in enumerate(resolved.elements) if index in crossed]
    links = [name for name in links if resolved.elements_by_name[name].kind != "host"]
    duplex = tuple(dict.fromkeys(name.removesuffix(".reverse") for name in links))
    trace = replace(resolved.trace, sequence=True, drops=True, losses=True, cwnd=True, delay=True, capture=duplex)
    return replace(resolved, run=run, trace=replace(trace, rtt=False, queue=False, state=True))


def _check_memory(resolved: Resolved, what: str, instead: str) -> None:
    packets = estimate(resolved, threads=1, trace_bytes=trace_limit()).packets
    sizes = sum(flow.packet_bytes + flow.answer_bytes + 2 * _BLOCK_BYTES for flow in resolved.flows)
    links = len(resolved.trace.capture or ())
    needed = packets * links * sizes / len(resolved.flows)
    if needed > MOST_BYTES:
        end = resolved.run.duration_s * MOST_BYTES / needed
        problem = f"each packet up to {resolved.run.duration_s:.3g} s takes about {ceil(needed / 1e6):,} MB to record"
        hint = f"{instead} before about {end:.2g} s, or lower the rates"
        raise LimitError(Fault(what, problem, allowed=f"{MOST_BYTES / 1e6:,.0f} MB", hint=hint))
