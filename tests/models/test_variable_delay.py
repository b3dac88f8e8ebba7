"""The variable-delay models: closed forms against the recursion itself, against one another and against the text."""

import math
import struct
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import ackclock
from ackclock.engine import run_resolved
from ackclock.errors import ModelError
from ackclock.models import variable_delay as model
from ackclock.models.domain import FloatArray

REACTIONS: tuple[model.Reaction, ...] = ("per-round", "per-loss")
reactions = st.sampled_from(REACTIONS)
mean_times = st.floats(0.01, 5.0)
loss_rates = st.floats(0.001, 20.0)
decreases = st.floats(0.0, 0.95)
increases = st.floats(0.1, 4.0)

CHAIN = model.round_trip_chain(
    [[0.9, 0.1, 0.0], [0.05, 0.9, 0.05], [0.1, 0.1, 0.8]],
    [0.1, model.RoundTrips.from_samples([0.3, 0.5]), model.RoundTrips.from_distribution(stats.gamma(2.0, scale=0.4))],
)


def exponential(mean: float) -> model.RoundTrips:
    return model.RoundTrips.from_transform(lambda s: 1.0 / (1.0 + s * mean), mean)


def close(values: FloatArray, expected: float) -> bool:
    """Whether the mean of replications is within 4 standard errors."""
    return bool(abs(values.mean() - expected) < 4.0 * values.std(ddof=1) / math.sqrt(values.size))


@pytest.mark.parametrize("reaction", REACTIONS)
@pytest.mark.parametrize("trips", [model.RoundTrips.constant(1.5), model.RoundTrips.from_distribution(stats.expon())])
def test_the_recursion_has_the_window_of_the_closed_forms(trips: model.RoundTrips, reaction: model.Reaction) -> None:
    lam, gamma, beta = 0.4, 0.3, 0.5
    generator = np.random.default_rng(12)
    found = model.simulate_window(
        trips, lam, gamma, beta, reaction, rounds=2000, replications=400, generator=generator, warm_up=100
    )
    assert close(found.window, float(model.mean_window(trips, lam, gamma, beta, reaction)))
    assert close(found.time_average, float(model.time_average_window(trips, lam, gamma, beta, reaction)))
    rate = model.sending_rate(trips, lam, gamma, beta, reaction)
    assert close(found.rate.printed, float(rate.printed))
    assert close(found.rate.sent, float(rate.sent))
    reductions = float(model.reduction_rate(trips, lam)) if reaction == "per-round" else lam
    assert close(found.reduction_rate, reductions)
    assert close(found.reduction_probability, float(model.reduction_probability(trips, lam, gamma, beta, reaction)))


@pytest.mark.parametrize("reaction", REACTIONS)
def test_the_recursion_over_a_chain_has_the_window_of_the_linear_system(reaction: model.Reaction) -> None:
    lam = [0.1, 1.0, 0.0]
    generator = np.random.default_rng(13)
    found = model.simulate_window(
        CHAIN, lam, 0.4, 1.5, reaction, rounds=4000, replications=400, generator=generator, warm_up=500
    )
    expected = model.markov_window(CHAIN, lam, 0.4, 1.5, reaction)
    assert close(found.window, float(expected.window))
    assert close(found.time_average, float(expected.time_average))
    assert close(found.rate.printed, float(expected.rate.printed))
    assert close(found.rate.sent, float(expected.rate.sent))
    assert close(found.reduction_rate, float(expected.reduction_rate))
    assert close(found.reduction_probability, float(expected.reduction_probability))


def test_equation_5_as_printed_without_the_transpose_is_far_off() -> None:
    chain = model.round_trip_chain([[0.99, 0.01], [0.2, 0.8]], [0.1, 3.0])
    right = float(model.markov_window(chain, 0.5).window)
    a = 0.5 + 0.5 * np.exp(-0.5 * chain.means)
    printed = np.linalg.solve(np.eye(2) - a[:, None] * chain.transitions, chain.stationary).sum()
    assert printed > 1.2 * right


@given(mean=mean_times, lam=loss_rates, gamma=decreases, beta=increases, reaction=reactions, rows=st.data())
def test_a_chain_of_equal_states_is_independent(  # noqa: PLR0917
    mean: float, lam: float, gamma: float, beta: float, reaction: model.Reaction, rows: st.DataObject
) -> None:
    weights = np.array(rows.draw(st.lists(st.floats(0.01, 1.0), min_size=9, max_size=9))).reshape(3, 3)
    trips = exponential(mean)
    chain = model.round_trip_chain(weights / weights.sum(axis=1, keepdims=True), 3 * [trips])
    found = model.markov_window(chain, lam, gamma, beta, reaction)
    assert found.window == pytest.approx(model.mean_window(trips, lam, gamma, beta, reaction), rel=1e-6)
    average = model.time_average_window(trips, lam, gamma, beta, reaction)
    assert found.time_average == pytest.approx(average, rel=1e-6)
    assert found.rate == pytest.approx(model.sending_rate(trips, lam, gamma, beta, reaction), rel=1e-6)


