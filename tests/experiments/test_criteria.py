"""Verdicts: each criterion can agree and can fail."""

from math import nan

import pytest

from ackclock.errors import SweepError
from ackclock.experiments.criteria import Expected, Verdict, check_criterion, item_verdict, verdict
from ackclock.experiments.frame import Finding, Measure, share


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
        ("holds", [1.0], [0.0]),
    ],
)
def test_a_criterion_agrees_within_its_range_and_differs_outside(
    criterion: str, agreeing: list[float], differing: list[float]
) -> None:
    row = expected(criterion)
    assert {verdict(row, Finding(value)) for value in agreeing} == {"agrees"}
    assert {verdict(row, Finding(value)) for value in differing} == {"differs"}


def test_an_interval_agrees_where_it_meets_the_range() -> None:
    row = expected("within 2%")
    assert verdict(row, Finding(Measure(11.0, 10.1, 11.9))) == "agrees"
    assert verdict(row, Finding(Measure(11.0, 10.3, 11.7))) == "differs"


def test_a_claim_that_holds_in_some_cases_is_met_partly() -> None:
    assert verdict(expected("holds", nan), Finding(0.5)) == "partly"


def test_a_negative_number_has_a_range_too() -> None:
    assert verdict(expected("within 10%", -10.0), Finding(-10.5)) == "agrees"
    assert verdict(expected("within 10%", -10.0), Finding(-12.0)) == "differs"


def test_what_was_not_found_does_not_agree() -> None:
    assert verdict(expected("within 2%"), Finding()) == "not shown"
    assert verdict(expected("holds", nan), Finding(model=1.0)) == "not shown"


def test_the_model_is_judged_where_the_row_says_so() -> None:
    row = expected("within 2%", judged="model")
    assert verdict(row, Finding(simulation=10.0, model=20.0)) == "differs"
    assert verdict(row, Finding(simulation=20.0, model=10.0)) == "agrees"


@pytest.mark.parametrize(
    ("verdicts", "of_item"),
    [
        (["agrees", "agrees"], "agrees"),
        (["agrees", "differs"], "partly"),
        (["differs", "differs"], "differs"),
        (["differs", "partly"], "partly"),
        (["agrees", "not shown"], "partly"),
        (["differs", "not shown"], "differs"),
        ([], "not shown"),
    ],
)
def test_an_item_is_judged_by_all_its_claims(verdicts: list[Verdict], of_item: Verdict) -> None:
    assert item_verdict(verdicts) == of_item


@pytest.mark.parametrize("text", ["within", "within about 2%", "at least", "Holds", "", "agrees"])
def test_a_criterion_that_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(SweepError, match="within 2%"):
        check_criterion(text)


def test_a_claim_without_cases_was_not_shown_to_hold() -> None:
    assert share([]) == 0.0
