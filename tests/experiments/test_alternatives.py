"""Each criterion, with a constant, a shuffled, a mirrored and another item's series in place of the simulated one."""

from collections.abc import Hashable, Iterator, Mapping
from pathlib import Path

import pytest

from ackclock.experiments import Reproduction, papers
from ackclock.experiments.criteria import Expected, judge
from ackclock.experiments.frame import Finding, Measure, Run, item_module
from ackclock.experiments.papers import Item
from ackclock.experiments.reproducing import POINTS
from ackclock.sweeps import Folder
from experiments.alternatives import ORDERS, agreeing, exchanged, of_another_network, of_other_items, runs_of

FARTHER = {"atm_link.*.delay": "12 ms"}
OTHER_NETWORKS: Mapping[str, Mapping[str, str]] = {
    **{f"two_way/figure-5.{number}": FARTHER for number in (2, 3, 10, 11, 12, 13, 15, 16)},
    "two_way/gfc-2": FARTHER,
    "two_way/figure-5.7": {"atm_link.line.rate": "155 Mbit/s", "atm_link.line.reverse_rate": "155 Mbit/s"},
}
"""Changes of items whose runs no other item has, which make a wrong network of theirs."""
BEFORE = "all steps of the paper begin at T_1 = 0.2 s, to which the RTO has settled, whatever comes after"
TIMED_OUT = "runs without a timeout are refused; those that are left have one, as the claim says of windows up to 13"
NO_TD = "the absence of a fast retransmit; rows td and td_26 of figure 4 count the same and must find one"
TIMELINE = "one run is the paper's timeline; a longer transfer is refused, and no other begins with the text's flight"
TAKING_TURNS = (
    "of two peaks in turn the highest are twice as far apart with equal rates too: see spacing_all, which differs"
)
FAT = "the order of the four connections, which neither a phase nor a delay of 12 ms changes"
EACH_ACK = "a number of all files, in which the phases and laws of high load differ by less than the tolerance"
SAME_H = "the paper's own h differ by 1.4% over buffers and laws: any run of this load is within 3% of each"
PASSES: Mapping[str, Mapping[str, str]] = {
    "abrupt_delay/figure-1": {"rto_before": BEFORE},
    "abrupt_delay/figure-2": {
        "rto_before": BEFORE,
        **dict.fromkeys(("below_sufficient", "spurious", "timeout", "window_decides"), TIMED_OUT),
    },
    "abrupt_delay/figure-3": dict.fromkeys(("no_td", "no_td_26"), NO_TD),
    "bottlenecks/figure-10": {
        "reappears": "random drop has it at any buffer; runs of drop-tail, which has it not, have other traces"
    },
    "bottlenecks/section-3": {
        "rate": "R_CA depends on W alone: mu_1 and the buffers, in which the runs differ, must not matter",
        "above": "both runs of the row exceed B + mu T, by 48 and 88 packets; the others are refused",
    },
    "two_way/figure-5.2": {
        "steps": "slow start has steps on each path, 4 to 6 of them",
        "steady": "the shares are constant on each path: any rate that settles stays",
    },
    "two_way/figure-5.3": {"empties": "between two busy periods the queue of each run is empty, whatever their phase"},
    "two_way/figure-5.4": {"steps": "segments come in bunches on each path; without ACK compression there are none"},
    "two_way/figure-5.7": {
        "queue_1L": "a bound above the window of 14, which no queue of one connection exceeds",
        **dict.fromkeys(("spacing_1L", "spacing_1R"), TAKING_TURNS),
    },
    "two_way/figure-5.10": dict.fromkeys(("equal", "synchronized"), FAT),
    "two_way/figure-5.11": {"compressed": "that ACK compression occurs at any round trip is the claim"},
    "two_way/figure-5.12": {"empties": "between two busy periods the queue of each run is empty, whatever their phase"},
    "two_way/figure-5.13": dict.fromkeys(("one_connection", "spacing"), FAT),
    "two_way/figure-5.15": dict.fromkeys(("alike", "effect"), "other delays of the same three pairs"),
    "two_way/gfc-2": {"shares": "the max-min shares, which no delay changes"},
    "two_way/processing": {
        "whole_windows": "each run that keeps up sends whole windows: the claim is that the time must not matter"
    },
    "two_way/text": {"switches": "the one run of its kind: cells in the ports are counted nowhere else"},
    "engset/figure-1": dict.fromkeys(("cwnd", "order", "ssthresh"), TIMELINE),
    "engset/figure-11": {"steep": "in no run is the sharing at j = s the model's full one, whatever the law or path"},
    "engset/section-5.4.1": {"works": "at most 0.3% is lost in any of the settings at 100% load with these buffers"},
    "engset/figure-12": {"utilisation": "all runs are at 100% load: their utilisations are within 6% of one another"},
    "engset/table-6": {
        "overestimates": "the theory's losses of 5 to 38% are at least twice any that was simulated",
        "run_to_run": "the scatter of a run's own replications, which is below 1% at each load",
    },
    "engset/figure-13": {"bulge": "at high load each law has it, and the moderate load's theory is lower still"},
    "engset/figure-14": {
        "paced_alike": "that two runs do not differ holds for one run taken twice",
        "even_after": "a comparison within each run, before and after the last packet of its slow start",
    },
    "engset/table-7": dict.fromkeys(("FR", "send_rate"), EACH_ACK),
    "engset/table-8": {"timeouts": "timeouts per drop depend on the size of the file more than on anything else"},
    "engset/figure-15": {
        "up_to_seven": "bursts of more than seven are rare with either window: an end, not a number",
        "limited": "that a limit does not help holds for one run taken twice, and h hardly depends on the window",
    },
    "engset/table-10": {
        **dict.fromkeys(("EE_h", "E_h"), SAME_H),
        "compensation": "that h does not depend on the buffer holds for one run taken twice; only_high fails for it",
    },
    "variable_delay/figure-2": {
        "samples": "the mean round trip hardly depends on the period: 15% is the reading that the text leaves",
        "steep": "each run's longest rounds are those of the first slow start, a hundred times the rest",
    },
    "variable_delay/figure-3": dict.fromkeys(
        ("fixed_is_low", "markov_nearest", "nearer"),
        "models are fed with the round trips of the run itself, so each exchanged run brings its own predictions",
    ),
    "variable_delay/section-4": {"constant_p": "that runs do not differ holds for one run taken twice"},
}
"""Rows that agree with all exchanged runs, and why that is not a fault of their criterion."""
ITEMS = [item for paper in papers() for item in paper.items if item.module]
ROWS = [row for item in ITEMS for row in item.expected]


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: f"{item.paper}/{item.name}")
def test_a_row_that_agrees_fails_with_wrong_series(item: Item, made: tuple[Reproduction, Path]) -> None:
    store = Folder(made[1] / POINTS)
    found = passing(item, store)
    if found is None:
        pytest.skip("no other run measures the same things, or the item refuses each: nothing to compare with")
    assert found == set(PASSES.get(f"{item.paper}/{item.name}", {}))


def passing(item: Item, store: Folder) -> set[str] | None:
    """Find the rows of an item that agree with its own runs and with all exchanged ones; None if it takes none."""
    module = item_module(item.paper, item.module)
    runs = runs_of(module, store)
    own = agreeing(item, module, runs)
    assert own is not None
    left, told = own.intersection(row.key for row in item.expected if row.kind != "identity"), False
    for exchange in exchanges_of(item, runs, store):
        # A module may refuse wrong series; then the other exchanges must show it.
        if (found := agreeing(item, module, exchange)) is not None:
            left, told = left & found, True
        if told and not left:
            break
    return left if told else None


def exchanges_of(item: Item, runs: Mapping[Hashable, Run], store: Folder) -> Iterator[Mapping[Hashable, Run]]:
    """Make the exchanges of an item's runs, one after the other as they are asked for."""
    if len(runs) > 1:
        yield from (exchanged(runs, order) for order in ORDERS.values())
    foreign = of_other_items(item, runs, store)
    if any(foreign[key].resolved != run.resolved for key, run in runs.items()):
        yield foreign
    if wrong := OTHER_NETWORKS.get(f"{item.paper}/{item.name}"):
        yield of_another_network(item_module(item.paper, item.module), wrong, store)


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
