"""The table of a link's rate that changes."""

from typing import Annotated, Literal

from ackclock.scenario.amounts import Amount, Span
from ackclock.scenario.entries import Table, entry
from ackclock.scenario.fields import Count, Number, Text
from ackclock.scenario.lists import ListOf, Pair
from ackclock.scenario.schema_kinds import LONGEST_RUN_S, MOST_STEPS, choice

RateKindName = Literal["steps", "trace", "outages", "alternating", "markov", "mahimahi"]

RATE = Span("bit/s", 0, 1e13, "0, or 1 bit/s to 1e13 bit/s")
_TIME = Span("s", 0, LONGEST_RUN_S, "0 to 1e7 s")
_LASTING = Span("s", 1e-6, LONGEST_RUN_S, "1 us to 1e7 s")
MOST_STATES = 100
"""Most states of a rate."""


class RateState(Table):
    """A state of an alternating or Markov-modulated rate."""

    rate: Annotated[float, Amount("10 Mbit/s", (RATE,))] = entry('rate in this state; "0 bit/s" is an outage')
    least_stay: Annotated[float, Amount("100 ms", (_TIME,))] = entry(
        "alternating: least time in the state", 0.0, toml="0 s"
    )
    mean_extra: Annotated[float, Amount("2 s", (_TIME,))] = entry(
        "alternating: mean of the exponential time that is added to it", 0.0, toml="0 s"
    )
    mean_stay: Annotated[float | None, Amount("2 s", (_LASTING,))] = entry(
        "markov: mean of the exponential time in the state", None, words="none"
    )


_STEPS = ListOf(
    Pair(Amount("30 s", (_TIME,)), Amount("2 Mbit/s", (RATE,))),
    "pairs of an instant and a rate",
    '[["0 s", "10 Mbit/s"], ["30 s", "2 Mbit/s"]]',
    MOST_STEPS,
    rising=True,
)
_OUTAGES = ListOf(
    Pair(Amount("30 s", (_TIME,)), Amount("2 s", (_LASTING,))),
    "pairs of an instant and a duration",
    '[["30 s", "2 s"], ["60 s", "500 ms"]]',
    MOST_STEPS // 2,
    rising=True,
)
_SHARES = ListOf(Number(0, 1, 0.5, closed=True, from_low=True), "probabilities", "[0.5, 0.5]", MOST_STATES)
RATE_FIELDS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "steps": (("steps",), ("repeat",)),
    "trace": (("file",), ("repeat",)),
    "outages": (("rate", "outages"), ("repeat",)),
    "alternating": (("states",), ("transitions", "start_state")),
    "markov": (("states",), ("transitions", "start_state")),
    "mahimahi": (("file",), ("opportunity", "header")),
}
"""The fields that each kind of a changing rate needs, and those that it may have."""


class RateProcess(Table):
    """A rate that changes with time, in place of the link's constant one.

    A packet in transmission when the rate changes goes on at the new rate: its transmission ends as the integral of the
    rate since its beginning reaches its bits. At a rate of 0 it waits where it is and the queue behind it fills its
    buffer; both go on afterwards, and only a full buffer drops.
    """

    kind: Annotated[RateKindName, choice("kind", RateKindName)] = entry(
        "how it changes: at given instants (steps), as in a file (trace), to 0 and back (outages), by a semi-Markov "
        "process (alternating), by a Markov chain (markov), or by the opportunities to deliver a packet in a file of "
        "Mahimahi (mahimahi)"
    )
    steps: Annotated[tuple[tuple[float, float], ...] | None, _STEPS] = entry(
        "steps: from each instant on its rate; the first at 0 s", None, words="none"
    )
    file: Annotated[str | None, Text(200, "rates.csv", text="a path in the scenario's folder")] = entry(
        "trace: CSV file, relative to the scenario's, with a row for each change: time in s, rate in bit/s; mahimahi: "
        "file with a number of milliseconds in each line, in order, each an opportunity to deliver `opportunity` "
        "bytes; it begins again when its last one is over",
        None,
        words="none",
    )
    repeat: Annotated[float | None, Amount("60 s", (_LASTING,))] = entry(
        "steps, trace, outages: time after which they begin again", None, words="never; the last rate remains"
    )
    rate: Annotated[float | None, Amount("10 Mbit/s", (Span("bit/s", 1, 1e13, "1 bit/s to 1e13 bit/s"),))] = entry(
        "outages: the rate between them", None, words="none"
    )
    outages: Annotated[tuple[tuple[float, float], ...] | None, _OUTAGES] = entry(
        "outages: the beginning of each, and how long it lasts", None, words="none"
    )
    states: list[RateState] = entry("alternating, markov: the states", [], words="none")
    transitions: Annotated[
        tuple[tuple[float, ...], ...] | None, ListOf(_SHARES, "rows of probabilities", "[[0, 1], [1, 0]]", MOST_STATES)
    ] = entry(
        "alternating, markov: a row for each state with the probabilities of the one that follows",
        None,
        words="alternating: to the next state, from the last to the first; markov: to each other state equally",
    )
    start_state: Annotated[int, Count(1, MOST_STATES, 2)] = entry(
        "alternating, markov: the state at time zero, counted from 1", 1
    )
    opportunity: Annotated[int, Amount("1504 B", (Span("B", 64, 65535, "64 to 65535 B", whole=True),))] = entry(
        "mahimahi: most bytes that an opportunity delivers, of one packet or several; what is not used is lost",
        1504,
        toml="1504 B",
    )
    header: Annotated[int, Amount("4 B", (Span("B", 0, 1000, "0 to 1000 B", whole=True),))] = entry(
        "mahimahi: bytes that each packet needs in addition to its own; mm-link counts the header of its TUN device",
        4,
        toml="4 B",
    )
