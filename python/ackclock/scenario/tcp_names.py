"""Names of the TCP of flows: the preset that it is, or the nearest one and the fields in which it is another."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from ackclock.scenario.copies import described_name
from ackclock.scenario.handshakes import handshake_settings
from ackclock.scenario.presets import preset_names
from ackclock.scenario.resolved import Resolved
from ackclock.scenario.resolved_traffic import Connection, HandshakeSettings
from ackclock.scenario.tcp import preset, receiver_settings, sender_settings

MOST_FIELDS = 4
"""Largest number of fields that are named; others are counted."""
_ABSENT = object()
_OF_LINUX_ACKS = ("receive_window", "receive_buffer", "receive_buffer_max", "receive_skb")
"""The fields that follow from `acks` where it is not Linux's."""
_OF_TLS = ("tls_client_hello", "tls_server_hello")
"""The fields that follow from `handshake` where it is not that of TLS."""
_OF_OTHERS = ("segment_bytes", "send_buffer", "writes", "last_packet_bytes", "push")
"""The fields of a sender that follow from the packet, the timestamps and the application, or are written otherwise."""
_BLOCKS = {"most": "sack_blocks", "bytes": "sack_block_bytes"}


def tcp_names(resolved: Resolved) -> dict[str, str]:
    """Name the TCP of each [[flow]] that has one.

    Parameters
    ----------
    resolved : Resolved
        The scenario.

    Returns
    -------
    dict of str to str
        By the flow's name the preset, such as "linux-cubic", or "linux-cubic with another max_window, close ("tcp")".
    """
    tables = {described_name(flow.name): flow for flow in reversed(resolved.flows)}
    return {
        name: tcp_name(flow.connection, flow.packet_bytes)
        for name, flow in reversed(tables.items())
        if flow.connection is not None
    }


def tcp_name(connection: Connection, packet_bytes: int) -> str:
    """Name the TCP of a connection by the preset from which it differs least; of equals the first.

    Parameters
    ----------
    connection : Connection
        Its sender and receiver.
    packet_bytes : int
        Size of its data packets [B], by which a preset's windows in bytes are turned into packets.
    """
    own = _fields(asdict(connection.sender), asdict(connection.receiver), connection.handshake)
    presets = {name: dict(fields) for name, fields in _presets(packet_bytes)}
    others = {name: list(_differences(own, fields)) for name, fields in presets.items()}
    nearest = min(others, key=lambda name: len(others[name]))
    # A word says more than that it is another one.
    words = {name: f'{name} ("{value}")' for name, value in own.items() if isinstance(value, str)}
    fields = [words.get(field, field) for field in others[nearest][:MOST_FIELDS]]
    more = len(others[nearest]) - MOST_FIELDS
    if not fields:
        return nearest
    return f"{nearest} with another {', '.join(fields)}" + (f" and {more} more" if more > 0 else "")


@lru_cache(maxsize=64)
def _presets(packet_bytes: int) -> tuple[tuple[str, tuple[tuple[str, Any], ...]], ...]:
    return tuple(
        (
            name,
            tuple(
                _fields(
                    asdict(sender_settings(tcp, packet_bytes)),
                    asdict(receiver_settings(tcp, packet_bytes)),
                    handshake_settings(tcp, packet_bytes),
                ).items()
            ),
        )
        for name in preset_names()
        for tcp in (preset(name),)
    )


def _fields(
    sender: Mapping[str, Any], receiver: Mapping[str, Any], handshake: HandshakeSettings | None
) -> dict[str, Any]:
    """Write sender, receiver and handshake as one table without tables in it, by the fields' names in scenarios."""
    flat = {name: value for name, value in receiver.items() if name not in {"linux", "blocks", "selective"}}
    flat |= {_BLOCKS[name]: value for name, value in (receiver["blocks"] or {}).items()}
    linux, buffer = receiver["linux"] or {}, sender.get("send_buffer") or {}
    flat["acks"] = "linux" if linux else "delayed"
    flat["receive_window"] = "autotuned" if linux.get("announced") else "fixed"
    flat["receive_skb"] = linux.get("memory", "paged")
    for name, sizes in (("receive_buffer", linux), ("send_buffer", buffer)):
        flat |= {name: sizes.get("buffer_bytes"), f"{name}_max": sizes.get("most_buffer_bytes")}
    flat |= _around_the_data(sender, handshake)
    for name, value in sender.items():
        if name in _OF_OTHERS:
            continue
        if isinstance(value, Mapping):
            inner = {axis: one for axis, one in value.items() if axis != "program"}
            flat |= {(name if axis == "name" else f"{name}.{axis}"): one for axis, one in inner.items()}
        else:
            flat[name] = value
    return {name.removesuffix("_s").removeprefix("congestion_control."): value for name, value in flat.items()}


def _around_the_data(sender: Mapping[str, Any], handshake: HandshakeSettings | None) -> dict[str, Any]:
    """Write what precedes the data and how the application hands them over."""
    hellos = () if handshake is None else (handshake.client_hello_packets, handshake.server_hello_packets)
    return {
        "handshake": "none" if handshake is None else "tls" if any(hellos) else "tcp",
        **dict(zip(_OF_TLS, hellos, strict=False)),
        "write_size": (sender.get("push") or {}).get("write_bytes"),
    }


def _differences(own: Mapping[str, Any], other: Mapping[str, Any]) -> Iterator[str]:
    follow = {*(_OF_LINUX_ACKS if own["acks"] != other["acks"] else ())}
    follow |= {*(_OF_TLS if own["handshake"] != other["handshake"] else ())}
    names = (name for name in {**own, **other} if name not in follow)
    return (name for name in names if own.get(name, _ABSENT) != other.get(name, _ABSENT))
