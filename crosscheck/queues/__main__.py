"""``python -m crosscheck.queues``: compare our queues with ns-2's, event by event."""

import argparse
import os
import secrets
import sys
from concurrent.futures import ThreadPoolExecutor

from crosscheck.ns2 import INSTALL_HINT, find_ns
from crosscheck.queues.check import Report, check
from crosscheck.queues.draw import DISCIPLINES, draw_queue

DEFAULT_SEED, DEFAULT_COUNT = 2, 4
MOST_SEEDS = 10**9
"""Fresh seeds are below this."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command and give its exit status: 1 if a queue differs."""
    options = _parser().parse_args(arguments)
    if find_ns() is None:
        _say(f"skipped: {INSTALL_HINT}")
        return 0
    fresh = secrets.randbelow(MOST_SEEDS)
    drawn = [(options.seed, options.count), (fresh, options.fresh)]
    names = [options.only] if options.only else list(DISCIPLINES)
    wanted = [(name, seed, index) for seed, count in drawn for name in names for index in range(count)]
    with ThreadPoolExecutor(options.jobs) as pool:
        reports = list(pool.map(lambda one: _checked(*one), wanted))
    failed = sum(report.difference is not None for report in reports)
    if options.fresh:
        _say(f"the fresh ones again: python -m crosscheck.queues --seed {fresh} --count {options.fresh}")
    _say(f"{len(reports)} queues: {len(reports) - failed} passed, {failed} failed")
    return int(failed > 0)


def _checked(name: str, seed: int, index: int) -> Report:
    report = check(draw_queue(name, seed, index))
    _say(report.line())
    return report


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m crosscheck.queues", description="Compare our queues with ns-2's.")
    parser.add_argument("--seed", type=int, default=DEFAULT_SEED, help="chooses the scenarios (default %(default)s)")
    count_help = "how many of each discipline (default %(default)s)"
    parser.add_argument("--count", type=int, default=DEFAULT_COUNT, help=count_help)
    parser.add_argument("--fresh", type=int, default=0, help="how many more of each from a fresh seed")
    parser.add_argument("--only", choices=list(DISCIPLINES), help="one discipline alone")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="runs at a time (default: all processors)")
    return parser


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
