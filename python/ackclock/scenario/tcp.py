"""TCP of a flow: its preset completed by what the flow overrides."""

import math
from functools import lru_cache
from typing import TypeVar

from ackclock.scenario.presets import preset_tables
from ackclock.scenario.resolved_tcp import HALF_WINDOWS, ReceiverSettings, RtoSettings, SenderSettings
from ackclock.scenario.schema_tcp import Tcp
from ackclock.units import Quantity

T = TypeVar("T")


@lru_cache(maxsize=64)
def preset(name: str) -> Tcp:
    """Read a preset.

    Parameters
    ----------
    name : str
        One of `ackclock.scenario.presets.preset_names`.

    Returns
    -------
    Tcp
        All axes, none left open but `half_window`, which is the dialect's.
    """
    table = {key: value for key, value in preset_tables()[name].items() if key != "summary"}
    return Tcp.model_validate(table)


def completed(own: Tcp) -> Tcp:
    """Fill what a flow leaves open from its preset."""
    base = preset(own.preset)
    return base.override(own).model_copy(update={"rto": base.rto.override(own.rto)})


def window_packets(window: Quantity, packet_bytes: int) -> float:
    """Express a window in packets; bytes are cut to whole packets."""
    return float(window.value) if window.unit == "pkt" else float(math.floor(window.value / packet_bytes))


def sender_settings(own: Tcp, packet_bytes: int) -> SenderSettings:
    """Resolve the sender's axes.

    Parameters
    ----------
    own : Tcp
        What the scenario gives for the flow.
    packet_bytes : int
        Size of its data packets [B], by which windows in bytes are turned into packets.

    Returns
    -------
    SenderSettings
        All axes in SI numbers and packets.
    """
    tcp = completed(own)

    def window(quantity: Quantity | None) -> float | None:
        return None if quantity is None else window_packets(quantity, packet_bytes)

    max_window = window(tcp.max_window)
    return SenderSettings(
        dialect=_set(tcp.dialect),
        recovery=_set(tcp.recovery),
        initial_window=_set(window(tcp.initial_window)),
        initial_ssthresh=window(tcp.initial_ssthresh),
        max_window=None if max_window is None else math.floor(max_window),
        slow_start_while=_set(tcp.slow_start_while),
        increase=_set(tcp.increase),
        half_window=tcp.half_window or HALF_WINDOWS[_set(tcp.dialect)],
        dupack_threshold=tcp.dupack_threshold,
        limited_transmit=_set(tcp.limited_transmit),
        partial_ack_timer=_set(tcp.partial_ack_timer),
        rto=_rto_settings(tcp),
    )


def receiver_settings(own: Tcp) -> ReceiverSettings:
    """Resolve the receiver's axes."""
    tcp = completed(own)
    return ReceiverSettings(ack_every=_set(tcp.ack_every), ack_delay_s=_set(tcp.ack_delay))


def _rto_settings(tcp: Tcp) -> RtoSettings:
    rto = tcp.rto
    return RtoSettings(
        estimator=_set(rto.estimator),
        sample=_set(rto.sample),
        k=_set(rto.k),
        granularity_s=_set(rto.granularity),
        min_s=_set(rto.min),
        max_s=_set(rto.max),
        initial_s=_set(rto.initial),
        max_backoff=_set(rto.max_backoff),
        clock_offset_s=_set(rto.clock_phase) * _set(rto.granularity),
    )


def _set(value: T | None) -> T:
    """Take a value that a complete preset never leaves open."""
    if value is None:
        raise AssertionError("a preset leaves an axis open")
    return value
