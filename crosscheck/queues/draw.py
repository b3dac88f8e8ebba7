"""Scenarios with one queue that ns-2 has too, drawn from a seed."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

from crosscheck.draws import ns2_seeds, stream
from crosscheck.mrg32k3a import Mrg32k3a
from crosscheck.queues.ns2 import Queue
from crosscheck.queues.ours import ENTRY, SHARED

Table = dict[str, Any]

DURATION_S = 20.0
PRESETS = ("reno-ns2", "newreno-ns2", "linux-cubic")
JITTER: Table = {"kind": "handover", "low": "0 s", "high": "0.5 ms", "period": "0.1 ms", "order": "keep"}
"""Delays of ACKs that change: after an idle time packets would come in the distances of departures, each at one."""
LONGEST = 1_000_000_000
"""Stands for no limit of a buffer in packets."""


class Packets(NamedTuple):
    """The typical length of packets [B], and whether all have it."""

    typical: int
    same_size: bool


@dataclass(frozen=True, slots=True)
class Drawn:
    """A queue as its users write it and in ns-2's words, without the rest of the scenario.

    Parameters
    ----------
    table : dict
        The table `queue`.
    discipline : str
        ns-2's class under `Queue/`.
    settings : dict
        Its variables.
    buffer : str or None
        The buffer of the link; None: unlimited.
    """

    table: Table
    discipline: str
    settings: dict[str, object]
    buffer: str | None


@dataclass(frozen=True, slots=True)
class Case:
    """A scenario, and its queue in ns-2's words."""

    name: str
    resolved: Any
    queue: Queue

    def with_seeds(self, arrivals: int) -> Queue:
        """Give the queue with a seed for each number that our engine may draw."""
        numbers = list(islice(stream(f"link/{SHARED}", seed=self.resolved.run.seed), arrivals))
        seeds = tuple(ns2_seeds(numbers)) if self.queue.discipline in ("RED", "PI") else ()
        return Queue(self.queue.discipline, self.queue.settings, self.queue.rate_bps, self.queue.sizes, seeds)


def draw_queue(name: str, seed: int, index: int) -> Case:
    """Draw a scenario with a discipline.

    Parameters
    ----------
    name : str
        Name of the discipline, a key of `DISCIPLINES`.
    seed, index : int
        Choose the scenario; it is the same whatever others are drawn.
    """
    random = source(name, seed, index)
    same_size = random.choice((True, False))
    packets = Packets(random.choice((500, 1000, 1460)), same_size)
    rate_bps = round(random.between(0.5e6, 5e6), 3)
    drawn = DISCIPLINES[name](random, packets)
    resolved = draw_path(random, packets, rate_bps, drawn.table, drawn.buffer)
    sizes = tuple(flow.packet_bytes for flow in resolved.flows)
    return Case(f"{name} {seed}-{index}", resolved, Queue(drawn.discipline, drawn.settings, rate_bps, sizes))


def source(name: str, seed: int, index: int) -> Mrg32k3a:
    """Give the random numbers that a scenario is drawn from."""
    return Mrg32k3a(1 + (seed * 7919 + index * 104_729 + sum(map(ord, name)) * 31) % 2**31)


def draw_path(random: Mrg32k3a, packets: Packets, rate_bps: float, queue: Table, buffer: str | None) -> Any:
    """Draw flows that share a link with a queue.

    Parameters
    ----------
    random : Mrg32k3a
        The numbers that choose them, and last the seed of the run.
    packets : Packets
        The lengths of the packets.
    rate_bps : float
        The rate of the link [bit/s].
    queue : dict
        Its table `queue`.
    buffer : str or None
        Its buffer; None: unlimited.

    Returns
    -------
    Resolved
        The scenario, with captures before and behind the queue, and its drops.
    """
    ecn = queue.get("ecn", "off") != "off"
    return path_of(random, _flows(random, packets, rate_bps, ecn=ecn), rate_bps, queue, buffer)


