"""Queue disciplines as users write them: the table `queue` of a link."""

from typing import Annotated, Any, Literal, get_args

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.fields import Count, Flag, Number
from ackclock.scenario.schema_kinds import PACKET_SIZE, Switch, choice, most

MOST_LEVELS = most("elements[].queue.scheduler.levels")
"""Most levels of a priority queue."""

LEAST_CAKE_BYTES, MOST_CAKE_BYTES = 4 * 2**20, 10_240 * 1514
"""Buffer of a cake: 4 MiB at least behind a shaper, and 10,240 of Ethernet's largest packets at most [B]."""

DisciplineName = Literal[
    "drop-tail",
    "drop-from-front",
    "random-drop",
    "red",
    "codel",
    "cobalt",
    "pie",
    "pi",
    "step",
    "fq",
    "fq-codel",
    "fq-pie",
    "drr",
    "wfq",
    "sfq",
    "cake",
    "dualpi2",
    "priority",
]
VictimName = Literal["arriving", "random", "lowest"]
RedEcnName = Literal["off", "early", "all"]
RulesName = Literal["floyd-jacobson", "ns2", "linux", "rfc"]
AqmRulesName = Literal["rfc", "linux"]
SeparationName = Literal["hash", "perfect", "group"]
IsolationName = Literal["flows", "triple"]

NAMES: tuple[str, ...] = get_args(DisciplineName)

_THRESHOLD = Span("pkt", 1e-9, 1e9, "1e-9 to 1e9 pkt")
_LEAST = Span("pkt", 0, 1e9, "0 to 1e9 pkt")
_TARGET = Span("s", 1e-6, 100, "1 us to 100 s")
_INTERVAL = Span("s", 1e-6, 1000, "1 us to 1000 s")
_TO_100_S = Span("s", 0, 100, "0 to 100 s")
_QUANTUM = Span("B", 256, 1e6, "256 B to 1 MB", whole=True)
_BANDWIDTH = Span("bit/s", 1, 1e13, "a rate from 1 bit/s to 1e13 bit/s")
_UPDATE = Span("s", 1e-4, 100, "0.1 ms to 100 s")


def _rule(text: str) -> Any:
    """Describe a field whose default is that of RED's rules."""
    return entry(text, None, words="the rules'")


