"""What a result says of itself: loss cycles, what is exact, and which length is needed."""

import re
from typing import Any

import numpy as np
import pytest

import ackclock
from ackclock.cycles import loss_cycles, recoveries_begun
from ackclock.trust import trust_text
from test_batches import RENO


def run(duration: str, **changes: str) -> dict[str, Any]:
    text = RENO.format(duration=duration, more="")
    for old, new in changes.items():
        text = text.replace(f"{old} = ", f"{old} = {new} #")
    return dict(ackclock.run(text, picture=False).summary)


def test_a_run_that_holds_one_loss_warns_and_names_the_length() -> None:
    summary = run("40 s")
    cycles = summary["flows"][0]["loss_cycles"]["mean"]
    assert cycles < 10.0
    assert summary["loss_cycles"] == {"fewest": cycles, "most": cycles, "flow": "flow", "equal": False}
    (warning,) = (line for line in summary["warnings"] if "loss cycle" in line)
    needed = re.search(r"10 need run.duration of about ([0-9.]+) s", warning)
    assert needed is not None
    longer = run(f"{needed[1]} s")
    assert longer["loss_cycles"]["fewest"] >= 9.0
    assert "exact" in trust_text(summary, 0.95)
    assert "its long-run means are not" in trust_text(summary, 0.95)


def test_each_replication_has_a_cycle_that_is_cut_off() -> None:
    """The cycle that each cuts off is added for each, so that the duration that is named holds ten complete ones."""
    text = RENO.format(duration="40 s", more="")
    spread = {"flow.flow.start_spread": "1 s", "run.replications": 4}
    summary = ackclock.run(text, overrides=spread, picture=False).summary
    (warning,) = (line for line in summary["warnings"] if "loss cycle" in line)
    needed = re.search(r"10 need run.duration of about ([0-9.]+) s", warning)
    assert needed is not None
    longer = ackclock.run(text, duration=f"{needed[1]} s", overrides=spread, picture=False).summary["loss_cycles"]
    assert longer is not None
    assert longer["fewest"] >= 9.0


def test_replications_that_would_all_be_the_same_are_not_run_and_that_is_said() -> None:
    text = RENO.format(duration="400 s", more="")
    result = ackclock.run(text, replications=20, picture=False)
    (warning,) = result.summary["warnings"]
    assert warning.startswith("run.replications is 20, and one was run: nothing in the scenario is random")
    assert result.summary["replications"] == 1
    spread = ackclock.run(text, replications=2, overrides={"flow.flow.start_spread": "1 s"}, picture=False)
    assert spread.summary["replications"] == 2
    assert not [line for line in spread.summary["warnings"] if "run.replications is" in line]


def test_a_long_run_does_not_warn_and_counts_in_the_line_under_the_title() -> None:
    summary = run("400 s")
    assert summary["warnings"] == []
    assert f"{int(summary['loss_cycles']['fewest'])} loss cycles" in trust_text(summary, 0.95)
    assert summary["intervals"] == "batch means"
    found = summary["flows"][0]["throughput_bps"]
    assert found["low"] < found["mean"] < found["high"]


def test_equal_cycles_are_called_equal() -> None:
    summary = run("400 s")
    assert summary["loss_cycles"]["equal"]
    assert "of equal length" in trust_text(summary, 0.95)


def test_a_window_that_still_grows_without_a_loss_warns() -> None:
    summary = run("8 s", buffer='"9000 pkt"')
    assert summary["flows"][0]["loss_cycles"]["mean"] == 0.0
    (warning,) = (line for line in summary["warnings"] if "its window still grew" in line)
    assert "raise run.duration to" in warning


def test_a_window_that_the_receiver_limits_does_not() -> None:
    summary = run("60 s", tcp='{ preset = "reno-rfc5681", max_window = "50 pkt" }')
    assert summary["warnings"] == []
    assert summary["loss_cycles"]["most"] == 0.0


def test_a_transfer_with_an_end_is_exact() -> None:
    summary = run("40 s", path='["wan"]\nsize = "1000 pkt"\n')
    assert summary["intervals"] == "exact"
    assert summary["loss_cycles"] is None
    assert trust_text(summary, 0.95) == "nothing is random: one run is exact"
    assert summary["flows"][0]["goodput_bps"]["low"] == summary["flows"][0]["goodput_bps"]["mean"]


@pytest.mark.parametrize(("duration", "warns"), [("40 s", True), ("400 s", False)])
def test_few_transfers_of_web_sources_warn(duration: str, *, warns: bool) -> None:
    traffic = '{ kind = "web", size = { law = "exponential", mean = "12 pkt", min = "3 pkt" }, off = "2 s" }'
    summary = run(duration, path=f'["wan"]\ntraffic = {traffic}\n')
    few = [line for line in summary["warnings"] if "100 need run.duration" in line]
    assert bool(few) is warns
    assert summary["flows"][0]["loss_cycles"] is None


def test_repeated_timeouts_begin_no_cycle() -> None:
    names = ("fast_retransmits", "timeouts", "timeouts_repeated", "timeouts_in_recovery")
    flows = {name: np.array([value, 0.0]) for name, value in zip(names, (5.0, 9.0, 4.0, 2.0), strict=True)}
    assert recoveries_begun(flows).tolist() == [8.0, 0.0]
    assert loss_cycles(flows, np.array([1, 1])).tolist() == [7.0, 0.0]
    assert loss_cycles(flows, np.array([2, 1])).tolist() == [3.0, 0.0]


