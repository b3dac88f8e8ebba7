"""A resolved scenario in a few words, and an engine that needs no simulation."""

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from ackclock.replication import Columns, Replication
from ackclock.scenario import Resolved


def file_contents(folder: Path) -> dict[str, bytes]:
    """Read all files below a folder, by their paths in it."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


DROP_TAIL = {"scheduler": {"kind": "fifo"}, "aqm": {"kind": "none"}, "overflow": "arriving"}
LEVELS = {"scheduler": {"kind": "priority", "levels": 2}}
RED = {
    "aqm": {
        "kind": "red",
        "min_threshold_packets": 5.0,
        "max_threshold_packets": 15.0,
        "weight": 0.002,
        "max_probability": 0.1,
        "gentle": True,
        "mean_packet_bytes": 512,
    }
}
RTO = {
    "estimator": "ticks",
    "sample": "per-round",
    "k": 4,
    "granularity_s": 0.1,
    "min_s": 0.2,
    "max_s": 60.0,
    "initial_s": 3.0,
    "max_backoff": 65536,
    "clock_offset_s": 0.0,
}
SENDER = {
    "dialect": "ns2",
    "recovery": "reno",
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
}
NO_TRACES = {
    **dict.fromkeys(("cwnd", "rtt", "sequence", "queue", "queue_distribution", "drops", "losses"), False),
    **dict.fromkeys(("delay", "recovery", "rounds"), False),
    **dict.fromkeys(("overview_interval_s", "overview_detail_s", "capture")),
}
CONNECTION = {
    "return_path": [1],
    "return_delay_s": 0.28,
    "ack_bytes": 40,
    "ack_priority": 0,
    "receiver": {"ack_every": 1, "ack_delay_s": 0.1},
}


def make_link(name: str, **fields: Any) -> dict[str, Any]:
    """Give the JSON form of a link; of its queue the axes that matter are enough."""
    queue = fields.pop("queue", {})
    return {
        "kind": "link",
        "name": name,
        "rate_bps": 1.5e6,
        "delay_s": 0.0,
        "buffer": {"packets": 18},
        "counting": "with-service",
        "queue": DROP_TAIL | queue,
        "delay_process": None,
        "loss": None,
        **fields,
    }


def make_flow(name: str, **fields: Any) -> dict[str, Any]:
    """Give the JSON form of a flow, of TCP unless other traffic is given; takes fields of its connection too."""
    traffic = fields.pop("traffic", None) or {"kind": "tcp", "size_packets": fields.pop("size_packets", None)}
    if traffic["kind"] in {"tcp", "web"}:
        traffic = {**traffic, "connection": _connection(fields)}
    return {
        "name": name,
        "count": 1,
        "start_s": 0.0,
        "start_spread_s": 0.0,
        "path": [0],
        "forward_delay_s": 0.28,
        "packet_bytes": 512,
        "priority": 0,
        "traffic": traffic,
        **fields,
    }


def _connection(fields: dict[str, Any]) -> dict[str, Any]:
    """Take its fields out of those of a flow; of the sender and its timer those that matter are enough."""
    sender = fields.pop("sender", {})
    taken = {field: fields.pop(field, value) for field, value in CONNECTION.items()}
    return {**taken, "sender": SENDER | sender | {"rto": RTO | sender.get("rto", {})}}


def make_resolved(
    flows: list[dict[str, Any]] | None = None,
    links: list[dict[str, Any]] | None = None,
    trace: dict[str, Any] | None = None,
    title: str = "GEO satellite path",
    **run: Any,
) -> Resolved:
    fixed = {
        "duration_s": 100.0,
        "warmup_s": 20.0,
        "replications": 4,
        "seed": 1,
        "confidence": 0.95,
        "precision": None,
        "delays": True,
    }
    return Resolved.from_dict(
        {
            "format": 3,
            "title": title,
            "run": fixed | run,
            "elements": links or [make_link("satellite"), make_link("satellite.reverse", buffer=None)],
            "flows": flows or [make_flow("flow", start_spread_s=0.5)],
            "trace": NO_TRACES | (trace or {}),
            "atm": None,
        }
    )


def make_replication(
    resolved: Resolved,
    number: int = 0,
    flows: dict[str, Any] | None = None,
    links: dict[str, Any] | None = None,
) -> Replication:
    """Give what the engine would: a busy first link, the values growing with the replication's number."""
    return Replication(
        replication=number,
        packets=30_000 + number,
        events=90_000,
        cpu_s=0.002,
        flows=_flow_columns(resolved, number) | _as_arrays(flows, len(resolved.rows)),
        links=_link_columns(resolved, number) | _as_arrays(links, len(resolved.elements)),
        traces=_traces(resolved, number),
    )


def _as_arrays(values: dict[str, Any] | None, length: int) -> Columns:
    return {key: np.broadcast_to(np.asarray(value), length) for key, value in (values or {}).items()}


