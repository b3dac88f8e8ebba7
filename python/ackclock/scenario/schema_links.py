"""The tables of a link: its queues, its delay that changes, and the packets that it loses."""

from typing import Annotated, Literal, get_args

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.fields import Count, Number, Shorthand, Text
from ackclock.scenario.lists import ListOf, Pair
from ackclock.scenario.schema_kinds import (
    LONGEST_RUN_S,
    PACKET_SIZE,
    SOME_BYTES,
    TIME,
    Switch,
    choice,
    most,
    name_of,
)
from ackclock.units import Quantity

MOST_LEVELS = most("links[].queue.levels")
"""Most levels of a priority queue."""
MOST_STEPS = 1_000_000
"""Largest number of changes of a delay that are given one by one."""

DisciplineName = Literal["drop-tail", "drop-from-front", "random-drop", "red", "priority"]
LossModelName = Literal["bernoulli", "poisson", "gilbert-elliott", "packets", "times"]
CrossingName = Literal["all", "data", "acks"]
DelayKindName = Literal["steps", "alternating", "trace", "handover"]
OrderName = Literal["overtake", "keep"]
CountingName = Literal["with-service", "waiting"]
VictimName = Literal["arriving", "random", "lowest"]
RedVictimName = Literal["arriving", "random"]
PriorityVictimName = Literal["arriving", "lowest"]

DISCIPLINES: tuple[str, ...] = get_args(DisciplineName)

_SOME_PACKETS = Span("pkt", 1, 1e9, "1 to 1e9 pkt", whole=True)
_THRESHOLD = Span("pkt", 1e-9, 1e9, "1e-9 to 1e9 pkt")
Rate = Annotated[
    float | None, Amount("1.5 Mbit/s", (Span("bit/s", 1, 1e13, "a rate from 1 bit/s to 1e13 bit/s"),), ("unlimited",))
]
Delay = Annotated[float, Amount("10 ms", (TIME,))]
Buffer = Annotated[
    Quantity | None,
    Amount(
        "18 pkt",
        (_SOME_PACKETS, SOME_BYTES, Span("s", 1e-12, 1e5, "1 ps to 1e5 s at the link's rate")),
        ("unlimited",),
    ),
]


class Queue(Table):
    """Queueing discipline of a link."""

    discipline: Annotated[DisciplineName, choice("discipline", DisciplineName)] = entry(
        "which packet is dropped: at a full buffer the newcomer (drop-tail), the one at the front (drop-from-front) "
        "or one drawn among all that wait and the newcomer (random-drop); early, by the mean queue (red). With "
        "priority the levels of the flows decide which packet is sent first"
    )
    min_threshold: Annotated[float, Amount("5 pkt", (_THRESHOLD,))] = entry(
        "red: mean queue from which packets are dropped", 5.0, toml="5 pkt"
    )
    max_threshold: Annotated[float, Amount("15 pkt", (_THRESHOLD,))] = entry(
        "red: mean queue at which `max_probability` is reached", 15.0, toml="15 pkt"
    )
    weight: Annotated[float, Number(0, 1, 0.002, closed=True)] = entry(
        "red: weight of the newest queue in the mean", 0.002
    )
    max_probability: Annotated[float, Number(0, 1, 0.02, closed=True)] = entry(
        "red: drop probability at `max_threshold`", 0.1
    )
    gentle: Switch = entry("red: raise the probability to 1 at twice `max_threshold` rather than at once", default=True)
    victim: Annotated[VictimName, choice("victim", VictimName)] = entry(
        "red: which packet is dropped early, the arriving one, or one drawn among all (random); priority: which one at "
        "a full buffer, the arriving one, or the last one of the lowest level where that is lower (lowest)",
        "arriving",
    )
    levels: Annotated[int, Count(1, MOST_LEVELS, 3)] = entry("priority: number of levels", 2)
    mean_packet: Annotated[int | None, PACKET_SIZE] = entry(
        "red: packet size by which the mean decays while the link is idle",
        None,
        words="the largest packet that crosses",
    )


