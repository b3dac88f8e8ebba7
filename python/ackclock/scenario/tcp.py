"""TCP of a flow: its preset completed by what the flow overrides."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TypeVar, cast

from ackclock.scenario.controls import slow_start_of
from ackclock.scenario.dialects import ruled
from ackclock.scenario.machines import (
    DEFAULT_MACHINE,
    MACHINES,
    ClassicDialectName,
    ClassicRecoveryName,
    MachineName,
    SelectiveDialectName,
    machine_of,
)
from ackclock.scenario.presets import preset_tables
from ackclock.scenario.programs import ControlProgram
from ackclock.scenario.resolved_tcp import (
    HALF_WINDOWS,
    ClassicSettings,
    ControlSettings,
    LinuxReceiverSettings,
    PushSettings,
    ReceiverSettings,
    RtoSettings,
    SackBlockSettings,
    SelectiveSettings,
    SendBufferSettings,
    TimeoutSettings,
    WritesSettings,
)
from ackclock.scenario.schema_tcp import Tcp
from ackclock.units import Quantity

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ApplicationSettings:
    """Properties of what an application transfers, as far as the sender must know them.

    Parameters
    ----------
    writes : WritesSettings, optional
        Bursts in which it writes; without them all data at the start.
    last_packet_bytes : int, optional
        Length of the last packet [B]; without it that of all.
    """

    writes: WritesSettings | None = None
    last_packet_bytes: int | None = None


_HEADER_BYTES = 52
"""Length of the headers of IP and TCP with timestamps."""
_PLAIN_HEADER_BYTES = 40
"""Length of the headers without."""


@lru_cache(maxsize=64)
def preset(name: str, dialect: SelectiveDialectName | None = None) -> Tcp:
    """Read a preset.

    Parameters
    ----------
    name : str
        One of `ackclock.scenario.presets.preset_names`.
    dialect : str, optional
        Another dialect of a preset with selective acknowledgment, with its rules.

    Returns
    -------
    Tcp
        All axes of its machine, none left open but `half_window`, which is the dialect's.
    """
    table = {key: value for key, value in preset_tables()[name].items() if key != "summary"}
    return Tcp.model_validate(table if dialect is None else ruled(table, dialect))


def machine_of_tcp(own: Tcp) -> MachineName:
    """Find the machine that a flow's TCP runs on: the preset's, or else that of the recovery or the dialect."""
    given = preset(own.preset) if own.gives("preset") else own
    return machine_of(given.recovery, given.dialect) or DEFAULT_MACHINE


def preset_of(own: Tcp) -> str:
    """Name the preset that completes a flow's TCP: the one it gives, or else its machine's."""
    return own.preset if own.gives("preset") else MACHINES[machine_of_tcp(own)].preset


def completed(own: Tcp) -> Tcp:
    """Fill what a flow leaves open from its preset; who gives a number of delayed ACKs wants delayed ACKs."""
    return _completed(_SameTable(own))


class _SameTable:
    """A table that equals itself alone: tables with equal values may differ in the fields that were given."""

    def __init__(self, table: Tcp) -> None:
        self.table = table

    def __hash__(self) -> int:
        return id(self.table)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _SameTable) and self.table is other.table


# A scenario asks for the same flow's TCP a dozen times.
@lru_cache(maxsize=64)
def _completed(same: _SameTable) -> Tcp:
    own = same.table
    base = preset(preset_of(own), _other_dialect(own))
    update: dict[str, object] = {"rto": base.rto.override(own.rto)}
    if not own.gives("acks") and (own.gives("ack_every") or own.gives("ack_delay")):
        update["acks"] = "delayed"
    tcp = base.override(own).model_copy(update=update)
    if tcp.acks == "delayed" and not own.gives("receive_window"):
        return tcp.model_copy(update={"receive_window": "fixed"})
    return tcp


def _other_dialect(own: Tcp) -> SelectiveDialectName | None:
    """Give the dialect that a flow chooses in place of its preset's, if its machine has it."""
    known = MACHINES["selective"].dialect
    changes = own.gives("dialect") and own.dialect in known and preset(preset_of(own)).dialect != own.dialect
    if not changes or machine_of_tcp(own) != "selective":
        return None
    return cast("SelectiveDialectName", own.dialect)


