"""Limits of advice, and what confirms it."""

from typing import Any

import pytest
from typer.testing import CliRunner

import ackclock
from ackclock.advice.budget import Budget
from ackclock.cli import app
from ackclock.cost import Estimate
from ackclock.errors import LimitError
from ackclock.limits import refuse_beyond
from ackclock.units import Quantity

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


def second(seconds: float = 1.0) -> Estimate:
    return Estimate(1e6, seconds, 1e8)


def test_what_is_expected_is_corrected_by_the_time_that_simulations_took() -> None:
    """Expected to take 1 s each, the simulations take 5: the third is beyond 12 s, and is not begun."""
    now, said = [0.0], list[str]()
    budget = Budget([Quantity(12.0, "s")], said.append, lambda: now[0])
    for number in range(2):
        foreseen = budget.charge([second()], 1)
        now[0] += 5.0
        budget.settle(foreseen, 5.0, 1)
        assert now[0] == 5.0 * (number + 1)
    with pytest.raises(LimitError, match="expected to take, about 15 s; given 12 s"):
        budget.charge([second()], 1)


def test_a_long_search_is_announced_with_the_time_that_simulations_took_and_refused_before_it_begins() -> None:
    now, said = [0.0], list[str]()
    budget = Budget([Quantity(60.0, "s")], said.append, lambda: now[0])
    budget.settle(budget.charge([second()], 1), 5.0, 1)
    budget.announce([second()] * 10, 2, 6.0)
    assert said == ["About 25 s to 2.5 min of computing with 2 threads for 10 to 60 simulations more"]
    budget.announce([second(0.1)] * 3, 2)
    assert len(said) == 1
    with pytest.raises(LimitError, match=r"expected to take, about 1.3 min; given 1 min"):
        budget.announce([second()] * 32, 2)


def test_a_time_that_passes_in_the_middle_of_a_simulation_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The estimate of a BBR flow with losses is a tenth of what it takes; the limit does not wait for its end."""
    monkeypatch.setattr("ackclock.api.expected", lambda *_: second(1e-3))
    link = {"name": "l", "rate": "100 Mbit/s", "delay": "250 ms", "buffer": "500 pkt"}
    document = {"link": [link], "flow": [{"path": ["l"], "tcp": "linux-bbr"}], "run": {"duration": "1000 s"}}
    with pytest.raises(LimitError, match=r"limit: has passed after 0 simulations, .*; given 0.3 s"):
        ackclock.advise(document, topics=["bottleneck-buffer"], limit="0.3 s")


def test_the_two_numbers_of_a_refusal_differ() -> None:
    with pytest.raises(LimitError, match=r"about 15.04 s; given 15 s"):
        refuse_beyond([Quantity(15.0, "s")], Estimate(1.0, 15.04, 1.0))


def test_an_answer_before_the_limit_is_kept_with_the_question_that_is_not_answered() -> None:
    link = {"name": "dsl", "rate": "20 Mbit/s", "delay": "20 ms", "buffer": "300 pkt"}
    document = {"link": [link], "flow": [{"name": "download", "path": ["dsl"]}], "run": {"duration": "10 s"}}
    packets: list[float] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Budget, "settle", lambda self, *_: packets.append(self._spent.packets))
        alone = ackclock.advise(document, topics=["bottleneck-buffer"])
    cut = ackclock.advise(document, limit=f"{packets[-1] + 1.0:.0f} pkt")
    assert cut.recommendations == alone.recommendations
    assert cut.reasons[-1].startswith("which-queue is not answered: limit: is less than this advice is expected")


def test_a_run_whose_precision_decides_its_length_says_nothing_of_the_estimates() -> None:
    said = list[str]()
    budget = Budget((), said.append)
    until = Estimate(1e6, 1.0, 1e8, most=50.0)
    budget.settle(budget.charge([until], 1), 40.0, 1)
    budget.announce([second()] * 9, 1)
    assert not said


def test_a_limit_that_is_no_text_is_refused() -> None:
    limit: Any = 5
    with pytest.raises(LimitError, match="is not a text or a list of texts"):
        ackclock.advise(ACCESS, limit=limit)
