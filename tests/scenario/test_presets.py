import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ackclock.models.citations import references
from ackclock.scenario import ScenarioError, load, preset_names, resolve
from ackclock.scenario.machines import DEFAULT_PRESET, MACHINES, ONLY, machine_of
from ackclock.scenario.presets import inherited
from ackclock.scenario.resolved_tcp import (
    ClassicSettings,
    ControlSettings,
    LinuxReceiverSettings,
    PushSettings,
    ReceiverSettings,
    RtoSettings,
    SackBlockSettings,
    SelectiveSettings,
    SendBufferSettings,
    TimeoutSettings,
)
from ackclock.scenario.schema_tcp import Rto, Tcp
from ackclock.scenario.tcp import preset, receiver_settings, sender_settings


def test_the_default_is_a_preset() -> None:
    assert DEFAULT_PRESET in preset_names()


@pytest.mark.parametrize("name", preset_names())
def test_each_preset_has_all_axes_of_its_machine_and_none_of_the_other(name: str) -> None:
    machine = machine_of(preset(name).recovery, preset(name).dialect)
    others = {axis for axis, only in ONLY.items() if only.machine != machine}
    axes = Tcp.model_fields.keys() - {"preset", *others}
    # These follow from the dialect and the congestion control.
    assert axes - {"half_window", "parameters", "slow_start"} <= preset(name).model_fields_set <= axes
    assert {f"rto.{axis}" for axis in preset(name).rto.model_fields_set} == {
        f"rto.{axis}" for axis in Rto.model_fields
    } - others


def test_the_axes_of_one_machine_are_axes() -> None:
    assert ONLY.keys() <= {*Tcp.model_fields, *(f"rto.{axis}" for axis in Rto.model_fields)}


