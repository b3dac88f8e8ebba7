"""Calls of the library's functions with arguments of wrong types."""

import inspect
from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import ackclock
from ackclock import models, scenario, sweeps
from ackclock.units import parse
from fuzz.campaign.mutations import mutated_tables, odd_value
from fuzz.campaign.targets import SMALL, Target

Function = Callable[..., object]


class Argument(Target):
    """A call in which one to three arguments are odd."""

    def prepare(self) -> None:
        """Make what the functions take."""
        super().prepare()
        self.loaded = scenario.load(SMALL)
        self.resolved = scenario.resolve(self.loaded)
        self.result = ackclock.run(SMALL, duration="1 s", threads=1)
        self.result.save(self.folder / "result")
        self.calls = self._calls()
        self.models = _model_functions()

    def _calls(self) -> list[tuple[Function, Mapping[str, Any]]]:
        """Give functions with arguments that are right."""
        origin: dict[str, Any] = {"scenario": SMALL, "overrides": {"run.duration": "0.1 s"}}
        running = {"threads": 1, "on_progress": None, "limit": "10 min"}
        fields = {"seed": 1, "replications": 1, "warmup": "0 s"}
        out = self.folder / "out"
        return [
            (ackclock.run, {**origin, **running, **fields, "picture": False}),
            (ackclock.predict, {**origin, **fields}),
            (ackclock.resolve, {**origin, **fields}),
            (
                ackclock.sweep,
                {
                    **_sweep_origin(),
                    "vary": {"run.seed": [1, 2]},
                    "out": out,
                    "jobs": 1,
                    "cluster": None,
                    "limit": "2 GB",
                },
            ),
            (
                ackclock.advise,
                {**origin, "topics": ["window"], "targets": {"loss": "1%"}, "simulate": False, "threads": 1},
            ),
            (ackclock.compare, {"result": self.result}),
            (ackclock.Result.load, {"folder": self.folder / "result"}),
            (self.result.save, {"folder": out, "picture": False, "reference_lines": ()}),
            (self.result.save_picture, {"path": self.folder / "out.png", "reference_lines": ()}),
            (self.result.chart, {"reference_lines": ()}),
            (scenario.load, {"origin": SMALL}),
            (scenario.with_overrides, {"scenario": self.loaded, "overrides": {"run.seed": 2}}),
            (scenario.resolve, {"scenario": self.loaded}),
            (scenario.Resolved.from_dict, {"data": self.resolved.to_dict()}),
            (scenario.Resolved.from_json, {"text": self.resolved.to_json()}),
            (self.resolved.to_json, {"indent": 1}),
            (sweeps.parse_axis, {"text": "run.seed=1,2"}),
            (sweeps.planned_sweep, {"scenario": SMALL, "vary": {"run.seed": [1, 2]}, "overrides": {"run.seed": 1}}),
            (parse, {"text": "1 s"}),
        ]

    def __call__(self, random: Random) -> None:
        """Call a function of the library, or a model."""
        if random.random() < 0.3:
            function = random.choice(self.models)
            names = list(inspect.signature(function).parameters)
            given: dict[str, Any] = {name: random.choice((0.5, 1.0, 10.0)) for name in names}
        else:
            function, right = random.choice(self.calls)
            given = dict(right)
        for _ in range(random.choice((1, 1, 2, 3))):
            name = random.choice(list(given))
            given[name] = self._odd(random, name, given[name])
        function(**given)

    def _odd(self, random: Random, name: str, right: Any) -> Any:
        if isinstance(right, dict) and random.random() < 0.5:
            return mutated_tables(random, right, [right])
        value = odd_value(random)
        if callable(value):  # what a caller's own function raises is the caller's
            return 5
        if isinstance(value, str) and (name == "cluster" or (name in _PLACES and "/" in value)):
            return 5  # no case connects to a cluster, or writes out of its folder
        return value


def _sweep_origin() -> dict[str, Any]:
    plain = SMALL.replace('capture = ["host"]', "")
    return {"scenario": plain, "overrides": {"run.duration": "0.1 s"}, "replications": 1}


def _model_functions() -> list[Function]:
    """Give the public functions of all models."""
    found: list[Function] = []
    for paper in ("abrupt_delay", "bottlenecks", "classics", "engset", "two_way", "variable_delay"):
        package = __import__(f"{models.__name__}.{paper}", fromlist=["*"])
        members = [getattr(package, name) for name in package.__all__]
        found += [member for member in members if inspect.isfunction(member) and member.__name__ not in _OTHERS]
    return found


_OTHERS = frozenset(["read_capture", "read_segments", "read_csv", "read_parquet"])
"""Functions of files, which have targets of their own."""
_PLACES = frozenset(["out", "folder", "path"])
