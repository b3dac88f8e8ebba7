"""Fairness: shares of flows that meet, or of hosts where a link is meant to be fair to these."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from ackclock.round_trips import by_round_trips
from ackclock.scenario import Element, Resolved, ResolvedFlow
from ackclock.scenario.resolved_queues import CakeScheduler
from ackclock.stats import jain_index


@dataclass(frozen=True, slots=True)
class Share:
    """Share of a flow, or of each flow of a large group.

    Parameters
    ----------
    flow : ResolvedFlow
        The flow, or the group.
    goodput_bps : float
        Goodput of each of its flows [bit/s].
    rtt_mean_s : float
        Mean round trip [s].
    """

    flow: ResolvedFlow
    goodput_bps: float
    rtt_mean_s: float


def is_by_host(element: Element) -> bool:
    """Return whether a link shares its rate between hosts first, and then between the flows of each."""
    scheduler = element.queue.scheduler
    return isinstance(scheduler, CakeScheduler) and scheduler.by_host


def sums_of_hosts(shares: Iterable[tuple[int, float]]) -> list[float]:
    """Sum what the flows of each host have, each with the number of its host."""
    sums: dict[int, float] = {}
    for host, share in shares:
        sums[host] = sums.get(host, 0.0) + share
    return list(sums.values())


def least_equal(resolved: Resolved, shares: Sequence[Share], limited: Collection[str]) -> dict[str, float]:
    """Compare shares of flows whose data meet; of several such sets the least equal one.

    Those of a large group count as if they had equal shares. The index is of the shares over the flows' weights; where
    a link that all of them cross shares its rate between hosts, it is of the hosts' sums.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    shares : sequence of Share
        The flows that always have something to send.
    limited : collection of str
        The flows that their hosts limit: round trips do not explain their shares.

    Returns
    -------
    dict of str to float
        The numbers of the finding; empty where no two shares can be compared.
    """
    sets = [
        (_of_hosts(resolved, one) or _over_weights(one), one)
        for one in _meeting(resolved, shares)
        if sum(share.flow.count for share in one) > 1
    ]
    compared, members = min(
        (one for one in sets if len(one[0]) > 1), key=lambda one: jain_index(one[0]), default=((), ())
    )
    if not compared:
        return {}
    numbers = {"index_fraction": jain_index(compared)}
    if hosts := _of_hosts(resolved, members):
        return {**numbers, "least_bps": min(hosts), "largest_bps": max(hosts), "hosts": float(len(hosts))}
    rates = [share.goodput_bps for share in members]
    numbers |= {"least_bps": min(rates), "largest_bps": max(rates)}
    if len({share.flow.weight for share in members}) > 1:
        numbers["largest_weight"] = float(max(share.flow.weight for share in members))
    if all(share.flow.tcp.sender.is_aimd and share.flow.name not in limited for share in members):
        weighted = [share.goodput_bps / share.flow.weight for share in members]
        numbers |= by_round_trips(weighted, [share.rtt_mean_s for share in members])
    return numbers


def _of_hosts(resolved: Resolved, shares: Sequence[Share]) -> list[float]:
    """Give the goodput of each host where a link that all these flows cross is fair to hosts; none of a lone one."""
    common = set[int].intersection(*(set(share.flow.path) for share in shares))
    if not any(is_by_host(resolved.elements[index]) for index in common):
        return []
    sums = sums_of_hosts((share.flow.host, share.goodput_bps * share.flow.count) for share in shares)
    return sums if len(sums) > 1 else []


def _over_weights(shares: Sequence[Share]) -> list[float]:
    return [share.goodput_bps / share.flow.weight for share in shares for _ in range(share.flow.count)]


def _meeting(resolved: Resolved, shares: Sequence[Share]) -> list[list[Share]]:
    """Separate those whose data share no link with a rate."""
    limited = ((index, link) for index, link in enumerate(resolved.elements) if link.rate_bps is not None)
    shared = {index for index, link in limited if link.kind != "private-link"}
    sets: list[tuple[set[int], list[Share]]] = []
    for share in shares:
        links = shared.intersection(share.flow.path)
        met = [one for one in sets if one[0] & links]
        members = [other for _, others in met for other in others]
        joined = links.union(*(others for others, _ in met))
        sets = [*(one for one in sets if one not in met), (joined, [*members, share])]
    return [members for _, members in sets]
