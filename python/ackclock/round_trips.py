"""Shares of a link that the flows' round trips explain."""

from collections.abc import Sequence

from ackclock.stats import log_correlation, log_slope

UNLIKE = 1.5
"""Ratio of the longest round trip to the shortest from which round trips may explain shares."""
CORRELATED = -0.8
"""Correlation of the logarithms of shares and round trips from which the round trips explain the shares."""
STEEPEST, FLATTEST = -2.5, -0.5
"""Exponents of RTT between which shares may follow from round trips; drop-tail queues in step come to the square."""
INVERSE = 0.35
"""Largest difference of the exponent of RTT from -1 with which shares go as 1 / RTT (Mathis and others 1997)."""


def by_round_trips(shares: Sequence[float], round_trips_s: Sequence[float]) -> dict[str, float]:
    """Give the range of the round trips that explain shares; nothing where they do not.

    Parameters
    ----------
    shares : sequence of float
        Goodputs of flows [bit/s].
    round_trips_s : sequence of float
        Their mean round trips [s].

    Returns
    -------
    dict of str to float
        `shortest_round_trip_s`, `longest_round_trip_s`, and whether shares go as 1 / RTT (`as_inverse`).

    Examples
    --------
    >>> by_round_trips([4e6, 1e6], [0.1, 0.4])
    {'shortest_round_trip_s': 0.1, 'longest_round_trip_s': 0.4, 'as_inverse': 1.0}
    >>> by_round_trips([4e6, 3.9e6], [0.1, 0.11])
    {}
    """
    shortest, longest = min(round_trips_s), max(round_trips_s)
    if min(shares) <= 0.0 or shortest <= 0.0 or longest < UNLIKE * shortest:
        return {}
    exponent = log_slope(round_trips_s, shares)
    if log_correlation(round_trips_s, shares) > CORRELATED or not STEEPEST <= exponent <= FLATTEST:
        return {}
    as_inverse = abs(exponent + 1.0) <= INVERSE
    return {"shortest_round_trip_s": shortest, "longest_round_trip_s": longest, "as_inverse": float(as_inverse)}
