"""Laws of file sizes: exponential, exponential body with a Pareto or an exponential tail [engset, section 3.2]."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import expm1, inf, isfinite, log
from typing import Final

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, IntArray, Limits, checked, model, model_of
from ackclock.models.limits import OPEN_FRACTION, PROBABILITY, SIZE, WHOLE_PACKETS
from ackclock.models.signatures import guarded

SMALLEST_FILE: Final = 3.0
"""Minimum, A [pkt]."""
TAIL_SHARE: Final = 0.1
"""Fraction of the files in the tail, H [1]."""
PARETO_SHAPE: Final = 1.5
"""Shape of the Pareto tail, alpha [1]."""
_LONGEST_SUM: Final = 1e7
_NUMBER: Final = Limits(0.0, 1e8, low_included=True, high_included=True, whole=True, reason="sizes drawn at once")
_SIZE: Final = Limits(high_included=True, unit="pkt")
_FINITE_SIZE: Final = Limits(unit="pkt")
_SHAPE: Final = Limits(1.0, reason="the mean is infinite otherwise")


class FileSizes(ABC):
    """A law of file sizes: continuous, above a minimum A, of which a file has the nearest whole number.

    A file has ``A + round(X - A)`` packets, X drawn from the continuous law; rounding to the nearest gives table 1.
    """

    minimum: float
    scale: float
    tail_share: float

    @abstractmethod
    def survival(self, size: ArrayLike) -> FloatArray:
        """Compute G(x) = P(X > x) of the continuous law."""

    @abstractmethod
    def mean_excess(self, size: ArrayLike) -> FloatArray:
        """Compute the integral of G from x >= A to infinity [pkt] (E[X - x, X > x])."""

    @abstractmethod
    def quantile(self, survival: ArrayLike) -> FloatArray:
        """Compute the size [pkt] that is exceeded with a given probability."""

    @abstractmethod
    def _tail_sum(self, first: float) -> float:
        """Sum P(size >= i) of the whole-number sizes over i >= first, where i - 1/2 >= k_H."""

    @property
    def mean(self) -> float:
        """The mean of the continuous law, F [pkt]."""
        return self.minimum + float(self.mean_excess(self.minimum))

    @property
    def whole_mean(self) -> float:
        """The mean of the whole-number sizes [pkt]; it differs from `mean` by less than a tenth from F = 5 on."""
        return self.mean_size(self.minimum, inf)

    @property
    def tail_start(self) -> float:
        """The size that the share H of files exceeds, k_H [pkt]."""
        return self.minimum - self.scale * log(self.tail_share)

    # The text prints F_H = k_H + integral of G and lost the division by H; with it its 33, 52, 89 packets come out.
    @property
    def tail_mean(self) -> float:
        """The mean size of the files above k_H, F_H [pkt]."""
        return self.tail_start + float(self.mean_excess(self.tail_start)) / self.tail_share

    @guarded
    def sample(self, generator: np.random.Generator, number: int) -> IntArray:
        """Draw whole-number file sizes [pkt].

        Parameters
        ----------
        generator : numpy.random.Generator
            The source of randomness; one number of it for each size.
        number : int
            How many, from 0 to 1e8.

        Returns
        -------
        array of int
        """
        (count,) = checked(number=(number, _NUMBER))
        continuous = self.quantile(1.0 - generator.random(int(count)))
        return np.asarray(self.minimum + np.rint(continuous - self.minimum)).astype(np.int64)

    def proportion(self, low: ArrayLike, high: ArrayLike, *, rounded: bool = True) -> FloatArray:
        """Compute the proportion of files whose size is from `low` to `high` [engset, table 1].

        Parameters
        ----------
        low, high : array_like
            Ends of the interval [pkt]; both belong to it. `high` may be infinite.
        rounded : bool, optional
            Of whole-number sizes (as in table 1) or of the continuous law.

        Returns
        -------
        array of float
            Share [1].
        """
        first, last = _interval(low, high, rounded=rounded)
        if rounded:
            return np.asarray(self._at_least(first) - self._at_least(last + 1.0))[()]
        return np.asarray(self.survival(first) - self.survival(last))[()]

    @guarded
    def mean_size(self, low: float, high: float, *, rounded: bool = True) -> float:
        """Compute the mean size of the files from `low` to `high` [engset, table 1].

        Parameters
        ----------
        low, high : float
            Ends of the interval [pkt]; both belong to it. `high` may be infinite.
        rounded : bool, optional
            Of whole-number sizes (as in table 1) or of the continuous law.

        Returns
        -------
        float
            Mean [pkt]; nan where no file has such a size.
        """
        ends = _interval(low, high, rounded=rounded)
        first, last = max(float(ends[0]), self.minimum), float(ends[1])
        share = float(self.proportion(first, last, rounded=rounded)) if last >= first else 0.0
        if share <= 0.0:
            return float("nan")
        if rounded:
            return first + self._excess_sum(first, last) / share
        left = float(self.mean_excess(first))
        right = float(self.mean_excess(last) + (last - first) * self.survival(last)) if isfinite(last) else 0.0
        return first + (left - right) / share

    def _at_least(self, size: FloatArray) -> FloatArray:
        """Compute P(whole-number size >= i)."""
        return np.where(size <= self.minimum, 1.0, self.survival(size - 0.5))

    def _excess_sum(self, first: float, last: float) -> float:
        """Compute E[size - first; first <= size <= last], the sum of P(i <= size <= last) over i > first."""
        if isfinite(last):
            checked(high=(last, Limits(high=first + _LONGEST_SUM, unit="pkt", reason="sizes are added one by one")))
            above = self._at_least(np.arange(first + 1.0, last + 1.0))
            return float((above - self._at_least(np.asarray(last + 1.0))).sum())
        body_end = max(np.ceil(self.tail_start + 0.5), first + 1.0)
        return float(self._at_least(np.arange(first + 1.0, body_end)).sum()) + self._tail_sum(body_end)

    def _body_survival(self, x: FloatArray) -> FloatArray:
        return np.exp(-np.maximum(x - self.minimum, 0.0) / self.scale)


def _interval(low: ArrayLike, high: ArrayLike, *, rounded: bool) -> tuple[FloatArray, FloatArray]:
    first, last = checked(low=(low, _FINITE_SIZE), high=(high, _SIZE))
    if (last < first).any():
        raise ModelError(Fault("high", "lies below low", str(last), f">= {first}"))
    for name, ends in (("low", first), ("high", last)):
        if rounded and (ends[np.isfinite(ends)] % 1.0).any():
            raise ModelError(Fault(name, "is not a whole number", str(ends), "whole sizes", "or rounded=False"))
    return first, last


def _check(law: FileSizes) -> None:
    given = {name: getattr(law, name) for name in model_of(type(law)).arguments}
    for name, number in zip(given, model_of(type(law)).take(**given), strict=True):
        if number.ndim:
            raise ModelError(Fault(name, "is not a single number", "an array", "a number", "a law for each"))


def _check_mean(mean: float, minimum: float) -> None:
    checked(minimum=(minimum, WHOLE_PACKETS))
    checked(mean=(mean, Limits(minimum, unit="pkt", reason="every file has more than the minimum on average")))


@model(scale=SIZE, minimum=WHOLE_PACKETS, tail_share=OPEN_FRACTION)
@dataclass(frozen=True, slots=True)
class Exponential(FileSizes):
    """E: exponential above the minimum [engset, section 3.2].

    Parameters
    ----------
    scale : float
        B [pkt], > 0.
    minimum : float, optional
        A [pkt], whole.
    tail_share : float, optional
        H [1]: which files count as large in `tail_start` and `tail_mean`; plays no other role.

    Examples
    --------
    Table 1, F = 12: 32.2, 39.9, 23.2% measured.

    >>> law = Exponential.of_mean(12)
    >>> (100 * law.proportion([3, 7, 15], [6, 14, 30])).round(1).tolist(), round(law.tail_mean)
    ([32.2, 39.9, 23.2], 33)
    """

    scale: float
    minimum: float = SMALLEST_FILE
    tail_share: float = TAIL_SHARE

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    @guarded
    def of_mean(cls, mean: float, minimum: float = SMALLEST_FILE) -> "Exponential":
        """Build the law with the mean F: ``B = F - A``."""
        _check_mean(mean, minimum)
        return cls(mean - minimum, minimum)

    def survival(self, size: ArrayLike) -> FloatArray:
        """Compute G(x) = P(X > x) of the continuous law."""
        (x,) = checked(size=(size, _SIZE))
        return np.asarray(self._body_survival(x))[()]

    def mean_excess(self, size: ArrayLike) -> FloatArray:
        """Compute the integral of G from x >= A to infinity [pkt] (E[X - x, X > x])."""
        return np.asarray(self.scale * self.survival(size))[()]

    def quantile(self, survival: ArrayLike) -> FloatArray:
        """Compute the size [pkt] that is exceeded with a given probability."""
        (g,) = checked(survival=(survival, PROBABILITY))
        with np.errstate(divide="ignore"):
            return np.asarray(self.minimum - self.scale * np.log(g))[()]

    def _tail_sum(self, first: float) -> float:
        return float(self.survival(first - 0.5)) / -expm1(-1.0 / self.scale)


@model(scale=SIZE, minimum=WHOLE_PACKETS, tail_share=OPEN_FRACTION, shape=_SHAPE)
@dataclass(frozen=True, slots=True)
class ExponentialPareto(FileSizes):
    """EP: exponential body, Pareto tail [engset, section 3.2].

    Parameters
    ----------
    scale : float
        B of the body [pkt], > 0.
    minimum : float, optional
        A [pkt], whole.
    tail_share : float, optional
        H [1], from 0 to 1: share of the files in the tail.
    shape : float, optional
        alpha [1], > 1.

    Examples
    --------
    >>> law = ExponentialPareto.of_mean(12)
    >>> round(law.tail_start, 1), round(law.tail_mean), round(law.mean, 12)
    (17.2, 52, 12.0)
    """

    scale: float
    minimum: float = SMALLEST_FILE
    tail_share: float = TAIL_SHARE
    shape: float = PARETO_SHAPE

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    @guarded
    def of_mean(
        cls,
        mean: float,
        minimum: float = SMALLEST_FILE,
        tail_share: float = TAIL_SHARE,
        shape: float = PARETO_SHAPE,
    ) -> "ExponentialPareto":
        """Build the law with the mean F: ``B = (F - A (1 + H / (alpha - 1))) / (1 - H - H ln(H) / (alpha - 1))``."""
        _check_mean(mean, minimum)
        checked(tail_share=(tail_share, OPEN_FRACTION), shape=(shape, _SHAPE))
        weight = tail_share / (shape - 1.0)
        lowest = Limits(minimum * (1.0 + weight), unit="pkt", reason="the tail alone has this mean")
        checked(mean=(mean, lowest))
        scale = (mean - minimum * (1.0 + weight)) / (1.0 - tail_share - weight * log(tail_share))
        return cls(scale, minimum, tail_share, shape)

    def survival(self, size: ArrayLike) -> FloatArray:
        """Compute G(x) = P(X > x) of the continuous law."""
        (x,) = checked(size=(size, _SIZE))
        k = self.tail_start
        tail = self.tail_share * (k / np.maximum(x, k)) ** self.shape
        return np.asarray(np.where(x < k, self._body_survival(x), tail))[()]

    def mean_excess(self, size: ArrayLike) -> FloatArray:
        """Compute the integral of G from x >= A to infinity [pkt] (E[X - x, X > x])."""
        (x,) = checked(size=(size, _SIZE))
        k = self.tail_start
        body = self.scale * np.maximum(self._body_survival(x) - self.tail_share, 0.0)
        beyond = np.maximum(x, k)
        tail = self.tail_share * k / (self.shape - 1.0) * (k / beyond) ** (self.shape - 1.0)
        return np.asarray(body + tail)[()]

    def quantile(self, survival: ArrayLike) -> FloatArray:
        """Compute the size [pkt] that is exceeded with a given probability."""
        (g,) = checked(survival=(survival, PROBABILITY))
        with np.errstate(divide="ignore"):
            body = self.minimum - self.scale * np.log(g)
            tail = self.tail_start * (self.tail_share / g) ** (1.0 / self.shape)
        return np.asarray(np.where(g > self.tail_share, body, tail))[()]

    def _tail_sum(self, first: float) -> float:
        from scipy.special import zeta  # noqa: PLC0415  a tenth of a second that others need not pay

        return float(self.tail_share * self.tail_start**self.shape * zeta(self.shape, first - 0.5))


@model(scale=SIZE, tail_scale=SIZE, minimum=WHOLE_PACKETS, tail_share=OPEN_FRACTION)
@dataclass(frozen=True, slots=True)
class ExponentialExponential(FileSizes):
    """EE: exponential body, exponential tail [engset, section 3.2].

    Parameters
    ----------
    scale : float
        B of the body [pkt], > 0.
    tail_scale : float
        C of the tail [pkt], > 0.
    minimum : float, optional
        A [pkt], whole.
    tail_share : float, optional
        H [1], from 0 to 1: share of the files in the tail.

    Examples
    --------
    Table 8, F = 12: 90.27% from 3 to 6 packets, 3.4 on average, 2.73% from 63 to 128, 91.1 on average, measured.

    >>> law = ExponentialExponential.of_mean(12)
    >>> (100 * law.proportion([3, 63], [6, 128])).round(2).tolist(), round(law.mean_size(3, 6), 1), round(law.tail_mean)
    ([90.23, 2.73], 3.4, 89)
    """

    scale: float
    tail_scale: float
    minimum: float = SMALLEST_FILE
    tail_share: float = TAIL_SHARE

    def __post_init__(self) -> None:
        _check(self)

    @classmethod
    @guarded
    def of_mean(
        cls,
        mean: float,
        tail_ratio: float | None = None,
        minimum: float = SMALLEST_FILE,
        tail_share: float = TAIL_SHARE,
    ) -> "ExponentialExponential":
        """Build the law with the mean F: ``C = omega F``, ``B = (F - A - C H) / (1 - H)``.

        The paper has omega = 3.9 for F = 5, and 7 from F = 12 on.
        """
        _check_mean(mean, minimum)
        checked(tail_share=(tail_share, OPEN_FRACTION))
        omega = _tail_ratio(mean) if tail_ratio is None else tail_ratio
        highest = (mean - minimum) / (tail_share * mean)
        checked(tail_ratio=(omega, Limits(0.0, highest, reason="no body is left otherwise")))
        tail_scale = omega * mean
        return cls((mean - minimum - tail_scale * tail_share) / (1.0 - tail_share), tail_scale, minimum, tail_share)

    def survival(self, size: ArrayLike) -> FloatArray:
        """Compute G(x) = P(X > x) of the continuous law."""
        (x,) = checked(size=(size, _SIZE))
        tail = self.tail_share * np.exp(-np.maximum(x - self.tail_start, 0.0) / self.tail_scale)
        return np.asarray(np.where(x < self.tail_start, self._body_survival(x), tail))[()]

    def mean_excess(self, size: ArrayLike) -> FloatArray:
        """Compute the integral of G from x >= A to infinity [pkt] (E[X - x, X > x])."""
        (x,) = checked(size=(size, _SIZE))
        body = self.scale * np.maximum(self._body_survival(x) - self.tail_share, 0.0)
        tail = self.tail_scale * self.tail_share * np.exp(-np.maximum(x - self.tail_start, 0.0) / self.tail_scale)
        return np.asarray(body + tail)[()]

    def quantile(self, survival: ArrayLike) -> FloatArray:
        """Compute the size [pkt] that is exceeded with a given probability."""
        (g,) = checked(survival=(survival, PROBABILITY))
        with np.errstate(divide="ignore"):
            body = self.minimum - self.scale * np.log(g)
            tail = self.tail_start + self.tail_scale * np.log(self.tail_share / g)
        return np.asarray(np.where(g > self.tail_share, body, tail))[()]

    def _tail_sum(self, first: float) -> float:
        return float(self.survival(first - 0.5)) / -expm1(-1.0 / self.tail_scale)


def _tail_ratio(mean: float) -> float:
    if mean == 5.0:
        return 3.9
    if mean >= 12.0:
        return 7.0
    allowed = "5, or 12 and more"
    raise ModelError(Fault("mean", "has no tail_ratio in the paper", f"{mean:g}", allowed, "give tail_ratio"))
