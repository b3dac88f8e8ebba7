"""Congestion controls that are classes: the examples of the documentation, what a class sees, and what ends a run."""

import ast
import re
import signal
import subprocess
import sys
import textwrap
import threading
import types
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

import pytest

import ackclock
from ackclock.controls import AckSample, CongestionControl, Connection, Signal
from ackclock.cost import estimate, expected_cost
from ackclock.errors import ArgumentError, EngineError, ResultError, ScenarioError, SweepError

TEXT = (Path(__file__).parent.parent / "docs" / "controls.md").read_text(encoding="utf-8")
BLOCKS: list[tuple[str, str]] = re.findall(r"^```(python|toml)\n(.*?)^```$", TEXT, flags=re.DOTALL | re.MULTILINE)
PATH = """
[[link]]
name = "wire"
rate = "20 Mbit/s"
delay = "20 ms"
buffer = "40 pkt"
[run]
duration = "20 s"
[trace]
cwnd = true
"""


def one_flow(control: str, **tcp: Any) -> str:
    more = "".join(f', {name} = "{value}"' for name, value in tcp.items())
    return (
        f'{PATH}\n[[flow]]\npath = ["wire"]\ntcp = {{ preset = "linux-reno", congestion_control = "{control}"{more} }}'
    )


@pytest.fixture(scope="module")
def documented() -> dict[str, Any]:
    """Run the Python of the documentation, in its order."""
    names: dict[str, Any] = {}
    for language, block in BLOCKS:
        if language == "python":
            exec(compile(block, "docs/controls.md", "exec"), names)
    return names


def test_four_flows_in_one_get_as_much_more_as_the_page_says() -> None:
    text = next(block for language, block in BLOCKS if language == "toml")
    four, one = (row["throughput_bps"]["mean"] for row in ackclock.run(text, picture=False).summary["flows"])
    assert f"the ratio of the throughputs is {four / one:.1f}" in TEXT


class Fixed(CongestionControl):
    """A window of 20 packets."""

    def on_ack(self, ack: AckSample) -> None:
        self.cwnd = 20.0

    def on_congestion(self, signal: Signal) -> float:
        return 20.0


def test_the_first_example_runs_and_fills_most_of_the_link(documented: dict[str, Any]) -> None:
    assert documented["result"].flows.goodput_bps["flow"] > 0.85 * 10e6


def test_scalable_in_python_has_the_windows_of_the_engine_s(documented: dict[str, Any]) -> None:
    mine = ackclock.run(one_flow("mine"), controllers={"mine": documented["Scalable"]})
    engine = ackclock.run(one_flow("scalable"))
    assert len(engine.traces["cwnd"]) > 500
    assert mine.traces["cwnd"].equals(engine.traces["cwnd"])
    # A class may draw random numbers, so that one run of it is not exact: the intervals of its counts are not known.
    assert (engine.summary["deterministic"], mine.summary["deterministic"]) == (True, False)
    values = [name for name in engine.flows.columns if not name.endswith(("_low", "_high"))]
    assert mine.flows[values].equals(engine.flows[values])


def test_the_learning_control_uses_the_link_with_a_shorter_queue_than_reno(documented: dict[str, Any]) -> None:
    controllers = {"learning": documented["Learning"]}
    learning, reno = (
        ackclock.run(one_flow(name), controllers=controllers, duration="60 s", warmup="20 s")
        for name in ("learning", "reno")
    )
    assert learning.flows.goodput_bps["flow"] > 0.9 * 20e6
    assert learning.links.queue_mean_packets["wire"] < 0.5 * reno.links.queue_mean_packets["wire"]


def test_the_control_with_a_rate_fills_the_link_without_a_queue(documented: dict[str, Any]) -> None:
    result = ackclock.run(one_flow("steady"), controllers={"steady": documented["Steady"]}, warmup="5 s")
    link = result.links.iloc[0]
    assert 0.93 < link["utilisation_fraction"] < 0.97
    assert link["queue_mean_packets"] < 3
    assert link["dropped_packets"] == 0


class Paced(Fixed):
    """Packets at a rate, whatever the window."""

    rate: float | None = 400.0

    def on_ack(self, ack: AckSample) -> None:
        self.cwnd = 1000.0

    def pacing_rate(self) -> float | None:
        return self.rate


def test_a_class_with_a_pacing_rate_is_paced() -> None:
    text = one_flow("mine").replace("[trace]", "[trace]\nstate = true\nsequence = true")
    result = ackclock.run(text, controllers={"mine": Paced}, warmup="2 s")
    assert result.flows["throughput_bps"].iloc[0] == pytest.approx(400 * 1500 * 8, rel=0.001)
    assert result.links["queue_max_packets"].iloc[0] <= 1
    rates = result.traces["state"]["pacing_rate_bps"]
    assert set(rates) == {400 * 1448 * 8.0}
    sent = result.traces["sequence"].query("kind == 'sent'")["time_s"].iloc[20:]
    assert sent.diff().dropna().to_numpy() == pytest.approx(1 / 400, abs=1e-6)


