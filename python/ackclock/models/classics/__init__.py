"""Models that users expect beside those of the papers: the square root, PFTK, short flows, buffers, loss systems.

>>> print(f"{square_root_rate(round_trip_time=0.1, loss_probability=0.01):.1f}")
122.5
"""

from collections.abc import Mapping
from typing import Final

from ackclock.models.classics.latency import SHORT_FLOW, ShortFlowLatency, short_flow_latency
from ackclock.models.classics.losses import (
    INDEPENDENT_LOSSES,
    STATIONARY_LOSSES,
    TIMES_BETWEEN_LOSSES,
    independent_loss_rate,
    normalised_covariances,
    stationary_loss_rate,
)
from ackclock.models.classics.model import Model
from ackclock.models.classics.queues import (
    ENGSET,
    MANY_FLOWS_BUFFER,
    MANY_FLOWS_UTILISATION,
    PROCESSOR_SHARING,
    Engset,
    ProcessorSharing,
    engset_congestion,
    engset_states,
    many_flows_buffer,
    many_flows_utilisation,
    processor_sharing,
)
from ackclock.models.classics.throughput import (
    PFTK_APPROXIMATE,
    PFTK_SENDING,
    PFTK_THROUGHPUT,
    SQUARE_ROOT,
    pftk_approximate_rate,
    pftk_sending_rate,
    pftk_throughput,
    square_root_rate,
)

MODELS: Final[Mapping[str, Model]] = {
    model.name: model
    for model in (
        SQUARE_ROOT,
        PFTK_SENDING,
        PFTK_THROUGHPUT,
        PFTK_APPROXIMATE,
        SHORT_FLOW,
        INDEPENDENT_LOSSES,
        STATIONARY_LOSSES,
        TIMES_BETWEEN_LOSSES,
        MANY_FLOWS_BUFFER,
        MANY_FLOWS_UTILISATION,
        PROCESSOR_SHARING,
        ENGSET,
    )
}
"""Source, equation, limits and domain of each, by the name of its function; `engset_states` shares Engset's."""

__all__ = [
    "MODELS",
    "Engset",
    "Model",
    "ProcessorSharing",
    "ShortFlowLatency",
    "engset_congestion",
    "engset_states",
    "independent_loss_rate",
    "many_flows_buffer",
    "many_flows_utilisation",
    "normalised_covariances",
    "pftk_approximate_rate",
    "pftk_sending_rate",
    "pftk_throughput",
    "processor_sharing",
    "short_flow_latency",
    "square_root_rate",
    "stationary_loss_rate",
]
