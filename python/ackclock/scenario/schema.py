"""The user's form of a scenario: its tables, their fields, units, ranges and defaults.

This module is the only place that knows a default. The messages of faults, the JSON Schema and docs/scenario.md are all
made from it.
"""

from typing import Annotated, Any, Literal, get_args

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.contract import RANGES
from ackclock.scenario.entries import Table
from ackclock.scenario.entries import entry as _entry
from ackclock.scenario.fields import AmountShorthand, Choice, Count, Flag, Kind, LinkNames, Number, Shorthand, Text
from ackclock.scenario.lists import ListOf, Pair
from ackclock.scenario.percent import Percent
from ackclock.scenario.presets import preset_names
from ackclock.scenario.schema_atm import AtmLink, Channel, CrossTraffic
from ackclock.scenario.schema_hosts import Host
from ackclock.scenario.schema_traffic import Traffic
from ackclock.units import Quantity


def _most(field: str) -> int:
    """Give the engine's largest value of a whole number."""
    return int(RANGES[field].high)


MOST_LINKS = 100_000
"""Simplex links of a scenario at most; each [[link]] is two."""
MOST_CROSSINGS = 100_000_000
"""Links on the ways of all flows at most, each counted as often as flows cross it."""
MOST_BUFFER_BYTES = _most("links[].buffer.bytes")
MOST_LEVELS = _most("links[].queue.levels")
"""Most levels of a priority queue."""
MOST_STEPS = 1_000_000
"""Changes of a delay that are given one by one."""
MOST_FLOWS = _most("flows[].count")
"""Flows of a scenario at most, counted ones included."""
LONGEST_RUN_S = RANGES["run.duration_s"].high
"""Longest run, and longest round trip [s]."""
DEFAULT_PRESET = "newreno-rfc6582"

DisciplineName = Literal["drop-tail", "drop-from-front", "random-drop", "red", "priority"]
LossModelName = Literal["bernoulli", "poisson", "gilbert-elliott", "packets", "times"]
CrossingName = Literal["all", "data", "acks"]
DelayKindName = Literal["steps", "alternating", "trace", "handover"]
OrderName = Literal["overtake", "keep"]
CountingName = Literal["with-service", "waiting"]
VictimName = Literal["arriving", "random", "lowest"]
RedVictimName = Literal["arriving", "random"]
PriorityVictimName = Literal["arriving", "lowest"]
DialectName = Literal["ns2", "rfc", "engset"]
RecoveryName = Literal["old-tahoe", "tahoe", "reno", "newreno"]
SlowStartName = Literal["below", "at-or-below"]
IncreaseName = Literal["reciprocal", "reciprocal-floor", "counted"]
PartialAckTimerName = Literal["slow-but-steady", "impatient"]
EstimatorName = Literal["ticks", "rfc6298"]
SampleName = Literal["per-round", "per-ack", "per-ack-karn"]

DISCIPLINES: tuple[str, ...] = get_args(DisciplineName)

_SOME_PACKETS = Span("pkt", 1, 1e9, "1 to 1e9 pkt", whole=True)
_SOME_BYTES = Span("B", 1, MOST_BUFFER_BYTES, "1 to 1e15 B", whole=True)
_TIME = Span("s", 0, 1e5, "0 to 1e5 s")
_TICK = Span("s", 0, 1e5, "0 to 1e5 s")
_TIMEOUT = Span("s", 1e-6, 1e5, "1 us to 1e5 s")
_WINDOW = (Span("pkt", 1, 1e9, "1 to 1e9 pkt"), Span("B", 1, 1e15, "1 to 1e15 B"))
_BURST = (Span("pkt", 1, 1e6, "1 to 1e6 pkt"), Span("B", 1, 1e11, "1 to 1e11 B"))
_THRESHOLD = Span("pkt", 1e-9, 1e9, "1e-9 to 1e9 pkt")
_PACKET = Span("B", 1, 65535, "1 to 65535 B", whole=True)

