"""The engine's queue discipline of the table that users write."""

from collections.abc import Callable, Mapping
from math import log2
from typing import Any, Final

from ackclock.scenario.check_queues import COBALTS, CODELS, FAIR, PIES
from ackclock.scenario.resolved_queues import (
    Aqm,
    CakeScheduler,
    Cobalt,
    Codel,
    Discipline,
    Drr,
    DualPi2,
    DualQueue,
    FairQueueing,
    Fifo,
    NoAqm,
    OverflowName,
    Pi,
    Pie,
    Red,
    RedAdaptation,
    RedLinux,
    Scheduler,
    Sfq,
    Step,
    StrictPriority,
    Wfq,
)
from ackclock.scenario.schema_kinds import most
from ackclock.scenario.schema_queues import Queue, interval_of, separation_of

CODEL_TARGET_S, PIE_TARGET_S = 0.005, 0.015
"""Delays that the two are controlled for by default [s]: RFC 8289 section 4.2, RFC 8033 section 4.2."""
PIE_UPDATE_S = 0.016
"""Time between two updates of Linux's PIE [s], whose timer of 15 ms expires at the end of its last tick."""
MOST_RED_BYTES, MOST_WEIGHT_LOG = (
    most(f"elements[].queue.aqm.{name}") for name in ("max_threshold_bytes", "weight_log")
)
"""Largest threshold of Linux's RED [B], and least weight as a power of 1/2."""
NS2_LEAST_QUEUE = 2.0
"""The packets that wait at least in ns-2 before RED drops one early [packets]."""


def _red_rules(queue: Queue) -> dict[str, Any]:
    """Give RED's rules as the engine names them: those that the table gives, else those of `rules`; and its marks."""
    ns2 = queue.rules == "ns2"
    least = queue.least_queue
    return {
        "ecn": queue.ecn,
        "wait": ns2 if queue.wait is None else queue.wait,
        "least_queue_packets": (NS2_LEAST_QUEUE if ns2 else 0.0) if least is None else least,
        "first_passes": ns2 if queue.first_passes is None else queue.first_passes,
        "overflow_restarts": ns2 if queue.overflow_restarts is None else queue.overflow_restarts,
    }


def _red_linux(queue: Queue, largest_packet_bytes: int) -> RedLinux:
    packet_bytes = queue.mean_packet or largest_packet_bytes
    low, high = (round(packets * packet_bytes) for packets in (queue.min_threshold, queue.max_threshold))
    return RedLinux(
        "red-linux",
        min_threshold_bytes=min(low, MOST_RED_BYTES - 1),
        max_threshold_bytes=min(max(high, low + 1), MOST_RED_BYTES),
        max_probability=queue.max_probability,
        weight_log=min(max(round(-log2(queue.weight)), 1), MOST_WEIGHT_LOG),
        adaptive=queue.adaptive,
        ecn=queue.ecn,
        mean_packet_bytes=packet_bytes,
    )


def _red(queue: Queue, largest_packet_bytes: int) -> Red | RedLinux:
    if queue.rules == "linux":
        return _red_linux(queue, largest_packet_bytes)
    return Red(
        "red",
        min_threshold_packets=queue.min_threshold,
        max_threshold_packets=queue.max_threshold,
        weight=queue.weight,
        max_probability=queue.max_probability,
        gentle=queue.gentle,
        mean_packet_bytes=queue.mean_packet or largest_packet_bytes,
        in_bytes=queue.in_bytes,
        by_size=queue.by_size,
        adaptation=_adaptation(queue) if queue.adaptive else None,
        **_red_rules(queue),
    )


def _adaptation(queue: Queue) -> RedAdaptation:
    """Give the parameters of an adaptive RED by ns-2's rules, by default those of ns-2."""
    return RedAdaptation(
        interval_s=_given(queue.interval, 0.5),
        step_up=_given(queue.alpha, 0.01),
        factor_down=_given(queue.beta, 0.9),
        top=queue.top,
        bottom=queue.bottom,
    )


