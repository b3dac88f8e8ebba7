"""The user's form of a scenario: its tables, their fields, units, ranges and defaults.

This module is the only place that knows a default. The messages of faults, the JSON Schema and docs/scenario.md are all
made from it.
"""

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.fields import AmountShorthand, Choice, Count, Flag, Kind, LinkNames, Number, Shorthand, Text
from ackclock.scenario.presets import preset_names
from ackclock.scenario.schema_traffic import Traffic
from ackclock.units import Quantity

MOST_LINKS = 100_000
"""Simplex links of a scenario at most; each [[link]] is two."""
MOST_CROSSINGS = 100_000_000
"""Links on the ways of all flows at most, each counted as often as flows cross it."""
MOST_BUFFER_BYTES = 10**15
MOST_FLOWS = 1_000_000
"""Flows of a scenario at most, counted ones included."""
LONGEST_RUN_S = 1e7
"""No run, and no round trip, is longer [s]."""
DEFAULT_PRESET = "newreno-rfc6582"

DisciplineName = Literal["drop-tail", "drop-from-front", "random-drop", "red"]
CountingName = Literal["with-service", "waiting"]
VictimName = Literal["arriving", "random"]
DialectName = Literal["ns2", "rfc", "engset"]
RecoveryName = Literal["old-tahoe", "tahoe", "reno", "newreno"]
SlowStartName = Literal["below", "at-or-below"]
IncreaseName = Literal["reciprocal", "reciprocal-floor", "counted"]
PartialAckTimerName = Literal["slow-but-steady", "impatient"]
EstimatorName = Literal["ticks", "rfc6298"]
SampleName = Literal["per-round", "per-ack"]

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


class Table(BaseModel):
    """A table of the TOML file: nothing but the known fields, each of the right type."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    def gives(self, name: str) -> bool:
        """Whether the user gave the field."""
        return name in self.model_fields_set

    def override(self, other: Self) -> Self:
        """Replace the fields that another table of the kind gives."""
        return self.model_copy(update={name: getattr(other, name) for name in other.model_fields_set})


def _entry(text: str, default: object = ..., *, toml: object = None, words: str = "") -> Any:
    """Describe a field; its default as TOML, or in words, where that is not the value itself."""
    extra: dict[str, Any] = {"default": default if toml is None else toml, "words": words}
    return Field(default=default, description=text, json_schema_extra=None if default is ... else extra)


def _preset(text: str) -> Any:
    """Describe a field whose default is the preset's."""
    return _entry(text, None, words="the preset's")


class Queue(Table):
    """Queueing discipline of a link."""

    discipline: Annotated[DisciplineName, _choice("discipline", DisciplineName)] = _entry(
        "which packet is dropped: at a full buffer the newcomer (drop-tail), the one at the front (drop-from-front) "
        "or one drawn among all that wait and the newcomer (random-drop); early, by the mean queue (red)"
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
        "red: which packet is dropped early: the arriving one, or one drawn among all", "arriving"
    )
    mean_packet: Annotated[int | None, _PACKET_SIZE] = _entry(
        "red: packet size by which the mean decays while the link is idle",
        None,
        words="the largest packet that crosses",
    )


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
    private: Switch = _entry(
        "each flow that crosses the link has a copy of it for itself, in both directions", default=False
    )
    reverse: Reverse = _entry(
        "what is different in the reverse direction", Reverse(), words="as forward, unlimited drop-tail"
    )


class Rto(Table):
    """Retransmission timer."""

    estimator: Annotated[EstimatorName | None, _choice("estimator", EstimatorName)] = _preset(
        "integer arithmetic on a coarse clock (ticks, as in ns-2 and BSD) or RFC 6298"
    )
    sample: Annotated[SampleName | None, _choice("way of sampling", SampleName)] = _preset(
        "round-trip times measured: one a round, or one for each ACK (time stamps)"
    )
    k: Annotated[int | None, Count(1, 1000, 4)] = _preset("weight of the variation: RTO = SRTT + k RTTVAR")
    granularity: Annotated[float | None, Amount("100 ms", (_TICK,))] = _preset("tick of the clock; 0 is an exact one")
    min: Annotated[float | None, Amount("200 ms", (_TIME,))] = _preset("least timeout")
    max: Annotated[float | None, Amount("60 s", (_TIMEOUT,))] = _preset("largest timeout")
    initial: Annotated[float | None, Amount("3 s", (_TIMEOUT,))] = _preset(
        "timeout before the first round-trip time is known"
    )
    max_backoff: Annotated[int | None, Count(1, 10**9, 64)] = _preset("largest factor of exponential backoff")
    clock_phase: Annotated[float | None, Number(0, 1, 0.5, from_low=True)] = _preset(
        "ticks: how far the coarse clock is into a tick at time zero, as a part of the tick"
    )