def test_no_pacing_rate_leaves_the_flow_as_it_is() -> None:
    class Unpaced(Halved):
        def pacing_rate(self) -> float | None:
            return None

    windows = [
        ackclock.run(one_flow("mine"), controllers={"mine": control}, picture=False).traces["cwnd"]
        for control in (Halved, Unpaced)
    ]
    assert windows[0].equals(windows[1])


class Halved(Fixed):
    """Reno without more."""

    def on_ack(self, ack: AckSample) -> None:
        left = self.slow_start(ack)
        self.cwnd += left / self.cwnd

    def on_congestion(self, signal: Signal) -> float:
        return max(self.cwnd / 2, 2)


@pytest.mark.parametrize(
    ("rate", "said"),
    [
        (0, "out of range; given 0; allowed 0.001 to 1000000000 packets/s"),
        (float("nan"), "out of range; given nan;"),
        ("fast", "not a number; given 'fast';"),
    ],
)
def test_a_pacing_rate_that_is_none_is_refused(rate: Any, said: str) -> None:
    class Wrong(Paced):
        def pacing_rate(self) -> float | None:
            return rate  # type: ignore[no-any-return]

    with pytest.raises(EngineError) as caught:
        ackclock.run(one_flow("mine"), controllers={"mine": Wrong})
    assert f"Wrong.pacing_rate: the result: {said}" in str(caught.value)


def test_a_class_sees_state_pipe_losses_and_the_delivery_rate_that_it_asks_for() -> None:
    acks: list[AckSample] = []

    class Watching(Halved):
        def on_ack(self, ack: AckSample) -> None:
            acks.append(ack)
            super().on_ack(ack)

    class Measuring(Watching):
        measures_delivery_rate = True

    watched = ackclock.run(one_flow("mine"), controllers={"mine": Watching}, picture=False)
    assert {ack.delivery_rate for ack in acks} == {None}
    acks.clear()
    measured = ackclock.run(one_flow("mine"), controllers={"mine": Measuring}, picture=False)
    assert measured.traces["cwnd"].equals(watched.traces["cwnd"])
    full = 20e6 / (1500 * 8)
    rates = [ack.delivery_rate for ack in acks if ack.delivery_rate is not None]
    assert max(rates) == pytest.approx(full, rel=0.01)
    assert {"Open", "Disorder", "Recovery"} <= {ack.state for ack in acks}
    assert all(ack.open == (ack.state == "Open") for ack in acks)
    assert all(ack.in_flight == ack.nxt - ack.una for ack in acks if ack.open)
    assert sum(ack.lost for ack in acks) == measured.links["dropped_packets"].iloc[0] > 0
    assert acks[0].app_limited
    assert not acks[-1].app_limited


def test_the_trace_of_states_shows_a_class_nothing_that_it_does_not_ask_for() -> None:
    seen: list[float | None] = []

    class Watching(Halved):
        def on_ack(self, ack: AckSample) -> None:
            seen.append(ack.delivery_rate)
            super().on_ack(ack)

    text = one_flow("mine").replace("[trace]", "[trace]\nstate = true")
    result = ackclock.run(text, controllers={"mine": Watching}, picture=False)
    assert set(seen) == {None}
    assert result.traces["state"]["delivery_rate_bps"].notna().any()


def test_a_sample_of_a_test_has_a_known_state() -> None:
    assert AckSample(1.0, 1).open
    assert not AckSample(1.0, 1, state="CWR", in_flight=3).open
    with pytest.raises(ValueError, match="state: no such name"):
        AckSample(1.0, 1, state="open")  # type: ignore[arg-type]


def test_a_seeded_control_depends_on_the_seed_and_on_no_number_of_threads(documented: dict[str, Any]) -> None:
    controllers = {"learning": documented["Learning"]}
    scenario = one_flow("learning").replace("path =", 'start_spread = "0.1 s"\npath =')

    def windows(**how: Any) -> Any:
        result = ackclock.run(scenario, controllers=controllers, replications=3, duration="5 s", **how)
        return result.traces["cwnd"], result.flows

    trace, flows = windows(threads=1)
    again, same = windows(threads=4)
    other, _ = windows(seed=2)
    assert trace.equals(again)
    assert flows.equals(same)
    assert not trace.equals(other)


