"""The recorded runs of the kernel: their parameters, their figures, and the same as scenarios of ours."""

import csv
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

from crosscheck.linux.experiment import BOOT_S
from crosscheck.linux.figures import Figures

FOLDER = Path(__file__).with_name("recorded")
ACK_BYTES = 52
"""Size of an ACK with timestamps [B]."""
BUFFER_BYTES, MOST_BUFFER_BYTES = 2_000_000, 67_108_864
"""Receive buffer of the recorded runs at first and at most, large enough never to limit a window [B]."""
HTB = {"kind": "shaper", "burst": "15 B"}
"""The token bucket behind the queues with an AQM there."""
ON_THE_LINK = 1500 / 1514
"""Bytes of a packet of the recorded runs in those that its queue counts, with the header of the link."""
FIRST_UPDATE_S = 0.504
"""Instant after boot at which PIE's first timer expires, of 500 ms and rounded up to its wheel's next eight ticks."""
RED = {"discipline": "red", "rules": "linux", "mean_packet": "1500 B"}
QUEUES: dict[str, tuple[str, dict[str, Any]]] = {
    "codel": ("1000 pkt", {"discipline": "codel"}),
    # The queue is set up a tenth of a second before the run, and PIE's timer with it.
    "pie": ("1000 pkt", {"discipline": "pie", "first_update": f"{FIRST_UPDATE_S - BOOT_S} s"}),
    # The few flows of the recorded runs have each a queue of their own there.
    "fq-codel": ("1000 pkt", {"discipline": "fq-codel", "separation": "perfect"}),
    "fq-pie": (
        "1000 pkt",
        {"discipline": "fq-pie", "separation": "perfect", "first_update": f"{FIRST_UPDATE_S - BOOT_S} s"},
    ),
    # All flows have the same two hosts. The kernel's limit is of memory, which the few packets there do not reach.
    "cake": ("15140 KiB", {"discipline": "cake", "separation": "perfect"}),
    "sfq": ("127 pkt", {"discipline": "sfq", "separation": "perfect"}),
    "red": (
        f"{int(1e6 * ON_THE_LINK)} B",
        # tc red min 30000 max 90000 avpkt 1500 burst 31: W = 2^-4.
        RED
        | {"min_threshold": f"{20 * ON_THE_LINK} pkt", "max_threshold": f"{60 * ON_THE_LINK} pkt", "weight": 1 / 16},
    ),
    "red-step": (
        f"{int(1e6 * ON_THE_LINK)} B",
        # tc red min 30000 max 31500 burst 21 probability 1, which overflows its 32 bits: the kernel takes 0.73.
        RED
        | {"min_threshold": f"{20 * ON_THE_LINK} pkt", "max_threshold": f"{21 * ON_THE_LINK} pkt"}
        | {"weight": 1 / 4, "max_probability": 1500 / 2048},
    ),
}
"""Buffers and tables of the recorded runs' queues with an AQM that our engine has."""
WITHOUT_ECN = frozenset({"cake", "sfq"})
"""Queues without a setting of whether they mark."""
RANDOM_QUEUES = frozenset({"cake", "fq-pie", "pie", "red", "red-step"})
"""Queues that draw random numbers."""
CHANGE_S = 10.0
"""Instant at which the delay of some runs steps up [s]."""


def managed(queue: str, *, ecn: bool) -> dict[str, Any]:
    """Write the fields of a bottleneck that has one of `QUEUES`."""
    buffer, table = QUEUES[queue]
    marking = {} if queue in WITHOUT_ECN else {"ecn": "all" if ecn else "off"}
    return {"buffer": buffer, "queue": table | marking, "token_bucket": HTB}


