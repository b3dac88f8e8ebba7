"""The targets: from a random generator a case, which does what a user does with what was mutated."""

import io
import json
import os
import shutil
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

from rich.console import Console

import ackclock
from ackclock import api, folders
from ackclock import scenario as scenarios
from ackclock.cost import POINT, expected_cost
from ackclock.scenario.override import read_value
from ackclock.scenario.ready import ready_names, ready_path
from ackclock.sweeps import Folder, parse_axis, planned_sweep, point_key, run_points
from fuzz.campaign.mutations import mutated_bytes, mutated_tables, mutated_text

STEPS = 50_000.0
"""Expected cost of a run [steps of some 40 ns]."""
SMALL = """\
title = "small"
[[link]]
name = "host"
rate = "10 Mbit/s"
[[link]]
name = "far"
rate = "1 Mbit/s"
delay = "10 ms"
buffer = "10 pkt"
loss = { model = "bernoulli", probability = 0.01 }
[[flow]]
name = "bulk"
path = ["host", "far"]
[[flow]]
name = "file"
path = ["host", "far"]
size = "20 pkt"
[[flow]]
name = "ping"
path = ["host", "far"]
traffic = { kind = "ping", interval = "100 ms" }
[run]
duration = "3 s"
replications = 2
[trace]
cwnd = true
rounds = true
capture = ["host"]
"""
Scenario = scenarios.Scenario


class Target(ABC):
    """A target; `folder` is the only one that its cases may write."""

    def __init__(self, folder: Path) -> None:
        os.environ["MPLCONFIGDIR"] = str(folder)
        self.folder = folder
        self.texts = [ready_path(name).read_text(encoding="utf-8") for name in sorted(ready_names())]
        self.tables = [tomllib.loads(text) for text in self.texts]
        self.prepare()

    def prepare(self) -> None:
        """Make what all cases start from, and import what they need."""
        exercise(scenarios.load(SMALL), Random(1), self.folder, everything=True)

    @abstractmethod
    def __call__(self, random: Random) -> None:
        """Do a case."""


def exercise(loaded: Scenario, random: Random, folder: Path, *, everything: bool = False) -> None:
    """Do with a scenario what a user does: predict, run for a short time, print, sometimes draw, save and ask."""
    resolved = scenarios.resolve(loaded)
    console = Console(file=io.StringIO(), width=80)
    console.print(ackclock.predict(resolved))
    steps = max(0.0, expected_cost(resolved) - POINT) / resolved.run.replications
    duration = resolved.run.duration_s * min(1.0, STEPS / steps if steps > 0.0 else 1.0)
    settings = replace(resolved.run, duration_s=max(duration, 1e-12), warmup_s=0.0, replications=1, precision=None)
    picture = everything or random.random() < 0.3
    result = api.simulate(replace(resolved, run=settings), threads=1, picture=picture)
    json.dumps(result.summary, allow_nan=False)
    console.print(result)
    comparison = ackclock.compare(result)
    console.print(comparison)
    json.dumps(comparison.to_dict(), allow_nan=False)
    if picture and (everything or random.random() < 0.1):
        result.save(folder / "kept", reference_lines=comparison.reference_lines)
        shutil.rmtree(folder / "kept")
    if everything or random.random() < 0.05:
        ackclock.advise(loaded, simulate=False, threads=1)


def read_all(folder: Path) -> None:
    """Read everything of a stored result."""
    result = ackclock.Result.load(folder)
    tables = (result.flows, result.links, result.completions, result.pings, result.recoveries)
    console = Console(file=io.StringIO(), width=80)
    console.print(result)
    console.print(ackclock.compare(result))
    shown = (repr(result), result._repr_html_(), result.findings, result.interrupted, result.seed, *tables)
    str(shown)
    for name in result.traces:
        len(result.traces[name])
    result.chart()


class ScenarioText(Target):
    """Texts of scenarios, as files."""

    def __call__(self, random: Random) -> None:
        """Mutate the text of a ready scenario."""
        path = self.folder / "case.toml"
        path.write_bytes(mutated_text(random, random.choice(self.texts), self.texts))
        exercise(scenarios.load(path), random, self.folder)