def test_every_connection_has_an_object_with_a_seed_of_its_own() -> None:
    seen: list[Connection] = []

    class Seen(Fixed):
        def __init__(self, connection: Connection) -> None:
            super().__init__(connection)
            seen.append(connection)

    web = PATH.replace('"20 s"', '"5 s"') + (
        '[[flow]]\nname = "web"\ncount = 2\npath = ["wire"]\n'
        'traffic = { kind = "web", size = "20 pkt", off = "100 ms" }\n'
        'tcp = { preset = "linux-reno", congestion_control = "seen" }'
    )
    ackclock.run(web, controllers={"seen": Seen}, threads=1)
    assert len(seen) > 10
    assert {connection.flow for connection in seen} == {"web"}
    assert [connection.number for connection in seen] == list(range(len(seen)))
    assert len({connection.seed for connection in seen}) == len(seen)
    first = [connection.seed for connection in seen]
    seen.clear()
    ackclock.run(web, controllers={"seen": Seen}, threads=2)
    assert [connection.seed for connection in seen] == first


def test_a_class_sees_the_round_trips_and_the_numbers_of_its_connection() -> None:
    acks: list[AckSample] = []
    signals: list[Signal] = []

    class Watching(Fixed):
        def on_ack(self, ack: AckSample) -> None:
            acks.append(ack)
            left = self.slow_start(ack)
            self.cwnd += left / self.cwnd

        def on_congestion(self, signal: Signal) -> float:
            signals.append(signal)
            return self.cwnd / 2

    ackclock.run(one_flow("mine"), controllers={"mine": Watching})
    assert all(before.now <= after.now and before.una <= after.una for before, after in pairwise(acks))
    assert all(ack.una <= ack.nxt and ack.acked > 0 for ack in acks)
    assert min(ack.rtt for ack in acks if ack.rtt is not None) == acks[-1].min_rtt
    exact = [ack.rtt for ack in acks if ack.rtt is not None and ack.now < signals[0].now]
    assert min(exact) == pytest.approx(0.0406, abs=1e-4)
    assert acks[-1].min_rtt == pytest.approx(0.04, abs=1e-9)  # of a retransmission, by its timestamp: whole ms
    assert {signal.kind for signal in signals} == {"loss"}
    assert not all(ack.may_grow for ack in acks)


class Hooked(CongestionControl):
    """Notes the calls of the optional methods."""

    def on_ack(self, ack: AckSample) -> None:
        self.slow_start(ack)

    def on_congestion(self, signal: Signal) -> float:
        CALLS.append(signal.kind)
        return max(self.cwnd / 2, 2)

    def on_recovery_end(self) -> None:
        CALLS.append("recovery end")

    def on_timeout(self, now: float, nxt: int) -> None:
        CALLS.append(f"timeout at {nxt > 0 and now > 0}")

    def on_restart(self, now: float, idle_since: float) -> None:
        CALLS.append(f"restart after {now >= idle_since}")

    def undo(self, prior: float) -> float:
        CALLS.append("undo")
        return prior


CALLS: list[str] = []


def test_the_optional_methods_are_called() -> None:
    CALLS.clear()
    steps = '[["0 s", "400 ms"], ["2 s", "20 ms"], ["5 s", "900 ms"], ["10 s", "10 ms"]]'
    jumping = f'delay_process = {{ kind = "steps", order = "overtake", steps = {steps} }}\nbuffer'
    ackclock.run(one_flow("mine").replace("buffer", jumping), controllers={"mine": Hooked}, duration="30 s")
    expected = {"loss", "undo", "recovery end", "timeout", "timeout at True", "restart after True"}
    assert set(CALLS) == expected


class Raises(Fixed):
    """Divides by zero after two seconds."""

    def on_ack(self, ack: AckSample) -> None:
        self.cwnd = 20.0
        if ack.now > 2.0:
            self.cwnd = 1 / 0


def test_an_exception_ends_the_run_with_flow_time_and_state_and_is_the_cause() -> None:
    with pytest.raises(EngineError) as caught:
        ackclock.run(one_flow("mine"), controllers={"mine": Raises})
    text = str(caught.value)
    assert re.match(
        r'flow "flow" at 2\.0\d+ s: Raises\.on_ack: ZeroDivisionError: division by zero; '
        r"state cwnd 20, ssthresh inf, una \d+, nxt \d+, srtt 0\.\d+ s$",
        text,
    ), text
    cause = caught.value.__cause__
    assert isinstance(cause, ZeroDivisionError)
    assert cause.__traceback__ is not None
    assert cause.__traceback__.tb_frame.f_code.co_name == "on_ack"


