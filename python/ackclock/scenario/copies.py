"""Links and flows that are described once and present many times."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ackclock.errors import Fault
from ackclock.scenario.network import REVERSE, flow_names
from ackclock.scenario.places import Places
from ackclock.scenario.schema import Flow, Trace
from ackclock.scenario.schema_links import Link
from ackclock.scenario.source import Location

_COPY: Final = re.compile(r"\[\d+\]")


@dataclass(frozen=True, slots=True)
class Present:
    """The links and flows of a scenario as they are run: each copy a link, or an entry of flows, of its own.

    Parameters
    ----------
    links : tuple of Link
        The links; copies are called name[0], name[1], ...
    flows : tuple of Flow
        The flows, each with a name; copy k of a flow crosses copy k of each link that has copies.
    copies : tuple of int
        For each of these flows the number of its copies.
    """

    links: tuple[Link, ...]
    flows: tuple[Flow, ...]
    copies: tuple[int, ...]


def written_out(links: Sequence[Link], flows: Sequence[Flow]) -> Present:
    """Write the copies of links and flows out.

    Parameters
    ----------
    links, flows : sequence of Link, sequence of Flow
        The tables of a scenario without faults.
    """
    copies = link_copies(links)
    names = flow_names([flow.name for flow in flows])
    present: list[tuple[Flow, int]] = []
    for flow, name in zip(flows, names, strict=True):
        number = copies_of(flow, copies)
        if number == 1:
            present.append((flow.model_copy(update={"name": name}), 1))
        else:
            present += [(_copy_of(flow, name, copies, copy), number) for copy in range(number)]
    every = (link if link.copies == 1 else each for link in links for each in _copies_of_link(link))
    return Present(tuple(every), tuple(flow for flow, _ in present), tuple(number for _, number in present))


def link_copies(links: Iterable[Link | None]) -> dict[str, int]:
    """Give the number of copies of each link by its name; a faulty one is left out."""
    return {link.name: link.copies for link in links if link is not None}


def copies_of(flow: Flow, copies: Mapping[str, int]) -> int:
    """Return how often a flow is present: as often as the links on its way that have copies."""
    return max((copies.get(name.removesuffix(REVERSE), 1) for name in _crossed(flow)), default=1)


def described_name(name: str) -> str:
    """Give the name of a copy's table in the scenario.

    Examples
    --------
    >>> described_name("branch[17].reverse"), described_name("users[3][12]"), described_name("uplink")
    ('branch.reverse', 'users', 'uplink')
    """
    return _COPY.sub("", name)


def captured_with_copies(captured: Sequence[str], copies: Mapping[str, int]) -> int:
    """Count the links that a capture names, with all their copies."""
    return sum(copies.get(name.removesuffix(REVERSE), 1) for name in captured)


def capture_of_copies(trace: Trace, links: Sequence[Link]) -> tuple[str, ...] | None:
    """Give the names of captured links; a link with copies stands for all of them."""
    if trace.capture is None:
        return None
    copies = link_copies(links)
    return tuple(name for given in trace.capture for name in _names(given, copies))


def copy_faults(
    places: Places, links: Sequence[Link | None], flows: Iterable[tuple[Location, Flow]]
) -> Iterator[Fault]:
    """Look for copies that do not fit together.

    Parameters
    ----------
    places : Places
        The scenario's places.
    links : sequence of Link
        Its links, None in place of a faulty one.
    flows : iterable of tuple
        Its flows, each with its place.
    """
    for position, link in enumerate(links):
        if link is not None and link.private and link.copies > 1:
            hint = "a private link has a copy for each flow already"
            yield places.fault(("link", position, "copies"), "belongs to a private link", allowed="1", hint=hint)
    copies = link_copies(links)
    for location, flow in flows:
        numbers = {name: copies.get(name.removesuffix(REVERSE), 1) for name in _crossed(flow)}
        several = {name: number for name, number in numbers.items() if number > 1}
        if len(set(several.values())) > 1:
            listed = ", ".join(f"{name} {number}" for name, number in several.items())
            problem = f"crosses links with different numbers of copies: {listed}"
            hint = "copy k of a flow crosses copy k of each link that has copies"
            yield places.fault((*location, "path"), problem, allowed="one number of copies, or 1", hint=hint)


def _crossed(flow: Flow) -> tuple[str, ...]:
    return (*flow.path, *(flow.return_path or ()))


def _copies_of_link(link: Link) -> list[Link]:
    if link.copies == 1:
        return [link]
    return [link.model_copy(update={"name": f"{link.name}[{copy}]"}) for copy in range(link.copies)]


def _copy_of(flow: Flow, name: str, copies: Mapping[str, int], copy: int) -> Flow:
    paths = {"path": flow.path, "return_path": flow.return_path}
    own = {field: path and tuple(_copy_of_link(link, copies, copy) for link in path) for field, path in paths.items()}
    host = flow.host and f"{flow.host}[{copy}]"
    return flow.model_copy(update={"name": f"{name}[{copy}]", "host": host, **own})


def _copy_of_link(name: str, copies: Mapping[str, int], copy: int) -> str:
    link = name.removesuffix(REVERSE)
    return name if copies.get(link, 1) == 1 else f"{link}[{copy}]{name.removeprefix(link)}"


def _names(given: str, copies: Mapping[str, int]) -> list[str]:
    number = copies.get(given.removesuffix(REVERSE), 1)
    return [given] if number == 1 else [_copy_of_link(given, copies, copy) for copy in range(number)]
