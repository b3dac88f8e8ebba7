"""Inputs that the fuzzer of the Python side found to end in a traceback or to take all memory."""

import json
import signal
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ackclock
from ackclock import scenario, sweeps
from ackclock.errors import ArgumentError, LimitError, ModelError, ResultError, ScenarioError, SweepError, UnitError
from ackclock.models import engset
from ackclock.models.bottlenecks import uniformly_spread_rates
from ackclock.models.classics import MODELS, square_root_rate
from ackclock.models.variable_delay import (
    Direction,
    RoundTrips,
    read_capture,
    read_parquet,
    reduction_probability,
    rounds_of,
    stationary_window,
)
from ackclock.units import parse

TEXT = """\
[[link]]
name = "far"
rate = "1 Mbit/s"
[[flow]]
path = ["far"]
[run]
duration = "1 s"
"""


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def endless() -> list[Any]:
    value: list[Any] = []
    value += [value, value]
    return value


def with_field(value: object, key: Any = "x") -> dict[str, Any]:
    return {"link": [{"name": "far", "rate": "1 Mbit/s", "queue": {key: value}}], "flow": [], "run": {}}


@pytest.mark.parametrize("value", [nested(3000), endless(), {"a": nested(60)}], ids=["deep", "endless", "table"])
def test_tables_without_end_are_refused(value: object) -> None:
    for action in (
        lambda: scenario.load(with_field(value)),
        lambda: ackclock.run(TEXT, overrides={"link.far.queue": value}),
        lambda: sweeps.planned_sweep(TEXT, {"link.far.queue": [value, 1]}, {}),
    ):
        with pytest.raises((ScenarioError, SweepError), match="nested") as caught:
            action()
        assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("key", ["\udcbb", None, 1, (1, 2), True])
def test_a_key_that_is_not_a_text_of_unicode_is_refused(key: object) -> None:
    documents: tuple[dict[Any, Any], ...] = (with_field(1, key), {key: 1})
    for document in documents:
        with pytest.raises(ScenarioError, match="has a key that is not a text of Unicode"):
            scenario.load(document)


@pytest.mark.parametrize(
    "field", ["title", "link.far.queue", "flow.flow.traffic.kind", "flow.flow.tcp", "run.duration"]
)
def test_a_text_that_is_not_unicode_is_refused(field: str) -> None:
    with pytest.raises(ScenarioError, match=f"{field}: has letters that UTF-8 cannot encode"):
        ackclock.resolve(TEXT, overrides={field: "a\udcf5"})


def test_a_capture_takes_no_more_memory_than_its_file(tmp_path: Path) -> None:
    """A length of 4 GB in a block's header."""
    file = tmp_path / "x.pcapng"
    header = b"\x0a\x0d\x0d\x0a\x1c\x00\x00\x00\x4d\x3c\x2b\x1a\x01\x00\x00\x00" + b"\xff" * 8 + b"\x1c\x00\x00\x00"
    for length in (b"\xf0\xff\xff\xff", b"\xf0\xff\xff\x7f"):
        file.write_bytes(header + b"\x01\x00\x00\x00" + length + bytes(20))
        tracemalloc.start()
        try:
            with pytest.raises(ModelError, match=r"x\.pcapng: cannot be read as a capture"):
                read_capture(file)
            assert tracemalloc.get_traced_memory()[1] < 20_000_000
        finally:
            tracemalloc.stop()