def window_packets(window: Quantity, packet_bytes: int) -> float:
    """Express a window in packets; bytes are cut to whole packets."""
    return float(window.value) if window.unit == "pkt" else float(math.floor(window.value / packet_bytes))


def sender_settings(
    own: Tcp,
    packet_bytes: int,
    application: ApplicationSettings | None = None,
    controls: Mapping[str, ControlProgram] | None = None,
) -> ClassicSettings | SelectiveSettings:
    """Resolve the sender's axes.

    Parameters
    ----------
    own : Tcp
        What the scenario gives for the flow.
    packet_bytes : int
        Size of its data packets [B], by which windows in bytes are turned into packets.
    application : ApplicationSettings, optional
        What the application transfers; otherwise it writes all data at the start, in packets of one length.
    controls : mapping of str to ControlProgram, optional
        Congestion controls that are given to the run.

    Returns
    -------
    ClassicSettings or SelectiveSettings
        All axes of the machine in SI numbers and packets.
    """
    tcp = completed(own)
    windows = _Windows(tcp, packet_bytes)
    if machine_of_tcp(own) == "selective":
        selective = _selective(tcp, windows, packet_bytes, controls or {})
        given = application or ApplicationSettings()
        return replace(
            selective,
            send_buffer=_send_buffer(tcp),
            writes=given.writes,
            last_packet_bytes=given.last_packet_bytes,
        )
    return _classic(tcp, windows)


def receiver_settings(own: Tcp, packet_bytes: int) -> ReceiverSettings:
    """Resolve the receiver's axes.

    Parameters
    ----------
    own : Tcp
        What the scenario gives for the flow.
    packet_bytes : int
        Size of its data packets [B].

    Returns
    -------
    ReceiverSettings
        All axes in SI numbers.
    """
    tcp = completed(own)
    return ReceiverSettings(
        ack_every=_set(tcp.ack_every),
        ack_delay_s=_set(tcp.ack_delay),
        selective=machine_of_tcp(own) == "selective" and _set(tcp.sack),
        ecn=_set(tcp.ecn),
        linux=_linux_receiver(tcp, packet_bytes) if tcp.acks == "linux" else None,
        blocks=_blocks(tcp) if tcp.recovery == "sack1" else None,
    )


def _blocks(tcp: Tcp) -> SackBlockSettings:
    return SackBlockSettings(most=_set(tcp.sack_blocks), bytes=_set(tcp.sack_block_bytes))


def _linux_receiver(tcp: Tcp, packet_bytes: int) -> LinuxReceiverSettings:
    """Give the receive buffers (`tcp_rmem`), the payload of a packet, and whether it has timestamps."""
    return LinuxReceiverSettings(
        segment_bytes=payload_bytes(tcp, packet_bytes),
        buffer_bytes=_set(tcp.receive_buffer),
        most_buffer_bytes=_set(tcp.receive_buffer_max),
        announced=tcp.receive_window == "autotuned",
        timestamps=tcp.timestamps is not False,
        memory=tcp.receive_skb or "paged",
    )


def _send_buffer(tcp: Tcp) -> SendBufferSettings | None:
    if tcp.send_buffer is None:
        return None
    return SendBufferSettings(tcp.send_buffer, _set(tcp.send_buffer_max))


def last_packet_bytes(own: Tcp, packet_bytes: int, size: Quantity | None) -> int | None:
    """Compute the length of the last packet of a transfer.

    Parameters
    ----------
    own : Tcp
        What the scenario gives for the flow.
    packet_bytes : int
        Size of its data packets, headers included [B].
    size : Quantity, optional
        What it transfers, headers included; without it there is no last packet.

    Returns
    -------
    int, optional
        What is left of the size for it [B], at least its headers and a byte; None if it is as long as all others.
    """
    tcp = completed(own)
    if size is None or size.unit == "pkt" or tcp.last_segment != "short":
        return None
    left = math.ceil(size.value - packet_bytes * (math.ceil(size.value / packet_bytes) - 1))
    least = 1 + _header_bytes(tcp)
    length = min(max(left, least), packet_bytes)
    return None if length == packet_bytes else length


def payload_bytes(tcp: Tcp, packet_bytes: int) -> int:
    """Compute the payload of a packet [B], which has timestamps unless they are turned off."""
    return max(1, packet_bytes - _header_bytes(tcp))


