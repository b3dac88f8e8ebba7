"""Our engine against recorded runs of the Linux kernel on whole paths: rates, queues, losses and recoveries.

The kernel's runs and their spread over starts that differ by microseconds are in `crosscheck/linux/recorded`; its
README says how each figure is measured. A run that is known to differ must differ: a change that mends it says so here.
"""

import gzip
from collections.abc import Iterator

import numpy as np
import pytest

from crosscheck.linux import ours, recorded
from crosscheck.linux.figures import LEAST_REALISATIONS, Agreement, Compared, compare
from crosscheck.linux.realisations import RECORDED, realise, shift_name, shifts_of

RUNS = recorded.runs()
CLOSE = 0.05
"""Relative difference of windows at one instant that is small; one packet is too."""
MOST_APART = 0.05
"""Fraction of the instants at which windows may differ by more."""


def cases() -> Iterator[object]:
    known = recorded.known()
    for name in RUNS:
        marks = [pytest.mark.xfail(reason=known[name], strict=True)] if name in known else []
        yield pytest.param(name, marks=marks, id=name)


def compared(name: str) -> list[Compared]:
    """Compare a run with the kernel's, over realisations if the run itself does not decide."""
    theirs, lost = recorded.figures()[name], recorded.lost().get(name, ())
    shifts = shifts_of(theirs)
    kernels = [theirs[shift_name(shift)] for shift in shifts]
    scenario = RUNS[name].scenario(lost)
    copied = RUNS[name].is_copied
    plain = ours.play(realise(scenario, 0.0, copied=copied))
    alike = RUNS[name].is_of_one_kind and len(kernels) < LEAST_REALISATIONS
    found = compare(kernels[:1], [plain], alike=alike)
    if all(one.agreement is Agreement.WITHIN for one in found):
        return found
    if len(kernels) < LEAST_REALISATIONS and RUNS[name].queue in recorded.RANDOM_QUEUES:
        seeds = ({**scenario, "run": scenario["run"] | {"seed": seed}} for seed in range(2, LEAST_REALISATIONS + 1))
        return compare(kernels, [plain, *map(ours.play, seeds)], alike=alike)
    others = (ours.play(realise(scenario, shift, copied=copied)) for shift in shifts[1:])
    return compare(kernels, [plain, *others], alike=alike)


@pytest.mark.parametrize("name", list(cases()))
def test_a_path_is_as_in_the_kernel(name: str) -> None:
    missing = RUNS[name].missing()
    if missing is not None:
        pytest.skip(f"{name}: {missing}")
    found = compared(name)
    assert all(one.agreement is not Agreement.DIFFERS for one in found), "\n" + "\n".join(one.line() for one in found)


WINDOWS = sorted(path.name.removesuffix(".csv.gz") for path in (recorded.FOLDER / "windows").glob("*.csv.gz"))


@pytest.mark.parametrize("name", WINDOWS)
def test_windows_over_time_are_the_kernels(name: str) -> None:
    with gzip.open(recorded.FOLDER / "windows" / f"{name}.csv.gz", "rt") as file:
        times, flows, theirs = np.loadtxt(file, delimiter=",", skiprows=1, unpack=True)
    trace = ours.traces(RUNS[name].scenario())["cwnd"]
    for flow in np.unique(flows):
        own, mine = flows == flow, trace["flow"] == flow
        at = np.searchsorted(trace["time_s"][mine], times[own], side="right") - 1
        apart = np.abs(trace["cwnd"][mine][at] - theirs[own])
        far = apart > np.maximum(1.0, CLOSE * theirs[own])
        assert far.mean() <= MOST_APART, f"{100 * far.mean():.1f}% of the instants differ"


DRAWN = [
    name
    for name, run in RUNS.items()
    if run.queue in recorded.RANDOM_QUEUES and not np.isnan(recorded.figures()[name][RECORDED].queue_p95_ms)
]
NINE_SEEDS = range(1, 10)


@pytest.mark.parametrize("name", DRAWN)
def test_the_median_of_seeds_has_the_kernels_95th_percentile_of_waits(name: str) -> None:
    """One run says little: of sixteen seeds A_pie_4 has 21 to 26 ms."""
    scenario = realise(RUNS[name].scenario(), 0.0)
    plays = (ours.play({**scenario, "run": scenario["run"] | {"seed": seed}}) for seed in NINE_SEEDS)
    theirs_ms = recorded.figures()[name][RECORDED].queue_p95_ms
    assert np.median([play.queue_p95_ms for play in plays]) == pytest.approx(theirs_ms, rel=0.1)


OVERSHOOT = (334, 502, 586, 680, 762, 835, 902, 965, 1023)
LATER = (4767, 8317, 11869, 15419, 18969, 22521, 26071, 29621, 33173, 36723, 40275)
"""Numbers of the packets that the kernel's CoDel dropped in `A_codel_reno_1`."""


def test_the_packets_that_codel_drops_are_the_kernels() -> None:
    """Compare the first overshoot exactly; the next drops, some 3,550 packets apart, differ by 6 packets at most."""
    dropped = ours.dropped_packets(RUNS["A_codel_reno_1"].scenario())
    assert tuple(dropped[: len(OVERSHOOT)]) == OVERSHOOT
    assert np.max(np.abs(np.subtract(dropped[len(OVERSHOOT) :], LATER))) <= 6


def test_every_listed_run_has_figures() -> None:
    assert len(RUNS) > 60
    assert set(recorded.figures()) == set(RUNS)
    assert set(recorded.known()) | set(recorded.lost()) | set(WINDOWS) <= set(RUNS)


def test_a_wrong_engine_is_noticed() -> None:
    """A control that halves instead of taking 0.7 is nowhere near CUBIC's path."""
    wrong = ours.play({**RUNS["D_cubic"].scenario(), "flows": RUNS["D_reno"].scenario()["flows"]})
    found = compare([recorded.figures()["D_cubic"][RECORDED]], [wrong])
    differ = {one.rule.name for one in found if one.agreement is Agreement.DIFFERS}
    assert {"mean queue [ms]", "drops", "recoveries"} <= differ


def test_lists_of_known_differences_are_of_runs_that_are_played() -> None:
    assert all(RUNS[name].missing() is None for name in recorded.known())