@given(lam=loss_rates, gamma=decreases, beta=increases, reaction=reactions)
def test_a_chain_without_memory_is_its_mixture(lam: float, gamma: float, beta: float, reaction: model.Reaction) -> None:
    chain = model.round_trip_chain([[0.75, 0.25], [0.75, 0.25]], [0.1, 0.7])
    mixed = model.RoundTrips.from_samples([0.1, 0.1, 0.1, 0.7])
    found = model.markov_window(chain, lam, gamma, beta, reaction)
    assert found.window == pytest.approx(model.mean_window(mixed, lam, gamma, beta, reaction))
    assert found.time_average == pytest.approx(model.time_average_window(mixed, lam, gamma, beta, reaction))


@given(mean=mean_times, lam=loss_rates, gamma=decreases, beta=increases)
def test_the_square_root_gives_the_throughput_back(mean: float, lam: float, gamma: float, beta: float) -> None:
    trips = exponential(mean)
    p = float(model.reduction_probability(trips, lam, gamma, beta))
    # More reductions than packets: p is no probability.
    if p <= 1.0:
        expected = float(model.sending_rate(trips, lam, gamma, beta).printed)
        assert model.square_root_rate(mean, p, gamma, beta) == pytest.approx(expected, rel=1e-9)


@given(mean=mean_times, p=st.floats(1e-8, 1.0), gamma=decreases, beta=increases, constant=st.booleans())
def test_the_implicit_equation_is_solved(mean: float, p: float, gamma: float, beta: float, constant: bool) -> None:
    trips = model.RoundTrips.constant(mean) if constant else exponential(mean)
    rate = float(model.per_loss_rate(trips, p, gamma, beta))
    # For small s the transform of a callable is known to 1e-16 / s only.
    rel = 1e-9 if constant else 1e-6
    assert model.sending_rate(trips, p * rate, gamma, beta, "per-loss").printed == pytest.approx(rate, rel=rel)
    assert rate >= float(model.square_root_rate(mean, p, gamma, beta)) * (1.0 - rel)


@given(mean=mean_times, gamma=decreases, beta=increases, reaction=reactions)
def test_rare_losses_leave_the_mean_alone(mean: float, gamma: float, beta: float, reaction: model.Reaction) -> None:
    lam = 1e-7 / mean
    trips = model.RoundTrips.from_distribution(stats.expon(scale=mean))
    rate = model.sending_rate(trips, lam, gamma, beta, reaction).printed
    assert rate == pytest.approx(model.rare_loss_rate(mean, lam, gamma, beta), rel=1e-5)


@pytest.mark.parametrize(
    ("distribution", "transform"),
    [
        (stats.expon(scale=0.3), lambda s: 1 / (1 + 0.3 * s)),
        (stats.gamma(0.2, scale=2.0), lambda s: (1 + 2 * s) ** -0.2),
        (stats.uniform(0.1, 0.4), lambda s: (np.exp(-0.1 * s) - np.exp(-0.5 * s)) / (0.4 * s)),
        (stats.geom(0.3), lambda s: 0.3 * np.exp(-s) / (1 - 0.7 * np.exp(-s))),
        (stats.invgauss(2.0), lambda s: np.exp((1 - np.sqrt(1 + 8 * s)) / 2)),
    ],
)
def test_the_transform_of_a_distribution(distribution: Any, transform: Callable[[FloatArray], FloatArray]) -> None:
    s = np.array([1e-3, 0.1, 1.0, 10.0])
    trips = model.RoundTrips.from_distribution(distribution)
    assert trips.transform(s) == pytest.approx(transform(s), abs=2e-9)
    assert trips.mean == pytest.approx(distribution.mean())


def test_a_long_tail_is_integrated_to_its_end() -> None:
    trips = model.RoundTrips.from_distribution(stats.pareto(1.5, scale=0.1))
    # The transform's slope at 0 is the mean, though the variance is infinite.
    assert trips.complement(np.array(1e-9)) / 1e-9 == pytest.approx(0.3, rel=1e-3)