@dataclass(frozen=True, slots=True)
class Run:
    """Parameters of a recorded run.

    Parameters
    ----------
    name : str
        Name of the run.
    controls : tuple of str
        Congestion control of each flow.
    round_trips_ms : tuple of float
        Two-way propagation of each flow [ms].
    forward_ms : float
        Propagation of them all from the bottleneck to the receiver; the return path has the rest [ms].
    rate_bps : float
        Rate of the bottleneck [bit/s].
    buffer_packets : int or None
        Its buffer, with the packet in transmission; None if an AQM decides.
    packet_bytes : int
        Size of data packets [B].
    queue : str
        Queueing discipline.
    loss_percent : float
        Probability of random losses behind the bottleneck [%].
    extra_ms : float
        Delay by which the path is longer from 10 s on [ms].
    sack, rack, tlp, frto, timestamps, ecn : bool
        Options of TCP.
    duration_s, warmup_s : float
        Length of the run, and of its part that rates and queues leave out [s].
    reverse_bps : float or None
        Rate of the link that carries the ACKs alone [bit/s]; None: unlimited.
    reverse_packets : int or None
        ACKs that it holds, with the one in transmission.
    """

    name: str
    controls: tuple[str, ...]
    round_trips_ms: tuple[float, ...]
    forward_ms: float
    rate_bps: float
    buffer_packets: int | None
    packet_bytes: int
    queue: str
    loss_percent: float
    extra_ms: float
    sack: bool
    rack: bool
    tlp: bool
    frto: bool
    timestamps: bool
    ecn: bool
    duration_s: float
    warmup_s: float
    reverse_bps: float | None
    reverse_packets: int | None

    def missing(self) -> str | None:
        """Say what our engine lacks for the run; None if it can be played."""
        presets = import_module("ackclock.scenario.presets").preset_names()
        lacking = [
            *(f"no preset linux-{name}" for name in dict.fromkeys(self.controls) if f"linux-{name}" not in presets),
            *(["its random losses are not recorded"] if self.loss_percent and self.name not in lost() else []),
            *([f"no queue {self.queue} by Linux's rules"] if self.queue not in {"drop-tail", *QUEUES} else []),
        ]
        return ", ".join(lacking) or None

    @property
    def is_of_one_kind(self) -> bool:
        """Return whether all flows have one congestion control and one round trip."""
        return len(set(zip(self.controls, self.round_trips_ms, strict=True))) == 1

    def document(self, lost: tuple[int, ...] = ()) -> dict[str, Any]:
        """Write the run as a scenario.

        Parameters
        ----------
        lost : tuple of int
            Numbers, from 1, of the data packets that are lost behind the bottleneck.

        Returns
        -------
        dict
            A scenario in the users' form. Its flows connect at 0 s, as the kernel's.
        """
        bottleneck: dict[str, Any] = {
            "name": "bottleneck",
            "rate": f"{self.rate_bps} bit/s",
            "buffer": f"{self.buffer_packets} pkt",
            "reverse": {"rate": "unlimited"},
        }
        if self.reverse_bps is not None:
            bottleneck["reverse"] = {"rate": f"{self.reverse_bps} bit/s", "buffer": f"{self.reverse_packets} pkt"}
        if self.queue in QUEUES:
            bottleneck |= managed(self.queue, ecn=self.ecn)
        wire: dict[str, Any] = {"name": "wire", "rate": "unlimited", "delay": f"{self.forward_ms:.9g} ms"}
        back = [
            {"name": f"back{number}", "rate": "unlimited", "delay": f"{trip_ms - self.forward_ms} ms"}
            for number, trip_ms in enumerate(self.round_trips_ms, 1)
        ]
        if self.extra_ms:
            steps = [["0 s", "0 s"], [f"{CHANGE_S} s", f"{self.extra_ms} ms"]]
            wire["delay_process"] = {"kind": "steps", "steps": steps}
        if lost:
            wire["loss"] = {"model": "packets", "packets": list(lost), "applies_to": "data"}
        run = {"duration": f"{self.duration_s} s", "warmup": f"{self.warmup_s} s"}
        return {"title": self.name, "link": [bottleneck, wire, *back], "flow": list(self._flows()), "run": run}

    @property
    def is_copied(self) -> bool:
        """Return whether its packets were copied: those of `L_*`, whose losses are netem's, were not."""
        return not self.name.startswith("L_")

    def _flows(self) -> Iterator[dict[str, Any]]:
        for number, control in enumerate(self.controls, 1):
            yield {
                "name": f"flow{number}",
                "path": ["bottleneck", "wire"],
                "return_path": ["bottleneck.reverse", f"back{number}"],
                "packet": f"{self.packet_bytes} B",
                "ack": f"{ACK_BYTES} B",
                "tcp": self._tcp(control),
                **({"host": "client"} if self.queue == "cake" else {}),
            }

    def _tcp(self, control: str) -> dict[str, Any]:
        return {
            "preset": f"linux-{control}",
            "handshake": "tcp",
            "receive_buffer": f"{BUFFER_BYTES} B",
            "receive_buffer_max": f"{MOST_BUFFER_BYTES} B",
            "sack": self.sack,
            "loss_detection": "rack" if self.rack else "dupack",
            "tail_loss_probe": self.tlp,
            "frto": self.frto,
            "timestamps": self.timestamps,
            "ecn": "dctcp" if control == "dctcp" else "classic" if self.ecn else "off",
        }

    def scenario(self, lost: tuple[int, ...] = ()) -> dict[str, Any]:
        """Resolve the document."""
        scenarios = import_module("ackclock.scenario")
        resolved: dict[str, Any] = scenarios.resolve(scenarios.load(self.document(lost))).to_dict()
        return resolved