def test_a_flow_of_a_group_is_named_with_its_number() -> None:
    with pytest.raises(EngineError, match=r'flow "flow\[[01]\]" at 2\.0'):
        ackclock.run(one_flow("mine").replace("[[flow]]", "[[flow]]\ncount = 2"), controllers={"mine": Raises})


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (float("nan"), "cwnd: out of range; given nan; allowed 1 to 1000000000 packets"),
        (-3, "cwnd: out of range; given -3;"),
        (float("inf"), "cwnd: out of range; given inf;"),
        ("20", "cwnd: not a number; given '20';"),
        (None, "cwnd: not a number; given None;"),
        (True, "cwnd: not a number; given True;"),
    ],
)
def test_a_window_that_is_no_number_of_packets_is_refused(value: Any, said: str) -> None:
    class Wrong(Fixed):
        def on_ack(self, ack: AckSample) -> None:
            self.cwnd = value

    with pytest.raises(EngineError) as caught:
        ackclock.run(one_flow("mine"), controllers={"mine": Wrong})
    assert f"Wrong.on_ack: {said}" in str(caught.value)


def test_a_missing_ssthresh_and_a_window_changed_in_the_wrong_method_are_refused() -> None:
    class Forgets(Fixed):
        def on_congestion(self, signal: Signal) -> float:
            return None  # type: ignore[return-value]

        def on_ack(self, ack: AckSample) -> None:
            self.slow_start(ack)

    class Changes(Forgets):
        def on_congestion(self, signal: Signal) -> float:
            self.cwnd = 3.0
            return 3.0

    with pytest.raises(EngineError, match=r"Forgets\.on_congestion: ssthresh: not a number; given None"):
        ackclock.run(one_flow("mine"), controllers={"mine": Forgets})
    with pytest.raises(EngineError, match=r"Changes\.on_congestion: cwnd: may not be changed; given 3; allowed \d+"):
        ackclock.run(one_flow("mine"), controllers={"mine": Changes})


def test_an_exception_of_the_constructor_ends_the_run() -> None:
    class Broken(Fixed):
        def __init__(self, connection: Connection) -> None:
            raise KeyError(connection.flow)

    with pytest.raises(EngineError, match=r"Broken\.__init__: KeyError: 'flow'"):
        ackclock.run(one_flow("mine"), controllers={"mine": Broken})


@pytest.mark.parametrize(
    ("controllers", "said"),
    [
        (3, "is of a wrong type; given 3"),
        ({"mine": 3}, "is not a congestion control; given 3"),
        ({"mine": Fixed(Connection())}, "give the class, not an object of it"),
        ({"mine": CongestionControl}, "lacks on_ack, on_congestion"),
        ({"cubic": Fixed}, "has the name of a control of the engine; given 'cubic'"),
        ({"My Control": Fixed}, "has a name that scenarios cannot give"),
    ],
)
def test_what_is_not_a_class_of_a_control_is_refused(controllers: Any, said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        ackclock.run(one_flow("mine"), controllers=controllers)
    assert said in str(caught.value)
    assert "controllers" in str(caught.value)


class Generating(Fixed):
    def on_ack(self, ack: AckSample) -> Any:
        self.cwnd += 1
        yield


class Awaited(Fixed):
    async def on_recovery_end(self) -> None:  # type: ignore[override]
        self.cwnd = 4


class AwaitedTwice(Awaited):
    """A class that inherits the method."""


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (Generating, "has a generator function, of which a call runs nothing; given Generating.on_ack; "),
        (Awaited, "has an async function, of which a call runs nothing; given Awaited.on_recovery_end; "),
        (AwaitedTwice, "has an async function, of which a call runs nothing; given AwaitedTwice.on_recovery_end; "),
    ],
)
def test_a_method_whose_code_would_never_run_is_refused_at_the_start(control: Any, said: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        ackclock.run(one_flow("mine"), controllers={"mine": control})
    assert f'controllers["mine"]: {said}allowed methods without yield and async' in str(caught.value)


class NoMethod(Fixed):
    on_ack = 5  # type: ignore[assignment]


def test_a_method_that_is_none_is_refused_at_the_start() -> None:
    with pytest.raises(ArgumentError, match=r"has something else where a method belongs; given NoMethod\.on_ack = 5; "):
        ackclock.run(one_flow("mine"), controllers={"mine": NoMethod})


class FailsLate(Fixed):
    def on_ack(self, ack: AckSample) -> None:
        if ack.now > 1.0:
            raise RuntimeError("boom")


def test_an_error_in_a_sweep_names_the_point() -> None:
    with pytest.raises(EngineError) as caught:
        ackclock.sweep(one_flow("mine"), {"link.wire.rate": ["8 Mbit/s"]}, controllers={"mine": FailsLate})
    assert re.match(r'at link\.wire\.rate = "8 Mbit/s": flow "flow" at .* RuntimeError: boom', str(caught.value))
    assert isinstance(caught.value.__cause__, RuntimeError)


class ReturnsWindow(Fixed):
    def on_ack(self, ack: AckSample) -> Any:
        return self.cwnd + 1


class ReturnsAtTheEnd(Fixed):
    def on_ack(self, ack: AckSample) -> None:
        self.cwnd += 1.0

    def on_recovery_end(self) -> Any:
        return 3.5


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (ReturnsWindow, "ReturnsWindow.on_ack: returns a value; given 11.0; allowed None: set self.cwnd"),
        (ReturnsAtTheEnd, "ReturnsAtTheEnd.on_recovery_end: returns a value; given 3.5; allowed None"),
    ],
)
def test_a_method_that_returns_a_window_by_mistake_is_refused(control: Any, said: str) -> None:
    with pytest.raises(EngineError) as caught:
        ackclock.run(one_flow("mine"), controllers={"mine": control})
    assert said in str(caught.value)


