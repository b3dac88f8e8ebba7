"""Checks that the axes of TCP fit together, those of the preset included."""

from collections.abc import Iterator

from ackclock.errors import Fault
from ackclock.scenario.places import Places
from ackclock.scenario.schema import Flow
from ackclock.scenario.schema_tcp import Rto
from ackclock.scenario.source import Location
from ackclock.scenario.tcp import completed, window_packets
from ackclock.units import show

SHORTEST_TICK_S = 1e-6
MOST_PACKETS = {"initial_window": 1e6, "initial_ssthresh": 1e9, "max_window": 1e9}
"""Largest windows; the initial one leaves in one burst."""


def tcp_faults(places: Places, location: Location, flow: Flow) -> Iterator[Fault]:
    """Give all faults between the axes.

    Parameters
    ----------
    places : Places
        Names the places.
    location : Location
        The TCP table of the flow.
    flow : Flow
        The flow.

    Yields
    ------
    Fault
        What does not fit.
    """
    for name, most in MOST_PACKETS.items():
        window = getattr(flow.tcp, name)
        if window is not None and window_packets(window, flow.packet) < 1:
            problem = f"is less than one packet of {flow.packet} B"
            yield places.fault((*location, name), problem, allowed=f"{flow.packet} B or more")
        elif window is not None and window_packets(window, flow.packet) > most:
            problem, allowed = f"is too many packets of {flow.packet} B", f"at most {most:g} pkt"
            yield places.fault((*location, name), problem, allowed=allowed.replace("e+0", "e"))
    rto = completed(flow.tcp).rto
    if rto.estimator == "ticks" and (rto.granularity or 0.0) < SHORTEST_TICK_S:
        field = "granularity" if flow.tcp.rto.gives("granularity") else "estimator"
        yield places.fault(
            (*location, "rto", field),
            "a coarse clock needs a tick",
            given=show(rto.granularity or 0.0, "s"),
            allowed="1 us or more",
        )
    yield from _timer_faults(places, (*location, "rto"), flow.tcp.rto, completed(flow.tcp).rto)


def _timer_faults(places: Places, location: Location, own: Rto, rto: Rto) -> Iterator[Fault]:
    for less, more in (("min", "max"), ("initial", "max")):
        low, high = getattr(rto, less), getattr(rto, more)
        if low > high:
            yield places.fault(
                (*location, less if own.gives(less) else more),
                f"{less} is above {more}",
                given=f"{less} = {show(low, 's')}, {more} = {show(high, 's')}",
                hint=None if own.gives(less) and own.gives(more) else "what is not given is the preset's",
            )
