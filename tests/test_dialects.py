"""The rules in which Linux and the RFCs differ, as rows of data."""

from pathlib import Path
from typing import Any

import pytest

import ackclock
from ackclock.scenario import load
from ackclock.scenario.dialects import RULES
from ackclock.scenario.reference import updated
from ackclock.scenario.resolving import resolve
from ackclock.scenario.schema_tcp import Tcp
from ackclock.scenario.tcp import completed, preset

DOCUMENT = Path(__file__).parents[1] / "docs" / "tcp.md"
FIELDS = [rule for rule in RULES if rule.field and rule.field != "slow_start"]


def document(tcp: Any, **flow: Any) -> dict[str, Any]:
    """Write a scenario of 10 Mbit/s with 50 ms each way."""
    link = {"name": "link", "rate": "10 Mbit/s", "delay": "50 ms", **flow.pop("link", {})}
    return {"link": [link], "flow": [{"path": ["link"], "tcp": tcp, **flow}], "run": {"duration": "60 s"}}


def sender(tcp: Any, **flow: Any) -> Any:
    return resolve(load(document(tcp, **flow))).flows[0].tcp.sender


def value(tcp: Tcp, field: str) -> object:
    table, _, name = field.rpartition(".")
    return getattr(tcp.rto if table else tcp, name)


def test_the_documentation_has_the_rows() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert updated(text) == text
    assert all(rule.clause in text and rule.kernel in text for rule in RULES)


@pytest.mark.parametrize("rule", FIELDS, ids=lambda rule: rule.field)
def test_a_dialect_sets_each_rule_and_a_field_its_own(rule: Any) -> None:
    table, _, name = rule.field.rpartition(".")

    def written(text: str) -> dict[str, Any]:
        return {table: {name: text}} if table else {name: text}

    values = [value(Tcp.model_validate(written(text)), rule.field) for text in (rule.linux, rule.rfc)]
    assert values[0] != values[1]
    linux, rfc = preset("linux-cubic"), preset("rfc-cubic")
    assert [value(linux, rule.field), value(rfc, rule.field)] == values
    turned = completed(Tcp.model_validate({"preset": "linux-cubic", "dialect": "rfc"}))
    back = completed(Tcp.model_validate({"preset": "rfc-cubic", "dialect": "linux"}))
    assert [value(back, rule.field), value(turned, rule.field)] == values
    own = {"preset": "linux-cubic", "dialect": "rfc", **written(rule.linux)}
    assert value(completed(Tcp.model_validate(own)), rule.field) == values[0]
    alone = completed(Tcp.model_validate({"preset": "linux-cubic", **written(rule.rfc)}))
    others = [other for other in FIELDS if other is not rule]
    assert [value(alone, other.field) for other in others] == [value(linux, other.field) for other in others]


def test_the_dialect_of_the_other_sender_is_as_it_was() -> None:
    own = Tcp.model_validate({"preset": "newreno-ns2", "dialect": "rfc"})
    assert completed(own).rto == preset("newreno-ns2").rto


@pytest.mark.parametrize(("packet", "packets"), [("1500 B", 10), ("576 B", 10), ("4000 B", 3), ("9000 B", 2)])
def test_the_initial_window_of_rfc_6928_has_14600_bytes(packet: str, packets: int) -> None:
    """Ten segments, or as many whole ones as 14600 B hold, but two."""
    assert sender("rfc-cubic", packet=packet).initial_window == packets
    assert sender("linux-cubic", packet=packet).initial_window == 10


def test_a_run_says_which_rule_is_another() -> None:
    result = ackclock.run({**document({"preset": "linux-cubic", "undo": "none"}, size="10 pkt")})
    assert list(result.summary["tcp"].values()) == ['linux-cubic with another undo ("none")']


def test_the_timeout_of_the_rfc_is_a_second_at_least() -> None:
    """The only packet is lost, with a handshake before it: Linux's timer takes 300 ms, in steps of up to 8 ms."""

    def later(**tcp: Any) -> float:
        times = []
        for lost in ([], [2]):
            link = {"loss": {"model": "packets", "packets": lost, "applies_to": "data"}} if lost else {}
            own = {"preset": "linux-cubic", "handshake": "tcp", "tail_loss_probe": False, **tcp}
            result = ackclock.run(document(own, size="1 pkt", link=link))
            times.append(float(result.flows.fct_mean_s.iloc[0]))
        return times[1] - times[0]

    # Without the loss the data waits 32 us for the ACK of the handshake.
    assert later(dialect="rfc") == pytest.approx(1.0 - 32e-6, abs=1e-6)
    assert later() == pytest.approx(0.304, abs=0.006)
    # R + 4 R/2, with R the round trip of the handshake.
    assert later(dialect="rfc", rto={"min": "0 s"}) == pytest.approx(3 * 0.1, abs=0.001)


def test_a_window_grows_by_rfc_7661_while_half_of_it_is_used() -> None:
    """Six of ten packets are in flight in each round trip: Linux's window stays, the other grows to twice six."""
    writes = {"burst": "6 pkt", "every": "200 ms"}
    common = {"preset": "linux-reno", "initial_ssthresh": "2 pkt", "idle_restart": False}
    for rule, low, high in (("linux", 10.0, 10.0), ("rfc7661", 12.0, 12.0)):
        result = ackclock.run(document({**common, "cwnd_validation": rule}, writes=writes))
        assert low <= float(result.flows.cwnd_max_packets.iloc[0]) <= high, rule
