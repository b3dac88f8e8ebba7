"""BBR and pacing from a scenario to results: the recorded runs of the kernel in the large, and what is random."""

from typing import Any

import numpy as np
import pytest

import ackclock

KERNEL = {
    "10 Mbit/s": (("10 Mbit/s", "33 pkt", "60 s"), (0.97989, 7.7025e-3, 76)),
    "100 Mbit/s": (("100 Mbit/s", "333 pkt", "20 s"), (0.98326, 2.5618e-3, 732)),
    "100 Mbit/s, deep": (("100 Mbit/s", "1667 pkt", "20 s"), (0.98342, 2.5729e-3, 0)),
}
"""Runs of Linux 6.1 over 40 ms: rate, buffer, duration; utilisation, mean queueing delay [s], drops of the startup."""


def document(tcp: Any, rate: str = "10 Mbit/s", buffer: str = "33 pkt", **run: Any) -> dict[str, Any]:
    flow = {"path": ["neck"], "two_way_propagation": "40 ms", "packet": "1500 B", "ack": "52 B", "tcp": tcp}
    return {"link": [{"name": "neck", "rate": rate, "buffer": buffer}], "flow": [flow], "run": run}


def mean(row: dict[str, Any], name: str) -> float:
    return float(row[name]["mean"])


@pytest.mark.parametrize(("path", "kernel"), KERNEL.values(), ids=KERNEL)
def test_bbr_fills_the_path_as_in_the_kernel(path: tuple[str, str, str], kernel: tuple[float, float, int]) -> None:
    rate, buffer, duration = path
    utilisation, queueing, drops = kernel
    warmup = f"{float(duration.split()[0]) / 4} s"
    measured = ackclock.run(document("linux-bbr", rate, buffer, duration=duration, warmup=warmup)).summary["links"][0]
    whole = ackclock.run(document("linux-bbr", rate, buffer, duration=duration)).summary["links"][0]
    assert mean(measured, "utilisation_fraction") == pytest.approx(utilisation, rel=0.02)
    assert mean(measured, "queueing_mean_s") == pytest.approx(queueing, rel=0.1)
    assert mean(whole, "dropped_packets") == pytest.approx(drops, rel=0.1)


def sent(tcp: Any, **run: Any) -> Any:
    """Give the instants at which a flow sends, in a second unless `run` says otherwise [s]."""
    asked = {**document(tcp, **{"duration": "1 s", **run}), "trace": {"sequence": True}}
    rows = ackclock.run(asked).traces["sequence"]
    return rows[rows["kind"] == "sent"]["time_s"].to_numpy()


def test_the_phases_of_bbr_depend_on_the_seed_alone() -> None:
    first, again, other = (sent("linux-bbr", duration="3 s", seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    size = min(len(first), len(other))
    assert not np.array_equal(first[:size], other[:size])
    # They are drawn when the startup is over, not before.
    assert np.array_equal(first[first < 0.4], other[other < 0.4])


@pytest.mark.parametrize("tcp", ["linux-bbr", "draft-bbr3"])
def test_runs_of_bbr_differ_with_their_draws_and_its_window_is_not_one_that_grows_until_a_loss(tcp: str) -> None:
    asked = document(tcp, buffer="333 pkt", duration="20 s", warmup="2 s", replications=3)
    # The draws of a single flow may move its probes alone, which leaves all means as they are.
    asked["flow"][0]["count"] = 2
    summary = ackclock.run(asked).summary
    assert (summary["deterministic"], summary["replications"]) == (False, 3)
    queueing = summary["links"][0]["queueing_mean_s"]
    assert queueing["low"] < queueing["mean"] < queueing["high"]
    assert not any("still grew" in warning for warning in summary["warnings"])


@pytest.mark.parametrize("tcp", ["linux-bbr", {"preset": "linux-reno", "pacing": "linux"}])
def test_paced_packets_leave_one_by_one_after_the_first_ten(tcp: Any) -> None:
    gaps = np.diff(sent(tcp))
    assert np.all(gaps[:9] == 0.0)
    assert np.all(gaps[10:] > 0.0)
    assert np.any(np.diff(sent("linux-reno"))[10:] == 0.0)
