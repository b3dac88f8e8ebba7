"""The tables of a link and of its delay that changes."""

from typing import Annotated, Literal

from pydantic import ConfigDict

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.fields import Count, Number, Shorthand, Text
from ackclock.scenario.lists import ListOf, Pair
from ackclock.scenario.losses import Loss
from ackclock.scenario.schema_kinds import (
    LONGEST_RUN_S,
    MOST_STEPS,
    SOME_BYTES,
    TIME,
    Switch,
    choice,
    most,
    name_of,
)
from ackclock.scenario.schema_queues import NAMES, Queue
from ackclock.scenario.schema_rates import RateProcess
from ackclock.units import Quantity

BucketKindName = Literal["shaper", "policer"]
MOST_COPIES = most("flows[].copies")
"""Largest number of copies of a link, and of the flows that cross it."""
MOST_BURST_BYTES = most("elements[].token_bucket.burst_bytes")
DelayKindName = Literal["steps", "alternating", "trace", "handover"]
OrderName = Literal["overtake", "keep"]
CountingName = Literal["with-service", "waiting"]

_SOME_PACKETS = Span("pkt", 1, 1e9, "1 to 1e9 pkt", whole=True)
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


class DelayState(Table):
    """A state of an alternating delay."""

    delay: Annotated[float, Amount("92 ms", (TIME,))] = entry("one-way delay in this state")
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
    """A one-way delay that changes with time, on top of the link's constant one."""

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
        "steps: from each instant on its one-way delay; the first at 0 s", None, words="none"
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
        "trace: CSV file, relative to the scenario's, with a row for each change: time in s, one-way delay in s",
        None,
        words="none",
    )
    low: Annotated[float | None, Amount("20 ms", (TIME,))] = entry("handover: least one-way delay", None, words="none")
    high: Annotated[float | None, Amount("60 ms", (TIME,))] = entry(
        "handover: largest one-way delay", None, words="none"
    )
    period: Annotated[float, Amount("15 s", (Span("s", 1e-6, LONGEST_RUN_S, "1 us to 1e7 s"),))] = entry(
        "handover: time between two changes", 15.0, toml="15 s"
    )


class TokenBucket(Table):
    """A token bucket in place of a line: packets leave at once while it has tokens, which come at the link's rate."""

    kind: Annotated[BucketKindName, choice("kind", BucketKindName)] = entry(
        "what happens to packets without tokens: they wait in the queue (shaper, as Linux's HTB, where the last that "
        "goes may owe tokens), or are dropped (policer)"
    )
    burst: Annotated[int, Amount("15 kB", (Span("B", 0, MOST_BURST_BYTES, "0 B to 1 GB", whole=True),))] = entry(
        "tokens of the full bucket; of a policer at least the largest packet"
    )


QueueField = Annotated[Queue, Shorthand("discipline", "discipline", lambda: NAMES)]
CountingField = Annotated[CountingName, choice("way of counting", CountingName)]
PLAIN = Queue(discipline="drop-tail")


class Reverse(Table):
    """The reverse direction of a link, which the ACKs of a flow over it usually cross."""

    rate: Rate = entry("rate of the reverse direction", None, words="the forward rate, at each instant")
    rate_process: RateProcess | None = entry(
        "how the rate of the reverse direction changes, in place of `rate`", None, words="as the forward one"
    )
    delay: Delay = entry("one-way propagation delay of the reverse direction", 0.0, words="the forward delay")
    buffer: Buffer = entry("buffer of the reverse direction", None, toml="unlimited")
    queue: QueueField = entry("queueing discipline of the reverse direction", PLAIN, toml="drop-tail")
    counting: CountingField = entry("how the reverse buffer is counted", "with-service")
    token_bucket: TokenBucket | None = entry(
        "token bucket in place of a line in the reverse direction", None, words="none"
    )
    delay_process: DelayProcess | None = entry(
        "how the delay of the reverse direction changes",
        None,
        words="not at all, unless the forward one is `both_ways`",
    )
    loss: Loss | None = entry("packets that are lost in the reverse direction", None, words="none")


class Link(Table):
    """A duplex link: a queue, then a pipe, in each direction."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["rate"]}, {"required": ["rate_process"]}]})

    name: Annotated[str, name_of("satellite")] = entry(
        "name by which flows cross the link; `name.reverse` is its other direction"
    )
    rate: Rate = entry(
        'transmission rate; at an "unlimited" one packets neither wait nor are dropped',
        None,
        words="needed, unless there is a `rate_process`",
    )
    rate_process: RateProcess | None = entry("how the rate changes, in place of `rate`", None, words="not at all")
    delay: Delay = entry("one-way propagation delay", 0.0, toml="0 s")
    buffer: Buffer = entry("room for packets; a time is what the link drains in that time", None, toml="unlimited")
    queue: QueueField = entry("queueing discipline, by name or as a table", PLAIN, toml="drop-tail")
    counting: CountingField = entry(
        "whether the buffer holds the packet in transmission too (with-service, as in ns-2) or those waiting only",
        "with-service",
    )
    token_bucket: TokenBucket | None = entry(
        "token bucket in place of a line: a shaper or a policer with the link's rate", None, words="none"
    )
    delay_process: DelayProcess | None = entry("how the delay changes, on top of `delay`", None, words="not at all")
    loss: Loss | None = entry("packets that are lost before the queue", None, words="none")
    private: Switch = entry("each flow that crosses the link has its own copy of it, in both directions", default=False)
    copies: Annotated[int, Count(1, MOST_COPIES, 100)] = entry(
        "how often the link is present, called name[0], name[1], ..., each with the flows that cross it", 1
    )
    reverse: Reverse = entry(
        "what is different in the reverse direction", Reverse(), words="as forward, unlimited drop-tail"
    )