@given(lam=loss_rates, gamma=decreases, reaction=reactions, cv=st.floats(0.05, 3.0))
def test_a_constant_round_trip_is_the_least_variable(
    lam: float, gamma: float, reaction: model.Reaction, cv: float
) -> None:
    shape = 1.0 / cv**2
    variable = model.RoundTrips.from_transform(lambda s: (1.0 + s / shape) ** -shape, 1.0)
    found = model.compare_variability(variable, model.RoundTrips.constant(1.0), lam, gamma, reaction)
    assert found.gain > 1.0 - 1e-9
    assert found.first_transform >= found.second_transform - 1e-12
    back = model.compare_variability(model.RoundTrips.constant(1.0), variable, lam, gamma, reaction)
    assert back.more_variable == -found.more_variable


def test_the_increasing_convex_order_alone_does_not_help() -> None:
    """Remark 1 as printed would let the longer round trip win."""
    long, short = model.RoundTrips.constant(2.0), model.RoundTrips.constant(1.0)
    assert model.sending_rate(long, 0.1).printed < model.sending_rate(short, 0.1).printed
    with pytest.raises(ModelError, match="different means"):
        model.compare_variability(long, short, 0.1)


def test_a_replayed_sequence_keeps_its_correlation() -> None:
    trace = np.repeat([0.1, 0.7, 0.1, 0.7], 50)
    generator = np.random.default_rng(14)
    found = model.simulate_window(trace, 0.3, rounds=4000, replications=300, generator=generator)
    independent = float(model.mean_window(model.fit_variable(trace), 0.3))
    assert found.window.mean() > 1.1 * independent
    # Round trips that are known leave E[W_{n+1}] = E[A_n] E[W_n] + 1, a loop to be iterated.
    expected = [10.0]
    for factor in np.tile(0.5 + 0.5 * np.exp(-0.3 * trace), 20):
        expected.append(factor * expected[-1] + 1.0)
    assert close(found.window, float(np.mean(expected[-trace.size :])))
    # Shuffled, it is the independent case.
    mixed = model.simulate_window(
        generator.permutation(np.tile(trace, 50)), 0.3, rounds=4000, replications=300, generator=generator
    )
    assert mixed.window.mean() == pytest.approx(independent, rel=0.02)


def test_the_same_seed_gives_the_same_numbers() -> None:
    first, second, other = (
        model.simulate_window(CHAIN, 1.0, rounds=50, replications=3, generator=np.random.default_rng(seed)).window
        for seed in (1, 1, 2)
    )
    assert first.tolist() == second.tolist() != other.tolist()


@given(samples=st.lists(st.floats(0.01, 1.0), min_size=4, max_size=60, unique=True), quantile=st.floats(0.3, 0.9))
def test_a_fitted_chain_has_the_proportions_of_the_samples(samples: list[float], quantile: float) -> None:
    fitted = model.fit_two_states(samples, quantile=quantile)
    below = math.floor(quantile * len(samples) + 1e-9)
    assert fitted.chain.stationary[0] == pytest.approx(below / len(samples))
    assert fitted.chain.mean == pytest.approx(np.mean(samples))
    assert fitted.visits[0] == fitted.visits[1]
    assert (fitted.states == 0).sum() == below


def test_a_chain_is_recovered_from_its_own_rounds() -> None:
    generator = np.random.default_rng(15)
    p = np.array([[0.95, 0.05, 0.0], [0.0, 0.8, 0.2], [0.3, 0.0, 0.7]])
    state, states = 0, []
    for chance in generator.random(40_000):
        states.append(state)
        state = int(np.searchsorted(p[state].cumsum(), chance))
    rounds = np.array([0.1, 0.3, 0.9])[states] * generator.uniform(0.9, 1.1, len(states))
    fitted = model.fit_states(rounds, thresholds=[0.2, 0.5])
    # The rarest row has some 4700 samples: a standard error is at most 0.007.
    assert np.abs(fitted.chain.transitions - p).max() < 0.035
    warnings = model.MODELS["fit_states"].warnings
    assert warnings(visits=fitted.visits) == ()
    means = model.fit_states(rounds, thresholds=[0.2, 0.5], contents="mean")
    assert means.chain.means == pytest.approx(fitted.chain.means)
    assert "visits of a state" in warnings(visits=model.fit_states(rounds[:50], quantiles=[0.5]).visits)[0]


