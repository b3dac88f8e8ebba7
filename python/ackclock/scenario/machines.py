"""The two senders of the engine, as users choose among them: their recoveries, dialects and axes.

The machine follows from the preset, the recovery or the dialect. What only one machine has is named here, with the
reason that a user gets for setting it with the other.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

MachineName = Literal["classic", "selective"]

ClassicDialectName = Literal["ns2", "rfc", "engset"]
SelectiveDialectName = Literal["linux", "rfc"]
DialectName = Literal[ClassicDialectName, SelectiveDialectName]

ClassicRecoveryName = Literal["old-tahoe", "tahoe", "reno", "newreno", "sack1"]
SelectiveRecoveryName = Literal["sack"]
RecoveryName = Literal[ClassicRecoveryName, SelectiveRecoveryName]


@dataclass(frozen=True, slots=True)
class Machine:
    """A sender of the engine.

    Parameters
    ----------
    recovery, dialect : tuple of str
        Values of the two axes that only this machine has.
    preset : str
        The preset of a scenario that names none.
    """

    recovery: tuple[str, ...]
    dialect: tuple[str, ...]
    preset: str


MACHINES: Final[Mapping[MachineName, Machine]] = {
    "classic": Machine(get_args(ClassicRecoveryName), get_args(ClassicDialectName), "newreno-rfc6582"),
    "selective": Machine(get_args(SelectiveRecoveryName), get_args(SelectiveDialectName), "linux-cubic"),
}
"""Both machines, the one of cumulative ACKs alone first."""

DEFAULT_MACHINE: Final[MachineName] = "selective"
DEFAULT_PRESET: Final = MACHINES[DEFAULT_MACHINE].preset


@dataclass(frozen=True, slots=True)
class Only:
    """An axis of one machine alone.

    Parameters
    ----------
    machine : str
        The machine that has it.
    reason : str
        Why the other one has no use for it.
    """

    machine: MachineName
    reason: str


ONLY: Final[Mapping[str, Only]] = {
    "slow_start_while": Only("classic", "its slow start ends as soon as cwnd reaches ssthresh"),
    "increase": Only("classic", "its congestion_control says how cwnd grows"),
    "half_window": Only("classic", "its congestion_control says what a loss leaves of cwnd"),
    "limited_transmit": Only("classic", "it always sends a new packet for each one that arrived beyond a hole"),
    "max_burst": Only("classic", "it sends what the window allows"),
    "partial_ack_timer": Only("classic", "its timer starts again at each ACK of new data"),
    "sack_blocks": Only("classic", "its ACKs name all that arrived"),
    "sack_block_bytes": Only("classic", "its ACKs have one length"),
    "rto.estimator": Only("classic", "its estimator is Linux's"),
    "rto.sample": Only("classic", "each of its ACKs gives a sample"),
    "rto.k": Only("classic", "its estimator is Linux's, with a weight of 4"),
    "rto.max_backoff": Only("classic", "rto.max alone limits its backoff"),
    "congestion_control": Only("selective", "its recovery and its increase say how cwnd changes"),
    "parameters": Only("selective", "its recovery and its increase say how cwnd changes"),
    "slow_start": Only("selective", "its slow_start_while says when slow start ends"),
    "sack": Only("selective", "its ACKs acknowledge no packet selectively"),
    "loss_detection": Only("selective", "dupack_threshold duplicate ACKs show it a loss"),
    "tail_loss_probe": Only("selective", "probes need selective acknowledgment (RFC 8985)"),
    "frto": Only("selective", "after a timeout it goes back to the first packet that is not acknowledged"),
    "pacing": Only("selective", "its packets leave as soon as the window allows"),
    "receive_window": Only("selective", "max_window is its receiver's window"),
    "send_buffer": Only("selective", "its application has written all data at the start"),
    "send_buffer_max": Only("selective", "its application has written all data at the start"),
    "close": Only("selective", "the last ACK ends its connections"),
    "last_segment": Only("selective", "its packets have one length"),
    "write_size": Only("selective", "its application has written all data at the start"),
    "rto.rules": Only("selective", "rto.estimator says how it estimates"),
    "undo": Only("selective", "it detects no spurious retransmission"),
    "cwnd_validation": Only("selective", "its application never pauses"),
    "idle_restart": Only("selective", "its application never pauses"),
    "timestamps": Only("selective", "it detects no spurious retransmission; rto.sample says what is timed"),
}
"""The axes that one machine alone has, by their field in the TCP table."""


def machine_of(recovery: str | None, dialect: str | None) -> MachineName | None:
    """Find the machine that has a recovery, or else the one that has a dialect.

    Parameters
    ----------
    recovery, dialect : str, optional
        Values of the axes; None if not given.

    Returns
    -------
    str, optional
        None if neither is given.

    Examples
    --------
    >>> machine_of("sack", None), machine_of(None, "ns2"), machine_of(None, None)
    ('selective', 'classic', None)
    """
    for name, machine in MACHINES.items():
        if recovery in machine.recovery:
            return name
    for name, machine in MACHINES.items():
        if recovery is None and dialect in machine.dialect:
            return name
    return None
