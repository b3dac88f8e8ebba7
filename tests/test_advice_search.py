"""The search for the smallest size: found exactly, robust to noise, bounded; and the targets that it is given."""

import random
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.advice.lengths import Length, length_for
from ackclock.advice.search import Bracket, neighbour, smallest
from ackclock.advice.targets import Targets, read_targets
from ackclock.cli import app
from ackclock.errors import AdviceError
from fakes import make_flow, make_resolved


def recording(passes: Callable[[int], bool]) -> tuple[Callable[[Sequence[int]], dict[int, bool]], list[int]]:
    """Give a test of sizes, and the list of all that it was asked."""
    asked: list[int] = []

    def test(sizes: Sequence[int]) -> dict[int, bool]:
        asked.extend(sizes)
        return {size: passes(size) for size in sizes}

    return test, asked


@pytest.mark.parametrize("start", [1, 4, 7, 30])
@pytest.mark.parametrize("least", [1, 2, 6, 17, 30])
def test_a_small_size_is_found_exactly(least: int, start: int) -> None:
    test, _ = recording(lambda size: size >= least)
    assert smallest(test, start, 1000) == Bracket(least, least - 1)


@pytest.mark.parametrize("start", [10, 700, 4000])
def test_a_large_size_is_found_to_3_percent_in_few_tests(start: int) -> None:
    test, asked = recording(lambda size: size >= 712)
    found = smallest(test, start, 4000).size
    assert found is not None
    assert 712 <= found <= 1.03 * 712
    assert len(asked) <= 2 * 14


@pytest.mark.parametrize("start", [1, 2, 3, 40])
def test_no_size_below_the_least_is_tried(start: int) -> None:
    test, asked = recording(lambda size: True)
    assert smallest(test, start, 100, 2) == Bracket(2, 1)
    assert min(asked) == 2


def test_a_size_that_passes_by_chance_below_neighbours_that_fail_is_not_taken() -> None:
    test, _ = recording(lambda size: size >= 100 or size in {40, 50, 75})
    found = smallest(test, 50, 1000).size
    assert found is not None
    assert 100 <= found <= 103


@pytest.mark.parametrize("seed", range(20))
def test_noise_near_the_threshold_moves_the_answer_by_little(seed: int) -> None:
    noise = random.Random(seed)
    level = {size: size / 500.0 + noise.gauss(0.0, 0.02) for size in range(2000)}
    test, _ = recording(lambda size: level[size] >= 1.0)
    found = smallest(test, 250, 1500).size
    assert found is not None
    assert 450 <= found <= 550
    assert level[found] >= 1.0
    assert level[neighbour(found)] >= 1.0


def test_nothing_is_found_if_the_largest_does_not_pass() -> None:
    test, asked = recording(lambda size: False)
    assert smallest(test, 10, 100) == Bracket(None, 100)
    assert max(asked) == neighbour(100)


def test_a_start_beyond_the_largest_is_the_largest() -> None:
    test, _ = recording(lambda size: size >= 20)
    assert smallest(test, 500, 24) == Bracket(20, 19)


def test_a_queue_may_cost_throughput_and_loss_unless_the_user_names_a_target() -> None:
    web = make_resolved([make_flow("web", traffic=WEB)])
    assert (read_targets(None, web).queue_throughput, read_targets(None, web).queue_loss) == (None, None)
    named = read_targets({"utilisation": "99%", "loss": "2%"}, web)
    assert (named.queue_throughput, named.queue_loss) == (0.99, 0.02)


WEB = {"kind": "web", "size": {"law": "fixed", "packets": 5}, "off": {"law": "fixed", "mean_s": 1.0}, "classes": []}


def test_targets_have_defaults_and_web_sources_a_loss() -> None:
    assert read_targets(None, make_resolved()) == Targets(0.99, None, None)
    assert read_targets(None, make_resolved([make_flow("web", traffic=WEB)])) == Targets(0.99, 0.01, None)


