"""Each criterion, with a constant, a shuffled, a mirrored and another item's series in place of the simulated one."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from ackclock.experiments import Reproduction, papers
from ackclock.experiments.criteria import Expected, judge
from ackclock.experiments.frame import Finding, Measure, item_module
from ackclock.experiments.papers import Item
from ackclock.experiments.reproducing import POINTS
from ackclock.sweeps import Folder
from experiments.alternatives import ORDERS, agreeing, exchanged, of_other_items, runs_of

PASSES: Mapping[str, Mapping[str, str]] = {}
"""Rows that agree with all exchanged runs, and why that is not a fault of their criterion."""
ITEMS = [item for paper in papers() for item in paper.items if item.module]
ROWS = [row for item in ITEMS for row in item.expected]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.paper}/{item.name}")
def test_a_row_that_agrees_fails_with_wrong_series(item: Item, made: tuple[Reproduction, Path]) -> None:
    store = Folder(made[1] / POINTS)
    found = passing(item, store)
    if found is None:
        pytest.skip("there is no other run that measures the same things: nothing to exchange")
    assert found == set(PASSES.get(f"{item.paper}/{item.name}", {}))


def passing(item: Item, store: Folder) -> set[str] | None:
    """Find the rows of an item that agree with its own runs and with all exchanged ones; None if there are none."""
    module = item_module(item.paper, item.module)
    runs = runs_of(module, store)
    exchanges = [exchanged(runs, order) for order in ORDERS.values()] if len(runs) > 1 else []
    foreign = of_other_items(item, runs, store)
    exchanges += [foreign] if any(foreign[key].resolved != run.resolved for key, run in runs.items()) else []
    if not exchanges:
        return None
    own = agreeing(item, module, runs)
    assert own is not None
    others = [agreeing(item, module, other) for other in exchanges]
    # A module may refuse wrong series; then the other exchanges must show it.
    told = [other for other in others if other is not None]
    evidence = {row.key for row in item.expected if row.kind != "identity"}
    return own.intersection(evidence, *told)


def half_range(row: Expected) -> float:
    """Give a number that is larger than the range of a row's criterion is wide."""
    numbers = [float(word.rstrip("%")) for word in row.criterion.split() if word.rstrip("%").replace(".", "").isdigit()]
    scale = abs(row.paper) / 100.0 if "%" in row.criterion else 1.0
    return 2.0 * max(numbers, default=1.0) * scale + 1e-9


@pytest.mark.parametrize("row", [row for row in ROWS if not row.of_share()], ids=lambda row: f"{row.item}/{row.key}")
def test_a_number_out_of_its_range_differs_and_one_that_chance_hides_is_not_decided(row: Expected) -> None:
    inside = next(
        value
        for value in (row.paper, *(float(word) for word in row.criterion.split() if word.replace(".", "").isdigit()))
        if judge(row, Finding(value, value)).verdict == "agrees"
    )
    wide = (inside - half_range(row) * 9.0, inside + half_range(row) * 9.0)
    hidden = Finding(Measure(inside, *wide), inside, model_ends=wide)
    assert judge(row, hidden).verdict == "not decided"
    outcomes = {judge(row, Finding(value, value)).verdict for value in (*wide, inside)}
    assert outcomes == {"agrees", "differs"}


@pytest.mark.parametrize("row", [row for row in ROWS if row.of_share()], ids=lambda row: f"{row.item}/{row.key}")
def test_a_claim_that_holds_no_more_often_than_a_coin_shows_differs(row: Expected) -> None:
    coin = 0.0 if row.criterion == "holds sometimes" else 0.5
    assert judge(row, Finding(coin, coin)).verdict == "differs"
