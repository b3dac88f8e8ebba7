"""Checks of what must fit together if flows name their hosts."""

from collections.abc import Iterator, Sequence

from ackclock.errors import Fault
from ackclock.scenario.network import REVERSE
from ackclock.scenario.places import Places, ordinal
from ackclock.scenario.schema import Flow
from ackclock.scenario.schema_hosts import Host
from ackclock.scenario.source import Location
from ackclock.scenario.suggestions import did_you_mean
from ackclock.scenario.traffic import is_tcp

_ENDS = ("sender", "receiver")


def host_faults(places: Places, hosts: Sequence[Host | None], crossed: Sequence[str | None]) -> Iterator[Fault]:
    """Give the faults that lie between the names of hosts, and between them and those of links and channels.

    Parameters
    ----------
    places : Places
        Names the places.
    hosts : sequence of Host
        The hosts, None in place of a faulty one.
    crossed : sequence of str
        The names of links and channels.

    Yields
    ------
    Fault
        Each fault.
    """
    first: dict[str, int] = {}
    for position in range(len(hosts)):
        name = places.name(("host", position))
        if name is None:
            continue
        place = ("host", position, "name")
        if name in crossed:
            hint = "a result has a row for each of them"
            yield places.fault(place, f'the name "{name}" is taken by a link or a channel', hint=hint)
        elif first.setdefault(name, position) < position:
            problem = f'the name "{name}" is taken by the {ordinal(first[name] + 1)} [[host]]'
            yield places.fault(place, problem, hint="each host needs a name of its own")


def end_faults(places: Places, location: Location, flow: Flow, hosts: Sequence[str | None]) -> Iterator[Fault]:
    """Give the faults of the hosts at the ends of a flow.

    Parameters
    ----------
    places : Places
        Names the places.
    location : Location
        The flow's table.
    flow : Flow
        The flow.
    hosts : sequence of str
        The names of the hosts, None in place of a wrong one.

    Yields
    ------
    Fault
        Each fault.
    """
    known = [name for name in hosts if name is not None]
    for field in _ENDS:
        name = getattr(flow, field)
        if name is None:
            continue
        if not is_tcp(flow):
            problem = "names a host, whose process is TCP's; traffic of this kind has none"
            yield places.fault((*location, field), problem)
        elif name not in known and None not in hosts and isinstance(places.value(("host",)) or [], list):
            shown = ", ".join(f'"{each}"' for each in known[:5]) + (", ..." if len(known) > 5 else "")
            hint = did_you_mean(name.removesuffix(REVERSE), known) or ("" if known else "hosts are tables: [[host]]")
            problem = f'no host named "{name[:60]}"'
            yield places.fault((*location, field), problem, allowed=shown or None, hint=hint or None)
    if flow.sender is not None and flow.sender == flow.receiver and is_tcp(flow):
        hint = "leave one of the two out if only one end takes time"
        yield places.fault((*location, "receiver"), "is the sender's host too", allowed="another host", hint=hint)
