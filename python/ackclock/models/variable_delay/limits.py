"""What the arguments of the variable-delay models may be, and where the models can be trusted."""

from collections.abc import Mapping
from math import inf
from typing import Any, Final, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import FloatArray, Limits

Reaction = Literal["per-round", "per-loss"]
"""How a round with losses shrinks the window: by gamma once (A1.i: NewReno, SACK) or for each loss (A1.ii: Reno)."""

LOSS_RATE: Final = Limits(0.0, unit="1/s")
LOSS_RATE_OR_NONE: Final = Limits(0.0, low_included=True, unit="1/s")
DECREASE: Final = Limits(0.0, 1.0, low_included=True)
INCREASE: Final = Limits(0.0, unit="pkt")
PROBABILITY: Final = Limits(0.0, 1.0, high_included=True)
TIME: Final = Limits(0.0, unit="s")

DOMAIN: Final[Mapping[str, Limits]] = {
    "window": Limits(
        8.0,
        inf,
        low_included=True,
        unit="pkt",
        reason="halved, fewer than 4 packets are left: losses end in timeouts, which are left out",
    ),
    "share_of_receiver_window": Limits(
        0.0,
        0.5,
        low_included=True,
        high_included=True,
        reason="the receiver's window is left out, and peaks reach twice the mean",
    ),
}
"""Where the models can be trusted, by quantity; `domain_warnings` tells what lies outside."""


def domain_warnings(window: ArrayLike, receiver_window: ArrayLike = inf) -> tuple[str, ...]:
    """Say why a mean window should not be trusted: timeouts and the receiver's window are left out.

    Parameters
    ----------
    window : array_like
        E[W] or E[W(t)] [pkt], of any model here.
    receiver_window : array_like, optional
        The receiver's window [pkt], > 0.

    Returns
    -------
    tuple of str
        Empty where nothing is to be said.

    Examples
    --------
    >>> domain_warnings(40.0, receiver_window=64.0)[0]
    "window / receiver_window: is outside the domain; given 0.625; allowed >= 0 and <= 0.5; the receiver's window is \
left out, and peaks reach twice the mean"
    """
    share = np.asarray(window, dtype=np.float64) / np.asarray(receiver_window, dtype=np.float64)
    found = (
        DOMAIN["window"].warning("window", window),
        DOMAIN["share_of_receiver_window"].warning("window / receiver_window", share),
    )
    return tuple(warning for warning in found if warning is not None)


def one_of(name: str, given: str, literal: Any) -> None:
    """Refuse a word that a Literal does not hold.

    Examples
    --------
    >>> one_of("reaction", "per-packet", Reaction)
    Traceback (most recent call last):
    ackclock.errors.ModelError: reaction: is unknown; given 'per-packet'; allowed 'per-round', 'per-loss'
    """
    allowed = get_args(literal)
    if given not in allowed:
        raise ModelError(Fault(name, "is unknown", repr(given), ", ".join(map(repr, allowed))))


def measured(name: str, round_trips: ArrayLike) -> FloatArray:
    """Check measured round trips [s]: one axis, at least one, each > 0 and finite.

    Examples
    --------
    >>> measured("round_trips", [0.1, 0.0])
    Traceback (most recent call last):
    ackclock.errors.ModelError: round_trips: is out of range; given 0; allowed > 0 and finite [s]; index 1
    """
    try:
        values = np.asarray(round_trips, dtype=np.float64)
    except (TypeError, ValueError):
        raise ModelError(Fault(name, "are no numbers", type(round_trips).__name__, str(TIME))) from None
    if values.ndim != 1 or not values.size:
        problem = "is empty" if not values.size else "is no sequence"
        raise ModelError(Fault(name, problem, f"shape {values.shape}", "one axis, one sample a round"))
    wrong = np.flatnonzero(~TIME.contain(values))
    if wrong.size:
        given, where = f"{values[wrong[0]]:g}", f"index {wrong[0]}"
        raise ModelError(Fault(name, "is out of range", given, str(TIME), where))
    return values
