"""The queue of a link in ns-2's words: its discipline, its limit and its settings."""

from crosscheck.subset import Scenario, has_levels, has_red, link_packet_bytes

UNLIMITED = 1_000_000_000
"""Stands for no limit: buffer, window and duplicate-ACK threshold [packets]."""

INFINITE_RATE_BPS = 1e18
"""Stands for an infinitely fast link: a packet takes less than the clock's resolution [bit/s]."""


def discipline(link: Scenario) -> str:
    """Name ns-2's queue of a link."""
    if has_red(link):
        return "RED"
    return "SimpleIntServ" if has_levels(link) else "DropTail"


def limit(scenario: Scenario, number: int) -> int:
    """Return the limit of a link's queue, in packets of one byte if its buffer is counted in bytes.

    ns-2's DropTail drops where the waiting packets and the arriving one reach the limit. So a limit of B holds B
    packets, the one in transmission included, and a limit of L + 1 bytes holds L bytes that wait. Where our buffer
    counts the packet in transmission too, its length is taken off, which is the same where all packets have one size.
    RED's limit counts the waiting packets alone.
    """
    link = scenario["elements"][number]
    buffer = link["buffer"]
    if buffer is None:
        return UNLIMITED
    waiting = int(link["counting"] == "waiting" and not has_red(link))
    if "packets" in buffer:
        packets: int = buffer["packets"]
        return packets + waiting
    in_service = 0 if waiting else max(link_packet_bytes(scenario, number), default=0)
    held: int = buffer["bytes"]
    return held - in_service + 1


def settings(link: Scenario) -> dict[str, object]:
    """Return the settings of a link's queue other than its limit."""
    said: dict[str, object] = {}
    if link["buffer"] is not None and "bytes" in link["buffer"]:
        said |= {"queue_in_bytes_": "true", "mean_pktsize_": 1}
    if link["queue"]["overflow"] == "front":
        said["drop_front_"] = "true"
    return said
