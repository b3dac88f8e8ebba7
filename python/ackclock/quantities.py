"""The quantities of a summary by name: what a scenario may ask for, and what a result holds."""

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
)
LINK_QUANTITIES = (
    "utilisation_fraction",
    "loss_fraction",
    "dropped_packets",
    "lost_packets",
    "throughput_bps",
    "queue_mean_packets",
    "queue_max_packets",
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
