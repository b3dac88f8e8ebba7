from typing import Any

import pytest

from crosscheck import means
from crosscheck.check import Mark
from crosscheck.outcome import FlowCounts
from crosscheck.subset import connection


def counts(acked: int) -> list[FlowCounts]:
    return [FlowCounts(acked, acked, acked, 0, 0, 0)]


def first() -> dict[str, Any]:
    return means.scenarios()[0]


def test_equal_samples_agree_and_far_ones_do_not() -> None:
    sample = [counts(acked) for acked in (100, 104, 96, 101, 99)]
    near = [counts(acked) for acked in (101, 104, 97, 101, 99)]
    far = [counts(acked) for acked in (140, 144, 136, 141, 139)]
    assert means.compare_means(first(), sample, near)[0].agrees
    assert not means.compare_means(first(), sample, far)[0].agrees


def test_samples_without_variance_agree_only_where_they_are_the_same() -> None:
    assert means.compare_means(first(), [counts(7)] * 3, [counts(7)] * 3)[0].agrees
    assert not means.compare_means(first(), [counts(7)] * 3, [counts(8)] * 3)[0].agrees


def test_the_interval_is_that_of_two_samples_of_unknown_variances(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(means, "confidence", lambda: 0.95)
    samples = [counts(acked) for acked in (1, 2, 3, 4, 5)], [counts(acked) for acked in (2, 4, 6, 8, 10)]
    mean = means.compare_means(first(), *samples)[0]
    # By hand: variances 2.5 and 10, 2.5 / 5 + 10 / 5 = 2.5, freedom 2.5^2 / (0.25 / 4 + 4 / 4) = 5.882, quantile 2.459.
    assert mean.half_width == pytest.approx(2.459 * 2.5**0.5, rel=1e-3)


def test_all_intervals_together_have_the_joint_level() -> None:
    number = sum(len(means.quantities(scenario)) for scenario in means.scenarios())
    assert number == 18
    assert 1.0 - number * (1.0 - means.confidence()) == pytest.approx(means.JOINT_CONFIDENCE)


def test_a_scenario_that_cannot_run_fails_with_its_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: dict[str, Any]) -> list[list[FlowCounts]]:
        raise ValueError("elements.0.rate_bps: too slow")

    monkeypatch.setattr(means, "play_engine", refuse)
    report = means.report(first(), map)
    assert report.mark is Mark.FAIL
    assert report.line().splitlines()[1].strip() == "ValueError: elements.0.rate_bps: too slow"


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize("number", range(4))
def test_replications_of_ns2_differ_and_are_the_same_again(number: int) -> None:
    scenario = means.scenarios()[number]
    scenario["run"]["duration_s"] = 40.0
    once, other = (means.play_ns2(scenario, replication) for replication in (0, 1))
    assert once != other
    assert means.play_ns2(scenario, 1) == other


@pytest.mark.usefixtures("needs_ns2")
@pytest.mark.parametrize(
    ("number", "change"),
    [
        (0, {"probability": 0.013}),
        (1, {"probability": 0.2}),
        (2, {"rate_bps": 480_000.0}),
        (3, {"rate_bps": 1_100_000.0}),
    ],
)
def test_another_load_or_loss_is_found(number: int, change: dict[str, float]) -> None:
    scenario = means.scenarios()[number]
    theirs = [means.play_ns2(scenario, replication) for replication in range(12)]
    losses = [link["loss"]["law"] for link in scenario["elements"] if link["loss"]]
    traffic = [flow["traffic"] for flow in scenario["flows"] if not connection(flow)]
    assert all(mean.agrees for mean in means.compare_means(scenario, theirs, means.play_engine(scenario)))
    (losses or traffic)[0].update(change)
    assert not all(mean.agrees for mean in means.compare_means(scenario, theirs, means.play_engine(scenario)))