def _flow_columns(resolved: Resolved, number: int) -> Columns:
    values: dict[str, Any] = {
        "sent_packets": 25_000 + number,
        "received_packets": 24_900 + number,
        "delivered_packets": 24_800 + number,
        "acked_packets": 24_800 + number,
        "retransmitted_packets": 150,
        "dropped_packets": 100 + number,
        "timeouts": 2,
        "fast_retransmits": 40,
        "spurious_timeouts": 0,
        "spurious_fast_retransmits": 0,
        "timeouts_repeated": 0,
        "timeouts_in_recovery": 0,
        "timeouts_at_beginning": 0,
        "timeouts_at_end": 1,
        "timeouts_other": 1,
        "timeouts_in_slow_start": 1,
        "stalled_s": 2.5,
        "recoveries": 38,
        "recovery_retransmissions": 60,
        "recovery_sent": 380,
        "recovery_sent_on_end": 76,
        "recovery_s": 19.0,
        "rtt_sum_s": 0.6 * 20_000,
        "rtt_samples": 20_000,
        "cwnd_max": 250.0,
        "cwnd_area": 180.0 * 80.0,
        "finish_s": np.nan,
        "sent_total": 30_000,
        "delivered_total": 29_800,
    }
    return _as_arrays(values, len(resolved.rows))


def _link_columns(resolved: Resolved, number: int) -> Columns:
    count = len(resolved.elements)
    first = np.arange(count) == 0
    return {
        "arrived_packets": np.full(count, 25_000),
        "dropped_packets": np.where(first, 100 + number, 0),
        "departed_packets": np.full(count, 24_900),
        "departed_bytes": np.where(first, 24_900 * 512, 24_900 * 40),
        "busy_s": np.where(first, 0.91 + 0.001 * number, 0.08) * 80.0,
        "queue_area_packet_s": np.where(first, 9.0 * 80.0, 0.1),
        "queue_max_packets": np.where(first, 18, 1),
        "arrived_total": np.full(count, 30_000),
        "dropped_total": np.where(first, 130, 0),
        "departed_total": np.full(count, 29_870),
    }


def _traces(resolved: Resolved, number: int) -> dict[str, dict[str, Any]]:
    trace = resolved.trace
    made: dict[str, dict[str, Any]] = {}
    times = np.array([0.0, 10.0, 50.0, 90.0])
    if trace.cwnd:
        flow = np.zeros(4, dtype=np.uint32)
        cwnd = np.array([1.0, 200.0, 100.0, 180.0 + number])
        made["cwnd"] = {
            "flow": flow,
            "time_s": times,
            "cwnd": cwnd,
            "ssthresh": cwnd / 2,
            "flight_size": cwnd,
            "rto_s": times,
        }
    if trace.losses:
        made["losses"] = {
            "time_s": times[1:3],
            "flow": np.zeros(2, dtype=np.uint32),
            "sequence": np.array([7, 8], dtype=np.uint64),
            "cause": np.array([0, 1], dtype=np.uint8),
            "slow_start": np.array([True, False]),
            "retransmission": np.array([False, False]),
        }
    if trace.drops:
        made["drops"] = {
            "time_s": np.array([10.0, 10.001, 50.0]),
            "link": np.zeros(3, dtype=np.uint32),
            "flow": np.zeros(3, dtype=np.uint32),
            "sequence": np.array([1, 2, 3], dtype=np.uint64),
            "retransmission": np.array([False, False, True]),
            "slow_start": np.array([True, True, False]),
            "ack": np.array([False, False, False]),
        }
    if trace.overview_interval_s is not None:
        made["overview"] = _overview(resolved, times)
    if trace.capture:
        made["capture"] = {name: b"pcapng of " + name.encode() for name in trace.capture}
    return made


def _overview(resolved: Resolved, times: np.ndarray[Any, Any]) -> dict[str, Any]:
    flows, points = len(resolved.rows), len(times)
    cwnd = np.concatenate([np.array([1.0, 200.0, 100.0, 180.0]) + i for i in range(flows)])
    drops = np.array([10.0, 50.0])
    return {
        "kind": np.concatenate([np.zeros(flows * points), np.ones(points), np.full(2, 2)]).astype(np.uint8),
        "index": np.concatenate([np.repeat(np.arange(flows), points), np.zeros(points + 2)]).astype(np.uint32),
        "time_s": np.concatenate([np.tile(times, flows + 1), drops]),
        "value": np.concatenate([cwnd, np.array([1.0, 18.0, 3.0, 12.0]), np.array([2.0, 1.0])]),
    }


class FakeJob:
    """Stands in for `ackclock._engine.Job`: each poll finishes one replication of its list.

    `interrupt_after` makes that poll of any job raise what Ctrl-C raises; `started` lists the jobs of a test.
    """

    started: ClassVar[list["FakeJob"]] = []
    interrupt_after: ClassVar[int | None] = None
    polls: ClassVar[int] = 0

    def __init__(self, resolved_json: str, replications: list[int], threads: int, trace_limit: int) -> None:
        assert trace_limit > 0
        self.resolved = Resolved.from_json(resolved_json)
        if self.resolved.title == "refused":
            raise ValueError("links[0].rate_bps: must be positive; got 0\nflows[0].path: is empty")
        self.replications, self.threads = replications, threads
        self.done = 0
        self.cancelled = False
        FakeJob.started.append(self)

    def progress(self) -> tuple[float, int]:
        return self.done / len(self.replications), self.done

    def wait(self, seconds: float) -> bool:
        assert 0.0 < seconds < 1.0, "Ctrl-C must be seen soon"
        if self.cancelled or self.done == len(self.replications):
            return True
        FakeJob.polls += 1
        if FakeJob.polls == FakeJob.interrupt_after:
            raise KeyboardInterrupt
        self.done += 1
        return self.done == len(self.replications)

    def cancel(self) -> None:
        self.cancelled = True

    def end(self) -> None:
        self.cancelled = True

    def results(self) -> list[Replication]:
        return [make_replication(self.resolved, number) for number in self.replications[: self.done]]