def shared(times: int) -> list[Any]:
    """Give a list of two of a list of two of and so on: 2^times numbers, if all is written out."""
    value: list[Any] = [1.0]
    for _ in range(times):
        value = [value, value]
    return value


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """Fail if it takes longer."""

    def late(*_: object) -> None:
        raise AssertionError(f"took more than {seconds:g} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


ENDLESS = {"endless": endless(), "shared": shared(40), "within": [1.0, [endless(), 2.0]]}


@pytest.mark.parametrize("value", ENDLESS.values(), ids=ENDLESS)
def test_a_list_that_numpy_would_never_have_read_is_refused_by_a_model_at_once(value: list[Any]) -> None:
    refused: tuple[Callable[[], object], ...] = (
        lambda: square_root_rate(0.1, 0.1, value),
        lambda: uniformly_spread_rates(value, 3),  # type: ignore[arg-type]
        lambda: engset.Path(0.1, value),
        lambda: MODELS["square_root_rate"].warnings(loss_probability=value),
        lambda: stationary_window(value),
        lambda: RoundTrips.from_samples(value),
    )
    for action in refused:
        with (
            within(1.0),
            pytest.raises(
                ModelError, match=r": (is a list of too|holds itself).*; given .*; allowed 10,000,000 numbers"
            ),
        ):
            action()
    with within(1.0), pytest.raises(ModelError, match="reaction: is unknown; given an object of type list; allowed"):
        reduction_probability(RoundTrips.constant(0.1), 0.1, reaction=value)  # type: ignore[arg-type]


def test_a_list_of_very_many_numbers_is_one_that_a_model_takes() -> None:
    rates = square_root_rate(0.1, [0.01] * 100_000)
    assert rates == pytest.approx(square_root_rate(0.1, 0.01))


def test_lists_that_are_shared_without_end_are_refused_in_a_scenario_at_once() -> None:
    for action in (
        lambda: scenario.load(with_field(shared(40))),
        lambda: ackclock.run(TEXT, overrides={"link.far.queue": shared(40)}),
        lambda: sweeps.planned_sweep(TEXT, {"link.far.queue": [shared(40), 1]}, {}),
    ):
        with (
            within(1.0),
            pytest.raises((ScenarioError, SweepError), match=r"is too large; given .* values; allowed 10"),
        ):
            action()


@pytest.mark.parametrize("direction", [3.5, {1, 2}, ("a", 1, "b", 2)], ids=["float", "set", "tuple"])
def test_a_direction_or_segments_of_another_type_are_refused(direction: Any, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="direction: is not of type Direction; given"):
        rounds_of([], direction)
    for segments in (5, [5], None, np.array(1.0)):
        with pytest.raises(ModelError, match="segments: is not of type Segment; given"):
            rounds_of(segments, Direction("a", 1, "b", 2))  # type: ignore[arg-type]
    capture = tmp_path / "x.pcapng"
    sent = TEXT.replace("[run]", '[trace]\ncapture = ["far"]\n[run]')
    capture.write_bytes(ackclock.run(sent).captures["far"])
    with pytest.raises(ModelError, match="direction: is not of type Direction; given"):
        read_capture(capture, direction)


@pytest.mark.parametrize(
    "limit", [5, 3.5, {"1 s"}, np.array(1.0), object(), endless()], ids=lambda limit: type(limit).__name__
)
def test_a_limit_that_is_not_a_text_is_refused(limit: Any) -> None:
    for action in (
        lambda: ackclock.run(TEXT, limit=limit),
        lambda: ackclock.sweep(TEXT, {"run.seed": [1]}, limit=limit),
    ):
        with within(3.0), pytest.raises(LimitError, match=r"limit: is not a text.*; given .*; allowed "):
            action()


@pytest.mark.parametrize("indent", [10**30, 101, 0])
def test_json_is_indented_by_a_hundred_spaces_at_most(indent: int) -> None:
    with pytest.raises(ArgumentError, match=r'argument "indent": .*; allowed a whole number from 1 to 100, or None'):
        ackclock.resolve(TEXT).to_json(indent)


def test_an_error_names_a_long_path_in_part() -> None:
    with pytest.raises(ResultError, match=r"^x+\.\.\.: cannot read the result; File name too long$") as caught:
        ackclock.Result.load("x" * 100_000)
    assert len(str(caught.value)) < 1100


def test_a_model_says_what_it_was_given_however_odd() -> None:
    with pytest.raises(ModelError, match="an object of type list"):
        square_root_rate(nested(3000), 0.1, 0.1)


WRONG: dict[str, tuple[Callable[[Any], object], str, str]] = {
    "run": (ackclock.run, "scenario", "TOML text, or a mapping"),
    "run-overrides": (lambda value: ackclock.run(TEXT, overrides=value), "overrides", "a mapping of dotted paths"),
    "run-threads": (lambda value: ackclock.run(TEXT, threads=value), "threads", "a whole number from 1 on"),
    "run-picture": (lambda value: ackclock.run(TEXT, picture=value), "picture", "True or False"),
    "run-on_progress": (lambda value: ackclock.run(TEXT, on_progress=value), "on_progress", "a function"),
    "predict": (ackclock.predict, "scenario", "the path of a TOML file"),
    "resolve": (ackclock.resolve, "scenario", "or a Resolved"),
    "load": (scenario.load, "origin", "the name of a ready scenario"),
    "sweep": (lambda value: ackclock.sweep(TEXT, value), "vary", "a mapping of dotted paths"),
    "sweep-out": (lambda value: ackclock.sweep(TEXT, {"run.seed": [1]}, out=value), "out", "a path"),
    "sweep-jobs": (lambda value: ackclock.sweep(TEXT, {"run.seed": [1]}, jobs=value), "jobs", "a whole number"),
    "advise-topics": (lambda value: ackclock.advise(TEXT, topics=value), "topics", "a list of texts"),
    "advise-targets": (lambda value: ackclock.advise(TEXT, targets=value), "targets", "a mapping of names"),
    "compare": (ackclock.compare, "result", "a Result"),
    "Result.load": (ackclock.Result.load, "folder", "a path"),
    "from_dict": (scenario.Resolved.from_dict, "data", "a mapping"),
    "parse_axis": (sweeps.parse_axis, "text", "a text"),
}


VALUES: dict[str, object] = {
    "0": 0,
    "float": 3.5,
    "bytes": b"x",
    "set": {1, 2},
    "object": object(),
    "list": [1],
    "array": np.array(1.0),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_an_argument_of_a_wrong_type_is_named_with_what_is_allowed(name: str, value: object) -> None:
    call, argument, allowed = WRONG[name]
    with pytest.raises(ArgumentError) as caught:
        call(value)
    message = str(caught.value)
    assert f'argument "{argument}": is not what the function takes; given ' in message
    assert allowed in message.partition("; allowed ")[2]
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, ackclock.AckclockError)


def test_axes_that_are_none_are_refused() -> None:
    loaded = scenario.load(TEXT)
    wrong: tuple[dict[Any, Any], ...] = (
        {1: [1]},
        {(): [1]},
        {("a", 1): [(1, 2)]},
        {"run.seed": 5},
        {("run.seed",): [1]},
    )
    for vary in wrong:
        with pytest.raises((SweepError, ScenarioError), match=r"is not a dotted path|needs a list of values"):
            sweeps.planned_sweep(loaded, vary, {})


def test_a_quantity_that_is_not_a_text_is_refused() -> None:
    for value in (1, b"1 s", None, ["1 s"]):
        with pytest.raises(UnitError, match="is not a text"):
            parse(value)  # type: ignore[arg-type]


def test_a_path_with_what_is_not_a_name_is_refused() -> None:
    """A fault of the path, next to one elsewhere in the flow."""
    for path in ([None], [1, "far"], [["far"]]):
        flow = {"path": path, "packet": "x", "return_path": path}
        with pytest.raises(ScenarioError, match="must hold link names"):
            scenario.load({"link": [{"name": "far", "rate": "1 Mbit/s"}], "flow": [flow], "run": {"duration": "1 s"}})


def test_a_parquet_file_whose_notes_are_damaged_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "x.parquet"
    table = pa.table({"time": [0.0, 0.1], "rtt": [0.1, 0.1]})
    notes = json.dumps({"index_columns": ["i"], "columns": [{"nama": "time"}], "column_indexes": []})
    pq.write_table(table.replace_schema_metadata({"pandas": notes}), file)
    with pytest.raises(ModelError, match=r"x\.parquet: cannot be read"):
        read_parquet(file)
