"""The resolved form of TCP's ends, and what each recovery does: the one place that knows it by name."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import inf
from typing import Annotated, Any, Final, Literal

from pydantic import BeforeValidator, ConfigDict

from ackclock.scenario.contract import within
from ackclock.scenario.schema_tcp import (
    DialectName,
    EstimatorName,
    HalfWindowName,
    IncreaseName,
    PartialAckTimerName,
    RecoveryName,
    SampleName,
    SlowStartName,
)

_CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

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


RECOVERIES: Final[Mapping[RecoveryName, Recovery]] = {
    "old-tahoe": Recovery(fast_retransmit=False, halving=None),
    "tahoe": Recovery(fast_retransmit=True, halving=None),
    "reno": Recovery(fast_retransmit=True, halving="per-loss"),
    "newreno": Recovery(fast_retransmit=True, halving="per-round"),
}
"""The behaviour of each recovery."""

HALF_WINDOWS: Final[Mapping[DialectName, HalfWindowName]] = {
    "ns2": "whole-packets",
    "rfc": "fractional",
    "engset": "whole-packets",
}
"""The half of a window that each dialect takes where the scenario does not say."""

ADDITIVE_INCREASES: Final[frozenset[IncreaseName]] = frozenset({"reciprocal", "reciprocal-floor", "counted"})
"""The increases that add a packet to the window in each round trip of congestion avoidance."""


@dataclass(frozen=True, slots=True)
class RtoSettings:
    """Settings of the retransmission timer."""

    __pydantic_config__ = _CONFIG
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
class SenderSettings:
    """TCP sender, one choice an axis; null is "max_window" for `initial_ssthresh`, else unlimited or infinite."""

    __pydantic_config__ = _CONFIG
    dialect: DialectName
    recovery: RecoveryName
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
    def is_aimd(self) -> bool:
        """Return whether congestion avoidance adds a packet a round trip, and a loss halves the threshold (RFC 5681).

        The formulas for TCP's throughput and the rules for buffers assume it. Every recovery halves the threshold.
        """
        return self.increase in ADDITIVE_INCREASES


def _with_half_window(sender: Any) -> Any:
    """Add the dialect's `half_window`, which older results lack."""
    dialect = sender.get("dialect") if isinstance(sender, dict) else None
    halves = [half for name, half in HALF_WINDOWS.items() if name == dialect]
    return {"half_window": halves[0], **sender} if halves else sender


Sender = Annotated[SenderSettings, BeforeValidator(_with_half_window)]
"""A sender as a result on disk has it."""


@dataclass(frozen=True, slots=True)
class ReceiverSettings:
    """Settings of the TCP receiver."""

    __pydantic_config__ = _CONFIG
    ack_every: Annotated[int, within("flows[].traffic.connection.receiver.ack_every")]
    ack_delay_s: Annotated[float, within("flows[].traffic.connection.receiver.ack_delay_s")]
