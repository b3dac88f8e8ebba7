"""Words on flows that a full drop-tail buffer locks out, as the timing of packets is exact."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, inf
from typing import Any, Final

import numpy as np

from ackclock.groups import by_table
from ackclock.replication import Replication, grouped
from ackclock.scenario import Element, Resolved, ResolvedFlow
from ackclock.scenario.copies import described_name
from ackclock.scenario.resolved_buffers import ByteBuffer
from ackclock.wording import percent, plural

HALF, NEARLY_ALL = 0.5, 0.9
"""Fractions of a flow's packets from which their drops lock it out: half where next to none of the other packets are
dropped, nearly all where less than half of the others are."""
NEXT_TO_NONE = 0.05
FEWEST = 2
"""Timeouts of a TCP flow, and packets of another source, from which on drops say something: a burst of packets that
finds a full buffer, or one packet, does so in any queue."""
MOST_NAMED = 2

_PHRASE: Final = "locked out of"


@dataclass(frozen=True)
class _Lockout:
    """Flows whose packets a link dropped, in the replications that showed it."""

    link: Element
    flows: Mapping[str, int]
    """The index of each flow's row by its name."""
    sent: float
    dropped: float
    others_fraction: float


def lockout_warnings(resolved: Resolved, replications: Sequence[Replication]) -> Iterator[str]:
    """Say which flows a full buffer locks out where the times at which packets arrive are not drawn.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    replications : sequence of Replication
        Finished replications, at least one.

    Yields
    ------
    str
        A warning for each link, its copies together.
    """
    found = [one for index in range(len(resolved.elements)) for one in _locked_out(resolved, index, replications)]
    for copies in by_table(found, lambda one: one.link.name).values():
        yield _worded(resolved, copies)


def says_lockout(summary: Mapping[str, Any]) -> bool:
    """Return whether a summary's warnings say that flows are locked out."""
    return any(_PHRASE in warning for warning in summary.get("warnings", ()))


def _locked_out(resolved: Resolved, index: int, replications: Sequence[Replication]) -> Iterator[_Lockout]:
    link = resolved.elements[index]
    rows = [(row, flow) for row, flow in enumerate(resolved.rows) if index in flow.path]
    is_shared = len({flow.name for flow in resolved.rows if index in flow.crossed}) > 1
    if not (rows and is_shared and _is_drop_tail(link)) or _times_are_drawn(resolved, index):
        return
    found = [one for replication in replications if (one := _of_replication(resolved, index, rows, replication))]
    if found:
        yield _Lockout(
            link,
            {name: row for one in found for name, row in one.flows.items()},
            fsum(one.sent for one in found),
            fsum(one.dropped for one in found),
            max(one.others_fraction for one in found),
        )


def _of_replication(
    resolved: Resolved, index: int, rows: Sequence[tuple[int, ResolvedFlow]], replication: Replication
) -> _Lockout | None:
    flows, links = grouped(replication["flows"], resolved.rows), replication["links"]
    if "dropped_packets" not in flows:
        return None  # an older result
    arrived, dropped = (float(links[f"{kind}_packets"][index]) for kind in ("arrived", "dropped"))
    sent = flows["sent_packets"].astype(float)
    gone = flows["dropped_packets"] - flows.get("gone_of_warmup_packets", np.zeros(len(sent)))
    tries = np.array([flow.connection is not None for flow in resolved.rows])
    tries = np.where(tries, flows["timeouts"], sent)
    found = [row for row, _ in rows if tries[row] >= FEWEST and HALF * sent[row] <= gone[row] <= dropped]
    others = arrived - float(sent[found].sum())
    if not found or float(gone[found].sum()) > dropped or others <= 0.0:
        return None
    fraction = max(0.0, dropped - float(gone[found].sum())) / others
    least = HALF if fraction < NEXT_TO_NONE else NEARLY_ALL if fraction < HALF else inf
    locked = [row for row in found if gone[row] >= least * sent[row]]
    names = {resolved.rows[row].name: row for row in locked}
    of_them = float(sent[locked].sum()), float(gone[locked].sum())
    return _Lockout(resolved.elements[index], names, *of_them, fraction) if locked else None


def _is_drop_tail(link: Element) -> bool:
    """Return whether the packet that finds the buffer full is the one that is dropped, and no other is."""
    return link.kind == "link" and link.buffer is not None and str(link.queue) == "drop-tail"


def _times_are_drawn(resolved: Resolved, index: int) -> bool:
    """Return whether something random shifts single packets that cross a link; a start shifts all of a flow alike."""
    crossing = [resolved.flows[at] for at in resolved.crossing_flows[index]]
    crossed = {element for flow in crossing for element in flow.crossed}
    draws = any(
        flow.traffic.is_random or (flow.connection is not None and flow.connection.sender.is_random)
        for flow in crossing
    )
    return draws or any(resolved.elements[element].is_random for element in crossed)


def _worded(resolved: Resolved, copies: Sequence[_Lockout]) -> str:
    link = copies[0].link
    table = described_name(link.name)
    where = link.name if len(copies) == 1 else f"{len(copies)} copies of {table}"
    rows = {name: row for one in copies for name, row in one.flows.items()}
    names = list(rows)[:MOST_NAMED]
    more = len(rows) - len(names)
    who = f"{', '.join(names)} and {plural(more, 'more flow')}" if more else " and ".join(names)
    sent, dropped = fsum(one.sent for one in copies), fsum(one.dropped for one in copies)
    share = (
        f"all {plural(sent, 'packet')}" if dropped == sent else f"{percent(dropped / sent)} of the {sent:,.0f} packets"
    )
    whose = "it sent" if len(rows) == 1 else "they sent"
    others = percent(max(one.others_fraction for one in copies))
    return (
        f"{who} {'is' if len(rows) == 1 else 'are'} {_PHRASE} {where}, whose full buffer dropped {share} that {whose} "
        f"and {others} of all others: likely a phase effect, as exact times of packets let each of a flow find the "
        f"buffer full, and seldom so in real networks{_larger(resolved, copies)}; "
        f'link.{table}.queue = "random-drop" breaks it (docs/trust.md, Phase effects)'
    )


def _larger(resolved: Resolved, copies: Sequence[_Lockout]) -> str:
    """Say that packets are larger than others, where a buffer counts bytes and that can be the cause."""
    for one in copies:
        index = resolved.element_indices[one.link.name]
        own = max(resolved.rows[row].packet_bytes for row in one.flows.values())
        others = [flow for flow in resolved.rows if flow.name not in one.flows]
        sizes = [flow.packet_bytes for flow in others if index in flow.path]
        sizes += [flow.answer_bytes for flow in others if index in flow.return_path]
        if isinstance(one.link.buffer, ByteBuffer) and min(sizes, default=own) < own:
            return " (or its packets are too large for what smaller ones leave of a buffer of bytes)"
    return ""
