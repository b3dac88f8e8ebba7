"""The quantities of a summary by name: what a scenario may ask for, and what a result holds."""

PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
"""The percentiles of delays: the part of the packets whose delay is at most the value."""
BUCKET_ERROR = 0.008
"""Largest relative difference between a value of a histogram, the middle of a bucket, and what was measured."""
DELAY_KINDS = ("rtt", "delay", "queueing")
"""Delays of a flow: round trips, one-way delays, and the part of these that is waiting."""


def delay_quantities(kind: str) -> tuple[str, ...]:
    """Name the percentiles of a kind of delay and its maximum.

    Examples
    --------
    >>> delay_quantities("rtt")
    ('rtt_p50_s', 'rtt_p95_s', 'rtt_p99_s', 'rtt_max_s')
    """
    return tuple(f"{kind}_{name}_s" for name in (*PERCENTILES, "max"))


FLOW_DELAYS = tuple(name for kind in DELAY_KINDS for name in delay_quantities(kind))
LINK_DELAYS = ("queueing_mean_s", *delay_quantities("queueing"))
DROP_CAUSES = ("dropped_by_buffer_packets", "dropped_by_aqm_packets", "dropped_by_policer_packets")
"""The causes of a link's dropped packets: a full buffer, an AQM, a policer without tokens."""
FLOW_QUANTITIES = (
    "throughput_bps",
    "goodput_bps",
    "loss_fraction",
    "marked_fraction",
    "retransmitted_fraction",
    "timeouts",
    "fast_retransmits",
    "loss_cycles",
    "spurious_timeouts",
    "spurious_fast_retransmits",
    "cwnd_mean_packets",
    "cwnd_max_packets",
    "rtt_mean_s",
    "finish_s",
    *FLOW_DELAYS,
    "fct_mean_s",
    "fct_max_s",
    "fct_acked_mean_s",
    "slowdown_mean",
)
LINK_QUANTITIES = (
    "utilisation_fraction",
    "loss_fraction",
    "dropped_packets",
    *DROP_CAUSES,
    "marked_packets",
    "lost_packets",
    "throughput_bps",
    "queue_mean_packets",
    "queue_max_packets",
    *LINK_DELAYS,
)
CLASS_QUANTITIES = (
    "throughput_bps",
    "loss_fraction",
    "marked_fraction",
    "dropped_packets",
    "marked_packets",
    *LINK_DELAYS,
)
"""Quantities of a class of packets at a link, in the measured part.

Throughput is of the packets that the link transmits; fractions are of the packets that arrived; `queueing` is the wait
from arrival until transmission.
"""
COMPLETION_QUANTITIES = (
    "transfers",
    "unfinished",
    "fct_mean_s",
    "fct_p50_s",
    "fct_p95_s",
    "fct_p99_s",
    "fct_max_s",
    "fct_acked_mean_s",
    "fct_acked_p50_s",
    "fct_acked_p95_s",
    "fct_acked_p99_s",
    "fct_acked_max_s",
    "slowdown_mean",
    "slowdown_p50",
    "slowdown_p95",
    "slowdown_p99",
    "slowdown_max",
)
"""Quantities of the transfers of a [[flow]] that finish, those of web sources if they end in the measured part.

`fct` is the flow completion time, from the first packet sent to the last one delivered in order, `fct_acked` the time
to the last ACK, `slowdown` the flow completion time relative to the least that the empty path allows.
"""
PING_QUANTITIES = (
    "sent",
    "answered",
    "lost",
    "loss_fraction",
    "rtt_min_s",
    "rtt_mean_s",
    "rtt_p50_s",
    "rtt_p95_s",
    "rtt_p99_s",
    "rtt_max_s",
    "rtt_mdev_s",
)
"""Quantities of the pings of a [[flow]] that were sent in the measured part.

Those in flight at the end are neither answered nor lost.
"""
EXTREMES = {
    "completion": ("fct_max_s", "fct_acked_max_s", "slowdown_max"),
    "ping": ("rtt_min_s", "rtt_max_s"),
}
"""Quantities that are the largest or the least of all replications together, and so have no interval."""
QUANTITIES = {
    "flow": FLOW_QUANTITIES,
    "link": LINK_QUANTITIES,
    "completion": COMPLETION_QUANTITIES,
    "ping": PING_QUANTITIES,
}
UNITS = ("_bps", "_fraction", "_packets", "_s")


def bucket_error(quantity: str) -> float:
    """Return the relative error that a quantity has from a histogram: that of a bucket for percentiles.

    Examples
    --------
    >>> bucket_error("rtt_p95_s"), bucket_error("slowdown_p50"), bucket_error("rtt_max_s")
    (0.008, 0.008, 0.0)
    """
    return BUCKET_ERROR if without_unit(quantity).endswith(tuple(f"_{name}" for name in PERCENTILES)) else 0.0


def is_pooled(element: str, quantity: str) -> bool:
    """Return whether a quantity is of all replications together: percentiles and extremes of transfers and of pings.

    Examples
    --------
    >>> is_pooled("completion", "fct_p95_s"), is_pooled("completion", "fct_mean_s"), is_pooled("flow", "rtt_p95_s")
    (True, False, False)
    """
    return element in EXTREMES and (quantity in EXTREMES[element] or bucket_error(quantity) > 0.0)


def without_unit(quantity: str) -> str:
    """Take the unit off a quantity's name.

    Examples
    --------
    >>> without_unit("goodput_bps"), without_unit("timeouts")
    ('goodput', 'timeouts')
    """
    return next((quantity.removesuffix(unit) for unit in UNITS if quantity.endswith(unit)), quantity)


def quantity_of(element: str, word: str) -> str | None:
    """Find a quantity of a flow or link by its name, with its unit or without.

    Parameters
    ----------
    element : str
        "flow", "link", "completion" or "ping".
    word : str
        The name.

    Returns
    -------
    str or None
        The name with its unit; `None` if there is no such quantity.

    Examples
    --------
    >>> quantity_of("flow", "goodput"), quantity_of("link", "goodput")
    ('goodput_bps', None)
    """
    return next((name for name in QUANTITIES[element] if word in (name, without_unit(name))), None)
