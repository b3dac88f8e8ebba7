"""Checks of what must fit together in an ATM network."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from ackclock.errors import Fault
from ackclock.scenario.atm import AtmTables
from ackclock.scenario.network import mirrored
from ackclock.scenario.places import Places, ordinal
from ackclock.scenario.schema_atm import Channel, CrossTraffic
from ackclock.scenario.source import Location
from ackclock.scenario.suggestions import did_you_mean
from ackclock.units import show

_MOST_BITS_ON_A_LINK = 2e7 * 53 * 8


def atm_faults(places: Places, tables: AtmTables) -> Iterator[Fault]:
    """Give the faults that lie between the fields of an ATM network.

    Parameters
    ----------
    places : Places
        Names the places.
    tables : AtmTables
        The tables.

    Yields
    ------
    Fault
        Each fault.
    """
    yield from _names(places, tables)
    for position, link in enumerate(tables.links):
        if link is not None and max(link.rate, link.reverse_rate or 0.0) * link.delay > _MOST_BITS_ON_A_LINK:
            problem = "holds more than 2e7 cells at once: too much for a run cell by cell"
            yield places.fault(("atm_link", position, "delay"), problem)
    for position, channel in enumerate(tables.channels):
        if channel is not None:
            yield from _path(places, ("channel", position, "path"), channel.path, tables)
            yield from _rates(places, ("channel", position), channel, tables)
    taken: dict[int, float] = defaultdict(float)
    for position, cross in enumerate(tables.cross):
        if cross is not None:
            yield from _path(places, ("cross_traffic", position, "path"), cross.path, tables)
            yield from _cross(places, ("cross_traffic", position), cross, tables, taken)


def _names(places: Places, tables: AtmTables) -> Iterator[Fault]:
    links = places.value(("link",))
    plain = [places.name(("link", position)) for position in range(len(links) if isinstance(links, list) else 0)]
    yield from _double_names(places, "atm_link", len(tables.links), ())
    yield from _double_names(places, "channel", len(tables.channels), plain)
    yield from _double_names(places, "cross_traffic", len(tables.cross), ())


def _cross(
    places: Places, location: Location, cross: CrossTraffic, tables: AtmTables, taken: dict[int, float]
) -> Iterator[Fault]:
    ports = (tables.ways(cross.path) or ((), ()))[0]
    for port in ports:
        taken[port] += cross.rate
    left = min((tables.rate_bps(port) - taken[port] for port in ports), default=math.inf)
    if left <= 0:
        allowed = f"less than {show(left + cross.rate, 'bit/s')}"
        yield places.fault((*location, "rate"), "leaves nothing of a link for the channels", allowed=allowed)
    if cross.stop is not None and cross.stop <= cross.start:
        yield places.fault((*location, "stop"), "is not after the start")


def _double_names(places: Places, kind: str, number: int, taken: Sequence[str | None]) -> Iterator[Fault]:
    first: dict[str | None, int] = {None: -1}
    for position in range(number):
        name = places.name((kind, position))
        if name is not None and name in taken:
            problem = f'the name "{name}" is taken by the {ordinal(taken.index(name) + 1)} [[link]]'
            yield places.fault((kind, position, "name"), problem, hint="flows name links and channels alike")
        elif name is not None and first.setdefault(name, position) < position:
            problem = f'the name "{name}" is taken by the {ordinal(first[name] + 1)} [[{kind}]]'
            yield places.fault((kind, position, "name"), problem, hint=f"each {kind} needs a name of its own")


def _path(places: Places, location: Location, path: Sequence[str], tables: AtmTables) -> Iterator[Fault]:
    known = list(tables.ports)
    unknown = [name for name in dict.fromkeys(path) if name not in known]
    for name in unknown if None not in tables.links else ():
        yield places.fault(location, f'no ATM link named "{name[:60]}"', hint=did_you_mean(name, known))
    double = next((name for name, times in Counter((*path, *mirrored(path))).items() if times > 1), None)
    if double is not None and not unknown:
        yield places.fault(location, f'crosses the ATM link "{double}" twice')


def _rates(places: Places, location: Location, channel: Channel, tables: AtmTables) -> Iterator[Fault]:
    """Compare the rates of each end's source; a fault of both ends is given once, by the smaller limit."""
    initial: dict[Location, float] = {}
    least: list[Location] = []
    for side, (abr, ports) in enumerate(zip(channel.sources, tables.ways(channel.path) or (), strict=False)):
        peak = abr.pcr or tables.rate_bps(ports[0])
        given = {field: side == 1 and channel.reverse.abr.gives(field) for field in ("icr", "mcr")}
        icr, mcr = ((*location, *(("reverse",) if given[field] else ()), "abr", field) for field in given)
        if (abr.icr or 0.0) > peak:
            initial[icr] = min(peak, initial.get(icr, math.inf))
        if abr.mcr > min(peak, abr.icr or peak) and mcr not in least:
            least.append(mcr)
    for place, peak in initial.items():
        allowed = f"at most the peak cell rate, {show(peak, 'bit/s')}"
        yield places.fault(place, "is above the peak cell rate", allowed=allowed)
    for place in least:
        yield places.fault(place, "is above the initial or peak cell rate")
