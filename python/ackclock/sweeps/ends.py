"""The ends of the intervals of a sweep's data, also of what xarray has made of them since."""

import json
from typing import TYPE_CHECKING, Final

import numpy as np

from ackclock.quantities import bucket_error
from ackclock.stats import estimates

if TYPE_CHECKING:
    import xarray as xr

REPLICATION: Final = "replication"
_NAMES: Final = ("low", "high")
DEFAULT_CONFIDENCE: Final = 0.95
"""Confidence of intervals of data that do not say which their runs had, as sums and differences of sweeps."""
POOLED: Final = "pooled"
"""Ending of the name of a variable that is over all replications together."""
ROUNDING: Final = 1e-9
"""Relative half-width of an interval below which it is the rounding of sums."""


def mean_and_ends(
    data: "xr.Dataset", name: str, confidence: float | None
) -> "tuple[xr.DataArray, xr.DataArray, xr.DataArray]":
    """Compute a variable over the replications, and the ends of its interval at each point, nan if none is known.

    Parameters
    ----------
    data : xarray.Dataset
        Data of a sweep, or what xarray made of them.
    name : str
        The variable.
    confidence : float or None
        Of Student's t over the replications; None for the runs' own, and for intervals by batch means where a point has
        one replication.

    Returns
    -------
    tuple of xarray.DataArray
        The mean, low and high. A percentile or an extreme of transfers or pings is over those of all replications
        together, with the runs' own interval, unless a confidence is given or some of the replications were chosen.
    """
    variable, pooled = data[name], f"{name}_{POOLED}"
    mean = variable.mean(REPLICATION)
    if confidence is None and pooled in data and _is_whole(data, name):
        together = data[pooled]
        if together.attrs.get("replications") == variable.sizes[REPLICATION] and set(together.dims) == set(mean.dims):
            unknown = together * np.nan
            low, high = (data.get(f"{name}_{end}", unknown) for end in _NAMES)
            return together, low, high
    return mean, *_ends(data, name, mean, confidence)


def _ends(
    data: "xr.Dataset", name: str, mean: "xr.DataArray", confidence: float | None
) -> "tuple[xr.DataArray, xr.DataArray]":
    """Compute the ends of the interval of a mean over replications.

    Those that are stored are taken of points with one replication alone, and only if they are about the value that is
    there: after a sum over flows, or of one of several replications, they are not.
    """
    found = _student(data[name], mean, float(data.attrs.get("confidence", DEFAULT_CONFIDENCE)), confidence)
    stored = [f"{name}_{end}" for end in _NAMES]
    if confidence is not None or not all(end in data for end in stored) or not _is_whole(data, name):
        return found
    low, high = (data[end] for end in stored)
    if set(low.dims) != set(mean.dims):
        return found
    middle_is_off = abs((low + high) / 2.0 - mean) > ROUNDING * (abs(mean) + (high - low))
    others = (data[name].notnull().sum(REPLICATION) != 1) | middle_is_off | (low > high)
    return found[0].where(others, low), found[1].where(others, high)


def _student(
    variable: "xr.DataArray", mean: "xr.DataArray", of_runs: float, confidence: float | None
) -> "tuple[xr.DataArray, xr.DataArray]":
    """Compute Student's t intervals over the replications of each point, of percentiles wider by a bucket's error."""
    stacked = variable.transpose(REPLICATION, *mean.dims)
    columns = np.asarray(stacked.values, dtype=float).reshape(stacked.sizes[REPLICATION], -1)
    error = bucket_error(str(variable.name))
    found = estimates(columns, of_runs if confidence is None else confidence, error=error)
    low, high = ([np.nan if one[end] is None else one[end] for one in found] for end in _NAMES)
    return _like(mean, low), _like(mean, high)


def _like(mean: "xr.DataArray", values: list[float | None]) -> "xr.DataArray":
    return mean.copy(data=np.array(values, dtype=float).reshape(mean.shape))


def _is_whole(data: "xr.Dataset", name: str) -> bool:
    """Return whether each number is of one point and one element: no axis, flow or link was added up or left out."""
    varied = json.loads(data.attrs.get("varied", "null"))
    if varied is None:
        return False
    needed = {*varied, *({name.partition("_")[0]} - {"packets"})}
    return needed <= {*map(str, data[name].coords), *map(str, data[name].dims)}
