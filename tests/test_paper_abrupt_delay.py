"""The conditions of ackclock.models.abrupt_delay for spurious losses after a jump of the delay, in the engine."""

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

import numpy as np
import pytest

import ackclock
from ackclock.engine import run_resolved
from ackclock.models import abrupt_delay
from ackclock.scenario import Resolved

SCENARIO = Path(__file__).parents[1] / "scenarios" / "mobile-delay-steps.toml"
RATE = 125.0
SERVICE = 1.0 / RATE
STEADY = 6.0
"""By then the window has long been full and the timer has settled [s]."""
END = STEADY + 2.0
INSTANTS = 23
"""Of a round; no multiple of the service time, so that no jump meets a packet's last bit."""
WINDOWS = (1, 2, 3, 4, 5, 6, 8, 10, 12, 13, 16, 20, 22, 24, 25, 26, 28)


@lru_cache(maxsize=1)
def base() -> Resolved:
    return ackclock.resolve(SCENARIO, overrides={"run.duration": f"{END} s"})


def jump(window: int, old: float, new: float, instant: float) -> Resolved:
    """Describe the jump; round trips include the service."""
    resolved = base().to_dict()
    resolved["flows"][0]["traffic"]["connection"]["sender"]["max_window"] = window
    steps = [[0.0, old - SERVICE], [instant, new - SERVICE]]
    resolved["elements"][0]["delay_process"]["law"]["steps_s"] = steps
    return Resolved.from_dict(resolved)


def count(events: str, window: int, old: float, new: float, instant: float) -> int:
    """Count the losses of a kind that the sender takes the jump for."""
    (replication,) = run_resolved(jump(window, old, new, instant)).replications
    return int(replication["flows"][events][0])


def round_start_and_timer(window: int, old: float) -> tuple[float, float]:
    """Find when the first packet of the round at STEADY leaves the link, and the timer by then."""
    resolved = jump(window, old, old, END)
    traced = replace(resolved, trace=replace(resolved.trace, cwnd=True, sequence=True))
    result = ackclock.run(traced, picture=False)
    sequence = result.traces["sequence"]
    sent = sequence[sequence["kind"] == "sent"]["time_s"].to_numpy()
    leaves = np.empty(len(sent))
    last = -np.inf
    for number, time in enumerate(sent):
        leaves[number] = last = max(time, last) + SERVICE
    after_a_gap = leaves[1:][(np.diff(leaves) > SERVICE + 1e-9) & (leaves[1:] > STEADY)]
    start = after_a_gap[0] if len(after_a_gap) else leaves[leaves > STEADY][0]
    cwnd = result.traces["cwnd"]
    return float(start), float(cwnd[cwnd["time_s"] < start]["rto_s"].iloc[-1])


@pytest.mark.parametrize("window", WINDOWS)
def test_a_jump_up_lets_the_timer_expire_exactly_where_the_condition_says(window: int) -> None:
    old = 0.2
    start, rto = round_start_and_timer(window, old)
    for instant in (np.arange(INSTANTS) + 0.37) * old / INSTANTS:
        for new in (0.21, 0.25, 0.2937, 0.2973, 0.3, 0.35, 0.3931, 0.41, 0.6):
            step = abrupt_delay.step_in_round(window, RATE, old, step_instant=instant)
            expected = abrupt_delay.spurious_timeout(step, new, rto)
            found = count("timeouts", window, old, new, start + instant)
            assert (found > 0) == bool(expected.happens), (window, instant, new, rto, expected)


@pytest.mark.parametrize("window", WINDOWS)
def test_a_jump_down_brings_duplicates_exactly_where_the_condition_says(window: int) -> None:
    old = 0.2
    start, _ = round_start_and_timer(window, old)
    for instant in (np.arange(INSTANTS) + 0.37) * old / INSTANTS:
        for new in (0.0111, 0.0271, 0.0513, 0.1, 0.1277, 0.1511, 0.1733, 0.19):
            step = abrupt_delay.step_in_round(window, RATE, old, step_instant=instant)
            expected = abrupt_delay.spurious_fast_retransmit(step, new, 3)
            found = count("fast_retransmits", window, old, new, start + instant)
            assert (found > 0) == bool(expected.happens), (window, instant, new, expected)


def test_the_scan_has_both_outcomes() -> None:
    """Figures 1 to 4 lie in it: windows of 13 and 26, steps to 0.3 and 0.1 s."""
    instants = (np.arange(INSTANTS) + 0.37) * 0.2 / INSTANTS
    step = abrupt_delay.step_in_round(np.array(WINDOWS)[:, None], RATE, 0.2, step_instant=instants)
    timeouts = np.asarray(abrupt_delay.spurious_timeout(step, 0.3, 0.2004).happens)
    retransmits = np.asarray(abrupt_delay.spurious_fast_retransmit(step, 0.1, 3).happens)
    for happens in (timeouts, retransmits):
        assert 0.1 < happens.mean() < 0.9
        assert happens[WINDOWS.index(13)].any()
        assert not happens[WINDOWS.index(26)].any()