NS2_TIMER = RtoSettings("ticks", "per-round", 4, 0.1, 0.2, 60.0, 3.0, 65536, 0.5558807159827996 * 0.1)
RFC_TIMER = RtoSettings("rfc6298", "per-ack", 4, 0.001, 1.0, 60.0, 1.0, 64, 0.0)
FINE_TIMER = RtoSettings("ticks", "per-ack-karn", 4, 1e-5, 0.0, 60.0, 3.0, 65536, 0.0)
ENGSET_TIMER = RtoSettings("rfc6298", "per-round", 4, 0.0, 1.0, 64.0, 1.0, 64, 0.0)
RENO = ClassicSettings(
    machine="classic",
    dialect="rfc",
    recovery="reno",
    initial_window=3.0,
    initial_ssthresh=None,
    max_window=None,
    slow_start_while="below",
    increase="reciprocal",
    half_window="fractional",
    dupack_threshold=3,
    limited_transmit=True,
    partial_ack_timer="slow-but-steady",
    rto=RFC_TIMER,
)
NS2 = replace(
    RENO, dialect="ns2", half_window="whole-packets", initial_window=1.0, limited_transmit=False, rto=NS2_TIMER
)
LINUX_BUFFERS = LinuxReceiverSettings(
    segment_bytes=460, buffer_bytes=2_000_000, most_buffer_bytes=67_108_864, announced=True
)
LINUX = SelectiveSettings(
    machine="selective",
    congestion_control=ControlSettings("reno", "linux", "standard", {}),
    loss_detection="rack",
    tail_loss_probe=True,
    frto=True,
    timestamps=True,
    pacing="none",
    segment_bytes=460,
    initial_window=10.0,
    initial_ssthresh=None,
    max_window=None,
    dupack_threshold=3,
    rto=TimeoutSettings(0.2, 120.0, 1.0, 0.001, 0.0),
    send_buffer=SendBufferSettings(buffer_bytes=1_000_000, most_buffer_bytes=67_108_864),
    writes=None,
    idle_restart=True,
    push=PushSettings(write_bytes=65536),
    close="none",
)
EVERY_PACKET, DELAYED = ReceiverSettings(1, 0.1), ReceiverSettings(2, 0.2)
EXPECTED: dict[str, tuple[ClassicSettings | SelectiveSettings, ReceiverSettings]] = {
    "reno-rfc5681": (RENO, DELAYED),
    "newreno-rfc6582": (replace(RENO, recovery="newreno", partial_ack_timer="impatient"), DELAYED),
    "tahoe-rfc5681": (replace(RENO, recovery="tahoe", limited_transmit=False), DELAYED),
    "tahoe-ns2": (replace(NS2, recovery="tahoe"), EVERY_PACKET),
    "reno-ns2": (NS2, EVERY_PACKET),
    "newreno-ns2": (replace(NS2, recovery="newreno", partial_ack_timer="impatient"), EVERY_PACKET),
    "old-tahoe-ns2": (replace(NS2, recovery="old-tahoe"), EVERY_PACKET),
    "sack1-ns2": (replace(NS2, recovery="sack1"), replace(EVERY_PACKET, blocks=SackBlockSettings(3, 8))),
    "reno-abrupt-delay": (replace(NS2, rto=FINE_TIMER), EVERY_PACKET),
    "old-tahoe-abrupt-delay": (replace(NS2, recovery="old-tahoe", rto=FINE_TIMER), EVERY_PACKET),
    "newreno-engset": (
        ClassicSettings(
            machine="classic",
            dialect="engset",
            recovery="newreno",
            initial_window=2.0,
            initial_ssthresh=None,
            max_window=44,
            slow_start_while="at-or-below",
            increase="counted",
            half_window="whole-packets",
            dupack_threshold=3,
            limited_transmit=False,
            partial_ack_timer="slow-but-steady",
            rto=ENGSET_TIMER,
        ),
        ReceiverSettings(1, 0.2),
    ),
    "linux-reno": (LINUX, ReceiverSettings(2, 0.04, selective=True, linux=LINUX_BUFFERS)),
    "linux-cubic": (
        replace(LINUX, congestion_control=ControlSettings("cubic", "linux", "hystart", {})),
        ReceiverSettings(2, 0.04, selective=True, linux=LINUX_BUFFERS),
    ),
    "rfc-cubic": (
        replace(
            LINUX,
            congestion_control=ControlSettings("cubic", "rfc", "hystart++", {}),
            rto=TimeoutSettings(1.0, 60.0, 1.0, 0.0, 0.0, "rfc6298"),
            undo="rfc4015",
            cwnd_validation="rfc7661",
        ),
        ReceiverSettings(2, 0.04, selective=True, linux=LINUX_BUFFERS),
    ),
    "linux-bbr": (
        replace(LINUX, congestion_control=ControlSettings("bbr", "linux", "standard", {})),
        ReceiverSettings(2, 0.04, selective=True, linux=LINUX_BUFFERS),
    ),
    "draft-bbr3": (
        replace(LINUX, congestion_control=ControlSettings("bbr3", "linux", "standard", {})),
        ReceiverSettings(2, 0.04, selective=True, linux=LINUX_BUFFERS),
    ),
    "linux-dctcp": (
        replace(LINUX, congestion_control=ControlSettings("dctcp", "linux", "standard", {}), ecn="dctcp"),
        ReceiverSettings(2, 0.04, selective=True, ecn="dctcp", linux=LINUX_BUFFERS),
    ),
    "draft-prague": (
        replace(LINUX, congestion_control=ControlSettings("prague", "linux", "standard", {}), ecn="accurate"),
        ReceiverSettings(2, 0.04, selective=True, ecn="accurate", linux=LINUX_BUFFERS),
    ),
}


@pytest.mark.parametrize(("name", "expected"), EXPECTED.items())
def test_each_preset_has_these_settings_after_inheritance(
    name: str, expected: tuple[ClassicSettings | SelectiveSettings, ReceiverSettings]
) -> None:
    assert (sender_settings(preset(name), 512), receiver_settings(preset(name), 512)) == expected


def test_every_preset_is_expected() -> None:
    assert tuple(EXPECTED) == preset_names()


def test_a_preset_is_named_by_its_recovery_and_by_whose_rules_these_are() -> None:
    for name in preset_names():
        recovery = preset(name).recovery
        source = name.removeprefix(f"{recovery}-")
        if recovery == "sack":
            # The dialect says what is the rest of a control that a draft has.
            dialect = "draft" if preset(name).congestion_control in {"bbr3", "prague"} else preset(name).dialect
            assert name == f"{dialect}-{preset(name).congestion_control}"
        else:
            assert source in {"ns2", *references()} or re.fullmatch(r"rfc\d+", source)


