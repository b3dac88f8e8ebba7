"""The quantities of a summary by name: what a scenario may ask for, and what a result holds."""

PERCENTILES = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
"""The percentiles of delays: the part of the packets whose delay is at most the value."""
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
FLOW_QUANTITIES = (
    "throughput_bps",
    "goodput_bps",
    "loss_fraction",
    "retransmitted_fraction",
    "timeouts",
    "fast_retransmits",
    "spurious_timeouts",
    "spurious_fast_retransmits",
    "cwnd_mean_packets",
    "cwnd_max_packets",
    "rtt_mean_s",
    "finish_s",
    *FLOW_DELAYS,
)
LINK_QUANTITIES = (
    "utilisation_fraction",
    "loss_fraction",
    "dropped_packets",
    "lost_packets",
    "throughput_bps",
    "queue_mean_packets",
    "queue_max_packets",
    *LINK_DELAYS,
)
QUANTITIES = {"flow": FLOW_QUANTITIES, "link": LINK_QUANTITIES}
UNITS = ("_bps", "_fraction", "_packets", "_s")


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
        "flow" or "link".
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