LOCKSTEP = """
title = "two ports into one uplink of the same rate"
[[link]]
name = "first"
rate = "10 Mbit/s"
delay = "1 ms"
buffer = "unlimited"
[[link]]
name = "second"
rate = "10 Mbit/s"
delay = "1 ms"
buffer = "unlimited"
[[link]]
name = "uplink"
rate = "10 Mbit/s"
delay = "10 ms"
buffer = "20 pkt"
[[flow]]
name = "early"
path = ["first", "uplink"]
[[flow]]
name = "late"
path = ["second", "uplink"]
start = "3 s"
[run]
duration = "15 s"
warmup = "2 s"
"""


def locked_out(text: str, **overrides: str) -> tuple[list[str], str]:
    summary: dict[str, Any] = dict(ackclock.run(text, picture=False, overrides=overrides).summary)
    found = [line for line in summary["warnings"] if "locked out of" in line]
    assert ("locks flows out" in trust_text(summary, 0.95)) == (bool(found) and summary["deterministic"])
    return found, trust_text(summary, 0.95)


@pytest.mark.parametrize("overrides", [{}, {"flow.late.start_spread": "100 ms"}])
def test_a_flow_that_exact_timing_locks_out_of_a_full_buffer_is_named_with_what_breaks_it(
    overrides: dict[str, str],
) -> None:
    (warning,), _ = locked_out(LOCKSTEP, **overrides)
    assert warning.startswith("late is locked out of uplink, whose full buffer dropped ")
    assert 'link.uplink.queue = "random-drop" breaks it' in warning


@pytest.mark.parametrize("queue", ["random-drop", "codel", "fq-codel"])
def test_a_queue_that_breaks_the_pattern_locks_no_flow_out(queue: str) -> None:
    assert locked_out(LOCKSTEP, **{"link.uplink.queue": queue})[0] == []


def test_a_lone_flow_and_flows_that_share_a_buffer_are_not_locked_out() -> None:
    assert locked_out(RENO.format(duration="20 s", more=""))[0] == []
    assert locked_out(LOCKSTEP, **{"link.first.rate": "20 Mbit/s", "link.second.rate": "20 Mbit/s"})[0] == []


def test_a_ping_between_datagrams_is_locked_out_and_may_be_too_large_for_a_buffer_of_bytes() -> None:
    text = """
title = "constant rate"
[[link]]
name = "line"
rate = "1 Mbit/s"
delay = "10 ms"
buffer = "{buffer}"
[[flow]]
name = "cbr"
path = ["line"]
packet = "200 B"
traffic = {{ kind = "{kind}", rate = "1.2 Mbit/s" }}
[[flow]]
name = "ping"
path = ["line"]
packet = "{ping}"
traffic = {{ kind = "ping", interval = "200 ms" }}
[run]
duration = "20 s"
warmup = "2 s"
"""
    (warning,), _ = locked_out(text.format(buffer="50 pkt", kind="constant", ping="100 B"))
    assert warning.startswith("ping is locked out of line")
    assert "too large" not in warning
    (warning,), _ = locked_out(text.format(buffer="10 kB", kind="constant", ping="1000 B"))
    assert "too large" in warning
    assert locked_out(text.format(buffer="50 pkt", kind="poisson", ping="100 B"))[0] == []


def grown(**fields: str) -> list[str]:
    link = {"name": "wan", "rate": "10 Gbit/s", "delay": "50 ms", **fields}
    scenario = {"link": [link], "flow": [{"path": ["wan"]}], "run": {"duration": "5 s"}}
    warnings: list[str] = ackclock.run(scenario, picture=False).summary["warnings"]
    return [line for line in warnings if "still grew" in line]


def test_a_window_that_a_socket_buffer_ends_is_not_waited_for() -> None:
    """A send buffer of 67 MB holds 16,400 packets; a longer run would hold no loss either."""
    assert grown(buffer="50 ms") == []
    assert grown(rate="1 Gbit/s", buffer="20000 pkt") == []


def test_a_window_that_can_fill_a_buffer_still_is() -> None:
    assert grown(rate="100 Mbit/s", buffer="12000 pkt")


@pytest.mark.parametrize(("warmup", "warns"), [("0 s", False), ("1 s", False), ("5 s", True)])
def test_transfers_that_end_before_the_warm_up_leave_nothing_to_measure(*, warmup: str, warns: bool) -> None:
    flow = {"path": ["link"], "size": "2 MB"}
    link = {"name": "link", "rate": "10 Mbit/s", "delay": "5 ms", "buffer": "20 pkt"}
    given = {"link": [link], "flow": [flow], "run": {"duration": "10 s", "warmup": warmup}}
    warnings = ackclock.run(given, picture=False).summary["warnings"]
    assert any(line.startswith("all transfers ended before run.warmup of 5 s did") for line in warnings) is warns
    endless = given | {"flow": [flow, {"path": ["link"], "name": "endless"}]}
    assert not [
        line for line in ackclock.run(endless, picture=False).summary["warnings"] if "all transfers ended" in line
    ]
