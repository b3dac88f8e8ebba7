import pytest

from ackclock.scenario import preset_names
from ackclock.scenario.resolved_tcp import RtoSettings, SenderSettings
from ackclock.scenario.schema import DEFAULT_PRESET, Rto, Tcp
from ackclock.scenario.tcp import preset, receiver_settings, sender_settings


def test_the_default_is_a_preset() -> None:
    assert DEFAULT_PRESET in preset_names()


@pytest.mark.parametrize("name", preset_names())
def test_each_preset_is_complete(name: str) -> None:
    assert preset(name).model_fields_set >= set(Tcp.model_fields) - {"preset"}
    assert preset(name).rto.model_fields_set == set(Rto.model_fields)


NS2_TIMER = RtoSettings("ticks", "per-round", 4, 0.1, 0.2, 60.0, 3.0, 65536, 0.5558807159827996 * 0.1)
RFC_TIMER = RtoSettings("rfc6298", "per-ack", 4, 0.001, 1.0, 60.0, 1.0, 64, 0.0)


@pytest.mark.parametrize(
    ("name", "recovery"),
    [
        ("tahoe-ns2", "tahoe"),
        ("reno-ns2", "reno"),
        ("newreno-ns2", "newreno"),
        ("oldtahoe-ns2", "old-tahoe"),
    ],
)
def test_presets_of_ns2_have_its_settings_of_that_time(name: str, recovery: str) -> None:
    sender = sender_settings(preset(name), 512)
    assert sender == SenderSettings(
        dialect="ns2",
        recovery=recovery,  # type: ignore[arg-type]
        initial_window=1.0,
        initial_ssthresh=None,
        max_window=None,
        slow_start_while="below",
        increase="reciprocal",
        dupack_threshold=3,
        limited_transmit=False,
        partial_ack_timer="impatient" if recovery == "newreno" else "slow-but-steady",
        rto=NS2_TIMER,
    )
    assert receiver_settings(preset(name)).ack_every == 1


@pytest.mark.parametrize(
    ("name", "recovery", "limited_transmit", "partial_ack_timer"),
    [
        ("reno-rfc5681", "reno", True, "slow-but-steady"),
        ("newreno-rfc6582", "newreno", True, "impatient"),
        ("tahoe-rfc", "tahoe", False, "slow-but-steady"),
    ],
)
def test_presets_of_the_rfcs(name: str, recovery: str, limited_transmit: bool, partial_ack_timer: str) -> None:
    sender = sender_settings(preset(name), 1500)
    assert (sender.dialect, sender.recovery, sender.initial_window) == ("rfc", recovery, 3.0)
    assert (sender.limited_transmit, sender.partial_ack_timer) == (limited_transmit, partial_ack_timer)
    assert sender.rto == RFC_TIMER
    receiver = receiver_settings(preset(name))
    assert (receiver.ack_every, receiver.ack_delay_s) == (2, 0.2)