_PATH = LinkNames('["access", "satellite"]')
_RETURN_PATH = LinkNames('["satellite.reverse", "access.reverse"]')
Switch = Annotated[bool, Flag()]
Rate = Annotated[
    float | None, Amount("1.5 Mbit/s", (Span("bit/s", 1, 1e13, "a rate from 1 bit/s to 1e13 bit/s"),), ("unlimited",))
]
Delay = Annotated[float, Amount("10 ms", (_TIME,))]
Buffer = Annotated[
    Quantity | None,
    Amount(
        "18 pkt",
        (_SOME_PACKETS, _SOME_BYTES, Span("s", 1e-12, 1e5, "1 ps to 1e5 s at the link's rate")),
        ("unlimited",),
    ),
]
RunTime = Annotated[float, Amount("200 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))]
_PACKET_SIZE = Amount("512 B", (_PACKET,))
Window = Annotated[Quantity | None, Amount("4 pkt", _BURST)]
WindowLimit = Annotated[Quantity | None, Amount("64 KiB", _WINDOW, ("unlimited",))]
WindowThreshold = Annotated[Quantity | None, Amount("20 pkt", _WINDOW, ("max-window",))]


def _name(example: str) -> Text:
    """Allow the name of a link or flow."""
    return Text(64, example, "[A-Za-z0-9_][A-Za-z0-9_-]*", "a name of letters, digits, _ and -")


def _choice(what: str, names: object) -> Choice:
    """Allow the words of a Literal."""
    return Choice(what, get_args(names))


def _preset(text: str) -> Any:
    """Describe a field whose default is the preset's."""
    return _entry(text, None, words="the preset's")


class Queue(Table):
    """Queueing discipline of a link."""

    discipline: Annotated[DisciplineName, _choice("discipline", DisciplineName)] = _entry(
        "which packet is dropped: at a full buffer the newcomer (drop-tail), the one at the front (drop-from-front) "
        "or one drawn among all that wait and the newcomer (random-drop); early, by the mean queue (red). With "
        "priority the levels of the flows decide which packet is sent first"
    )
    min_threshold: Annotated[float, Amount("5 pkt", (_THRESHOLD,))] = _entry(
        "red: mean queue from which packets are dropped", 5.0, toml="5 pkt"
    )
    max_threshold: Annotated[float, Amount("15 pkt", (_THRESHOLD,))] = _entry(
        "red: mean queue at which `max_probability` is reached", 15.0, toml="15 pkt"
    )
    weight: Annotated[float, Number(0, 1, 0.002, closed=True)] = _entry(
        "red: weight of the newest queue in the mean", 0.002
    )
    max_probability: Annotated[float, Number(0, 1, 0.02, closed=True)] = _entry(
        "red: drop probability at `max_threshold`", 0.1
    )
    gentle: Switch = _entry(
        "red: raise the probability to 1 at twice `max_threshold` rather than at once", default=True
    )
    victim: Annotated[VictimName, _choice("victim", VictimName)] = _entry(
        "red: which packet is dropped early, the arriving one, or one drawn among all (random); priority: which one at "
        "a full buffer, the arriving one, or the last one of the lowest level where that is lower (lowest)",
        "arriving",
    )
    levels: Annotated[int, Count(1, MOST_LEVELS, 3)] = _entry("priority: number of levels", 2)
    mean_packet: Annotated[int | None, _PACKET_SIZE] = _entry(
        "red: packet size by which the mean decays while the link is idle",
        None,
        words="the largest packet that crosses",
    )


class DelayState(Table):
    """A state of an alternating delay."""

    delay: Annotated[float, Amount("92 ms", (_TIME,))] = _entry("delay in this state")
    least_stay: Annotated[float, Amount("100 ms", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))] = _entry(
        "least time in the state", 0.0, toml="0 s"
    )
    mean_extra: Annotated[float, Amount("2 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))] = _entry(
        "mean of the exponential time that is added to it", 0.0, toml="0 s"
    )


_STEP = Pair(Amount("6 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),)), Amount("292 ms", (_TIME,)))
_STEPS = ListOf(
    _STEP, "pairs of an instant and a delay", '[["0 s", "192 ms"], ["6 s", "292 ms"]]', MOST_STEPS, rising=True
)
_SHARES = ListOf(Number(0, 1, 0.5, closed=True, from_low=True), "probabilities", "[0.5, 0.5]", 1000)
DELAY_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "steps": (("steps",), ()),
    "alternating": (("states",), ("transitions", "start_state")),
    "trace": (("file",), ()),
    "handover": (("low", "high"), ("period",)),
}
"""The fields that each kind of a changing delay needs, and those that it may have."""


class DelayProcess(Table):
    """A delay that changes with time, on top of the link's constant one."""

    kind: Annotated[DelayKindName, _choice("kind", DelayKindName)] = _entry(
        "how it changes: at given instants (steps), by a semi-Markov process (alternating), as in a file (trace), or "
        "to a new random value each period (handover)"
    )
    order: Annotated[OrderName, _choice("order", OrderName)] = _entry(
        "when the delay drops, later packets overtake earlier ones, or arrive with the one before them at the "
        "earliest (keep)",
        "overtake",
    )
    both_ways: Switch = _entry("the reverse direction has the same delay at each instant", default=False)
    steps: Annotated[tuple[tuple[float, float], ...] | None, _STEPS] = _entry(
        "steps: from each instant on its delay; the first at 0 s", None, words="none"
    )
    states: list[DelayState] = _entry("alternating: the states", [], words="none")
    transitions: Annotated[
        tuple[tuple[float, ...], ...] | None, ListOf(_SHARES, "rows of probabilities", "[[0, 1], [1, 0]]", 1000)
    ] = _entry(
        "alternating: a row for each state with the probabilities of the one that follows",
        None,
        words="to the next state, from the last to the first",
    )
    start_state: Annotated[int, Count(1, 1000, 2)] = _entry("alternating: the state at time zero, counted from 1", 1)
    file: Annotated[str | None, Text(200, "delays.csv", text="a path in the scenario's folder")] = _entry(
        "trace: CSV file, relative to the scenario's, with a row for each change: time in s, delay in s",
        None,
        words="none",
    )
    low: Annotated[float | None, Amount("20 ms", (_TIME,))] = _entry("handover: least delay", None, words="none")
    high: Annotated[float | None, Amount("60 ms", (_TIME,))] = _entry("handover: largest delay", None, words="none")
    period: Annotated[float, Amount("15 s", (Span("s", 1e-6, LONGEST_RUN_S, "1 us to 1e7 s"),))] = _entry(
        "handover: time between two changes", 15.0, toml="15 s"
    )


_PROBABILITY = Number(0, 1, 0.01, closed=True, from_low=True)
_INSTANT = Amount("3 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))
LOSS_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "bernoulli": (("probability",), ()),
    "poisson": (("mean_interval",), ("void_after",)),
    "gilbert-elliott": (("to_bad", "to_good"), ("loss_in_good", "loss_in_bad")),
    "packets": (("packets",), ()),
    "times": (("times",), ()),
}
"""The fields that each model of loss needs, and those that it may have."""


class Loss(Table):
    """Packets that are lost as they come to the link, before its queue."""

    model: Annotated[LossModelName, _choice("model", LossModelName)] = _entry(
        "which packets: each with a probability (bernoulli), the next one after each instant of a random process "
        "(poisson), in bursts (gilbert-elliott), or those given by number (packets) or instant (times)"
    )
    applies_to: Annotated[CrossingName, _choice("kind of packets", CrossingName)] = _entry(
        "which packets can be lost and are counted", "all"
    )
    probability: Annotated[float | None, _PROBABILITY] = _entry("bernoulli: loss probability", None, words="none")
    mean_interval: Annotated[float | None, Amount("10 s", (Span("s", 1e-6, LONGEST_RUN_S, "1 us to 1e7 s"),))] = _entry(
        "poisson: mean time between two instants; the next packet after each is lost", None, words="none"
    )
    void_after: Annotated[float, Amount("1 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))] = _entry(
        "poisson: a loss instant expires if no packet arrives within this time", 0.5, toml="500 ms"
    )
    to_bad: Annotated[float | None, _PROBABILITY] = _entry(
        "gilbert-elliott: probability of a step to the bad state, after each packet in the good one", None, words="none"
    )
    to_good: Annotated[float | None, _PROBABILITY] = _entry(
        "gilbert-elliott: and back; bursts are of 1/`to_good` packets on average", None, words="none"
    )
    loss_in_good: Annotated[float, _PROBABILITY] = _entry(
        "gilbert-elliott: loss probability in the good state, where it begins", 0.0
    )
    loss_in_bad: Annotated[float, _PROBABILITY] = _entry("gilbert-elliott: loss probability in the bad state", 1.0)
    packets: Annotated[
        tuple[int, ...] | None, ListOf(Count(1, 10**12, 5), "packet numbers", "[5, 9]", MOST_STEPS, rising=True)
    ] = _entry("packets: those with the given numbers, counted on this link from 1", None, words="none")
    times: Annotated[
        tuple[float, ...] | None, ListOf(_INSTANT, "instants", '["3 s", "7 s"]', MOST_STEPS, rising=True)
    ] = _entry("times: the next packet after each of these instants", None, words="none")


QueueField = Annotated[Queue, Shorthand("discipline", "discipline", lambda: DISCIPLINES)]
CountingField = Annotated[CountingName, _choice("way of counting", CountingName)]
DROP_TAIL = Queue(discipline="drop-tail")


class Reverse(Table):
    """The reverse direction of a link, which the ACKs of a flow over it usually cross."""

    rate: Rate = _entry("rate of the reverse direction", None, words="the forward rate")
    delay: Delay = _entry("propagation delay of the reverse direction", 0.0, words="the forward delay")
    buffer: Buffer = _entry("buffer of the reverse direction", None, toml="unlimited")
    queue: QueueField = _entry("queueing discipline of the reverse direction", DROP_TAIL, toml="drop-tail")
    counting: CountingField = _entry("how the reverse buffer is counted", "with-service")
    delay_process: DelayProcess | None = _entry(
        "how the delay of the reverse direction changes",
        None,
        words="not at all, unless the forward one is `both_ways`",
    )
    loss: Loss | None = _entry("packets that are lost in the reverse direction", None, words="none")


class Link(Table):
    """A duplex link: a queue, then a pipe, in each direction."""

    name: Annotated[str, _name("satellite")] = _entry(
        "name by which flows cross the link; `name.reverse` is its other direction"
    )
    rate: Rate = _entry('transmission rate; at an "unlimited" one packets neither wait nor are dropped')
    delay: Delay = _entry("propagation delay", 0.0, toml="0 s")
    buffer: Buffer = _entry("room for packets; a time is what the link drains in that time", None, toml="unlimited")
    queue: QueueField = _entry("queueing discipline, by name or as a table", DROP_TAIL, toml="drop-tail")
    counting: CountingField = _entry(
        "whether the buffer holds the packet in transmission too (with-service, as in ns-2) or those waiting only",
        "with-service",
    )
    delay_process: DelayProcess | None = _entry("how the delay changes, on top of `delay`", None, words="not at all")
    loss: Loss | None = _entry("packets that are lost before the queue", None, words="none")
    private: Switch = _entry(
        "each flow that crosses the link has its own copy of it, in both directions", default=False
    )
    reverse: Reverse = _entry(
        "what is different in the reverse direction", Reverse(), words="as forward, unlimited drop-tail"
    )


_DUPACKS = Count(1, _most("flows[].sender.dupack_threshold"), 3, ("infinite",))
_ACK_EVERY = Count(1, _most("flows[].receiver.ack_every"), 2)


class Rto(Table):
    """Settings of the retransmission timer."""

    estimator: Annotated[EstimatorName | None, _choice("estimator", EstimatorName)] = _preset(
        "integer arithmetic on a coarse clock (ticks, as in ns-2 and BSD) or RFC 6298"
    )
    sample: Annotated[SampleName | None, _choice("way of sampling", SampleName)] = _preset(
        "round-trip times measured: one a round; or, by time stamps, one for each ACK (per-ack), or for each but those "
        "of packets sent again (per-ack-karn)"
    )
    k: Annotated[int | None, Count(1, 1000, 4)] = _preset("weight of the variation: RTO = SRTT + k RTTVAR")
    granularity: Annotated[float | None, Amount("100 ms", (_TICK,))] = _preset("tick of the clock; 0 is an exact one")
    min: Annotated[float | None, Amount("200 ms", (_TIME,))] = _preset(
        'least timeout; with estimator = "ticks" it is never below two ticks, so "0 s" means twice the granularity'
    )
    max: Annotated[float | None, Amount("60 s", (_TIMEOUT,))] = _preset("largest timeout")
    initial: Annotated[float | None, Amount("3 s", (_TIMEOUT,))] = _preset(
        "timeout before the first round-trip time is known"
    )
    max_backoff: Annotated[int | None, Count(1, 10**9, 64)] = _preset("largest factor of exponential backoff")
    clock_phase: Annotated[float | None, Number(0, 1, 0.5, from_low=True)] = _preset(
        "ticks: how far the coarse clock is into a tick at time zero, as a fraction of the tick"
    )


class Tcp(Table):
    """TCP of a flow: a preset, and the axes in which it is another. What is not given is the preset's."""

    preset: Annotated[str, Choice("preset", preset_names())] = _entry("the combination to start from", DEFAULT_PRESET)
    dialect: Annotated[DialectName | None, _choice("dialect", DialectName)] = _preset(
        "whose rules hold where the axes leave room: ns-2's, the RFCs' to the letter, or the RFCs' with the choices of "
        "the paper on the TCP-modified Engset model, section 3.1"
    )
    recovery: Annotated[RecoveryName | None, _choice("recovery", RecoveryName)] = _preset(
        "what follows a detected loss; old-tahoe has timeouts only"
    )
    initial_window: Window = _preset("cwnd at the start; bytes are turned into whole packets")
    initial_ssthresh: WindowThreshold = _preset("ssthresh at the start")
    max_window: WindowLimit = _preset("the receiver's window, in whole packets")
    slow_start_while: Annotated[SlowStartName | None, _choice("convention", SlowStartName)] = _preset(
        "slow start while cwnd < ssthresh, or while cwnd <= ssthresh"
    )
    increase: Annotated[IncreaseName | None, _choice("increase", IncreaseName)] = _preset(
        "congestion avoidance: 1/cwnd an ACK, 1/floor(cwnd) an ACK, or 1 after a window of counted ACKs"
    )
    dupack_threshold: Annotated[int | None, _DUPACKS] = _preset("duplicate ACKs that make a fast retransmit")
    limited_transmit: Annotated[bool | None, Flag()] = _preset("new data at the first duplicate ACKs (RFC 3042)")
    partial_ack_timer: Annotated[PartialAckTimerName | None, _choice("variant", PartialAckTimerName)] = _preset(
        "NewReno: timer restarted at each partial ACK, or at the first only (RFC 6582)"
    )
    ack_every: Annotated[int | None, _ACK_EVERY] = _preset("the receiver acknowledges every n-th packet")
    ack_delay: Annotated[float | None, Amount("100 ms", (_TIME,))] = _preset("longest delay of such an ACK")
    rto: Rto = _entry("retransmission timer", Rto(), words="the preset's")


class Flow(Table):
    """One TCP connection, or one source of other traffic, that sends data over a path; or several identical ones."""

    name: Annotated[str | None, _name("download")] = _entry(
        "name of the flow", None, words="flow; numbered flow1, flow2, ... if there are several"
    )
    path: Annotated[tuple[str, ...], _PATH] = _entry("links that the data cross, in order")
    return_path: Annotated[tuple[str, ...] | None, _RETURN_PATH] = _entry(
        "links that the ACKs cross, in order", None, words="the path mirrored"
    )
    rtt: Annotated[float | None, Amount("560 ms", (_TIME,))] = _entry(
        "least round trip, the service times of a packet and of an ACK included; what the links do not need of it is "
        "propagation of the flow's own, half each way",
        None,
        words="what the links need",
    )
    propagation: Annotated[float | None, Amount("560 ms", (_TIME,))] = _entry(
        "propagation there and back, service times excluded; instead of `rtt`", None, words="what the links have"
    )
    sender: Annotated[str | None, _name("client")] = _entry(
        "host that sends the data; its process handles the ACKs", None, words="a host with zero processing time"
    )
    receiver: Annotated[str | None, _name("server")] = _entry(
        "host that receives them; its process handles the data", None, words="a host with zero processing time"
    )
    packet: Annotated[int, _PACKET_SIZE] = _entry("size of a data packet, headers included", 1500, toml="1500 B")
    ack: Annotated[int, Amount("40 B", (_PACKET,))] = _entry("size of an ACK", 40, toml="40 B")
    count: Annotated[int, Count(1, MOST_FLOWS, 10)] = _entry(
        "number of identical flows, called name[0], name[1], ...", 1
    )
    start: RunTime = _entry("when the flow starts", 0.0, toml="0 s")
    start_spread: RunTime = _entry("a random time up to this is added to each start", 0.0, toml="0 s")
    size: Annotated[
        Quantity | None,
        Amount("10 MB", (Span("pkt", 1, 1e12, "1 to 1e12 pkt", whole=True), _SOME_BYTES), ("unlimited",)),
    ] = _entry("data to transfer; bytes are rounded up to whole packets", None, toml="unlimited")
    priority: Annotated[int, Count(0, MOST_LEVELS - 1, 1)] = _entry(
        "level of the data at links with the discipline priority; 0 is the highest", 0
    )
    ack_priority: Annotated[int | None, Count(0, MOST_LEVELS - 1, 0)] = _entry(
        "level of the ACKs there", None, words="as `priority`"
    )
    traffic: Traffic | None = _entry(
        "what the flow sends and when", None, words="all of `size` at once, as fast as TCP lets it go"
    )
    tcp: Annotated[Tcp, Shorthand("preset", "preset", preset_names)] = _entry(
        "TCP, by the name of a preset or as a table", Tcp(), toml=DEFAULT_PRESET
    )

    @property
    def ack_level(self) -> int:
        """Level of the ACKs at links with priority."""
        return self.priority if self.ack_priority is None else self.ack_priority


class Precision(Table):
    """Run until the interval of a quantity over replications is narrow enough."""

    quantity: Annotated[str, Text(200, "flow.web.goodput")] = _entry(
        "what is to be known: flow.NAME or link.NAME and a quantity of the result, with its unit or without; the name "
        "of counted flows stands for their mean"
    )
    within: Annotated[float, Percent("2%")] = _entry("target half-width of the interval, relative to the mean")
    most: Annotated[int, Count(2, 1_000_000, 100)] = _entry("replications at most", 1000)
    batch: Annotated[int, Count(2, 100_000, 8)] = _entry(
        "replications that are added at a time, whatever the number of threads; the first time it is `replications`, "
        "where that is more",
        10,
    )


class Run(Table):
    """Duration, replications and seed of a run."""

    duration: Annotated[float, Amount("2000 s", (Span("s", 1e-12, LONGEST_RUN_S, "1 ps to 1e7 s"),))] = _entry(
        "simulated time"
    )
    warmup: RunTime = _entry("time before the measurement", 0.0, toml="0 s")
    replications: Annotated[int, Count(1, 1_000_000, 10)] = _entry("independent runs", 1)
    seed: Annotated[int, Count(0, 2**63 - 1, 7)] = _entry("seed of all random streams", 1)
    confidence: Annotated[float, Number(0, 1, 0.99)] = _entry(
        "confidence level of the intervals over replications", 0.95
    )
    precision: Precision | None = _entry(
        "replications are added until the interval of a quantity is narrow enough", None, words="`replications` are run"
    )


class Trace(Table):
    """Selection of what is recorded; what is not asked for costs nothing."""

    cwnd: Switch = _entry("cwnd, ssthresh, flight size and RTO of each flow at each change", default=False)
    rtt: Switch = _entry("round-trip times as measured", default=False)
    sequence: Switch = _entry("packets sent and acknowledged", default=False)
    queue: Switch = _entry("queue length at each change", default=False)
    queue_distribution: Switch = _entry("time at each queue length, and arrivals that saw it", default=False)
    drops: Switch = _entry("each drop", default=False)
    delay: Switch = _entry("propagation delays that change, at each change", default=False)
    acr: Switch = _entry("allowed cell rate of each end of a channel, at each change", default=False)
    ip_queue: Switch = _entry(
        "packets at each end of a channel, at each change: data packets, and all with ACKs", default=False
    )
    cell_queue: Switch = _entry(
        "cells in each port of the ATM network, as each arriving cell finds them", default=False
    )
    losses: Switch = _entry(
        "each detection of a loss, and whether it was spurious: whether the packet's last copy had not been dropped",
        default=False,
    )
    recovery: Switch = _entry(
        "each timeout by its kind, with the time stalled, and each fast recovery that succeeds, with what it sent",
        default=False,
    )
    rounds: Switch = _entry(
        "round trips that tile the time axis: a round ends when all that was outstanding at its start is acknowledged",
        default=False,
    )
    overview_interval: Annotated[float | None, Amount("1 s", (Span("s", 1e-9, LONGEST_RUN_S, "1 ns to 1e7 s"),))] = (
        _entry("cwnd and queues, their least and largest value in each interval, for the picture", None, words="none")
    )
    overview_detail: Annotated[float | None, Amount("200 ms", (Span("s", 1e-9, LONGEST_RUN_S, "1 ns to 1e7 s"),))] = (
        _entry(
            "length of the last part of the run that the picture magnifies, with what is acknowledged",
            None,
            words="a few round trips where data meet the ACKs of others, else nothing",
        )
    )
    capture: Annotated[tuple[str, ...] | None, LinkNames('["satellite"]')] = _entry(
        "links whose packets are captured (pcapng); a link stands for its two directions", None, words="none"
    )


class Form(Table):
    """A scenario for ackclock: links, flows over them, and how to run it."""

    title: Annotated[str, Text(200, "GEO satellite path")] = _entry(
        "what the scenario shows, in a few words", "untitled"
    )
    link: list[Link] = _entry("the links", [], words="none, if there are channels")
    flow: list[Flow] = _entry("the flows")
    run: Run = _entry("how long, how often, from which seed")
    trace: Trace = _entry("what is recorded", Trace(), words="nothing is recorded")
    host: list[Host] = _entry("hosts with a processing time, at the ends of flows", [], words="none")
    atm_link: list[AtmLink] = _entry("links of the ATM network", [], words="none")
    channel: list[Channel] = _entry("channels of the ATM network, which flows cross like links", [], words="none")
    cross_traffic: list[CrossTraffic] = _entry(
        "cells that cross the ATM network in addition to the channels", [], words="none"
    )


def kind_of(model: type[Table], name: str) -> Kind | Shorthand | AmountShorthand | None:
    """Give the kind of a field's value; None for the tables in a scenario."""
    metadata = model.model_fields[name].metadata
    return next((entry for entry in metadata if isinstance(entry, Kind | Shorthand | AmountShorthand)), None)
