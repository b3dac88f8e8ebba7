"""Models of congestion controls other than Reno: CUBIC's window, DCTCP's queue, the share that BBR takes.

>>> print(f"{cubic_window(round_trip_time=0.1, loss_probability=1e-4):.0f}")
187
"""

from collections.abc import Mapping
from typing import Final

from ackclock.models.controls.bbr import bbr_share, bbr_share_beside_full_pipe
from ackclock.models.controls.cubic import cubic_rate, cubic_window
from ackclock.models.controls.dctcp import DctcpQueue, dctcp_least_threshold, dctcp_queue
from ackclock.models.domain import Model, models_of

MODELS: Final[Mapping[str, Model]] = models_of(__name__)
"""The record of each function: source, limits of the arguments, domain."""

__all__ = [
    "MODELS",
    "DctcpQueue",
    "bbr_share",
    "bbr_share_beside_full_pipe",
    "cubic_rate",
    "cubic_window",
    "dctcp_least_threshold",
    "dctcp_queue",
]
