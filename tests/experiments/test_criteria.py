"""Verdicts: each criterion can agree and can fail."""

from math import nan

import numpy as np
import pytest

from ackclock.errors import SweepError
from ackclock.experiments.criteria import Expected, Verdict, check_criterion, count, item_verdict, judge, verdict
from ackclock.experiments.frame import Finding, Measure, share
from ackclock.experiments.uncertainty import halves, jackknife
from ackclock.stats import estimate


def expected(criterion: str, paper: float = 10.0, judged: str = "simulation") -> Expected:
    return Expected("figure", "key", "", "", "printed", paper, "", judged, criterion, "")


@pytest.mark.parametrize(
    ("criterion", "agreeing", "differing"),
    [
        ("within 2%", [9.8, 10.0, 10.2], [9.79, 10.21, -10.0]),
        ("within 0.5", [9.5, 10.5], [9.49, 10.51]),
        ("between 4 and 6", [4.0, 6.0], [3.9, 6.1]),
        ("at least 90", [90.0, 100.0], [89.9]),
        ("at most 20", [20.0, -5.0], [20.1]),
        ("holds always", [1.0], [0.0, 0.5]),
        ("holds nearly always", [0.9, 1.0], [0.0, 0.5]),
        ("holds mostly", [0.67, 1.0], [0.0, 0.5]),
        ("holds sometimes", [0.01, 0.99], [0.0, 1.0]),
    ],
)
def test_a_criterion_agrees_within_its_range_and_differs_outside(
    criterion: str, agreeing: list[float], differing: list[float]
) -> None:
    row = expected(criterion)
    assert {verdict(row, Finding(value)) for value in agreeing} == {"agrees"}
    assert {verdict(row, Finding(value)) for value in differing} == {"differs"}


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (Measure(10.1, 9.95, 10.25), "agrees"),
        (Measure(10.1, 9.5, 10.7), "not decided"),
        (Measure(11.0, 10.1, 11.9), "not decided"),
        (Measure(11.0, 10.3, 11.7), "differs"),
    ],
)
def test_a_number_agrees_only_with_an_interval_narrower_than_its_range(found: Measure, wanted: Verdict) -> None:
    assert verdict(expected("within 2%"), Finding(found)) == wanted


@pytest.mark.parametrize(
    ("found", "wanted"),
    [
        (Measure(95.0, 91.0, 99.0), "agrees"),
        (Measure(95.0, 85.0, 105.0), "not decided"),
        (Measure(85.0, 80.0, 91.0), "not decided"),
        (Measure(80.0, 75.0, 85.0), "differs"),
    ],
)
def test_a_range_with_one_end_must_hold_the_whole_interval(found: Measure, wanted: Verdict) -> None:
    assert verdict(expected("at least 90"), Finding(found)) == wanted


def test_fewer_packets_never_turn_a_difference_into_an_agreement() -> None:
    found = [
        verdict(expected("within 2%"), Finding(Measure(11.0, 11.0 - half, 11.0 + half))) for half in (0.1, 1.0, 9.0)
    ]
    assert found == ["differs", "not decided", "not decided"]


def test_what_is_not_decided_says_what_would_decide_it() -> None:
    assert "9 times as many packets" in judge(expected("within 2%"), Finding(Measure(10.1, 9.5, 10.7))).needs
    assert "far more packets" in judge(expected("within 2%"), Finding(Measure(10.2001, 9.0, 11.4))).needs
    assert judge(expected("within 2%"), Finding(10.0)).needs == ""


def test_a_claim_that_holds_in_most_cases_though_not_in_enough_is_met_partly() -> None:
    assert verdict(expected("holds always", nan), Finding(0.75)) == "partly"
    assert verdict(expected("holds mostly", nan), Finding(0.6)) == "partly"


def test_a_claim_that_chance_decides_is_not_decided() -> None:
    assert verdict(expected("holds always", nan), Finding(Measure(1.0, 0.7, 1.3))) == "not decided"
    assert verdict(expected("holds mostly", nan), Finding(Measure(0.9, 0.8, 1.0))) == "agrees"


def test_a_negative_number_has_a_range_too() -> None:
    assert verdict(expected("within 10%", -10.0), Finding(-10.5)) == "agrees"
    assert verdict(expected("within 10%", -10.0), Finding(-12.0)) == "differs"


def test_what_was_not_found_does_not_agree() -> None:
    assert verdict(expected("within 2%"), Finding()) == "not decided"
    assert verdict(expected("holds always", nan), Finding(model=1.0)) == "not decided"


def test_the_model_is_judged_where_the_row_says_so() -> None:
    row = expected("within 2%", judged="model")
    assert verdict(row, Finding(simulation=10.0, model=20.0)) == "differs"
    assert verdict(row, Finding(simulation=20.0, model=10.0)) == "agrees"
    assert verdict(row, Finding(model=10.0, model_ends=(8.0, 12.0))) == "not decided"


@pytest.mark.parametrize(
    ("rows", "of_item"),
    [
        ([("words", "agrees"), ("printed", "agrees")], "agrees"),
        ([("words", "agrees"), ("printed", "differs")], "differs"),
        ([("words", "differs"), ("printed", "agrees")], "partly"),
        ([("words", "partly"), ("words", "agrees")], "partly"),
        ([("words", "partly"), ("words", "partly")], "partly"),
        ([("words", "differs"), ("words", "partly"), ("words", "agrees")], "differs"),
        ([("words", "agrees"), ("printed", "not decided")], "not decided"),
        ([("words", "not decided"), ("printed", "agrees")], "agrees"),
        ([("words", "agrees"), ("identity", "differs")], "partly"),
        ([("words", "differs"), ("identity", "agrees"), ("identity", "agrees")], "differs"),
        ([("identity", "agrees"), ("identity", "agrees")], "identity"),
        ([("identity", "agrees"), ("identity", "differs")], "differs"),
        ([], "not decided"),
    ],
)
def test_an_item_is_judged_by_its_weighted_rows(rows: list[tuple[str, Verdict]], of_item: str) -> None:
    assert item_verdict(rows) == of_item


def test_identities_are_counted_apart() -> None:
    found = count([("printed", "agrees"), ("words", "not decided"), ("identity", "agrees"), ("identity", "differs")])
    assert (found.rows, found.agrees, found.not_decided, found.identities, found.identities_hold) == (2, 1, 1, 2, 1)
    assert (found + found).rows == 4


@pytest.mark.parametrize("number", [3, 4, 5])
def test_the_jackknife_of_a_mean_is_students_interval(number: int) -> None:
    values = np.array([9.0, 10.0, 11.5, 10.2, 9.7][:number])
    parts = [float(values[list(half)].mean()) for half in halves(number)]
    student = estimate(values, 0.95)
    assert jackknife(float(values.mean()), parts, number) == pytest.approx((student["low"], student["high"]))


@pytest.mark.parametrize("text", ["within", "within about 2%", "at least", "holds", "holds often", "", "agrees"])
def test_a_criterion_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(SweepError, match="within 2%"):
        check_criterion(text)


def test_a_claim_without_cases_was_not_shown_to_hold() -> None:
    assert share([]) == 0.0
