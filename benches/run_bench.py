"""Measure the cost of a packet, and leave bench.json: `make bench`."""

import argparse
import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich import box
from rich.console import Console
from rich.table import Table

from ackclock import scenario
from ackclock.wording import plural

SCENARIOS = Path(__file__).with_name("scenarios")
BUDGET_NS = {"one-bulk-flow": 40, "hundred-bulk-flows": 100, "ten-node-path": 150, "web134": 150, "web100000": 300}
NS2_SHARE = 0.1
"""Part of the simulated time that ns-2 runs for: enough for seconds of CPU."""
NS2_REPEATS = 3


@dataclass(frozen=True)
class Measurement:
    """The medians over the repeats of one scenario."""

    scenario: str
    ns_per_packet: float
    events_per_packet: float
    packets: int
    cpu_s: float
    peak_rss_bytes: int
    ns2_ns_per_packet: float | None

    def record(self) -> dict[str, Any]:
        """Give the entry of bench.json."""
        return {
            "scenario": self.scenario,
            "ns_per_packet": round(self.ns_per_packet, 2),
            "events_per_packet": round(self.events_per_packet, 4),
            "packets": self.packets,
            "peak_rss_bytes": self.peak_rss_bytes,
            "ns2_ns_per_packet": None if self.ns2_ns_per_packet is None else round(self.ns2_ns_per_packet, 1),
        }


def measure(path: Path, repeats: int, *, with_ns2: bool) -> Measurement:
    """Run a scenario several times, each time in a process of its own.

    Parameters
    ----------
    path : Path
        The scenario.
    repeats : int
        How many runs the medians are over.
    with_ns2 : bool
        Whether to run ns-2 too.
    """
    resolved = scenario.resolve(scenario.load(path)).to_dict()
    runs = [_run_once(resolved) for _ in range(repeats)]
    packets = runs[0]["packets"]
    cpu_s = statistics.median(run["cpu_s"] for run in runs)
    return Measurement(
        scenario=path.stem,
        ns_per_packet=1e9 * cpu_s / packets,
        events_per_packet=runs[0]["events"] / packets,
        packets=packets,
        cpu_s=cpu_s,
        peak_rss_bytes=int(statistics.median(run["peak_rss_bytes"] for run in runs)),
        ns2_ns_per_packet=_ns2(resolved) if with_ns2 else None,
    )


def _run_once(resolved: dict[str, Any]) -> dict[str, Any]:
    command = [sys.executable, "-m", "benches.one_run"]
    done = subprocess.run(command, input=json.dumps(resolved), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench: the run failed\n{done.stderr}")
    return dict(json.loads(done.stdout))


def _ns2(resolved: dict[str, Any]) -> float | None:
    from benches.ns2_cost import ns_per_packet  # noqa: PLC0415  only where ns-2 is installed

    run = resolved["run"] | {"duration_s": resolved["run"]["duration_s"] * NS2_SHARE}
    try:
        return statistics.median(ns_per_packet(resolved | {"run": run}) for _ in range(NS2_REPEATS))
    except (RuntimeError, ValueError) as error:
        first, *others = str(error).splitlines()
        more = f" (and {len(others)} more)" if others else ""
        print(f"ns-2 is not measured for {resolved['title']!r}: {first}{more}", file=sys.stderr)
        return None


def table(measurements: list[Measurement]) -> Table:
    """Lay out the measurements."""
    rows = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    rows.add_column("scenario")
    for title in (
        "ns a\npacket",
        "budget\nns",
        "events\na packet",
        "packets",
        "CPU\ns",
        "memory\nMB",
        "ns-2\nns",
        "ratio",
    ):
        rows.add_column(title, justify="right", no_wrap=True)
    for one in measurements:
        ns2 = one.ns2_ns_per_packet
        budget = BUDGET_NS.get(one.scenario)
        over = budget is not None and one.ns_per_packet > budget
        rows.add_row(
            one.scenario,
            f"{'[red]' if over else ''}{one.ns_per_packet:.1f}",
            "-" if budget is None else str(budget),
            f"{one.events_per_packet:.2f}",
            f"{one.packets:,}",
            f"{one.cpu_s:.2f}",
            f"{one.peak_rss_bytes / 1e6:.0f}",
            "-" if ns2 is None else f"{ns2:.0f}",
            "-" if ns2 is None else f"{ns2 / one.ns_per_packet:.1f}",
        )
    return rows


def why_no_ns2() -> str | None:
    """Say why ns-2 is not measured, None where it is."""
    try:
        from benches.ns2_cost import missing  # noqa: PLC0415  only this part needs the cross-check
    except ImportError as error:
        return f"the cross-check cannot be imported: {error}"
    return missing()


def main() -> None:
    """Measure all scenarios, print a table and write bench.json."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="runs of each scenario (default: 5)")
    parser.add_argument("--out", type=Path, default=Path("bench.json"), help="where to (default: bench.json)")
    parser.add_argument("scenario", nargs="*", type=Path, help="scenarios (default: all of benches/scenarios)")
    arguments = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 110)
    reason = why_no_ns2()
    if reason is not None:
        console.print(f"ns-2 is not measured: {reason}", highlight=False)
    measurements = []
    for path in arguments.scenario or sorted(SCENARIOS.glob("*.toml")):
        console.print(f"measuring {path.stem} ({plural(arguments.repeats, 'run')})", highlight=False)
        measurements.append(measure(path, arguments.repeats, with_ns2=reason is None))
    console.print(table(measurements))
    arguments.out.write_text(json.dumps([one.record() for one in measurements], indent=1) + "\n", encoding="utf-8")
    console.print(f"wrote {arguments.out}", highlight=False)


if __name__ == "__main__":
    main()