def _resolved(tcp: Any) -> Any:
    link = {"name": "a", "rate": "1 Mbit/s", "delay": "10 ms", "buffer": "9 pkt"}
    flow = {"path": ["a"], "packet": "1500 B", **({} if tcp is None else {"tcp": tcp})}
    return resolve(load({"link": [link], "flow": [flow], "run": {"duration": "2 s"}})).flows[0].tcp


@pytest.mark.parametrize(
    ("tcp", "same"),
    [
        (None, DEFAULT_PRESET),
        ({}, DEFAULT_PRESET),
        ({"recovery": "sack"}, MACHINES["selective"].preset),
        ({"dialect": "linux"}, MACHINES["selective"].preset),
        ({"recovery": "newreno"}, MACHINES["classic"].preset),
        ({"dialect": "rfc"}, MACHINES["classic"].preset),
        ({"recovery": "sack", "congestion_control": "reno"}, "linux-reno"),
    ],
)
def test_the_machine_follows_from_recovery_or_dialect(tcp: Any, same: str) -> None:
    assert _resolved(tcp) == _resolved(same)


@pytest.mark.parametrize(
    ("tcp", "threshold"),
    [
        ({"preset": "linux-reno"}, None),
        ({"preset": "linux-reno", "initial_ssthresh": "64 KiB"}, 43.0),
        ({"preset": "linux-reno", "initial_ssthresh": "max-window"}, None),
        ({"preset": "linux-reno", "max_window": "44 pkt"}, None),
        ({"preset": "linux-reno", "max_window": "44 pkt", "initial_ssthresh": "max-window"}, 44.0),
        ({"preset": "newreno-engset", "initial_ssthresh": "max-window"}, None),
    ],
)
def test_linuxs_ssthresh_is_infinite_at_first_unless_it_is_given(tcp: Any, threshold: float | None) -> None:
    # For the classic sender null is the receiver's window.
    assert _resolved(tcp).sender.initial_ssthresh == threshold


@pytest.mark.parametrize(
    ("old", "new"),
    [("oldtahoe-ns2", "old-tahoe-ns2"), ("tahoe-rfc", "tahoe-rfc5681"), ("reno-abrupt", "reno-abrupt-delay")],
)
def test_a_name_that_was_renamed_is_refused_with_the_new_one(old: str, new: str) -> None:
    text = Path("scenarios/geo-two-nodes.toml").read_text(encoding="utf-8")
    with pytest.raises(ScenarioError, match=f'known preset; given "{old}".*did you mean "{new}"'):
        load(re.sub('tcp = ".*"', f'tcp = "{old}"', text))


def test_own_fields_win_over_inherited_ones_also_in_tables() -> None:
    tables: dict[str, dict[str, Any]] = {
        "child": {"extends": "parent", "summary": "child", "rto": {"min": "0 s"}},
        "parent": {"extends": "root", "ack_every": 2},
        "root": {"summary": "root", "ack_every": 1, "k": 4, "rto": {"min": "1 s", "max": "60 s"}},
    }
    expected = {"summary": "child", "ack_every": 2, "k": 4, "rto": {"min": "0 s", "max": "60 s"}}
    assert inherited(tables)["child"] == expected
    assert "summary" not in inherited(tables)["parent"]


def test_an_unknown_parent_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(ScenarioError) as caught:
        inherited({"reno-ns2": {}, "mine": {"extends": "reno-ns"}})
    assert [str(fault) for fault in caught.value.faults] == [
        'preset "mine", field extends: unknown preset; given "reno-ns"; allowed reno-ns2, mine; '
        'did you mean "reno-ns2"?'
    ]


@pytest.mark.parametrize(
    "tables",
    [{"a": {"extends": "a"}}, {"a": {"extends": "b"}, "b": {"extends": "c"}, "c": {"extends": "a"}}],
    ids=["itself", "by way of others"],
)
def test_a_preset_that_extends_itself_is_refused(tables: dict[str, dict[str, str]]) -> None:
    with pytest.raises(ScenarioError, match="field extends: leads back to this preset"):
        inherited(tables)
