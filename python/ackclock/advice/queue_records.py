"""Records of the queues that were compared: what each is, what it gives, and why it is or is not the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ackclock.stats import Estimate
from ackclock.tables import TableText
from ackclock.wording import amount, half_width, percent, significant


@dataclass(frozen=True, slots=True)
class QueueAlternative:
    """A queue that was simulated, and what it gives.

    Parameters
    ----------
    name : str
        Its name for people.
    changes : mapping of str to object
        The fields that make it, by dotted path; empty for the scenario's own.
    throughput_bps : Estimate
        Throughput of the flows that cross the link and send all the time, without those of the other direction: endless
        ones and web sources, transfers that one of the queues leaves unfinished, and flows without a congestion control
        that are not light. All values are means over the seeds, with intervals; a quantity of flows that the scenario
        lacks has no mean.
    reverse_throughput_bps : Estimate
        Throughput of those of the other direction: only their ACKs cross the link.
    carried_bps, reverse_carried_bps : Estimate
        The same with each flow counted once for each of the links with long queues that its data cross: a queue is not
        better for giving what a flow over two links had to two flows over one.
    utilisation_fraction : Estimate
        Utilisation of the link.
    wait_mean_s, wait_p95_s, wait_p99_s : Estimate
        Queueing delay at the link: its mean, and what 95% and 99% of the packets have at most. Where several links have
        long queues, that of the link that has the longest.
    light_p95_s : Estimate
        Queueing delay that 95% of the packets of light flows have at most, of the flow that has the longest: pings
        (there and back), and flows without a congestion control, that offer less than an equal share of the link.
    light_loss_fraction : Estimate
        Packets of light flows that are lost, of the flow that loses most.
    l4s_p95_s : Estimate
        Queueing delay that 95% of the packets of L4S flows (RFC 9331) have at most, of the flow that has the longest.
    slowdown_mean : Estimate
        Completion time of transfers over the least that the empty path allows.
    unfinished_transfers : Estimate
        Transfers of flows with one transfer that were not finished at the end of the run.
    rtt_p95_s : Estimate
        Round trip that 95% of the packets have at most, of the flow that has the longest.
    loss_fraction : Estimate
        Packets that the link drops; of several links with long queues the largest.
    marked_fraction : Estimate
        Packets that arrive marked.
    fairness_index : Estimate
        Jain's index of these flows' throughputs over their weights, those of TCP alone; without a mean for fewer than
        two, and for runs of fewer than 100 round trips. Flows of the two directions are not compared: the index is that
        of the direction with the smaller one.
    is_chosen : bool
        Whether it is the answer.
    reason : str
        Why it is not, or what it is.
    """

    name: str
    changes: Mapping[str, Any]
    throughput_bps: Estimate
    reverse_throughput_bps: Estimate
    carried_bps: Estimate
    reverse_carried_bps: Estimate
    utilisation_fraction: Estimate
    wait_mean_s: Estimate
    wait_p95_s: Estimate
    wait_p99_s: Estimate
    light_p95_s: Estimate
    light_loss_fraction: Estimate
    l4s_p95_s: Estimate
    slowdown_mean: Estimate
    unfinished_transfers: Estimate
    rtt_p95_s: Estimate
    loss_fraction: Estimate
    marked_fraction: Estimate
    fairness_index: Estimate
    is_chosen: bool = False
    reason: str = ""


@dataclass(frozen=True, slots=True)
class QueuesCompared:
    """The queues that were simulated at one place, the scenario's own first.

    Parameters
    ----------
    place : str
        The link, or the links.
    rows : tuple of QueueAlternative
        One for each queue.
    """

    place: str
    rows: tuple[QueueAlternative, ...]

    @property
    def table(self) -> TableText:
        """The queues as a table for people; columns that say nothing are left out."""
        has_both = any(row.throughput_bps["mean"] is not None for row in self.rows)
        found = [
            (header, cells)
            for header, cells in (
                ("through-\nput", [_cell(row.throughput_bps, "bit/s") for row in self.rows]),
                (
                    "other di-\nrection" if has_both else "through-\nput",
                    [_cell(row.reverse_throughput_bps, "bit/s") for row in self.rows],
                ),
                ("slow-\ndown", [_ratio(row.slowdown_mean) for row in self.rows]),
                ("utili-\nsation", [_share(row.utilisation_fraction) for row in self.rows]),
                ("delay\nmean", [_cell(row.wait_mean_s, "s") for row in self.rows]),
                ("\np95", [_cell(row.wait_p95_s, "s") for row in self.rows]),
                ("\np99", [_cell(row.wait_p99_s, "s") for row in self.rows]),
                ("light\nflows", [_cell(row.light_p95_s, "s") for row in self.rows]),
                ("L4S\nflows", [_cell(row.l4s_p95_s, "s") for row in self.rows]),
                ("loss", [_cell(row.loss_fraction, "1") for row in self.rows]),
                ("marks", [_cell(row.marked_fraction, "1") for row in self.rows]),
                ("fair-\nness", [_index(row.fairness_index) for row in self.rows]),
            )
            if header != "marks" or any(row.marked_fraction["mean"] for row in self.rows)
        ]
        columns = [(header, cells) for header, cells in found if set(cells) != {"-"}]
        names = [f"{row.name}, chosen" if row.is_chosen else row.name for row in self.rows]
        cells = [[name, *(column[place] for _, column in columns)] for place, name in enumerate(names)]
        return TableText([f"queue at\n{self.place}", *(header for header, _ in columns)], cells)

    @property
    def reasons(self) -> tuple[str, ...]:
        """A sentence for each queue that something speaks against."""
        return tuple(f"{row.name}: {row.reason}" for row in self.rows if row.reason)


def _cell(found: Estimate, unit: str) -> str:
    if found["mean"] is None:
        return "-"
    text = amount(float(f"{found['mean']:.3g}") if unit == "s" else found["mean"], unit)
    return text + _half(found)


def _share(found: Estimate) -> str:
    return "-" if found["mean"] is None else percent(found["mean"], 4)


def _ratio(found: Estimate) -> str:
    return "-" if found["mean"] is None else significant(found["mean"], 3) + _half(found)


def _index(found: Estimate) -> str:
    return "-" if found["mean"] is None else f"{found['mean']:.3f}"


def _half(found: Estimate) -> str:
    """Write the half width of an interval in percent of its mean; nothing where it is small or missing."""
    if found["low"] is None or found["high"] is None or not found["mean"]:
        return ""
    half = (found["high"] - found["low"]) / 2.0
    return f"\n{half_width(half, found['mean'])}" if 100.0 * half / found["mean"] >= LEAST_HALF else ""


LEAST_HALF = 0.01
"""Least half width that a table shows [%]."""