@given(st.lists(st.sampled_from([0.1, 0.2, 0.3, 0.7]), min_size=3, max_size=40), st.integers(2, 6))
def test_thresholds_by_time_leave_no_state_empty(samples: list[float], states: int) -> None:
    bounds = model.equal_time_thresholds(samples, states)
    assert bounds.size == 0 if len(set(samples)) == 1 else 0 < bounds.size < states
    if bounds.size:
        assert np.bincount(model.fit_states(samples, thresholds=bounds).states, minlength=bounds.size + 1).all()


def test_what_is_longer_than_the_rule_is_a_state_however_rare() -> None:
    assert model.equal_time_thresholds([0.1] * 39 + [0.7], 2).tolist() == [0.7]
    assert model.equal_time_thresholds([0.1] * 39, 2).size == 0


def test_states_by_time_take_about_the_same_time() -> None:
    samples = np.random.default_rng(1).exponential(size=20_000)
    states = model.fit_states(samples, thresholds=model.equal_time_thresholds(samples, 5)).states
    assert np.bincount(states, weights=samples) / samples.sum() == pytest.approx(np.full(5, 0.2), abs=1e-3)


def test_csv_and_parquet_give_the_same_trace(tmp_path: Path) -> None:
    import pandas as pd  # noqa: PLC0415

    trips = np.random.default_rng(16).uniform(0.1, 0.4, 200)
    frame = pd.DataFrame({"time": np.concatenate([[0.0], trips.cumsum()[:-1]]), "rtt": trips})
    frame.to_csv(tmp_path / "trace.csv", index=False)
    frame.to_parquet(tmp_path / "trace.parquet")
    text, binary = model.read_csv(tmp_path / "trace.csv"), model.read_parquet(tmp_path / "trace.parquet")
    assert binary.samples.tolist() == trips.tolist()
    assert text.samples == pytest.approx(trips)
    assert text.tiling == pytest.approx(1.0)
    assert model.MODELS["round_trip_trace"].warnings(tiling=text.tiling) == ()


def test_a_sample_for_each_ack_is_warned_of_and_thinned() -> None:
    starts = np.arange(0.0, 10.0, 0.02)
    dense = model.round_trip_trace(starts, np.where(starts < 5.0, 0.1, 0.4))
    assert "do not tile the time axis" in model.MODELS["round_trip_trace"].warnings(tiling=dense.tiling)[0]
    thinned = model.one_sample_per_round(dense)
    assert thinned.tiling == pytest.approx(1.0, abs=0.05)
    # The mean over the samples of all packets counts long rounds too often.
    assert thinned.samples.mean() < 0.8 * dense.samples.mean()


FORTH = model.Direction("10.0.0.1", 4000, "10.0.0.2", 80)
BACK = model.Direction("10.0.0.2", 80, "10.0.0.1", 4000)


def data(instant: float, first: int, length: int = 100) -> model.Segment:
    return model.Segment(instant, FORTH, first % 2**32, length, 1)


def ack(instant: float, number: int) -> model.Segment:
    return model.Segment(instant, BACK, 1, 0, number % 2**32)


@pytest.mark.parametrize("start", [1000, 2**32 - 250])
def test_a_round_ends_when_all_that_was_outstanding_is_acknowledged(start: int) -> None:
    segments = [
        data(1.0, start), data(1.01, start + 100),
        ack(1.5, start + 100), data(1.5, start + 200), data(1.5, start + 300),
        ack(1.51, start + 200), data(1.51, start + 400), data(1.51, start + 500),
        # Here the second round begins: what this ACK releases belongs to it, though the ones before were sent earlier.
        ack(2.0, start + 400), data(2.0, start + 600),
        ack(2.02, start + 600), data(2.02, start + 700),
        ack(2.6, start + 800),
    ]  # fmt: skip
    found = model.rounds_of(segments, FORTH)
    assert found.time == pytest.approx([1.0, 1.51, 2.02])
    assert found.round_trip == pytest.approx([0.51, 0.51, 0.58])
    assert not found.ambiguous.any()
    assert found.tiling == pytest.approx(1.0)


def test_a_round_with_a_retransmission_is_no_sample() -> None:
    segments = [
        data(0.0, 0), data(0.0, 100), data(0.0, 200),
        ack(1.0, 0), ack(1.1, 0), data(1.2, 0), ack(2.2, 300),
        # The sender is idle for a while: that belongs to no round.
        data(5.0, 300), ack(5.5, 400),
    ]  # fmt: skip
    found = model.rounds_of(segments, FORTH)
    assert found.ambiguous.tolist() == [True, False]
    assert found.samples == pytest.approx([0.5])
    assert found.time == pytest.approx([0.0, 5.0])