def test_a_control_that_nobody_gives_is_an_unknown_one() -> None:
    with pytest.raises(ScenarioError, match='unknown congestion control; given "mine"'):
        ackclock.run(one_flow("mine"))
    with pytest.raises(ScenarioError, match=r'unknown congestion control; given "mime".*did you mean "mine"'):
        ackclock.run(one_flow("mime"), controllers={"mine": Fixed})


def test_a_resolved_scenario_runs_with_the_class_that_it_was_resolved_with() -> None:
    resolved = ackclock.resolve(one_flow("mine"), controllers={"mine": Fixed}, duration="1 s")
    assert resolved.programs["mine"].name == f"{__name__}.Fixed"
    assert ackclock.scenario.Resolved.from_json(resolved.to_json()) == resolved
    assert ackclock.run(resolved, controllers={"mine": Fixed}).flows.goodput_bps["flow"] > 0
    with pytest.raises(ArgumentError, match="is not the class that the scenario was resolved with; given nothing"):
        ackclock.run(resolved)
    with pytest.raises(ArgumentError, match=r"is not the class that the scenario was resolved with; given .*Raises"):
        ackclock.run(resolved, controllers={"mine": Raises})


def test_a_result_with_a_class_is_read_again(tmp_path: Path) -> None:
    result = ackclock.run(one_flow("mine"), controllers={"mine": Fixed}, duration="1 s")
    result.save(tmp_path / "run")
    assert ackclock.Result.load(tmp_path / "run").resolved == result.resolved


def test_no_model_applies_to_a_class() -> None:
    prediction = ackclock.predict(one_flow("mine"), controllers={"mine": Fixed})
    reno = ackclock.predict(one_flow("reno"))
    assert len(reno.table) > len(prediction.table)
    assert not any("congestion avoidance" in str(row) or "tcp" in str(row).lower() for row in prediction.table.index)


def test_a_sweep_runs_a_class_and_keeps_its_points_by_its_source(tmp_path: Path) -> None:
    class Local(Fixed):
        pass

    vary = {"link.wire.buffer": ["10 pkt", "20 pkt"]}
    how: Any = {"duration": "1 s", "jobs": 2}
    data = ackclock.sweep(one_flow("mine"), vary, controllers={"mine": Fixed}, out=tmp_path / "kept", **how)
    again = ackclock.sweep(one_flow("mine"), vary, controllers={"mine": Local}, jobs=1, duration="1 s")
    assert data.flow_goodput_bps.equals(again.flow_goodput_bps)
    with pytest.raises(SweepError, match="has a source that is not known"):
        ackclock.sweep(one_flow("mine"), vary, controllers={"mine": Local}, out=tmp_path / "other", **how)
    with pytest.raises(SweepError, match="cluster: runs no congestion controls that are classes"):
        ackclock.sweep(one_flow("mine"), vary, controllers={"mine": Fixed}, cluster="tcp://127.0.0.1:1", **how)


@pytest.mark.parametrize("lost", [[50], [198], [199], [100, 101, 102], [196, 197, 198, 199]])
def test_lost_counts_each_packet_once_whoever_finds_it(lost: list[int]) -> None:
    """ACKs find the first, RACK's timer and the tail loss probe those at the end of the transfer."""
    found: list[int] = []

    class Counts(Fixed):
        def on_ack(self, ack: AckSample) -> None:
            found.append(ack.lost)
            super().on_ack(ack)

    law = f'loss = {{ model = "packets", packets = {lost} }}'
    scenario = one_flow("mine").replace('buffer = "40 pkt"', law) + '\nsize = "200 pkt"'
    traced = {"trace.sequence": True}
    kinds = (
        ackclock.run(scenario, controllers={"mine": Counts}, overrides=traced, picture=False).traces["sequence"].kind
    )
    assert sum(found) == (kinds == "retransmitted").sum() >= len(lost)


