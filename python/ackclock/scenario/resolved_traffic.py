"""The resolved scenario's part on what flows send and when."""

from dataclasses import dataclass
from typing import Annotated, ClassVar, Final, Literal

from pydantic import ConfigDict, Field

_CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

Rate = Annotated[float, Field(ge=1, le=1e13)]
Mean = Annotated[float, Field(ge=1, le=1e12)]
WholePackets = Annotated[int, Field(ge=1, le=10**12)]
TailFraction = Annotated[float, Field(gt=0, lt=1)]
Shape = Annotated[float, Field(gt=1, le=1000)]


@dataclass(frozen=True, slots=True)
class ResolvedTime:
    """The law of a time."""

    __pydantic_config__ = _CONFIG
    law: Literal["fixed", "exponential"]
    mean_s: Annotated[float, Field(ge=0, le=1e7)]

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers."""
        return self.law != "fixed"


@dataclass(frozen=True, slots=True)
class FixedSize:
    """Always the same size."""

    __pydantic_config__ = _CONFIG
    is_random: ClassVar[bool] = False
    is_long_tailed: ClassVar[bool] = False
    law: Literal["fixed"]
    packets: WholePackets

    @property
    def mean_packets(self) -> float:
        """Mean size [packets]."""
        return float(self.packets)


@dataclass(frozen=True, slots=True)
class ExponentialSize:
    """A minimum and an exponential rest."""

    __pydantic_config__ = _CONFIG
    is_random: ClassVar[bool] = True
    is_long_tailed: ClassVar[bool] = False
    law: Literal["exponential"]
    mean_packets: Mean
    min_packets: Mean


@dataclass(frozen=True, slots=True)
class ExponentialParetoSize:
    """An exponential body and a Pareto tail."""

    __pydantic_config__ = _CONFIG
    is_random: ClassVar[bool] = True
    is_long_tailed: ClassVar[bool] = True
    law: Literal["exponential-pareto"]
    mean_packets: Mean
    min_packets: Mean
    tail_fraction: TailFraction
    shape: Shape


@dataclass(frozen=True, slots=True)
class ExponentialExponentialSize:
    """An exponential body and a longer exponential tail."""

    __pydantic_config__ = _CONFIG
    is_random: ClassVar[bool] = True
    is_long_tailed: ClassVar[bool] = True
    law: Literal["exponential-exponential"]
    mean_packets: Mean
    min_packets: Mean
    tail_fraction: TailFraction
    tail_packets: Annotated[float, Field(ge=0, le=1e12)]


@dataclass(frozen=True, slots=True)
class ParetoSize:
    """Pareto's law."""

    __pydantic_config__ = _CONFIG
    is_random: ClassVar[bool] = True
    is_long_tailed: ClassVar[bool] = True
    law: Literal["pareto"]
    mean_packets: Mean
    shape: Shape


@dataclass(frozen=True, slots=True)
class EmpiricalSize:
    """One of the given sizes."""

    __pydantic_config__ = _CONFIG
    is_random: ClassVar[bool] = True
    is_long_tailed: ClassVar[bool] = True
    law: Literal["empirical"]
    packets: Annotated[tuple[WholePackets, ...], Field(min_length=1, max_length=10**7)]

    @property
    def mean_packets(self) -> float:
        """Mean size [packets]."""
        return sum(self.packets) / len(self.packets)


ResolvedSize = (
    FixedSize | ExponentialSize | ExponentialParetoSize | ExponentialExponentialSize | ParetoSize | EmpiricalSize
)
"""Every law answers `mean_packets`, `is_random` (it draws random numbers) and `is_long_tailed`."""


@dataclass(frozen=True, slots=True)
class WebTraffic:
    """Transfers over TCP and silences in turn."""

    __pydantic_config__ = _CONFIG
    kind: Literal["web"]
    size: Annotated[ResolvedSize, Field(discriminator="law")]
    off: ResolvedTime
    classes: Annotated[tuple[WholePackets, ...], Field(max_length=1000)]

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers."""
        return self.size.is_random or self.off.is_random


@dataclass(frozen=True, slots=True)
class SteadyTraffic:
    """Packets that nobody answers, without pause."""

    __pydantic_config__ = _CONFIG
    kind: Literal["constant", "poisson"]
    rate_bps: Rate

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers."""
        return self.kind == "poisson"


@dataclass(frozen=True, slots=True)
class OnOffTraffic:
    """Packets that nobody answers, with pauses."""

    __pydantic_config__ = _CONFIG
    kind: Literal["on-off", "poisson-on-off"]
    rate_bps: Rate
    on: ResolvedTime
    off: ResolvedTime

    @property
    def is_random(self) -> bool:
        """Whether it draws random numbers."""
        return self.kind == "poisson-on-off" or self.on.is_random or self.off.is_random


ResolvedTraffic = WebTraffic | SteadyTraffic | OnOffTraffic
"""Every kind answers `is_random`: whether it draws random numbers."""
