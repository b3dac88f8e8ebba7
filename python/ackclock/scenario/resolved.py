"""The resolved scenario: SI numbers, nothing implicit. It is what the engine runs and what a result keeps."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Annotated, Any, Final, Literal, cast

from pydantic import Field, TypeAdapter, ValidationError
from pydantic_core import to_json

from ackclock.errors import Fault, ScenarioError
from ackclock.quantities import QUANTITIES
from ackclock.scenario.arguments import INDENT, check_arguments, instance_of
from ackclock.scenario.contract import CHECKED, Whole, within
from ackclock.scenario.places import as_toml
from ackclock.scenario.programs import ControlProgram
from ackclock.scenario.resolved_atm import AtmSettings, EndSettings
from ackclock.scenario.resolved_elements import ChannelDirection, Element
from ackclock.scenario.resolved_faults import field_faults
from ackclock.scenario.resolved_flows import ResolvedFlow
from ackclock.scenario.resolved_formats import OLD_FORMATS, in_format_3
from ackclock.scenario.resolved_numbers import number_faults
from ackclock.scenario.resolved_traffic import WebTraffic
from ackclock.scenario.schema import MOST_FLOWS, MOST_LINKS, MOST_REPLICATIONS
from ackclock.units import show

ALL_FLOWS: Final = "*"
"""The name of all flows together in a precision."""
WarmUp = Annotated[float, within("run.warmup_s")]
Share = Annotated[float, Field(gt=0, le=1)]
Picture = Annotated[float, within("trace.overview_interval_s")]


ElementName = Literal["flow", "link", "completion", "ping"]
"""Kinds of what has quantities, as in `ackclock.quantities.QUANTITIES`."""


@dataclass(frozen=True, slots=True)
class PrecisionSettings:
    """The quantity whose interval ends the run, and how narrow it must be."""

    __pydantic_config__ = CHECKED
    element: ElementName
    name: str
    quantity: str
    within: Share
    most: Annotated[int, Field(ge=2, le=MOST_REPLICATIONS)]
    batch: Annotated[int, Field(ge=2, le=MOST_REPLICATIONS)]
    longest_s: Annotated[float, within("run.duration_s")] | None = None


@dataclass(frozen=True, slots=True)
class RunSettings:
    """Duration, replications and seed of a run."""

    __pydantic_config__ = CHECKED
    duration_s: Annotated[float, within("run.duration_s")]
    warmup_s: WarmUp
    replications: Annotated[int, Field(ge=1, le=MOST_REPLICATIONS)]
    seed: Whole
    confidence: Annotated[float, Field(gt=0, lt=1)]
    precision: PrecisionSettings | None
    delays: bool = True
    """Whether distributions of delays are measured; older results lack this field."""

    @property
    def measured_s(self) -> float:
        """The time that the counters cover, from the warm-up to the end [s]."""
        return self.duration_s - self.warmup_s


@dataclass(frozen=True, slots=True)
class TraceSettings:
    """Selection of what is recorded."""

    __pydantic_config__ = CHECKED
    cwnd: bool
    rtt: bool
    sequence: bool
    queue: bool
    queue_distribution: bool
    drops: bool
    losses: bool
    overview_interval_s: Picture | None
    capture: tuple[str, ...] | None
    delay: bool
    recovery: bool
    rounds: bool
    overview_detail_s: Picture | None
    state: bool = False
    """States of senders with selective acknowledgment; older results lack this field."""
    rate: bool = False
    """Rates of links that change; older results lack this field."""
    aqm: bool = False
    """States of the AQM of queues; older results lack this field."""


@dataclass(frozen=True, repr=False)
class Resolved:
    """A scenario in SI numbers with nothing implicit.

    Notes
    -----
    The fields and their order are those of the JSON form; names carry their unit. `from_dict` and `from_json` check all
    that they read, the constructor and `dataclasses.replace` nothing: `check` does, which `run` and `predict` call.
    """

    __pydantic_config__ = CHECKED
    format: Literal[3]
    title: str
    run: RunSettings
    elements: Annotated[
        tuple[Annotated[Element, Field(discriminator="kind")], ...], Field(min_length=1, max_length=MOST_LINKS)
    ]
    flows: Annotated[tuple[ResolvedFlow, ...], Field(min_length=1, max_length=MOST_FLOWS)]
    trace: TraceSettings
    atm: AtmSettings | None

    @cached_property
    def rows(self) -> tuple[ResolvedFlow, ...]:
        """The flows that a summary has rows for: single flows, but a large group as one."""
        return tuple(row for flow in self.flows for row in ([flow] if flow.is_large_group else flow.singles()))

    @cached_property
    def flow_names(self) -> tuple[str, ...]:
        """The names of all single flows, in the order of the engine's columns."""
        return tuple(name for flow in self.flows for name in flow.names)

    @cached_property
    def elements_by_name(self) -> dict[str, Element]:
        """The elements by name."""
        return {element.name: element for element in self.elements}

    @cached_property
    def element_indices(self) -> dict[str, int]:
        """The index of each element by its name."""
        return {element.name: index for index, element in enumerate(self.elements)}

    @cached_property
    def crossing_flows(self) -> tuple[tuple[int, ...], ...]:
        """The flows that cross each element, there or back, by their indices in rising order."""
        crossing: list[list[int]] = [[] for _ in self.elements]
        for position, flow in enumerate(self.flows):
            for element in flow.crossed:
                crossing[element].append(position)
        return tuple(map(tuple, crossing))

    @cached_property
    def element_copies(self) -> tuple[int, ...]:
        """The number of copies of each element: of a private link one for each flow that crosses it, else one."""
        crossing = [0] * len(self.elements)
        for flow in self.flows:
            for element in flow.crossed:
                crossing[element] += flow.count
        counted = zip(self.elements, crossing, strict=True)
        return tuple(max(1, count) if element.kind == "private-link" else 1 for element, count in counted)

    @cached_property
    def is_deterministic(self) -> bool:
        """Return whether nothing draws random numbers, so that all replications are the same."""
        return not (any(flow.is_random for flow in self.flows) or any(element.is_random for element in self.elements))

    def channel_end(self, element: int) -> EndSettings | None:
        """Return the end of the ATM channel that packets enter at an element; None for any other element."""
        found = self.elements[element]
        if self.atm is None or not isinstance(found, ChannelDirection):
            return None
        channel = self.atm.channels[found.end // 2]
        return channel.far if found.end % 2 else channel.near

    def __repr__(self) -> str:
        if self._faults:
            return f"<Resolved with {len(self._faults)} fault{'s' * (len(self._faults) != 1)}, which check() lists>"
        flows = sum(flow.count for flow in self.flows)
        counts = f"{flows:,} flow{'s' * (flows != 1)}, {len(self.elements):,} element{'s' * (len(self.elements) != 1)}"
        return f"<Resolved {self.title!r}: {counts}, {show(self.run.duration_s, 's')}>"

    @property
    def programs(self) -> dict[str, ControlProgram]:
        """The classes of congestion controls that its runs are given, by their names."""
        return {name: program for flow in self.flows for name, program in flow.programs.items()}

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

        Raises
        ------
        ArgumentError
            If the indentation is not a whole number from 1 to 100.
        """
        check_arguments("to_json", indent=(indent, INDENT.or_none()))
        return to_json(self, indent=indent).decode()

    def check(self) -> None:
        """Check all fields as `from_json` does, once for each object; needed after `dataclasses.replace`.

        Raises
        ------
        ScenarioError
            With all that is wrong.
        """
        if self._faults:
            raise ScenarioError(self._faults, "resolved scenario")

    @cached_property
    def _faults(self) -> tuple[Fault, ...]:
        try:
            _adapter().validate_python(self)
        except ValidationError as error:
            return tuple(field_faults(error))
        return tuple(_cross_faults(self))

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Resolved":
        """Read what `to_dict` gave, as `from_json` reads its text."""
        check_arguments("from_dict", data=(data, instance_of("a mapping, which to_dict() gives", Mapping)))
        try:
            text = json.dumps(dict(data), allow_nan=True)
        except (TypeError, ValueError, RecursionError) as error:
            raise _unreadable(error) from None
        return cls.from_json(text)

    @classmethod
    def from_json(cls, text: str) -> "Resolved":
        """Read the JSON form again, and check it.

        Parameters
        ----------
        text : str
            What `to_json` gave, in this format or an older one.

        Returns
        -------
        Resolved
            The same scenario.

        Raises
        ------
        ScenarioError
            With all that is wrong.
        """
        check_arguments("from_json", text=(text, instance_of("the text of a JSON object", str, bytes, bytearray)))
        try:
            resolved = _read(text)
        except ValidationError as error:
            raise ScenarioError(field_faults(error), "resolved scenario") from None
        except (TypeError, ValueError, RecursionError) as error:
            raise _unreadable(error) from None
        faults = _cross_faults(resolved)
        if faults:
            raise ScenarioError(faults, "resolved scenario")
        return known_valid(resolved)


def known_valid(resolved: Resolved) -> Resolved:
    """Note that what a scenario was made from has been checked, so that `check`, which takes 20 ms once, need not."""
    vars(resolved)["_faults"] = ()
    return resolved


def _read(text: str) -> Resolved:
    try:
        return _adapter().validate_json(text)
    except ValidationError as error:
        if not any(detail["loc"] == ("format",) for detail in error.errors(include_url=False)):
            raise
        old = json.loads(text)
        if not isinstance(old, dict) or old.get("format") not in OLD_FORMATS:
            raise
    try:
        form = in_format_3(old)
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"not a scenario in format {old['format']}: {error!r}") from None
    return _adapter().validate_json(json.dumps(form))


def _unreadable(error: Exception) -> ScenarioError:
    return ScenarioError([Fault("resolved scenario", f"cannot be read: {error}")], "resolved scenario")


@lru_cache(maxsize=1)
def _adapter() -> TypeAdapter[Resolved]:
    return TypeAdapter(Resolved)


def _cross_faults(resolved: Resolved) -> list[Fault]:
    """Give the faults between fields that are each valid."""
    faults = []
    if resolved.run.warmup_s >= resolved.run.duration_s:
        faults.append(_cross_fault("run.warmup_s", "is not shorter than the duration", resolved.run.warmup_s))
    for index, flow in enumerate(resolved.flows):
        faults += _flow_faults(f"flows[{index}]", flow, len(resolved.elements))
    known = {element.name for element in resolved.elements}
    captured = resolved.trace.capture or ()
    unknown = [name for name in captured if name not in known]
    faults += [_cross_fault("trace.capture", "names an unknown link", name) for name in unknown]
    ends = 2 * len(resolved.atm.channels) if resolved.atm else 0
    given = [element.end for element in resolved.elements if isinstance(element, ChannelDirection)]
    if sorted(given) != list(range(ends)):
        faults.append(_cross_fault("elements", f"has not one channel for each of the {ends} ends", given))
    return [*faults, *_precision_faults(resolved), *number_faults(resolved.elements, resolved.flows)]


def _cross_fault(field: str, problem: str, given: object) -> Fault:
    return Fault(f"resolved scenario, field {field}", problem, given=as_toml(given))


def _flow_faults(place: str, flow: ResolvedFlow, elements: int) -> list[Fault]:
    faults = []
    crossed = flow.crossed
    if max(crossed) >= elements:
        faults.append(_cross_fault(f"{place}.path", f"names an element beyond the last, {elements - 1}", crossed))
    if len(set(crossed)) < len(crossed):
        faults.append(_cross_fault(f"{place}.path", "crosses an element twice", crossed))
    if isinstance(flow.traffic, WebTraffic) and list(flow.traffic.classes) != sorted(set(flow.traffic.classes)):
        faults.append(_cross_fault(f"{place}.traffic.classes", "is not in rising order", flow.traffic.classes))
    return faults


def _names(element: Element | ResolvedFlow) -> set[str]:
    """Return the names by which an element, or one of several identical flows, may be meant."""
    if not isinstance(element, ResolvedFlow) or element.is_large_group:
        return {element.name}
    return {element.name, *element.names}


def _precision_faults(resolved: Resolved) -> Iterator[Fault]:
    precision = resolved.run.precision
    if precision is None:
        return
    place = "resolved scenario, field run.precision"
    elements: tuple[Element | ResolvedFlow, ...] = {
        "flow": resolved.flows,
        "link": resolved.elements,
        "completion": tuple(flow for flow in resolved.flows if flow.has_transfers),
        "ping": tuple(flow for flow in resolved.flows if flow.kind == "ping"),
    }[precision.element]
    if precision.quantity not in QUANTITIES[precision.element]:
        yield Fault(f"{place}.quantity", "is not a quantity of a result", given=as_toml(precision.quantity))
    all_flows = precision.element == "flow" and precision.name == ALL_FLOWS
    of_groups = precision.element in {"completion", "ping"}
    if not all_flows and not any(precision.name in ({each.name} if of_groups else _names(each)) for each in elements):
        yield Fault(f"{place}.name", f"names an unknown {precision.element}", given=as_toml(precision.name))
