"""Intervals by batch means: when there is one, and whether it holds the long-run mean as often as it says."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.batches import BATCHES, COUNTS, half_widths, residuals
from ackclock.engine import run_resolved
from ackclock.scenario import load, resolve
from ackclock.summary import flow_rows
from ackclock.sweeps.record import decode, encode
from digest.draw import draw


def autoregressive(rows: int, correlation: float, seed: int = 1) -> np.ndarray[Any, Any]:
    """Draw rows of batches with mean 0, each batch correlated with the next."""
    random = np.random.default_rng(seed)
    values = np.empty((rows, BATCHES))
    values[:, 0] = random.normal(size=rows) / np.sqrt(1.0 - correlation**2)
    for batch in range(1, BATCHES):
        values[:, batch] = correlation * values[:, batch - 1] + random.normal(size=rows)
    return values


def intervals(values: np.ndarray[Any, Any], about: float = 100.0) -> tuple[Any, Any]:
    means = values.mean(axis=1)
    return half_widths(values - means[:, np.newaxis], np.full(len(values), about), 0.9)


def test_the_interval_holds_the_mean_as_often_as_it_says() -> None:
    values = autoregressive(4000, 0.0)
    halves, counts = intervals(values)
    # Nine of ten are taken with 60 batches; of all, 90% hold 0: three standard errors are 1.4%.
    assert 0.87 < (counts == 60).mean() < 0.93
    assert abs((np.abs(values.mean(axis=1)) <= halves).mean() - 0.9) < 0.015


def test_batches_are_merged_until_they_are_uncorrelated() -> None:
    values = autoregressive(2000, 0.6)
    halves, counts = intervals(values)
    assert (counts == 60).mean() < 0.02
    assert set(np.unique(counts)) <= {0, *COUNTS}
    held = np.abs(values.mean(axis=1)) <= halves
    # A test of ten batches does not see all correlation: 80% instead of 90% is what the literature reports.
    assert held[counts > 0].mean() > 0.8


def test_a_trend_has_no_interval_but_a_small_one_has_its_farthest_batch() -> None:
    trend = np.linspace(-5.0, 5.0, BATCHES)[np.newaxis]
    halves, counts = half_widths(trend, np.array([100.0]), 0.95)
    assert (np.isnan(halves[0]), counts[0]) == (True, 0)
    halves, counts = half_widths(trend / 10.0, np.array([100.0]), 0.95)
    ten = trend.reshape(10, 6).mean(axis=1) / 10.0
    assert (halves[0], counts[0]) == (pytest.approx(ten.max()), 10)


def test_a_constant_is_known_exactly() -> None:
    halves, counts = half_widths(np.zeros((1, BATCHES)), np.array([7.0]), 0.95)
    assert (halves[0], counts[0]) == (0.0, 60)


def test_the_deviations_of_a_ratio_are_weighted_by_its_denominator() -> None:
    sent, gone = np.arange(1.0, 61.0), np.full(60, 0.1)
    run: Any = {"flow_batches": {"sent_packets": sent, "gone_packets": gone}}
    loss = gone.sum() / sent.sum()
    found = residuals(run, "flow", "loss_fraction", np.array([loss]))
    assert found is not None
    np.testing.assert_allclose(found[0], (gone - loss * sent) / sent.mean())
    assert residuals(run, "flow", "cwnd_max_packets", np.array([1.0])) is None


@pytest.mark.parametrize("number", range(0, 60, 3))
def test_what_happens_in_the_first_batches_is_what_a_run_that_ends_there_measures(number: int) -> None:
    resolved = resolve(load(draw(number)))
    warmup = round(0.3 * resolved.run.duration_s, 3)
    resolved = replace(resolved, run=replace(resolved.run, replications=1, precision=None, warmup_s=warmup))
    whole = run_resolved(resolved, threads=1)[0]
    second, batch = whole["ticks_per_second"], 23
    start, stop = (round(time_s * second) for time_s in (warmup, resolved.run.duration_s))
    end = (start + batch * ((stop - start) // BATCHES)) / second
    cut = run_resolved(replace(resolved, run=replace(resolved.run, duration_s=end)), threads=1)[0]
    private = any(element.kind == "private-link" for element in resolved.elements)
    # What a sender behind private links does is sampled by the clock, and so may be a round trip early.
    late = {"sent_packets", "rtt_sum_s", "rtt_samples", "cwnd_area"} if private else set[str]()
    for batches, table in ((whole["flow_batches"], "flows"), (whole["link_batches"], "links")):
        for name, column in batches.items():
            parts = column.reshape(-1, BATCHES)
            known = np.isfinite(parts[:, 0])
            for run, counted in ((whole, parts.sum(axis=1)), (cut, parts[:, :batch].sum(axis=1))):
                columns: Any = run[table]  # type: ignore[literal-required]
                gone = name == "gone_packets"
                measured = columns["dropped_packets"] + columns["lost_packets"] if gone else columns[name]
                if run is whole or not (gone or name == "lost_packets" or name in late):
                    np.testing.assert_allclose(counted[known], measured[known], rtol=1e-9, atol=1e-6, err_msg=name)


RENO = """
[[link]]
name = "wan"
rate = "20 Mbit/s"
buffer = "100 pkt"
{more}
[[flow]]
path = ["wan"]
rtt = "60 ms"
tcp = "reno-rfc5681"
[run]
duration = "{duration}"
warmup = "5 s"
"""


def test_one_run_of_a_random_scenario_has_an_interval_and_says_of_what_kind() -> None:
    more = 'loss = { model = "bernoulli", probability = 0.003 }'
    text = RENO.format(duration="400 s", more=more)
    one = ackclock.run(text, picture=False)
    several = ackclock.run(text, replications=20, seed=2, picture=False)
    found, mean = one.summary["flows"][0]["throughput_bps"], several.summary["flows"][0]["throughput_bps"]["mean"]
    assert one.summary["intervals"] == "batch means"
    assert found["n"] == 1
    assert found["batches"] in COUNTS
    # The mean of 20 others is about five times better known: within twice the interval, and the interval is not vast.
    assert abs(mean - found["mean"]) < found["high"] - found["low"]
    assert found["high"] - found["low"] < 0.2 * mean
    assert several.summary["intervals"] == "replications"


def test_a_stored_point_keeps_its_batches() -> None:
    resolved = resolve(load(RENO.format(duration="60 s", more="")))
    runs = run_resolved(resolved, threads=1).replications
    (kept,) = decode(encode("key", runs))
    for name, column in runs[0]["flow_batches"].items():
        assert kept["flow_batches"][name].tolist() == column.tolist()
    assert flow_rows(resolved, [kept]) == flow_rows(resolved, runs)
