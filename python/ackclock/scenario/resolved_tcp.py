"""The resolved form of TCP's ends, and what each recovery does: the one place that knows it by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, ClassVar, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ackclock.scenario.contract import CHECKED, CONGESTION_CONTROLS, within
from ackclock.scenario.controls import ControlDialectName, SlowStartExitName
from ackclock.scenario.machines import ClassicDialectName, ClassicRecoveryName
from ackclock.scenario.programs import ControlProgram
from ackclock.scenario.schema_tcp import (
    CloseName,
    EcnName,
    EstimatorName,
    HalfWindowName,
    IncreaseName,
    LossDetectionName,
    PacingName,
    PartialAckTimerName,
    SampleName,
    SlowStartName,
    TimeoutRulesName,
    UndoName,
    WindowValidationName,
)

_RTO = "flows[].traffic.connection.sender.rto"


Halving = Literal["per-loss", "per-round"]


@dataclass(frozen=True, slots=True)
class Recovery:
    """A recovery's behaviour at a loss, as models and advice ask for it.

    Parameters
    ----------
    fast_retransmit : bool
        Whether duplicate ACKs show a loss; else the timer alone does.
    halving : str, optional
        Whether a fast retransmit halves the window for each loss ("per-loss") or once for all losses of a round trip
        ("per-round"); without it a slow start follows.
    """

    fast_retransmit: bool
    halving: Halving | None


RECOVERIES: Final[Mapping[ClassicRecoveryName, Recovery]] = {
    "old-tahoe": Recovery(fast_retransmit=False, halving=None),
    "tahoe": Recovery(fast_retransmit=True, halving=None),
    "reno": Recovery(fast_retransmit=True, halving="per-loss"),
    "newreno": Recovery(fast_retransmit=True, halving="per-round"),
    "sack1": Recovery(fast_retransmit=True, halving="per-round"),
}
"""The behaviour of each recovery."""

HALF_WINDOWS: Final[Mapping[ClassicDialectName, HalfWindowName]] = {
    "ns2": "whole-packets",
    "rfc": "fractional",
    "engset": "whole-packets",
}
"""The half of a window that each dialect takes where the scenario does not say."""

_HALF: Final = 0.5
RENO: Final = "reno"
"""The congestion control of RFC 5681; no model of Reno applies to another one."""
CUBIC: Final = "cubic"
"""The congestion control of RFC 9438, and of Linux."""

ADDITIVE_INCREASES: Final[frozenset[IncreaseName]] = frozenset({"reciprocal", "reciprocal-floor", "counted"})
"""The increases that add a packet to the window in each round trip of congestion avoidance."""


@dataclass(frozen=True, slots=True)
class RtoSettings:
    """Settings of the retransmission timer."""

    __pydantic_config__ = CHECKED
    estimator: EstimatorName
    sample: SampleName
    k: Annotated[int, within(f"{_RTO}.k")]
    granularity_s: Annotated[float, within(f"{_RTO}.granularity_s")]
    min_s: Annotated[float, within(f"{_RTO}.min_s")]
    max_s: Annotated[float, within(f"{_RTO}.max_s")]
    initial_s: Annotated[float, within(f"{_RTO}.initial_s")]
    max_backoff: Annotated[int, within(f"{_RTO}.max_backoff")]
    clock_offset_s: Annotated[float, within(f"{_RTO}.clock_offset_s")]


@dataclass(frozen=True, slots=True)
class ClassicSettings:
    """TCP sender with cumulative ACKs alone, or with those of ns-2's Sack1, one choice an axis.

    null is `max_window` for `initial_ssthresh`, else unlimited or infinite.
    """

    __pydantic_config__ = CHECKED
    machine: Literal["classic"]
    dialect: ClassicDialectName
    recovery: ClassicRecoveryName
    initial_window: Annotated[float, within("flows[].traffic.connection.sender.initial_window")]
    initial_ssthresh: Annotated[float, within("flows[].traffic.connection.sender.initial_ssthresh")] | None
    max_window: Annotated[int, within("flows[].traffic.connection.sender.max_window")] | None
    slow_start_while: SlowStartName
    increase: IncreaseName
    half_window: HalfWindowName
    dupack_threshold: Annotated[int, within("flows[].traffic.connection.sender.dupack_threshold")] | None
    limited_transmit: bool
    partial_ack_timer: PartialAckTimerName
    rto: RtoSettings
    ecn: EcnName = "off"
    """Explicit congestion notification by ns-2's rules; older results lack this field."""
    max_burst: Annotated[int, within("flows[].traffic.connection.sender.max_burst")] | None = None
    """Largest number of packets that one ACK releases; older results lack this field."""

    grows_until_loss: ClassVar[bool] = True
    is_random: ClassVar[bool] = False
    counts_packets: ClassVar[bool] = False

    @property
    def title(self) -> str:
        """Name of the recovery, in sentences."""
        return self.recovery

    def least_timeout_s(self, round_trip_s: float) -> float:
        """Compute the least retransmission timeout for a round trip [s]."""
        return max(self.rto.min_s, round_trip_s)

    @property
    def window_packets(self) -> float:
        """The receiver's window [packets]; infinite where it is unlimited."""
        return inf if self.max_window is None else float(self.max_window)

    @property
    def has_fast_retransmit(self) -> bool:
        """Return whether duplicate ACKs can show a loss; else the timer alone does."""
        return RECOVERIES[self.recovery].fast_retransmit and self.dupack_threshold is not None

    @property
    def slow_starts_after_fast_retransmit(self) -> bool:
        """Return whether each loss that duplicate ACKs show is followed by a slow start, as Tahoe's are."""
        recovery = RECOVERIES[self.recovery]
        return recovery.fast_retransmit and recovery.halving is None

    @property
    def halving(self) -> Halving | None:
        """Unit for which a fast retransmit halves the window: per loss or per round trip; None: slow start follows."""
        return RECOVERIES[self.recovery].halving

    @property
    def halves_at_loss(self) -> bool:
        """Return whether a fast retransmit halves the window, and congestion avoidance goes on from there."""
        return self.halving is not None

    @property
    def keeps_half_at_loss(self) -> bool:
        """Return whether a loss leaves half of the window or more: a pipe's worth of buffer then keeps a link busy."""
        return self.is_aimd

    @property
    def is_cubic(self) -> bool:
        """Return whether the control is CUBIC, which only the other sender has."""
        return False

    @property
    def is_aimd(self) -> bool:
        """Return whether congestion avoidance adds a packet a round trip, and a loss halves the threshold (RFC 5681).

        The formulas for TCP's throughput and the rules for buffers assume it. Every recovery halves the threshold.
        """
        return self.increase in ADDITIVE_INCREASES


