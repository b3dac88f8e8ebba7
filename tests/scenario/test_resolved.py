"""What the resolved scenario answers about itself: kinds, names, randomness, and what senders and queues do."""

from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any, get_args

import pytest

import ackclock
from ackclock import scenario as scenarios
from ackclock.prediction import Inapplicable, ModelPrediction, predict_from_measured, predict_resolved
from ackclock.prediction.scene import NOT_AIMD, drop_factor
from ackclock.scenario import Resolved, ScenarioError, resolved_tcp
from ackclock.scenario.machines import ClassicRecoveryName
from ackclock.scenario.resolved_elements import ChannelDirection
from ackclock.scenario.resolved_tcp import ADDITIVE_INCREASES, RECOVERIES, ClassicSettings
from ackclock.scenario.schema_tcp import IncreaseName
from fakes import LEVELS, RED, make_flow, make_link, make_resolved

SCENARIOS = Path(__file__).parents[2] / "scenarios"
WEB = {
    "kind": "web",
    "size": {"law": "fixed", "packets": 5},
    "off": {"law": "fixed", "mean_s": 1.0},
    "classes": [],
}


def private_link(name: str) -> dict[str, Any]:
    return {
        "kind": "private-link",
        "name": name,
        "rate_bps": 1e6,
        "delay_s": 0.0,
        "buffer": None,
        "counting": "waiting",
    }


def resolved(*flows: dict[str, Any], links: list[dict[str, Any]] | None = None) -> Resolved:
    return make_resolved(list(flows) or [make_flow("flow")], links)


def test_ackclock_resolve_gives_the_record_with_a_short_repr() -> None:
    found = ackclock.resolve(SCENARIOS / "geo-two-nodes.toml", overrides={"flow.flow.count": 1500})
    assert repr(found) == (
        "<Resolved 'GEO satellite path, two nodes, the first a little faster': 1,500 flows, 6 elements, 500 s>"
    )
    assert Resolved.from_json(found.to_json()) == found == Resolved.from_dict(found.to_dict())
    assert ackclock.resolve(found) is found


def test_what_is_no_json_is_said() -> None:
    with pytest.raises(ScenarioError, match="resolved scenario"):
        Resolved.from_json("{")


def test_kinds_of_flows() -> None:
    bulk, web, datagrams, transfer = resolved(
        make_flow("bulk"),
        make_flow("web", traffic=WEB),
        make_flow("cbr", traffic={"kind": "constant", "rate_bps": 1e5}),
        make_flow("transfer", size_packets=9),
    ).flows
    assert [flow.kind for flow in (bulk, web, datagrams, transfer)] == ["tcp", "web", "datagrams", "tcp"]
    assert [flow.is_endless for flow in (bulk, web, datagrams, transfer)] == [True, False, False, False]
    assert [flow.size_packets for flow in (bulk, web, datagrams, transfer)] == [None, None, None, 9]


def test_a_flow_without_tcp_has_no_connection() -> None:
    bulk, datagrams = resolved(make_flow("bulk"), make_flow("cbr", traffic={"kind": "constant", "rate_bps": 1e5})).flows
    assert (bulk.connection, bulk.return_path, bulk.crossed) == (bulk.tcp, (1,), (0, 1))
    assert (datagrams.connection, datagrams.return_path, datagrams.crossed) == (None, (), (0,))
    with pytest.raises(TypeError, match="flow cbr: packets without TCP have no connection"):
        _ = datagrams.tcp


def test_kinds_of_elements() -> None:
    process = {"kind": "host", "name": "host", "data_s": 0.1, "ack_s": 0.2}
    link, private, host = resolved(links=[make_link("a"), private_link("b"), process]).elements
    assert [element.kind for element in (link, private, host)] == ["link", "private-link", "host"]
    assert [host.processing_s(ack=ack) for ack in (False, True)] == [0.1, 0.2]
    assert link.processing_s(ack=True) == 0.0


def test_the_end_of_a_channel_is_known_by_its_direction() -> None:
    found = ackclock.resolve(SCENARIOS / "two-way-abr.toml")
    assert found.atm is not None
    channel = found.atm.channels[0]
    ends = {
        element.end: found.channel_end(index)
        for index, element in enumerate(found.elements)
        if isinstance(element, ChannelDirection)
    }
    assert ends == {0: channel.near, 1: channel.far}
    assert resolved().channel_end(0) is None


