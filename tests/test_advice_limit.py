"""Limits of advice, and what confirms it."""

from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.cli import app
from ackclock.errors import LimitError

ACCESS = "access-bufferbloat"
TRACE = {
    "link": [
        {
            "name": "cell",
            "delay": "20 ms",
            "buffer": "300 pkt",
            "rate_process": {"kind": "steps", "steps": [["0 s", "4 Mbit/s"], ["10 s", "8 Mbit/s"]]},
        }
    ],
    "flow": [{"name": "download", "path": ["cell"]}],
    "run": {"duration": "30 s", "warmup": "2 s"},
}


def test_all_simulations_together_are_within_the_limit() -> None:
    said: list[str] = []
    with pytest.raises(LimitError, match="less than this advice is expected to take"):
        ackclock.advise(ACCESS, topics=["bottleneck-buffer"], limit="2e6 pkt", on_step=said.append)
    assert said, "the first simulations are within it"
    with pytest.raises(LimitError):
        ackclock.advise(ACCESS, topics=["bottleneck-buffer"], limit=["1 pkt"])


def test_the_environment_s_limit_holds_and_that_of_the_command_takes_its_place(monkeypatch: Any) -> None:
    monkeypatch.setenv("ACKCLOCK_LIMIT", "1 pkt")
    arguments = ["advise", ACCESS, "--topic", "bottleneck-buffer"]
    assert CliRunner().invoke(app, arguments).exception is not None
    assert CliRunner().invoke(app, [*arguments, "--limit", "1 h"]).exit_code == 0


def test_a_run_that_cannot_be_another_is_not_called_a_confirmation() -> None:
    (found,) = ackclock.advise(TRACE, topics=["bottleneck-buffer"]).recommendations
    assert any("no other run could confirm the answer" in remark for remark in found.remarks)
    assert not any("other random numbers" in remark for remark in found.remarks)


def test_other_random_numbers_are_claimed_only_where_the_compared_queues_have_any() -> None:
    """PIE draws some, and is not the answer."""
    advice = ackclock.advise(TRACE)
    for found in advice.recommendations:
        assert any("no other run could confirm the answer" in remark for remark in found.remarks)
        assert not any("other random numbers" in remark for remark in found.remarks)


def test_a_longer_run_of_transfers_that_end_confirms_nothing_and_one_of_endless_flows_does() -> None:
    link = {"name": "dsl", "rate": "20 Mbit/s", "delay": "20 ms", "buffer": "300 pkt"}
    flow = {"name": "download", "path": ["dsl"]}
    document = {"link": [link], "flow": [{**flow, "size": "2 MB"}], "run": {"duration": "10 s"}}
    (found,) = ackclock.advise(document, topics=["which-queue"]).recommendations
    assert found.changes
    assert any(remark.startswith("nothing is random and all transfers end: ") for remark in found.remarks)
    (found,) = ackclock.advise({**document, "flow": [flow]}, topics=["which-queue"]).recommendations
    twice = "before and after were simulated once more, in runs of twice the time: the answer holds there"
    assert twice in found.remarks