def _pi(queue: Queue, largest_packet_bytes: int) -> Pi:
    return Pi(
        "pi",
        target_packets=queue.target_queue,
        factor_new=queue.factor_new,
        factor_old=queue.factor_old,
        update_s=_given(queue.update, 1 / 170),
        in_bytes=queue.in_bytes,
        by_size=queue.by_size,
        mean_packet_bytes=queue.mean_packet or largest_packet_bytes,
        ecn=queue.ecn == "all",
    )


def _codel(queue: Queue, largest_packet_bytes: int) -> Codel:
    return Codel(
        "codel",
        target_s=_given(queue.target, CODEL_TARGET_S),
        interval_s=interval_of(queue),
        ecn=queue.ecn == "all",
        ce_threshold_s=queue.ce_threshold,
        mtu_bytes=largest_packet_bytes,
        rules="rfc" if queue.rules == "rfc" else "linux",
    )


def _cobalt(queue: Queue, largest_packet_bytes: int) -> Cobalt:
    """Give COBALT's parameters as cake sets them by the rate of its shaper (Linux `cake_set_rate`)."""
    packet_s, interval_s = 8 * largest_packet_bytes / queue.bandwidth if queue.bandwidth else 0.0, interval_of(queue)
    given_s = _given(queue.target, CODEL_TARGET_S)
    target_s = max(1.5 * packet_s, given_s)
    return Cobalt(
        "cobalt",
        target_s=target_s,
        interval_s=max(interval_s + target_s - given_s, 2 * target_s) if queue.bandwidth else interval_s,
        mtu_s=packet_s,
    )


def _cake(queue: Queue, largest_packet_bytes: int) -> CakeScheduler:
    """Give the parameters of cake's scheduler (Linux `cake_set_rate`)."""
    in_time = largest_packet_bytes if queue.bandwidth is None else int(queue.bandwidth / 8) >> 12
    share = max(min(largest_packet_bytes, in_time), LEAST_CAKE_QUANTUM_BYTES)
    return CakeScheduler(
        "cake",
        quantum_bytes=queue.quantum or share,
        hashed=separation_of(queue) == "hash",
        by_host=queue.isolation == "triple",
        bandwidth_bps=queue.bandwidth,
    )


def _pie(queue: Queue, largest_packet_bytes: int) -> Pie:
    return Pie(
        "pie",
        target_s=_given(queue.target, PIE_TARGET_S),
        update_s=(update_s := _given(queue.update, PIE_UPDATE_S)),
        first_update_s=_given(queue.first_update, update_s),
        alpha=_given(queue.alpha, 0.125),
        beta=_given(queue.beta, 1.25),
        burst_s=queue.burst,
        ecn=queue.ecn == "all",
        mtu_bytes=largest_packet_bytes,
    )


def _given(value: float | None, default: float) -> float:
    return default if value is None else value


def _dual_pi2(queue: Queue, largest_packet_bytes: int) -> DualPi2:
    """Give DualPI2's parameters, by default Linux's (`dualpi2_reset_default`) or the RFC's (appendix A.1)."""
    rfc = queue.rules == "rfc"
    update_s, alpha, beta, step_s = (0.015, 0.15, 3.0, 0.0008) if rfc else (0.016, 0.16, 3.2, 0.001)
    return DualPi2(
        "dualpi2",
        target_s=_given(queue.target, 0.015),
        update_s=_given(queue.update, update_s),
        alpha=_given(queue.alpha, alpha),
        beta=_given(queue.beta, beta),
        coupling=queue.coupling,
        step_s=_given(queue.step, step_s),
        mtu_bytes=largest_packet_bytes,
        ramp_s=queue.ramp if rfc else 0.0,
        rules="rfc" if rfc else "linux",
    )