@lru_cache(maxsize=1)
def runs() -> dict[str, Run]:
    """Read the parameters of all recorded runs, by name."""
    return {row["run"]: _run(row) for row in _rows("runs.csv")}


def _run(row: dict[str, str]) -> Run:
    flows = int(row["flows"])
    flags = {name: row[name] == "1" for name in ("sack", "rack", "tlp", "frto", "timestamps", "ecn")}
    return Run(
        name=row["run"],
        controls=tuple(_cyclic(row["control"].split(), flows)),
        round_trips_ms=tuple(float(trip) for trip in _cyclic(row["round_trips_ms"].split(), flows)),
        forward_ms=float(row["forward_ms"]),
        rate_bps=float(row["rate_bps"]),
        buffer_packets=int(row["buffer_packets"]) if row["buffer_packets"] else None,
        packet_bytes=int(row["packet_bytes"]),
        queue=row["queue"],
        loss_percent=float(row["loss_percent"] or 0.0),
        extra_ms=float(row["extra_ms"] or 0.0),
        duration_s=float(row["duration_s"]),
        warmup_s=float(row["warmup_s"]),
        reverse_bps=float(row["reverse_bps"]) if row["reverse_bps"] else None,
        reverse_packets=int(row["reverse_packets"]) if row["reverse_packets"] else None,
        **flags,
    )


def _cyclic(values: list[str], count: int) -> list[str]:
    return [values[number % len(values)] for number in range(count)]


@lru_cache(maxsize=1)
def figures() -> dict[str, dict[str, Figures]]:
    """Read the kernel's figures, by run and realisation; the run itself is the first."""
    found: dict[str, dict[str, Figures]] = defaultdict(dict)
    for row in _rows("figures.csv"):
        found[row["run"]][row["realisation"]] = Figures(
            goodput_mbps=tuple(map(float, (row["goodput_each"] or row["goodput_mbps"]).split())),
            queue_ms=float(row["queue_ms"]),
            drops=int(row["drops"]),
            recoveries=int(row["recoveries"]),
            retransmissions=int(row["retransmissions"]),
            timeouts=int(row["timeouts"]),
            marks=int(row["marks"] or 0),
            cwnd_mean=float(row["cwnd_mean"]),
            cwnd_max=float(row["cwnd_max"]),
            queue_p95_ms=float(row["queue_p95_ms"] or "nan"),
        )
    return dict(found)


@lru_cache(maxsize=1)
def known() -> dict[str, str]:
    """Read what is known of runs whose figures differ, by the run's name."""
    return {row["run"]: row["why"] for row in _rows("known.csv")}


@lru_cache(maxsize=1)
def lost() -> dict[str, tuple[int, ...]]:
    """Read the numbers of the data packets, from 1, that the recorded runs lost behind the bottleneck."""
    return {row["run"]: tuple(map(int, row["packets"].split())) for row in _rows("lost.csv")}


def _rows(name: str) -> list[dict[str, str]]:
    with (FOLDER / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))