def test_without_dpkt_the_error_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "dpkt", None)
    with pytest.raises(ModelError, match=r"dpkt: is not installed.*pip install \"ackclock\[capture\]\""):
        model.read_capture(tmp_path / "any.pcap")


PATH = """\
[[link]]
name = "host"
rate = "unlimited"
[[link]]
name = "bottleneck"
rate = "1.5 Mbit/s"
buffer = "20 pkt"
[[flow]]
path = ["host", "bottleneck"]
rtt = "97 ms"
packet = "1000 B"
tcp = "newreno-ns2"
[run]
duration = "60 s"
[trace]
capture = ["host"]
"""


def test_the_rounds_of_a_simulated_connection_tile_its_time(tmp_path: Path) -> None:
    pytest.importorskip("dpkt")
    resolved = ackclock.resolve(PATH)
    (tmp_path / "host.pcapng").write_bytes(run_resolved(resolved)[0]["traces"]["capture"]["host"])
    found = model.read_capture(tmp_path / "host.pcapng")
    assert found.tiling == pytest.approx(1.0, abs=1e-6)
    service = 8000 / 1.5e6
    assert found.samples.min() == pytest.approx(0.097)
    # No round trip is longer than the path, a full buffer and the burst of a whole one more.
    assert found.samples.max() < 0.097 + 42 * service
    assert 0 < found.ambiguous.sum() < 0.2 * found.ambiguous.size
    # One window a round: the packets sent are what the rounds' windows add up to, so rounds are as long as the pipe.
    assert found.samples.mean() == pytest.approx(0.097 + 11 * service, abs=6 * service)


def pcap(link: int, frames: list[bytes]) -> bytes:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, link)
    return head + b"".join(
        struct.pack("<IIII", number, 0, len(frame), len(frame)) + frame for number, frame in enumerate(frames)
    )


def ip4(direction: model.Direction, seq: int, acked: int, length: int) -> bytes:
    source, target = (bytes(map(int, end.split("."))) for end in (direction.sender, direction.receiver))
    tcp = struct.pack(">HHIIBBHHH", direction.sender_port, direction.receiver_port, seq, acked, 0x50, 0x10, 1000, 0, 0)
    return struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + length, 0, 0, 64, 6, 0, source, target) + tcp + bytes(length)


LAYERS = {
    "ethernet": (1, bytes(12) + b"\x08\x00"),
    "VLAN": (1, bytes(12) + b"\x81\x00\x00\x05\x08\x00"),
    "raw": (101, b""),
    "loopback": (0, struct.pack("<I", 2)),
    "cooked": (113, bytes(14) + b"\x08\x00"),
    "cooked, second version": (276, b"\x08\x00" + bytes(18)),
}


@pytest.mark.parametrize(("link", "head"), LAYERS.values(), ids=LAYERS)
def test_captures_of_all_link_layers(link: int, head: bytes, tmp_path: Path) -> None:
    pytest.importorskip("dpkt")
    frames = [head + ip4(FORTH, 5, 1, 100), head + ip4(BACK, 1, 105, 0), head + b"\x45"]
    (tmp_path / "small.pcap").write_bytes(pcap(link, frames))
    found = model.read_capture(tmp_path / "small.pcap")
    assert found.time.tolist() == [0.0]
    assert found.round_trip.tolist() == [1.0]
    with pytest.raises(ModelError, match="carries no data"):
        model.read_capture(tmp_path / "small.pcap", BACK)


def test_what_is_no_capture_is_said_so(tmp_path: Path) -> None:
    pytest.importorskip("dpkt")
    for content in (b"", b"no capture at all, but long enough for a header"):
        (tmp_path / "wrong.pcap").write_bytes(content)
        with pytest.raises(ModelError, match=r"wrong\.pcap: cannot be read as a capture"):
            model.read_capture(tmp_path / "wrong.pcap")
    (tmp_path / "empty.pcap").write_bytes(pcap(1, []))
    with pytest.raises(ModelError, match="holds no TCP data"):
        model.read_capture(tmp_path / "empty.pcap")
    (tmp_path / "usb.pcap").write_bytes(pcap(189, [b"x"]))
    with pytest.raises(ModelError, match="unknown link layer; given type 189"):
        model.read_capture(tmp_path / "usb.pcap")


def ip6(direction: model.Direction, seq: int, acked: int, length: int) -> bytes:
    tcp = struct.pack(">HHIIBBHHH", direction.sender_port, direction.receiver_port, seq, acked, 0x50, 0x10, 1000, 0, 0)
    source, target = (bytes(15) + end[-1:].encode() for end in (direction.sender, direction.receiver))
    # A hop-by-hop header of 8 bytes stands before TCP.
    options = b"\x06\x00\x01\x04" + bytes(4)
    return struct.pack(">IHBB", 6 << 28, 28 + length, 0, 64) + source + target + options + tcp + bytes(length)


