import math
import time
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ackclock.errors import ModelError
from ackclock.models import two_way

whole_windows = st.tuples(st.integers(1, 12), st.integers(1, 12))
# Multiples of 1/8: sums of them are exact.
links = st.tuples(st.integers(0, 80), st.integers(0, 80)).map(lambda pair: (pair[0] / 8, pair[1] / 8))
channels = st.sampled_from([(1.0, 1.0), (1.0, 1.0), (1.0, 2.0), (4.0, 1.0), (0.5, 1.5)])
phases = st.integers(-160, 160).map(lambda eighths: eighths / 8)
MEGABIT = 1e6 / 8192  # in segments of 1 KB
FIGURE_4_1 = {"windows": 128, "delays": 0.005}
warnings = two_way.MODELS["efficiency"].warnings


def long_enough(windows: tuple[int, int], delays: tuple[float, float], rates: tuple[float, float]) -> float:
    return 40 * (sum(windows) / min(rates) + sum(delays) + 2)


def test_figure_3_2_slot_by_slot() -> None:
    found = two_way.timeline(windows=4, delays=2, starts=[-2, -3], until=13)
    segments = {int(sent.start): sent.number for sent in found.j.sent if sent.kind == "segment"}
    assert {slot: number for slot, number in segments.items() if slot >= 0} == {
        0: 4, 4: 5, 5: 6, 6: 7, 7: 8, 9: 9, 10: 10, 11: 11, 12: 12
    }  # fmt: skip
    acks = [(sent.number, sent.start) for sent in found.j.sent if sent.kind == "ACK"]
    assert acks == [(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0), (5, 8.0), (6, 8.0), (7, 8.0), (8, 9.0)]
    queue = dict(zip(found.j.queue_times.tolist(), found.j.queue.tolist(), strict=True))
    # Three ACKs at 4, one more as the first segment leaves at 5, empty by 8.
    assert [queue.get(t) for t in range(4, 9)] == [3.0, 3.0, 2.0, 1.0, 0.0]
    assert max(queue[t] for t in queue if t >= 0) == 3.0


def test_figure_3_2_repeats_after_12_slots_at_two_thirds() -> None:
    found = two_way.timeline(windows=4, delays=2, starts=[-2, -3], until=40)
    assert found.period == 12.0
    assert found.efficiencies == pytest.approx([2 / 3, 2 / 3], abs=1e-15)


