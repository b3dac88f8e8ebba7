"""The ports and channels from the tables of an ATM network; a channel's directions are among the links."""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ackclock.scenario.network import REVERSE, Direction, Network, mirrored
from ackclock.scenario.resolved_atm import (
    AbrSettings,
    Allocation,
    AtmSettings,
    AtmTraceSettings,
    ChannelSettings,
    CrossSettings,
    EndSettings,
    EricaAllocation,
    IpService,
    NoAllocation,
    PortSettings,
    ShareAllocation,
)
from ackclock.scenario.schema import Trace
from ackclock.scenario.schema_atm import Abr, AtmLink, Channel, CrossTraffic, IpServiceName
from ackclock.scenario.schema_links import PLAIN

_USER_SHARE = 30 / 32 * 48 / 53
"""Fraction of a cell rate that is left without the RM cells of both directions and the headers of cells."""


@dataclass(frozen=True)
class AtmTables:
    """The tables of an ATM network; None in place of a faulty one."""

    links: tuple[AtmLink | None, ...] = ()
    channels: tuple[Channel | None, ...] = ()
    cross: tuple[CrossTraffic | None, ...] = ()

    @cached_property
    def ports(self) -> dict[str, int]:
        """The port of each direction of a link, by name; the first link of a name keeps it."""
        ports: dict[str, int] = {}
        for position, link in enumerate(self.links):
            if link is not None:
                ports.setdefault(link.name, 2 * position)
                ports.setdefault(link.name + REVERSE, 2 * position + 1)
        return ports

    def rate_bps(self, port: int) -> float:
        """Return the rate of a port [bit/s]."""
        link = self.links[port // 2]
        if link is None:
            return math.nan
        return (link.reverse_rate if port % 2 else None) or link.rate

    def delay_s(self, port: int) -> float:
        """Return the propagation delay behind a port [s]."""
        link = self.links[port // 2]
        return math.nan if link is None else link.delay

    def ways(self, path: Sequence[str]) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
        """Find the ports of a path and of its mirror; None if a link is unknown or faulty."""
        ports = self.ports
        if not all(name in ports for name in path):
            return None
        return tuple(ports[name] for name in path), tuple(ports[name] for name in mirrored(path))


def add_channels(network: Network, tables: AtmTables, names: Sequence[str | None]) -> None:
    """Append the channels to the links of a network, two directions each.

    Parameters
    ----------
    network : Network
        The network of the links.
    tables : AtmTables
        The ATM network.
    names : sequence of str
        The names of its channels, known for a faulty one too if its name is right.
    """
    shares = _shares(tables)
    for position, (channel, name) in enumerate(zip(tables.channels, names, strict=True)):
        first = len(network.directions)
        ways = tables.ways(channel.path) if channel else None
        if channel is None or ways is None:
            network.directions += [None, None]
        else:
            for side, ports in enumerate(ways):
                delay = math.fsum(tables.delay_s(port) for port in ports)
                share = shares[2 * position + side] * _USER_SHARE
                network.directions.append(
                    Direction(
                        channel.name + (REVERSE if side else ""),
                        ("channel", position),
                        share,
                        delay,
                        None,
                        "with-service",
                        PLAIN,
                        channel_end=2 * position + side,
                    )
                )
        if name:
            network.index.setdefault(name, first)
            network.index.setdefault(name + REVERSE, first + 1)


def _shares(tables: AtmTables) -> list[float]:
    """Share the ports among the ends of all channels, max-min fair [bit/s]."""
    left = [tables.rate_bps(port) for port in range(2 * len(tables.links))]
    for cross in tables.cross:
        for name in cross.path if cross else ():
            port = tables.ports.get(name)
            if cross and port is not None:
                left[port] = max(left[port] - cross.rate, left[port] * 1e-3)
    claims: list[tuple[float, tuple[int, ...]]] = []
    for channel in tables.channels:
        ways = (channel and tables.ways(channel.path)) or ((), ())
        peaks = [abr.pcr or math.inf for abr in channel.sources] if channel else [math.inf, math.inf]
        claims += [
            (min([peak, *(tables.rate_bps(port) for port in ports)]), ports)
            for peak, ports in zip(peaks, ways, strict=True)
        ]
    return max_min(left, claims)


def max_min(capacities: Iterable[float], claims: Sequence[tuple[float, tuple[int, ...]]]) -> list[float]:
    """Share capacities max-min fairly.

    Parameters
    ----------
    capacities : iterable of float
        What each port has.
    claims : sequence of (float, tuple of int)
        For each claim the most that it wants, and the ports that it needs.

    Returns
    -------
    list of float
        The share of each claim.

    Examples
    --------
    >>> max_min([10.0, 4.0], [(99.0, (0,)), (99.0, (0, 1)), (99.0, (1,))])
    [8.0, 2.0, 2.0]
    """
    left, shares, rising = list(capacities), [0.0] * len(claims), set(range(len(claims)))
    while rising:
        crossing = Counter(port for claim in rising for port in set(claims[claim][1]))
        limits = {
            claim: min([claims[claim][0], *(left[port] / crossing[port] for port in claims[claim][1])])
            for claim in rising
        }
        level = min(limits.values())
        for claim in [claim for claim, limit in limits.items() if limit <= level * (1 + 1e-12)]:
            shares[claim] = level
            rising.remove(claim)
            for port in claims[claim][1]:
                left[port] -= level
    return shares


def resolved_channels(tables: AtmTables, trace: Trace) -> AtmSettings | None:
    """Turn an ATM network into SI numbers.

    Parameters
    ----------
    tables : AtmTables
        The tables, without faults.
    trace : Trace
        What is recorded.

    Returns
    -------
    AtmSettings
        What the engine reads; None if there are no channels.
    """
    if not tables.channels:
        return None
    ports = [port for link in tables.links if link is not None for port in _both_ports(link)]
    channels = tuple(_channel(channel, tables) for channel in tables.channels if channel is not None)
    cross = tuple(
        CrossSettings(one.name, ways[0], one.rate, one.start, one.stop)
        for one in tables.cross
        if one is not None and (ways := tables.ways(one.path)) is not None
    )
    recorded = AtmTraceSettings(trace.acr, trace.ip_queue, trace.cell_queue, drops=False)
    return AtmSettings(tuple(ports), channels, cross, recorded)


def _both_ports(link: AtmLink) -> list[PortSettings]:
    there = PortSettings(link.name, link.rate, link.delay, link.buffer, link.efci, _allocation(link))
    return [there, replace(there, name=link.name + REVERSE, rate_bps=link.reverse_rate or link.rate)]


def _allocation(link: AtmLink) -> Allocation:
    match link.allocation:
        case "none":
            return NoAllocation("none")
        case "erica":
            return EricaAllocation("erica", link.utilisation, link.interval)
        case algorithm:
            return ShareAllocation(algorithm, link.utilisation)


def _channel(channel: Channel, tables: AtmTables) -> ChannelSettings:
    ways = tables.ways(channel.path)
    if ways is None:
        raise AssertionError("a channel that was checked has a way")
    near, far = (
        EndSettings(_abr(abr, tables.rate_bps(ports[0])), _service(service))
        for abr, service, ports in zip(channel.sources, channel.services, ways, strict=True)
    )
    return ChannelSettings(channel.name, *ways, near, far)


def _service(given: IpServiceName | float) -> IpService:
    return {"rate-bps": given} if isinstance(given, float) else given


def _abr(abr: Abr, link_rate_bps: float) -> AbrSettings:
    peak = abr.pcr or link_rate_bps
    return AbrSettings(
        pcr_bps=peak,
        mcr_bps=abr.mcr,
        icr_bps=abr.icr or peak,
        nrm=abr.nrm,
        mrm=abr.mrm,
        trm_s=abr.trm,
        rif=abr.rif,
        rdf=abr.rdf,
        cdf=abr.cdf,
        adtf_s=abr.adtf,
        tbe_cells=abr.tbe,
    )