class Logs(CongestionControl):
    """A control that keeps what changes in a global of its module."""

    def on_ack(self, ack: AckSample) -> None:
        LOGGED.append(ack.now)
        self.cwnd += self.slow_start(ack) / self.cwnd

    def on_congestion(self, signal: Signal) -> float:
        return max(self.cwnd / 2, 2.0)


LOGGED: list[float] = []


def test_a_class_that_changes_while_it_runs_is_told_so() -> None:
    resolved = ackclock.resolve(one_flow("mine"), controllers={"mine": Logs}, duration="1 s")
    ackclock.run(resolved, controllers={"mine": Logs}, picture=False)
    with pytest.raises(ArgumentError, match=r"has changed since .* or a global that its code names.*keep what changes"):
        ackclock.run(resolved, controllers={"mine": Logs}, picture=False)


@pytest.mark.parametrize("name", ["cwnd", "ssthresh"])
def test_a_window_that_is_set_in_init_is_refused_as_the_sender_would_set_it_again(name: str) -> None:
    class Early(Fixed):
        def __init__(self, connection: Connection) -> None:
            super().__init__(connection)
            setattr(self, name, 40.0)

    with pytest.raises(EngineError, match=rf"Early.__init__: sets self.{name}, .* given {name} = 40.0; set") as caught:
        ackclock.run(one_flow("mine"), controllers={"mine": Early}, duration="1 s")
    assert isinstance(caught.value.__cause__, ArgumentError)


@pytest.mark.parametrize(("sack", "least", "most"), [(True, 2000, 2002), (False, 2020, 3000)])
def test_acked_counts_what_linux_counts_as_delivered(sack: bool, least: int, most: int) -> None:
    """A spurious timeout has a packet counted again by its D-SACK; without SACK all duplicate ACKs count."""
    found: list[int] = []

    class Counts(Fixed):
        def on_ack(self, ack: AckSample) -> None:
            found.append(ack.acked)
            self.cwnd = 100.0

    jump = 'delay_process = { kind = "steps", steps = [["0 s", "0 s"], ["0.5 s", "1 s"]] }'
    scenario = one_flow("mine").replace('delay = "20 ms"', f'delay = "20 ms"\n{jump}')
    scenario = scenario.replace("path =", 'size = "2000 pkt"\npath =')
    document = ackclock.scenario.load(scenario, controllers={"mine": Counts}).source.document
    document["flow"][0]["tcp"]["sack"] = sack
    run = ackclock.run(document, controllers={"mine": Counts}, duration="60 s", picture=False)
    assert run.flows["spurious_timeouts"].sum() > 0
    assert least < sum(found) <= most


def test_the_digest_follows_source_attributes_and_bases() -> None:
    def digest(control: type[CongestionControl]) -> str | None:
        return ackclock.resolve(one_flow("mine"), controllers={"mine": control}).programs["mine"].digest

    def made(base: type[CongestionControl], **attributes: Any) -> type[CongestionControl]:
        return type("Made", (base,), {"__module__": __name__, **attributes})

    assert digest(Fixed) is not None
    digests = {digest(Fixed), digest(Raises), digest(made(Fixed)), digest(made(Fixed, gain=2)), digest(made(Raises))}
    assert len(digests) == 5
    assert None not in digests
    assert digest(made(Fixed, helper=object())) is None
    assert digest(made(Fixed, on_timeout=lambda *_: digests)) is None


HELD = """
import ackclock
GAIN = {gain}
SHAPE = [1.0, {shape}]
BOX = object()

class Law:
    def step(self):
        return SHAPE[1]

def growth(left, scale={default}):
    return scale * left * Law().step()

class Mine(ackclock.CongestionControl):
    def on_ack(self, ack):
        self.cwnd += GAIN * growth(self.slow_start(ack)) / self.cwnd

    def on_congestion(self, signal):
        return max(self.cwnd / 2.0, 2.0)

class Boxed(Mine):
    def undo(self, prior):
        return prior if BOX else self.cwnd
"""


