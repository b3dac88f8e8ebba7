"""What Abouzeid and Roy print, the conditions that they leave out against a simulation of packets, what is refused."""

import heapq
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import pytest

from ackclock.errors import ModelError
from ackclock.models import abrupt_delay as model

MU = 125.0  # 1 Mbit/s of 1000-byte packets


def step(window: Any, instant: Any, round_trip: float = 0.2) -> model.Step:
    return model.step_in_round(window, MU, round_trip, instant)


@dataclass
class Sender:
    """A window, a link and a receiver in whole units of time: every tie is one. Reacts to nothing."""

    window: int
    service: int
    old: int
    new: int
    step: int
    rto: int
    threshold: float
    watched_from: int
    free: int = 0
    sent: int = 0
    acked: int = 0
    last_ack: int = 0
    in_a_row: int = 0
    silence: int = 0
    duplicates: int = 0
    timeout: int | None = None
    retransmit: int | None = None
    early: set[int] = field(default_factory=set)
    flying: list[tuple[int, int]] = field(default_factory=list)

    def send(self, now: int) -> None:
        while self.sent < self.acked + self.window:
            leaves = max(now, self.free)
            self.free = leaves + self.service
            delay = self.old if leaves < self.step else self.new
            heapq.heappush(self.flying, (leaves + delay, self.sent))
            self.sent += 1

    def arrive(self, now: int, packet: int) -> None:
        if now - self.last_ack > self.rto and self.timeout is None and self.acked:
            self.timeout = self.last_ack + self.rto
        self.early.add(packet)
        if packet != self.acked:
            self.in_a_row += 1
            if self.in_a_row == self.threshold and self.retransmit is None:
                self.retransmit = now
            self.duplicates = max(self.duplicates, self.in_a_row)
            return
        while self.acked in self.early:
            self.early.remove(self.acked)
            self.acked += 1
        if now > self.watched_from:
            self.silence = max(self.silence, now - self.last_ack)
        self.last_ack, self.in_a_row = now, 0
        self.send(now)

    def run(self, until: int) -> "Sender":
        self.send(0)
        while self.flying[0][0] <= until:
            self.arrive(*heapq.heappop(self.flying))
        return self


Case: TypeAlias = tuple[int, int, int, int, int, int, int]
CASES = 4000
UNIT = 1 / 1024


