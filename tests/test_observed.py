"""Rows of senders are the same, bit for bit, in runs that record rows of links too and in runs that do not."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ackclock.engine import run_resolved
from ackclock.scenario import Resolved, load, resolve
from digest.draw import draw

SENDERS = ("cwnd", "rtt", "sequence", "losses", "recovery", "rounds", "state")
LINKS = ("queue", "drops", "aqm")
READY = sorted((Path(__file__).parents[1] / "scenarios").glob("*.toml"))
DRAWN = range(160)


def recorded(resolved: Resolved, names: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """Run a scenario with these traces, and give those of its senders by replication."""
    wanted: dict[str, Any] = {name: name in names for name in SENDERS + LINKS}
    others: dict[str, Any] = dict.fromkeys(("overview_interval_s", "overview_detail_s", "capture"))
    trace = replace(resolved.trace, queue_distribution=False, delay=False, rate=False, **wanted, **others)
    asked = replace(resolved, trace=trace)
    return [{name: one["traces"][name] for name in SENDERS} for one in run_resolved(asked)]


def assert_alike(resolved: Resolved) -> int:
    """Compare the senders' rows of runs with and without rows of links; return how many there are."""
    alone, together = (recorded(resolved, names) for names in (SENDERS, SENDERS + LINKS))
    for one, other in zip(alone, together, strict=True):
        for name in SENDERS:
            for column, values in one[name].items():
                np.testing.assert_array_equal(values, other[name][column], f"{resolved.title}: {name}, {column}")
    return sum(len(one[name]["time_s"]) for one in alone for name in SENDERS)


@pytest.mark.parametrize("first", range(0, len(DRAWN), 40))
def test_rows_of_senders_are_the_same_with_those_of_links_in_random_scenarios(first: int) -> None:
    rows = [assert_alike(resolve(load(draw(number)))) for number in DRAWN[first : first + 40]]
    assert sum(count > 100 for count in rows) > 20


@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_rows_of_senders_are_the_same_with_those_of_links_in_ready_scenarios(path: Path) -> None:
    resolved = resolve(load(path))
    short = replace(resolved.run, duration_s=min(resolved.run.duration_s, 5.0), warmup_s=0.0, replications=1)
    assert_alike(replace(resolved, run=short))
