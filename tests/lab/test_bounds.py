"""A request costs no more than the page allows, and reads no file."""

import pytest

import ackclock
from ackclock.errors import LimitError, ScenarioError
from ackclock.lab.bounds import MOST_FLOWS, MOST_TABLES, check_cost, check_size
from ackclock.lab.editing import source_of
from ackclock.lab.running import prepared, run
from ackclock.scenario import load, resolve
from ackclock.scenario.ready import ready_path

BASE = """
[[link]]
name = "line"
rate = "{rate}"
[[flow]]
path = ["line"]
count = {count}
{more}
[run]
duration = "{duration}"
"""


def text(rate: str = "10 Mbit/s", count: int = 1, duration: str = "10 s", more: str = "") -> str:
    return BASE.format(rate=rate, count=count, duration=duration, more=more)


def test_a_small_scenario_is_ready_to_run() -> None:
    assert prepared(text()).resolved.run.duration_s == 10.0


@pytest.mark.parametrize("duration", ["1e7 s", "1e6 s"])
def test_a_run_of_too_many_packets_is_refused_before_it_starts(duration: str) -> None:
    with pytest.raises(LimitError, match="the run is expected to take"):
        check_cost(resolve(load(text("10 Gbit/s", duration=duration))))


def test_too_many_flows_are_refused_before_they_are_resolved() -> None:
    with pytest.raises(ScenarioError, match="makes more flows") as caught:
        check_size(source_of(text(count=MOST_FLOWS + 1)))
    assert caught.value.faults[0].line == 7


def test_too_many_tables_are_refused_before_they_are_resolved() -> None:
    links = "".join(f'[[link]]\nname = "l{number}"\nrate = "1 Mbit/s"\n' for number in range(MOST_TABLES))
    with pytest.raises(ScenarioError, match=r"more tables \[\[link\]\]"):
        check_size(source_of(text() + links))


@pytest.mark.parametrize(
    "more",
    [
        'traffic = { kind = "web", size = { law = "empirical", file = "/etc/passwd" }, off = "1 s" }',
        "traffic.size.file = '../secret'",
        'whatever = [[{ file = "x" }]]',
        'traffic.size.file = "./lte-synthetic.trace"',
    ],
)
def test_a_scenario_that_names_a_file_is_refused_with_its_line(more: str) -> None:
    with pytest.raises(ScenarioError, match="names a file, which the page does not read") as caught:
        prepared(text(more=more))
    assert caught.value.faults[0].line == 8


def test_a_ready_scenario_with_a_file_is_run_as_by_the_command() -> None:
    found = run(prepared(ready_path("lte-trace").read_text()), lambda _: None)
    assert found.result.summary["flows"] == ackclock.run("lte-trace", picture=False).summary["flows"]


def test_a_run_that_the_page_refuses_says_what_its_user_can_do() -> None:
    """A limit that the page lacks cannot be raised there."""
    with pytest.raises(LimitError, match="shorten the run, or lower the rates or the number of flows") as caught:
        prepared(text("1000 Gbit/s"))
    assert "raise the limit" not in str(caught.value)


def test_a_scenario_of_too_many_values_is_refused() -> None:
    with pytest.raises(ScenarioError, match="too many values"):
        check_size(source_of(text(more=f"x = [{', '.join(['1'] * 20_001)}]")))


def test_tables_nested_too_deeply_are_refused() -> None:
    with pytest.raises(ScenarioError, match="nested"):
        check_size(source_of(text(more=f"x = {'[' * 60}{']' * 60}")))


@pytest.mark.parametrize("count", ["true", '"many"', "-5", "1.5"])
def test_an_odd_number_of_flows_is_a_fault_of_the_scenario(count: str) -> None:
    with pytest.raises(ScenarioError):
        prepared(text().replace("count = 1", f"count = {count}"))