def test_ipv6_with_an_extension_header(tmp_path: Path) -> None:
    pytest.importorskip("dpkt")
    head = bytes(12) + b"\x86\xdd"
    (tmp_path / "six.pcap").write_bytes(pcap(1, [head + ip6(FORTH, 5, 1, 100), head + ip6(BACK, 1, 105, 0)]))
    segments = list(model.read_segments(tmp_path / "six.pcap"))
    assert [segment.length for segment in segments] == [100, 0]
    assert model.read_capture(tmp_path / "six.pcap").round_trip.tolist() == [1.0]


def test_lengths_come_from_the_headers_of_a_cut_or_padded_frame(tmp_path: Path) -> None:
    pytest.importorskip("dpkt")
    head = bytes(12) + b"\x08\x00"
    frames = [(head + ip4(FORTH, 5, 1, 1000))[:68], head + ip4(BACK, 1, 1005, 0) + bytes(6)]
    (tmp_path / "cut.pcap").write_bytes(pcap(1, frames))
    assert [segment.length for segment in model.read_segments(tmp_path / "cut.pcap")] == [1000, 0]


def test_arguments_broadcast() -> None:
    lam, gamma, beta = np.full((3, 1), 0.1), np.array([0.4, 0.5]), np.ones((4, 1, 1))
    assert np.shape(model.mean_window(model.RoundTrips.from_samples([0.1, 0.2]), lam, gamma, beta)) == (4, 3, 2)
    found = model.markov_window(CHAIN, np.full((5, 3), 0.2), 0.5, np.ones((2, 1)))
    assert found.by_state.shape == (2, 5, 3)
    assert found.time_average.shape == found.rate.sent.shape == (2, 5)
    assert found.window[1, 3] == pytest.approx(model.markov_window(CHAIN, 0.2).window)


MANY_SAMPLES = model.RoundTrips.from_samples(np.random.default_rng(17).gamma(0.5, 0.4, 10_000))
FORMS: list[Callable[[FloatArray], object]] = [
    lambda x: model.mean_window(model.RoundTrips.constant(0.1), x),
    lambda x: model.time_average_window(exponential(0.1), x, reaction="per-loss"),
    lambda x: model.sending_rate(exponential(0.1), x),
    lambda x: model.reduction_probability(exponential(0.1), x),
    lambda x: model.square_root_rate(0.1, x),
    lambda x: model.rare_loss_rate(0.1, x),
    lambda x: model.per_loss_rate(model.RoundTrips.constant(0.1), x),
    lambda x: model.sending_rate(MANY_SAMPLES, x),
    lambda x: model.sending_rate(model.RoundTrips.from_distribution(stats.gamma(2.0, scale=0.1)), x),
]


@pytest.mark.parametrize("form", FORMS)
def test_a_million_points_of_a_closed_form_take_less_than_a_second(form: Callable[[FloatArray], object]) -> None:
    points = np.geomspace(1e-6, 1.0, 1_000_000)
    # The processor's time, and the better of two: others use the machine too.
    needed = []
    for _ in range(2):
        begin = time.process_time()
        form(points)
        needed.append(time.process_time() - begin)
    assert min(needed) < 1.0


@pytest.mark.parametrize(
    "trips", [MANY_SAMPLES, model.RoundTrips.from_samples(np.geomspace(1e-3, 10.0, 40)), CHAIN.round_trips[2]]
)
def test_a_million_points_are_those_of_a_few(trips: model.RoundTrips) -> None:
    points = np.concatenate([[0.0], np.geomspace(1e-7, 1e3, 100_000)])
    few = np.arange(0, points.size, 997)
    assert trips.complement(points)[few] == pytest.approx(trips.complement(points[few]), rel=1e-9)


def test_small_windows_and_large_ones_are_warned_of() -> None:
    record = model.MODELS["mean_window"]
    assert record.warnings(window=[20.0, 30.0]) == ()
    assert "timeouts" in record.warnings(window=[20.0, 3.0])[0]
    assert "the receiver's window is left out" in record.warnings(window=20.0, receiver_window=30.0)[0]


