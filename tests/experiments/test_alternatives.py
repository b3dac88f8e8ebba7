"""Each criterion, with a constant, a shuffled and a mirrored series in place of the simulated one."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from ackclock.experiments import Reproduction, papers
from ackclock.experiments.criteria import Expected, judge
from ackclock.experiments.frame import Finding, Measure, item_module
from ackclock.experiments.papers import Item
from ackclock.experiments.reproducing import POINTS
from ackclock.sweeps import Folder
from experiments.alternatives import ORDERS, agreeing, exchanged, runs_of

EACH = "the claim is of each run by itself: an exchanged run is judged by its own settings, or meets it as well"
ALIKE = "the item's runs differ in what must not matter: a phase, a reading, or a buffer that h does not depend on"
ONE = "the row is of a run that has no other of its kind in the item"
FAR = "a bound that the paper's words leave wide: all settings of the item lie beyond it"
PASSES: Mapping[str, Mapping[str, str]] = {
    "abrupt_delay/figure-1": {"rto_before": ALIKE},
    "abrupt_delay/figure-2": dict.fromkeys(
        ("below_sufficient", "rto_before", "spurious", "timeout", "window_decides"), ONE
    ),
    "abrupt_delay/figure-3": dict.fromkeys(("no_td", "no_td_26"), ALIKE),
    "bottlenecks/figure-9": {"disappears": ONE, "formula": ALIKE},
    "bottlenecks/figure-10": dict.fromkeys(("improves", "reappears"), ONE),
    "bottlenecks/figure-11": {"only_where_possible": EACH},
    "engset/figure-1": dict.fromkeys(("cwnd", "order", "ssthresh"), ONE),
    "engset/table-3": {"misprints": EACH},
    "engset/figure-8": dict.fromkeys(("equal_with_load", "no_spurious", "utilisation_equal"), EACH),
    "engset/figure-11": {"steep": EACH},
    "engset/section-5.4.1": {"works": EACH},
    "engset/table-6": {"overestimates": FAR, "run_to_run": EACH},
    "engset/figure-12": {"fits": FAR, "utilisation": FAR},
    "engset/figure-13": {"bulge": FAR},
    "engset/figure-14": {"even_after": EACH, "paced_alike": ALIKE},
    "engset/table-7": dict.fromkeys(
        ("FR", "TD", "TDTO", "TOend", "recovery", "recovery_transfer", "rtt", "send_rate", "sent_on_end", "timeouts"),
        ALIKE,
    ),
    "engset/figure-15": dict.fromkeys(("three", "up_to_seven"), FAR),
    "engset/table-10": dict.fromkeys(("EE_h", "E_h", "E_on", "compensation"), ALIKE),
    "two_way/figure-3.2": dict.fromkeys(("efficiency", "efficiency_other", "period", "phase", "queue"), ALIKE),
    "two_way/figure-5.2": dict.fromkeys(("steady", "steps"), ALIKE),
    "two_way/figure-5.3": dict.fromkeys(("empties", "staggered"), ALIKE),
    "two_way/figure-5.4": dict.fromkeys(("efficiency", "steps"), ALIKE),
    "two_way/figure-5.7": dict.fromkeys(("idle", "queue_1L", "spacing_1L", "spacing_1R"), ONE),
    "two_way/figure-5.10": {"available": ONE, **dict.fromkeys(("efficiency", "equal", "synchronized"), ALIKE)},
    "two_way/figure-5.11": dict.fromkeys(("compressed", "short_gets_more"), ALIKE),
    "two_way/figure-5.12": dict.fromkeys(("empties", "pairs"), ALIKE),
    "two_way/figure-5.13": dict.fromkeys(("one_connection", "spacing"), ALIKE),
    "two_way/figure-5.16": {"efficiency": ONE},
    "two_way/gfc-2": dict.fromkeys(("effect", "formula", "shares"), ONE),
    "two_way/processing": {"whole_windows": EACH},
    "two_way/text": {"switches": EACH},
    "variable_delay/figure-2": dict.fromkeys(("samples", "steep"), EACH),
    "variable_delay/section-4": {"constant_p": ALIKE},
    "variable_delay/figure-3": dict.fromkeys(("fixed_is_low", "markov_nearest", "nearer"), EACH),
}
"""Rows that agree with all three exchanges of their item's runs, and why that is no fault of their criterion."""
ITEMS = [item for paper in papers() for item in paper.items if item.module]
ROWS = [row for item in ITEMS for row in item.expected]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.paper}/{item.name}")
def test_a_row_that_agrees_fails_with_wrong_series(item: Item, made: tuple[Reproduction, Path]) -> None:
    module = item_module(item.paper, item.module)
    runs = runs_of(module, Folder(made[1] / POINTS))
    if len(runs) < 2:
        pytest.skip("the item has one run at most: there is nothing to exchange")
    found = agreeing(item, module, runs)
    assert found is not None
    others = [agreeing(item, module, exchanged(runs, order)) for order in ORDERS.values()]
    # A module may refuse wrong series; then the other orders must show it.
    told = [other for other in others if other is not None]
    assert told
    found = found.intersection(*told)
    evidence = {row.key for row in item.expected if row.kind != "identity"}
    assert found & evidence == set(PASSES.get(f"{item.paper}/{item.name}", {}))


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