def _fair(queue: Queue, largest_packet_bytes: int) -> FairQueueing | Drr:
    quantum_bytes = queue.quantum or max(LEAST_QUANTUM_BYTES, largest_packet_bytes)
    queues = queue.queues if separation_of(queue) == "hash" else None
    if queue.discipline == "drr" and queue.rules == "ns2":
        return Drr("drr", quantum_bytes=quantum_bytes, queues=queues)
    return FairQueueing(
        "fq",
        quantum_bytes=quantum_bytes,
        queues=queues,
        sparse_first=queue.discipline != "drr",
        by_entry=separation_of(queue) == "group",
        emptied_becomes_old=queue.discipline == "fq-codel" and queue.rules == "rfc",
    )


def _wfq(queue: Queue, _: int) -> Wfq:
    queues = queue.queues if separation_of(queue) == "hash" else None
    return Wfq("wfq", queues=queues, by_entry=separation_of(queue) == "group")


def _sfq(queue: Queue, largest_packet_bytes: int) -> Sfq:
    ns2 = queue.rules == "ns2"
    return Sfq(
        "sfq",
        rules="ns2" if ns2 else "linux",
        queues=NS2_QUEUES if ns2 and not queue.gives("queues") else queue.queues,
        hashed=separation_of(queue) == "hash",
        quantum_bytes=queue.quantum or max(LEAST_QUANTUM_BYTES, largest_packet_bytes),
        depth_packets=queue.depth,
    )


NS2_QUEUES = 16
"""Queues of ns-2's SFQ (`buckets_`)."""
LEAST_CAKE_QUANTUM_BYTES = 300
"""Smallest quantum that cake takes [B]."""
LEAST_QUANTUM_BYTES = 256
"""Smallest quantum (Linux `fq_codel_change`) [B]."""
_SCHEDULERS: Final[Mapping[str, Callable[[Queue, int], Scheduler]]] = {
    **dict.fromkeys(FAIR, _fair),
    "wfq": _wfq,
    "sfq": _sfq,
    "cake": _cake,
    "dualpi2": lambda queue, largest: DualQueue("dual", round(100 * queue.classic_share), largest),
    "priority": lambda queue, _: StrictPriority("priority", queue.levels),
}
_AQMS: Final[Mapping[str, Callable[[Queue, int], Aqm]]] = {
    "red": _red,
    **dict.fromkeys(CODELS, _codel),
    **dict.fromkeys(COBALTS, _cobalt),
    **dict.fromkeys(PIES, _pie),
    "pi": _pi,
    "step": lambda queue, _: Step("step", queue.threshold),
    "dualpi2": _dual_pi2,
}
_OVERFLOWS: Final[Mapping[str, OverflowName]] = {
    "drop-from-front": "front",
    "random-drop": "random",
    "fq": "longest",
    "drr": "longest",
    "wfq": "longest",
    "fq-codel": "fattest",
    "cake": "heaviest",
}
"""Schedulers, AQMs and overflow rules of the disciplines that have others than drop-tail."""


def discipline_of(queue: Queue, largest_packet_bytes: int) -> Discipline:
    """Turn a table without faults into the engine's discipline.

    Parameters
    ----------
    queue : Queue
        The table.
    largest_packet_bytes : int
        The largest packet that crosses the link [B].

    Returns
    -------
    Discipline
        What the engine reads.
    """
    name = queue.discipline
    scheduler, aqm = _SCHEDULERS.get(name), _AQMS.get(name)
    return Discipline(
        Fifo() if scheduler is None else scheduler(queue, largest_packet_bytes),
        NoAqm() if aqm is None else aqm(queue, largest_packet_bytes),
        _overflow(queue),
    )


def _overflow(queue: Queue) -> OverflowName:
    if queue.discipline in ("red", "priority"):
        return queue.victim
    if queue.discipline == "sfq":
        return "arriving" if queue.rules == "ns2" else "longest-lately"
    if queue.discipline == "drr" and queue.rules == "ns2":
        return "heaviest-in-turn"
    return _OVERFLOWS.get(queue.discipline, "arriving")