class ScenarioMapping(Target):
    """Scenarios as tables."""

    def __call__(self, random: Random) -> None:
        """Mutate the tables of a ready scenario."""
        tables = mutated_tables(random, random.choice(self.tables), self.tables)
        exercise(scenarios.load(tables), random, self.folder)


class Override(Target):
    """Values of `--set` and axes of `--vary`."""

    def __call__(self, random: Random) -> None:
        """Mutate an assignment that a ready scenario has, or an axis."""
        loaded = scenarios.load(random.choice(sorted(ready_names())))
        field, value = random.choice(_assignments(loaded.source.document))
        if random.random() < 0.2:
            field = mutated_bytes(random, field.encode()).decode("utf-8", "surrogateescape")
        if random.random() < 0.5:
            value = mutated_text(random, value, [value]).decode("utf-8", "surrogateescape")
            exercise(
                scenarios.with_overrides(loaded, {field: read_value(value, f"--set {field}")}), random, self.folder
            )
            return
        start, _, unit = value.strip('"').partition(" ")
        text = random.choice((f"{value},{value}0", f"{start}:{start}0:{start} {unit}", f"{value} & run.seed=1,2"))
        axis = parse_axis(mutated_text(random, f"{field}={text}", [text]).decode("utf-8", "surrogateescape"))
        if len(axis.rows) <= 20:
            for point in planned_sweep(loaded, {axis.fields: axis.rows}, {}).points:
                point_key(point.resolved)