def path_of(random: Mrg32k3a, flows: list[Table], rate_bps: float, queue: Table, buffer: str | None) -> Any:
    """Draw the links of flows that share one with a queue, as `draw_path` does.

    Parameters
    ----------
    random, rate_bps, queue, buffer
        As in `draw_path`.
    flows : list of dict
        The tables of the flows, which get their names and paths.

    Returns
    -------
    Resolved
        The scenario.
    """
    shared: Table = {"name": SHARED, "rate": f"{rate_bps!r} bit/s", "delay": f"{random.between(2, 60)!r} ms"}
    shared |= {"queue": queue, "counting": "waiting", "reverse": {"delay_process": JITTER}}
    if buffer:
        shared["buffer"] = buffer
    links = [{"name": ENTRY, "rate": "unlimited"}, shared]
    for number, flow in enumerate(flows):
        access_bps = round(rate_bps * random.between(1.2, 5.0), 3)
        links.append({"name": f"access{number}", "rate": f"{access_bps!r} bit/s"})
        flow |= {"name": f"flow{number}", "path": [f"access{number}", ENTRY, SHARED]}
    scenario = {
        "link": links,
        "flow": flows,
        "run": {"duration": f"{DURATION_S} s", "seed": random.integer(1, 1_000_000)},
        "trace": {"capture": [ENTRY, SHARED], "drops": True},
    }
    return importlib.import_module("ackclock").resolve(scenario)


def _flows(random: Mrg32k3a, packets: Packets, rate_bps: float, *, ecn: bool) -> list[Table]:
    """Draw flows of TCP, some of them with ECN, and of packets in random distances."""
    flows: list[Table] = []
    for number in range(random.integer(2, 5)):
        size = packets.typical if packets.same_size else random.choice((200, 500, 576, 1000, 1460))
        preset = random.choice(PRESETS)
        tcp: Table = {"preset": preset} | ({"ecn": "classic"} if ecn and random.choice((True, True, False)) else {})
        flows.append({"packet": f"{size} B", "tcp": tcp, "start": f"{number * random.between(0.0, 1.0)!r} s"})
        flows[-1]["rtt"] = f"{random.between(150.0, 320.0)!r} ms"
    for _ in range(random.integer(1, 3)):
        size = packets.typical if packets.same_size else random.integer(100, 1500)
        rate = rate_bps * random.between(0.05, 0.5)
        flows.append({"packet": f"{size} B", "traffic": {"kind": "poisson", "rate": f"{rate!r} bit/s"}})
    return flows


def _red(random: Mrg32k3a, packets: Packets, *, adaptive: bool) -> Drawn:
    """Draw a RED in bytes, or an adaptive one of either unit, by ns-2's rules.

    A number is drawn for each packet with `wait_` or with `bytes_`; without both, ours draws one only if it matters.
    """
    in_bytes = not adaptive or random.choice((True, False))
    by_size = random.uniform() < (0.5 if adaptive else 0.7)
    low = random.between(1.0, 8.0)
    values = {
        "thresh_": low,
        "maxthresh_": low + random.between(2.0, 12.0),
        "q_weight_": random.choice((0.002, 0.02, 0.1)),
        "linterm_": 1.0 / random.between(0.02, 0.3),
        "gentle_": random.choice((True, False)),
        "wait_": not by_size or random.choice((True, False)),
        "mean_pktsize_": packets.typical,
        "bytes_": by_size,
        "queue_in_bytes_": in_bytes,
        "setbit_": random.choice((True, False)),
        "mark_p_": 1.0,
        "adaptive_": int(adaptive),
    }
    table: Table = {
        "discipline": "red",
        "rules": "ns2",
        "min_threshold": f"{values['thresh_']!r} pkt",
        "max_threshold": f"{values['maxthresh_']!r} pkt",
        "weight": values["q_weight_"],
        "max_probability": 1.0 / values["linterm_"],
        "gentle": values["gentle_"],
        "wait": values["wait_"],
        "mean_packet": f"{packets.typical} B",
        "in_bytes": in_bytes,
        "by_size": by_size,
        "ecn": "early" if values["setbit_"] else "off",
    }
    if adaptive:
        more, fields = _adaptation(random)
        values, table = values | more, table | fields
    limit, buffer = _limit(random, packets, in_bytes=in_bytes)
    return Drawn(table, "RED", _tcl(values | {"limit_": limit}), buffer)


