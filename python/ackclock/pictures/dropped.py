"""Marks of packets that were dropped by queues or policers, or lost by links."""

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ackclock.charts import Events
from ackclock.overview import DROP, DROP_OR_LOSS, LOSS, overview_interval_s
from ackclock.pictures.parts import MOST_LINES, by_name, of_kind
from ackclock.scenario import Resolved
from ackclock.scenario.copies import described_name
from ackclock.scenario.resolved_buffers import PacketBuffer

POLICED: Final = "drop (policer)"
ELSEWHERE: Final = "other links: drop or loss"

Times = NDArray[np.float64]


def drop_events(resolved: Resolved, overview: pd.DataFrame, queues: Sequence[str]) -> tuple[Events, ...]:
    """Return the drops and losses of each link, by their causes, copies of one link together.

    Parameters
    ----------
    resolved : Resolved
        The scenario that was run.
    overview : DataFrame
        The overview trace.
    queues : sequence of str
        The links whose queues are drawn, in the order of their colours: their marks have the same ones.

    Returns
    -------
    tuple of Events
        At most seven: of more, those of the links with the fewest marks are together.
    """
    found: dict[tuple[str, str], list[Times]] = {}
    for name, cause, times in _causes(resolved, overview):
        found.setdefault((described_name(name), cause), []).append(times)
    joined = {key: np.sort(np.concatenate(parts)) for key, parts in found.items()}
    most = dict(sorted(joined.items(), key=lambda one: -len(one[1]))[:MOST_LINES])
    links = [described_name(name) for name in queues]
    links += [link for link in dict.fromkeys(link for link, _ in joined) if link not in links]
    events = [
        Events(f"{link}: {cause}", times, links.index(link) % MOST_LINES)
        for (link, cause), times in joined.items()
        if (link, cause) in most
    ]
    others = [times for key, times in joined.items() if key not in most]
    return (*events, *([Events(ELSEWHERE, np.sort(np.concatenate(others)))] if others else []))


def _causes(resolved: Resolved, overview: pd.DataFrame) -> Iterator[tuple[str, str, Times]]:
    """Give each link and what befell packets there, with the times."""
    queues = by_name(of_kind(overview, "queue"))
    for kind in (DROP, DROP_OR_LOSS, LOSS):
        for name, rows in by_name(of_kind(overview, kind)).items():
            times = rows["time_s"].to_numpy(dtype=float)
            bucket = resolved.elements_by_name[name].token_bucket
            if kind == DROP_OR_LOSS:
                is_full = _could_drop(resolved, name, queues.get(name), times)
                both = DROP if _drops_when_full(resolved, name) else DROP_OR_LOSS
                parts = {both: times[is_full], LOSS: times[~is_full]}
            elif kind == DROP and bucket is not None and bucket.kind == "policer":
                parts = {POLICED: times}
            else:
                parts = {kind: times}
            yield from ((name, cause, own) for cause, own in parts.items() if len(own))


def _drops_when_full(resolved: Resolved, name: str) -> bool:
    """Return whether a link drops packets only while its queue has a known number of them."""
    link = resolved.elements_by_name[name]
    is_plain = link.queue.is_fifo and not link.queue.drops_early and link.token_bucket is None
    return is_plain and isinstance(link.buffer, PacketBuffer)


def _could_drop(resolved: Resolved, name: str, queue: pd.DataFrame | None, times: Times) -> NDArray[np.bool_]:
    """Return at which times a buffer may have been full: in the same interval of the overview, or the one before it."""
    buffer = resolved.elements_by_name[name].buffer
    if not _drops_when_full(resolved, name) or not isinstance(buffer, PacketBuffer) or queue is None:
        return np.ones(len(times), dtype=bool)
    interval = overview_interval_s(resolved)
    peaks = queue["value"].groupby(np.floor(queue["time_s"] / interval)).max()
    place = np.searchsorted(peaks.index.to_numpy(), np.floor(times / interval), side="right")
    values = np.concatenate([[-np.inf, -np.inf], peaks.to_numpy(dtype=float)])
    full: NDArray[np.bool_] = np.maximum(values[place], values[place + 1]) >= buffer.packets
    return full
