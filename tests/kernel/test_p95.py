"""The 95th percentile of the waits at queues with an AQM, against recorded runs of the Linux kernel."""

import pytest

from crosscheck.linux import ours, recorded
from crosscheck.linux.realisations import realise


@pytest.mark.parametrize("name", list(recorded.p95_ms()))
def test_the_95th_percentile_of_the_waits_is_within_a_tenth_of_the_kernels(name: str) -> None:
    scenario = realise(recorded.runs()[name].scenario(), 0.0)
    assert ours.p95_wait_ms(scenario) == pytest.approx(recorded.p95_ms()[name], rel=0.1)