def test_the_digest_follows_the_globals_and_defaults_that_the_code_names(tmp_path: Path) -> None:
    """The source is the same each time, as where a constant is read from the command line."""
    file = tmp_path / "held.py"
    file.write_text("the same", encoding="utf-8")

    def digest(name: str, **values: float) -> str | None:
        module = types.ModuleType("held")
        module.__file__ = str(file)
        code = compile(HELD.format(**{"gain": 1.0, "shape": 2.0, "default": 3.0, **values}), str(file), "exec")
        sys.modules["held"] = module
        try:
            exec(code, vars(module))
            return ackclock.resolve(one_flow("m"), controllers={"m": vars(module)[name]}).programs["m"].digest
        finally:
            del sys.modules["held"]

    assert digest("Mine") is not None
    assert digest("Mine") == digest("Mine")
    assert len({digest("Mine"), digest("Mine", gain=2.0), digest("Mine", shape=3.0), digest("Mine", default=4.0)}) == 4
    assert digest("Boxed") is None


def test_the_cost_of_a_class_is_expected_and_its_replications_one_at_a_time() -> None:
    def resolved(control: str) -> ackclock.scenario.Resolved:
        spread = one_flow(control).replace("path =", 'start_spread = "0.1 s"\npath =')
        return ackclock.resolve(spread, controllers={"mine": Fixed}, replications=4, duration="1000 s")

    mine, engine = resolved("mine"), resolved("reno")
    assert 10.0 < expected_cost(mine) / expected_cost(engine) < 40.0
    assert estimate(mine, threads=4, trace_bytes=0.0).threads == 1
    assert estimate(engine, threads=4, trace_bytes=0.0).threads == 4


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """Write a program whose control never returns, and tells when it is called."""
    path = tmp_path / "program.py"
    text = f"""
        import ackclock

        class Stuck(ackclock.CongestionControl):
            def on_ack(self, ack):
                print("called", flush=True)
                while BUSY:
                    pass

            def on_congestion(self, signal):
                return 2.0

        try:
            ackclock.run({one_flow("mine")!r}, duration="1e5 s", controllers={{"mine": Stuck}})
        except KeyboardInterrupt:
            print("interrupted")
    """
    path.write_text(textwrap.dedent(text), encoding="utf-8")
    return path


@pytest.mark.parametrize(("busy", "flows"), [("True", 1), ("True", 3), ("False", 1)])
def test_ctrl_c_ends_a_run_whose_class_does_not_return_as_any_other(program: Path, busy: str, flows: int) -> None:
    text = program.read_text(encoding="utf-8").replace("BUSY", busy).replace("path =", f"count = {flows}\\npath =")
    program.write_text(text, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(program)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "called\n", process.communicate(timeout=60)
    process.send_signal(signal.SIGINT)
    watchdog = threading.Timer(60, process.kill)
    watchdog.start()
    # What `readline` has read ahead would be lost to `communicate`.
    output, (_, errors) = process.stdout.read(), process.communicate()
    watchdog.cancel()
    # A call that was under way may end, and tell so, after the interrupt.
    assert [line for line in output.splitlines() if line != "called"] == ["interrupted"], errors
    assert process.returncode == 0, errors


def test_a_class_that_runs_a_scenario_with_classes_is_an_error_and_one_without_runs() -> None:
    """With classes the inner run would wait for the lock of the outer one, for ever."""

    class Nested(Fixed):
        scenario = one_flow("inner")
        given: ClassVar[Any] = {"inner": Fixed}

        def on_ack(self, ack: AckSample) -> None:
            super().on_ack(ack)
            ackclock.run(self.scenario, controllers=self.given, duration="10 ms")

    with pytest.raises(EngineError, match="a congestion control cannot run a scenario with controllers"):
        ackclock.run(one_flow("mine"), controllers={"mine": Nested})
    # The lock is free again, and so is a run without classes.
    Nested.scenario, Nested.given = one_flow("reno"), None
    assert ackclock.run(one_flow("mine"), controllers={"mine": Nested}, duration="200 ms").flows.goodput_bps["flow"] > 0


def test_users_code_passes_mypy(tmp_path: Path) -> None:
    good = textwrap.dedent("""
        import ackclock
        from ackclock.controls import AckSample, CongestionControl, Connection, Signal

        class Mine(CongestionControl):
            def __init__(self, connection: Connection) -> None:
                super().__init__(connection)
                self.seen = connection.number

            def on_ack(self, ack: AckSample) -> None:
                left = self.slow_start(ack)
                self.cwnd += left / self.cwnd * (ack.rtt or 1.0)

            def on_congestion(self, signal: Signal) -> float:
                return self.cwnd / (2 if signal.kind == "loss" else 1)

        ackclock.run("x", controllers={"mine": Mine})
    """)
    bad = good.replace("ack.rtt or 1.0", "ack.rtt").replace('"loss"', '"lost"')

    (tmp_path / "good.py").write_text(good, encoding="utf-8")
    (tmp_path / "bad.py").write_text(bad, encoding="utf-8")
    # Strict as the package is checked, whose types mypy has kept since then.
    command = [sys.executable, "-m", "mypy", str(tmp_path / "good.py"), str(tmp_path / "bad.py")]
    root = Path(__file__).parents[1]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root, check=False)
    errors = [line for line in done.stdout.splitlines() if ": error: " in line]
    assert len(errors) >= 2
    assert all("bad.py:" in line for line in errors)