TRIPS = model.RoundTrips.constant(0.1)
REFUSED: list[tuple[Callable[[], object], str]] = [
    (lambda: model.RoundTrips.from_samples([]), "round_trips: is empty; given shape (0,)"),
    (lambda: model.RoundTrips.from_samples([0.1, -0.2]), "given -0.2; allowed > 0 and finite [s]; index 1"),
    (lambda: model.RoundTrips.from_samples([0.1, math.nan]), "given nan"),
    (lambda: model.RoundTrips.from_samples(["fast"]), "round_trips: is not a number"),
    (lambda: model.RoundTrips.constant(0.0), "round_trip: is out of range; given 0; allowed > 0 and finite [s]"),
    (lambda: model.RoundTrips.from_distribution(stats.norm(1.0, 1.0)), "P(R <= 0) = 0.158655"),
    (lambda: model.RoundTrips.from_distribution(stats.poisson(1.0)), "has round trips that are not positive"),
    (
        lambda: model.RoundTrips.from_distribution(stats.pareto(0.9)),
        "has a mean that is out of range; given inf",
    ),
    (lambda: model.RoundTrips.from_distribution(0.3), "is not a frozen distribution"),  # type: ignore[arg-type]
    (lambda: model.RoundTrips.from_transform(lambda s: 1 / (1 + s), 0.1), "is not a transform of that mean"),
    (lambda: model.mean_window(TRIPS, 0.0), "loss_rate: is out of range; given 0; allowed > 0 and finite [1/s]"),
    (lambda: model.mean_window(TRIPS, 1.0, 1.0), "decrease: is out of range; given 1; allowed >= 0 and < 1"),
    (lambda: model.mean_window(TRIPS, 1.0, -0.1), "decrease: is out of range; given -0.1"),
    (
        lambda: model.mean_window(TRIPS, 1.0, 0.5, 0.0),
        "increase: is out of range; given 0; allowed > 0 and finite [pkt]",
    ),
    (lambda: model.mean_window(TRIPS, 1.0, reaction="reno"), "reaction: is unknown"),  # type: ignore[arg-type]
    (lambda: model.per_loss_rate(TRIPS, 0.0), "loss_probability: is out of range; given 0"),
    (lambda: model.round_trip_chain([[0.5, 0.4], [0.5, 0.5]], [1, 2]), "does not sum to 1; given row 0 sums to 0.9"),
    (lambda: model.round_trip_chain([[1.5, -0.5], [0.5, 0.5]], [1, 2]), "transitions: is out of range; given"),
    (lambda: model.round_trip_chain([[0.5, 0.5]], [1]), "transitions: is not a square matrix; given shape (1, 2)"),
    (lambda: model.round_trip_chain([[0.5, 0.5], [0.5, 0.5]], [1]), "another number of states than transitions"),
    (lambda: model.round_trip_chain(np.eye(2), [1, 2]), "are not ergodic; given states [0] never meet states [1]"),
    (lambda: model.round_trip_chain([[0.5, 0.5], [0.0, 1.0]], [1, 2]), "not ergodic; given states 0 are left for good"),
    (lambda: model.markov_window(CHAIN, 0.0), "loss_rate: is 0 in every state"),
    (lambda: model.markov_window(CHAIN, [0.1, 0.2]), "loss_rate: has another number of states than the chain"),
    (lambda: model.fit_two_states([]), "round_trips: is empty"),
    (lambda: model.fit_two_states([0.1, 0.2], threshold=0.5), "leave a state empty; given state 1"),
    (lambda: model.fit_two_states([0.1, 0.1, 0.1]), "leave a state empty; given state 0"),
    (lambda: model.fit_states([0.1, 0.2]), "thresholds, quantiles: do not go together"),
    (lambda: model.fit_states([0.1, 0.2], thresholds=[0.3, 0.2]), "thresholds: do not increase"),
    (lambda: model.fit_states([0.1, 0.2], quantiles=[1.0]), "quantiles: is out of range; given 1; allowed > 0 and < 1"),
    (lambda: model.round_trip_trace([0.0], [0.1, 0.2]), "time: has another length than round_trip"),
    (lambda: model.round_trip_trace([1.0, 0.0], [0.1, 0.2]), "time: goes back; given 0 at index 1"),
    (lambda: model.round_trip_trace([], []), "round_trip: is empty"),
    (lambda: model.read_csv("missing.csv"), "missing.csv: cannot be read"),
    (
        lambda: model.simulate_window(
            exponential(1.0), 0.1, rounds=1, replications=1, generator=np.random.default_rng(1)
        ),
        "round_trips: cannot be drawn; given a transform alone",
    ),
]


@pytest.mark.parametrize(("call", "message"), REFUSED)
def test_wrong_arguments_are_named_with_what_is_allowed(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ModelError) as caught:
        call()
    assert message in str(caught.value)


