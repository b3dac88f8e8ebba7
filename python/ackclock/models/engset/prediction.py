"""The whole model in one call [engset, section 4.1, table 11], and its domain."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from ackclock.models.domain import ArrayLike, BoolArray, FloatArray, Limits, model, model_of
from ackclock.models.engset.buffers import SMALL_LOSS, exceedance, mean_queue
from ackclock.models.engset.chain import Superposition, superposition
from ackclock.models.engset.flights import Rounds, offered_load, renormalised, transfer
from ackclock.models.engset.path import Path, saturation
from ackclock.models.engset.sizes import SMALLEST_FILE
from ackclock.models.limits import BUFFER_OR_NONE, LISTED_COUNT, TIME, WHOLE_WINDOW

OFF_TIME: Final = 1.0
"""Mean silence, OFF [s]."""
RECEIVER_WINDOW: Final = 44.0
"""Receiver window, W_R [pkt]."""
MINIMUM_TIMEOUT: Final = 1.0
"""Minimum timeout of RFC 6298 [s]."""

FILE: Final = Limits(SMALLEST_FILE, low_included=True, unit="pkt", reason="the smallest file has three packets")

DOMAIN: Final[Mapping[str, Limits]] = {
    "loss": SMALL_LOSS,
    "sources_above_threshold": Limits(
        0.0, reason="with N <= s the link is never shared: (8) has no value, h is h(1) = h_0 and the queue is empty"
    ),
    "saturated_round_trip_time": Limits(
        0.0, MINIMUM_TIMEOUT, high_included=True, unit="s", reason="timeouts without a loss: see `spurious_timeouts`"
    ),
    "slow_start_span": Limits(
        0.0,
        2.0,
        low_included=True,
        high_included=True,
        reason="long-tailed sizes: with a large window long files fill the queue that short ones wait in",
    ),
}
"""Domain of the model, by numbers of its result. `slow_start_span` is ``L_SS / F = (2 W_R - 2) / F``, and counts
for long-tailed sizes: section 5.2 has errors up to 5% where it is 1.8 (F = 12, W_R = 12) and up to 20% where it is 7.2
(W_R = 44)."""


class Prediction(NamedTuple):
    """All numbers of the model; (1) and (2) are the two ways to compute the averages."""

    packets: FloatArray
    """Mean file size, F [pkt]."""
    sources: FloatArray
    """Number of sources, N [1]."""
    window: FloatArray
    """Receiver window, W_R [pkt]."""
    rounds: Rounds
    """Numbers (m, n), by flights."""
    normal_rounds: Rounds
    """Numbers (m, n) renormalised to RTT_0, for the queue."""
    lone_on_time: FloatArray
    """Duration of a transfer alone on the path, ON_0 [s]."""
    peak_rate: FloatArray
    """Peak rate, h_0 [bit/s]."""
    threshold: FloatArray
    """Largest number of sources at their peak rate, s = floor(C / h_0) [1]."""
    offered_load: FloatArray
    """Open-loop load, rho_0 [1]."""
    overload_probability: FloatArray
    """Probability of more than s active sources, P_OL [1]."""
    active_underload: FloatArray
    """Sum of k P_k up to s, n_UL [1]."""
    active_overload: FloatArray
    """Sum of k P_k above s, n_OL [1]."""
    active: FloatArray
    """Mean number of active sources, <n> [1]."""
    overload_mean: FloatArray
    """Mean number of active sources when there are more than s, v_OL [1]; nan where N <= s."""
    rate_1: FloatArray
    """Rate of a connection, the first way, h_(1) [bit/s]."""
    rate_2: FloatArray
    """Rate of a connection, the second way, h_(2) [bit/s]; nan where N <= s."""
    rate: FloatArray
    """Rate of a connection, the mean of both, h [bit/s]; h_(1) where N <= s."""
    utilisation_1: FloatArray
    """Utilisation, the first way, rho_(1) [1]."""
    utilisation_2: FloatArray
    """Utilisation, the second way, rho_(2) [1]; nan where N <= s."""
    utilisation: FloatArray
    """Utilisation of the multiplexing link, the mean of both, rho [1]; rho_(1) where N <= s."""
    on_time: FloatArray
    """Duration of a transfer in the superposition, ON [s]."""
    extended_round_trip_time: FloatArray
    """Round trip in the superposition, RTT [s]."""
    mean_queue: FloatArray
    """Mean queue, Q [pkt]; 0 where N <= s."""
    decay: FloatArray
    """Decay of the queue's distribution, eta = Q / rho_(2) [pkt]."""
    loss: FloatArray
    """Loss with the buffer B, L [1]."""
    shared: BoolArray
    """Whether the sources ever share the link, N > s; elsewhere the numbers of the second way have no value."""
    saturated_round_trip_time: FloatArray
    """Round trip of a long transfer alone on the path [s]."""


def _quantities(prediction: Prediction, *, long_tailed: bool = False) -> dict[str, Any]:
    """Compute the quantities of `DOMAIN`; `long_tailed` is for sizes with a longer tail than exponential (EP, EE)."""
    found = {
        "loss": prediction.loss,
        "sources_above_threshold": prediction.sources - prediction.threshold,
        "saturated_round_trip_time": prediction.saturated_round_trip_time,
    }
    if long_tailed:
        found["slow_start_span"] = (2.0 * prediction.window - 2.0) / prediction.packets
    return found


