"""Each model has its record: one shape, limits that the function enforces, and no limit declared twice."""

import ast
import dataclasses
import inspect
import math
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from ackclock import models
from ackclock.errors import ModelError
from ackclock.models import domain, limits
from ackclock.models.citations import citations
from ackclock.models.domain import Limits, Model
from models.good_arguments import ALTERNATIVE, GOOD, PACKAGES

FOLDER = Path(models.__file__).parent
# Functions that read files compute no model.
READERS = {"read_capture", "read_csv", "read_parquet", "read_segments", "rounds_of"}
LONGEST_SIGNATURE = 300

RECORDS: list[tuple[str, Model]] = [
    (f"{package}.{name}", record) for package, module in PACKAGES.items() for name, record in module.MODELS.items()
]
SHARED = {name: value for name, value in vars(limits).items() if isinstance(value, Limits)}


def public_functions() -> list[tuple[str, Callable[..., Any]]]:
    return [
        (f"{package}.{name}", value)
        for package, module in PACKAGES.items()
        for name in module.__all__
        if inspect.isfunction(value := getattr(module, name))
    ]


def test_every_public_function_has_its_record() -> None:
    without = [
        place
        for place, function in public_functions()
        if function.__name__ not in READERS and place not in dict(RECORDS)
    ]
    assert not without


@pytest.mark.parametrize(("place", "record"), RECORDS, ids=[place for place, _ in RECORDS])
def test_a_record_says_what_it_computes_from_where_and_for_which_arguments(place: str, record: Model) -> None:
    parameters = inspect.signature(record.function).parameters
    assert place.endswith(f".{record.name}")
    assert record.computes.endswith((".", ":"))
    assert not citations(record.computes)
    assert record.citations
    assert record.source
    assert set(record.arguments) <= set(parameters)
    numbers = {
        name
        for name, parameter in parameters.items()
        if parameter.annotation in {domain.ArrayLike, domain.FloatArray, float, int}
    }
    assert numbers - {"multiplexing"} <= set(record.arguments)
    if record.quantities is None:
        assert set(record.domain) <= set(record.arguments)


def test_a_misspelt_argument_is_not_silently_trusted() -> None:
    with pytest.raises(ModelError, match="square_root_rate: has no such argument; given loss; allowed round_trip_time"):
        PACKAGES["classics"].MODELS["square_root_rate"].warnings(loss=0.2)


@pytest.mark.parametrize(("place", "function"), public_functions(), ids=[place for place, _ in public_functions()])
def test_signatures_can_be_read(place: str, function: Callable[..., Any]) -> None:
    assert len(str(inspect.signature(function))) <= LONGEST_SIGNATURE


# ---- limits are declared once


def interval(found: Limits) -> tuple[object, ...]:
    return found.low, found.high, found.low_included, found.high_included, found.unit, found.whole


