"""Results stay bit for bit: `digests.txt` has a number for each of 800 random scenarios and for each ready one.

A number that changes means that results changed. `make digest` writes the file anew; the commit that does so says which
numbers change, and why what they were was a fault.
"""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from ackclock.scenario import load, resolve
from digest.digest import digest
from digest.draw import DIALECTS, PRESETS, RECOVERIES, TRACES, draw

DIGESTS = Path(__file__).parent / "digests.txt"
READY = sorted((Path(__file__).parents[2] / "scenarios").glob("*.toml"))
DRAWN = 800
BATCH = 50


def kept() -> dict[str, str]:
    lines = DIGESTS.read_text(encoding="utf-8").splitlines() if DIGESTS.exists() else []
    return dict(line.split(" = ") for line in lines if not line.startswith("#"))


def compare(found: dict[str, str], request: pytest.FixtureRequest) -> None:
    """Compare numbers with those kept; with --bless, keep them."""
    if request.config.getoption("--bless"):
        numbers = {**kept(), **found}
        text = "".join(f"{name} = {numbers[name]}\n" for name in sorted(numbers))
        DIGESTS.write_text(f"# A digest of the results of each scenario; see test_digest.py.\n{text}", encoding="utf-8")
    numbers = kept()
    changed = {
        name: f"{numbers.get(name)} -> {number}" for name, number in found.items() if numbers.get(name) != number
    }
    assert not changed, f"the results of {len(changed)} of {len(found)} scenarios changed"


@pytest.mark.digest
@pytest.mark.parametrize("first", range(0, DRAWN, BATCH))
def test_results_of_random_scenarios_stay(first: int, request: pytest.FixtureRequest) -> None:
    compare(
        {f"random-{number:03d}": digest(resolve(load(draw(number)))) for number in range(first, first + BATCH)}, request
    )


@pytest.mark.digest
@pytest.mark.parametrize("path", READY, ids=lambda path: path.stem)
def test_results_of_ready_scenarios_stay(path: Path, request: pytest.FixtureRequest) -> None:
    compare({path.stem: digest(resolve(load(path)))}, request)


def test_every_digest_belongs_to_a_scenario() -> None:
    assert set(kept()) == {path.stem for path in READY} | {f"random-{number:03d}" for number in range(DRAWN)}


def words(value: Any) -> Iterator[str]:
    """Give each setting of a drawn scenario, as `field value`."""
    if isinstance(value, dict):
        for name, entry in value.items():
            if isinstance(entry, str | bool | int):
                yield f"{name} {entry}"
            yield from words(entry)
    elif isinstance(value, list):
        for entry in value:
            yield from words(entry)


def test_the_drawn_scenarios_have_all_that_scenarios_can_have() -> None:
    counts: Counter[str] = Counter()
    for number in range(DRAWN):
        counts.update(set(words(draw(number))))
    expected = [
        *(f"queue {name}" for name in ("drop-tail", "drop-from-front", "random-drop", "red")),
        *(f"discipline {name}" for name in ("red", "priority")),
        *(f"victim {name}" for name in ("arriving", "random", "lowest")),
        *(f"counting {name}" for name in ("with-service", "waiting")),
        *(f"model {name}" for name in ("bernoulli", "poisson", "gilbert-elliott", "packets", "times")),
        *(f"kind {name}" for name in ("steps", "alternating", "handover")),
        *(f"kind {name}" for name in ("web", "constant", "poisson", "on-off", "poisson-on-off")),
        *(f"law {name}" for name in ("exponential", "exponential-pareto", "exponential-exponential", "pareto")),
        *(f"order {name}" for name in ("overtake", "keep")),
        *(f"allocation {name}" for name in ("two-pass", "by-ccr", "erica", "none")),
        *(f"ip_service {name}" for name in ("channel-rate", "immediate")),
        *(f"dialect {name}" for name in DIALECTS),
        *(f"recovery {name}" for name in RECOVERIES),
        *(f"preset {name}" for name in PRESETS),
        *(f"increase {name}" for name in ("reciprocal", "reciprocal-floor", "counted")),
        *(f"sample {name}" for name in ("per-round", "per-ack", "per-ack-karn")),
        *(f"estimator {name}" for name in ("ticks", "rfc6298")),
        *(f"partial_ack_timer {name}" for name in ("slow-but-steady", "impatient")),
        *(f"slow_start_while {name}" for name in ("below", "at-or-below")),
        *(f"{name} True" for name in (*TRACES, "limited_transmit", "private", "gentle")),
        "receiver host0",
        "sender host0",
        "rate unlimited",
    ]
    seldom = {name: counts[name] for name in expected if counts[name] < 20}
    assert not seldom
