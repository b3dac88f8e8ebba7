"""The resolved form of an ATM network among the links."""

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import Field

from ackclock.scenario.contract import CHECKED, Whole

Rate = Annotated[float, Field(ge=1, le=1e12)]
Seconds = Annotated[float, Field(ge=0, le=1e5)]
Factor = Annotated[float, Field(ge=0, le=1)]
Cells = Annotated[Whole, Field(ge=1)]
Indices = tuple[Whole, ...]
Path = Annotated[Indices, Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class NoAllocation:
    """A port without explicit rates."""

    __pydantic_config__ = CHECKED
    algorithm: Literal["none"]


@dataclass(frozen=True, slots=True)
class ShareAllocation:
    """A port that gives max-min shares as explicit rates."""

    __pydantic_config__ = CHECKED
    algorithm: Literal["two-pass", "by-ccr"]
    utilization: Factor


@dataclass(frozen=True, slots=True)
class EricaAllocation:
    """A port with ERICA."""

    __pydantic_config__ = CHECKED
    algorithm: Literal["erica"]
    utilization: Factor
    interval_s: Seconds


Allocation = NoAllocation | ShareAllocation | EricaAllocation


@dataclass(frozen=True, slots=True)
class PortSettings:
    """An output port and the simplex link behind it."""

    __pydantic_config__ = CHECKED
    name: str
    rate_bps: Rate
    delay_s: Seconds
    buffer_cells: Cells | None
    efci_cells: Cells | None
    allocation: Annotated[Allocation, Field(discriminator="algorithm")]


@dataclass(frozen=True, slots=True)
class AbrSettings:
    """Parameters of an ABR source."""

    __pydantic_config__ = CHECKED
    pcr_bps: Rate
    mcr_bps: Annotated[float, Field(ge=0, le=1e12)]
    icr_bps: Rate
    nrm: Annotated[int, Field(ge=2, le=256)]
    mrm: Annotated[int, Field(ge=1, le=256)]
    trm_s: Seconds
    rif: Factor
    rdf: Factor
    cdf: Factor
    adtf_s: Seconds
    tbe_cells: Whole


IpService = Literal["channel-rate", "immediate"] | Annotated[dict[Literal["rate-bps"], Rate], Field(min_length=1)]


@dataclass(frozen=True, slots=True)
class EndSettings:
    """One end of a channel."""

    __pydantic_config__ = CHECKED
    abr: AbrSettings
    ip_service: IpService


@dataclass(frozen=True, slots=True)
class ChannelSettings:
    """A duplex channel: the ports of both ways."""

    __pydantic_config__ = CHECKED
    name: str
    forward: Path
    backward: Path
    near: EndSettings
    far: EndSettings


@dataclass(frozen=True, slots=True)
class CrossSettings:
    """Cross-traffic of cells."""

    __pydantic_config__ = CHECKED
    name: str
    path: Path
    rate_bps: Rate
    start_s: Seconds
    stop_s: Seconds | None


@dataclass(frozen=True, slots=True)
class AtmTraceSettings:
    """Selection of what is recorded of the ATM network."""

    __pydantic_config__ = CHECKED
    acr: bool
    ip_queue: bool
    cell_queue: bool
    drops: bool


@dataclass(frozen=True, slots=True)
class AtmSettings:
    """A network: ports, channels, cross-traffic."""

    __pydantic_config__ = CHECKED
    ports: tuple[PortSettings, ...]
    channels: tuple[ChannelSettings, ...]
    cross: tuple[CrossSettings, ...]
    trace: AtmTraceSettings
