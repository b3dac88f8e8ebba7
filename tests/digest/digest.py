"""One number for all that a scenario's run measured: if a bit of it changes, the number changes."""

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ackclock.engine import run_resolved
from ackclock.scenario import Resolved

Columns = tuple[str, ...]

FLOWS: Columns = (
    "sent_packets", "retransmitted_packets", "received_packets", "dropped_packets", "lost_packets",
    "delivered_packets", "acked_packets", "duplicate_acks", "timeouts", "fast_retransmits", "rtt_sum_s", "rtt_samples",
    "cwnd_max", "cwnd_area", "finish_s", "sent_total", "received_total", "dropped_total", "lost_total",
    "delivered_total", "spurious_timeouts", "spurious_fast_retransmits", "timeouts_repeated", "timeouts_in_recovery",
    "timeouts_at_beginning", "timeouts_at_end", "timeouts_other", "timeouts_in_slow_start", "stalled_s", "recoveries",
    "recovery_retransmissions", "recovery_sent", "recovery_sent_on_end", "recovery_s",
)  # fmt: skip
LINKS: Columns = (
    "arrived_packets", "dropped_packets", "lost_packets", "departed_packets", "departed_bytes", "busy_s",
    "queue_area_packet_s", "queue_max_packets", "arrived_total", "dropped_total", "lost_total", "departed_total",
)  # fmt: skip
CLASSES: Columns = (
    "from_packets", "to_packets", "transfers", "packets", "on_s", "rate_sum_packets_per_s", "stalled_s",
    "sent_packets", "retransmitted_packets", "dropped_packets", "timeouts", "fast_retransmits",
    "recovery_retransmissions", "arrivals", "queue_seen_packets",
)  # fmt: skip
STATES: Columns = ("time_s", "transfers", "packets", "on_s")
TRACES: dict[str, Columns] = {
    "cwnd": ("flow", "time_s", "cwnd", "ssthresh", "flight_size", "rto_s"),
    "rtt": ("flow", "time_s", "rtt_s"),
    "sequence": ("flow", "time_s", "kind", "sequence"),
    "queue": ("link", "time_s", "packets"),
    "queue_distribution": ("link", "packets", "time_s", "arrivals"),
    "drops": ("time_s", "link", "flow", "sequence", "retransmission", "slow_start", "ack", "lost"),
    "losses": ("time_s", "flow", "sequence", "cause", "slow_start", "retransmission", "spurious"),
    "recovery": (
        "flow", "time_s", "event", "sequence", "window", "slow_start", "spurious", "duration_s", "retransmissions",
        "sent", "sent_on_end",
    ),
    "rounds": ("flow", "time_s", "rtt_s", "window"),
    "delay": ("link", "time_s", "delay_s"),
    "overview": ("kind", "index", "time_s", "value"),
}  # fmt: skip
"""The columns that count, in this order. Their names do not: a column that is renamed is renamed here, and no number
changes; a new column is not added here."""


def digest(resolved: Resolved) -> str:
    """Run a scenario and give the number of what all its replications measured, as 16 hexadecimal digits."""
    found = hashlib.blake2b(digest_size=8)
    for replication in run_resolved(resolved, threads=2):
        for values in _columns(replication):
            found.update(str(values.size).encode())
            found.update(np.ascontiguousarray(values, dtype="<f8").tobytes())
    return found.hexdigest()


def _columns(replication: Mapping[str, Any]) -> Iterator[np.ndarray]:
    """Give all that a replication measured but what it cost."""
    yield from (replication["flows"][name] for name in FLOWS)
    yield from (replication["links"][name] for name in LINKS)
    for sources in replication["transfers"]:
        yield np.array([sources["entry"], sources["started"], sources["completed"]])
        yield from (sources["classes"][name] for name in CLASSES)
        yield from (sources["states"][name] for name in STATES)
        yield sources["sequence_drops"]
    for trace, columns in TRACES.items():
        if trace in replication["traces"]:
            yield from (replication["traces"][trace][name] for name in columns)
