"""What Barakat and Altman (1999) and ns-2 say of figures 2, 9 and 10; tolerances are those of the issue."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import ackclock

SCENARIOS = Path(__file__).parent.parent / "scenarios"


def peaks(cwnd: pd.DataFrame) -> pd.Series:
    """Windows from which cwnd fell to one packet, the first slow start's overshoot left out."""
    falls = (cwnd["cwnd"].shift(-1) == 1) & (cwnd["cwnd"] > 1)
    return cwnd.loc[falls, "cwnd"].iloc[1:]


@pytest.mark.parametrize(
    ("scenario", "throughput_bps", "peak"),
    [("geo-two-nodes-equal", 1.371e6, 308), ("geo-two-nodes", 1.247e6, 258)],
)
def test_figure_2_has_the_throughput_and_the_peaks(scenario: str, throughput_bps: float, peak: float) -> None:
    overrides = {"trace.cwnd": True, "run.duration": "500 s"}
    result = ackclock.run(SCENARIOS / f"{scenario}.toml", overrides=overrides)
    flow = result.summary["flows"][0]
    assert flow["throughput_bps"]["mean"] == pytest.approx(throughput_bps, rel=0.005)
    assert flow["goodput_bps"]["mean"] == pytest.approx(throughput_bps, rel=0.005)
    assert len(peaks(result.traces["cwnd"])) >= 4
    np.testing.assert_allclose(peaks(result.traces["cwnd"]), peak, atol=1)


def loss_detections(scenario: str) -> list[tuple[str, bool]]:
    """Loss detections in order, as (cause, of a retransmission)."""
    overrides = {"trace.losses": True, "run.duration": "3000 s", "run.replications": 1}
    losses = ackclock.run(SCENARIOS / f"{scenario}.toml", overrides=overrides).traces["losses"]
    return [(str(loss.cause), bool(loss.retransmission)) for loss in losses.itertuples()]


FOUND = ("fast-retransmit", False)
RETRANSMISSION_LOST = ("timeout", True)


def test_figure_9_loses_the_retransmission_in_every_cycle() -> None:
    # The first slow start has no overflow in avoidance before it, and its retransmission finds room, as in ns-2.35.
    detections = loss_detections("geo-retransmission-loss")
    start, cycles = detections[:1], cycles_of(detections[1:])
    assert start == [FOUND]
    assert len(cycles) >= 20
    # Overflow in avoidance; overflow in the slow start that follows; its retransmission is lost.
    assert all(cycle == [FOUND, FOUND, RETRANSMISSION_LOST] for cycle in cycles)


def cycles_of(detections: list[tuple[str, bool]]) -> list[list[tuple[str, bool]]]:
    whole = len(detections) // 3 * 3
    return [detections[index : index + 3] for index in range(0, whole, 3)]


def test_figure_10_random_drop_spares_the_retransmission() -> None:
    detections = loss_detections("geo-random-drop")
    assert detections.count(FOUND) >= 30
    # A retransmission that finds a full buffer of 18 is itself drawn once in 18; by the paper it never is.
    assert detections.count(RETRANSMISSION_LOST) <= detections.count(FOUND) / 18
