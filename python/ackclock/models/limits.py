"""Limits of the quantities that several models share, each declared once.

These are the limits of arguments: a value outside them is an error. `AT_LEAST_ONE_PACKET` is a domain: the formulas
for windows of any size hold for any positive number, and a window below one packet is a warning. Models that count
packets one by one take a `WHOLE_WINDOW`, and a fraction is an error there.
"""

from math import inf
from typing import Final

from ackclock.models.domain import Limits

TIME: Final = Limits(0.0, unit="s")
"""A positive duration: a round trip, a mean."""
DELAY: Final = Limits(0.0, low_included=True, unit="s")
"""A time that may be zero: a propagation delay, a timeout, a wait."""
INSTANT: Final = Limits(unit="s")
"""An instant on the time axis, negative before the origin."""

PACKET_RATE: Final = Limits(0.0, unit="pkt/s")
"""A link's rate in packets."""
UNBOUNDED_PACKET_RATE: Final = Limits(0.0, high_included=True, unit="pkt/s")
"""A link's rate in packets, infinite where the link never limits."""
BIT_RATE: Final = Limits(0.0, unit="bit/s")
"""A link's or a connection's rate in bits."""
EVENT_RATE: Final = Limits(0.0, unit="1/s")
"""A rate of losses."""
EVENT_RATE_OR_ZERO: Final = Limits(0.0, low_included=True, unit="1/s")
"""A rate of losses or arrivals that may be zero."""

WINDOW: Final = Limits(0.0, unit="pkt")
"""A window of any size, in formulas that treat packets as a fluid."""
UNBOUNDED_WINDOW: Final = Limits(0.0, high_included=True, unit="pkt")
"""The same, infinite where nothing limits it."""
WHOLE_WINDOW: Final = Limits(1.0, low_included=True, unit="pkt", whole=True)
"""A window in models that count packets one by one."""
AT_LEAST_ONE_PACKET: Final = Limits(
    1.0, inf, low_included=True, high_included=True, unit="pkt", reason="a window of less than a packet sends none"
)
"""The domain of a fluid window."""

BUFFER: Final = Limits(0.0, high_included=True, unit="pkt")
"""A buffer that holds something, infinite where it never overflows."""
FINITE_BUFFER: Final = Limits(0.0, unit="pkt")
"""A buffer that holds something and can overflow."""
BUFFER_OR_NONE: Final = Limits(0.0, low_included=True, high_included=True, unit="pkt")
"""A buffer that may be absent or infinite."""
QUEUE: Final = Limits(0.0, low_included=True, unit="pkt")
"""A queue, which may be empty."""
PACKETS: Final = Limits(1.0, low_included=True, unit="pkt")
"""The size of a transfer, or of what one ACK acknowledges."""
WHOLE_PACKETS: Final = Limits(1.0, low_included=True, unit="pkt", whole=True)
"""The size of a transfer in models that count packets one by one."""
FOLLOWED_PACKETS: Final = Limits(1.0, 1e6, low_included=True, high_included=True, unit="pkt", whole=True)
"""The size of a transfer that a model goes through packet by packet, or flight by flight."""
PACKET_BYTES: Final = Limits(0.0, unit="B")
"""The size of a packet."""

PROBABILITY: Final = Limits(0.0, 1.0, low_included=True, high_included=True)
"""A probability or a share, with both ends."""
POSITIVE_PROBABILITY: Final = Limits(0.0, 1.0, high_included=True)
"""A probability or a utilisation by which a formula divides."""
PROBABILITY_BELOW_ONE: Final = Limits(0.0, 1.0, low_included=True)
"""A loss probability that leaves some packets, or the factor of a decrease."""
OPEN_FRACTION: Final = Limits(0.0, 1.0)
"""A share strictly between none and all."""

NUMBER: Final = Limits()
"""Any finite number."""
FACTOR: Final = Limits(0.0)
"""A positive ratio."""
FACTOR_OR_ZERO: Final = Limits(0.0, low_included=True)
"""A ratio that may be zero."""
COUNT: Final = Limits(1.0, low_included=True)
"""A number of things, treated as a real number."""
WHOLE_COUNT: Final = Limits(1.0, low_included=True, whole=True)
"""A number of things."""
WHOLE_COUNT_OR_ZERO: Final = Limits(0.0, low_included=True, whole=True)
"""A number of things that may be zero."""
LISTED_COUNT: Final = Limits(1.0, 1e6, low_included=True, high_included=True, whole=True)
"""A number of things each of which has a number of its own in the result, or in the computation."""
SIZE: Final = Limits(0.0, unit="pkt")
"""An amount of data that is not counted in whole packets."""
