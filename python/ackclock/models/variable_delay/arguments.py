"""Checks of the arguments of the variable-delay models, and the domain of the models."""

from collections.abc import Mapping
from math import inf
from typing import Any, Final, Literal

import numpy as np
from typing_extensions import TypeAliasType

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, Limits, floats
from ackclock.models.limits import TIME

Reaction = TypeAliasType("Reaction", Literal["per-round", "per-loss"])
"""Reduction of the window in a round with losses: once (A1.i: NewReno, SACK) or for each loss (A1.ii: Reno)."""

WINDOW_DOMAIN: Final[Mapping[str, Limits]] = {
    "window": Limits(
        8.0,
        inf,
        low_included=True,
        unit="pkt",
        reason="halved, fewer than 4 packets are left: losses end in timeouts, which are left out",
    ),
    "window / receiver_window": Limits(
        0.0,
        0.5,
        low_included=True,
        high_included=True,
        reason="the receiver's window is left out, and peaks reach twice the mean",
    ),
}
"""Domain of the models, by the mean window that they compute, E[W] or E[W(t)], and the receiver's window."""
ASSUMES: Final = "congestion avoidance alone: no slow start, no timeouts, no receiver's window"


def window_quantities(window: ArrayLike, receiver_window: ArrayLike = inf) -> dict[str, Any]:
    """Compute the quantities of `WINDOW_DOMAIN` from a mean window [pkt] and the receiver's window [pkt]."""
    share = np.asarray(window, dtype=np.float64) / np.asarray(receiver_window, dtype=np.float64)
    return {"window": window, "window / receiver_window": share}


def measured(name: str, round_trips: ArrayLike) -> FloatArray:
    """Check measured round trips [s]: one axis, at least one, each > 0 and finite.

    Examples
    --------
    >>> measured("round_trips", [0.1, 0.0])
    Traceback (most recent call last):
    ackclock.errors.ModelError: round_trips: is out of range; given 0; allowed > 0 and finite [s]; index 1
    """
    values = floats(name, round_trips, TIME)
    if values.ndim != 1 or not values.size:
        problem = "is empty" if not values.size else "is not a sequence"
        raise ModelError(Fault(name, problem, f"shape {values.shape}", "one axis, one sample a round"))
    wrong = np.flatnonzero(~TIME.contain(values))
    if wrong.size:
        given, where = f"{values[wrong[0]]:g}", f"index {wrong[0]}"
        raise ModelError(Fault(name, "is out of range", given, str(TIME), where))
    return values