def _assignments(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Give dotted paths of a document with their values as text."""
    found = [(f"run.{key}", json.dumps(value)) for key, value in document["run"].items()]
    for table in ("link", "flow", "host", "channel"):
        for entry in document.get(table, ()):
            fields = [key for key in entry if key != "name"]
            found += [
                (f"{table}.{entry.get('name', 'flow')}.{key}", json.dumps(entry[key], default=str)) for key in fields
            ]
    return found


class Capture(Target):
    """Packet captures, of both formats."""

    def prepare(self) -> None:
        """Capture a run."""
        dpkt: Any = import_module("dpkt")  # has no types

        from ackclock.models.variable_delay import read_capture  # noqa: PLC0415

        self.read: Callable[..., object] = read_capture
        content = ackclock.run(SMALL, picture=False, duration="1 s", replications=1, threads=1).captures["host"]
        classic = io.BytesIO()
        reader = dpkt.pcap.UniversalReader(io.BytesIO(content))
        writer = dpkt.pcap.Writer(classic, linktype=reader.datalink())
        for time, frame in reader:
            writer.writepkt(frame, time)
        self.captures = [content, content[:3000], classic.getvalue(), classic.getvalue()[:3000]]
        for one in self.captures[::2]:
            (self.folder / "whole.pcap").write_bytes(one)
            read_capture(self.folder / "whole.pcap")

    def __call__(self, random: Random) -> None:
        """Mutate a capture."""
        path = self.folder / "case.pcap"
        path.write_bytes(mutated_bytes(random, random.choice(self.captures)))
        self.read(path)


class NamedFile(Target):
    """Files that a scenario names, and measured round trips."""

    def prepare(self) -> None:
        """Import what is needed."""
        from ackclock.models.variable_delay import read_csv, read_parquet  # noqa: PLC0415

        self.readers: list[tuple[str, Callable[..., object]]] = [("csv", read_csv), ("parquet", read_parquet)]
        rounds = "time,rtt\n" + "".join(f"{0.1 * number:.1f},0.1\n" for number in range(50))
        (self.folder / "whole.csv").write_text(rounds, encoding="utf-8")
        import pandas as pd  # noqa: PLC0415

        pd.read_csv(self.folder / "whole.csv").to_parquet(self.folder / "whole.parquet")
        for ending, read in self.readers:
            read(self.folder / f"whole.{ending}")
        super().prepare()

    def __call__(self, random: Random) -> None:
        """Mutate a file of sizes, of delays, of rates, or of round trips."""
        if random.random() < 0.5:
            ending, read = random.choice(self.readers)
            path = self.folder / f"case.{ending}"
            path.write_bytes(mutated_bytes(random, (self.folder / f"whole.{ending}").read_bytes()))
            read(path)
            return
        small = tomllib.loads(SMALL)
        chosen = random.randrange(4)
        if chosen < 2:
            small["flow"][0]["traffic"] = {
                "kind": "web",
                "size": {"law": "empirical", "file": "case.txt"},
                "off": "1 s",
            }
            text = "\n".join(str(number) for number in range(1, 60))
        elif chosen == 2:
            small["link"][1]["delay_process"] = {"kind": "trace", "file": "case.txt"}
            text = "".join(f"{0.1 * number:.1f},{0.01 + 0.001 * number:.3f}\n" for number in range(50))
        else:
            small["link"][1].pop("rate")
            small["link"][1]["rate_process"] = {"kind": random.choice(["trace", "mahimahi"]), "file": "case.txt"}
            text = "".join(f"{number}\n" for number in range(50))
            if small["link"][1]["rate_process"]["kind"] == "trace":
                text = "".join(f"{0.1 * number:.1f},{1e6 * (number % 3 + 1):.0f}\n" for number in range(50))
        (self.folder / "case.txt").write_bytes(mutated_text(random, text, [text]))
        exercise(scenarios.load(small), random, self.folder)


class StoredResult(Target):
    """Folders of results of which one file is damaged."""

    def prepare(self) -> None:
        """Save results."""
        super().prepare()
        self.whole = [self.folder / "whole", self.folder / "web"]
        ackclock.run(SMALL, threads=1).save(self.whole[0])
        ackclock.run("web-access-link", duration="20 s", warmup="1 s", replications=1, threads=1).save(self.whole[1])
        for folder in self.whole:
            read_all(folder)

    def __call__(self, random: Random) -> None:
        """Damage a file; half of the folders have lost the list of their files."""
        folder = self.folder / "case"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(random.choice(self.whole), folder)
        if random.random() < 0.5:
            (folder / folders.MADE).unlink()
        files = sorted(path for path in folder.rglob("*") if path.suffix in {".json", ".parquet", ".pcapng"})
        path = folder / "result.json" if random.random() < 0.5 else random.choice(files)
        if path.suffix == ".json" and random.random() < 0.8:
            path.write_bytes(_mutated_json(random, path.read_text(encoding="utf-8")))
        elif random.random() < 0.1:
            path.unlink()
        else:
            path.write_bytes(mutated_bytes(random, path.read_bytes()))
        read_all(folder)


def _mutated_json(random: Random, text: str) -> bytes:
    if random.random() < 0.3:
        return mutated_text(random, text, [text])
    tables = json.loads(text)
    try:
        text = json.dumps(mutated_tables(random, tables, [tables]), default=repr, skipkeys=True)
    except (ValueError, RecursionError):  # circular, too deep, or of too many digits
        text = text.replace("1", random.choice(("[" * 100_000, "1" * 5000)), 1)
    return text.encode("utf-8", "surrogatepass")


class StoredPoint(Target):
    """Files of a sweep's points."""

    def prepare(self) -> None:
        """Compute two points."""
        plan = planned_sweep(SMALL.replace('capture = ["host"]', ""), {"run.seed": [1, 2]}, {})
        self.points = [point.resolved for point in plan.points]
        self.store = Folder(self.folder / "points")
        run_points(self.points, self.store, jobs=1)
        self.files = sorted(path for path in (self.folder / "points").rglob("*") if path.is_file())
        self.contents = [path.read_bytes() for path in self.files]

    def __call__(self, random: Random) -> None:
        """Damage a point: it must count as missing, and be refused where it is read."""
        chosen = random.randrange(2)
        content = self.contents[1 - chosen] if random.random() < 0.05 else self.contents[chosen]
        content = mutated_bytes(random, content) if content is self.contents[chosen] else content
        key = self.files[chosen].parent.name + self.files[chosen].name
        self.files[chosen].write_bytes(content)
        try:
            if self.store.has(key) and content != self.contents[chosen]:
                raise AssertionError("damage was not noticed")
            self.store.read(key)
        finally:
            self.files[chosen].write_bytes(self.contents[chosen])


TARGETS: dict[str, Callable[[Path], Target]] = {
    "scenario-text": ScenarioText,
    "scenario-mapping": ScenarioMapping,
    "override": Override,
    "capture": Capture,
    "named-file": NamedFile,
    "result": StoredResult,
    "point": StoredPoint,
}
"""The targets by name."""