class Tcp(Table):
    """TCP of a flow: a preset, and the axes in which it is another. What is not given is the preset's."""

    preset: Annotated[str, Choice("preset", preset_names())] = _entry("the combination to start from", DEFAULT_PRESET)
    dialect: Annotated[DialectName | None, _choice("dialect", DialectName)] = _preset(
        "whose rules hold where the axes leave room: ns-2's, the RFCs' to the letter, or [engset]'s reading of them"
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
    dupack_threshold: Annotated[int | None, Count(1, 1_000_000, 3, ("infinite",))] = _preset(
        "duplicate ACKs that make a fast retransmit"
    )
    limited_transmit: Annotated[bool | None, Flag()] = _preset("new data at the first duplicate ACKs (RFC 3042)")
    partial_ack_timer: Annotated[PartialAckTimerName | None, _choice("variant", PartialAckTimerName)] = _preset(
        "NewReno: timer restarted at each partial ACK, or at the first only (RFC 6582)"
    )
    ack_every: Annotated[int | None, Count(1, 1_000_000, 2)] = _preset("the receiver acknowledges every n-th packet")
    ack_delay: Annotated[float | None, Amount("100 ms", (_TIME,))] = _preset("longest delay of such an ACK")
    rto: Rto = _entry("retransmission timer", Rto(), words="the preset's")


class Flow(Table):
    """One TCP connection, or one source of other traffic, that sends data over a path; or several alike."""

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
    packet: Annotated[int, _PACKET_SIZE] = _entry("size of a data packet, headers included", 1500, toml="1500 B")
    ack: Annotated[int, Amount("40 B", (_PACKET,))] = _entry("size of an ACK", 40, toml="40 B")
    count: Annotated[int, Count(1, MOST_FLOWS, 10)] = _entry("that many flows alike, called name[0], name[1], ...", 1)
    start: RunTime = _entry("when the flow starts", 0.0, toml="0 s")
    start_spread: RunTime = _entry("a random time up to this is added to each start", 0.0, toml="0 s")
    size: Annotated[
        Quantity | None,
        Amount("10 MB", (Span("pkt", 1, 1e12, "1 to 1e12 pkt", whole=True), _SOME_BYTES), ("unlimited",)),
    ] = _entry("data to transfer; bytes are rounded up to whole packets", None, toml="unlimited")
    traffic: Traffic | None = _entry(
        "what the flow sends and when", None, words="all of `size` at once, as fast as TCP lets it go"
    )
    tcp: Annotated[Tcp, Shorthand("preset", "preset", preset_names)] = _entry(
        "TCP, by the name of a preset or as a table", Tcp(), toml=DEFAULT_PRESET
    )


class Run(Table):
    """How long, how often, from which seed."""

    duration: Annotated[float, Amount("2000 s", (Span("s", 1e-12, LONGEST_RUN_S, "1 ps to 1e7 s"),))] = _entry(
        "simulated time"
    )
    warmup: RunTime = _entry("time before the measurement", 0.0, toml="0 s")
    replications: Annotated[int, Count(1, 1_000_000, 10)] = _entry("independent runs", 1)
    seed: Annotated[int, Count(0, 2**63 - 1, 7)] = _entry("seed of all random streams", 1)
    confidence: Annotated[float, Number(0, 1, 0.99)] = _entry(
        "confidence level of the intervals over replications", 0.95
    )


class Trace(Table):
    """What is recorded; what is not asked for costs nothing."""

    cwnd: Switch = _entry("cwnd, ssthresh, flight size and RTO of each flow at each change", default=False)
    rtt: Switch = _entry("round-trip times as measured", default=False)
    sequence: Switch = _entry("packets sent and acknowledged", default=False)
    queue: Switch = _entry("queue length at each change", default=False)
    queue_distribution: Switch = _entry("time at each queue length, and arrivals that saw it", default=False)
    drops: Switch = _entry("each drop", default=False)
    losses: Switch = _entry("each detection of a loss", default=False)
    overview_interval: Annotated[float | None, Amount("1 s", (Span("s", 1e-9, LONGEST_RUN_S, "1 ns to 1e7 s"),))] = (
        _entry("cwnd and queues, their least and largest value in each interval, for the picture", None, words="none")
    )
    capture: Annotated[tuple[str, ...] | None, LinkNames('["satellite"]')] = _entry(
        "links whose packets are captured (pcapng); a link stands for its two directions", None, words="none"
    )


class Form(Table):
    """A scenario for ackclock: links, flows over them, and how to run it."""

    title: Annotated[str, Text(200, "GEO satellite path")] = _entry(
        "what the scenario shows, in a few words", "untitled"
    )
    link: list[Link] = _entry("the links")
    flow: list[Flow] = _entry("the flows")
    run: Run = _entry("how long, how often, from which seed")
    trace: Trace = _entry("what is recorded", Trace(), words="nothing is recorded")


def kind_of(model: type[BaseModel], name: str) -> Kind | Shorthand | AmountShorthand | None:
    """Give the kind of a field's value; None for the tables in a scenario."""
    metadata = model.model_fields[name].metadata
    return next((entry for entry in metadata if isinstance(entry, Kind | Shorthand | AmountShorthand)), None)
