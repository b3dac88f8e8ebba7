"""The rules by which our figures agree with the kernel's."""

from dataclasses import replace

import pytest

from ackclock.scenario import load, resolve
from crosscheck.linux import ours
from crosscheck.linux.check import Mark, mark_of
from crosscheck.linux.figures import LEAST_REALISATIONS, Agreement, Figures, compare, same_spread

PLAIN = Figures((10.0,), 50.0, 100, 40, 100, 0)


def agreement(ours: Figures, theirs: Figures = PLAIN) -> dict[str, Agreement]:
    return {one.rule.name: one.agreement for one in compare([theirs], [ours])}


@pytest.mark.parametrize(
    ("figure", "within", "beyond"),
    [
        ("throughput [Mbit/s]", {"goodput_mbps": (10.2,)}, {"goodput_mbps": (10.21,)}),
        ("mean queue [ms]", {"queue_ms": 45.0}, {"queue_ms": 44.9}),
        ("drops", {"drops": 110}, {"drops": 111}),
        ("recoveries", {"recoveries": 42}, {"recoveries": 43}),
        ("retransmissions", {"retransmissions": 95}, {"retransmissions": 94}),
        ("timeouts", {"timeouts": 1}, {"timeouts": 2}),
    ],
)
def test_each_figure_has_its_tolerance(figure: str, within: dict[str, float], beyond: dict[str, float]) -> None:
    assert set(agreement(replace(PLAIN, **within)).values()) == {Agreement.WITHIN}  # type: ignore[arg-type]
    found = agreement(replace(PLAIN, **beyond))  # type: ignore[arg-type]
    assert [name for name, how in found.items() if how is not Agreement.WITHIN] == [figure]


def test_one_recovery_more_is_no_difference_where_they_are_few() -> None:
    few = replace(PLAIN, recoveries=3)
    assert agreement(replace(few, recoveries=4), few)["recoveries"] is Agreement.WITHIN
    assert agreement(replace(few, recoveries=5), few)["recoveries"] is Agreement.DIFFERS


def test_flows_are_compared_each_and_together() -> None:
    theirs, ours = (replace(PLAIN, goodput_mbps=rates) for rates in ((6.0, 4.0), (4.0, 6.0)))
    found = agreement(ours, theirs)
    assert found["throughput [Mbit/s]"] is Agreement.WITHIN
    assert found["flow 1 [Mbit/s]"] is found["flow 2 [Mbit/s]"] is Agreement.DIFFERS


def spread(*drops: int) -> list[Figures]:
    return [replace(PLAIN, drops=value) for value in drops]


def drops(theirs: list[Figures], ours: list[Figures]) -> Agreement:
    return next(one.agreement for one in compare(theirs, ours) if one.rule.name == "drops")


def test_few_realisations_must_enclose_ours() -> None:
    assert drops(spread(100, 400), spread(410)) is Agreement.SPREAD
    assert drops(spread(100, 400), spread(411)) is Agreement.DIFFERS
    assert drops(spread(100, 104), spread(112)) is Agreement.DIFFERS


def test_one_realisation_of_theirs_must_lie_between_eight_of_ours() -> None:
    assert drops(spread(12), spread(10, 14, 10, 14, 10, 12, 16, 10)) is Agreement.SPREAD
    assert drops(spread(17), spread(10, 14, 10, 14, 10, 12, 16, 10)) is Agreement.DIFFERS
    assert drops(spread(12), spread(10, 14, 10, 14, 10, 12, 16)) is Agreement.DIFFERS, "seven of ours are too few"


def test_of_flows_that_are_alike_the_fairness_is_judged() -> None:
    theirs, ours, unfair = (replace(PLAIN, goodput_mbps=rates) for rates in ((5.4, 4.6), (4.6, 5.4), (7.0, 3.0)))
    found = {one.rule.name: one.agreement for one in compare([theirs], [ours], alike=True)}
    assert found["fairness (Jain)"] is Agreement.WITHIN
    assert not any(name.startswith("flow") for name in found)
    found = {one.rule.name: one.agreement for one in compare([theirs], [unfair], alike=True)}
    assert found["fairness (Jain)"] is Agreement.DIFFERS
    many = compare([theirs] * LEAST_REALISATIONS, [ours] * LEAST_REALISATIONS, alike=True)
    assert any(one.rule.name.startswith("flow") for one in many), "enough realisations show each flow's spread"