def test_rows_are_single_flows_but_a_large_group_is_one() -> None:
    found = resolved(make_flow("few", count=2), make_flow("many", count=1001))
    assert [(row.name, row.count) for row in found.rows] == [("few[0]", 1), ("few[1]", 1), ("many", 1001)]
    assert (len(found.flow_names), found.flow_names[-1]) == (1003, "many[1000]")


def test_a_private_link_has_a_copy_a_flow() -> None:
    links = [private_link("own"), make_link("back"), private_link("unused")]
    found = resolved(make_flow("a", count=3), make_flow("b"), links=links)
    assert found.element_copies == (4, 1, 1)


@pytest.mark.parametrize(
    ("fields", "name", "early", "fifo", "random", "factor"),
    [
        ({}, "drop-tail", False, True, False, 1.0),
        ({"overflow": "front"}, "drop-from-front", False, True, False, 0.0),
        ({"overflow": "random"}, "random-drop", False, True, True, 0.5),
        (RED, "red", True, True, True, None),
        (LEVELS, "priority", False, False, False, None),
    ],
)
def test_queues_say_what_they_do(  # noqa: PLR0917
    fields: dict[str, Any], name: str, early: bool, fifo: bool, random: bool, factor: float | None
) -> None:
    queue = resolved(links=[make_link("a", queue=fields), make_link("b")]).elements[0].queue
    assert (str(queue), queue.drops_early, queue.is_fifo, queue.is_random) == (name, early, fifo, random)
    assert drop_factor(queue) == factor


def test_every_recovery_and_increase_is_in_the_tables() -> None:
    assert set(RECOVERIES) == set(get_args(ClassicRecoveryName))
    assert set(ADDITIVE_INCREASES) <= set(get_args(IncreaseName))


@pytest.mark.parametrize(
    ("recovery", "fast", "slow_starts", "halving"),
    [
        ("old-tahoe", False, False, None),
        ("tahoe", True, True, None),
        ("reno", True, False, "per-loss"),
        ("newreno", True, False, "per-round"),
    ],
)
def test_senders_say_what_a_loss_does(recovery: str, fast: bool, slow_starts: bool, halving: str | None) -> None:
    sender = resolved(make_flow("flow", sender={"recovery": recovery})).flows[0].tcp.sender
    assert (sender.has_fast_retransmit, sender.slow_starts_after_fast_retransmit) == (fast, slow_starts)
    assert (sender.halving, sender.halves_at_loss) == (halving, halving is not None)
    assert isinstance(sender, ClassicSettings)
    assert not replace(sender, dupack_threshold=None).has_fast_retransmit
    assert (sender.is_aimd, sender.window_packets) == (True, inf)


def test_models_of_aimd_say_nothing_of_another_increase(monkeypatch: pytest.MonkeyPatch) -> None:
    loss = {"applies_to": "all", "law": {"model": "bernoulli", "probability": 0.01}}
    lossy = resolved(links=[make_link("a", loss=loss), make_link("b")])
    several = resolved(make_flow("flow", count=9))
    web = ackclock.resolve(SCENARIOS / "web-access-link.toml")
    means = {"throughput_bps": 1e6, "loss_fraction": 0.1, "rtt_mean_s": 0.6, "timeouts": 1.0, "fast_retransmits": 19.0}
    rows = [{key: {"mean": mean} for key, mean in means.items()}]
    asked = {"random-loss": lossy, "many-flows": several, "engset": web}
    for model, scenario in asked.items():
        assert model in {one.model for one in predict_resolved(scenario).applicable}
    assert isinstance(predict_from_measured(lossy, rows)[0], ModelPrediction)
    monkeypatch.setattr(resolved_tcp, "ADDITIVE_INCREASES", frozenset())
    for model, scenario in asked.items():
        reasons = {one.model: one.reasons for one in predict_resolved(scenario).inapplicable}
        assert NOT_AIMD in reasons[model]
    assert isinstance(predict_from_measured(lossy, rows)[0], Inapplicable)


def test_scenarios_export_the_records() -> None:
    assert scenarios.Resolved is Resolved
    assert isinstance(resolved().flows[0], scenarios.ResolvedFlow)
    assert isinstance(resolved().elements[0], scenarios.Element)
