"""``python -m crosscheck``: compare our engine with ns-2."""

import argparse
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import chain
from pathlib import Path
from typing import TypeVar

from crosscheck import draw_ecn, draw_elements, draw_sack, draw_wide, engine, means, ns2, reference, subset
from crosscheck.batch import Batch, fresh
from crosscheck.check import Mark, Report, check
from crosscheck.draw import DEFAULT_COUNT, DEFAULT_SEED
from crosscheck.ns2_shake import WAYS, Piece, Shake

Item = TypeVar("Item")
Result = TypeVar("Result")


def main(arguments: list[str] | None = None) -> int:
    """Run the command and give its exit status."""
    options = _parser().parse_args(arguments)
    needs_ns2 = options.command != "reference" or options.by == "ns2"
    if needs_ns2 and ns2.find_ns() is None:
        _say(f"skipped: {ns2.INSTALL_HINT}")
        return 0
    if options.command == "reference":
        return _reference(options.folder, options.by, options.jobs)
    return _drawn(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m crosscheck", description="Compare our engine with ns-2.")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="chooses the scenarios (default %(default)s)")
    parser.add_argument("--count", type=int, default=DEFAULT_COUNT, help="how many scenarios (default %(default)s)")
    parser.add_argument(
        "--elements",
        type=int,
        default=draw_elements.DEFAULT_COUNT,
        help="how many with lossy links, delays that change, levels, sources without TCP (default %(default)s)",
    )
    parser.add_argument(
        "--wide",
        type=int,
        default=draw_wide.DEFAULT_COUNT,
        help="how many of the wider drawing: two-way data, finite sizes, ties and so on (default %(default)s)",
    )
    parser.add_argument(
        "--sack",
        type=int,
        default=draw_sack.DEFAULT_COUNT,
        help="how many of ns-2's Sack1, on what the wider drawing has (default %(default)s)",
    )
    ecn_help = "how many of ns-2's ECN with a RED that marks, on what the wider drawing has (default %(default)s)"
    parser.add_argument("--ecn", type=int, default=draw_ecn.DEFAULT_COUNT, help=ecn_help)
    parser.add_argument(
        "--fresh",
        type=int,
        default=0,
        help="how many more of the wider drawing, and a quarter as many of Sack1 and of ECN, from a fresh seed, which "
        "is printed (default %(default)s)",
    )
    parser.add_argument("--only", metavar="NAME", default="", help="only scenarios whose name contains NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="scenarios at a time (default: cores)")
    parser.add_argument("--ties", action="store_true", help="compare ns-2 with itself, delays shaken by picoseconds")
    commands = parser.add_subparsers(dest="command")
    figures = commands.add_parser("reference", help="compare with measured rows of ns-2")
    figures.add_argument("folder", type=Path, metavar="DIR", help="folder with fig2.csv and the cuts_*.csv")
    figures.add_argument("--by", choices=["ackclock", "ns2"], default="ackclock", help="who runs (default %(default)s)")
    return parser


def _drawn(options: argparse.Namespace) -> int:
    batches = [Batch(options.seed, options.count, options.elements, options.wide, options.sack, options.ecn)]
    if options.fresh:
        batches.append(fresh(options.fresh))
        _say(f"fresh seed {batches[-1].seed}: {batches[-1].command(f'seed{batches[-1].seed}-')}")
    drawn = [(scenario, batch) for batch in batches for scenario in batch.scenarios()]
    wanted = [(scenario, batch) for scenario, batch in drawn if options.only in scenario["title"]]
    repeat = {scenario["title"]: batch.command(scenario["title"]) for scenario, batch in wanted}
    random = [scenario for scenario in means.scenarios() if options.only in scenario["title"] and not options.ties]

    def play(scenario: subset.Scenario) -> Report:
        if options.ties:
            return check(scenario, lambda same: ns2.run(same, shake=Shake((Piece(way=WAYS[0]),))))
        return check(scenario)

    def play_means(scenario: subset.Scenario) -> means.MeansReport:
        return means.report(scenario, lambda run, numbers: _each(run, numbers, options.jobs))

    scenarios = [scenario for scenario, _ in wanted]
    return _tell(chain(_each(play, scenarios, options.jobs), map(play_means, random)), repeat)


def _reference(folder: Path, by: str, jobs: int) -> int:
    runner = engine.run if by == "ackclock" else ns2.run
    rows = list(reference.rows(folder))

    def play(row: reference.Row) -> Report:
        resolved = reference.scenario(row)
        outcome = runner(resolved)
        cuts = reference.cuts_file(folder, row)
        found = reference.differences(row, reference.figures(resolved, outcome))
        found += reference.cut_differences(cuts, outcome) if cuts else []
        tied = bool(found) and by == "ackclock" and ns2.find_ns() is not None and check(resolved).mark is Mark.TIE
        mark = Mark.TIE if tied else Mark.FAIL if found else Mark.PASS
        return Report(reference.title(row), mark, len(outcome.changes[0]), detail="\n".join(found))

    return _tell(_each(play, rows, jobs))


def _tell(reports: Iterable[Report | means.MeansReport], repeat: dict[str, str] | None = None) -> int:
    """Print the reports as they come and a closing line; give the exit status.

    A failure comes with the command that plays it again, where `repeat` has one for its name.
    """
    marks: Counter[Mark] = Counter()
    for report in reports:
        _say(report.line())
        if report.mark is Mark.FAIL and repeat and report.name in repeat:
            _say(f"    repeat: {repeat[report.name]}")
        marks[report.mark] += 1
    others = [
        f", {marks[mark]} {mark.value.lower()}" for mark in (Mark.TIE, Mark.UNDECIDED, Mark.EXCLUDED) if marks[mark]
    ]
    _say(f"{marks[Mark.PASS]} passed, {marks[Mark.FAIL]} failed{''.join(others)}")
    return int(marks[Mark.FAIL] > 0)


def _each(play: Callable[[Item], Result], items: list[Item], jobs: int) -> Iterable[Result]:
    """Do all items, some at a time, and give the results in their order."""
    with ThreadPoolExecutor(max_workers=max(1, jobs)) as pool:
        yield from pool.map(play, items)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
