"""Well-known models in addition to those of the five papers: square root, PFTK, short flows, buffers, loss systems.

>>> print(f"{square_root_rate(round_trip_time=0.1, loss_probability=0.01):.1f}")
122.5
"""

from collections.abc import Mapping
from typing import Final

from ackclock.models.classics.latency import (
    ShortFlowLatency,
    handshake_latency,
    lossless_transfer_time,
    short_flow_latency,
)
from ackclock.models.classics.losses import independent_loss_rate, normalised_covariances, stationary_loss_rate
from ackclock.models.classics.queues import (
    Engset,
    ProcessorSharing,
    engset_congestion,
    engset_states,
    many_flows_buffer,
    many_flows_utilisation,
    processor_sharing,
)
from ackclock.models.classics.throughput import (
    pftk_approximate_rate,
    pftk_sack_throughput,
    pftk_sending_rate,
    pftk_throughput,
    square_root_rate,
)
from ackclock.models.domain import Model, models_of

MODELS: Final[Mapping[str, Model]] = models_of(__name__)
"""The record of each function: source, limits of the arguments, domain."""

__all__ = [
    "MODELS",
    "Engset",
    "ProcessorSharing",
    "ShortFlowLatency",
    "engset_congestion",
    "engset_states",
    "handshake_latency",
    "independent_loss_rate",
    "lossless_transfer_time",
    "many_flows_buffer",
    "many_flows_utilisation",
    "normalised_covariances",
    "pftk_approximate_rate",
    "pftk_sack_throughput",
    "pftk_sending_rate",
    "pftk_throughput",
    "processor_sharing",
    "short_flow_latency",
    "square_root_rate",
    "stationary_loss_rate",
]
