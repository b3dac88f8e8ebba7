"""The handshake of a connection, and the hellos of TLS."""

import math

from ackclock.scenario.contract import RANGES
from ackclock.scenario.resolved_traffic import HandshakeSettings
from ackclock.scenario.schema import Flow
from ackclock.scenario.schema_tcp import Tcp
from ackclock.scenario.tcp import completed, payload_bytes
from ackclock.scenario.traffic import is_tcp

PLAIN_SYN_BYTES = 48
"""Length of a SYN without the options below: headers, the largest segment and the window scale."""
TIMESTAMPS_BYTES, SACK_PERMITTED_BYTES = 12, 4
"""Length of both options. With timestamps "SACK permitted" takes the place of their padding (`tcp_options_write`)."""
SYN_TIMEOUT_S = 1.0
"""Time after which a SYN is sent again for the first time (RFC 6298 section 2.1)."""


def handshake_settings(own: Tcp, packet_bytes: int) -> HandshakeSettings | None:
    """Resolve the handshake; None if the data are sent at once.

    Parameters
    ----------
    own : Tcp
        What the scenario gives for the flow.
    packet_bytes : int
        Size of its data packets [B]; a hello takes as many as hold it, up to the engine's limit.

    Returns
    -------
    HandshakeSettings, optional
        Its packets, and the timeout after which the first one is sent again.
    """
    tcp = completed(own)
    if tcp.handshake == "none":
        return None
    hellos = (tcp.tls_client_hello or 0, tcp.tls_server_hello or 0) if tcp.handshake == "tls" else (0, 0)
    most = int(RANGES["flows[].traffic.connection.handshake.client_hello_packets"].high)
    client, server = (min(most, math.ceil(hello / payload_bytes(tcp, packet_bytes))) for hello in hellos)
    return HandshakeSettings(_syn_bytes(tcp), SYN_TIMEOUT_S, client, server)


def handshake_answer_bytes(flow: Flow) -> int:
    """Compute the size of the largest packet that answers a handshake: a SYN-ACK, or a hello of TLS [B]; 0: none."""
    settings = handshake_settings(flow.tcp, flow.packet_bytes) if is_tcp(flow) else None
    return 0 if settings is None else settings.answer_bytes(flow.packet_bytes)


def _syn_bytes(tcp: Tcp) -> int:
    """Compute the length of a SYN and of its answer [B]."""
    if tcp.timestamps is not False:
        return PLAIN_SYN_BYTES + TIMESTAMPS_BYTES
    return PLAIN_SYN_BYTES + SACK_PERMITTED_BYTES * (tcp.sack is not False)
