"""Bounds of a resolved scenario as a whole: what its lists hold together."""

from collections.abc import Iterator, Sequence
from typing import Final

from ackclock.errors import Fault
from ackclock.scenario.contract import RANGES
from ackclock.scenario.losses import PacketsLoss, TimesLoss
from ackclock.scenario.resolved_elements import AlternatingLaw, Element, StepsLaw
from ackclock.scenario.resolved_flows import ResolvedFlow
from ackclock.scenario.resolved_rates import entries as rate_entries
from ackclock.scenario.resolved_traffic import EmpiricalSize, WebTraffic

_WORDS: Final = {
    "elements (how many)": "links, channels and hosts, in both directions",
    "elements (entries of all lists)": "steps, transitions, packets and instants in the lists of all links",
    "flows (how many)": "flows, with all counts",
    "flows (sizes in all lists)": "sizes in the files of all flows",
}


def number_faults(elements: Sequence[Element], flows: Sequence[ResolvedFlow]) -> Iterator[Fault]:
    """Give the faults of what is too much in all lists of a scenario together.

    Parameters
    ----------
    elements : sequence of Element
        The elements.
    flows : sequence of ResolvedFlow
        The entries of flows.

    Yields
    ------
    Fault
        Each fault.
    """
    numbers = {
        "elements (how many)": len(elements),
        "elements (entries of all lists)": sum(_entries(element) for element in elements),
        "flows (how many)": sum(flow.count for flow in flows),
        "flows (sizes in all lists)": sum(_sizes(flow) for flow in flows),
    }
    for field, number in numbers.items():
        most = int(RANGES[field].high)
        if number > most:
            yield Fault("scenario", "is too large", given=f"{number:,} {_WORDS[field]}", allowed=f"{most:,} at most")


def _entries(element: Element) -> int:
    number = 0 if element.rate_process is None else rate_entries(element.rate_process.law)
    match element.delay_process and element.delay_process.law:
        case StepsLaw(steps_s=steps):
            number += len(steps)
        case AlternatingLaw(states=states, transitions=rows):
            number += len(states) + sum(len(row) for row in rows or ())
    match element.loss and element.loss.law:
        case PacketsLoss(numbers=numbers):
            number += len(numbers)
        case TimesLoss(times_s=times):
            number += len(times)
    return number


def _sizes(flow: ResolvedFlow) -> int:
    traffic = flow.traffic
    return (
        len(traffic.size.packets) if isinstance(traffic, WebTraffic) and isinstance(traffic.size, EmpiricalSize) else 0
    )