def test_counts_may_be_whole_floats_and_are_bounded() -> None:
    def windows(**counts: float) -> model.SimulatedWindow:
        given: Any = {"rounds": 100, "replications": 5, "warm_up": 10, **counts}
        return model.simulate_window(model.RoundTrips.constant(0.2), 0.1, generator=np.random.default_rng(1), **given)

    found = windows(rounds=100.0, replications=5.0, warm_up=10.0)
    assert found.window.tolist() == windows().window.tolist()
    assert model.equal_time_thresholds([0.1, 0.2, 0.4], 2.0).size == 1  # type: ignore[arg-type]
    for name in ("rounds", "replications", "warm_up"):
        with pytest.raises(ModelError, match=f"^{name}: is out of range; given 1e.308"):
            windows(**{name: 1e308})


def test_a_tolerance_that_is_no_number_is_refused() -> None:
    same = model.RoundTrips.constant(1.0), model.RoundTrips.constant(1.0)
    for wrong in (math.nan, -1.0, math.inf, "much", [1e-6, 1e-6]):
        with pytest.raises(ModelError, match=r"^mean_tolerance: is "):
            model.compare_variability(*same, 0.1, mean_tolerance=wrong)  # type: ignore[arg-type]


def test_an_unknown_reaction_is_refused_everywhere() -> None:
    same = model.RoundTrips.constant(1.0)
    with pytest.raises(ModelError, match=r"^reaction: is unknown; given 'per-packet'; allowed 'per-round', 'per-loss'"):
        model.compare_variability(same, same, 0.1, reaction="per-packet")  # type: ignore[arg-type]


# ---- rare losses, slow chains


@pytest.mark.parametrize("reaction", REACTIONS)
@pytest.mark.parametrize("rate", [1e-6, 1e-12, 1e-15, 1e-100])
def test_at_rare_losses_a_chain_has_the_window_of_its_mean_alone(rate: float, reaction: model.Reaction) -> None:
    chain = model.round_trip_chain([[0.9, 0.1], [0.2, 0.8]], [0.1, 0.3])
    found = model.markov_window(chain, rate, reaction=reaction)
    assert found.window * rate == pytest.approx(2.0 / chain.mean, rel=max(10 * rate, 1e-14))
    assert found.reduction_rate == pytest.approx(rate, rel=max(10 * rate, 1e-14))


def test_a_chain_that_is_seldom_left_is_a_mixture_of_its_states() -> None:
    # Left once in 1e12 rounds: each state has its own stationary window, weighed by pi.
    rare = 1e-12
    chain = model.round_trip_chain([[1.0 - rare, rare], [rare, 1.0 - rare]], [0.1, 0.5])
    alone = [float(model.mean_window(model.RoundTrips.constant(trip), 0.1)) for trip in (0.1, 0.5)]
    assert model.markov_window(chain, 0.1).by_state == pytest.approx(np.array(alone) / 2.0, rel=1e-8)


def test_the_factors_of_simulated_rounds_give_the_mean_window() -> None:
    generator = np.random.default_rng(7)
    losses = generator.poisson(0.3, (4000, 200))
    found = model.stationary_window(0.5 ** np.minimum(losses, 1))
    assert found.weight.max() < 1e-3
    expected = float(model.mean_window(model.RoundTrips.constant(1.0), 0.3))
    # The windows of 4000 sequences: a standard error of 1.1%.
    assert found.window.mean() == pytest.approx(expected, rel=0.04)


def test_the_factor_has_the_probabilities_and_the_mean_of_the_model() -> None:
    for reaction in REACTIONS:
        trips = model.RoundTrips.from_samples([0.1, 0.4, 2.0])
        powers = np.arange(60)
        found = model.factor_probability(trips, [[0.3], [2.0]], powers, reaction)
        assert found.sum(axis=-1) == pytest.approx(1.0)
        mean = model.mean_factor(trips, [0.3, 2.0], 0.7, reaction)
        assert found @ 0.7**powers == pytest.approx(mean)


def test_a_transform_alone_has_no_probabilities_of_several_losses() -> None:
    exponential = model.RoundTrips.from_transform(lambda s: 1 / (1 + 2 * s), mean=2.0)
    assert model.factor_probability(exponential, 0.5, [0, 1, 2], "per-round").tolist() == [0.5, 0.5, 0.0]
    with pytest.raises(ModelError, match=r"^round_trips: have no values to average over"):
        model.factor_probability(exponential, 0.5, 1)
