"""Words on packets that a queue dropped at the threshold of its marks, as they have no ECN."""

from collections.abc import Iterator, Mapping, Sequence

from ackclock.findings import Row, mean
from ackclock.groups import by_table, row_name
from ackclock.scenario import Resolved, ResolvedFlow
from ackclock.scenario.resolved_queues import Step
from ackclock.wording import percent, plural


def unmarked_warnings(resolved: Resolved, flows: Sequence[Row], links: Sequence[Row]) -> Iterator[str]:
    """Say whose packets a step dropped that it would mark if they had ECN.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    flows, links : sequence of mapping
        The summary's rows.

    Yields
    ------
    str
        A warning for each link, its copies together.
    """
    pairs = zip(resolved.elements, links, strict=True)
    dropping = [row for element, row in pairs if isinstance(element.queue.aqm, Step) and mean(row, _DROPPED) > 0.0]
    for name, copies in by_table(dropping, row_name).items():
        places = {resolved.element_indices[row["name"]] for row in copies}
        lost = _lost(resolved, flows, places)
        whose = f"of their packets {_listed(lost)}" if lost else "ACKs, SYNs and retransmissions have none"
        queues = (
            f"the step of {copies[0]['name']}" if len(copies) == 1 else f"the steps of {len(copies)} copies of {name}"
        )
        packets = plural(sum(mean(row, _DROPPED) for row in copies), "packet")
        yield f"{queues} dropped {packets} at the threshold, where only packets with ECN are marked: {whose}"


_DROPPED = "dropped_by_aqm_packets"


def _lost(resolved: Resolved, flows: Sequence[Row], places: set[int]) -> dict[str, list[float]]:
    """Give by [[flow]] the shares that flows without ECN lost whose data cross some elements."""
    rows = [
        row
        for flow, row in zip(resolved.rows, flows, strict=True)
        if not _has_ecn(flow) and places.intersection(flow.path) and mean(row, "loss_fraction") > 0.0
    ]
    return {name: [mean(row, "loss_fraction") for row in some] for name, some in by_table(rows, row_name).items()}


def _has_ecn(flow: ResolvedFlow) -> bool:
    return flow.connection is not None and flow.connection.sender.ecn != "off"


def _listed(lost: Mapping[str, Sequence[float]]) -> str:
    parts = []
    for name, shares in lost.items():
        least, most = percent(min(shares)), percent(max(shares))
        parts.append(f"{name} lost {most}" if least == most else f"{name} lost {least} to {most}")
    return ", ".join(parts)
