"""The tables of what a flow sends and when."""

from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.contract import RANGES
from ackclock.scenario.entries import Table
from ackclock.scenario.fields import AmountShorthand, Choice, Number, Text
from ackclock.units import Quantity

TrafficName = Literal["web", "constant", "poisson", "on-off", "poisson-on-off", "ping"]
SizeLawName = Literal["fixed", "exponential", "exponential-pareto", "exponential-exponential", "pareto", "empirical"]
TimeLawName = Literal["fixed", "exponential"]

LONGEST_TIME_S = 1e7
LARGEST_TRANSFER = 1e12

_SIZE = Span("pkt", 1, LARGEST_TRANSFER, "1 to 1e12 pkt")
_PERIOD = Span("s", 0, LONGEST_TIME_S, "0 to 1e7 s")
_INTERVAL = Span("s", 1e-6, LONGEST_TIME_S, "1 us to 1e7 s")
_BURST = (Span("pkt", 1, 1e6, "1 to 1e6 pkt", whole=True), Span("B", 1, 1e11, "1 to 1e11 B"))
_RATE = Span("bit/s", 1, 1e13, "a rate from 1 bit/s to 1e13 bit/s")


def _number(field: str, example: float) -> Number:
    """Make a number in the engine's range of a size law's field."""
    limits = RANGES[f"flows[].traffic.size.{field}"]
    return Number(limits.low, limits.high, example, closed=True, from_low=True)


def _entry(text: str, default: object = None, words: str = "") -> Any:
    extra: dict[str, Any] = {"default": default, "words": words}
    return Field(default=default, description=text, json_schema_extra=extra)


class Period(Table):
    """Duration for which a source sends, or is silent."""

    mean: Annotated[float, Amount("1 s", (_PERIOD,))] = Field(description="its mean")
    law: Annotated[TimeLawName, Choice("law", get_args(TimeLawName))] = _entry(
        "always the mean (fixed), or drawn from an exponential law", "exponential"
    )


class Size(Table):
    """Size of each transfer; a random size is rounded to the nearest packet."""

    law: Annotated[SizeLawName, Choice("law", get_args(SizeLawName))] = Field(
        description="always the mean (fixed); a minimum and an exponential rest (exponential); the same as a body, "
        "with a tail that is Pareto's (exponential-pareto) or a longer exponential (exponential-exponential); pareto; "
        "one of the sizes of a file, each line with the same probability (empirical)"
    )
    mean: Annotated[float | None, Amount("12 pkt", (_SIZE,))] = _entry(
        "mean of all sizes", words="none; empirical needs none"
    )
    min: Annotated[float, Amount("3 pkt", (_SIZE,))] = _entry("the laws with a body: smallest size", 3.0, "`3 pkt`")
    tail_fraction: Annotated[float, _number("tail_fraction", 0.1)] = _entry(
        "the laws with a tail: fraction of all sizes that are in it", 0.1
    )
    shape: Annotated[float, _number("shape", 1.5)] = _entry("Pareto laws: the exponent alpha", 1.5)
    tail_mean: Annotated[float | None, Amount("84 pkt", (_SIZE,))] = _entry(
        "exponential-exponential: the tail's mean beyond the knee", words="7 times the mean"
    )
    file: Annotated[str | None, Text(4000, "sizes.txt")] = _entry(
        "empirical: a text file of whole numbers of packets, a size a line; its path from the scenario's folder",
        words="none",
    )


PeriodField = Annotated[Period | None, AmountShorthand("mean", Amount("1 s", (_PERIOD,)))]


class Writes(Table):
    """Bursts in which the application of a TCP flow writes, the first one at the start."""

    burst: Annotated[Quantity, Amount("10 pkt", _BURST)] = _entry(
        "data of a burst; bytes are rounded up to whole packets", Quantity(1.0, "pkt"), "`1 pkt`"
    )
    every: Annotated[float | None, Amount("1 s", (_INTERVAL,))] = _entry(
        "time from one burst to the next", words="required, or `rate`"
    )
    rate: Annotated[float | None, Amount("2 Mbit/s", (_RATE,))] = _entry(
        "mean rate, headers included, instead of `every`", words="required, or `every`"
    )


class Traffic(Table):
    """Traffic of a flow: transfers over TCP with silences between them, datagrams, or pings."""

    kind: Annotated[TrafficName, Choice("kind of traffic", get_args(TrafficName))] = Field(
        description="transfers and silences in turn, each transfer a fresh connection (web); without TCP: packets in "
        "equal distances (constant), a Poisson process of packets (poisson), or one of these while it is on (on-off, "
        "poisson-on-off); echo requests in equal distances, which the far end sends back over `return_path` (ping)"
    )
    size: Annotated[Size | None, AmountShorthand("mean", Amount("12 pkt", (_SIZE,)), {"law": "fixed"})] = _entry(
        "web: how much a transfer carries; a single amount is a fixed one", words="required for web"
    )
    rate: Annotated[float | None, Amount("9.3 Mbit/s", (_RATE,))] = _entry(
        "the sources without TCP: mean rate while they send, headers included", words="required for these"
    )
    interval: Annotated[float | None, Amount("200 ms", (_INTERVAL,))] = _entry(
        "ping: time from one echo request to the next", words="`1 s`"
    )
    on: PeriodField = _entry(
        "on-off sources: how long they send; a single time is the mean of an exponential law",
        words="required for these",
    )
    off: PeriodField = _entry(
        "web, on-off: the silence; for web it begins with the last ACK, and comes before the first transfer too. A "
        "single time is the mean of an exponential law",
        words="required for these",
    )
