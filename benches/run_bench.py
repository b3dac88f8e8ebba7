"""Measure the cost of a packet as a ratio to that of fixed work, and leave bench.json: `make bench`."""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ackclock.scenario import Resolved
from benches.calibration import Calibration, compiler
from benches.checkout import HERE, shortened
from benches.cost import Cost, Spread

FORM = 2
BUDGET_STEPS = {"one-bulk-flow": 1.0, "hundred-bulk-flows": 2.5, "ten-node-path": 3.7, "web134": 3.7, "web100000": 7.4}
"""The most that a packet is meant to cost, in steps of the calibration: a wish, on which no test depends."""
NS2_SHARE = 0.1
"""Part of the simulated time that ns-2 runs for: enough for seconds of CPU."""
NS2_REPEATS = 3


@dataclass(frozen=True)
class Sample:
    """The costs measured one after another in one round.

    Parameters
    ----------
    cost : Cost
        Of the run.
    step_ns : float
        CPU time of a step of the calibration, the mean of before and after the run [ns].
    ns2_ns : float, optional
        CPU time of a packet in ns-2 [ns].
    """

    cost: Cost
    step_ns: float
    ns2_ns: float | None


@dataclass(frozen=True)
class Measurement:
    """A scenario's cost over all rounds.

    Parameters
    ----------
    scenario : str
        Its name.
    samples : list of Sample
        One for each round.
    """

    scenario: str
    samples: list[Sample]

    @property
    def steps_per_packet(self) -> Spread:
        """The cost of a packet, in steps of the calibration."""
        return Spread.of(sample.cost.ns_per_packet / sample.step_ns for sample in self.samples)

    @property
    def ns_per_packet(self) -> float:
        """The CPU time of a packet [ns]."""
        return statistics.median(sample.cost.ns_per_packet for sample in self.samples)

    @property
    def ns2_ratio(self) -> Spread | None:
        """The cost of a packet in ns-2 over that in ackclock."""
        ratios = [sample.ns2_ns / sample.cost.ns_per_packet for sample in self.samples if sample.ns2_ns is not None]
        return Spread.of(ratios) if ratios else None

    @property
    def ns2_ns_per_packet(self) -> float | None:
        """The CPU time of a packet in ns-2 [ns]."""
        costs = [sample.ns2_ns for sample in self.samples if sample.ns2_ns is not None]
        return statistics.median(costs) if costs else None

    @property
    def packets(self) -> int:
        """The data packets delivered in a run."""
        return self.samples[0].cost.packets

    @property
    def events_per_packet(self) -> float:
        """The events that the engine handled for each of them."""
        return self.samples[0].cost.events / self.packets

    @property
    def peak_rss_bytes(self) -> int:
        """The largest resident set of a run [B]."""
        return int(statistics.median(sample.cost.peak_rss_bytes for sample in self.samples))

    def record(self) -> dict[str, Any]:
        """Return the entry of bench.json."""
        ns2, ns2_ns = self.ns2_ratio, self.ns2_ns_per_packet
        return {
            "scenario": self.scenario,
            "packets": self.packets,
            "events_per_packet": round(self.events_per_packet, 4),
            "steps_per_packet": self.steps_per_packet.record(),
            "budget_steps_per_packet": BUDGET_STEPS.get(self.scenario),
            "ns2_ratio": None if ns2 is None else ns2.record(),
            "ns_per_packet": round(self.ns_per_packet, 2),
            "ns2_ns_per_packet": None if ns2_ns is None else round(ns2_ns, 1),
            "peak_rss_bytes": self.peak_rss_bytes,
        }


def measure(paths: list[Path], rounds: int, *, with_ns2: bool) -> Iterator[dict[str, Sample]]:
    """Run all scenarios in turn, again and again, each run between two calibrations; yield a round at a time.

    Parameters
    ----------
    paths : list of Path
        The scenarios.
    rounds : int
        The number of rounds.
    with_ns2 : bool
        Whether to run ns-2 too, in the first rounds.
    """
    scenarios = {path.stem: HERE.resolve(path) for path in paths}
    for_ns2 = set(scenarios) if with_ns2 else set()
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        calibration = Calibration.compiled(Path(folder))
        for number in range(rounds):
            samples = {}
            for name, resolved in scenarios.items():
                before = calibration.ns_per_step()
                cost = HERE.run(resolved)
                step_ns = (before + calibration.ns_per_step()) / 2
                ns2_ns = _ns2(resolved) if name in for_ns2 and number < NS2_REPEATS else None
                if ns2_ns is None:
                    for_ns2.discard(name)
                samples[name] = Sample(cost, step_ns, ns2_ns)
            yield samples