@dataclass(frozen=True, slots=True)
class ControlSettings:
    """The congestion control of a sender."""

    __pydantic_config__ = CHECKED
    name: str
    dialect: ControlDialectName
    slow_start: SlowStartExitName
    parameters: dict[str, float]
    """Values by name; missing ones have their defaults."""
    program: ControlProgram | None = None
    """The class that is given to the run; None: the control is the engine's. Older results lack this field."""


def _known(control: ControlSettings) -> ControlSettings:
    if control.program is None and control.name not in CONGESTION_CONTROLS:
        raise ValueError(f"no such congestion control; allowed {', '.join(CONGESTION_CONTROLS)}")
    return control


@dataclass(frozen=True, slots=True)
class TimeoutSettings:
    """Settings of the retransmission timer of a sender with selective acknowledgment."""

    __pydantic_config__ = CHECKED
    min_s: Annotated[float, within(f"{_RTO}.min_s")]
    max_s: Annotated[float, within(f"{_RTO}.max_s")]
    initial_s: Annotated[float, within(f"{_RTO}.initial_s")]
    granularity_s: Annotated[float, within(f"{_RTO}.granularity_s")]
    clock_offset_s: Annotated[float, within(f"{_RTO}.clock_offset_s")]
    rules: TimeoutRulesName = "linux"
    """Rules of the timeout; older results lack this field."""


_SENDER = "flows[].traffic.connection.sender"


