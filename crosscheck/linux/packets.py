"""The packets that senders send, in the kernel and in our engine: until when they are the same."""

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SAME_S = 1e-4
"""Difference of instants of the same packet [s]: the kernel's timers and its clock's steps leave some microseconds."""
LATENCIES_S = tuple(us * 1e-6 for us in (0.0, 2.3, *(quarter / 4 for quarter in range(-6, 15) if quarter)))
"""Times that a packet and its ACK take in the kernel's hosts and links beyond the path's delays [s].

About 2.3 us where a program loses packets by number, and about none elsewhere. The kernel's clock has steps of 256 ns,
so that a delay may end earlier too.
"""
LONGEST_LATENCY_S = 1e-3
"""Time by which a flow of the kernel's begins later than it should, at most [s]."""
LAST_S = 2e-3
"""Time at the end of a run that is left out [s]: our flows begin up to a millisecond later."""
FIRST_PORT = 40001
"""Port of the first flow's sender (kit/lab.c)."""
RECORD = np.dtype(
    [
        ("time_ns", "<u8"),
        *((name, "<u4") for name in ("seq", "ack")),
        *((name, "<u2") for name in ("length", "id", "port", "payload")),
        *((name, "u1") for name in ("device", "direction", "flags", "tos")),
        ("sacks", "<u4"),
    ]
)
"""A packet of the kernel's capture (kit/lab.c: `struct rec`)."""

Packets = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Instants [s] and numbers, from 0, of packets that a flow sends, retransmissions included."""
NOTHING: Packets = (np.zeros(0), np.zeros(0, np.int64))
Sent = Mapping[int, Packets]
"""The packets of each flow, by its number."""


@dataclass(frozen=True, slots=True)
class Same:
    """The part of a run in which both sides send the same packets at the same instants.

    Parameters
    ----------
    packets, of : int
        Number of these packets, and of all that the kernel sends.
    until_s : float
        Instant of the first packet that differs [s]; infinite if none does.
    """

    packets: int
    of: int
    until_s: float

    def line(self) -> str:
        """Write it as a line."""
        said = f"packets as the kernel's within {SAME_S * 1e3:g} ms:"
        if np.isinf(self.until_s):
            return f"{said} all {self.of}"
        return f"{said} the first {self.packets} of {self.of}, until {self.until_s:.3f} s"


def read_sent(capture: Path, flows: int, payload: int, offset_s: float) -> Sent:
    """Read the data packets that arrive at the bottleneck out of a capture of the kernel's.

    Parameters
    ----------
    capture : Path
        The file.
    flows : int
        Number of flows.
    payload : int
        Payload of a full packet [B].
    offset_s : float
        Time of the capture at the scenario's 0 s [s].

    Returns
    -------
    dict
        The packets by flow. The last packet of a flow, and others that are not full, have the number of a full one that
        begins there.
    """
    packets = np.fromfile(capture, RECORD)
    arrivals = packets[(packets["device"] == 0) & (packets["direction"] == 0) & (packets["payload"] > 0)]
    found = {}
    for flow in range(flows):
        own = arrivals[arrivals["port"] == FIRST_PORT + flow]
        if own.size:
            data = (own["seq"] - own["seq"][0]).astype(np.uint32).astype(np.int64)
            found[flow] = (own["time_ns"] * 1e-9 - offset_s, data // payload)
    return found


def compare_sent(theirs: Sent, ours: Sent, end_s: float) -> Same:
    """Find the first packet that is another one, or is sent at another time.

    Parameters
    ----------
    theirs, ours : dict
        The packets of both sides by flow, their instants as the scenario counts time.
    end_s : float
        End of the run [s]; its last two milliseconds are left out.

    Returns
    -------
    Same
        The result, over all flows.
    """
    last_s = end_s - LAST_S
    flows = sorted({*theirs, *ours})
    pairs = [(_until(theirs.get(flow, NOTHING), last_s), _until(ours.get(flow, NOTHING), last_s)) for flow in flows]
    until_s = min((_first_difference_s(*pair, last_s) for pair in pairs), default=np.inf)
    times = [times for (times, _), _ in pairs]
    return Same(sum(int((one < until_s).sum()) for one in times), sum(one.size for one in times), float(until_s))


def later_starts_s(theirs: Sent, ours: Sent) -> dict[int, float]:
    """Give the time by which each of the kernel's flows sends its first packet later, a millisecond at most [s]."""
    apart = {flow: float(theirs[flow][0][0] - ours[flow][0][0]) for flow in theirs.keys() & ours.keys()}
    return {flow: by_s for flow, by_s in apart.items() if 0.0 < by_s < LONGEST_LATENCY_S}


def _until(packets: Packets, last_s: float) -> Packets:
    times, numbers = packets
    return times[times < last_s], numbers[times < last_s]


def _first_difference_s(theirs: Packets, ours: Packets, last_s: float) -> float:
    """Find the instant of the first packet of a flow that differs [s]; infinite if none does."""
    count = min(theirs[0].size, ours[0].size)
    differs = (np.abs(theirs[0][:count] - ours[0][:count]) > SAME_S) | (theirs[1][:count] != ours[1][:count])
    if differs.any():
        first = int(differs.argmax())
        return float(min(theirs[0][first], ours[0][first]))
    more = max(theirs[0], ours[0], key=len)[count:]
    # The last one may be on this side of the end on one side alone.
    return float(more[0]) if more.size and more[0] < last_s - SAME_S else np.inf


def save_sent(path: Path, sent: Sent) -> None:
    """Write packets into a file: the microseconds since the one before, the flow, and the packet's number."""
    rows = sorted(
        (time_s, flow, number) for flow, packets in sent.items() for time_s, number in zip(*packets, strict=True)
    )
    after_us = np.diff(np.round(np.array([time_s for time_s, _, _ in rows]) * 1e6).astype(int), prepend=0)
    lines = [f"{us},{flow},{number}" for us, (_, flow, number) in zip(after_us, rows, strict=True)]
    # Without a name and a time, so that the same packets make the same file.
    with path.open("wb") as file, gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packed:
        packed.write("\n".join(["after_us,flow,packet", *lines, ""]).encode())


def load_sent(path: Path) -> Sent:
    """Read packets out of a file that `save_sent` wrote."""
    after_us, flows, numbers = np.loadtxt(path, delimiter=",", skiprows=1, unpack=True)
    times_s = np.cumsum(after_us) * 1e-6
    return {int(flow): (times_s[flows == flow], numbers[flows == flow].astype(np.int64)) for flow in np.unique(flows)}
