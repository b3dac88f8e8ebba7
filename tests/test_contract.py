"""What Python knows of the engine is what the engine says of itself."""

import json
from pathlib import Path
from typing import get_args, get_type_hints

import pytest

import ackclock.scenario.contract as kept
from ackclock import _engine
from ackclock.scenario import (
    ScenarioError,
    controls,
    load,
    losses,
    machines,
    resolved_elements,
    resolved_queues,
    resolved_rates,
    resolved_traffic,
    schema_atm,
    schema_links,
    schema_queues,
    schema_rates,
    schema_tcp,
    schema_traffic,
)
from ackclock.scenario.resolved_tcp import ClassicSettings, SelectiveSettings

CONTRACT = Path(kept.__file__).with_name("contract.json")


def test_the_kept_contract_is_the_engines() -> None:
    assert json.loads(CONTRACT.read_text(encoding="utf-8")) == json.loads(_engine.contract()), "run: make golden"


NAMES = {
    "flows[].traffic.connection.sender.dialect": machines.ClassicDialectName,
    "flows[].traffic.connection.sender.recovery": machines.ClassicRecoveryName,
    "flows[].traffic.connection.sender.slow_start_while": schema_tcp.SlowStartName,
    "flows[].traffic.connection.sender.increase": schema_tcp.IncreaseName,
    "flows[].traffic.connection.sender.half_window": schema_tcp.HalfWindowName,
    "flows[].traffic.connection.sender.partial_ack_timer": schema_tcp.PartialAckTimerName,
    "flows[].traffic.connection.sender.ecn": schema_tcp.EcnName,
    "flows[].traffic.connection.sender.loss_detection": schema_tcp.LossDetectionName,
    "flows[].traffic.connection.sender.close": schema_tcp.CloseName,
    "flows[].traffic.connection.sender.rto.rules": schema_tcp.TimeoutRulesName,
    "flows[].traffic.connection.sender.undo": schema_tcp.UndoName,
    "flows[].traffic.connection.sender.cwnd_validation": schema_tcp.WindowValidationName,
    "flows[].traffic.connection.sender.pacing": schema_tcp.PacingName,
    "flows[].traffic.connection.sender.congestion_control.dialect": controls.ControlDialectName,
    "flows[].traffic.connection.sender.congestion_control.slow_start": controls.SlowStartExitName,
    "flows[].traffic.connection.sender.rto.estimator": schema_tcp.EstimatorName,
    "flows[].traffic.connection.sender.rto.sample": schema_tcp.SampleName,
    "elements[].counting": schema_links.CountingName,
    "elements[].token_bucket.kind": schema_links.BucketKindName,
    "elements[].queue.aqm.ecn": schema_queues.RedEcnName,
    "elements[].queue.aqm.rules": schema_queues.AqmRulesName,
    "elements[].queue.overflow": resolved_queues.OverflowName,
    "elements[].loss.applies_to": losses.CrossingName,
    "elements[].loss.law.model": losses.LossModelName,
    "elements[].delay_process.order": schema_links.OrderName,
    "flows[].traffic.size.law": schema_traffic.SizeLawName,
    "flows[].traffic.on.law": schema_traffic.TimeLawName,
    "flows[].traffic.off.law": schema_traffic.TimeLawName,
    "atm.ports[].allocation.algorithm": schema_atm.AllocationName,
}


@pytest.mark.parametrize("field", NAMES)
def test_users_choose_among_the_engines_names(field: str) -> None:
    assert set(get_args(NAMES[field])) == set(kept.AXES[field])


def test_users_choose_among_the_engines_kinds_of_rate() -> None:
    # For the engine a trace and outages are steps, a Markov chain alternates, and Mahimahi's files are opportunities.
    users = {"steps", "trace", "outages", "alternating", "markov", "mahimahi"}
    assert {*get_args(schema_rates.RateKindName)} == users == {*schema_rates.RATE_FIELDS}
    assert {*kept.AXES["elements[].rate_process.law.kind"]} == {"steps", "alternating", "opportunities"}


def test_users_choose_among_the_engines_kinds_of_delay() -> None:
    # For the engine the trace in a file is a list of steps.
    assert {*get_args(schema_links.DelayKindName)} - {"trace"} == {*kept.AXES["elements[].delay_process.law.kind"]}


@pytest.mark.parametrize(
    "size", [{"law": "pareto", "shape": 1.0005}, {"law": "exponential-pareto", "tail_fraction": 0.9995}]
)
def test_what_the_engine_refuses_is_refused_in_the_users_words(size: dict[str, object]) -> None:
    traffic = {"kind": "web", "off": "1 s", "size": {"mean": "12 pkt", **size}}
    link = {"name": "a", "rate": "1 Mbit/s", "delay": "10 ms"}
    with pytest.raises(ScenarioError, match="a number from"):
        load({"link": [link], "flow": [{"path": ["a"], "traffic": traffic}], "run": {"duration": "2 s"}})


KINDS = {
    "elements[].kind": resolved_elements.Element,
    "elements[].queue.scheduler.kind": get_args(resolved_queues.Scheduler)[0],
    "elements[].queue.aqm.kind": get_args(resolved_queues.Aqm)[0],
    "elements[].rate_process.law.kind": resolved_rates.RateLaw,
    "elements[].delay_process.law.kind": resolved_elements.DelayLaw,
    "flows[].traffic.kind": resolved_traffic.ResolvedTraffic,
}


@pytest.mark.parametrize("field", KINDS)
def test_the_resolved_form_has_the_engines_kinds(field: str) -> None:
    kinds = [get_args(get_type_hints(one)["kind"]) for one in get_args(KINDS[field])]
    assert sorted(kind for several in kinds for kind in several) == sorted(kept.AXES[field])


MACHINE = "flows[].traffic.connection.sender.machine"


def test_the_resolved_form_has_the_engines_machines() -> None:
    machines = [get_args(get_type_hints(one)["machine"]) for one in (ClassicSettings, SelectiveSettings)]
    assert sorted(machine for several in machines for machine in several) == sorted(kept.AXES[MACHINE])


def test_every_axis_of_the_engine_is_compared() -> None:
    assert set(kept.AXES) == {*NAMES, *KINDS, MACHINE}