def _header_bytes(tcp: Tcp) -> int:
    return _PLAIN_HEADER_BYTES if tcp.timestamps is False else _HEADER_BYTES


class _Windows:
    """The windows of a sender in packets."""

    def __init__(self, tcp: Tcp, packet_bytes: int) -> None:
        def packets(quantity: Quantity | None) -> float | None:
            return None if quantity is None else window_packets(quantity, packet_bytes)

        most = packets(tcp.max_window)
        self.initial = packets(tcp.initial_window) or _rfc6928(packet_bytes)
        self.ssthresh = packets(tcp.initial_ssthresh)
        self.most = None if most is None else math.floor(most)


def _rfc6928(packet_bytes: int) -> float:
    """Compute the initial window [packets]: RFC 6928 section 2 (1), in whole packets."""
    segment = max(1, packet_bytes - _PLAIN_HEADER_BYTES)
    return float(min(10 * segment, max(2 * segment, 14600)) // segment)


def _classic(tcp: Tcp, windows: _Windows) -> ClassicSettings:
    rto = tcp.rto
    return ClassicSettings(
        machine="classic",
        dialect=cast("ClassicDialectName", tcp.dialect),
        recovery=cast("ClassicRecoveryName", tcp.recovery),
        initial_window=windows.initial,
        initial_ssthresh=windows.ssthresh,
        max_window=windows.most,
        slow_start_while=_set(tcp.slow_start_while),
        increase=_set(tcp.increase),
        half_window=tcp.half_window or HALF_WINDOWS[cast("ClassicDialectName", tcp.dialect)],
        dupack_threshold=tcp.dupack_threshold,
        limited_transmit=_set(tcp.limited_transmit),
        max_burst=tcp.max_burst,
        partial_ack_timer=_set(tcp.partial_ack_timer),
        rto=RtoSettings(
            estimator=_set(rto.estimator),
            sample=_set(rto.sample),
            k=_set(rto.k),
            granularity_s=_set(rto.granularity),
            min_s=_set(rto.min),
            max_s=_set(rto.max),
            initial_s=_set(rto.initial),
            max_backoff=_set(rto.max_backoff),
            clock_offset_s=_set(rto.clock_phase) * _set(rto.granularity),
        ),
        ecn=_set(tcp.ecn),
    )


def _selective(
    tcp: Tcp, windows: _Windows, packet_bytes: int, controls: Mapping[str, ControlProgram]
) -> SelectiveSettings:
    # For this machine null is infinite, not the receiver's window.
    ssthresh = windows.most if windows.ssthresh is None else windows.ssthresh
    control, dialect = _set(tcp.congestion_control), cast("SelectiveDialectName", tcp.dialect)
    rto = tcp.rto
    return SelectiveSettings(
        machine="selective",
        congestion_control=ControlSettings(
            name=control,
            dialect=dialect,
            slow_start=tcp.slow_start or slow_start_of(control, dialect),
            parameters=dict(sorted((tcp.parameters or {}).items())),
            program=controls.get(control),
        ),
        loss_detection=_set(tcp.loss_detection),
        tail_loss_probe=_set(tcp.tail_loss_probe),
        frto=_set(tcp.frto),
        timestamps=_set(tcp.timestamps),
        ecn=_set(tcp.ecn),
        pacing=_set(tcp.pacing),
        segment_bytes=payload_bytes(tcp, packet_bytes),
        sack=_set(tcp.sack),
        initial_window=windows.initial,
        initial_ssthresh=None if ssthresh is None or ssthresh == math.inf else float(ssthresh),
        max_window=windows.most,
        dupack_threshold=_set(tcp.dupack_threshold),
        rto=TimeoutSettings(
            min_s=_set(rto.min),
            max_s=_set(rto.max),
            initial_s=_set(rto.initial),
            granularity_s=_set(rto.granularity),
            clock_offset_s=_set(rto.clock_phase) * _set(rto.granularity),
            rules=_set(rto.rules),
        ),
        undo=_set(tcp.undo),
        cwnd_validation=_set(tcp.cwnd_validation),
        idle_restart=_set(tcp.idle_restart),
        push=PushSettings(tcp.write_size),
        close=_set(tcp.close),
    )


def _set(value: T | None) -> T:
    """Take a value that a complete preset never leaves open."""
    if value is None:
        raise AssertionError("a preset leaves an axis open")
    return value
