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
