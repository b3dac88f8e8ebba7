"""The resolved scenario: SI numbers, nothing implicit. It is what the engine runs and what a result keeps."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, Final, Literal, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic_core import to_json

from ackclock.errors import Fault, ScenarioError
from ackclock.quantities import QUANTITIES
from ackclock.scenario.contract import within
from ackclock.scenario.places import as_toml
from ackclock.scenario.resolved_atm import AtmSettings, ChannelsSettings, EndSettings
from ackclock.scenario.resolved_flows import ResolvedFlow
from ackclock.scenario.resolved_links import SimplexLink
from ackclock.scenario.resolved_queues import Probability
from ackclock.scenario.resolved_traffic import WebTraffic
from ackclock.scenario.schema import MOST_FLOWS, MOST_LINKS
from ackclock.units import show

_CONFIG: Final = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)

WarmUp = Annotated[float, within("run.warmup_s")]
Picture = Annotated[float, within("trace.overview_interval_s")]


@dataclass(frozen=True, slots=True)
class PrecisionSettings:
    """The quantity whose interval ends the run, and how narrow it must be."""

    __pydantic_config__ = _CONFIG
    element: Literal["flow", "link"]
    name: str
    quantity: str
    within: Probability
    most: Annotated[int, Field(ge=2, le=10**6)]
    batch: Annotated[int, Field(ge=2, le=10**6)]


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Duration, replications and seed of a run."""

    __pydantic_config__ = _CONFIG
    duration_s: Annotated[float, within("run.duration_s")]
    warmup_s: WarmUp
    replications: Annotated[int, Field(ge=1)]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    confidence: Annotated[float, Field(gt=0, lt=1)]
    precision: PrecisionSettings | None = None

    @property
    def measured_s(self) -> float:
        """The time that the counters cover, from the warm-up to the end [s]."""
        return self.duration_s - self.warmup_s


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """Selection of what is recorded."""

    __pydantic_config__ = _CONFIG
    cwnd: bool
    rtt: bool
    sequence: bool
    queue: bool
    queue_distribution: bool
    drops: bool
    losses: bool
    overview_interval_s: Picture | None
    capture: tuple[str, ...] | None
    delay: bool = False
    recovery: bool = False
    rounds: bool = False
    overview_detail_s: Picture | None = None


@dataclass(frozen=True, repr=False)
class Resolved:
    """A scenario in SI numbers with nothing implicit.

    Notes
    -----
    The fields and their order are those of the JSON form; names carry their unit. `from_dict` and `from_json` check all
    that they read, the constructor nothing.
    """

    __pydantic_config__ = _CONFIG
    format: Literal[1, 2]
    title: str
    run: RunSettings
    links: Annotated[tuple[SimplexLink, ...], Field(min_length=1, max_length=MOST_LINKS)]
    flows: Annotated[tuple[ResolvedFlow, ...], Field(min_length=1, max_length=MOST_FLOWS)]
    trace: TraceSettings
    atm: ChannelsSettings | None = None

    @cached_property
    def rows(self) -> tuple[ResolvedFlow, ...]:
        """The flows that a summary has rows for: single flows, but a large group as one."""
        return tuple(row for flow in self.flows for row in ([flow] if flow.is_large_group else flow.singles()))

    @cached_property
    def flow_names(self) -> tuple[str, ...]:
        """The names of all single flows, in the order of the engine's columns."""
        return tuple(name for flow in self.flows for name in flow.names)

    @cached_property
    def links_by_name(self) -> dict[str, SimplexLink]:
        """The links by name."""
        return {link.name: link for link in self.links}

    @cached_property
    def link_copies(self) -> tuple[int, ...]:
        """The number of copies of each link: one for each flow that crosses it where it is private, else one."""
        crossing = [0] * len(self.links)
        for flow in self.flows:
            for link in flow.crossed:
                crossing[link] += flow.count
        return tuple(max(1, count) if link.private else 1 for link, count in zip(self.links, crossing, strict=True))

    @cached_property
    def is_deterministic(self) -> bool:
        """Return whether nothing draws random numbers, so that all replications are the same."""
        return not (any(flow.is_random for flow in self.flows) or any(link.is_random for link in self.links))

    @property
    def network(self) -> AtmSettings | None:
        """The scenario's ATM network."""
        return None if self.atm is None else self.atm.network

    def channel_end(self, link: int) -> EndSettings | None:
        """Return the end of the ATM channel that a link represents; None for any other link."""
        if self.atm is None or link not in self.atm.links:
            return None
        place = self.atm.links.index(link)
        channel = self.atm.network.channels[place // 2]
        return channel.far if place % 2 else channel.near

    def __repr__(self) -> str:
        flows = sum(flow.count for flow in self.flows)
        counts = f"{flows:,} flow{'s' * (flows != 1)}, {len(self.links):,} simplex link{'s' * (len(self.links) != 1)}"
        return f"<Resolved {self.title!r}: {counts}, {show(self.run.duration_s, 's')}>"

    def to_dict(self) -> dict[str, Any]:
        """Give the JSON form as dicts and lists.

        Returns
        -------
        dict
            The fields in their fixed order.
        """
        return cast("dict[str, Any]", _adapter().dump_python(self, mode="json"))

    def to_json(self, indent: int | None = None) -> str:
        """Give the JSON form as text, the same for the same scenario.

        Parameters
        ----------
        indent : int, optional
            Spaces of indentation; without it all is on one line.

        Returns
        -------
        str
            JSON.
        """
        return to_json(self, indent=indent).decode()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Resolved":
        """Read the JSON form again, and check it.

        Parameters
        ----------
        data : mapping
            What `to_dict` gave.

        Returns
        -------
        Resolved
            The same scenario.

        Raises
        ------
        ScenarioError
            With all that is wrong.
        """
        try:
            text = json.dumps(data, allow_nan=True)
        except (TypeError, ValueError, RecursionError) as error:
            raise ScenarioError(
                [Fault("resolved scenario", f"is not valid JSON: {error}")], "resolved scenario"
            ) from None
        return cls.from_json(text)

    @classmethod
    def from_json(cls, text: str) -> "Resolved":
        """Read the text of the JSON form again, and check it.

        Parameters
        ----------
        text : str
            What `to_json` gave.

        Returns
        -------
        Resolved
            The same scenario.

        Raises
        ------
        ScenarioError
            With all that is wrong.
        """
        try:
            resolved = _adapter().validate_json(text)
        except ValidationError as error:
            raise ScenarioError(_faults(error), "resolved scenario") from None
        except (TypeError, ValueError, RecursionError) as error:
            raise ScenarioError(
                [Fault("resolved scenario", f"is not valid JSON: {error}")], "resolved scenario"
            ) from None
        faults = _cross_faults(resolved)
        if faults:
            raise ScenarioError(faults, "resolved scenario")
        return resolved


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Resolved]:
    return TypeAdapter(Resolved)