def declared(path: Path) -> list[Limits]:
    """Evaluate the calls of Limits in a file that hold numbers alone."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Limits":
            try:
                found.append(eval(ast.unparse(node), {"Limits": Limits, "inf": math.inf}))
            except NameError:
                continue
    return found


def test_no_package_declares_a_copy_of_what_is_shared() -> None:
    files = [path for name in PACKAGES for path in (FOLDER / name).glob("*.py")]
    shared = {interval(value) for value in SHARED.values()}
    copies = [f"{path.parent.name}/{path.name}: {one}" for path in files for one in declared(path)
              if interval(one) in shared and not one.reason]  # fmt: skip
    assert not copies
    names = [node.name for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
             if isinstance(node, ast.FunctionDef | ast.ClassDef)]  # fmt: skip
    assert not {"whole", "checked", "plain", "Model", "Limits"} & set(names)


def test_no_two_packages_declare_the_same_limits() -> None:
    by_package = [
        {interval(one) for path in (FOLDER / name).glob("*.py") for one in declared(path) if not one.reason}
        for name in PACKAGES
    ]
    assert max(Counter(one for found in by_package for one in found).values(), default=1) == 1


# ---- the limits of a record are those that its function enforces


def outside(allowed: Limits) -> list[float]:
    """List numbers just outside the limits, nan among them."""
    found = [math.nan]
    if allowed.low > -math.inf:
        found.append(allowed.low - 0.001 if allowed.low_included else allowed.low)
    if allowed.high < math.inf or not allowed.high_included:
        found.append(allowed.high + 0.001 if allowed.high_included else allowed.high)
    if allowed.whole:
        found.append(max(allowed.low, 0.0) + 1.5)
    return found


def inside(allowed: Limits) -> float:
    """Return a number amid the limits; whole, where the ends are."""
    low = max(allowed.low, 0.0)
    return (low + min(allowed.high, low + 2.0)) / 2.0


def spoilt(given: Any, value: float) -> Any:
    if np.ndim(given) == 0:
        return value
    array = np.array(given, dtype=np.float64)
    array.flat[0] = value
    return array


@pytest.mark.parametrize(("place", "record"), RECORDS, ids=[place for place, _ in RECORDS])
def test_a_function_enforces_the_limits_of_its_record(place: str, record: Model) -> None:
    given = GOOD.get(place, {name: inside(allowed) for name, allowed in record.arguments.items()})
    record.function(**given)
    for name, allowed in record.arguments.items():
        good = given if name in given else ALTERNATIVE[place]
        if np.ndim(good[name]) == 0 and not isinstance(good[name], int | float):
            continue
        for value in outside(allowed):
            with pytest.raises(ModelError) as caught:
                record.function(**{**good, name: spoilt(good[name], value)})
            assert caught.value.fault.problem in {"is out of range", "is not a whole number"}, (name, value)


# ---- whatever is wrong with an argument, the error is a ModelError that names it


WRONG: list[Any] = [
    "text", "3", "", b"3", None, object(), {}, [], [[1.0], [2.0, 3.0]], [["a"]], 1j, 10**400,
    [0.1] * 7, np.array([0.5, 0.4]), [[0.5]], np.float64(1.0), True,
]  # fmt: skip
EXTREME = [math.inf, -math.inf, 1e308, -1e308, 1e-320]


def wrong_arguments(record: Model, good: dict[str, Any], name: str) -> list[Any]:
    """List objects of all kinds and, for a number, numbers out of range and at the ends of what floats hold."""
    if name not in record.arguments:
        return WRONG
    numbers = [*outside(record.arguments[name]), *EXTREME]
    return [*WRONG, *numbers, *(spoilt(good[name], number) for number in numbers if np.ndim(good.get(name, 0.0)))]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("place", "record"), RECORDS, ids=[place for place, _ in RECORDS])
def test_an_error_names_an_argument_that_its_caller_wrote(place: str, record: Model) -> None:
    given = GOOD.get(place, {name: inside(allowed) for name, allowed in record.arguments.items()})
    parameters = inspect.signature(record.function).parameters
    odd = []
    for name in parameters:
        good = ALTERNATIVE[place] if name not in given and place in ALTERNATIVE else given
        for value in wrong_arguments(record, good, name):
            try:
                record.function(**{**good, name: value})
            except ModelError as error:
                named = set(error.fault.place.split(", "))
                # An argument that does not fit another one may be named by that one, which the caller wrote too.
                if not (name in named or named <= set(good)) or not named <= set(parameters):
                    odd.append((name, value, str(error)))
    assert not odd


# ---- a result beyond what floats hold is an error


BEYOND = [1e300, 1e-300, 1e155, 1e-155]
NAN_SAYS_THAT_THERE_IS_NONE = {
    "abrupt_delay.spurious_timeout", "abrupt_delay.spurious_fast_retransmit",
    "abrupt_delay.fast_retransmit_round_trip_time",
    "bottlenecks.avoidance_start", "bottlenecks.intermediate_rates", "bottlenecks.intermediate_rates_approximate",
    "bottlenecks.retransmission_loss", "bottlenecks.cycle", "engset.superposition", "engset.buffer_rule",
    "two_way.timeline",
}  # fmt: skip


def has_nan(result: Any) -> bool:
    if dataclasses.is_dataclass(result):
        return any(has_nan(getattr(result, field.name)) for field in dataclasses.fields(result))
    if isinstance(result, tuple | list):
        return any(map(has_nan, result))
    numbers = np.asarray(result)
    return numbers.dtype.kind == "f" and bool(np.isnan(numbers).any())


@pytest.mark.parametrize(
    ("place", "record"),
    [(place, record) for place, record in RECORDS if place not in NAN_SAYS_THAT_THERE_IS_NONE],
    ids=[place for place, _ in RECORDS if place not in NAN_SAYS_THAT_THERE_IS_NONE],
)
def test_no_argument_is_so_extreme_that_a_result_is_not_a_number(place: str, record: Model) -> None:
    given = GOOD.get(place, {name: inside(allowed) for name, allowed in record.arguments.items()})
    numbers = [name for name in record.arguments if isinstance(given.get(name), int | float)]
    for name in numbers:
        for value in BEYOND:
            try:
                result = record.function(**{**given, name: value})
            except ModelError:
                continue
            assert not has_nan(result), (name, value)


@pytest.mark.parametrize(
    ("name", "extreme"),
    [
        ("aimd_sawtooth", {"bottleneck_rate": 1e300, "round_trip_time": 1e300}),
        ("cubic_sawtooth", {"bottleneck_rate": 1e-300, "round_trip_time": 1e-300}),
        ("pi_loop", {"round_trip_time": 1e300}),
        ("policed_aimd", {"round_trip_time": 1e300}),
        ("policed_cubic", {"round_trip_time": 1e300}),
    ],
)
def test_the_error_says_that_the_result_is_out_of_range(name: str, extreme: dict[str, float]) -> None:
    record = PACKAGES["queues"].MODELS[name]
    given = {**{name: inside(allowed) for name, allowed in record.arguments.items()}, **GOOD.get(f"queues.{name}", {})}
    record.function(**given)
    with pytest.raises(ModelError) as caught:
        record.function(**{**given, **extreme})
    fault = caught.value.fault
    assert fault.problem == "lead to a result that is out of the range of floating-point numbers"
    assert fault.allowed == "arguments whose products and quotients are 1e-300 to 1e300"
    assert set(fault.place.split(", ")) == set(given)
    assert all(str(value) in str(fault.given) for value in extreme.values())


def test_nan_for_what_does_not_exist_is_a_result() -> None:
    found = PACKAGES["bottlenecks"].intermediate_rates([100.0, 1000.0], 1.0, 30.0, 30.0)
    assert np.isnan(found.low).tolist() == [False, True]


LAW = PACKAGES["engset"].Exponential.of_mean(12)
ROUND_TRIPS = PACKAGES["variable_delay"].RoundTrips
CONSTRUCTORS: list[tuple[Callable[..., Any], dict[str, Any]]] = [
    (PACKAGES["engset"].Exponential.of_mean, {"mean": 12, "minimum": 3}),
    (PACKAGES["engset"].ExponentialPareto.of_mean, {"mean": 12, "minimum": 3, "tail_share": 0.1, "shape": 1.5}),
    (PACKAGES["engset"].ExponentialExponential.of_mean, {"mean": 12, "tail_ratio": 7, "minimum": 3, "tail_share": 0.1}),
    (PACKAGES["engset"].Path.from_propagation,
     {"propagation": 0.3, "capacities": [1e8, 1e6], "packet_size": 576, "ack_size": 40, "multiplexing": 1}),
    (ROUND_TRIPS.constant, {"round_trip": 1.0}),
    (ROUND_TRIPS.from_samples, {"round_trips": [1.0, 2.0]}),
    (ROUND_TRIPS.from_distribution, {"distribution": stats.expon()}),
    (ROUND_TRIPS.from_transform, {"transform": lambda s: 1.0 / (1.0 + s), "mean": 1.0}),
    (LAW.proportion, {"low": 3, "high": 6}),
    (LAW.mean_size, {"low": 3, "high": 6}),
    (LAW.survival, {"size": 3.0}),
    (LAW.mean_excess, {"size": 3.0}),
    (LAW.quantile, {"survival": 0.3}),
    (LAW.sample, {"generator": np.random.default_rng(1), "number": 3}),
]  # fmt: skip


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(("function", "given"), CONSTRUCTORS, ids=[one.__qualname__ for one, _ in CONSTRUCTORS])
def test_so_does_an_error_of_a_constructor_or_a_method(function: Callable[..., Any], given: dict[str, Any]) -> None:
    odd = []
    for name in given:
        for value in [*WRONG, math.nan, *EXTREME, -1.0, 0.0]:
            try:
                function(**{**given, name: value})
            except ModelError as error:
                if not set(error.fault.place.split(", ")) <= set(given):
                    odd.append((name, value, str(error)))
    assert not odd