def _adaptation(random: Mrg32k3a) -> tuple[dict[str, Any], Table]:
    values: dict[str, Any] = {
        "alpha_": random.choice((0.01, random.between(0.001, 0.1))),
        "beta_": random.choice((0.9, random.between(0.5, 0.99))),
        "interval_": random.choice((0.5, random.between(0.05, 1.0))),
        "top_": random.between(0.2, 0.9),
        "bottom_": random.choice((0, random.between(0.001, 0.05))),
    }
    table: Table = {
        "adaptive": True,
        "alpha": values["alpha_"],
        "beta": values["beta_"],
        "interval": f"{values['interval_']!r} s",
        "top": values["top_"],
    }
    return values, table | ({"bottom": values["bottom_"]} if values["bottom_"] else {})


def _limit(random: Mrg32k3a, packets: Packets, *, in_bytes: bool) -> tuple[int, str | None]:
    """Draw the limit of a queue that is full at times, and the buffer.

    ns-2 admits a packet of any size while less bytes than the limit wait, ours one that fits. So a queue in bytes
    of packets of different sizes is unlimited.
    """
    if in_bytes and not packets.same_size:
        return LONGEST // 2000, None
    least, most = random.choice(((6, 15), (20, 60), (100, 200)))
    limit = random.integer(least, most)
    return limit, f"{limit * packets.typical} B" if in_bytes else f"{limit} pkt"


def _pi(random: Mrg32k3a, packets: Packets) -> Drawn:
    in_bytes, by_size, marks = (random.choice((True, False)) for _ in range(3))
    update_s = random.integer(500, 20_000) * 1e-6
    factor = 10 ** random.between(-4.5, -1.5)
    values = {
        "a_": factor,
        "b_": factor * random.between(0.9, 0.9999),
        "w_": 1.0 / update_s,
        "qref_": random.between(2.0, 40.0),
        "bytes_": by_size,
        "queue_in_bytes_": in_bytes,
        "mean_pktsize_": packets.typical,
        "setbit_": marks,
    }
    table: Table = {
        "discipline": "pi",
        "factor_new": values["a_"],
        "factor_old": values["b_"],
        "update": f"{update_s!r} s",
        "target_queue": f"{values['qref_']!r} pkt",
        "by_size": by_size,
        "in_bytes": in_bytes,
        "mean_packet": f"{packets.typical} B",
        "ecn": "all" if marks else "off",
    }
    limit, buffer = _limit(random, packets, in_bytes=in_bytes)
    return Drawn(table, "PI", _tcl(values | {"limit_": limit}), buffer)


def _sfq(random: Mrg32k3a, _: Packets) -> Drawn:
    limit = random.integer(8, 120)
    table = {"discipline": "sfq", "rules": "ns2", "separation": "perfect"}
    return Drawn(table, "SFQ", {"maxqueue_": limit, "buckets_": NS2_BUCKETS, "limit_": LONGEST}, f"{limit} pkt")


NS2_BUCKETS = 16
"""Queues of ns-2's SFQ, which are the default here."""


def _drr(random: Mrg32k3a, packets: Packets) -> Drawn:
    limit, quantum = random.integer(4 * 1500, 60 * packets.typical + 6000), random.integer(256, 3000)
    table = {"discipline": "drr", "rules": "ns2", "quantum": f"{quantum} B"}
    settings: dict[str, object] = {"blimit_": limit, "quantum_": quantum, "buckets_": 32, "mask_": 0}
    return Drawn(table, "DRR", settings, f"{limit} B")


def _tcl(values: dict[str, Any]) -> dict[str, object]:
    """Write values as Tcl has them."""
    return {
        name: str(value).lower() if isinstance(value, bool) else repr(value) if isinstance(value, float) else value
        for name, value in values.items()
    }


DISCIPLINES: dict[str, Callable[[Mrg32k3a, Packets], Drawn]] = {
    "red-bytes": lambda random, packets: _red(random, packets, adaptive=False),
    "ared": lambda random, packets: _red(random, packets, adaptive=True),
    "sfq": _sfq,
    "drr": _drr,
    "pi": _pi,
}
"""The disciplines that are compared, with what draws their parameters."""
