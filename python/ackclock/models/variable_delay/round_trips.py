"""The distribution of a round trip, as the models need it: its mean and its Laplace-Stieltjes transform."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from ackclock.errors import Fault, ModelError
from ackclock.models.domain import ArrayLike, FloatArray, checked
from ackclock.models.limits import EVENT_RATE_OR_ZERO, TIME
from ackclock.models.signatures import guarded
from ackclock.models.variable_delay.arguments import measured

_CHUNK = 2**21
_MANY = 20_000
_KNOTS_EVERY = 32
_LEVELS = range(6, 14)
_TOLERANCE = 1e-9

Draw = Callable[[np.random.Generator, tuple[int, ...]], FloatArray]
"""Function that draws round trips [s] of a shape."""


class FrozenDistribution(Protocol):
    """The methods of a frozen distribution of scipy.stats that are used here."""

    def mean(self) -> Any: ...  # noqa: D102
    def cdf(self, x: Any) -> Any: ...  # noqa: D102
    def ppf(self, q: Any) -> Any: ...  # noqa: D102
    def isf(self, q: Any) -> Any: ...  # noqa: D102
    def rvs(self, size: Any = ..., random_state: Any = ...) -> Any: ...  # noqa: D102


@dataclass(frozen=True, slots=True, eq=False)
class RoundTrips:
    """A distribution of round trips R; make one by `constant`, `from_distribution`, `from_samples`, `from_transform`.

    Parameters
    ----------
    mean : float
        E[R] [s], > 0 and finite.
    complement : callable
        Maps an array of s [1/s], >= 0, to ``1 - E[exp(-s R)]``. Kept instead of the transform, which is near 1 where
        losses are rare.
    draw : callable, optional
        Draws round trips [s]; only the simulation needs it.
    atoms : tuple of array, optional
        Values of R [s] and their probabilities [1], or the nodes and weights that integrate over R; only
        `factor_probability` needs them.

    Examples
    --------
    >>> from scipy import stats
    >>> exponential = RoundTrips.from_distribution(stats.expon(scale=0.5))
    >>> print(f"{exponential.mean:g} s, {exponential.transform(2.0):.9f}")
    0.5 s, 0.500000000
    """

    mean: float
    complement: Callable[[FloatArray], FloatArray]
    draw: Draw | None = None
    atoms: tuple[FloatArray, FloatArray] | None = None

    def transform(self, argument: ArrayLike) -> FloatArray:
        """Compute the Laplace-Stieltjes transform ``E[exp(-s R)]`` for s [1/s], >= 0."""
        (s,) = checked(argument=(argument, EVENT_RATE_OR_ZERO))
        return np.asarray(1.0 - self.complement(s))[()]

    @classmethod
    @guarded
    def constant(cls, round_trip: float) -> "RoundTrips":
        """Make the distribution of a constant round trip.

        Parameters
        ----------
        round_trip : float
            [s], > 0.
        """
        (value,) = checked(round_trip=(round_trip, TIME))
        r = float(value)
        atoms = np.array([r]), np.ones(1)
        return cls(r, lambda s: np.asarray(-np.expm1(-s * r)), lambda _, shape: np.full(shape, r), atoms)

    @classmethod
    def from_samples(cls, round_trips: ArrayLike) -> "RoundTrips":
        """Make the empirical distribution of measured round trips.

        Parameters
        ----------
        round_trips : array_like
            One axis [s], > 0, one sample a round (they tile the time axis: see `traces`).
        """
        samples = measured("round_trips", round_trips)
        values, counts = np.unique(samples, return_counts=True)
        weights = counts / samples.size
        return cls(
            float(samples.mean()),
            _mixture(values, weights),
            lambda generator, shape: generator.choice(samples, shape),
            (values, weights),
        )

    @classmethod
    def from_distribution(cls, distribution: FrozenDistribution) -> "RoundTrips":
        """Make the distribution from a frozen distribution of scipy.stats, continuous or discrete.

        Parameters
        ----------
        distribution : frozen distribution
            Of R [s]; no mass at 0 or below, a finite mean.

        Notes
        -----
        The transform is integrated over the quantiles (tanh-sinh, so tails may be long), to about 1e-9.
        """
        mean = _mean(distribution)
        if float(distribution.cdf(0.0)) > 0.0:
            mass = f"P(R <= 0) = {float(distribution.cdf(0.0)):g}"
            raise ModelError(Fault("distribution", "has round trips that are not positive", mass, str(TIME)))
        values, weights = _atoms(distribution) if hasattr(distribution, "pmf") else _quadrature(distribution, mean)

        def draw(generator: np.random.Generator, shape: tuple[int, ...]) -> FloatArray:
            return np.asarray(distribution.rvs(size=shape, random_state=generator), dtype=np.float64)

        return cls(mean, _mixture(values, weights), draw, (values, weights))

    @classmethod
    @guarded
    def from_transform(cls, transform: Callable[[FloatArray], ArrayLike], mean: float) -> "RoundTrips":
        """Make the distribution from its Laplace-Stieltjes transform.

        Parameters
        ----------
        transform : callable
            Maps an array of s [1/s] to E[exp(-s R)], vectorised; 1 at 0, and from exp(-s E[R]) to 1.
        mean : float
            E[R] [s], > 0.

        Notes
        -----
        Where losses are rare, ``1 - E[exp(-s R)]`` is known to 1e-16 only: s E[R] = 1e-6 leaves ten digits.
        """
        (checked_mean,) = checked(mean=(mean, TIME))
        average = float(checked_mean)
        _check_transform(transform, average)
        return cls(average, lambda s: np.asarray(1.0 - np.asarray(transform(s), dtype=np.float64)))


def _check_transform(transform: Callable[[FloatArray], ArrayLike], mean: float) -> None:
    """Check the properties of every transform of that mean; Jensen: exp(-s E[R]) <= E[exp(-s R)] <= 1."""
    if not callable(transform):
        raise ModelError(Fault("transform", "is not a function", type(transform).__name__, "a function of s [1/s]"))
    s = np.array([0.0, 1e-4, 1e-2, 1.0]) / mean
    values = np.asarray(transform(s), dtype=np.float64)
    if values.shape != s.shape:
        raise ModelError(Fault("transform", "does not broadcast", f"shape {values.shape} for {s.shape}", "the same"))
    low = np.exp(-s * mean) * (1.0 - 1e-9)
    wrong = ~((values >= low) & (values <= 1.0 + 1e-12)) | ((s == 0.0) & (np.abs(values - 1.0) > 1e-9))
    if wrong.any():
        place = int(np.flatnonzero(wrong)[0])
        given = f"{values[place]:g} at s = {s[place]:g}"
        allowed = "from exp(-s mean) to 1, and 1 at s = 0"
        raise ModelError(Fault("transform", "is not a transform of that mean", given, allowed))


def _mean(distribution: FrozenDistribution) -> float:
    missing = [name for name in ("mean", "cdf", "ppf", "isf", "rvs") if not hasattr(distribution, name)]
    if missing:
        given, allowed = type(distribution).__name__, "such as scipy.stats.gamma(2, scale=0.1)"
        raise ModelError(Fault("distribution", "is not a frozen distribution of scipy.stats", given, allowed))
    mean = float(distribution.mean())
    if not TIME.contain(mean):
        raise ModelError(Fault("distribution", "has a mean that is out of range", f"{mean:g}", str(TIME)))
    return mean


def _mixture(values: FloatArray, weights: FloatArray) -> Callable[[FloatArray], FloatArray]:
    """Make ``s -> sum_k weight_k (1 - exp(-s value_k))``."""

    def direct(s: FloatArray) -> FloatArray:
        step = max(_CHUNK // values.size, 1)
        pieces = [-np.expm1(-np.outer(s[i : i + step], values)) @ weights for i in range(0, s.size, step)]
        return np.concatenate(pieces or [s])

    def complement(s: FloatArray) -> FloatArray:
        flat = np.ravel(s)
        positive = flat[flat > 0.0]
        if positive.size < _MANY or values.size < _KNOTS_EVERY:
            return direct(flat).reshape(np.shape(s))
        found = np.zeros(flat.shape)
        found[flat > 0.0] = _interpolated(direct, positive)
        return found.reshape(np.shape(s))

    return complement


def _interpolated(function: Callable[[FloatArray], FloatArray], s: FloatArray) -> FloatArray:
    """Compute a complement at very many s from some, to about 1e-11 of its value.

    Its logarithm is analytic in log s within a strip of half width pi/2, so splines of degree 5 come close.
    """
    from scipy.interpolate import make_interp_spline  # noqa: PLC0415  a quarter of a second that others need not pay

    x = np.log(s)
    low, high = float(x.min()), float(x.max())
    knots = np.linspace(low, high, max(int((high - low) * _KNOTS_EVERY), 16))
    if knots.size * 4 > s.size:
        return function(s)
    spline = make_interp_spline(knots, np.log(function(np.exp(knots))), k=5)
    return np.asarray(np.exp(spline(x)))


def _atoms(distribution: Any) -> tuple[FloatArray, FloatArray]:
    low, high = distribution.ppf([1e-16, 1.0 - 1e-13])
    values = np.arange(low, min(high, low + _CHUNK) + 1.0)
    weights = np.asarray(distribution.pmf(values), dtype=np.float64)
    if abs(weights.sum() - 1.0) > _TOLERANCE:
        raise ModelError(Fault("distribution", "has too many values", None, None, "draw samples: from_samples"))
    return values, weights


def _quadrature(distribution: FrozenDistribution, mean: float) -> tuple[FloatArray, FloatArray]:
    """Choose enough nodes: twice as many change the transform at 1 / E[R] and 10 / E[R] by less than 1e-9."""
    s = np.array([1.0, 10.0]) / mean
    last = np.full(2, np.inf)
    for level in _LEVELS:
        values, weights = _tanh_sinh(distribution, 2**level)
        found = -np.expm1(-np.outer(s, values)) @ weights
        if np.all(np.abs(found - last) < _TOLERANCE):
            return values, weights
        last = found
    hint = "its quantiles have kinks or steps: give samples (from_samples) or its transform (from_transform)"
    raise ModelError(Fault("distribution", "cannot be integrated", None, None, hint))


def _tanh_sinh(distribution: FrozenDistribution, nodes: int) -> tuple[FloatArray, FloatArray]:
    """Integrate over u in (0, 1) with u = 1 / (1 + exp(-pi sinh t)); the upper half by its distance to 1."""
    t = np.linspace(-5.0, 5.0, nodes + 1)
    tail = 1.0 / (1.0 + np.exp(np.pi * np.sinh(np.abs(t))))
    weights = np.pi * np.cosh(t) * tail * (1.0 - tail)
    # Far out, where the weights are nothing, quantiles may overflow.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        values = np.where(t < 0.0, distribution.ppf(tail), distribution.isf(tail)).astype(np.float64)
    known = np.isfinite(values)
    if weights[~known].sum() > _TOLERANCE * weights.sum():
        raise ModelError(Fault("distribution", "has quantiles that are not finite", None, "finite [s]"))
    return values[known], weights[known] / weights[known].sum()
