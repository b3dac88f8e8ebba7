"""TCP in both directions over steady channels: Kalampoukas, Varma, Ramakrishnan, UCSC-CRL-96-23, 1997 ("[two-way]").

Node i sends segments to node j, node j to node i; at each node segments and the other's ACKs share one FIFO queue.
While the windows more than fill the round trip, ACKs come bunched and each window leaves as one burst, a busy period.

Quantities of the two connections lie on the last axis, i before j; one number is for both. `delays` are D_ij, of the
segments from i, and D_ji. Windows and queues are in segments, times in seconds, rates in segments/s. With a rate of 1
a delay is the link's length L in segments, as in the paper's symmetric case.

>>> efficiency(windows=4, delays=2).round(4).tolist()               # figure 3.2
[0.6667, 0.6667]
>>> two_way = timeline(windows=4, delays=2, starts=(-2, -3), until=24)
>>> [float(part) for part in two_way.efficiencies], float(two_way.period)
([0.6666666666666666, 0.6666666666666666], 12.0)
"""

from collections.abc import Mapping
from typing import Final

from ackclock.models.domain import Model, models_of
from ackclock.models.two_way.efficiencies import (
    Aggregate,
    acks_compress,
    aggregate,
    busy_period_interval,
    efficiency,
    efficiency_lost,
    equal_window_efficiency,
    one_way_efficiency,
    throughput,
    windows_for_efficiency,
)
from ackclock.models.two_way.exchange import Node, Timeline, Transmission, timeline
from ackclock.models.two_way.queues import busy_period_spacing, maximum_queue, next_queue, queue_iteration

MODELS: Final[Mapping[str, Model]] = models_of(__name__)
"""The record of each function: source, limits of the arguments, domain."""

__all__ = [
    "MODELS",
    "Aggregate",
    "Node",
    "Timeline",
    "Transmission",
    "acks_compress",
    "aggregate",
    "busy_period_interval",
    "busy_period_spacing",
    "efficiency",
    "efficiency_lost",
    "equal_window_efficiency",
    "maximum_queue",
    "next_queue",
    "one_way_efficiency",
    "queue_iteration",
    "throughput",
    "timeline",
    "windows_for_efficiency",
]