class Queue(Table):
    """Queueing discipline of a link."""

    discipline: Annotated[DisciplineName, choice("discipline", DisciplineName)] = entry(
        "which packet is dropped: at a full buffer the newcomer (drop-tail), the one at the front (drop-from-front) "
        "or one drawn among all that wait and the newcomer (random-drop); early, by the mean queue (red) or by the "
        "time that packets have waited as they leave (codel; cobalt, which also drops flows that do not respond with a "
        "probability), or with a probability that follows that time (pie) or the queue (pi). Above a threshold all "
        "packets are marked (step). Flows wait in queues of their own and share the rate (fq, drr, wfq, sfq), with a "
        "codel (fq-codel), a pie (fq-pie) or a cobalt (cake: Linux's, besteffort) for each queue; or L4S in "
        "one queue and the others in another, with coupled marks (dualpi2). With priority the levels of the flows "
        "decide which packet is sent first"
    )
    min_threshold: Annotated[float, Amount("5 pkt", (_THRESHOLD,))] = entry(
        "red: mean queue from which packets are dropped; by Linux's rules the bytes of this number of `mean_packet`",
        5.0,
        toml="5 pkt",
    )
    max_threshold: Annotated[float, Amount("15 pkt", (_THRESHOLD,))] = entry(
        "red: mean queue at which `max_probability` is reached", 15.0, toml="15 pkt"
    )
    weight: Annotated[float, Number(0, 1, 0.002, closed=True)] = entry(
        "red: weight of the newest queue in the mean; by Linux's rules the nearest power of 1/2", 0.002
    )
    max_probability: Annotated[float, Number(0, 1, 0.02, closed=True)] = entry(
        "red: drop probability at `max_threshold`", 0.1
    )
    gentle: Switch = entry("red: raise the probability to 1 at twice `max_threshold` rather than at once", default=True)
    adaptive: Switch = entry(
        "red, by Linux's or ns-2's rules: adapt `max_probability` each half second so that the mean queue stays in the "
        "middle between the thresholds (Adaptive RED)",
        default=False,
    )
    top: Annotated[float, Number(0, 1, 0.5, closed=True)] = entry(
        "red, adaptive by ns-2's rules: probability from which it is not raised", 0.5
    )
    bottom: Annotated[float | None, Number(0, 1, 0.01, closed=True)] = entry(
        "red, adaptive by ns-2's rules: probability from which it is not lowered",
        None,
        words="0.01, and at most 80 kbit/s over the rate of the link",
    )
    in_bytes: Switch = entry(
        "red by ns-2's rules, pi: measure the queue in bytes, as a number of `mean_packet` (`queue_in_bytes_` of ns-2)",
        default=False,
    )
    by_size: Switch = entry(
        "red by ns-2's rules, pi: make the drop probability of a packet proportional to its size, that of a "
        "`mean_packet` being the one that the discipline controls (`bytes_` of ns-2)",
        default=False,
    )
    target_queue: Annotated[float, Amount("50 pkt", (_LEAST,))] = entry(
        "pi: queue that the drop probability is controlled for (`qref_` of ns-2)", 50.0, toml="50 pkt"
    )
    factor_new: Annotated[float, Number(0, 1, 1.822e-5, closed=True)] = entry(
        "pi: change of the drop probability, in an update, for each packet above `target_queue` (`a_` of ns-2)",
        1.822e-5,
    )
    factor_old: Annotated[float, Number(0, 1, 1.816e-5, closed=True)] = entry(
        "pi: change back for each packet above `target_queue` at the update before (`b_` of ns-2)", 1.816e-5
    )
    victim: Annotated[VictimName, choice("victim", VictimName)] = entry(
        "red: which packet is dropped early, the arriving one, or one drawn among all (random); priority: which one at "
        "a full buffer, the arriving one, or the last one of the lowest level where that is lower (lowest)",
        "arriving",
    )
    levels: Annotated[int, Count(1, MOST_LEVELS, 3)] = entry("priority: number of levels", 2)
    separation: Annotated[SeparationName, choice("separation", SeparationName)] = entry(
        "fq, fq-codel, fq-pie, drr, wfq, sfq, cake: how flows get their queues, by a hash, so that some may share one "
        "(hash; of cake into 1024 in sets of eight), each its own (perfect), or all of a [[flow]] one (group; not of "
        "sfq and cake). Without a hash the `weight` of a flow is its share, or that of its [[flow]]",
        "hash",
        words='"hash", "perfect" of drr and wfq',
    )
    queues: Annotated[int, Count(1, most("elements[].queue.scheduler.queues"), 1024)] = entry(
        "fq, fq-codel, fq-pie, drr, wfq, sfq: number of queues that flows are hashed into; 16 by ns-2's rules of sfq",
        1024,
    )
    depth: Annotated[int, Count(1, most("elements[].queue.scheduler.depth_packets"), 127)] = entry(
        "sfq, by Linux's rules: packets that may wait in a queue", 127
    )
    quantum: Annotated[int | None, Amount("1514 B", (_QUANTUM,))] = entry(
        "fq, fq-codel, fq-pie, drr, cake, and sfq by Linux's rules: bytes that a queue may send in a round",
        None,
        words="the largest packet that crosses; of cake at most what `bandwidth` sends in 1/4096 s, and at least 300 B",
    )
    isolation: Annotated[IsolationName, choice("isolation", IsolationName)] = entry(
        "cake: what shares the rate, flows alone (flows), or hosts first and then the flows of each (triple); the "
        "field `host` of a flow names its host",
        "triple",
    )
    bandwidth: Annotated[float | None, Amount("19 Mbit/s", (_BANDWIDTH,))] = entry(
        "cake: rate of its own shaper, which has no burst, in front of the link. By it cake also sets its quantum, its "
        "target, its interval and the buffer of a link that gives none",
        None,
        words="no shaper",
    )
    mean_packet: Annotated[int | None, PACKET_SIZE] = entry(
        "red, pi: packet size by which the mean decays while the link is idle, of the thresholds by Linux's rules, and "
        "of `in_bytes` and `by_size`",
        None,
        words="the largest packet that crosses",
    )
    ecn: Annotated[RedEcnName, choice("early signal", RedEcnName)] = entry(
        "red, codel, pie, pi, fq-codel, fq-pie: packets of flows with ECN that are marked instead of dropped early: "
        "none (off), or all (all, as Linux does; pie and fq-pie up to a probability of 10%); of red also those below "
        "the largest threshold, twice that if gentle (early, RFC 3168). A full buffer always drops",
        "off",
    )
    threshold: Annotated[float, Amount("20 pkt", (_LEAST,))] = entry(
        "step: queue above which each arriving packet is marked, or dropped if its flow has no ECN", 20.0, toml="20 pkt"
    )
    target: Annotated[float | None, Amount("5 ms", (_TARGET,))] = entry(
        "codel, fq-codel, cobalt, cake: time that packets may always wait; more than a packet takes on the link, and "
        "with `bandwidth` at least one and a half times that. pie, fq-pie, dualpi2: queueing delay that the drop "
        "probability is controlled for",
        None,
        words="5 ms of codel, fq-codel, cobalt and cake, 15 ms of the others",
    )
    interval: Annotated[float | None, Amount("100 ms", (_INTERVAL,))] = entry(
        "codel, fq-codel, cobalt, cake: time for which all packets must wait for longer than `target` before the first "
        "drop (of cobalt and cake, the second one); about the longest round trip. red, adaptive by ns-2's rules: time "
        "between two adaptations",
        None,
        words="100 ms, 500 ms of red",
    )
    update: Annotated[float | None, Amount("16 ms", (_UPDATE,))] = entry(
        "pie, fq-pie, pi, dualpi2: time between two updates of the drop probability (of pi, 1 / `w_` of ns-2)",
        None,
        words="16 ms, 15 ms of dualpi2 by the RFC's rules, 1/170 s of pi",
    )
    first_update: Annotated[float | None, Amount("500 ms", (_TO_100_S,))] = entry(
        "pie, fq-pie: instant of the first update; Linux makes it 504 ms after the queue is set up",
        None,
        words="after `update`",
    )
    alpha: Annotated[float | None, Number(0, 1000, 0.125, closed=True)] = entry(
        "pie, fq-pie, dualpi2: change of the drop probability, in an update, for each second of delay above `target`. "
        "red, adaptive by ns-2's rules: largest step up of `max_probability`",
        None,
        words="0.125, of dualpi2 0.16, by the RFC's rules 0.15, 0.01 of red",
    )
    beta: Annotated[float | None, Number(0, 1000, 1.25, closed=True)] = entry(
        "pie, fq-pie, dualpi2: change of the drop probability, in an update, for each second by which the delay has "
        "grown since the one before. red, adaptive by ns-2's rules: factor of a step down of `max_probability`",
        None,
        words="1.25, of dualpi2 3.2, by the RFC's rules 3, 0.9 of red",
    )
    coupling: Annotated[float, Number(0, 100, 2, closed=True)] = entry(
        "dualpi2: mark probability of L4S packets over that of the controller, whose square is that of the others", 2.0
    )
    step: Annotated[float | None, Amount("1 ms", (_TO_100_S,))] = entry(
        "dualpi2: time that L4S packets may wait; those that wait for longer are all marked, with `ramp` some of them",
        None,
        words="1 ms, 0.8 ms by the RFC's rules",
    )
    ramp: Annotated[float, Amount("0.4 ms", (_TO_100_S,))] = entry(
        "dualpi2 by the RFC's rules: time above `step` from which on all L4S packets are marked; up to there the "
        "probability rises from 0 to 1",
        0.0004,
        toml="0.4 ms",
    )
    classic_share: Annotated[float, Number(0, 1, 0.1, closed=True)] = entry(
        "dualpi2: share of the rate that the classic queue has while L4S packets wait too, in whole percents", 0.1
    )
    burst: Annotated[float, Amount("150 ms", (_TO_100_S,))] = entry(
        "pie, fq-pie: time for which a busy period begins without early drops", 0.15, toml="150 ms"
    )
    ce_threshold: Annotated[float | None, Amount("1 ms", (_TO_100_S,))] = entry(
        "codel, fq-codel: packets of flows with ECN that waited for longer are all marked, whatever else is "
        "decided (Linux)",
        None,
        words="no such threshold",
    )
    rules: Annotated[RulesName | None, choice("rules", RulesName)] = entry(
        "red: whose rules hold, the paper's of 1993 (floyd-jacobson), ns-2.35's (ns2), each with the next four fields, "
        "or the kernel's of a queue in bytes (linux); "
        'ns-2 also counts the packets that wait alone, `counting = "waiting"`. codel, fq-codel: exact times and square '
        "roots (rfc, RFC 8289) or the kernel's approximations (linux). fq-codel by RFC 8290 (rfc): a new queue that is "
        "found empty becomes an old one in any case, by the kernel only where there are old ones. sfq: ns-2.35's (ns2) "
        "or the kernel's (linux). "
        "drr: ns-2.35's (ns2), where a packet waits until quanta cover all of it; else those of fq. dualpi2: the "
        "pseudocode of RFC 9332 (rfc) or the kernel's rules (linux): [how they differ](queues.md#dualpi2)",
        None,
        words='"floyd-jacobson" of red, "linux" of the others',
    )
    wait: Annotated[bool | None, Flag()] = _rule(
        "red: after an early drop at least 1/p packets pass, for the drop probability p, before the next (`wait_` of "
        "ns-2, which has it on)"
    )
    least_queue: Annotated[float | None, Amount("2 pkt", (_LEAST,))] = _rule(
        "red: shorter queues drop no packet early, whatever their mean (2 pkt in ns-2, else 0)"
    )
    first_passes: Annotated[bool | None, Flag()] = _rule(
        "red: the first packet that finds the mean above `min_threshold` is never dropped early (ns-2)"
    )
    overflow_restarts: Annotated[bool | None, Flag()] = _rule(
        "red: the drop of a full buffer restarts the count of packets since the last drop, as an early drop does (ns-2)"
    )


def separation_of(queue: Queue) -> SeparationName:
    """Return how flows get their queues: as the table says, or as the discipline does by default."""
    return "perfect" if queue.discipline in ("drr", "wfq") and not queue.gives("separation") else queue.separation


def interval_of(queue: Queue) -> float:
    """Return the interval of CoDel and COBALT [s]."""
    return 0.1 if queue.interval is None else queue.interval


def cake_buffer_bytes(queue: Queue) -> int:
    """Return the buffer of a cake that is given none [B], as Linux computes it (`cake_reconfigure`).

    Linux counts the memory of packets, which is more than their bytes.
    """
    if queue.bandwidth is None:
        return MOST_CAKE_BYTES
    return min(max(int(4 * queue.bandwidth / 8 * interval_of(queue)), LEAST_CAKE_BYTES), MOST_CAKE_BYTES)