def cases(seed: int) -> list[Case]:
    """w, 1/mu, T1, T2, x, RTO, D in whole units; many are whole packets, so that instants coincide."""
    draw = np.random.default_rng(seed)
    found = []
    for _ in range(CASES):
        window, service = int(draw.integers(1, 16)), int(draw.integers(1, 9))
        grid = service if draw.random() < 0.5 else 1
        times = grid * draw.integers(-(-service // grid), 25 * service // grid, size=2)
        old, new = (int(time) for time in times)
        instant = grid * int(draw.integers(0, -(-old // grid)))
        least = max(old - (window - 1) * service, service)
        rto = least + grid * int(draw.integers(0, 12 * service // grid + 1))
        found.append((window, service, old, new, min(instant, old - 1), rto, int(draw.integers(1, 6))))
    return found


def simulate(case: Case) -> tuple[Sender, int]:
    window, service, old, new, instant, rto, needed = case
    period = max(old, window * service)
    start = 3 * period
    last = start + 6 * max(old, new, window * service)
    return Sender(window, service, old, new, start + instant, rto, needed, start - period).run(last), start


@pytest.mark.parametrize("unit", [UNIT, 1e-3])
def test_every_packet_agrees_with_the_closed_forms(unit: float) -> None:
    drawn = cases(2001)
    w, service, old, new, instant, rto, needed = np.array(drawn).T
    where = model.step_in_round(w, 1.0 / (service * unit), old * unit, instant * unit)
    timeout = model.spurious_timeout(where, new * unit, rto * unit)
    retransmit = model.spurious_fast_retransmit(where, new * unit, needed)
    for i, case in enumerate(drawn):
        found, start = simulate(case)
        assert bool(timeout.happens[i]) == (found.timeout is not None), case
        assert bool(retransmit.happens[i]) == (found.retransmit is not None), case
        assert timeout.silence[i] / unit == pytest.approx(found.silence), case
        assert timeout.margin[i] / unit == pytest.approx(case[5] - found.silence, abs=1e-6), case
        assert retransmit.duplicates[i] == found.duplicates, case
        if found.timeout is not None:
            assert timeout.instant[i] / unit == pytest.approx(found.timeout - start, abs=1e-6), case
        if found.retransmit is not None:
            assert retransmit.instant[i] / unit == pytest.approx(found.retransmit - start, abs=1e-6), case
    assert CASES / 10 < timeout.happens.sum() < CASES / 2
    assert CASES / 30 < (retransmit.happens & (needed > 1)).sum() < CASES / 2


def test_every_t2_is_on_the_right_side_of_the_limits() -> None:
    for case in cases(5)[: CASES // 40]:
        window, service, old, _, instant, rto, needed = case
        where = model.step_in_round(window, 1.0 / service, old, instant)
        smallest = float(model.timeout_round_trip_time(where, rto))
        largest = float(model.fast_retransmit_round_trip_time(where, needed))
        outcomes = {}
        for new in range(service, old + rto + 2):
            found, _ = simulate((window, service, old, new, instant, rto, needed))
            outcomes[new] = (found.timeout is not None, found.retransmit is not None)
        assert all(late == (new > smallest + 1e-6) for new, (late, _) in outcomes.items()), case
        brought = [new for new, (_, early) in outcomes.items() if early]
        # In whole units the supremum is the next one after the largest.
        assert (max(brought) + 1 == pytest.approx(largest)) if brought else math.isnan(largest), case
        if brought and needed > 1:
            assert min(brought) >= (needed - 1) * service


def test_figures_1_and_2_the_window_decides() -> None:
    found = model.spurious_timeout(step([26, 13], 0.15), 0.3, rto=0.2004)
    assert found.happens.tolist() == [False, True]
    assert found.silence[1] == pytest.approx(0.204)
    assert not found.sufficient.any()
    # Packet 12 of this round comes at 0.296 s, and 0.2004 s later the timer expires.
    assert found.instant[1] == pytest.approx(0.296 + 0.2004)
    assert not model.spurious_timeout(step(13, 0.05), 0.3, rto=0.2004).happens


@pytest.mark.parametrize(("window", "possible"), [(13, True), (20, True), (26, False)])
def test_figures_3_and_4_need_an_idle_period(window: int, possible: bool) -> None:
    instants = np.arange(0.0, 0.2, 0.001)
    found = model.spurious_fast_retransmit(step(window, instants), 0.1)
    assert found.happens.any() == possible
    assert not found.happens[instants > (window - 1) / MU].any()


@pytest.mark.parametrize("window", [1, 5, 13, 24, 25, 26, 60])
def test_the_papers_condition_for_a_timeout_is_sufficient(window: int) -> None:
    instants = np.arange(0.0, 0.2, 0.001)[:, np.newaxis]
    found = model.spurious_timeout(step(window, instants), np.linspace(0.21, 1.0, 300), rto=0.25)
    assert (found.happens | ~found.sufficient).all()
    assert (found.smallest_round_trip_time <= 0.2 + 0.25 + 1e-12).all()


def test_an_ack_at_the_timers_instant_is_in_time() -> None:
    assert model.spurious_timeout(step(13, 0.15), [0.296, 0.2961], rto=0.2).happens.tolist() == [False, True]


def test_a_packet_that_leaves_at_the_step_has_the_new_delay() -> None:
    assert step(13, [0.023, 0.024, 0.025]).packets_before.tolist() == [3.0, 3.0, 4.0]


def test_oldtahoe_never_retransmits_fast() -> None:
    found = model.spurious_fast_retransmit(step(13, 0.03), 0.1, threshold=math.inf)
    assert not found.happens
    assert found.margin == math.inf
    assert found.duplicates == 9


def test_too_short_a_new_round_trip_brings_no_duplicates_in_a_row() -> None:
    found = model.spurious_fast_retransmit(step(13, 0.03), [0.008, 0.0155, 0.016, 0.1])
    assert found.happens.tolist() == [False, False, True, True]
    assert found.duplicates.tolist() == [2, 2, 3, 9]


def test_many_steps_in_one_call() -> None:
    draw = np.random.default_rng(1)
    where = step(draw.integers(1, 40, 100_000), draw.uniform(0.0, 0.2, 100_000))
    assert model.spurious_timeout(where, draw.uniform(0.008, 1.0, 100_000), 0.3).happens.shape == (100_000,)
    assert model.spurious_fast_retransmit(where, draw.uniform(0.008, 0.2, (3, 1))).happens.shape == (3, 100_000)


def test_the_ideal_goodput_of_the_figures() -> None:
    assert model.ideal_goodput_of_factor(12, [0.1, 0.3], bottleneck_rate=MU).printed == pytest.approx(60.0)
    assert model.ideal_goodput_of_factor(24, [0.1, 0.3], bottleneck_rate=2 * MU).capped == pytest.approx(120.0)


def test_a_state_whose_link_is_full_gives_the_rate() -> None:
    found = model.ideal_goodput_of_factor(24, [0.1, 0.3], bottleneck_rate=MU)
    assert found.printed == pytest.approx(120.0)
    # A quarter of the time at 125 packets/s, three quarters at 24 / 0.3.
    assert found.capped == pytest.approx(0.25 * 125 + 0.75 * 80)


def test_the_ideal_goodput_does_not_depend_on_the_holding_time_factor() -> None:
    found = model.ideal_goodput_of_factor(12, [0.1, 0.3], np.logspace(-2, 3, 20))
    assert found.printed == pytest.approx(60.0)


def test_the_process_against_drawn_holding_times() -> None:
    draw = np.random.default_rng(7)
    visits = 200_000
    held = np.array([0.1, 0.3]) + draw.exponential([0.5, 0.2], size=(visits, 2))
    found = model.round_trip_process([0.1, 0.3], [0.5, 0.2])
    assert found.mean_holding_times == pytest.approx(held.mean(axis=0), rel=0.01)
    assert found.holding_time_deviations == pytest.approx(held.std(axis=0), rel=0.02)
    assert found.proportions == pytest.approx(held.sum(axis=0) / held.sum(), rel=0.01)
    assert found.transition_rate == pytest.approx(2 * visits / held.sum(), rel=0.01)


def test_a_semi_markov_process_against_its_simulation() -> None:
    draw = np.random.default_rng(8)
    chain = np.array([[0.0, 0.7, 0.3], [0.5, 0.0, 0.5], [0.9, 0.1, 0.0]])
    means, state, time = np.array([1.0, 2.0, 0.5]), 0, np.zeros(3)
    for uniform in draw.random(50_000):
        time[state] += means[state]
        state = int(np.searchsorted(chain[state].cumsum(), uniform, side="right"))
    assert model.time_proportions(means, chain) == pytest.approx(time / time.sum(), rel=0.02)
    goodput = model.ideal_goodput([10, 20], [0.1, 0.2, 0.4], means, transitions=chain).printed
    assert goodput == pytest.approx(np.array([10, 20]) * np.sum(time / time.sum() / [0.1, 0.2, 0.4]), rel=0.02)


def test_two_states_that_take_turns_are_a_chain_too() -> None:
    turns = model.time_proportions([1.0, 3.0], [[0, 1], [1, 0]])
    assert turns == pytest.approx(model.time_proportions([1.0, 3.0]))


def test_the_estimator_by_hand() -> None:
    # RFC 6298: R = 1 gives SRTT 1, RTTVAR 0.5; then R' = 2 gives 3/4 0.5 + 1/4 = 0.625 and 1.125.
    found = model.rto_after([1.0, 2.0])
    assert [float(value) for value in found] == [1.125, 0.625, 3.625]
    assert model.rto_after([1.0, 2.0], k=2).rto == 2.375
    assert model.rto_after([0.2] * 100, granularity=0.25).rto == 0.5
    assert model.rto_after([2.0], start=model.rto_after([1.0])) == found


def test_after_the_first_new_sample_the_rto_is_above_the_new_round_trip() -> None:
    for ratio in (1.1, 2.0, 10.0):
        for count in range(1, 200):
            steady = model.rto_after([0.2] * 100)
            assert model.rto_after([0.2 * ratio] * count, start=steady).rto > 0.2 * ratio


def test_what_is_outside_the_domain_is_said() -> None:
    record, instant = model.MODELS["spurious_timeout"], step(13, 0.0)
    assert record.warnings(step=instant, new_round_trip_time=0.3, rto=0.2004) == ()
    assert len(record.warnings(step=instant, new_round_trip_time=3.0, rto=0.1)) == 2
    goodput = model.MODELS["ideal_goodput_of_factor"]
    assert "holding_time_factor" in goodput.warnings(holding_time_factor=[0.1, 100])[0]


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: step(2.5, 0.0), "window: is not a whole number"),
        (lambda: step(0, 0.0), "window: is out of range"),
        (lambda: step(13, 0.2), "step_instant: is past the round's end"),
        (lambda: step(13, -0.1), "step_instant: is out of range"),
        (lambda: step(13, 0.0, 0.007), "round_trip_time: is shorter than a packet's service"),
        (lambda: model.spurious_timeout(step(13, 0.0), 0.007, 0.3), "new_round_trip_time: is shorter"),
        (lambda: model.spurious_timeout(step(13, 0.0), 0.3, 0.1), "rto: expires in each round"),
        (lambda: model.spurious_timeout(step([13, 14], 0.0), [0.3, 0.4, 0.5], 0.3), "do not broadcast"),
        (lambda: model.spurious_fast_retransmit(step(13, 0.0), 0.1, 2.5), "threshold: is not a whole number"),
        (lambda: model.spurious_fast_retransmit(step(13, 0.0), 0.1, 0), "threshold: is out of range"),
        (lambda: model.time_proportions([1, 2], [[1, 0], [0, 1]]), "no single stationary"),
        (lambda: model.time_proportions([1, 2], [[0.5, 0.4], [0.5, 0.5]]), "sum to 1; given 0.9"),
        (lambda: model.time_proportions([1, 2, 3], [[0, 1], [1, 0]]), "wrong shape"),
        (lambda: model.time_proportions(1.0), "no states"),
        (lambda: model.round_trip_process_of_factor([0.1, 0.3], 0), "holding_time_factor: is out of range"),
        (lambda: model.rto_after([]), "samples: is empty"),
    ],
)
def test_what_is_refused(call: Callable[[], Any], named: str) -> None:
    with pytest.raises(ModelError, match=named):
        call()