@dataclass(frozen=True, slots=True)
class SendBufferSettings:
    """Send buffer that grows with cwnd as Linux's does."""

    __pydantic_config__ = CHECKED
    buffer_bytes: Annotated[int, within(f"{_SENDER}.send_buffer.buffer_bytes")]
    most_buffer_bytes: Annotated[int, within(f"{_SENDER}.send_buffer.most_buffer_bytes")]


@dataclass(frozen=True, slots=True)
class WritesSettings:
    """Bursts in which an application writes, the first one at the start."""

    __pydantic_config__ = CHECKED
    packets: Annotated[int, within(f"{_SENDER}.writes.packets")]
    interval_s: Annotated[float, within(f"{_SENDER}.writes.interval_s")]


@dataclass(frozen=True, slots=True)
class PushSettings:
    """Packets with the flag PSH: the last ones of writes; null is as much in a write as the application has."""

    __pydantic_config__ = CHECKED
    write_bytes: Annotated[int, within(f"{_SENDER}.push.write_bytes")] | None


@dataclass(frozen=True, slots=True)
class SelectiveSettings:
    """TCP sender with selective acknowledgment; null is infinite for `initial_ssthresh`, else unlimited."""

    __pydantic_config__ = CHECKED
    machine: Literal["selective"]
    congestion_control: Annotated[ControlSettings, AfterValidator(_known)]
    loss_detection: LossDetectionName
    tail_loss_probe: bool
    frto: bool
    timestamps: bool
    pacing: PacingName
    segment_bytes: Annotated[int, within("flows[].traffic.connection.sender.segment_bytes")]
    initial_window: Annotated[float, within("flows[].traffic.connection.sender.initial_window")]
    initial_ssthresh: Annotated[float, within("flows[].traffic.connection.sender.initial_ssthresh")] | None
    max_window: Annotated[int, within("flows[].traffic.connection.sender.max_window")] | None
    dupack_threshold: Annotated[int, within("flows[].traffic.connection.sender.dupack_threshold")]
    rto: TimeoutSettings
    ecn: EcnName = "off"
    """Explicit congestion notification; older results lack this field and the next four."""
    sack: bool = True
    """Whether ACKs acknowledge selectively."""
    send_buffer: SendBufferSettings | None = None
    """Send buffer; null is unlimited."""
    writes: WritesSettings | None = None
    """Bursts in which the application writes; null is all data at the start."""
    idle_restart: bool = False
    """Whether cwnd comes down while the application pauses."""
    last_packet_bytes: Annotated[int, within(f"{_SENDER}.last_packet_bytes")] | None = None
    """Length of the last packet; null is that of all. Older results lack this field and the next two."""
    push: PushSettings | None = None
    """Packets with PSH; null if none has it."""
    close: CloseName = "none"
    """End of the connection."""
    undo: UndoName = "linux"
    """Window after a spurious reduction; older results lack this field and the next one."""
    cwnd_validation: WindowValidationName = "linux"
    """Growth of a window that the application does not use."""

    recovery: ClassVar[str] = "sack"
    has_fast_retransmit: ClassVar[bool] = True
    slow_starts_after_fast_retransmit: ClassVar[bool] = False
    counts_packets: ClassVar[bool] = True

    @property
    def title(self) -> str:
        """Name of the congestion control, in sentences."""
        return f"{self.congestion_control.name} with{'' if self.sack else 'out'} selective acknowledgment"

    @property
    def grows_until_loss(self) -> bool:
        """Return whether the window grows until a loss or the receiver's window ends it."""
        control = CONGESTION_CONTROLS.get(self.congestion_control.name)
        return control is not None and control.grows_until_loss

    @property
    def is_random(self) -> bool:
        """Return whether its congestion control draws random numbers, as a class of one's own may."""
        control = CONGESTION_CONTROLS.get(self.congestion_control.name)
        return control is None or control.is_random

    def least_timeout_s(self, round_trip_s: float) -> float:
        """Compute the least retransmission timeout for a round trip [s]: Linux adds a variation of at least `min_s`."""
        if self.rto.rules == "rfc6298":
            return max(self.rto.min_s, round_trip_s)
        return round_trip_s + self.rto.min_s

    @property
    def window_packets(self) -> float:
        """The receiver's window [packets]; infinite where it is unlimited."""
        return inf if self.max_window is None else float(self.max_window)

    @property
    def halving(self) -> Halving | None:
        """Unit for which a loss halves the window, where the control is Reno's: a round trip."""
        return "per-round" if self.is_aimd else None

    @property
    def halves_at_loss(self) -> bool:
        """Return whether a loss halves the window, and congestion avoidance goes on from there."""
        return self.is_aimd

    @property
    def keeps_half_at_loss(self) -> bool:
        """Return whether a loss leaves half of the window or more: a pipe's worth of buffer then keeps a link busy."""
        return self.is_aimd or (self.is_cubic and self.congestion_control.parameters.get("beta", 1.0) >= _HALF)

    @property
    def is_cubic(self) -> bool:
        """Return whether the control is CUBIC, Linux's or the RFC's."""
        return self.congestion_control.name == CUBIC

    @property
    def is_aimd(self) -> bool:
        """Return whether the control is Reno's (RFC 5681), a half included; no model of Reno applies to another one."""
        control = self.congestion_control
        return control.name == RENO and control.parameters.get("beta", _HALF) == _HALF


