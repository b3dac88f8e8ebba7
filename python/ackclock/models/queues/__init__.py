"""Models of queues and of what controls them: PI and PIE, CoDel, coupled queues, buffers of one flow, policers.

>>> print(f"{lone_flow_buffer(bottleneck_rate=1000.0, round_trip_time=0.1, remainder=0.7):.1f}")
42.9
"""

from collections.abc import Mapping
from typing import Final

from ackclock.models.domain import Model, models_of
from ackclock.models.queues.buffers import Sawtooth, aimd_sawtooth, cubic_sawtooth, lone_flow_buffer
from ackclock.models.queues.codel import (
    CodelState,
    Growth,
    codel_drop_rate,
    codel_lone_buffer,
    codel_state,
    codel_time_to_count,
)
from ackclock.models.queues.coupling import (
    CoupledProbabilities,
    CoupledRates,
    coupled_probabilities,
    coupled_rates,
    coupling_for_equal_rates,
)
from ackclock.models.queues.marks import Spacing, drawn_window_constant, scalable_marks
from ackclock.models.queues.pi_loop import (
    Controller,
    PiLoop,
    QueueEquilibrium,
    pi_loop,
    pie_scale,
    queue_equilibrium,
)
from ackclock.models.queues.policer import PolicedFlow, policed_aimd, policed_cubic

MODELS: Final[Mapping[str, Model]] = models_of(__name__)
"""The record of each function: source, limits of the arguments, domain."""

__all__ = [
    "MODELS",
    "CodelState",
    "Controller",
    "CoupledProbabilities",
    "CoupledRates",
    "Growth",
    "PiLoop",
    "PolicedFlow",
    "QueueEquilibrium",
    "Sawtooth",
    "Spacing",
    "aimd_sawtooth",
    "codel_drop_rate",
    "codel_lone_buffer",
    "codel_state",
    "codel_time_to_count",
    "coupled_probabilities",
    "coupled_rates",
    "coupling_for_equal_rates",
    "cubic_sawtooth",
    "drawn_window_constant",
    "lone_flow_buffer",
    "pi_loop",
    "pie_scale",
    "policed_aimd",
    "policed_cubic",
    "queue_equilibrium",
    "scalable_marks",
]
