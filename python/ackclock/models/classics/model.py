"""Where a classic model comes from and what it may be asked, as data; limits that several of them share."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import FloatArray, Limits, checked


@dataclass(frozen=True, slots=True)
class Model:
    """A published model.

    Parameters
    ----------
    name : str
        The function that computes it.
    source : str
        The paper.
    equation : str
        The equation, or the result where it has no number.
    arguments : mapping of str to Limits
        What each argument may be; the function raises `ModelError` for other numbers.
    domain : mapping of str to Limits
        Where the numbers should be trusted, for those arguments whose limits are narrower.
    assumes : str
        What no argument tells.
    """

    name: str
    source: str
    equation: str
    arguments: Mapping[str, Limits]
    domain: Mapping[str, Limits]
    assumes: str

    def take(self, **values: ArrayLike) -> list[FloatArray]:
        """Check arguments; return them as arrays that broadcast together, in the order given."""
        return checked(**{name: (value, self.arguments[name]) for name, value in values.items()})

    def warnings(self, **values: ArrayLike) -> tuple[str, ...]:
        """Say for which arguments the model should not be trusted.

        Examples
        --------
        >>> from ackclock.models.classics import MODELS
        >>> MODELS["square_root_rate"].warnings(loss_probability=0.2)[0]
        'loss_probability: is outside the domain; given 0.2; allowed > 0 and <= 0.01; timeouts are left out'
        """
        found = (limits.warning(name, values[name]) for name, limits in self.domain.items() if name in values)
        return tuple(warning for warning in found if warning is not None)


ROUND_TRIP: Final = Limits(0.0, unit="s")
LOSS: Final = Limits(0.0, 1.0, high_included=True)
LOSS_OR_NONE: Final = Limits(0.0, 1.0, low_included=True)
PACKETS_PER_ACK: Final = Limits(1.0, low_included=True, unit="pkt")
TIMEOUT: Final = Limits(0.0, low_included=True, unit="s")
WINDOW: Final = Limits(1.0, low_included=True, unit="pkt")
DECREASE: Final = Limits(0.0, 1.0, low_included=True)


def whole(name: str, values: FloatArray, limits: Limits) -> FloatArray:
    """Refuse fractions.

    Examples
    --------
    >>> import numpy as np
    >>> whole("sources", np.array(2.5), Limits(1.0, low_included=True))
    Traceback (most recent call last):
    ackclock.errors.ModelError: sources: is no whole number; given 2.5; allowed whole, >= 1 and finite
    """
    fractions = values[values != np.floor(values)]
    if fractions.size:
        raise ModelError(Fault(name, "is no whole number", f"{fractions.flat[0]:g}", f"whole, {limits}"))
    return values


def plain(values: ArrayLike) -> FloatArray:
    """Turn a zero-dimensional array into a NumPy scalar, leave others."""
    result: FloatArray = np.asarray(values, dtype=np.float64)[()]
    return result