def _ns2(resolved: dict[str, Any]) -> float | None:
    from benches.ns2_cost import ns_per_packet  # noqa: PLC0415  only where ns-2 is installed

    try:
        return ns_per_packet(Resolved.from_dict(shortened(resolved, NS2_SHARE)))
    except (RuntimeError, ValueError) as error:
        first, *others = str(error).splitlines()
        more = f" (and {len(others)} more)" if others else ""
        print(f"ns-2 is not measured for {resolved['title']!r}: {first}{more}", file=sys.stderr)
        return None


def why_no_ns2() -> str | None:
    """Return the reason why ns-2 is not measured, or `None` if it is."""
    try:
        from benches.ns2_cost import missing  # noqa: PLC0415  only this part needs the cross-check
    except ImportError as error:
        return f"the cross-check cannot be imported: {error}"
    return missing()


def table(measurements: list[Measurement]) -> Table:
    """Lay out the measurements, a row a scenario."""
    rows = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    rows.add_column("scenario")
    for title in (
        "steps a packet\nmedian",
        "\nmin",
        "\nmax",
        "\nbudget",
        "ns-2\ntimes",
        "events\na packet",
        "ns\na packet",
    ):
        rows.add_column(title, justify="right", no_wrap=True)
    rows.add_column("memory\nMB", justify="right", no_wrap=True)
    for one in measurements:
        steps, ns2 = one.steps_per_packet, one.ns2_ratio
        budget = BUDGET_STEPS.get(one.scenario)
        over = budget is not None and steps.median > budget
        rows.add_row(
            one.scenario,
            f"{'[red]' if over else ''}{steps.median:.2f}",
            f"{steps.min:.2f}",
            f"{steps.max:.2f}",
            "-" if budget is None else f"{budget:.2f}",
            "-" if ns2 is None else f"{ns2.median:.1f}",
            f"{one.events_per_packet:.2f}",
            f"{one.ns_per_packet:.1f}",
            f"{one.peak_rss_bytes / 1e6:.0f}",
        )
    return rows


def main() -> None:
    """Measure all scenarios, print a table and write bench.json."""
    parser = argparse.ArgumentParser(prog="python -m benches.run_bench", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each scenario (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("bench.json"), help="the record (default: %(default)s)")
    parser.add_argument("scenario", nargs="*", type=Path, help="scenarios (default: all of benches/scenarios)")
    arguments = parser.parse_intermixed_args()
    console = Console(width=None if sys.stdout.isatty() else 110)
    reason = why_no_ns2()
    if reason is not None:
        console.print(f"ns-2 is not measured: {reason}", highlight=False)
    paths = arguments.scenario or list(HERE.scenarios().values())
    rounds = []
    for samples in measure(paths, arguments.repeats, with_ns2=reason is None):
        rounds.append(samples)
        console.print(f"round {len(rounds)} of {arguments.repeats} is done", highlight=False)
    measurements = [Measurement(name, [samples[name] for samples in rounds]) for name in rounds[0]]
    step_ns = Spread.of(sample.step_ns for samples in rounds for sample in samples.values())
    console.print(table(measurements))
    console.print(
        f"A step of the calibration: {step_ns.median:.1f} ns ({step_ns.min:.1f} to {step_ns.max:.1f})", highlight=False
    )
    arguments.out.write_text(json.dumps(record(measurements, step_ns), indent=1) + "\n", encoding="utf-8")
    console.print(f"wrote {arguments.out}", highlight=False)


def record(measurements: list[Measurement], step_ns: Spread) -> dict[str, Any]:
    """Return the content of bench.json; benches/README.md says what each field is."""
    return {
        "form": FORM,
        "compiler": compiler(),
        "repeats": len(measurements[0].samples),
        "calibration_step_ns": step_ns.record(),
        "scenarios": [one.record() for one in measurements],
    }


if __name__ == "__main__":
    main()
