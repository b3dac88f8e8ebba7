"""``python -m fuzz.campaign``: run the numbered cases of the targets, and report what is wrong."""

import argparse
import json
import os
import selectors
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

COUNTS = {
    "scenario-text": 10_000,
    "scenario-mapping": 10_000,
    "override": 3000,
    "capture": 3000,
    "named-file": 1000,
    "result": 1000,
    "point": 500,
    "argument": 500,
}
"""Cases of each target that the whole campaign has."""
ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "fuzz" / "artifacts" / "python"
STUCK_S = 90.0
"""Time of the clock after which a case is ended; its limit is one of processor time, as others may need the machine."""

STARTING_S = 600.0
"""The same for what a process prepares before its first case."""


@dataclass
class Report:
    """The cases of a target: how many ended how, and which are wrong."""

    ended: Counter[str] = field(default_factory=Counter)
    finds: list[tuple[int, str]] = field(default_factory=list)

    def add(self, number: int, ended: str, wrong: str) -> None:
        """Count a case."""
        self.ended[ended] += 1
        if wrong:
            self.finds.append((number, wrong))


class _Worker:
    """A range of cases in processes, a new one after each case that ends its process."""

    def __init__(self, target: str, seed: str, numbers: range, folder: Path) -> None:
        self._target, self._seed, self._numbers, self._folder = target, seed, numbers, folder
        self.report = Report()

    def run(self) -> Report:
        following: int | None = self._numbers.start
        while following is not None and following < self._numbers.stop:
            following = self._run_process(following)
        return self.report

    def _run_process(self, first: int) -> int | None:
        """Run cases from one on; give the one to go on with, None if all are done."""
        numbers = (str(number) for number in (first, self._numbers.stop, self._numbers.step))
        command = [sys.executable, "-m", "fuzz.campaign.worker", self._target, self._seed, *numbers, str(self._folder)]
        errors = self._folder.parent / f"{self._folder.name}.stderr"
        with errors.open("wb") as stderr, subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr) as process:
            current = self._follow(process)
            process.kill()
        if current is None:
            return None
        if current < 0:
            raise RuntimeError(f"no case of {self._target} begins: {errors.read_text(errors='replace')[-3000:]}")
        how = f"ended its process ({process.returncode}): {errors.read_text(errors='replace')[-2000:]}"
        self.report.add(current, "killed", how if process.returncode != -9 else f"did not end in {STUCK_S:g} s")
        return current + self._numbers.step

    def _follow(self, process: "subprocess.Popen[bytes]") -> int | None:
        """Read what a process says; give the case that does not end, -1 if none began, None if all are done."""
        assert process.stdout is not None  # noqa: S101  it is a pipe
        current = -1
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while selector.select(STARTING_S if current < 0 else STUCK_S):
                line = process.stdout.readline()
                if not line:
                    process.wait()
                    return None if process.returncode == 0 else current
                said = json.loads(line)
                current = said["case"]
                if "ended" in said:
                    self.report.add(current, said["ended"], said["wrong"])
        return current


def campaign(target: str, seed: str, numbers: range, jobs: int) -> Report:
    """Run cases of a target in several processes."""
    whole = Report()
    with tempfile.TemporaryDirectory(prefix="ackclock-fuzz-") as folder, ThreadPoolExecutor(jobs) as pool:
        workers = []
        for job in range(jobs):
            (Path(folder) / str(job)).mkdir()
            own = range(numbers.start + job, numbers.stop, jobs)
            workers.append(_Worker(target, seed, own, Path(folder) / str(job)))
        for report in pool.map(_Worker.run, workers):
            whole.ended += report.ended
            whole.finds += report.finds
    whole.finds.sort()
    return whole


def main(arguments: list[str] | None = None) -> int:
    """Run the command; give its exit status: 1 if a case is wrong."""
    options = _parser().parse_args(arguments)
    finds = 0
    for target in options.targets or COUNTS:
        count = max(1, round(COUNTS[target] * options.scale))
        numbers = range(count) if options.case is None else range(options.case, options.case + 1)
        started = time.monotonic()
        report = campaign(target, options.seed, numbers, min(options.jobs, len(numbers)))
        finds += len(report.finds)
        ends = ", ".join(f"{number:,} {name}" for name, number in report.ended.most_common())
        print(f"{target}: {len(numbers):,} cases in {time.monotonic() - started:.0f} s ({ends}): ", end="")
        print(f"{len(report.finds)} wrong", flush=True)
        for number, wrong in report.finds[: options.show]:
            print(f"  case {number} (--case {number} {target}): {wrong.strip().splitlines()[-1][:300]}", flush=True)
        _keep(target, options.seed, report)
    return 1 if finds else 0


def _keep(target: str, seed: str, report: Report) -> None:
    for number, wrong in report.finds:
        ARTIFACTS.mkdir(parents=True, exist_ok=True)
        (ARTIFACTS / f"{target}-{seed}-{number}.txt").write_text(wrong, encoding="utf-8")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m fuzz.campaign", description="Fuzz the Python side.")
    parser.add_argument("targets", nargs="*", choices=[[], *COUNTS], help="which targets; all by default")
    parser.add_argument("--scale", type=float, default=1.0, help="this many times the cases (default %(default)s)")
    parser.add_argument("--seed", default="1", help="chooses the cases (default %(default)s)")
    parser.add_argument("--case", type=int, help="this case alone")
    parser.add_argument(
        "--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time (default: all cores)"
    )
    parser.add_argument("--show", type=int, default=20, help="most finds to print for a target (default %(default)s)")
    return parser


if __name__ == "__main__":
    sys.exit(main())
