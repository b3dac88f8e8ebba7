"""Facts of a resolved scenario: its bottleneck, and the path of a flow around it."""

from typing import Any

HEADERS_BYTES = 40
"""Headers of a packet without options [B]."""
TIMESTAMP_BYTES = 12
"""Timestamp option (RFC 7323), padded as hosts send it [B]."""

Scenario = dict[str, Any]

DISCIPLINES = {
    ("fifo", "none", "arriving"): "pfifo",
    ("fifo", "codel", "arriving"): "codel",
    ("fifo", "pie", "arriving"): "pie",
    ("fifo", "red-linux", "arriving"): "red",
    ("fq", "codel", "fattest"): "fq_codel",
    ("fq", "pie", "arriving"): "fq_pie",
    ("cake", "cobalt", "heaviest"): "cake",
    ("sfq", "none", "longest-lately"): "sfq",
}
"""The kernel's name of a queue discipline, by our scheduler, AQM and overflow rule."""


class UnplayableError(Exception):
    """A scenario that the kernel cannot play; the message has a line for each field, with the reason."""


def payload_bytes(flow: Scenario) -> int:
    """Give the payload of a flow's data packets [B]."""
    return payload_of(int(flow["packet_bytes"]), timestamps=tcp_of(flow)["sender"]["timestamps"])


def payload_of(packet_bytes: int, *, timestamps: bool) -> int:
    """Give the payload of packets of a size [B]."""
    return packet_bytes - HEADERS_BYTES - TIMESTAMP_BYTES * timestamps


def syn_bytes(flow: Scenario) -> int:
    """Give the size of a flow's SYN and of its answer: headers, segment size, window scale, and what they offer [B]."""
    sender = tcp_of(flow)["sender"]
    offers = TIMESTAMP_BYTES if sender["timestamps"] else 4 * sender["sack"]
    return HEADERS_BYTES + 8 + int(offers)


def discipline_of(queue: Scenario) -> str | None:
    """Give the kernel's name of a link's queue discipline; None if it has no such one."""
    scheduler = queue["scheduler"]
    if scheduler["kind"] == "fq" and not scheduler["sparse_first"]:
        return None
    return DISCIPLINES.get((scheduler["kind"], queue["aqm"]["kind"], queue["overflow"]))


def tcp_of(flow: Scenario) -> Scenario:
    """Give the connection of a flow with TCP."""
    connection: Scenario = flow["traffic"]["connection"]
    return connection


def bottleneck_of(scenario: Scenario) -> int:
    """Give the index of the only element with a rate on the flows' paths.

    Raises
    ------
    UnplayableError
        If not exactly one has a rate.
    """
    found: list[int] = sorted({hop for flow in scenario["flows"] for hop in flow["path"] if has_rate(scenario, hop)})
    if len(found) == 1:
        return found[0]
    names = ", ".join(f"link.{scenario['elements'][hop]['name']}.rate" for hop in found) or "link"
    reason = 'the path in the kernel has one bottleneck: give each other link the rate "unlimited"'
    raise UnplayableError(f"{names}: {len(found)} links with a rate; {reason}")


def has_rate(scenario: Scenario, hop: int) -> bool:
    """Return whether an element is more than a delay."""
    element = scenario["elements"][hop]
    return bool(element["kind"] != "link" or element["rate_bps"] is not None)


def around(scenario: Scenario, flow: Scenario, bottleneck: int) -> tuple[float, float]:
    """Sum the delays of a flow's links before the bottleneck, and from there on [s]."""
    cut = flow["path"].index(bottleneck)
    return delay_s(scenario, flow["path"][:cut]), delay_s(scenario, flow["path"][cut:])


def delay_s(scenario: Scenario, path: list[int]) -> float:
    """Sum the constant delays of links [s]."""
    return float(sum(scenario["elements"][hop]["delay_s"] for hop in path))


def reverse_of(scenario: Scenario, flow: Scenario) -> int | None:
    """Find the link with a rate that a flow's ACKs cross; None without one."""
    path: list[int] = tcp_of(flow)["return_path"]
    return next((hop for hop in path if has_rate(scenario, hop)), None)


def losses(scenario: Scenario, path: list[int]) -> list[tuple[int, Scenario]]:
    """List the losses of a path's links, with the links' indices."""
    found = ((hop, scenario["elements"][hop]["loss"]) for hop in path)
    return [(hop, loss) for hop, loss in found if loss is not None]
