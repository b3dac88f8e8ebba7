"""Measure the cost of a packet as a ratio to that of fixed work, and leave bench.json: `make bench`."""

import argparse
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table

from ackclock.scenario import Resolved
from benches.calibration import Calibration, compiler
from benches.checkout import HERE, shortened
from benches.cost import Cost, Spread
from benches.rows import BUDGET_STEPS, Row, rows

if TYPE_CHECKING:
    from benches.lab_latency import Latency

FORM = 4
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
    """The cost of a row over all rounds.

    Parameters
    ----------
    row : Row
        The scenario and its TCP.
    samples : list of Sample
        One for each round.
    own : list of Sample, optional
        Those of the same scenario with its own TCP, where the row has another one.
    """

    row: Row
    samples: list[Sample]
    own: list[Sample] | None = None

    @property
    def steps_per_packet(self) -> Spread:
        """The cost of a packet, in steps of the calibration."""
        return Spread.of(sample.cost.ns_per_packet / sample.step_ns for sample in self.samples)

    @property
    def times_own(self) -> Spread | None:
        """The cost of a packet over that with the scenario's own TCP, round by round."""
        if self.own is None:
            return None
        pairs = zip(self.samples, self.own, strict=True)
        return Spread.of(
            sample.cost.ns_per_packet / sample.step_ns * own.step_ns / own.cost.ns_per_packet for sample, own in pairs
        )

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
        ns2, ns2_ns, times_own = self.ns2_ratio, self.ns2_ns_per_packet, self.times_own
        return {
            "row": self.row.name,
            "scenario": self.row.scenario,
            "tcp": self.row.tcp,
            "packets": self.packets,
            "events_per_packet": round(self.events_per_packet, 4),
            "steps_per_packet": self.steps_per_packet.record(),
            "budget_steps_per_packet": BUDGET_STEPS.get(self.row.name),
            "times_own_tcp": None if times_own is None else times_own.record(),
            "most_times_own_tcp": self.row.most,
            "ns2_ratio": None if ns2 is None else ns2.record(),
            "ns_per_packet": round(self.ns_per_packet, 2),
            "ns2_ns_per_packet": None if ns2_ns is None else round(ns2_ns, 1),
            "peak_rss_bytes": self.peak_rss_bytes,
        }


def measure(chosen: list[Row], number: int, *, with_ns2: bool) -> Iterator[dict[Row, Sample]]:
    """Run all rows in turn, again and again, each run between two calibrations; yield a round at a time.

    Parameters
    ----------
    chosen : list of Row
        The rows.
    number : int
        The number of rounds.
    with_ns2 : bool
        Whether to run ns-2 too, in the first rounds.
    """
    resolved = {row: row.resolved(HERE) for row in chosen}
    for_ns2 = {row: form for row in chosen if with_ns2 and (form := row.for_ns2(HERE))}
    with tempfile.TemporaryDirectory(prefix="bench-") as folder:
        calibration = Calibration.compiled(Path(folder))
        for done in range(number):
            samples = {}
            for row in chosen:
                before = calibration.ns_per_step()
                cost = HERE.run(resolved[row])
                step_ns = (before + calibration.ns_per_step()) / 2
                ns2_ns = _ns2(for_ns2[row]) if row in for_ns2 and done < NS2_REPEATS else None
                if ns2_ns is None:
                    for_ns2.pop(row, None)
                samples[row] = Sample(cost, step_ns, ns2_ns)
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
    lines = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    lines.add_column("scenario", min_width=max(len(one.row.name) for one in measurements))
    for title in (
        "steps a packet\nmedian",
        "\nmin",
        "\nmax",
        "\nbudget",
        "times its\nown TCP",
        "\nlimit",
        "ns-2\ntimes",
        "events\na packet",
        "ns\na packet",
    ):
        lines.add_column(title, justify="right", no_wrap=True)
    lines.add_column("memory\nMB", justify="right", no_wrap=True)
    for one in measurements:
        steps, ns2, times_own = one.steps_per_packet, one.ns2_ratio, one.times_own
        budget, most = BUDGET_STEPS.get(one.row.name), one.row.most
        lines.add_row(
            one.row.name,
            f"{_red(steps, budget)}{steps.median:.2f}",
            f"{steps.min:.2f}",
            f"{steps.max:.2f}",
            "-" if budget is None else f"{budget:.2f}",
            "-" if times_own is None else f"{_red(times_own, most)}{times_own.median:.2f}",
            "-" if most is None else f"{most:.1f}",
            "-" if ns2 is None else f"{ns2.median:.1f}",
            f"{one.events_per_packet:.2f}",
            f"{one.ns_per_packet:.1f}",
            f"{one.peak_rss_bytes / 1e6:.0f}",
        )
    return lines


def _red(found: Spread, most: float | None) -> str:
    return "[red]" if most is not None and found.median > most else ""


def main() -> None:
    """Measure all scenarios, print a table and write bench.json."""
    parser = argparse.ArgumentParser(prog="python -m benches.run_bench", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each scenario (default: %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("bench.json"), help="the record (default: %(default)s)")
    parser.add_argument("row", nargs="*", help="rows of the table (default: all)")
    arguments = parser.parse_intermixed_args()
    console = Console(width=None if sys.stdout.isatty() else 130)
    reason = why_no_ns2()
    if reason is not None:
        console.print(f"ns-2 is not measured: {reason}", highlight=False)
    known = {row.name: row for row in rows(HERE)}
    for name in arguments.row:
        if name not in known:
            parser.error(f"no row named {name}; allowed {', '.join(known)}")
    chosen = [known[name] for name in arguments.row or known]
    rounds = []
    for samples in measure(chosen, arguments.repeats, with_ns2=reason is None):
        rounds.append(samples)
        console.print(f"round {len(rounds)} of {arguments.repeats} is done", highlight=False)
    measurements = [_measurement(row, rounds) for row in chosen]
    step_ns = Spread.of(sample.step_ns for samples in rounds for sample in samples.values())
    console.print(table(measurements))
    console.print(
        f"A step of the calibration: {step_ns.median:.1f} ns ({step_ns.min:.1f} to {step_ns.max:.1f})", highlight=False
    )
    latencies = [] if arguments.row else _latencies(console)
    content = record(measurements, step_ns) | {"lab": [one.record() for one in latencies]}
    arguments.out.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
    console.print(f"wrote {arguments.out}", highlight=False)


def _latencies(console: Console) -> "list[Latency]":
    """Measure the lab's page, print a table of it, or say why not."""
    from benches import lab_latency  # noqa: PLC0415  only where there is a browser

    if reason := lab_latency.why_not_measured():
        console.print(f"The lab's page is not measured: {reason}", highlight=False)
        return []
    found = list(lab_latency.measure())
    console.print(lab_latency.table(found))
    return found


def _measurement(row: Row, rounds: list[dict[Row, Sample]]) -> Measurement:
    """Collect what was measured of a row; what it is compared with is another row, if that was chosen too."""
    own = next((other for other in rounds[0] if other.name == row.compared_with and other != row), None)
    return Measurement(row, [one[row] for one in rounds], None if own is None else [one[own] for one in rounds])


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
