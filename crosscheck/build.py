"""Resolved scenarios from few arguments; what is not said is what ns-2's presets say."""

from collections.abc import Sequence

from crosscheck.mrg32k3a import boot_fraction
from crosscheck.subset import RECOVERIES, Scenario

ACK_BYTES = 40


def link(name: str, rate_bps: float, *, delay_s: float = 0.0, buffer_packets: int | None = None) -> Scenario:
    """Describe a drop-tail link; a buffer counts the packet in transmission, as in ns-2."""
    return {
        "kind": "link",
        "name": name,
        "rate_bps": rate_bps,
        "delay_s": delay_s,
        "buffer": None if buffer_packets is None else {"packets": buffer_packets},
        "counting": "with-service",
        "queue": queue(),
        "delay_process": None,
        "loss": None,
    }


def queue(levels: int | None = None) -> Scenario:
    """Describe a queue whose full buffer drops the newcomer: first in first out, or with levels of priority."""
    scheduler = {"kind": "fifo"} if levels is None else {"kind": "priority", "levels": levels}
    return {"scheduler": scheduler, "aqm": {"kind": "none"}, "overflow": "arriving"}


def red(  # noqa: PLR0913 - one argument a field
    low: float,
    high: float,
    *,
    weight: float = 0.002,
    max_probability: float = 0.1,
    gentle: bool = True,
    wait: bool = True,
    mean_packet_bytes: int = 500,
) -> Scenario:
    """Describe RED by ns-2's rules, between two thresholds [packets]; its link must count waiting packets alone."""
    aqm = {
        "kind": "red",
        "min_threshold_packets": low,
        "max_threshold_packets": high,
        "weight": weight,
        "max_probability": max_probability,
        "gentle": gentle,
        "mean_packet_bytes": mean_packet_bytes,
        "wait": wait,
        "least_queue_packets": 2.0,
        "first_passes": True,
        "overflow_restarts": True,
        "ecn": "off",
    }
    return queue() | {"aqm": aqm}


def rto(*, granularity_s: float = 0.1, min_s: float = 0.2, clock_fraction: float | None = None) -> Scenario:
    """Describe ns-2's retransmission timer; the phase of its clock, in ticks, is ns-2's for its only agent if None."""
    fraction = boot_fraction() if clock_fraction is None else clock_fraction
    return {
        "estimator": "ticks",
        "sample": "per-round",
        "k": 4,
        "granularity_s": granularity_s,
        "min_s": min_s,
        "max_s": 60.0,
        "initial_s": 3.0,
        "max_backoff": 65536,
        "clock_offset_s": fraction * granularity_s,
    }


def sender(recovery: str, **changes: object) -> Scenario:
    """Describe a sender of ns-2's dialect; `changes` replace single fields."""
    plain: Scenario = {
        "machine": "classic",
        "dialect": "ns2",
        "recovery": recovery,
        "initial_window": 1.0,
        "initial_ssthresh": None,
        "max_window": None,
        "slow_start_while": "below",
        "increase": "reciprocal",
        "half_window": "whole-packets",
        "dupack_threshold": 3,
        "limited_transmit": False,
        "max_burst": None,
        "partial_ack_timer": "impatient",
        "rto": rto(),
        "ecn": "off",
    }
    if recovery not in RECOVERIES:
        allowed = ", ".join(RECOVERIES)
        raise ValueError(f"sender: ns-2's one-way agents have no such recovery; given {recovery!r}; allowed {allowed}")
    unknown = changes.keys() - plain.keys()
    if unknown:
        raise ValueError(f"sender: no such field; given {sorted(unknown)}; allowed {sorted(plain)}")
    return plain | changes


def blocks(recovery: str, most: int = 3) -> Scenario | None:
    """Describe the blocks of selective acknowledgment that ns-2's receiver has for a recovery; None without them."""
    return {"most": most, "bytes": 8} if recovery == "sack1" else None


def flow(  # noqa: PLR0913 - one argument a field
    name: str,
    path: Sequence[int],
    return_path: Sequence[int],
    sender: Scenario,
    *,
    packet_bytes: int = 512,
    forward_delay_s: float = 0.0,
    return_delay_s: float = 0.0,
    start_s: float = 0.0,
    ack_every: int = 1,
    ack_delay_s: float = 0.1,
) -> Scenario:
    """Describe a bulk flow over the numbered links."""
    connection = {
        "return_path": list(return_path),
        "return_delay_s": return_delay_s,
        "ack_bytes": ACK_BYTES,
        "ack_priority": 0,
        "sender": sender,
        "receiver": {
            "ack_every": ack_every,
            "ack_delay_s": ack_delay_s,
            "blocks": blocks(sender["recovery"]),
            "ecn": sender["ecn"],
        },
    }
    traffic = {"kind": "tcp", "size_packets": None, "connection": connection}
    plain = source(name, path, traffic, packet_bytes=packet_bytes, start_s=start_s)
    return plain | {"forward_delay_s": forward_delay_s}


def source(
    name: str,
    path: Sequence[int],
    traffic: Scenario,
    *,
    packet_bytes: int = 512,
    start_s: float = 0.0,
) -> Scenario:
    """Describe a source of the given traffic over the numbered links."""
    return {
        "name": name,
        "count": 1,
        "start_s": start_s,
        "start_spread_s": 0.0,
        "path": list(path),
        "forward_delay_s": 0.0,
        "packet_bytes": packet_bytes,
        "priority": 0,
        "traffic": traffic,
    }


def constant(gap_s: float, packet_bytes: int) -> Scenario:
    """Describe packets in equal distances."""
    return {"kind": "constant", "rate_bps": packet_bytes * 8 / gap_s}


def delay_steps(name: str, steps_s: Sequence[tuple[float, float]]) -> Scenario:
    """Describe a delay that changes at given instants, the first of them 0; packets overtake where it drops."""
    law = {"kind": "steps", "steps_s": [list(step) for step in steps_s]}
    return {"stream": name, "order": "overtake", "law": law}


def lost_packets(numbers: Sequence[int], applies_to: str = "all") -> Scenario:
    """Describe losses of the packets with the given numbers, counted from 1."""
    return {"applies_to": applies_to, "law": {"model": "packets", "numbers": list(numbers)}}


def lost_at(times_s: Sequence[float], applies_to: str = "all") -> Scenario:
    """Describe losses of the next packet after each of the given instants."""
    return {"applies_to": applies_to, "law": {"model": "times", "times_s": list(times_s)}}


def lost_randomly(probability: float, applies_to: str = "all") -> Scenario:
    """Describe losses of each packet with a probability."""
    return {"applies_to": applies_to, "law": {"model": "bernoulli", "probability": probability}}


def scenario(
    title: str, links: list[Scenario], flows: list[Scenario], *, duration_s: float, warmup_s: float = 0.0
) -> Scenario:
    """Put a scenario together; it traces cwnd and runs once."""
    return {
        "format": 3,
        "title": title,
        "run": {
            "duration_s": duration_s,
            "warmup_s": warmup_s,
            "replications": 1,
            "seed": 1,
            "confidence": 0.95,
            "precision": None,
            "delays": False,
        },
        "elements": links,
        "flows": flows,
        "trace": {
            "cwnd": True,
            "rtt": False,
            "sequence": False,
            "queue": False,
            "queue_distribution": False,
            "drops": False,
            "losses": False,
            "delay": False,
            "recovery": False,
            "rounds": False,
            "overview_interval_s": None,
            "overview_detail_s": None,
            "capture": None,
        },
        "atm": None,
    }