def test_targets_are_read_with_units_and_as_numbers() -> None:
    given: dict[str, str | float] = {"utilisation": "95%", "loss": "0.1 %", "rtt-p95": "50 ms"}
    assert read_targets(given, make_resolved()) == Targets(0.95, 0.001, 0.05, frozenset(given))
    numbers = read_targets({"loss": 0.02, "rtt_p95": 0.08}, make_resolved())
    assert numbers == Targets(0.99, 0.02, 0.08, frozenset({"loss", "rtt-p95"}))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"delay": "5 ms"}, "target: is unknown; given delay; allowed utilisation, loss, rtt-p95"),
        ({"loss": "300%"}, "target loss: is out of range; given 300%; allowed above 0% and at most 50%, such as"),
        ({"utilisation": 0}, "target utilisation: is out of range; given 0; allowed above 0% and at most 100%"),
        ({"utilisation": "full"}, "target utilisation: is not a percentage; given full"),
        ({"rtt-p95": "50"}, 'target rtt-p95: must be a time; given 50; allowed a time above 0 s, such as "50 ms"'),
        ({"rtt-p95": "5 pkt"}, "target rtt-p95: must be a time; given 5 pkt"),
        ({"rtt-p95": -1.0}, "target rtt-p95: must be a time; given -1.0"),
    ],
)
def test_a_target_that_makes_no_sense_is_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(ackclock.AdviceError) as raised:
        read_targets(given, make_resolved())
    assert message in str(raised.value)


def test_the_command_names_what_a_target_looks_like() -> None:
    done = CliRunner().invoke(app, ["advise", "scenarios/access-modem.toml", "--target", "loss"])
    assert done.exit_code == 2
    assert "'loss' is not FIELD=VALUE, such as rtt-p95=50ms" in done.output


def test_a_time_without_a_unit_is_refused_on_the_command_line_too() -> None:
    done = CliRunner().invoke(app, ["advise", "scenarios/access-modem.toml", "--target", "rtt-p95=50"])
    assert 'must be a time; given 50; allowed a time above 0 s, such as "50 ms"' in str(done.exception)


def length(resolved: ackclock.scenario.Resolved, buffer: float, **targets: Any) -> Length:
    return length_for(resolved, buffer, buffer, Targets(**targets))


def test_a_run_holds_six_loss_cycles_of_a_lone_flow_and_more_of_several() -> None:
    # 206 packets of path and 94 of buffer: from 150 to 300 packets, one a round trip of 0.82 s.
    lone = length(make_resolved([make_flow("lone")]), 94.0)
    assert lone.duration_s - lone.warmup_s == pytest.approx(6 * 150 * 0.82, rel=0.1)
    assert lone.replications == 1
    pair = length(make_resolved([make_flow("a"), make_flow("b")]), 94.0)
    assert pair.duration_s - pair.warmup_s == pytest.approx(20 * 75 * 0.82, rel=0.1)


def test_a_small_loss_takes_a_longer_run() -> None:
    resolved = make_resolved([make_flow("web", traffic=WEB)])
    assert length(resolved, 18.0, loss=0.001).duration_s > 2.0 * length(resolved, 18.0, loss=0.1).duration_s


def test_the_cost_of_a_run_is_bounded() -> None:
    fast = [{**link, "rate_bps": 1e10} for link in make_resolved().to_dict()["elements"]]
    run = length(make_resolved(links=fast), 1e5)
    assert run.duration_s * 1e10 / 4096 <= 1.1 * 20e6


def test_a_transfer_that_ends_keeps_the_length_that_its_user_gave() -> None:
    run = length(make_resolved([make_flow("one", size_packets=50)]), 18.0)
    assert (run.duration_s, run.warmup_s) == (100.0, 20.0)


def test_a_confirmation_has_other_random_numbers_and_measures_twice_the_time() -> None:
    run = Length(30.0, 10.0, 5)
    assert run.other == Length(50.0, 10.0, 5, further_seed=1)


def test_a_search_is_within_what_a_run_may_last() -> None:
    slow = """
    [[link]]
    name = "slow"
    rate = "1 bit/s"
    buffer = "30 pkt"
    [[flow]]
    path = ["slow"]
    tcp = "linux-cubic"
    [run]
    duration = "10 s"
    """
    assert ackclock.advise(slow, topics=["bottleneck-buffer"]).recommendations


def test_a_round_trip_below_the_empty_path_s_is_refused_before_any_search() -> None:
    link = {"name": "a", "rate": "10 Mbit/s", "delay": "10 ms", "buffer": "50 pkt"}
    document = {"link": [link], "flow": [{"name": "f", "path": ["a"]}], "run": {"duration": "5 s"}}
    steps: list[str] = []
    refused = r"rtt-p95: is below the round trip of the empty path of f, .*; given 1 ms; allowed more than 21\.23 ms"
    with pytest.raises(AdviceError, match=refused):
        ackclock.advise(document, targets={"rtt-p95": "1 ms"}, on_step=steps.append)
    assert not steps
    assert ackclock.advise(document, targets={"rtt-p95": "22 ms"}, simulate=False).title == "untitled"
