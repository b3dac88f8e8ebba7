"""The queues of a run in packets, with buffers and drops, and the rates of links that change."""

from collections.abc import Sequence
from typing import Final

import pandas as pd

from ackclock.charts import Panel, StraightLine
from ackclock.pictures.dropped import drop_events
from ackclock.pictures.parts import MOST_LINES, TIME, by_name, end_s, of_kind, step_curve, warmup
from ackclock.scenario import Resolved
from ackclock.scenario.copies import described_name
from ackclock.scenario.resolved_buffers import ByteBuffer, PacketBuffer
from ackclock.scenario.resolved_rates import StepsRate
from ackclock.units import show
from ackclock.wording import plural

MBIT: Final = 1e6
HEADROOM: Final = 1.05
MOST_STEPS: Final = 2000
"""Steps of a rate that are drawn one by one; of more, their means over the intervals of the overview."""
FAR: Final = 4.0
"""Ratio of a buffer to the longest queue above which it is not drawn: the queue would be a line on the axis."""


def longest_queues(overview: pd.DataFrame) -> list[str]:
    """Return the names of the links where a packet waited, the longest queues first, as many as there are colours.

    Of copies of one link it is the one with the longest queue. The packet in transmission counts, so in a queue of one
    packet none waits.
    """
    longest = of_kind(overview, "queue").groupby("name", observed=True)["value"].max()
    waited = longest[longest > 1.0].sort_values(ascending=False, kind="stable")
    links: dict[str, str] = {}
    for name in map(str, waited.index):
        links.setdefault(described_name(name), name)
    return list(links.values())[:MOST_LINES]


def queue_panel(
    resolved: Resolved,
    overview: pd.DataFrame,
    names: Sequence[str],
    title: str = "",
    lines: Sequence[StraightLine] = (),
) -> Panel:
    """Draw the queues of some links over the whole run, their buffers and all drops.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    overview : DataFrame
        The overview trace.
    names : sequence of str
        The links, the longest queue first.
    title : str
        Title of the panel.
    lines : sequence of StraightLine
        What the theory says of these queues.
    """
    queued = by_name(of_kind(overview, "queue"))
    curves = [step_curve(name, queued[name], end_s(resolved), number) for number, name in enumerate(names)]
    shown = max([*(float(curve.y.max()) for curve in curves), *(line.value for line in lines)])
    near, far = _buffers(resolved, names, FAR * shown)
    top = HEADROOM * max([shown, *(line.value for line in near)]) if far else None
    return Panel(
        TIME,
        "queue [packets]",
        curves,
        title,
        (*near, *far, *lines),
        drop_events(resolved, overview, names),
        warmup(resolved),
        x_range=(0.0, end_s(resolved)),
        y_top=top,
        y_whole=True,
        first_in_front=True,
    )


def rate_panel(resolved: Resolved, overview: pd.DataFrame, names: Sequence[str]) -> Panel | None:
    """Draw the rates that change, each with the colour of its link's queue; None if there are none.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    overview : DataFrame
        The overview trace.
    names : sequence of str
        The links whose queues are drawn, the longest first.
    """
    rates = by_name(of_kind(overview, "rate"))
    # Two directions with one stream have one rate, that of the forward one.
    first: dict[str, str] = {}
    for name in sorted(rates, key=lambda name: (name.endswith(".reverse"), name not in names, name)):
        process = resolved.elements_by_name[name].rate_process
        first.setdefault(name if process is None else process.stream, name)
    drawn = list(first.values())[:MOST_LINES]
    if not drawn:
        return None
    free = iter(number for number in range(len(names) + MOST_LINES) if number >= len(names))
    colours = [names.index(name) if name in names else next(free) % MOST_LINES for name in drawn]
    rows = [_rate_rows(resolved, name, rates[name]) for name in drawn]
    end = end_s(resolved)
    curves = [step_curve(name, own, end, colour) for name, own, colour in zip(drawn, rows, colours, strict=True)]
    return Panel(TIME, "rate [Mbit/s]", curves, spans=warmup(resolved), x_range=(0.0, end))


def _rate_rows(resolved: Resolved, name: str, means: pd.DataFrame) -> pd.DataFrame:
    """Give a rate [Mbit/s] at each step, where steps are given and few; else its means over the overview's grid."""
    process = resolved.elements_by_name[name].rate_process
    law = None if process is None else process.law
    steps = law.steps_until(end_s(resolved), MOST_STEPS) if isinstance(law, StepsRate) else None
    rows = means if steps is None else pd.DataFrame(steps, columns=["time_s", "value"])
    return rows.assign(value=rows["value"] / MBIT)


def _buffers(resolved: Resolved, names: Sequence[str], far: float) -> tuple[list[StraightLine], list[StraightLine]]:
    """Return the lines of the buffers up to a size, and those of larger ones, with their sizes.

    A buffer in bytes has its line where the largest packets that cross the link fill it; its label says so where there
    are smaller ones, of which more fit.
    """
    near, beyond = [], []
    for number, name in enumerate(names):
        buffer, sizes = resolved.elements_by_name[name].buffer, _packet_sizes(resolved, name)
        if buffer is None or (isinstance(buffer, ByteBuffer) and not sizes):
            continue
        packets = int(buffer.capacity_packets(max(sizes, default=0)))
        size = plural(packets, "packet")
        if isinstance(buffer, ByteBuffer):
            size = f"{size} of {max(sizes)} B" if packets <= far else show(buffer.bytes, "B", 4)
        if packets > far:
            beyond.append(StraightLine(float(packets), f"buffer of {name}, above: {size}", "limit", colour=number))
            continue
        is_plain = isinstance(buffer, PacketBuffer) or len(sizes) == 1
        near.append(
            StraightLine(float(packets), "buffer" if is_plain else f"buffer of {name}: {size}", "limit", colour=number)
        )
    return near, beyond


def _packet_sizes(resolved: Resolved, name: str) -> set[int]:
    """Return the sizes of data packets, of ACKs and of echoes that cross a link [B]."""
    index = resolved.element_indices[name]
    there = {flow.packet_bytes for flow in resolved.flows if index in flow.path}
    back = {flow.answer_bytes for flow in resolved.flows if index in flow.return_path}
    return there | back
