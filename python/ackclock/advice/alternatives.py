"""Records of the sizes that a search has simulated, and their table."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from ackclock.stats import Estimate
from ackclock.tables import TableText
from ackclock.wording import LEAST_PERCENT, amount, half_width, number, percent

THROUGHPUT = 2
"""Column of the throughput in a table of alternatives."""


@dataclass(frozen=True, slots=True)
class Alternative:
    """A size that was simulated, and what it gives.

    Parameters
    ----------
    size_packets : float, optional
        The size [pkt]; None for an unlimited one.
    utilisation_fraction, throughput_bps, rtt_p95_s, loss_fraction : Estimate
        Utilisation of the link, throughput of all flows, the longest round trip of 95% of the packets (the mean where
        the result has no percentiles), loss at the link; means over replications, with intervals.
    loss_cycles : float
        The number of loss cycles that the means are over, of all flows and replications.
    meets : bool
        Whether it meets the targets.
    chosen : bool
        Whether it is the answer.
    note : str
        What else it is: the present size, a rule's; why it is not the answer though it meets the targets.
    missed : tuple of str
        The targets that it misses, by name.
    others : mapping of str to float or None
        The sizes at the other places that are searched [pkt], by place; None for an unlimited one.
    """

    size_packets: float | None
    utilisation_fraction: Estimate
    throughput_bps: Estimate
    rtt_p95_s: Estimate
    loss_fraction: Estimate
    loss_cycles: float
    meets: bool
    chosen: bool
    note: str
    missed: tuple[str, ...] = ()
    others: Mapping[str, float | None] = field(default_factory=dict)

    @property
    def cells(self) -> list[str]:
        """The row in a table: the size, what it gives, the loss cycles, and what it is."""
        size = "unlimited" if self.size_packets is None else number(self.size_packets)
        used = "-" if self.utilisation_fraction["mean"] is None else percent(self.utilisation_fraction["mean"], 4)
        measured = ((self.throughput_bps, "bit/s"), (self.rtt_p95_s, "s"), (self.loss_fraction, "1"))
        misses = " ".join(["misses", " and ".join(self.missed)]).rstrip()
        marks = ["chosen"] * self.chosen + [misses] * (not self.meets)
        notes = ", ".join([*marks, *([self.note] if self.note else [])])
        return [
            size,
            used,
            *(written(value, unit) for value, unit in measured),
            number(round(self.loss_cycles)),
            notes,
        ]


@dataclass(frozen=True, slots=True)
class Alternatives:
    """The sizes that a search simulated at one place, the smallest first.

    Parameters
    ----------
    place : str
        Where, and the size of what.
    rows : tuple of Alternative
        One for each size that is worth showing.
    round_trip : str
        What the round trips are: a percentile, or the mean.
    elsewhere : str
        The sizes at the other places, in words, where a row says nothing else; empty if there are none.
    """

    place: str
    rows: tuple[Alternative, ...]
    round_trip: str
    elsewhere: str = ""

    @property
    def table(self) -> TableText:
        """The row of alternatives as a table for people."""
        headers = [
            self.place,
            "utili-\nsation",
            "through-\nput",
            f"round\ntrip, {self.round_trip}",
            "loss",
            "loss\ncycles",
            "",
        ]
        rows = [row.cells for row in self.rows]
        # The rates of several transfers, each over its own life, have no sum.
        shown = [place for place in range(len(headers)) if place != THROUGHPUT or {row[place] for row in rows} != {"-"}]
        cells = [[row[place] for place in shown] for row in rows]
        note = f"With {self.elsewhere}, unless a row says otherwise." if self.elsewhere else ""
        return TableText([headers[place] for place in shown], cells, note, words=frozenset({len(shown) - 1}))


def written(found: Estimate, unit: str) -> str:
    """Write a mean with its interval, if that is wide enough to show."""
    if found["mean"] is None:
        return "-"
    text = amount(found["mean"], unit) if unit else number(found["mean"])
    if found["low"] is None or found["high"] is None or not found["mean"]:
        return text
    half = (found["high"] - found["low"]) / 2.0
    return f"{text}\n{half_width(half, found['mean'])}" if 100.0 * half / found["mean"] >= LEAST_PERCENT else text
