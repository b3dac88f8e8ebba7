"""Windows under marks and drops that are drawn packet by packet.

The laws of [pi2] and RFC 9332, 2 marks a round trip and 1.22 / sqrt(p) packets, have a scalable flow reduce in each
round trip, and a Classic one after each 1 / p packets. An AQM draws; what windows have then is derived here.
"""

from typing import Final, Literal

import numpy as np
from typing_extensions import TypeAliasType

from ackclock.models.domain import ArrayLike, FloatArray, Limits, model, model_of, plain
from ackclock.models.limits import FACTOR, OPEN_FRACTION, PROBABILITY

Spacing = TypeAliasType("Spacing", Literal["drawn", "even"])
"""Distances of marks: packets that are drawn independently, or the same number of packets each time."""

_FACTORS: Final = 400
"""Factors of the product; those after them change it by less than 10^-5 up to a remainder of 0.98."""
_CONVERGES: Final = Limits(0.0, 0.98, high_included=True, reason="the product of the moment is not summed to its end")
_RARE: Final = Limits(0.0, 0.1, high_included=True, reason="the window is a few dozen packets at most, not a fluid")


@model(
    domain={"mark_probability": _RARE},
    assumes="a long average of the fraction of marks; the reductions alone limit the window",
    mark_probability=PROBABILITY,
)
def scalable_marks(mark_probability: ArrayLike, spacing: Spacing = "drawn") -> FloatArray:
    """Compute the marks a round trip, W p, at which a window of DCTCP or Prague stays [dctcp], [rfc9332, section 2.1].

    Parameters
    ----------
    mark_probability : array_like
        Fraction of packets that are marked, p [1], in [0, 1].
    spacing : str
        ``"drawn"``: each packet by a draw of its own, as Linux's queues do; ``"even"``: every 1 / p packets, as RFC
        9332's pseudocode does.

    Returns
    -------
    array
        Marks a round trip, m [1].

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    A window grows by a = 1 - p packets a round trip and is reduced by p W / 2 = m / 2 at a mark, but once in a round
    trip at most. Drawn marks: after the round trip of a reduction the next one is 1 / m round trips away, so a (1 + 1 /
    m) = m / 2, and m = a + sqrt(a^2 + 2 a), 2.73 at small p. Even marks: each third one reduces, since the second after
    a reduction still falls into its round trip, so 3 a / m = m / 2, and m = sqrt(6 a), 2.45. The law of [rfc9332] has
    2, without the wait for a mark.

    Examples
    --------
    >>> print(f"{scalable_marks(0.001):.2f} {scalable_marks(0.001, 'even'):.2f}")
    2.73 2.45
    """
    (p,) = model_of(scalable_marks).take(mark_probability=mark_probability)
    a = 1.0 - p
    return plain(a + np.sqrt(a**2 + 2.0 * a) if spacing == "drawn" else np.sqrt(6.0 * a))


@model(
    domain={"remainder": _CONVERGES},
    assumes="drops or marks are drawn packet by packet, with a small probability; nothing but they limit the window",
    increase=FACTOR,
    remainder=OPEN_FRACTION,
)
def drawn_window_constant(increase: ArrayLike = 1.0, remainder: ArrayLike = 0.5) -> FloatArray:
    """Compute W sqrt(p) of a Classic flow whose packets are dropped or marked by independent draws [pi2].

    Parameters
    ----------
    increase, remainder : array_like
        Packets by which the window grows a round trip, and the fraction that a loss leaves [1].

    Returns
    -------
    array
        Mean window times the root of the probability [1]: 1.31 for Reno, where drops after equal numbers of packets
        give 1.22.

    Raises
    ------
    ModelError
        If an argument is outside its range.

    Notes
    -----
    Between two drops, X = W^2 / (2 increase) grows by 1 with each packet, and a drop leaves q = remainder^2 of it. So X
    is a sum of exponential numbers of packets times q^k, whose moment of -1/2 is sqrt(pi p) times the product of
    (1 - q^(n - 1/2)) / (1 - q^n) over n = 1, 2, ... (Ramanujan's integral). A packet takes 1 / W round trips, so the
    mean window is the inverse of the mean of 1 / W over packets.

    Examples
    --------
    >>> print(f"{drawn_window_constant():.3f} {drawn_window_constant(1.0, 0.7):.3f}")
    1.310 1.751
    """
    add, beta = model_of(drawn_window_constant).take(increase=increase, remainder=remainder)
    q = beta**2
    product = np.asarray(1.0 + 0.0 * (add + q))
    for number in range(1, _FACTORS + 1):
        product = product * (1.0 - q ** (number - 0.5)) / (1.0 - q**number)
    return plain(np.sqrt(2.0 * add / np.pi) / product)
