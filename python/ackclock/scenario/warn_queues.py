"""Warnings about queues that a default, or thresholds in packets, made other than one would choose."""

from collections.abc import Iterator, Sequence

from ackclock.scenario.network import Direction, Network
from ackclock.scenario.schema import Flow
from ackclock.scenario.schema_links import Link
from ackclock.scenario.source import Location
from ackclock.scenario.tcp import completed
from ackclock.scenario.traffic import is_tcp
from ackclock.units import show

DEFAULT_BUFFER = (
    "is unlimited, as none is given: its queue drops no packet, however long it grows; "
    'give a buffer, or buffer = "unlimited" if that is meant'
)
MARKED = frozenset({"dctcp", "prague"})
"""Congestion controls that keep a queue short by its marks alone."""
MARKING = frozenset({"step", "dualpi2", "cake", "cobalt"})
"""Disciplines that mark by themselves."""
SHORT_RED_S = 1e-3
"""Queueing delay up to which RED's thresholds leave a window no room."""


def default_buffers(links: Sequence[Link], flow: Flow, network: Network) -> Iterator[int]:
    """Find the directions where a flow's data queue in a buffer that is unlimited only because none was given.

    Parameters
    ----------
    links : sequence of Link
        The links of a scenario without faults.
    flow : Flow
        One of its flows.
    network : Network
        What they make.

    Yields
    ------
    int
        Each of the slowest directions on the path of the data, where they queue. None if the receiver's window
        limits the queue, or the buffer that a cake has by default; what ACKs alone cross is not meant.
    """
    route = network.route(flow)
    if route is None or (is_tcp(flow) and completed(flow.tcp).max_window is not None):
        return
    ways = {link: network.directions[link] for link in route.forward}
    rates = {link: way.rate_bps for link, way in ways.items() if way is not None and way.rate_bps is not None}
    slowest = min(rates.values(), default=None)
    for position, rate in rates.items():
        way = ways[position]
        if way and way.limit is None and way.location[0] == "link" and rate == slowest and not polices(way):
            link, reverse = links[position // 2], position % 2 == 1
            if not (link.reverse if reverse else link).gives("buffer"):
                yield position


def polices(way: Direction) -> bool:
    """Return whether packets that come too fast are dropped, so that none wait."""
    return way.bucket is not None and way.bucket.kind == "policer"


def short_red(way: Direction, largest: int | None) -> Iterator[tuple[Location, str]]:
    """Find RED whose thresholds are a queueing delay of a millisecond or less.

    Parameters
    ----------
    way : Direction
        A direction of a link.
    largest : int, optional
        The largest packet that crosses it [B]; `None` if none does.

    Yields
    ------
    tuple of Location and str
        The table of the queue, and what to check.
    """
    if way.queue.discipline != "red" or way.rate_bps is None or largest is None:
        return
    low, high = (packets * way.service_s(largest) for packets in (way.queue.min_threshold, way.queue.max_threshold))
    if high <= SHORT_RED_S:
        text = (
            f"the thresholds of {show(way.queue.min_threshold, 'pkt')} and {show(way.queue.max_threshold, 'pkt')} are "
            f"queueing delays of {_microseconds(low)} and {_microseconds(high)} at {show(way.rate_bps, 'bit/s')}: "
            "packets are dropped almost as soon as one waits"
        )
        yield (*way.location, "queue"), text


def counted_otherwise(way: Direction) -> Iterator[tuple[Location, str]]:
    """Find RED by ns-2's rules whose mean counts the packet in transmission, which ns-2's does not.

    Parameters
    ----------
    way : Direction
        A direction of a link.

    Yields
    ------
    tuple of Location and str
        The field of the rules, and what to check.
    """
    if way.queue.discipline == "red" and way.queue.rules == "ns2" and way.counting == "with-service":
        text = 'ns-2 counts only the packets that wait, in the mean and in the buffer: counting = "waiting" does'
        yield (*way.location, "queue", "rules"), text


def marks_nothing(way: Direction, flows: Sequence[Flow]) -> Iterator[tuple[Location, str]]:
    """Find a step whose marks no packet can have.

    Parameters
    ----------
    way : Direction
        A direction of a link.
    flows : sequence of Flow
        The flows whose data cross it.

    Yields
    ------
    tuple of Location and str
        The table of the queue, and what to check.
    """
    senders = [completed(flow.tcp) for flow in flows if is_tcp(flow)]
    if way.queue.discipline == "step" and senders and all(tcp.ecn == "off" for tcp in senders):
        text = "no flow over it has ECN, so that it can mark nothing: it drops each packet that finds more than "
        yield (*way.location, "queue"), text + show(way.queue.threshold, "pkt")


def waits_for_marks(flow: Flow, ways: Sequence[Direction]) -> str | None:
    """Say that a congestion control that acts on marks meets no queue that marks; None if it meets one.

    Parameters
    ----------
    flow : Flow
        A flow with TCP.
    ways : sequence of Direction
        The directions that its data cross.
    """
    control = completed(flow.tcp).congestion_control
    if control not in MARKED or any(way.queue.discipline in MARKING or _marks(way) for way in ways):
        return None
    return f"no queue on the path of the data marks packets, by whose marks {control} is to find its window"


def _marks(way: Direction) -> bool:
    return way.queue.ecn not in (None, "off") or way.queue.ce_threshold is not None


def _microseconds(seconds: float) -> str:
    return f"{1e6 * seconds:.3g} us"