def _completed(sender: Any) -> Any:
    """Add what older results lack: the machine, which was always the classic one, and the dialect's `half_window`."""
    if not isinstance(sender, dict) or sender.get("machine", "classic") != "classic":
        return sender
    dialect = sender.get("dialect")
    halves = [half for name, half in HALF_WINDOWS.items() if name == dialect]
    return {"machine": "classic", **({"half_window": halves[0]} if halves else {}), **sender}


Sender = Annotated[
    Annotated[ClassicSettings | SelectiveSettings, Field(discriminator="machine")], BeforeValidator(_completed)
]
"""A sender as a result on disk has it."""


_LINUX = "flows[].traffic.connection.receiver.linux"
_BLOCKS = "flows[].traffic.connection.receiver.blocks"


@dataclass(frozen=True, slots=True)
class LinuxReceiverSettings:
    """Settings of a receiver that sends ACKs by Linux's rules."""

    __pydantic_config__ = CHECKED
    segment_bytes: Annotated[int, within(f"{_LINUX}.segment_bytes")]
    buffer_bytes: Annotated[int, within(f"{_LINUX}.buffer_bytes")]
    most_buffer_bytes: Annotated[int, within(f"{_LINUX}.most_buffer_bytes")]
    announced: bool = False
    """Whether ACKs announce the window, so that it limits the sender; older results lack this field."""
    timestamps: bool = True
    """Whether packets have timestamps, by which the receiver measures the round trip; older results lack this field."""
    memory: Literal["paged", "veth", "linear"] = "paged"
    """The memory in which packets come; older results lack this field."""


@dataclass(frozen=True, slots=True)
class SackBlockSettings:
    """Settings of a receiver whose ACKs have ns-2's SACK blocks."""

    __pydantic_config__ = CHECKED
    most: Annotated[int, within(f"{_BLOCKS}.most")]
    bytes: Annotated[int, within(f"{_BLOCKS}.bytes")]


@dataclass(frozen=True, slots=True)
class ReceiverSettings:
    """Settings of the TCP receiver."""

    __pydantic_config__ = CHECKED
    ack_every: Annotated[int, within("flows[].traffic.connection.receiver.ack_every")]
    ack_delay_s: Annotated[float, within("flows[].traffic.connection.receiver.ack_delay_s")]
    selective: bool = False
    """Whether ACKs acknowledge selectively too (RFC 2018, RFC 2883); older results lack this field."""
    ecn: EcnName = "off"
    """Way in which it echoes marks of the network; older results lack this field."""
    linux: LinuxReceiverSettings | None = None
    """Linux's rules for sending ACKs, in place of the two numbers above; older results lack this field."""
    blocks: SackBlockSettings | None = None
    """ns-2's SACK blocks, for the recovery "sack1"; older results lack this field."""