class DelayState(Table):
    """A state of an alternating delay."""

    delay: Annotated[float, Amount("92 ms", (TIME,))] = entry("delay in this state")
    least_stay: Annotated[float, Amount("100 ms", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))] = entry(
        "least time in the state", 0.0, toml="0 s"
    )
    mean_extra: Annotated[float, Amount("2 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))] = entry(
        "mean of the exponential time that is added to it", 0.0, toml="0 s"
    )


_STEP = Pair(Amount("6 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),)), Amount("292 ms", (TIME,)))
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

    kind: Annotated[DelayKindName, choice("kind", DelayKindName)] = entry(
        "how it changes: at given instants (steps), by a semi-Markov process (alternating), as in a file (trace), or "
        "to a new random value each period (handover)"
    )
    order: Annotated[OrderName, choice("order", OrderName)] = entry(
        "when the delay drops, later packets overtake earlier ones, or arrive with the one before them at the "
        "earliest (keep)",
        "overtake",
    )
    both_ways: Switch = entry("the reverse direction has the same delay at each instant", default=False)
    steps: Annotated[tuple[tuple[float, float], ...] | None, _STEPS] = entry(
        "steps: from each instant on its delay; the first at 0 s", None, words="none"
    )
    states: list[DelayState] = entry("alternating: the states", [], words="none")
    transitions: Annotated[
        tuple[tuple[float, ...], ...] | None, ListOf(_SHARES, "rows of probabilities", "[[0, 1], [1, 0]]", 1000)
    ] = entry(
        "alternating: a row for each state with the probabilities of the one that follows",
        None,
        words="to the next state, from the last to the first",
    )
    start_state: Annotated[int, Count(1, 1000, 2)] = entry("alternating: the state at time zero, counted from 1", 1)
    file: Annotated[str | None, Text(200, "delays.csv", text="a path in the scenario's folder")] = entry(
        "trace: CSV file, relative to the scenario's, with a row for each change: time in s, delay in s",
        None,
        words="none",
    )
    low: Annotated[float | None, Amount("20 ms", (TIME,))] = entry("handover: least delay", None, words="none")
    high: Annotated[float | None, Amount("60 ms", (TIME,))] = entry("handover: largest delay", None, words="none")
    period: Annotated[float, Amount("15 s", (Span("s", 1e-6, LONGEST_RUN_S, "1 us to 1e7 s"),))] = entry(
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

    model: Annotated[LossModelName, choice("model", LossModelName)] = entry(
        "which packets: each with a probability (bernoulli), the next one after each instant of a random process "
        "(poisson), in bursts (gilbert-elliott), or those given by number (packets) or instant (times)"
    )
    applies_to: Annotated[CrossingName, choice("kind of packets", CrossingName)] = entry(
        "which packets can be lost and are counted", "all"
    )
    probability: Annotated[float | None, _PROBABILITY] = entry("bernoulli: loss probability", None, words="none")
    mean_interval: Annotated[float | None, Amount("10 s", (Span("s", 1e-6, LONGEST_RUN_S, "1 us to 1e7 s"),))] = entry(
        "poisson: mean time between two instants; the next packet after each is lost", None, words="none"
    )
    void_after: Annotated[float, Amount("1 s", (Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s"),))] = entry(
        "poisson: a loss instant expires if no packet arrives within this time", 0.5, toml="500 ms"
    )
    to_bad: Annotated[float | None, _PROBABILITY] = entry(
        "gilbert-elliott: probability of a step to the bad state, after each packet in the good one", None, words="none"
    )
    to_good: Annotated[float | None, _PROBABILITY] = entry(
        "gilbert-elliott: and back; bursts are of 1/`to_good` packets on average", None, words="none"
    )
    loss_in_good: Annotated[float, _PROBABILITY] = entry(
        "gilbert-elliott: loss probability in the good state, where it begins", 0.0
    )
    loss_in_bad: Annotated[float, _PROBABILITY] = entry("gilbert-elliott: loss probability in the bad state", 1.0)
    packets: Annotated[
        tuple[int, ...] | None, ListOf(Count(1, 10**12, 5), "packet numbers", "[5, 9]", MOST_STEPS, rising=True)
    ] = entry("packets: those with the given numbers, counted on this link from 1", None, words="none")
    times: Annotated[
        tuple[float, ...] | None, ListOf(_INSTANT, "instants", '["3 s", "7 s"]', MOST_STEPS, rising=True)
    ] = entry("times: the next packet after each of these instants", None, words="none")


QueueField = Annotated[Queue, Shorthand("discipline", "discipline", lambda: DISCIPLINES)]
CountingField = Annotated[CountingName, choice("way of counting", CountingName)]
DROP_TAIL = Queue(discipline="drop-tail")


class Reverse(Table):
    """The reverse direction of a link, which the ACKs of a flow over it usually cross."""

    rate: Rate = entry("rate of the reverse direction", None, words="the forward rate")
    delay: Delay = entry("propagation delay of the reverse direction", 0.0, words="the forward delay")
    buffer: Buffer = entry("buffer of the reverse direction", None, toml="unlimited")
    queue: QueueField = entry("queueing discipline of the reverse direction", DROP_TAIL, toml="drop-tail")
    counting: CountingField = entry("how the reverse buffer is counted", "with-service")
    delay_process: DelayProcess | None = entry(
        "how the delay of the reverse direction changes",
        None,
        words="not at all, unless the forward one is `both_ways`",
    )
    loss: Loss | None = entry("packets that are lost in the reverse direction", None, words="none")


class Link(Table):
    """A duplex link: a queue, then a pipe, in each direction."""

    name: Annotated[str, name_of("satellite")] = entry(
        "name by which flows cross the link; `name.reverse` is its other direction"
    )
    rate: Rate = entry('transmission rate; at an "unlimited" one packets neither wait nor are dropped')
    delay: Delay = entry("propagation delay", 0.0, toml="0 s")
    buffer: Buffer = entry("room for packets; a time is what the link drains in that time", None, toml="unlimited")
    queue: QueueField = entry("queueing discipline, by name or as a table", DROP_TAIL, toml="drop-tail")
    counting: CountingField = entry(
        "whether the buffer holds the packet in transmission too (with-service, as in ns-2) or those waiting only",
        "with-service",
    )
    delay_process: DelayProcess | None = entry("how the delay changes, on top of `delay`", None, words="not at all")
    loss: Loss | None = entry("packets that are lost before the queue", None, words="none")
    private: Switch = entry("each flow that crosses the link has its own copy of it, in both directions", default=False)
    reverse: Reverse = entry(
        "what is different in the reverse direction", Reverse(), words="as forward, unlimited drop-tail"
    )