def test_the_four_in_one_of_the_documentation_take_what_their_losses_leave_them() -> None:
    block = next(text for language, text in BLOCKS if language == "toml")
    goodput = ackclock.run(block).flows.goodput_bps
    # Losses at each overflow of both: mean windows of 30 T and 1.5 T packets for T round trips between two.
    assert 6.0 < goodput["four-in-one"] / goodput["one"] < 20.0
    loss = {"model": "bernoulli", "probability": 0.0005}
    # ACKs held beyond a hole let bursts out, for which 30 packets at 1 Gbit/s are too few.
    wide = {"link.satellite.rate": "1 Gbit/s", "link.satellite.buffer": "1000 pkt", "link.satellite.loss": loss}
    random = ackclock.run(block, overrides=wide)
    ratio = random.flows.goodput_bps["four-in-one"] / random.flows.goodput_bps["one"]
    # sqrt(a (2 - b) / (2 b)) of both; the neighbour has some 80 losses.
    assert ratio == pytest.approx(20**0.5, rel=0.25)


def test_a_class_has_no_numbers_and_takes_both_dialects() -> None:
    text = one_flow("mine").replace(" }", ', parameters = { beta = 0.8 }, dialect = "rfc" }')
    with pytest.raises(ScenarioError, match=r'parameters.beta.* is not a number of .*"mine".*allowed none'):
        ackclock.resolve(text, controllers={"mine": Fixed})
    resolved = ackclock.resolve(text.replace("beta = 0.8", ""), controllers={"mine": Fixed}, duration="1 s")
    control = resolved.to_dict()["flows"][0]["traffic"]["connection"]["sender"]["congestion_control"]
    assert (control["dialect"], control["slow_start"], control["parameters"]) == ("rfc", "standard", {})
    assert ackclock.run(resolved, controllers={"mine": Fixed}).flows.goodput_bps["flow"] > 0


def test_a_restart_may_change_the_window() -> None:
    seen: list[float] = []

    class One(Fixed):
        def on_ack(self, ack: AckSample) -> None:
            seen.append(self.cwnd)
            self.cwnd = 1.0

        def on_restart(self, now: float, idle_since: float) -> None:
            assert now > idle_since
            self.cwnd = 4.0

    ackclock.run(one_flow("mine"), controllers={"mine": One}, duration="1 s")
    assert {1.0, 4.0} <= set(seen)


def test_what_a_class_s_result_cannot_tell_is_said_with_what_works() -> None:
    lost = one_flow("fixed").replace('"20 Mbit/s"', '"2 Mbit/s"').replace('"40 pkt"', '"10 pkt"')
    overrides = {"trace.sequence": True, "trace.drops": True, "trace.losses": True}
    bare = ackclock.run(lost, controllers={"fixed": Fixed}, picture=False)
    hint = r"losses: .* is a class that is not here; .*overrides=\{'trace\.losses': True\}"
    with pytest.raises(ResultError, match=hint):
        bare.losses()
    recorded = ackclock.run(lost, overrides=overrides, controllers={"fixed": Fixed}, picture=False)
    losses = recorded.losses()
    assert losses.table["packet"].tolist() == recorded.traces["losses"]["sequence"].tolist() != []
    for result in (bare, recorded):
        with pytest.raises(ResultError, match=r"story: .* is a class that is not here; result\.traces has ") as caught:
            result.story(packet=1)
        named = re.search(r"overrides=(\{.*\})", str(caught.value))
        assert named is not None
        assert ast.literal_eval(named[1]) == overrides
    assert {name.partition(".")[2] for name in overrides} <= set(recorded.traces)


FAILS = """
import ackclock
class Broken(ackclock.CongestionControl):
    def on_ack(self, ack): raise ValueError("x")
    def on_congestion(self, signal): return 2
try:
    ackclock.run({scenario!r}, controllers={{"broken": Broken}})
except ackclock.EngineError as error:
    kept = error  # its traceback has the run, until the interpreter ends
print("fine")
"""


def test_an_error_that_is_kept_until_the_interpreter_ends_does_not_abort_it() -> None:
    """Half of such processes aborted, as a thread was still about to leave Python."""
    code = FAILS.format(scenario=one_flow("broken"))
    ended = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False) for _ in range(6)
    ]
    assert [(one.returncode, one.stdout, one.stderr) for one in ended] == [(0, "fine\n", "")] * 6