@settings(max_examples=60, deadline=None)
@given(whole_windows, links, channels, phases, st.sampled_from([0.0, 0.0, 0.0625, 0.25]))
def test_simulated_efficiencies_are_the_theorems_at_any_phase(
    windows: tuple[int, int],
    delays: tuple[float, float],
    rates: tuple[float, float],
    phase: float,
    ack_size: float,
) -> None:
    assume(two_way.acks_compress(windows, delays, rates))
    assume(ack_size * max(rates) <= min(rates))
    until = long_enough(windows, delays, rates)
    found = two_way.timeline(windows, delays, rates, until=until, starts=[0.0, phase], ack_size=ack_size)
    interval = two_way.busy_period_interval(windows, delays, rates, ack_size)[0]
    # In a store-and-forward network a single segment's round trip is longer than the delays.
    alone = max(sum(delays) + 1 / rate + ack_size / back for rate, back in (rates, rates[::-1]))
    expected = two_way.efficiency(windows, delays, rates, ack_size) * min(1.0, interval / alone)
    assert found.efficiencies == pytest.approx(expected, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(whole_windows, links, channels, phases)
def test_simulated_queues_keep_within_lemmas_4_and_5(
    windows: tuple[int, int], delays: tuple[float, float], rates: tuple[float, float], phase: float
) -> None:
    assume(two_way.acks_compress(windows, delays, rates))
    assume(not warnings(windows=windows, delays=delays, rates=rates))
    until = long_enough(windows, delays, rates)
    found = two_way.timeline(windows, delays, rates, until=until, starts=[0.0, phase])
    bounds = two_way.maximum_queue(windows, delays, rates)
    for node, bound, window in zip((found.i, found.j), bounds, windows, strict=True):
        settled = node.queue[node.queue_times > until / 2]
        # A segment is in service beside the fluid's queue, and fractions are seen as whole segments.
        assert settled.max() <= min(math.ceil(bound) + 1, window)


def queues_found(found: two_way.Timeline, window_i: int, first: int) -> list[float]:
    """Queue at node j as the first bit of each busy period of connection i reaches it, after a delay of 15."""
    starts = [sent.start for sent in found.i.sent if sent.kind == "segment" and sent.number % window_i == 1]
    at = np.searchsorted(found.j.queue_times, np.array(starts) + 15, side="right") - 1
    return [float(queue) for queue in found.j.queue[at]][first:-2]


@pytest.mark.parametrize("phase", [0, 3, 7, 12])
def test_simulated_queues_alternate_as_lemma_2_says(phase: int) -> None:
    found = two_way.timeline(windows=28, delays=15, starts=[0, phase], until=600)
    queues = queues_found(found, 28, 2)
    assert len(queues) > 8
    expected = two_way.queue_iteration([0, queues[0]], windows=28, delays=15, periods=len(queues) - 1)[:, 1]
    assert queues == expected.tolist()
    assert queues[0] + queues[1] == 26


def test_spacings_of_two_busy_periods_are_lemma_3() -> None:
    queues = two_way.queue_iteration([[0.0], [5.0]], windows=[20, 28], delays=15, periods=3)[1:]
    spacing = two_way.busy_period_spacing(queues, windows=[20, 28], delays=15)
    assert (spacing[0] + spacing[1]).tolist() == [[78.0, 78.0], [78.0, 78.0]]


@pytest.mark.parametrize("above", [-1e-9, 0.0, 1e-9])
def test_the_three_cases_meet(above: float) -> None:
    assert two_way.efficiency([38 + above, 28], 5) == pytest.approx([1.0, 28 / 38], rel=1e-9)
    assert two_way.efficiency([28, 38 + above], 5) == pytest.approx([28 / 38, 1.0], rel=1e-9)
    assert two_way.efficiency([4 + above, 6], 5) == pytest.approx([0.4, 0.6], rel=1e-9)


def test_at_the_border_acks_do_not_compress() -> None:
    assert not two_way.acks_compress(15, 15)
    assert two_way.acks_compress(math.nextafter(15, 16), 15)
    assert two_way.maximum_queue(15, 15).tolist() == [0.0, 0.0]
    assert two_way.efficiency_lost(15, 15).tolist() == [0.0, 0.0]


def test_below_the_border_each_is_as_alone() -> None:
    assert two_way.efficiency([3, 6], [4, 8]).tolist() == two_way.one_way_efficiency([3, 6], [4, 8]).tolist()


def test_section_5() -> None:
    assert f"{two_way.efficiency(28, 15)[0]:.1%} {two_way.efficiency(28, 14)[0]:.1%}" == "65.1% 66.7%"
    assert [f"{part:.0%}" for part in two_way.efficiency([14, 28], 15 / 155, [51.6, 155])] == ["84%", "56%"]
    assert two_way.maximum_queue(28, 9).tolist() == [28.0, 28.0]


def test_figure_4_1() -> None:
    slow = np.array([20.0, 60.0, 62.0, 63.0, 155.0])
    rates = np.stack([slow, np.full(5, 155.0)], axis=-1) * MEGABIT
    found = two_way.efficiency(**FIGURE_4_1, rates=rates)
    # Below 15% at 20 Mbit/s, a straight line up to about 60, there some 40%, at 155 Mbit/s some 60% for both.
    assert found[:, 1].round(3).tolist() == [0.129, 0.387, 0.4, 0.405, 0.575]
    assert found[:, 0].round(3).tolist() == [1.0, 1.0, 1.0, 0.996, 0.575]
    assert (found[:3, 1] / slow[:3]).tolist() == pytest.approx([1 / 155] * 3)


def test_the_conclusion_s_fifth() -> None:
    rates = [155 * MEGABIT, 30 * MEGABIT]
    assert two_way.efficiency(**FIGURE_4_1, rates=rates).round(3).tolist() == [0.194, 1.0]
    assert two_way.one_way_efficiency(**FIGURE_4_1, rates=rates).round(3).tolist() == [0.677, 1.0]


@given(
    st.floats(0.01, 0.99),
    st.tuples(st.floats(1e-3, 10.0), st.floats(1e-3, 10.0)),
    st.tuples(*[st.floats(0.1, 9.0)] * 2),
)
def test_windows_for_an_efficiency_are_the_smallest(
    target: float, delays: tuple[float, float], rates: tuple[float, float]
) -> None:
    window = two_way.windows_for_efficiency(target, delays, rates)
    if np.isinf(window):
        assert two_way.efficiency(1e9, delays, rates).min() < target * (1 + 1e-9)
    else:
        assert two_way.efficiency(window, delays, rates).min() == pytest.approx(target, rel=1e-9)
        assert two_way.efficiency(window * 0.99, delays, rates).min() < target


def test_windows_that_give_nine_tenths() -> None:
    assert two_way.windows_for_efficiency(0.9, 15) == pytest.approx(135.0)
    assert two_way.windows_for_efficiency(0.9, 0.1, [10.0, 10.0]) == pytest.approx(9.0)
    assert np.isinf(two_way.windows_for_efficiency(0.9, 15, [1.0, 2.0]))


def test_larger_acks_cost_both_and_tiny_ones_nothing() -> None:
    sizes = np.array([0.0, 1e-9, 0.01, 0.1, 1.0])
    found = two_way.efficiency(28, 15, ack_size=sizes)
    assert found.shape == (5, 2)
    assert np.all(np.diff(found[:, 0]) < 0)
    assert found[1] == pytest.approx(found[0], rel=1e-9)


def test_an_always_busy_channel_shares_between_segments_and_acks() -> None:
    assert two_way.efficiency([40, 10], 2, ack_size=0.1)[0] == pytest.approx(40 / (40 + 1))


def test_connections_share_the_fat_one_by_their_windows() -> None:
    found = two_way.aggregate([7, 14, 7], [7] * 4, delays=9)
    assert found.of_i.tolist() == pytest.approx([14 / 74, 28 / 74, 14 / 74])
    assert found.of_j.sum() == pytest.approx(found.efficiencies[1])
    sweep = two_way.aggregate(np.full((5, 4), 7.0), [7] * 4, delays=np.arange(5.0)[:, np.newaxis])
    assert sweep.of_i.shape == (5, 4)
    assert sweep.efficiencies[:, 0].tolist() == two_way.equal_window_efficiency(28, np.arange(5)).tolist()


def test_warnings_name_acks_and_a_window_that_hardly_exceeds_the_pipe() -> None:
    assert warnings(windows=[40, 28], delays=5) == ()
    assert [text.split(":")[0] for text in warnings(windows=6, delays=5.5, ack_size=0.2)] == ["ack_time", "overlap"]
    assert warnings(windows=4, delays=5.5) == ()
    assert warnings(windows=28, delays=5, rates=[1.0, 10.0], ack_size=0.01)[0].startswith("ack_time")


def test_a_single_window_s_worth_of_time_shows_no_period() -> None:
    found = two_way.timeline(4, 2, until=3)
    assert np.isnan(found.period)
    assert np.isnan(found.efficiencies).all()
    assert [sent.start for sent in found.i.sent] == [0.0, 1.0, 2.0]


def test_delays_of_zero_and_fractions_are_simulated() -> None:
    assert two_way.timeline(3, 0, until=30).efficiencies.tolist() == [1.0, 1.0]
    found = two_way.timeline([5, 7], [0.3, 0.1], 0.7, until=200)
    expected = two_way.efficiency([5, 7], [0.3, 0.1], 0.7)
    assert found.efficiencies == pytest.approx(expected, rel=1e-12)


def test_a_transmission_never_overlaps_the_next() -> None:
    found = two_way.timeline([5, 7], [3, 1.5], [1, 2], until=100, ack_size=0.125)
    for node in (found.i, found.j):
        assert all(one.end <= two.start for one, two in zip(node.sent, node.sent[1:], strict=False))


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (lambda: two_way.efficiency(0, 2), "windows: is out of range; given 0; allowed > 0"),
        (lambda: two_way.efficiency(4, -1), "delays: is out of range; given -1"),
        (lambda: two_way.efficiency(4, 2, 0), "rates: is out of range"),
        (lambda: two_way.efficiency(math.nan, 2), "windows: is out of range; given nan"),
        (lambda: two_way.efficiency([1, 2, 3], 2), r"windows: is not for two connections; given shape \(3,\)"),
        (lambda: two_way.efficiency(4, 2, ack_size=1.5), "ack_size: is out of range"),
        (lambda: two_way.efficiency(4, 2, [1, 10], ack_size=0.2), "ack_size: makes an ACK slower than the segments"),
        (lambda: two_way.windows_for_efficiency(1.0, 2), "target: is out of range; given 1"),
        (lambda: two_way.next_queue(5, 4, 2), "queues: is longer than the window; given 5"),
        (lambda: two_way.queue_iteration(1, 4, 2, periods=-1), "periods: is out of range"),
        (lambda: two_way.aggregate(7, [7], 9), "windows_of_i: has no connections"),
        (lambda: two_way.timeline(4.5, 2, until=9), "windows: is not a whole number; given 4.5"),
        (lambda: two_way.timeline([[4, 4]], 2, until=9), "windows: is for more than one simulation"),
        (lambda: two_way.timeline(4, 2, until=1e9), "until: is too long to simulate"),
        (lambda: two_way.timeline(4, 2, until=math.inf), "until: is out of range"),
    ],
)
def test_what_is_refused(wrong: Callable[[], Any], told: str) -> None:
    with pytest.raises(ModelError, match=told):
        wrong()


def test_a_million_points_take_less_than_a_second() -> None:
    windows = np.random.default_rng(1).uniform(1.0, 99.0, (1_000_000, 2))
    start = time.process_time()
    two_way.efficiency(windows, 15, [1.0, 2.0])
    assert time.process_time() - start < 1.0


def test_thirds_of_a_segment_are_the_fractions_that_their_floats_are() -> None:
    found = two_way.timeline(4, 7 / 3, until=100)
    assert found.period == float(Fraction(4) + Fraction(7 / 3))
