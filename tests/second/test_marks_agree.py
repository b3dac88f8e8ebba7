"""ackclock.models.queues.marks against flows that are played packet by packet."""

import pytest

from ackclock.models import queues
from second import marks_second as second


@pytest.mark.parametrize("spacing", ["drawn", "even"])
@pytest.mark.parametrize("p", [0.005, 0.01, 0.03])
def test_marks_a_round_trip_of_scalable_flows(p: float, spacing: queues.Spacing) -> None:
    found = second.scalable(p, round(60.0 / p**2), drawn=spacing == "drawn")
    assert float(queues.scalable_marks(p, spacing)) == pytest.approx(found, rel=0.02)


@pytest.mark.parametrize(("add", "beta"), [(1.0, 0.5), (1.0, 0.7), (0.53, 0.7), (1.0, 0.85)])
def test_windows_of_drawn_drops(add: float, beta: float) -> None:
    found = second.classic(0.0005, add, beta, 2_000_000)
    assert float(queues.drawn_window_constant(add, beta)) == pytest.approx(found, rel=0.02)


def test_drawn_signals_of_coupled_queues_are_consistent() -> None:
    """Windows by the found probabilities fill the link."""
    found = queues.coupled_rates(3, 5, 10000.0, 0.04, 0.03, coupling=1.7, drawn=True)
    classic = queues.drawn_window_constant() / found.classic_probability**0.5 / 0.04
    scalable = queues.scalable_marks(found.scalable_probability) / found.scalable_probability / 0.03
    assert (found.classic_rate, found.scalable_rate) == pytest.approx((classic, scalable), rel=1e-9)
    assert float(3 * classic + 5 * scalable) == pytest.approx(10000.0, rel=1e-9)