def _faults(error: ValidationError) -> list[Fault]:
    return [
        Fault(
            f"resolved scenario, field {_path(detail['loc'])}",
            detail["msg"][:1].lower() + detail["msg"][1:],
            given=None if detail["type"] == "missing" else as_toml(detail["input"]),
        )
        for detail in error.errors(include_url=False)
        if not (detail["type"] == "too_short" and detail["input"])  # follows from a fault within
    ]


def _path(location: tuple[str | int, ...]) -> str:
    if location[2:3] in {("buffer",), ("queue",), ("traffic",)}:  # the next part distinguishes the kinds of the union
        location = (*location[:3], *location[4:])
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in location).lstrip(".") or "(all)"


def _cross_faults(resolved: Resolved) -> list[Fault]:
    faults = []
    if resolved.run.warmup_s >= resolved.run.duration_s:
        faults.append(_cross_fault("run.warmup_s", "is not shorter than the duration", resolved.run.warmup_s))
    for index, flow in enumerate(resolved.flows):
        faults += _flow_faults(f"flows[{index}]", flow, len(resolved.links))
    for index, link in enumerate(resolved.links):
        if link.private and link.queue.discipline != "drop-tail":
            problem = "belongs to a private link, which takes drop-tail"
            faults.append(_cross_fault(f"links[{index}].queue", problem, link.queue.discipline))
    known = {link.name for link in resolved.links}
    captured = resolved.trace.capture or ()
    unknown = [name for name in captured if name not in known]
    faults += [_cross_fault("trace.capture", "names an unknown link", name) for name in unknown]
    if resolved.atm and max(resolved.atm.links, default=0) >= len(resolved.links):
        problem = f"names a link beyond the last, {len(resolved.links) - 1}"
        faults.append(_cross_fault("atm.links", problem, resolved.atm.links))
    return [*faults, *_precision_faults(resolved)]


def _cross_fault(field: str, problem: str, given: object) -> Fault:
    return Fault(f"resolved scenario, field {field}", problem, given=as_toml(given))


def _flow_faults(place: str, flow: ResolvedFlow, links: int) -> list[Fault]:
    faults = []
    crossed = flow.path + flow.return_path
    if max(crossed) >= links:
        faults.append(_cross_fault(f"{place}.path", f"names a link beyond the last, {links - 1}", crossed))
    if len(set(crossed)) < len(crossed):
        faults.append(_cross_fault(f"{place}.path", "crosses a link twice", crossed))
    if flow.traffic is not None and flow.size_packets is not None:
        faults.append(_cross_fault(f"{place}.size_packets", "is given in addition to traffic", flow.size_packets))
    if isinstance(flow.traffic, WebTraffic) and list(flow.traffic.classes) != sorted(set(flow.traffic.classes)):
        faults.append(_cross_fault(f"{place}.traffic.classes", "is not in rising order", flow.traffic.classes))
    return faults


def _names(element: SimplexLink | ResolvedFlow) -> set[str]:
    """Return the names by which an element, or one of several identical flows, may be meant."""
    if isinstance(element, SimplexLink) or element.is_large_group:
        return {element.name}
    return {element.name, *element.names}


def _precision_faults(resolved: Resolved) -> Iterator[Fault]:
    precision = resolved.run.precision
    if precision is None:
        return
    place = "resolved scenario, field run.precision"
    elements: tuple[SimplexLink | ResolvedFlow, ...] = resolved.links if precision.element == "link" else resolved.flows
    if precision.quantity not in QUANTITIES[precision.element]:
        yield Fault(f"{place}.quantity", "is not a quantity of a result", given=as_toml(precision.quantity))
    if not any(precision.name in _names(each) for each in elements):
        yield Fault(f"{place}.name", f"names an unknown {precision.element}", given=as_toml(precision.name))