def test_many_realisations_must_have_our_spread() -> None:
    theirs = spread(100, 400, 120, 380, 140, 360, 160, 340)
    assert len(theirs) == LEAST_REALISATIONS
    assert drops(theirs, spread(380, 130, 350, 110, 390, 150, 145, 370)) is Agreement.SPREAD
    assert drops(theirs, spread(*range(500, 508))) is Agreement.DIFFERS
    assert drops(theirs, spread(*range(395, 403))) is Agreement.DIFFERS, "ours is within their range, but never spreads"


def test_flows_share_the_probability_of_a_wrong_verdict() -> None:
    """With 10 of 16 values apart the test rejects at 1%; one of 16 flows may be so by chance, with all apart none."""
    first = [1.0 + 0.05 * number for number in range(16)]

    def of_16_flows(number: int) -> list[Agreement]:
        theirs = [replace(PLAIN, goodput_mbps=(rate,) * 16) for rate in first]
        ours = [replace(PLAIN, goodput_mbps=(rate + 0.05 * number, *(rate,) * 15)) for rate in first]
        return [one.agreement for one in compare(theirs, ours) if one.rule.name.startswith("flow")]

    apart = [rate + 0.05 * 10 for rate in first]
    assert not same_spread(first, apart, 0.0)
    assert set(of_16_flows(10)) == {Agreement.SPREAD, Agreement.WITHIN}
    assert of_16_flows(16).count(Agreement.DIFFERS) == 1


def test_values_within_the_tolerance_are_the_same_in_both_spreads() -> None:
    theirs = spread(140, 401, 401, 401, 140, 401, 401, 401)
    assert drops(theirs, spread(*[398] * 8)) is Agreement.SPREAD
    assert drops(theirs, spread(*[450] * 8)) is Agreement.DIFFERS


def test_a_narrow_spread_of_theirs_excuses_nothing() -> None:
    theirs = spread(100, 101, 99, 100, 101, 99, 100, 102)
    assert drops(theirs, spread(150, 100, 99, 101, 100, 102, 99, 100)) is Agreement.DIFFERS


def test_values_that_are_all_near_some_of_theirs_agree_even_if_the_first_ones_do_not() -> None:
    theirs = spread(100, 109, 108, 107, 109, 108, 109, 107)
    assert drops(theirs, spread(117, 107, 108, 109, 110, 108, 107, 109)) is Agreement.SPREAD
    assert drops(theirs, spread(120, 107, 108, 109, 110, 108, 107, 109)) is Agreement.DIFFERS


def test_a_spread_is_wide_if_two_of_theirs_differ_by_more_than_is_allowed() -> None:
    theirs = spread(100, 94, 96, 98, 102, 104, 106, 95)
    assert drops(theirs, spread(118, 95, 97, 99, 101, 103, 105, 96)) is Agreement.SPREAD


def test_marks() -> None:
    within, differs = compare([PLAIN], [PLAIN]), compare([PLAIN], [replace(PLAIN, drops=200)])
    between = compare(spread(100, 400), spread(398))
    assert [mark_of(found) for found in (within, between, differs)] == [Mark.PASS, Mark.SPREAD, Mark.FAIL]
    assert mark_of(differs, "because") is Mark.KNOWN
    assert mark_of(within, "because") is Mark.PASS


def test_a_timeout_is_not_counted_among_our_recoveries() -> None:
    """The kernel counts entries into its state Recovery. Here all ten packets of the only window are lost."""
    link = {"name": "wire", "rate": "10 Mbit/s", "delay": "20 ms"}
    loss = {"model": "packets", "packets": list(range(1, 11)), "applies_to": "data"}
    flow = {"path": ["wire"], "size": "10 pkt", "tcp": {"preset": "linux-reno"}}
    document = {"link": [{**link, "loss": loss}], "flow": [flow], "run": {"duration": "10 s"}}
    figures = ours.play(resolve(load(document)).to_dict())
    assert (figures.recoveries, figures.timeouts > 0) == (0, True)
