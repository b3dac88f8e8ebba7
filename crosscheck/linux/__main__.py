"""``python -m crosscheck.linux``: compare our engine with the Linux kernel."""

import argparse
import os
import secrets
import sys
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

from crosscheck.batch import MOST_SEEDS
from crosscheck.linux import kernel, ours, recorded
from crosscheck.linux.check import Case, Mark, Report, check, resolved, same_packets
from crosscheck.linux.draw import (
    SCRIPTED,
    draw,
    draw_asymmetric,
    draw_impaired,
    draw_managed,
    draw_marked,
    draw_scripted,
)
from crosscheck.linux.draw_queued import PACED, QUEUED, draw_paced, draw_queued
from crosscheck.linux.figures import compare
from crosscheck.linux.paired import mean_differences
from crosscheck.linux.path import UnplayableError, bottleneck_of
from crosscheck.linux.picture import save_picture
from crosscheck.linux.realisations import phase_of_s, realise
from crosscheck.linux.translate import translate

LEAST_STARTS = 2
"""Number of starts from which a mean difference has an error."""


def main(arguments: list[str] | None = None) -> int:
    """Run the command and give its exit status."""
    options = _parser().parse_args(arguments)
    missing = kernel.missing()
    if missing is not None:
        _say(f"skipped: no Linux kernel to compare with: {missing}")
        return 0
    if not kernel.is_built():
        _say(f"building Linux once into {kernel.CACHE} (some ten minutes of one core)")
    try:
        kernel.build()
        return _own(options.scenario, options.out) if options.scenario else _all(options)
    except kernel.KernelError as fault:
        _say(str(fault))
        return 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m crosscheck.linux", description="Compare our engine with Linux.")
    parser.add_argument("scenario", nargs="?", help="a scenario of one's own: a table, a picture and no verdict")
    parser.add_argument("--out", type=Path, default=Path("results/linux"), help="where the picture goes (%(default)s)")
    parser.add_argument(
        "--fresh",
        type=int,
        default=6,
        help="how many drawn scenarios with drop-tail; half as many have an AQM or a scheduler, half as many a narrow "
        "link for ACKs, half as many losses by number or a delay that steps up, half as many DCTCP with marks and "
        "losses; as many are of one flow whose packets should all be the kernel's, with losses or delays that step, "
        "as many of one through an AQM or a scheduler, and half as many of one of BBR (default %(default)s)",
    )
    parser.add_argument(
        "--starts",
        type=_starts,
        metavar="N",
        help="play each with N starts of its flows, two or more, and show mean differences in place of a verdict",
    )
    parser.add_argument("--seed", type=int, help="their seed (default: a fresh one, which is printed)")
    parser.add_argument("--only", metavar="NAME", default="", help="only scenarios whose name contains NAME")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="scenarios at a time (default: cores)")
    return parser


def _starts(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or int(text) < LEAST_STARTS:
        raise argparse.ArgumentTypeError(f"{text} is not a number of starts: {LEAST_STARTS} or more")
    return int(text)


def _all(options: argparse.Namespace) -> int:
    """Play the recorded runs' paths and drawn ones, and print a report of each."""
    seed = options.seed if options.seed is not None else 1 + secrets.randbelow(MOST_SEEDS)
    if options.fresh:
        _say(f"seed {seed}: python -m crosscheck.linux --seed {seed} --fresh {options.fresh}")
    cases = [
        *_recorded_cases(),
        *(Case(one["title"], resolved(one), exact=_is_exact(one["title"])) for one in _drawn(seed, options.fresh)),
    ]
    wanted = [case for case in cases if options.only in case.name]
    if not wanted:
        names = ", ".join(case.name for case in cases)
        _say(f"--only {options.only}: no name contains that; allowed: a part of one of {names}")
        return 2
    with ThreadPoolExecutor(max_workers=max(1, options.jobs)) as pool:
        if options.starts:
            for text in pool.map(partial(mean_differences, starts=options.starts), wanted):
                _say(text)
            return 0
        again = f"python -m crosscheck.linux --seed {seed} --fresh {options.fresh} --only"
        return _tell(pool.map(check, wanted), again)


def _drawn(seed: int, count: int) -> list[dict[str, Any]]:
    """Draw as many scenarios with drop-tail, and of single flows, and half as many of each other kind."""
    half = range((count + 1) // 2)
    return [
        *(draw(seed, number) for number in range(count)),
        *(draw_managed(seed, number) for number in half),
        *(draw_asymmetric(seed, number) for number in half),
        *(draw_impaired(seed, number) for number in half),
        *(draw_marked(seed, number) for number in half),
        *(draw_scripted(seed, number) for number in range(count)),
        *(draw_queued(seed, number) for number in range(count)),
        *(draw_paced(seed, number) for number in half),
    ]


def _is_exact(name: str) -> bool:
    """Return whether all packets of a drawn path should be the kernel's."""
    return any(kind in name for kind in (SCRIPTED, QUEUED, PACED))


def _recorded_cases() -> Iterator[Case]:
    """Give the recorded runs that both sides can play, and say which cannot be."""
    known, figures, lost = recorded.known(), recorded.figures(), recorded.lost()
    for name, run in recorded.runs().items():
        missing = run.missing() or (
            "random losses that are not known" if run.loss_percent and name not in lost else None
        )
        if missing is None:
            yield Case(name, run.scenario(lost.get(name, ())), known.get(name), figures[name])
        else:
            _say(f"{'SKIP':<6} {name}: {missing}")


def _tell(reports: Iterator[Report], again: str) -> int:
    marks: Counter[Mark] = Counter()
    for report in reports:
        _say(report.text())
        if report.mark is Mark.FAIL:
            _say(f"    repeat: {again} {report.name}")
        marks[report.mark] += 1
    _say(", ".join(f"{marks[mark]} {mark.value.lower()}" for mark in Mark))
    return int(marks[Mark.FAIL] > 0)


def _own(source: str, out: Path) -> int:
    """Play a user's scenario on both sides; print the figures and draw windows and queues."""
    scenarios = import_module("ackclock.scenario")
    try:
        scenario = scenarios.resolve(scenarios.load(source)).to_dict()
        experiment = translate(scenario)
    except (UnplayableError, import_module("ackclock.errors").ScenarioError) as fault:
        _say(str(fault))
        return 2
    played, realised = kernel.play(experiment, packets=True), realise(scenario, 0.0)
    for figure in compare([played.figures], [ours.play(realised, bottleneck_of(scenario))]):
        _say(figure.line())
    finishes_s = {flow: at_s - phase_of_s(scenario) for flow, at_s in ours.finishes_s(realised).items()}
    for line in _finish_lines(played, finishes_s):
        _say(line)
    _say(same_packets(scenario, played.sent).line())
    out.mkdir(parents=True, exist_ok=True)
    path = out / f"{Path(source).stem}.png"
    save_picture(path, scenario, played, ours.traces(realised))
    _say(f"picture: {path}")
    return 0


def _finish_lines(played: kernel.Played, our: dict[int, float]) -> Iterator[str]:
    for flow in sorted({*played.finishes_s, *our}):
        theirs, mine = (
            f"{side[flow]:10.3f} s" if flow in side else "  unfinished" for side in (played.finishes_s, our)
        )
        yield f"{f'flow {flow + 1} finishes':<20} kernel {theirs}  ackclock {mine}"


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
