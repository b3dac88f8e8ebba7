"""The names of what a run has quantities of, before it is run."""

from collections.abc import Iterator, Mapping, Sequence

from ackclock.scenario.contract import MOST_ROWS_OF_A_GROUP
from ackclock.scenario.copies import copies_of
from ackclock.scenario.network import REVERSE, Network
from ackclock.scenario.schema import Flow
from ackclock.scenario.traffic import has_transfers


def measured_names(
    network: Network, copies: Mapping[str, int], names: Sequence[str], flows: Sequence[Flow | None]
) -> dict[str, list[str]]:
    """Give the names by which `run.precision` may mean a flow or a link.

    Parameters
    ----------
    network : Network
        The links as they are described.
    copies : mapping of str to int
        The number of copies of each link.
    names : sequence of str
        The names of all [[flow]] tables.
    flows : sequence of Flow
        These tables, None in place of a faulty one.

    Returns
    -------
    dict of str to list of str
        By the kind of element, as in `ackclock.quantities.QUANTITIES`: what is counted or has copies with and without
        its numbers.
    """
    known = [(name, flow, copies_of(flow, copies)) for name, flow in zip(names, flows, strict=True) if flow is not None]
    numbered = {name: _copies(name, number) for name, _, number in known}
    members = [one for name, flow, number in known for one in _members(numbered[name], flow, number)]
    directions = [*network.index, *network.hosts]
    every_copy = [one for name in directions for one in _copies_of_direction(name, copies)]
    return {
        "flow": list(dict.fromkeys([*names, *(one for each in numbered.values() for one in each), *members])),
        "link": [*directions, *every_copy],
        "completion": _with_copies((name for name, flow, _ in known if has_transfers(flow)), numbered),
        "ping": _with_copies((name for name, flow, _ in known if flow.is_ping), numbered),
    }


def _copies(name: str, number: int) -> list[str]:
    return [name] if number == 1 else [f"{name}[{copy}]" for copy in range(number)]


def _members(groups: Sequence[str], flow: Flow, copies: int) -> Iterator[str]:
    """Name the single flows that have rows of their own."""
    if flow.count > 1 and flow.count * copies <= MOST_ROWS_OF_A_GROUP:
        yield from (f"{group}[{number}]" for group in groups for number in range(flow.count))


def _copies_of_direction(name: str, copies: Mapping[str, int]) -> Iterator[str]:
    link = name.removesuffix(REVERSE)
    if copies.get(link, 1) > 1:
        yield from (f"{link}[{copy}]{name.removeprefix(link)}" for copy in range(copies[link]))


def _with_copies(names: Iterator[str], numbered: Mapping[str, Sequence[str]]) -> list[str]:
    return list(dict.fromkeys(one for name in names for one in (name, *numbered[name])))