@model(
    domain=DOMAIN,
    quantities=_quantities,
    assumes="homogeneous sources, exponential silences, no competing traffic",
    packets=FILE,
    sources=LISTED_COUNT,
    off_time=TIME,
    window=WHOLE_WINDOW,
    buffer=BUFFER_OR_NONE,
)
def predict(  # noqa: PLR0913  the parameters of the model
    path: Path,
    packets: ArrayLike,
    sources: ArrayLike,
    *,
    off_time: ArrayLike = OFF_TIME,
    window: ArrayLike = RECEIVER_WINDOW,
    buffer: ArrayLike = np.inf,
) -> Prediction:
    """Compute all numbers of the TCP-modified Engset model [engset, section 4.1, eqs. 2 to 12, table 11].

    Parameters
    ----------
    path : Path
        The path of each connection; its multiplexing link is shared.
    packets : array_like
        Mean file size F [pkt], >= 3; between two whole numbers see `rounds`.
    sources : array_like
        N [1], whole, >= 1.
    off_time : array_like, optional
        Mean OFF [s], > 0.
    window : array_like, optional
        Receiver window W_R [pkt], whole, >= 1.
    buffer : array_like, optional
        B of the multiplexing link [pkt], >= 0, may be infinite.

    Returns
    -------
    Prediction
        All numbers of table 11. ``MODELS["predict"].warnings(prediction=...)`` says which cannot be trusted.

    Notes
    -----
    Equation (8) needs N > s. With N <= s each source is alone with its peak rate: h = h_(1) = h_0, ON = ON_0,
    rho = rho_(1) = rho_0, Q = L = 0, and h_(2), rho_(2) and eta are nan. The P_j themselves, a vector for each N, are
    `state_probabilities` of N, ON_0, OFF and C / h_0.

    Examples
    --------
    Table 6: h [kbit/s] and L [%] for (100M, 10M, 2M, R50), W_R = 44, B = 200.

    >>> found = predict(Path(0.05, [100e6, 10e6, 2e6]), 12, [82, 98, 115, 134], buffer=200)
    >>> (found.rate / 1e3).round(1).tolist()
    [547.8, 344.6, 219.5, 154.9]
    >>> [f"{100 * loss:.3g}" for loss in found.loss]
    ['0.0296', '4.91', '22', '38.3']

    Table 10.

    >>> loss = predict(Path(0.05, [100e6, 10e6, 2e6]), 12, 134, buffer=[50, 75, 100, 150, 200, 300, 500, 750]).loss
    >>> (100 * loss).round(1).tolist()
    [78.7, 69.8, 61.9, 48.7, 38.3, 23.7, 9.1, 2.7]
    >>> for warning in model_of(predict).warnings(prediction=found): print(warning)
    loss: is outside the domain; given 0.0490859; allowed >= 0 and <= 0.01; the model greatly overestimates the loss
    """
    f, n, off, w, b = model_of(predict).take(
        packets=packets, sources=sources, off_time=off_time, window=window, buffer=buffer
    )
    found = transfer(path, f, w)
    states = np.vectorize(superposition, otypes=[np.float64] * 7)(
        n, found.on_time, off, path.capacity / found.peak_rate
    )
    averages = _averages(path, f, n, off, found.peak_rate, Superposition(*(state[()] for state in states)))
    normal = renormalised(found.rounds, path)
    # With h near h_0 the queue is 0, or a rounding error below it.
    queue = np.where(averages.shared, np.maximum(mean_queue(path, averages.on_time, *normal), 0.0), 0.0)
    return Prediction(
        packets=f[()],
        sources=n[()],
        window=w[()],
        rounds=found.rounds,
        normal_rounds=normal,
        lone_on_time=found.on_time,
        peak_rate=found.peak_rate,
        offered_load=offered_load(n, found.on_time, off, found.peak_rate, path.capacity),
        **averages._asdict(),
        extended_round_trip_time=np.asarray(path.rtt + queue * path.service_time)[()],
        mean_queue=queue[()],
        decay=np.asarray(queue / averages.utilisation_2)[()],
        loss=exceedance(b, np.where(averages.shared, averages.utilisation_2, averages.utilisation), queue),
        saturated_round_trip_time=saturation(path, w).round_trip_time,
    )


class _Averages(NamedTuple):
    """The fields of `Prediction` that follow from the states alone."""

    threshold: FloatArray
    overload_probability: FloatArray
    active_underload: FloatArray
    active_overload: FloatArray
    active: FloatArray
    overload_mean: FloatArray
    rate_1: FloatArray
    rate_2: FloatArray
    rate: FloatArray
    utilisation_1: FloatArray
    utilisation_2: FloatArray
    utilisation: FloatArray
    on_time: FloatArray
    shared: BoolArray


def _averages(  # noqa: PLR0913, PLR0917  the parameters in addition to the states
    path: Path, packets: FloatArray, sources: FloatArray, off_time: FloatArray, peak_rate: FloatArray, states: Any
) -> _Averages:
    """Compute rates, utilisations and ON times from the states, in both ways and averaged [engset, eqs. 6 to 10]."""
    c, bits = path.capacity, packets * path.packet_bits
    shared = sources > states.threshold
    rate_1, rate_2 = states.throughput * c / states.active, c / states.overload_mean
    on_2 = bits / rate_2
    utilisation_2 = np.minimum(on_2 / (on_2 + off_time) * sources * rate_2 / c, 1.0)  # rounding may exceed 1
    rate = np.where(shared, (rate_1 + rate_2) / 2.0, peak_rate)
    utilisation = np.where(shared, (states.throughput + utilisation_2) / 2.0, states.throughput)
    return _Averages(
        threshold=states.threshold,
        overload_probability=states.overload_probability,
        active_underload=states.active_underload,
        active_overload=states.active_overload,
        active=states.active,
        overload_mean=states.overload_mean,
        rate_1=rate_1,
        rate_2=rate_2,
        rate=rate[()],
        utilisation_1=states.throughput,
        utilisation_2=utilisation_2,
        utilisation=utilisation[()],
        on_time=np.asarray(bits / rate)[()],
        shared=np.asarray(shared)[()],
    )
