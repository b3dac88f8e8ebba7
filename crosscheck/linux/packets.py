"""The packets that senders send, in the kernel and in our engine: until when they are the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

SAME_S = 1e-4
"""Difference of instants of the same packet [s]: the kernel's timers and its clock's steps leave some microseconds."""
LAST_S = 1e-3
"""Time at the end of a run in which one side may have a packet more [s]: ours begins some of it later."""
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
        End of the run [s]. A packet that one side alone sends in the last millisecond does not count.

    Returns
    -------
    Same
        The result, over all flows.
    """
    until_s = min(
        (_first_difference_s(theirs.get(flow), ours.get(flow), end_s) for flow in {*theirs, *ours}), default=np.inf
    )
    times = np.concatenate([times for times, _ in theirs.values()]) if theirs else np.zeros(0)
    return Same(int((times < until_s).sum()), times.size, float(until_s))


def _first_difference_s(theirs: Packets | None, ours: Packets | None, end_s: float) -> float:
    """Find the instant of the first packet of a flow that differs [s]; infinite if none does."""
    if theirs is None or ours is None:
        return float(next(one for one in (theirs, ours) if one is not None)[0][0])
    count = min(theirs[0].size, ours[0].size)
    differs = (np.abs(theirs[0][:count] - ours[0][:count]) > SAME_S) | (theirs[1][:count] != ours[1][:count])
    if differs.any():
        first = int(differs.argmax())
        return float(min(theirs[0][first], ours[0][first]))
    more = max(theirs[0], ours[0], key=len)[count:]
    return float(more[0]) if more.size and more[0] < end_s - LAST_S else np.inf
